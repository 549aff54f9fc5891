//! Jumps over ground of which nothing is known but its bits: nodes are cells, and every jump is scanned.

use crate::bits::{At, Bits};
use crate::search::jump::scan::{Landing, Scan};
use crate::search::jump::{Origin, Ways};

/// See the [module](self).
pub(crate) struct Bare;

impl Ways for Bare {
    fn node_count(&self, bits: &Bits) -> usize {
        bits.height().div_ceil(64) << 20
    }

    /// Squares of 64 × 64 cells have their nodes together, so that a page of nodes covers a square.
    #[inline]
    fn node(&self, at: At) -> u32 {
        let (x, y) = (at.x - 1, at.y - 1);
        (y >> 6) << 20 | (x >> 6) << 12 | (y & 63) << 6 | x & 63
    }

    #[inline]
    fn at(&self, node: u32) -> At {
        let x = (node >> 12 & 255) << 6 | node & 63;
        let y = (node >> 20) << 6 | node >> 6 & 63;
        At { x: x + 1, y: y + 1 }
    }

    #[inline]
    fn for_each_jump(&self, scan: &Scan<'_>, from: Origin, mut visit: impl FnMut(u32, Landing)) {
        scan.jump_on(from.at, from.entered, &mut |landing: Landing| visit(self.node(landing.at), landing));
    }
}
