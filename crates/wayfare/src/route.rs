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

    /// The cells one by one, filled in between corners as they are asked for. A unit that walks a long way along the cells of a
    /// grid asks for [`Corners`](crate::RouteShape::Corners), keeps this, and takes the next cell when it gets there; whoever
    /// wants all at once collects them. Legs of a pulled route that lead along no direction of the grid are one step each.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let snapshot = Snapshot::new(&Map::new(900, 600)?, &View::default());
    /// let query = PathQuery::new((0, 0), (899, 500)).straight_line(StraightLine::Never).shape(RouteShape::Corners);
    /// let Answer::Found(route) = find_path(&snapshot, &query, &mut Scratch::new())? else { panic!() };
    /// assert_eq!(route.cells().len(), 3);
    /// let mut way = route.into_steps();
    /// assert_eq!([way.next(), way.next()], [Some(Cell::new(0, 0)), Some(Cell::new(1, 1))]);
    /// assert_eq!(way.count(), 898);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_steps(self) -> Steps {
        let at = self.cells.first().copied();
        Steps { cells: self.cells, leg: 1, at }
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

/// The cells of a route, one by one: see [`Route::into_steps`].
#[derive(Clone, Debug)]
pub struct Steps {
    cells: Vec<Cell>,
    /// Which of them comes next.
    leg: usize,
    /// What is said next.
    at: Option<Cell>,
}

impl Iterator for Steps {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        let at = self.at.take()?;
        self.at = self.cells.get(self.leg).map(|&to| {
            let (dx, dy) = (i64::from(to.x) - i64::from(at.x), i64::from(to.y) - i64::from(at.y));
            let is_along_grid = dx == 0 || dy == 0 || dx.abs() == dy.abs();
            let next = if is_along_grid { at + (sign(dx), sign(dy)) } else { to };
            self.leg += usize::from(next == to);
            next
        });
        Some(at)
    }
}

fn sign(distance: i64) -> i32 {
    i32::from(distance > 0) - i32::from(distance < 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(cells: &[(i32, i32)]) -> Vec<(i32, i32)> {
        let cells = cells.iter().map(|cell| Cell::from(*cell)).collect();
        Route { cells, cost: 0 }.into_steps().map(|cell| (cell.x, cell.y)).collect()
    }

    #[test]
    fn corners_are_filled_in_with_every_cell_between_them() {
        assert_eq!(steps(&[(3, 2)]), [(3, 2)]);
        let expected = [(0, 3), (1, 2), (2, 1), (3, 1), (4, 1), (4, 2), (3, 3)];
        assert_eq!(steps(&[(0, 3), (2, 1), (4, 1), (4, 2), (3, 3)]), expected);
        assert_eq!(steps(&expected), expected, "single steps stay as they are");
    }

    #[test]
    fn legs_at_other_angles_are_one_step() {
        assert_eq!(steps(&[(0, 0), (5, 2), (5, 4)]), [(0, 0), (5, 2), (5, 3), (5, 4)]);
        let far = (i32::MAX, i32::MIN);
        assert_eq!(steps(&[(i32::MIN, 0), far]), [(i32::MIN, 0), far]);
    }
}
