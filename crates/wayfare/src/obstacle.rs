//! What stands on the ground and may go away again: [`Obstacles`] laid over a map, counted, without losing what is
//! underneath.
//!
//! Comes in: the ground, and the cells that bodies cover. Goes out: the map that searches read, sharing with the ground every
//! chunk nothing stands on.

use std::collections::{BTreeMap, BTreeSet};

use crate::cell::Cell;
use crate::map::{CHUNK_SHIFT, CHUNK_SIDE, ChunkId, Map, Terrain};

/// Bodies on a map, cell by cell. Several may stand on one cell; it is free when the last has gone.
///
/// ```
/// use wayfare::prelude::*;
///
/// let ground = Map::from_text("...")?;
/// let mut obstacles = Obstacles::default();
/// let gate = Cell::new(1, 0);
/// obstacles.add(gate, Terrain::WALL);
/// obstacles.add(gate, Terrain::WALL);
/// obstacles.remove(gate, Terrain::WALL);
/// assert_eq!(obstacles.on(&ground).to_text(|_| None), ".#.");
/// obstacles.remove(gate, Terrain::WALL);
/// assert_eq!(obstacles.on(&ground), ground);
/// # Ok::<(), MapTextError>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct Obstacles {
    /// How many bodies of which terrain stand where, chunk by chunk.
    standing: BTreeMap<Spot, u32>,
    /// Chunks, by row and column, where that has changed since [`settle`](Self::settle).
    touched: BTreeSet<(u32, u32)>,
    /// Goes up with every body that comes or goes.
    changes: u64,
    /// The ground last settled on, and what came of it.
    settled: Option<(Map, Map)>,
}

/// A cell, as its chunk and its index there, and a terrain on it; the dearest terrain of a cell comes last.
type Spot = ((u32, u32), u32, Terrain);

impl Obstacles {
    /// A body of this terrain comes to stand on a cell. Where several differ, the highest number counts, so that a wall
    /// beats everything. A cell beyond the map it is later laid on does not matter.
    pub fn add(&mut self, cell: Cell, terrain: Terrain) {
        if let Some(spot) = spot(cell, terrain) {
            *self.standing.entry(spot).or_default() += 1;
            self.note(spot);
        }
    }

    /// A body of this terrain leaves a cell. Returns whether there was one.
    pub fn remove(&mut self, cell: Cell, terrain: Terrain) -> bool {
        let Some(spot) = spot(cell, terrain) else { return false };
        let Some(count) = self.standing.get_mut(&spot) else { return false };
        *count -= 1;
        if *count == 0 {
            self.standing.remove(&spot);
        }
        self.note(spot);
        true
    }

    /// Everything leaves.
    pub fn clear(&mut self) {
        for (spot, _) in core::mem::take(&mut self.standing) {
            self.note(spot);
        }
    }

    /// Whether nothing stands anywhere.
    pub fn is_empty(&self) -> bool {
        self.standing.is_empty()
    }

    /// The ground with everything that stands on it. Its version goes up with that of the ground and with every
    /// body that comes or goes; those of its chunks are the ground's.
    pub fn on(&self, ground: &Map) -> Map {
        let version = ground.version() + self.changes;
        let columns = ground.columns().max(1);
        let settled = self.settled.as_ref().filter(|(old, _)| same_shape(old, ground));
        let base = settled.map_or(ground, |(_, new)| new);
        let edited = settled.into_iter().flat_map(|(old, _)| ground.chunks().changed_from(old.chunks()));
        let edited = edited.filter_map(|slot| u32::try_from(slot).ok());
        let covered = self.standing.keys().map(|(id, ..)| *id).filter(|_| settled.is_none());
        let mut stale: BTreeSet<(u32, u32)> = edited.map(|slot| (slot / columns, slot % columns)).collect();
        stale.extend(self.touched.iter().copied().chain(covered));
        // Where neither the ground nor what stands on it changed, a chunk is what it was.
        let mut chunks = base.chunks().clone();
        for (y, x) in
            stale.into_iter().filter(|(y, x)| ground.chunk_version(ChunkId { x: *x, y: *y }).is_some())
        {
            let slot = (y * columns + x) as usize;
            *chunks.entry(slot) = ground.chunks()[slot].under(self.standing_in((y, x)));
        }
        base.with_chunks(chunks, version)
    }

    /// As [`on`](Self::on), and remembers the result: what does not change until the next time is shared with it.
    pub fn settle(&mut self, ground: &Map) -> Map {
        let map = self.on(ground);
        self.touched.clear();
        self.settled = (!self.standing.is_empty()).then(|| (ground.clone(), map.clone()));
        map
    }

    /// The cells of a chunk with the terrain that counts on them: the last one given for each.
    fn standing_in(&self, chunk: (u32, u32)) -> impl Iterator<Item = (usize, Terrain)> {
        let whole = (chunk, 0, Terrain(0))..=(chunk, u32::MAX, Terrain(u8::MAX));
        self.standing.range(whole).map(|((_, index, terrain), _)| (*index as usize, *terrain))
    }

    fn note(&mut self, (chunk, ..): Spot) {
        self.touched.insert(chunk);
        self.changes += 1;
    }
}

fn same_shape(a: &Map, b: &Map) -> bool {
    (a.width(), a.height()) == (b.width(), b.height())
}

fn spot(cell: Cell, terrain: Terrain) -> Option<Spot> {
    let (x, y) = (u32::try_from(cell.x).ok()?, u32::try_from(cell.y).ok()?);
    let local = (y & (CHUNK_SIDE - 1)) << CHUNK_SHIFT | (x & (CHUNK_SIDE - 1));
    Some(((y >> CHUNK_SHIFT, x >> CHUNK_SHIFT), local, terrain))
}
