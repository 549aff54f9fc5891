//! Memory that searches reuse: a table of nodes that grows with the cells touched, an open list, buffers.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cell::Cell;
use crate::cost::Cost;
use crate::onward::ANYHOW;
use crate::record::Effort;
use crate::route::Route;
use crate::search::bends::Label;
use crate::search::goals::Goals;
use crate::search::jump::Jump;
use crate::search::open::Open;
use crate::search::spread::Spread;
use crate::search::uneven::Memory;
use crate::survey::deadend::Marks;

/// Working memory of a search, to be used again for the next one, on any map.
///
/// Once warm, a search allocates nothing but the route it returns, and not even that if routes no longer needed
/// are given back with [`recycle`](Self::recycle).
#[derive(Default)]
pub struct Scratch {
    pub(crate) goals: Goals,
    pub(crate) nodes: Nodes,
    /// The cost from each cell to the goal, where a search needs it besides its own nodes.
    pub(crate) to_go: Nodes,
    /// The nodes of a search that jumps.
    pub(crate) jumps: Paged<Jump>,
    /// Where it may lead.
    pub(crate) marks: Marks,
    pub(crate) open: Open,
    pub(crate) spread: Spread,
    pub(crate) labels: Vec<Label>,
    /// The open list of labels, packed as [`bends`](crate::search::bends) says.
    pub(crate) open_labels: BinaryHeap<Reverse<u128>>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) uneven: Memory,
    /// What a way to each of the goals costs at least that are still to be searched for one by one, and their numbers.
    pub(crate) rivals: Vec<(Cost, u32)>,
    pub(crate) effort: Effort,
    /// A search for several goals holds the best route while it looks for a better one.
    spare: [Vec<Cell>; 2],
}

impl Scratch {
    /// Empty; it grows as it is used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the memory of a route that is no longer needed, for the next one.
    pub fn recycle(&mut self, route: Route) {
        let [most, less] = &mut self.spare;
        if route.cells.capacity() > less.capacity() {
            *less = route.cells;
        }
        if less.capacity() > most.capacity() {
            core::mem::swap(most, less);
        }
    }

    /// What the last search did.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// How much memory the nodes and open lists of searches so far have taken, in bytes.
    pub fn bytes(&self) -> usize {
        self.nodes.bytes()
            + self.to_go.bytes()
            + self.jumps.bytes()
            + self.marks.bytes()
            + self.open.bytes()
            + self.spread.bytes()
            + self.labels.capacity() * size_of::<Label>()
            + self.open_labels.capacity() * size_of::<u128>()
            + self.costs.capacity() * size_of::<Cost>()
            + self.rivals.capacity() * size_of::<(Cost, u32)>()
            + self.spare.iter().map(Vec::capacity).sum::<usize>() * size_of::<Cell>()
    }

    /// An empty buffer for the cells of a route.
    pub(crate) fn take_cells(&mut self) -> Vec<Cell> {
        let [most, less] = &mut self.spare;
        let mut cells = core::mem::replace(most, core::mem::take(less));
        cells.clear();
        cells
    }
}

impl core::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Scratch({} nodes, {:?})", self.nodes.nodes.len(), self.effort)
    }
}

/// What a search knows about one node.
#[derive(Clone, Copy, Default)]
pub(crate) struct Node {
    pub(crate) g: Cost,
    stamp: u32,
    /// How it was reached: a direction or heading, or [`ROOT`].
    pub(crate) from: u8,
    pub(crate) closed: bool,
}

/// What became of an [`offer`](Nodes::offer).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    Opened,
    Reparented,
    Refused,
}

/// `from` of a node where the search began.
pub(crate) const ROOT: u8 = ANYHOW;

/// No page has this number: there are at most 2^31 nodes.
const NO_PAGE: u32 = u32::MAX;
const PAGE_SHIFT: u32 = 12;
const PAGE_NODES: usize = 1 << PAGE_SHIFT;

/// An entry of a table that knows which search wrote it.
pub(crate) trait Stamped: Copy + Default {
    /// The search that wrote this entry; an entry of another search counts as untouched.
    fn stamp(&self) -> u32;
}

impl Stamped for Node {
    #[inline]
    fn stamp(&self) -> u32 {
        self.stamp
    }
}

/// Entries by index, in pages that exist only where the search has been.
///
/// Starting a search costs nothing: pages and entries carry the number of the search that wrote them.
#[derive(Default)]
pub(crate) struct Paged<T> {
    generation: u32,
    /// Per page of the index space: the search that last used it, and which page of `nodes` it had then.
    pages: Vec<(u32, u32)>,
    nodes: Vec<T>,
    pages_used: u32,
    /// The page asked for last, and where it begins: neighbours mostly share it.
    last_page: (u32, usize),
}

