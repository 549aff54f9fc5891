//! The corners of the ground: cells where a jump may land, each with a number that follows from where it lies.
//!
//! Comes in: the bits of even ground. Goes out: [`Corners`], the nodes of the [`Graph`](super::graph::Graph).

use crate::bits::{At, Bits, Plane};
use crate::cell::Direction;
use crate::map::{CHUNK_SIDE, Map};
use crate::rules::{Corners as CornerRule, Directions};
use crate::survey::deadend::NO_BLOCK;
use crate::survey::pace::pause;
use crate::turns::natural;

/// Cells where jumps may land, in the order in which the map stores its cells.
pub(crate) struct Corners {
    /// Chunks in a row of chunks.
    columns: u32,
    /// A row of a chunk each: which of its cells are corners, and the number of the first.
    rows: Vec<(u64, u32)>,
    pub(crate) list: Vec<Corner>,
}

/// A cell where jumps may land, with all that a search asks about it.
///
/// PERF: in one place instead of three, and aligned so that a single line of the cache holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(32))]
pub(crate) struct Corner {
    /// Column and row, as in [`At`].
    place: [u16; 2],
    /// How far its diagonals go: to the north-west, and clockwise from there. In four directions nobody asks.
    pub(crate) clearances: [u16; 4],
    /// What the graph keeps for the first of its ways; the others follow.
    first: u32,
    /// The block that its row's run hangs in, and its column's.
    pub(crate) blocks: [u32; 2],
    /// The directions in which a jump may land here, as bits.
    pub(crate) ways: u8,
}

impl Corners {
    /// `None` if there are more than can be numbered.
    pub(crate) async fn find(map: &Map, bits: &Bits) -> Option<Self> {
        let mut rows = Vec::with_capacity(map.chunks().len() * CHUNK_SIDE as usize);
        // A list for each chunk: to move a single one as it grows would take too long.
        let mut lists = Vec::with_capacity(map.chunks().len());
        let (mut number, mut way) = (0, 0);
        for slot in (0..).take(map.chunks().len()) {
            let (x, y) = (slot % map.columns() * CHUNK_SIDE, slot / map.columns() * CHUNK_SIDE);
            let mut list = Vec::new();
            for row in y..y + CHUNK_SIDE {
                let first = u32::try_from(number + list.len()).ok()?;
                rows.push((find_along(bits, x, row, &mut list, &mut way)?, first));
            }
            number += list.len();
            lists.push(list);
            pause().await;
        }
        if number >= MOST {
            return None;
        }
        let mut list = Vec::with_capacity(number);
        for some in lists {
            list.extend(some);
            pause().await;
        }
        Some(Self { columns: map.columns(), rows, list })
    }

    /// The number of the corner at a cell of the map, if it is one.
    #[inline]
    pub(crate) fn number(&self, at: At) -> Option<u32> {
        let (x, y) = (at.x - 1, at.y - 1);
        let slot = (y / CHUNK_SIDE * self.columns + x / CHUNK_SIDE) * CHUNK_SIDE + y % CHUNK_SIDE;
        let (marks, first) = self.rows[slot as usize];
        let mark = 1_u64 << (x % CHUNK_SIDE);
        (marks & mark != 0).then(|| first + (marks & (mark - 1)).count_ones())
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.rows) + size_of_val(&*self.list)
    }
}

impl Corner {
    /// Nothing but where it is, and what leads there.
    fn new(at: At, ways: u8, first: u32) -> Self {
        // Sides are below 2^14.
        let place = [at.x, at.y].map(|place| u16::try_from(place).unwrap_or(u16::MAX));
        Self { place, clearances: [0; 4], first, blocks: [NO_BLOCK; 2], ways }
    }

    #[inline]
    pub(crate) const fn at(self) -> At {
        At { x: self.place[0] as u32, y: self.place[1] as u32 }
    }

    /// What the graph keeps for a jump that lands here in direction `entered`, if one may.
    #[inline]
    pub(crate) const fn node(self, entered: u8) -> Option<u32> {
        let way = 1 << entered as u32;
        if self.ways as u32 & way == 0 {
            return None;
        }
        Some(self.first + (self.ways as u32 & (way - 1)).count_ones())
    }
}

/// Corners are numbered in fewer bits than nodes of a search have, for cells that are no corners are nodes, too.
const MOST: usize = 1 << 27;

/// Adds the corners of a row of a chunk that begins at column `x`, and returns which of its cells are corners. `way` is the
/// number of the next way into a corner.
fn find_along(bits: &Bits, x: u32, row: u32, list: &mut Vec<Corner>, way: &mut u32) -> Option<u64> {
    let (mut marks, mut left) = (0, bits.may_turn(x, row));
    while left != 0 {
        let column = left.trailing_zeros();
        left &= left - 1;
        let at = At { x: x + column + 1, y: row + 1 };
        let ways = ways_into(bits, at);
        if ways != 0 {
            marks |= 1 << column;
            list.push(Corner::new(at, ways, *way));
            *way = way.checked_add(ways.count_ones())?;
        }
    }
    Some(marks)
}

