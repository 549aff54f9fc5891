//! What a step costs: [`StepCosts`] for the ground plan, a [`Factor`] per terrain, and the [`Cost`] they add up to.
//!
//! # Why a cost cannot overflow
//!
//! Costs are whole numbers, so that equal paths compare equal on every machine. The types bound every part:
//! a step cost is a `u16` and a factor is below 256, so entering one cell costs less than 2^24; a turn costs
//! less than 2^32; a map has at most 2^28 cells ([`Map::MAX_SIDE`](crate::Map::MAX_SIDE) squared), seen under
//! at most 8 headings. A path found by a search never visits a (cell, heading) pair twice, so its cost is below
//! 2^31 × (2^24 + 2^32) < 2^63.1. The heuristic adds at most 2 × 2^28 × 2^24 (squared Euclidean, the largest)
//! times a weight below 256, that is 2^61. The sum fits a `u64` with room to spare; nothing has to be checked
//! while searching.

use core::fmt;

/// A sum of step costs, in the unit of the [`StepCosts`] it was made with.
pub type Cost = u64;

/// The cost of one step over ordinary ground: along a row, along a column, and diagonally.
///
/// The unit is free. A search only compares sums, so `10/14` and `100/140` find the same paths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StepCosts {
    x: u16,
    y: u16,
    diagonal: u16,
}

impl StepCosts {
    /// 985 straight and 1393 diagonal: a ratio within 4 × 10^-7 of √2, the default.
    ///
    /// A path of 10,000 diagonal steps is then off by 0.004 cells, so "cheapest" means "shortest".
    pub const FINE: Self = Self { x: 985, y: 985, diagonal: 1393 };
    /// 10 straight and 14 diagonal, as the classic articles have it.
    pub const CLASSIC: Self = Self { x: 10, y: 10, diagonal: 14 };
    /// 1 for every step, diagonal or not: cost counts moves, as in many turn-based games.
    pub const MOVES: Self = Self { x: 1, y: 1, diagonal: 1 };

    /// Square cells with the given straight and diagonal costs.
    ///
    /// # Errors
    /// [`CostError::Zero`] for a free step, [`CostError::Diagonal`] unless `straight <= diagonal <= 2 * straight`:
    /// outside that range a zigzag would beat a straight line, or no diagonal would ever be walked.
    pub const fn new(straight: u16, diagonal: u16) -> Result<Self, CostError> {
        Self::with_axes(straight, straight, diagonal)
    }

    /// Cells whose step along a row, along a column and diagonally each have their own cost.
    ///
    /// # Errors
    /// [`CostError::Zero`] for a free step, [`CostError::Diagonal`] unless `max(x, y) <= diagonal <= x + y`.
    pub const fn with_axes(x: u16, y: u16, diagonal: u16) -> Result<Self, CostError> {
        if x == 0 || y == 0 {
            return Err(CostError::Zero);
        }
        let longer = if x > y { x } else { y };
        if diagonal < longer || diagonal as u32 > x as u32 + y as u32 {
            return Err(CostError::Diagonal { x, y, diagonal });
        }
        Ok(Self { x, y, diagonal })
    }

    /// Costs in proportion to the lengths of cells `width` wide and `height` high, such as 64 × 32 tiles.
    ///
    /// # Errors
    /// [`CostError::Size`] unless both are finite and positive, and neither is more than about 66 times the other.
    pub fn rectangular(width: f32, height: f32) -> Result<Self, CostError> {
        let error = CostError::Size { width, height };
        let shorter = f64::from(width.min(height));
        if !(width.is_finite() && height.is_finite() && shorter > 0.0) {
            return Err(error);
        }
        let scale = f64::from(Self::FINE.x) / shorter;
        let (x, y) = (f64::from(width) * scale, f64::from(height) * scale);
        let whole = |length: f64| whole_u16(length).ok_or(error);
        Self::with_axes(whole(x.round())?, whole(y.round())?, whole((x * x + y * y).sqrt().round())?)
    }

    /// The cost of a step along a row.
    pub const fn x(self) -> u16 {
        self.x
    }

    /// The cost of a step along a column.
    pub const fn y(self) -> u16 {
        self.y
    }

    /// The cost of a diagonal step.
    pub const fn diagonal(self) -> u16 {
        self.diagonal
    }
}

impl Default for StepCosts {
    fn default() -> Self {
        Self::FINE
    }
}

fn whole_u16(value: f64) -> Option<u16> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    (0.0..=f64::from(u16::MAX)).contains(&value).then_some(value as u16)
}

/// How much dearer (or cheaper) a terrain is than ordinary ground, in steps of 1/256.
///
/// Entering a cell costs step × factor, rounded to a whole unit and never below 1. With
/// [`StepCosts::FINE`] the rounding is below a thousandth of an ordinary step; a pair as coarse as 1/1 cannot
/// tell 0.5 from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Factor(u16);

impl Factor {
    /// Ordinary ground.
    pub const ONE: Self = Self(256);

