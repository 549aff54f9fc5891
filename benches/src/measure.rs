//! The stopwatch: in come a [`Contender`] and a level, out come the time of each query, what the built structure
//! costs, and the judge's verdicts.
//!
//! Contenders take turns, one pass over the whole list each, so that a slow minute of the machine hits all.
//! Times are CPU time of this thread, so that a busy machine does not count against anyone. Reading that clock takes a
//! fraction of a microsecond, on some machines as long as a short query. What it takes at the very least is found out first,
//! and taken off everybody's times.

use std::sync::LazyLock;
use std::time::Duration;

use cpu_time::ThreadTime;
use indicatif::ProgressBar;
use wayfare::prelude::Cell;

use crate::check::{Board, Query, Verdict, judge};
use crate::contender::Contender;
use crate::level::Level;

/// How often the whole list is run; each query keeps its best time.
pub(crate) const PASSES: usize = 3;

/// What the clock shows when nothing happens: the least of many looks at it.
static CLOCK: LazyLock<Duration> = LazyLock::new(|| {
    let looks = (0..1000).map(|_| ThreadTime::now().elapsed());
    looks.min().unwrap_or_default()
});

/// How many queries pass between two updates of the progress bar.
const STRIDE: usize = 16;

/// One contender on one level, with what has been learnt about it so far.
#[derive(Debug)]
pub(crate) struct Lane<'a, C> {
    pub(crate) contender: C,
    pub(crate) level: &'a Level,
    best: Vec<Duration>,
    /// The verdict on each query: the first bad one if any pass gave a bad answer.
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) build_ms: f64,
    /// What the built structure holds before the first query, in millions of bytes.
    pub(crate) heap_mb: f64,
}

impl<'a, C: Contender> Lane<'a, C> {
    /// Builds the contender, with time and memory.
    pub(crate) fn new(level: &'a Level) -> Self {
        let mut built = None;
        let memory = allocation_counter::measure(|| {
            let clock = ThreadTime::now();
            let contender = C::build(level);
            built = Some((contender, clock.elapsed()));
        });
        let (contender, build_time) = built.expect("the closure has run");
        Self {
            contender,
            level,
            best: vec![Duration::MAX; level.queries.len()],
            verdicts: level.queries.iter().map(|_| Verdict::default()).collect(),
            build_ms: build_time.as_secs_f64() * 1e3,
            heap_mb: (memory.bytes_current + C::shared_bytes(level)) as f64 / 1e6,
        }
    }

    /// Runs all queries once.
    pub(crate) fn pass(&mut self, order: &[usize], bar: &ProgressBar) {
        bar.set_message(format!("{} {}", self.level.name, C::NAME));
        let mut cells = Vec::new();
        for chunk in order.chunks(STRIDE) {
            // Counting allocations would slow those who allocate in every query.
            allocation_counter::opt_out(|| {
                for &index in chunk {
                    self.ask(index, &mut cells);
                }
            });
            bar.inc(chunk.len() as u64);
        }
    }

    /// The best time of each query, in microseconds.
    pub(crate) fn best_us(&self) -> Vec<f64> {
        self.best.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }

    /// Asks one query and keeps what was learnt.
    fn ask(&mut self, index: usize, cells: &mut Vec<Cell>) {
        let level = self.level;
        let (time, verdict) = ask(&mut self.contender, &level.board, &level.queries[index], cells);
        self.best[index] = self.best[index].min(time);
        if self.verdicts[index].fault.is_none() {
            self.verdicts[index] = verdict;
        }
    }
}

/// Times one query and judges the answer on the board as it is now. `cells` is room to work in.
pub(crate) fn ask<C: Contender>(
    contender: &mut C,
    board: &Board,
    query: &Query,
    cells: &mut Vec<Cell>,
) -> (Duration, Verdict) {
    let clock = ThreadTime::now();
    let path = contender.find(query.start, query.goal);
    let time = clock.elapsed().saturating_sub(*CLOCK);

    cells.clear();
    let answer = path.as_ref().map(|path| {
        C::write_cells(path, query.start, cells);
        cells.as_slice()
    });
    let verdict = judge(board, query, answer);
    if let Some(path) = path {
        contender.recycle(path);
    }
    (time, verdict)
}

/// One order of the queries per pass, the same on every run and for every contender. No query comes twice in a
/// row, not even across two passes: its data would still be in the cache.
pub(crate) fn orders(len: usize) -> Vec<Vec<usize>> {
    let mut random = SplitMix::new(len as u64);
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(PASSES);
    for _ in 0..PASSES {
        let mut order: Vec<usize> = (0..len).collect();
        for last in (1..len).rev() {
            order.swap(last, random.below(last + 1));
        }
        let previous = orders.last().and_then(|order| order.last());
        if len > 1 && previous == order.first() {
            order.swap(0, len - 1);
        }
        orders.push(order);
    }
    orders
}

/// Steele, Lea and Flood's generator: small, and good enough to shuffle with.
#[derive(Debug)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    /// The sequence of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number under `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The remainder is below a `usize`, whatever its width.
        usize::try_from((z ^ (z >> 31)) % limit as u64).unwrap_or(0)
    }

    /// A number from 0 up to but not 1.
    pub(crate) fn fraction(&mut self) -> f32 {
        // As many as an f32 tells apart.
        const STEPS: usize = 1 << 24;
        self.below(STEPS) as f32 / STEPS as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_asks_everything_in_its_own_order() {
        let orders = orders(100);
        assert_eq!(orders.len(), PASSES);
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..100).collect::<Vec<_>>());
            assert_ne!(*order, sorted);
        }
        assert!(orders[0] != orders[1] && orders[1] != orders[2] && orders[0] != orders[2]);
        assert_eq!(orders, super::orders(100), "the same on every run");
    }

    #[test]
    fn no_query_follows_itself() {
        for len in 2..50 {
            let all: Vec<usize> = orders(len).concat();
            assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{len} queries: {all:?}");
        }
        assert_eq!(orders(1), [[0], [0], [0]], "one query has no choice");
    }
}
