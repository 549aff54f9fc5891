//! What a scene must hold: in come the runs of all seeds, out goes how far they are from it.

use super::play::Run;
use crate::stats::median;

/// The bars of a scene; `None` where it has none. What must hold everywhere is not listed: nobody in a wall.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bars {
    /// When 95 % have arrived, in ideal times: the median over seeds.
    pub(crate) median: Option<f64>,
    /// The same, the worst of all seeds.
    pub(crate) worst: Option<f64>,
    /// The deepest overlap, in radii of the smaller one.
    pub(crate) overlap: Option<f64>,
    /// Whether everybody has to arrive.
    pub(crate) arrive: bool,
    /// Mean speed when all should be at rest, as a part of full speed.
    pub(crate) residual: Option<f64>,
    /// How far around the goal 95 % stand, in radii of the ideal disc.
    pub(crate) p95_radius: Option<f64>,
    /// How far from home those who stood around end, in radii.
    pub(crate) from_home: Option<f64>,
    /// From contact to turning away, in steps.
    pub(crate) turned: Option<u32>,
}

impl Bars {
    pub(crate) const NONE: Self = Self {
        median: None,
        worst: None,
        overlap: None,
        arrive: false,
        residual: None,
        p95_radius: None,
        from_home: None,
        turned: None,
    };

    /// What the runs say about each bar.
    pub(crate) fn judge(&self, runs: &[Run]) -> Vec<Miss> {
        let worst = |figure: &dyn Fn(&Run) -> f64| runs.iter().map(figure).fold(0.0, f64::max);
        let never = |ratio: Option<f64>| ratio.unwrap_or(f64::INFINITY);
        let t95 = |run: &Run| never(run.ratio(run.t95));
        let limits = [
            ("95 % there (median)", self.median, median(runs.iter().map(t95)).unwrap_or(f64::INFINITY)),
            ("95 % there", self.worst, worst(&t95)),
            ("overlap", self.overlap, worst(&|run| run.overlap.into())),
            ("speed left", self.residual, worst(&|run| never(run.residual.map(f64::from)))),
            ("radius", self.p95_radius, worst(&|run| never(run.p95_radius.map(f64::from)))),
            ("away from home", self.from_home, worst(&|run| never(run.from_home.map(f64::from)))),
            (
                "steps to turn away",
                self.turned.map(f64::from),
                worst(&|run| never(run.turned.flatten().map(f64::from))),
            ),
        ];
        let over = |(what, limit, found): (&'static str, Option<f64>, f64)| {
            limit.filter(|limit| found > *limit).map(|limit| Miss { what, found, by: found / limit })
        };
        let mut misses: Vec<Miss> = limits.into_iter().filter_map(over).collect();
        let missing: usize = runs.iter().map(|run| run.sent - run.arrived).sum();
        let in_walls: usize = runs.iter().filter_map(|run| run.wall_violations).sum();
        let always = [("not arrived", missing, self.arrive), ("in walls", in_walls, true)];
        let broken = always.into_iter().filter(|(_, count, is_bar)| *is_bar && *count > 0);
        misses.extend(broken.map(|(what, count, _)| Miss { what, found: count as f64, by: f64::INFINITY }));
        misses
    }
}

/// A missed bar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Miss {
    pub(crate) what: &'static str,
    pub(crate) found: f64,
    /// How many times the bar it is; infinite where nothing less than all will do.
    pub(crate) by: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(t95: Option<u32>, overlap: f32) -> Run {
        Run { ideal: 100.0, t95, overlap, sent: 3, arrived: 3, ..Run::default() }
    }

    #[test]
    fn bars_are_held_or_missed_by_the_right_seed() {
        let runs = [run(Some(120), 0.1), run(Some(140), 0.1), run(Some(300), 0.18)];
        let by_median = Bars { median: Some(1.5), arrive: true, ..Bars::NONE };
        assert_eq!(by_median.judge(&runs), []);
        let by_worst = Bars { worst: Some(2.0), overlap: Some(0.15), ..Bars::NONE };
        let misses = by_worst.judge(&runs);
        assert_eq!(misses.iter().map(|miss| miss.what).collect::<Vec<_>>(), ["95 % there", "overlap"]);
        assert!((misses[0].by - 1.5).abs() < 1e-9 && (misses[1].by - 1.2).abs() < 1e-3);
    }

    #[test]
    fn what_never_happens_is_missed_by_far() {
        let late = run(None, 0.0);
        let bars = Bars { worst: Some(2.0), residual: Some(0.02), turned: Some(20), ..Bars::NONE };
        assert!(bars.judge(&[late]).iter().all(|miss| miss.by.is_infinite()));
        let lost = Run { arrived: 2, ..run(Some(1), 0.0) };
        assert_eq!(Bars::NONE.judge(core::slice::from_ref(&lost)), []);
        let misses = Bars { arrive: true, ..Bars::NONE }.judge(&[lost]);
        assert!(matches!(misses[..], [Miss { what: "not arrived", by: f64::INFINITY, .. }]), "{misses:?}");
        let walled = Run { wall_violations: Some(1), ..run(Some(1), 0.0) };
        assert_eq!(Bars::NONE.judge(&[walled]).len(), 1, "walls hold everywhere");
    }
}
