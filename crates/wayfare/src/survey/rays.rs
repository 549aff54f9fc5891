//! Where along a diagonal there is anything to do: [`Rays`], so that a scan need not look beside every cell of it.
//!
//! Comes in: the bits of even ground and its corners. Goes out: for each diagonal direction a bit per cell, set where a scan that
//! comes this way has to stop: the step into the cell is not legal, a jump lands on it, or the cell's own row or column leads
//! to a corner. Bits of one diagonal lie side by side, so that 64 cells are passed at a time. Blocks of bits along diagonals
//! are what scans along rows have by Harabor and Grastien (2014); what lies beside a diagonal is noted as in Rabin and
//! Silva's JPS+ (2015), a bit instead of a distance.
//!
//! PERF: with it, a query along a survey takes 2.3 × fewer instructions on `MovingAI`'s `cities/Berlin_0_1024`, 1.8 × on
//! `bg512/AR0011SR`, and 1.2 × as a geometric mean over 19 maps.

use crate::bits::{At, Bits, Plane, Word, transpose};
use crate::cell::Direction;
use crate::rules::{Corners as CornerRule, Directions};
use crate::survey::corners::{Corner, Corners};
use crate::survey::pace::{AT_ONCE, lines_at_once, parts, pause};

/// The diagonals in the order in which they are kept.
const DIAGONALS: [Direction; 4] =
    [Direction::NorthWest, Direction::NorthEast, Direction::SouthEast, Direction::SouthWest];

/// Cells of a word.
const WORD: usize = 64;

/// See the [module](self).
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Rays {
    /// Columns, the border included: so many diagonals of each kind there are, for one that leaves on one side and one that
    /// begins on the other have no row in common, and share their bits.
    width: u32,
    /// Words of a diagonal: a bit for each row.
    words: usize,
    diagonals: [Vec<u64>; 4],
}

impl Rays {
    /// Where there are diagonals.
    pub(crate) async fn of(bits: &Bits, corners: &Corners) -> Option<Self> {
        match bits.rules.directions {
            Directions::Eight => Some(Self::new(bits, corners).await),
            Directions::Four => None,
        }
    }

    async fn new(bits: &Bits, corners: &Corners) -> Self {
        let leads = Leads::new(bits).await;
        Self::with(bits, Some((&leads, corners))).await
    }

    /// With a stop wherever a step is not legal, and where something leads to a corner or is one.
    async fn with(bits: &Bits, beside: Option<(&Leads, &Corners)>) -> Self {
        let (height, width) = (bits.rows.lines(), bits.columns.lines());
        let mut diagonals = [const { Vec::new() }; 4];
        for (diagonal, direction) in diagonals.iter_mut().zip(DIAGONALS) {
            let (east, south) = sides(direction);
            let mut stops = illegal(bits, east, south).await;
            if let Some((leads, corners)) = beside {
                leads.add(direction, &mut stops).await;
                for some in corners.list.chunks(AT_ONCE) {
                    land(direction, some, &mut stops);
                    pause().await;
                }
            }
            *diagonal = stops.sheared(width, east == south).await.turned(width).await.bits;
        }
        let width = u32::try_from(width).unwrap_or(u32::MAX);
        Self { width, words: height.div_ceil(WORD), diagonals }
    }

    /// Tells every corner how far its diagonals go.
    ///
    /// PERF: 7 × fewer instructions than a walk along each of them on `MovingAI`'s `cities/Berlin_0_1024`.
    pub(crate) async fn clear(bits: &Bits, corners: &mut Corners) {
        if bits.rules.directions == Directions::Four {
            return;
        }
        let rays = Self::with(bits, None).await;
        for some in corners.list.chunks_mut(AT_ONCE / 4) {
            for corner in some {
                let at = corner.at();
                let stops = [
                    rays.ray::<false, false>(at).stop(at.y, false),
                    rays.ray::<true, false>(at).stop(at.y, false),
                    rays.ray::<true, true>(at).stop(at.y, true),
                    rays.ray::<false, true>(at).stop(at.y, true),
                ];
                // The last step before that is legal.
                let steps = |stop: u32| u16::try_from(stop.abs_diff(at.y) - 1).unwrap_or(u16::MAX);
                corner.clearances = stops.map(steps);
            }
            pause().await;
        }
    }

