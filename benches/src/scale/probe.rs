//! The stopwatch: in come the walls of a map, out goes a [`Probe`] with the time and memory of everything that is made of it,
//! of paths across it, and of an edit. Times are CPU time of this thread.

use std::time::Duration;

use cpu_time::ThreadTime;
use indicatif::ProgressBar;
use wayfare::prelude::{
    Answer, Cell, Cost, Gear, Map, PathQuery, RouteShape, Scratch, Snapshot, SnapshotBytes, SurveyBytes,
    Terrain, View, find_path,
};

use super::maps::Walls;
use crate::measure::{self, SplitMix};

/// How many edits are made, one cell each.
const EDITS: usize = 50;

/// So many cells are searched at most to check answers by the plain A*; it opens nearly all of a large map.
const CHECKED_CELLS: usize = 1 << 24;

/// What has been measured on one map.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    pub(crate) map: Duration,
    pub(crate) snapshot: Duration,
    pub(crate) survey: Duration,
    pub(crate) bake: Duration,
    pub(crate) load: Duration,
    pub(crate) baked_bytes: usize,
    pub(crate) snapshot_bytes: SnapshotBytes,
    pub(crate) survey_bytes: SurveyBytes,
    /// What the scratch holds after all queries.
    pub(crate) scratch_bytes: usize,
    /// The best time of each query, when only the corners of the path are asked for, and when all cells are.
    pub(crate) corners: Vec<Duration>,
    pub(crate) cells: Vec<Duration>,
    /// An edit of one cell, until the next query may be asked.
    pub(crate) edits: Vec<Duration>,
    /// Answers that were compared to those of another gear.
    pub(crate) compared: usize,
    /// What is wrong, one sentence each.
    pub(crate) faults: Vec<String>,
}

impl Probe {
    /// Measures everything.
    pub(crate) fn new(walls: &Walls, queries: usize, seed: u64, bar: &ProgressBar) -> Self {
        let mut probe = Self::default();
        let map = timed(&mut probe.map, || walls.map());
        let mut snapshot = timed(&mut probe.snapshot, || Snapshot::new(&map, &View::default()));
        let survey = timed(&mut probe.survey, || snapshot.survey());
        bar.inc(1);
        snapshot.learn(&survey);
        probe.bake(&map, &snapshot);
        (probe.snapshot_bytes, probe.survey_bytes) = (snapshot.bytes(), survey.bytes());
        let ends = choose_ends(&snapshot, queries, seed);
        // Counting allocations would slow those who allocate in every query.
        allocation_counter::opt_out(|| probe.ask_all(&snapshot, &ends, bar));
        probe.check(&snapshot, &ends);
        drop(survey);
        probe.edit(map, snapshot, seed);
        bar.inc(1);
        probe
    }

    /// Saves the snapshot with its survey, and reads both as a game does when it starts.
    fn bake(&mut self, map: &Map, snapshot: &Snapshot) {
        let bytes = timed(&mut self.bake, || snapshot.to_bytes());
        let loaded = timed(&mut self.load, || Snapshot::from_bytes(&bytes, map, snapshot.view()));
        self.baked_bytes = bytes.len();
        let size =
            |snapshot: &Snapshot| (snapshot.bytes(), snapshot.survey().bytes(), snapshot.island_count());
        match loaded {
            Ok(loaded) if loaded.is_surveyed() && size(&loaded) == size(snapshot) => {}
            Ok(_) => self.faults.push("the snapshot that was read is another one".into()),
            Err(error) => self.faults.push(format!("the snapshot cannot be read: {error}")),
        }
    }

    /// Asks every query for both shapes, in another order each pass.
    fn ask_all(&mut self, snapshot: &Snapshot, ends: &[(Cell, Cell)], bar: &ProgressBar) {
        let mut scratch = Scratch::new();
        let shapes = [(RouteShape::Corners, &mut self.corners), (RouteShape::Cells, &mut self.cells)];
        for (shape, times) in shapes {
            times.resize(ends.len(), Duration::MAX);
            for order in measure::orders(ends.len()) {
                for index in order {
                    let (start, goal) = ends[index];
                    let query = PathQuery::new(start, goal).shape(shape);
                    let clock = ThreadTime::now();
                    let answer = find_path(snapshot, &query, &mut scratch);
                    times[index] = times[index].min(clock.elapsed());
                    if let Some(route) = answer.ok().and_then(Answer::into_route) {
                        scratch.recycle(route);
                    }
                }
                bar.inc(1);
            }
        }
        self.scratch_bytes = scratch.bytes();
    }

