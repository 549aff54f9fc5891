//! Corners and pulled strings: never through a wall, never over a forbidden corner, never dearer.

use wayfare::prelude::*;

use crate::support::{FLORA, Flora, Random, drawn, found, random_map, searched, views};

fn for_random_routes(seeds: u64, mut test: impl FnMut(&str, &Snapshot, PathQuery, Route)) {
    for seed in 0..seeds {
        for (rule, view) in views().iter().enumerate() {
            let mut random = Random::new(seed * 31 + rule as u64);
            let (width, height) = (2 + random.below(90), 2 + random.below(30));
            let map = random_map(&mut random, width, height, FLORA[(seed % 3) as usize]);
            let snapshot = Snapshot::new(&map, view);
            let Some(start) = snapshot.nearest_open(random.cell(&map)) else {
                continue;
            };
            let goal = snapshot.nearest_reachable(start, random.cell(&map)).unwrap();
            let query = searched(start, goal);
            let name = format!("seed {seed}, {:?}, {start} to {goal}\n{}", view.rules, map.to_text(|_| None));
            test(&name, &snapshot, query, found(&snapshot, &query));
        }
    }
}

fn legs(snapshot: &Snapshot, cells: &[Cell]) -> Option<Cost> {
    cells.windows(2).map(|pair| snapshot.leg_cost(pair[0], pair[1])).sum()
}

#[test]
fn corners_are_the_same_way_with_fewer_cells() {
    for_random_routes(20, |name, snapshot, query, cells| {
        let corners = found(snapshot, &query.shape(RouteShape::Corners));
        assert_eq!(corners.cost(), cells.cost(), "{name}");
        assert_eq!(corners.bends(), cells.bends(), "{name}");
        assert_eq!(
            corners.cells().len(),
            if cells.cells().len() == 1 { 1 } else { cells.bends() + 2 },
            "{name}"
        );
        assert_eq!(legs(snapshot, corners.cells()), Some(cells.cost()), "{name}");
        assert!(corners.cells().iter().all(|cell| cells.cells().contains(cell)), "{name}");
    });
}

#[test]
fn a_pulled_string_is_clear_and_costs_no_more() {
    let (mut pulled_routes, mut cheaper) = (0, 0);
    for_random_routes(40, |name, snapshot, query, cells| {
        let pulled = found(snapshot, &query.shape(RouteShape::Pulled));
        assert_eq!(pulled.cells().first(), cells.cells().first(), "{name}");
        assert_eq!(pulled.cells().last(), cells.cells().last(), "{name}");
        // `lines` checks line of sight against plain geometry.
        assert_eq!(legs(snapshot, pulled.cells()), Some(pulled.cost()), "{name}");
        assert!(pulled.cost() <= cells.cost(), "{} > {} {name}", pulled.cost(), cells.cost());
        assert!(pulled.bends() <= cells.bends(), "{name}");
        pulled_routes += 1;
        cheaper += u32::from(pulled.cost() < cells.cost());
    });
    assert!(pulled_routes > 1000 && cheaper > 300, "{cheaper} of {pulled_routes}");
}

#[test]
fn a_pulled_string_counts_its_turns() {
    for_random_routes(10, |name, snapshot, query, _| {
        let query = query.objective(Objective::TurnCost(500));
        let cells = found(snapshot, &query);
        let pulled = found(snapshot, &query.shape(RouteShape::Pulled));
        let turns = pulled.bends() as u64 * 500;
        assert_eq!(legs(snapshot, pulled.cells()).map(|cost| cost + turns), Some(pulled.cost()), "{name}");
        assert!(pulled.cost() <= cells.cost(), "{name}");
    });
}

#[test]
fn over_even_ground_a_string_is_as_short_as_it_looks() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let map = random_map(&mut random, 60, 60, Flora::Uniform);
        let snapshot = Snapshot::new(&map, &View::default());
        let Some(start) = snapshot.nearest_open(random.cell(&map)) else {
            continue;
        };
        let goal = snapshot.nearest_reachable(start, random.cell(&map)).unwrap();
        let route = found(&snapshot, &PathQuery::new(start, goal).shape(RouteShape::Pulled));
        let off = route.cost() as f64 - 985.0 * route.length();
        assert!((-0.1..=route.cells().len() as f64).contains(&off), "{off}");
    }
}

#[test]
fn an_open_field_is_crossed_in_one_leg() {
    let snapshot = Snapshot::new(&Map::new(100, 100).unwrap(), &View::default());
    for goal in [(99, 99), (99, 31), (7, 80), (0, 99), (99, 98)] {
        for query in [PathQuery::new((0, 0), goal), searched(Cell::new(0, 0), goal.into())] {
            let route = found(&snapshot, &query.shape(RouteShape::Pulled));
            assert_eq!(route.cells(), [Cell::new(0, 0), goal.into()]);
        }
    }
}

#[test]
fn a_string_around_a_wall_touches_only_its_ends() {
    let (map, start, goal) = drawn(
        "...........
         .....#.....
         S....#....G
         .....#.....
         .....#.....",
    );
    let snapshot = Snapshot::new(&map, &View::default());
    let route = found(&snapshot, &PathQuery::new(start, goal).shape(RouteShape::Pulled));
    assert!(route.cells().len() <= 4, "{:?}", route.cells());
    assert!(route.length() < 2.0 * 29.0_f64.sqrt() + 1.2, "{}", route.length());
}

#[test]
fn a_string_keeps_to_the_road() {
    let (mut map, start, goal) = drawn(
        "S........G
         ..........
         ..........",
    );
    map.fill(Area::new((0, 0), (9, 1)), Terrain::digit(9).unwrap()).unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let cells = found(&snapshot, &PathQuery::new(start, goal));
    let pulled = found(&snapshot, &PathQuery::new(start, goal).shape(RouteShape::Pulled));
    assert!(pulled.cost() <= cells.cost());
    assert!(pulled.cells().iter().any(|cell| cell.y == 2), "{:?}", pulled.cells());
}
