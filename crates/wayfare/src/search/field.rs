//! Many starts, one goal or the nearest of several, one search: a [`Field`] spreads backwards from the goals and knows the way
//! from wherever it has been.

use core::fmt;
use std::sync::Arc;

use crate::cell::{Area, Cell, Direction};
use crate::cost::Cost;
use crate::island::Island;
use crate::query::{Heuristic, PathQuery, RouteShape, Weight};
use crate::record::Effort;
use crate::route::{Answer, QueryError, Route};
use crate::search::Progress;
use crate::search::astar::Backwards;
use crate::search::estimate::Estimate;
use crate::search::flood::{Flood, trace};
use crate::search::goals::{Aim, AnyGoal};
use crate::search::line::Lines;
use crate::search::scratch::{Node, Scratch};
use crate::search::spread::Spread;
use crate::smooth;
use crate::snapshot::Snapshot;

/// One search for all who go to the same place: their routes cost what [`find_path`](crate::find_path) would find one by
/// one.
///
/// It spreads from the goal towards the starts, and stops when it has come to all that can be reached. Like a
/// [`Search`](crate::Search) it can be [run](Self::run) a little at a time.
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
/// let starts = [Cell::new(0, 2), Cell::new(0, 0), Cell::new(4, 2)];
/// let mut field = Field::new(Arc::clone(&snapshot), (7, 2), &starts, Scratch::new());
/// while field.run(64) == Progress::Running {} // a frame goes by
/// for start in starts {
///     let answer = field.answer(start, RouteShape::Cells)?;
///     let alone = find_path(&snapshot, &PathQuery::new(start, (7, 2)), &mut Scratch::new())?;
///     assert_eq!(answer.route().map(Route::cost), alone.route().map(Route::cost));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Any other cell may be asked about, too: the field spreads on until it has come there. A start named twice, outside
/// the map or on another island does no harm, and the order of the starts does not matter.
///
/// A game may also want a flow field: [`to`](Self::to) one goal or the nearest of several, with a [cost](Self::cost) and
/// a [direction](Self::direction) for every cell.
pub struct Field {
    snapshot: Arc<Snapshot>,
    /// At least one, unless nothing was asked for.
    goals: Vec<Cell>,
    /// Those that are open: where they are stored on the map, in that order, each once.
    roots: Vec<u32>,
    /// The islands that these lie on, in order, each once.
    homes: Vec<Island>,
    scratch: Scratch,
    engine: Engine,
    /// Whether it began on even ground: what that flood knows holds for good.
    is_even: bool,
    until: Until,
    /// Everything that can be reached has been.
    exhausted: bool,
}

/// What does the spreading.
enum Engine {
    /// On even ground. At the front when it was last asked, these starts were still to be reached.
    Even { front: Cost, starts: Vec<u32> },
    /// On any ground, and beyond what the other can count. So many starts are still to be reached.
    Any { estimate: Estimate, starts: usize },
}

/// How far it is to spread.
#[derive(Clone, Copy)]
enum Until {
    /// Until all starts have been reached.
    Starts,
    /// Until everything has been that costs no more.
    Cost(Cost),
}

impl Field {
    /// A field that has not spread yet, for these starts. The scratch is lent to it and comes back at the end.
    pub fn new(snapshot: Arc<Snapshot>, goal: impl Into<Cell>, starts: &[Cell], scratch: Scratch) -> Self {
        let goal = goal.into();
        Self::begin(snapshot, vec![goal], starts, Until::Starts, scratch)
    }

    /// As [`new`](Self::new), from each start to the nearest of these goals: its routes cost what
    /// [`find_path_to_nearest`](crate::find_path_to_nearest) would find. Goals outside the map or blocked do not count.
    ///
    /// Which of several goals that cost the same is chosen is the same on every run and in slices of any size, and does not
    /// depend on the order of `goals` or `starts`; but a search alone may choose another.
    pub fn to_nearest(snapshot: Arc<Snapshot>, goals: &[Cell], starts: &[Cell], scratch: Scratch) -> Self {
        Self::begin(snapshot, goals.to_vec(), starts, Until::Starts, scratch)
    }

