//! A*: open list, closed list, parents, F = G + H, over any [`Space`] whose nodes are numbers.
//!
//! The algorithm is Hart, Nilsson and Raphael's (1968) as Patrick Lester's "A* Pathfinding for Beginners" teaches
//! it. The open list is a heap; an entry that was overtaken by a cheaper one stays in it and is skipped
//! when it surfaces. Ties in F go to the newest entry, which makes the search run ahead instead of spreading.

use crate::cell::{Cell, Direction};
use crate::cost::Cost;
use crate::ground::Ground;
use crate::onward::ANYHOW;
use crate::query::StopWhen;
use crate::record::{Recorder, Visit};
use crate::search::estimate::Estimate;
use crate::search::goals::{Aim, AnyGoal, Goals, Target};
use crate::search::scratch::{Node, Offer, ROOT, Scratch};

/// What a search walks over.
pub(crate) trait Space {
    fn ground(&self) -> &Ground;

    /// All nodes have lower numbers.
    fn node_count(&self) -> usize;

    /// Where the cell of a node is stored on the map.
    fn index_of(&self, node: u32) -> u32;

    /// The nodes of a cell where a search may begin.
    fn roots(&self, index: u32) -> impl Iterator<Item = u32>;

    /// Calls `visit` with every step worth taking out of `node`, clockwise from the top left. `cell` is the
    /// node's, and `from` what [`Move::from`] said when it was reached.
    fn for_each_move(&self, node: u32, cell: Cell, from: u8, visit: impl FnMut(Move));

    /// The node that `node` was reached from, by what [`Move::from`] said of it. `node` is no root.
    fn parent(&self, node: u32, from: u8) -> u32;

    fn cell_of(&self, node: u32) -> Cell {
        self.ground().map.cell_at(self.index_of(node))
    }
}

/// A step to another node.
pub(crate) struct Move {
    pub(crate) node: u32,
    pub(crate) cell: Cell,
    pub(crate) cost: Cost,
    pub(crate) from: u8,
}

/// Nodes are cells.
pub(crate) struct Cells<'a>(pub(crate) &'a Ground);

impl Space for Cells<'_> {
    fn ground(&self) -> &Ground {
        self.0
    }

    fn node_count(&self) -> usize {
        self.0.map.chunks().len() * crate::map::CHUNK_CELLS
    }

    #[inline]
    fn index_of(&self, node: u32) -> u32 {
        node
    }

    fn roots(&self, index: u32) -> impl Iterator<Item = u32> {
        core::iter::once(index)
    }

    #[inline]
    fn for_each_move(&self, node: u32, cell: Cell, from: u8, mut visit: impl FnMut(Move)) {
        self.0.for_each_step(node, cell, from, |step| {
            visit(Move {
                node: step.index,
                cell: step.cell,
                cost: step.cost.into(),
                from: step.direction as u8,
            });
        });
    }

    fn parent(&self, node: u32, from: u8) -> u32 {
        step_back(self.0, node, from)
    }
}

/// Nodes are cells with the direction they were entered in, so that a turn can be priced.
pub(crate) struct Headings<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) turn_cost: u32,
}

impl Space for Headings<'_> {
    fn ground(&self) -> &Ground {
        self.ground
    }

    fn node_count(&self) -> usize {
        Cells(self.ground).node_count() * 8
    }

    #[inline]
    fn index_of(&self, node: u32) -> u32 {
        node / 8
    }

    /// A unit may set out in any direction: it counts as facing all of them.
    fn roots(&self, index: u32) -> impl Iterator<Item = u32> {
        (0..8).map(move |heading| index * 8 + heading)
    }

    #[inline]
    fn for_each_move(&self, node: u32, cell: Cell, _: u8, mut visit: impl FnMut(Move)) {
        let heading = heading_of(node);
        // The same place with another heading is another node: no step is in vain.
        self.ground.for_each_step(node / 8, cell, ANYHOW, |step| {
            let turn = if step.direction as u8 == heading { 0 } else { self.turn_cost };
            visit(Move {
                node: step.index * 8 + step.direction as u32,
                cell: step.cell,
                cost: Cost::from(step.cost) + Cost::from(turn),
                from: heading,
            });
        });
    }

    fn parent(&self, node: u32, from: u8) -> u32 {
        step_back(self.ground, node / 8, heading_of(node)) * 8 + u32::from(from)
    }
}

/// Nodes are cells, steps are taken backwards: from a cell to those it can be reached from.
pub(crate) struct Backwards<'a>(pub(crate) &'a Ground);

