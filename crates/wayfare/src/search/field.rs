//! Many starts, one goal, one search: a [`Field`] spreads backwards from the goal and knows the way from wherever it has
//! been.

use core::fmt;
use std::sync::Arc;

use crate::cell::Cell;
use crate::cost::Cost;
use crate::query::{Heuristic, RouteShape, Weight};
use crate::record::Effort;
use crate::route::{Answer, QueryError, Route};
use crate::search::Progress;
use crate::search::astar::Backwards;
use crate::search::estimate::Estimate;
use crate::search::flood::{Flood, trace};
use crate::search::goals::{Aim, AnyGoal};
use crate::search::scratch::Scratch;
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
pub struct Field {
    snapshot: Arc<Snapshot>,
    goal: Cell,
    scratch: Scratch,
    estimate: Estimate,
    /// Starts that can be reached and have not been.
    left: usize,
}

impl Field {
    /// A field that has not spread yet. The scratch is lent to it and comes back at the end.
    pub fn new(
        snapshot: Arc<Snapshot>,
        goal: impl Into<Cell>,
        starts: &[Cell],
        mut scratch: Scratch,
    ) -> Self {
        let goal = goal.into();
        scratch.effort = Effort::default();
        let estimate = Estimate::new(&snapshot.ground, Heuristic::Auto, Weight::ONE);
        // A goal that is blocked or outside is on nobody's island.
        let any_reachable = scratch.goals.collect(&snapshot, goal, starts) == Ok(true);
        let left = if any_reachable { scratch.goals.cells().len() } else { 0 };
        if !any_reachable {
            scratch.goals.clear();
        }
        let mut field = Self { snapshot, goal, scratch, estimate, left };
        if let Some(root) = field.root() {
            field.flood().begin(root);
        }
        field
    }

    /// Where the flood begins, if the goal is open.
    fn root(&self) -> Option<u32> {
        self.snapshot.ground.map.index(self.goal).filter(|_| self.snapshot.is_open(self.goal))
    }

    fn flood(&mut self) -> Flood<'_, Backwards<'_>> {
        let Scratch { nodes, open, .. } = &mut self.scratch;
        Flood { space: Backwards(&self.snapshot.ground), nodes, open }
    }

    /// Closes up to `max_nodes` cells, and says whether all starts that can be reached have been.
    pub fn run(&mut self, max_nodes: u32) -> Progress {
        for _ in 0..max_nodes {
            if self.left == 0 || self.spread().is_none() {
                break;
            }
        }
        if self.left == 0 { Progress::Done } else { Progress::Running }
    }

    /// Closes one more cell and returns where it is stored.
    #[inline]
    fn spread(&mut self) -> Option<u32> {
        let Self { snapshot, scratch, estimate, .. } = self;
        let Scratch { nodes, open, goals, .. } = scratch;
        // Every start lies in one of the boxes to which this is the distance.
        let left = |cell: Cell| AnyGoal.h(estimate, goals, cell);
        let closed = Flood { space: Backwards(&snapshot.ground), nodes, open }.close_next(left);
        let Some(closed) = closed else {
            self.left = 0;
            return None;
        };
        self.scratch.effort.closed += 1;
        self.left -= usize::from(self.left > 0 && self.scratch.goals.contains(closed.node));
        Some(closed.node)
    }

    /// What the way from a cell to the goal costs, if the field has been there.
    pub fn cost(&self, from: Cell) -> Option<Cost> {
        self.root()?;
        let index = self.snapshot.ground.map.index(from)?;
        self.scratch.nodes.find(index).filter(|node| node.closed).map(|node| node.g)
    }

    /// The cheapest route from a cell to the goal, as [`find_path`](crate::find_path) would answer. If the field has not
    /// been there, it spreads on until it has.
    ///
    /// # Errors
    /// [`QueryError`] if the cell or the goal lies outside the map, or the cell is blocked.
    pub fn answer(&mut self, from: Cell, shape: RouteShape) -> Result<Answer, QueryError> {
        let map = &self.snapshot.ground.map;
        let index = map.index(from).ok_or(QueryError::StartOutside(from))?;
        if !map.contains(self.goal) {
            return Err(QueryError::GoalOutside(self.goal));
        }
        if !self.snapshot.is_open(from) {
            return Err(QueryError::StartBlocked(from));
        }
        if !self.snapshot.reachable(from, self.goal) {
            let nearest = self.snapshot.nearest_reachable(from, self.goal).unwrap_or(from);
            return Ok(Answer::Unreachable { nearest });
        }
        let cost = loop {
            if let Some(cost) = self.cost(from) {
                break cost;
            }
            // The islands promised a path.
            if self.spread().is_none() {
                return Ok(Answer::Unreachable { nearest: from });
            }
        };
        let mut cells = self.scratch.take_cells();
        trace(&Backwards(&self.snapshot.ground), &self.scratch.nodes, index, &mut cells);
        let mut route = Route { cells, cost };
        match shape {
            RouteShape::Cells => {}
            RouteShape::Corners => smooth::keep_corners(&mut route.cells),
            RouteShape::Pulled => smooth::pull(&self.snapshot.ground, &mut route, 0, &mut self.scratch),
        }
        Ok(Answer::Found(route))
    }

    /// Takes the memory of a route that is no longer needed, for the next one.
    pub fn recycle(&mut self, route: Route) {
        self.scratch.recycle(route);
    }

    /// The scratch, for what is searched besides. The open list may be used if the field need not spread any more.
    pub(crate) const fn scratch_mut(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    /// Where all the ways lead.
    pub const fn goal(&self) -> Cell {
        self.goal
    }

    /// What the field reads.
    pub const fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// What it has done so far.
    pub fn effort(&self) -> Effort {
        self.scratch.effort
    }

    /// Ends it, and returns the scratch.
    pub fn finish(self) -> Scratch {
        self.scratch
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field(to {}, {} starts left, {:?})", self.goal, self.left, self.effort())
    }
}
