//! The first gear: A* over the turns of the ground instead of its cells, on even ground. Right the moment after an edit.
//!
//! Nodes are cells where a jump landed. Jump point search is Harabor and Grastien's (2011), scanning blocks of bits
//! (2014); the order in which jumps go, diagonally and then straight, makes every node one of few.

pub(crate) mod scan;
pub(crate) mod bare;
pub(crate) mod surveyed;

use std::sync::Arc;

use crate::bits::{At, Bits};
use crate::cell::Cell;
use crate::cost::Cost;
use crate::ground::Ground;
use crate::onward::ANYHOW;
use crate::query::RouteShape;
use crate::rules::Directions;
use crate::search::astar::{Limits, Outcome};
use crate::search::goals::Goals;
use crate::search::scratch::{Offer, Paged, Scratch, Stamped};
use crate::survey::deadend::Marks;
use scan::{Landing, Scan};

/// Which jumps there are, and how the cells where they land are numbered.
pub(crate) trait Ways {
    /// All nodes have lower numbers.
    fn node_count(&self, bits: &Bits) -> usize;

    fn node(&self, at: At) -> u32;

    fn at(&self, node: u32) -> At;

    /// Finds out what is known about the way to the goal. Called when a search turns out to be a long one, and again if it is
    /// longer still; from then on less is [worth](Self::is_worth) a look, and more is [known](Self::at_least) to be far.
    /// Returns whether it is.
    fn aim(&mut self, length: Length, scan: &Scan<'_>, start: At, marks: &mut Marks) -> bool {
        let _ = (length, scan, start, marks);
        false
    }

    /// Whether a node may be on a cheapest way, for all that is known.
    #[inline]
    fn is_worth(&self, node: u32, marks: &Marks) -> bool {
        let _ = (node, marks);
        true
    }

    /// The least it costs from a node to the goal, for all that is known besides the straight distance.
    #[inline]
    fn at_least(&self, scan: &Scan<'_>, node: u32) -> Cost {
        let _ = (scan, node);
        0
    }

    /// Calls `visit` with every jump worth taking, and the node it leads to.
    fn for_each_jump(&self, scan: &Scan<'_>, from: Origin, visit: impl FnMut(u32, Landing));
}

/// A search that has closed so many nodes is a long one.
///
/// PERF: 8 takes 2 % fewer instructions than 16 over the maps of the suite `grid`, 7 % on the smallest; 4 and 32 take more.
const LONG: u64 = 8;

/// One that has closed so many is a very long one: what pays then costs too much before.
///
/// PERF: a search that looks for dead ends, too, as soon as it is a long one takes 14 % more time as a geometric mean over the
/// maps of the suite `grid` (5.7 instead of 5.0 µs), and twice as much on `mazes/maze512-32-0`; one that never does, 1.35 × as much
/// on `mazes/maze512-1-0`.
const VERY_LONG: u64 = 128;

/// How long a search has become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    Long,
    VeryLong,
}

/// Where jumps begin.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) node: u32,
    pub(crate) at: At,
    /// The direction it was entered in, or [`ANYHOW`].
    pub(crate) entered: u8,
}

/// A running search. Its nodes and open list are in the [`Scratch`] it is run with.
pub(crate) struct JumpSearch<W> {
    ways: W,
    bits: Arc<Bits>,
    costs: [Cost; 3],
    start: At,
    goal: At,
    goal_node: u32,
    reached: bool,
    /// The closed node closest to the goal: the distance squared, row and column.
    nearest: Option<(u64, i32, i32)>,
}

impl<W: Ways> JumpSearch<W> {
    /// Opens the start.
    pub(crate) fn new(
        ways: W,
        bits: &Arc<Bits>,
        costs: [u32; 3],
        start: Cell,
        goal: Cell,
        scratch: &mut Scratch,
    ) -> Self {
        let (start, goal) = (At::new(start), At::new(goal));
        let (node, goal_node) = (ways.node(start), ways.node(goal));
        let costs = costs.map(Cost::from);
        scratch.jumps.begin(ways.node_count(bits));
        scratch.open.begin(false);
        scratch.jumps.offer(node, 0, node, ANYHOW);
        scratch.open.push(least_cost(bits, costs, start, goal), node);
        scratch.effort.opened += 1;
        Self { ways, bits: Arc::clone(bits), costs, start, goal, goal_node, reached: false, nearest: None }
    }