    /// A flow field that has not spread yet: from everywhere to the nearest of these goals. Those outside the map or
    /// blocked do not count.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use wayfare::prelude::*;
    ///
    /// let map = Map::from_text(
    ///     "...#.
    ///      ...#.
    ///      .....",
    /// )?;
    /// let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    /// let wells = [Cell::new(0, 0), Cell::new(4, 0)];
    /// let mut field = Field::to(snapshot, &wells, Scratch::new());
    /// while field.run(64) == Progress::Running {}
    /// assert_eq!(field.direction(Cell::new(0, 2)), Some(Direction::North));
    /// assert_eq!(field.direction(Cell::new(4, 2)), Some(Direction::North));
    /// assert_eq!(field.cost(wells[1]), Some(0));
    /// # Ok::<(), MapTextError>(())
    /// ```
    pub fn to(snapshot: Arc<Snapshot>, goals: &[Cell], scratch: Scratch) -> Self {
        Self::begin(snapshot, goals.to_vec(), &[], Until::Cost(Cost::MAX), scratch)
    }

    /// As [`to`](Self::to), but done when it has been everywhere from where the way costs no more than this.
    pub fn to_within(snapshot: Arc<Snapshot>, goals: &[Cell], cost: Cost, scratch: Scratch) -> Self {
        Self::begin(snapshot, goals.to_vec(), &[], Until::Cost(cost), scratch)
    }

    fn begin(
        snapshot: Arc<Snapshot>,
        goals: Vec<Cell>,
        starts: &[Cell],
        until: Until,
        mut scratch: Scratch,
    ) -> Self {
        scratch.effort = Effort::default();
        let ground = &snapshot.ground;
        let roots = roots(&snapshot, &goals);
        let mut homes: Vec<Island> = roots.iter().filter_map(|root| snapshot.islands.at(*root)).collect();
        homes.sort_unstable();
        homes.dedup();
        if scratch.goals.collect(&snapshot, &homes, starts) != Ok(true) {
            scratch.goals.clear();
        }
        let estimate = Estimate::new(ground, Heuristic::Auto, Weight::ONE);
        let starts = scratch.goals.cells();
        let engine = if Spread::fits(&snapshot) {
            let around = starts.iter().map(|start| Area::from(*start)).reduce(Area::joined);
            let aim = around.filter(|around| worth_aiming_at(&snapshot, *around));
            let starts = starts.iter().map(|cell| ground.map.index_inside(*cell)).collect();
            scratch.spread.begin(&snapshot, &roots, aim.map(|area| (area, estimate)));
            Engine::Even { front: 0, starts }
        } else {
            begin_any(&snapshot, &roots, &mut scratch)
        };
        let is_even = matches!(engine, Engine::Even { .. });
        Self { snapshot, goals, roots, homes, scratch, engine, is_even, until, exhausted: false }
    }

    /// Closes up to `max_nodes` cells or a few more, and says whether all starts that can be reached have been, or all
    /// cells.
    pub fn run(&mut self, max_nodes: u32) -> Progress {
        let end = self.scratch.effort.closed.saturating_add(max_nodes.into());
        while !self.is_done() {
            if self.scratch.effort.closed >= end {
                return Progress::Running;
            }
            self.spread();
        }
        Progress::Done
    }

    /// Closes up to `max_nodes` cells or a few more on the way to one more start, and says whether all is known of the way
    /// from there.
    pub fn run_to(&mut self, from: Cell, max_nodes: u32) -> Progress {
        let end = self.scratch.effort.closed.saturating_add(max_nodes.into());
        while self.cost(from).is_none() && !self.exhausted {
            if self.scratch.effort.closed >= end {
                return Progress::Running;
            }
            self.spread();
        }
        Progress::Done
    }

    /// Whether it finds what this query asks for: the cheapest path, however far away, in any shape.
    pub fn suits(query: &PathQuery) -> bool {
        let PathQuery { start, goal, straight_line, fallback, shape, .. } = *query;
        let plain = PathQuery::new(start, goal).straight_line(straight_line).fallback(fallback).shape(shape);
        *query == plain
    }

