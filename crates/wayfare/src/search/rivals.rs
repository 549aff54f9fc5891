//! The nearest of a few goals over even ground: which one to search for next, and whether that is still worth it.
//!
//! Comes in: the goals that can be reached, and what has been found so far. Goes out: one goal after the other, the closest in a
//! straight line first, as long as a way there may be cheaper than the cheapest that is known.

use core::cmp::Reverse;

use crate::cell::Cell;
use crate::cost::Cost;
use crate::route::{Answer, Route};
use crate::search::estimate::Estimate;
use crate::search::scratch::Scratch;
use crate::snapshot::Snapshot;

/// More goals than these go into one search from cell to cell at once: to sort them takes a part of that.
pub(crate) const FEW: usize = 256;

/// One search from cell to cell is expected to take no longer than a jump takes for every so many open cells.
///
/// PERF: on eight maps of the suite `grid` a search to the nearest of 2 to 64 goals all over the map takes 2 to 200 × less than one
/// from cell to cell. To 8 to 128 goals close together it takes up to 38 × less and 1.15 × as much at most, on random maps
/// 1.5 ×; without this up to 36 × as much there.
const CELLS_PER_JUMP: u64 = 12;

/// So many nodes of a search are closed between looks at whether it may still lead to the cheapest goal.
const LOOK: u64 = 16;

/// The cheapest way so far. The goals that are left are in the [`Scratch`].
#[derive(Default)]
pub(crate) struct Rivals {
    best: Option<Route>,
    /// So many were searched for.
    searches: u64,
    /// When so many nodes are closed in all, it is time for a look.
    pub(crate) look_at: u64,
}

impl Rivals {
    /// All goals are to be searched for.
    pub(crate) fn new(snapshot: &Snapshot, start: Cell, scratch: &mut Scratch) -> Self {
        let Scratch { goals, rivals, .. } = scratch;
        let least = |goal: &Cell| Estimate::lower_bound(&snapshot.ground, start, *goal);
        rivals.clear();
        rivals.extend((0..).zip(goals.cells()).map(|(number, goal)| (least(goal), number)));
        // The next one is the last; of equals that is the first on the map.
        rivals.sort_unstable_by_key(|rival| Reverse(*rival));
        Self::default()
    }

    /// Whether one search for all is expected to take less than those that are left, going by those so far.
    pub(crate) fn are_many(&self, snapshot: &Snapshot, scratch: &Scratch) -> bool {
        let left =
            scratch.rivals.iter().rev().take_while(|(least, _)| self.may_be_cheaper(*least)).count() as u64;
        let jumps = left * scratch.effort.closed / self.searches.max(1);
        jumps > 0 && jumps * CELLS_PER_JUMP > snapshot.ground.open_cells()
    }

    /// The next goal that a cheaper way may lead to, if there is one.
    pub(crate) fn next(&mut self, scratch: &mut Scratch) -> Option<Cell> {
        let (least, number) = scratch.rivals.pop()?;
        self.look_at = scratch.effort.closed + LOOK;
        self.searches += 1;
        // Those that are left are no closer.
        self.may_be_cheaper(least).then(|| scratch.goals.cells()[number as usize])
    }

    /// Whether a search may lead to a cheaper way, now that it has come this far.
    pub(crate) fn go_on(&mut self, scratch: &Scratch) -> bool {
        self.look_at = scratch.effort.closed + LOOK;
        scratch.open.least().is_some_and(|least| self.may_be_cheaper(least))
    }

    fn may_be_cheaper(&self, least: Cost) -> bool {
        self.best.as_ref().is_none_or(|best| least < best.cost)
    }

    /// A way was found. Of equals the first is kept.
    pub(crate) fn add(&mut self, answer: Answer, scratch: &mut Scratch) {
        let Some(route) = answer.into_route() else { return };
        if self.may_be_cheaper(route.cost) {
            if let Some(dearer) = self.best.replace(route) {
                scratch.recycle(dearer);
            }
        } else {
            scratch.recycle(route);
        }
    }

    /// The cheapest way of all.
    pub(crate) fn finish(self) -> Option<Route> {
        self.best
    }
}
