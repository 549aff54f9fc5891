//! Every rule × terrain × heuristic on thousands of random maps: same reachability, same cost where the docs
//! promise it, legal steps only, and the cost is the sum of the steps.

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Flora, ROAD, Random, find, found, random_map, searched, views};

const HEURISTICS: [Heuristic; 7] = [
    Heuristic::Auto,
    Heuristic::Manhattan,
    Heuristic::Octile,
    Heuristic::Chebyshev,
    Heuristic::Euclidean,
    Heuristic::SquaredEuclidean,
    Heuristic::Zero,
];

/// What the table in `query` says.
fn is_exact(heuristic: Heuristic, rules: Rules) -> bool {
    match heuristic {
        Heuristic::SquaredEuclidean => false,
        Heuristic::Manhattan => rules.directions == Directions::Four,
        _ => true,
    }
}

/// Calls `test` with a snapshot, an open start, any goal, and the oracle's verdict on it.
fn for_random_queries(seeds: u64, size: u32, mut test: impl FnMut(&str, &Snapshot, Cell, Cell, Option<u64>)) {
    for seed in 0..seeds {
        for (rule, view) in views().iter().enumerate() {
            for flora in FLORA {
                let mut random = Random::new(seed * 1000 + rule as u64);
                let (width, height) = (1 + random.below(size), 1 + random.below(size));
                let map = random_map(&mut random, width, height, flora);
                let (start, goal) = (random.cell(&map), random.cell(&map));
                if !oracle::open(&map, view, start) {
                    continue;
                }
                let best = oracle::distances(&map, view, start).get(&(goal.x, goal.y)).copied();
                let name = format!(
                    "seed {seed}, {:?}, {flora:?}, {start} to {goal}\n{}",
                    view.rules,
                    map.to_text(|_| None)
                );
                test(&name, &Snapshot::new(&map, view), start, goal, best);
            }
        }
    }
}

