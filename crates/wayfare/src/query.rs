//! What is asked: a [`PathQuery`] from a start to a goal, with the knobs of the classic articles.
//!
//! # Which combinations are optimal
//!
//! A search returns a cheapest path when the heuristic never estimates too much (it is *admissible*) and never
//! drops by more than a step costs (it is *consistent*; a closed cell is then settled for good), the weight is at
//! most 1, and the search stops when the goal is *closed*. That is the default.
//!
//! | heuristic | 4 directions | 8 directions |
//! |---|---|---|
//! | [`Auto`](Heuristic::Auto) | optimal | optimal |
//! | [`Manhattan`](Heuristic::Manhattan) | optimal, the tightest | **inexact**: a diagonal replaces two straight steps, so it estimates too much (exact only if on every terrain there, after rounding, a diagonal costs as much as both) |
//! | [`Octile`](Heuristic::Octile) | optimal, weaker than Manhattan | optimal, the tightest |
//! | [`Chebyshev`](Heuristic::Chebyshev) | optimal, weak | optimal, weak |
//! | [`Euclidean`](Heuristic::Euclidean) | optimal, weak | optimal, weak |
//! | [`SquaredEuclidean`](Heuristic::SquaredEuclidean) | **inexact** | **inexact** |
//! | [`Zero`](Heuristic::Zero) | optimal: Dijkstra | optimal: Dijkstra |
//!
//! Estimates are scaled by the cheapest step over the terrain that is present on the map, so roads cheaper than
//! ordinary ground keep them admissible. Euclidean distance is scaled down where a diagonal costs less than √2
//! straight steps (10/14, 1/1). All are computed in whole numbers and rounded down, which keeps them consistent.
//!
//! - **Weight** above 1 (up to [`Weight::GREEDY`]): faster and **inexact**. With an admissible heuristic the path
//!   costs at most *weight* times the optimum; a greedy path has no bound.
//! - **[`StopWhen::GoalOpened`]**: the articles' early exit; **inexact**, because a cheaper way to the goal may
//!   still be on the open list. With an admissible heuristic and no turn cost the path is too dear by at most
//!   the cost of its last step.
//! - **[`StraightLine::IfOptimal`]** returns only lines that no path can beat. [`StraightLine::IfUniform`] is
//!   **inexact** where cheaper ground lies beside the line.
//!
//! All of this holds for [the nearest of several goals](crate::find_path_to_nearest) as well.

use core::fmt;

use crate::cell::Cell;
use crate::cost::Cost;

/// A question to [`find_path`](crate::find_path) or [`Search`](crate::Search).
///
/// ```
/// use wayfare::prelude::*;
///
/// let default = PathQuery::new((0, 0), (9, 4));
/// let dijkstra = default.heuristic(Heuristic::Zero);
/// let quick = default.weight(Weight::new(1.5)?).fallback(Fallback::Nearest).budget(10_000);
/// # assert_ne!(dijkstra, quick);
/// # Ok::<(), WeightError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct PathQuery {
    pub(crate) start: Cell,
    pub(crate) goal: Cell,
    pub(crate) heuristic: Heuristic,
    pub(crate) weight: Weight,
    pub(crate) stop: StopWhen,
    pub(crate) objective: Objective,
    pub(crate) straight_line: StraightLine,
    pub(crate) fallback: Fallback,
    pub(crate) shape: RouteShape,
    pub(crate) budget: u64,
    pub(crate) gear: Gear,
}

impl PathQuery {
    /// The cheapest path from `start` to `goal`, cell by cell.
    pub fn new(start: impl Into<Cell>, goal: impl Into<Cell>) -> Self {
        Self {
            start: start.into(),
            goal: goal.into(),
            heuristic: Heuristic::default(),
            weight: Weight::default(),
            stop: StopWhen::default(),
            objective: Objective::default(),
            straight_line: StraightLine::default(),
            fallback: Fallback::default(),
            shape: RouteShape::default(),
            budget: u64::MAX,
            gear: Gear::default(),
        }
    }

    /// The same question about another way.
    pub fn from_to(mut self, start: impl Into<Cell>, goal: impl Into<Cell>) -> Self {
        (self.start, self.goal) = (start.into(), goal.into());
        self
    }

    /// How the remaining cost is estimated.
    pub const fn heuristic(mut self, heuristic: Heuristic) -> Self {
        self.heuristic = heuristic;
        self
    }

    /// How much the estimate counts against the cost so far.
    pub const fn weight(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }

    /// When the search may stop.
    pub const fn stop_when(mut self, stop: StopWhen) -> Self {
        self.stop = stop;
        self
    }

    /// What makes one path better than another.
    pub const fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// Whether a clear straight line is taken without a search.
    pub const fn straight_line(mut self, straight_line: StraightLine) -> Self {
        self.straight_line = straight_line;
        self
    }

    /// What to do when the goal cannot be reached, or not within the budget.
    pub const fn fallback(mut self, fallback: Fallback) -> Self {
        self.fallback = fallback;
        self
    }

    /// Which cells of the path the route lists.
    pub const fn shape(mut self, shape: RouteShape) -> Self {
        self.shape = shape;
        self
    }

    /// Gives up after closing this many nodes. Unlimited by default.
    pub const fn budget(mut self, nodes: u64) -> Self {
        self.budget = nodes;
        self
    }

    /// The highest gear the search may use. Only the time it takes depends on it, and which of several cheapest paths is
    /// found.
    pub const fn gear(mut self, gear: Gear) -> Self {
        self.gear = gear;
        self
    }

    /// Where the path begins.
    pub const fn start(&self) -> Cell {
        self.start
    }

    /// Where it is to end.
    pub const fn goal(&self) -> Cell {
        self.goal
    }
}

