//! From a question to an answer: [`find_path`] in one call, or a [`Search`] in slices.
//!
//! Comes in: a [`Snapshot`], a [`PathQuery`], a [`Scratch`]. Goes out: an [`Answer`]. In this order: the question
//! is checked, the islands say whether the goal can be reached at all, a straight line is tried, and only then
//! an engine searches.

pub(crate) mod scratch;
pub(crate) mod estimate;
pub(crate) mod line;
pub(crate) mod astar;
pub(crate) mod bends;

use core::fmt;
use std::sync::Arc;

use crate::cell::Cell;
use crate::cost::Cost;
use crate::query::{Fallback, Heuristic, Objective, PathQuery, RouteShape, StopWhen, Weight};
use crate::record::{Effort, Recorder};
use crate::route::{Answer, QueryError, Route, Shortfall};
use crate::smooth;
use crate::snapshot::Snapshot;
use astar::{AStar, Cells, Headings, Limits, Outcome, Space, trace_back};
use bends::Bends;
use estimate::Estimate;
pub use scratch::Scratch;

/// Answers a query in one call.
///
/// ```
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     ".#.
///      .#.
///      ...",
/// )?;
/// let snapshot = Snapshot::new(&map, &View::default());
/// let answer = find_path(&snapshot, &PathQuery::new((0, 0), (2, 0)), &mut Scratch::new())?;
/// assert_eq!(answer.route().map(Route::length), Some(6.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`QueryError`] if the start or the goal lies outside the map, or the start is blocked.
pub fn find_path(
    snapshot: &Snapshot,
    query: &PathQuery,
    scratch: &mut Scratch,
) -> Result<Answer, QueryError> {
    find_path_recorded(snapshot, query, scratch, &mut ())
}

/// As [`find_path`], with somebody watching.
///
/// # Errors
/// [`QueryError`] if the start or the goal lies outside the map, or the start is blocked.
pub fn find_path_recorded<R: Recorder + ?Sized>(
    snapshot: &Snapshot,
    query: &PathQuery,
    scratch: &mut Scratch,
    recorder: &mut R,
) -> Result<Answer, QueryError> {
    let mut job = Job::new(*query);
    loop {
        if let Some(result) = job.run(snapshot, u64::MAX, scratch, recorder) {
            return result;
        }
    }
}

/// A search that can be run a little at a time, put aside, moved to another thread, and dropped at any time.
///
/// ```
/// use std::sync::Arc;
/// use wayfare::prelude::*;
///
/// let map = Map::new(200, 200)?;
/// let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
/// let query = PathQuery::new((0, 0), (199, 120)).straight_line(StraightLine::Never);
/// let mut search = Search::new(snapshot, query, Scratch::new());
/// let mut slices = 1;
/// while search.run(64) == Progress::Running {
///     slices += 1; // a frame goes by
/// }
/// let (answer, scratch) = search.finish();
/// assert!(matches!(answer?, Answer::Found(_)));
/// assert!(slices > 3 && scratch.effort().closed >= 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Search {
    snapshot: Arc<Snapshot>,
    scratch: Scratch,
    job: Job,
    result: Option<Result<Answer, QueryError>>,
}

/// Whether a search goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[must_use]
pub enum Progress {
    /// Not yet answered: [`run`](Search::run) again.
    Running,
    /// Answered: [`finish`](Search::finish) returns it at once.
    Done,
}

impl Search {
    /// A search that has not looked at anything yet. The scratch is lent to it and comes back at the end.
    pub fn new(snapshot: Arc<Snapshot>, query: PathQuery, scratch: Scratch) -> Self {
        Self { snapshot, scratch, job: Job::new(query), result: None }
    }

    /// Closes up to `max_nodes` nodes. A wrong question or one without a search is answered by the first run.
    pub fn run(&mut self, max_nodes: u32) -> Progress {
        self.run_recorded(max_nodes, &mut ())
    }

    /// As [`run`](Self::run), with somebody watching.
    pub fn run_recorded<R: Recorder + ?Sized>(&mut self, max_nodes: u32, recorder: &mut R) -> Progress {
        if self.result.is_none() {
            self.result = self.job.run(&self.snapshot, max_nodes.into(), &mut self.scratch, recorder);
        }
        if self.result.is_some() { Progress::Done } else { Progress::Running }
    }

    /// Runs to the end if need be, and returns the answer and the scratch.
    ///
    /// The answer is an error if the start or the goal lies outside the map, or the start is blocked.
    pub fn finish(mut self) -> (Result<Answer, QueryError>, Scratch) {
        loop {
            if let Some(result) = self.result.take() {
                return (result, self.scratch);
            }
            self.result = self.job.run(&self.snapshot, u64::MAX, &mut self.scratch, &mut ());
        }
    }

    /// Gives up, and returns the scratch.
    pub fn cancel(self) -> Scratch {
        self.scratch
    }

