//! What a search over uneven ground knows of each cell: eight bytes, in pages of one chunk that exist only where the
//! search has been.
//!
//! A cell is named by its place: the page, then its row and column in the chunk. Neighbours in a chunk lie at fixed
//! distances from each other, and where a page lies on the map is known without a division.

use crate::cell::Cell;
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE, Map};
use crate::search::uneven::sense::Mark;

/// Bits of a mark below the number of the search: the directions a cell was entered in, and whether it is closed.
const MARK_SHIFT: u32 = 9;
const CLOSED: u32 = 1 << 8;
const WAYS: u32 = CLOSED - 1;

/// What is known of a cell.
#[derive(Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) g: u32,
    /// The number of the search that wrote this, whether the cell is closed, and how it was entered.
    mark: u32,
}

impl Node {
    /// The directions in which the cell was entered at this cost, as bits; none at the start.
    #[inline]
    pub(crate) fn ways(self) -> u8 {
        (self.mark & WAYS).to_le_bytes()[0]
    }

    #[inline]
    pub(crate) fn is_closed(self) -> bool {
        self.mark & CLOSED != 0
    }
}

/// A page, and where it lies on the map.
#[derive(Clone, Copy, Default)]
pub(crate) struct Page {
    /// The chunk, in the order of the map.
    pub(crate) chunk: u32,
    /// The chunk's first cell.
    pub(crate) origin: Cell,
}

/// Nodes by place.
#[derive(Default)]
pub(crate) struct Table {
    generation: u32,
    /// Per chunk of the map: the search that last used it, and the page it had then.
    page_of: Vec<(u32, u32)>,
    pages: Vec<Page>,
    pub(crate) nodes: Vec<Node>,
}

impl Table {
    /// Forgets everything and makes room for the chunks of a map.
    pub(crate) fn begin(&mut self, map: &Map) {
        self.generation += 1;
        if self.generation == u32::MAX >> MARK_SHIFT {
            self.page_of.fill((0, 0));
            self.nodes.fill(Node::default());
            self.generation = 1;
        }
        if self.page_of.len() < map.chunks().len() {
            self.page_of.resize(map.chunks().len(), (0, 0));
        }
        self.pages.clear();
    }

    /// The place of a cell that lies on the map. Makes a page for it if there is none.
    #[inline]
    pub(crate) fn place(&mut self, map: &Map, index: u32) -> u32 {
        let chunk = index >> (2 * CHUNK_SHIFT);
        let (generation, page) = self.page_of[chunk as usize];
        let page = if generation == self.generation { page } else { self.add_page(map, chunk) };
        page << (2 * CHUNK_SHIFT) | (index & (CHUNK_SIDE * CHUNK_SIDE - 1))
    }

    fn add_page(&mut self, map: &Map, chunk: u32) -> u32 {
        // A map has fewer than 2^17 chunks.
        let page = u32::try_from(self.pages.len()).unwrap_or(u32::MAX);
        self.page_of[chunk as usize] = (self.generation, page);
        self.pages.push(Page { chunk, origin: map.cell_at(chunk << (2 * CHUNK_SHIFT)) });
        let needed = self.pages.len() * CHUNK_CELLS;
        if self.nodes.len() < needed {
            self.nodes.resize(needed, Node::default());
        }
        page
    }

    #[inline]
    pub(crate) fn page(&self, place: u32) -> Page {
        self.pages[(place >> (2 * CHUNK_SHIFT)) as usize]
    }

    #[inline]
    pub(crate) fn mark(&self, place: u32) -> Mark {
        Mark { place, chunk: self.page(place).chunk }
    }

    /// The cell at a place.
    #[inline]
    pub(crate) fn cell(&self, place: u32) -> Cell {
        let (x, y) = in_chunk(place);
        self.page(place).origin + (x.cast_signed(), y.cast_signed())
    }

    /// Where on the map the cell at a place is stored.
    #[inline]
    pub(crate) fn index(&self, place: u32) -> u32 {
        self.page(place).chunk << (2 * CHUNK_SHIFT) | (place & (CHUNK_SIDE * CHUNK_SIDE - 1))
    }

    /// What is known of the cell at a place, if this search has touched it.
    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<Node> {
        let node = self.nodes[place as usize];
        (node.mark >> MARK_SHIFT == self.generation).then_some(node)
    }

    /// Writes what is known of the cell at a place, open.
    #[inline]
    pub(crate) fn open(&mut self, place: u32, g: u32, ways: u8) {
        let mark = self.generation << MARK_SHIFT | u32::from(ways);
        self.nodes[place as usize] = Node { g, mark };
    }

    /// Closes the cell at a place.
    #[inline]
    pub(crate) fn close(&mut self, place: u32) {
        self.nodes[place as usize].mark |= CLOSED;
    }
}

/// Column and row of a place in its chunk.
#[inline]
pub(crate) const fn in_chunk(place: u32) -> (u32, u32) {
    (place & (CHUNK_SIDE - 1), place >> CHUNK_SHIFT & (CHUNK_SIDE - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_search_sees_nothing_of_the_last_one_on_any_map() {
        let mut table = Table { generation: (u32::MAX >> MARK_SHIFT) - 3, ..Table::default() };
        for (round, side) in [300, 70, 300, 500, 10, 300].into_iter().enumerate() {
            let map = Map::new(side, side).unwrap();
            table.begin(&map);
            let cell = Cell::new(side.cast_signed() - 1, side.cast_signed() - 2);
            let index = map.index_inside(cell);
            let place = table.place(&map, index);
            assert!(table.get(place).is_none(), "round {round}");
            table.open(place, 7, 3);
            table.close(place);
            let node = table.get(place).unwrap();
            assert_eq!((node.g, node.ways(), node.is_closed()), (7, 3, true));
            assert_eq!(table.cell(place), cell);
            assert_eq!((table.index(place), table.place(&map, index)), (index, place));
        }
        assert_eq!(table.nodes.len(), CHUNK_CELLS, "memory follows the cells touched");
    }
}