/// The estimate H of the cost from a cell to the goal. The [module](self) says which ones are exact when.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Heuristic {
    /// The tightest exact one: Manhattan on 4 directions, octile on 8.
    #[default]
    Auto,
    /// Columns plus rows.
    Manhattan,
    /// Diagonal steps as far as they help, then straight ones.
    Octile,
    /// The larger of columns and rows.
    Chebyshev,
    /// The straight distance.
    Euclidean,
    /// The square of the straight distance: no root to take, and far too large. Fast, not optimal.
    SquaredEuclidean,
    /// Nothing is known: the search becomes Dijkstra's.
    Zero,
}

/// How much H counts in F = G + weight × H.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Weight(u16);

impl Weight {
    /// F = G + H.
    pub const ONE: Self = Self(256);
    /// F = H: runs straight at the goal and takes the first path it stumbles on.
    pub const GREEDY: Self = Self(u16::MAX);

    /// A weight between 0 (Dijkstra) and 255, in steps of 1/256.
    ///
    /// # Errors
    /// [`WeightError`] if it is outside that range or not a number.
    pub fn new(weight: f32) -> Result<Self, WeightError> {
        if !(0.0..=255.0).contains(&weight) {
            return Err(WeightError { weight });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked above"
        )]
        Ok(Self((weight * 256.0).round() as u16))
    }

    /// F for a cell with this G and H.
    #[inline]
    pub(crate) fn f(self, g: Cost, h: Cost) -> Cost {
        match self {
            Self::ONE => g + h,
            Self::GREEDY => h,
            // In two parts: the product of a large estimate and a large weight needs more than 64 bits.
            Self(units) => g + (h >> 8) * u64::from(units) + (((h & 255) * u64::from(units)) >> 8),
        }
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

/// A weight that is negative, too large or not a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WeightError {
    /// The refused weight.
    pub weight: f32,
}

impl fmt::Display for WeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a heuristic weight of {} must lie between 0 and 255", self.weight)
    }
}

impl core::error::Error for WeightError {}

/// When a search has found its path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum StopWhen {
    /// The goal is the best entry of the open list: no other path can be cheaper.
    #[default]
    GoalClosed,
    /// The goal has been put on the open list: a little sooner, and not always by the cheapest path.
    GoalOpened,
}

/// What makes one path better than another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Objective {
    /// The sum of its steps.
    #[default]
    Cheapest,
    /// The sum of its steps, and this much for every change of direction. The first step may go anywhere.
    ///
    /// The search runs over cells *and* headings, which makes it exact and up to eight times as large.
    TurnCost(u32),
    /// The fewest changes of direction among all paths that cost at most this many per cent more than the
    /// cheapest; of those, the cheapest. Heuristic, weight and stopping rule do not matter here, and of straight
    /// lines only optimal ones are taken.
    ///
    /// It costs a search over the ground within the limit for each number of bends; on large cluttered maps with
    /// a generous limit that is much, so give it a [budget](PathQuery::budget).
    FewestBends {
        /// Per cent above the cheapest path.
        within_percent: u16,
    },
}

impl Objective {
    /// What a change of direction costs.
    pub(crate) const fn turn_cost(self) -> u32 {
        match self {
            Self::TurnCost(cost) => cost,
            Self::Cheapest | Self::FewestBends { .. } => 0,
        }
    }
}

/// Whether a clear straight line from start to goal is taken without a search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum StraightLine {
    /// Always search.
    Never,
    /// If no path can be cheaper: the line is clear and runs over the cheapest terrain of the map.
    #[default]
    IfOptimal,
    /// If the line is clear and the terrain is the same all along it.
    IfUniform,
}

/// What to do when the goal cannot be reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Fallback {
    /// Say so, and name the nearest cell that can be.
    #[default]
    Fail,
    /// Go to the nearest cell that can be reached: [`Answer::Partial`](crate::Answer::Partial).
    Nearest,
}

/// How much a search may make of the ground. Each gear finds a cheapest path; a higher one finds it sooner, where it can be
/// used at all. Where it cannot, the next lower one is: see each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Gear {
    /// A* from cell to cell. It serves every query.
    Cells,
    /// Jumps from turn to turn over bits: for the cheapest path to one goal over even ground, under the default heuristic,
    /// weight and stopping rule, with nobody watching. It needs nothing but the map as it is.
    Jump,
    /// The same along the graph of jumps that a [`Survey`](crate::Survey) has noted down, where the map is still as it was
    /// then.
    Graph,
    /// The same led by landmarks, as long as no way has become shorter; and where it takes long all the same, without a look at
    /// dead ends, while the whole map is as it was.
    #[default]
    Full,
}

/// Which cells of the path a route lists.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum RouteShape {
    /// Every cell.
    #[default]
    Cells,
    /// Start, goal and the cells where the direction changes. [`Route::into_steps`](crate::Route::into_steps) fills in the others as a
    /// unit walks.
    Corners,
    /// As few way-points as straight lines of any angle allow: the path is pulled taut like a string. It never
    /// touches a blocked cell, never cuts a corner the rule forbids, and never costs more than the path it
    /// came from.
    Pulled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_estimate_is_rounded_down_once() {
        for weight in [0.0, 0.01, 0.5, 1.0, 1.5, 7.25, 255.0] {
            for h in [0, 1, 255, 256, 1393, 999_999, (1 << 53) - 1] {
                let units = u128::from(Weight::new(weight).unwrap().0);
                let exact = u128::from(h) * units / 256;
                assert_eq!(u128::from(Weight::new(weight).unwrap().f(5, h)), 5 + exact, "{weight} × {h}");
            }
        }
        assert_eq!(Weight::GREEDY.f(5, 7), 7);
    }
}
