//! Which parts of the ground no shortest way between two cells can lead through.
//!
//! Comes in: the bits of even ground. Goes out: [`DeadEnds`], and the blocks of every corner: a search asks about each it comes to.
//!
//! A run is a row of free cells without a gap. Runs that touch are neighbours. Where a run is the only connection between
//! two parts, a way that leaves it into one of them and comes back could as well have stayed on the run: the straight
//! line between two cells of a run is the shortest way there is. So only the blocks (Hopcroft and Tarjan, 1973) between
//! the run of the start and that of the goal are of interest; runs of columns tell of others. Cells of other blocks are no
//! walls, for diagonals need them; they are only no place to turn.

use core::ops::Range;

use crate::bits::{At, Bits, Plane, Word};
use crate::search::scratch::{Paged, Stamped};
use crate::survey::corners::{Corner, Corners};
use crate::survey::pace::{AT_ONCE, filled, finish, lines_at_once, parts, pause};

/// The blocks of the ground, by rows and by columns.
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct DeadEnds {
    pub(super) rows: Forest,
    pub(super) columns: Forest,
}

/// What a search may look at. It is kept in the scratch, so that marks are made without clearing the others.
#[derive(Default)]
pub(crate) struct Marks {
    /// Blocks of rows, and of columns.
    blocks: [Paged<Mark>; 2],
    /// The run where the ways up from the start and the goal meet, its line and its ends: a row, a column.
    apexes: [(u32, u32, u32); 2],
}

/// The search that last marked a block.
#[derive(Clone, Copy, Default)]
struct Mark(u32);

impl Stamped for Mark {
    #[inline]
    fn stamp(&self) -> u32 {
        self.0
    }
}

impl Marks {
    /// What they keep in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().map(Paged::bytes).sum()
    }
}

impl DeadEnds {
    pub(crate) async fn new(bits: &Bits, corners: &mut Corners) -> Self {
        let slips = bits.rules.slips_through_corners();
        let rows = Forest::new(&bits.rows, slips).await;
        let columns = Forest::new(&bits.columns, slips).await;
        Self::of(bits, corners, rows, columns).await
    }

    /// From the blocks by rows and by columns. Every corner learns of its own.
    pub(super) async fn of(bits: &Bits, corners: &mut Corners, rows: Forest, columns: Forest) -> Self {
        for some in corners.list.chunks_mut(AT_ONCE / 4) {
            for corner in some {
                let at = corner.at();
                corner.blocks = [
                    rows.above[rows.run(&bits.rows, at.y, at.x)],
                    columns.above[columns.run(&bits.columns, at.x, at.y)],
                ];
            }
            pause().await;
        }
        Self { rows, columns }
    }

    /// Marks what may lie between two cells.
    pub(crate) fn mark(&self, bits: &Bits, start: At, goal: At, marks: &mut Marks) {
        let Marks { blocks: [rows, columns], apexes } = marks;
        let ends = (self.rows.run(&bits.rows, start.y, start.x), self.rows.run(&bits.rows, goal.y, goal.x));
        apexes[0] = self.rows.mark(ends, rows);
        let ends = (
            self.columns.run(&bits.columns, start.x, start.y),
            self.columns.run(&bits.columns, goal.x, goal.y),
        );
        apexes[1] = self.columns.mark(ends, columns);
    }

    /// Whether a corner may be on a shortest way between the cells marked for.
    #[inline]
    pub(crate) fn may_lead_through(marks: &Marks, corner: &Corner) -> bool {
        let ([row, column], at) = (corner.blocks, corner.at());
        let is_on = |(line, first, last): (u32, u32, u32), at_line: u32, place: u32| {
            at_line == line && (first..=last).contains(&place)
        };
        let has_mark = |blocks: &Paged<Mark>, block: u32| blocks.find(block).is_some();
        (has_mark(&marks.blocks[0], row) || is_on(marks.apexes[0], at.y, at.x))
            && (has_mark(&marks.blocks[1], column) || is_on(marks.apexes[1], at.x, at.y))
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes() + self.columns.bytes()
    }
}

/// The runs of a plane's lines, and the blocks they form, as trees: a run hangs in a block, and a block on a run.
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Forest {
    /// For each word of each line, how many runs begin before it.
    firsts: Vec<u32>,
    words: usize,
    runs: Vec<Run>,
    /// The block each run hangs in, or [`NO_BLOCK`].
    pub(super) above: Vec<u32>,
    /// The run each block hangs on. What that one hangs in has a higher number: blocks are numbered from below.
    pub(super) tops: Vec<u32>,
}

#[derive(Clone, Copy)]
#[cfg_attr(test, derive(PartialEq))]
struct Run {
    line: u16,
    first: u16,
    last: u16,
}

