//! The crowd suite: scenes that units get through or get stuck in, judged from outside, beside `dodgy_2d`.
//!
//! Units of radius 0.4 and speed 3 take 20 steps a second, as in a game without an engine. Each scene is played with several
//! seeds, which move places a little, and figures are the worst over them unless said otherwise.
//!
//! * **t95** is when 95 % have first come within half a radius of their goal, or behind the door, as a multiple of the
//!   straight line's time, or the ideal one. Who has arrived stays, idle. Who is told to settle has arrived if it is
//!   within three radii, or if all share the goal.
//! * **overlap** is the deepest of any two at any step; **walls** counts units times steps in which a centre was in a
//!   blocked cell or a disc more than 1 % of its radius. Both are found without the solver's help.
//! * **ns** is CPU time of the crowd's step, per unit and step.
//! * **`plugin_10k`** has the same units in a game with Bevy, on one thread and on all.

mod unit;
mod peer;
mod drive;
mod judge;
mod play;
mod bars;
mod scenes;
mod same;
mod speed;
mod cores;
mod figures;
mod svg;

use core::num::NonZeroU64;
use std::fs;
use std::path::Path;

use crate::cli::{Failure, Options, Outcome};
use crate::report::{self, Report};
use drive::Mover;
use figures::{Row, Summary};
use play::{Run, Traces};
use scenes::{SCENES, Scene};

/// How many seeds each scene is played with, if the user does not say.
const SEEDS: u64 = 5;

/// So many rows may miss a bar, by no more than this.
const MISSES: usize = 2;
const MISSED_BY: f64 = 1.5;

/// The scene that is played by the peer too.
const PEER_SCENE: &str = "circle_250";

/// Plays all scenes, or those asked for.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    if let Some(dir) = &options.svg {
        fs::create_dir_all(dir).map_err(|error| Failure::Write(dir.clone(), error))?;
    }
    let seeds = options.seeds.map_or(SEEDS, NonZeroU64::get);
    let is_asked = |name: &str| options.scene.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let mut rows = Vec::new();
    report::print(&format!("{seeds} seeds, worst unless said\n{}", figures::HEAD));
    for scene in SCENES.iter().filter(|scene| is_asked(scene.name)) {
        let row = play_scene(scene, seeds, options)?;
        report::print(&row.line());
        rows.push(row);
    }
    if is_asked("determinism") {
        let same = same::rows(seeds);
        same.iter().for_each(|row| report::print(&row.line()));
        rows.extend(same);
    }
    let (mut ns, mut dodgy) = (None, None);
    if is_asked("speed_10k") {
        let (row, times) = speed::row();
        report::print(&row.line());
        (ns, dodgy) = (row.ns_per_unit_step, times);
        rows.push(row);
    }
    if is_asked("plugin_10k") {
        let row = cores::row();
        report::print(&row.line());
        rows.push(row);
    }
    if is_asked(PEER_SCENE) {
        report::print(&format!("\n{}", peer_line(seeds)));
    }
    let summary = Summary::new(&rows, ns, dodgy);
    report::print(&closing(&rows, &summary));
    if let Some(path) = &options.json {
        Report { suite: "crowd", rows: &rows, summary: &summary }.write(path)?;
    }
    Ok(Outcome { faults: if options.check { faults(&rows) } else { Vec::new() } })
}

/// All seeds of a scene. Asked for by name, each has a line of its own.
fn play_scene(scene: &Scene, seeds: u64, options: &Options) -> Result<Row, Failure> {
    let mut runs = Vec::new();
    for seed in 1..=seeds {
        let Some(mut setup) = (scene.make)(seed) else {
            return Ok(Row::skipped(scene.name, "no data"));
        };
        let mut traces = Traces::default();
        let is_drawn = options.svg.is_some() && seed == 1;
        let run = setup.play(is_drawn.then_some(&mut traces));
        if let Some(dir) = options.svg.as_ref().filter(|_| is_drawn) {
            write(&dir.join(scene.name).with_extension("svg"), &svg::draw(&setup.world, &traces))?;
        }
        if options.scene.is_some() {
            report::print(&figures::seed_line(scene.name, seed, &run));
        }
        runs.push(run);
    }
    let misses = scene.bars.judge(&runs);
    Ok(Row::new(scene.name, &runs, misses))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::Write(path.into(), error))
}

