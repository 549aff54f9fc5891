//! Measures a map: where its landmarks stand, and how far every cell is from them.
//!
//! The first landmark of an island is its first cell, each further one the cell farthest from those before it (the
//! farthest selection of Goldberg and Harrelson, 2005). All islands are measured at once.

use crate::cell::{Cell, Direction};
use crate::ground::Ground;
use crate::island::Islands;
use crate::landmark::metric::{BLOCKED, Metric};
use crate::onward::ANYHOW;

/// More buckets than units in a step; a power of two.
const RING: usize = 128;

/// No island, or not reached.
const NONE: u32 = u32::MAX;

/// A map laid out flat, row by row, with a border that cannot be entered.
pub(super) struct Survey<'a> {
    metric: &'a Metric,
    /// Cells in a row, the border included.
    stride: usize,
    classes: Vec<u8>,
    /// Which steps are legal, as bits in the order of [`Direction::ALL`].
    legal: Vec<u8>,
    islands: Vec<u32>,
    /// Where the next landmarks stand, one for each island.
    next: Vec<usize>,
    /// How far each cell is from the last landmark, and from the nearest of all.
    far: Vec<u32>,
    nearest: Vec<u32>,
    /// The longest distance measured.
    longest: usize,
    ring: Vec<Vec<u32>>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(ground: &Ground, islands: &Islands, metric: &'a Metric) -> Self {
        let (width, height) = (ground.map.width() as usize, ground.map.height() as usize);
        let stride = width + 2;
        let size = stride * (height + 2);
        let mut survey = Self {
            metric,
            stride,
            classes: vec![BLOCKED; size],
            legal: vec![0; size],
            islands: vec![NONE; size],
            next: vec![usize::MAX; islands.count() as usize],
            far: vec![NONE; size],
            nearest: vec![NONE; size],
            longest: 0,
            ring: vec![Vec::new(); RING],
        };
        for cell in ground.map.area().into_iter().flat_map(|area| area.cells()) {
            let index = ground.map.index_inside(cell);
            let Some(island) = islands.at(index) else { continue };
            let at = survey.at(cell);
            survey.classes[at] = metric.class_of[usize::from(ground.map.terrain_at(index).0)];
            survey.islands[at] = island.number();
            let first = &mut survey.next[island.number() as usize];
            *first = at.min(*first);
        }
        let offsets = survey.offsets();
        for at in stride..size - stride {
            if survey.classes[at] != BLOCKED {
                let is_free = |i: usize| survey.classes[at.wrapping_add_signed(offsets[i])] != BLOCKED;
                let free = (0..8).fold(0, |free, i| free | u8::from(is_free(i)) << i);
                survey.legal[at] = ground.legal(ANYHOW, free);
            }
        }
        survey
    }

    /// Where a cell of the map is kept.
    fn at(&self, cell: Cell) -> usize {
        (cell.y.unsigned_abs() as usize + 1) * self.stride + cell.x.unsigned_abs() as usize + 1
    }

    /// How far a cell of the map is from the last landmark of its island; of no meaning where it is blocked.
    pub(super) fn far(&self, cell: Cell) -> u32 {
        self.far[self.at(cell)]
    }

    /// As [`far`](Self::far), for a cell and those to its right; nothing if it lies below the map.
    pub(super) fn row(&self, cell: Cell) -> &[u32] {
        let at = self.at(cell);
        self.far.get(at..(at / self.stride + 1) * self.stride).unwrap_or(&[])
    }

    /// The longest distance from any landmark.
    pub(super) fn longest(&self) -> u32 {
        flat_u32(self.longest)
    }

    fn offsets(&self) -> [isize; 8] {
        let stride = self.stride.cast_signed();
        Direction::ALL.map(|direction| {
            let (dx, dy) = direction.offset();
            dy as isize * stride + dx as isize
        })
    }

    /// Measures from the next landmarks, and chooses those after them. Dijkstra's search (1959) with Dial's buckets.
    pub(super) fn measure(&mut self) {
        let offsets = self.offsets();
        self.far.fill(NONE);
        for at in &self.next {
            self.far[*at] = 0;
            self.ring[0].push(flat_u32(*at));
        }
        let (mut distance, mut idle) = (0, 0);
        while idle < RING {
            let Some(at) = self.ring[distance % RING].pop() else {
                distance += 1;
                idle += 1;
                continue;
            };
            idle = 0;
            let at = at as usize;
            if self.far[at] as usize != distance {
                continue;
            }
            self.longest = self.longest.max(distance);
            let steps = self.metric.steps(self.classes[at]);
            let mut legal = self.legal[at];
            while legal != 0 {
                let i = legal.trailing_zeros() as usize & 7;
                legal &= legal - 1;
                let to = at.wrapping_add_signed(offsets[i]);
                let step = steps[Direction::ALL[i].axis()][usize::from(self.classes[to])];
                let far = distance + usize::from(step);
                if far < self.far[to] as usize {
                    self.far[to] = flat_u32(far);
                    self.ring[far % RING].push(flat_u32(to));
                }
            }
        }
        let mut farthest = vec![0; self.next.len()];
        for (at, island) in self.islands.iter().enumerate().filter(|(_, island)| **island != NONE) {
            let nearest = self.far[at].min(self.nearest[at]);
            self.nearest[at] = nearest;
            let island = *island as usize;
            if nearest > farthest[island] {
                farthest[island] = nearest;
                self.next[island] = at;
            }
        }
    }
}

/// Maps have fewer than 2^29 cells with their border, and steps are at most 127 units.
fn flat_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX - 1)
}
