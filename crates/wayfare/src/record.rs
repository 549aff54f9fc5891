//! Watching a search: it tells a [`Recorder`] every cell it opens, re-parents and closes.
//!
//! Overlays, step-by-step visualisers and tests read this. Without a recorder the calls compile to nothing.

use crate::cell::Cell;
use crate::cost::Cost;

/// One event of a search: a cell with its F, G and H at that moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// The cell.
    pub cell: Cell,
    /// The cell it is reached from, or `None` for the start.
    pub parent: Option<Cell>,
    /// What the open list is sorted by: G + weight × H.
    pub f: Cost,
    /// The cost from the start.
    pub g: Cost,
    /// The heuristic's estimate of the cost to the goal, before weighting.
    pub h: Cost,
}

/// Receives the events of a search, in the order in which they happen. Every method does nothing by default.
///
/// A search with a turn cost visits a cell once per heading. One for the fewest bends finds the cheapest path first,
/// then looks back from the goal as far as its limit reaches, then visits a cell as often as another way there may
/// pay.
pub trait Recorder {
    /// Whether events are wanted at all. A search prepares none if not.
    fn watching(&self) -> bool {
        true
    }

    /// A cell was put on the open list for the first time.
    fn opened(&mut self, visit: Visit) {
        let _ = visit;
    }

    /// A cheaper way to a cell on the open list was found; the visit has the new parent and costs. Where ground has several
    /// prices, that may happen to one that was closed, which is opened again.
    fn reparented(&mut self, visit: Visit) {
        let _ = visit;
    }

    /// A cell was taken from the open list and is settled.
    fn closed(&mut self, visit: Visit) {
        let _ = visit;
    }
}

/// Nobody watches.
impl Recorder for () {
    #[inline]
    fn watching(&self) -> bool {
        false
    }
}

/// What a search did, counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effort {
    /// Nodes put on the open list.
    pub opened: u64,
    /// Nodes on the open list that got a better parent.
    pub reparented: u64,
    /// Nodes settled.
    pub closed: u64,
}
