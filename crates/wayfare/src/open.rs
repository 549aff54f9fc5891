//! Cells of a chunk that can be entered, as bits: 64 of a row in a word, the leftmost in the lowest.
//!
//! Comes in: terrain, and what of it can be entered. Goes out: words for whoever looks at many cells at once: islands, jumps,
//! and the room that large units need.

use crate::map::{CHUNK_CELLS, CHUNK_SIDE, Map, Terrain};

/// Cells along one side of a chunk.
const SIDE: usize = CHUNK_SIDE as usize;

/// What of the terrain of one map can be entered.
#[derive(Clone)]
pub(crate) struct Open {
    enters: [bool; 256],
    /// All kinds on the map that can be entered, or all that cannot, if they are few.
    few: [u8; FEW],
    are: Few,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Few {
    Open,
    Blocked,
    /// There are many of both.
    None,
}

/// Mostly there are two: walls, and what is beyond the map.
const FEW: usize = 4;

impl Open {
    pub(crate) fn new(map: &Map, enters: impl Fn(u8) -> bool) -> Self {
        let mut table = [false; 256];
        table.iter_mut().zip(0..=u8::MAX).for_each(|(open, id)| *open = enters(id));
        // Chunks at the edges of the map reach beyond it.
        let is_there = |id: &u8| *id == Terrain::OUTSIDE.0 || map.count(Terrain(*id)) > 0;
        for (are, is_open) in [(Few::Blocked, false), (Few::Open, true)] {
            let mut kinds = (0..=u8::MAX).filter(is_there).filter(|id| table[usize::from(*id)] == is_open);
            let first = kinds.next();
            // Who is named twice is named once.
            let few = [(); FEW - 1].map(|()| kinds.next().or(first));
            if let ([Some(b), Some(c), Some(d)], Some(a), None) = (few, first, kinds.next()) {
                return Self { enters: table, few: [a, b, c, d], are };
            }
        }
        Self { enters: table, few: [0; FEW], are: Few::None }
    }

    /// The cells of all rows of a chunk.
    pub(crate) fn rows(&self, terrain: &[u8; CHUNK_CELLS]) -> [u64; SIDE] {
        let mut rows = [0; SIDE];
        let (cells, _) = terrain.as_chunks::<SIDE>();
        rows.iter_mut().zip(cells).for_each(|(row, cells)| *row = self.row(cells));
        rows
    }

    /// The cells of one row.
    ///
    /// PERF: compared with a few kinds, many at once, 4096² cells take 2.3 ms; with a look into a table for each, 5.9.
    #[inline]
    pub(crate) fn row(&self, cells: &[u8; SIDE]) -> u64 {
        let among = |few: [u8; FEW]| {
            let mut marks = [0; SIDE];
            for (mark, id) in marks.iter_mut().zip(cells) {
                let [a, b, c, d] = few.map(|kind| u8::from(*id == kind));
                *mark = a | b | c | d;
            }
            pack(&marks)
        };
        match self.are {
            Few::Open => among(self.few),
            Few::Blocked => !among(self.few),
            Few::None => pack(&cells.map(|id| u8::from(self.enters[usize::from(id)]))),
        }
    }
}

/// The lowest bits of all bytes.
fn pack(marks: &[u8; SIDE]) -> u64 {
    let (eights, _) = marks.as_chunks::<8>();
    // Each bit is shifted to the place in the highest byte that is its own.
    let gather = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().rev().fold(0, |row, eight| row << 8 | gather(eight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_cells_one_by_one() {
        let mut seed = 3_u64;
        let mut next = |below: u8| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed.to_be_bytes()[0] % below
        };
        // Two kinds of three can be entered, or one; of few kinds or of many.
        for (kinds, share, are) in [
            (1, 3, Few::Blocked),
            (9, 3, Few::Blocked),
            (30, 3, Few::None),
            (30, 9, Few::Open),
            (255, 1, Few::Blocked),
            (255, 255, Few::Open),
        ] {
            let enters = |id: u8| id != Terrain::OUTSIDE.0 && id.is_multiple_of(share);
            let enters = |id: u8| if share == 3 { !enters(id) && id != 255 } else { enters(id) };
            let mut map = Map::new(100, 70).unwrap();
            map.edit(map.area().unwrap(), |_, _| Terrain(next(kinds))).unwrap();
            let open = Open::new(&map, enters);
            assert_eq!(open.are, are, "{kinds} {share}");
            for chunk in map.chunks().iter() {
                let rows = open.rows(&chunk.terrain);
                for (cell, id) in chunk.terrain.iter().enumerate() {
                    assert_eq!(rows[cell / SIDE] >> (cell % SIDE) & 1 == 1, enters(*id), "{kinds} {cell}");
                }
            }
        }
    }
}