    /// Whether it has spread as far as it was asked to.
    #[inline]
    fn is_done(&mut self) -> bool {
        if self.exhausted {
            return true;
        }
        let spread = &self.scratch.spread;
        match (self.until, &mut self.engine) {
            (Until::Cost(cost), Engine::Even { .. }) => spread.front() > cost,
            (Until::Cost(cost), Engine::Any { .. }) => {
                self.scratch.open.least().is_none_or(|least| least > cost)
            }
            (Until::Starts, Engine::Any { starts, .. }) => *starts == 0,
            (Until::Starts, Engine::Even { front, starts }) => {
                // Whether a start has been reached can only change when the front moves.
                if *front != spread.front() {
                    *front = spread.front();
                    while starts.pop_if(|start| spread.cost(*start).is_some()).is_some() {}
                }
                starts.is_empty()
            }
        }
    }

    /// Goes on by a cell or a few. Returns whether there was any left.
    #[inline]
    fn spread(&mut self) -> bool {
        let Self { snapshot, roots, scratch, engine, .. } = self;
        let looked = match engine {
            Engine::Even { .. } => match scratch.spread.advance(snapshot) {
                0 if scratch.spread.is_cut_short() => {
                    *engine = begin_any(snapshot, roots, scratch);
                    return true;
                }
                looked => looked,
            },
            Engine::Any { estimate, starts } => {
                let Scratch { nodes, open, goals, .. } = scratch;
                // Every start lies in one of the boxes to which this is the distance.
                let left = |cell: Cell| AnyGoal.h(estimate, goals, cell);
                let closed = Flood { space: Backwards(&snapshot.ground), nodes, open }.close_next(left);
                let is_start = closed.is_some_and(|closed| goals.contains(closed.node));
                *starts -= usize::from(*starts > 0 && is_start);
                u32::from(closed.is_some())
            }
        };
        scratch.effort.closed += u64::from(looked);
        self.exhausted |= looked == 0;
        looked > 0
    }

    /// What the way from a cell to the nearest goal costs, if the field has been there.
    pub fn cost(&self, from: Cell) -> Option<Cost> {
        let index = self.snapshot.ground.map.index(from)?;
        self.cost_of_spread(index).or_else(|| self.node(index).map(|node| node.g))
    }

    /// What the flood over even ground says, if it has been there.
    #[inline]
    fn cost_of_spread(&self, index: u32) -> Option<Cost> {
        if self.is_even { self.scratch.spread.cost(index) } else { None }
    }

    /// What the general flood says, if it has been there.
    #[inline]
    fn node(&self, index: u32) -> Option<&Node> {
        match self.engine {
            Engine::Even { .. } => None,
            Engine::Any { .. } => self.scratch.nodes.find(index).filter(|node| node.closed),
        }
    }

    /// The first step of the way from a cell to the nearest goal, if the field has been there. There is none at a goal.
    pub fn direction(&self, from: Cell) -> Option<Direction> {
        let index = self.snapshot.ground.map.index(from)?;
        let came = match self.cost_of_spread(index) {
            Some(_) => self.scratch.spread.ways(index).trailing_zeros(),
            None => self.node(index)?.from.into(),
        };
        Direction::ALL.get(came as usize).map(|came| came.opposite())
    }