pub(crate) const NO_BLOCK: u32 = u32::MAX;

impl Forest {
    async fn new(plane: &Plane, slips: bool) -> Self {
        let (firsts, runs) = find_runs(plane).await;
        let next_to = neighbours(&runs, u16::from(slips)).await;
        let mut blocks = Blocks { above: filled(NO_BLOCK, runs.len()).await, tops: Vec::new() };
        blocks.find(&next_to).await;
        blocks.tops.shrink_to_fit();
        Self { firsts, words: plane.words(), runs, above: blocks.above, tops: blocks.tops }
    }

    /// A forest whose blocks are known; `read` is told how many runs there are, and returns what each hangs in and what each
    /// block hangs on. `None` if that is no forest.
    pub(super) fn known<E>(
        plane: &Plane,
        read: impl FnOnce(usize) -> Result<(Vec<u32>, Vec<u32>), E>,
    ) -> Result<Option<Self>, E> {
        let (firsts, runs) = finish(find_runs(plane));
        let (above, tops) = read(runs.len())?;
        let hangs = |block: &u32| *block == NO_BLOCK || (*block as usize) < tops.len();
        // Whoever goes up comes to higher and higher numbers, and so to an end.
        let goes_up = |(block, top): (u32, &u32)| above.get(*top as usize).is_some_and(|next| *next > block);
        let is_forest = above.len() == runs.len() && above.iter().all(hangs) && (0..).zip(&tops).all(goes_up);
        Ok(is_forest.then(|| Self { firsts, words: plane.words(), runs, above, tops }))
    }

    /// The run of a free cell.
    #[inline]
    fn run(&self, plane: &Plane, line: u32, place: u32) -> usize {
        let word = place as usize / 64;
        let begins = begins(plane.line(line), word) & u64::MAX >> (63 - place % 64);
        (self.firsts[line as usize * self.words + word] + begins.count_ones()) as usize - 1
    }

    /// Marks the blocks between two runs, and returns the run where they meet: its line and its ends.
    fn mark(&self, (mut a, mut b): (usize, usize), blocks: &mut Paged<Mark>) -> (u32, u32, u32) {
        blocks.begin(self.tops.len());
        let (mut here, mut there) = (self.above[a], self.above[b]);
        while a != b {
            // What hangs in the lower block is not above the other.
            if here > there {
                core::mem::swap(&mut a, &mut b);
                core::mem::swap(&mut here, &mut there);
            }
            // Two runs of one island hang below a common one.
            let Some(top) = self.tops.get(here as usize) else { break };
            let place = blocks.place(here);
            blocks[place] = Mark(blocks.generation());
            a = *top as usize;
            here = self.above[a];
        }
        let Run { line, first, last } = self.runs[a];
        (line.into(), first.into(), last.into())
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.firsts)
            + size_of_val(&*self.runs)
            + size_of_val(&*self.above)
            + size_of_val(&*self.tops)
    }
}

/// Blocks while they are found.
struct Blocks {
    /// The block each run hangs in, or [`NO_BLOCK`].
    above: Vec<u32>,
    /// The run each block hangs on.
    tops: Vec<u32>,
}

impl Blocks {
    async fn find(&mut self, next_to: &[Neighbours]) {
        let mut walk = Walk {
            found: vec![0; next_to.len()],
            lowest: vec![0; next_to.len()],
            open: Vec::new(),
            count: 0,
            frames: Vec::new(),
            root: 0,
        };
        while walk.go_on(self, next_to, AT_ONCE / 4) {
            pause().await;
        }
    }

    /// All runs found after `first` that no block has taken hang on `top`, together.
    fn close_block(&mut self, first: usize, top: usize, open: &mut Vec<u32>) {
        let block = u32::try_from(self.tops.len()).unwrap_or(NO_BLOCK);
        self.tops.push(u32::try_from(top).unwrap_or(0));
        while let Some(run) = open.pop() {
            self.above[run as usize] = block;
            if run as usize == first {
                break;
            }
        }
    }
}

/// A walk over all runs, depth first.
struct Walk {
    /// When each run was found, counted from 1, and the first that is known to be connected with it from below.
    found: Vec<u32>,
    lowest: Vec<u32>,
    /// Runs that no block has taken yet.
    open: Vec<u32>,
    /// How many runs were found.
    count: u32,
    /// The way here, and how many neighbours of each run on it were looked at.
    frames: Vec<(u32, u32)>,
    /// No run before that is still to be found.
    root: u32,
}

