//! How much room a unit needs: a [`Clearance`] turns the ground into what is left of it for a large one.
//!
//! Comes in: a map, what of it is blocked, and the cells that a body reaches into from the middle of its own. Goes out: the
//! map that searches walk on, in which whatever is too close to something blocked is blocked, too. So every engine, the
//! islands and straight lines know of sizes without knowing it. After an edit only chunks are looked at again that
//! changed or lie beside one that did.

use core::fmt;

use glam::{DVec2, Vec2};

use crate::cell::Cell;
use crate::layout::Layout;
use crate::map::{CHUNK_SIDE, Chunk, Map, Terrain};
use crate::open::Open;
use crate::pages::Pages;
use crate::view::Class;

/// The room that a unit needs around the centre of the cell it stands on.
///
/// It is the set of cells that the unit's disc reaches into from there: units of about the same size need the same room, and
/// compare as equal. A unit that fits into a cell needs [none](Self::NONE) but that. Touching is not reaching into,
/// and neither is a thousandth of the radius.
///
/// ```
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     ".......
///      .......
///      ...#...
///      .......
///      .......",
/// )?;
/// let tank = View { clearance: Clearance::new(0.9), ..View::default() };
/// let snapshot = Snapshot::new(&map, &tank);
/// // The way of its centre: a cell off the map's edge, and one off the wall.
/// let is_open = |cell: Cell| snapshot.is_open(cell);
/// assert_eq!(map.to_text(|cell| is_open(cell).then_some('o')), ".......\n.o...o.\n.o.#.o.\n.o...o.\n.......");
/// # Ok::<(), MapTextError>(())
/// ```
///
/// # What holds
///
/// - Where a snapshot with a clearance is [open](crate::Snapshot::is_open), the disc around the centre of the cell reaches into no
///   blocked cell and not beyond the map. [`Snapshot::map`](crate::Snapshot::map) still tells the truth about the ground.
/// - On cells that are rectangles the disc stays clear on every legal step between two centres, too, as long as diagonals need
///   [both sides](crate::Corners::BothFree) free. Other rules let the unit cut corners, as they say.
/// - A straight line between two centres that are no neighbours touches open cells only, so the disc keeps clear but for less
///   than the way from the centre of a cell to its corner. [Avoidance](crate::avoid) keeps it out for good.
/// - Centres are what counts: a gap of two cells has none in its middle, and lets nobody through who needs more than one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Clearance {
    /// Of each row from the unit's own on, the first and the last column, counted from its cell. Rows before it are
    /// the same the other way round.
    rows: [(i8, i8); Self::MOST as usize + 1],
    /// How many rows there are after its own.
    reach: i8,
}

impl Clearance {
    /// A unit that fits into its cell.
    pub const NONE: Self = Self { rows: [(0, 0); Self::MOST as usize + 1], reach: 0 };

    /// No unit needs more than so many cells to each side. Larger ones count as that large.
    pub const MOST: u8 = 15;

    /// What a disc of this radius needs, in sides of a square cell. A radius that is negative or no number needs nothing.
    pub fn new(radius: f32) -> Self {
        Self::on(&Layout::UNIT, radius)
    }

    /// What a disc needs on cells that lie in the plane like this, be they rectangles, tilted or hexagons. The radius is
    /// a length of the plane.
    pub fn on(layout: &Layout, radius: f32) -> Self {
        let mut clearance = Self::NONE;
        let radius = f64::from(radius) * (1.0 - TOUCHING);
        if radius.is_nan() || radius <= f64::from(layout.reach()) {
            return clearance;
        }
        // Far out in the plane, floats could not tell.
        let (x, y) = layout.axes();
        let near = Layout::new(Vec2::ZERO, x.as_vec2(), y.as_vec2());
        let layout = near.map_or(*layout, |near| near.with_shape(layout.shape()));
        let most = i32::from(Self::MOST);
        for (dy, row) in (0..=Self::MOST.cast_signed()).zip(&mut clearance.rows) {
            let is_near = |dx: &i32| gap(&layout, (*dx, i32::from(dy))) < radius;
            let narrow = |dx: i32| i8::try_from(dx).unwrap_or_default();
            let (first, last) = ((-most..=most).find(is_near), (-most..=most).rfind(is_near));
            let (Some(first), Some(last)) = (first, last) else { break };
            *row = (narrow(first), narrow(last));
            clearance.reach = dy;
        }
        clearance
    }

    /// Whether it is that of a unit that fits into its cell.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// How many columns or rows away those cells are at most.
    pub fn reach(&self) -> u32 {
        let columns =
            self.rows.iter().map(|(first, last)| first.unsigned_abs().max(last.unsigned_abs())).max();
        columns.unwrap_or_default().max(self.reach.unsigned_abs()).into()
    }

    /// The cells that must not be blocked, counted from the one the unit stands on.
    pub fn offsets(&self) -> impl Iterator<Item = (i32, i32)> {
        let clearance = *self;
        let reach = i32::from(self.reach);
        (-reach..=reach).flat_map(move |dy| {
            let (first, last) = clearance.row(dy);
            (first..=last).map(move |dx| (dx, dy))
        })
    }

    /// The first and the last column of a row.
    fn row(&self, dy: i32) -> (i32, i32) {
        let (first, last) = self.rows[dy.unsigned_abs() as usize];
        let (first, last) = (i32::from(first), i32::from(last));
        if dy < 0 { (-last, -first) } else { (first, last) }
    }

