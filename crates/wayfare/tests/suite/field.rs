//! One search for many starts: every route costs what the oracle says, however the field was run.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Flora, Random, drawn, find, random_map, searched, views};

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
fn a_flow_field_leads_from_everywhere_to_the_nearest_goal() {
    let mut steps = 0;
    for_random_fields(2, 12, |name, snapshot, goal, others| {
        let (map, view) = (snapshot.map(), snapshot.view());
        let goals: Vec<Cell> = others.iter().copied().take(3).chain([goal]).collect();
        let open = |cell: &&Cell| oracle::open(map, view, **cell);
        // Steps may cost more one way than the other, so ask from every cell.
        let best = |from: Cell| {
            let reached = oracle::distances(map, view, from);
            goals.iter().filter(open).filter_map(|goal| reached.get(&(goal.x, goal.y)).copied()).min()
        };
        let mut field = Field::to(Arc::clone(snapshot), &goals, Scratch::new());
        while field.run(7) == Progress::Running {}
        let limit = 9 * u64::from(view.rules.costs.x());
        let mut near = Field::to_within(Arc::clone(snapshot), &goals, limit, Scratch::new());
        while near.run(7) == Progress::Running {}
        for from in map.area().unwrap().cells().filter(|cell| oracle::open(map, view, *cell)) {
            let least = best(from);
            assert_eq!(field.cost(from), least, "{from} {name}");
            if least.is_some_and(|least| least <= limit) {
                assert_eq!(near.cost(from), least, "{from} {name}");
            }
            let Some(direction) = field.direction(from) else {
                assert!(least.is_none_or(|least| least == 0), "{from} {name}");
                continue;
            };
            let legal = oracle::steps(map, view, from);
            let (_, to, step) = legal.iter().find(|(taken, ..)| *taken == direction).expect("a legal step");
            assert_eq!(field.cost(*to).map(|rest| rest + step), least, "{from} {name}");
            steps += 1;
        }
    });
    assert!(steps > 1000, "{steps}");
}

#[test]
fn on_large_even_ground_a_field_knows_every_cost() {
    for (rule, view) in views().iter().enumerate().step_by(5) {
        let mut random = Random::new(rule as u64);
        let map = random_map(&mut random, 150, 140, Flora::Uniform);
        let snapshot = Arc::new(Snapshot::new(&map, view));
        let goal = snapshot.nearest_open(random.cell(&map)).unwrap();
        let costs = oracle::distances(&map, view, goal);
        // Steps cost the same both ways. The starts make it aim at a corner first.
        let starts: Vec<Cell> = (0..20).map(|i| Cell::new(i % 5, i / 5)).collect();
        let mut aimed = spread(&snapshot, goal, &starts, u32::MAX);
        let mut whole = Field::to(Arc::clone(&snapshot), &[goal], Scratch::new());
        assert_eq!(whole.run(u32::MAX), Progress::Done);
        for cell in map.area().unwrap().cells().filter(|cell| snapshot.is_open(*cell)) {
            let best = costs.get(&(cell.x, cell.y)).copied();
            assert_eq!(whole.cost(cell), best, "{cell} {:?}", view.rules);
            if let Some(cost) = aimed.cost(cell) {
                assert_eq!(Some(cost), best, "{cell} {:?}", view.rules);
            }
        }
        for _ in 0..50 {
            let from = snapshot.nearest_open(random.cell(&map)).unwrap();
            let corners = aimed.answer(from, RouteShape::Corners).unwrap();
            let cells = whole.answer(from, RouteShape::Cells).unwrap();
            assert_eq!(corners.route().map(Route::cost), cells.route().map(Route::cost));
            let Some(route) = cells.into_route() else { continue };
            assert_eq!(oracle::walk(&map, view, route.cells()).0, route.cost());
            assert_eq!(Some(route.cost()), costs.get(&(from.x, from.y)).copied());
        }
    }
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
