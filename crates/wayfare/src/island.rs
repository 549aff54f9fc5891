//! Connected areas, known before any search: who can reach whom, and what lies nearest to the unreachable.
//!
//! Comes in: the ground. Goes out: an island per cell, asked by every query before it searches. Each chunk is
//! labelled by itself; the areas inside chunks are then joined across chunk borders. After an edit only the
//! chunks that changed are labelled again.

use std::sync::Arc;

use crate::cell::{Cell, Direction};
use crate::ground::Ground;
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE, ChunkId};

/// A connected area of open cells, named by a number that holds until the next edit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Island(u32);

impl Island {
    /// The number: islands are counted from 0.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// The islands of one ground.
#[derive(Clone)]
pub(crate) struct Islands {
    chunks: Arc<Vec<Arc<Shores>>>,
    names: Arc<Names>,
}

/// The connected areas inside one chunk, numbered from 0.
struct Shores {
    areas: Areas,
    count: u32,
}

enum Areas {
    /// No cell is open.
    None,
    /// All cells are open, and so connected.
    Whole,
    /// The area of each cell, or [`BLOCKED`].
    Each(Box<[u16; CHUNK_CELLS]>),
}

const BLOCKED: u16 = u16::MAX;

/// Which island each area of each chunk belongs to.
struct Names {
    /// Where each chunk's areas begin in `islands`.
    first: Vec<u32>,
    islands: Vec<Island>,
    count: u32,
}

impl Islands {
    pub(crate) fn new(ground: &Ground) -> Self {
        let nothing = Self {
            chunks: Arc::new(Vec::new()),
            names: Arc::new(Names { first: Vec::new(), islands: Vec::new(), count: 0 }),
        };
        nothing.updated(ground, |_| false)
    }

    /// The islands of a ground that differs from the one before only in chunks for which `unchanged` is false.
    pub(crate) fn updated(&self, ground: &Ground, unchanged: impl Fn(usize) -> bool) -> Self {
        let map_chunks = ground.map.chunks();
        let mut chunks: Vec<Arc<Shores>> = Vec::with_capacity(map_chunks.len());
        for (slot, chunk) in map_chunks.iter().enumerate() {
            // A new map is one chunk many times over; it is labelled once.
            let twin = slot.checked_sub(1).filter(|left| Arc::ptr_eq(&map_chunks[*left], chunk));
            let shores = match (self.chunks.get(slot), twin) {
                (Some(known), _) if unchanged(slot) => Arc::clone(known),
                (_, Some(left)) => Arc::clone(&chunks[left]),
                _ => Arc::new(Shores::label(ground, &chunk.terrain)),
            };
            chunks.push(shores);
        }
        let names = Names::join(ground, &chunks);
        Self { chunks: Arc::new(chunks), names: Arc::new(names) }
    }

    /// The island of the cell at `index`, or `None` if it is blocked.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> Option<Island> {
        let slot = (index >> (2 * CHUNK_SHIFT)) as usize;
        let area = self.chunks[slot].area(index as usize & (CHUNK_CELLS - 1))?;
        Some(self.names.islands[(self.names.first[slot] + area) as usize])
    }

    pub(crate) fn count(&self) -> u32 {
        self.names.count
    }

    /// The cell closest to any of the `goals` on an island that `wanted` accepts: by straight distance, then by
    /// lower row, then by lower column. Goals outside the map do not count.
    pub(crate) fn nearest(
        &self,
        ground: &Ground,
        goals: &[Cell],
        wanted: impl Fn(Island) -> bool,
    ) -> Option<Cell> {
        let mut best = None;
        for goal in goals {
            best = self.nearer(ground, *goal, &wanted, best);
        }
        best.map(|(_, cell)| cell)
    }

