//! Many units, one goal, each a cheapest path of its own: found one by one or in one field, whichever takes less.
//!
//! Comes in: a snapshot and queries with the same goal. Goes out: an answer to each. A few are searched for alone first; what
//! that takes says what the rest would. What is chosen depends on the map and the queries, never on the clock.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cell::{Area, Cell};
use crate::cost::Cost;
use crate::query::PathQuery;
use crate::route::{Answer, QueryError, Route};
use crate::search::field::Field;
use crate::search::scratch::Scratch;
use crate::search::spread::Spread;
use crate::search::{Progress, Search};
use crate::snapshot::Snapshot;

/// So many are searched for alone, to see what a search takes.
const SCOUTS: usize = 8;

/// What a search for one takes besides its nodes, and what a node takes, in nanoseconds.
///
/// PERF: these six were read off the suites `grid`, `weighted` and `fields`, on two cores. Only how they compare counts.
const SEARCH: u64 = 2000;
const NODE: u64 = 150;

/// What a cell of a field takes, and following the way of one unit through it, in nanoseconds.
const CELL: u64 = 25;
const TRACE: u64 = 2000;

/// The same on uneven ground, where both go from cell to cell.
const UNEVEN_NODE: u64 = 60;
const UNEVEN_CELL: u64 = 100;

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
    /// `None` while a search has it.
    scratch: Option<Scratch>,
    /// Work done, besides that of the search and the field under way.
    work: u64,
    /// Cells that the field had closed before.
    inherited: u64,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// So many nodes have been closed for the scouts, of whose ways the longest costs this.
    Scouting { nodes: u64, longest: Cost },
    /// The rest is searched for one by one.
    Alone,
    /// The field spreads until it has come to all of them.
    Spreading,
    /// The field leads all that it can.
    Together,
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
        let stage = Stage::Scouting { nodes: 0, longest: 0 };
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
                    if search.run(left) == Progress::Done {
                        self.conclude(answers);
                    }
                }
                (None, Stage::Scouting { nodes, longest }, _) if self.next == SCOUTS => {
                    self.choose(nodes, longest);
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
        let closed = search.effort().closed;
        let (answer, scratch) = search.finish();
        self.scratch = Some(scratch);
        if let (Stage::Scouting { nodes, longest }, Ok(answer)) = (&mut self.stage, &answer) {
            *nodes += closed;
            *longest = answer.route().map_or(0, Route::cost).max(*longest);
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

    /// Compares what searches for the rest will take, going by the scouts, with what a field over the ground between them and
    /// the goal will.
    fn choose(&mut self, nodes: u64, longest: Cost) {
        self.stage = Stage::Alone;
        let left = (self.turns.len() - self.next) as u64;
        let is_fast = Spread::fits(&self.snapshot);
        let (node, cell) = if is_fast { (NODE, CELL) } else { (UNEVEN_NODE, UNEVEN_CELL) };
        let alone = left * (SEARCH + node * nodes / SCOUTS as u64);
        let Some(goal) = self.queries.first().map(|query| query.goal) else { return };
        let is_shared = |query: &PathQuery| query.goal == goal && Field::suits(query);
        let rest = self.turns[self.next..].iter().map(|number| &self.queries[*number]);
        let starts: Vec<Cell> = rest.filter(|query| is_shared(query)).map(|query| query.start).collect();
        let around = starts.iter().map(|start| Area::from(*start)).reduce(Area::joined);
        let (Some(around), Some(whole)) = (around, self.snapshot.map().area()) else { return };
        // As far all around the goal as the farthest one is or, where all stand together, in their direction only.
        let costs = self.snapshot.ground.view.rules.costs;
        let radius = longest / u64::from(costs.x().min(costs.y()));
        let (wide, high) = around.min().gap(around.max());
        let breadth = (radius * 3).min(radius + 2 * u64::from(wide.max(high)));
        let (columns, rows) = whole.min().gap(whole.max());
        let cells = radius.saturating_mul(breadth).min((u64::from(columns) + 1) * (u64::from(rows) + 1));
        if cells * cell + left * TRACE < alone {
            let snapshot = Arc::clone(&self.snapshot);
            // Nobody is searched for alone any more, or hardly anybody.
            let scratch = self.scratch.take().unwrap_or_default();
            self.field = Some(Box::new(Field::new(snapshot, goal, &starts, scratch)));
            self.stage = Stage::Spreading;
        }
    }
}

impl fmt::Debug for Convoy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Convoy({} of {} answered, {:?})", self.next, self.queries.len(), self.stage)
    }
}
