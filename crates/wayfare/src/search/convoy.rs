//! Many units, one goal, each a cheapest path of its own: found one by one or in one field, whichever takes less.
//!
//! Comes in: a snapshot and queries with the same goal. Goes out: an answer to each. Searching for them alone begins; what that
//! takes says what the rest would take, and as soon as a field would take less, one is made. What is chosen depends on the map
//! and the queries, never on the clock, nor on how often the convoy is put aside.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cell::{Area, Cell};
use crate::cost::Cost;
use crate::query::PathQuery;
use crate::route::{Answer, QueryError, Route};
use crate::search::estimate::Estimate;
use crate::search::field::{Field, worth_aiming_at};
use crate::search::scratch::Scratch;
use crate::search::spread::Spread;
use crate::search::{Progress, Search};
use crate::snapshot::Snapshot;

/// So many are looked at first, from everywhere in the crowd. Before that it must be plain that a field takes less.
const SCOUTS: usize = 8;

/// What a search or a field takes, in nanoseconds. Only how they compare counts.
struct Prices {
    /// A node of a search, and a cell of the way that it finds.
    node: u64,
    step: u64,
    /// A cell of a field.
    cell: u64,
}

/// PERF: read off 1,000 and 10,000 units on the maps of the suite `fields`: what is chosen takes 1.0 to 1.6 × as long as the
/// better of both ways, where one that counted nodes of eight searches, and the walls of the map among its cells, took up to 9 ×.
const BARE: Prices = Prices { node: 210, step: 85, cell: 30 };

/// With a survey, few cells are looked at between nodes.
const SURVEYED: Prices = Prices { node: 220, step: 12, cell: 30 };

/// On uneven ground both go from cell to cell.
const UNEVEN: Prices = Prices { node: 60, step: 10, cell: 100 };

/// What a search takes besides, and following the way of one unit through a field.
const SEARCH: u64 = 2000;
const TRACE: u64 = 1500;

/// So many nodes of one search are closed between looks at whether a field would take less.
const LOOK: u64 = 64;

/// Following so many cells takes as long as closing a node.
const CELLS_PER_NODE: u64 = 8;

/// A search for many units that go to the same place: each gets the cheapest path that [`find_path`](crate::find_path) would
/// find, though it may be another one of several.
///
/// Like a [`Search`] it can be [run](Self::run) a little at a time, and answers come in the order of the queries.
///
/// ```
/// use std::sync::Arc;
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     "....#...
///      .##.#.#.
///      ..#...#.",
/// )?;
/// let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
/// let queries = [(0, 2), (0, 0), (4, 2)].map(|start| PathQuery::new(start, (7, 2)));
/// let mut convoy = Convoy::new(Arc::clone(&snapshot), queries.to_vec(), Scratch::new());
/// let mut answers = Vec::new();
/// while convoy.run(64, &mut answers) == Progress::Running {} // a frame goes by
/// for (number, answer) in answers {
///     assert!(matches!(answer?, Answer::Found(_)), "{number}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Convoy {
    snapshot: Arc<Snapshot>,
    queries: Vec<PathQuery>,
    /// The numbers of the queries in the order in which they are looked at: first the scouts.
    turns: Vec<usize>,
    next: usize,
    /// Answers to scouts that are kept until all before them are answered, and which one is next.
    early: BTreeMap<usize, Result<Answer, QueryError>>,
    told: usize,
    /// The one that is searched for alone now.
    alone: Option<Box<Search>>,
    field: Option<Box<Field>>,
    stage: Stage,
    /// Who may be led by a field.
    crowd: Crowd,
    /// `None` while a search has it.
    scratch: Option<Scratch>,
    /// Work done, besides that of the search and the field under way.
    work: u64,
    /// Cells that the field had closed before.
    inherited: u64,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// They are searched for one by one, and this is what that took.
    Alone(Toll),
    /// The field spreads until it has come to all of them.
    Spreading,
    /// The field leads all that it can.
    Together,
}

/// What searches have taken so far, and the longest way they found.
#[derive(Clone, Copy, Default, Debug)]
struct Toll {
    searches: u64,
    nodes: u64,
    costs: Cost,
    longest: Cost,
    /// What the straight line costs at least where the longest way was found.
    straight: Cost,
}

/// How many want the same, and the area around them.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    count: usize,
    around: Option<Area>,
}

/// The number of a query, and the answer to it.
type Numbered = (usize, Result<Answer, QueryError>);

