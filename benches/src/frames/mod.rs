//! The frames suite: in comes a map, out goes what it costs a game's main thread, frame by frame, to order many
//! units at once, beside `bevy_northstar` in the same run.
//!
//! A situation is a number of units on random cells of the map's largest island, all ordered in one frame, either to
//! one goal or each to its own. Units on the same cell have come apart before, and all stand. It is run five times, in a
//! new app each time, and every figure is the median.
//!
//! * **Above the same app without orders**: from each frame the median of the same app's 30 frames before the order is
//!   taken off; from the order's own frame also the cost of the bare insertions, which is Bevy's. That is measured in
//!   a twin app just before, where the same units get an inert component of the same size in the same way, and
//!   reported apart. Frames in which the fixed schedule runs twice are not treated differently.
//! * **Following is off**, so that nothing but the orders is measured; the units are agents all the same. Then all are
//!   ordered again: each gets a new request while it has one, and is watched for two seconds at most.
//! * **Walking** is measured in an app of its own, with following on, when all have paths: five windows of half a second
//!   of one walk. Those paths are not the best ones, to have them before the first units arrive. Units walk through each
//!   other; what it costs to avoid that is measured by the suite `crowd`.
//! * **Standing** is a frame of an app with agents above one of an app where the same entities have a `Transform` only; then
//!   one of the agents walks among the others.
//! * **Learning** is what comes after an edit in a running game: the map is surveyed again on the task pool, and no frame of the
//!   main thread may show it.
//! * **The peer** gets the same orders on the same cells and does not walk either. It searches on the main thread, 128
//!   units per frame, so more than 1,000 units say nothing new.

mod scene;
mod stage;
mod apps;
mod learning;
mod figures;
mod bars;

use std::num::NonZeroUsize;

use bevy_wayfare::{ClassId, NavMap, Path, PathfindingPlugin};
use indicatif::{ProgressBar, ProgressStyle};
use wayfare::prelude::{Answer, Cell, PathQuery, Scratch, find_path};

use crate::cli::{Failure, Options, Outcome};
use crate::report::{self, Report};
use crate::stats::median;
use apps::{Game, Hasty, Inert, Plain, Units};
use figures::{Row, Run, Summary};
use learning::{Learning, learn_after_edit};
use scene::{Cast, Goals, Scene};
use stage::{Frame, IDLE, Limits, Trace};

/// How many units are ordered at once, if the user does not say.
const UNITS: [usize; 3] = [100, 1_000, 10_000];

/// Each figure is the median of so many runs. Tests look at what is measured, not at the figures.
const RUNS: usize = if cfg!(test) { 1 } else { 5 };

/// The peer is measured up to so many units.
const MOST_NORTHSTAR: usize = 1_000;

/// Agents that stand still.
const STANDING: usize = 10_000;

/// A minute of frames is enough for everybody; and those after all have paths.
const ORDERED: Limits = Limits { most: 3_600, more: 60 };

/// The dearest frame of a second order comes early.
const AGAIN: Limits = Limits { most: 120, more: 5 };

/// The peer works in the frames before all have paths, and in no other.
const NORTHSTAR: Limits = Limits { more: 5, ..ORDERED };

/// The part of the units that must be on their way for frames to count as walking.
const WALKING: f64 = 0.9;

/// How many paths of a situation are compared with a search made on the spot.
const SAMPLE: usize = 40;

/// How many wrong answers are described; the rest is only counted.
const DESCRIBED: usize = 5;

