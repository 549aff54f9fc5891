//! The figures of the grid suite: in comes what was measured, out go a [`Row`] per map and contender and one
//! [`Summary`]. Field names are the keys of the JSON.

use serde::Serialize;

use crate::contender::{Contender, FirstGear, Ours};
use crate::gears::Bytes;
use crate::measure::Lane;
use crate::peers::{Hierarchical, JumpPoints, Northstar, PlainAstar};
use crate::stats::{self, Spread};

/// One contender on one map.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) map: String,
    pub(crate) set: String,
    pub(crate) contender: &'static str,
    pub(crate) queries: usize,
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) build_ms: f64,
    pub(crate) heap_mb: f64,
    /// Cells of the map.
    pub(crate) cells: usize,
    /// What each of our gears takes.
    pub(crate) bytes_per_cell: Option<Bytes>,
    /// The mean over all paths that lead to the goal, legal or not; `None` if there are none.
    pub(crate) length_over_optimum: Option<f64>,
    /// Answers that are missing, illegal or not optimal.
    pub(crate) mismatches: usize,
    /// This contender's mean over ours, on this map.
    pub(crate) ratio: Option<f64>,
    /// For the table only.
    #[serde(skip)]
    pub(crate) note: &'static str,
}

impl Row {
    /// Sums up what was measured; `ours` is our mean on the same level, unless this is it.
    pub(crate) fn new<C: Contender>(lane: &Lane<'_, C>, ours: Option<f64>) -> Self {
        let level = lane.level;
        let spread = Spread::of(&lane.best_us());
        let judged = lane.verdicts.iter().zip(&level.queries);
        let lengths: Vec<f64> = judged
            .filter(|(_, query)| query.optimal > 0.0)
            .filter_map(|(verdict, query)| verdict.length.map(|length| length / query.optimal))
            .collect();
        Self {
            map: level.name.clone(),
            set: level.set.clone(),
            contender: C::NAME,
            queries: level.queries.len(),
            mean_us: spread.mean,
            p50_us: spread.p50,
            p99_us: spread.p99,
            build_ms: lane.build_ms,
            heap_mb: lane.heap_mb,
            cells: level.board.width() * level.board.height(),
            bytes_per_cell: None,
            length_over_optimum: stats::mean(&lengths),
            mismatches: lane.verdicts.iter().filter(|verdict| verdict.fault.is_some()).count(),
            ratio: stats::ratio(spread.mean, ours.unwrap_or(spread.mean)),
            note: C::NOTE,
        }
    }
}

/// A figure for each peer: its time over ours. `None` where no map was measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Ratios {
    pathfinding: Option<f64>,
    grid_pathfinding: Option<f64>,
    northstar: Option<f64>,
    hierarchical: Option<f64>,
}

impl Ratios {
    /// Asks for the figure of each peer by its name.
    fn of(figure: impl Fn(&str) -> Option<f64>) -> Self {
        Self {
            pathfinding: figure(PlainAstar::NAME),
            grid_pathfinding: figure(JumpPoints::NAME),
            northstar: figure(Northstar::NAME),
            hierarchical: figure(Hierarchical::NAME),
        }
    }

    /// The peers with their figures, in the order of the tables.
    pub(crate) fn peers(&self) -> [(&'static str, Option<f64>); 4] {
        [
            (PlainAstar::NAME, self.pathfinding),
            (JumpPoints::NAME, self.grid_pathfinding),
            (Northstar::NAME, self.northstar),
            (Hierarchical::NAME, self.hierarchical),
        ]
    }

    /// The figure of one peer.
    pub(crate) fn get(&self, peer: &str) -> Option<f64> {
        self.peers().into_iter().find(|(name, _)| *name == peer).and_then(|(_, figure)| figure)
    }
}

/// All maps together.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) maps: usize,
    /// How many each contender answered.
    pub(crate) queries: usize,
    /// Of ours, with everything built and without.
    pub(crate) mismatches: usize,
    /// The geometric mean over maps of our mean.
    pub(crate) geomean_us: Option<f64>,
    /// Geometric means over all maps.
    pub(crate) vs: Ratios,
    /// The same without the folder `random`, whose maps look like no game's.
    pub(crate) vs_without_random: Ratios,
    /// The map where each peer comes closest to us, or beats us.
    pub(crate) vs_worst_map: Ratios,
    /// The same without the folder `random`.
    pub(crate) vs_worst_without_random: Ratios,
    /// Each peer's time over that of our first gear, which is what there is right after an edit; without `random`.
    pub(crate) vs_first_gear: Ratios,
    /// The same on the folder `random` alone, over ours with everything built.
    pub(crate) vs_random: Ratios,
    /// The longest that ours takes to build everything for a map of a million cells or more, without `random`.
    pub(crate) build_ms_large: Option<f64>,
    /// What ours takes for each cell of all maps of games, and for each cell of the worst of them.
    pub(crate) bytes_per_cell_games: Option<f64>,
    pub(crate) bytes_per_cell_worst_game: Option<f64>,
}

