//! What takes less: a search for each of those who are left, or one field for all of them.
//!
//! Comes in: who wants to go where, and what searches for some of them took. Goes out: whether a [`Field`](crate::Field) takes
//! less for the rest. [`Convoy`](crate::Convoy) asks.

use crate::cell::{Area, Cell};
use crate::cost::Cost;
use crate::search::estimate::Estimate;
use crate::search::field::worth_aiming_at;
use crate::search::rivals::FEW;
use crate::search::spread::Spread;
use crate::snapshot::Snapshot;

/// What a search takes, in nanoseconds: per node, and per cell of the way that it finds. Only how it compares to what a field
/// takes counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices {
    node: u64,
    step: u64,
}

/// PERF: read off 1,000 and 10,000 units on the maps of the suite `fields`: what is chosen takes 1.0 to 1.6 × as long as the
/// better of both ways, where one that counted nodes of eight searches, and the walls of the map among its cells, took up to 9 ×.
const BARE: Prices = Prices { node: 210, step: 85 };

/// With a survey, few cells are looked at between nodes.
const SURVEYED: Prices = Prices { node: 220, step: 12 };

/// On uneven ground, and anywhere to the nearest of many goals, a search goes from cell to cell.
const UNEVEN: Prices = Prices { node: 60, step: 10 };

/// PERF: a node of these takes 76 ns, and a cell of a field over even ground 12 to 18.
const NEAREST: Prices = Prices { node: 150, step: 0 };

/// What a cell of a field takes.
const EVEN_CELL: u64 = 30;
const UNEVEN_CELL: u64 = 100;

/// What a search takes besides, and following the way of one unit through a field.
const SEARCH: u64 = 2000;
const TRACE: u64 = 1500;

/// So many searches tell how long others are. Before that it must be plain that a field takes less.
pub(crate) const SCOUTS: usize = 8;

impl Prices {
    /// Those of a search from there to the nearest of these goals.
    pub(crate) fn of(snapshot: &Snapshot, start: Cell, goals: &[Cell]) -> Self {
        let mut within_reach = goals.iter().filter(|goal| snapshot.reachable(start, **goal));
        let first = within_reach.next();
        let is_one = !within_reach.any(|goal| first != Some(goal));
        match (is_one, Spread::fits(snapshot)) {
            (_, true) if is_one || goals.len() <= FEW => Self::of_jumps(snapshot),
            (true, _) => UNEVEN,
            (false, _) => NEAREST,
        }
    }

    fn of_jumps(snapshot: &Snapshot) -> Self {
        if snapshot.is_surveyed() { SURVEYED } else { BARE }
    }
}

/// What searches have taken so far, and the longest way they found.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Toll {
    searches: u64,
    nodes: u64,
    /// In nanoseconds, as [`Prices`] are.
    taken: u64,
    longest: Cost,
    /// What the straight line costs at least where the longest way was found.
    straight: Cost,
}

impl Toll {
    /// One more that closed so many nodes. Its way, if it found one, begins and ends there, at a cost.
    pub(crate) fn add(
        &mut self,
        snapshot: &Snapshot,
        prices: Prices,
        nodes: u64,
        way: Option<(Cell, Cell, Cost)>,
    ) {
        let cost = way.map_or(0, |(.., cost)| cost);
        self.searches += 1;
        self.nodes += nodes;
        self.taken += prices.node * nodes + prices.step * (cost / straight_step(snapshot));
        if let Some((start, end, cost)) = way
            && cost > self.longest
        {
            self.longest = cost;
            self.straight = Estimate::lower_bound(&snapshot.ground, start, end);
        }
    }

    /// What one more takes, going by those so far and one that has closed so many nodes and is not done. `None` if none has
    /// closed any.
    fn of_one(&self, begun: Option<(u64, Prices)>) -> Option<u64> {
        let (nodes, node) = begun.map_or((0, 0), |(nodes, prices)| (nodes, prices.node));
        let searches = self.searches + u64::from(begun.is_some());
        (self.nodes + nodes > 0).then(|| SEARCH + (self.taken + nodes * node) / searches)
    }
}