impl Walk {
    /// Takes so many steps. Returns whether there are more.
    fn go_on(&mut self, blocks: &mut Blocks, next_to: &[Neighbours], steps: usize) -> bool {
        let Self { found, lowest, open, count, frames, root } = self;
        let (found, lowest) = (&mut found[..], &mut lowest[..]);
        for _ in 0..steps {
            let Some((run, looked_at)) = frames.last_mut() else {
                let run = *root;
                if run as usize == found.len() {
                    return false;
                }
                *root += 1;
                if found[run as usize] == 0 {
                    frames.push((run, 0));
                    *count += 1;
                    (found[run as usize], lowest[run as usize]) = (*count, *count);
                }
                continue;
            };
            let run = *run as usize;
            if let Some(next) = next_to[run].nth(*looked_at) {
                *looked_at += 1;
                if found[next as usize] == 0 {
                    frames.push((next, 0));
                    open.push(next);
                    *count += 1;
                    (found[next as usize], lowest[next as usize]) = (*count, *count);
                } else {
                    lowest[run] = lowest[run].min(found[next as usize]);
                }
                continue;
            }
            frames.pop();
            let Some((before, _)) = frames.last() else { continue };
            let before = *before as usize;
            lowest[before] = lowest[before].min(lowest[run]);
            if lowest[run] >= found[before] {
                blocks.close_block(run, before, open);
            }
        }
        true
    }
}

/// Where runs begin in a word.
#[inline]
fn begins(line: &[Word], word: usize) -> u64 {
    let before = word.checked_sub(1).map_or(0, |before| line[before].free >> 63);
    line[word].free & !(line[word].free << 1 | before)
}

/// For each word of each line, how many runs begin before it, and the runs.
async fn find_runs(plane: &Plane) -> (Vec<u32>, Vec<Run>) {
    let (mut firsts, mut runs) = (Vec::with_capacity(plane.lines() * plane.words()), Vec::new());
    for lines in parts(plane.lines(), lines_at_once(8 * plane.words())) {
        lines.for_each(|line| find_runs_of(plane, line, &mut firsts, &mut runs));
        pause().await;
    }
    (firsts, runs)
}

fn find_runs_of(plane: &Plane, line: usize, firsts: &mut Vec<u32>, runs: &mut Vec<Run>) {
    let line = u16::try_from(line).unwrap_or(u16::MAX);
    let cursor = plane.cursor(u32::from(line));
    let words = plane.line(u32::from(line));
    for word in 0..plane.words() {
        firsts.push(u32::try_from(runs.len()).unwrap_or(u32::MAX));
        let mut begins = begins(words, word);
        while begins != 0 {
            let first = u32::try_from(word * 64).unwrap_or(0) + begins.trailing_zeros();
            begins &= begins - 1;
            let last = cursor.wall(first, true) - 1;
            let place = |place: u32| u16::try_from(place).unwrap_or(u16::MAX);
            runs.push(Run { line, first: place(first), last: place(last) });
        }
    }
}

/// The runs beside a run: on each neighbouring line they are numbered in a row.
#[derive(Clone, Copy, Default)]
struct Neighbours {
    before: (u32, u32),
    after: (u32, u32),
}

impl Neighbours {
    #[inline]
    fn nth(&self, n: u32) -> Option<u32> {
        let before = self.before.1 - self.before.0;
        let number = if n < before { self.before.0 + n } else { self.after.0 + (n - before) };
        (n < before || number < self.after.1).then_some(number)
    }
}

/// Which runs touch which: they have columns in common, or with `reach` 1 touch at a corner.
async fn neighbours(runs: &[Run], reach: u16) -> Vec<Neighbours> {
    let mut next_to = filled(Neighbours::default(), runs.len()).await;
    let mut begin = 0;
    for some in parts(runs.len(), AT_ONCE / 2) {
        begin = connect(runs, reach, some, begin, &mut next_to);
        pause().await;
    }
    next_to
}

/// Of some runs, those on the line before that they touch. No run before `begin` does; returns which one is the next such.
fn connect(
    runs: &[Run],
    reach: u16,
    some: Range<usize>,
    mut begin: usize,
    next_to: &mut [Neighbours],
) -> usize {
    for own in some {
        let Run { line, first, last } = runs[own];
        // The first run of the line before that does not end too early; it never moves back.
        while begin < own
            && (runs[begin].line + 1 < line || (runs[begin].line < line && runs[begin].last + reach < first))
        {
            begin += 1;
        }
        let mut end = begin;
        while end < own && runs[end].line < line && runs[end].first <= last + reach {
            end += 1;
        }
        let number = |run: usize| u32::try_from(run).unwrap_or(u32::MAX);
        next_to[own].before = (number(begin), number(end));
        for other in &mut next_to[begin..end] {
            if other.after.1 == 0 {
                other.after.0 = number(own);
            }
            other.after.1 = number(own) + 1;
        }
    }
    begin
}