/// Measures every situation on the map.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let scene = Scene::load(&options.dir)?;
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    let given = options.units.as_ref().map(|units| units.iter().copied().map(NonZeroUsize::get).collect());
    let situations: Vec<(usize, Goals)> = given
        .unwrap_or_else(|| UNITS.to_vec())
        .into_iter()
        .flat_map(|units| [(units, Goals::One), (units, Goals::Random)])
        .collect();
    let mut show = Show::new(&scene, situations.len() * (RUNS + 1) + 2 * RUNS);
    report::print(&format!("{} ({RUNS} runs each)\n{}", scene.name, figures::HEAD));
    let mut rows = Vec::new();
    for (units, goals) in situations {
        let row = show.situation(units, goals);
        show.bar.suspend(|| report::print(&figures::line(&row)));
        rows.push(row);
    }
    let (standing_ms, standing_but_one_ms) = show.standing();
    let learning = show.learning();
    show.bar.finish_and_clear();

    let Show { checked, mismatches, mut outcome, .. } = show;
    let summary = Summary {
        map: scene.name.clone(),
        runs: RUNS,
        standing_units: STANDING,
        standing_ms,
        standing_but_one_ms,
        survey_edit_ms: learning.map(|learning| learning.edit_ms),
        survey_frame_ms_max: learning.map(|learning| learning.worst_ms),
        survey_frames: learning.map(|learning| learning.frames),
        checked,
        mismatches,
    };
    report::print(&format!("\n{checked} paths checked, {mismatches} wrong"));
    let verdicts = bars::judge(&rows, &summary);
    let lines: Vec<&str> = verdicts.iter().map(|verdict| verdict.line.as_str()).collect();
    report::print(&lines.join("\n"));
    if let Some(path) = &options.json {
        Report { suite: "frames", rows: &rows, summary: &summary }.write(path)?;
    }
    if mismatches > 0 {
        outcome.faults.push(format!("{mismatches} paths of ours are missing or wrong"));
    }
    if options.check {
        let missed = verdicts.into_iter().filter(|verdict| verdict.is_fault);
        outcome.faults.extend(missed.map(|verdict| verdict.line));
    }
    Ok(outcome)
}

/// The suite under way.
struct Show<'a> {
    scene: &'a Scene,
    northstar: Option<Game>,
    bar: ProgressBar,
    checked: usize,
    mismatches: usize,
    outcome: Outcome,
}

impl<'a> Show<'a> {
    fn new(scene: &'a Scene, steps: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed}  {msg}");
        let bar = ProgressBar::new(steps as u64);
        // The template is fixed; should it ever be wrong, the default bar will do.
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { scene, northstar: None, bar, checked: 0, mismatches: 0, outcome: Outcome::default() }
    }

    fn situation(&mut self, units: usize, goals: Goals) -> Row {
        let cast = self.scene.cast(units, goals);
        let mut runs = Vec::with_capacity(RUNS);
        for run in 0..RUNS {
            self.bar.set_message(format!("{units} units, goals: {}, run {}", goals.name(), run + 1));
            runs.push(self.run(&cast));
            self.bar.inc(1);
        }
        self.bar.set_message(format!("{units} units, goals: {}, walking", goals.name()));
        let walk = walk(self.scene, &cast);
        self.bar.inc(1);
        Row::new(units, goals.name(), &runs, walk)
    }

    /// One run: the twin, ours, the peer.
    fn run(&mut self, cast: &Cast) -> Run {
        let inserts = bare_inserts(self.scene, cast);
        let plugin = PathfindingPlugin::default().without_following();
        let mut game = Game::wayfare::<Plain>(self.scene, &cast.starts, Units::Agents, plugin);
        let idle = game.stage.idle();
        let ordered = watch(&mut game, &cast.first, idle, inserts[0], ORDERED);
        self.check(&game, cast);
        let again = watch(&mut game, &cast.second, idle, inserts[1], AGAIN);
        drop(game);
        let northstar = (cast.starts.len() <= MOST_NORTHSTAR).then(|| self.northstar(cast, inserts[0]));
        Run::new(inserts[0], &ordered, &again, northstar.as_ref())
    }

    /// The same orders for the peer.
    fn northstar(&mut self, cast: &Cast, inserts: Frame) -> Trace {
        let game = self.northstar.get_or_insert_with(|| Game::northstar(self.scene));
        game.recast_northstar(&cast.starts);
        let idle = game.stage.idle();
        game.order(&cast.first);
        let units = game.units.clone();
        let has_path = move |app: &_, unit: usize| apps::has_northstar_path(app, units[unit]);
        game.stage.watch(idle, inserts, NORTHSTAR, apps::all(cast.starts.len(), has_path))
    }

