//! The weighted suite: in comes a folder of maps, out goes how fast and how well we search them when ground has a price,
//! beside `pathfinding`'s A* on the same prices.
//!
//! No public maps with queries have prices, so the ground is made here: patches of eight kinds that cost 1 to 8 times an
//! ordinary step, and straight roads of half the cost. It depends on nothing but the map's name and its walls.

mod terrain;
mod judge;
mod race;
mod figures;

use std::num::NonZeroUsize;

use indicatif::ProgressBar;

use crate::cli::{Failure, Options, Outcome};
use crate::level::{self, Level};
use crate::measure::PASSES;
use crate::report::{self, Report};
use figures::{Row, Summary};
use race::Race;
use terrain::Ground;

/// The maps that are measured, some of each kind: caves, a coast, a town, an arena for armies, streets, rooms, a maze.
const CHOICE: [&str; 8] = [
    "orz900d",
    "w_woundedcoast",
    "AR0700SR",
    "Aurora",
    "NewYork_1_512",
    "Berlin_0_1024",
    "32room_000",
    "maze512-8-0",
];

/// How many queries of each map are asked, if the user does not say.
const QUERIES: usize = 100;

/// What `--check` enforces: the peer's time over ours, as a geometric mean over maps, with landmarks and without. Measured
/// with 40 queries a map: 14.5 and 5.4, on a busy machine.
const RATIO: f64 = 10.0;
const BARE_RATIO: f64 = 4.0;

const CONTENDERS: usize = 3;

/// How many wrong answers are described; the rest is only counted.
const DESCRIBED: usize = 5;

/// Measures the chosen maps of the folder, or all of them if it holds none of those.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let queries = options.queries.or(NonZeroUsize::new(QUERIES));
    let levels = choose(level::load(&options.dir, queries)?);
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    let queries: usize = levels.iter().map(|level| level.queries.len()).sum();
    let bar = report::progress_bar(queries * PASSES * CONTENDERS);
    bar.suspend(|| report::print(&figures::heading()));
    let mut rows = Vec::new();
    let mut outcome = Outcome::default();
    for level in &levels {
        let row = run_level(level, &bar, &mut outcome);
        bar.suspend(|| report::print(&figures::line(&row)));
        rows.push(row);
    }
    bar.finish_and_clear();

    let summary = Summary::new(&rows);
    report::print(&figures::summary_line(&summary));
    if let Some(path) = &options.json {
        Report { suite: "weighted", rows: &rows, summary: &summary }.write(path)?;
    }
    if summary.mismatches > 0 {
        outcome.faults.push(format!("{} answers of ours are wrong", summary.mismatches));
    }
    if options.check {
        outcome.faults.extend(missed_bars(&summary));
    }
    Ok(outcome)
}

/// The name of a map's file, without its folder: the ground must not depend on where a folder lies.
fn file_name(level: &Level) -> &str {
    level.name.rsplit(['/', '\\']).next().unwrap_or(&level.name)
}

fn choose(levels: Vec<Level>) -> Vec<Level> {
    let is_chosen = |level: &Level| CHOICE.contains(&file_name(level));
    if levels.iter().any(is_chosen) { levels.into_iter().filter(is_chosen).collect() } else { levels }
}

/// Measures one map. Wrong answers are added to the outcome.
fn run_level(level: &Level, bar: &ProgressBar, outcome: &mut Outcome) -> Row {
    let ground = Ground::new(&level.board, terrain::seed(file_name(level)));
    let race = Race::run(level, &ground, bar);
    for (who, faults) in [("wayfare", &race.faults), ("pathfinding", &race.peer_faults)] {
        let room = DESCRIBED.saturating_sub(outcome.faults.len());
        let judged = faults.iter().zip(&level.queries);
        let wrong = judged.filter_map(|(fault, query)| Some((fault.as_ref()?, query)));
        for (fault, query) in wrong.take(room) {
            let (name, start, goal) = (&level.name, query.start, query.goal);
            outcome.faults.push(format!("{who} on {name} from {start} to {goal}: {fault}"));
        }
    }
    Row::new(level, &race)
}

fn missed_bars(summary: &Summary) -> impl Iterator<Item = String> {
    let bars = [
        ("with landmarks", summary.geomean_ratio, RATIO),
        ("without landmarks", summary.geomean_bare_ratio, BARE_RATIO),
    ];
    bars.into_iter().filter_map(|(how, measured, bar)| {
        let measured = measured.filter(|ratio| *ratio < bar)?;
        Some(format!(
            "bar missed: `pathfinding` takes {measured:.2} × our time {how}, should be at least {bar:.2} ×"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::figures::tests::row;
    use super::*;
    use crate::level::tests::{MAP, SCENARIOS, TempDir};

    fn run_on(dir: &TempDir) -> (Outcome, Value) {
        let json = dir.0.join("out.json");
        let options = Options { dir: dir.0.clone(), json: Some(json.clone()), ..Options::default() };
        let outcome = run(&options).expect("should run");
        let text = fs::read_to_string(json).expect("written");
        (outcome, serde_json::from_str(&text).expect("valid"))
    }

    #[test]
    fn a_tiny_map_is_measured_from_end_to_end() {
        let dir = TempDir::new("weighted");
        dir.write("small/tiny.map", MAP);
        dir.write("small/tiny.map.scen", SCENARIOS);
        let (outcome, json) = run_on(&dir);
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(1));
        let row = &json["rows"][0];
        assert_eq!((&row["map"], &row["queries"]), (&"small/tiny".into(), &4.into()));
        assert!(row["mean_us"].as_f64() > Some(0.0) && row["peer_mean_us"].as_f64() > Some(0.0));
        assert_eq!(json["summary"]["mismatches"], 0);
        assert_eq!(json["summary"]["maps"], 1);
    }

    #[test]
    fn a_query_that_should_have_no_path_is_a_fault_of_both() {
        let dir = TempDir::new("weighted_wrong");
        dir.write("tiny.map", MAP);
        dir.write("tiny.map.scen", &SCENARIOS.replace("1.41421", "0"));
        let (outcome, json) = run_on(&dir);
        assert_eq!(outcome.faults.len(), 3, "{:?}", outcome.faults);
        assert_eq!(outcome.faults[0], "wayfare on tiny from (0, 2) to (1, 3): a path where none exists");
        assert_eq!(outcome.faults[1], "pathfinding on tiny from (0, 2) to (1, 3): a path where none exists");
        assert_eq!(outcome.faults[2], "1 answers of ours are wrong");
        assert_eq!(json["summary"]["mismatches"], 1);
    }

    #[test]
    fn chosen_maps_push_out_all_others() {
        let dir = TempDir::new("weighted_choice");
        for name in ["b/other.map", "dao/orz900d.map"] {
            dir.write(name, MAP);
            dir.write(&format!("{name}.scen"), SCENARIOS);
        }
        let (_, json) = run_on(&dir);
        assert_eq!(json["summary"]["maps"], 1);
        assert_eq!(json["rows"][0]["map"], "dao/orz900d");
    }

    #[test]
    fn a_missed_bar_is_named_with_its_figure() {
        assert_eq!(missed_bars(&Summary::new(&[row(RATIO * 1.01)])).count(), 0);
        let missed: Vec<String> = missed_bars(&Summary::new(&[row(0.5)])).collect();
        assert!(missed[0].contains("takes 0.50 × our time with landmarks"), "{missed:?}");
        assert!(missed[1].contains("without landmarks"), "{missed:?}");
        assert_eq!(missed_bars(&Summary::new(&[row(BARE_RATIO * 1.01)])).count(), 1);
    }
}
