//! Finds the routes between marked places, a little at a time.
//!
//! Comes in: a [`Snapshot`] and a list of cells. Goes out: [`Places`].
//!
//! PERF: on even ground a way is a cheapest one in both directions, which halves the searches. On uneven ground one
//! [`Field`] to each of 40 places, spread over noise of 1024² cells, takes 0.64 of the time that a search for each pair takes; to each
//! of 10 places 2.3 times as long.

use core::fmt;
use core::mem;
use std::sync::Arc;

use crate::cell::Cell;
use crate::places::Places;
use crate::query::{PathQuery, RouteShape, StraightLine};
use crate::route::{Answer, QueryError};
use crate::search::{Field, Progress, Scratch, Search};
use crate::snapshot::Snapshot;

/// From so many places on a field to each is cheaper than a search for each pair, on uneven ground.
const MANY: usize = 24;

/// Finds the ways between [`Places`], a little at a time, so that it can share a thread with others, be put aside, or dropped.
///
/// ```
/// use std::sync::Arc;
/// use wayfare::prelude::*;
///
/// let map = Map::from_text("....#...\n.##.#.#.\n..#...#.")?;
/// let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
/// let towns = [Cell::new(0, 2), Cell::new(7, 2), Cell::new(3, 0)];
/// let mut scout = Scout::new(Arc::clone(&snapshot), &towns, Scratch::new())?;
/// while scout.run(100) == Progress::Running {} // a frame goes by
/// let (places, scratch) = scout.finish();
/// assert!(places.hold_for(&snapshot) && places.cost(0, 1).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scout {
    snapshot: Arc<Snapshot>,
    places: Places,
    /// The pair that is looked at, in the order of ways, or the place that a field is for.
    next: usize,
    task: Task,
}

/// What is under way.
enum Task {
    Nothing(Scratch),
    Search(Box<Search>),
    Field(Field),
}

impl Scout {
    /// A scout who has not found any way yet. The scratch is lent to it and comes back at the end.
    ///
    /// # Errors
    /// [`QueryError`] if a cell lies outside the map or is blocked.
    pub fn new(snapshot: Arc<Snapshot>, cells: &[Cell], scratch: Scratch) -> Result<Self, QueryError> {
        for cell in cells {
            if !snapshot.map().contains(*cell) {
                return Err(QueryError::GoalOutside(*cell));
            }
            if !snapshot.is_open(*cell) {
                return Err(QueryError::StartBlocked(*cell));
            }
        }
        let places = Places::unconnected(Arc::clone(&snapshot.ground), cells.to_vec());
        Ok(Self { snapshot, places, next: 0, task: Task::Nothing(scratch) })
    }

    /// Closes up to `max_nodes` nodes or a few more, and says whether all ways are known.
    pub fn run(&mut self, max_nodes: u32) -> Progress {
        let mut left = max_nodes.max(1);
        while self.begin() {
            if left == 0 {
                return Progress::Running;
            }
            let (progress, closed) = match &mut self.task {
                Task::Search(search) => {
                    let before = search.effort().closed;
                    (search.run(left), search.effort().closed - before)
                }
                Task::Field(field) => {
                    let before = field.effort().closed;
                    (field.run(left), field.effort().closed - before)
                }
                Task::Nothing(_) => return Progress::Done,
            };
            // What needs no search takes some time as well.
            left = left.saturating_sub(u32::try_from(closed).unwrap_or(u32::MAX).max(1));
            if progress == Progress::Done {
                self.note();
            }
        }
        Progress::Done
    }

    /// Runs to the end if need be, and returns what was found, and the scratch.
    pub fn finish(mut self) -> (Places, Scratch) {
        while self.run(u32::MAX) == Progress::Running {}
        let scratch = match self.task {
            Task::Nothing(scratch) => scratch,
            Task::Search(search) => search.cancel(),
            Task::Field(field) => field.finish(),
        };
        (self.places, scratch)
    }

    /// Sees to it that something is under way. Returns whether anything is left to do.
    fn begin(&mut self) -> bool {
        let Task::Nothing(scratch) = &mut self.task else { return true };
        let cells = self.places.cells();
        if cells.len() > MANY && !self.snapshot.ground.is_even() {
            let Some(goal) = cells.get(self.next) else { return false };
            let field = Field::new(Arc::clone(&self.snapshot), *goal, cells, mem::take(scratch));
            self.task = Task::Field(field);
            return true;
        }
        while let Some((from, to)) = self.places.pair(self.next) {
            if self.places.is_looked_for((from, to)) {
                let query = PathQuery::new(cells[from], cells[to]);
                let query = query.shape(RouteShape::Corners).straight_line(StraightLine::Never);
                let search = Search::new(Arc::clone(&self.snapshot), query, mem::take(scratch));
                self.task = Task::Search(Box::new(search));
                return true;
            }
            self.next += 1;
        }
        false
    }

    /// Notes what the task that is done has found.
    fn note(&mut self) {
        match mem::replace(&mut self.task, Task::Nothing(Scratch::default())) {
            Task::Search(search) => {
                let (answer, mut scratch) = search.finish();
                if let (Some((from, to)), Ok(Answer::Found(route))) = (self.places.pair(self.next), answer) {
                    self.places.add((from, to), &route);
                    scratch.recycle(route);
                }
                self.task = Task::Nothing(scratch);
            }
            Task::Field(mut field) => {
                let to = self.next;
                for from in (0..self.places.cells().len()).filter(|from| *from != to) {
                    let answer = field.answer(self.places.cells()[from], RouteShape::Corners);
                    if let Ok(Answer::Found(route)) = answer {
                        self.places.add((from, to), &route);
                        field.recycle(route);
                    }
                }
                self.task = Task::Nothing(field.finish());
            }
            nothing @ Task::Nothing(_) => self.task = nothing,
        }
        self.next += 1;
    }
}

impl fmt::Debug for Scout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scout({:?}, at {})", self.places, self.next)
    }
}
