//! The ways that are timed: one [`Field`] for all units, a search for each, and the [`Convoy`] that chooses between them, which is
//! what the plugin uses. In come a map and an order, out come times and what is wrong with the answers.
//!
//! All deliver every cell of every path. Of the single searches a part is run, spread evenly over the units, and judged
//! by; every path of the field and of the convoy is walked. Where there are several goals, some of the single searches are held
//! to searches for each of these, which are timed, too. Times are CPU time of this thread.

use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
use wayfare::prelude::{
    Answer, Cell, Convoy, Field, PathQuery, Progress, Route, RouteShape, Scratch, Snapshot, View, find_path,
    find_path_to_nearest,
};

use super::order::Order;
use crate::check::{Query, judge};
use crate::level::Level;

/// So many of the single searches are run.
const SINGLES: usize = 200;

/// What has been measured.
#[derive(Debug, Default)]
pub(crate) struct Race {
    /// The field of each round: until it has spread, and until all units have their path.
    pub(crate) spread: Vec<Duration>,
    pub(crate) answered: Vec<Duration>,
    /// A single search, as a mean, of each round.
    pub(crate) single: Vec<Duration>,
    /// Searches of one unit for each of several goals, as a mean over units, of each round.
    pub(crate) each: Vec<Duration>,
    /// All units by whichever way the convoy chose, of each round.
    pub(crate) chosen: Vec<Duration>,
    pub(crate) faults: Vec<String>,
}

impl Race {
    /// Gives the order so many times, on a map that was surveyed or not.
    pub(crate) fn run(level: &Level, order: Order, rounds: u64, is_surveyed: bool) -> Self {
        let mut snapshot = Snapshot::new(&level.map, &View::default());
        if is_surveyed {
            let survey = snapshot.survey();
            snapshot.learn(&survey);
        }
        let snapshot = Arc::new(snapshot);
        let mut race = Self::default();
        // Memory is reused, as in a game; the first round is not timed.
        let (mut field_scratch, mut scratch, mut lent) = (Scratch::new(), Scratch::new(), Scratch::new());
        for round in 0..=rounds {
            let Some((goals, units)) = order.draw(&snapshot, round) else { break };
            allocation_counter::opt_out(|| {
                let (single, lengths) = search(&snapshot, &goals, &units, &mut scratch);
                // Ten thousand paths take a hundred megabytes. Those of one way are gone before the other begins, or it alone
                // would wait for the system to hand out more.
                let (times, routes) = spread(&snapshot, &goals, &units, &mut field_scratch);
                race.judge(level, &goals, &units, &routes, &lengths);
                drop(routes);
                let (chosen, routes) = choose(&snapshot, &goals, &units, &mut lent);
                race.judge(level, &goals, &units, &routes, &lengths);
                drop(routes);
                let each = race.judge_singles(&snapshot, &goals, &units, &lengths);
                if round > 0 {
                    race.chosen.push(chosen);
                    race.spread.push(times[0]);
                    race.answered.push(times[1]);
                    race.single.push(single);
                    race.each.extend(each);
                }
            });
        }
        race
    }

    /// Every path must be legal, lead to a goal, and be as long as that of a single search where there was one.
    fn judge(
        &mut self,
        level: &Level,
        goals: &[Cell],
        units: &[Cell],
        routes: &[Option<Route>],
        lengths: &[(usize, Option<f64>)],
    ) {
        let mut singles = lengths.iter().peekable();
        for (number, (start, route)) in units.iter().zip(routes).enumerate() {
            let own = route.as_ref().map(Route::length);
            let single = singles.next_if(|(unit, _)| *unit == number).map_or(own, |(_, length)| *length);
            let optimal = single.unwrap_or(0.0);
            let end = route.as_ref().and_then(|route| route.cells().last()).filter(|end| goals.contains(end));
            let goal = *end.unwrap_or(&goals[0]);
            let query = Query { start: *start, goal, optimal, tolerance: 1e-6 };
            let verdict = judge(&level.board, &query, route.as_ref().map(Route::cells));
            // All units are on the island of the goals.
            let fault = verdict.fault.map(|fault| fault.to_string());
            let missing = route.is_none().then(|| String::from("no path found"));
            self.faults.extend(fault.or(missing).map(|fault| format!("from {start} to {goal}: {fault}")));
        }
    }

    /// Of several goals the nearest must have been found: the one to which a search for it alone finds the shortest path.
    /// Returns what searches for all of them take for one unit.
    fn judge_singles(
        &mut self,
        snapshot: &Snapshot,
        goals: &[Cell],
        units: &[Cell],
        lengths: &[(usize, Option<f64>)],
    ) -> Option<Duration> {
        if goals.len() < 2 {
            return None;
        }
        let (mut scratch, mut count) = (Scratch::new(), 0);
        let clock = ThreadTime::now();
        for (unit, found) in lengths.iter().step_by(goals.len()) {
            let start = units[*unit];
            let to = |goal: &Cell| {
                let answer = find_path(snapshot, &PathQuery::new(start, *goal), &mut scratch);
                Some(answer.ok()?.into_route()?.length())
            };
            let best = goals.iter().filter_map(to).min_by(f64::total_cmp);
            if !best.zip(*found).is_some_and(|(best, found)| (best - found).abs() < 1e-6) {
                self.faults.push(format!("from {start}: {found:?} to the nearest goal instead of {best:?}"));
            }
            count += 1;
        }
        Some(clock.elapsed() / count.max(1))
    }
}