    /// Holds the answers to those of the gear that scans for itself, and some to those of the plain A*.
    fn check(&mut self, snapshot: &Snapshot, ends: &[(Cell, Cell)]) {
        let mut scratch = Scratch::new();
        let cells = snapshot.map().width() as usize * snapshot.map().height() as usize;
        let plain = CHECKED_CELLS / cells;
        for (index, (start, goal)) in ends.iter().enumerate() {
            let query = PathQuery::new(*start, *goal);
            let mut cost = |query: &PathQuery| {
                let route = find_path(snapshot, query, &mut scratch).ok().and_then(Answer::into_route)?;
                let cost = walk(snapshot, route.cells());
                Some((route.cost(), cost))
            };
            let found = cost(&query);
            let corners = cost(&query.shape(RouteShape::Corners));
            let mut others = vec![cost(&query.gear(Gear::Jump))];
            if index < plain {
                others.push(cost(&query.gear(Gear::Cells)));
            }
            self.compared += others.len();
            let cost = found.map(|(cost, _)| cost);
            let is_walked = found.is_some_and(|(cost, walked)| walked == Some(cost));
            let is_cheapest = others.iter().all(|other| other.map(|(cost, _)| cost) == cost);
            if !is_walked || !is_cheapest || corners.map(|(cost, _)| cost) != cost {
                self.faults.push(format!("from {start} to {goal}: {found:?}, others {others:?}"));
            }
        }
    }

    /// Builds and tears down a cell at a time, near where units walk.
    fn edit(&mut self, mut map: Map, mut snapshot: Snapshot, seed: u64) {
        let mut random = SplitMix::new(seed ^ 2);
        for _ in 0..EDITS {
            let cell = random_cell(&map, &mut random);
            let terrain = if snapshot.is_open(cell) { Terrain::WALL } else { Terrain::OPEN };
            let mut time = Duration::ZERO;
            timed(&mut time, || {
                if map.set(cell, terrain).is_ok() {
                    snapshot.refresh(&map);
                }
            });
            self.edits.push(time);
            if snapshot.is_open(cell) != (terrain == Terrain::OPEN) {
                self.faults.push(format!("{cell} was not edited"));
            }
        }
    }
}

fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let clock = ThreadTime::now();
    let result = work();
    *time = clock.elapsed();
    result
}

/// What it costs to walk from cell to cell; `None` if a step is not legal.
fn walk(snapshot: &Snapshot, cells: &[Cell]) -> Option<Cost> {
    let steps = cells.windows(2).map(|pair| {
        let direction = pair[0].direction_to(pair[1])?;
        snapshot.step_cost(pair[0], direction)
    });
    steps.sum()
}

/// Starts and goals that lie far apart and can reach each other.
fn choose_ends(snapshot: &Snapshot, count: usize, seed: u64) -> Vec<(Cell, Cell)> {
    let map = snapshot.map();
    let mut random = SplitMix::new(seed);
    let mut ends = Vec::with_capacity(count);
    // A map without so many is a map of tiny islands; then there are fewer.
    for _ in 0..count * 1000 {
        let (start, goal) = (random_cell(map, &mut random), random_cell(map, &mut random));
        let (dx, dy) = start.gap(goal);
        if 2 * dx.max(dy) >= map.width() && snapshot.reachable(start, goal) {
            ends.push((start, goal));
        }
        if ends.len() == count {
            break;
        }
    }
    ends
}

fn random_cell(map: &Map, random: &mut SplitMix) -> Cell {
    let mut below = |side: u32| i32::try_from(random.below(side as usize)).unwrap_or(0);
    Cell::new(below(map.width()), below(map.height()))
}
