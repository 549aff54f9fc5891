//! One search for many starts: every route costs what the oracle says, however the field was run.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Random, drawn, find, random_map, searched, views};

/// Calls `test` with a snapshot, a goal and some starts, open or not, on the map or not.
fn for_random_fields(seeds: u64, size: u32, mut test: impl FnMut(&str, &Arc<Snapshot>, Cell, &[Cell])) {
    for seed in 0..seeds {
        for (rule, view) in views().iter().enumerate() {
            for flora in FLORA {
                let mut random = Random::new(seed * 7919 + rule as u64);
                let (width, height) = (1 + random.below(size), 1 + random.below(size));
                let map = random_map(&mut random, width, height, flora);
                let goal = random.cell(&map);
                let mut starts: Vec<Cell> =
                    (0..random.below(9)).map(|_| random.cell(&map) + (random.below(2) as i32, 0)).collect();
                starts.extend(starts.first().copied());
                let name = format!(
                    "seed {seed}, {:?}, {flora:?}, {starts:?} to {goal}\n{}",
                    view.rules,
                    map.to_text(|_| None)
                );
                test(&name, &Arc::new(Snapshot::new(&map, view)), goal, &starts);
            }
        }
    }
}

fn spread(snapshot: &Arc<Snapshot>, goal: Cell, starts: &[Cell], slice: u32) -> Field {
    let mut field = Field::new(Arc::clone(snapshot), goal, starts, Scratch::new());
    while field.run(slice) == Progress::Running {}
    field
}

#[test]
fn every_route_of_a_field_costs_what_the_oracle_says() {
    let mut routes = 0;
    for_random_fields(25, 20, |name, snapshot, goal, starts| {
        let (map, view) = (snapshot.map(), snapshot.view());
        let mut field = spread(snapshot, goal, starts, u32::MAX);
        for start in starts {
            let alone = find_path(snapshot, &searched(*start, goal), &mut Scratch::new());
            let answer = field.answer(*start, RouteShape::Cells);
            let (alone, answer) = match (alone, answer) {
                (Ok(alone), Ok(answer)) => (alone, answer),
                (alone, answer) => {
                    assert_eq!(alone, answer, "{name}");
                    continue;
                }
            };
            let best = oracle::distances(map, view, *start).get(&(goal.x, goal.y)).copied();
            assert_eq!(answer.route().map(Route::cost), best, "{start} {name}");
            let Answer::Found(route) = answer else {
                assert_eq!(alone, answer, "{name}");
                continue;
            };
            assert_eq!(field.cost(*start), best, "{name}");
            assert_eq!((route.cells().first(), route.cells().last()), (Some(start), Some(&goal)), "{name}");
            assert_eq!(oracle::walk(map, view, route.cells()).0, route.cost(), "{name}");
            let pulled = field.answer(*start, RouteShape::Pulled).unwrap().into_route().unwrap();
            assert!(pulled.cost() <= route.cost() && pulled.cells().len() <= route.cells().len(), "{name}");
            routes += 1;
        }
    });
    assert!(routes > 2000, "{routes}");
}

#[test]
fn slices_scratch_and_order_change_nothing() {
    let mut scratch = Scratch::new();
    for_random_fields(6, 20, |name, snapshot, goal, starts| {
        let mut whole = spread(snapshot, goal, starts, u32::MAX);
        let backwards: Vec<Cell> = starts.iter().rev().copied().collect();
        let used = core::mem::take(&mut scratch);
        let mut sliced = Field::new(Arc::clone(snapshot), goal, &backwards, used);
        while sliced.run(3) == Progress::Running {}
        assert_eq!(whole.effort(), sliced.effort(), "{name}");
        for start in starts {
            let answers = [&mut whole, &mut sliced].map(|field| field.answer(*start, RouteShape::Cells));
            assert_eq!(answers[0], answers[1], "{name}");
        }
        scratch = sliced.finish();
    });
}

#[test]
fn a_field_spreads_on_to_cells_nobody_named() {
    for_random_fields(3, 14, |name, snapshot, goal, starts| {
        let mut field = spread(snapshot, goal, starts, 5);
        let open = snapshot.map().area().unwrap().cells().filter(|cell| snapshot.is_open(*cell));
        for cell in open {
            let cost = field.answer(cell, RouteShape::Corners).unwrap().route().map(Route::cost);
            assert_eq!(cost, find(snapshot, &searched(cell, goal)).route().map(Route::cost), "{name}");
        }
    });
}

#[test]
fn a_field_spreads_towards_its_starts_and_not_farther() {
    let map = Map::new(400, 400).unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let starts: Vec<Cell> = (0..100).map(|i| Cell::new(20 + i % 10, 200 + i / 10)).collect();
    let mut field = spread(&snapshot, Cell::new(370, 205), &starts, 100);
    let closed = field.effort().closed;
    assert!(closed < 12_000, "{closed} of 160,000 cells");
    let far = Cell::new(399, 399);
    assert_eq!(field.cost(far), None);
    assert!(field.answer(far, RouteShape::Cells).unwrap().route().is_some());
    assert!(field.effort().closed > closed);
}

#[test]
fn what_cannot_be_reached_says_so() {
    let (map, start, goal) = drawn(
        "S.#..
         ..#.G
         ..#..",
    );
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let mut field = spread(&snapshot, goal, &[start], 1);
    let nearest = Cell::new(1, 1);
    assert_eq!(field.answer(start, RouteShape::Cells), Ok(Answer::Unreachable { nearest }));
    assert_eq!(field.effort().closed, 0, "the islands know");
    let (wall, outside) = (Cell::new(2, 1), Cell::new(-1, 0));
    assert_eq!(field.answer(wall, RouteShape::Cells), Err(QueryError::StartBlocked(wall)));
    assert_eq!(field.answer(outside, RouteShape::Cells), Err(QueryError::StartOutside(outside)));

    let mut field = spread(&snapshot, wall, &[start], 1);
    assert_eq!(field.answer(start, RouteShape::Cells), Ok(Answer::Unreachable { nearest }));
    assert_eq!(field.cost(start), None);
    let mut field = spread(&snapshot, outside, &[start, outside], 1);
    assert_eq!(field.answer(start, RouteShape::Cells), Err(QueryError::GoalOutside(outside)));
    let mut field = spread(&snapshot, goal, &[], 1);
    assert_eq!(field.answer(goal, RouteShape::Pulled).unwrap().route().map(Route::cost), Some(0));
}
