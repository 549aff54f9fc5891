//! The figures: in come runs, out go the rows of the table and the JSON, each figure the median of its runs.

use serde::Serialize;

use crate::frames::stage::{Frame, Trace};
use crate::report::figure;
use crate::stats::median;

/// What one run of one situation came to, in milliseconds above the idle app.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Run {
    order: f64,
    p50: f64,
    p99: f64,
    max: f64,
    worst_frame: usize,
    wall_p99: f64,
    until_all: Option<(usize, f64)>,
    reorder_max: f64,
    northstar_max: Option<f64>,
}

impl Run {
    pub(crate) fn new(inserts: Frame, ordered: &Trace, again: &Trace, northstar: Option<&Trace>) -> Self {
        let (cpu, (worst_frame, max)) = (ordered.cpu(), ordered.worst());
        // A peer that does not get there has no worst frame yet.
        let northstar = northstar.filter(|trace| trace.done.is_some());
        Self {
            order: inserts.cpu,
            p50: cpu.p50,
            p99: cpu.p99,
            max,
            worst_frame,
            wall_p99: ordered.wall().p99,
            until_all: ordered.done.map(|done| (done.frames, done.ms)),
            reorder_max: again.worst().1,
            northstar_max: northstar.map(|trace| trace.worst().1),
        }
    }
}

/// One situation: so many units, sent to such goals. Times are CPU time of the main thread per frame above the same
/// app without orders, from the order until all have paths and some frames more.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) units: usize,
    pub(crate) goals: &'static str,
    /// What the bare insertions cost, which is Bevy's and in none of the other figures.
    pub(crate) order_ms: f64,
    pub(crate) frame_ms_p50: f64,
    pub(crate) frame_ms_p99: f64,
    pub(crate) frame_ms_max: f64,
    /// Which frame that was, counted from the order's own, in the run that is the median.
    pub(crate) worst_frame: usize,
    /// As `frame_ms_p99`, on the clock on the wall.
    pub(crate) wall_ms_p99: f64,
    /// `None` if not all got a path in a run.
    pub(crate) ms_until_all: Option<f64>,
    pub(crate) frames_until_all: Option<usize>,
    /// The dearest frame when all are ordered again.
    pub(crate) reorder_frame_ms_max: f64,
    /// While all walk.
    pub(crate) walk_frame_ms_p50: Option<f64>,
    pub(crate) northstar_frame_ms_max: Option<f64>,
}

impl Row {
    /// The median of each figure.
    pub(crate) fn new(units: usize, goals: &'static str, runs: &[Run], walk: Option<f64>) -> Self {
        let of = |figure: fn(&Run) -> f64| median(runs.iter().map(figure)).unwrap_or(0.0);
        let until: Option<Vec<(usize, f64)>> = runs.iter().map(|run| run.until_all).collect();
        let northstar: Option<Vec<f64>> = runs.iter().map(|run| run.northstar_max).collect();
        let frame_ms_max = of(|run| run.max);
        let worst = runs.iter().find(|run| run.max.total_cmp(&frame_ms_max).is_eq());
        let mut frames: Vec<usize> = until.iter().flatten().map(|(frames, _)| *frames).collect();
        frames.sort_unstable();
        Self {
            units,
            goals,
            order_ms: of(|run| run.order),
            frame_ms_p50: of(|run| run.p50),
            frame_ms_p99: of(|run| run.p99),
            frame_ms_max,
            worst_frame: worst.map_or(0, |run| run.worst_frame),
            wall_ms_p99: of(|run| run.wall_p99),
            ms_until_all: until.and_then(|until| median(until.into_iter().map(|(_, ms)| ms))),
            frames_until_all: frames.get(frames.len().saturating_sub(1) / 2).copied(),
            reorder_frame_ms_max: of(|run| run.reorder_max),
            walk_frame_ms_p50: walk,
            northstar_frame_ms_max: northstar.and_then(median),
        }
    }
}