    /// Whether every unit has the path it was ordered, and a sample of them the best one.
    fn check(&mut self, game: &Game, cast: &Cast) {
        let app = &game.stage.app;
        let Some(map) = app.world().iter_entities().find_map(|entity| entity.get::<NavMap>()) else { return };
        let stride = cast.starts.len().div_ceil(SAMPLE);
        let mut scratch = Scratch::new();
        for (index, unit) in game.units.iter().enumerate() {
            let (start, goal) = (cast.starts[index], cast.first[index]);
            let mut fault = (!apps::has_path(app, *unit, goal)).then(|| "no path".to_owned());
            if let Some(path) = app.world().get::<Path>(*unit)
                && fault.is_none()
                && index % stride == 0
            {
                fault = find_fault(map, start, goal, path, &mut scratch);
            }
            self.checked += 1;
            if let Some(fault) = fault {
                self.mismatches += 1;
                if self.outcome.faults.len() < DESCRIBED {
                    self.outcome.faults.push(format!("from {start} to {goal}: {fault}"));
                }
            }
        }
    }

    /// What a survey after an edit costs: of several runs that with the middle one of the worst frames. `None` if one was
    /// not done in time.
    fn learning(&mut self) -> Option<Learning> {
        let mut runs = Vec::with_capacity(RUNS);
        for run in 0..RUNS {
            self.bar.set_message(format!("surveys after an edit, run {}", run + 1));
            runs.push(learn_after_edit(self.scene)?);
            self.bar.inc(1);
        }
        runs.sort_by(|a, b| a.worst_ms.total_cmp(&b.worst_ms));
        runs.get(RUNS / 2).copied()
    }

    /// What agents cost that stand still, in milliseconds per frame, and what they do while one of them walks; `None` if it
    /// was there too soon.
    fn standing(&mut self) -> (f64, Option<f64>) {
        let cast = self.scene.cast(STANDING, Goals::One);
        let (mut still, mut but_one) = (Vec::with_capacity(RUNS), Vec::with_capacity(RUNS));
        for run in 0..RUNS {
            self.bar.set_message(format!("{STANDING} units standing still, run {}", run + 1));
            let game = |units| {
                let plugin = PathfindingPlugin::default();
                Game::wayfare::<Plain>(self.scene, &cast.starts, units, plugin)
            };
            let (bare, mut game) = (game(Units::Transforms).stage.idle(), game(Units::Agents));
            still.push(game.stage.idle().above(bare).cpu);
            but_one.extend(walk_alone(&mut game, cast.first[0], bare));
            self.bar.inc(1);
        }
        (median(still).unwrap_or(0.0), median(but_one))
    }
}

/// What a frame takes above another app's idle one while a single unit walks. `None` if it is there by then.
fn walk_alone(game: &mut Game, goal: Cell, idle: Frame) -> Option<f64> {
    let (limits, unit) = (Limits { more: 0, ..ORDERED }, game.units[0]);
    game.order(&[goal]);
    game.stage.watch(idle, Frame::default(), limits, |app| apps::is_served(app, unit)).done?;
    let frames: Vec<Frame> = (0..IDLE).map(|_| game.stage.frame().above(idle)).collect();
    let is_on_its_way = game.stage.app.world().get::<Path>(unit).is_some_and(|path| !path.is_empty());
    is_on_its_way.then(|| stage::middle(&frames).cpu)
}

/// What is wrong with a path from cell to cell that was pulled taut, if anything is. Which of several cheapest paths is pulled is not said, so it
/// may be cheaper than another one that was pulled; but it must not be dearer than what it was made of.
fn find_fault(map: &NavMap, start: Cell, goal: Cell, path: &Path, scratch: &mut Scratch) -> Option<String> {
    let (Ok(snapshot), Some(layout)) = (map.snapshot(ClassId::default()), map.layout()) else {
        return Some("no map".to_owned());
    };
    let cheapest =
        find_path(&snapshot, &PathQuery::new(start, goal), scratch).ok().and_then(Answer::into_route);
    let Some(cheapest) = cheapest else { return Some("a path where there is none".to_owned()) };
    for leg in path.points().windows(2) {
        let [from, to] = [leg[0], leg[1]].map(|point| layout.to_grid(point));
        if !snapshot.is_clear(from, to) {
            return Some(format!("a wall between {from} and {to}"));
        }
    }
    // No way is shorter than the straight line. Lengths are floats.
    let straight = layout.to_grid(layout.centre(start)).distance(layout.to_grid(layout.centre(goal)));
    let least = f64::from(straight) * f64::from(snapshot.view().rules.costs.x()) * 0.9999;
    let cost = path.cost();
    let is_fair = cost <= cheapest.cost() && cost as f64 >= least;
    (!is_fair).then(|| format!("cost {cost}, not between {least} and {}", cheapest.cost()))
}