/// The nodes of a search over cells.
pub(crate) type Nodes = Paged<Node>;

impl<T: Stamped> Paged<T> {
    /// Forgets everything and makes room for indices below `count`.
    pub(crate) fn begin(&mut self, count: usize) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.pages.fill((0, 0));
            self.nodes.fill(T::default());
            self.generation = 1;
        }
        let pages = count.div_ceil(PAGE_NODES);
        if self.pages.len() < pages {
            self.pages.resize(pages, (0, 0));
        }
        self.pages_used = 0;
        self.last_page = (NO_PAGE, 0);
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<(u32, u32)>() + self.nodes.capacity() * size_of::<T>()
    }

    /// The number of this search.
    #[inline]
    pub(crate) const fn generation(&self) -> u32 {
        self.generation
    }

    /// Where the node with this index is kept. The place stays valid until the next [`begin`](Self::begin).
    #[inline]
    pub(crate) fn place(&mut self, index: u32) -> usize {
        let page = index >> PAGE_SHIFT;
        if page != self.last_page.0 {
            self.last_page = (page, self.find_page(page));
        }
        self.last_page.1 | (index as usize & (PAGE_NODES - 1))
    }

    /// Where the nodes of a page begin; a page not used before gets the next free place.
    fn find_page(&mut self, page: u32) -> usize {
        let page = &mut self.pages[page as usize];
        if page.0 != self.generation {
            *page = (self.generation, self.pages_used);
            self.pages_used += 1;
            let needed = self.pages_used as usize * PAGE_NODES;
            if self.nodes.len() < needed {
                self.nodes.resize(needed, T::default());
            }
        }
        page.1 as usize * PAGE_NODES
    }

    /// The node at a place, if this search has touched it.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        let node = &self.nodes[place];
        (node.stamp() == self.generation).then_some(node)
    }

    /// The node with this index, if this search has touched it. Makes no place for it.
    pub(crate) fn find(&self, index: u32) -> Option<&T> {
        let (generation, page) = *self.pages.get((index >> PAGE_SHIFT) as usize)?;
        let place = (page as usize * PAGE_NODES) | (index as usize & (PAGE_NODES - 1));
        if generation == self.generation { self.get(place) } else { None }
    }
}

/// The entry at a place, whoever wrote it.
impl<T> core::ops::Index<usize> for Paged<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: usize) -> &T {
        &self.nodes[place]
    }
}

impl<T> core::ops::IndexMut<usize> for Paged<T> {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.nodes[place]
    }
}

impl Nodes {
    /// Writes the node at a place, open.
    #[inline]
    pub(crate) fn open(&mut self, place: usize, g: Cost, from: u8) {
        self.nodes[place] = Node { g, stamp: self.generation, from, closed: false };
    }

    /// Offers the node with this index a way of cost `g`. It takes it if it is new, or open and reached dearer.
    #[inline]
    pub(crate) fn offer(&mut self, index: u32, g: Cost, from: u8) -> Offer {
        let place = self.place(index);
        let node = &mut self.nodes[place];
        let is_new = node.stamp != self.generation;
        if !is_new && (node.closed || node.g <= g) {
            return Offer::Refused;
        }
        *node = Node { g, stamp: self.generation, from, closed: false };
        if is_new { Offer::Opened } else { Offer::Reparented }
    }

    /// The cost of the node with this index, if it is closed.
    #[inline]
    pub(crate) fn closed_cost(&mut self, index: u32) -> Option<Cost> {
        let place = self.place(index);
        self.get(place).filter(|node| node.closed).map(|node| node.g)
    }

    /// Closes the node at a place and returns it, or `None` if it is closed already.
    #[inline]
    pub(crate) fn close(&mut self, place: usize) -> Option<Node> {
        let node = &mut self.nodes[place];
        if node.closed {
            return None;
        }
        node.closed = true;
        Some(*node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_search_sees_nothing_of_the_last_one() {
        let mut nodes = Nodes::default();
        for round in 0..3 {
            nodes.begin(100_000);
            let place = nodes.place(70_000);
            assert!(nodes.get(place).is_none(), "round {round}");
            nodes.open(place, 5, ROOT);
            assert_eq!(nodes.get(place).map(|node| node.g), Some(5));
            assert!(nodes.close(place).is_some());
            assert!(nodes.close(place).is_none());
        }
        assert_eq!(nodes.nodes.len(), PAGE_NODES, "memory follows the cells touched");
    }

    #[test]
    fn the_counter_of_searches_may_run_over() {
        let mut nodes = Nodes { generation: u32::MAX - 1, ..Nodes::default() };
        nodes.begin(10);
        let place = nodes.place(3);
        nodes.open(place, 1, 0);
        nodes.begin(10);
        let place = nodes.place(3);
        assert!(nodes.get(place).is_none());
    }
}
