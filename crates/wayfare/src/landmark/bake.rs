//! [`Landmarks`] as bytes, and back: see [`bake`](crate::bake).
//!
//! Traces are kept of open cells, distances where anchors are; where these are follows from the map. What is read is held to
//! the ground: along no step does a distance change by more than the step costs, so that a search is led as it is by what
//! was measured.
//!
//! PERF: on noise of 1024² cells with eight prices, to read and check takes a seventh of the time that measuring takes: 183 ns
//! a cell and 1,391, on a machine that was busy with other things.

use std::sync::Arc;

use crate::bake::{BakeError, Reader, Writer};
use crate::cell::{Cell, Direction};
use crate::ground::Ground;
use crate::landmark::metric::{BLOCKED, Metric};
use crate::landmark::{Anchor, COUNT, Landmarks, NOWHERE, Traces, place_anchors, split};
use crate::map::{CHUNK_CELLS, CHUNK_SIDE, Map};
use crate::onward::ANYHOW;
use crate::snapshot::Snapshot;
use crate::survey::pace::finish;

/// Cells in a row of a chunk.
const SIDE: usize = CHUNK_SIDE as usize;

impl Landmarks {
    /// How many there are and in which measure, the traces of all open cells, and the distances of anchors.
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.section(|writer| {
            for number in [self.unit, self.longest] {
                writer.number(number);
            }
            writer.number(COUNT as u64);
        });
        writer.section(|writer| {
            for (slot, traces) in self.traces.iter().enumerate() {
                let Some(traces) = traces else { continue };
                for (terrain, trace) in self.ground.map.chunks()[slot].terrain.iter().zip(&**traces) {
                    if self.ground.enters(*terrain) {
                        trace.iter().for_each(|part| writer.byte(*part));
                    }
                }
            }
        });
        writer.section(|writer| {
            let mut before = [0; COUNT];
            for anchor in self.anchors.iter().filter(|anchor| anchor.index != NOWHERE) {
                for (before, far) in before.iter().zip(anchor.far) {
                    writer.step(*before, far);
                }
                before = anchor.far;
            }
        });
    }

    /// Reads what [`write`](Self::write) wrote of the ground that a snapshot shows.
    pub(crate) fn read(snapshot: &Snapshot, reader: &mut Reader<'_>) -> Result<Self, BakeError> {
        let ground = Arc::clone(&snapshot.ground);
        let metric = Metric::new(&ground);
        let mut section = reader.section()?;
        let (unit, longest, count): (u32, u32, usize) =
            (section.number()?, section.number()?, section.number()?);
        section.finish()?;
        if (unit, count) != (metric.unit, COUNT) {
            return Err(BakeError::Damaged);
        }
        let traces = read_traces(&ground, reader.section()?)?;
        let anchors = read_anchors(&ground, &traces, longest, reader.section()?)?;
        if !are_consistent(&ground, &metric, &traces) {
            return Err(BakeError::Damaged);
        }
        Ok(Self { ground, unit, traces, anchors, longest })
    }
}

fn read_traces(ground: &Ground, mut reader: Reader<'_>) -> Result<Vec<Option<Box<Traces>>>, BakeError> {
    let mut traces = Vec::with_capacity(ground.map.chunks().len());
    for chunk in ground.map.chunks().iter() {
        let is_open = |terrain: &u8| ground.enters(*terrain);
        if !chunk.terrain.iter().any(is_open) {
            traces.push(None);
            continue;
        }
        let mut read = Box::new([[0; COUNT]; CHUNK_CELLS]);
        for (_, trace) in chunk.terrain.iter().zip(&mut *read).filter(|(terrain, _)| is_open(terrain)) {
            *trace = reader.word()?;
        }
        traces.push(Some(read));
    }
    reader.finish()?;
    Ok(traces)
}

