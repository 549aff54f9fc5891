//! The bars: in come the figures, out goes a line per bar that says whether it holds.

use crate::frames::figures::{Row, Summary};

/// A promise about a row of the table.
struct Bar {
    what: &'static str,
    /// For situations with so many units; for all if `None`.
    units: Option<usize>,
    figure: fn(&Row) -> Option<f64>,
    limit: Limit,
}

#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

const BARS: &[Bar] = &[
    Bar {
        what: "worst frame, ms",
        units: Some(1_000),
        figure: |row| Some(row.frame_ms_max),
        limit: Limit::AtMost(0.5),
    },
    Bar {
        what: "worst frame, ms",
        units: Some(10_000),
        figure: |row| Some(row.frame_ms_max),
        limit: Limit::AtMost(1.5),
    },
    Bar {
        what: "p99 on the wall above that of CPU time, ms",
        units: None,
        figure: |row| Some(row.wall_ms_p99 - row.frame_ms_p99),
        limit: Limit::AtMost(1.0),
    },
    Bar {
        what: "worst frame of northstar over ours",
        units: Some(1_000),
        figure: |row| Some(row.northstar_frame_ms_max? / row.frame_ms_max.max(LEAST_MS)),
        limit: Limit::AtLeast(50.0),
    },
    Bar {
        what: "frames until all have paths",
        units: Some(1_000),
        figure: |row| row.frames_until_all.map(|frames| frames as f64),
        limit: Limit::AtMost(6.0),
    },
    Bar {
        what: "frames until all have paths",
        units: Some(10_000),
        figure: |row| row.frames_until_all.map(|frames| frames as f64),
        limit: Limit::AtMost(60.0),
    },
];

/// What agents that stand still may cost, in milliseconds per frame.
const STANDING: Limit = Limit::AtMost(0.1);

/// What they may cost while one of them walks.
const ALL_BUT_ONE: Limit = Limit::AtMost(0.5);

/// What a frame may cost in which the map is surveyed, or in which that is handed over.
const SURVEY: Limit = Limit::AtMost(0.5);

/// Below this a frame is not told from an idle one.
const LEAST_MS: f64 = 1e-3;

impl Limit {
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtMost(most) => figure <= most,
            Self::AtLeast(least) => figure >= least,
        }
    }

    fn words(self) -> String {
        match self {
            Self::AtMost(most) => format!("at most {most}"),
            Self::AtLeast(least) => format!("at least {least}"),
        }
    }
}

/// A bar held against a figure.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) line: String,
    /// It is missed: `--check` fails.
    pub(crate) is_fault: bool,
}

impl Verdict {
    fn new(who: &str, what: &str, figure: f64, limit: Limit) -> Self {
        let holds = limit.holds(figure);
        let verdict = if holds { "holds" } else { "MISSED" };
        let line = format!("{who}: {what}: {figure:.3}, should be {}: {verdict}", limit.words());
        Self { line, is_fault: !holds }
    }
}

/// Holds every bar against the figures it is about.
pub(crate) fn judge(rows: &[Row], summary: &Summary) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for row in rows {
        let who = format!("{} units, goals: {}", row.units, row.goals);
        for bar in BARS.iter().filter(|bar| bar.units.is_none_or(|units| units == row.units)) {
            if let Some(figure) = (bar.figure)(row) {
                verdicts.push(Verdict::new(&who, bar.what, figure, bar.limit));
            }
        }
    }
    let who = format!("{} agents standing still", summary.standing_units);
    verdicts.push(Verdict::new(&who, "ms per frame", summary.standing_ms, STANDING));
    if let Some(ms) = summary.standing_but_one_ms {
        verdicts.push(Verdict::new(&who, "ms per frame while one walks", ms, ALL_BUT_ONE));
    }
    let (who, what) = ("an edit in a running game", "worst frame until the map is surveyed again, ms");
    // If it was never surveyed, that is no small matter.
    let worst = summary.survey_frame_ms_max.unwrap_or(f64::INFINITY);
    verdicts.push(Verdict::new(who, what, worst, SURVEY));
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::figures::tests::row;

    fn summary(standing_ms: f64) -> Summary {
        Summary {
            map: "x".into(),
            runs: 5,
            standing_units: 10_000,
            standing_ms,
            standing_but_one_ms: Some(standing_ms + 0.1),
            survey_edit_ms: Some(0.7),
            survey_frame_ms_max: Some(0.1),
            survey_frames: Some(40),
            checked: 1,
            mismatches: 0,
        }
    }

    fn faults(row: Row, standing_ms: f64) -> Vec<String> {
        let verdicts = judge(&[row], &summary(standing_ms));
        verdicts.into_iter().filter(|verdict| verdict.is_fault).map(|verdict| verdict.line).collect()
    }

    #[test]
    fn good_figures_hold_every_bar() {
        for units in [100, 1_000, 10_000] {
            assert_eq!(faults(row(units), 0.05), [""; 0]);
        }
    }

    #[test]
    fn each_bar_is_about_its_own_number_of_units() {
        let slow = |units| Row { frame_ms_max: 0.9, northstar_frame_ms_max: Some(90.0), ..row(units) };
        assert!(faults(slow(100), 0.0).is_empty());
        assert!(faults(slow(10_000), 0.0).is_empty());
        let missed = faults(slow(1_000), 0.0);
        assert_eq!(missed.len(), 1);
        assert!(
            missed[0].starts_with("1000 units, goals: one: worst frame, ms: 0.900, should be at most 0.5")
        );
    }

    #[test]
    fn every_kind_of_miss_is_told() {
        let far = Row { wall_ms_p99: 1.5, ..row(100) };
        assert!(faults(far, 0.0)[0].contains("on the wall"));
        let near = Row { northstar_frame_ms_max: Some(9.0), ..row(1_000) };
        assert!(faults(near, 0.0)[0].contains("northstar over ours: 45.000, should be at least 50"));
        assert!(faults(row(100), 0.2)[0].contains("10000 agents standing still"));
        assert!(faults(row(100), 0.45)[1].contains("while one walks: 0.550"));
    }

    #[test]
    fn a_survey_that_shows_is_told_and_one_that_never_ends_too() {
        for (worst, told) in [(Some(0.6), "0.600, should be at most 0.5: MISSED"), (None, "inf")] {
            let summary = Summary { survey_frame_ms_max: worst, ..summary(0.0) };
            let verdicts = judge(&[row(100)], &summary);
            assert!(verdicts.iter().any(|verdict| verdict.line.contains(told)), "{verdicts:?}");
        }
    }

    #[test]
    fn late_paths_are_a_fault() {
        for (units, frames) in [(1_000, 7), (10_000, 61)] {
            let late = Row { frames_until_all: Some(frames), ..row(units) };
            let missed = faults(late, 0.0);
            assert!(missed.len() == 1 && missed[0].contains("until all have paths"), "{missed:?}");
            let soon = Row { frames_until_all: Some(frames - 1), ..row(units) };
            assert!(faults(soon, 0.0).is_empty());
        }
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let alone = Row { northstar_frame_ms_max: None, frames_until_all: None, ..row(1_000) };
        let told = judge(&[alone], &summary(0.0));
        assert!(!told.iter().any(|verdict| verdict.line.contains("northstar")));
    }
}
