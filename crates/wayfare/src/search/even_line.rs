//! Straight lines over even ground, row by row: in each row a line touches some cells side by side, and one look at the bits
//! tells whether all of them are free.
//!
//! Comes in: the bits and two cells of the map. Goes out: whether the line between their centres is clear, as
//! [`line`](crate::search::line) says for any ground, cell by cell.

use crate::bits::{At, Bits, Cursor};
use crate::cell::Cell;
use crate::rules::Corners;

/// Whether the line touches free cells only and passes corners as the rule allows. Both ends must lie on the map.
pub(crate) fn is_clear(bits: &Bits, from: Cell, to: Cell) -> bool {
    let (nx, ny) = from.gap(to);
    let (from, to) = (At::new(from), At::new(to));
    // The flatter way of looking at a line has fewer and longer rows.
    if nx >= ny {
        let walk = Walk { row: bits.rows.cursor(from.y), from: from.x, is_ahead: to.x > from.x };
        walk.passes((nx, ny), to.y > from.y, bits.rules.line_corners())
    } else {
        let walk = Walk { row: bits.columns.cursor(from.x), from: from.y, is_ahead: to.y > from.y };
        walk.passes((ny, nx), to.x > from.x, bits.rules.line_corners())
    }
}

/// Appends the cells of Bresenham's line but for the first: one step per column (or row, if steep), diagonal where the line has
/// moved on. `None` if one of the steps is not legal; diagonals pass closer to corners than the line itself. Both ends must lie on
/// the map.
pub(crate) fn write_steps(bits: &Bits, from: Cell, to: Cell, cells: &mut Vec<Cell>) -> Option<()> {
    let (nx, ny) = from.gap(to);
    let (n, m) = (nx.max(ny).cast_signed(), nx.min(ny).cast_signed());
    let (along, across) = ((to.x - from.x).signum(), (to.y - from.y).signum());
    let straight = if nx >= ny { (along, 0) } else { (0, across) };
    // How far the line has moved on beyond the row of this cell, in 2n parts of a cell.
    let (mut cell, mut moved) = (from, 0);
    for _ in 0..n {
        moved += 2 * m;
        let next = if moved >= n {
            moved -= 2 * n;
            let [beside, above] = [(along, 0), (0, across)].map(|side| bits.is_free(At::new(cell + side)));
            bits.rules.corners.allow(beside, above).then_some(cell + (along, across))?
        } else {
            cell + straight
        };
        if !bits.is_free(At::new(next)) {
            return None;
        }
        cell = next;
        cells.push(cell);
    }
    Some(())
}

/// A line on its way: the row it has come to, where in its row it began, and whether it goes on to higher places.
struct Walk<'a> {
    row: Cursor<'a>,
    from: u32,
    is_ahead: bool,
}

impl Walk<'_> {
    /// `n` places along the rows and `m` rows across, of which there are no more.
    fn passes(mut self, (n, m): (u32, u32), is_down: bool, corners: Corners) -> bool {
        // It leaves row j for the next at (2j + 1)n + m, counted in 2m parts of a place: in that place, or where nothing is
        // left over at the corner before it.
        let (whole, (turn, more)) = match m {
            0 => (0, (0, 0)),
            m => (2 * m, (n / m, 2 * (n % m))),
        };
        let (mut at, mut left) = if m == 0 { (0, 0) } else { ((n + m) / whole, (n + m) % whole) };
        let mut first = 0;
        for _ in 0..m {
            let is_corner = left == 0;
            // The cells beside a corner belong to the rows if both must be free.
            let is_wide = is_corner && corners == Corners::BothFree;
            if !self.are_free(first, if is_corner && !is_wide { at - 1 } else { at }) {
                return false;
            }
            let is_free_beside = corners != Corners::OneFree || !is_corner || self.are_free(at, at);
            self.row.go(is_down);
            if !is_free_beside && !self.are_free(at - 1, at - 1) {
                return false;
            }
            first = if is_wide { at - 1 } else { at };
            (at, left) = (at + turn, left + more);
            if left >= whole {
                (at, left) = (at + 1, left - whole);
            }
        }
        self.are_free(first, n)
    }

    /// Whether the cells of this row are free, counted from where the line began.
    #[inline]
    fn are_free(&self, first: u32, last: u32) -> bool {
        if self.is_ahead {
            self.row.are_free(self.from + first, self.from + last)
        } else {
            self.row.are_free(self.from - last, self.from - first)
        }
    }
}
