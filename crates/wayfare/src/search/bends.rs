//! The fewest bends within a cost limit: a search over (cell, heading) sorted by bends first, cost second.
//!
//! A node may be worth visiting twice: with few bends at a high cost, and with more bends at a lower one, since
//! the cost left decides where the path can still go. So visits are *labels*, each with its own parent. Labels
//! leave the open list with ever more bends; one that reaches a node no cheaper than an earlier one did is
//! beaten in both respects and dropped. (Martins' label setting, 1984, for two criteria.)

use core::cmp::Reverse;

use crate::cell::Cell;
use crate::cost::Cost;
use crate::ground::Ground;
use crate::record::{Recorder, Visit};
use crate::search::astar::{Headings, Limits, Move, Outcome, Space, heading_of};
use crate::search::estimate::Estimate;
use crate::search::scratch::{ROOT, Scratch};

/// One way to reach a node.
#[derive(Clone, Copy)]
pub(crate) struct Label {
    node: u32,
    parent: u32,
    bends: u32,
    cost: Cost,
}

const NO_PARENT: u32 = u32::MAX;

/// A running search for the fewest bends. Its labels and open list are in the [`Scratch`] it is run with.
pub(crate) struct Bends {
    estimate: Estimate,
    goal: u32,
    limit: Cost,
}

impl Bends {
    /// Opens the start. Paths that cost more than `limit` are not looked at.
    pub(crate) fn new(
        ground: &Ground,
        start: u32,
        goal: u32,
        limit: Cost,
        estimate: Estimate,
        scratch: &mut Scratch,
    ) -> Self {
        let space = space(ground);
        scratch.nodes.begin(space.node_count());
        scratch.open_labels.clear();
        scratch.labels.clear();
        let search = Self { estimate, goal, limit };
        for root in space.roots(start) {
            search.push(
                scratch,
                Label { node: root, parent: NO_PARENT, bends: 0, cost: 0 },
                ground.map.cell_at(start),
            );
        }
        search
    }

    pub(crate) fn run<R: Recorder + ?Sized>(
        &mut self,
        ground: &Ground,
        limits: Limits,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Outcome {
        let space = space(ground);
        loop {
            if let Some(outcome) = limits.stop(scratch.effort.closed) {
                return outcome;
            }
            let Some(Reverse(entry)) = scratch.open_labels.pop() else {
                return Outcome::Exhausted;
            };
            let id = label_of(entry);
            let label = scratch.labels[id as usize];
            let place = scratch.nodes.place(label.node);
            // Whoever was here before had no more bends; only a lower cost makes this visit worth while.
            if scratch.nodes.get(place).is_some_and(|known| known.g <= label.cost) {
                continue;
            }
            scratch.nodes.open(place, label.cost, heading_of(label.node));
            scratch.effort.closed += 1;
            let cell = space.cell_of(label.node);
            if recorder.watching() {
                recorder.closed(self.visit(&space, label, cell, scratch));
            }
            if space.index_of(label.node) == self.goal {
                return Outcome::Reached(id);
            }
            space.for_each_move(label.node, cell, ROOT, |step| {
                self.open(&space, id, label, &step, scratch, recorder);
            });
        }
    }

    fn open<R: Recorder + ?Sized>(
        &self,
        space: &Headings<'_>,
        parent: u32,
        from: Label,
        step: &Move,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) {
        let bends = from.bends + u32::from(heading_of(step.node) != heading_of(from.node));
        let cost = from.cost + step.cost;
        let place = scratch.nodes.place(step.node);
        let beaten = scratch.nodes.get(place).is_some_and(|known| known.g <= cost);
        if beaten || cost + self.estimate.h(step.cell) > self.limit {
            return;
        }
        let label = Label { node: step.node, parent, bends, cost };
        self.push(scratch, label, step.cell);
        scratch.effort.opened += 1;
        if recorder.watching() {
            recorder.opened(self.visit(space, label, step.cell, scratch));
        }
    }

    /// Bends, then F, then age in one number; the newest label has the highest number, so it is counted down.
    fn push(&self, scratch: &mut Scratch, label: Label, cell: Cell) {
        // Four thousand million labels would be 96 GiB; the search has long been given up by then.
        let Ok(id) = u32::try_from(scratch.labels.len()) else {
            return;
        };
        scratch.labels.push(label);
        let f = label.cost + self.estimate.h(cell);
        let entry = u128::from(label.bends) << 96 | u128::from(f) << 32 | u128::from(u32::MAX - id);
        scratch.open_labels.push(Reverse(entry));
    }

    fn visit(&self, space: &Headings<'_>, label: Label, cell: Cell, scratch: &Scratch) -> Visit {
        let parent = scratch.labels.get(label.parent as usize).map(|parent| space.cell_of(parent.node));
        let h = self.estimate.h(cell);
        Visit { cell, parent, f: label.cost + h, g: label.cost, h }
    }

    /// Fills `cells` with the path that ends with this label and returns its cost.
    pub(crate) fn trace_back(ground: &Ground, id: u32, scratch: &Scratch, cells: &mut Vec<Cell>) -> Cost {
        let space = space(ground);
        cells.clear();
        let mut next = scratch.labels.get(id as usize);
        let cost = next.map_or(0, |label| label.cost);
        while let Some(label) = next {
            cells.push(space.cell_of(label.node));
            next = scratch.labels.get(label.parent as usize);
        }
        cells.reverse();
        cost
    }
}

/// Bends are counted, not priced.
fn space(ground: &Ground) -> Headings<'_> {
    Headings { ground, turn_cost: 0 }
}

#[expect(clippy::cast_possible_truncation, reason = "the label is in the low 32 bits")]
const fn label_of(entry: u128) -> u32 {
    u32::MAX - entry as u32
}
