//! The ground as bits, 64 cells a word: which cells are free, and where a scan along a row or a column has to stop.
//!
//! Comes in: even ground. Goes out: [`Bits`], read by the scans of the jump engine. There is one plane whose lines are
//! rows and one whose lines are columns, so that a scan in any direction reads whole words. Around the map runs a border
//! of blocked cells, so that no scan leaves it: column and row numbers here are one higher than on the map.
//!
//! After an edit the words of the chunks that changed are written anew; lines are kept in bands of 64 that are shared
//! between snapshots until one of them changes.

mod cursor;

use core::ops::Range;
use std::sync::Arc;

use crate::cell::Cell;
use crate::ground::Ground;
use crate::island::Islands;
use crate::map::{CHUNK_SIDE, ChunkId};
use crate::rules::{Corners, Directions, Rules};
use crate::turns::Turns;
pub(crate) use cursor::Cursor;

/// Free cells and stops of one ground.
#[derive(Clone)]
pub(crate) struct Bits {
    pub(crate) rows: Plane,
    pub(crate) columns: Plane,
    pub(crate) rules: Rules,
    pub(crate) turns: &'static Turns,
}

/// A cell by its column and row, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct At {
    pub(crate) x: u32,
    pub(crate) y: u32,
}

impl At {
    /// Of a cell known to lie on a map.
    pub(crate) const fn new(cell: Cell) -> Self {
        Self { x: cell.x.cast_unsigned() + 1, y: cell.y.cast_unsigned() + 1 }
    }

    pub(crate) const fn cell(self) -> Cell {
        Cell::new(self.x.cast_signed() - 1, self.y.cast_signed() - 1)
    }
}

impl Bits {
    pub(crate) fn new(ground: &Ground, islands: Option<&Islands>) -> Self {
        let (width, height) = (ground.map.width(), ground.map.height());
        let rules = ground.view.rules;
        let (rows, columns) = (Plane::new(height + 2, width + 2), Plane::new(width + 2, height + 2));
        let mut bits = Self { rows, columns, rules, turns: Turns::of(rules) };
        for slot in 0..ground.map.chunks().len() {
            bits.write_free(ground, islands, slot);
        }
        let rule = StopRule::of(rules);
        bits.rows.write_all_stops(rule);
        bits.columns.write_all_stops(rule);
        bits
    }

    /// Looks again at some chunks. The ground has the same shape and rule as before.
    pub(crate) fn update(
        &mut self,
        ground: &Ground,
        islands: Option<&Islands>,
        changed: impl Iterator<Item = usize>,
    ) {
        let columns = ground.map.columns() as usize;
        let changed: Vec<usize> = changed.collect();
        let written: Vec<[Range<usize>; 2]> =
            changed.iter().map(|slot| self.write_free(ground, islands, *slot)).collect();
        let rule = StopRule::of(self.rules);
        for (&slot, [rows, upright]) in changed.iter().zip(written) {
            let (x, y) = (slot % columns, slot / columns);
            self.rows.write_stops(rows, x, rule);
            self.columns.write_stops(upright, y, rule);
        }
    }

    /// Writes what is free in a chunk. Returns which rows and columns that changes, and perhaps some between them. Islands that
    /// are of this ground know already which cells are open.
    fn write_free(&mut self, ground: &Ground, islands: Option<&Islands>, slot: usize) -> [Range<usize>; 2] {
        let columns = ground.map.columns() as usize;
        let (x, y) = (slot % columns, slot / columns);
        let near = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let id = ChunkId { x: near(x), y: near(y) };
        let open = islands.and_then(|islands| islands.open_rows(id)).copied();
        let mut free = open.unwrap_or_else(|| ground.open().rows(&ground.map.chunks()[slot].terrain));
        let rows = self.rows.write_free(y, x, &free);
        transpose(&mut free);
        [rows, self.columns.write_free(x, y, &free)]
    }

