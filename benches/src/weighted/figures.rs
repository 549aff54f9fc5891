//! The figures of the weighted suite: in comes what was measured, out go a [`Row`] per map and one [`Summary`]. Field
//! names are the keys of the JSON.

use serde::Serialize;

use super::race::Race;
use crate::level::Level;
use crate::report::figure;
use crate::stats::{self, Spread};

/// One map.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) map: String,
    pub(crate) queries: usize,
    /// Making our snapshot.
    pub(crate) build_ms: f64,
    /// Measuring its landmarks.
    pub(crate) landmarks_ms: f64,
    /// What they hold on the heap.
    pub(crate) landmarks_bytes_per_cell: f64,
    /// Saving them to bytes and reading them from there, and how many these are.
    pub(crate) bake_ms: f64,
    pub(crate) load_ms: f64,
    pub(crate) baked_bytes_per_cell: f64,
    /// Our mean without landmarks, as right after an edit.
    pub(crate) bare_mean_us: f64,
    /// Our mean with everything built.
    pub(crate) mean_us: f64,
    pub(crate) p99_us: f64,
    /// `pathfinding`'s mean.
    pub(crate) peer_mean_us: f64,
    /// The peer's mean over ours without landmarks.
    pub(crate) bare_ratio: Option<f64>,
    /// The peer's mean over ours.
    pub(crate) ratio: Option<f64>,
    /// Answers of ours that are missing, illegal, or not of the cost that the peer found.
    pub(crate) mismatches: usize,
}

impl Row {
    /// Sums up what was measured.
    pub(crate) fn new(level: &Level, race: &Race) -> Self {
        let ours = Spread::of(&race.ours_us());
        let bare = stats::mean(&race.bare_us()).unwrap_or(0.0);
        let cells = (level.map.width() * level.map.height()).max(1);
        let peer = stats::mean(&race.peer_us()).unwrap_or(0.0);
        Self {
            map: level.name.clone(),
            queries: level.queries.len(),
            build_ms: race.build_ms,
            landmarks_ms: race.landmarks_ms,
            landmarks_bytes_per_cell: race.landmarks_bytes as f64 / f64::from(cells),
            bake_ms: race.bake_ms,
            load_ms: race.load_ms,
            baked_bytes_per_cell: race.baked_bytes as f64 / f64::from(cells),
            bare_mean_us: bare,
            mean_us: ours.mean,
            p99_us: ours.p99,
            peer_mean_us: peer,
            bare_ratio: stats::ratio(peer, bare),
            ratio: stats::ratio(peer, ours.mean),
            mismatches: race.faults.iter().flatten().count(),
        }
    }
}

/// All maps together.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) maps: usize,
    pub(crate) queries: usize,
    pub(crate) mismatches: usize,
    /// The geometric mean over maps of the ratio without landmarks.
    pub(crate) geomean_bare_ratio: Option<f64>,
    /// The geometric mean over maps of the ratio.
    pub(crate) geomean_ratio: Option<f64>,
    /// The map where the peer comes closest to us, or beats us.
    pub(crate) worst_ratio: Option<f64>,
}

impl Summary {
    /// Sums up the rows of any number of maps.
    pub(crate) fn new(rows: &[Row]) -> Self {
        let bare: Vec<f64> = rows.iter().filter_map(|row| row.bare_ratio).collect();
        let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
        Self {
            maps: rows.len(),
            queries: rows.iter().map(|row| row.queries).sum(),
            mismatches: rows.iter().map(|row| row.mismatches).sum(),
            geomean_bare_ratio: stats::geometric_mean(&bare),
            geomean_ratio: stats::geometric_mean(&ratios),
            worst_ratio: ratios.into_iter().min_by(f64::total_cmp),
        }
    }
}

/// The lines above the rows.
pub(crate) fn heading() -> String {
    "Terrain of 1 to 8 times the cost in patches, roads of half the cost. Ours without landmarks and with\n\
     them, beside pathfinding's A* on the same costs.\n\
     map                       queries  build ms  landmarks ms  B/cell  save ms  load ms  file B/cell   bare µs   ours µs  ours p99 µs  pathfinding µs  \
     bare ratio  ratio  mismatches"
        .into()
}

/// One row of the table.
pub(crate) fn line(row: &Row) -> String {
    format!(
        "{:<25} {:>7}  {:>8.2}  {:>12.1}  {:>6.2}  {:>7.1}  {:>7.1}  {:>11.2}  {:>8.1}  {:>8.1}  {:>11.1}  {:>14.1}  {:>10}  {:>5}  {:>10}",
        row.map,
        row.queries,
        row.build_ms,
        row.landmarks_ms,
        row.landmarks_bytes_per_cell,
        row.bake_ms,
        row.load_ms,
        row.baked_bytes_per_cell,
        row.bare_mean_us,
        row.mean_us,
        row.p99_us,
        row.peer_mean_us,
        figure(row.bare_ratio, 2),
        figure(row.ratio, 2),
        row.mismatches,
    )
}

/// The last lines of a run.
pub(crate) fn summary_line(summary: &Summary) -> String {
    format!(
        "\n{} maps, {} queries, {} mismatches of ours; pathfinding takes {} × our time (geometric mean), {} × on the \
         worst map, {} × without landmarks",
        summary.maps,
        summary.queries,
        summary.mismatches,
        figure(summary.geomean_ratio, 2),
        figure(summary.worst_ratio, 2),
        figure(summary.geomean_bare_ratio, 2),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::Value;

    use super::*;
    use crate::report::Report;

    /// A row with this ratio.
    pub(crate) fn row(ratio: f64) -> Row {
        Row {
            map: "dao/x".into(),
            queries: 10,
            mean_us: 2.0,
            bare_ratio: Some(ratio),
            ratio: Some(ratio),
            ..Row::default()
        }
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().expect("an object").keys().map(String::as_str).collect()
    }

    #[test]
    fn a_summary_averages_ratios_over_maps() {
        let mut rows = [row(2.0), row(8.0)];
        rows[1].mismatches = 3;
        let summary = Summary::new(&rows);
        assert_eq!((summary.maps, summary.queries, summary.mismatches), (2, 20, 3));
        assert!(summary.geomean_ratio.is_some_and(|ratio| (ratio - 4.0).abs() < 1e-9));
        assert!(summary.worst_ratio.is_some_and(|ratio| (ratio - 2.0).abs() < 1e-9));
        let text = summary_line(&summary);
        assert!(
            text.contains("3 mismatches") && text.contains("4.00 ×") && text.contains("2.00 ×"),
            "{text}"
        );
        assert_eq!(Summary::new(&[]).worst_ratio, None);
    }

    #[test]
    fn the_json_has_exactly_the_promised_keys() {
        let rows = [row(2.0)];
        let summary = Summary::new(&rows);
        let json = serde_json::to_value(Report { suite: "weighted", rows: &rows, summary: &summary });
        let json = json.expect("plain data");
        assert_eq!(json["suite"], "weighted");
        let mut row = vec!["map", "queries", "build_ms", "landmarks_ms", "landmarks_bytes_per_cell"];
        row.extend(["bake_ms", "load_ms", "baked_bytes_per_cell"]);
        row.extend([
            "bare_mean_us",
            "mean_us",
            "p99_us",
            "peer_mean_us",
            "bare_ratio",
            "ratio",
            "mismatches",
        ]);
        row.sort_unstable();
        assert_eq!(keys(&json["rows"][0]), row);
        let summary = ["geomean_bare_ratio", "geomean_ratio", "maps", "mismatches", "queries", "worst_ratio"];
        assert_eq!(keys(&json["summary"]), summary);
    }
}
