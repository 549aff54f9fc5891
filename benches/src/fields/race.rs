//! The ways that are timed: one [`Field`] for all units, a search for each, and the [`Convoy`] that chooses between them, which is
//! what the plugin uses. In come a map and an order, out come times and what is wrong with the answers.
//!
//! All deliver every cell of every path. Of the single searches a part is run, spread evenly over the units, and judged
//! by; every path of the field and of the convoy is walked. Times are CPU time of this thread.

use std::sync::Arc;
use std::time::Duration;

use cpu_time::ThreadTime;
use wayfare::prelude::{
    Answer, Cell, Convoy, Field, PathQuery, Progress, Route, RouteShape, Scratch, Snapshot, View, find_path,
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
            let Some((goal, units)) = order.draw(&snapshot, round) else { break };
            allocation_counter::opt_out(|| {
                let (times, routes) = spread(&snapshot, goal, &units, &mut field_scratch);
                let (single, lengths) = search(&snapshot, goal, &units, &mut scratch);
                let (chosen, chosen_routes) = choose(&snapshot, goal, &units, &mut lent);
                if round > 0 {
                    race.chosen.push(chosen);
                    race.spread.push(times[0]);
                    race.answered.push(times[1]);
                    race.single.push(single);
                }
                race.judge(level, goal, &units, &routes, &lengths);
                race.judge(level, goal, &units, &chosen_routes, &lengths);
            });
        }
        race
    }

    /// Every path must be legal, and as long as that of a single search where there was one.
    fn judge(
        &mut self,
        level: &Level,
        goal: Cell,
        units: &[Cell],
        routes: &[Option<Route>],
        lengths: &[(usize, Option<f64>)],
    ) {
        let mut singles = lengths.iter().peekable();
        for (number, (start, route)) in units.iter().zip(routes).enumerate() {
            let own = route.as_ref().map(Route::length);
            let single = singles.next_if(|(unit, _)| *unit == number).map_or(own, |(_, length)| *length);
            let optimal = single.unwrap_or(0.0);
            let query = Query { start: *start, goal, optimal, tolerance: 1e-6 };
            let verdict = judge(&level.board, &query, route.as_ref().map(Route::cells));
            // All units are on the island of the goal.
            let fault = verdict.fault.map(|fault| fault.to_string());
            let missing = route.is_none().then(|| String::from("no path found"));
            self.faults.extend(fault.or(missing).map(|fault| format!("from {start} to {goal}: {fault}")));
        }
    }
}

/// All paths by one field: the time until it has spread, and until all paths are there.
fn spread(
    snapshot: &Arc<Snapshot>,
    goal: Cell,
    units: &[Cell],
    scratch: &mut Scratch,
) -> ([Duration; 2], Vec<Option<Route>>) {
    let mut routes = Vec::with_capacity(units.len());
    let clock = ThreadTime::now();
    let mut field = Field::new(Arc::clone(snapshot), goal, units, std::mem::take(scratch));
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
    goal: Cell,
    units: &[Cell],
    scratch: &mut Scratch,
) -> (Duration, Vec<Option<Route>>) {
    let queries = units.iter().map(|unit| PathQuery::new(*unit, goal)).collect();
    let mut answers = Vec::with_capacity(units.len());
    let clock = ThreadTime::now();
    let mut convoy = Convoy::new(Arc::clone(snapshot), queries, std::mem::take(scratch));
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
    goal: Cell,
    units: &[Cell],
    scratch: &mut Scratch,
) -> (Duration, Vec<(usize, Option<f64>)>) {
    let stride = (units.len() / SINGLES).max(1);
    let mut routes = Vec::with_capacity(units.len() / stride + 1);
    let clock = ThreadTime::now();
    for (number, unit) in units.iter().enumerate().step_by(stride) {
        let answer = find_path(snapshot, &PathQuery::new(*unit, goal), scratch);
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
        for is_surveyed in [false, true] {
            let race = Race::run(&tiny("fields_race"), Order::Scattered(500), 2, is_surveyed);
            assert!(race.faults.is_empty(), "{:?}", race.faults);
            let times = [&race.spread, &race.answered, &race.single, &race.chosen];
            assert_eq!(times.map(Vec::len), [2; 4]);
        }
    }

    #[test]
    fn a_path_that_is_missing_or_too_long_is_a_fault() {
        let level = tiny("fields_faults");
        let snapshot = Arc::new(Snapshot::new(&level.map, &View::default()));
        let (goal, units) = (Cell::new(4, 0), [Cell::new(0, 0), Cell::new(1, 0)]);
        let (_, routes) = spread(&snapshot, goal, &units, &mut Scratch::new());
        let mut race = Race::default();
        race.judge(&level, goal, &units, &routes, &[(0, Some(4.0)), (1, Some(3.0))]);
        assert!(race.faults.is_empty(), "{:?}", race.faults);
        race.judge(&level, goal, &units, &[routes[0].clone(), None], &[(0, Some(3.0))]);
        assert_eq!(race.faults.len(), 2, "{:?}", race.faults);
        assert!(race.faults[0].contains("length") && race.faults[1].contains("no path"), "{:?}", race.faults);
    }
}
