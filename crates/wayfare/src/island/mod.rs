//! Connected areas, known before any search: who can reach whom, and what lies nearest to the unreachable.
//!
//! Comes in: the ground. Goes out: an island per cell, asked by every query before it searches.
//!
//! The map is a tree of square pieces: chunks, blocks of chunks, blocks of blocks. Each piece knows its connected areas
//! and which of them reach its coast; a piece is put together from the coasts of smaller ones. After an edit
//! only the pieces around it are looked at again, and only as far up as something changed.

mod union;
mod coast;
mod shores;
mod block;
mod refresh;
mod bake;

use crate::cell::Cell;
use crate::ground::Ground;
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE, ChunkId, Map};
use block::{Piece, tiers};
use coast::Area;
use refresh::Refresh;
use shores::Shores;

/// A connected area of open cells, named by a number that holds until the next edit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Island(u32);

impl Island {
    /// The number: islands are counted from 0.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// The islands of one ground.
#[derive(Clone)]
pub(crate) struct Islands {
    /// The whole map, unless it is empty.
    whole: Option<Piece>,
    /// How many tiers of blocks the whole map has above its chunks.
    tiers: u32,
    /// Chunks in a row of chunks, and rows of them.
    columns: u32,
    rows: u32,
}

impl Islands {
    pub(crate) fn new(ground: &Ground) -> Self {
        Self { whole: None, tiers: 0, columns: 0, rows: 0 }.surveyed(ground, None)
    }

    /// The islands of a ground that differs from that of these only in its map, which was `before` and has the same
    /// shape.
    pub(crate) fn updated(&self, ground: &Ground, before: &Map) -> Self {
        self.surveyed(ground, Some(before))
    }

    /// What it keeps in memory. What is there many times over counts as often.
    pub(crate) fn bytes(&self) -> usize {
        self.whole.as_ref().map_or(0, Piece::bytes)
    }

    fn surveyed(&self, ground: &Ground, before: Option<&Map>) -> Self {
        let (columns, rows) = (ground.map.columns(), ground.map.height().div_ceil(CHUNK_SIDE));
        let mut refresh = Refresh::new(ground, before);
        let tiers = tiers(columns, rows);
        let changed = refresh.changed();
        let exists = !ground.map.chunks().is_empty();
        let whole = exists.then(|| refresh.piece(tiers, (0, 0), self.whole.as_ref(), &changed));
        Self { whole, tiers, columns, rows }
    }

    /// The island of the cell at `index`, or `None` if it is blocked.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> Option<Island> {
        let slot = index >> (2 * CHUNK_SHIFT);
        let chunk = ChunkId { x: slot % self.columns, y: slot / self.columns };
        self.named(chunk, |shores| shores.area(index as usize & (CHUNK_CELLS - 1)))
    }

    /// The island that an area of a chunk belongs to: those that reach the end of the map are counted first.
    fn named(&self, chunk: ChunkId, area_in: impl FnOnce(&Shores) -> Option<Area>) -> Option<Island> {
        let whole = self.whole.as_ref()?;
        Some(Island(match whole.area(self.tiers, (chunk.x, chunk.y), area_in)? {
            Area::Open(area) => area,
            Area::Closed(area) => whole.coast().areas + area,
        }))
    }

    /// The open cells of a chunk, row by row, the leftmost in the lowest bit; `None` if there is no such chunk.
    pub(crate) fn open_rows(&self, chunk: ChunkId) -> Option<&[u64; CHUNK_SIDE as usize]> {
        let exists = chunk.x < self.columns && chunk.y < self.rows;
        let whole = self.whole.as_ref().filter(|_| exists)?;
        Some(&whole.shores(self.tiers, (chunk.x, chunk.y)).rows)
    }

    pub(crate) fn count(&self) -> u32 {
        self.whole.as_ref().map_or(0, |whole| whole.coast().areas + whole.closed())
    }

