//! Found, partial, unreachable, out of budget, and every way to ask wrongly: each has a defined result.

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{Random, drawn, find, found, random_map, searched};

fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(&Map::from_text(text).unwrap(), &View::default())
}

fn ask(snapshot: &Snapshot, start: (i32, i32), goal: (i32, i32)) -> Result<Answer, QueryError> {
    find_path(snapshot, &PathQuery::new(start, goal), &mut Scratch::new())
}

#[test]
fn places_outside_the_map_are_errors() {
    let map = snapshot("...\n...");
    for outside in [(-1, 0), (3, 0), (0, 2), (0, -1), (i32::MAX, i32::MIN), (i32::MIN, i32::MAX)] {
        assert_eq!(ask(&map, outside, (0, 0)), Err(QueryError::StartOutside(outside.into())));
        assert_eq!(ask(&map, (0, 0), outside), Err(QueryError::GoalOutside(outside.into())));
    }
    let error = ask(&map, (9, 9), (0, 0)).unwrap_err();
    assert_eq!(error.to_string(), "the start (9, 9) lies outside the map");
}

#[test]
fn a_blocked_start_is_an_error_and_says_where_it_is() {
    let map = snapshot("#..");
    assert_eq!(ask(&map, (0, 0), (2, 0)), Err(QueryError::StartBlocked(Cell::new(0, 0))));
    assert_eq!(ask(&map, (0, 0), (0, 0)), Err(QueryError::StartBlocked(Cell::new(0, 0))));
    assert_eq!(map.nearest_open(Cell::new(0, 0)), Some(Cell::new(1, 0)));
}

#[test]
fn already_there_is_a_route_of_one_cell() {
    let Ok(Answer::Found(route)) = ask(&snapshot("..."), (1, 0), (1, 0)) else { panic!() };
    assert_eq!((route.cells(), route.cost(), route.bends()), (&[Cell::new(1, 0)][..], 0, 0));
}

#[test]
fn the_smallest_maps() {
    assert_eq!(ask(&snapshot("."), (0, 0), (0, 0)).unwrap().route().unwrap().cost(), 0);
    assert_eq!(ask(&snapshot("#"), (0, 0), (0, 0)), Err(QueryError::StartBlocked(Cell::new(0, 0))));
    for (width, height) in [(0, 0), (0, 3), (3, 0)] {
        let empty = Snapshot::new(&Map::new(width, height).unwrap(), &View::default());
        assert_eq!(ask(&empty, (0, 0), (0, 0)), Err(QueryError::StartOutside(Cell::new(0, 0))));
        assert_eq!((empty.island_count(), empty.nearest_open(Cell::default())), (0, None));
    }
    let row = snapshot(".....");
    assert_eq!(ask(&row, (0, 0), (4, 0)).unwrap().route().unwrap().cost(), 4 * 985);
    let column = snapshot(".\n.\n.");
    assert_eq!(ask(&column, (0, 2), (0, 0)).unwrap().route().unwrap().cost(), 2 * 985);
    let cut = snapshot("..#..");
    assert_eq!(ask(&cut, (0, 0), (4, 0)), Ok(Answer::Unreachable { nearest: Cell::new(1, 0) }));
}

#[test]
fn an_all_blocked_map_has_no_islands() {
    let map = snapshot("###\n###");
    assert_eq!(map.island_count(), 0);
    assert_eq!(map.nearest_open(Cell::new(1, 1)), None);
    assert_eq!(ask(&map, (1, 1), (0, 0)), Err(QueryError::StartBlocked(Cell::new(1, 1))));
}

#[test]
fn an_unreachable_goal_names_the_nearest_cell_without_a_search() {
    let (map, start, goal) = drawn(
        "S....#....
         .....#..G.
         .....#....",
    );
    let snapshot = Snapshot::new(&map, &View::default());
    let mut scratch = Scratch::new();
    let answer = find_path(&snapshot, &PathQuery::new(start, goal), &mut scratch);
    assert_eq!(answer, Ok(Answer::Unreachable { nearest: Cell::new(4, 1) }));
    assert_eq!(scratch.effort(), Effort::default());

    let answer = find(&snapshot, &PathQuery::new(start, goal).fallback(Fallback::Nearest));
    let Answer::Partial { route, because: Shortfall::Unreachable } = answer else { panic!("{answer:?}") };
    assert_eq!(route.cells().last(), Some(&Cell::new(4, 1)));
    assert_eq!(route.cost(), 3 * 985 + 1393);
}

