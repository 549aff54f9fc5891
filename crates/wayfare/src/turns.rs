//! Where a jump may go on: the steps worth taking out of a cell, given how it was entered and what is free around it.
//!
//! Read by scans, which stop where there is more to do than to go straight on. These are the natural and forced
//! neighbours of jump point search (Harabor and Grastien, 2011): a step is left out if the cell before leads to where
//! it leads without this cell, no longer after a straight step and shorter after a diagonal one. So of all ways between
//! two cells that are equally long, those that go diagonally first are kept.
//!
//! Lengths here are those of square cells. What is left out has a way that takes fewer steps, or the same ones in another
//! order, or a diagonal for two straight ones, or two straight ones for two diagonals. None of that is dearer under any
//! [`StepCosts`](crate::StepCosts), so one table serves them all.
//!
//! In four directions, columns take the place of diagonals: ways that go along a column first are kept.

use crate::cell::Direction;
use crate::cost::StepCosts;
use crate::onward::{ANYHOW, is_free, is_legal};
use crate::rules::{Corners, Directions, Rules};

/// The steps worth taking, as bits in the order of [`Direction::ALL`], by the direction a cell was entered in.
pub(crate) struct Turns([[u8; 256]; 9]);

impl Turns {
    /// The table for a rule.
    pub(crate) const fn of(rules: Rules) -> &'static Self {
        static FOUR: Turns = Turns::new(Directions::Four, Corners::BothFree);
        static BOTH_FREE: Turns = Turns::new(Directions::Eight, Corners::BothFree);
        static ONE_FREE: Turns = Turns::new(Directions::Eight, Corners::OneFree);
        static ALWAYS: Turns = Turns::new(Directions::Eight, Corners::Always);
        match (rules.directions, rules.corners) {
            (Directions::Four, _) => &FOUR,
            (_, Corners::BothFree) => &BOTH_FREE,
            (_, Corners::OneFree) => &ONE_FREE,
            (_, Corners::Always) => &ALWAYS,
        }
    }

    const fn new(directions: Directions, corners: Corners) -> Self {
        let rules = Rules { directions, corners, costs: StepCosts::FINE };
        let mut table = [[0; 256]; 9];
        let mut free = 0_u32;
        while free < 256 {
            let around = free.to_le_bytes()[0];
            let mut i = 0;
            while i < 8 {
                let entered = Direction::ALL[i];
                let worth = natural(rules, entered) | forced(rules, entered, around);
                table[i][free as usize] = worth & legal(rules, around);
                i += 1;
            }
            table[ANYHOW as usize][free as usize] = legal(rules, around);
            free += 1;
        }
        Self(table)
    }

    /// What is worth taking out of a cell entered in direction `entered` (or [`ANYHOW`]) whose neighbours in `free` can
    /// be entered.
    #[inline]
    pub(crate) const fn steps(&self, entered: u8, free: u8) -> u8 {
        self.0[entered as usize][free as usize]
    }
}

const fn legal(rules: Rules, free: u8) -> u8 {
    let (mut legal, mut i) = (0, 0);
    while i < 8 {
        legal |= (is_legal(rules, Direction::ALL[i], free) as u8) << i;
        i += 1;
    }
    legal
}

/// What goes on of itself after a step: that direction, and those it is made of.
pub(crate) const fn natural(rules: Rules, entered: Direction) -> u8 {
    let i = entered as u8;
    let both_sides = 1 << ((i + 1) & 7) | 1 << ((i + 7) & 7);
    let across = 1 << ((i + 2) & 7) | 1 << ((i + 6) & 7);
    match (rules.directions, entered.axis()) {
        (Directions::Eight, 2) => 1 << i | both_sides,
        (Directions::Four, 1) => 1 << i | across,
        _ => 1 << i,
    }
}

