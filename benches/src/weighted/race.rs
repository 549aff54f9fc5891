//! The three that are timed: ours without landmarks, as right after an edit that made ground cheaper, ours with them, and
//! `pathfinding`'s A*, whose answer is also the measure of ours. In come a level and its ground, out come the time of each
//! query and the judge's verdicts.
//!
//! They take turns, one pass over the whole list each, so that a slow minute of the machine hits all. Times are CPU
//! time of this thread.

use std::time::Duration;

use cpu_time::ThreadTime;
use indicatif::ProgressBar;
use pathfinding::prelude::astar;
use wayfare::prelude::{Answer, Cell, PathQuery, Scratch, Snapshot, Survey, find_path};

use super::judge::{Fault, judge};
use super::terrain::{self, Ground, step_cost};
use crate::level::Level;
use crate::measure;

/// What has been measured on one map.
#[derive(Debug)]
pub(crate) struct Race {
    /// Making our snapshot of the covered map, in milliseconds.
    pub(crate) build_ms: f64,
    /// Measuring its landmarks, in milliseconds, and what they hold on the heap, in bytes.
    pub(crate) landmarks_ms: f64,
    pub(crate) landmarks_bytes: usize,
    /// Saving them, and reading them again, in milliseconds, and the size of the file, in bytes.
    pub(crate) bake_ms: f64,
    pub(crate) load_ms: f64,
    pub(crate) baked_bytes: usize,
    bare: Vec<Duration>,
    ours: Vec<Duration>,
    peer: Vec<Duration>,
    /// What is wrong with our answer to each query, with landmarks or without.
    pub(crate) faults: Vec<Option<Fault>>,
    /// What is wrong with the peer's, apart from its cost.
    pub(crate) peer_faults: Vec<Option<Fault>>,
}

impl Race {
    /// Runs all on all queries of the level.
    pub(crate) fn run(level: &Level, ground: &Ground, bar: &ProgressBar) -> Self {
        let map = ground.cover(level.map.clone());
        let clock = ThreadTime::now();
        let snapshot = Snapshot::new(&map, &terrain::view());
        let build_ms = clock.elapsed().as_secs_f64() * 1e3;

        let len = level.queries.len();
        let best = || vec![Duration::MAX; len];
        let clock = ThreadTime::now();
        let survey = snapshot.survey();
        let landmarks_ms = clock.elapsed().as_secs_f64() * 1e3;
        let clock = ThreadTime::now();
        let baked = survey.to_bytes();
        let bake_ms = clock.elapsed().as_secs_f64() * 1e3;
        let clock = ThreadTime::now();
        let loaded = Survey::from_bytes(&baked, &snapshot);
        let load_ms = clock.elapsed().as_secs_f64() * 1e3;
        assert!(loaded.is_ok_and(|loaded| loaded.to_bytes() == baked), "what was saved is what is read");
        let mut race = Self {
            build_ms,
            landmarks_ms,
            bake_ms,
            load_ms,
            baked_bytes: baked.len(),
            landmarks_bytes: survey.bytes().landmarks,
            bare: best(),
            ours: best(),
            peer: best(),
            faults: vec![None; len],
            peer_faults: vec![None; len],
        };
        let mut led = snapshot.clone();
        assert!(led.learn(&survey), "it was made on this ground");
        let peer = PlainAstar::new(ground);
        let mut cheapest = vec![None; len];
        let mut scratch = Scratch::new();
        for order in measure::orders(len) {
            // Counting allocations would slow those who allocate in every query.
            allocation_counter::opt_out(|| {
                bar.set_message(format!("{} pathfinding", level.name));
                for &index in &order {
                    cheapest[index] = race.ask_peer(level, ground, &peer, index);
                    bar.inc(1);
                }
                bar.set_message(format!("{} wayfare", level.name));
                for &index in &order {
                    let time = race.ask_us(level, ground, (&snapshot, &mut scratch), index, cheapest[index]);
                    race.bare[index] = race.bare[index].min(time);
                    bar.inc(1);
                }
                for &index in &order {
                    let time = race.ask_us(level, ground, (&led, &mut scratch), index, cheapest[index]);
                    race.ours[index] = race.ours[index].min(time);
                    bar.inc(1);
                }
            });
        }
        race
    }

    /// Our best time for each query without landmarks, in microseconds.
    pub(crate) fn bare_us(&self) -> Vec<f64> {
        self.bare.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }

    /// Our best time for each query with landmarks, in microseconds.
    pub(crate) fn ours_us(&self) -> Vec<f64> {
        self.ours.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }

    /// The peer's best time for each query, in microseconds.
    pub(crate) fn peer_us(&self) -> Vec<f64> {
        self.peer.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }

    /// Times the peer; returns what its path costs.
    fn ask_peer(
        &mut self,
        level: &Level,
        ground: &Ground,
        peer: &PlainAstar<'_>,
        index: usize,
    ) -> Option<u64> {
        let query = &level.queries[index];
        let clock = ThreadTime::now();
        let found = peer.find(query.start, query.goal);
        self.peer[index] = self.peer[index].min(clock.elapsed());

        let cost = found.as_ref().map(|(_, cost)| *cost);
        let cells: Option<Vec<Cell>> =
            found.map(|(path, _)| path.into_iter().map(|(x, y)| Cell::new(x, y)).collect());
        let fault = judge(&level.board, ground, query, cells.as_deref().zip(cost), cost);
        keep_first(&mut self.peer_faults[index], fault);
        cost
    }

