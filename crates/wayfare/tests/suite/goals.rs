//! The nearest of several goals: as cheap as the cheapest of as many searches for one, whatever the goals are.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Flora, Random, drawn, random_map, searched, views};

const EXACT: [Heuristic; 5] =
    [Heuristic::Auto, Heuristic::Octile, Heuristic::Chebyshev, Heuristic::Euclidean, Heuristic::Zero];

/// A query whose own goal is nowhere, so that using it would show.
pub(crate) fn from(start: Cell) -> PathQuery {
    PathQuery::new(start, (-7, -7))
}

pub(crate) fn ask(snapshot: &Snapshot, query: &PathQuery, goals: &[Cell]) -> Result<Answer, QueryError> {
    find_path_to_nearest(snapshot, query, goals, &mut Scratch::new())
}

fn end(answer: &Answer) -> Option<Cell> {
    answer.route().and_then(|route| route.cells().last().copied())
}

/// Up to `most` goals: open, blocked, outside and named twice as it comes. Every third set lies close together.
pub(crate) fn some_goals(random: &mut Random, map: &Map, most: u32) -> Vec<Cell> {
    let middle = random.cell(map);
    let close = random.below(3) == 0;
    let mut goals = Vec::new();
    for _ in 0..=random.below(most) {
        let near = middle + (random.below(5) as i32 - 2, random.below(5) as i32 - 2);
        goals.push(match random.below(10) {
            0 => Cell::new(-1 - random.below(30) as i32, random.below(60) as i32 - 30),
            1 => goals.get(random.below(40) as usize).copied().unwrap_or(near),
            _ if close => near,
            _ => random.cell(map),
        });
    }
    goals
}

/// Calls `test` with a snapshot, an open start, up to 40 goals, and the name of the case.
fn for_random_goals(seeds: u64, size: u32, mut test: impl FnMut(&str, &Snapshot, Cell, &[Cell])) {
    for seed in 0..seeds {
        for (rule, view) in views().iter().enumerate() {
            let mut random = Random::new(seed * 1000 + rule as u64);
            let (width, height) = (1 + random.below(size), 1 + random.below(size));
            let flora = FLORA[(seed as usize + rule) % 3];
            let map = random_map(&mut random, width, height, flora);
            let start = random.cell(&map);
            let most = [1, 3, 12, 40][random.below(4) as usize];
            let goals = some_goals(&mut random, &map, most);
            if !oracle::open(&map, view, start) {
                continue;
            }
            let name = format!(
                "seed {seed}, {:?}, {flora:?}, {start} to {goals:?}\n{}",
                view.rules,
                map.to_text(|_| None)
            );
            test(&name, &Snapshot::new(&map, view), start, &goals);
        }
    }
}

/// What the cheapest of the goals costs, by the oracle.
pub(crate) fn least_cost(snapshot: &Snapshot, start: Cell, goals: &[Cell]) -> Option<u64> {
    let reached = oracle::distances(snapshot.map(), snapshot.view(), start);
    goals.iter().filter_map(|goal| reached.get(&(goal.x, goal.y)).copied()).min()
}

/// The square of the straight distance to the nearest goal on the map, then row, then column.
fn distance(snapshot: &Snapshot, cell: Cell, goals: &[Cell]) -> (Option<i64>, i32, i32) {
    let steps = snapshot.rules().costs;
    let to = |goal: &Cell| {
        let x = i64::from(cell.x - goal.x) * i64::from(steps.x());
        let y = i64::from(cell.y - goal.y) * i64::from(steps.y());
        x * x + y * y
    };
    (goals.iter().filter(|goal| snapshot.map().contains(**goal)).map(to).min(), cell.y, cell.x)
}

pub(crate) fn check(snapshot: &Snapshot, route: &Route, start: Cell, goals: &[Cell], name: &str) {
    assert_eq!(route.cells().first(), Some(&start), "{name}");
    assert!(route.cells().last().is_some_and(|last| goals.contains(last)), "{route:?} {name}");
    let (cost, _) = oracle::walk(snapshot.map(), snapshot.view(), route.cells());
    assert_eq!(route.cost(), cost, "{name}");
}