    /// The diagonal through a cell.
    #[inline]
    pub(crate) fn ray<const EAST: bool, const SOUTH: bool>(&self, at: At) -> Ray<'_> {
        let index = match (EAST, SOUTH) {
            (false, false) => 0,
            (true, false) => 1,
            (true, true) => 2,
            (false, true) => 3,
        };
        let line = number(self.width, at, EAST == SOUTH) as usize * self.words;
        Ray(&self.diagonals[index][line..line + self.words])
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.diagonals.iter().map(|diagonal| size_of_val(&**diagonal)).sum()
    }
}

/// A stop at each of some corners that a jump lands on in this direction.
fn land(direction: Direction, corners: &[Corner], stops: &mut Table) {
    for corner in corners.iter().filter(|corner| corner.ways >> direction as u8 & 1 == 1) {
        let at = corner.at();
        stops.bits[at.y as usize * stops.words + at.x as usize / WORD] |= 1 << (at.x % 64);
    }
}

/// The cells whose row leads to a corner on one side and on the other, and the same of columns, in lines that are rows.
struct Leads {
    rows: [Table; 2],
    columns: [Table; 2],
}

impl Leads {
    async fn new(bits: &Bits) -> Self {
        let height = bits.rows.lines();
        Self {
            rows: [leading(&bits.rows, false).await, leading(&bits.rows, true).await],
            columns: [
                leading(&bits.columns, false).await.turned(height).await,
                leading(&bits.columns, true).await.turned(height).await,
            ],
        }
    }

    /// A stop wherever a row or a column leads on from a diagonal.
    async fn add(&self, direction: Direction, stops: &mut Table) {
        let (east, south) = sides(direction);
        let (rows, columns) = (&self.rows[usize::from(east)], &self.columns[usize::from(south)]);
        for some in parts(stops.bits.len(), 2 * AT_ONCE) {
            let leads = rows.bits[some.clone()].iter().zip(&columns.bits[some.clone()]);
            for (stop, (row, column)) in stops.bits[some].iter_mut().zip(leads) {
                *stop |= row | column;
            }
            pause().await;
        }
    }
}

/// One diagonal, a bit for each row.
#[derive(Clone, Copy)]
pub(crate) struct Ray<'a>(&'a [u64]);

impl Ray<'_> {
    /// The next row below or above `row` where there is something to do.
    #[inline]
    pub(crate) fn stop(self, row: u32, south: bool) -> u32 {
        let from = if south { row + 1 } else { row - 1 };
        let mut at = from as usize / WORD;
        // The border stops everything, so that no scan leaves the diagonal.
        let place = |at: usize| u32::try_from(at * WORD).unwrap_or(u32::MAX);
        if south {
            let mut word = self.0[at] & u64::MAX << (from % 64);
            while word == 0 {
                at += 1;
                word = self.0[at];
            }
            place(at) + word.trailing_zeros()
        } else {
            let mut word = self.0[at] & u64::MAX >> (63 - from % 64);
            while word == 0 {
                at -= 1;
                word = self.0[at];
            }
            place(at) + 63 - word.leading_zeros()
        }
    }
}

/// Which of the diagonals of one kind a cell lies on.
#[inline]
const fn number(width: u32, at: At, falls: bool) -> u32 {
    let place = if falls { at.x + (width - at.y % width) } else { at.x + at.y % width };
    if place >= width { place - width } else { place }
}

const fn sides(direction: Direction) -> (bool, bool) {
    let east = matches!(direction, Direction::NorthEast | Direction::SouthEast);
    (east, matches!(direction, Direction::SouthEast | Direction::SouthWest))
}

/// The cells of each line from which a scan along it ends at a corner, and not at a wall.
async fn leading(plane: &Plane, is_ahead: bool) -> Table {
    let words = plane.words();
    let mut lead = Table { words, bits: vec![0; plane.lines() * words] };
    let at_once = lines_at_once(8 * words);
    for (some, first) in lead.bits.chunks_mut(at_once * words).zip((0..).step_by(at_once)) {
        for (line, lead) in (first..).zip(some.chunks_exact_mut(words)) {
            lead_along(plane.line(line), is_ahead, lead);
        }
        pause().await;
    }
    lead
}