    pub(crate) fn run(&mut self, ground: &Ground, limits: Limits, scratch: &mut Scratch) -> Outcome {
        loop {
            if self.reached {
                return Outcome::Reached(self.goal_node);
            }
            if let Some(outcome) = limits.stop(scratch.effort.closed) {
                return outcome;
            }
            let Some(node) = scratch.open.pop() else {
                return Outcome::Exhausted;
            };
            // An entry whose node is closed was overtaken by a cheaper one.
            let Some((g, entered)) = scratch.jumps.close(node) else {
                continue;
            };
            scratch.effort.closed += 1;
            let at = self.ways.at(node);
            if limits.budget != u64::MAX {
                self.note_nearest(ground, at.cell(), &scratch.goals);
            }
            if node == self.goal_node {
                self.reached = true;
                continue;
            }
            match scratch.effort.closed {
                LONG => self.aim(Length::Long, scratch),
                VERY_LONG => self.aim(Length::VeryLong, scratch),
                _ => {}
            }
            let Self { ways, bits, costs, goal, goal_node, .. } = self;
            let scan = Scan { goal: *goal, ..Scan::of_all(bits, *costs) };
            let Scratch { jumps, open, effort, marks, .. } = scratch;
            ways.for_each_jump(&scan, Origin { node, at, entered }, |next, landing| {
                let g = g + landing.cost;
                match jumps.offer(next, g, node, landing.entered as u8) {
                    // It is not looked at again.
                    Offer::Opened if next != *goal_node && !ways.is_worth(next, marks) => {
                        jumps.close(next);
                        return;
                    }
                    Offer::Opened => effort.opened += 1,
                    Offer::Reparented => effort.reparented += 1,
                    Offer::Refused => return,
                }
                let left = least_cost(bits, *costs, landing.at, *goal).max(ways.at_least(&scan, next));
                open.push(g + left, next);
            });
        }
    }

    /// The search is a long one: it is worth finding out where it need not go. What was closed stays so; what is open is
    /// looked at again.
    fn aim(&mut self, length: Length, scratch: &mut Scratch) {
        let Self { ways, bits, costs, goal, goal_node, .. } = self;
        let Scratch { jumps, open, marks, .. } = scratch;
        let scan = Scan { goal: *goal, ..Scan::of_all(bits, *costs) };
        if ways.aim(length, &scan, self.start, marks) {
            open.renew(|node| {
                let at = ways.at(node);
                let is_worth = node == *goal_node || ways.is_worth(node, marks);
                let known = jumps.find(node).filter(|jump| is_worth && jump.is_open())?;
                Some(known.g + least_cost(bits, *costs, at, *goal).max(ways.at_least(&scan, node)))
            });
        }
    }

    fn note_nearest(&mut self, ground: &Ground, cell: Cell, goals: &Goals) {
        let least = self.nearest.map_or(u64::MAX, |(least, ..)| least);
        let Some(distance) = goals.distance_squared_within(ground, cell, least) else { return };
        let key = (distance, cell.y, cell.x);
        if self.nearest.is_none_or(|least| key < least) {
            self.nearest = Some(key);
        }
    }

    /// The closed node nearest to the goal; known only if the search has a budget.
    pub(crate) fn nearest(&self) -> Option<u32> {
        self.nearest.map(|(_, y, x)| self.ways.node(At::new(Cell::new(x, y))))
    }

    /// Fills `cells` with the path from the start to `node` and returns its cost: all its cells, or its corners and perhaps
    /// more if no more than these are asked for.
    pub(crate) fn trace_back(
        &self,
        mut node: u32,
        shape: RouteShape,
        scratch: &Scratch,
        cells: &mut Vec<Cell>,
    ) -> Cost {
        cells.clear();
        let mut to = self.cell_of(node);
        cells.push(to);
        let cost = scratch.jumps.find(node).map_or(0, |jump| jump.g);
        while let Some(jump) = scratch.jumps.find(node).filter(|jump| jump.parent() != node) {
            node = jump.parent();
            let from = self.cell_of(node);
            step_back(self.bits.rules.directions, to, from, shape, cells);
            to = from;
        }
        cells.reverse();
        cost
    }

