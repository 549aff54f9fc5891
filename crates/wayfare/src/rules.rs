//! How units move: how many [`Directions`], what a diagonal needs ([`Corners`]), and what steps cost.

use crate::cell::Direction;
use crate::cost::StepCosts;

/// The movement rule of a map, as plain values.
///
/// ```
/// use wayfare::prelude::*;
///
/// let chess_king = Rules { corners: Corners::Always, costs: StepCosts::MOVES, ..Rules::default() };
/// let rook_like = Rules { directions: Directions::Four, ..Rules::default() };
/// # assert_ne!(chess_king, rook_like);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Rules {
    /// Which neighbours a step may reach.
    pub directions: Directions,
    /// What a diagonal step needs beside it.
    pub corners: Corners,
    /// What a step costs.
    pub costs: StepCosts,
}

/// Which neighbours a step may reach.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Directions {
    /// Left, right, up and down.
    Four,
    /// Those and the diagonals.
    #[default]
    Eight,
}

/// What a diagonal step needs of the two cells that touch both its ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Corners {
    /// Both must be free: no unit ever clips a corner. `MovingAI`'s rule.
    #[default]
    BothFree,
    /// One must be free: a unit may brush along one corner, but not slip between two.
    OneFree,
    /// Neither: a unit may slip between two walls that touch at a corner.
    Always,
}

impl Corners {
    /// Whether a diagonal may be walked, given which of its two sides are free.
    pub const fn allow(self, one_side_free: bool, other_side_free: bool) -> bool {
        match self {
            Self::BothFree => one_side_free && other_side_free,
            Self::OneFree => one_side_free || other_side_free,
            Self::Always => true,
        }
    }
}

impl Rules {
    /// Whether a step in `direction` is among those the rule knows at all.
    pub const fn knows(self, direction: Direction) -> bool {
        matches!(self.directions, Directions::Eight) || !direction.is_diagonal()
    }

    /// What a line of any angle needs where it passes exactly through a corner. Where no diagonal is ever walked,
    /// it cannot slip between two walls either.
    pub(crate) const fn line_corners(self) -> Corners {
        match (self.directions, self.corners) {
            (Directions::Four, Corners::Always) => Corners::OneFree,
            (_, corners) => corners,
        }
    }

    /// Whether two free cells that touch only at a corner are connected when both cells beside them are blocked.
    pub(crate) const fn slips_through_corners(self) -> bool {
        matches!((self.directions, self.corners), (Directions::Eight, Corners::Always))
    }
}