/// How many want the same, the area around them, and where they want to go.
pub(crate) struct Crowd {
    count: usize,
    around: Option<Area>,
    /// What it costs at least from each goal to that area, the least first, and a box around that goal and all before it.
    goals: Vec<(Cost, Area)>,
}

impl Crowd {
    pub(crate) fn new(snapshot: &Snapshot, starts: &[Cell], goals: &[Cell]) -> Self {
        let around = starts.iter().map(|start| Area::from(*start)).reduce(Area::joined);
        let mut open: Vec<Cell> = goals.iter().copied().filter(|goal| snapshot.is_open(*goal)).collect();
        open.sort_unstable_by_key(|goal| (goal.y, goal.x));
        open.dedup();
        let estimate = |goal: Cell| {
            let end = around.map_or(goal, |around| around.nearest(goal));
            Estimate::lower_bound(&snapshot.ground, goal, end)
        };
        let mut goals: Vec<(Cost, Area)> =
            open.into_iter().map(|goal| (estimate(goal), goal.into())).collect();
        goals.sort_by_key(|(away, _)| *away);
        for next in 1..goals.len() {
            goals[next].1 = goals[next].1.joined(goals[next - 1].1);
        }
        Self { count: starts.len(), around, goals }
    }

    /// Whether one field is expected to take less than searches for those who are left, of whom one may be searched for
    /// already.
    pub(crate) fn wants_field(
        &self,
        snapshot: &Snapshot,
        toll: &Toll,
        begun: Option<(u64, Prices)>,
        left: usize,
    ) -> bool {
        let left = self.count.min(left) as u64;
        // Whoever has the goal in sight is led there by a straight line, without closing anything: no field is cheaper.
        let (Some(one), true) = (toll.of_one(begun), left > 0) else { return false };
        let is_even = Spread::fits(snapshot);
        let cell = if is_even { EVEN_CELL } else { UNEVEN_CELL };
        let together = self.cells_of_field(snapshot, toll).saturating_mul(cell) + left * TRACE;
        // Eight searches that jump take hardly any time; from cell to cell they would be half of what a small crowd takes, so
        // there each one takes some of the doubt away.
        let (doubt, parts) = match (toll.searches, is_even && self.goals.len() <= FEW) {
            (known, _) if known >= SCOUTS as u64 => (1, 1),
            (_, true) => (2, 1),
            (known, false) => (known + 2, known + 1),
        };
        together.saturating_mul(doubt) < left * one * parts
    }

    /// How many cells a field will have to look at, going by the longest way that is known; all, if none is.
    fn cells_of_field(&self, snapshot: &Snapshot, toll: &Toll) -> u64 {
        let map = &snapshot.ground.map;
        let (open, all) = (snapshot.ground.open_cells(), u64::from(map.width()) * u64::from(map.height()));
        let (Some(around), true) = (self.around, toll.longest > 0 && all > 0) else { return open };
        let step = straight_step(snapshot);
        let (length, straight) = (toll.longest / step, toll.straight / step);
        let (breadth, goals) = match worth_aiming_at(snapshot, around) {
            // Between a goal and the crowd it looks at what lies on no longer way: an ellipse around both, and as broad as the
            // crowd at least. Goals farther away it leaves alone.
            true => (
                (length * length).saturating_sub(straight * straight).isqrt() + side(around),
                self.goals.partition_point(|(away, _)| *away <= toll.longest),
            ),
            // As far all around each goal as the farthest one is.
            false => (length * 4, self.goals.len()),
        };
        let cells = length.saturating_mul(breadth).saturating_mul(goals.max(1) as u64);
        // Many goals close together have no more around them than one would that is as large as all of them.
        let spacing = goals.checked_sub(1).map_or(0, |last| side(self.goals[last].1));
        let cells = cells.min((length + spacing).saturating_mul(breadth + spacing));
        // Mostly there are walls inside.
        open.min(cells.saturating_mul(open) / all)
    }
}

/// What a straight step costs, or the cheaper one where that depends on its direction.
fn straight_step(snapshot: &Snapshot) -> Cost {
    let costs = snapshot.ground.view.rules.costs;
    Cost::from(costs.x().min(costs.y()))
}

/// The longer side of an area.
fn side(area: Area) -> u64 {
    let (wide, high) = area.min().gap(area.max());
    u64::from(wide.max(high))
}