    /// Of the 64 cells of a row from column `x` on, a multiple of 64: those that are free and where a wall beside them may
    /// turn a jump. None in a row that the map does not have.
    ///
    /// PERF: looking at no other cells, corners are found with 6 × fewer instructions (noise and streets, 256² cells), and a
    /// whole survey takes 1.3 × fewer.
    pub(crate) fn may_turn(&self, x: u32, row: u32) -> u64 {
        if row as usize >= self.height() {
            return 0;
        }
        let [above, here, below] =
            [0, 1, 2].map(|line| shifted(self.rows.line(row + line), x as usize / BAND));
        // From the top left clockwise, as directions are; each diagonal stands between two that are not.
        let around = [above[0], above[1], above[2], here[2], below[2], below[1], below[0], here[0]];
        let behind = matches!(StopRule::of(self.rules), StopRule::Behind);
        let mut turns = 0;
        for pair in [0, 2, 4, 6] {
            let (diagonal, sides) = (around[pair], [around[pair + 1], around[(pair + 7) % 8]]);
            for side in sides {
                turns |= if behind { !diagonal & side } else { diagonal & !side };
            }
        }
        turns & here[1]
    }

    /// Whether nothing is free in some chunks of the map that was not free in older bits of the same shape. `columns` is how
    /// many chunks a row of them has.
    pub(crate) fn are_within(
        &self,
        old: &Self,
        columns: u32,
        mut chunks: impl Iterator<Item = usize>,
    ) -> bool {
        chunks.all(|slot| {
            let (x, y) = (slot % columns as usize, slot / columns as usize);
            let lines = (y * BAND + 1..self.rows.lines - 1).take(BAND);
            lines.map(|line| u32::try_from(line).unwrap_or(0)).all(|line| {
                // A chunk begins one bit into its word and ends with the first of the next.
                let end = (x + 2).min(self.rows.words);
                let words = self.rows.line(line)[x..end].iter().zip(&old.rows.line(line)[x..end]);
                words.into_iter().all(|(new, old)| new.free & !old.free == 0)
            })
        })
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        let planes = [&self.rows, &self.columns];
        planes.iter().flat_map(|plane| &plane.bands).map(|band| size_of_val(&**band)).sum()
    }

    /// Rows of the map.
    pub(crate) const fn height(&self) -> usize {
        self.rows.lines - 2
    }

    /// Whether a cell is free.
    #[inline]
    pub(crate) fn is_free(&self, at: At) -> bool {
        self.rows.cursor(at.y).is_free(at.x)
    }

    /// Which neighbours of a cell of the map are free, as bits in the order of [`Direction::ALL`](crate::Direction::ALL).
    #[inline]
    pub(crate) fn free_around(&self, at: At) -> u8 {
        let above = three(self.rows.line(at.y - 1), at.x - 1);
        let here = three(self.rows.line(at.y), at.x - 1);
        let below = three(self.rows.line(at.y + 1), at.x - 1);
        let below_mirrored = (below & 1) << 2 | below & 2 | below >> 2;
        above | (here >> 2) << 3 | below_mirrored << 4 | (here & 1) << 7
    }
}

/// Lines of one direction, each with its free cells and its stops.
#[derive(Clone)]
pub(crate) struct Plane {
    lines: usize,
    /// Words of a line.
    words: usize,
    bands: Vec<Arc<[Word]>>,
}

/// 64 cells of a line.
///
/// PERF: side by side, what is free and where scans stop are read with one check of bounds, and from one line of the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    pub(crate) free: u64,
    /// Where scans towards higher numbers stop.
    pub(crate) ahead: u64,
    /// And those towards lower ones.
    pub(crate) back: u64,
}

/// Lines of a band, and bits of a word.
const BAND: usize = CHUNK_SIDE as usize;

impl Plane {
    /// Nothing is free.
    fn new(lines: u32, length: u32) -> Self {
        let (lines, words) = (lines as usize, (length as usize).div_ceil(BAND));
        let band: Arc<[Word]> = vec![Word { free: 0, ahead: u64::MAX, back: u64::MAX }; words * BAND].into();
        Self { lines, words, bands: vec![band; lines.div_ceil(BAND)] }
    }

