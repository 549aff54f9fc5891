//! One search, from a wish in the world's coordinates to points to walk along. Knows nothing of entities and queues.

use std::sync::Arc;

use bevy::math::Vec2;
use wayfare::avoid::{Disc, fit};
use wayfare::follow::{Footing, lay};
use wayfare::{
    Answer, Cell, CellShape, Cost, Fallback, Layout, Progress, QueryError, Route, Scratch, Search, Shortfall,
    Snapshot,
};

use crate::event::FailureReason;
use crate::march::Posting;
use crate::path::Reach;
use crate::request::PathOptions;

/// A place on the map's plane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Aim {
    Point(Vec2),
    Cell(Cell),
}

#[derive(Clone, Debug)]
pub(crate) enum Aims {
    One(Aim),
    Nearest(Arc<[Aim]>),
}

/// What is asked of a search.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) start: Aim,
    pub(crate) aims: Aims,
    pub(crate) options: PathOptions,
    pub(crate) escape_cells: u32,
    /// How large the unit is that is to go there.
    pub(crate) radius: f32,
    /// Those whom the way should lead around.
    pub(crate) around: Option<Arc<[Disc]>>,
}

/// A search under way.
#[derive(Debug)]
pub(crate) struct Plan {
    snapshot: Arc<Snapshot>,
    layout: Layout,
    wish: Wish,
    search: Search,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) points: Vec<Vec2>,
    pub(crate) cost: Cost,
    pub(crate) reach: Reach,
    /// Its place in a group.
    pub(crate) posting: Option<Posting>,
}

/// A wish in cells of the map.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) start: Cell,
    pub(crate) goals: GoalCells,
}

/// Where a search may end.
#[derive(Clone, Debug)]
pub(crate) enum GoalCells {
    One(Cell),
    Nearest(Arc<[Cell]>),
}

impl Wish {
    /// Leads to a point instead, or as near as possible.
    pub(crate) fn lead_to(&mut self, point: Vec2) {
        self.aims = Aims::One(Aim::Point(point));
        self.options.0 = self.options.0.fallback(Fallback::Nearest);
    }

    /// Finds start and goals on the map. Where others with the same aims have found theirs, it need not look for goals again.
    pub(crate) fn look_up(
        &self,
        snapshot: &Snapshot,
        layout: &Layout,
        known: Option<&GoalCells>,
    ) -> Result<Asked, FailureReason> {
        if layout.shape() == CellShape::Hexagon {
            return Err(FailureReason::HexagonalMap);
        }
        let footing = Footing { snapshot, layout };
        let start = start_cell(footing, self)?;
        let goals = match (known, &self.aims) {
            (Some(goals), _) => goals.clone(),
            (None, Aims::One(aim)) => GoalCells::One(goal_cell(footing, *aim)?),
            (None, Aims::Nearest(aims)) => {
                // A goal that makes no sense is no reason not to go to another.
                let goals: Vec<Cell> = aims.iter().filter_map(|aim| goal_cell(footing, *aim).ok()).collect();
                match (goals.is_empty(), aims.first()) {
                    (true, Some(aim)) => {
                        return Err(cell_of(layout, *aim).err().unwrap_or(FailureReason::NoGoal));
                    }
                    _ => GoalCells::Nearest(goals.into()),
                }
            }
        };
        Ok(Asked { start, goals })
    }

    /// Turns an answer into points, for which `buffer` gives memory; the route's own goes back to the scratch.
    pub(crate) fn planned(
        &self,
        snapshot: &Snapshot,
        layout: &Layout,
        answer: Result<Answer, QueryError>,
        buffer: impl FnOnce() -> Vec<Vec2>,
        recycle: impl FnOnce(Route),
    ) -> Result<Planned, FailureReason> {
        let (route, reach) = match answer {
            Ok(Answer::Found(route)) => (route, Reach::Goal),
            Ok(Answer::Partial { route, because: Shortfall::Unreachable }) => (route, Reach::Nearest),
            Ok(Answer::Partial { route, because: Shortfall::OutOfBudget }) => (route, Reach::BudgetSpent),
            Ok(Answer::Unreachable { nearest }) => {
                return Err(FailureReason::Unreachable { nearest: to_ivec(nearest) });
            }
            Ok(Answer::OutOfBudget { nearest }) => {
                return Err(FailureReason::OutOfBudget { nearest: to_ivec(nearest) });
            }
            Err(QueryError::StartBlocked(_)) => return Err(FailureReason::StartBlocked),
            Err(QueryError::NoGoal) => return Err(FailureReason::NoGoal),
            // The start or the goal is outside.
            Err(_) => return Err(FailureReason::OutOfMap),
        };
        let footing = Footing { snapshot, layout };
        let from = match self.start {
            Aim::Point(point) => Some(point),
            Aim::Cell(_) => None,
        };
        let to = match reach {
            Reach::Goal => route.cells().last().and_then(|end| exact_end(layout, &self.aims, *end)),
            Reach::Nearest | Reach::BudgetSpent => None,
        };
        let to = to.map(|to| fit(footing, Disc { centre: to, radius: self.radius }));
        let mut points = buffer();
        lay(footing, route.cells(), from, to, &mut points);
        let cost = route.cost();
        recycle(route);
        Ok(Planned { points, cost, reach, posting: None })
    }
}