#[test]
fn every_heuristic_under_every_rule_agrees_with_the_oracle() {
    let mut compared = 0;
    for_random_queries(40, 20, |name, snapshot, start, goal, best| {
        for heuristic in HEURISTICS {
            let answer = find(snapshot, &searched(start, goal).heuristic(heuristic));
            let Some(best) = best else {
                assert!(matches!(answer, Answer::Unreachable { .. }), "{heuristic:?} {answer:?} {name}");
                continue;
            };
            let Answer::Found(route) = answer else { panic!("{heuristic:?} {answer:?} {name}") };
            check(snapshot, &route, start, goal, name);
            if is_exact(heuristic, snapshot.rules()) {
                assert_eq!(route.cost(), best, "{heuristic:?} {name}");
            } else {
                assert!(route.cost() >= best, "{heuristic:?} {name}");
            }
            compared += 1;
        }
    });
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn a_straight_line_tried_first_changes_no_cost() {
    let mut lines = 0;
    for_random_queries(60, 12, |name, snapshot, start, goal, best| {
        let mut scratch = Scratch::new();
        let answer = find_path(snapshot, &PathQuery::new(start, goal), &mut scratch).unwrap();
        let Some(best) = best else { return };
        let Answer::Found(route) = answer else { panic!("{name}") };
        check(snapshot, &route, start, goal, name);
        assert_eq!(route.cost(), best, "{name}");
        if start != goal && scratch.effort().opened == 0 {
            assert!(snapshot.line_of_sight(start, goal), "{name}");
            lines += 1;
        }
    });
    assert!(lines > 500, "{lines}");
}

#[test]
fn a_line_over_even_ground_is_taken_if_asked() {
    for_random_queries(20, 12, |name, snapshot, start, goal, best| {
        let answer = find(snapshot, &PathQuery::new(start, goal).straight_line(StraightLine::IfUniform));
        let (Some(best), Answer::Found(route)) = (best, answer) else {
            return;
        };
        check(snapshot, &route, start, goal, name);
        assert!(route.cost() >= best, "{name}");
    });
    let map = Map::from_text("33333\n11111").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let query = PathQuery::new((0, 0), (4, 0));
    assert_eq!(found(&snapshot, &query.straight_line(StraightLine::IfUniform)).cost(), 4 * 3 * 985);
    assert!(found(&snapshot, &query).cost() < 4 * 3 * 985);
}

#[test]
fn a_weight_bounds_what_it_costs() {
    for_random_queries(15, 20, |name, snapshot, start, goal, best| {
        let Some(best) = best else { return };
        for (weight, bound) in [(0.0, 1), (0.5, 1), (1.0, 1), (2.0, 2), (5.0, 5)] {
            let query = searched(start, goal).weight(Weight::new(weight).unwrap());
            let route = found(snapshot, &query);
            check(snapshot, &route, start, goal, name);
            assert!(route.cost() <= bound * best, "weight {weight} {name}");
        }
        let greedy = found(snapshot, &searched(start, goal).weight(Weight::GREEDY));
        check(snapshot, &greedy, start, goal, name);
        assert!(greedy.cost() >= best, "{name}");
    });
}

/// An open list in the plainest words: it panics unless the cell closed is the best one open, of equals the newest.
#[derive(Default)]
struct Referee {
    greedy: bool,
    events: u32,
    open: Vec<(Cost, u32, Cell)>,
}

impl Recorder for Referee {
    fn opened(&mut self, visit: Visit) {
        self.events += 1;
        self.open.push((visit.f, self.events, visit.cell));
    }

    fn reparented(&mut self, visit: Visit) {
        self.events += 1;
        let known = self.open.iter_mut().find(|(_, _, cell)| *cell == visit.cell).expect("it is open");
        // A better G changes nothing in a list sorted by H alone.
        if !self.greedy {
            *known = (visit.f, self.events, visit.cell);
        }
    }

    fn closed(&mut self, visit: Visit) {
        let best = self.open.iter().copied().min_by_key(|(f, event, _)| (*f, core::cmp::Reverse(*event)));
        assert_eq!(best.map(|(f, _, cell)| (f, cell)), Some((visit.f, visit.cell)));
        self.open.retain(|(_, _, cell)| *cell != visit.cell);
    }
}

#[test]
fn the_newest_of_the_best_is_closed_first() {
    for_random_queries(4, 20, |_, snapshot, start, goal, _| {
        for heuristic in HEURISTICS {
            for weight in [Weight::new(0.7).unwrap(), Weight::ONE, Weight::new(2.5).unwrap(), Weight::GREEDY]
            {
                let query = searched(start, goal).heuristic(heuristic).weight(weight);
                let mut referee = Referee { greedy: weight == Weight::GREEDY, ..Referee::default() };
                find_path_recorded(snapshot, &query, &mut Scratch::new(), &mut referee).unwrap();
            }
        }
    });
}

#[test]
fn an_early_exit_errs_by_the_last_step_at_most() {
    for_random_queries(30, 20, |name, snapshot, start, goal, best| {
        let Some(best) = best else { return };
        let route = found(snapshot, &searched(start, goal).stop_when(StopWhen::GoalOpened));
        check(snapshot, &route, start, goal, name);
        let last = &route.cells()[route.cells().len().saturating_sub(2)..];
        let last_step = oracle::walk(snapshot.map(), snapshot.view(), last).0;
        assert!(route.cost() <= best + last_step, "{name}");
    });
}

#[test]
fn maps_of_many_chunks_agree_with_the_oracle() {
    for (rule, view) in views().iter().enumerate() {
        let mut random = Random::new(rule as u64);
        let map = random_map(&mut random, 150, 131, FLORA[rule % 3]);
        let snapshot = Snapshot::new(&map, view);
        let Some(start) = snapshot.nearest_open(random.cell(&map)) else {
            continue;
        };
        let best = oracle::distances(&map, view, start);
        for _ in 0..20 {
            let goal = random.cell(&map);
            let answer = find(&snapshot, &PathQuery::new(start, goal));
            let cost = answer.route().map(Route::cost);
            assert_eq!(cost, best.get(&(goal.x, goal.y)).copied(), "{:?} {start} to {goal}", view.rules);
        }
    }
}

#[test]
fn any_sensible_prices_agree_with_the_oracle() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let largest = [20, 2000, u32::from(u16::MAX) / 2][seed as usize % 3];
        let (x, y) = (1 + random.below(largest) as u16, 1 + random.below(largest) as u16);
        let diagonal = x.max(y) + random.below(u32::from(x.min(y)) + 1) as u16;
        let mut class = Class::default();
        let kinds: Vec<Terrain> = (1..=4).map(Terrain).collect();
        for kind in &kinds {
            let factor = (1 + random.below([255, 65_280][seed as usize % 2])) as f32 / 256.0;
            class = class.with(*kind, Factor::new(factor).unwrap());
        }
        let directions = [Directions::Four, Directions::Eight][random.below(2) as usize];
        let corners = [Corners::BothFree, Corners::OneFree, Corners::Always][random.below(3) as usize];
        let costs = StepCosts::with_axes(x, y, diagonal).unwrap();
        let view = View { rules: Rules { directions, corners, costs }, class, ..View::default() };

        let mut map = random_map(&mut random, 18, 18, Flora::Uniform);
        let (all, variety) = (map.area().unwrap(), 1 + random.below(4));
        let mut pave = |terrain: Terrain| match terrain {
            Terrain::OPEN => kinds[random.below(variety) as usize],
            other => other,
        };
        map.edit(all, |_, terrain| pave(terrain)).unwrap();
        let snapshot = Snapshot::new(&map, &view);
        let (Some(start), goal) = (snapshot.nearest_open(random.cell(&map)), random.cell(&map)) else {
            continue;
        };
        let best = oracle::distances(&map, &view, start).get(&(goal.x, goal.y)).copied();
        for heuristic in HEURISTICS.into_iter().filter(|heuristic| is_exact(*heuristic, view.rules)) {
            let answer = find(&snapshot, &searched(start, goal).heuristic(heuristic));
            assert_eq!(answer.route().map(Route::cost), best, "{heuristic:?}, seed {seed}, {:?}", view.rules);
        }
        let pulled = find(&snapshot, &PathQuery::new(start, goal).shape(RouteShape::Pulled));
        assert!(pulled.route().map(Route::cost) <= best, "seed {seed}, {:?}", view.rules);
    }
}

