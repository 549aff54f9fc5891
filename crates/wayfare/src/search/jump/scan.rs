//! Where a unit gets from a cell by jumping: along rows, columns and diagonals, without a stop where there is nothing to
//! decide.
//!
//! Comes in: the [`Bits`] of the ground and a cell with the direction it was entered in. Goes out: every [`Landing`], a
//! cell where there is a turn to take, or the goal. A jump goes diagonally first and straight then, so the cells of the
//! way follow from its two ends. On the way along a diagonal every row and column is scanned, a word at a time; landings
//! on it are reported at once, without a node for the cell where the diagonal was left (Harabor and Grastien, 2014,
//! prune such nodes, too).
//!
//! In four directions a jump goes along a column first and along a row then.

use crate::bits::{At, Bits, Cursor};
use crate::cell::Direction;
use crate::cost::Cost;
use crate::rules::{Corners, Directions};
use crate::survey::rays::{Ray, Rays};
use crate::turns::natural;

/// Where a jump ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Landing {
    pub(crate) at: At,
    /// The direction of its last step.
    pub(crate) entered: Direction,
    pub(crate) cost: Cost,
}

/// Who is told what scans meet.
pub(crate) trait Scout {
    /// A jump ends here.
    fn land(&mut self, landing: Landing);

    /// A scan has come as far as this, be it for nothing, and has seen no cell that is more than one beyond.
    #[inline(always)]
    fn reach(&mut self, at: At) {
        let _ = at;
    }
}

impl<F: FnMut(Landing)> Scout for F {
    #[inline(always)]
    fn land(&mut self, landing: Landing) {
        self(landing);
    }
}

/// What scans read.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'a> {
    pub(crate) bits: &'a Bits,
    /// The cost of a step along a row, along a column and diagonally.
    pub(crate) costs: [Cost; 3],
    /// Jumps end here, too. [`NO_GOAL`] is never met.
    pub(crate) goal: At,
    /// What is known of diagonals, if the ground is as it was then. [`jump_along`](Self::jump_along) looks at it, and then tells nobody
    /// what a scan [reaches](Scout::reach).
    pub(crate) rays: Option<&'a Rays>,
}

/// A cell of the border.
pub(crate) const NO_GOAL: At = At { x: 0, y: 0 };

impl<'a> Scan<'a> {
    /// With no goal to meet, and nothing known of diagonals.
    pub(crate) const fn of_all(bits: &'a Bits, costs: [Cost; 3]) -> Self {
        Self { bits, costs, goal: NO_GOAL, rays: None }
    }

    /// Tells `scout` the end of every jump worth taking out of a cell entered in direction `entered`, or anyhow.
    #[inline]
    pub(crate) fn jump_on(&self, at: At, entered: u8, scout: &mut impl Scout) {
        self.jump_all::<false>(at, entered, scout);
    }

    /// The same with a look at what is known of diagonals.
    #[inline]
    pub(crate) fn jump_along(&self, at: At, entered: u8, scout: &mut impl Scout) {
        self.jump_all::<true>(at, entered, scout);
    }

    #[inline]
    fn jump_all<const KNOWN: bool>(&self, at: At, entered: u8, scout: &mut impl Scout) {
        let mut steps = self.bits.turns.steps(entered, self.bits.free_around(at));
        while steps != 0 {
            let direction = Direction::ALL[steps.trailing_zeros() as usize & 7];
            steps &= steps - 1;
            self.jump::<KNOWN>(at, direction, scout);
        }
    }

    #[inline]
    fn jump<const KNOWN: bool>(&self, at: At, direction: Direction, scout: &mut impl Scout) {
        use Direction::{East, North, NorthEast, NorthWest, South, SouthEast, SouthWest, West};
        match (direction, self.bits.rules.directions) {
            (North | South, Directions::Four) => self.walk_column(at, direction, scout),
            (North | South, _) => self.straight(&self.bits.columns.cursor(at.x), at, direction, 0, scout),
            (East | West, _) => self.straight(&self.bits.rows.cursor(at.y), at, direction, 0, scout),
            (NorthWest, _) => self.any_diagonal::<KNOWN, false, false>(at, direction, scout),
            (NorthEast, _) => self.any_diagonal::<KNOWN, true, false>(at, direction, scout),
            (SouthEast, _) => self.any_diagonal::<KNOWN, true, true>(at, direction, scout),
            (SouthWest, _) => self.any_diagonal::<KNOWN, false, true>(at, direction, scout),
        }
    }

    /// Along a row or a column to the first turn. `cost` is what it took to get to `at`, and `line` is its row or column.
    #[inline(always)]
    fn straight(&self, line: &Cursor<'_>, at: At, direction: Direction, cost: Cost, scout: &mut impl Scout) {
        let goal = self.goal;
        let is_row = direction.axis() == 0;
        let is_ahead = matches!(direction, Direction::East | Direction::South);
        let (from, goal_line, goal) = if is_row { (at.x, goal.y, goal.x) } else { (at.y, goal.x, goal.y) };
        let (mut to, mut lands) = line.stop(from, is_ahead);
        let is_between = if is_ahead { from < goal && goal <= to } else { to <= goal && goal < from };
        if line.line == goal_line && is_between {
            (to, lands) = (goal, true);
        }
        let end = if is_row { At { x: to, ..at } } else { At { y: to, ..at } };
        scout.reach(end);
        if !lands {
            return;
        }
        let cost = cost + Cost::from(from.abs_diff(to)) * self.costs[direction.axis()];
        scout.land(Landing { at: end, entered: direction, cost });
    }