    pub(crate) fn cell_of(&self, node: u32) -> Cell {
        self.ways.at(node).cell()
    }
}

/// What a jump between two cells costs, if nothing is in the way; nothing is cheaper.
#[inline]
pub(crate) fn least_cost(bits: &Bits, costs: [Cost; 3], from: At, to: At) -> Cost {
    let (dx, dy) = (Cost::from(from.x.abs_diff(to.x)), Cost::from(from.y.abs_diff(to.y)));
    let both = if bits.rules.directions == Directions::Eight { dx.min(dy) } else { 0 };
    both * costs[2] + (dx - both) * costs[0] + (dy - both) * costs[1]
}

/// Appends the cells of a jump from its end `to` back to where it began, without the end.
pub(crate) fn step_back(
    directions: Directions,
    to: Cell,
    from: Cell,
    shape: RouteShape,
    cells: &mut Vec<Cell>,
) {
    let turn = turn_between(directions, from, to);
    for (near, far) in [(to, turn), (turn, from)] {
        if near == far {
            continue;
        }
        if shape == RouteShape::Corners {
            cells.push(far);
            continue;
        }
        let (dx, dy) = ((far.x - near.x).signum(), (far.y - near.y).signum());
        let (nx, ny) = near.gap(far);
        let mut cell = near;
        cells.extend((0..nx.max(ny)).map(|_| {
            cell = cell + (dx, dy);
            cell
        }));
    }
}

/// Where a jump turns from its first direction into its second.
fn turn_between(directions: Directions, from: Cell, to: Cell) -> Cell {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    match directions {
        Directions::Four => Cell::new(from.x, to.y),
        Directions::Eight => {
            let both = dx.abs().min(dy.abs());
            Cell::new(from.x + both * dx.signum(), from.y + both * dy.signum())
        }
    }
}

/// What a search knows about one landing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Jump {
    pub(crate) g: Cost,
    stamp: u32,
    /// The parent, how the node was entered, and whether it is closed.
    link: u32,
}

/// Nodes have 28 bits; these are the others.
const CLOSED: u32 = 1 << 28;
const NODE: u32 = CLOSED - 1;
const ENTERED: u32 = 29;

impl Jump {
    /// The start is its own parent.
    pub(crate) const fn parent(self) -> u32 {
        self.link & NODE
    }

    const fn is_open(self) -> bool {
        self.link & CLOSED == 0
    }
}

impl Stamped for Jump {
    fn stamp(&self) -> u32 {
        self.stamp
    }
}

impl Paged<Jump> {
    /// Offers a node a way of cost `g`. It takes it if it is new, or open and reached dearer.
    #[inline]
    fn offer(&mut self, node: u32, g: Cost, parent: u32, entered: u8) -> Offer {
        let place = self.place(node);
        let stamp = self.generation();
        let jump = &mut self[place];
        let is_new = jump.stamp != stamp;
        if !is_new && (jump.link & CLOSED != 0 || jump.g <= g) {
            return Offer::Refused;
        }
        // The start is known by being its own parent, so the eighth way to enter needs no bit.
        *jump = Jump { g, stamp, link: parent | u32::from(entered & 7) << ENTERED };
        if is_new { Offer::Opened } else { Offer::Reparented }
    }

    /// Closes a node, and returns its cost and how it was entered; `None` if it is closed already.
    #[inline]
    fn close(&mut self, node: u32) -> Option<(Cost, u8)> {
        let place = self.place(node);
        let jump = &mut self[place];
        if jump.link & CLOSED != 0 {
            return None;
        }
        jump.link |= CLOSED;
        let is_start = jump.parent() == node;
        let entered = if is_start { ANYHOW } else { jump.link.to_be_bytes()[0] >> 5 };
        Some((jump.g, entered))
    }
}
