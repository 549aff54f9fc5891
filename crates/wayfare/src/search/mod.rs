//! From a question to an answer: [`find_path`] in one call, or a [`Search`] in slices.
//!
//! Comes in: a [`Snapshot`], a [`PathQuery`], a [`Scratch`]. Goes out: an [`Answer`].

mod radix;
pub(crate) mod open;
pub(crate) mod scratch;
pub(crate) mod estimate;
pub(crate) mod line;
pub(crate) mod astar;
pub(crate) mod bends;
mod job;

use core::fmt;
use std::sync::Arc;

use crate::query::PathQuery;
use crate::record::{Effort, Recorder};
use crate::route::{Answer, QueryError};
use crate::snapshot::Snapshot;
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
        if self.job.has_begun() || self.result.is_some() { self.scratch.effort } else { Effort::default() }
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
