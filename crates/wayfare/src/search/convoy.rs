//! Many units, one goal or the nearest of several, each a cheapest path of its own: found one by one or in one field, whichever
//! takes less.
//!
//! Comes in: a snapshot, and queries with the same goals. Goes out: an answer to each. Searching for them alone begins; what that
//! takes says what the rest would take, and as soon as a field would take less, one is made. What is chosen depends on the map
//! and the queries, never on the clock, nor on how often the convoy is put aside.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cell::Cell;
use crate::query::PathQuery;
use crate::route::{Answer, QueryError, Route};
use crate::search::field::Field;
use crate::search::scratch::Scratch;
use crate::search::toll::{Crowd, Prices, SCOUTS, Toll};
use crate::search::{Progress, Search};
use crate::snapshot::Snapshot;

/// So many nodes of one search are closed between looks at whether a field would take less.
const LOOK: u64 = 64;

/// Following so many cells takes as long as closing a node.
const CELLS_PER_NODE: u64 = 8;

/// A search for many units that go to the same place, or [to the nearest](Self::to_nearest) of the same places: each gets the
/// cheapest path that [`find_path`](crate::find_path) or [`find_path_to_nearest`](crate::find_path_to_nearest) would find, though
/// it may be another one of several.
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
    ends: Ends,
    /// The numbers of the queries in the order in which they are looked at: first the scouts.
    turns: Vec<usize>,
    next: usize,
    /// Answers to scouts that are kept until all before them are answered, and which one is next.
    early: BTreeMap<usize, Result<Answer, QueryError>>,
    told: usize,
    /// The one that is searched for alone now, and what that takes.
    alone: Option<(Box<Search>, Prices)>,
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

