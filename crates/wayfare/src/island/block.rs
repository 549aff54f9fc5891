//! Pieces of the map put together: four by four chunks make a [`Block`], four by four blocks a larger one, up to the
//! whole map.
//!
//! Comes in: the coasts of pieces. Goes out: the coast of the block, and what the areas of its pieces are called in it.
//! An area is named by asking the block around its chunk, the block around that one, and so on.

use std::sync::Arc;

use super::bake::Known;
use super::coast::{Area, Coast, Side, Stretch, Survey, for_each_contact};
use super::shores::Shores;
use super::union::Union;
use crate::bake::BakeError;

/// Pieces along one side of a block, as a shift.
pub(super) const SPAN_SHIFT: u32 = 2;
pub(super) const SPAN: u32 = 1 << SPAN_SHIFT;

/// How many tiers of blocks make a map of so many chunks one piece.
pub(super) fn tiers(columns: u32, rows: u32) -> u32 {
    (0..).find(|tiers| columns.max(rows) <= 1 << (SPAN_SHIFT * tiers)).unwrap_or(0)
}

/// How many pieces lie along one side of a block with so many tiers that begins with chunk `start`, on a map that ends
/// before chunk `end`.
pub(super) fn span(tiers: u32, start: u32, end: u32) -> u32 {
    (end - start).div_ceil(1 << (SPAN_SHIFT * (tiers - 1))).min(SPAN)
}

/// A square piece of the map.
#[derive(Clone)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) enum Piece {
    Chunk(Arc<Shores>),
    Block(Arc<Block>),
}

/// Up to four by four pieces; fewer at the right and bottom ends of the map.
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Block {
    /// Row by row.
    pub(super) pieces: Box<[Piece]>,
    columns: u32,
    pub(super) joined: Arc<Joined>,
    /// How many closed areas are numbered before those of each piece: first come the block's own.
    before: Box<[u32]>,
    /// How many areas are closed, inside its pieces or by the block itself.
    closed: u32,
}

/// How the open areas of the pieces of a block hang together.
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Joined {
    pub(super) coast: Arc<Coast>,
    /// The area of the block that each open area of each piece belongs to.
    pub(super) areas: Vec<Area>,
    /// Where those of each piece begin.
    first: Vec<u32>,
    /// How many areas are open in some piece, but not beyond the block.
    closed: u32,
}

impl Piece {
    pub(super) fn coast(&self) -> &Arc<Coast> {
        match self {
            Self::Chunk(shores) => &shores.coast,
            Self::Block(block) => &block.joined.coast,
        }
    }

    /// What it keeps in memory.
    pub(super) fn bytes(&self) -> usize {
        let inside = match self {
            Self::Chunk(shores) => shores.bytes(),
            Self::Block(block) => {
                let joined = &block.joined;
                let pieces: usize = block.pieces.iter().map(Self::bytes).sum();
                let lists =
                    size_of_val(&*block.before) + size_of_val(&*joined.areas) + size_of_val(&*joined.first);
                size_of::<Block>() + size_of::<Joined>() + pieces + lists
            }
        };
        size_of::<Self>() + self.coast().bytes() + inside
    }

    /// How many areas are closed inside.
    pub(super) fn closed(&self) -> u32 {
        match self {
            Self::Chunk(shores) => shores.closed,
            Self::Block(block) => block.closed,
        }
    }

    /// The area of this piece that one of the chunk in column `x` and row `y` belongs to. The piece has so many tiers.
    pub(super) fn area(
        &self,
        tiers: u32,
        (x, y): (u32, u32),
        area_in: impl FnOnce(&Shores) -> Option<Area>,
    ) -> Option<Area> {
        match self {
            Self::Chunk(shores) => area_in(shores),
            Self::Block(block) => {
                let number = block.number(tiers, (x, y));
                Some(match block.pieces[number].area(tiers - 1, (x, y), area_in)? {
                    Area::Open(area) => block.joined.areas[(block.joined.first[number] + area) as usize],
                    Area::Closed(area) => Area::Closed(block.before[number] + area),
                })
            }
        }
    }

    /// The chunk in column `x` and row `y`.
    pub(super) fn shores(&self, tiers: u32, (x, y): (u32, u32)) -> &Shores {
        match self {
            Self::Chunk(shores) => shores,
            Self::Block(block) => block.pieces[block.number(tiers, (x, y))].shores(tiers - 1, (x, y)),
        }
    }