#[test]
fn every_exact_heuristic_finds_the_cheapest_goal() {
    let (mut compared, mut unreachable) = (0, 0);
    for_random_goals(60, 20, |name, snapshot, start, goals| {
        let least = least_cost(snapshot, start, goals);
        let manhattan = (snapshot.rules().directions == Directions::Four).then_some(Heuristic::Manhattan);
        for heuristic in EXACT.into_iter().chain(manhattan) {
            // With and without the straight line tried first.
            for policy in [StraightLine::Never, StraightLine::IfOptimal] {
                let query = from(start).heuristic(heuristic).straight_line(policy);
                let answer = ask(snapshot, &query, goals);
                let Some(least) = least else {
                    assert!(!matches!(answer, Ok(Answer::Found(_))), "{heuristic:?} {answer:?} {name}");
                    unreachable += 1;
                    continue;
                };
                let Ok(Answer::Found(route)) = answer else { panic!("{heuristic:?} {answer:?} {name}") };
                check(snapshot, &route, start, goals, name);
                assert_eq!(route.cost(), least, "{heuristic:?} {name}");
                compared += 1;
            }
        }
    });
    assert!(compared > 10_000 && unreachable > 500, "{compared} and {unreachable}");
}

#[test]
fn maps_of_many_chunks_and_hundreds_of_goals() {
    for (rule, view) in views().iter().enumerate() {
        let mut random = Random::new(rule as u64);
        let map = random_map(&mut random, 150, 131, FLORA[rule % 3]);
        let snapshot = Snapshot::new(&map, view);
        let Some(start) = snapshot.nearest_open(random.cell(&map)) else {
            continue;
        };
        for most in [5, 40, 600] {
            let goals = some_goals(&mut random, &map, most);
            let answer = ask(&snapshot, &from(start), &goals).ok();
            let least = least_cost(&snapshot, start, &goals);
            assert_eq!(
                answer.and_then(Answer::into_route).map(|route| route.cost()),
                least,
                "{:?} {start} to {goals:?}",
                view.rules
            );
        }
    }
}

#[test]
fn every_other_option_keeps_its_promise() {
    for_random_goals(15, 20, |name, snapshot, start, goals| {
        let Some(least) = least_cost(snapshot, start, goals) else { return };
        let route = |query: PathQuery| {
            let answer = ask(snapshot, &query.straight_line(StraightLine::Never), goals);
            let Ok(Answer::Found(route)) = answer else { panic!("{answer:?} {name}") };
            check(snapshot, &route, start, goals, name);
            route
        };
        for (weight, bound) in [(0.0, 1), (0.5, 1), (2.0, 2), (5.0, 5)] {
            let found = route(from(start).weight(Weight::new(weight).unwrap()));
            assert!(found.cost() <= bound * least, "weight {weight} {name}");
        }
        assert!(route(from(start).weight(Weight::GREEDY)).cost() >= least, "{name}");
        for heuristic in [Heuristic::Manhattan, Heuristic::SquaredEuclidean] {
            assert!(route(from(start).heuristic(heuristic)).cost() >= least, "{heuristic:?} {name}");
        }
        let early = route(from(start).stop_when(StopWhen::GoalOpened));
        let last = &early.cells()[early.cells().len().saturating_sub(2)..];
        let last_step = oracle::walk(snapshot.map(), snapshot.view(), last).0;
        assert!(early.cost() <= least + last_step, "{name}");
        let pulled = ask(snapshot, &from(start).shape(RouteShape::Pulled), goals).unwrap();
        assert!(pulled.route().is_some_and(|route| route.cost() <= least), "{name}");
    });
}

#[test]
fn an_early_exit_is_taken_at_the_first_goal_opened() {
    let (map, start, goal) = drawn(
        ".....
         .S.G.
         .....",
    );
    let snapshot = Snapshot::new(&map, &View::default());
    let closed_by = |stop: StopWhen| {
        let mut scratch = Scratch::new();
        let query = from(start).stop_when(stop).gear(Gear::Cells);
        find_path_to_nearest(&snapshot, &query, &[Cell::new(0, 1), goal], &mut scratch).unwrap();
        scratch.effort().closed
    };
    assert_eq!((closed_by(StopWhen::GoalOpened), closed_by(StopWhen::GoalClosed)), (1, 2));
}