/// What holds for the whole run of the suite.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) map: String,
    /// How many runs each figure is the median of.
    pub(crate) runs: usize,
    /// How many units stand still for `standing_ms`.
    pub(crate) standing_units: usize,
    /// What a frame costs more with agents that stand still than with entities that are none.
    pub(crate) standing_ms: f64,
    /// The same while one of them walks.
    pub(crate) standing_but_one_ms: Option<f64>,
    /// After an edit in a running game: the frame that takes it in, the worst one from there until the map has been surveyed
    /// again on the task pool, and how many these are. All above an idle frame.
    pub(crate) survey_edit_ms: Option<f64>,
    pub(crate) survey_frame_ms_max: Option<f64>,
    pub(crate) survey_frames: Option<usize>,
    /// Paths that were checked, and what was wrong.
    pub(crate) checked: usize,
    pub(crate) mismatches: usize,
}

/// The head of the table.
pub(crate) const HEAD: &str = "  \
    main thread, CPU ms per frame above idle                                                       walking northstar\n  \
    units  goals   inserts     p50     p99     max  (frame)  wall p99  until all: ms  frames  again max     p50       max";

/// A line of the table.
pub(crate) fn line(row: &Row) -> String {
    format!(
        "  {:>5}  {:<6} {:>8.3} {:>7.3} {:>7.3} {:>7.3} {:>8}  {:>8.3}  {:>13} {:>7}  {:>9.3} {:>7} {:>9}",
        row.units,
        row.goals,
        row.order_ms,
        row.frame_ms_p50,
        row.frame_ms_p99,
        row.frame_ms_max,
        row.worst_frame,
        row.wall_ms_p99,
        figure(row.ms_until_all, 0),
        row.frames_until_all.map_or_else(|| "-".into(), |frames| frames.to_string()),
        row.reorder_frame_ms_max,
        figure(row.walk_frame_ms_p50, 3),
        figure(row.northstar_frame_ms_max, 2),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::frames::stage::Done;

    /// A row that meets every bar.
    pub(crate) fn row(units: usize) -> Row {
        let frame = |cpu| Frame { cpu, wall: cpu + 0.1 };
        let trace = |max, frames| Trace {
            frames: vec![frame(0.1), frame(max), frame(0.05)],
            done: Some(Done { frames, ms: 40.0 }),
        };
        let run = Run::new(frame(0.3), &trace(0.2, 2), &trace(0.3, 2), Some(&trace(30.0, 8)));
        Row::new(units, "one", &[run; 5], Some(0.2))
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn each_figure_is_the_median_of_the_runs() {
        let run = |max: f64, frames: usize| Run {
            max,
            worst_frame: frames + 1,
            until_all: Some((frames, frames as f64)),
            northstar_max: Some(10.0 * max),
            ..Run::default()
        };
        let runs = [run(3.0, 9), run(1.0, 5), run(2.0, 7)];
        let row = Row::new(10, "one", &runs, None);
        assert_near(row.frame_ms_max, 2.0);
        assert_eq!(row.worst_frame, 8, "that of the median run");
        assert_eq!(row.frames_until_all, Some(7));
        assert_near(row.ms_until_all.expect("all"), 7.0);
        assert_near(row.northstar_frame_ms_max.expect("all"), 20.0);
    }

    #[test]
    fn one_run_that_did_not_end_leaves_the_figure_out() {
        let good = Run { until_all: Some((3, 50.0)), northstar_max: Some(1.0), ..Run::default() };
        let row = Row::new(10, "one", &[good, Run::default(), good], None);
        assert_eq!((row.ms_until_all, row.frames_until_all, row.northstar_frame_ms_max), (None, None, None));
    }

    #[test]
    fn the_json_has_the_promised_keys() {
        let json = serde_json::to_value(row(100)).expect("plain data");
        let promised = ["units", "goals", "order_ms", "frame_ms_p50", "frame_ms_p99", "frame_ms_max"];
        let more = ["ms_until_all", "frames_until_all", "reorder_frame_ms_max", "walk_frame_ms_p50"];
        for key in promised.iter().chain(&more).chain(&["northstar_frame_ms_max", "wall_ms_p99"]) {
            assert!(json.get(key).is_some_and(|value| !value.is_null()), "{key} is missing");
        }
        assert_near(json["frame_ms_max"].as_f64().expect("a number"), 0.2);
        assert_near(json["northstar_frame_ms_max"].as_f64().expect("a number"), 30.0);
    }

    #[test]
    fn a_line_is_as_wide_as_the_head() {
        let heads = HEAD.lines().last().expect("a head").chars().count();
        assert_eq!(line(&row(100)).chars().count(), heads);
    }
}
