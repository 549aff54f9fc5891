//! The connected areas inside one chunk: its [`Shores`].
//!
//! Comes in: the terrain of a chunk. Goes out: the area of each cell, and the chunk's [`Coast`]. Open cells are kept as
//! bits, 64 of a row in a word; areas are joined run by run, a run being as many open cells of a row as follow each
//! other.

use std::sync::Arc;

use super::bake::Known;
use super::coast::{Area, Coast, Side, Stretch, Survey};
use super::union::Union;
use crate::bake::BakeError;
use crate::ground::Ground;
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE, Chunk};

const SIDE: usize = CHUNK_SIDE as usize;

/// The connected areas inside one chunk.
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Shores {
    /// The open cells of each row, the leftmost in the lowest bit.
    pub(super) rows: [u64; SIDE],
    /// Where the runs of each row begin in `areas`.
    first: [u16; SIDE],
    /// The area of each run, closed ones marked with [`CLOSED`].
    areas: Box<[u16]>,
    pub(super) coast: Arc<Coast>,
    /// How many areas reach no side.
    pub(super) closed: u32,
}

/// There are at most 2048 runs in a chunk.
const CLOSED: u16 = 1 << 15;

impl Shores {
    /// What it keeps in memory, its coast aside.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.areas)
    }

    /// The areas of a chunk; those `known` from before, with the chunk as it was then, if nothing about them changed.
    pub(super) fn of(ground: &Ground, chunk: &Chunk, known: Option<(&Arc<Self>, &Chunk)>) -> Arc<Self> {
        let rows = match known {
            None => ground.open().rows(&chunk.terrain),
            Some((shores, before)) => {
                let mut rows = shores.rows;
                let (terrain, _) = chunk.terrain.as_chunks::<SIDE>();
                let (before, _) = before.terrain.as_chunks::<SIDE>();
                let changed = rows.iter_mut().zip(terrain.iter().zip(before)).filter(|(_, (a, b))| a != b);
                changed.for_each(|(row, (cells, _))| *row = ground.open().row(cells));
                if rows == shores.rows {
                    return Arc::clone(shores);
                }
                rows
            }
        };
        let mut new = Self::label(rows, ground.view.rules.slips_through_corners());
        if let Some((shores, _)) = known.filter(|(shores, _)| shores.coast == new.coast) {
            new.coast = Arc::clone(&shores.coast);
        }
        Arc::new(new)
    }

    fn label(rows: [u64; SIDE], slips: bool) -> Self {
        let runs = Runs::of(&rows);
        let mut union = Union::new(runs.first[SIDE].into());
        for y in 1..SIDE {
            let (above, here) = (runs.row(y - 1), runs.row(y));
            super::coast::for_each_contact(above, here, slips, |a, b| union.unite(a, b));
        }
        let (coast, areas, closed) = sides_of(&rows, &runs.first).settle(&mut union);
        let areas = areas.into_iter().map(pack).collect();
        Self { rows, first: starts(&runs.first), areas, coast: Arc::new(coast), closed }
    }

    /// The same if it is known which areas the runs belong to: `areas` is asked for so many, in the form in which they are kept.
    pub(super) fn known(
        rows: [u64; SIDE],
        areas: impl FnOnce(usize, fn(Area) -> u16) -> Result<Known<u16>, BakeError>,
    ) -> Result<Self, BakeError> {
        let mut first = [0; SIDE + 1];
        let mut count = 0;
        for (row, next) in rows.iter().zip(&mut first[1..]) {
            count += to_u16((row & !(row << 1)).count_ones());
            *next = count;
        }
        let Known { areas, open, closed } = areas(count.into(), pack)?;
        let sides = sides_of(&rows, &first);
        let coast = sides.known(open, |run| unpack(areas[run as usize])).ok_or(BakeError::Damaged)?;
        Ok(Self { rows, first: starts(&first), areas: areas.into(), coast: Arc::new(coast), closed })
    }

    /// The areas of all runs, row by row.
    pub(super) fn of_runs(&self) -> impl ExactSizeIterator<Item = Area> {
        self.areas.iter().map(|area| unpack(*area))
    }

    /// The area of the cell stored at `local` in the chunk, or `None` if it is blocked.
    #[inline]
    pub(super) fn area(&self, local: usize) -> Option<Area> {
        let (x, y) = (local % SIDE, local / SIDE % SIDE);
        let row = self.rows[y];
        if row >> x & 1 == 0 {
            return None;
        }
        // As many runs begin up to this cell as there are up to its own.
        let begins = row & !(row << 1) & u64::MAX >> (SIDE - 1 - x);
        Some(unpack(self.areas[usize::from(self.first[y]) + begins.count_ones() as usize - 1]))
    }

    /// All areas there are.
    pub(super) fn areas(&self) -> impl Iterator<Item = Area> {
        (0..self.coast.areas).map(Area::Open).chain((0..self.closed).map(Area::Closed))
    }
}