#[test]
fn a_turn_cost_is_exact_over_all_goals() {
    let mut turned = 0;
    for_random_goals(15, 12, |name, snapshot, start, goals| {
        for turn in [1, 700, 5000] {
            let objective = Objective::TurnCost(turn);
            let answer = ask(snapshot, &from(start).objective(objective), goals);
            let single = |goal: &Cell| {
                let answer =
                    find_path(snapshot, &searched(start, *goal).objective(objective), &mut Scratch::new());
                answer.ok()?.into_route().map(|route| route.cost())
            };
            let least = goals.iter().filter_map(single).min();
            let Some(least) = least else {
                assert!(!matches!(answer, Ok(Answer::Found(_))), "{name}");
                continue;
            };
            let Ok(Answer::Found(route)) = answer else { panic!("{answer:?} {name}") };
            assert_eq!(route.cost(), least, "turn {turn} {name}");
            let (cost, bends) = oracle::walk(snapshot.map(), snapshot.view(), route.cells());
            assert_eq!(route.cost(), cost + bends * u64::from(turn), "{name}");
            turned += bends;
        }
    });
    assert!(turned > 500, "{turned}");
}

#[test]
fn the_fewest_bends_lead_to_the_cheapest_goal() {
    let mut straighter = 0;
    for_random_goals(10, 10, |name, snapshot, start, goals| {
        // Of goals that cost the same only a search from cell to cell finds the same first.
        let query = from(start).straight_line(StraightLine::Never).gear(Gear::Cells);
        let Ok(Answer::Found(cheapest)) = ask(snapshot, &query, goals) else { return };
        for within_percent in [0, 30] {
            let query = from(start).objective(Objective::FewestBends { within_percent });
            let answer = ask(snapshot, &query, goals).unwrap();
            let goal = end(&answer).unwrap();
            assert_eq!(Some(&goal), cheapest.cells().last(), "{name}");
            let limit = cheapest.cost() * (100 + u64::from(within_percent)) / 100;
            let (map, view) = (snapshot.map(), snapshot.view());
            let (cost, bends) = oracle::walk(map, view, answer.route().unwrap().cells());
            let expected = oracle::fewest_bends(map, view, start, goal, limit).unwrap();
            assert_eq!((bends, cost), (expected.0.into(), expected.1), "within {within_percent} % {name}");
            straighter += u32::from(bends < cheapest.bends() as u64);
        }
    });
    assert!(straighter > 10, "{straighter}");
}

#[test]
fn the_order_of_the_goals_does_not_matter() {
    let mut ties = 0;
    for_random_goals(15, 15, |name, snapshot, start, goals| {
        let Ok(answer) = ask(snapshot, &from(start), goals) else { return };
        let mut turned: Vec<Cell> = goals.iter().rev().copied().collect();
        assert_eq!(ask(snapshot, &from(start), &turned).as_ref(), Ok(&answer), "{name}");
        turned.extend(goals);
        assert_eq!(ask(snapshot, &from(start), &turned).as_ref(), Ok(&answer), "{name}");
        let reached = oracle::distances(snapshot.map(), snapshot.view(), start);
        let least = answer.route().map(Route::cost);
        turned.sort_by_key(|goal| (goal.y, goal.x));
        turned.dedup();
        let equal = turned.iter().filter(|goal| reached.get(&(goal.x, goal.y)).copied() == least);
        ties += u32::from(equal.count() > 1);
    });
    assert!(ties > 30, "{ties}");
}