/// The folders that hold maps of games.
const GAMES: [&str; 4] = ["bg512", "da2", "dao", "sc1"];

/// A map with a thousand cells a side or more is a large one.
const LARGE: usize = 1_000_000;

impl Summary {
    /// Sums up the rows of any number of maps.
    pub(crate) fn new(rows: &[Row]) -> Self {
        let ours: Vec<&Row> = rows.iter().filter(|row| row.contender == Ours::NAME).collect();
        let is_ours = |row: &&Row| row.contender == Ours::NAME || row.contender == FirstGear::NAME;
        let means: Vec<f64> = ours.iter().map(|row| row.mean_us).collect();
        let large = ours.iter().filter(|row| row.cells >= LARGE && row.set != "random");
        let of_games = ours.iter().filter(|row| GAMES.contains(&row.set.as_str()));
        let games: Vec<(f64, f64)> =
            of_games.filter_map(|row| Some((row.cells as f64, row.bytes_per_cell?.total))).collect();
        let bytes: f64 = games.iter().map(|(cells, bytes)| cells * bytes).sum();
        Self {
            maps: ours.len(),
            queries: ours.iter().map(|row| row.queries).sum(),
            mismatches: rows.iter().filter(is_ours).map(|row| row.mismatches).sum(),
            geomean_us: stats::geometric_mean(&means),
            vs: Ratios::of(|peer| stats::geometric_mean(&ratios(rows, peer, |_| true))),
            vs_without_random: Ratios::of(|peer| {
                stats::geometric_mean(&ratios(rows, peer, |row| row.set != "random"))
            }),
            vs_worst_map: Ratios::of(|peer| worst_map(rows, peer).map(|(_, ratio)| ratio)),
            vs_worst_without_random: Ratios::of(|peer| {
                ratios(rows, peer, |row| row.set != "random").into_iter().reduce(f64::min)
            }),
            vs_first_gear: Ratios::of(|peer| stats::geometric_mean(&over_first_gear(rows, peer))),
            vs_random: Ratios::of(|peer| {
                stats::geometric_mean(&ratios(rows, peer, |row| row.set == "random"))
            }),
            build_ms_large: large.map(|row| row.build_ms).max_by(f64::total_cmp),
            bytes_per_cell_games: stats::ratio(bytes, games.iter().map(|(cells, _)| cells).sum()),
            bytes_per_cell_worst_game: games.iter().map(|(_, bytes)| *bytes).max_by(f64::total_cmp),
        }
    }
}

/// The map with the lowest ratio, and that ratio.
pub(crate) fn worst_map<'a>(rows: &'a [Row], contender: &str) -> Option<(&'a str, f64)> {
    let of_contender = rows.iter().filter(|row| row.contender == contender);
    let measured = of_contender.filter_map(|row| Some((row.map.as_str(), row.ratio?)));
    measured.min_by(|a, b| a.1.total_cmp(&b.1))
}

fn ratios(rows: &[Row], contender: &str, keep: impl Fn(&Row) -> bool) -> Vec<f64> {
    let kept = rows.iter().filter(|row| row.contender == contender && keep(row));
    kept.filter_map(|row| row.ratio).collect()
}