/// The four sides, whose open cells are members of the runs that they lie in. `first` says where those of each row begin.
fn sides_of(rows: &[u64; SIDE], first: &[u16; SIDE + 1]) -> Survey {
    let mut survey = Survey::default();
    let column = |x: usize| (0..SIDE).fold(0, |column, y| column | (rows[y] >> x & 1) << y);
    for side in Side::ALL {
        let mut add = |from: u16, to: u16, run: u32| {
            survey.add(side, Stretch { first: from, last: to, area: run });
        };
        match side {
            Side::North | Side::South => {
                let row = if side == Side::North { 0 } else { SIDE - 1 };
                let mut runs = u32::from(first[row])..;
                for_each_run(rows[row], |from, to| add(from, to, runs.next().unwrap_or(0)));
            }
            Side::West => {
                for_each_run(column(0), |from, to| add(from, to, first[usize::from(from)].into()));
            }
            Side::East => for_each_run(column(SIDE - 1), |from, to| {
                add(from, to, u32::from(first[usize::from(from) + 1]) - 1);
            }),
        }
        survey.end(side);
    }
    survey
}

/// Without where the last row ends.
fn starts(first: &[u16; SIDE + 1]) -> [u16; SIDE] {
    let mut starts = [0; SIDE];
    starts.copy_from_slice(&first[..SIDE]);
    starts
}

/// The runs of a chunk, row by row.
struct Runs {
    runs: Vec<Stretch>,
    /// Where those of each row begin.
    first: [u16; SIDE + 1],
}

impl Runs {
    fn of(rows: &[u64; SIDE]) -> Self {
        let mut runs = Vec::with_capacity(2 * SIDE);
        let mut first = [0; SIDE + 1];
        let mut count = 0_u16;
        for (row, next) in rows.iter().zip(&mut first[1..]) {
            for_each_run(*row, |first, last| {
                runs.push(Stretch { first, last, area: count.into() });
                count += 1;
            });
            *next = count;
        }
        Self { runs, first }
    }

    fn row(&self, y: usize) -> &[Stretch] {
        &self.runs[usize::from(self.first[y])..usize::from(self.first[y + 1])]
    }
}

/// Calls `visit` with the first and the last bit of each run of ones, from the lowest.
fn for_each_run(mut bits: u64, mut visit: impl FnMut(u16, u16)) {
    while bits != 0 {
        let first = bits.trailing_zeros();
        let last = first + (!(bits >> first)).trailing_zeros() - 1;
        visit(to_u16(first), to_u16(last));
        bits &= u64::MAX << last << 1;
    }
}

fn pack(area: Area) -> u16 {
    match area {
        Area::Open(area) => to_u16(area),
        Area::Closed(area) => to_u16(area) | CLOSED,
    }
}

fn unpack(area: u16) -> Area {
    if area & CLOSED == 0 { Area::Open(area.into()) } else { Area::Closed((area & !CLOSED).into()) }
}

/// All numbers of a chunk are small.
#[expect(clippy::cast_possible_truncation, reason = "bits of a word and runs of a chunk are below 2^12")]
const fn to_u16(small: u32) -> u16 {
    small as u16
}

const _: () = assert!(CHUNK_SIDE == u64::BITS && CHUNK_CELLS == SIDE << CHUNK_SHIFT);