    /// What the search has done so far.
    pub fn effort(&self) -> Effort {
        if matches!(self.job.stage, Stage::New) { Effort::default() } else { self.scratch.effort }
    }

    /// What the search reads.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// What was asked.
    pub fn query(&self) -> &PathQuery {
        &self.job.query
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Search({} to {}, {:?})", self.job.query.start, self.job.query.goal, self.effort())
    }
}

/// The state of a search, without what it reads and writes.
struct Job {
    query: PathQuery,
    stage: Stage,
    /// Where the path will really end, and why if that is not the goal.
    target: Cell,
    shortfall: Option<Shortfall>,
}

enum Stage {
    New,
    Cells(AStar),
    Headings(AStar),
    /// The cheapest route is known; now for the one with the fewest bends.
    Bends(Bends, Route),
    Answered,
}

type Answered = Result<Answer, QueryError>;

impl Job {
    const fn new(query: PathQuery) -> Self {
        Self { query, stage: Stage::New, target: query.goal, shortfall: None }
    }

    /// Closes up to `max_nodes` nodes, and returns the answer once it is known.
    fn run<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        max_nodes: u64,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Option<Answered> {
        if matches!(self.stage, Stage::New) {
            scratch.effort = Effort::default();
            match self.begin(snapshot, scratch, recorder) {
                Ok(None) => {}
                Ok(Some(answer)) => return self.answered(Ok(answer)),
                Err(error) => return self.answered(Err(error)),
            }
        }
        let slice_end = scratch.effort.closed.saturating_add(max_nodes);
        let limits = Limits { slice_end, budget: self.query.budget };
        loop {
            let answer = match core::mem::replace(&mut self.stage, Stage::Answered) {
                Stage::New | Stage::Answered => return None,
                Stage::Cells(mut search) => {
                    let space = Cells(&snapshot.ground);
                    let outcome = search.run(&space, limits, scratch, recorder);
                    match (outcome, self.query.objective) {
                        (Outcome::Running, _) => {
                            self.stage = Stage::Cells(search);
                            return None;
                        }
                        (Outcome::Reached(node), Objective::FewestBends { within_percent }) => {
                            self.begin_bends(snapshot, &space, node, within_percent, scratch);
                            continue;
                        }
                        _ => self.conclude(snapshot, &space, outcome, search.nearest(), scratch),
                    }
                }
                Stage::Headings(mut search) => {
                    let space = self.headings(snapshot);
                    let outcome = search.run(&space, limits, scratch, recorder);
                    if outcome == Outcome::Running {
                        self.stage = Stage::Headings(search);
                        return None;
                    }
                    self.conclude(snapshot, &space, outcome, search.nearest(), scratch)
                }
                Stage::Bends(mut search, cheapest) => {
                    let outcome = search.run(&snapshot.ground, limits, scratch, recorder);
                    if outcome == Outcome::Running {
                        self.stage = Stage::Bends(search, cheapest);
                        return None;
                    }
                    self.conclude_bends(snapshot, outcome, cheapest, scratch)
                }
            };
            return self.answered(Ok(answer));
        }
    }

    fn answered(&mut self, result: Answered) -> Option<Answered> {
        self.stage = Stage::Answered;
        Some(result)
    }

    /// Answers at once if no search is needed; otherwise starts one.
    fn begin<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Result<Option<Answer>, QueryError> {
        let PathQuery { start, goal, .. } = self.query;
        let map = &snapshot.ground.map;
        let start_index = map.index(start).ok_or(QueryError::StartOutside(start))?;
        map.index(goal).ok_or(QueryError::GoalOutside(goal))?;
        if !snapshot.is_open(start) {
            return Err(QueryError::StartBlocked(start));
        }
        if !snapshot.reachable(start, goal) {
            // The start is open, so at the very least it reaches itself.
            let nearest = snapshot.nearest_reachable(start, goal).unwrap_or(start);
            if self.query.fallback == Fallback::Fail {
                return Ok(Some(Answer::Unreachable { nearest }));
            }
            self.target = nearest;
            self.shortfall = Some(Shortfall::Unreachable);
        }
        let mut cells = scratch.take_cells();
        if start == self.target {
            cells.push(start);
            return Ok(Some(self.deliver(Route { cells, cost: 0 })));
        }
        let straight =
            line::straight_path(&snapshot.ground, start, self.target, self.query.straight_line, &mut cells);
        let route = Route { cells, cost: straight.unwrap_or(0) };
        // A line that bends on the grid may not be the best one where bends count.
        if straight.is_some() && (self.query.objective == Objective::Cheapest || route.bends() == 0) {
            return Ok(Some(self.deliver(self.shaped(snapshot, route, scratch))));
        }
        scratch.recycle(route);
        self.stage = self.begin_search(snapshot, start_index, scratch, recorder);
        Ok(None)
    }