    /// How many lines there are, the border included.
    pub(crate) const fn lines(&self) -> usize {
        self.lines
    }

    /// Words of a line.
    pub(crate) const fn words(&self) -> usize {
        self.words
    }

    /// The words of a line.
    #[inline]
    pub(crate) fn line(&self, line: u32) -> &[Word] {
        let begin = line as usize % BAND * self.words;
        &self.bands[line as usize / BAND][begin..begin + self.words]
    }

    /// Reads the plane from a line on.
    #[inline]
    pub(crate) fn cursor(&self, line: u32) -> Cursor<'_> {
        let base = line as usize % BAND * self.words;
        Cursor { plane: self, band: &self.bands[line as usize / BAND], base, line }
    }

    /// Calls `write` with each of these lines.
    ///
    /// PERF: with the band asked for once instead of for each word, stops looked for beside changed lines only, and open cells
    /// taken from the islands, a batch of edits of the suite `dynamic` takes half the time.
    fn for_lines(&mut self, lines: Range<usize>, mut write: impl FnMut(usize, &mut [Word])) {
        let size = self.words;
        let mut line = lines.start;
        while line < lines.end {
            let band = Arc::make_mut(&mut self.bands[line / BAND]);
            let end = lines.end.min((line / BAND + 1) * BAND);
            for line in line..end {
                write(line, &mut band[line % BAND * size..][..size]);
            }
            line = end;
        }
    }

    /// Writes what is free in the chunk that is the `band`th along the lines and the `word`th across. Returns which lines that
    /// changes, and perhaps some between them.
    fn write_free(&mut self, band: usize, word: usize, free: &[u64; BAND]) -> Range<usize> {
        let first = band * BAND + 1;
        let mut changed = first..first;
        self.for_lines(first..(first + BAND).min(self.lines - 1), |line, words| {
            let free = free[line - first];
            // One bit to the right, for the border.
            let low = words[word].free & 1 | free << 1;
            let mut is_same = core::mem::replace(&mut words[word].free, low) == low;
            if let Some(next) = words.get_mut(word + 1) {
                let high = next.free & !1 | free >> 63;
                is_same &= core::mem::replace(&mut next.free, high) == high;
            }
            if !is_same {
                changed = if changed.is_empty() { line } else { changed.start }..line + 1;
            }
        });
        changed
    }

    /// Writes the stops in and around lines of which the free cells of one chunk have changed, the `word`th across.
    fn write_stops(&mut self, changed: Range<usize>, word: usize, rule: StopRule) {
        if changed.is_empty() {
            return;
        }
        let lines = changed.start - 1..(changed.end + 1).min(self.lines);
        let (first, last) = (lines.start, (word + 2).min(self.words));
        let mut stops = [[[0; 2]; 2]; BAND + 2];
        for (line, found) in lines.clone().zip(&mut stops) {
            for (word, found) in (word..last).zip(found) {
                *found = self.stops(line, word, rule);
            }
        }
        self.for_lines(lines, |line, words| {
            for (word, [ahead, back]) in words[word..last].iter_mut().zip(stops[line - first]) {
                (word.ahead, word.back) = (ahead, back);
            }
        });
    }

    fn stops(&self, line: usize, word: usize, rule: StopRule) -> [u64; 2] {
        let window = |line: usize| Window::new(self.line(u32::try_from(line).unwrap_or(0)), word);
        let here = window(line);
        let sides = [line.checked_sub(1), Some(line + 1).filter(|next| *next < self.lines)];
        sides.into_iter().flatten().fold([!here.word; 2], |stops, side| {
            let forced = rule.forced(&here, &window(side));
            [stops[0] | forced[0], stops[1] | forced[1]]
        })
    }

    /// Writes the stops of all lines.
    ///
    /// PERF: with three lines side by side, each read once, 4096² cells take 1.2 ms; chunk by chunk it was 8.
    fn write_all_stops(&mut self, rule: StopRule) {
        // A blocked word before each line and one after it, and a blocked line before and after all.
        let mut near = [(); 3].map(|()| vec![0; self.words + 2]);
        for next in 0..=self.lines {
            near.rotate_left(1);
            let [above, here, below] = &mut near;
            match u32::try_from(next).ok().filter(|_| next < self.lines) {
                Some(next) => {
                    below[1..].iter_mut().zip(self.line(next)).for_each(|(below, word)| *below = word.free);
                }
                None => below.fill(0),
            }
            let Some(line) = next.checked_sub(1) else { continue };
            let begin = line % BAND * self.words;
            let words = &mut Arc::make_mut(&mut self.bands[line / BAND])[begin..][..self.words];
            let windows = [&*above, here, below].map(|line| line.array_windows::<3>().map(Window::of));
            let [above, here, below] = windows;
            for (word, (here, (above, below))) in words.iter_mut().zip(here.zip(above.zip(below))) {
                let [one, other] = [above, below].map(|side| rule.forced(&here, &side));
                (word.ahead, word.back) = (!here.word | one[0] | other[0], !here.word | one[1] | other[1]);
            }
        }
    }
}