fn lead_along(words: &[Word], is_ahead: bool, lead: &mut [u64]) {
    let stops = |word: usize| if is_ahead { words[word].ahead } else { words[word].back };
    for (word, cells) in words.iter().enumerate() {
        let mut ends = cells.free & stops(word);
        while ends != 0 {
            let end = word * WORD + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            // Up to the stop before it, which is no farther than the border.
            if is_ahead {
                fill(lead, stop_before(&stops, end), end - 1);
            } else {
                fill(lead, end + 1, stop_after(&stops, end));
            }
        }
    }
}

fn stop_before(stops: &impl Fn(usize) -> u64, place: usize) -> usize {
    let mut at = (place - 1) / WORD;
    let mut word = stops(at) & u64::MAX >> (63 - (place - 1) % WORD);
    while word == 0 {
        at -= 1;
        word = stops(at);
    }
    at * WORD + 63 - word.leading_zeros() as usize
}

fn stop_after(stops: &impl Fn(usize) -> u64, place: usize) -> usize {
    let mut at = (place + 1) / WORD;
    let mut word = stops(at) & u64::MAX << ((place + 1) % WORD);
    while word == 0 {
        at += 1;
        word = stops(at);
    }
    at * WORD + word.trailing_zeros() as usize
}

/// Sets the bits from one place to another, both included.
fn fill(line: &mut [u64], first: usize, last: usize) {
    let (begin, end) = (first / WORD, last / WORD);
    for (at, word) in (begin..=end).zip(&mut line[begin..=end]) {
        let above = if at == begin { u64::MAX << (first % WORD) } else { u64::MAX };
        let below = if at == end { u64::MAX >> (63 - last % WORD) } else { u64::MAX };
        *word |= above & below;
    }
}

/// The cells that a diagonal step does not lead into.
async fn illegal(bits: &Bits, east: bool, south: bool) -> Table {
    let words = bits.rows.words();
    let mut table = Table { words, bits: vec![u64::MAX; bits.rows.lines() * words] };
    let at_once = lines_at_once(words);
    for rows in parts(bits.height(), at_once) {
        for row in rows {
            let illegal = &mut table.bits[(row + 1) * words..][..words];
            forbid(bits, u32::try_from(row + 1).unwrap_or(u32::MAX), (east, south), illegal);
        }
        pause().await;
    }
    table
}

/// The same in one row.
fn forbid(bits: &Bits, row: u32, (east, south): (bool, bool), illegal: &mut [u64]) {
    let (here, before) = (bits.rows.line(row), bits.rows.line(if south { row - 1 } else { row + 1 }));
    for (word, illegal) in illegal.iter_mut().enumerate() {
        let beside = if east {
            here[word].free << 1 | word.checked_sub(1).map_or(0, |left| here[left].free >> 63)
        } else {
            here[word].free >> 1 | here.get(word + 1).map_or(0, |right| right.free << 63)
        };
        let allowed = match bits.rules.corners {
            CornerRule::BothFree => before[word].free & beside,
            CornerRule::OneFree => before[word].free | beside,
            CornerRule::Always => u64::MAX,
        };
        *illegal = !(here[word].free & allowed);
    }
}

/// Bits in lines.
struct Table {
    /// Words of a line.
    words: usize,
    bits: Vec<u64>,
}

impl Table {
    /// Its columns as lines, of which there are so many.
    async fn turned(&self, columns: usize) -> Self {
        let words = (self.bits.len() / self.words).div_ceil(WORD);
        let mut turned = Self { words, bits: vec![0; columns * words] };
        for down in 0..words {
            self.turn(down, columns, &mut turned);
            pause().await;
        }
        turned
    }

    /// The same of 64 lines.
    fn turn(&self, down: usize, columns: usize, turned: &mut Self) {
        let lines = self.bits.len() / self.words;
        for across in 0..self.words {
            let mut square = [0; WORD];
            for (line, word) in (down * WORD..lines).zip(&mut square) {
                *word = self.bits[line * self.words + across];
            }
            transpose(&mut square);
            for (column, word) in (across * WORD..columns).zip(square) {
                turned.bits[column * turned.words + down] = word;
            }
        }
    }

