//! Speed: what a step of many units costs, ours and the peer's by turns in one run.
//!
//! Both start from the same places and then go their own ways. Ours is the whole step. The peer's is its solver and the
//! search for neighbours, which it leaves to us: our own lists, found anew in every step. Handing units in and reading
//! results is in neither figure, nor is moving them in the peer's.

use core::time::Duration;

use cpu_time::ThreadTime;
use wayfare::avoid::{Body, Crowd, CrowdSettings, OneThread};

use super::figures::Row;
use super::peer::Dodgy;
use super::scenes::disc;
use super::unit::{DT, Unit};
use crate::stats::ratio;

const UNITS: u16 = if cfg!(test) { 100 } else { 10_000 };
const STEPS: u32 = if cfg!(test) { 5 } else { 100 };

/// The whole is run so often; each has its best time.
const RUNS: u64 = if cfg!(test) { 1 } else { 3 };

/// How many times as long the peer must take.
const BAR: f64 = 2.0;

/// The row, and how many times as long the peer takes.
pub(crate) fn row() -> (Row, Option<f64>) {
    let mut best = [Duration::MAX; 2];
    for _ in 0..RUNS {
        for (best, time) in best.iter_mut().zip(race()) {
            *best = time.min(*best);
        }
    }
    let [ours, theirs] = best.map(|time| time.as_secs_f64() * 1e9 / f64::from(STEPS) / f64::from(UNITS));
    let times = ratio(theirs, ours);
    let mut row = Row::verdict(
        "speed_10k",
        times.is_some_and(|times| times >= BAR),
        format!("dodgy_2d {theirs:.0} ns: {:.2} × ours", times.unwrap_or(0.0)),
    );
    row.ns_per_unit_step = Some(ours);
    for miss in &mut row.misses {
        (miss.what, miss.found) = ("times as fast", times.unwrap_or(0.0));
        miss.by = times.map_or(f64::INFINITY, |times| BAR / times);
    }
    (row, times)
}

/// Both, step by step in turns.
fn race() -> [Duration; 2] {
    let (mut ours, mut theirs) = (disc(UNITS, 1).units, disc(UNITS, 1).units);
    let (mut crowd, mut lists, mut peer) = (Crowd::new(), Crowd::new(), Dodgy::default());
    let mut times = [Duration::ZERO; 2];
    for _ in 0..STEPS {
        enter(&mut crowd, &mut ours);
        let clock = ThreadTime::now();
        crowd.step(&CrowdSettings::default(), DT, &[], &OneThread);
        times[0] += clock.elapsed();
        for (unit, outcome) in ours.iter_mut().zip(crowd.outcomes()) {
            (unit.position, unit.velocity) = (outcome.position, outcome.velocity);
            unit.memory = outcome.memory;
        }

        let bodies = enter(&mut lists, &mut theirs);
        peer.load(bodies.iter());
        let clock = ThreadTime::now();
        peer.solve(&mut lists);
        times[1] += clock.elapsed();
        peer.apply(&mut theirs);
    }
    times
}

fn enter(crowd: &mut Crowd, units: &mut [Unit]) -> Vec<Body> {
    crowd.clear();
    let bodies: Vec<Body> = units.iter_mut().map(|unit| unit.body(None)).collect();
    bodies.iter().for_each(|body| crowd.push(*body));
    bodies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_measured() {
        let (row, times) = row();
        assert!(row.ns_per_unit_step.is_some_and(|ns| ns > 0.0));
        assert!(times.is_some_and(|times| times > 0.0));
    }
}
