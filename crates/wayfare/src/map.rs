//! The truth about the ground: a [`Map`] holds one [`Terrain`] per cell, in chunks that are shared until edited.
//!
//! A map knows nothing of costs or classes; a [`View`](crate::View) gives its terrain a meaning. Cloning a map
//! is cheap and the clone never changes with the original, which is what searches on other threads read.

use core::fmt;
use std::sync::Arc;

use crate::cell::{Area, Cell};
use crate::pages::Pages;

/// Cells along one side of a chunk.
pub(crate) const CHUNK_SIDE: u32 = 64;
/// A shift that divides by [`CHUNK_SIDE`].
pub(crate) const CHUNK_SHIFT: u32 = 6;
/// Cells in a chunk.
pub(crate) const CHUNK_CELLS: usize = (CHUNK_SIDE * CHUNK_SIDE) as usize;

/// What covers a cell: a number whose meaning a [`Class`](crate::Class) defines.
///
/// 0 to 244 are the game's own. The numbers above are those a text map can spell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Terrain(pub u8);

impl Terrain {
    /// Ordinary ground, `.` in a text map.
    pub const OPEN: Self = Self(0);
    /// A wall, `#` in a text map. No class enters it unless it says so, as a flyer does.
    pub const WALL: Self = Self(254);
    /// Beyond the map. No class enters it, ever; a map may have holes of it.
    pub const OUTSIDE: Self = Self(255);

    /// The terrain that a text map spells `1` to `9`, which by default costs that many times as much.
    pub const fn digit(cost: u8) -> Option<Self> {
        if cost >= 1 && cost <= 9 { Some(Self(244 + cost)) } else { None }
    }

    /// The digit that spells this terrain.
    pub(crate) const fn as_digit(self) -> Option<u8> {
        if self.0 >= 245 && self.0 <= 253 { Some(self.0 - 244) } else { None }
    }
}

/// One chunk of a map, by its place in the grid of chunks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChunkId {
    /// Column of chunks.
    pub x: u32,
    /// Row of chunks.
    pub y: u32,
}

#[derive(Clone)]
pub(crate) struct Chunk {
    version: u64,
    pub(crate) terrain: [u8; CHUNK_CELLS],
}

impl Chunk {
    /// The chunk with these cells covered, later ones over earlier ones; itself if there is none. What lies
    /// outside the map stays outside.
    pub(crate) fn under(self: &Arc<Self>, cover: impl Iterator<Item = (usize, Terrain)>) -> Arc<Self> {
        let mut covered = Arc::clone(self);
        for (index, terrain) in cover.filter(|(index, _)| self.terrain[*index] != Terrain::OUTSIDE.0) {
            Arc::make_mut(&mut covered).terrain[index] = terrain.0;
        }
        covered
    }
}

/// A grid of terrain that can be edited cheaply and shared safely.
#[derive(Clone)]
pub struct Map {
    width: u32,
    height: u32,
    /// Chunks in a row of chunks.
    columns: u32,
    version: u64,
    /// How many cells carry each terrain, so that a view knows the cheapest one present.
    counts: Arc<[u32; 256]>,
    chunks: Pages<Chunk>,
}

impl Map {
    /// The longest side a map may have. Its square bounds every cost; see [`cost`](crate::cost).
    pub const MAX_SIDE: u32 = 16_384;

    /// A map of [`Terrain::OPEN`]. Either side may be 0: such a map is empty and every cell is outside it.
    ///
    /// # Errors
    /// [`MapError::TooLarge`] if a side exceeds [`Map::MAX_SIDE`].
    pub fn new(width: u32, height: u32) -> Result<Self, MapError> {
        Self::filled(width, height, Terrain::OPEN)
    }

