//! Where a search is to end: at one cell, or at whichever of several goals is cheapest to reach.
//!
//! Comes in: the goals as they were asked for. Goes out: those worth a search, and boxes around them. A search reads
//! the boxes for what is left to the nearest goal: each goal has its own as long as they are few, and shares one with
//! its neighbours if they are many. A box is no farther away than any goal in it, so such an estimate never says too
//! much; nor does it drop by more than a step costs, for it is the least of several that do not.

use crate::cell::{Area, Cell};
use crate::cost::Cost;
use crate::ground::Ground;
use crate::island::Island;
use crate::route::QueryError;
use crate::search::estimate::Estimate;
use crate::snapshot::Snapshot;

/// More boxes make a better estimate that takes longer.
///
/// PERF: on a map of 16 × 16 rooms one box takes 4.0 × as long for 8 goals all over the map, 3.3 × for 200 in six
/// places, and 0.7 × for 1000 all over the map; 16 boxes take 1.1 ×, 1.7 × and 2.1 × as long.
const MAX_BOXES: usize = 8;

/// The goals of one search, kept in the [`Scratch`](crate::Scratch).
#[derive(Default)]
pub(crate) struct Goals {
    /// Where they are stored on the map, in that order, each once.
    indices: Vec<u32>,
    cells: Vec<Cell>,
    /// Around all of them; at most [`MAX_BOXES`].
    boxes: Vec<Area>,
}

impl Goals {
    /// Keeps of the goals `asked` for those that can be reached from one of these islands, which are sorted, or if none can,
    /// those on the map. Says whether they can be reached.
    pub(crate) fn collect(
        &mut self,
        snapshot: &Snapshot,
        from: &[Island],
        asked: &[Cell],
    ) -> Result<bool, QueryError> {
        let first = asked.first().ok_or(QueryError::NoGoal)?;
        let map = &snapshot.ground.map;
        self.indices.clear();
        self.indices.extend(asked.iter().filter_map(|goal| map.index(*goal)));
        if self.indices.is_empty() {
            return Err(QueryError::GoalOutside(*first));
        }
        let reachable = |index: &u32| {
            snapshot.islands.at(*index).is_some_and(|island| from.binary_search(&island).is_ok())
        };
        let any_reachable = self.indices.iter().any(reachable);
        if any_reachable {
            self.indices.retain(reachable);
        }
        // Sorted, so that neither the answer nor what it takes depends on the order they were asked for in.
        self.indices.sort_unstable();
        self.indices.dedup();
        self.cells.clear();
        self.cells.extend(self.indices.iter().map(|index| map.cell_at(*index)));
        self.enclose();
        Ok(any_reachable)
    }

    /// Forgets them all.
    pub(crate) fn clear(&mut self) {
        self.indices.clear();
        self.cells.clear();
        self.boxes.clear();
    }

    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether the cell stored at `index` is one of them.
    #[inline]
    pub(crate) fn contains(&self, index: u32) -> bool {
        self.indices.binary_search(&index).is_ok()
    }

    /// The square of the straight distance from `cell` to the nearest goal, if that is at most `limit`.
    pub(crate) fn distance_squared_within(&self, ground: &Ground, cell: Cell, limit: u64) -> Option<u64> {
        // Most cells are farther from every box than the limit, and need no look at the goals.
        let may_be_near = |around: &Area| ground.distance_squared(cell, around.nearest(cell)) <= limit;
        if !self.boxes.iter().any(may_be_near) {
            return None;
        }
        let least = self.cells.iter().map(|goal| ground.distance_squared(cell, *goal)).min();
        least.filter(|least| *least <= limit)
    }

    fn enclose(&mut self) {
        self.boxes.clear();
        for goal in &self.cells {
            if self.boxes.iter().any(|around| around.contains(*goal)) {
                continue;
            }
            self.boxes.push(Area::from(*goal));
            if self.boxes.len() > MAX_BOXES {
                join_closest(&mut self.boxes);
            }
        }
    }
}

/// Replaces the two boxes that make the smallest one together; of several such pairs the first.
fn join_closest(boxes: &mut Vec<Area>) {
    let size = |area: Area| area.min().x.abs_diff(area.max().x) + area.min().y.abs_diff(area.max().y);
    let pairs = (1..boxes.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    if let Some((first, second)) = pairs.min_by_key(|(i, j)| size(boxes[*i].joined(boxes[*j]))) {
        boxes[first] = boxes[first].joined(boxes[second]);
        boxes.swap_remove(second);
    }
}

/// Where one search is to end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    One(OneCell),
    /// Any of the [`Goals`].
    AnyGoal,
}

impl Target {
    /// The estimated cost from `cell` to the target.
    pub(crate) fn h(self, estimate: &Estimate, goals: &Goals, cell: Cell) -> Cost {
        match self {
            Self::One(target) => target.h(estimate, goals, cell),
            Self::AnyGoal => AnyGoal.h(estimate, goals, cell),
        }
    }
}

/// What the inner loop of a search asks of its target. Each target has a loop of its own, so that a search for one
/// cell does not pay for those that have many.
pub(crate) trait Aim: Copy {
    /// The estimated cost from `cell` to the target.
    fn h(self, estimate: &Estimate, goals: &Goals, cell: Cell) -> Cost;

    /// Whether the search may end at the cell stored at `index`.
    fn is_at(self, goals: &Goals, index: u32) -> bool;
}

/// One cell, be it a goal or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneCell {
    pub(crate) cell: Cell,
    /// Where it is stored, or [`NOWHERE`] to close all that can be.
    pub(crate) index: u32,
}

/// No cell is stored there.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl Aim for OneCell {
    #[inline]
    fn h(self, estimate: &Estimate, _: &Goals, cell: Cell) -> Cost {
        estimate.h(cell.gap(self.cell))
    }

    #[inline]
    fn is_at(self, _: &Goals, index: u32) -> bool {
        index == self.index
    }
}

/// See [`Target::AnyGoal`].
#[derive(Clone, Copy)]
pub(crate) struct AnyGoal;

impl Aim for AnyGoal {
    #[inline]
    fn h(self, estimate: &Estimate, goals: &Goals, cell: Cell) -> Cost {
        let left = goals.boxes.iter().map(|around| estimate.h(cell.gap(around.nearest(cell))));
        left.min().unwrap_or(0)
    }

    #[inline]
    fn is_at(self, goals: &Goals, index: u32) -> bool {
        goals.contains(index)
    }
}
