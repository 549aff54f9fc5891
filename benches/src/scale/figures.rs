//! The figures of the scale suite: in comes what was measured, out go a [`Row`] per map and one [`Summary`]. Field names are
//! the keys of the JSON.

use std::time::Duration;

use serde::Serialize;

use super::maps::Kind;
use super::probe::Probe;
use crate::gears::Bytes;
use crate::report::figure;
use crate::stats::{self, Spread};

/// One map.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) map: &'static str,
    pub(crate) side: usize,
    /// Cells of a hundred that are walls.
    pub(crate) walls: f64,
    /// Setting all cells of the map.
    pub(crate) map_ms: f64,
    /// Islands and bits.
    pub(crate) snapshot_ms: f64,
    /// Graph, dead ends and landmarks.
    pub(crate) survey_ms: f64,
    /// Writing islands and survey to memory, and reading a snapshot that knows both.
    pub(crate) bake_ms: f64,
    pub(crate) load_ms: f64,
    /// Nanoseconds of map, snapshot and survey for each cell.
    pub(crate) build_ns_per_cell: f64,
    pub(crate) bytes_per_cell: Bytes,
    /// Islands and survey in a file.
    pub(crate) file_bytes_per_cell: f64,
    /// What a scratch holds after all queries, in millions of bytes.
    pub(crate) scratch_mb: f64,
    pub(crate) queries: usize,
    /// Only the corners of a path: enough to set off.
    pub(crate) first_step_mean_us: f64,
    pub(crate) first_step_p99_us: f64,
    /// All cells of a path.
    pub(crate) path_mean_us: f64,
    pub(crate) path_p99_us: f64,
    /// One cell, until the next query may be asked.
    pub(crate) edit_us: f64,
    /// Answers that were compared to those of another gear.
    pub(crate) compared: usize,
    pub(crate) mismatches: usize,
}

