//! The fewest bends within a cost limit: a search over (cell, heading) sorted by bends first, cost second.
//!
//! A node may be worth visiting twice: with few bends at a high cost, and with more bends at a lower one, since
//! the cost left decides where the path can still go. So visits are *labels*, each with its own parent. Labels
//! leave the open list with ever more bends; one that reaches a node no cheaper than an earlier one did is
//! beaten in both respects and dropped. So is one from where the goal is too dear to reach: how dear, a search
//! backwards from the goal has found out. (Martins' label setting, 1984, for two criteria.)

use core::cmp::Reverse;

use crate::cell::Cell;
use crate::cost::Cost;
use crate::ground::Ground;
use crate::record::{Recorder, Visit};
use crate::search::astar::{Headings, Limits, Outcome, Space, heading_of};
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

/// More labels cannot be numbered, with room for the eight of one last step; they would take 96 GiB.
const MAX_LABELS: usize = NO_PARENT as usize - 8;

/// A running search for the fewest bends. Its labels and open list are in the [`Scratch`] it is run with, and so is
/// the exact cost to go from every cell that a path within the limit may visit.
pub(crate) struct Bends {
    goal: u32,
    limit: Cost,
}

impl Bends {
    /// Opens the start. Paths that cost more than `limit` are not looked at.
    pub(crate) fn new<R: Recorder + ?Sized>(
        ground: &Ground,
        start: u32,
        goal: u32,
        limit: Cost,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Self {
        let space = space(ground);
        scratch.nodes.begin(space.node_count());
        scratch.open_labels.clear();
        scratch.labels.clear();
        let search = Self { goal, limit };
        for root in space.roots(start) {
            let label = Label { node: root, parent: NO_PARENT, bends: 0, cost: 0 };
            search.push(&space, label, ground.map.cell_at(start), scratch, recorder);
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
            if scratch.labels.len() > MAX_LABELS {
                return Outcome::OutOfBudget;
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
                let h = cost_to_go(&space, label.node, scratch).unwrap_or(0);
                recorder.closed(visit(&space, label, cell, h, scratch));
            }
            if space.index_of(label.node) == self.goal {
                return Outcome::Reached(id);
            }
            space.for_each_move(label.node, cell, ROOT, |step| {
                let turns = heading_of(step.node) != heading_of(label.node);
                let (bends, cost) = (label.bends + u32::from(turns), label.cost + step.cost);
                let next = Label { node: step.node, parent: id, bends, cost };
                self.push(&space, next, step.cell, scratch, recorder);
            });
        }
    }

    /// Puts a label on the open list, unless it is beaten already or leads nowhere within the limit.
    fn push<R: Recorder + ?Sized>(
        &self,
        space: &Headings<'_>,
        label: Label,
        cell: Cell,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) {
        let place = scratch.nodes.place(label.node);
        let beaten = scratch.nodes.get(place).is_some_and(|known| known.g <= label.cost);
        let to_go = cost_to_go(space, label.node, scratch);
        let Some(h) = to_go.filter(|h| !beaten && label.cost + h <= self.limit) else { return };
        // A search with more labels has been given up.
        let Ok(id) = u32::try_from(scratch.labels.len()) else { return };
        scratch.labels.push(label);
        // Bends, then F, then age in one number; the newest label has the highest number, so it is counted down.
        let (bends, f) = (u128::from(label.bends), u128::from(label.cost + h));
        scratch.open_labels.push(Reverse(bends << 96 | f << 32 | u128::from(u32::MAX - id)));
        scratch.effort.opened += 1;
        if recorder.watching() {
            recorder.opened(visit(space, label, cell, h, scratch));
        }
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

/// What is left to the goal, or `None` if that leads beyond the limit.
fn cost_to_go(space: &Headings<'_>, node: u32, scratch: &mut Scratch) -> Option<Cost> {
    scratch.to_go.closed_cost(space.index_of(node))
}

fn visit(space: &Headings<'_>, label: Label, cell: Cell, h: Cost, scratch: &Scratch) -> Visit {
    let parent = scratch.labels.get(label.parent as usize).map(|parent| space.cell_of(parent.node));
    Visit { cell, parent, f: label.cost + h, g: label.cost, h }
}

/// Bends are counted, not priced.
fn space(ground: &Ground) -> Headings<'_> {
    Headings { ground, turn_cost: 0 }
}

#[expect(clippy::cast_possible_truncation, reason = "the label is in the low 32 bits")]
const fn label_of(entry: u128) -> u32 {
    u32::MAX - entry as u32
}