    /// The cell closest to any of the `goals` on an island that `wanted` accepts: by straight distance, then by
    /// lower row, then by lower column. Goals outside the map do not count.
    pub(crate) fn nearest(
        &self,
        ground: &Ground,
        goals: &[Cell],
        wanted: impl Fn(Island) -> bool,
    ) -> Option<Cell> {
        let mut best = None;
        for goal in goals {
            best = self.nearer(ground, *goal, &wanted, best);
        }
        best.map(|(_, cell)| cell)
    }

    /// The wanted cell closest to `goal` with the square of its distance, if that beats the best so far.
    fn nearer(
        &self,
        ground: &Ground,
        goal: Cell,
        wanted: impl Fn(Island) -> bool,
        mut best: Option<(u64, Cell)>,
    ) -> Option<(u64, Cell)> {
        let steps = ground.view.rules.costs;
        let shorter = u64::from(steps.x().min(steps.y()));
        let Some(home) = ground.map.chunk_of(goal) else {
            return best;
        };
        let columns = ground.map.columns();
        let rows = ground.map.height().div_ceil(CHUNK_SIDE);
        for radius in 0..columns.max(rows) {
            // Chunks in this ring lie at least this far from the goal, wherever in its chunk it stands.
            let cells = u64::from(radius.saturating_sub(1) * CHUNK_SIDE);
            let bound = (cells * shorter).pow(2);
            if best.is_some_and(|(distance, _)| bound > distance) {
                break;
            }
            for id in ring(home, radius, columns, rows) {
                let Some(area) = ground.map.chunk_area(id) else {
                    continue;
                };
                let bound = ground.distance_squared(area.nearest(goal), goal);
                if best.is_some_and(|(distance, _)| bound > distance) {
                    continue;
                }
                let Some(mut is_wanted) = self.wanted_in(id, &wanted) else {
                    continue;
                };
                for cell in area.cells() {
                    let distance = ground.distance_squared(cell, goal);
                    let key = (distance, cell.y, cell.x);
                    if best.is_none_or(|(least, at)| key < (least, at.y, at.x))
                        && is_wanted(ground.map.index_inside(cell))
                    {
                        best = Some((distance, cell));
                    }
                }
            }
        }
        best
    }

    /// Which cells of a chunk, by index, belong to a wanted island, or `None` if none does.
    fn wanted_in(&self, id: ChunkId, wanted: impl Fn(Island) -> bool) -> Option<impl FnMut(u32) -> bool> {
        let shores = self.whole.as_ref()?.shores(self.tiers, (id.x, id.y));
        let is_wanted = move |area| self.named(id, |_| Some(area)).is_some_and(&wanted);
        // Cells that follow each other are mostly of one area, which is named once.
        let mut last = None;
        shores.areas().any(&is_wanted).then_some(move |index: u32| {
            let Some(area) = shores.area(index as usize & (CHUNK_CELLS - 1)) else { return false };
            match last {
                Some((known, is_wanted)) if known == area => is_wanted,
                _ => last.insert((area, is_wanted(area))).1,
            }
        })
    }
}

/// The chunks exactly `radius` chunks away from `home`, those that exist.
fn ring(home: ChunkId, radius: u32, columns: u32, rows: u32) -> impl Iterator<Item = ChunkId> {
    let top = home.y.saturating_sub(radius);
    let bottom = (home.y + radius).min(rows - 1);
    (top..=bottom).flat_map(move |y| {
        let edge = y.abs_diff(home.y) == radius;
        let left = home.x.saturating_sub(radius);
        let right = (home.x + radius).min(columns - 1);
        let stride = if edge || radius == 0 { 1 } else { 2 * radius as usize };
        // Inside the ring only its two ends count; the left one may lie outside the map.
        let start = if edge || home.x >= radius { left } else { home.x + radius };
        (start..=right).step_by(stride).map(move |x| ChunkId { x, y })
    })
}

#[cfg(test)]
mod tests {
    use super::block::Block;
    use super::*;
    use crate::map::Terrain;
    use crate::snapshot::Snapshot;
    use crate::view::View;
    use std::sync::Arc;

    /// What an update did.
    #[derive(Default, PartialEq, Eq, Debug)]
    struct Work {
        /// Chunks that were labelled anew.
        chunks: usize,
        /// Blocks that were copied, and of them those joined anew.
        blocks: usize,
        joins: usize,
    }