/// A peer's time over that of our first gear, for every map that is not random.
fn over_first_gear(rows: &[Row], peer: &str) -> Vec<f64> {
    let first = rows.iter().filter(|row| row.contender == FirstGear::NAME && row.set != "random");
    let of_peer = |map: &str| rows.iter().find(|row| row.contender == peer && row.map == map);
    first.filter_map(|first| stats::ratio(of_peer(&first.map)?.mean_us, first.mean_us)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Ours and one peer on a map.
    pub(crate) fn pair(set: &str, ours_us: f64, theirs_us: f64) -> [Row; 2] {
        let ours = Row {
            map: format!("{set}/{theirs_us}"),
            set: set.into(),
            contender: Ours::NAME,
            queries: 10,
            mean_us: ours_us,
            ratio: Some(1.0),
            ..Row::default()
        };
        let ratio = stats::ratio(theirs_us, ours_us);
        let theirs = Row { contender: PlainAstar::NAME, mean_us: theirs_us, ratio, ..ours.clone() };
        [ours, theirs]
    }

    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.expect("should have a value");
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn a_summary_averages_ratios_over_maps() {
        let mut rows = [pair("dao", 1.0, 8.0), pair("rooms", 4.0, 8.0), pair("random", 2.0, 1.0)].concat();
        rows[0].mismatches = 3;
        rows[1].mismatches = 100;
        let summary = Summary::new(&rows);
        assert_eq!((summary.maps, summary.queries, summary.mismatches), (3, 30, 3));
        assert_near(summary.geomean_us, 2.0);
        assert_near(summary.vs.get("pathfinding"), 2.0);
        assert_near(summary.vs_without_random.get("pathfinding"), 4.0);
        assert_near(summary.vs_worst_map.get("pathfinding"), 0.5);
        assert_eq!(worst_map(&rows, "pathfinding").map(|(map, _)| map), Some("random/1"));
        assert_eq!(summary.vs.get("northstar"), None);
    }

    #[test]
    fn the_first_gear_has_ratios_of_its_own() {
        let mut rows = [pair("dao", 1.0, 80.0), pair("random", 2.0, 6.0)].concat();
        let first: Vec<Row> = rows.iter().filter(|row| row.contender == Ours::NAME).cloned().collect();
        rows.extend(first.into_iter().map(|row| Row { contender: FirstGear::NAME, mean_us: 4.0, ..row }));
        let summary = Summary::new(&rows);
        assert_near(summary.vs_first_gear.get("pathfinding"), 20.0);
        assert_near(summary.vs_random.get("pathfinding"), 3.0);
        assert_near(summary.vs_worst_without_random.get("pathfinding"), 80.0);
    }

    #[test]
    fn build_and_memory_are_summed_up_where_they_are_promised() {
        let row = |set: &str, cells, build_ms, total| {
            let bytes_per_cell = Some(Bytes { total, ..Bytes::default() });
            let [ours, theirs] = pair(set, 1.0, 2.0);
            [Row { cells, build_ms, bytes_per_cell, ..ours }, Row { cells, build_ms: 1e6, ..theirs }]
        };
        let rows = [
            row("dao", 300, 7.0, 9.0),
            row("sc1", 2_000_000, 30.0, 4.0),
            row("cities", 1_500_000, 20.0, 50.0),
            row("random", 1_500_000, 900.0, 90.0),
        ];
        let summary = Summary::new(&rows.concat());
        assert_near(summary.build_ms_large, 30.0);
        assert_near(summary.bytes_per_cell_games, (300.0 * 9.0 + 4.0 * 2e6) / 2_000_300.0);
        assert_near(summary.bytes_per_cell_worst_game, 9.0);
        let none = Summary::new(&pair("rooms", 1.0, 2.0));
        assert_eq!((none.build_ms_large, none.bytes_per_cell_games), (None, None));
    }

    #[test]
    fn nothing_is_averaged_over_no_maps() {
        let summary = Summary::new(&pair("random", 2.0, 1.0));
        assert_eq!(summary.vs_without_random.get("pathfinding"), None);
        assert!(summary.vs.get("pathfinding").is_some());
    }
}
