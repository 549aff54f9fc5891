//! The fields suite: in comes a folder of maps, out goes what it takes to find the ways of many units to one goal, or the nearest
//! of several, with one field, with as many single searches, and in the way that the library chooses; on bare maps and on surveyed
//! ones.

mod order;
mod race;
mod figures;

use indicatif::ProgressBar;

use crate::cli::{Failure, Options, Outcome};
use crate::level::{self, Level};
use crate::report::{self, Report};
use figures::{Row, Summary};
use order::Order;
use race::Race;

/// The maps that are measured, one of each set.
const CHOICE: [&str; 8] = [
    "orz900d",
    "w_woundedcoast",
    "AR0700SR",
    "TheFrozenSea",
    "Berlin_0_1024",
    "32room_000",
    "maze512-8-0",
    "random512-35-0",
];

/// How many times each order is given, each time to other goals.
const ROUNDS: u64 = 3;

/// How many wrong answers are described; the rest is only counted.
const DESCRIBED: usize = 5;

/// Measures the chosen maps of the folder, or all of them if it holds none of those.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let levels = choose(level::load(&options.dir, None)?);
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    let bar = report::progress_bar(levels.len() * Order::ALL.len() * 2);
    bar.suspend(|| report::print(&figures::heading()));
    let mut rows = Vec::new();
    let mut outcome = Outcome::default();
    for level in &levels {
        for (order, surveyed) in Order::ALL.into_iter().flat_map(|order| [(order, false), (order, true)]) {
            let row = run_order(level, order, surveyed, &bar, &mut outcome);
            bar.suspend(|| report::print(&figures::line(&row)));
            rows.push(row);
        }
    }
    bar.finish_and_clear();

    let summary = Summary::new(&rows);
    report::print(&figures::summary_lines(&summary));
    if let Some(path) = &options.json {
        Report { suite: "fields", rows: &rows, summary: &summary }.write(path)?;
    }
    if summary.mismatches > 0 {
        outcome.faults.push(format!("{} answers of ours are wrong", summary.mismatches));
    }
    if options.check {
        outcome.faults.extend(figures::missed_bars(&summary));
    }
    Ok(outcome)
}

fn choose(levels: Vec<Level>) -> Vec<Level> {
    let is_chosen =
        |level: &Level| level.name.rsplit(['/', '\\']).next().is_some_and(|name| CHOICE.contains(&name));
    if levels.iter().any(is_chosen) { levels.into_iter().filter(is_chosen).collect() } else { levels }
}

/// Measures one order on one map. Wrong answers are added to the outcome.
fn run_order(level: &Level, order: Order, surveyed: bool, bar: &ProgressBar, outcome: &mut Outcome) -> Row {
    bar.set_message(format!("{} {}", level.name, order.name()));
    let race = Race::run(level, order, ROUNDS, surveyed);
    let room = DESCRIBED.saturating_sub(outcome.faults.len());
    for fault in race.faults.iter().take(room) {
        outcome.faults.push(format!("{} {}: {fault}", level.name, order.name()));
    }
    bar.inc(1);
    Row::new(level, order, surveyed, &race)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;
    use crate::level::tests::{MAP, SCENARIOS, TempDir};

    #[test]
    fn a_tiny_map_is_measured_from_end_to_end() {
        let dir = TempDir::new("fields");
        dir.write("small/tiny.map", MAP);
        dir.write("small/tiny.map.scen", SCENARIOS);
        let json = dir.0.join("out.json");
        let options = Options { dir: dir.0.clone(), json: Some(json.clone()), ..Options::default() };
        let outcome = run(&options).expect("should run");
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        let text = fs::read_to_string(json).expect("written");
        let json: Value = serde_json::from_str(&text).expect("valid");
        assert_eq!(json["suite"], "fields");
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(2 * Order::ALL.len()));
        let row = &json["rows"][9];
        assert_eq!((&row["map"], &row["order"]), (&"small/tiny".into(), &"scattered 10000".into()));
        assert!(row["field_us_per_unit"].as_f64() > Some(0.0) && row["single_us"].as_f64() > Some(0.0));
        assert!(row["surveyed"] == true && row["chosen_ms"].as_f64() > Some(0.0));
        assert_eq!(json["summary"]["mismatches"], 0);
        assert_eq!(json["summary"]["maps"], 1);
    }

    #[test]
    fn chosen_maps_push_out_all_others() {
        let dir = TempDir::new("fields_choice");
        for name in ["b/other.map", "dao/orz900d.map"] {
            dir.write(name, MAP);
            dir.write(&format!("{name}.scen"), SCENARIOS);
        }
        let levels = choose(level::load(&dir.0, None).expect("valid"));
        assert_eq!(levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>(), ["dao/orz900d"]);
    }
}
