//! What is known of a map beforehand: how far every cell is from a few far-apart places.
//!
//! Comes in: a [`Snapshot`](crate::Snapshot). Goes out: [`Landmarks`], which searches over uneven ground are led by. If a landmark is 90
//! from here and 30 from the goal, the goal is at least 60 away, whatever lies between (Goldberg and Harrelson, "Computing
//! the shortest path: A* search meets graph theory", 2005).

mod metric;
mod survey;
mod bake;

use core::fmt;
use std::sync::Arc;

use crate::cell::Cell;
use crate::ground::Ground;
use crate::island::Islands;
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE, Map, Terrain};
use crate::onward::ANYHOW;
use crate::survey::pace::{AT_ONCE, pause};
use crate::view::View;
use metric::Metric;
use survey::Survey;

/// How many landmarks an island has.
///
/// PERF: on the eight maps of the `weighted` benchmark searches close 3.3 times fewer cells with 4 of them; 8 make it 4.4,
/// for twice the memory and twice the time to measure. To follow only the best 2 of 4 is 15 % slower than all.
pub(crate) const COUNT: usize = 4;

/// Cells along one side of the square that has an anchor.
const SQUARE: i32 = 8;

/// No cell of a square is open.
const NOWHERE: u32 = u32::MAX;

/// How many cells are looked at in search of an anchor.
const LOOKS: usize = 128;

/// How far each cell of a chunk is from each landmark, less all multiples of 256.
type Traces = [[u8; COUNT]; CHUNK_CELLS];

/// Distances from a few far-apart cells to all others, for one [`Snapshot`](crate::Snapshot).
///
/// They are measured once, which takes a while, and hold as long as the ground only gets dearer. Even ground has no use for
/// them: see [`Survey`](crate::Survey).
pub(crate) struct Landmarks {
    /// What was measured.
    ground: Arc<Ground>,
    /// What a unit of distance stands for, in the unit of step costs.
    unit: u32,
    /// Per chunk, `None` where nothing is open. A step changes a distance by less than 128, so whoever knows the whole
    /// distance of a cell knows that of its neighbour by the low bits.
    traces: Vec<Option<Box<Traces>>>,
    /// Per square, row by row: a cell whose whole distances are known.
    anchors: Vec<Anchor>,
    /// No distance is longer.
    longest: u32,
}

#[derive(Clone, Copy)]
struct Anchor {
    index: u32,
    far: [u32; COUNT],
}

impl Landmarks {
    /// Measures ground that has these islands.
    pub(crate) async fn of(ground: Arc<Ground>, islands: Islands) -> Self {
        let map = &ground.map;
        let metric = Metric::new(&ground);
        let mut survey = Survey::new(&ground, &islands, &metric).await;
        let is_open = |terrain: &u8| ground.enters(*terrain);
        let new_traces = || Box::new([[0; COUNT]; CHUNK_CELLS]);
        let mut traces: Vec<Option<Box<Traces>>> = Vec::with_capacity(map.chunks().len());
        for chunk in map.chunks().iter() {
            traces.push(chunk.terrain.iter().any(is_open).then(new_traces));
            pause().await;
        }
        let mut anchors = place_anchors(&ground).await;
        for landmark in 0..COUNT {
            survey.measure().await;
            for (traces, chunk) in traces.iter_mut().zip(0..) {
                let Some(traces) = traces else { continue };
                let origin = map.cell_at(chunk << (2 * CHUNK_SHIFT));
                for (row, y) in traces.chunks_exact_mut(CHUNK_SIDE as usize).zip(origin.y..) {
                    for (trace, far) in row.iter_mut().zip(survey.row(Cell::new(origin.x, y))) {
                        trace[landmark] = far.to_le_bytes()[0];
                    }
                }
                pause().await;
            }
            for some in anchors.chunks_mut(AT_ONCE) {
                for anchor in some.iter_mut().filter(|anchor| anchor.index != NOWHERE) {
                    anchor.far[landmark] = survey.far(map.cell_at(anchor.index));
                }
                pause().await;
            }
        }
        let longest = survey.longest();
        Self { unit: metric.unit, traces, anchors, longest, ground: Arc::clone(&ground) }
    }

    /// What they hold on the heap, in bytes, the map they share aside.
    pub(crate) fn bytes(&self) -> usize {
        let traces = self.traces.iter().flatten().count() * size_of::<Traces>();
        traces + size_of_val(&self.traces[..]) + size_of_val(&self.anchors[..])
    }