    /// A map covered with one terrain.
    ///
    /// # Errors
    /// [`MapError::TooLarge`] if a side exceeds [`Map::MAX_SIDE`].
    pub fn filled(width: u32, height: u32, terrain: Terrain) -> Result<Self, MapError> {
        if width > Self::MAX_SIDE || height > Self::MAX_SIDE {
            return Err(MapError::TooLarge { width, height });
        }
        let columns = width.div_ceil(CHUNK_SIDE);
        let rows = height.div_ceil(CHUNK_SIDE);
        // Chunks that look alike are one allocation until they are edited: an inner one, and those at the
        // right and bottom edges, whose rest lies outside.
        let new_chunk = |w: u32, h: u32| {
            let mut cells = [Terrain::OUTSIDE.0; CHUNK_CELLS];
            for row in cells.chunks_exact_mut(CHUNK_SIDE as usize).take(h as usize) {
                row[..w as usize].fill(terrain.0);
            }
            Arc::new(Chunk { version: 0, terrain: cells })
        };
        let last = |side: u32| (side + CHUNK_SIDE - 1) % CHUNK_SIDE + 1;
        let kinds = [
            [new_chunk(CHUNK_SIDE, CHUNK_SIDE), new_chunk(last(width), CHUNK_SIDE)],
            [new_chunk(CHUNK_SIDE, last(height)), new_chunk(last(width), last(height))],
        ];
        let chunks = (0..rows)
            .flat_map(|y| {
                (0..columns).map(move |x| (usize::from(y + 1 == rows), usize::from(x + 1 == columns)))
            })
            .map(|(bottom, right)| Arc::clone(&kinds[bottom][right]))
            .collect();
        let mut counts = [0; 256];
        counts[usize::from(terrain.0)] = width * height;
        Ok(Self { width, height, columns, version: 0, counts: Arc::new(counts), chunks })
    }

    /// Makes it a map of another size, covered with one terrain. Its version goes up by one, as with any other edit.
    ///
    /// # Errors
    /// [`MapError::TooLarge`] if a side exceeds [`Map::MAX_SIDE`]; nothing is changed then.
    pub fn reset(&mut self, width: u32, height: u32, terrain: Terrain) -> Result<(), MapError> {
        let version = self.version + 1;
        let mut map = Self::filled(width, height, terrain)?;
        for slot in 0..map.chunks.len() {
            Arc::make_mut(map.chunks.entry(slot)).version = version;
        }
        *self = Self { version, ..map };
        Ok(())
    }

    /// Columns of cells.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Rows of cells.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// The whole map as an area, or `None` if it is empty.
    pub fn area(&self) -> Option<Area> {
        let right = i32::try_from(self.width).ok()?.checked_sub(1).filter(|x| *x >= 0)?;
        let bottom = i32::try_from(self.height).ok()?.checked_sub(1).filter(|y| *y >= 0)?;
        Some(Area::new((0, 0), (right, bottom)))
    }

    /// Whether `cell` lies on the map.
    #[inline]
    pub const fn contains(&self, cell: Cell) -> bool {
        cell.x >= 0
            && cell.y >= 0
            && cell.x.unsigned_abs() < self.width
            && cell.y.unsigned_abs() < self.height
    }

    /// The terrain of a cell; [`Terrain::OUTSIDE`] beyond the map.
    #[inline]
    pub fn terrain(&self, cell: Cell) -> Terrain {
        match self.index(cell) {
            Some(index) => self.terrain_at(index),
            None => Terrain::OUTSIDE,
        }
    }

    /// How many cells carry `terrain`.
    pub fn count(&self, terrain: Terrain) -> u32 {
        self.counts[usize::from(terrain.0)]
    }

    /// Covers one cell. Returns whether that changed anything.
    ///
    /// # Errors
    /// [`MapError::Outside`] if the cell is not on the map.
    pub fn set(&mut self, cell: impl Into<Cell>, terrain: Terrain) -> Result<bool, MapError> {
        let cell = cell.into();
        self.fill(cell, terrain).map(|changed| changed > 0)
    }

    /// Covers a rectangle. Returns how many cells changed.
    ///
    /// # Errors
    /// [`MapError::Outside`] if a corner is not on the map; nothing is changed then.
    pub fn fill(&mut self, area: impl Into<Area>, terrain: Terrain) -> Result<u32, MapError> {
        self.edit(area, |_, _| terrain)
    }

