//! A price on turning, and the fewest bends within a limit, each against an oracle over the same states.

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Random, drawn, find, found, random_map, searched, views};

/// Calls `test` with small random maps, a snapshot, an open start and a goal.
fn for_random_queries(seeds: u64, size: u32, mut test: impl FnMut(&str, &Map, &Snapshot, Cell, Cell)) {
    for seed in 0..seeds {
        for (rule, view) in views().iter().enumerate() {
            let mut random = Random::new(seed * 77 + rule as u64);
            let (width, height) = (1 + random.below(size), 1 + random.below(size));
            let map = random_map(&mut random, width, height, FLORA[(seed % 3) as usize]);
            let (start, goal) = (random.cell(&map), random.cell(&map));
            if oracle::open(&map, view, start) {
                let name =
                    format!("seed {seed}, {:?}, {start} to {goal}\n{}", view.rules, map.to_text(|_| None));
                test(&name, &map, &Snapshot::new(&map, view), start, goal);
            }
        }
    }
}

#[test]
fn a_turn_cost_is_optimal_over_cells_and_headings() {
    let mut turned = 0;
    for_random_queries(30, 12, |name, map, snapshot, start, goal| {
        for turn in [1, 700, 5000] {
            // With and without the straight line tried first.
            for query in [searched(start, goal), PathQuery::new(start, goal)] {
                let answer = find(snapshot, &query.objective(Objective::TurnCost(turn)));
                let best = oracle::cost_with_turns(map, snapshot.view(), start, goal, turn.into());
                assert_eq!(answer.route().map(Route::cost), best, "turn {turn} {name}");
                let Some(route) = answer.route() else { continue };
                let (cost, bends) = oracle::walk(map, snapshot.view(), route.cells());
                assert_eq!(route.cost(), cost + bends * u64::from(turn), "{name}");
                assert_eq!(route.bends() as u64, bends, "{name}");
                turned += bends;
            }
        }
    });
    assert!(turned > 1000, "{turned}");
}

#[test]
fn the_fewest_bends_within_a_limit_are_found() {
    let mut straighter = 0;
    for_random_queries(20, 10, |name, map, snapshot, start, goal| {
        let cheapest = find(snapshot, &searched(start, goal));
        for within_percent in [0, 10, 100] {
            for query in [searched(start, goal), PathQuery::new(start, goal)] {
                let answer = find(snapshot, &query.objective(Objective::FewestBends { within_percent }));
                let Some(best) = cheapest.route() else {
                    assert_eq!(answer, cheapest, "{name}");
                    continue;
                };
                let limit = best.cost() * (100 + u64::from(within_percent)) / 100;
                let route = answer.route().unwrap_or_else(|| panic!("{answer:?} {name}"));
                let (cost, bends) = oracle::walk(map, snapshot.view(), route.cells());
                let expected = oracle::fewest_bends(map, snapshot.view(), start, goal, limit).unwrap();
                assert_eq!(
                    (bends, cost),
                    (expected.0.into(), expected.1),
                    "within {within_percent} % {name}"
                );
                assert_eq!(route.cost(), cost, "{name}");
                straighter += u32::from(route.bends() < best.bends());
            }
        }
    });
    assert!(straighter > 100, "{straighter}");
}

#[test]
fn a_price_on_turns_straightens_a_zigzag() {
    let (map, start, goal) = drawn(
        "S.........
         .#.#.#.#..
         .........G",
    );
    let view =
        View::from(Rules { directions: Directions::Four, costs: StepCosts::CLASSIC, ..Rules::default() });
    let snapshot = Snapshot::new(&map, &view);
    let dear = found(&snapshot, &searched(start, goal).objective(Objective::TurnCost(100)));
    assert_eq!((dear.bends(), dear.cost()), (1, 110 + 100));
    let straight =
        found(&snapshot, &PathQuery::new(start, start + (9, 0)).objective(Objective::TurnCost(100)));
    assert_eq!((straight.bends(), straight.cost()), (0, 90));
}

#[test]
fn a_line_over_even_ground_does_not_break_the_limit() {
    let mut map = Map::filled(12, 3, Terrain::digit(9).unwrap()).unwrap();
    map.fill(Area::new((0, 2), (11, 2)), Terrain::OPEN).unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let query = PathQuery::new((0, 0), (11, 0)).straight_line(StraightLine::IfUniform);
    let cheapest = found(&snapshot, &searched(Cell::new(0, 0), Cell::new(11, 0)));
    let fewest = found(&snapshot, &query.objective(Objective::FewestBends { within_percent: 10 }));
    assert!(fewest.cost() <= cheapest.cost() * 11 / 10, "{} and {}", fewest.cost(), cheapest.cost());
}