/// The directions in which a jump may land at a free cell.
fn ways_into(bits: &Bits, at: At) -> u8 {
    let free = bits.free_around(at);
    let turns_jumps = |direction: &Direction| {
        let back = direction.opposite() as u8;
        let comes_from_somewhere = free >> back & 1 == 1;
        let lands = match (bits.rules.directions, direction.axis()) {
            // In four directions columns are walked, and jumps end along rows.
            (Directions::Four, axis) => axis == 0,
            (Directions::Eight, 2) => bits.rules.corners != CornerRule::BothFree,
            (Directions::Eight, _) => true,
        };
        let steps = bits.turns.steps(*direction as u8, free);
        comes_from_somewhere && lands && steps & !natural(bits.rules, *direction) != 0
    };
    Direction::ALL.into_iter().filter(turns_jumps).fold(0, |ways, direction| ways | 1 << direction as u8)
}

/// How many legal steps a diagonal has from a cell; no more than `most` are looked at.
pub(crate) fn clearance(bits: &Bits, at: At, (east, south): (bool, bool), most: u32) -> u32 {
    let (mut x, mut steps) = (at.x, 0);
    let mut row = bits.rows.cursor(at.y);
    while steps < most {
        let next = if east { x + 1 } else { x - 1 };
        let here = row;
        row.go(south);
        let sides = (here.is_free(next), row.is_free(x));
        if !row.is_free(next) || !bits.rules.corners.allow(sides.0, sides.1) {
            break;
        }
        x = next;
        steps += 1;
    }
    steps
}

/// Whether a single jump leads from a corner to a cell, in eight directions.
#[inline]
pub(crate) fn sees(bits: &Bits, corner: &Corner, goal: At) -> bool {
    let (at, (both, turn)) = (corner.at(), turn(corner.at(), goal));
    let clearance = match (goal.x > at.x, goal.y > at.y) {
        (false, false) => corner.clearances[0],
        (true, false) => corner.clearances[1],
        (true, true) => corner.clearances[2],
        (false, true) => corner.clearances[3],
    };
    both <= u32::from(clearance) && is_straight(bits, turn, goal)
}

/// Whether a single jump leads from any cell to another one, in eight directions.
pub(crate) fn leads(bits: &Bits, at: At, goal: At) -> bool {
    let (both, turn) = turn(at, goal);
    // Few cells are seen from afar, and a look along a line costs less than one along a diagonal.
    is_straight(bits, turn, goal) && clearance(bits, at, (goal.x > at.x, goal.y > at.y), both) == both
}

/// How many diagonal steps a jump has, and where they end.
#[inline]
fn turn(at: At, goal: At) -> (u32, At) {
    let both = at.x.abs_diff(goal.x).min(at.y.abs_diff(goal.y));
    let x = if goal.x > at.x { at.x + both } else { at.x - both };
    let y = if goal.y > at.y { at.y + both } else { at.y - both };
    (both, At { x, y })
}

/// Whether the line between two cells of one row or column is free.
#[inline]
fn is_straight(bits: &Bits, from: At, to: At) -> bool {
    if from.y == to.y {
        is_clear(&bits.rows, from.y, from.x, to.x)
    } else {
        is_clear(&bits.columns, from.x, from.y, to.y)
    }
}

/// Whether a line of a plane is free from one place to another.
#[inline]
pub(crate) fn is_clear(plane: &Plane, line: u32, from: u32, to: u32) -> bool {
    if from == to {
        return true;
    }
    let wall = plane.cursor(line).wall(from, from < to);
    if from < to { wall > to } else { wall < to }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Ground;
    use crate::map::Terrain;
    use crate::rules::Rules;
    use crate::survey::pace::finish;
    use crate::view::View;

    #[test]
    fn no_corner_is_overlooked() {
        let (mut seed, mut found) = (1_u64, 0);
        let corners = [CornerRule::BothFree, CornerRule::OneFree, CornerRule::Always];
        let rules = [Directions::Four, Directions::Eight]
            .map(|directions| corners.map(|corners| Rules { directions, corners, ..Rules::default() }));
        for rules in rules.into_iter().flatten() {
            for (width, height) in [(1, 1), (5, 3), (62, 64), (63, 65), (64, 62), (130, 70)] {
                let mut map = Map::new(width, height).unwrap();
                map.edit(map.area().unwrap(), |_, _| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    if seed >> 61 < 2 { Terrain::WALL } else { Terrain::OPEN }
                })
                .unwrap();
                let ground = Ground::new(map.clone(), View::from(rules));
                let bits = Bits::new(&ground, None);
                let corners = finish(Corners::find(&map, &bits)).unwrap();
                for cell in map.area().unwrap().cells() {
                    let at = At::new(cell);
                    let ways = if ground.is_open(cell) { ways_into(&bits, at) } else { 0 };
                    let number = corners.number(at);
                    let known = number.map_or(0, |number| corners.list[number as usize].ways);
                    assert_eq!(known, ways, "{rules:?} {cell}");
                    found += usize::from(number.is_some());
                }
            }
        }
        assert!(found > 10_000, "{found}");
    }
}