impl Space for Backwards<'_> {
    fn ground(&self) -> &Ground {
        self.0
    }

    fn node_count(&self) -> usize {
        Cells(self.0).node_count()
    }

    fn index_of(&self, node: u32) -> u32 {
        node
    }

    fn roots(&self, index: u32) -> impl Iterator<Item = u32> {
        core::iter::once(index)
    }

    fn for_each_move(&self, node: u32, cell: Cell, _: u8, mut visit: impl FnMut(Move)) {
        let Some(prices) = self.0.prices(cell) else { return };
        self.0.for_each_step(node, cell, ANYHOW, |step| {
            // Legal both ways, and paid for where it really ends: here.
            let cost = prices[step.direction.axis()].into();
            visit(Move { node: step.index, cell: step.cell, cost, from: step.direction as u8 });
        });
    }

    fn parent(&self, node: u32, from: u8) -> u32 {
        step_back(self.0, node, from)
    }
}

/// Nodes are cells, and all ground counts as ordinary: for how far it is to walk, whatever it costs.
pub(crate) struct Evenly<'a>(pub(crate) &'a Ground);

impl Space for Evenly<'_> {
    fn ground(&self) -> &Ground {
        self.0
    }

    fn node_count(&self) -> usize {
        Cells(self.0).node_count()
    }

    fn index_of(&self, node: u32) -> u32 {
        node
    }

    fn roots(&self, index: u32) -> impl Iterator<Item = u32> {
        core::iter::once(index)
    }

    fn for_each_move(&self, node: u32, cell: Cell, _: u8, mut visit: impl FnMut(Move)) {
        let steps = self.0.view.rules.costs;
        let prices = [steps.x(), steps.y(), steps.diagonal()];
        self.0.for_each_step(node, cell, ANYHOW, |step| {
            let cost = prices[step.direction.axis()].into();
            visit(Move { node: step.index, cell: step.cell, cost, from: step.direction as u8 });
        });
    }

    fn parent(&self, node: u32, from: u8) -> u32 {
        step_back(self.0, node, from)
    }
}

/// The direction a (cell, heading) node was entered in.
#[inline]
pub(crate) const fn heading_of(node: u32) -> u8 {
    node.to_le_bytes()[0] & 7
}

/// Where the step in `direction` that ended at `index` began.
pub(crate) fn step_back(ground: &Ground, index: u32, direction: u8) -> u32 {
    let back = Direction::ALL[usize::from(direction & 7)].opposite();
    ground.map.index_inside(ground.map.cell_at(index).step(back))
}

/// What a search is after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub(crate) target: Target,
    pub(crate) stop: StopWhen,
    /// Nodes with a higher F are not looked at.
    pub(crate) limit: Cost,
}

/// A running search. Its nodes, open list and goals are in the [`Scratch`] it is run with.
pub(crate) struct AStar {
    estimate: Estimate,
    goal: Goal,
    /// The closed node closest to any goal: the distance squared, row and column, and the node.
    nearest: Option<((u64, i32, i32), u32)>,
    /// The goal's node, once the search has stopped there.
    reached: Option<u32>,
}

/// Where a run of a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The slice is used up.
    Running,
    /// At the goal, by this node or label.
    Reached(u32),
    /// Everything within reach is closed.
    Exhausted,
    /// The whole budget is used up.
    OutOfBudget,
}

/// How many nodes a run may close: in this slice, and in the whole search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) slice_end: u64,
    pub(crate) budget: u64,
}

impl Limits {
    /// Whether a search that closed this many nodes must stop.
    #[inline]
    pub(crate) fn stop(self, closed: u64) -> Option<Outcome> {
        if closed >= self.budget {
            Some(Outcome::OutOfBudget)
        } else if closed >= self.slice_end {
            Some(Outcome::Running)
        } else {
            None
        }
    }
}

