//! The tiles suite: out goes what it costs a frame to make ground of a tilemap, and to keep it in step with its tiles,
//! beside `bevy_northstar` in the same run.
//!
//! A tilemap of 256 × 256 tiles, an entity each, a quarter of them walls. Costs are CPU time of the main thread, on the
//! single-threaded executor, above the median frame in which nothing happens. Every figure is the median of [`RUNS`]. After
//! each change the whole map is compared with the tiles. Two things are measured:
//!
//! * **The map**: a frame in which tiles are read and the map is written, and nothing else, because the schedule of the
//!   plugin's other stages does not run.
//! * **The frame**: as in a game, with one fixed step. The islands of every chunk of 64 × 64 cells that changed are labelled anew
//!   too, which 100 scattered tiles do to all chunks of this map, and 100 side by side to one.
//!
//! The rebuild is the frame in which the tilemap has just been spawned. The peer has no tilemaps: a game tells its grid of
//! every tile by hand, and of every change, and has it built; that is what is timed.

use std::time::Duration;

use bevy::ecs::schedule::{ScheduleLabel, Schedules, SingleThreadedExecutor};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_ecs_tilemap::prelude::*;
use bevy_northstar::prelude::Nav;
use bevy_wayfare::prelude::{Area, NavMap, NavTile, PathfindingPlugin, Terrain, TileRules};
use cpu_time::ThreadTime;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::check::Board;
use crate::cli::{Failure, Options, Outcome};
use crate::measure::SplitMix;
use crate::peers::northstar_grid;
use crate::report::{self, Report};
use crate::stats::{median, ratio};

/// Tiles along one side.
const SIDE: u32 = if cfg!(test) { 64 } else { 256 };

/// Each figure is the median of so many.
const RUNS: usize = if cfg!(test) { 3 } else { 25 };

/// How often the peer is measured; it takes its time.
const PEER_RUNS: usize = if cfg!(test) { 1 } else { 5 };

/// Frames of which the median is what nothing costs.
const IDLE: usize = 50;

/// How much cheaper 100 changed tiles must be than the rebuild: the map wherever they lie, the frame where they lie
/// side by side.
const BAR: f64 = 50.0;

/// The rows the bar is for.
const BUILT: usize = 1;
const CHANGED_100: [usize; 3] = [BUILT, 2, 3];

/// A schedule that nobody runs.
#[derive(ScheduleLabel, Clone, PartialEq, Eq, Hash, Debug)]
struct Never;

/// What of the plugin runs.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Extent {
    /// Tiles become a map.
    Map,
    /// Everything.
    Frame,
    /// Nothing: there is no plugin.
    Nothing,
}

const WALL: u32 = 1;

/// What happens to tiles.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Change {
    /// All of them are new.
    Rebuild,
    /// So many get another texture, anywhere.
    Scattered(usize),
    /// So many get another texture, side by side, as where somebody builds.
    Together(usize),
    /// So many get a `NavTile`, or lose it.
    Own(usize),
    /// So many are despawned, and others spawned in their place.
    Replaced(usize),
}

const CHANGES: [Change; 7] = [
    Change::Rebuild,
    Change::Together(100),
    Change::Scattered(100),
    Change::Own(100),
    Change::Replaced(100),
    Change::Scattered(1_000),
    Change::Scattered(10_000),
];

impl Change {
    fn name(self) -> String {
        match self {
            Self::Rebuild => format!("{SIDE} × {SIDE} tiles spawned"),
            Self::Scattered(count) => format!("{count} textures, scattered"),
            Self::Together(count) => format!("{count} textures, side by side"),
            Self::Own(count) => format!("{count} `NavTile`s, scattered"),
            Self::Replaced(count) => format!("{count} despawned and spawned"),
        }
    }
}

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    change: String,
    /// From tiles to the map.
    map_ms: f64,
    /// How many times that goes into the rebuild.
    map_cheaper: Option<f64>,
    /// The whole frame.
    frame_ms: f64,
    /// How many times that goes into the rebuild's.
    frame_cheaper: Option<f64>,
    /// What the peer takes for the same.
    northstar_ms: Option<f64>,
    /// How many times our frame goes into that.
    vs_northstar: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Summary {
    tiles: u32,
    runs: usize,
    /// A frame in which nothing happens, above one of the same app without the plugin.
    idle_ms: f64,
    /// The least that 100 tiles are cheaper than the rebuild, from tiles to the map.
    map_cheaper: f64,
    /// And in a whole frame, where they lie side by side.
    frame_cheaper: f64,
    checked: usize,
    mismatches: usize,
}

