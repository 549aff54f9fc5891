//! The maps: in come a kind, a side and a seed, out go the walls of a square map, the same on every machine. What there
//! is to see in a small part does not depend on the side, so that figures per cell can be compared.

use wayfare::prelude::{Cell, Map, Terrain};

use crate::measure::SplitMix;

/// What a map looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Caves and islands with soft shores.
    Noise,
    /// Blocks of houses with courtyards, streets and avenues, parks.
    City,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Noise, Self::City];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::City => "city",
        }
    }

    /// Where walls are.
    pub(crate) fn draw(self, side: usize, seed: u64) -> Walls {
        let mut walls = Walls { side, cells: vec![false; side * side] };
        match self {
            Self::Noise => walls.draw_noise(seed),
            Self::City => walls.draw_city(seed),
        }
        walls
    }
}

/// The walls of a square map, row by row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Walls {
    side: usize,
    cells: Vec<bool>,
}

/// The noise has features of two sizes, in cells, as powers of two; the larger ones count twice.
const LARGE: u32 = 5;
const SMALL: u32 = 3;

/// How many cells of a hundred are walls in noise.
const SHARE: usize = 38;

/// A side of a district, which has streets of its own.
const DISTRICT: usize = 256;

/// Cells of the avenue between two districts, half of them in each.
const AVENUE: usize = 8;

impl Walls {
    /// Cells that are walls.
    pub(crate) fn count(&self) -> usize {
        self.cells.iter().filter(|is_wall| **is_wall).count()
    }

    /// The map for us.
    pub(crate) fn map(&self) -> Map {
        let side = u32::try_from(self.side).unwrap_or(u32::MAX);
        let mut map = Map::new(side, side).expect("no side is above 16,384");
        if let Some(area) = map.area() {
            let is_wall = |cell: Cell| self.cells[index(cell.y) * self.side + index(cell.x)];
            let edited = map.edit(area, |cell, open| if is_wall(cell) { Terrain::WALL } else { open });
            edited.expect("its own area lies on the map");
        }
        map
    }

    fn draw_noise(&mut self, seed: u64) {
        let height = |x, y| 2 * smooth(seed, LARGE, x, y) + smooth(seed ^ 1, SMALL, x, y);
        // A part of a sea that has no end tells where the water stands.
        let mut heights: Vec<u64> = (0..1 << 18).map(|at| height(at % 512, at / 512)).collect();
        let (_, level, _) = heights.select_nth_unstable((1 << 18) * SHARE / 100);
        for (y, row) in self.cells.chunks_exact_mut(self.side).enumerate() {
            for (x, is_wall) in row.iter_mut().enumerate() {
                *is_wall = height(x, y) < *level;
            }
        }
    }

    fn draw_city(&mut self, seed: u64) {
        for y in (0..self.side).step_by(DISTRICT) {
            for x in (0..self.side).step_by(DISTRICT) {
                let mut random = SplitMix::new(seed ^ (y * self.side + x) as u64);
                let (columns, rows) = (parcels(&mut random), parcels(&mut random));
                for (top, height) in rows {
                    for (left, width) in &columns {
                        self.build_block(&mut random, [x + left, y + top], [*width, height]);
                    }
                }
            }
        }
    }

    /// A block of houses, mostly around a court with a gateway or two.
    fn build_block(&mut self, random: &mut SplitMix, [x, y]: [usize; 2], [width, height]: [usize; 2]) {
        let what = random.below(10);
        if what == 0 {
            // A park with some trees.
            for _ in 0..width * height / 40 {
                self.fill([x + random.below(width), y + random.below(height)], [1, 1], true);
            }
            return;
        }
        self.fill([x, y], [width, height], true);
        let depth = 3 + random.below(5);
        if what < 7 && width > 2 * depth + 2 && height > 2 * depth + 2 {
            let court = [width - 2 * depth, height - 2 * depth];
            self.fill([x + depth, y + depth], court, false);
            self.fill([x + depth + random.below(court[0]), y], [1 + random.below(2), depth], false);
            if random.below(3) == 0 {
                let gate = y + depth + random.below(court[1]);
                self.fill([x + width - depth, gate], [depth, 1], false);
            }
        } else if width > 12 {
            // An alley through it.
            self.fill([x + 4 + random.below(width - 8), y], [1 + random.below(2), height], false);
        }
    }

    fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], is_wall: bool) {
        let end = (x + width).min(self.side);
        for row in y..(y + height).min(self.side) {
            self.cells[row * self.side + x.min(end)..row * self.side + end].fill(is_wall);
        }
    }
}

fn index(coordinate: i32) -> usize {
    usize::try_from(coordinate).unwrap_or(0)
}

/// Where blocks begin along a side of a district, and how long they are; between them are streets.
fn parcels(random: &mut SplitMix) -> Vec<(usize, usize)> {
    let (mut at, end) = (AVENUE / 2, DISTRICT - AVENUE / 2);
    let mut parcels = Vec::new();
    while at < end {
        let length = (16 + random.below(40)).min(end - at);
        parcels.push((at, length));
        at += length + [2, 3, 3, 5][random.below(4)];
    }
    parcels
}

/// Noise between 0 and 2^16 that changes little from cell to cell: heights at the corners of squares, and in between them
/// what lies between.
fn smooth(seed: u64, shift: u32, x: usize, y: usize) -> u64 {
    let side = 1 << shift;
    let corner = |dx: usize, dy: usize| {
        let (x, y) = ((x >> shift) + dx, (y >> shift) + dy);
        scramble(seed ^ (x as u64) << 32 ^ (y as u64) << 8) >> 48
    };
    let (dx, dy) = ((x & (side - 1)) as u64, (y & (side - 1)) as u64);
    let between = |a: u64, b: u64, part: u64| (a * (side as u64 - part) + b * part) >> shift;
    between(between(corner(0, 0), corner(1, 0), dx), between(corner(0, 1), corner(1, 1), dx), dy)
}

/// The last steps of Steele, Lea and Flood's generator.
const fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_the_same_on_every_run_and_have_room_for_paths() {
        for kind in Kind::ALL {
            let walls = kind.draw(512, 7);
            assert_eq!(walls, kind.draw(512, 7));
            assert_ne!(walls, kind.draw(512, 8));
            let share = walls.count() * 100 / (512 * 512);
            assert!((30..=60).contains(&share), "{kind:?} {share}");
            let map = walls.map();
            assert_eq!(map.count(Terrain::WALL) as usize, walls.count());
        }
    }

    #[test]
    fn walls_are_as_dense_on_large_maps_as_on_small_ones() {
        for kind in Kind::ALL {
            let [small, large] = [512, 2048].map(|side| kind.draw(side, 7).count() * 100 / (side * side));
            assert!(small.abs_diff(large) <= 5, "{kind:?} {small} {large}");
        }
    }

    #[test]
    fn noise_changes_little_from_cell_to_cell() {
        for x in 0..500 {
            let step = smooth(3, LARGE, x, 9).abs_diff(smooth(3, LARGE, x + 1, 9));
            assert!(step <= (1 << 16) / 32 + 1, "{x} {step}");
        }
    }
}
