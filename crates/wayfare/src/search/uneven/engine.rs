//! A* in buckets over the cells of uneven ground.
//!
//! It differs from the general [A*](crate::search::astar) in what it need not be able to do, and in the open list:
//! inside a bucket cells leave in any order, so a cell may be closed before the cheapest way to it is known. It is
//! opened again then. The search ends when no cell is left whose F is below the cost of the best way to the goal.
//! Costs are 32 bits wide; a path that needs more is left to the general A*.
//!
//! PERF: half the time per closed cell of the general A* (95 instead of 190 ns), as a mean over the eight maps of the
//! `weighted` benchmark. Buckets a quarter as wide make no clear difference, a sixteenth as wide take 13 to 39 % longer
//! (three maps, with landmarks).

use crate::cell::{Cell, Direction};
use crate::cost::Cost;
use crate::ground::{Ground, OFFSETS};
use crate::landmark::Landmarks;
use crate::map::CHUNK_SIDE;
use crate::record::{Effort, Recorder, Visit};
use crate::search::astar::{Limits, Outcome, step_back};
use crate::search::goals::Goals;
use crate::search::scratch::Scratch;
use crate::search::uneven::buckets::{Buckets, Cut};
use crate::search::uneven::sense::{Beeline, Lead, Led, Mark, Nothing, Sense};
use crate::search::uneven::table::{Node, Table, in_chunk};
use crate::snapshot::Snapshot;

/// No path dearer than this is looked for: with a step (below 2^24) and an estimate (below half of it) on top, sums
/// still fit 32 bits.
const CEILING: u32 = 1 << 31;

/// A running search. Its nodes and its open list are in the [`Scratch`] it is run with.
pub(crate) struct Uneven {
    goal: u32,
    beeline: Beeline,
    /// `None` if no landmarks lead it.
    lead: Option<Lead>,
    /// The cost of the best way to the goal so far.
    best: u32,
    /// Of the cells whose cost is final, the closest to the goal: the distance squared, row and column, and where it
    /// is stored.
    nearest: Option<Near>,
    /// The closest to the goal of those closed so far; the cost of those in the current bucket may still fall.
    candidate: Option<Near>,
    bucket: u32,
}

type Near = ((u64, i32, i32), u32);

impl Uneven {
    /// Opens the start. `None` if prices are too far apart or too high for this search.
    pub(crate) fn new(
        snapshot: &Snapshot,
        (start, goal): (u32, u32),
        is_led: bool,
        scratch: &mut Scratch,
    ) -> Option<Self> {
        let (ground, map) = (&*snapshot.ground, &snapshot.ground.map);
        let least = ground.least();
        let width = u32::try_from(least.x.min(least.y).min(least.diagonal)).ok()?;
        // A step costs no more than the dearest, and no estimate rises by more than one and a half times that.
        let cut = Cut::new(width, 3 * ground.dearest())?;
        let beeline = Beeline::new(ground, map.cell_at(goal), CEILING / 2)?;
        let memory = &mut scratch.uneven;
        memory.table.begin(map);
        let place = memory.table.place(map, start);
        memory.table.open(place, 0, 0);
        let mut h = beeline.h(map.cell_at(start));
        let mut lead = None;
        if let Some(landmarks) = snapshot.landmarks.as_deref().filter(|_| is_led)
            && let Some(found) = Lead::new(landmarks, start, goal, CEILING / 2)
        {
            let mut led = Led::new(ground, landmarks, found, &mut memory.lanes);
            h = h.max(led.begin(ground, memory.table.mark(place)));
            lead = Some(found);
        }
        let goal = memory.table.place(map, goal);
        memory.open.begin(cut, h);
        memory.open.push(h, place);
        scratch.effort.opened += 1;
        let bucket = memory.open.current();
        Some(Self { goal, beeline, lead, best: CEILING, nearest: None, candidate: None, bucket })
    }

