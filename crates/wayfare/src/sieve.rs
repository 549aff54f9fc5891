//! Which steps are worth taking on uneven ground, if of several paths that cost the same one is enough.
//!
//! Comes in: how a cell was entered, and the terrain there and around it. Goes out: the steps that no better way replaces. A
//! step is left out if the cell before leads to the same place without this one: for less, or for the same in fewer steps or
//! with a diagonal first. Every such swap makes a path better in that order, so that the best of all is never left out;
//! but where a cell is entered in several ways at one cost, all of them count. It is the
//! [canonical ordering](crate::search::canon) with prices, as in the weighted jump point search of Carlson, Moghadam, Harabor
//! and Stuckey (2023).
//!
//! PERF: on the eight maps of the `weighted` benchmark searches find 3.3 to 4.5 times fewer better ways to cells they know.

use crate::cell::Direction;
use crate::onward::{ANYHOW, Onward, is_free};
use crate::rules::{Directions, Rules};

/// What a step along a row, along a column and diagonally into each terrain costs; 0 where it cannot be entered.
pub(crate) type Costs = [[u32; 256]; 3];

/// The steps worth taking amid cells of one price, whichever price that is, as bits in the order of [`Direction::ALL`]; by the
/// directions in which a cell was entered, as bits.
#[derive(Clone)]
pub(crate) struct Amid([u8; 256]);

impl Amid {
    /// The table for a rule and the terrain that can be entered.
    pub(crate) fn new(rules: Rules, onward: &Onward, costs: &Costs) -> Self {
        let sieve = Sieve { rules, onward, costs };
        let mut after = [0; 8];
        for terrain in (0..=u8::MAX).filter(|terrain| costs[0][usize::from(*terrain)] != 0) {
            for (entered, worth) in after.iter_mut().enumerate() {
                *worth |= sieve.around(terrain, 1 << entered, &[terrain; 8], u8::MAX);
            }
        }
        let anyhow = onward.steps(ANYHOW, u8::MAX);
        Self(core::array::from_fn(|ways| match ways {
            0 => anyhow,
            _ => (0..8).filter(|way| ways >> way & 1 == 1).fold(0, |worth, way| worth | after[way]),
        }))
    }

    #[inline]
    pub(crate) fn worth(&self, ways: u8) -> u8 {
        self.0[usize::from(ways)]
    }
}

/// See the [module](self).
#[derive(Clone, Copy)]
pub(crate) struct Sieve<'a> {
    pub(crate) rules: Rules,
    pub(crate) onward: &'a Onward,
    pub(crate) costs: &'a Costs,
}

impl Sieve<'_> {
    /// What is worth taking out of a cell of terrain `own` that was entered in the directions `ways`, as bits, with this
    /// terrain around it, of which `free` can be entered. Anything legal if it was entered in none.
    #[inline]
    pub(crate) fn around(&self, own: u8, ways: u8, around: &[u8; 8], free: u8) -> u8 {
        if self.rules.directions == Directions::Four || ways == 0 {
            return self.onward.after(ways, free);
        }
        let (mut worth, mut left) = (0, ways);
        while left != 0 {
            let entered = left.trailing_zeros() as usize & 7;
            left &= left - 1;
            worth |= if Direction::ALL[entered].is_diagonal() {
                self.after_diagonal(entered, own, around, free)
            } else {
                self.after_straight(entered, own, around, free)
            };
        }
        worth & self.onward.steps(ANYHOW, free)
    }

    #[inline]
    fn price(&self, axis: usize, terrain: u8) -> u32 {
        self.costs[axis][usize::from(terrain)]
    }

    /// What is worth taking after a straight step, legal or not.
    #[inline]
    fn after_straight(&self, entered: usize, own: u8, around: &[u8; 8], free: u8) -> u8 {
        let along = Direction::ALL[entered].axis();
        let here = self.price(along, own);
        let mut worth = 1 << entered;
        for turn in [1, 7] {
            let [ahead, beside, behind] = [1, 2, 3].map(|turns| (entered + turns * turn) & 7);
            // A diagonal step from the cell before leads beside this one.
            let corner = self.rules.corners.allow(is_free(free, number(behind)), true);
            let is_reached = corner && is_free(free, number(beside));
            let first = self.price(2, around[beside]);
            if !is_reached || first > here + self.price(1 - along, around[beside]) {
                worth |= 1 << beside;
            }
            let instead = first + self.price(along, around[ahead]);
            if !is_reached || instead > here + self.price(2, around[ahead]) {
                worth |= 1 << ahead;
            }
        }
        worth
    }

    /// What is worth taking after a diagonal step, legal or not.
    #[inline]
    fn after_diagonal(&self, entered: usize, own: u8, around: &[u8; 8], free: u8) -> u8 {
        let here = self.price(2, own);
        let mut worth = 1 << entered;
        for turn in [1, 7] {
            let [ahead, aside, beside] = [1, 2, 3].map(|turns| (entered + turns * turn) & 7);
            // A step from the cell before that is parallel to the one ahead leads beside this one.
            let along = Direction::ALL[ahead].axis();
            let is_reached = is_free(free, number(beside));
            let first = self.price(along, around[beside]);
            if !is_reached || first > here + self.price(1 - along, around[beside]) {
                worth |= 1 << beside;
            }
            let instead = first + self.price(along, around[aside]);
            if !is_reached || instead >= here + self.price(2, around[aside]) {
                worth |= 1 << aside;
            }
            let corner = self.rules.corners.allow(is_free(free, number(aside)), true);
            let instead = first + self.price(2, around[ahead]);
            if !(is_reached && corner) || instead >= here + self.price(along, around[ahead]) {
                worth |= 1 << ahead;
            }
        }
        worth
    }
}

