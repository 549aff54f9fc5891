//! A flood over even ground, where a step costs the same everywhere: what it costs from every cell to the nearest root.
//!
//! Comes in: the ground, the cells to spread from, and perhaps an area to spread towards. Goes out: a cost and the ways
//! that lead there, per cell; [`Field`](crate::Field) reads them. Cells wait in buckets by F, a few hundred units wide
//! (Denardo and Fox, 1979). Inside a bucket any order will do, for a cell that is reached again for less is looked at
//! again; so a straight way is followed for a while without waiting in between. Only steps that are
//! [canonical](crate::search::canon) are taken, which on open ground is one into each cell.
//!
//! Costs are 32 bits here, and it spreads no farther than they count. [`Spread::is_cut_short`] says when something lies beyond
//! that, for which its owner has to look in another way. Only winding corridors across a whole map of the largest are so long,
//! or steps that cost a thousand times as much as they do by default.

use crate::cell::{Area, Cell, Direction};
use crate::cost::Cost;
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE, ChunkId};
use crate::onward::ANYHOW;
use crate::search::canon::Canon;
use crate::search::estimate::Estimate;
use crate::snapshot::Snapshot;

/// Tables of a flood, to be used again for the next one.
#[derive(Default)]
pub(crate) struct Spread {
    canon: Option<Canon>,
    /// By chunk: which page it has, or [`NO_PAGE`].
    pages: Vec<u32>,
    /// The chunks that have one, in that order.
    used: Vec<u32>,
    /// By page: the first cell of its chunk.
    corners: Vec<Cell>,
    /// By page: its rows with one cell more all around, the leftmost in the lowest bit.
    rows: Vec<[u128; SIDE + 2]>,
    /// By page and cell: what it costs from there, and in which directions the flood came with that.
    costs: Vec<u32>,
    ways: Vec<u8>,
    /// By page and cell: where it is in `trunk`, once a route has come there.
    marks: Vec<u32>,
    /// The cells of all routes so far, each once.
    trunk: Vec<Cell>,
    /// Where each piece of `trunk` begins, and where its way goes on after its end.
    branches: Vec<(usize, u32)>,
    /// Roots that the front has not come to, with their F; the least last.
    roots: Vec<(Cost, u32)>,
    queue: Buckets,
    steps: [u32; 3],
    columns: u32,
    aim: Option<(Area, Estimate)>,
    /// Some way was not followed, for it costs more than can be counted.
    is_cut_short: bool,
}

/// Waiting cells by F.
#[derive(Default)]
struct Buckets {
    ring: Vec<Vec<Entry>>,
    shift: u32,
    /// The bucket that is being emptied, counted from F = 0.
    current: u64,
    waiting: usize,
    /// For how many there was memory when the flood began.
    room: usize,
}

/// A cell that was reached at a cost, in a direction.
#[derive(Clone, Copy)]
struct Entry {
    cost: u32,
    /// The index in the lower 28 bits, then the direction.
    cell: u32,
}

/// A cell that has been reached: its index, where it is kept, and its cost.
#[derive(Clone, Copy)]
struct Spot {
    index: u32,
    place: usize,
    cost: u32,
}

const SIDE: usize = CHUNK_SIDE as usize;
const NO_PAGE: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX;
const INDEX_BITS: u32 = 28;

/// A way is followed for so many steps before others get their turn.
const RUN: u32 = 16;

/// No way is followed that costs more. With one step more it is still below 2^32, for steps cost less than 2^24.
const FARTHEST: u32 = u32::MAX / 2;

impl Spread {
    /// Whether it can flood this ground: it must be even.
    pub(crate) fn fits(snapshot: &Snapshot) -> bool {
        // Buckets are as wide as the cheapest step.
        let is_ring_small = |[x, y, diagonal]: [u32; 3]| x.max(y).max(diagonal) / x.min(y).max(1) < 128;
        snapshot.ground.even().is_some_and(is_ring_small)
    }

    /// Forgets everything, and opens the roots, each when its turn comes. With an aim it spreads towards that area first, and
    /// roots too far away from there are never opened.
    pub(crate) fn begin(&mut self, snapshot: &Snapshot, roots: &[u32], aim: Option<(Area, Estimate)>) {
        let ground = &snapshot.ground;
        let steps = ground.even().unwrap_or([1; 3]);
        if !self.canon.as_ref().is_some_and(|canon| canon.is_for(ground.view.rules, steps)) {
            self.canon = Some(Canon::new(ground.view.rules, steps));
        }
        for slot in self.used.drain(..) {
            self.pages[slot as usize] = NO_PAGE;
        }
        self.trunk.clear();
        self.branches.clear();
        self.pages.resize(ground.map.chunks().len().max(self.pages.len()), NO_PAGE);
        (self.steps, self.columns, self.aim) = (steps, ground.map.columns(), aim);
        self.is_cut_short = false;
        let (least, most) = (steps[0].min(steps[1]).min(steps[2]), steps[0].max(steps[1]).max(steps[2]));
        // With an aim F grows by less than a step costs, and finer buckets save second looks.
        let shift = least.max(1).ilog2().saturating_sub(if aim.is_some() { 3 } else { 0 });
        self.queue.begin(shift, u64::from(most) * 2 * u64::from(RUN + 2));
        let mut waiting = core::mem::take(&mut self.roots);
        waiting.clear();
        waiting.extend(roots.iter().map(|root| (self.left(ground.map.cell_at(*root)), *root)));
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        self.roots = waiting;
        self.settle(snapshot);
    }