/// What is worth a turn because of a wall, on either side of a step.
const fn forced(rules: Rules, entered: Direction, free: u8) -> u8 {
    let i = entered as u8;
    let (mut forced, mut side) = (0, 0);
    while side < 2 {
        // How many eighths of a turn it is to what lies ahead on this side, beside, and behind.
        let [ahead, beside, behind] = if side == 0 { [i + 1, i + 2, i + 3] } else { [i + 7, i + 6, i + 5] };
        forced |= match (rules.directions, rules.corners, entered.is_diagonal()) {
            // The cell before could not go diagonally past what is behind.
            (Directions::Four, ..) | (_, Corners::BothFree, false) if !is_free(free, behind) => {
                1 << (beside & 7) | 1 << (ahead & 7)
            }
            // Nothing that the cell before reached leads past what is beside, or behind.
            (Directions::Eight, Corners::OneFree | Corners::Always, false) if !is_free(free, beside) => {
                1 << (ahead & 7)
            }
            (Directions::Eight, Corners::OneFree | Corners::Always, true) if !is_free(free, behind) => {
                1 << (beside & 7)
            }
            _ => 0,
        };
        side += 1;
    }
    forced
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether what `second` leads to is reached from the cell before, left in direction `first`, as well without this one.
    fn is_in_vain(rules: Rules, first: Direction, second: Direction, free: u8) -> bool {
        if natural(rules, first) >> second as u8 & 1 == 1 {
            return false;
        }
        let (from, to) = (first.opposite(), second);
        if from == to {
            return true;
        }
        let through = length(first) + length(second);
        match shortest_around(rules, from, to, free | 1 << from as u8) {
            Some(around) if first.axis() == 2 => around < through,
            Some(around) => around <= through,
            None => false,
        }
    }

    const fn length(step: Direction) -> u32 {
        if step.is_diagonal() { 1393 } else { 985 }
    }

    /// The shortest way between two neighbours of a cell through other neighbours of it, in the steps of the rule.
    fn shortest_around(rules: Rules, from: Direction, to: Direction, free: u8) -> Option<u32> {
        let mut lengths = [u32::MAX; 8];
        lengths[from as usize] = 0;
        // Bellman and Ford: eight cells, so eight rounds settle everything.
        for _ in 0..8 {
            for (a, b) in Direction::ALL.into_iter().flat_map(|a| Direction::ALL.map(|b| (a, b))) {
                let step = step_between(rules, a, b, free).filter(|_| is_free(free, b as u8));
                if let (Some(step), true) = (step, lengths[a as usize] != u32::MAX) {
                    lengths[b as usize] = lengths[b as usize].min(lengths[a as usize] + length(step));
                }
            }
        }
        Some(lengths[to as usize]).filter(|length| *length != u32::MAX)
    }

    /// The legal step from one neighbour of a free cell to another one.
    fn step_between(rules: Rules, a: Direction, b: Direction, free: u8) -> Option<Direction> {
        let ((ax, ay), (bx, by)) = (a.offset(), b.offset());
        let step = Direction::from_offset(bx - ax, by - ay)?;
        // A side that is no neighbour is the cell itself.
        let is_side_free =
            |x: i32, y: i32| Direction::from_offset(x, y).is_none_or(|side| is_free(free, side as u8));
        let corner = !step.is_diagonal() || rules.corners.allow(is_side_free(bx, ay), is_side_free(ax, by));
        (rules.knows(step) && corner).then_some(step)
    }

    fn steps(rules: Rules, entered: Direction, walls: &[Direction]) -> Vec<Direction> {
        let free = walls.iter().fold(u8::MAX, |free, wall| free & !(1 << *wall as u8));
        let worth = Turns::of(rules).steps(entered as u8, free);
        Direction::ALL.into_iter().filter(|direction| worth >> *direction as u8 & 1 == 1).collect()
    }

    #[test]
    fn on_open_ground_only_the_natural_steps_are_left() {
        use Direction::{East, North, NorthEast, South, SouthEast, West};
        for corners in [Corners::BothFree, Corners::OneFree, Corners::Always] {
            let rules = Rules { corners, ..Rules::default() };
            assert_eq!(steps(rules, East, &[]), [East]);
            assert_eq!(steps(rules, SouthEast, &[]), [East, SouthEast, South]);
            assert_eq!(steps(rules, NorthEast, &[]), [North, NorthEast, East]);
            let rules = Rules { directions: Directions::Four, ..rules };
            assert_eq!(steps(rules, East, &[]), [East]);
            assert_eq!(steps(rules, South, &[]), [East, South, West]);
        }
    }

    #[test]
    fn a_corner_forces_a_turn() {
        use Direction::{East, North, NorthEast, NorthWest, West};
        let both = Rules::default();
        assert_eq!(steps(both, East, &[NorthWest]), [North, NorthEast, East]);
        assert_eq!(steps(both, East, &[North]), [East]);
        let four = Rules { directions: Directions::Four, ..both };
        assert_eq!(steps(four, East, &[NorthWest]), [North, East]);
        for corners in [Corners::OneFree, Corners::Always] {
            let rules = Rules { corners, ..both };
            assert_eq!(steps(rules, East, &[North]), [NorthEast, East]);
            assert_eq!(steps(rules, East, &[NorthWest]), [East]);
            assert_eq!(steps(rules, NorthEast, &[West]), [NorthWest, North, NorthEast, East]);
        }
        let one = Rules { corners: Corners::OneFree, ..both };
        assert_eq!(steps(one, East, &[North, East]), []);
        let always = Rules { corners: Corners::Always, ..both };
        assert_eq!(steps(always, East, &[North, East]), [NorthEast]);
    }

    #[test]
    fn what_is_left_out_is_what_is_reached_as_well_around() {
        for corners in [Corners::BothFree, Corners::OneFree, Corners::Always] {
            for directions in [Directions::Four, Directions::Eight] {
                let rules = Rules { directions, corners, ..Rules::default() };
                for (entered, free) in
                    Direction::ALL.into_iter().flat_map(|d| (0..=u8::MAX).map(move |f| (d, f)))
                {
                    // The step that led here was legal, and came from somewhere.
                    let back = entered.opposite();
                    let sides = [(back as u8 + 7) & 7, (back as u8 + 1) & 7].map(|side| is_free(free, side));
                    let was_legal = !entered.is_diagonal() || corners.allow(sides[0], sides[1]);
                    if !rules.knows(entered) || !is_free(free, back as u8) || !was_legal {
                        continue;
                    }
                    let is_worth = |second: &Direction| {
                        is_legal(rules, *second, free) && !is_in_vain(rules, entered, *second, free)
                    };
                    let expected = Direction::ALL.into_iter().filter(is_worth);
                    let expected = expected.fold(0, |worth, direction| worth | 1 << direction as u8);
                    let steps = Turns::of(rules).steps(entered as u8, free);
                    assert_eq!(steps, expected, "{rules:?} {entered:?} {free:08b}");
                }
            }
        }
    }
}