    /// What is left of a map for a class of units that need this much room.
    pub(crate) fn of(&self, map: &Map, class: &Class) -> Map {
        self.again(map, class, map, |_| false)
    }

    /// The same for a map that differs from the one before in chunks for which `unchanged` is false only; `left` is
    /// what was left of that. What comes out alike is shared with it.
    pub(crate) fn again(
        &self,
        map: &Map,
        class: &Class,
        left: &Map,
        unchanged: impl Fn(usize) -> bool,
    ) -> Map {
        if self.is_none() {
            return map.clone();
        }
        let mut blocks = Blocks::new(map, class);
        let is_alike = (map.width(), map.height()) == (left.width(), left.height());
        let before = if is_alike { left } else { map };
        let mut chunks = before.chunks().clone();
        for (slot, chunk) in map.chunks().iter().enumerate() {
            let around = blocks.around(slot);
            if around.iter().flatten().flatten().all(|slot| unchanged(*slot)) {
                continue;
            }
            let closed = blocks.closed(&around, self);
            let covered = chunk.under(cells_of(&closed).map(|index| (index, Terrain::OUTSIDE)));
            if covered.terrain != chunks[slot].terrain {
                *chunks.entry(slot) = covered;
            }
        }
        before.with_chunks(chunks, map.version())
    }
}

impl fmt::Debug for Clearance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clearance({} × {} cells)", 2 * self.rows[0].1 + 1, 2 * self.reach + 1)
    }
}

/// Reaching into a cell by less than this part of the radius is touching it.
const TOUCHING: f64 = 1e-3;

/// How far it is from the centre of the first cell to another cell.
fn gap(layout: &Layout, (dx, dy): (i32, i32)) -> f64 {
    if (dx, dy) == (0, 0) {
        return 0.0;
    }
    let centre = layout.centre(Cell::new(0, 0));
    let corners = || layout.corners(Cell::new(dx, dy)).map(|corner| (corner - centre).as_dvec2());
    let next = corners().skip(1).chain(corners().take(1));
    let to_side = |(a, b): (DVec2, DVec2)| {
        let along = (-a).dot(b - a) / (b - a).length_squared();
        (a + (b - a) * along.clamp(0.0, 1.0)).length()
    };
    corners().zip(next).map(to_side).fold(f64::INFINITY, f64::min)
}

/// A chunk as bits, row by row: the lowest is the first column.
type Bits = [u64; CHUNK_SIDE as usize];

/// A chunk and those around it, by their slots, row by row. Beyond the map there is none.
type Around = [[Option<usize>; 3]; 3];

/// What of a map is blocked, chunk by chunk, found out when it is asked for.
struct Blocks<'a> {
    chunks: &'a Pages<Chunk>,
    columns: usize,
    open: Open,
    known: Vec<Option<Box<Bits>>>,
}

impl<'a> Blocks<'a> {
    fn new(map: &'a Map, class: &Class) -> Self {
        let open = Open::new(map, |id| class.factor(Terrain(id)).is_some());
        let chunks = map.chunks();
        Self { chunks, columns: map.columns().max(1) as usize, open, known: vec![None; chunks.len()] }
    }

    fn around(&self, slot: usize) -> Around {
        let (column, row) = (slot % self.columns, slot / self.columns);
        [0, 1, 2].map(|y| {
            [0, 1, 2].map(|x| {
                let column = (column + x).checked_sub(1).filter(|column| *column < self.columns)?;
                let slot = (row + y).checked_sub(1)? * self.columns + column;
                (slot < self.chunks.len()).then_some(slot)
            })
        })
    }

    /// The cells of a chunk that are not blocked, but too close to one that is.
    fn closed(&mut self, around: &Around, clearance: &Clearance) -> Bits {
        for slot in around.iter().flatten().flatten() {
            self.look_at(*slot);
        }
        let side = CHUNK_SIDE.cast_signed();
        let mut closed = [0; CHUNK_SIDE as usize];
        let reach = i32::from(clearance.reach);
        for dy in -reach..=reach {
            let (first, last) = clearance.row(dy);
            for (y, closed) in (0..side).zip(&mut closed) {
                // Three chunks high, the middle one is ours.
                let y = (y + dy + side).unsigned_abs() as usize;
                let (chunk, y) = (y / CHUNK_SIDE as usize, y % CHUNK_SIDE as usize);
                let [left, own, right] = around[chunk].map(|slot| self.row(slot, y));
                for dx in first..=last {
                    let shift = dx.unsigned_abs();
                    *closed |= match dx {
                        0 => own,
                        1.. => own >> shift | right << (CHUNK_SIDE - shift),
                        _ => own << shift | left >> (CHUNK_SIDE - shift),
                    };
                }
            }
        }
        for (y, closed) in closed.iter_mut().enumerate() {
            *closed &= !self.row(around[1][1], y);
        }
        closed
    }

    fn row(&self, slot: Option<usize>, y: usize) -> u64 {
        let bits = slot.and_then(|slot| self.known[slot].as_deref());
        bits.map_or(u64::MAX, |bits| bits[y])
    }

    fn look_at(&mut self, slot: usize) {
        if self.known[slot].is_some() {
            return;
        }
        let blocked = self.open.rows(&self.chunks[slot].terrain).map(|row| !row);
        self.known[slot] = Some(Box::new(blocked));
    }
}

/// The cells whose bits are set, by their indices in the chunk.
fn cells_of(bits: &Bits) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(y, row)| {
        let mut left = *row;
        core::iter::from_fn(move || {
            let x = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(y * CHUNK_SIDE as usize + x)
        })
    })
}
