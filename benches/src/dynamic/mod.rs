//! The dynamic suite: in comes a folder of scripts that change a map between queries, out go what a batch of edits and
//! what a query costs each contender, and whatever was wrong with our own answers.
//!
//! A script is a `.scen` file with its `.patch` file, as the dynamic track of the Grid-Based Path Planning Competition
//! has them: the map begins free of walls, `P` stamps a patch on it, `Q` asks for a path on the map as it is then. Edits
//! without a query between them are one batch. Its time ends when the next query may be asked, so that whoever keeps
//! components or a hierarchy has brought them up to date by then.

mod patch;
mod script;
mod edit;
mod replay;
mod figures;

use indicatif::ProgressBar;

use crate::cli::{Failure, Options, Outcome};
use crate::contender::Contender;
use crate::peers::{Hierarchical, JumpPoints, Northstar, PlainAstar};
use crate::report::{self, Report};
use edit::{OursAged, OursEdited, OursSurveyed};
use figures::{Row, Summary};
use replay::{PASSES, Replay};
use script::Script;

/// A promise about speed that `--check` enforces: a peer's time over ours.
#[derive(Debug)]
struct Bar {
    peer: &'static str,
    /// For a batch of edits; `None` for a peer that keeps nothing, so that edits cost it nothing either.
    edit: Option<f64>,
    query: f64,
}

/// What is promised: edits 50 × of every peer that keeps anything, queries 4 × of every peer.
const BARS: &[Bar] = &[
    Bar { peer: PlainAstar::NAME, edit: None, query: 4.0 },
    Bar { peer: JumpPoints::NAME, edit: Some(50.0), query: 4.0 },
    Bar { peer: Northstar::NAME, edit: Some(50.0), query: 4.0 },
    Bar { peer: Hierarchical::NAME, edit: Some(50.0), query: 4.0 },
];

/// How long a worker may take to bring a survey up to date after a batch, in microseconds: in the mean, and at worst.
const REPAIR_US: (f64, f64) = (1_000.0, 10_000.0);

/// How many wrong answers are described; the rest is only counted.
const DESCRIBED: usize = 5;

const CONTENDERS: usize = 7;

/// Measures every script in the folder.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let scripts = script::load(&options.dir)?;
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    let queries: usize = scripts.iter().map(|script| script.level.queries.len()).sum();
    let bar = report::progress_bar(queries * PASSES * CONTENDERS);
    let mut rows = Vec::new();
    let mut outcome = Outcome::default();
    for script in &scripts {
        let script_rows = run_script(script, &bar, &mut outcome);
        bar.suspend(|| report::print(&figures::script_table(script, &script_rows)));
        rows.extend(script_rows);
    }
    bar.finish_and_clear();

    let summary = Summary::new(&rows);
    report::print(&figures::summary_table(&summary));
    if let Some(path) = &options.json {
        Report { suite: "dynamic", rows: &rows, summary: &summary }.write(path)?;
    }
    if summary.mismatches > 0 {
        outcome.faults.push(format!("{} answers of ours are wrong", summary.mismatches));
    }
    if options.check {
        outcome.faults.extend(missed_bars(&summary));
    }
    Ok(outcome)
}

/// A row per contender, ours first. Wrong answers of ours are added to the outcome.
fn run_script(script: &Script, bar: &ProgressBar, outcome: &mut Outcome) -> [Row; CONTENDERS] {
    let [mut ours, mut aged, mut surveyed, mut plain_astar, mut jump_points, mut northstar, mut hierarchical] =
        std::array::from_fn(|_| Replay::new(script));
    // They take turns, so that a slow minute of the machine hits all.
    for _ in 0..PASSES {
        ours.pass::<OursEdited>(script, bar);
        aged.pass::<OursAged>(script, bar);
        surveyed.pass::<OursSurveyed>(script, bar);
        plain_astar.pass::<PlainAstar>(script, bar);
        jump_points.pass::<JumpPoints>(script, bar);
        northstar.pass::<Northstar>(script, bar);
        hierarchical.pass::<Hierarchical>(script, bar);
    }
    describe_faults(script, &ours, outcome);
    describe_faults(script, &aged, outcome);
    describe_faults(script, &surveyed, outcome);
    [
        Row::new::<OursEdited>(script, &ours),
        Row::new::<OursAged>(script, &aged),
        Row::new::<OursSurveyed>(script, &surveyed),
        Row::new::<PlainAstar>(script, &plain_astar),
        Row::new::<JumpPoints>(script, &jump_points),
        Row::new::<Northstar>(script, &northstar),
        Row::new::<Hierarchical>(script, &hierarchical),
    ]
}

