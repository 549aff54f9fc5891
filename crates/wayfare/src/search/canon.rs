//! Which steps are worth taking on even ground, if of several paths that cost the same one is enough.
//!
//! Two steps are left out if the cell before leads to the same place without this one: for less; or for the same with
//! a diagonal step first, or failing that with a step along a column before one along a row. Every such swap makes a
//! path cheaper, shorter or earlier in that order, so that one of the cheapest is never left out. It is the canonical
//! ordering of Sturtevant and Rabin (2016), which is the pruning of jump point search (Harabor and Grastien, 2011), found
//! here by trying every way through three by three cells, under whatever rule and costs.

use crate::cell::Direction;
use crate::onward::ANYHOW;
use crate::rules::Rules;

/// The steps worth taking, as bits in the order of [`Direction::ALL`], by how a cell was entered and what is free around
/// it: nine bits, row by row from the top left.
pub(crate) struct Canon {
    table: Box<[[u8; 512]; 9]>,
    rules: Rules,
    costs: [u32; 3],
}

impl Canon {
    /// The table for a rule, and what a step along a row, along a column and diagonally costs everywhere.
    pub(crate) fn new(rules: Rules, costs: [u32; 3]) -> Self {
        let mut table = Box::new([[0; 512]; 9]);
        for (entered, row) in table.iter_mut().enumerate() {
            let entered = Direction::ALL.get(entered).copied();
            for (around, worth) in (0..512).zip(row) {
                *worth = Around { rules, costs, free: around }.worth(entered);
            }
        }
        Self { table, rules, costs }
    }

    /// Whether it was made for this.
    pub(crate) fn is_for(&self, rules: Rules, costs: [u32; 3]) -> bool {
        (self.rules, self.costs) == (rules, costs)
    }

    /// What is worth taking out of a cell entered in direction `entered` (or [`ANYHOW`]).
    #[inline]
    pub(crate) fn steps(&self, entered: u8, around: usize) -> u8 {
        self.table[usize::from(entered.min(ANYHOW))][around & 511]
    }
}

/// Three by three cells around one.
struct Around {
    rules: Rules,
    costs: [u32; 3],
    free: u16,
}

impl Around {
    fn worth(&self, entered: Option<Direction>) -> u8 {
        let is_worth = |direction: &Direction| {
            self.step((0, 0), direction.offset()).is_some()
                && entered.is_none_or(|entered| !self.has_another_way(entered, *direction))
        };
        Direction::ALL.into_iter().filter(is_worth).fold(0, |worth, direction| worth | 1 << direction as u8)
    }

    /// Whether the cell before, left in direction `first`, leads where `second` leads from here in a better way.
    fn has_another_way(&self, first: Direction, second: Direction) -> bool {
        let ((fx, fy), to) = (first.offset(), second.offset());
        let before = (-fx, -fy);
        let cost = self.cost(first) + self.cost(second);
        if before == to || self.step(before, to).is_some_and(|direct| self.cost(direct) <= cost) {
            return true;
        }
        Direction::ALL.into_iter().any(|between| {
            let between = between.offset();
            self.step(before, between).zip(self.step(between, to)).is_some_and(|(one, two)| {
                let other = self.cost(one) + self.cost(two);
                other < cost || (other == cost && rank(one) < rank(first))
            })
        })
    }

    fn cost(&self, direction: Direction) -> u32 {
        self.costs[direction.axis()]
    }

    /// The step from one of the nine cells to another, if it is one and legal.
    fn step(&self, (ax, ay): (i32, i32), (bx, by): (i32, i32)) -> Option<Direction> {
        let direction = Direction::from_offset(bx - ax, by - ay)?;
        let corner =
            !direction.is_diagonal() || self.rules.corners.allow(self.free(ax, by), self.free(bx, ay));
        (self.rules.knows(direction) && self.free(ax, ay) && self.free(bx, by) && corner).then_some(direction)
    }

    const fn free(&self, dx: i32, dy: i32) -> bool {
        self.free >> (3 * (dy + 1) + dx + 1) & 1 == 1
    }
}

/// Of two steps that may come first, the one with the lower rank does.
const fn rank(direction: Direction) -> usize {
    2 - direction.axis()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Corners, Directions};

    fn steps(rules: Rules, entered: Direction, walls: u16) -> Vec<Direction> {
        let worth = Canon::new(rules, [985, 985, 1393]).steps(entered as u8, usize::from(511 & !walls));
        Direction::ALL.into_iter().filter(|direction| worth >> *direction as u8 & 1 == 1).collect()
    }

    #[test]
    fn on_open_ground_one_way_is_left_to_each_cell() {
        use Direction::{East, North, NorthEast, South, West};
        let rules = Rules::default();
        assert_eq!(steps(rules, East, 0), [East]);
        assert_eq!(steps(rules, NorthEast, 0), [North, NorthEast, East]);
        let four = Rules { directions: Directions::Four, ..rules };
        assert_eq!(steps(four, East, 0), [East]);
        assert_eq!(steps(four, North, 0), [North, East, West]);
        assert_eq!(steps(four, South, 0), [East, South, West]);
    }

    #[test]
    fn a_wall_makes_room_for_a_turn() {
        use Direction::{East, North, NorthEast};
        let (above, above_before) = (1 << 1, 1 << 0);
        assert_eq!(steps(Rules::default(), East, above_before), [North, NorthEast, East]);
        let brushing = Rules { corners: Corners::OneFree, ..Rules::default() };
        assert_eq!(steps(brushing, East, above_before), [East]);
        assert_eq!(steps(brushing, East, above), [NorthEast, East]);
    }
}
