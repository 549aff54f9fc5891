//! The grid suite: in comes a folder of maps with queries and published optimal lengths, out go a table per map,
//! a summary, and whatever was wrong with our own answers.

use indicatif::ProgressBar;

use crate::cli::{Failure, Options, Outcome};
use crate::contender::{Contender, FirstGear, Ours};
use crate::figures::{Row, Summary};
use crate::level::{self, Level};
use crate::measure::{self, Lane};
use crate::peers::{Hierarchical, JumpPoints, Northstar, PlainAstar};
use crate::report::{self, Report};

/// A promise about speed that `--check` enforces: a peer's time over ours.
#[derive(Debug)]
struct Bar {
    peer: &'static str,
    /// A geometric mean over all maps but random ones.
    at_least: f64,
    /// On the worst of these maps.
    worst: Option<f64>,
    /// The same mean, over our first gear alone.
    first_gear: f64,
    /// A geometric mean over random maps.
    random: Option<f64>,
}

/// What is promised.
const BARS: &[Bar] = &[
    Bar { peer: PlainAstar::NAME, at_least: 300.0, worst: None, first_gear: 75.0, random: Some(10.0) },
    Bar { peer: JumpPoints::NAME, at_least: 30.0, worst: Some(8.0), first_gear: 7.5, random: Some(1.0) },
    Bar { peer: Northstar::NAME, at_least: 30.0, worst: Some(5.0), first_gear: 7.5, random: None },
];

/// How long building all gears may take on a large map, in milliseconds, and what they may take of memory on maps of games, in
/// bytes per cell.
const BUILD_MS: f64 = 100.0;
const BYTES_PER_CELL: f64 = 6.0;

/// How many wrong answers are described; the rest is only counted.
const DESCRIBED: usize = 5;

const CONTENDERS: usize = 6;