impl Convoy {
    /// A search that has not looked at anything yet. The scratch is lent to it and comes back at the end, or stays with the
    /// field it leaves.
    ///
    /// The goal of all is that of the first query. One that asks for another goal, or for more than the cheapest path, is
    /// answered by a search of its own.
    pub fn new(snapshot: Arc<Snapshot>, queries: Vec<PathQuery>, scratch: Scratch) -> Self {
        let scouts = SCOUTS.min(queries.len());
        // From everywhere in the crowd: its first may stand near the goal, and its last far away.
        let scout = |i: usize| i * queries.len() / scouts;
        let mut turns: Vec<usize> = (0..scouts).map(scout).collect();
        let mut ahead = (0..scouts).map(scout).peekable();
        turns.extend((0..queries.len()).filter(|number| ahead.next_if_eq(number).is_none()));
        let stage = Stage::Alone(Toll::default());
        let crowd = Crowd::of(&queries);
        Self {
            snapshot,
            queries,
            turns,
            next: 0,
            early: BTreeMap::new(),
            told: 0,
            alone: None,
            field: None,
            stage,
            crowd,
            scratch: Some(scratch),
            work: 0,
            inherited: 0,
        }
    }

    /// Uses a field that an earlier one has left, if it leads over the same ground to the same goal.
    #[must_use]
    pub fn with_field(mut self, field: Box<Field>) -> Self {
        let is_same = |query: &PathQuery| field.goals() == [query.goal];
        if field.snapshot().is_of_same_ground(&self.snapshot) && self.queries.first().is_some_and(is_same) {
            self.inherited = field.effort().closed;
            (self.field, self.stage) = (Some(field), Stage::Together);
        }
        self
    }

    /// Does the work of closing up to `max_nodes` nodes, about. Answers are added to `answers`, each with the number of its
    /// query.
    pub fn run(&mut self, max_nodes: u32, answers: &mut Vec<Numbered>) -> Progress {
        let end = self.effort().saturating_add(max_nodes.into());
        while self.next < self.turns.len() {
            let before = self.effort();
            if before >= end {
                return Progress::Running;
            }
            let left = u32::try_from(end - before).unwrap_or(u32::MAX);
            match (&mut self.alone, self.stage, &mut self.field) {
                (Some(search), ..) => {
                    // Always at the same nodes, however many are left of this run.
                    let to_look = LOOK - search.effort().closed % LOOK;
                    let is_done =
                        search.run(left.min(u32::try_from(to_look).unwrap_or(left))) == Progress::Done;
                    if is_done {
                        self.conclude(answers);
                    }
                    self.choose();
                }
                (None, Stage::Spreading, Some(field)) => {
                    if field.run(left) == Progress::Done {
                        self.stage = Stage::Together;
                    }
                }
                _ => self.serve(left, answers),
            }
        }
        Progress::Done
    }

    /// Work done so far, counted in nodes closed.
    pub fn effort(&self) -> u64 {
        let alone = self.alone.as_ref().map_or(0, |search| search.effort().closed);
        let spread = self.field.as_ref().map_or(0, |field| field.effort().closed);
        self.work + alone + spread - self.inherited
    }

    /// Whether one field serves all that are left.
    pub const fn has_field(&self) -> bool {
        self.field.is_some()
    }

    /// Takes the memory of a route that is no longer needed, for the next one.
    pub fn recycle(&mut self, route: Route) {
        match (&mut self.field, &mut self.scratch) {
            (Some(field), _) => field.recycle(route),
            (None, Some(scratch)) => scratch.recycle(route),
            (None, None) => {}
        }
    }

    /// Ends it, done or not: returns the scratch, and the field, if there is one, for those who come later. A field that was
    /// made here has the scratch, and what is returned beside it is mostly empty.
    pub fn finish(self) -> (Scratch, Option<Box<Field>>) {
        let scratch = match (self.scratch, self.alone) {
            (Some(scratch), _) => scratch,
            (None, Some(search)) => search.cancel(),
            (None, None) => Scratch::new(),
        };
        (scratch, self.field)
    }

    /// Leads the next one along the field, or begins a search for it.
    fn serve(&mut self, left: u32, answers: &mut Vec<Numbered>) {
        let query = self.queries[self.turns[self.next]];
        if let (Stage::Together, Some(field)) = (self.stage, &mut self.field)
            && Field::suits(&query)
            && field.goals() == [query.goal]
            && self.snapshot.is_open(query.start)
            && self.snapshot.reachable(query.start, query.goal)
        {
            if field.run_to(query.start, left) == Progress::Done {
                let answer = field.answer(query.start, query.shape);
                let (wide, high) = query.start.gap(query.goal);
                self.work += 1 + u64::from(wide.max(high)) / CELLS_PER_NODE;
                self.tell(answer, answers);
            }
            return;
        }
        let scratch = self.scratch.take().unwrap_or_default();
        self.alone = Some(Box::new(Search::new(Arc::clone(&self.snapshot), query, scratch)));
    }

