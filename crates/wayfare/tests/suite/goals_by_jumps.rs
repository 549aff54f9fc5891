//! The nearest of several goals over even ground, with engines that jump: one search after the other, or one for all.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::goals::{ask, check, from, least_cost, some_goals};
use crate::support::{Flora, Random, random_map, views};

/// What searches for each goal close by themselves.
fn closed_by_each(snapshot: &Snapshot, start: Cell, goals: &[Cell]) -> u64 {
    let mut scratch = Scratch::new();
    let mut closed = |goal: &Cell| {
        let answer = find_path(snapshot, &PathQuery::new(start, *goal), &mut scratch);
        answer.map_or(0, |_| scratch.effort().closed)
    };
    goals.iter().map(&mut closed).sum()
}

fn closed(snapshot: &Snapshot, query: &PathQuery, goals: &[Cell]) -> u64 {
    let mut scratch = Scratch::new();
    find_path_to_nearest(snapshot, query, goals, &mut scratch).map_or(0, |_| scratch.effort().closed)
}

/// Maps of even ground under every rule, as they are and surveyed.
fn for_even_ground(seeds: u64, mut test: impl FnMut(&str, &Snapshot, &mut Random)) {
    for seed in 0..seeds {
        for (rule, view) in views().iter().enumerate() {
            let mut random = Random::new(seed * 1000 + rule as u64);
            let (width, height) = (70 + random.below(40), 60 + random.below(40));
            let map = random_map(&mut random, width, height, Flora::Uniform);
            let mut snapshot = Snapshot::new(&map, view);
            if seed % 4 > 1 {
                assert!(snapshot.learn(&snapshot.survey()));
            }
            test(&format!("seed {seed}, {:?}", view.rules), &snapshot, &mut random);
        }
    }
}

#[test]
fn the_cheapest_goal_is_found_whatever_shape_is_asked_for() {
    let (mut found, mut taken) = (0, [0; 2]);
    for_even_ground(8, |name, snapshot, random| {
        for most in [2, 9, 40, 250] {
            let start = random.cell(snapshot.map());
            let goals = some_goals(random, snapshot.map(), most);
            if !snapshot.is_open(start) {
                continue;
            }
            let Some(least) = least_cost(snapshot, start, &goals) else { continue };
            for shape in [RouteShape::Cells, RouteShape::Corners, RouteShape::Pulled] {
                let answer = ask(snapshot, &from(start).shape(shape), &goals);
                let Ok(Answer::Found(route)) = answer else { panic!("{answer:?} {name}") };
                let end = route.cells().last().unwrap();
                assert_eq!(least_cost(snapshot, start, &[*end]), Some(least), "{shape:?} {name}");
                assert!(shape == RouteShape::Pulled || route.cost() == least, "{shape:?} {name}");
                if shape == RouteShape::Cells {
                    check(snapshot, &route, start, &goals, name);
                }
            }
            found += 1;
            taken[0] += closed(snapshot, &from(start), &goals);
            taken[1] += closed(snapshot, &from(start).gear(Gear::Cells), &goals);
        }
    });
    // On such small and crowded maps jumps are short.
    assert!(found > 500 && taken[0] * 3 < taken[1] * 2, "{found} found, {taken:?} closed");
}

#[test]
fn many_close_together_take_one_search() {
    let mut random = Random::new(4);
    let map = random_map(&mut random, 200, 200, Flora::Uniform);
    let snapshot = Snapshot::new(&map, &View::default());
    let mut together = 0;
    for _ in 0..40 {
        let (start, middle) = (random.cell(&map), random.cell(&map));
        let area = Area::new((middle.x - 6, middle.y - 6), (middle.x + 6, middle.y + 6));
        let goals: Vec<Cell> = area.cells().filter(|goal| snapshot.reachable(start, *goal)).collect();
        let (Some(least), (dx, dy)) = (least_cost(&snapshot, start, &goals), start.gap(middle)) else {
            continue;
        };
        if dx.max(dy) < 60 {
            continue;
        }
        let answer = ask(&snapshot, &from(start), &goals);
        assert_eq!(answer.unwrap().route().map(Route::cost), Some(least));
        // Until it is known how long searches are, there is one; it is no longer than the longest of all.
        let one = closed(&snapshot, &from(start).gear(Gear::Cells), &goals);
        let all = closed(&snapshot, &from(start), &goals);
        let each = closed_by_each(&snapshot, start, &goals);
        assert!(all < each, "{all} of {each}");
        together += u32::from(all > one);
    }
    assert!(together > 10, "{together}");
}

#[test]
fn of_equals_the_closest_is_chosen_in_any_order_and_in_slices() {
    let map = Map::new(90, 90).unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let middle = Cell::new(45, 45);
    let mut goals = [(5, 45), (85, 45), (45, 5), (45, 85)].map(Cell::from);
    for _ in 0..4 {
        goals.rotate_left(1);
        let answer = ask(&snapshot, &from(middle), &goals).unwrap();
        // All are as far; the first on the map is kept.
        assert_eq!(answer.route().and_then(|route| route.cells().last()), Some(&Cell::new(45, 5)));
        let mut search =
            Search::to_nearest(Arc::clone(&snapshot), from(middle), goals.into(), Scratch::new());
        while search.run(1) == Progress::Running {}
        assert_eq!(search.finish().0, Ok(answer));
    }
}

/// A search whose way has become longer than the best one known need not come to its end.
#[test]
fn a_search_for_a_goal_behind_a_wall_is_given_up() {
    let mut map = Map::new(300, 300).unwrap();
    // A hall that is open in the east only, full of pillars, with a goal behind its wall.
    for wall in [((100, 20), (100, 280)), ((100, 20), (290, 20)), ((100, 280), (290, 280))] {
        map.fill(Area::new(wall.0, wall.1), Terrain::WALL).unwrap();
    }
    for (x, y) in (110..290).step_by(6).flat_map(|x| (30..270).step_by(6).map(move |y| (x, y))) {
        map.set((x, y), Terrain::WALL).unwrap();
    }
    // Another goal is around a small wall.
    map.fill(Area::new((90, 135), (90, 165)), Terrain::WALL).unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let (start, behind, around) = (Cell::new(95, 150), Cell::new(115, 150), Cell::new(85, 150));
    let answer = ask(&snapshot, &from(start), &[behind, around]).unwrap();
    assert_eq!(answer.route().and_then(|route| route.cells().last()), Some(&around));
    let closed = |goals: &[Cell]| closed(&snapshot, &from(start), goals);
    let (both, one, other) = (closed(&[behind, around]), closed(&[around]), closed(&[behind]));
    assert!(both > one && (both - one) * 5 < other, "{both} for both, {one} and {other}");
}