    /// Goes on to the next bucket that holds something, and opens the roots that the front comes to. What costs nothing there
    /// may have been reached before at a cost, but that was not certain yet.
    #[inline]
    fn settle(&mut self, snapshot: &Snapshot) {
        loop {
            let due = self.roots.last().map_or(u64::MAX, |(f, _)| f >> self.queue.shift);
            self.queue.settle(due);
            if self.queue.current < due {
                return;
            }
            let Some((f, root)) = self.roots.pop() else { return };
            let place = self.place(snapshot, root);
            self.costs[place] = 0;
            self.ways[place] = 0;
            self.queue.push(f, Entry { cost: 0, cell: root | u32::from(ANYHOW) << INDEX_BITS });
        }
    }

    /// All cells whose F is below this have their least cost.
    pub(crate) fn front(&self) -> Cost {
        match (self.queue.waiting, self.is_cut_short) {
            (0, false) => Cost::MAX,
            (0, true) => Cost::from(FARTHEST) + 1,
            _ => self.queue.current << self.queue.shift,
        }
    }

    /// Whether it has left out what costs more than can be counted.
    pub(crate) const fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    /// What it keeps in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let of_pages = (self.pages.capacity() + self.used.capacity()) * size_of::<u32>()
            + self.corners.capacity() * size_of::<Cell>()
            + self.rows.capacity() * size_of::<[u128; SIDE + 2]>();
        let of_cells = self.ways.capacity()
            + (self.costs.capacity() + self.marks.capacity()) * size_of::<u32>()
            + self.trunk.capacity() * size_of::<Cell>()
            + self.branches.capacity() * size_of::<(usize, u32)>()
            + self.roots.capacity() * size_of::<(Cost, u32)>();
        of_pages + of_cells + self.queue.room * size_of::<Entry>()
    }

    /// Follows the next way, and returns how many cells it looked at: 0 if there is none.
    pub(crate) fn advance(&mut self, snapshot: &Snapshot) -> u32 {
        let Some(Entry { cost, cell }) = self.queue.pop() else { return 0 };
        let (index, entered) = (cell & ((1 << INDEX_BITS) - 1), (cell >> INDEX_BITS).to_le_bytes()[0]);
        let mut looked = 1;
        let mut at = Spot { index, place: self.place(snapshot, index), cost };
        // Otherwise it was overtaken by a cheaper way.
        if self.costs[at.place] == cost {
            while let Some(next) = self.expand(snapshot, at, entered, looked < RUN) {
                at = next;
                looked += 1;
            }
        }
        self.settle(snapshot);
        looked
    }

    /// Takes all steps worth it out of a cell. If one goes on in the same direction, and may be followed at once, it is
    /// returned; all others wait.
    #[inline]
    fn expand(&mut self, snapshot: &Snapshot, at: Spot, entered: u8, may_run: bool) -> Option<Spot> {
        let (x, y) = (at.index & (CHUNK_SIDE - 1), at.index >> CHUNK_SHIFT & (CHUNK_SIDE - 1));
        let rows = &self.rows[at.place / CHUNK_CELLS][y as usize..];
        let three = |row: usize| low_bits(rows[row] >> x);
        let around = three(0) | three(1) << 3 | three(2) << 6;
        let mut worth = self.canon.as_ref()?.steps(entered, around);
        let mut onward = None;
        while worth != 0 {
            let direction = Direction::ALL[worth.trailing_zeros() as usize & 7];
            worth &= worth - 1;
            let next = self.step(snapshot, at, direction);
            let way = 1 << direction as u8;
            let known = self.costs[next.place];
            if known < next.cost {
                continue;
            }
            if next.cost > FARTHEST {
                self.is_cut_short = true;
                continue;
            }
            let ways = if known == next.cost { self.ways[next.place] } else { 0 };
            if ways & way != 0 {
                continue;
            }
            self.costs[next.place] = next.cost;
            self.ways[next.place] = ways | way;
            if may_run && direction as u8 == entered {
                onward = Some(next);
            } else {
                let f = self.f(next.cost, next.place);
                let cell = next.index | u32::from(direction as u8) << INDEX_BITS;
                self.queue.push(f, Entry { cost: next.cost, cell });
            }
        }
        onward
    }

    /// Where a step leads. It is a legal one.
    #[inline]
    fn step(&mut self, snapshot: &Snapshot, at: Spot, direction: Direction) -> Spot {
        let cost = at.cost + self.steps[direction.axis()];
        let index = self.neighbour(at.index, direction);
        let is_inside = (index ^ at.index) >> (2 * CHUNK_SHIFT) == 0;
        // Inside a chunk, places are as far apart as indices are.
        let inside = (at.place & !(CHUNK_CELLS - 1)) | (index as usize & (CHUNK_CELLS - 1));
        let place = if is_inside { inside } else { self.place(snapshot, index) };
        Spot { index, place, cost }
    }

    /// What the cheapest path over a place costs, from a root to what is aimed at.
    #[inline]
    fn f(&self, cost: u32, place: usize) -> Cost {
        if self.aim.is_none() {
            return cost.into();
        }
        let corner = self.corners[place / CHUNK_CELLS];
        let local = u32::try_from(place % CHUNK_CELLS).unwrap_or(0);
        let (x, y) = (local & (CHUNK_SIDE - 1), local >> CHUNK_SHIFT);
        Cost::from(cost) + self.left(corner + (x.cast_signed(), y.cast_signed()))
    }

    /// What it costs at least from a cell to what is aimed at.
    #[inline]
    fn left(&self, cell: Cell) -> Cost {
        self.aim.map_or(0, |(area, estimate)| estimate.h(cell.gap(area.nearest(cell))))
    }

    /// Where the neighbour of a cell is stored. It lies on the map.
    #[inline]
    fn neighbour(&self, index: u32, direction: Direction) -> u32 {
        let (dx, dy) = direction.offset();
        let x = (index & (CHUNK_SIDE - 1)).wrapping_add_signed(dx);
        let y = (index >> CHUNK_SHIFT & (CHUNK_SIDE - 1)).wrapping_add_signed(dy);
        let slot = index >> (2 * CHUNK_SHIFT);
        // A step beyond the chunk shows in the bits above those of a place inside.
        let across = if x < CHUNK_SIDE { 0 } else { dx };
        let down = if y < CHUNK_SIDE { 0 } else { dy };
        let slot = slot.wrapping_add_signed(across + down * self.columns.cast_signed());
        slot << (2 * CHUNK_SHIFT) | (y & (CHUNK_SIDE - 1)) << CHUNK_SHIFT | (x & (CHUNK_SIDE - 1))
    }

    /// Where what is known of a cell is kept.
    #[inline]
    fn place(&mut self, snapshot: &Snapshot, index: u32) -> usize {
        let slot = index >> (2 * CHUNK_SHIFT);
        let mut page = self.pages[slot as usize];
        if page == NO_PAGE {
            page = self.add_page(snapshot, slot);
        }
        (page as usize * CHUNK_CELLS) | (index as usize & (CHUNK_CELLS - 1))
    }

    #[cold]
    fn add_page(&mut self, snapshot: &Snapshot, slot: u32) -> u32 {
        let page = u32::try_from(self.used.len()).unwrap_or(NO_PAGE);
        let start = self.used.len() * CHUNK_CELLS;
        self.used.push(slot);
        self.pages[slot as usize] = page;
        if self.costs.len() == start {
            self.costs.resize(start + CHUNK_CELLS, UNKNOWN);
            self.ways.resize(start + CHUNK_CELLS, 0);
            self.marks.resize(start + CHUNK_CELLS, UNKNOWN);
            self.rows.push([0; SIDE + 2]);
            self.corners.push(Cell::default());
        }
        self.costs[start..start + CHUNK_CELLS].fill(UNKNOWN);
        self.marks[start..start + CHUNK_CELLS].fill(UNKNOWN);
        let (column, row) = (slot % self.columns, slot / self.columns);
        let corner = |place: u32| (place * CHUNK_SIDE).cast_signed();
        self.corners[page as usize] = Cell::new(corner(column), corner(row));
        let rows = &mut self.rows[page as usize];
        *rows = [0; SIDE + 2];
        // The rows of three by three chunks, as far as they matter here.
        for (dx, dy) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))) {
            let Some((x, y)) = column.checked_add_signed(dx).zip(row.checked_add_signed(dy)) else {
                continue;
            };
            let Some(open) = snapshot.islands.open_rows(ChunkId { x, y }) else { continue };
            let inner = match dy {
                -1 => SIDE - 1..SIDE,
                0 => 0..SIDE,
                _ => 0..1,
            };
            for (at, open) in open[inner.clone()].iter().enumerate() {
                let at = match dy {
                    -1 => 0,
                    0 => at + 1,
                    _ => SIDE + 1,
                };
                let open = u128::from(*open);
                rows[at] |= match dx {
                    -1 => open >> (SIDE - 1),
                    0 => open << 1,
                    _ => (open & 1) << (SIDE + 1),
                };
            }
        }
        page
    }

    /// Where what is known of a cell is kept, if the flood has been near.
    #[inline]
    fn find(&self, index: u32) -> Option<usize> {
        let page = self.pages.get((index >> (2 * CHUNK_SHIFT)) as usize).filter(|page| **page != NO_PAGE)?;
        Some((*page as usize * CHUNK_CELLS) | (index as usize & (CHUNK_CELLS - 1)))
    }

    /// What the way from a cell costs, if that is certain.
    pub(crate) fn cost(&self, index: u32) -> Option<Cost> {
        let place = self.find(index)?;
        let cost = self.costs[place];
        let is_certain = self.queue.waiting == 0 || self.f(cost, place) < self.front();
        (cost != UNKNOWN && is_certain).then_some(cost.into())
    }

    /// The directions in which the flood came to a cell, as bits: the ways from there lead the other way. None at a root.
    #[inline]
    pub(crate) fn ways(&self, index: u32) -> u8 {
        self.find(index).map_or(0, |place| self.ways[place])
    }

    /// Appends the cells from one whose cost is certain to the root it leads to, both included, to `cells`.
    ///
    /// The way on from a cell is always the same, so what was traced before is copied from there.
    ///
    /// PERF: for 1000 units on `MovingAI`'s `cities/Berlin_0_1024` this takes 2.9 ms instead of 8.8 ms.
    pub(crate) fn trace(&mut self, mut cell: Cell, mut index: u32, cells: &mut Vec<Cell>) {
        let Some(first) = self.find(index) else { return };
        let start = self.trunk.len();
        let next = loop {
            let Some(place) = self.find(index) else { break UNKNOWN };
            let mark = &mut self.marks[place];
            if *mark != UNKNOWN {
                break *mark;
            }
            *mark = u32::try_from(self.trunk.len()).unwrap_or(UNKNOWN);
            self.trunk.push(cell);
            let Some(came) = Direction::ALL.get(self.ways[place].trailing_zeros() as usize) else {
                break UNKNOWN;
            };
            let step = came.opposite();
            (cell, index) = (cell.step(step), self.neighbour(index, step));
        };
        if self.trunk.len() > start {
            self.branches.push((start, next));
        }
        let mut at = self.marks[first];
        while at != UNKNOWN {
            let from = at as usize;
            let after = self.branches.partition_point(|(start, _)| *start <= from);
            let end = self.branches.get(after).map_or(self.trunk.len(), |(start, _)| *start);
            cells.extend_from_slice(&self.trunk[from..end]);
            at = self.branches[after - 1].1;
        }
    }
}

