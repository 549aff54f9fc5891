//! From a question to an answer: [`find_path`] in one call, or a [`Search`] in slices.
//!
//! Comes in: a [`Snapshot`], a [`PathQuery`], a [`Scratch`]. Goes out: an [`Answer`].

mod radix;
pub(crate) mod open;
pub(crate) mod scratch;
pub(crate) mod estimate;
pub(crate) mod goals;
pub(crate) mod even_line;
pub(crate) mod line;
pub(crate) mod astar;
pub(crate) mod jump;
pub(crate) mod bends;
pub(crate) mod uneven;
pub(crate) mod flood;
pub(crate) mod canon;
pub(crate) mod spread;
pub mod field;
mod toll;
pub mod convoy;
mod rivals;
mod job;

use core::fmt;
use core::slice;
use std::sync::Arc;

use crate::cell::Cell;
use crate::query::PathQuery;
use crate::record::{Effort, Recorder};
use crate::route::{Answer, QueryError};
use crate::snapshot::Snapshot;
pub use convoy::Convoy;
pub use field::Field;
use job::Job;
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
    solve(snapshot, query, slice::from_ref(&query.goal), scratch, recorder)
}

/// Answers a query with several goals in one call: the cheapest path from [`start`](PathQuery::start) to whichever of
/// `goals` is cheapest to reach.
///
/// The query's own goal is not used; all its options are. Goals that are outside the map, blocked or on another
/// island are passed over as long as one can be reached. If none can, the answer is as for a single goal, with the
/// [nearest](Answer::Unreachable) cell being the one closest to any goal on the map.
///
/// ```
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     "..#..
///      ..#..
///      .....",
/// )?;
/// let snapshot = Snapshot::new(&map, &View::default());
/// let wells = [Cell::new(3, 0), Cell::new(4, 2), Cell::new(2, 1)];
/// let query = PathQuery::new((1, 0), (1, 0));
/// let answer = find_path_to_nearest(&snapshot, &query, &wells, &mut Scratch::new())?;
/// // The first well is closer, but behind a wall; the third is under it.
/// assert_eq!(answer.route().and_then(|route| route.cells().last()), Some(&wells[1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// - **What it takes**: over even ground a few goals are searched for one after the other by the engines for a single one, the
///   closest first and each only as long as a way to it may still be the cheapest. To the nearest of many, and on uneven ground,
///   one search goes from cell to cell; its estimate is that to the nearest goal while there are few of them, and to the nearest
///   of a few boxes around them beyond that.
/// - **Exact** under the same options as a search for one goal: see [`query`](crate::query).
/// - **Ties** between goals that cost the same go to the closest in a straight line, or to the one that leaves the open list of
///   the one search first: the same on every run and in slices of any size. The order of `goals` does not matter, and
///   neither does naming one twice.
/// - **[`StraightLine`](crate::StraightLine)** is not tried in the one search for many: a clear line to one does not tell
///   whether another is cheaper.
/// - **[Budget](PathQuery::budget)**: the nearest cell is the settled one closest to any goal that was not passed over.
/// - **[`FewestBends`](crate::Objective::FewestBends)** finds the cheapest goal first and then the straightest path
///   to that one, even if one to another goal within the limit had fewer bends.
///
/// # Errors
/// [`QueryError`] if the start lies outside the map or is blocked, if there is no goal, or if all goals lie outside.
pub fn find_path_to_nearest(
    snapshot: &Snapshot,
    query: &PathQuery,
    goals: &[Cell],
    scratch: &mut Scratch,
) -> Result<Answer, QueryError> {
    solve(snapshot, query, goals, scratch, &mut ())
}

fn solve<R: Recorder + ?Sized>(
    snapshot: &Snapshot,
    query: &PathQuery,
    goals: &[Cell],
    scratch: &mut Scratch,
    recorder: &mut R,
) -> Result<Answer, QueryError> {
    let mut job = Job::new(*query);
    loop {
        if let Some(result) = job.run(snapshot, goals, u64::MAX, scratch, recorder) {
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
/// // Cell by cell, so that there is something to spread.
/// let query = PathQuery::new((0, 0), (199, 120)).straight_line(StraightLine::Never).gear(Gear::Cells);
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
    /// `None` if the query's own goal is the only one.
    goals: Option<Arc<[Cell]>>,
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
        Self { snapshot, scratch, job: Job::new(query), goals: None, result: None }
    }

    /// As [`new`](Self::new), to whichever of `goals` is cheapest to reach: see [`find_path_to_nearest`]. The query's
    /// own goal is not used.
    pub fn to_nearest(
        snapshot: Arc<Snapshot>,
        query: PathQuery,
        goals: Arc<[Cell]>,
        scratch: Scratch,
    ) -> Self {
        Self { goals: Some(goals), ..Self::new(snapshot, query, scratch) }
    }

    /// Closes up to `max_nodes` nodes. A wrong question or one without a search is answered by the first run.
    pub fn run(&mut self, max_nodes: u32) -> Progress {
        self.run_recorded(max_nodes, &mut ())
    }

    /// As [`run`](Self::run), with somebody watching.
    pub fn run_recorded<R: Recorder + ?Sized>(&mut self, max_nodes: u32, recorder: &mut R) -> Progress {
        if self.result.is_none() {
            self.advance(max_nodes.into(), recorder);
        }
        if self.result.is_some() { Progress::Done } else { Progress::Running }
    }

    /// Runs to the end if need be, and returns the answer and the scratch.
    ///
    /// The answer is an error if the start or the goal lies outside the map, the start is blocked, or there is no goal.
    pub fn finish(mut self) -> (Result<Answer, QueryError>, Scratch) {
        loop {
            if let Some(result) = self.result.take() {
                return (result, self.scratch);
            }
            self.advance(u64::MAX, &mut ());
        }
    }

    fn advance<R: Recorder + ?Sized>(&mut self, max_nodes: u64, recorder: &mut R) {
        let own = self.job.query.goal;
        let goals = self.goals.as_deref().unwrap_or(slice::from_ref(&own));
        self.result = self.job.run(&self.snapshot, goals, max_nodes, &mut self.scratch, recorder);
    }

    /// Gives up, and returns the scratch.
    pub fn cancel(self) -> Scratch {
        self.scratch
    }

    /// What the search has done so far.
    pub fn effort(&self) -> Effort {
        if self.job.has_begun() || self.result.is_some() { self.scratch.effort } else { Effort::default() }
    }

    /// What the search reads.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// What was asked. With several goals the query's own is none of them.
    pub fn query(&self) -> &PathQuery {
        &self.job.query
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PathQuery { start, goal, .. } = self.job.query;
        match &self.goals {
            None => write!(f, "Search({start} to {goal}, {:?})", self.effort()),
            Some(goals) => write!(f, "Search({start} to one of {}, {:?})", goals.len(), self.effort()),
        }
    }
}
