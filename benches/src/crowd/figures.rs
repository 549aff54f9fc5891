//! The figures of a row and of the whole suite, as the table and the JSON have them.

use serde::Serialize;

use super::bars::Miss;
use super::play::Run;
use crate::report::figure;
use crate::stats::median;

/// One scene over all seeds; the worst of them unless said otherwise. `None` where a figure makes no sense, or where what
/// it counts never happened.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) scene: &'static str,
    pub(crate) t95_ratio_median: Option<f64>,
    pub(crate) t95_ratio_worst: Option<f64>,
    /// In radii of the smaller of the two.
    pub(crate) max_overlap: Option<f64>,
    /// How many units.
    pub(crate) arrived: Option<usize>,
    /// As a part of full speed.
    pub(crate) residual_speed: Option<f64>,
    /// In radii of the ideal disc.
    pub(crate) p95_radius: Option<f64>,
    /// Units times steps.
    pub(crate) wall_violations: Option<usize>,
    /// The crowd's step only; the median over seeds.
    pub(crate) ns_per_unit_step: Option<f64>,
    /// `None` if it was skipped.
    pub(crate) pass: Option<bool>,
    /// For the table.
    #[serde(skip)]
    pub(crate) note: String,
    #[serde(skip)]
    pub(crate) misses: Vec<Miss>,
}

/// The end of the JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ns_per_unit_step_10k: Option<f64>,
    pub(crate) vs: Vs,
}

/// How many times as long the peer takes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Vs {
    pub(crate) dodgy_2d: Option<f64>,
}

impl Row {
    /// Sums up the runs of a scene.
    pub(crate) fn new(scene: &'static str, runs: &[Run], misses: Vec<Miss>) -> Self {
        let worst =
            |figure: fn(&Run) -> Option<f32>| runs.iter().filter_map(figure).map(f64::from).reduce(f64::max);
        let never = |run: &Run| run.ratio(run.t95).unwrap_or(f64::INFINITY);
        let t95 = || runs.iter().map(never);
        let happened = |ratio: &f64| ratio.is_finite();
        Self {
            scene,
            t95_ratio_median: median(t95()).filter(happened),
            t95_ratio_worst: t95().reduce(f64::max).filter(happened),
            max_overlap: worst(|run| Some(run.overlap)),
            arrived: runs.iter().map(|run| run.arrived).min(),
            residual_speed: worst(|run| run.residual),
            p95_radius: worst(|run| run.p95_radius),
            wall_violations: runs.iter().filter_map(|run| run.wall_violations).reduce(|a, b| a + b),
            ns_per_unit_step: median(runs.iter().map(|run| run.ns_per_unit_step)),
            pass: Some(misses.is_empty()),
            note: note(runs),
            misses,
        }
    }

    /// A row whose figure is a yes or no.
    pub(crate) fn verdict(scene: &'static str, holds: bool, note: String) -> Self {
        let miss = Miss { what: "differs", found: 1.0, by: f64::INFINITY };
        let misses = if holds { Vec::new() } else { vec![miss] };
        Self { scene, pass: Some(holds), note, misses, ..Self::default() }
    }

    /// A row that could not be measured.
    pub(crate) fn skipped(scene: &'static str, why: &str) -> Self {
        Self { scene, note: format!("skipped: {why}"), ..Self::default() }
    }

    /// How far it is from its bars, if it misses one.
    pub(crate) fn missed_by(&self) -> Option<f64> {
        self.misses.iter().map(|miss| miss.by).reduce(f64::max)
    }

    /// A line of the table.
    pub(crate) fn line(&self) -> String {
        let verdict = match self.pass {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "-",
        };
        let line = format!(
            "  {:<22} {:>6} {:>6} {:>7} {:>7} {:>7} {:>7} {:>5} {:>6}  {:<6}  {}",
            self.scene,
            figure(self.t95_ratio_median, 2),
            figure(self.t95_ratio_worst, 2),
            figure(self.max_overlap, 3),
            self.arrived.map_or_else(|| "-".into(), |count| count.to_string()),
            figure(self.residual_speed, 4),
            figure(self.p95_radius, 2),
            self.wall_violations.map_or_else(|| "-".into(), |count| count.to_string()),
            figure(self.ns_per_unit_step, 0),
            verdict,
            self.note,
        );
        line.trim_end().to_owned()
    }
}

/// The head of the table.
pub(crate) const HEAD: &str = "  scene                    t95 × (worst)  overlap arrived  speed  radius walls     ns  \
                               verdict";

impl Summary {
    pub(crate) fn new(rows: &[Row], ns_per_unit_step_10k: Option<f64>, dodgy_2d: Option<f64>) -> Self {
        let count = |verdict| rows.iter().filter(|row| row.pass == Some(verdict)).count();
        Self { passed: count(true), failed: count(false), ns_per_unit_step_10k, vs: Vs { dodgy_2d } }
    }
}

/// What has no column of its own.
fn note(runs: &[Run]) -> String {
    let mut notes = Vec::new();
    let all = runs.iter().map(|run| run.ratio(run.t_all).unwrap_or(f64::INFINITY)).reduce(f64::max);
    if let Some(all) = all {
        notes.push(if all.is_finite() { format!("all {all:.2} ×") } else { "not all".into() });
    }
    if let Some(home) = runs.iter().filter_map(|run| run.from_home).reduce(f32::max) {
        notes.push(format!("{home:.2} radii from home"));
    }
    if runs.iter().any(|run| run.turned == Some(None)) {
        notes.push("never turned away".into());
    } else if let Some(turned) = runs.iter().filter_map(|run| run.turned.flatten()).max() {
        notes.push(format!("turned {:.2} s after contact", f64::from(turned) * 0.05));
    }
    let stuck: u32 = runs.iter().map(|run| run.counts.stuck).sum();
    if stuck > 0 {
        notes.push(format!("stuck {stuck} ×"));
    }
    notes.join(", ")
}

/// A line of its own for one seed, with everything that is known about it.
pub(crate) fn seed_line(scene: &str, seed: u64, run: &Run) -> String {
    let optional = |value: Option<f32>, decimals| figure(value.map(f64::from), decimals);
    let counts = run.counts;
    format!(
        "    {scene} #{seed}: t95 {} × (step {}), all {} ×, ideal {:.0}, ran {}, overlap {:.3}, arrived {}/{}, \
         speed left {}, radius {}, walls {} (depth {:.4}), home {}, turned {}, {:.0} ns; settled {}, gave way {}, \
         cornered {}, around {}, replanned {}, stuck {}",
        figure(run.ratio(run.t95), 2),
        run.t95.map_or_else(|| "-".into(), |step| step.to_string()),
        figure(run.ratio(run.t_all), 2),
        run.ideal,
        run.steps,
        run.overlap,
        run.arrived,
        run.sent,
        optional(run.residual, 4),
        optional(run.p95_radius, 2),
        run.wall_violations.map_or_else(|| "-".into(), |count| count.to_string()),
        run.wall_depth,
        optional(run.from_home, 2),
        run.turned
            .map_or_else(|| "-".into(), |turned| turned.map_or("never".into(), |steps| steps.to_string())),
        run.ns_per_unit_step,
        counts.settled,
        counts.gave_way,
        counts.cornered,
        counts.planned_around,
        counts.replanned,
        counts.stuck,
    )
}