    /// The wanted cell closest to `goal` with the square of its distance, if that beats the best so far.
    fn nearer(
        &self,
        ground: &Ground,
        goal: Cell,
        wanted: impl Fn(Island) -> bool,
        mut best: Option<(u64, Cell)>,
    ) -> Option<(u64, Cell)> {
        let steps = ground.view.rules.costs;
        let shorter = u64::from(steps.x().min(steps.y()));
        let Some(home) = ground.map.chunk_of(goal) else {
            return best;
        };
        let columns = ground.map.columns();
        let rows = ground.map.height().div_ceil(CHUNK_SIDE);
        for radius in 0..columns.max(rows) {
            // Chunks in this ring lie at least this far from the goal, wherever in its chunk it stands.
            let cells = u64::from(radius.saturating_sub(1) * CHUNK_SIDE);
            let bound = (cells * shorter).pow(2);
            if best.is_some_and(|(distance, _)| bound > distance) {
                break;
            }
            for id in ring(home, radius, columns, rows) {
                let Some(area) = ground.map.chunk_area(id) else {
                    continue;
                };
                let bound = ground.distance_squared(area.nearest(goal), goal);
                if best.is_some_and(|(distance, _)| bound > distance) || !self.has(ground, id, &wanted) {
                    continue;
                }
                for cell in area.cells() {
                    let distance = ground.distance_squared(cell, goal);
                    let key = (distance, cell.y, cell.x);
                    if best.is_none_or(|(least, at)| key < (least, at.y, at.x))
                        && self.at(ground.map.index_inside(cell)).is_some_and(&wanted)
                    {
                        best = Some((distance, cell));
                    }
                }
            }
        }
        best
    }

    /// Whether a wanted island reaches into a chunk.
    fn has(&self, ground: &Ground, id: ChunkId, wanted: impl Fn(Island) -> bool) -> bool {
        let slot = (id.y * ground.map.columns() + id.x) as usize;
        let first = self.names.first[slot] as usize;
        let islands = &self.names.islands[first..first + self.chunks[slot].count as usize];
        islands.iter().any(|island| wanted(*island))
    }
}

impl Shores {
    fn label(ground: &Ground, terrain: &[u8; CHUNK_CELLS]) -> Self {
        let open = terrain.iter().filter(|id| ground.enters(**id)).count();
        if open == 0 {
            return Self { areas: Areas::None, count: 0 };
        }
        if open == CHUNK_CELLS {
            return Self { areas: Areas::Whole, count: 1 };
        }
        let slips = ground.view.rules.slips_through_corners();
        let side = CHUNK_SIDE as usize;
        let mut areas = Box::new([BLOCKED; CHUNK_CELLS]);
        // Row by row, each cell joins the areas of the neighbours before it, or begins a new one.
        let mut roots: Vec<u32> = Vec::new();
        for at in (0..CHUNK_CELLS).filter(|at| ground.enters(terrain[*at])) {
            let (x, y) = (at % side, at / side);
            let before = [
                (x > 0, 1),
                (y > 0, side),
                (slips && x > 0 && y > 0, side + 1),
                (slips && x + 1 < side && y > 0, side - 1),
            ];
            let mut joined = BLOCKED;
            for (_, back) in before.into_iter().filter(|(exists, _)| *exists) {
                let area = areas[at - back];
                if joined == BLOCKED {
                    joined = area;
                } else if area != BLOCKED && area != joined {
                    unite(&mut roots, u32::from(joined), u32::from(area));
                }
            }
            // At most every other cell begins an area, so their number stays far below `BLOCKED`.
            if joined == BLOCKED {
                joined = u16::try_from(roots.len()).unwrap_or(BLOCKED);
                roots.push(u32::from(joined));
            }
            areas[at] = joined;
        }
        let (numbers, count) = number(&mut roots);
        for area in areas.iter_mut().filter(|area| **area != BLOCKED) {
            *area = u16::try_from(numbers[usize::from(*area)]).unwrap_or(BLOCKED);
        }
        Self { areas: Areas::Each(areas), count }
    }

    #[inline]
    fn area(&self, local: usize) -> Option<u32> {
        match &self.areas {
            Areas::None => None,
            Areas::Whole => Some(0),
            Areas::Each(areas) => (areas[local] != BLOCKED).then(|| u32::from(areas[local])),
        }
    }
}