    #[inline]
    fn any_diagonal<const KNOWN: bool, const EAST: bool, const SOUTH: bool>(
        &self,
        at: At,
        direction: Direction,
        scout: &mut impl Scout,
    ) {
        match self.rays.filter(|_| KNOWN) {
            Some(rays) => {
                self.known_diagonal::<EAST, SOUTH>(rays.ray::<EAST, SOUTH>(at), at, direction, scout);
            }
            None => self.diagonal::<EAST, SOUTH>(at, direction, scout),
        }
    }

    /// As [`diagonal`](Self::diagonal), from one cell where there is something to do to the next.
    #[inline]
    fn known_diagonal<const EAST: bool, const SOUTH: bool>(
        &self,
        ray: Ray<'_>,
        from: At,
        direction: Direction,
        scout: &mut impl Scout,
    ) {
        let Self { bits, goal, .. } = *self;
        let corners = bits.rules.corners;
        let own = natural(bits.rules, direction);
        let along_row = if EAST { Direction::East } else { Direction::West };
        let along_column = if SOUTH { Direction::South } else { Direction::North };
        let mut at = from;
        loop {
            let stop = ray.stop(at.y, SOUTH).abs_diff(at.y);
            // The goal's row and column are worth a look, too. What is behind is far: a number below 0 wraps.
            let to_column = if EAST { goal.x.wrapping_sub(at.x) } else { at.x.wrapping_sub(goal.x) };
            let to_row = if SOUTH { goal.y.wrapping_sub(at.y) } else { at.y.wrapping_sub(goal.y) };
            let steps = (stop - 1).min(to_column.wrapping_sub(1)).min(to_row.wrapping_sub(1)) + 1;
            at.x = if EAST { at.x + steps } else { at.x - steps };
            at.y = if SOUTH { at.y + steps } else { at.y - steps };
            let before =
                At { x: if EAST { at.x - 1 } else { at.x + 1 }, y: if SOUTH { at.y - 1 } else { at.y + 1 } };
            let row = bits.rows.cursor(at.y);
            let above = bits.rows.cursor(before.y);
            if !row.is_free(at.x) || !corners.allow(above.is_free(at.x), row.is_free(before.x)) {
                return;
            }
            let cost = Cost::from(at.y.abs_diff(from.y)) * self.costs[2];
            let turns = corners != Corners::BothFree
                && bits.turns.steps(direction as u8, bits.free_around(at)) & !own != 0;
            if turns || at == goal {
                scout.land(Landing { at, entered: direction, cost });
                return;
            }
            self.straight(&row, at, along_row, cost, scout);
            self.straight(&bits.columns.cursor(at.x), at, along_column, cost, scout);
        }
    }

    /// Along a diagonal until it is blocked or has a turn of its own, scanning a row and a column from each of its cells.
    #[inline]
    fn diagonal<const EAST: bool, const SOUTH: bool>(
        &self,
        mut at: At,
        direction: Direction,
        scout: &mut impl Scout,
    ) {
        let Self { bits, goal, .. } = *self;
        let corners = bits.rules.corners;
        let own = natural(bits.rules, direction);
        let along_row = if EAST { Direction::East } else { Direction::West };
        let along_column = if SOUTH { Direction::South } else { Direction::North };
        let (mut row, mut column) = (bits.rows.cursor(at.y), bits.columns.cursor(at.x));
        let mut cost = 0;
        loop {
            let before = (at.x, row);
            at.x = if EAST { at.x + 1 } else { at.x - 1 };
            at.y = if SOUTH { at.y + 1 } else { at.y - 1 };
            row.go(SOUTH);
            if !row.is_free(at.x) || !corners.allow(before.1.is_free(at.x), row.is_free(before.0)) {
                scout.reach(at);
                return;
            }
            column.go(EAST);
            cost += self.costs[2];
            // Where both sides must be free, nothing beside a diagonal forces a turn.
            let turns = corners != Corners::BothFree
                && bits.turns.steps(direction as u8, bits.free_around(at)) & !own != 0;
            if turns || at == goal {
                scout.reach(at);
                scout.land(Landing { at, entered: direction, cost });
                return;
            }
            self.straight(&row, at, along_row, cost, scout);
            self.straight(&column, at, along_column, cost, scout);
        }
    }

    /// Along a column until it is blocked, scanning a row both ways from each of its cells.
    #[inline]
    fn walk_column(&self, mut at: At, direction: Direction, scout: &mut impl Scout) {
        let is_ahead = direction == Direction::South;
        let mut row = self.bits.rows.cursor(at.y);
        let mut cost = 0;
        loop {
            at.y = if is_ahead { at.y + 1 } else { at.y - 1 };
            row.go(is_ahead);
            if !row.is_free(at.x) {
                scout.reach(at);
                return;
            }
            cost += self.costs[1];
            if at == self.goal {
                scout.land(Landing { at, entered: direction, cost });
                return;
            }
            self.straight(&row, at, Direction::East, cost, scout);
            self.straight(&row, at, Direction::West, cost, scout);
        }
    }
}