impl AStar {
    /// Opens the start.
    pub(crate) fn new<S: Space, R: Recorder + ?Sized>(
        space: &S,
        start: u32,
        estimate: Estimate,
        goal: Goal,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Self {
        scratch.nodes.begin(space.node_count());
        scratch.open.begin(estimate.f_may_fall());
        let cell = space.ground().map.cell_at(start);
        let h = goal.target.h(&estimate, &scratch.goals, cell);
        for root in space.roots(start) {
            let place = scratch.nodes.place(root);
            scratch.nodes.open(place, 0, ROOT);
            scratch.open.push(estimate.f(0, h), root);
            scratch.effort.opened += 1;
            recorder.opened(Visit { cell, parent: None, f: estimate.f(0, h), g: 0, h });
        }
        Self { estimate, goal, nearest: None, reached: None }
    }

    pub(crate) fn run<S: Space, R: Recorder + ?Sized>(
        &mut self,
        space: &S,
        limits: Limits,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Outcome {
        match self.goal.target {
            Target::One(target) => self.run_to(target, space, limits, scratch, recorder),
            Target::AnyGoal => self.run_to(AnyGoal, space, limits, scratch, recorder),
        }
    }

    fn run_to<A: Aim, S: Space, R: Recorder + ?Sized>(
        &mut self,
        aim: A,
        space: &S,
        limits: Limits,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Outcome {
        loop {
            if let Some(node) = self.reached {
                return Outcome::Reached(node);
            }
            if let Some(outcome) = limits.stop(scratch.effort.closed) {
                return outcome;
            }
            let Some(node) = scratch.open.pop() else {
                return Outcome::Exhausted;
            };
            let place = scratch.nodes.place(node);
            // An entry whose node is closed was overtaken by a cheaper one.
            let Some(known) = scratch.nodes.close(place) else {
                continue;
            };
            scratch.effort.closed += 1;
            let cell = space.cell_of(node);
            if recorder.watching() {
                recorder.closed(self.visit(space, node, &known, cell, &scratch.goals));
            }
            if limits.budget != u64::MAX {
                self.note_nearest(space, node, cell, &scratch.goals);
            }
            if aim.is_at(&scratch.goals, space.index_of(node)) {
                self.reached = Some(node);
            } else {
                self.expand(aim, space, node, cell, &known, scratch, recorder);
            }
        }
    }

    #[inline]
    fn expand<A: Aim, S: Space, R: Recorder + ?Sized>(
        &mut self,
        aim: A,
        space: &S,
        node: u32,
        cell: Cell,
        known: &Node,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) {
        space.for_each_move(node, cell, known.from, |step| {
            let g = known.g + step.cost;
            if self.goal.limit != Cost::MAX
                && self.estimate.f(g, aim.h(&self.estimate, &scratch.goals, step.cell)) > self.goal.limit
            {
                return;
            }
            let is_new = match scratch.nodes.offer(step.node, g, step.from) {
                Offer::Opened => true,
                Offer::Reparented => false,
                Offer::Refused => return,
            };
            let h = aim.h(&self.estimate, &scratch.goals, step.cell);
            let f = self.estimate.f(g, h);
            let visit = Visit { cell: step.cell, parent: Some(cell), f, g, h };
            if is_new {
                scratch.effort.opened += 1;
                recorder.opened(visit);
            } else {
                scratch.effort.reparented += 1;
                recorder.reparented(visit);
            }
            if is_new || self.estimate.follows_g() {
                scratch.open.push(f, step.node);
            }
            if self.goal.stop == StopWhen::GoalOpened
                && self.reached.is_none()
                && aim.is_at(&scratch.goals, space.index_of(step.node))
            {
                self.reached = Some(step.node);
            }
        });
    }

    fn visit<S: Space>(&self, space: &S, node: u32, known: &Node, cell: Cell, goals: &Goals) -> Visit {
        let h = self.goal.target.h(&self.estimate, goals, cell);
        let parent = (known.from != ROOT).then(|| space.cell_of(space.parent(node, known.from)));
        Visit { cell, parent, f: self.estimate.f(known.g, h), g: known.g, h }
    }

    fn note_nearest<S: Space>(&mut self, space: &S, node: u32, cell: Cell, goals: &Goals) {
        let least = self.nearest.map_or(u64::MAX, |((least, ..), _)| least);
        let Some(distance) = goals.distance_squared_within(space.ground(), cell, least) else { return };
        let key = (distance, cell.y, cell.x);
        if self.nearest.is_none_or(|(least, _)| key < least) {
            self.nearest = Some((key, node));
        }
    }

    /// The closed node nearest to any goal; known only if the search has a budget.
    pub(crate) fn nearest(&self) -> Option<u32> {
        self.nearest.map(|(_, node)| node)
    }
}

/// Fills `cells` with the path from the start to `node` and returns its cost.
pub(crate) fn trace_back<S: Space>(
    space: &S,
    mut node: u32,
    scratch: &mut Scratch,
    cells: &mut Vec<Cell>,
) -> Cost {
    cells.clear();
    let place = scratch.nodes.place(node);
    let cost = scratch.nodes.get(place).map_or(0, |known| known.g);
    loop {
        cells.push(space.cell_of(node));
        let place = scratch.nodes.place(node);
        match scratch.nodes.get(place) {
            Some(known) if known.from != ROOT => node = space.parent(node, known.from),
            _ => break,
        }
    }
    cells.reverse();
    cost
}
