//! What is answered: an [`Answer`], and the [`Route`] in it; or a [`QueryError`] when the question was wrong.

use core::fmt;

use crate::cell::Cell;
use crate::cost::Cost;

/// A way from a start to a goal: cells joined by straight legs, and what walking them costs.
///
/// How many cells there are depends on the [`RouteShape`](crate::RouteShape) asked for. There is at least one; a
/// unit that is already there has a route of a single cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    pub(crate) cells: Vec<Cell>,
    pub(crate) cost: Cost,
}

impl Route {
    /// The cells, from start to goal.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells, from start to goal, to keep.
    pub fn into_cells(self) -> Vec<Cell> {
        self.cells
    }

    /// What it costs: the sum of its steps, and of its turns if the query priced them.
    pub const fn cost(&self) -> Cost {
        self.cost
    }

    /// How often the direction changes.
    pub fn bends(&self) -> usize {
        self.cells.windows(3).filter(|three| !in_line(three[0], three[1], three[2])).count()
    }

    /// The length in cells, if cells are square: 1 for a straight step, √2 for a diagonal one.
    pub fn length(&self) -> f64 {
        let leg = |pair: &[Cell]| {
            let (dx, dy) = pair[0].gap(pair[1]);
            let (dx, dy) = (f64::from(dx), f64::from(dy));
            (dx * dx + dy * dy).sqrt()
        };
        self.cells.windows(2).map(leg).sum()
    }
}

/// Whether `b` lies on the straight way from `a` to `c`.
pub(crate) fn in_line(a: Cell, b: Cell, c: Cell) -> bool {
    let (first, second) = ((b.x - a.x, b.y - a.y), (c.x - b.x, c.y - b.y));
    let cross = i64::from(first.0) * i64::from(second.1) - i64::from(first.1) * i64::from(second.0);
    let dot = i64::from(first.0) * i64::from(second.0) + i64::from(first.1) * i64::from(second.1);
    cross == 0 && dot > 0
}

/// How a search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A route to the goal.
    Found(Route),
    /// A route to the nearest point instead, because the query asked for one with
    /// [`Fallback::Nearest`](crate::Fallback::Nearest).
    Partial {
        /// The route; its last cell is the nearest point.
        route: Route,
        /// Why it does not reach the goal.
        because: Shortfall,
    },
    /// No path exists. Known from the islands, without a search.
    Unreachable {
        /// The reachable cell closest to the goal, or to any of several, by straight distance.
        nearest: Cell,
    },
    /// The budget ran out first.
    OutOfBudget {
        /// The settled cell closest to the goal, or to any of several: by straight distance, then by lower row, then
        /// by lower column.
        nearest: Cell,
    },
}

impl Answer {
    /// The route, whether to the goal or to the nearest point.
    pub fn route(&self) -> Option<&Route> {
        match self {
            Self::Found(route) | Self::Partial { route, .. } => Some(route),
            Self::Unreachable { .. } | Self::OutOfBudget { .. } => None,
        }
    }

    /// The route, whether to the goal or to the nearest point, to keep.
    pub fn into_route(self) -> Option<Route> {
        match self {
            Self::Found(route) | Self::Partial { route, .. } => Some(route),
            Self::Unreachable { .. } | Self::OutOfBudget { .. } => None,
        }
    }
}

/// Why a partial route does not reach the goal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shortfall {
    /// No path exists; the route ends at the reachable cell closest to the goal.
    Unreachable,
    /// The budget ran out; the route ends at the settled cell closest to the goal. It may be the goal itself, if
    /// only the polishing was unfinished.
    OutOfBudget,
}

/// A question that cannot be asked of this map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum QueryError {
    /// The start is not on the map.
    StartOutside(Cell),
    /// The goal is not on the map; of several goals none is, and this is the first.
    GoalOutside(Cell),
    /// There is no goal to choose from.
    NoGoal,
    /// The start is blocked: there is no way out that the rule knows. See
    /// [`Snapshot::nearest_open`](crate::Snapshot::nearest_open).
    StartBlocked(Cell),
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StartOutside(cell) => write!(f, "the start {cell} lies outside the map"),
            Self::GoalOutside(cell) => write!(f, "the goal {cell} lies outside the map"),
            Self::NoGoal => write!(f, "there is no goal"),
            Self::StartBlocked(cell) => write!(f, "the start {cell} is blocked"),
        }
    }
}

impl core::error::Error for QueryError {}