/// Where they go.
enum Ends {
    /// Each to the goal of its own query, which for most is this.
    Own(Option<Cell>),
    /// All to the nearest of these.
    Nearest(Arc<[Cell]>),
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
        let goal = queries.first().map(|query| query.goal);
        Self::begin(snapshot, queries, Ends::Own(goal), scratch)
    }

    /// As [`new`](Self::new), each to whichever of `goals` is cheapest to reach from where it is: see
    /// [`find_path_to_nearest`](crate::find_path_to_nearest). The queries' own goals are not used.
    ///
    /// Of goals that cost the same a unit may be led to another one than it would be alone, but always to the same on every
    /// run: see [`Field::to_nearest`].
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
    /// let shelters = [Cell::new(0, 0), Cell::new(7, 2)];
    /// let queries = [(0, 2), (5, 0), (4, 2)].map(|start| PathQuery::new(start, start)); // their own goals do not count
    /// let mut convoy = Convoy::to_nearest(snapshot, queries.to_vec(), shelters.into(), Scratch::new());
    /// let mut answers = Vec::new();
    /// while convoy.run(64, &mut answers) == Progress::Running {} // a frame goes by
    /// let end = |(_, answer): &(usize, Result<Answer, QueryError>)| {
    ///     answer.as_ref().ok()?.route()?.cells().last().copied()
    /// };
    /// let ends: Vec<Option<Cell>> = answers.iter().map(end).collect();
    /// assert_eq!(ends, [Some(shelters[0]), Some(shelters[1]), Some(shelters[0])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_nearest(
        snapshot: Arc<Snapshot>,
        queries: Vec<PathQuery>,
        goals: Arc<[Cell]>,
        scratch: Scratch,
    ) -> Self {
        Self::begin(snapshot, queries, Ends::Nearest(goals), scratch)
    }

    fn begin(snapshot: Arc<Snapshot>, queries: Vec<PathQuery>, ends: Ends, scratch: Scratch) -> Self {
        let scouts = queries.len().min(SCOUTS);
        // From everywhere in the crowd: its first may stand near the goal, and its last far away.
        let scout = |i: usize| i * queries.len() / scouts;
        let mut turns: Vec<usize> = (0..scouts).map(scout).collect();
        let mut ahead = (0..scouts).map(scout).peekable();
        turns.extend((0..queries.len()).filter(|number| ahead.next_if_eq(number).is_none()));
        let stage = Stage::Alone(Toll::default());
        let crowd = Crowd::new(&snapshot, &ends.starts(queries.iter()), ends.goals());
        Self {
            snapshot,
            queries,
            ends,
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

    /// Uses a field that an earlier one has left, if it leads over the same ground to the same goals.
    #[must_use]
    pub fn with_field(mut self, field: Box<Field>) -> Self {
        if field.is_to(self.ends.goals(), &self.snapshot) {
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
                (Some((search, _)), ..) => {
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
        let alone = self.alone.as_ref().map_or(0, |(search, _)| search.effort().closed);
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
            (None, Some((search, _))) => search.cancel(),
            (None, None) => Scratch::new(),
        };
        (scratch, self.field)
    }

    /// Leads the next one along the field, or begins a search for it.
    fn serve(&mut self, left: u32, answers: &mut Vec<Numbered>) {
        let query = self.queries[self.turns[self.next]];
        if let (Stage::Together, Some(field)) = (self.stage, &mut self.field)
            && self.ends.has(&query)
            && field.leads_from(query.start)
        {
            if field.run_to(query.start, left) == Progress::Done {
                let answer = field.answer(query.start, query.shape);
                let (wide, high) = end(&answer).map_or((0, 0), |end| query.start.gap(end));
                self.work += 1 + u64::from(wide.max(high)) / CELLS_PER_NODE;
                self.tell(answer, answers);
            }
            return;
        }
        let scratch = self.scratch.take().unwrap_or_default();
        let prices = Prices::of(&self.snapshot, query.start, self.ends.goals());
        let snapshot = Arc::clone(&self.snapshot);
        let search = match &self.ends {
            Ends::Own(_) => Search::new(snapshot, query, scratch),
            Ends::Nearest(goals) => Search::to_nearest(snapshot, query, Arc::clone(goals), scratch),
        };
        self.alone = Some((Box::new(search), prices));
    }

    /// The search for one is done.
    fn conclude(&mut self, answers: &mut Vec<Numbered>) {
        let Some((search, prices)) = self.alone.take() else { return };
        let (closed, start) = (search.effort().closed, search.query().start);
        let (answer, scratch) = search.finish();
        self.scratch = Some(scratch);
        if let Stage::Alone(toll) = &mut self.stage {
            let route = answer.as_ref().ok().and_then(Answer::route);
            let way = route.zip(end(&answer)).map(|(route, end)| (start, end, route.cost()));
            toll.add(&self.snapshot, prices, closed, way);
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
        let begun = self.alone.as_ref().map(|(search, prices)| (search.effort().closed, *prices));
        if begun.is_some_and(|(closed, _)| closed == 0 || closed % LOOK != 0) {
            return;
        }
        if self.crowd.wants_field(&self.snapshot, &toll, begun, self.turns.len() - self.next) {
            self.set_out();
        }
    }

    /// Begins a field for the rest, be one of them searched for already.
    fn set_out(&mut self) {
        if let Some((search, _)) = self.alone.take() {
            self.work += search.effort().closed;
            self.scratch = Some(search.cancel());
        }
        let starts = self.ends.starts(self.turns[self.next..].iter().map(|number| &self.queries[*number]));
        // Nobody is searched for alone any more, or hardly anybody.
        let scratch = self.scratch.take().unwrap_or_default();
        self.field = Some(Box::new(Field::to_nearest(
            Arc::clone(&self.snapshot),
            self.ends.goals(),
            &starts,
            scratch,
        )));
        self.stage = Stage::Spreading;
    }
}

impl Ends {
    /// The goals of all or most.
    fn goals(&self) -> &[Cell] {
        match self {
            Self::Own(goal) => goal.as_slice(),
            Self::Nearest(goals) => goals,
        }
    }

    /// Whether a field to these goals answers the query.
    fn has(&self, query: &PathQuery) -> bool {
        let is_to_them = match self {
            Self::Own(goal) => *goal == Some(query.goal),
            Self::Nearest(_) => true,
        };
        is_to_them && Field::suits(query)
    }

    /// Where those begin that a field answers.
    fn starts<'a>(&self, queries: impl Iterator<Item = &'a PathQuery>) -> Vec<Cell> {
        queries.filter(|query| self.has(query)).map(|query| query.start).collect()
    }
}

/// Where a route ends.
fn end(answer: &Result<Answer, QueryError>) -> Option<Cell> {
    answer.as_ref().ok()?.route()?.cells().last().copied()
}

impl fmt::Debug for Convoy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Convoy({} of {} answered, {:?})", self.next, self.queries.len(), self.stage)
    }
}