#[test]
fn wrong_questions_are_errors() {
    let snapshot = Snapshot::new(&Map::from_text("#..\n...").unwrap(), &View::default());
    let (open, blocked, outside) = (Cell::new(1, 0), Cell::new(0, 0), Cell::new(3, 0));
    let further = Cell::new(i32::MIN, i32::MAX);
    assert_eq!(ask(&snapshot, &from(open), &[]), Err(QueryError::NoGoal));
    assert_eq!(QueryError::NoGoal.to_string(), "there is no goal");
    assert_eq!(ask(&snapshot, &from(open), &[outside, further]), Err(QueryError::GoalOutside(outside)));
    assert_eq!(ask(&snapshot, &from(open), &[further, outside]), Err(QueryError::GoalOutside(further)));
    assert_eq!(ask(&snapshot, &from(outside), &[open]), Err(QueryError::StartOutside(outside)));
    assert_eq!(ask(&snapshot, &from(outside), &[]), Err(QueryError::StartOutside(outside)));
    assert_eq!(ask(&snapshot, &from(blocked), &[open, blocked]), Err(QueryError::StartBlocked(blocked)));
    let search = Search::to_nearest(Arc::new(snapshot), from(open), Arc::from([]), Scratch::new());
    assert_eq!(
        format!("{search:?}"),
        "Search((1, 0) to one of 0, Effort { opened: 0, reparented: 0, closed: 0 })"
    );
    assert_eq!(search.finish().0, Err(QueryError::NoGoal));
}

#[test]
fn a_start_that_is_a_goal_is_the_answer() {
    let snapshot = Snapshot::new(&Map::new(9, 9).unwrap(), &View::default());
    let start = Cell::new(4, 4);
    for objective in
        [Objective::Cheapest, Objective::TurnCost(9), Objective::FewestBends { within_percent: 9 }]
    {
        let mut scratch = Scratch::new();
        let goals = [Cell::new(5, 4), start, Cell::new(40, 4)];
        let query = from(start).objective(objective);
        let answer = find_path_to_nearest(&snapshot, &query, &goals, &mut scratch).unwrap();
        let Answer::Found(route) = answer else { panic!("{answer:?}") };
        assert_eq!((route.cells(), route.cost()), (&[start][..], 0));
        assert_eq!(scratch.effort(), Effort::default());
    }
}

#[test]
fn a_single_goal_left_is_an_ordinary_query() {
    let (map, start, goal) = drawn(
        "S.....#..
         ......#..
         .....G#..",
    );
    let snapshot = Snapshot::new(&map, &View::default());
    let goals = [Cell::new(8, 1), Cell::new(6, 0), goal, Cell::new(90, 0), goal];
    for query in [PathQuery::new(start, goal), searched(start, goal)] {
        let (mut one, mut any) = (Scratch::new(), Scratch::new());
        let alone = find_path(&snapshot, &query, &mut one);
        assert_eq!(find_path_to_nearest(&snapshot, &query, &goals, &mut any), alone);
        assert_eq!(one.effort(), any.effort());
    }
    let mut scratch = Scratch::new();
    find_path_to_nearest(&snapshot, &from(start), &goals, &mut scratch).unwrap();
    assert_eq!(scratch.effort().opened, 0, "the line is clear");
}

#[test]
fn a_line_to_one_goal_is_not_taken_past_a_cheaper_one() {
    let (map, start, near) = drawn("..S9.G....");
    let snapshot = Snapshot::new(&map, &View::default());
    let goals = [Cell::new(9, 0), near, Cell::new(0, 0)];
    for policy in [StraightLine::IfOptimal, StraightLine::IfUniform] {
        let answer = ask(&snapshot, &from(start).straight_line(policy), &goals).unwrap();
        assert_eq!(end(&answer), Some(Cell::new(0, 0)));
    }
}

#[test]
fn out_of_reach_the_cell_closest_to_any_goal_is_named() {
    let mut named = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let size = if seed % 10 == 0 { 200 } else { 20 };
        let (width, height) = (1 + random.below(size), 1 + random.below(size));
        let map = random_map(&mut random, width, height, Flora::Uniform);
        let costs = [StepCosts::FINE, StepCosts::rectangular(3.0, 1.0).unwrap()][seed as usize % 2];
        let view = View::from(Rules { costs, ..Rules::default() });
        let snapshot = Snapshot::new(&map, &view);
        let start = random.cell(&map);
        let mut goals = some_goals(&mut random, &map, 12);
        goals.retain(|goal| !snapshot.reachable(start, *goal));
        if !snapshot.is_open(start) || !goals.iter().any(|goal| map.contains(*goal)) {
            continue;
        }
        let reached = oracle::distances(&map, &view, start);
        let cells = reached.keys().map(|(x, y)| Cell::new(*x, *y));
        let nearest = cells.min_by_key(|cell| distance(&snapshot, *cell, &goals)).unwrap();
        assert_eq!(ask(&snapshot, &from(start), &goals), Ok(Answer::Unreachable { nearest }), "seed {seed}");
        let answer = ask(&snapshot, &from(start).fallback(Fallback::Nearest), &goals);
        let Ok(Answer::Partial { route, because: Shortfall::Unreachable }) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(route.cells().last(), Some(&nearest), "seed {seed}");
        assert_eq!(Some(&route.cost()), reached.get(&(nearest.x, nearest.y)), "seed {seed}");
        named += 1;
    }
    assert!(named > 50, "{named}");
}