impl Buckets {
    /// Empties all buckets. No entry waits whose F is more than `span` above that of another.
    fn begin(&mut self, shift: u32, span: u64) {
        let needed = usize::try_from((span >> shift) + 2).unwrap_or(usize::MAX).next_power_of_two();
        self.ring.iter_mut().for_each(Vec::clear);
        self.ring.resize_with(needed, Vec::new);
        self.room = self.ring.iter().map(Vec::capacity).sum();
        (self.shift, self.current, self.waiting) = (shift, 0, 0);
    }

    #[inline]
    fn push(&mut self, f: Cost, entry: Entry) {
        let mask = self.ring.len() - 1;
        let bucket = (f >> self.shift).max(self.current);
        self.waiting += 1;
        self.ring[usize::try_from(bucket).unwrap_or(0) & mask].push(entry);
    }

    #[inline]
    fn pop(&mut self) -> Option<Entry> {
        let mask = self.ring.len().wrapping_sub(1);
        let entry = self.ring.get_mut(usize::try_from(self.current).unwrap_or(0) & mask)?.pop()?;
        self.waiting -= 1;
        Some(entry)
    }

    /// Goes on to the next bucket that holds something, or up to this one.
    #[inline]
    fn settle(&mut self, due: u64) {
        let mask = self.ring.len() - 1;
        while self.waiting > 0
            && self.current < due
            && self.ring[usize::try_from(self.current).unwrap_or(0) & mask].is_empty()
        {
            self.current += 1;
        }
        if self.waiting == 0 && due < u64::MAX {
            self.current = due;
        }
    }
}

#[inline]
const fn low_bits(row: u128) -> usize {
    (row & 7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Map;
    use crate::view::View;

    #[test]
    fn it_fits_large_maps() {
        let map = Map::new(4096, 4096).expect("not too large");
        assert!(Spread::fits(&Snapshot::new(&map, &View::default())));
    }
}