#[test]
fn rounding_of_cheap_ground_keeps_estimates_below_the_cost() {
    // 10 and 20 at a factor of 0.14 round to 1 and 3: a diagonal then costs more than the two steps around it.
    let class = Class::default().with(ROAD, Factor::new(0.14).unwrap());
    let rules = Rules { costs: StepCosts::new(10, 20).unwrap(), ..Rules::default() };
    let view = View { rules, class, ..View::default() };
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let mut map = random_map(&mut random, 15, 15, Flora::Uniform);
        let all = map.area().unwrap();
        let pave = |terrain: Terrain| if terrain == Terrain::OPEN { ROAD } else { terrain };
        map.edit(all, |_, terrain| pave(terrain)).unwrap();
        let snapshot = Snapshot::new(&map, &view);
        let (start, goal) = (snapshot.nearest_open(random.cell(&map)).unwrap(), random.cell(&map));
        let best = oracle::distances(&map, &view, start).get(&(goal.x, goal.y)).copied();
        for heuristic in [Heuristic::Octile, Heuristic::Chebyshev, Heuristic::Euclidean] {
            let answer = find(&snapshot, &searched(start, goal).heuristic(heuristic));
            assert_eq!(answer.route().map(Route::cost), best, "{heuristic:?}, seed {seed}");
        }
    }
}

#[test]
fn a_flyer_crosses_walls_but_stays_on_the_map() {
    let mut random = Random::new(5);
    let map = random_map(&mut random, 30, 20, Flora::Uniform);
    let view = View { class: Class::flyer(), ..View::default() };
    let snapshot = Snapshot::new(&map, &view);
    let route = found(&snapshot, &searched(Cell::new(0, 0), Cell::new(29, 19)));
    assert_eq!(route.cost(), 19 * 1393 + 10 * 985);
    assert_eq!(snapshot.island_count(), 1);
}

fn check(snapshot: &Snapshot, route: &Route, start: Cell, goal: Cell, name: &str) {
    assert_eq!(route.cells().first(), Some(&start), "{name}");
    assert_eq!(route.cells().last(), Some(&goal), "{name}");
    let (cost, _) = oracle::walk(snapshot.map(), snapshot.view(), route.cells());
    assert_eq!(route.cost(), cost, "{name}");
}
