//! A search that does not stop at the first cell it was after: it spreads from some cells until its owner has seen enough.
//!
//! Every node that is closed has its least cost, so owners may ask for any of them while the flood stands, and let it go
//! on when they need more.

use crate::cell::Cell;
use crate::cost::Cost;
use crate::search::astar::Space;
use crate::search::open::Open;
use crate::search::scratch::{Nodes, Offer, ROOT};

/// The tables of a flood.
pub(crate) struct Flood<'a, S> {
    pub(crate) space: S,
    pub(crate) nodes: &'a mut Nodes,
    pub(crate) open: &'a mut Open,
}

/// A node that was closed, and what it costs to get from there to where the flood began, or back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Closed {
    pub(crate) node: u32,
    pub(crate) cell: Cell,
    pub(crate) cost: Cost,
}

impl<S: Space> Flood<'_, S> {
    /// Forgets everything, and opens the roots.
    pub(crate) fn begin(&mut self, roots: &[u32]) {
        self.nodes.begin(self.space.node_count());
        self.open.begin(false);
        for root in roots {
            let place = self.nodes.place(*root);
            self.nodes.open(place, 0, ROOT);
            self.open.push(0, *root);
        }
    }

    /// Closes the next node, or returns `None` if there is none. `left` estimates what is left from a cell to those the
    /// owner is after; it must not drop by more than a step costs, and must be the same over the whole flood.
    #[inline]
    pub(crate) fn close_next(&mut self, left: impl Fn(Cell) -> Cost) -> Option<Closed> {
        loop {
            let node = self.open.pop()?;
            let place = self.nodes.place(node);
            // An entry whose node is closed was overtaken by a cheaper one.
            let Some(known) = self.nodes.close(place) else { continue };
            let cell = self.space.cell_of(node);
            self.space.for_each_move(node, cell, known.from, |step| {
                let cost = known.g + step.cost;
                if self.nodes.offer(step.node, cost, step.from) != Offer::Refused {
                    self.open.push(cost + left(step.cell), step.node);
                }
            });
            return Some(Closed { node, cell, cost: known.g });
        }
    }
}

/// Appends the cells from `node` to where the flood began, both included, to `cells`.
pub(crate) fn trace<S: Space>(space: &S, nodes: &Nodes, mut node: u32, cells: &mut Vec<Cell>) {
    loop {
        cells.push(space.cell_of(node));
        match nodes.find(node) {
            Some(known) if known.from != ROOT => node = space.parent(node, known.from),
            _ => break,
        }
    }
}