    /// Every line moved by its number, towards lower places if it falls and towards higher ones if not, so that cells of one diagonal
    /// come to lie in one column. What leaves a line of so many places on one side comes in on the other.
    async fn sheared(&self, width: usize, falls: bool) -> Self {
        let mut sheared = Self { words: self.words, bits: vec![0; self.bits.len()] };
        let lines = self.bits.len() / self.words;
        for rows in parts(lines, lines_at_once(4 * self.words)) {
            for row in rows {
                let up = if falls { width - row % width } else { row % width };
                let places = row * self.words..(row + 1) * self.words;
                shift(&self.bits[places.clone()], up, width, &mut sheared.bits[places]);
            }
            pause().await;
        }
        sheared
    }
}

/// A line moved up by so many places, around its end.
fn shift(line: &[u64], up: usize, width: usize, moved: &mut [u64]) {
    for (word, bits) in line.iter().enumerate() {
        let inside = width - (word * WORD).min(width);
        let bits = if inside >= WORD { *bits } else { bits & ((1 << inside) - 1) };
        let place = word * WORD + up;
        if place < width {
            put(moved, place, bits, width);
        }
        // Of a word that crosses the end, the other part comes in at the beginning.
        if place >= width {
            put(moved, place - width, bits, width);
        } else if place + WORD > width {
            put(moved, 0, bits >> (width - place), width);
        }
    }
}

/// Adds 64 bits at a place; what lies beyond the width is lost.
fn put(line: &mut [u64], place: usize, bits: u64, width: usize) {
    let inside = width - place;
    let bits = if inside >= WORD { bits } else { bits & ((1 << inside) - 1) };
    line[place / WORD] |= bits << (place % WORD);
    if !place.is_multiple_of(WORD)
        && let Some(next) = line.get_mut(place / WORD + 1)
    {
        *next |= bits >> (WORD - place % WORD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Ground;
    use crate::map::{Map, Terrain};
    use crate::onward::ANYHOW;
    use crate::rules::Rules;
    use crate::search::jump::scan::{Landing, Scan};
    use crate::survey::corners::clearance;
    use crate::survey::pace::finish;
    use crate::view::View;

    #[test]
    fn jumps_land_where_they_do_without() {
        let (mut seed, mut landings) = (1_u64, 0);
        for corners in [CornerRule::BothFree, CornerRule::OneFree, CornerRule::Always] {
            let rules = Rules { corners, ..Rules::default() };
            for (width, height, walls) in
                [(1, 1, 2), (5, 3, 2), (62, 64, 1), (63, 65, 2), (64, 62, 1), (200, 70, 1), (40, 190, 1)]
            {
                let mut next = |below: u64| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (seed >> 33) % below
                };
                let mut map = Map::new(width, height).unwrap();
                map.edit(
                    map.area().unwrap(),
                    |_, _| {
                        if next(30) < walls { Terrain::WALL } else { Terrain::OPEN }
                    },
                )
                .unwrap();
                let ground = Ground::new(map.clone(), View::from(rules));
                let bits = Bits::new(&ground, None);
                let mut corners = finish(Corners::find(&map, &bits)).unwrap();
                finish(Rays::clear(&bits, &mut corners));
                let sides = [(false, false), (true, false), (true, true), (false, true)];
                for corner in &corners.list {
                    let walked = sides.map(|sides| clearance(&bits, corner.at(), sides, u32::MAX));
                    assert_eq!(corner.clearances.map(u32::from), walked, "{:?} {rules:?}", corner.at());
                }
                let rays = finish(Rays::new(&bits, &corners));
                for cell in map.area().unwrap().cells().filter(|cell| ground.is_open(*cell)) {
                    let goal = At {
                        x: u32::try_from(next(width.into())).unwrap() + 1,
                        y: u32::try_from(next(height.into())).unwrap() + 1,
                    };
                    let plain = Scan { goal, ..Scan::of_all(&bits, [985, 985, 1393]) };
                    let found = |scan: &Scan<'_>| {
                        let mut found = Vec::new();
                        scan.jump_along(At::new(cell), ANYHOW, &mut |landing: Landing| found.push(landing));
                        found
                    };
                    let expected = found(&plain);
                    assert_eq!(found(&Scan { rays: Some(&rays), ..plain }), expected, "{cell} {rules:?}");
                    landings += expected.len();
                }
            }
        }
        assert!(landings > 100_000, "{landings}");
    }
}