    /// The search for one is done.
    fn conclude(&mut self, answers: &mut Vec<Numbered>) {
        let Some(search) = self.alone.take() else { return };
        let (closed, PathQuery { start, goal, .. }) = (search.effort().closed, *search.query());
        let (answer, scratch) = search.finish();
        self.scratch = Some(scratch);
        if let Stage::Alone(toll) = &mut self.stage {
            let cost = answer.as_ref().ok().and_then(Answer::route).map_or(0, Route::cost);
            (toll.searches, toll.nodes, toll.costs) =
                (toll.searches + 1, toll.nodes + closed, toll.costs + cost);
            if cost > toll.longest {
                toll.longest = cost;
                toll.straight = Estimate::lower_bound(&self.snapshot.ground, start, goal);
            }
        }
        self.work += closed + 1;
        self.tell(answer, answers);
    }

    fn tell(&mut self, answer: Result<Answer, QueryError>, answers: &mut Vec<Numbered>) {
        self.early.insert(self.turns[self.next], answer);
        self.next += 1;
        while let Some(answer) = self.early.remove(&self.told) {
            answers.push((self.told, answer));
            self.told += 1;
        }
    }

    /// Compares what searches for the rest will take, going by those so far, with what a field will, and makes one if that is
    /// less. The search under way has taken so much at least.
    fn choose(&mut self) {
        let Stage::Alone(toll) = self.stage else { return };
        let begun = self.alone.as_ref().map(|search| search.effort().closed);
        if begun.is_some_and(|closed| closed == 0 || closed % LOOK != 0) {
            return;
        }
        let searches = toll.searches + u64::from(begun.is_some());
        let left = self.crowd.count.min(self.turns.len() - self.next) as u64;
        let nodes = toll.nodes + begun.unwrap_or(0);
        // Whoever has the goal in sight is led there by a straight line, without closing anything: no field is cheaper.
        let (Some(around), true) = (self.crowd.around, left > 0 && nodes > 0) else { return };
        let snapshot = &self.snapshot;
        let prices = match (Spread::fits(snapshot), snapshot.is_surveyed()) {
            (true, true) => SURVEYED,
            (true, false) => BARE,
            (false, _) => UNEVEN,
        };
        let costs = snapshot.ground.view.rules.costs;
        let steps = toll.costs / Cost::from(costs.x().min(costs.y()));
        let taken = prices.node * nodes + prices.step * steps;
        let alone = left * (SEARCH + taken / searches);
        let together = cells_of_field(snapshot, around, toll).saturating_mul(prices.cell) + left * TRACE;
        let doubt = if toll.searches < SCOUTS as u64 { 2 } else { 1 };
        if together.saturating_mul(doubt) < alone {
            self.set_out();
        }
    }

    /// Begins a field for the rest, be one of them searched for already.
    fn set_out(&mut self) {
        if let Some(search) = self.alone.take() {
            self.work += search.effort().closed;
            self.scratch = Some(search.cancel());
        }
        let Some(goal) = self.queries.first().map(|query| query.goal) else { return };
        let rest = self.turns[self.next..].iter().map(|number| &self.queries[*number]);
        let starts: Vec<Cell> =
            rest.filter(|query| is_shared(query, goal)).map(|query| query.start).collect();
        // Nobody is searched for alone any more, or hardly anybody.
        let scratch = self.scratch.take().unwrap_or_default();
        self.field = Some(Box::new(Field::new(Arc::clone(&self.snapshot), goal, &starts, scratch)));
        self.stage = Stage::Spreading;
    }
}

impl Crowd {
    fn of(queries: &[PathQuery]) -> Self {
        let goal = queries.first().map(|query| query.goal);
        let shared = || queries.iter().filter(|query| goal.is_some_and(|goal| is_shared(query, goal)));
        let around = shared().map(|query| Area::from(query.start)).reduce(Area::joined);
        Self { count: shared().count(), around }
    }
}

/// Whether a field to the goal answers this.
fn is_shared(query: &PathQuery, goal: Cell) -> bool {
    query.goal == goal && Field::suits(query)
}

/// How many cells a field will have to look at, going by the longest way that is known; all, if none is.
fn cells_of_field(snapshot: &Snapshot, around: Area, toll: Toll) -> u64 {
    let (map, costs) = (&snapshot.ground.map, snapshot.ground.view.rules.costs);
    let (open, all) = (snapshot.ground.open_cells(), u64::from(map.width()) * u64::from(map.height()));
    if toll.longest == 0 || all == 0 {
        return open;
    }
    let step = Cost::from(costs.x().min(costs.y()));
    let (length, straight) = (toll.longest / step, toll.straight / step);
    let (wide, high) = around.min().gap(around.max());
    let breadth = match worth_aiming_at(snapshot, around) {
        // Between the goal and the crowd it looks at what lies on no longer way: an ellipse around both, and as broad as the
        // crowd at least.
        true => (length * length).saturating_sub(straight * straight).isqrt() + u64::from(wide.max(high)),
        // As far all around the goal as the farthest one is.
        false => length * 4,
    };
    // Mostly there are walls inside.
    open.min(length.saturating_mul(breadth).saturating_mul(open) / all)
}

impl fmt::Debug for Convoy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Convoy({} of {} answered, {:?})", self.next, self.queries.len(), self.stage)
    }
}
