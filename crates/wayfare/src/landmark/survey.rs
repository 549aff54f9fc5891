//! Measures a map: where its landmarks stand, and how far every cell is from them.
//!
//! The first landmark of an island is its first cell, each further one the cell farthest from those before it (the
//! farthest selection of Goldberg and Harrelson, 2005). All islands are measured at once.

use core::ops::Range;

use crate::cell::{Cell, Direction};
use crate::ground::Ground;
use crate::island::Islands;
use crate::landmark::metric::{BLOCKED, Metric};
use crate::onward::ANYHOW;
use crate::survey::pace::{AT_ONCE, filled, parts, pause};

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
    pub(super) async fn new(ground: &Ground, islands: &Islands, metric: &'a Metric) -> Self {
        let (width, height) = (ground.map.width() as usize, ground.map.height() as usize);
        let stride = width + 2;
        let size = stride * (height + 2);
        let mut survey = Self {
            metric,
            stride,
            classes: filled(BLOCKED, size).await,
            legal: vec![0; size],
            islands: filled(NONE, size).await,
            next: filled(usize::MAX, islands.count() as usize).await,
            far: filled(NONE, size).await,
            nearest: filled(NONE, size).await,
            longest: 0,
            ring: vec![Vec::new(); RING],
        };
        for y in 0..ground.map.height().cast_signed() {
            survey.look_at_row(ground, islands, y);
            pause().await;
        }
        for y in 0..height {
            survey.find_legal(ground, (y + 1) * stride..(y + 2) * stride);
            pause().await;
        }
        survey
    }

    fn look_at_row(&mut self, ground: &Ground, islands: &Islands, y: i32) {
        for cell in (0..ground.map.width().cast_signed()).map(|x| Cell::new(x, y)) {
            let index = ground.map.index_inside(cell);
            let Some(island) = islands.at(index) else { continue };
            let at = self.at(cell);
            self.classes[at] = self.metric.class_of[usize::from(ground.map.terrain_at(index).0)];
            self.islands[at] = island.number();
            let first = &mut self.next[island.number() as usize];
            *first = at.min(*first);
        }
    }

    fn find_legal(&mut self, ground: &Ground, row: Range<usize>) {
        let offsets = self.offsets();
        for at in row {
            if self.classes[at] != BLOCKED {
                let is_free = |i: usize| self.classes[at.wrapping_add_signed(offsets[i])] != BLOCKED;
                let free = (0..8).fold(0, |free, i| free | u8::from(is_free(i)) << i);
                self.legal[at] = ground.legal(ANYHOW, free);
            }
        }
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
    pub(super) async fn measure(&mut self) {
        for some in self.far.chunks_mut(8 * AT_ONCE) {
            some.fill(NONE);
            pause().await;
        }
        for at in &self.next {
            self.far[*at] = 0;
            self.ring[0].push(flat_u32(*at));
        }
        let mut front = (0, 0);
        while self.go_on(&mut front, AT_ONCE / 4) {
            pause().await;
        }
        let mut farthest = filled(0, self.next.len()).await;
        for some in parts(self.far.len(), AT_ONCE) {
            self.choose(some, &mut farthest);
            pause().await;
        }
    }

    /// Looks at up to so many cells from a distance on, after so many buckets that were empty. Returns whether there are more.
    fn go_on(&mut self, front: &mut (usize, usize), cells: usize) -> bool {
        let offsets = self.offsets();
        let (mut distance, mut idle) = *front;
        for _ in 0..cells {
            let Some(at) = self.ring[distance % RING].pop() else {
                distance += 1;
                idle += 1;
                if idle >= RING {
                    return false;
                }
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
        *front = (distance, idle);
        true
    }

    /// Of some cells, notes how far they are from all landmarks so far, and which are the farthest of each island.
    fn choose(&mut self, some: Range<usize>, farthest: &mut [u32]) {
        for at in some.filter(|at| self.islands[*at] != NONE) {
            let nearest = self.far[at].min(self.nearest[at]);
            self.nearest[at] = nearest;
            let island = self.islands[at] as usize;
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