    /// Rewrites a rectangle cell by cell: `rule` gets each cell with its old terrain and returns the new one.
    /// Returns how many cells changed.
    ///
    /// The [version](Self::version) goes up by one if any did, and so do those of the chunks they lie in.
    ///
    /// # Errors
    /// [`MapError::Outside`] if a corner is not on the map; nothing is changed then.
    pub fn edit(
        &mut self,
        area: impl Into<Area>,
        rule: impl FnMut(Cell, Terrain) -> Terrain,
    ) -> Result<u32, MapError> {
        self.write(area.into(), self.version + 1, rule)
    }

    /// As [`edit`](Self::edit), with the version that the map has afterwards if anything changed.
    pub(crate) fn write(
        &mut self,
        area: Area,
        version: u64,
        mut rule: impl FnMut(Cell, Terrain) -> Terrain,
    ) -> Result<u32, MapError> {
        for corner in [area.min(), area.max()] {
            if !self.contains(corner) {
                return Err(MapError::Outside { cell: corner, width: self.width, height: self.height });
            }
        }
        let mut changed = 0;
        for part in chunk_parts(area) {
            let slot = part.chunk.y * self.columns + part.chunk.x;
            let mut cells = part.area.cells();
            // An edit that changes nothing copies nothing.
            let first = cells.find_map(|cell| {
                let local = local_index(cell);
                let old = self.chunks[slot as usize].terrain[local];
                let new = rule(cell, Terrain(old)).0;
                (new != old).then_some((local, new))
            });
            let Some((local, new)) = first else { continue };
            // Copies the chunk if anybody shares it. All that depends on a cell changes with it, so that a rule that
            // panics leaves the map in order.
            let chunk = Arc::make_mut(self.chunks.entry(slot as usize));
            let counts = Arc::make_mut(&mut self.counts);
            let mut put = |chunk: &mut Chunk, local: usize, new: u8| {
                let old = core::mem::replace(&mut chunk.terrain[local], new);
                counts[usize::from(old)] -= 1;
                counts[usize::from(new)] += 1;
                changed += 1;
            };
            (chunk.version, self.version) = (version, version);
            put(chunk, local, new);
            for cell in cells {
                let local = local_index(cell);
                let old = chunk.terrain[local];
                let new = rule(cell, Terrain(old)).0;
                if new != old {
                    put(chunk, local, new);
                }
            }
        }
        Ok(changed)
    }

    /// Goes up by one with every edit that changed something.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The version of the last edit that changed something in this chunk, or `None` if there is no such chunk.
    pub fn chunk_version(&self, id: ChunkId) -> Option<u64> {
        let exists = id.x < self.columns && id.y < self.height.div_ceil(CHUNK_SIDE);
        exists.then(|| self.chunks[(id.y * self.columns + id.x) as usize].version)
    }

    /// The chunk a cell lies in, or `None` beyond the map.
    pub fn chunk_of(&self, cell: Cell) -> Option<ChunkId> {
        self.contains(cell).then(|| chunk_of(cell))
    }

    /// The chunks edited after `version`, row by row.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let mut map = Map::new(200, 100)?;
    /// let before = map.version();
    /// map.set((70, 3), Terrain::WALL)?;
    /// let changed: Vec<ChunkId> = map.changed_since(before).collect();
    /// assert_eq!(changed, [ChunkId { x: 1, y: 0 }]);
    /// # Ok::<(), MapError>(())
    /// ```
    pub fn changed_since(&self, version: u64) -> impl Iterator<Item = ChunkId> {
        let columns = self.columns;
        (0..)
            .zip(self.chunks.iter())
            .filter(move |(_, chunk)| chunk.version > version)
            .map(move |(slot, _): (u32, _)| ChunkId { x: slot % columns, y: slot / columns })
    }