/// What the insertions alone cost in the frame of the first order and in that of the second.
fn bare_inserts(scene: &Scene, cast: &Cast) -> [Frame; 2] {
    let plugin = PathfindingPlugin::default().without_following();
    let mut game = Game::wayfare::<Inert>(scene, &cast.starts, Units::Agents, plugin);
    let idle = game.stage.idle();
    [&cast.first, &cast.second].map(|goals| {
        game.order(goals);
        game.stage.frame().above(idle)
    })
}

/// Orders all units of ours and watches.
fn watch(game: &mut Game, goals: &[Cell], idle: Frame, inserts: Frame, limits: Limits) -> Trace {
    game.order(goals);
    let has_path = {
        let orders: Vec<_> = game.units.iter().copied().zip(goals.iter().copied()).collect();
        move |app: &_, unit: usize| apps::has_path(app, orders[unit].0, orders[unit].1)
    };
    game.stage.watch(idle, inserts, limits, apps::all(goals.len(), has_path))
}

/// What a frame takes above an idle one while all walk: the median over windows of the median of each. `None` if
/// too many have arrived by then.
fn walk(scene: &Scene, cast: &Cast) -> Option<f64> {
    let plugin = PathfindingPlugin::default().without_avoidance();
    let mut game = Game::wayfare::<Hasty>(scene, &cast.starts, Units::Agents, plugin);
    let idle = game.stage.idle();
    game.order(&cast.first);
    let units = game.units.clone();
    let is_served = move |app: &_, unit: usize| apps::is_served(app, units[unit]);
    let limits = Limits { more: 0, ..ORDERED };
    game.stage.watch(idle, Frame::default(), limits, apps::all(cast.starts.len(), is_served)).done?;
    let windows: Vec<f64> = (0..RUNS)
        .map(|_| {
            let frames: Vec<Frame> = (0..IDLE).map(|_| game.stage.frame().above(idle)).collect();
            stage::middle(&frames).cpu
        })
        .collect();
    let world = game.stage.app.world();
    let walks = |unit: &&_| world.get::<Path>(**unit).is_some_and(|path| !path.is_empty());
    let walking = game.units.iter().filter(walks).count();
    (walking as f64 >= WALKING * game.units.len() as f64).then(|| median(windows)).flatten()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;
    use crate::level::tests::{MAP, TempDir};

    #[test]
    fn a_tiny_map_is_measured_from_end_to_end() {
        let dir = TempDir::new("frames");
        dir.write("tiny.map", MAP);
        let options = Options {
            dir: dir.0.join("tiny.map"),
            units: Some(vec![NonZeroUsize::new(3).expect("not 0")]),
            json: Some(dir.0.join("out.json")),
            ..Options::default()
        };
        let outcome = run(&options).expect("should run");
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);

        let text = fs::read_to_string(options.json.expect("asked for")).expect("written");
        let json: Value = serde_json::from_str(&text).expect("valid");
        assert_eq!(json["suite"], "frames");
        let rows = json["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2);
        assert_eq!((&rows[0]["goals"], &rows[1]["goals"]), (&"one".into(), &"random".into()));
        for row in rows {
            assert_eq!(row["units"], 3);
            assert!(
                row["frames_until_all"].as_u64().is_some_and(|frames| (1..10).contains(&frames)),
                "{row}"
            );
            assert!(row["northstar_frame_ms_max"].is_number(), "{row}");
        }
        assert_eq!(json["summary"]["checked"], 2 * 3 * RUNS);
        assert_eq!(json["summary"]["mismatches"], 0);
    }
}