    /// Whether all distances are still at most those on `ground`: nothing got cheaper and no wall went away. Chunks that
    /// are `known` to be fine are not looked at.
    pub(crate) fn hold_for(&self, ground: &Ground, known: impl Fn(usize) -> bool) -> bool {
        let (old, new) = (&self.ground.map, &ground.map);
        if (old.width(), old.height()) != (new.width(), new.height())
            || self.ground.view.rules != ground.view.rules
        {
            return false;
        }
        let no_cheaper = |was: u8, is: u8| match (self.ground.prices_of(was), ground.prices_of(is)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(was), Some(is)) => was.iter().zip(is).all(|(was, is)| *was <= is),
        };
        let kept = (0..=u8::MAX).filter(|id| old.count(Terrain(*id)) > 0).all(|id| no_cheaper(id, id));
        let mut changed = new.chunks().changed_from(old.chunks()).filter(|slot| !known(*slot));
        kept && changed.all(|slot| {
            let (was, is) = (&old.chunks()[slot].terrain, &new.chunks()[slot].terrain);
            was.iter().zip(is).all(|(was, is)| was == is || no_cheaper(*was, *is))
        })
    }

    /// Whether they were measured on just this map.
    pub(crate) fn are_of(&self, map: &Map) -> bool {
        map.chunks().changed_from(self.ground.map.chunks()).next().is_none()
    }

    /// The ground that was measured, and how it was seen.
    pub(crate) fn measured(&self) -> (&Map, &View) {
        (&self.ground.map, &self.ground.view)
    }

    pub(crate) const fn unit(&self) -> u32 {
        self.unit
    }

    /// Whether no bound they give can reach so much.
    pub(crate) fn stay_below(&self, ceiling: u32) -> bool {
        let dearest = u64::from(self.ground.dearest());
        u64::from(self.longest) * u64::from(self.unit) + dearest < u64::from(ceiling)
    }

    /// The low bits of a cell's distances.
    #[inline]
    pub(crate) fn trace(&self, chunk: u32, local: usize) -> [u8; COUNT] {
        match &self.traces[chunk as usize] {
            Some(traces) => traces[local & (CHUNK_CELLS - 1)],
            None => [0; COUNT],
        }
    }

    /// Half the price of the cell as it was measured: what its steps in and out share.
    pub(crate) fn lean(&self, index: u32) -> u32 {
        self.ground.lean(self.ground.map.terrain_at(index).0)
    }

    /// How far the landmarks of its island are from a cell, or `None` if no anchor is near.
    pub(crate) fn far(&self, index: u32) -> Option<[u32; COUNT]> {
        let map = &self.ground.map;
        let mut seen: [(u32, [i32; COUNT]); LOOKS] = [(index, [0; COUNT]); LOOKS];
        let (mut next, mut count) = (0, 1);
        while next < count {
            let (at, change) = seen[next];
            next += 1;
            let cell = map.cell_at(at);
            let anchor = &self.anchors[square(&self.ground, cell)];
            if anchor.index == at {
                let add = |i: usize| anchor.far[i].saturating_add_signed(-change[i]);
                return Some(core::array::from_fn(add));
            }
            let here = self.trace_at(at);
            self.ground.for_each_step(at, cell, ANYHOW, |step| {
                if count < LOOKS && seen[..count].iter().all(|(known, _)| *known != step.index) {
                    let there = self.trace_at(step.index);
                    seen[count] = (step.index, add_trace(change, here, there));
                    count += 1;
                }
            });
        }
        None
    }

    fn trace_at(&self, index: u32) -> [u8; COUNT] {
        let (chunk, local) = split(index);
        self.traces[chunk].as_ref().map_or([0; COUNT], |traces| traces[local])
    }
}

impl fmt::Debug for Landmarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Landmarks({:?}, {} bytes)", self.ground.map, self.bytes())
    }
}

/// What a distance changes by from one cell to its neighbour.
#[inline]
fn change(here: u8, there: u8) -> i32 {
    there.wrapping_sub(here).cast_signed().into()
}

/// Distances from a cell, given those from its neighbour and the traces of both.
#[inline]
pub(crate) fn add_trace(sum: [i32; COUNT], here: [u8; COUNT], there: [u8; COUNT]) -> [i32; COUNT] {
    core::array::from_fn(|i| sum[i] + change(here[i], there[i]))
}

/// The chunk of a cell and its place there.
const fn split(index: u32) -> (usize, usize) {
    ((index >> (2 * CHUNK_SHIFT)) as usize, index as usize & (CHUNK_CELLS - 1))
}

/// The first open cell of each square, its distances not yet known.
async fn place_anchors(ground: &Ground) -> Vec<Anchor> {
    let across = |side: u32| side.div_ceil(SQUARE.unsigned_abs()) as usize;
    let count = across(ground.map.width()) * across(ground.map.height());
    let mut anchors = vec![Anchor { index: NOWHERE, far: [0; COUNT] }; count];
    for y in 0..ground.map.height().cast_signed() {
        for cell in (0..ground.map.width().cast_signed()).map(|x| Cell::new(x, y)) {
            let anchor = &mut anchors[square(ground, cell)];
            if anchor.index == NOWHERE && ground.is_open(cell) {
                anchor.index = ground.map.index_inside(cell);
            }
        }
        pause().await;
    }
    anchors
}

/// The square a cell of the map lies in.
fn square(ground: &Ground, cell: Cell) -> usize {
    let across = ground.map.width().div_ceil(SQUARE.unsigned_abs()) as usize;
    (cell.y / SQUARE).unsigned_abs() as usize * across + (cell.x / SQUARE).unsigned_abs() as usize
}