    /// The cells of a chunk that lie on the map, or `None` if there is no such chunk.
    pub fn chunk_area(&self, id: ChunkId) -> Option<Area> {
        let whole = self.area()?;
        let min = Cell::new(to_i32(id.x.checked_mul(CHUNK_SIDE)?)?, to_i32(id.y.checked_mul(CHUNK_SIDE)?)?);
        let side = CHUNK_SIDE.cast_signed() - 1;
        let max = Cell::new((min.x + side).min(whole.max().x), (min.y + side).min(whole.max().y));
        whole.contains(min).then(|| Area::new(min, max))
    }

    /// What it keeps in memory. A chunk many times over counts as often.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.len() * (size_of::<Arc<Chunk>>() + size_of::<Chunk>())
    }

    /// Chunks in a row of chunks.
    pub(crate) const fn columns(&self) -> u32 {
        self.columns
    }

    pub(crate) const fn chunks(&self) -> &Pages<Chunk> {
        &self.chunks
    }

    /// A map of the same shape, made of these chunks.
    pub(crate) fn with_chunks(&self, chunks: Pages<Chunk>, version: u64) -> Self {
        let mut counts = Arc::clone(&self.counts);
        for slot in chunks.changed_from(&self.chunks) {
            let (old, new) = (&self.chunks[slot].terrain, &chunks[slot].terrain);
            let counts = Arc::make_mut(&mut counts);
            // Mostly eight that follow each other are as they were.
            let (old, new) = (old.as_chunks::<8>().0, new.as_chunks::<8>().0);
            for (old, new) in old.iter().zip(new).filter(|(old, new)| old != new) {
                for (old, new) in old.iter().zip(new).filter(|(old, new)| old != new) {
                    counts[usize::from(*old)] -= 1;
                    counts[usize::from(*new)] += 1;
                }
            }
        }
        Self { version, counts, chunks, ..*self }
    }

    /// Whether a cell lies on both maps, in a chunk that they share: then nothing can have changed there.
    pub(crate) fn shares(&self, other: &Self, cell: Cell) -> bool {
        let chunk = |map: &Self| map.index(cell).map(|index| (index >> (2 * CHUNK_SHIFT)) as usize);
        match (chunk(self), chunk(other)) {
            (Some(a), Some(b)) => Arc::ptr_eq(&self.chunks[a], &other.chunks[b]),
            _ => false,
        }
    }

    /// Where a cell is stored: its chunk, then its row and column inside. Searches number their nodes like this.
    #[inline]
    pub(crate) const fn index(&self, cell: Cell) -> Option<u32> {
        if self.contains(cell) { Some(self.index_inside(cell)) } else { None }
    }

    /// As [`index`](Self::index), for a cell known to lie on the map.
    #[inline]
    pub(crate) const fn index_inside(&self, cell: Cell) -> u32 {
        let (x, y) = (cell.x.cast_unsigned(), cell.y.cast_unsigned());
        let chunk = (y >> CHUNK_SHIFT) * self.columns + (x >> CHUNK_SHIFT);
        chunk << (2 * CHUNK_SHIFT) | (y & (CHUNK_SIDE - 1)) << CHUNK_SHIFT | (x & (CHUNK_SIDE - 1))
    }

    /// The cell stored at `index`.
    #[inline]
    pub(crate) const fn cell_at(&self, index: u32) -> Cell {
        let chunk = index >> (2 * CHUNK_SHIFT);
        let (column, row) = (chunk % self.columns, chunk / self.columns);
        let x = column << CHUNK_SHIFT | (index & (CHUNK_SIDE - 1));
        let y = row << CHUNK_SHIFT | (index >> CHUNK_SHIFT & (CHUNK_SIDE - 1));
        Cell::new(x.cast_signed(), y.cast_signed())
    }

    #[inline]
    pub(crate) fn terrain_at(&self, index: u32) -> Terrain {
        let chunk = &self.chunks[(index >> (2 * CHUNK_SHIFT)) as usize];
        Terrain(chunk.terrain[index as usize & (CHUNK_CELLS - 1)])
    }
}