/// Every cell that was settled.
#[derive(Default)]
struct Settled(Vec<Cell>);

impl Recorder for Settled {
    fn closed(&mut self, visit: Visit) {
        self.0.push(visit.cell);
    }
}

#[test]
fn a_budget_leads_to_the_settled_cell_closest_to_any_goal() {
    let (mut cut_short, mut walled_off) = (0, 0);
    for_random_goals(20, 20, |name, snapshot, start, goals| {
        let goals: Arc<[Cell]> = Arc::from(goals);
        let mut random = Random::new(goals.len() as u64);
        let objective = [Objective::Cheapest, Objective::TurnCost(300)][random.below(2) as usize];
        // Named, the heuristic keeps the watched and the unwatched search with the same engine.
        let query = from(start).straight_line(StraightLine::Never).objective(objective);
        let query = query.heuristic(Heuristic::Octile).budget(u64::from(random.below(30)));
        let mut settled = Settled::default();
        let mut search = Search::to_nearest(
            Arc::new(snapshot.clone()),
            query.fallback(Fallback::Nearest),
            Arc::clone(&goals),
            Scratch::new(),
        );
        while search.run_recorded(3, &mut settled) == Progress::Running {}
        let (Ok(Answer::Partial { route, because: Shortfall::OutOfBudget }), _) = search.finish() else {
            return;
        };
        // Goals that were passed over do not count while there are others.
        let can_be_reached: Vec<Cell> =
            goals.iter().copied().filter(|goal| snapshot.reachable(start, *goal)).collect();
        let wanted = if can_be_reached.is_empty() { &goals[..] } else { &can_be_reached[..] };
        let nearest = settled.0.iter().copied().min_by_key(|cell| distance(snapshot, *cell, wanted));
        let nearest = nearest.unwrap_or(start);
        assert_eq!(route.cells().last(), Some(&nearest), "{name}");
        if !can_be_reached.is_empty() {
            assert_eq!(ask(snapshot, &query, &goals), Ok(Answer::OutOfBudget { nearest }), "{name}");
        }
        cut_short += 1;
        walled_off += u32::from(can_be_reached.is_empty());
    });
    assert!(cut_short > 100 && walled_off > 3, "{cut_short} and {walled_off}");
}

#[test]
fn a_budget_that_ends_the_polishing_still_leads_to_the_cheapest_goal() {
    let (map, start, goal) = drawn(
        "S.#......
         ..#..#...
         .....#.G.",
    );
    let snapshot = Snapshot::new(&map, &View::default());
    let goals = [Cell::new(8, 0), goal];
    let query = from(start).objective(Objective::FewestBends { within_percent: 50 });
    let mut scratch = Scratch::new();
    let first = from(start).gear(Gear::Cells);
    let cheapest = find_path_to_nearest(&snapshot, &first, &goals, &mut scratch).unwrap();
    let query = query.budget(scratch.effort().closed + 2);
    let answer = ask(&snapshot, &query.fallback(Fallback::Nearest), &goals).unwrap();
    assert!(matches!(answer, Answer::Partial { because: Shortfall::OutOfBudget, .. }), "{answer:?}");
    assert_eq!(answer.route(), cheapest.route());
    assert_eq!(ask(&snapshot, &query, &goals), Ok(Answer::OutOfBudget { nearest: end(&cheapest).unwrap() }));
}