    fn compare(old: &Piece, new: &Piece, work: &mut Work) {
        match (old, new) {
            _ if old.is_shared_with(new) => {}
            (Piece::Block(old), Piece::Block(new)) => {
                work.blocks += 1;
                work.joins += usize::from(!Arc::ptr_eq(&old.joined, &new.joined));
                let pieces = |block: &Block| block.pieces.clone();
                pieces(old).iter().zip(&pieces(new)).for_each(|(old, new)| compare(old, new, work));
            }
            _ => work.chunks += 1,
        }
    }

    /// What it takes to follow an edit.
    fn work_of(map: &mut Map, snapshot: &mut Snapshot, edit: impl FnOnce(&mut Map)) -> Work {
        let old = snapshot.islands.whole.clone().unwrap();
        edit(map);
        assert!(snapshot.refresh(map));
        let mut work = Work::default();
        compare(&old, snapshot.islands.whole.as_ref().unwrap(), &mut work);
        work
    }

    /// Rooms of 32 × 32 cells with a door in the middle of each wall. 1280 cells are 20 chunks: three tiers of blocks.
    fn rooms() -> Map {
        let mut map = Map::new(1280, 1280).unwrap();
        let all = map.area().unwrap();
        let is_wall = |a: i32, b: i32| a % 32 == 31 && b % 32 != 15;
        map.edit(all, |cell, terrain| {
            if is_wall(cell.x, cell.y) || is_wall(cell.y, cell.x) { Terrain::WALL } else { terrain }
        })
        .unwrap();
        map
    }

    #[test]
    fn an_edit_is_felt_as_far_as_it_changes_who_is_connected() {
        let mut map = rooms();
        let mut snapshot = Snapshot::new(&map, &View::default());
        assert_eq!(snapshot.islands.tiers, 3);
        let mut work = |edit: &dyn Fn(&mut Map)| work_of(&mut map, &mut snapshot, |map| edit(map));
        let work_at = |chunks, blocks, joins| Work { chunks, blocks, joins };
        // Ground of another kind that can be walked, too.
        assert_eq!(work(&|map| assert!(map.set((70, 70), Terrain(7)).unwrap())), work_at(0, 0, 0));
        // A wall in the middle of a room.
        assert_eq!(work(&|map| assert!(map.set((80, 80), Terrain::WALL).unwrap())), work_at(1, 3, 0));
        // A door between two rooms of one chunk, which has another way around.
        assert_eq!(work(&|map| assert!(map.set((95, 79), Terrain::WALL).unwrap())), work_at(1, 3, 0));
        // That one, too: now the way around is through other chunks of the block.
        assert_eq!(work(&|map| assert!(map.set((95, 111), Terrain::WALL).unwrap())), work_at(1, 3, 1));
        assert_eq!(work(&|map| assert!(map.set((95, 79), Terrain::OPEN).unwrap())), work_at(1, 3, 1));
        // A door at the border of two chunks inside a block.
        assert_eq!(work(&|map| assert!(map.set((127, 79), Terrain::WALL).unwrap())), work_at(1, 3, 1));
        // A door at the border of two of the largest blocks changes the coasts of all around it.
        assert_eq!(work(&|map| assert!(map.set((1023, 79), Terrain::WALL).unwrap())), work_at(1, 3, 3));
        assert_eq!(work(&|map| assert!(map.set((1023, 79), Terrain::OPEN).unwrap())), work_at(1, 3, 3));
        assert_eq!(snapshot.island_count(), 1);
    }

    #[test]
    fn a_new_map_is_labelled_once_for_all_chunks_alike() {
        let snapshot = Snapshot::new(&Map::new(1024, 1024).unwrap(), &View::default());
        let whole = snapshot.islands.whole.as_ref().unwrap();
        let first: *const Shores = whole.shores(2, (0, 0));
        assert!((1..15).all(|i| core::ptr::eq(first, whole.shores(2, (i, 15 - i)))));
        assert_eq!((snapshot.island_count(), snapshot.islands.tiers), (1, 2));
    }
}