    /// Times ours, and judges it by the peer's cost. Returns the time.
    fn ask_us(
        &mut self,
        level: &Level,
        ground: &Ground,
        (snapshot, scratch): (&Snapshot, &mut Scratch),
        index: usize,
        cheapest: Option<u64>,
    ) -> Duration {
        let query = &level.queries[index];
        let clock = ThreadTime::now();
        let answer = find_path(snapshot, &PathQuery::new(query.start, query.goal), scratch);
        let time = clock.elapsed();

        let route = match answer {
            Ok(Answer::Found(route)) => Some(route),
            _ => None,
        };
        let found = route.as_ref().map(|route| (route.cells(), route.cost()));
        let fault = judge(&level.board, ground, query, found, cheapest);
        keep_first(&mut self.faults[index], fault);
        if let Some(route) = route {
            scratch.recycle(route);
        }
        time
    }
}

fn keep_first(kept: &mut Option<Fault>, fault: Option<Fault>) {
    if kept.is_none() {
        *kept = fault;
    }
}

/// `pathfinding` 4 on the same whole costs. Its estimate is the octile distance over the cheapest ground present, which
/// is the best that is never too much without knowing the map.
#[derive(Debug)]
struct PlainAstar<'a> {
    ground: &'a Ground,
    /// Straight and diagonal.
    least: (u64, u64),
}

impl<'a> PlainAstar<'a> {
    fn new(ground: &'a Ground) -> Self {
        let least = |is_diagonal| ground.kinds().map(|kind| step_cost(kind, is_diagonal)).min().unwrap_or(0);
        Self { ground, least: (least(false), least(true)) }
    }

    fn find(&self, start: Cell, goal: Cell) -> Option<(Vec<(i32, i32)>, u64)> {
        astar(
            &(start.x, start.y),
            |&cell| self.successors(cell),
            |&cell| self.estimate(cell, goal),
            |&cell| cell == (goal.x, goal.y),
        )
    }

    fn successors(&self, (x, y): (i32, i32)) -> impl Iterator<Item = ((i32, i32), u64)> + use<> {
        let kind = |dx: i32, dy: i32| self.ground.kind(Cell::new(x + dx, y + dy));
        let straight = [(0, -1), (1, 0), (0, 1), (-1, 0)].map(|(dx, dy)| (dx, dy, kind(dx, dy)));
        let sides = straight.map(|(_, _, kind)| kind.is_some());
        let diagonal =
            |a: usize, b: usize, dx, dy| (dx, dy, if sides[a] && sides[b] { kind(dx, dy) } else { None });
        let diagonals =
            [diagonal(0, 1, 1, -1), diagonal(1, 2, 1, 1), diagonal(2, 3, -1, 1), diagonal(3, 0, -1, -1)];
        let costs = |is_diagonal: bool| {
            move |(dx, dy, kind): (i32, i32, Option<u8>)| {
                Some(((x + dx, y + dy), step_cost(kind?, is_diagonal)))
            }
        };
        straight.into_iter().filter_map(costs(false)).chain(diagonals.into_iter().filter_map(costs(true)))
    }

    fn estimate(&self, (x, y): (i32, i32), goal: Cell) -> u64 {
        let (dx, dy) = (u64::from(x.abs_diff(goal.x)), u64::from(y.abs_diff(goal.y)));
        let (long, short) = (dx.max(dy), dx.min(dy));
        self.least.0 * (long - short) + self.least.1 * short
    }
}

#[cfg(test)]
mod tests {
    use pathfinding::prelude::dijkstra;

    use super::*;
    use crate::check::Board;
    use crate::measure::SplitMix;

    #[test]
    fn the_estimate_costs_no_path_its_place() {
        let mut random = SplitMix::new(5);
        for seed in 0..20 {
            let walls: Vec<bool> = (0..30 * 20).map(|_| random.below(5) == 0).collect();
            let is_open = |cell: Cell| !walls[(cell.y * 30 + cell.x).unsigned_abs() as usize];
            let board = Board::new(30, 20, is_open);
            let ground = Ground::new(&board, seed);
            let peer = PlainAstar::new(&ground);
            let open: Vec<_> = board.open_cells().collect();
            let mut end = || {
                let (x, y) = open[random.below(open.len())];
                (crate::peers::signed(x), crate::peers::signed(y))
            };
            let (start, goal) = (end(), end());
            let plain = dijkstra(&start, |&cell| peer.successors(cell), |&cell| cell == goal);
            let found = peer.find(start.into(), goal.into());
            assert_eq!(found.map(|(_, cost)| cost), plain.map(|(_, cost)| cost), "seed {seed}");
        }
    }

    #[test]
    fn roads_are_the_least_there_is() {
        let ground = Ground::new(&Board::new(40, 40, |_| true), 3);
        assert_eq!(PlainAstar::new(&ground).least, (493, 697));
    }
}