/// Adds the first few wrong answers to the faults.
fn describe_faults(script: &Script, ours: &Replay, outcome: &mut Outcome) {
    let level = &script.level;
    let room = DESCRIBED.saturating_sub(outcome.faults.len());
    let judged = (1..).zip(ours.verdicts.iter().zip(&level.queries));
    let wrong =
        judged.filter_map(|(number, (verdict, query))| Some((number, verdict.fault.as_ref()?, query)));
    for (number, fault, query) in wrong.take(room) {
        let (name, start, goal) = (&level.name, query.start, query.goal);
        outcome.faults.push(format!("{name}, query {number} from {start} to {goal}: {fault}"));
    }
}

fn missed_bars(summary: &Summary) -> Vec<String> {
    let mut missed = Vec::new();
    let repairs = [
        ("in the mean", summary.repair_us_per_batch, REPAIR_US.0),
        ("at worst", summary.repair_us_worst, REPAIR_US.1),
    ];
    for (what, measured, limit) in repairs {
        if let Some(measured) = measured.filter(|measured| *measured > limit) {
            missed.push(format!(
                "bar missed: a repair takes {measured:.0} µs {what}, should be at most {limit:.0}"
            ));
        }
    }
    for bar in BARS {
        let ratio = summary.vs.get(bar.peer).copied().unwrap_or_default();
        let limits = [("edits", bar.edit, ratio.edit), ("queries", Some(bar.query), ratio.query)];
        for (what, limit, measured) in limits {
            // A script without edits says nothing about them.
            let (Some(limit), Some(measured)) = (limit, measured) else { continue };
            if measured < limit {
                missed.push(format!(
                    "bar missed: {what} of `{}` take {measured:.2} × our time, should be at least {limit:.2} ×",
                    bar.peer
                ));
            }
        }
    }
    missed
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::figures::tests::row;
    use super::script::tests::{PATCHES, SCRIPT};
    use super::*;
    use crate::level::tests::TempDir;

    fn run_on(name: &str, script: &str) -> (Outcome, Value) {
        let dir = TempDir::new(name);
        dir.write("tiny.scen", script);
        dir.write("tiny.patch", PATCHES);
        let json = dir.0.join("out.json");
        let options = Options { dir: dir.0.clone(), json: Some(json.clone()), ..Options::default() };
        let outcome = run(&options).expect("should run");
        let text = fs::read_to_string(json).expect("written");
        (outcome, serde_json::from_str(&text).expect("valid"))
    }

    #[test]
    fn a_tiny_script_is_measured_from_end_to_end() {
        let (outcome, json) = run_on("dynamic_run", SCRIPT);
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        let rows = json["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), CONTENDERS);
        assert!(rows.iter().all(|row| row["script"] == "tiny" && row["batches"] == 4 && row["queries"] == 6));
        assert_eq!(rows[0]["contender"], "wayfare");
        assert_eq!(json["summary"]["mismatches"], 0);
        assert_eq!(json["summary"]["queries"], 6);
        assert_eq!(json["summary"]["vs"].as_object().map(serde_json::Map::len), Some(CONTENDERS - 3));
    }

    #[test]
    fn a_wrong_answer_of_ours_is_described_and_counted() {
        let (outcome, json) = run_on("dynamic_wrong", &SCRIPT.replace("Q 1 0 0 2 0 6", "Q 1 0 0 2 0 5"));
        assert_eq!(outcome.faults.len(), 4, "{:?}", outcome.faults);
        let expected = "tiny, query 3 from (0, 0) to (2, 0): length 6.000000 instead of 5.000000";
        assert_eq!(outcome.faults[0], expected);
        assert_eq!(outcome.faults[1..3], [expected; 2], "with a survey, old or new, too");
        assert_eq!(outcome.faults[3], "3 answers of ours are wrong");
        assert_eq!(json["summary"]["mismatches"], 3);
    }

    #[test]
    fn an_unwritable_file_is_refused_before_measuring() {
        let dir = TempDir::new("dynamic_unwritable");
        dir.write("tiny.scen", SCRIPT);
        dir.write("tiny.patch", PATCHES);
        let json = Some(dir.0.join("no/such/folder/out.json"));
        let options = Options { dir: dir.0.clone(), json, ..Options::default() };
        assert!(matches!(run(&options), Err(Failure::Write(..))));
    }

    #[test]
    fn a_missed_bar_is_named_with_its_figure() {
        let bar = BARS.iter().find(|bar| bar.peer == "grid_pathfinding").expect("a bar");
        let edit = bar.edit.expect("it keeps components");
        let missed = |edit_us, query_us| {
            let rows = [row("wayfare", 1, 1.0, 1.0), row("grid_pathfinding", 1, edit_us, query_us)];
            missed_bars(&Summary::new(&rows))
        };
        assert!(missed(edit * 1.01, bar.query * 1.01).is_empty());
        let edits = missed(edit / 2.0, bar.query * 1.01);
        assert!(edits.len() == 1 && edits[0].contains("edits of `grid_pathfinding` take"), "{edits:?}");
        let queries = missed(edit * 1.01, bar.query / 2.0);
        assert!(queries.len() == 1 && queries[0].contains("queries of `grid_pathfinding`"), "{queries:?}");
    }
}
