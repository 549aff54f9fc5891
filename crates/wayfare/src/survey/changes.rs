//! What has changed on a map since something was made of it, chunk by chunk, and whether that concerns a part of it.

use crate::bits::At;
use crate::map::{CHUNK_SIDE, Map};

/// The chunks in which two maps of one shape differ.
pub(crate) struct Changes {
    /// Chunks in a row of chunks.
    columns: usize,
    rows: usize,
    /// How many changed chunks lie above and to the left, with an empty row and column before the first.
    sums: Vec<u32>,
}

impl Changes {
    /// `None` if nothing differs.
    pub(crate) fn between(old: &Map, new: &Map) -> Option<Self> {
        let mut changed = new.chunks().changed_from(old.chunks()).peekable();
        changed.peek()?;
        let columns = new.columns() as usize;
        let rows = new.chunks().len() / columns;
        let mut sums = vec![0; (columns + 1) * (rows + 1)];
        for slot in changed {
            sums[(slot / columns + 1) * (columns + 1) + slot % columns + 1] = 1;
        }
        for place in columns + 1..sums.len() {
            if place % (columns + 1) != 0 {
                // What lies above and what lies to the left both count what lies above and to the left.
                sums[place] += sums[place - 1] + sums[place - columns - 1] - sums[place - columns - 2];
            }
        }
        Some(Self { columns, rows, sums })
    }

    /// Whether any of them lies within the bounds.
    #[inline]
    pub(crate) fn touch(&self, bounds: Bounds) -> bool {
        let [left, top, right, bottom] = bounds.0.map(usize::from);
        // What looks at the border may name chunks beyond it.
        let (right, bottom) = (right.min(self.columns - 1), bottom.min(self.rows - 1));
        let sum = |x: usize, y: usize| self.sums[y * (self.columns + 1) + x];
        // Two corners are added before two are taken off, so that nothing is below 0.
        let within = sum(right + 1, bottom + 1) + sum(left, top);
        within != sum(left, bottom + 1) + sum(right + 1, top)
    }
}

/// A rectangle of chunks: the first column and row, the last column and row. A map has at most 256 of each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Bounds([u8; 4]);

impl Bounds {
    /// All that decides what happens at a cell of the map: itself and its neighbours.
    pub(crate) fn around(at: At) -> Self {
        Self::between(at, at)
    }

    /// The same for all cells between two columns and two rows.
    pub(crate) fn between(first: At, last: At) -> Self {
        // Cells are counted from 1 and the border is 0, so the neighbour before is two less.
        let low = |place: u32| chunk(place.saturating_sub(2));
        Self([low(first.x), low(first.y), chunk(last.x), chunk(last.y)])
    }

    /// How far it goes beyond a rectangle that lies in it, on each side.
    pub(crate) fn beyond(self, inner: Self) -> [u8; 4] {
        let [left, top, right, bottom] = self.0;
        let inner = inner.0;
        [inner[0] - left, inner[1] - top, right - inner[2], bottom - inner[3]]
    }

    /// A rectangle that goes so far beyond this one; `None` if there is none.
    pub(crate) fn grown(self, [left, top, right, bottom]: [u8; 4]) -> Option<Self> {
        let inner = self.0;
        Some(Self([
            inner[0].checked_sub(left)?,
            inner[1].checked_sub(top)?,
            inner[2].checked_add(right)?,
            inner[3].checked_add(bottom)?,
        ]))
    }
}

fn chunk(place: u32) -> u8 {
    u8::try_from(place / CHUNK_SIDE).unwrap_or(u8::MAX)
}
