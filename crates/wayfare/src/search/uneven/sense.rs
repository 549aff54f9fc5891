//! How far it is to the goal at the very least: what a search over uneven ground is led by.

use crate::cell::Cell;
use crate::ground::Ground;
use crate::landmark::{self, COUNT, Landmarks};
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE};
use crate::rules::Directions;

/// The cost over empty ground of the cheapest terrain there is: never too much, and it never drops by more than a step
/// costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beeline {
    goal: Cell,
    x: u32,
    y: u32,
    diagonal: u32,
}

impl Beeline {
    /// `None` if the numbers do not stay small on this map.
    pub(crate) fn new(ground: &Ground, goal: Cell, ceiling: u32) -> Option<Self> {
        let least = ground.least();
        let both = least.x + least.y;
        let diagonal = match ground.view.rules.directions {
            Directions::Eight => least.diagonal.min(both),
            Directions::Four => both,
        };
        let farthest = u64::from(ground.map.width()) * least.x + u64::from(ground.map.height()) * least.y;
        let small = |cost: u64| u32::try_from(cost).ok();
        (farthest < u64::from(ceiling)).then_some(())?;
        Some(Self { goal, x: small(least.x)?, y: small(least.y)?, diagonal: small(diagonal)? })
    }

    #[inline]
    pub(crate) fn h(&self, cell: Cell) -> u32 {
        let (dx, dy) = (cell.x.abs_diff(self.goal.x), cell.y.abs_diff(self.goal.y));
        let both = dx.min(dy);
        both * self.diagonal + (dx - both) * self.x + (dy - both) * self.y
    }
}

/// How much farther from each landmark a cell is than the goal, in their unit.
pub(crate) type Lane = [i32; COUNT];

/// A cell's place in the table, and the chunk it lies in.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) place: u32,
    pub(crate) chunk: u32,
}

impl Mark {
    /// Where on the map the cell is stored.
    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.chunk << (2 * CHUNK_SHIFT) | (self.place & (CHUNK_SIDE * CHUNK_SIDE - 1))
    }
}

/// Knows more than the straight line, or not.
pub(crate) trait Sense {
    /// A search comes from one cell to its neighbour, whose terrain this is: how far is it to the goal at the least?
    fn arrive(&mut self, from: Mark, to: Mark, terrain: u8, is_new: bool) -> u32;

    /// As [`arrive`](Self::arrive), for a cell that the search has been told of.
    fn known(&self, ground: &Ground, at: Mark) -> u32;
}

/// Nothing is known.
pub(crate) struct Nothing;

impl Sense for Nothing {
    #[inline]
    fn arrive(&mut self, _: Mark, _: Mark, _: u8, _: bool) -> u32 {
        0
    }

    #[inline]
    fn known(&self, _: &Ground, _: Mark) -> u32 {
        0
    }
}

/// How landmarks lead one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lead {
    start: Lane,
    /// What the goal's price adds.
    lean: u32,
}

impl Lead {
    /// From start to goal, both where they are stored on the map. `None` if the landmarks tell nothing, or if what they
    /// tell may reach the ceiling.
    pub(crate) fn new(landmarks: &Landmarks, start: u32, goal: u32, ceiling: u32) -> Option<Self> {
        landmarks.stay_below(ceiling).then_some(())?;
        let (from, to) = (landmarks.far(start)?, landmarks.far(goal)?);
        let farther = |i: usize| from[i].cast_signed() - to[i].cast_signed();
        Some(Self { start: core::array::from_fn(farther), lean: landmarks.lean(goal) })
    }
}

/// Landmarks at work.
pub(crate) struct Led<'a> {
    landmarks: &'a Landmarks,
    lead: Lead,
    /// By place.
    lanes: &'a mut Vec<Lane>,
    /// What the shorter straight step into each terrain costs.
    prices: &'a [u32; 256],
}

impl<'a> Led<'a> {
    pub(crate) fn new(
        ground: &'a Ground,
        landmarks: &'a Landmarks,
        lead: Lead,
        lanes: &'a mut Vec<Lane>,
    ) -> Self {
        Self { landmarks, lead, lanes, prices: ground.shorter_steps() }
    }

    /// Begins at the start; returns how far it is to the goal at the least.
    pub(crate) fn begin(&mut self, ground: &Ground, start: Mark) -> u32 {
        self.keep(start.place, self.lead.start);
        self.known(ground, start)
    }

    #[inline]
    fn keep(&mut self, place: u32, lane: Lane) {
        let place = place as usize;
        if place >= self.lanes.len() {
            self.lanes.resize((place | (CHUNK_CELLS - 1)) + 1, [0; COUNT]);
        }
        self.lanes[place] = lane;
    }

    /// The bound that a lane gives at a cell of this terrain.
    #[inline]
    fn bound(&self, lane: Lane, terrain: u8) -> u32 {
        let farthest = lane.iter().map(|far| far.abs()).max().unwrap_or(0).unsigned_abs();
        let lean = self.prices[usize::from(terrain)] / 2;
        (farthest * self.landmarks.unit() + self.lead.lean).saturating_sub(lean)
    }
}

impl Sense for Led<'_> {
    #[inline]
    fn arrive(&mut self, from: Mark, to: Mark, terrain: u8, is_new: bool) -> u32 {
        let lane = if is_new {
            let here = self.landmarks.trace(from.chunk, from.place as usize);
            let there = self.landmarks.trace(to.chunk, to.place as usize);
            let lane = landmark::add_trace(self.lanes[from.place as usize], here, there);
            self.keep(to.place, lane);
            lane
        } else {
            self.lanes[to.place as usize]
        };
        self.bound(lane, terrain)
    }

    #[inline]
    fn known(&self, ground: &Ground, at: Mark) -> u32 {
        self.bound(self.lanes[at.place as usize], ground.map.terrain_at(at.index()).0)
    }
}