    pub(super) fn is_shared_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Chunk(one), Self::Chunk(other)) => Arc::ptr_eq(one, other),
            (Self::Block(one), Self::Block(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Block {
    /// Which piece the chunk in column `x` and row `y` lies in.
    #[inline]
    fn number(&self, tiers: u32, (x, y): (u32, u32)) -> usize {
        let shift = SPAN_SHIFT * (tiers - 1);
        ((y >> shift & (SPAN - 1)) * self.columns + (x >> shift & (SPAN - 1))) as usize
    }

    pub(super) fn new(pieces: Box<[Piece]>, columns: u32, joined: Arc<Joined>) -> Self {
        let mut closed = joined.closed;
        let before = pieces.iter().map(|piece| {
            closed += piece.closed();
            closed - piece.closed()
        });
        let before = before.collect();
        Self { pieces, columns, joined, before, closed }
    }
}

impl Joined {
    /// Joins pieces whose sides are `side` cells long.
    pub(super) fn new(pieces: &[Piece], columns: u32, side: u32, slips: bool) -> Self {
        let (first, total) = numbered(pieces);
        let mut union = Union::new(total);
        let columns = columns as usize;
        for (number, piece) in pieces.iter().enumerate() {
            let coast = piece.coast();
            let mut meet = |other: usize, a: u32, b: u32| union.unite(first[number] + a, first[other] + b);
            let (has_left, has_right) = (number % columns > 0, number % columns + 1 < columns);
            if has_right {
                let (one, other) = (coast.side(Side::East), pieces[number + 1].coast().side(Side::West));
                for_each_contact(one, other, slips, |a, b| meet(number + 1, a, b));
            }
            let Some(below) = pieces.get(number + columns) else { continue };
            let (one, other) = (coast.side(Side::South), below.coast().side(Side::North));
            for_each_contact(one, other, slips, |a, b| meet(number + columns, a, b));
            // Where units slip through corners, four pieces meet in one.
            for (end, opposite, exists) in
                [(Side::West, Side::East, has_left), (Side::East, Side::West, has_right)]
            {
                let other = if end == Side::West { number + columns - 1 } else { number + columns + 1 };
                if slips
                    && exists
                    && let Some(a) = coast.corner(Side::South, end, side)
                    && let Some(b) = pieces[other].coast().corner(Side::North, opposite, side)
                {
                    meet(other, a, b);
                }
            }
        }
        let (coast, areas, closed) = sides_of(pieces, columns, side, &first).settle(&mut union);
        Self { coast: Arc::new(coast), areas, first, closed }
    }

    /// The same if it is known which areas the open ones of the pieces belong to: `areas` is asked for so many.
    pub(super) fn known(
        pieces: &[Piece],
        columns: u32,
        side: u32,
        areas: impl FnOnce(u32) -> Result<Known<Area>, BakeError>,
    ) -> Result<Self, BakeError> {
        let (first, total) = numbered(pieces);
        let Known { areas, open, closed } = areas(total)?;
        let sides = sides_of(pieces, columns as usize, side, &first);
        let coast = sides.known(open, |member| areas[member as usize]).ok_or(BakeError::Damaged)?;
        Ok(Self { coast: Arc::new(coast), areas, first, closed })
    }
}

/// The open areas of several pieces counted on: with which number those of each begin, and how many there are.
fn numbered(pieces: &[Piece]) -> (Vec<u32>, u32) {
    let mut total = 0;
    let first = pieces.iter().map(|piece| {
        total += piece.coast().areas;
        total - piece.coast().areas
    });
    (first.collect(), total)
}

/// The sides of several pieces as one, with areas numbered on from `first`.
fn sides_of(pieces: &[Piece], columns: usize, side: u32, first: &[u32]) -> Survey {
    let rows = pieces.len() / columns;
    let mut survey = Survey::default();
    for of in Side::ALL {
        // How many pieces lie along the side, the first of them, and how far apart they are in the list.
        let (along, start, stride) = match of {
            Side::North => (columns, 0, 1),
            Side::East => (rows, columns - 1, columns),
            Side::South => (columns, (rows - 1) * columns, 1),
            Side::West => (rows, 0, columns),
        };
        let mut offset = 0;
        for number in (start..).step_by(stride).take(along) {
            for stretch in pieces[number].coast().side(of) {
                let (from, to) = (offset + stretch.first, offset + stretch.last);
                survey.add(of, Stretch { first: from, last: to, area: first[number] + stretch.area });
            }
            // The longest side of a map is far below 2^16 cells.
            offset += u16::try_from(side).unwrap_or(0);
        }
        survey.end(of);
    }
    survey
}