/// An empty map.
impl Default for Map {
    fn default() -> Self {
        let (counts, chunks) = (Arc::new([0; 256]), Pages::from_iter([]));
        Self { width: 0, height: 0, columns: 0, version: 0, counts, chunks }
    }
}

/// Two maps are equal when they look alike, whatever edits led there.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        let alike = |(a, b): (&Arc<Chunk>, &Arc<Chunk>)| Arc::ptr_eq(a, b) || a.terrain == b.terrain;
        (self.width, self.height) == (other.width, other.height)
            && self.chunks.iter().zip(other.chunks.iter()).all(alike)
    }
}

impl Eq for Map {}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Map({} × {}, version {})", self.width, self.height, self.version)
    }
}

/// A map or an edit that cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MapError {
    /// A side is longer than [`Map::MAX_SIDE`].
    TooLarge {
        /// Columns asked for.
        width: u32,
        /// Rows asked for.
        height: u32,
    },
    /// An edit reaches beyond the map.
    Outside {
        /// The cell that is not on the map.
        cell: Cell,
        /// Columns of the map.
        width: u32,
        /// Rows of the map.
        height: u32,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { width, height } => {
                write!(f, "a map of {width} × {height} cells exceeds {0} × {0}", Map::MAX_SIDE)
            }
            Self::Outside { cell, width, height } => {
                write!(f, "{cell} lies outside the map of {width} × {height} cells")
            }
        }
    }
}

impl core::error::Error for MapError {}

struct ChunkPart {
    chunk: ChunkId,
    area: Area,
}

/// Cuts an area, known to lie on a map, at the borders of chunks.
fn chunk_parts(area: Area) -> impl Iterator<Item = ChunkPart> {
    let (first, last) = (chunk_of(area.min()), chunk_of(area.max()));
    let side = CHUNK_SIDE.cast_signed();
    (first.y..=last.y).flat_map(move |y| (first.x..=last.x).map(move |x| ChunkId { x, y })).map(
        move |chunk| {
            let corner = Cell::new(chunk.x.cast_signed() * side, chunk.y.cast_signed() * side);
            let min = Cell::new(corner.x.max(area.min().x), corner.y.max(area.min().y));
            let max =
                Cell::new((corner.x + side - 1).min(area.max().x), (corner.y + side - 1).min(area.max().y));
            ChunkPart { chunk, area: Area::new(min, max) }
        },
    )
}

const fn chunk_of(cell: Cell) -> ChunkId {
    ChunkId { x: cell.x.cast_unsigned() >> CHUNK_SHIFT, y: cell.y.cast_unsigned() >> CHUNK_SHIFT }
}

const fn local_index(cell: Cell) -> usize {
    let (x, y) = (cell.x.cast_unsigned(), cell.y.cast_unsigned());
    ((y & (CHUNK_SIDE - 1)) << CHUNK_SHIFT | (x & (CHUNK_SIDE - 1))) as usize
}