/// A word of a line, and the same with every bit moved to its neighbour.
struct Window {
    word: u64,
    before: u64,
    after: u64,
}

impl Window {
    fn new(line: &[Word], at: usize) -> Self {
        let free = |at: Option<usize>| at.and_then(|at| line.get(at)).map_or(0, |word| word.free);
        Self::of(&[free(at.checked_sub(1)), line[at].free, free(Some(at + 1))])
    }

    /// The middle one of three words.
    #[inline]
    const fn of([left, word, right]: &[u64; 3]) -> Self {
        Self { word: *word, before: *word << 1 | *left >> 63, after: *word >> 1 | *right << 63 }
    }
}

/// The 64 cells of the map that begin in a word of a line, behind the border: those before them, themselves, those after them.
fn shifted(line: &[Word], word: usize) -> [u64; 3] {
    let (low, high) = (line[word].free, line.get(word + 1).map_or(0, |high| high.free));
    [low, low >> 1 | high << 63, low >> 2 | high << 62]
}

/// What makes a straight scan stop at a free cell.
#[derive(Clone, Copy)]
enum StopRule {
    Behind,
    Beside,
    BesideFreely,
}

impl StopRule {
    const fn of(rules: Rules) -> Self {
        match (rules.directions, rules.corners) {
            (Directions::Four, _) | (_, Corners::BothFree) => Self::Behind,
            (_, Corners::OneFree) => Self::BesideFreely,
            (_, Corners::Always) => Self::Beside,
        }
    }

    /// Where a line beside this one makes scans stop, towards higher and towards lower numbers.
    #[inline]
    const fn forced(self, here: &Window, side: &Window) -> [u64; 2] {
        match self {
            // A turn that the cell before could not take.
            Self::Behind => [side.word & !side.before, side.word & !side.after],
            // A turn past what is beside this cell.
            Self::Beside => [!side.word & side.after, !side.word & side.before],
            Self::BesideFreely => {
                [!side.word & side.after & here.after, !side.word & side.before & here.before]
            }
        }
    }
}

/// Three bits from `first` on.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "only three bits are left")]
fn three(line: &[Word], first: u32) -> u8 {
    let (at, shift) = (first as usize / BAND, first % 64);
    let mut bits = line[at].free >> shift;
    if shift > 61 {
        bits |= line[at + 1].free << (64 - shift);
    }
    bits as u8 & 7
}

/// Turns rows into columns, by swapping ever smaller squares (Henry S. Warren, "Hacker's Delight").
pub(crate) fn transpose(words: &mut [u64; BAND]) {
    let (mut side, mut mask) = (32, 0xFFFF_FFFF_u64);
    while side != 0 {
        let mut row = 0;
        while row < BAND {
            let swapped = (words[row] >> side ^ words[row + side]) & mask;
            words[row] ^= swapped << side;
            words[row + side] ^= swapped;
            row = (row + side + 1) & !side;
        }
        side /= 2;
        mask ^= mask << side;
    }
}