fn read_anchors(
    ground: &Ground,
    traces: &[Option<Box<Traces>>],
    longest: u32,
    mut reader: Reader<'_>,
) -> Result<Vec<Anchor>, BakeError> {
    let mut anchors = finish(place_anchors(ground));
    let mut before = [0; COUNT];
    for anchor in anchors.iter_mut().filter(|anchor| anchor.index != NOWHERE) {
        let (chunk, local) = split(anchor.index);
        let trace = traces[chunk].as_ref().map_or([0; COUNT], |traces| traces[local]);
        for ((before, far), trace) in before.iter().zip(&mut anchor.far).zip(trace) {
            *far = reader.step(*before)?;
            if *far > longest || far.to_le_bytes()[0] != trace {
                return Err(BakeError::Damaged);
            }
        }
        before = anchor.far;
    }
    reader.finish()?;
    Ok(anchors)
}

/// A row of the map with what is beside it: the class of each cell, which other open cells lie around, and traces.
struct Row {
    classes: Vec<u8>,
    traces: Vec<[u8; COUNT]>,
}

impl Row {
    fn new(width: usize) -> Self {
        Self { classes: vec![BLOCKED; width + 2], traces: vec![[0; COUNT]; width + 2] }
    }

    /// Makes it another row of the map, or of what is beyond.
    fn fill(&mut self, y: u32, map: &Map, metric: &Metric, traces: &[Option<Box<Traces>>]) {
        self.classes.fill(BLOCKED);
        if y >= map.height() {
            return;
        }
        let inside = self.classes.len() - 1;
        let parts = self.classes[1..inside].chunks_mut(SIDE).zip(self.traces[1..inside].chunks_mut(SIDE));
        for (x, (classes, row)) in (0..).step_by(SIDE).zip(parts) {
            let (slot, local) = split(map.index_inside(Cell::new(x, y.cast_signed())));
            let Some(traces) = &traces[slot] else { continue };
            let terrain = &map.chunks()[slot].terrain[local..local + classes.len()];
            for (class, terrain) in classes.iter_mut().zip(terrain) {
                *class = metric.class_of[usize::from(*terrain)];
            }
            row.copy_from_slice(&traces[local..local + row.len()]);
        }
    }

    /// Which of the three cells around a place are open, as bits from the left.
    fn free(&self, at: usize) -> u8 {
        (0..3).fold(0, |free, i| free | u8::from(self.classes[at - 1 + i] != BLOCKED) << i)
    }
}

/// Whether along each legal step distances change by no more than it measures.
fn are_consistent(ground: &Ground, metric: &Metric, traces: &[Option<Box<Traces>>]) -> bool {
    let map = &ground.map;
    let [mut above, mut here, mut below] = [0; 3].map(|_| Row::new(map.width() as usize));
    here.fill(0, map, metric, traces);
    for y in 0..map.height() {
        below.fill(y + 1, map, metric, traces);
        let mut is_off = false;
        for at in 1..=map.width() as usize {
            if here.classes[at] == BLOCKED {
                continue;
            }
            let (north, middle, south) = (above.free(at), here.free(at), below.free(at));
            // Clockwise from the top left, as directions are counted.
            let free = north
                | (middle & 4) << 1
                | (south & 4) << 2
                | (south & 2) << 4
                | (south & 1) << 6
                | (middle & 1) << 7;
            let legal = ground.legal(ANYHOW, free);
            let steps = metric.steps(here.classes[at]);
            // Each pair of neighbours is looked at once.
            let around = [(&here, at + 1), (&below, at + 1), (&below, at), (&below, at - 1)];
            for (direction, (row, to)) in Direction::ALL[3..7].iter().zip(around) {
                let is_legal = legal >> *direction as u8 & 1 != 0;
                let step = steps[direction.axis()][usize::from(row.classes[to])];
                let most = if is_legal { step } else { u8::MAX };
                let changes = here.traces[at].iter().zip(&row.traces[to]);
                let is_more =
                    |(from, to): (&u8, &u8)| to.wrapping_sub(*from).cast_signed().unsigned_abs() > most;
                is_off |= changes.fold(false, |is_off, pair| is_off | is_more(pair));
            }
        }
        if is_off {
            return false;
        }
        core::mem::swap(&mut above, &mut here);
        core::mem::swap(&mut here, &mut below);
    }
    true
}