    /// The factor closest to `value`: 0.5 for a road, 3 for a swamp.
    ///
    /// # Errors
    /// [`CostError::Factor`] unless `value` lies between 1/256 and 255.
    pub fn new(value: f32) -> Result<Self, CostError> {
        let scaled = f64::from(value) * 256.0;
        match whole_u16(scaled.round()) {
            Some(units) if (1.0..=255.0 * 256.0).contains(&scaled) => Ok(Self(units)),
            _ => Err(CostError::Factor { value }),
        }
    }

    /// A whole factor from 1 to 255; 0 counts as 1, for ground is never free.
    pub const fn whole(value: u8) -> Self {
        if value == 0 { Self::ONE } else { Self(value as u16 * 256) }
    }

    /// The factor as a number.
    pub fn value(self) -> f32 {
        f32::from(self.0) / 256.0
    }

    /// The whole cost of a step of `step` over this terrain; below 2^24.
    pub(crate) const fn apply(self, step: u16) -> u32 {
        let exact = step as u32 * self.0 as u32;
        let rounded = (exact + 128) / 256;
        if rounded == 0 { 1 } else { rounded }
    }
}

impl Default for Factor {
    fn default() -> Self {
        Self::ONE
    }
}

/// A cost that makes no sense.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum CostError {
    /// A straight step would be free.
    Zero,
    /// The diagonal is cheaper than a straight step or dearer than the two it replaces.
    Diagonal {
        /// Step along a row.
        x: u16,
        /// Step along a column.
        y: u16,
        /// The refused diagonal.
        diagonal: u16,
    },
    /// The size of a cell is not positive, not finite, or too long and thin.
    Size {
        /// Width of a cell.
        width: f32,
        /// Height of a cell.
        height: f32,
    },
    /// The factor lies outside 1/256 to 255.
    Factor {
        /// The refused factor.
        value: f32,
    },
}

impl fmt::Display for CostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => write!(f, "a straight step must cost at least 1"),
            Self::Diagonal { x, y, diagonal } => {
                let (longer, sum) = (x.max(y), u32::from(*x) + u32::from(*y));
                write!(f, "a diagonal step of {diagonal} must cost between {longer} and {sum}")
            }
            Self::Size { width, height } => {
                write!(f, "cells of {width} by {height} must have positive sides, at most 66 to 1")
            }
            Self::Factor { value } => write!(f, "a terrain factor of {value} must lie between 1/256 and 255"),
        }
    }
}

impl core::error::Error for CostError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_pair_is_close_to_the_square_root_of_two() {
        let ratio = f64::from(StepCosts::FINE.diagonal) / f64::from(StepCosts::FINE.x);
        assert!((ratio - core::f64::consts::SQRT_2).abs() < 4e-7);
    }

    #[test]
    fn senseless_pairs_are_refused() {
        assert_eq!(StepCosts::new(10, 14), Ok(StepCosts::CLASSIC));
        assert_eq!(StepCosts::new(1, 1), Ok(StepCosts::MOVES));
        assert!(StepCosts::new(1, 2).is_ok());
        assert_eq!(StepCosts::new(0, 14), Err(CostError::Zero));
        assert_eq!(StepCosts::new(10, 9), Err(CostError::Diagonal { x: 10, y: 10, diagonal: 9 }));
        assert_eq!(StepCosts::new(10, 21), Err(CostError::Diagonal { x: 10, y: 10, diagonal: 21 }));
        assert!(StepCosts::new(u16::MAX, u16::MAX).is_ok());
    }

    #[test]
    fn rectangular_cells_have_their_own_lengths() {
        let wide = StepCosts::rectangular(64.0, 32.0).unwrap();
        assert_eq!((wide.x(), wide.y()), (1970, 985));
        assert!((f64::from(wide.diagonal()) / 985.0 - 5.0_f64.sqrt()).abs() < 1e-3);
        assert_eq!(StepCosts::rectangular(1.0, 1.0), Ok(StepCosts::FINE));
        assert!(StepCosts::rectangular(66.0, 1.0).is_ok());
        for (width, height) in [(0.0, 1.0), (1.0, -1.0), (f32::NAN, 1.0), (1.0, f32::INFINITY), (1.0, 100.0)]
        {
            assert!(StepCosts::rectangular(width, height).is_err(), "{width} by {height}");
        }
    }

    #[test]
    fn every_rectangle_in_range_is_accepted() {
        for i in 0..6500_u16 {
            let ratio = 1.0 + f32::from(i) / 100.0;
            assert!(StepCosts::rectangular(ratio, 1.0).is_ok(), "{ratio}");
            assert!(StepCosts::rectangular(1.0, ratio).is_ok(), "{ratio}");
        }
    }

    #[test]
    fn factors_are_bounded_and_never_free() {
        assert_eq!(Factor::new(1.0), Ok(Factor::ONE));
        assert_eq!(Factor::new(0.5).map(|f| f.apply(10)), Ok(5));
        assert_eq!(Factor::new(1.0 / 256.0).map(|f| f.apply(1)), Ok(1));
        assert_eq!(Factor::whole(3).apply(14), 42);
        assert!(Factor::whole(255).apply(u16::MAX) < 1 << 24);
        for bad in [0.0, -1.0, 0.001, 255.5, f32::NAN, f32::INFINITY] {
            assert!(Factor::new(bad).is_err(), "{bad}");
        }
    }
}