/// Of a direction.
const fn number(direction: usize) -> u8 {
    direction.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use Direction::{East, North, NorthEast, South, SouthEast, SouthWest};

    use super::*;

    /// Terrain 1 costs an ordinary step, 2 twice that and so on; 0 is a wall.
    fn worth(entered: &[Direction], own: u8, around: [u8; 8]) -> Vec<Direction> {
        let rules = Rules::default();
        let mut costs = [[0; 256]; 3];
        for (axis, step) in costs.iter_mut().zip([985, 985, 1393]) {
            for (cost, factor) in axis.iter_mut().zip(0..10) {
                *cost = step * factor;
            }
        }
        let onward = Onward::new(rules, None);
        let ways = entered.iter().fold(0, |ways, way| ways | 1 << *way as u8);
        let free = (0..8).fold(0, |free, i| free | u8::from(around[i] != 0) << i);
        let found = Sieve { rules, onward: &onward, costs: &costs }.around(own, ways, &around, free);
        if around == [own; 8] {
            assert_eq!(Amid::new(rules, &onward, &costs).worth(ways), found);
        }
        Direction::ALL.into_iter().filter(|direction| found >> *direction as u8 & 1 == 1).collect()
    }

    #[test]
    fn amid_its_like_one_way_is_left_to_each_cell() {
        assert_eq!(worth(&[East], 3, [3; 8]), [East]);
        assert_eq!(worth(&[SouthEast], 3, [3; 8]), [East, SouthEast, South]);
        assert_eq!(worth(&[East, SouthEast], 3, [3; 8]), [East, SouthEast, South]);
        assert_eq!(worth(&[], 3, [3; 8]), Direction::ALL);
    }

    #[test]
    fn what_is_dear_beside_a_road_is_entered_from_it() {
        // From the top left clockwise: on a cheap row with dear ground above and below.
        let road = [9, 9, 9, 1, 9, 9, 9, 1];
        assert_eq!(worth(&[East], 1, road), [North, NorthEast, East, SouthEast, South]);
        let step_up = worth(&[East], 1, [9, 2, 2, 1, 1, 1, 1, 1]);
        assert_eq!(
            step_up,
            [NorthEast, East],
            "what is above is reached sooner diagonally, what is beyond it later"
        );
    }

    #[test]
    fn a_wall_behind_makes_room_for_a_turn() {
        assert_eq!(worth(&[East], 1, [0, 1, 1, 1, 1, 1, 1, 1]), [North, NorthEast, East]);
    }

    #[test]
    fn a_dear_cell_is_passed_straight_first_if_that_costs_less() {
        // Entered diagonally, though the cell above it is cheap: its neighbours are reached through that one.
        let found = worth(&[SouthEast], 5, [1; 8]);
        assert_eq!(found, [SouthEast]);
        assert_eq!(
            worth(&[SouthEast], 5, [1, 9, 1, 1, 1, 1, 1, 9]),
            [NorthEast, East, SouthEast, South, SouthWest]
        );
    }
}