/// Measures every change.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    let bar = ProgressBar::new((2 * CHANGES.len() * RUNS) as u64);
    let mut judge = Judge::default();
    let mut rows: Vec<Row> = Vec::new();
    for change in CHANGES {
        bar.set_message(change.name());
        let map_ms = measure(change, Extent::Map, &bar, &mut judge);
        let frame_ms = measure(change, Extent::Frame, &bar, &mut judge);
        let northstar_ms = northstar(change);
        rows.push(Row {
            change: change.name(),
            map_ms,
            map_cheaper: rows.first().and_then(|rebuild| ratio(rebuild.map_ms, map_ms)),
            frame_ms,
            frame_cheaper: rows.first().and_then(|rebuild| ratio(rebuild.frame_ms, frame_ms)),
            northstar_ms,
            vs_northstar: northstar_ms.and_then(|theirs| ratio(theirs, frame_ms)),
        });
    }
    let idle_ms = Stage::new(Extent::Frame).idle() - Stage::new(Extent::Nothing).idle();
    bar.finish_and_clear();

    let map_cheaper = CHANGED_100.map(|row| rows[row].map_cheaper.unwrap_or(0.0));
    let summary = Summary {
        tiles: SIDE * SIDE,
        runs: RUNS,
        idle_ms,
        map_cheaper: map_cheaper.into_iter().fold(f64::INFINITY, f64::min),
        frame_cheaper: rows[BUILT].frame_cheaper.unwrap_or(0.0),
        checked: judge.checked,
        mismatches: judge.mismatches,
    };
    report::print(&table(&rows, &summary));
    if let Some(path) = &options.json {
        Report { suite: "tiles", rows: &rows, summary: &summary }.write(path)?;
    }
    let mut outcome = Outcome::default();
    if judge.mismatches > 0 {
        outcome.faults.push(format!("{} maps were not what their tiles say", judge.mismatches));
    }
    if options.check && summary.map_cheaper.min(summary.frame_cheaper) < BAR {
        outcome.faults.push(format!("100 changed tiles are not {BAR} × cheaper than the rebuild"));
    }
    Ok(outcome)
}

fn table(rows: &[Row], summary: &Summary) -> String {
    let mut text = format!(
        "{} tiles, main thread above an idle frame (median of {})\n  {:<30} {:>9} {:>10} {:>9} {:>10} {:>13} {:>8}\n",
        summary.tiles,
        summary.runs,
        "change",
        "map ms",
        "× cheaper",
        "frame ms",
        "× cheaper",
        "northstar ms",
        "× ours"
    );
    for row in rows {
        let figure = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.1}"));
        text += &format!(
            "  {:<30} {:>9.4} {:>10} {:>9.4} {:>10} {:>13} {:>8}\n",
            row.change,
            row.map_ms,
            figure(row.map_cheaper),
            row.frame_ms,
            figure(row.frame_cheaper),
            figure(row.northstar_ms),
            figure(row.vs_northstar)
        );
    }
    text + &format!(
        "\n{} maps checked, {} wrong; a frame in which nothing happens costs {:.3} ms more than without the plugin",
        summary.checked, summary.mismatches, summary.idle_ms
    )
}

/// The cost of a change, again and again on one tilemap; a rebuild, on a new one each time.
fn measure(change: Change, extent: Extent, bar: &ProgressBar, judge: &mut Judge) -> f64 {
    let mut stage = Stage::new(extent);
    let mut idle = stage.idle();
    let mut times = Vec::new();
    for _ in 0..RUNS {
        if change == Change::Rebuild {
            stage = Stage::empty(extent);
            idle = stage.idle();
            stage.spawn();
        } else {
            stage.change(change);
        }
        times.push(stage.frame() - idle);
        judge.compare(&mut stage);
        stage.frame();
        bar.inc(1);
    }
    median(times).unwrap_or(0.0)
}

/// What the peer takes to learn of the same tiles. It is told of all, or of those that changed.
fn northstar(change: Change) -> Option<f64> {
    let count = match change {
        Change::Rebuild => 0,
        Change::Together(count) | Change::Scattered(count) => count,
        Change::Own(_) | Change::Replaced(_) => return None,
    };
    let board = Board::new(SIDE, SIDE, |cell| !is_wall(cell.x.unsigned_abs(), cell.y.unsigned_abs()));
    let mut random = SplitMix::new(3);
    let mut times = Vec::new();
    for _ in 0..PEER_RUNS {
        let clock = ThreadTime::now();
        let mut grid = northstar_grid(&board);
        if count > 0 {
            let clock = ThreadTime::now();
            for number in 0..count {
                let (x, y) = place(change, number, &mut random);
                let open = board.is_open(x.cast_signed(), y.cast_signed());
                let nav = if open { Nav::Impassable } else { Nav::Passable(1) };
                grid.set_nav(UVec3::new(x, y, 0), nav);
            }
            grid.build();
            times.push(clock.elapsed().as_secs_f64() * 1e3);
        } else {
            times.push(clock.elapsed().as_secs_f64() * 1e3);
        }
    }
    median(times)
}

/// A quarter of all tiles, without a pattern that would make islands easy.
fn is_wall(x: u32, y: u32) -> bool {
    SplitMix::new(u64::from(x * 7919 + y)).below(4) == 0
}

/// Where the next changed tile lies.
fn place(change: Change, number: usize, random: &mut SplitMix) -> (u32, u32) {
    let small = |value: usize| u32::try_from(value).unwrap_or(0);
    match change {
        Change::Together(_) => (SIDE / 4 + small(number % 10), SIDE / 4 + small(number / 10)),
        _ => (small(random.below(SIDE as usize)), small(random.below(SIDE as usize))),
    }
}