    pub(crate) fn run<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        limits: Limits,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Outcome {
        match (self.lead, snapshot.landmarks.as_deref()) {
            (Some(lead), Some(landmarks)) => {
                self.run_led(lead, landmarks, snapshot, limits, scratch, recorder)
            }
            _ => {
                let Scratch { uneven, effort, goals, .. } = scratch;
                let (table, open) = (&mut uneven.table, &mut uneven.open);
                let ground = &snapshot.ground;
                Run { search: self, ground, table, open, effort, goals, recorder, sense: Nothing }.run(limits)
            }
        }
    }

    fn run_led<R: Recorder + ?Sized>(
        &mut self,
        lead: Lead,
        landmarks: &Landmarks,
        snapshot: &Snapshot,
        limits: Limits,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Outcome {
        let Scratch { uneven, effort, goals, .. } = scratch;
        let (table, open) = (&mut uneven.table, &mut uneven.open);
        let sense = Led::new(&snapshot.ground, landmarks, lead, &mut uneven.lanes);
        Run { search: self, ground: &snapshot.ground, table, open, effort, goals, recorder, sense }
            .run(limits)
    }

    /// Of the cells whose cost is final, the closest to the goal; known only if the search has a budget.
    pub(crate) fn nearest(&self) -> Option<u32> {
        self.nearest.map(|(_, index)| index)
    }
}

/// A search with all it reads and writes.
struct Run<'a, S, R: ?Sized> {
    search: &'a mut Uneven,
    ground: &'a Ground,
    table: &'a mut Table,
    open: &'a mut Buckets,
    effort: &'a mut Effort,
    goals: &'a Goals,
    recorder: &'a mut R,
    sense: S,
}