fn to_i32(value: u32) -> Option<i32> {
    i32::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_seen_in_the_map_its_counts_and_its_versions() {
        let mut map = Map::new(150, 70).unwrap();
        assert_eq!(map.count(Terrain::OPEN), 150 * 70);
        assert_eq!(map.set((149, 69), Terrain::WALL), Ok(true));
        assert_eq!(map.set((149, 69), Terrain::WALL), Ok(false));
        assert_eq!(map.version(), 1);
        assert_eq!(map.fill(Area::new((60, 60), (70, 66)), Terrain(7)), Ok(77));
        assert_eq!(map.version(), 2);
        assert_eq!((map.count(Terrain(7)), map.count(Terrain::WALL)), (77, 1));
        assert_eq!(map.terrain(Cell::new(70, 66)), Terrain(7));
        assert_eq!(map.terrain(Cell::new(71, 66)), Terrain::OPEN);
        assert_eq!(map.changed_since(1).count(), 4);
        assert_eq!(map.changed_since(0).count(), 5);
        assert_eq!(map.changed_since(2).count(), 0);
        assert_eq!(map.chunk_version(ChunkId { x: 2, y: 1 }), Some(1));
        assert_eq!(map.chunk_version(ChunkId { x: 3, y: 0 }), None);
        assert_eq!(map.chunk_version(ChunkId { x: 0, y: 2 }), None);
    }

    #[test]
    fn a_reset_is_an_edit_of_everything() {
        let mut map = Map::new(150, 70).unwrap();
        map.set((3, 3), Terrain::WALL).unwrap();
        map.reset(200, 10, Terrain(7)).unwrap();
        assert_eq!((map.width(), map.height(), map.version()), (200, 10, 2));
        assert_eq!((map.count(Terrain(7)), map.changed_since(1).count()), (2000, 4));
        assert!(map.reset(20_000, 1, Terrain(7)).is_err());
        assert_eq!(map.width(), 200);
    }

    #[test]
    fn an_edit_beyond_the_map_is_refused_and_changes_nothing() {
        let mut map = Map::new(10, 10).unwrap();
        let before = map.clone();
        let error = MapError::Outside { cell: Cell::new(10, 3), width: 10, height: 10 };
        assert_eq!(map.fill(Area::new((0, 0), (10, 3)), Terrain::WALL), Err(error));
        assert_eq!(error.to_string(), "(10, 3) lies outside the map of 10 × 10 cells");
        assert!(map.set((-1, 0), Terrain::WALL).is_err());
        assert_eq!(map, before);
        assert_eq!(map.version(), 0);
    }

    #[test]
    fn a_clone_keeps_what_it_saw_and_shares_the_rest() {
        let mut map = Map::new(640, 640).unwrap();
        let before = map.clone();
        map.set((5, 5), Terrain::WALL).unwrap();
        assert_eq!(before.terrain(Cell::new(5, 5)), Terrain::OPEN);
        assert_ne!(map, before);
        assert_eq!(map.chunks().changed_from(before.chunks()).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_rule_that_panics_leaves_the_map_in_order() {
        let mut map = Map::new(4, 1).unwrap();
        let whole = map.area().unwrap();
        let edit = std::panic::AssertUnwindSafe(|| {
            map.edit(whole, |cell, _| if cell.x < 2 { Terrain::WALL } else { panic!("on purpose") })
        });
        assert!(std::panic::catch_unwind(edit).is_err());
        assert_eq!(map.to_text(|_| None), "##..");
        assert_eq!((map.count(Terrain::WALL), map.count(Terrain::OPEN), map.version()), (2, 2, 1));
        assert_eq!(map.fill(whole, Terrain::OPEN), Ok(2));
    }

    #[test]
    fn every_cell_has_its_own_index() {
        let map = Map::new(130, 67).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for cell in map.area().unwrap().cells() {
            let index = map.index(cell).unwrap();
            assert!(seen.insert(index));
            assert_eq!(map.cell_at(index), cell);
        }
        assert_eq!(map.index(Cell::new(130, 0)), None);
    }

    #[test]
    fn the_edges_of_size() {
        assert!(Map::new(0, 0).unwrap().area().is_none());
        assert!(Map::new(0, 5).unwrap().area().is_none());
        assert_eq!(Map::new(1, 1).unwrap().area().unwrap().cells().count(), 1);
        assert_eq!(Map::new(64, 65).unwrap().chunks().len(), 2);
        let huge = Map::new(8192, 8192).unwrap();
        assert_eq!(huge.terrain(Cell::new(8191, 8191)), Terrain::OPEN);
        assert_eq!(huge.terrain(Cell::new(8192, 8191)), Terrain::OUTSIDE);
        assert_eq!(huge.chunk_area(ChunkId { x: 127, y: 0 }).unwrap().max(), Cell::new(8191, 63));
        assert_eq!(huge.chunk_area(ChunkId { x: u32::MAX, y: 0 }), None);
        let error = MapError::TooLarge { width: 16_385, height: 1 };
        assert_eq!(Map::new(16_385, 1).unwrap_err(), error);
        assert!(Map::new(u32::MAX, u32::MAX).is_err());
    }
}
