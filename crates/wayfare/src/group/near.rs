//! What is near a goal: not by the straight line, which may lead through a wall, but on foot.

use crate::cell::Cell;
use crate::cost::Cost;
use crate::ground::Ground;
use crate::search::astar::Evenly;
use crate::search::flood::{Flood, trace};
use crate::search::scratch::Scratch;

/// On foot it may be this many times as far as straight, ...
const DETOUR: Cost = 2;

/// ... and so many cells more.
const CELLS_MORE: Cost = 4;

/// The ground around a goal, as far as it has been looked at. It is kept in a table of the scratch that the searches
/// of a group do not use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    goal: Cell,
    /// Everything that is no farther has been looked at.
    seen: Cost,
    /// More ground than that there is not.
    is_all: bool,
}

impl Near {
    /// `goal` is open. The open list of the scratch is used, too: whatever was in it is gone.
    pub(super) fn new(ground: &Ground, goal: Cell, scratch: &mut Scratch) -> Self {
        flood(ground, scratch).begin(&[ground.map.index_inside(goal)]);
        Self { goal, seen: 0, is_all: false }
    }

    /// Whether a cell is in walking distance.
    pub(super) fn contains(&mut self, ground: &Ground, cell: Cell, scratch: &mut Scratch) -> bool {
        let Some(index) = ground.map.index(cell).filter(|_| ground.is_open(cell)) else { return false };
        let steps = ground.view.rules.costs;
        let straight = ground.distance_squared(self.goal, cell).isqrt();
        let limit = DETOUR * straight + CELLS_MORE * Cost::from(steps.x().max(steps.y()));
        while self.seen < limit && !self.is_all {
            match flood(ground, scratch).close_next(|_| 0) {
                Some(closed) => {
                    self.seen = closed.cost;
                    scratch.effort.closed += 1;
                }
                None => self.is_all = true,
            }
        }
        scratch.to_go.find(index).is_some_and(|node| node.closed && node.g <= limit)
    }

    /// Appends the way from the goal to a cell that is near, without the goal itself, to `cells`.
    pub(super) fn trace(&self, ground: &Ground, cell: Cell, scratch: &Scratch, cells: &mut Vec<Cell>) {
        let Some(index) = ground.map.index(cell) else { return };
        let first = cells.len();
        trace(&Evenly(ground), &scratch.to_go, index, cells);
        if cells.last() == Some(&self.goal) {
            cells.pop();
            cells[first..].reverse();
        } else {
            cells.truncate(first);
        }
    }
}

fn flood<'a>(ground: &'a Ground, scratch: &'a mut Scratch) -> Flood<'a, Evenly<'a>> {
    Flood { space: Evenly(ground), nodes: &mut scratch.to_go, open: &mut scratch.open }
}
