//! The output: in come figures, out go tables for a reader on the standard output and JSON for a program in a
//! file. The only place that prints.

use std::fs;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::cli::Failure;
use crate::figures::{Row, Summary, worst_map};
use crate::level::Level;

/// The JSON file.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a, R, S> {
    pub(crate) suite: &'static str,
    pub(crate) rows: &'a [R],
    pub(crate) summary: &'a S,
}

/// Refuses a place that cannot be written before hours are spent on the figures.
pub(crate) fn ensure_writable(path: &Path) -> Result<(), Failure> {
    let opened = fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map(drop).map_err(|error| Failure::Write(path.into(), error))
}

impl<R: Serialize, S: Serialize> Report<'_, R, S> {
    /// Writes it, replacing what was there.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let fail = |error| Failure::Write(path.into(), error);
        let text = serde_json::to_string_pretty(self).map_err(|error| fail(error.into()))?;
        fs::write(path, text + "\n").map_err(fail)
    }
}

/// The table of one level.
pub(crate) fn level_table(level: &Level, rows: &[Row]) -> String {
    let (width, height) = (level.board.width(), level.board.height());
    let mut text = format!("{} ({width} × {height}, {} queries)\n", level.name, level.queries.len());
    text += "  contender          mean µs     p50 µs     p99 µs   build ms  heap MB  length  mismatches  × ours\n";
    for row in rows {
        let line = format!(
            "  {:<16} {:>9.1}  {:>9.1}  {:>9.1}  {:>9.2}  {:>7.2}  {:>6}  {:>10}  {:>6}  {}",
            row.contender,
            row.mean_us,
            row.p50_us,
            row.p99_us,
            row.build_ms,
            row.heap_mb,
            figure(row.length_over_optimum, 3),
            row.mismatches,
            figure(row.ratio, 2),
            row.note,
        );
        text += line.trim_end();
        text += "\n";
    }
    if let Some(bytes) = rows.iter().find_map(|row| row.bytes_per_cell) {
        let parts = bytes.parts().map(|(part, bytes)| format!("{part} {bytes:.2}"));
        text += &format!("  bytes per cell of ours: {:.2} ({})\n", bytes.total, parts.join(", "));
    }
    text
}

/// The last lines of a run.
pub(crate) fn summary_table(rows: &[Row], summary: &Summary) -> String {
    let mut text = format!(
        "{} maps, {} queries, {} mismatches of ours, {} µs (geometric mean over maps of our mean)\n",
        summary.maps,
        summary.queries,
        summary.mismatches,
        figure(summary.geomean_us, 1),
    );
    if let Some(build_ms) = summary.build_ms_large {
        text +=
            &format!("  ours builds everything for a map of a million cells in {build_ms:.0} ms at most\n");
    }
    if let (Some(all), Some(worst)) = (summary.bytes_per_cell_games, summary.bytes_per_cell_worst_game) {
        text += &format!(
            "  ours takes {all:.2} bytes per cell on maps of games, {worst:.2} on the worst of them\n"
        );
    }
    text += "  peer's mean ÷ ours    all maps  without random  random  first gear  worst map\n";
    for (peer, vs) in summary.vs.peers() {
        let worst = worst_map(rows, peer);
        let line = format!(
            "  {peer:<18}  {:>10}  {:>14}  {:>6}  {:>10}  {:>9}  {}",
            figure(vs, 2),
            figure(summary.vs_without_random.get(peer), 2),
            figure(summary.vs_random.get(peer), 2),
            figure(summary.vs_first_gear.get(peer), 2),
            figure(worst.map(|(_, ratio)| ratio), 2),
            worst.map_or("", |(map, _)| map),
        );
        text += line.trim_end();
        text += "\n";
    }
    text
}

/// A bar that is full after so many steps.
pub(crate) fn progress_bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} % {elapsed} of about {duration}  {msg}");
    let bar = ProgressBar::new(steps as u64);
    // The template is fixed; should it ever be wrong, the default bar will do.
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Puts a block of text on the standard output.
#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
pub(crate) fn print(text: &str) {
    println!("{text}");
}

/// A figure of a table, or a dash.
pub(crate) fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::figures::tests::pair;

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().expect("an object").keys().map(String::as_str).collect()
    }

    #[test]
    fn the_json_has_exactly_the_promised_keys() {
        let rows = pair("random", 2.0, 5.0);
        let summary = Summary::new(&rows);
        let json = serde_json::to_value(Report { suite: "grid", rows: &rows, summary: &summary });
        let json = json.expect("plain data");

        assert_eq!(keys(&json), ["rows", "suite", "summary"]);
        assert_eq!(json["suite"], "grid");
        let mut row = vec!["map", "set", "contender", "queries", "mean_us", "p50_us", "p99_us", "build_ms"];
        row.extend(["heap_mb", "cells", "bytes_per_cell", "length_over_optimum", "mismatches", "ratio"]);
        row.sort_unstable();
        assert_eq!(json["rows"].as_array().map(Vec::len), Some(2));
        assert_eq!(keys(&json["rows"][0]), row);

        let mut promised = vec!["maps", "queries", "mismatches", "geomean_us"];
        let ratios = [
            "vs",
            "vs_without_random",
            "vs_worst_map",
            "vs_worst_without_random",
            "vs_first_gear",
            "vs_random",
        ];
        promised.extend(ratios);
        promised.extend(["build_ms_large", "bytes_per_cell_games", "bytes_per_cell_worst_game"]);
        promised.sort_unstable();
        assert_eq!(keys(&json["summary"]), promised);
        for vs in ratios {
            let peers = ["grid_pathfinding", "hierarchical", "northstar", "pathfinding"];
            assert_eq!(keys(&json["summary"][vs]), peers);
        }
        assert_eq!(json["summary"]["vs"]["pathfinding"], 2.5);
        assert_eq!(json["summary"]["vs_without_random"]["pathfinding"], Value::Null);
    }

    #[test]
    fn the_summary_names_every_peer_and_the_worst_map() {
        let rows = [pair("dao", 2.0, 5.0), pair("rooms", 2.0, 3.0)].concat();
        let text = summary_table(&rows, &Summary::new(&rows));
        for word in ["pathfinding", "grid_pathfinding", "northstar", "hierarchical", "rooms/3", "1.50"] {
            assert!(text.contains(word), "{word} is missing in:\n{text}");
        }
    }
}
