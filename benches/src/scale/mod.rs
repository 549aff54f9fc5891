//! The scale suite: in comes nothing but a largest side, out go time and memory of maps of 256² to 8192² cells, made here: a
//! map of noise and a city of each size.
//!
//! It tells whether what is made of a map grows with its cells and no faster, and how long a unit waits for its first step
//! across it. Peers are left out: those that build anything take minutes for the large maps.

mod maps;
mod probe;
mod figures;

use indicatif::ProgressBar;

use crate::cli::{Failure, Options, Outcome};
use crate::measure::PASSES;
use crate::report::{self, Report};
use figures::{Row, Summary};
use maps::Kind;
use probe::Probe;

/// The smallest map; each of the others has twice the side of the one before.
const SMALLEST: usize = 256;

/// The largest map, if the user does not say.
const LARGEST: usize = 8192;

/// The longest side a map may have.
const LIMIT: usize = 16_384;

/// How many queries of each map are asked, if the user does not say.
const QUERIES: usize = 100;

/// What `--check` enforces: how much more time a cell of one map may take to build than one of another.
const BUILD_SPREAD: f64 = 3.0;

/// What `--check` enforces: the first step across 4096² over that across 512².
const FIRST_STEP_GROWTH: f64 = 20.0;

/// How many wrong answers are described; the rest is only counted.
const DESCRIBED: usize = 5;

const SEED: u64 = 20;

/// Measures a map of each kind and size.
pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let largest = options.largest.map_or(LARGEST, usize::from);
    if !(SMALLEST..=LIMIT).contains(&largest) {
        return Err(Failure::Usage(format!("the largest map has a side of {SMALLEST} to {LIMIT}")));
    }
    if let Some(path) = &options.json {
        report::ensure_writable(path)?;
    }
    let queries = options.queries.map_or(QUERIES, usize::from);
    let sides: Vec<usize> = sides(largest).collect();
    // Of each map: what is made of it, passes for both shapes of a path, the rest.
    let bar = report::progress_bar(sides.len() * Kind::ALL.len() * (2 + 2 * PASSES));
    bar.suspend(|| report::print(&figures::heading()));
    let mut rows = Vec::new();
    let mut outcome = Outcome::default();
    for side in sides {
        for kind in Kind::ALL {
            let row = run_map(kind, side, queries, &bar, &mut outcome);
            bar.suspend(|| report::print(&figures::line(&row)));
            rows.push(row);
        }
    }
    bar.finish_and_clear();

    let summary = Summary::new(&rows);
    report::print(&figures::summary_line(&summary));
    if let Some(path) = &options.json {
        Report { suite: "scale", rows: &rows, summary: &summary }.write(path)?;
    }
    if summary.mismatches > 0 {
        outcome.faults.push(format!("{} answers of ours are wrong", summary.mismatches));
    }
    if options.check {
        outcome.faults.extend(missed_bars(&summary));
    }
    Ok(outcome)
}

fn sides(largest: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(SMALLEST), |side| Some(side * 2)).take_while(move |side| *side <= largest)
}

/// Measures one map. Wrong answers are added to the outcome.
fn run_map(kind: Kind, side: usize, queries: usize, bar: &ProgressBar, outcome: &mut Outcome) -> Row {
    bar.set_message(format!("{} {side}", kind.name()));
    let walls = kind.draw(side, SEED);
    let probe = Probe::new(&walls, queries, SEED, bar);
    let room = DESCRIBED.saturating_sub(outcome.faults.len());
    let faults = probe.faults.iter().take(room);
    outcome.faults.extend(faults.map(|fault| format!("{} {side}: {fault}", kind.name())));
    Row::new(kind, side, walls.count(), &probe)
}

fn missed_bars(summary: &Summary) -> Vec<String> {
    let bars = [
        ("a cell of one map takes longer to build than one of another", summary.build_spread, BUILD_SPREAD),
        (
            "the first step across 4096² takes longer than that across 512²",
            summary.first_step_growth,
            FIRST_STEP_GROWTH,
        ),
    ];
    let missed = bars.into_iter().filter_map(|(what, measured, most)| Some((what, measured?, most)));
    let missed = missed.filter(|(_, measured, most)| measured > most);
    missed
        .map(|(what, measured, most)| format!("bar missed: {what}, {measured:.1} × instead of {most:.0} ×"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::figures::tests::row;
    use super::*;

    #[test]
    fn the_smallest_maps_are_measured_from_end_to_end() {
        let number = NonZeroUsize::new;
        let options = Options { largest: number(300), queries: number(4), ..Options::default() };
        let outcome = run(&options).expect("should run");
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        let mut outcome = Outcome::default();
        for kind in Kind::ALL {
            let row = run_map(kind, 256, 4, &ProgressBar::hidden(), &mut outcome);
            assert_eq!((row.queries, row.mismatches, row.compared), (4, 0, 8));
            assert!(row.first_step_mean_us > 0.0 && row.edit_us > 0.0 && row.survey_ms > 0.0);
            let bytes = row.bytes_per_cell;
            assert!(
                bytes.map >= 1.0 && bytes.graph > 0.0 && row.file_bytes_per_cell > 0.0 && bytes.total < 30.0,
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn sides_double_up_to_the_largest() {
        assert_eq!(sides(1500).collect::<Vec<_>>(), [256, 512, 1024]);
        assert_eq!(sides(LARGEST).count(), 6);
        for side in [100, 20_000] {
            let options = Options { largest: NonZeroUsize::new(side), ..Options::default() };
            assert!(matches!(run(&options), Err(Failure::Usage(_))));
        }
    }

    #[test]
    fn missed_bars_are_named_with_their_figures() {
        let rows =
            |build, first_step| [row(Kind::City, 512, 1.0, 1.0), row(Kind::City, 4096, build, first_step)];
        assert!(missed_bars(&Summary::new(&rows(2.9, 19.9))).is_empty());
        let missed = missed_bars(&Summary::new(&rows(3.1, 21.0)));
        assert!(missed[0].contains("3.1 × instead of 3 ×"), "{missed:?}");
        assert!(missed[1].contains("21.0 × instead of 20 ×"), "{missed:?}");
    }
}