impl Names {
    /// Joins the areas that touch across the borders of chunks, and numbers the islands by their first area.
    fn join(ground: &Ground, chunks: &[Arc<Shores>]) -> Self {
        let mut first = Vec::with_capacity(chunks.len());
        let mut total = 0;
        for shores in chunks {
            first.push(total);
            total += shores.count;
        }
        let mut roots: Vec<u32> = (0..total).collect();
        let map = &ground.map;
        let area_at = |cell: Cell| {
            let index = map.index(cell)?;
            let slot = (index >> (2 * CHUNK_SHIFT)) as usize;
            Some(first[slot] + chunks[slot].area(index as usize & (CHUNK_CELLS - 1))?)
        };
        let slips = ground.view.rules.slips_through_corners();
        let eastward = [Direction::East, Direction::NorthEast, Direction::SouthEast];
        let southward = [Direction::South, Direction::SouthEast, Direction::SouthWest];
        let looks = if slips { 3 } else { 1 };
        let mut joined = (u32::MAX, u32::MAX);
        let mut connect = |from: Cell, directions: &[Direction]| {
            let Some(a) = area_at(from) else { return };
            for direction in directions {
                let Some(b) = area_at(from.step(*direction)) else {
                    continue;
                };
                // Along a border the same two areas meet again and again.
                if (a, b) != joined {
                    joined = (a, b);
                    unite(&mut roots, a, b);
                }
            }
        };
        let Some(whole) = map.area() else {
            return Self { first, islands: Vec::new(), count: 0 };
        };
        let side = CHUNK_SIDE.cast_signed();
        for x in (side - 1..whole.max().x).step_by(CHUNK_SIDE as usize) {
            for y in 0..=whole.max().y {
                connect(Cell::new(x, y), &eastward[..looks]);
            }
        }
        for y in (side - 1..whole.max().y).step_by(CHUNK_SIDE as usize) {
            for x in 0..=whole.max().x {
                connect(Cell::new(x, y), &southward[..looks]);
            }
        }
        let (numbers, count) = number(&mut roots);
        Self { first, islands: numbers.into_iter().map(Island).collect(), count }
    }
}

/// Numbers the sets of a union by their first member: the number of each member's set, and how many there are.
fn number(roots: &mut [u32]) -> (Vec<u32>, u32) {
    let mut count = 0;
    let mut numbers: Vec<u32> = Vec::with_capacity(roots.len());
    for member in (0..).take(roots.len()) {
        let root = find(roots, member);
        // The lowest member is always the root, so its set has been numbered already.
        numbers.push(if root == member { count } else { numbers[root as usize] });
        count += u32::from(root == member);
    }
    (numbers, count)
}

fn find(roots: &mut [u32], mut area: u32) -> u32 {
    while roots[area as usize] != area {
        let grandparent = roots[roots[area as usize] as usize];
        roots[area as usize] = grandparent;
        area = grandparent;
    }
    area
}

fn unite(roots: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(roots, a), find(roots, b));
    roots[a.max(b) as usize] = a.min(b);
}

/// The chunks exactly `radius` chunks away from `home`, those that exist.
fn ring(home: ChunkId, radius: u32, columns: u32, rows: u32) -> impl Iterator<Item = ChunkId> {
    let top = home.y.saturating_sub(radius);
    let bottom = (home.y + radius).min(rows - 1);
    (top..=bottom).flat_map(move |y| {
        let edge = y.abs_diff(home.y) == radius;
        let left = home.x.saturating_sub(radius);
        let right = (home.x + radius).min(columns - 1);
        let stride = if edge || radius == 0 { 1 } else { 2 * radius as usize };
        // Inside the ring only its two ends count; the left one may lie outside the map.
        let start = if edge || home.x >= radius { left } else { home.x + radius };
        (start..=right).step_by(stride).map(move |x| ChunkId { x, y })
    })
}