impl<S: Sense, R: Recorder + ?Sized> Run<'_, S, R> {
    fn run(mut self, limits: Limits) -> Outcome {
        loop {
            let best = self.search.best;
            let Some(place) = self.open.peek(best) else {
                return match best {
                    // The islands promise a path, so it must be dearer than that.
                    CEILING => Outcome::Exhausted,
                    _ => Outcome::Reached(self.table.index(self.search.goal)),
                };
            };
            let node = self.table.nodes[place as usize];
            if node.is_closed() {
                self.open.pop();
                continue;
            }
            if let Some(outcome) = limits.stop(self.effort.closed) {
                return outcome;
            }
            self.open.pop();
            self.table.close(place);
            let at = self.table.mark(place);
            let cell = self.table.cell(place);
            if best != CEILING && node.g + self.h(cell, self.sense.known(self.ground, at)) >= best {
                continue;
            }
            self.effort.closed += 1;
            if limits.budget != u64::MAX {
                self.note_nearest(cell);
            }
            if self.recorder.watching() {
                let h = self.h(cell, self.sense.known(self.ground, at));
                self.recorder.closed(visit(cell, first_way(node), node.g, h));
            }
            let (x, y) = in_chunk(place);
            let inner = 1..CHUNK_SIDE - 1;
            if inner.contains(&x) && inner.contains(&y) {
                self.expand_inner(at, cell, node);
            } else {
                self.expand_any(at, cell, node);
            }
        }
    }

    #[inline]
    fn h(&self, cell: Cell, sensed: u32) -> u32 {
        self.search.beeline.h(cell).max(sensed)
    }

    /// Looks around a cell that does not lie at the border of its chunk.
    #[inline]
    fn expand_inner(&mut self, at: Mark, cell: Cell, node: Node) {
        let index = at.index();
        let terrain = self.ground.around_inner(index);
        let own = self.ground.map.terrain_at(index).0;
        let mut worth = self.ground.sift(own, node.ways(), &terrain);
        while worth != 0 {
            let direction = Direction::ALL[worth.trailing_zeros() as usize & 7];
            worth &= worth - 1;
            let place = at.place.wrapping_add_signed(OFFSETS[direction as usize]);
            let to = Mark { place, chunk: at.chunk };
            self.offer(at, to, cell, node.g, direction, terrain[direction as usize]);
        }
    }

    /// As [`expand_inner`](Self::expand_inner), for any cell.
    fn expand_any(&mut self, at: Mark, cell: Cell, node: Node) {
        let terrain = self.ground.around_any(cell);
        let own = self.ground.map.terrain_at(at.index()).0;
        let mut worth = self.ground.sift(own, node.ways(), &terrain);
        while worth != 0 {
            let direction = Direction::ALL[worth.trailing_zeros() as usize & 7];
            worth &= worth - 1;
            let index = self.ground.map.index_inside(cell.step(direction));
            let place = self.table.place(&self.ground.map, index);
            let to = self.table.mark(place);
            self.offer(at, to, cell, node.g, direction, terrain[direction as usize]);
        }
    }

    /// Offers a neighbour the step to it, from a cell that costs `g` to reach. It takes it unless it knows a way as
    /// cheap.
    #[inline(always)]
    fn offer(&mut self, at: Mark, to: Mark, cell: Cell, g: u32, direction: Direction, terrain: u8) {
        let g = g + self.ground.cost_of(direction, terrain);
        let known = self.table.get(to.place);
        let way = 1 << direction as u8;
        if let Some(known) = known
            && known.g <= g
        {
            // Another way that costs the same may lead on where those before need not.
            if known.g == g && known.ways() & way == 0 && known.ways() != 0 {
                self.join(to, cell.step(direction), known, way);
            }
            return;
        }
        let cell = cell.step(direction);
        let is_new = known.is_none();
        let sensed = self.sense.arrive(at, to, terrain, is_new);
        let h = self.h(cell, sensed);
        if g + h >= self.search.best {
            return;
        }
        self.table.open(to.place, g, way);
        if is_new {
            self.effort.opened += 1;
        } else {
            self.effort.reparented += 1;
        }
        if self.recorder.watching() {
            let visit = visit(cell, Some(direction), g, h);
            if is_new { self.recorder.opened(visit) } else { self.recorder.reparented(visit) }
        }
        if to.place == self.search.goal {
            self.search.best = g;
        } else {
            self.open.push(g + h, to.place);
        }
    }

    /// A cell is entered in one more way at the same cost. If it is closed, it is opened again.
    #[cold]
    fn join(&mut self, to: Mark, cell: Cell, known: Node, way: u8) {
        self.table.open(to.place, known.g, known.ways() | way);
        if known.is_closed() {
            let h = self.h(cell, self.sense.known(self.ground, to));
            self.open.push(known.g + h, to.place);
        }
    }

    fn note_nearest(&mut self, cell: Cell) {
        let search = &mut *self.search;
        if search.bucket != self.open.current() {
            search.bucket = self.open.current();
            search.nearest = search.candidate;
        }
        let least = search.candidate.map_or(u64::MAX, |((least, ..), _)| least);
        let Some(distance) = self.goals.distance_squared_within(self.ground, cell, least) else { return };
        let near = ((distance, cell.y, cell.x), self.ground.map.index_inside(cell));
        if search.candidate.is_none_or(|least| near < least) {
            search.candidate = Some(near);
        }
    }
}

/// Of the directions in which a cell was entered, the first; none at the start.
fn first_way(node: Node) -> Option<Direction> {
    Direction::ALL.get(node.ways().trailing_zeros() as usize).copied()
}

fn visit(cell: Cell, entered: Option<Direction>, g: u32, h: u32) -> Visit {
    let parent = entered.map(|direction| cell.step(direction.opposite()));
    Visit { cell, parent, f: (g + h).into(), g: g.into(), h: h.into() }
}

/// Fills `cells` with the path from the start to the cell stored at `index` and returns its cost.
pub(crate) fn trace_back(
    ground: &Ground,
    mut index: u32,
    scratch: &mut Scratch,
    cells: &mut Vec<Cell>,
) -> Cost {
    cells.clear();
    let table = &mut scratch.uneven.table;
    let mut cost = 0;
    loop {
        let cell = ground.map.cell_at(index);
        cells.push(cell);
        let place = table.place(&ground.map, index);
        let Some(direction) = table.get(place).and_then(first_way) else { break };
        cost += ground.prices(cell).map_or(0, |prices| Cost::from(prices[direction.axis()]));
        index = step_back(ground, index, direction as u8);
    }
    cells.reverse();
    cost
}
