//! A look along one line of a plane: which cells are free, where the next wall is, where a scan stops.

use crate::bits::{BAND, Plane, Word};

/// A line of a plane, for scans along it. The next line is cheap to get to.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(super) plane: &'a Plane,
    pub(super) band: &'a [Word],
    /// Where the line begins in the band.
    pub(super) base: usize,
    pub(crate) line: u32,
}

impl Cursor<'_> {
    /// Goes to the line with the next higher or lower number.
    #[inline(always)]
    pub(crate) fn go(&mut self, is_ahead: bool) {
        let size = self.plane.words;
        let leaves_band = self.line % 64 == if is_ahead { 63 } else { 0 };
        self.line = if is_ahead { self.line + 1 } else { self.line - 1 };
        if leaves_band {
            *self = self.plane.cursor(self.line);
        } else {
            self.base = if is_ahead { self.base + size } else { self.base - size };
        }
    }

    #[inline(always)]
    pub(crate) fn is_free(&self, place: u32) -> bool {
        self.band[self.base + place as usize / BAND].free >> (place % 64) & 1 == 1
    }

    /// Whether all cells from one place to a higher one, both included, are free.
    #[inline(always)]
    pub(crate) fn are_free(&self, first: u32, last: u32) -> bool {
        let (low, high) = (self.base + first as usize / BAND, self.base + last as usize / BAND);
        let (from, up_to) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
        if low == high {
            return !self.band[low].free & from & up_to == 0;
        }
        !self.band[low].free & from == 0
            && !self.band[high].free & up_to == 0
            && self.band[low + 1..high].iter().all(|word| word.free == u64::MAX)
    }

    /// The first blocked cell from `place` towards higher or lower numbers.
    #[inline]
    pub(crate) fn wall(&self, place: u32, is_ahead: bool) -> u32 {
        let mut at = self.base + place as usize / BAND;
        if is_ahead {
            let mut word = !self.band[at].free & u64::MAX << (place % 64);
            while word == 0 {
                at += 1;
                word = !self.band[at].free;
            }
            position(at - self.base) + word.trailing_zeros()
        } else {
            let mut word = !self.band[at].free & u64::MAX >> (63 - place % 64);
            while word == 0 {
                at -= 1;
                word = !self.band[at].free;
            }
            position(at - self.base) + 63 - word.leading_zeros()
        }
    }

    /// Where a scan from `place` towards higher or lower numbers stops: at what is blocked, be it the border, or where there
    /// is a turn to take. And whether that is free.
    #[inline(always)]
    pub(crate) fn stop(&self, place: u32, is_ahead: bool) -> (u32, bool) {
        let from = if is_ahead { place + 1 } else { place - 1 };
        let mut at = self.base + from as usize / BAND;
        let mut word = self.band[at];
        if is_ahead {
            let mut stops = word.ahead & u64::MAX << (from % 64);
            while stops == 0 {
                at += 1;
                word = self.band[at];
                stops = word.ahead;
            }
            let bit = stops.trailing_zeros();
            (position(at - self.base) + bit, word.free >> (bit & 63) & 1 == 1)
        } else {
            let mut stops = word.back & u64::MAX >> (63 - from % 64);
            while stops == 0 {
                at -= 1;
                word = self.band[at];
                stops = word.back;
            }
            let bit = stops.leading_zeros();
            (position(at - self.base) + 63 - bit, word.free << (bit & 63) >> 63 == 1)
        }
    }
}

/// Where a word begins.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "lines are shorter than 2^15 cells")]
const fn position(word: usize) -> u32 {
    word as u32 * 64
}