impl Plan {
    /// A search that has not looked at anything yet.
    pub(crate) fn new(
        snapshot: Arc<Snapshot>,
        layout: Layout,
        wish: Wish,
        asked: Asked,
        scratch: Scratch,
    ) -> Self {
        let search = match asked.goals {
            GoalCells::One(goal) => {
                Search::new(Arc::clone(&snapshot), wish.options.0.from_to(asked.start, goal), scratch)
            }
            GoalCells::Nearest(goals) => {
                let query = wish.options.0.from_to(asked.start, asked.start);
                Search::to_nearest(Arc::clone(&snapshot), query, goals, scratch)
            }
        };
        Self { snapshot, layout, wish, search }
    }

    /// Closes up to so many nodes.
    pub(crate) fn run(&mut self, nodes: u32) -> Progress {
        self.search.run(nodes)
    }

    /// How many nodes have been closed.
    pub(crate) fn nodes(&self) -> u64 {
        self.search.effort().closed
    }

    pub(crate) fn cancel(self) -> Scratch {
        self.search.cancel()
    }

    /// Turns the answer into points, written into `points`.
    pub(crate) fn finish(self, points: Vec<Vec2>) -> (Result<Planned, FailureReason>, Scratch) {
        let Self { snapshot, layout, wish, search } = self;
        let (answer, mut scratch) = search.finish();
        let result = wish.planned(&snapshot, &layout, answer, || points, |route| scratch.recycle(route));
        (result, scratch)
    }
}

/// Where the search begins: the cell of the start or, where the unit cannot stand, the nearest where it can.
fn start_cell(footing: Footing<'_>, wish: &Wish) -> Result<Cell, FailureReason> {
    let start = cell_of(footing.layout, wish.start)?;
    match wish.start {
        Aim::Point(point) if footing.snapshot.map().contains(start) && !footing.snapshot.is_open(start) => {
            footing.entry(point, wish.escape_cells).ok_or(FailureReason::StartBlocked)
        }
        _ => Ok(start),
    }
}

/// Where the search leads to: the cell of the goal or, if a unit has too little room there, the nearest in sight where it has
/// enough.
fn goal_cell(footing: Footing<'_>, aim: Aim) -> Result<Cell, FailureReason> {
    let goal = cell_of(footing.layout, aim)?;
    let point = match aim {
        Aim::Point(point) => point,
        Aim::Cell(cell) => footing.layout.centre(cell),
    };
    Ok(footing.berth(point).unwrap_or(goal))
}

/// The cell that is aimed at.
pub(crate) fn cell_of(layout: &Layout, aim: Aim) -> Result<Cell, FailureReason> {
    match aim {
        Aim::Cell(cell) => Ok(cell),
        Aim::Point(point) if !point.is_finite() => Err(FailureReason::BadPosition),
        Aim::Point(point) => layout.cell_at(point).ok_or(FailureReason::OutOfMap),
    }
}

/// The point that was asked for, in the cell the route ends in.
fn exact_end(layout: &Layout, aims: &Aims, end: Cell) -> Option<Vec2> {
    let inside = |aim: &Aim| match aim {
        Aim::Point(point) if layout.cell_at(*point) == Some(end) => Some(*point),
        _ => None,
    };
    match aims {
        Aims::One(aim) => inside(aim),
        Aims::Nearest(aims) => aims.iter().find_map(inside),
    }
}

fn to_ivec(cell: Cell) -> bevy::math::IVec2 {
    bevy::math::IVec2::new(cell.x, cell.y)
}