impl Row {
    /// Sums up what was measured.
    pub(crate) fn new(kind: Kind, side: usize, walls: usize, probe: &Probe) -> Self {
        let cells = (side * side) as f64;
        let build = probe.map + probe.snapshot + probe.survey;
        let (first_step, path) = (Spread::of(&us(&probe.corners)), Spread::of(&us(&probe.cells)));
        Self {
            map: kind.name(),
            side,
            walls: walls as f64 * 100.0 / cells,
            map_ms: ms(probe.map),
            snapshot_ms: ms(probe.snapshot),
            survey_ms: ms(probe.survey),
            bake_ms: ms(probe.bake),
            load_ms: ms(probe.load),
            build_ns_per_cell: build.as_secs_f64() * 1e9 / cells,
            bytes_per_cell: Bytes::new(probe.snapshot_bytes, probe.survey_bytes, side * side),
            file_bytes_per_cell: probe.baked_bytes as f64 / cells,
            scratch_mb: probe.scratch_bytes as f64 / 1e6,
            queries: probe.corners.len(),
            first_step_mean_us: first_step.mean,
            first_step_p99_us: first_step.p99,
            path_mean_us: path.mean,
            path_p99_us: path.p99,
            edit_us: stats::mean(&us(&probe.edits)).unwrap_or(0.0),
            compared: probe.compared,
            mismatches: probe.faults.len(),
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn us(times: &[Duration]) -> Vec<f64> {
    times.iter().map(|time| time.as_secs_f64() * 1e6).collect()
}

/// All maps together.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) maps: usize,
    pub(crate) compared: usize,
    pub(crate) mismatches: usize,
    /// The most time a cell of any map takes to build over the least, of one kind of map.
    pub(crate) build_spread: Option<f64>,
    /// The first step across 4096² over that across 512², on the worse kind of map.
    pub(crate) first_step_growth: Option<f64>,
    /// Making a snapshot and its survey over reading both from a file, as a geometric mean over maps.
    pub(crate) load_gain: Option<f64>,
    /// The most that any map takes.
    pub(crate) bytes_per_cell: Option<f64>,
}

impl Summary {
    /// Sums up the rows of any number of maps.
    pub(crate) fn new(rows: &[Row]) -> Self {
        let worst = |of: fn(&[&Row]) -> Option<f64>| {
            let kinds = Kind::ALL.map(|kind| rows.iter().filter(|row| row.map == kind.name()).collect());
            kinds.iter().filter_map(|rows: &Vec<&Row>| of(rows)).max_by(f64::total_cmp)
        };
        let gains: Vec<f64> = rows
            .iter()
            .filter_map(|row| stats::ratio(row.snapshot_ms + row.survey_ms, row.load_ms))
            .collect();
        Self {
            maps: rows.len(),
            compared: rows.iter().map(|row| row.compared).sum(),
            mismatches: rows.iter().map(|row| row.mismatches).sum(),
            build_spread: worst(build_spread),
            first_step_growth: worst(first_step_growth),
            load_gain: stats::geometric_mean(&gains),
            bytes_per_cell: rows.iter().map(|row| row.bytes_per_cell.total).max_by(f64::total_cmp),
        }
    }
}

fn build_spread(rows: &[&Row]) -> Option<f64> {
    let times = || rows.iter().map(|row| row.build_ns_per_cell);
    stats::ratio(times().max_by(f64::total_cmp)?, times().min_by(f64::total_cmp)?)
}

fn first_step_growth(rows: &[&Row]) -> Option<f64> {
    let of = |side: usize| rows.iter().find(|row| row.side == side).map(|row| row.first_step_mean_us);
    stats::ratio(of(4096)?, of(512)?)
}

/// The lines above the rows.
pub(crate) fn heading() -> String {
    "Square maps, paths between cells at least half a side apart; 8 directions, no corners cut.\n\
     \x20                build ms                   file ms        bytes per cell                                                 \
     \x20scratch   first step µs        path µs        edit\n\
     map    side     map  snapshot  survey    write   read   map islands  bits graph dead ends  rays landmarks total  file \
     \x20     MB    mean     p99     mean     p99       µs  mismatches"
        .into()
}

/// One row of the table.
pub(crate) fn line(row: &Row) -> String {
    let bytes = row.bytes_per_cell;
    format!(
        "{:<5} {:>5}  {:>6.1}  {:>8.1}  {:>6.1}   {:>6.1} {:>6.1}  {:>4.2} {:>7.2} {:>5.2} {:>5.2} {:>9.2} {:>5.2} {:>9.2} {:>5.2} \
         {:>5.2}  {:>7.2}  {:>6.1}  {:>6.1}  {:>7.1} {:>7.1}  {:>7.1}  {:>4} of {}",
        row.map,
        row.side,
        row.map_ms,
        row.snapshot_ms,
        row.survey_ms,
        row.bake_ms,
        row.load_ms,
        bytes.map,
        bytes.islands,
        bytes.bits,
        bytes.graph,
        bytes.dead_ends,
        bytes.rays,
        bytes.landmarks,
        bytes.total,
        row.file_bytes_per_cell,
        row.scratch_mb,
        row.first_step_mean_us,
        row.first_step_p99_us,
        row.path_mean_us,
        row.path_p99_us,
        row.edit_us,
        row.mismatches,
        row.compared,
    )
}

/// The last lines of a run.
pub(crate) fn summary_line(summary: &Summary) -> String {
    format!(
        "\n{} maps, {} mismatches of {} answers compared; build of a cell: {} × the least at most; first step across 4096² over \
         512²: {} ×; reading islands and survey is {} × faster than making them; at most {} bytes per cell",
        summary.maps,
        summary.mismatches,
        summary.compared,
        figure(summary.build_spread, 2),
        figure(summary.first_step_growth, 1),
        figure(summary.load_gain, 1),
        figure(summary.bytes_per_cell, 1),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::Value;

    use super::*;
    use crate::report::Report;

    /// A row with these times.
    pub(crate) fn row(kind: Kind, side: usize, build_ns_per_cell: f64, first_step_mean_us: f64) -> Row {
        let (survey_ms, load_ms) = (12.0, 3.0);
        Row {
            map: kind.name(),
            side,
            build_ns_per_cell,
            first_step_mean_us,
            survey_ms,
            load_ms,
            ..Row::default()
        }
    }

    fn assert_near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?} is not {expected}");
    }

    #[test]
    fn a_summary_tells_the_worse_kind_of_map() {
        let rows = [
            row(Kind::Noise, 512, 100.0, 10.0),
            row(Kind::Noise, 4096, 150.0, 70.0),
            row(Kind::City, 512, 10.0, 10.0),
            row(Kind::City, 4096, 20.0, 50.0),
        ];
        let summary = Summary::new(&rows);
        assert_near(summary.build_spread, 2.0);
        assert_near(summary.first_step_growth, 7.0);
        assert_near(summary.load_gain, 4.0);
        let text = summary_line(&summary);
        assert!(text.contains("2.00 ×") && text.contains("7.0 ×") && text.contains("4.0 ×"), "{text}");
        assert_eq!(Summary::new(&rows[..1]).first_step_growth, None);
        assert_eq!(Summary::new(&[]).build_spread, None);
    }

    #[test]
    fn the_json_has_exactly_the_promised_keys() {
        let keys = |value: &Value| -> Vec<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        let rows = [row(Kind::City, 512, 1.0, 1.0)];
        let summary = Summary::new(&rows);
        let json = serde_json::to_value(Report { suite: "scale", rows: &rows, summary: &summary });
        let json = json.expect("plain data");
        assert_eq!(json["suite"], "scale");
        let mut row =
            vec!["map", "side", "walls", "map_ms", "snapshot_ms", "survey_ms", "bake_ms", "load_ms"];
        row.extend([
            "build_ns_per_cell",
            "bytes_per_cell",
            "file_bytes_per_cell",
            "scratch_mb",
            "queries",
            "first_step_mean_us",
        ]);
        row.extend(["first_step_p99_us", "path_mean_us", "path_p99_us", "edit_us", "compared", "mismatches"]);
        row.sort_unstable();
        assert_eq!(keys(&json["rows"][0]), row);
        let bytes = ["bits", "dead_ends", "graph", "islands", "landmarks", "map", "rays", "total"];
        assert_eq!(keys(&json["rows"][0]["bytes_per_cell"]), bytes);
        let mut promised = vec!["maps", "compared", "mismatches", "build_spread", "first_step_growth"];
        promised.extend(["load_gain", "bytes_per_cell"]);
        promised.sort_unstable();
        assert_eq!(keys(&json["summary"]), promised);
    }
}