/// An app with a tilemap, driven frame by frame.
struct Stage {
    app: App,
    ground: Entity,
    tiles: Vec<Entity>,
    random: SplitMix,
}

impl Stage {
    /// A game with a tilemap.
    fn new(extent: Extent) -> Self {
        let mut stage = Self::empty(extent);
        stage.spawn();
        stage
    }

    /// A game without one.
    fn empty(extent: Extent) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(15_625)));
        match extent {
            Extent::Map => {
                app.add_plugins(PathfindingPlugin::default().in_schedule(Never));
            }
            Extent::Frame => {
                app.add_plugins(PathfindingPlugin::default());
            }
            Extent::Nothing => {}
        }
        app.finish();
        app.cleanup();
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
        app.update();
        Self { app, ground: Entity::PLACEHOLDER, tiles: Vec::new(), random: SplitMix::new(5) }
    }

    fn spawn(&mut self) {
        let tile = TilemapTileSize::new(16.0, 16.0);
        let tilemap = (TilemapSize::new(SIDE, SIDE), tile, TilemapGridSize::from(tile), TilemapType::Square);
        let rules = TileRules::default().with_texture(WALL, NavTile::Blocked);
        let world = self.app.world_mut();
        let ground = world.spawn((tilemap, Transform::default(), rules, NavMap::from_tiles())).id();
        self.ground = ground;
        let tiles = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))).map(|(x, y)| {
            let texture = u32::from(is_wall(x, y));
            (TilePos::new(x, y), TilemapId(ground), TileTextureIndex(texture))
        });
        self.tiles = world.spawn_batch(tiles.collect::<Vec<_>>()).collect();
    }

    /// What a frame takes, in milliseconds.
    fn frame(&mut self) -> f64 {
        let clock = ThreadTime::now();
        allocation_counter::opt_out(|| self.app.update());
        clock.elapsed().as_secs_f64() * 1e3
    }

    fn idle(&mut self) -> f64 {
        for _ in 0..5 {
            self.frame();
        }
        median((0..IDLE).map(|_| self.frame())).unwrap_or(0.0)
    }

    fn change(&mut self, change: Change) {
        let count = match change {
            Change::Rebuild => 0,
            Change::Scattered(count)
            | Change::Together(count)
            | Change::Own(count)
            | Change::Replaced(count) => count,
        };
        for number in 0..count {
            let (x, y) = place(change, number, &mut self.random);
            let index = (y * SIDE + x) as usize;
            let world = self.app.world_mut();
            let mut tile = world.entity_mut(self.tiles[index]);
            match change {
                Change::Own(_) if tile.contains::<NavTile>() => {
                    tile.remove::<NavTile>();
                }
                Change::Own(_) => {
                    tile.insert(NavTile::Blocked);
                }
                Change::Replaced(_) => {
                    let texture = TileTextureIndex(u32::from(number % 3 == 0));
                    tile.despawn();
                    self.tiles[index] =
                        world.spawn((TilePos::new(x, y), TilemapId(self.ground), texture)).id();
                }
                _ => {
                    if let Some(mut texture) = tile.get_mut::<TileTextureIndex>() {
                        texture.0 = 1 - texture.0.min(1);
                    }
                }
            }
        }
    }
}

/// Compares maps with the tiles they are made of.
#[derive(Default)]
struct Judge {
    checked: usize,
    mismatches: usize,
}

impl Judge {
    fn compare(&mut self, stage: &mut Stage) {
        let world = stage.app.world_mut();
        let mut tiles = world.query::<(&TilePos, &TileTextureIndex, Option<&NavTile>)>();
        let mut walls = vec![true; (SIDE * SIDE) as usize];
        for (at, texture, own) in tiles.iter(world) {
            walls[(at.y * SIDE + at.x) as usize] = texture.0 == WALL || own == Some(&NavTile::Blocked);
        }
        let map = world.get::<NavMap>(stage.ground).map(NavMap::map);
        let is_right = map.is_some_and(|map| {
            let cells = map.area().into_iter().flat_map(Area::cells);
            let seen: Vec<bool> = cells.map(|cell| map.terrain(cell) == Terrain::WALL).collect();
            seen == walls
        });
        self.checked += 1;
        self.mismatches += usize::from(!is_right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_followed_and_a_map_that_is_not_is_noticed() {
        let (bar, mut judge) = (ProgressBar::hidden(), Judge::default());
        for change in CHANGES {
            measure(change, Extent::Map, &bar, &mut judge);
            measure(change, Extent::Frame, &bar, &mut judge);
        }
        assert_eq!((judge.checked, judge.mismatches), (2 * CHANGES.len() * RUNS, 0));
        let mut stage = Stage::new(Extent::Frame);
        stage.frame();
        stage.change(Change::Scattered(1));
        judge.compare(&mut stage);
        assert_eq!(judge.mismatches, 1, "the frame has not come yet");
    }
}