#[cfg(test)]
impl Bits {
    /// Whether the same is free, and scans stop at the same cells.
    pub(crate) fn are_like(&self, other: &Self) -> bool {
        (&self.rows.bands, &self.columns.bands) == (&other.rows.bands, &other.columns.bands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Direction;
    use crate::map::{Map, Terrain};
    use crate::turns::natural;
    use crate::view::View;

    fn scattered(width: u32, height: u32, seed: &mut u64) -> Map {
        let mut map = Map::new(width, height).unwrap();
        map.edit(map.area().unwrap(), |_, _| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if *seed >> 61 < 2 { Terrain::WALL } else { Terrain::OPEN }
        })
        .unwrap();
        map
    }

    fn rules() -> impl Iterator<Item = Rules> {
        let corners = [Corners::BothFree, Corners::OneFree, Corners::Always];
        [Directions::Four, Directions::Eight].into_iter().flat_map(move |directions| {
            corners.map(|corners| Rules { directions, corners, ..Rules::default() })
        })
    }

    #[test]
    fn scans_stop_where_the_table_knows_a_turn() {
        let mut seed = 1;
        for (width, height) in [(1, 1), (5, 3), (62, 64), (63, 65), (64, 62), (130, 70)] {
            for rules in rules() {
                let map = scattered(width, height, &mut seed);
                let ground = Ground::new(map.clone(), View::from(rules));
                let bits = Bits::new(&ground, None);
                for cell in map.area().unwrap().cells().filter(|cell| ground.is_open(*cell)) {
                    let at = At::new(cell);
                    let around = Direction::ALL.map(|direction| ground.is_open(cell.step(direction)));
                    let expected = (0..8).fold(0, |free, i| free | u8::from(around[i]) << i);
                    assert_eq!(bits.free_around(at), expected);
                    let (row, column) = ((&bits.rows, at.y, at.x), (&bits.columns, at.x, at.y));
                    for (direction, (plane, line, place), is_ahead) in [
                        (Direction::East, row, true),
                        (Direction::West, row, false),
                        (Direction::South, column, true),
                        (Direction::North, column, false),
                    ] {
                        let before = around[direction.opposite() as usize];
                        // In four directions columns are walked, not scanned.
                        if !before || (rules.directions == Directions::Four && direction.axis() == 1) {
                            continue;
                        }
                        let steps = bits.turns.steps(direction as u8, expected);
                        let turns = steps & !natural(rules, direction) != 0;
                        let before = if is_ahead { place - 1 } else { place + 1 };
                        let stops = plane.cursor(line).stop(before, is_ahead) == (place, true);
                        assert_eq!(stops, turns, "{direction:?} {cell} {rules:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_updated_equals_what_is_new() {
        let mut seed = 2;
        for rules in rules() {
            let mut map = scattered(200, 150, &mut seed);
            let mut ground = Ground::new(map.clone(), View::from(rules));
            let mut bits = Bits::new(&ground, None);
            for round in 0..40_i32 {
                let before = map.clone();
                let cell = Cell::new(round * 37 % 200, round * 53 % 150);
                let cell = if round % 3 == 0 { Cell::new(cell.x & !63, cell.y | 63) } else { cell };
                let flipped = |_, old: Terrain| {
                    if old == Terrain::WALL { Terrain::OPEN } else { Terrain::WALL }
                };
                if map.contains(cell) {
                    map.edit(cell, flipped).unwrap();
                }
                ground.set_map(&map);
                bits.update(&ground, None, map.chunks().changed_from(before.chunks()));
                let anew = Bits::new(&ground, None);
                assert_eq!(bits.rows.bands, anew.rows.bands);
                assert_eq!(bits.columns.bands, anew.columns.bands);
            }
        }
    }
}