#[test]
fn a_blocked_goal_is_approached() {
    let (map, start, goal) = drawn("S...G");
    let mut map = map;
    map.set(goal, Terrain::WALL).unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let nearest = Cell::new(3, 0);
    assert_eq!(find(&snapshot, &PathQuery::new(start, goal)), Answer::Unreachable { nearest });
    // Already at the nearest point: a route of one cell, not an error.
    let answer = find(&snapshot, &PathQuery::new(nearest, goal).fallback(Fallback::Nearest));
    assert_eq!(answer.route().unwrap().cells(), [nearest]);
}

#[test]
fn the_nearest_cell_is_the_one_a_plain_scan_finds() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let size = if seed % 10 == 0 { 200 } else { 20 };
        let (width, height) = (1 + random.below(size), 1 + random.below(size));
        let map = random_map(&mut random, width, height, crate::support::Flora::Uniform);
        let steps = [StepCosts::FINE, StepCosts::rectangular(3.0, 1.0).unwrap()][seed as usize % 2];
        let view = View::from(Rules { costs: steps, ..Rules::default() });
        let snapshot = Snapshot::new(&map, &view);
        let (start, goal) = (random.cell(&map), random.cell(&map));
        let reached = oracle::distances(&map, &view, start);
        let distance = |cell: &Cell| {
            let x = i64::from(cell.x - goal.x) * i64::from(steps.x());
            let y = i64::from(cell.y - goal.y) * i64::from(steps.y());
            (x * x + y * y, cell.y, cell.x)
        };
        let nearest = reached.keys().map(|(x, y)| Cell::new(*x, *y)).min_by_key(distance);
        let expected = nearest.filter(|_| oracle::open(&map, &view, start));
        assert_eq!(snapshot.nearest_reachable(start, goal), expected, "seed {seed}, {start} to {goal}");
    }
}

#[test]
fn the_nearest_cell_may_lie_in_the_chunk_next_door() {
    let mut map = Map::filled(130, 100, Terrain::WALL).unwrap();
    for area in [Area::new((0, 99), (129, 99)), Area::new((0, 0), (0, 99)), Area::new((70, 0), (70, 99))] {
        map.fill(area, Terrain::OPEN).unwrap();
    }
    let snapshot = Snapshot::new(&map, &View::default());
    assert_eq!(snapshot.nearest_reachable(Cell::new(0, 0), Cell::new(60, 0)), Some(Cell::new(70, 0)));
    assert_eq!(snapshot.nearest_open(Cell::new(60, 0)), Some(Cell::new(70, 0)));
}

#[test]
fn of_cells_as_near_in_two_chunks_the_lower_one_is_named() {
    let mut map = Map::new(130, 20).unwrap();
    let goal = Cell::new(64, 5);
    map.fill(Area::new((64, 4), goal), Terrain::WALL).unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    assert_eq!(snapshot.nearest_reachable(Cell::new(129, 0), goal), Some(Cell::new(63, 5)));
}

#[test]
fn a_budget_ends_a_search_with_the_closest_cell_so_far() {
    let (map, start, goal) = drawn(
        "..........
         .S...#..G.
         .....#....
         .....#....",
    );
    let snapshot = Snapshot::new(&map, &View::default());
    let searched = |start, goal| searched(start, goal).gear(Gear::Cells);
    let answer = find(&snapshot, &searched(start, goal).budget(5));
    let Answer::OutOfBudget { nearest } = answer else { panic!("{answer:?}") };
    assert!(nearest.x > start.x);
    let answer = find(&snapshot, &searched(start, goal).budget(5).fallback(Fallback::Nearest));
    let Answer::Partial { route, because: Shortfall::OutOfBudget } = answer else { panic!("{answer:?}") };
    assert_eq!(route.cells().last(), Some(&nearest));
    assert_eq!(route.cost(), oracle::walk(&map, &View::default(), route.cells()).0);

    assert_eq!(find(&snapshot, &searched(start, goal).budget(0)), Answer::OutOfBudget { nearest: start });
    let stay = find(&snapshot, &searched(start, goal).budget(0).fallback(Fallback::Nearest));
    assert_eq!(stay.route().map(Route::cells), Some(&[start][..]));
    let enough = find(&snapshot, &searched(start, goal).budget(40));
    assert_eq!(enough, Answer::Found(found(&snapshot, &searched(start, goal))));
    for objective in [Objective::TurnCost(10), Objective::FewestBends { within_percent: 10 }] {
        let answer = find(&snapshot, &searched(start, goal).objective(objective).budget(5));
        assert!(matches!(answer, Answer::OutOfBudget { .. }), "{objective:?}");
    }
}

