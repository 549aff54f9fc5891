//! The heuristic of one search: [`Heuristic`] and [`Weight`] made ready for one ground.

use crate::cell::Cell;
use crate::cost::Cost;
use crate::ground::{Ground, Least};
use crate::query::{Heuristic, Weight};
use crate::rules::Directions;

/// Estimates the cost from a cell to another. See [`query`](crate::query) for what is exact when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    heuristic: Heuristic,
    weight: Weight,
    least: Least,
    diagonals: bool,
    /// The square of a factor below 1 that keeps Euclidean distance below the cost of a diagonal, as a fraction.
    shrink: Option<(u64, u64)>,
}

impl Estimate {
    pub(crate) fn new(ground: &Ground, heuristic: Heuristic, weight: Weight) -> Self {
        let directions = ground.view.rules.directions;
        let heuristic = match (heuristic, directions) {
            (Heuristic::Auto, Directions::Four) => Heuristic::Manhattan,
            (Heuristic::Auto, Directions::Eight) => Heuristic::Octile,
            (other, _) => other,
        };
        let mut least = ground.least();
        least.diagonal = least.diagonal.min(least.x + least.y);
        let (diagonal, straight) = (least.diagonal.pow(2), least.x.pow(2) + least.y.pow(2));
        let diagonals = directions == Directions::Eight;
        let shrinks = diagonals && diagonal < straight;
        Self { heuristic, weight, least, diagonals, shrink: shrinks.then_some((diagonal, straight)) }
    }

    /// The exact cost of the cheapest way to the goal over empty ground of the cheapest terrain.
    pub(crate) fn lower_bound(ground: &Ground, from: Cell, goal: Cell) -> Cost {
        Self::new(ground, Heuristic::Auto, Weight::ONE).h(from.gap(goal))
    }

    /// H over this many columns and rows. It never falls when either grows.
    #[inline]
    pub(crate) fn h(&self, (dx, dy): (u32, u32)) -> Cost {
        let (dx, dy) = (u64::from(dx), u64::from(dy));
        let Least { x, y, diagonal } = self.least;
        match self.heuristic {
            Heuristic::Octile | Heuristic::Auto => {
                let both = dx.min(dy);
                both * diagonal + (dx - both) * x + (dy - both) * y
            }
            Heuristic::Manhattan => dx * x + dy * y,
            Heuristic::Chebyshev => (dx * x).max(dy * y),
            Heuristic::Euclidean => self.euclidean(dx * x, dy * y),
            Heuristic::SquaredEuclidean => dx * dx * x + dy * dy * y,
            Heuristic::Zero => 0,
        }
    }

    #[inline]
    pub(crate) fn f(&self, g: Cost, h: Cost) -> Cost {
        self.weight.f(g, h)
    }

    /// Whether a better G makes a better F. Not so when the search is greedy.
    #[inline]
    pub(crate) fn follows_g(&self) -> bool {
        self.weight != Weight::GREEDY
    }

    /// Whether a step may lead to a lower F: whenever the estimate may drop by more than the step costs.
    pub(crate) fn f_may_fall(&self) -> bool {
        let consistent = match self.heuristic {
            Heuristic::Auto
            | Heuristic::Octile
            | Heuristic::Chebyshev
            | Heuristic::Euclidean
            | Heuristic::Zero => true,
            Heuristic::Manhattan => !self.diagonals,
            Heuristic::SquaredEuclidean => false,
        };
        !consistent || self.weight > Weight::ONE
    }

    /// The floor of the exact root: a rounded float could break consistency by one.
    fn euclidean(&self, a: u64, b: u64) -> Cost {
        let (numerator, denominator) = self.shrink.unwrap_or((1, 1));
        // Legs are below 2^38, so squares need more than 64 bits only on maps larger or dearer than usual.
        let small = a.checked_mul(a).zip(b.checked_mul(b)).and_then(|(a, b)| a.checked_add(b));
        if let Some(square) = small.and_then(|square| square.checked_mul(numerator)) {
            return (square / denominator).isqrt();
        }
        let (a, b) = (u128::from(a), u128::from(b));
        let square = (a * a + b * b) * u128::from(numerator) / u128::from(denominator);
        Cost::try_from(square.isqrt()).unwrap_or(Cost::MAX)
    }
}