    /// The cheapest route from a cell to the nearest goal, as [`find_path`](crate::find_path) would answer. If the field
    /// has not been there, it spreads on until it has.
    ///
    /// # Errors
    /// [`QueryError`] if the cell or all goals lie outside the map, the cell is blocked, or there is no goal.
    pub fn answer(&mut self, from: Cell, shape: RouteShape) -> Result<Answer, QueryError> {
        let map = &self.snapshot.ground.map;
        let index = map.index(from).ok_or(QueryError::StartOutside(from))?;
        let first = self.goals.first().ok_or(QueryError::NoGoal)?;
        if !self.goals.iter().any(|goal| map.contains(*goal)) {
            return Err(QueryError::GoalOutside(*first));
        }
        if !self.snapshot.is_open(from) {
            return Err(QueryError::StartBlocked(from));
        }
        if !self.leads_from(from) {
            let nearest = self.snapshot.nearest_reachable_of(from, &self.goals).unwrap_or(from);
            return Ok(Answer::Unreachable { nearest });
        }
        let cost = loop {
            if let Some(cost) = self.cost(from) {
                break cost;
            }
            // The islands promised a path.
            if !self.spread() {
                return Ok(Answer::Unreachable { nearest: from });
            }
        };
        let mut route = Route { cells: self.scratch.take_cells(), cost };
        match self.cost_of_spread(index) {
            Some(_) => self.scratch.spread.trace(from, index, &mut route.cells),
            None => trace(&Backwards(&self.snapshot.ground), &self.scratch.nodes, index, &mut route.cells),
        }
        match shape {
            RouteShape::Cells => {}
            RouteShape::Corners => smooth::keep_corners(&mut route.cells),
            RouteShape::Pulled => smooth::pull(Lines::on(&self.snapshot), &mut route, 0, &mut self.scratch),
        }
        Ok(Answer::Found(route))
    }

    /// Whether a way leads from a cell to any of its goals. Takes no search.
    pub(crate) fn leads_from(&self, from: Cell) -> bool {
        self.snapshot.island(from).is_some_and(|island| self.homes.binary_search(&island).is_ok())
    }

    /// Whether it is the field to these goals over this ground. Their order does not matter, nor do those that are blocked.
    pub(crate) fn is_to(&self, goals: &[Cell], snapshot: &Snapshot) -> bool {
        self.snapshot.is_of_same_ground(snapshot) && self.roots == roots(snapshot, goals)
    }

    /// Takes the memory of a route that is no longer needed, for the next one.
    pub fn recycle(&mut self, route: Route) {
        self.scratch.recycle(route);
    }

    /// The scratch, for what is searched besides. The open list may be used if the field need not spread any more.
    pub(crate) const fn scratch_mut(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    /// Where the ways lead: each to the nearest of these.
    pub fn goals(&self) -> &[Cell] {
        &self.goals
    }

    /// What the field reads.
    pub const fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// What it has done so far.
    pub fn effort(&self) -> Effort {
        self.scratch.effort
    }

    /// How much memory it takes, in bytes. What it reads is not counted.
    pub fn bytes(&self) -> usize {
        self.scratch.bytes()
    }

    /// Ends it, and returns the scratch.
    pub fn finish(self) -> Scratch {
        self.scratch
    }
}

/// Where the flood begins: at all goals that are open.
fn roots(snapshot: &Snapshot, goals: &[Cell]) -> Vec<u32> {
    let open = goals.iter().filter(|goal| snapshot.is_open(**goal));
    let mut roots: Vec<u32> = open.filter_map(|goal| snapshot.ground.map.index(*goal)).collect();
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// The flood over any ground, from its beginning.
fn begin_any(snapshot: &Snapshot, roots: &[u32], scratch: &mut Scratch) -> Engine {
    let Scratch { nodes, open, goals, .. } = scratch;
    Flood { space: Backwards(&snapshot.ground), nodes, open }.begin(roots);
    let estimate = Estimate::new(&snapshot.ground, Heuristic::Auto, Weight::ONE);
    Engine::Any { estimate, starts: goals.cells().len() }
}

/// Whether spreading towards the area around all starts first is likely to save more than it takes.
pub(crate) fn worth_aiming_at(snapshot: &Snapshot, around: Area) -> bool {
    let cells = |area: Area| {
        let (x, y) = area.min().gap(area.max());
        (u64::from(x) + 1) * (u64::from(y) + 1)
    };
    snapshot.map().area().is_some_and(|whole| cells(around) * 4 <= cells(whole))
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let starts = match &self.engine {
            Engine::Even { starts, .. } => starts.len(),
            Engine::Any { starts, .. } => *starts,
        };
        write!(f, "Field(to {:?}, {starts} starts left, {:?})", self.goals, self.effort())
    }
}