/// All paths by one field: the time until it has spread, and until all paths are there.
fn spread(
    snapshot: &Arc<Snapshot>,
    goals: &[Cell],
    units: &[Cell],
    scratch: &mut Scratch,
) -> ([Duration; 2], Vec<Option<Route>>) {
    let mut routes = Vec::with_capacity(units.len());
    let clock = ThreadTime::now();
    let mut field = Field::to_nearest(Arc::clone(snapshot), goals, units, std::mem::take(scratch));
    while field.run(u32::MAX) == Progress::Running {}
    let spread = clock.elapsed();
    for unit in units {
        routes.push(field.answer(*unit, RouteShape::Cells).ok().and_then(Answer::into_route));
    }
    let times = [spread, clock.elapsed()];
    *scratch = field.finish();
    (times, routes)
}

/// All paths by what the library chooses.
fn choose(
    snapshot: &Arc<Snapshot>,
    goals: &[Cell],
    units: &[Cell],
    scratch: &mut Scratch,
) -> (Duration, Vec<Option<Route>>) {
    let queries = units.iter().map(|unit| PathQuery::new(*unit, *unit)).collect();
    let mut answers = Vec::with_capacity(units.len());
    let clock = ThreadTime::now();
    let (snapshot, lent) = (Arc::clone(snapshot), std::mem::take(scratch));
    let mut convoy = Convoy::to_nearest(snapshot, queries, goals.into(), lent);
    while convoy.run(u32::MAX, &mut answers) == Progress::Running {}
    let time = clock.elapsed();
    let (rest, field) = convoy.finish();
    *scratch = field.map_or(rest, |field| field.finish());
    let routes = answers.into_iter().map(|(_, answer)| answer.ok().and_then(Answer::into_route));
    (time, routes.collect())
}

/// Some of the paths one by one: the mean time, and the number of each unit with the length of its path.
fn search(
    snapshot: &Snapshot,
    goals: &[Cell],
    units: &[Cell],
    scratch: &mut Scratch,
) -> (Duration, Vec<(usize, Option<f64>)>) {
    let stride = (units.len() / SINGLES).max(1);
    let mut routes = Vec::with_capacity(units.len() / stride + 1);
    let clock = ThreadTime::now();
    for (number, unit) in units.iter().enumerate().step_by(stride) {
        let answer = find_path_to_nearest(snapshot, &PathQuery::new(*unit, *unit), goals, scratch);
        routes.push((number, answer.ok().and_then(Answer::into_route)));
    }
    let time = clock.elapsed();
    let count = u32::try_from(routes.len()).unwrap_or(1).max(1);
    let lengths = routes.into_iter().map(|(number, route)| (number, route.map(|route| route.length())));
    (time / count, lengths.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level;
    use crate::level::tests::{MAP, SCENARIOS, TempDir};

    fn tiny(name: &str) -> Level {
        let dir = TempDir::new(name);
        dir.write("tiny.map", MAP);
        dir.write("tiny.map.scen", SCENARIOS);
        level::load(&dir.0, None).expect("valid").remove(0)
    }

    #[test]
    fn all_ways_agree_on_a_small_map() {
        for (order, is_surveyed) in [(Order::ALL[3], false), (Order::ALL[3], true), (Order::ALL[8], false)] {
            let race = Race::run(&tiny("fields_race"), order, 2, is_surveyed);
            assert!(race.faults.is_empty(), "{:?}", race.faults);
            let times = [&race.spread, &race.answered, &race.single, &race.chosen];
            assert_eq!(times.map(Vec::len), [2; 4]);
            assert_eq!(race.each.len(), if order.goals > 1 { 2 } else { 0 });
        }
    }

    #[test]
    fn a_path_that_is_missing_or_too_long_is_a_fault() {
        let level = tiny("fields_faults");
        let snapshot = Arc::new(Snapshot::new(&level.map, &View::default()));
        let (goals, units) = ([Cell::new(4, 0)], [Cell::new(0, 0), Cell::new(1, 0)]);
        let (_, routes) = spread(&snapshot, &goals, &units, &mut Scratch::new());
        let mut race = Race::default();
        race.judge(&level, &goals, &units, &routes, &[(0, Some(4.0)), (1, Some(3.0))]);
        assert!(race.faults.is_empty(), "{:?}", race.faults);
        race.judge(&level, &goals, &units, &[routes[0].clone(), None], &[(0, Some(3.0))]);
        assert_eq!(race.faults.len(), 2, "{:?}", race.faults);
        assert!(race.faults[0].contains("length") && race.faults[1].contains("no path"), "{:?}", race.faults);
        let mut race = Race::default();
        let both = [goals[0], Cell::new(2, 0)];
        race.judge_singles(&snapshot, &both, &units, &[(0, Some(2.0)), (1, Some(7.0))]);
        assert!(race.faults.is_empty(), "one of two is looked at: {:?}", race.faults);
        race.judge_singles(&snapshot, &both, &units, &[(1, Some(3.0))]);
        assert_eq!(race.faults.len(), 1, "the farther one is a fault");
    }
}