/// The closed cell closest to a goal, kept in the plainest words.
struct Closest(Cell, Option<(u64, i32, i32)>);

impl Recorder for Closest {
    fn closed(&mut self, visit: Visit) {
        let (dx, dy) = visit.cell.gap(self.0);
        let key = (u64::from(dx).pow(2) + u64::from(dy).pow(2), visit.cell.y, visit.cell.x);
        self.1 = Some(self.1.map_or(key, |known| known.min(key)));
    }
}

#[test]
fn a_budget_leads_to_the_settled_cell_closest_to_the_goal() {
    let mut cut_short = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let map = random_map(&mut random, 20, 20, crate::support::Flora::Uniform);
        let snapshot = Snapshot::new(&map, &View::default());
        let (Some(start), goal) = (snapshot.nearest_open(random.cell(&map)), random.cell(&map)) else {
            continue;
        };
        let objective = [Objective::Cheapest, Objective::TurnCost(300)][seed as usize % 2];
        let query = searched(start, goal).objective(objective).fallback(Fallback::Nearest);
        let query = query.budget(u64::from(random.below(30)));
        let mut closest = Closest(goal, None);
        let answer = find_path_recorded(&snapshot, &query, &mut Scratch::new(), &mut closest).unwrap();
        if let Answer::Partial { route, because: Shortfall::OutOfBudget } = answer {
            let expected = closest.1.map_or(start, |(_, y, x)| Cell::new(x, y));
            assert_eq!(route.cells().last(), Some(&expected), "seed {seed}, {start} to {goal}");
            cut_short += 1;
        }
    }
    assert!(cut_short > 200, "{cut_short}");
}

#[test]
fn a_budget_that_ends_the_polishing_still_leads_to_the_goal() {
    let (map, start, goal) = drawn(
        "S.#......
         ..#..#...
         .....#..G",
    );
    let snapshot = Snapshot::new(&map, &View::default());
    let query = searched(start, goal).objective(Objective::FewestBends { within_percent: 50 });
    let mut scratch = Scratch::new();
    let cheapest = find_path(&snapshot, &searched(start, goal).gear(Gear::Cells), &mut scratch).unwrap();
    let spent = scratch.effort().closed;
    let answer = find(&snapshot, &query.budget(spent + 2).fallback(Fallback::Nearest));
    let Answer::Partial { route, because: Shortfall::OutOfBudget } = answer else { panic!("{answer:?}") };
    assert_eq!(Some(&route), cheapest.route());
    assert_eq!(find(&snapshot, &query.budget(spent + 2)), Answer::OutOfBudget { nearest: goal });
}

#[test]
fn the_dearest_map_does_not_overflow() {
    let costs = StepCosts::new(u16::MAX, u16::MAX).unwrap();
    let dear = Terrain(9);
    let class = Class::default().with(dear, Factor::whole(255));
    let view = View { rules: Rules { costs, ..Rules::default() }, class, ..View::default() };
    let map = Map::filled(Map::MAX_SIDE, 2, dear).unwrap();
    let snapshot = Snapshot::new(&map, &view);
    let end = Cell::new(Map::MAX_SIDE as i32 - 1, 1);
    let expected = u64::from(Map::MAX_SIDE - 1) * u64::from(u16::MAX) * 255;
    for heuristic in [Heuristic::Auto, Heuristic::Euclidean, Heuristic::SquaredEuclidean, Heuristic::Zero] {
        for weight in [1.0, 255.0] {
            let query =
                searched(Cell::new(0, 0), end).heuristic(heuristic).weight(Weight::new(weight).unwrap());
            assert_eq!(found(&snapshot, &query).cost(), expected, "{heuristic:?} × {weight}");
        }
    }
    let turns = searched(Cell::new(0, 0), end).objective(Objective::TurnCost(u32::MAX));
    assert_eq!(found(&snapshot, &turns).cost(), expected + u64::from(u32::MAX));
}

#[test]
fn senseless_weights_are_refused() {
    for weight in [-0.1, 255.5, f32::NAN, f32::INFINITY] {
        assert!(Weight::new(weight).is_err(), "{weight}");
    }
    assert_eq!(Weight::new(1.0), Ok(Weight::ONE));
}