/// How the peer does in the one scene that it can be asked to play without walls and ladders.
fn peer_line(seeds: u64) -> String {
    let scene = SCENES.iter().find(|scene| scene.name == PEER_SCENE);
    let runs: Vec<Run> = (1..=seeds)
        .filter_map(|seed| {
            let mut setup = (scene?.make)(seed)?;
            setup.world.mover = Mover::Peer(peer::Dodgy::default());
            Some(setup.play(None))
        })
        .collect();
    let row = Row::new("dodgy_2d: circle_250", &runs, Vec::new());
    Row { pass: None, ..row }.line()
}

/// The last lines: what holds, and what does not.
fn closing(rows: &[Row], summary: &Summary) -> String {
    let mut text = format!("\n{} rows hold their bars, {} do not", summary.passed, summary.failed);
    for row in rows {
        for miss in &row.misses {
            text += &format!("\n  {}: {} {:.3}, {:.2} × the bar", row.scene, miss.what, miss.found, miss.by);
        }
    }
    text
}

/// Too many misses, and those that are too far off.
fn faults(rows: &[Row]) -> Vec<String> {
    let missed: Vec<(&str, f64)> =
        rows.iter().filter_map(|row| Some((row.scene, row.missed_by()?))).collect();
    let far = missed.iter().filter(|(_, by)| *by > MISSED_BY);
    let mut faults: Vec<String> =
        far.map(|(scene, by)| format!("{scene} misses a bar by {by:.2} ×")).collect();
    if missed.len() > MISSES {
        faults.push(format!("{} rows miss their bars, {MISSES} may", missed.len()));
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::level::tests::TempDir;

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().expect("an object").keys().map(String::as_str).collect()
    }

    #[test]
    fn a_short_scene_is_played_from_end_to_end() {
        let dir = TempDir::new("crowd");
        let options = Options {
            seeds: NonZeroU64::new(1),
            scene: Some("locked_one".into()),
            svg: Some(dir.0.join("pictures")),
            json: Some(dir.0.join("out.json")),
            ..Options::default()
        };
        run(&options).expect("should run");
        let picture = fs::read_to_string(dir.0.join("pictures/locked_one.svg")).expect("drawn");
        assert!(picture.contains("<polyline"));

        let text = fs::read_to_string(options.json.expect("asked for")).expect("written");
        let json: Value = serde_json::from_str(&text).expect("valid");
        assert_eq!(keys(&json), ["rows", "suite", "summary"]);
        assert_eq!(json["suite"], "crowd");
        let mut promised = vec!["scene", "t95_ratio_median", "t95_ratio_worst", "max_overlap", "arrived"];
        promised.extend(["residual_speed", "p95_radius", "wall_violations", "ns_per_unit_step", "pass"]);
        promised.sort_unstable();
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(1));
        assert_eq!(keys(&json["rows"][0]), promised);
        assert_eq!(json["rows"][0]["residual_speed"], Value::Null, "this is no rally");
        assert!(json["rows"][0]["pass"].is_boolean());
        assert_eq!(keys(&json["summary"]), ["failed", "ns_per_unit_step_10k", "passed", "vs"]);
        assert_eq!(keys(&json["summary"]["vs"]), ["dodgy_2d"]);
    }

    #[test]
    fn two_rows_may_miss_but_not_by_far() {
        let miss = |by| Row { misses: vec![bars::Miss { what: "x", found: 1.0, by }], ..Row::default() };
        assert!(faults(&[miss(1.2), Row::default(), miss(1.5)]).is_empty());
        assert_eq!(faults(&[miss(1.6), Row::default()]).len(), 1);
        assert_eq!(faults(&[miss(1.1), miss(1.1), miss(1.1)]).len(), 1, "three are too many");
    }

    #[test]
    fn there_is_a_row_for_every_variant() {
        let names: std::collections::BTreeSet<&str> = SCENES.iter().map(|scene| scene.name).collect();
        assert_eq!(names.len(), SCENES.len(), "no name comes twice");
        assert_eq!(SCENES.len() + same::rows(1).len() + 1, 19);
        assert!(names.contains(PEER_SCENE));
    }
}