    fn begin_search<R: Recorder + ?Sized>(
        &self,
        snapshot: &Snapshot,
        start: u32,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Stage {
        let ground = &snapshot.ground;
        let goal = ground.map.index_inside(self.target);
        let PathQuery { heuristic, weight, stop, .. } = self.query;
        let estimate = Estimate::new(ground, self.target, heuristic, weight);
        match self.query.objective {
            Objective::Cheapest => {
                Stage::Cells(AStar::new(&Cells(ground), start, estimate, goal, stop, scratch, recorder))
            }
            Objective::TurnCost(_) => {
                let space = self.headings(snapshot);
                Stage::Headings(AStar::new(&space, start, estimate, goal, stop, scratch, recorder))
            }
            Objective::FewestBends { .. } => {
                let exact = Estimate::new(ground, self.target, Heuristic::Auto, Weight::ONE);
                let stop = StopWhen::GoalClosed;
                Stage::Cells(AStar::new(&Cells(ground), start, exact, goal, stop, scratch, recorder))
            }
        }
    }

    fn headings<'a>(&self, snapshot: &'a Snapshot) -> Headings<'a> {
        let turn_cost = if let Objective::TurnCost(cost) = self.query.objective { cost } else { 0 };
        Headings { ground: &snapshot.ground, turn_cost }
    }

    /// The cheapest path is known, and with it how much a path of fewer bends may cost.
    fn begin_bends(
        &mut self,
        snapshot: &Snapshot,
        space: &Cells<'_>,
        node: u32,
        within_percent: u16,
        scratch: &mut Scratch,
    ) {
        let mut cells = scratch.take_cells();
        let cost = trace_back(space, node, scratch, &mut cells);
        // Without turns a path costs less than 2^52, so this stays far below 2^64.
        let limit = cost + cost * Cost::from(within_percent) / 100;
        let ground = &snapshot.ground;
        let estimate = Estimate::new(ground, self.target, Heuristic::Auto, Weight::ONE);
        let (start, goal) = (ground.map.index_inside(self.query.start), ground.map.index_inside(self.target));
        let bends = Bends::new(ground, start, goal, limit, estimate, scratch);
        self.stage = Stage::Bends(bends, Route { cells, cost });
    }

    fn conclude<S: Space>(
        &self,
        snapshot: &Snapshot,
        space: &S,
        outcome: Outcome,
        nearest: Option<u32>,
        scratch: &mut Scratch,
    ) -> Answer {
        let traced = |node: u32, scratch: &mut Scratch| {
            let mut cells = scratch.take_cells();
            let cost = trace_back(space, node, scratch, &mut cells);
            self.shaped(snapshot, Route { cells, cost }, scratch)
        };
        match (outcome, nearest) {
            (Outcome::Reached(node), _) => {
                let route = traced(node, scratch);
                self.deliver(route)
            }
            (Outcome::OutOfBudget, Some(node)) if self.query.fallback == Fallback::Nearest => {
                Answer::Partial { route: traced(node, scratch), because: Shortfall::OutOfBudget }
            }
            (Outcome::OutOfBudget, nearest) => {
                Answer::OutOfBudget { nearest: nearest.map_or(self.query.start, |node| space.cell_of(node)) }
            }
            // The islands promised a path, so the open list cannot run dry before the goal.
            (Outcome::Running | Outcome::Exhausted, _) => Answer::Unreachable { nearest: self.query.start },
        }
    }

    fn conclude_bends(
        &self,
        snapshot: &Snapshot,
        outcome: Outcome,
        cheapest: Route,
        scratch: &mut Scratch,
    ) -> Answer {
        match outcome {
            Outcome::Reached(label) => {
                let mut cells = scratch.take_cells();
                let cost = Bends::trace_back(&snapshot.ground, label, scratch, &mut cells);
                scratch.recycle(cheapest);
                let route = self.shaped(snapshot, Route { cells, cost }, scratch);
                self.deliver(route)
            }
            _ if self.query.fallback == Fallback::Nearest => {
                let route = self.shaped(snapshot, cheapest, scratch);
                Answer::Partial { route, because: Shortfall::OutOfBudget }
            }
            _ => Answer::OutOfBudget { nearest: self.target },
        }
    }

    fn deliver(&self, route: Route) -> Answer {
        match self.shortfall {
            None => Answer::Found(route),
            Some(because) => Answer::Partial { route, because },
        }
    }

    /// Lists of the cells of a route those the query asked for.
    fn shaped(&self, snapshot: &Snapshot, mut route: Route, scratch: &mut Scratch) -> Route {
        match self.query.shape {
            RouteShape::Cells => {}
            RouteShape::Corners => smooth::keep_corners(&mut route.cells),
            RouteShape::Pulled => {
                let turn_cost = if let Objective::TurnCost(cost) = self.query.objective { cost } else { 0 };
                smooth::pull(&snapshot.ground, &mut route, turn_cost, scratch);
            }
        }
        route
    }
}