/// Measures every level below the folder.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let levels = level::load(&options.dir, options.queries)?;
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    let bar = progress_bar(&levels);
    let mut rows = Vec::new();
    let mut outcome = Outcome::default();
    for level in &levels {
        let level_rows = run_level(level, &bar, &mut outcome);
        bar.suspend(|| report::print(&report::level_table(level, &level_rows)));
        rows.extend(level_rows);
    }
    bar.finish_and_clear();

    let summary = Summary::new(&rows);
    report::print(&report::summary_table(&rows, &summary));
    if let Some(path) = &options.json {
        Report { suite: "grid", rows: &rows, summary: &summary }.write(path)?;
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
fn run_level(level: &Level, bar: &ProgressBar, outcome: &mut Outcome) -> [Row; CONTENDERS] {
    let mut ours = Lane::<Ours>::new(level);
    let mut first_gear = Lane::<FirstGear>::new(level);
    let mut plain_astar = Lane::<PlainAstar>::new(level);
    let mut jump_points = Lane::<JumpPoints>::new(level);
    let mut northstar = Lane::<Northstar>::new(level);
    let mut hierarchical = Lane::<Hierarchical>::new(level);
    for order in measure::orders(level.queries.len()) {
        ours.pass(&order, bar);
        first_gear.pass(&order, bar);
        plain_astar.pass(&order, bar);
        jump_points.pass(&order, bar);
        northstar.pass(&order, bar);
        hierarchical.pass(&order, bar);
    }

    describe_faults(&ours, outcome);
    describe_faults(&first_gear, outcome);
    let mut our_row = Row::new(&ours, None);
    our_row.bytes_per_cell = Some(ours.contender.bytes_per_cell(level));
    let mean = Some(our_row.mean_us);
    [
        our_row,
        Row::new(&first_gear, mean),
        Row::new(&plain_astar, mean),
        Row::new(&jump_points, mean),
        Row::new(&northstar, mean),
        Row::new(&hierarchical, mean),
    ]
}

/// Adds the first few wrong answers to the faults.
fn describe_faults<C: Contender>(ours: &Lane<'_, C>, outcome: &mut Outcome) {
    let level = ours.level;
    let room = DESCRIBED.saturating_sub(outcome.faults.len());
    let judged = ours.verdicts.iter().zip(&level.queries);
    let wrong = judged.filter_map(|(verdict, query)| Some((verdict.fault.as_ref()?, query)));
    for (fault, query) in wrong.take(room) {
        let described = format!("{} from {} to {}: {fault}", level.name, query.start, query.goal);
        outcome.faults.push(described);
    }
}

fn missed_bars(summary: &Summary) -> Vec<String> {
    let mut missed = Vec::new();
    let limits = [
        ("ms to build all gears for a large map", summary.build_ms_large, BUILD_MS),
        ("bytes per cell on maps of games", summary.bytes_per_cell_games, BYTES_PER_CELL),
    ];
    for (what, measured, most) in limits {
        if let Some(measured) = measured.filter(|measured| *measured > most) {
            missed.push(format!("bar missed: {measured:.1} {what}, should be at most {most:.1}"));
        }
    }
    for bar in BARS {
        let limits = [
            ("without random maps", Some(bar.at_least), &summary.vs_without_random),
            ("on the worst map that is not random", bar.worst, &summary.vs_worst_without_random),
            ("of first gear", Some(bar.first_gear), &summary.vs_first_gear),
            ("on random maps", bar.random, &summary.vs_random),
        ];
        for (what, limit, measured) in limits {
            // A folder without such maps says nothing about this bar.
            let (Some(limit), Some(measured)) = (limit, measured.get(bar.peer)) else { continue };
            if measured < limit {
                missed.push(format!(
                    "bar missed: `{}` takes {measured:.2} × our time {what}, should be at least {limit:.2} ×",
                    bar.peer
                ));
            }
        }
    }
    missed
}

fn progress_bar(levels: &[Level]) -> ProgressBar {
    let queries: usize = levels.iter().map(|level| level.queries.len()).sum();
    report::progress_bar(queries * measure::PASSES * CONTENDERS)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;
    use crate::figures::tests::pair;
    use crate::gears::Bytes;
    use crate::level::tests::{MAP, SCENARIOS, TempDir};

    fn options(dir: &TempDir) -> Options {
        Options { dir: dir.0.clone(), json: Some(dir.0.join("out.json")), ..Options::default() }
    }

    #[test]
    fn a_tiny_map_is_measured_from_end_to_end() {
        let dir = TempDir::new("end_to_end");
        dir.write("small/tiny.map", MAP);
        dir.write("small/tiny.map.scen", SCENARIOS);
        let options = options(&dir);
        let outcome = run(&options).expect("should run");
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);

        let text = fs::read_to_string(options.json.expect("asked for")).expect("written");
        let json: Value = serde_json::from_str(&text).expect("valid");
        let rows = json["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), CONTENDERS);
        assert!(rows.iter().all(|row| row["map"] == "small/tiny" && row["queries"] == 4));
        assert_eq!(rows[0]["contender"], "wayfare");
        assert_eq!(rows[0]["mismatches"], 0);
        assert!(rows.iter().all(|row| row["heap_mb"].as_f64().expect("a number") > 0.0));
        assert_eq!(json["summary"]["maps"], 1);
        assert_eq!(json["summary"]["queries"], 4);
    }

    #[test]
    fn a_wrong_answer_of_ours_is_described_and_counted() {
        let dir = TempDir::new("wrong");
        dir.write("tiny.map", MAP);
        dir.write("tiny.map.scen", &SCENARIOS.replace("1.41421", "1"));
        let faults = run(&options(&dir)).expect("should run").faults;
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].contains("tiny from (0, 2) to (1, 3): length 1.414214 instead of 1.000000"));
        assert_eq!(faults[0], faults[1], "both gears");
        assert!(faults[2].contains("2 answers of ours are wrong"));
    }

    #[test]
    fn an_empty_folder_is_refused_with_a_clear_message() {
        let dir = TempDir::new("empty");
        let failure = run(&options(&dir)).expect_err("nothing to measure");
        assert!(matches!(failure, Failure::NoMaps(_)));
        assert!(failure.to_string().starts_with("no maps in "), "{failure}");
    }

    #[test]
    fn an_unwritable_file_is_refused_before_measuring() {
        let dir = TempDir::new("unwritable");
        dir.write("tiny.map", MAP);
        dir.write("tiny.map.scen", SCENARIOS);
        let mut options = options(&dir);
        options.json = Some(dir.0.join("no/such/folder/out.json"));
        assert!(matches!(run(&options), Err(Failure::Write(..))));
    }

    #[test]
    fn a_missed_bar_is_named_with_its_figure() {
        let bar = &BARS[0];
        assert_eq!(bar.peer, "pathfinding");
        // A hair more, for a geometric mean is rounded.
        assert!(missed_bars(&Summary::new(&pair("dao", 1.0, 1.001 * bar.at_least))).is_empty());
        let missed = missed_bars(&Summary::new(&pair("dao", 1.0, 0.5)));
        assert!(missed[0].contains("`pathfinding` takes 0.50 ×"), "{missed:?}");
        let mut large = pair("dao", 1.0, 1000.0);
        (large[0].cells, large[0].build_ms) = (1 << 20, 100.5);
        large[0].bytes_per_cell = Some(Bytes { total: 6.5, ..Bytes::default() });
        let missed = missed_bars(&Summary::new(&large));
        assert!(
            missed.len() == 2 && missed[0].contains("100.5 ms") && missed[1].contains("6.5 bytes"),
            "{missed:?}"
        );
        let random = missed_bars(&Summary::new(&pair("random", 1.0, 0.5)));
        assert!(random.len() == 1 && random[0].contains("on random maps"), "{random:?}");
    }
}
