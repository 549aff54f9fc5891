//! Many queries to the nearest of several goals: every answer is the oracle's, whichever way was chosen, however it was run, and
//! whatever became of the map before.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::field_edits::for_scripts;
use crate::goals::some_goals;
use crate::oracle;
use crate::support::{FLORA, Flora, Random, random_map, views};

type Numbered = (usize, Result<Answer, QueryError>);

/// Queries from anywhere, open or not, and now and then from outside. Their own goal is nowhere, so that using it would show.
fn crowd(random: &mut Random, map: &Map, count: u32) -> Vec<PathQuery> {
    let mut start = || random.cell(map) + ((random.below(20) == 0).into(), 0);
    (0..count).map(|_| PathQuery::new(start(), (-7, -7))).collect()
}

fn run(mut convoy: Convoy, slice: u32) -> (u64, Option<Box<Field>>, Vec<Numbered>) {
    let mut answers = Vec::new();
    while convoy.run(slice, &mut answers) == Progress::Running {}
    assert_eq!(convoy.run(slice, &mut Vec::new()), Progress::Done);
    (convoy.effort(), convoy.finish().1, answers)
}

/// The cheapest of the goals, by the oracle.
fn least(snapshot: &Snapshot, start: Cell, goals: &[Cell]) -> Option<u64> {
    let reached = oracle::distances(snapshot.map(), snapshot.view(), start);
    let to = |goal: &Cell| reached.get(&(goal.x, goal.y)).copied();
    goals.iter().filter(|goal| oracle::open(snapshot.map(), snapshot.view(), **goal)).filter_map(to).min()
}

/// Every answer must be that of a search alone on ground that was looked at anew, every path legal, and some as cheap as the
/// oracle says. Returns how many paths there are.
fn judge(
    name: &str,
    snapshot: &Snapshot,
    queries: &[PathQuery],
    goals: &[Cell],
    answers: &[Numbered],
) -> usize {
    assert!(answers.iter().map(|(number, _)| *number).eq(0..queries.len()), "{name}");
    let (map, view, mut scratch, mut paths) = (snapshot.map(), snapshot.view(), Scratch::new(), 0);
    let rebuilt = Snapshot::new(map, view);
    for (number, answer) in answers {
        let query = &queries[*number];
        let expected = find_path_to_nearest(&rebuilt, query, goals, &mut scratch);
        match (answer, &expected) {
            (Ok(Answer::Found(route)), Ok(Answer::Found(expected))) => {
                assert_eq!(route.cost(), expected.cost(), "{query:?} {name}");
                let ends = (route.cells().first(), route.cells().last());
                assert!(
                    ends.0 == Some(&query.start()) && ends.1.is_some_and(|end| goals.contains(end)),
                    "{name}"
                );
                assert_eq!(oracle::walk(map, view, route.cells()).0, route.cost(), "{query:?} {name}");
                if number % 101 == 0 {
                    assert_eq!(least(snapshot, query.start(), goals), Some(route.cost()), "{query:?} {name}");
                }
                paths += 1;
            }
            (answer, expected) => assert_eq!(answer, expected, "{query:?} {name}"),
        }
    }
    paths
}

#[test]
fn everybody_gets_the_cheapest_way_to_a_goal_of_their_own() {
    let (mut shared, mut alone, mut paths) = (0, 0, 0);
    for seed in 0..6 {
        for (rule, view) in views().iter().enumerate() {
            for flora in FLORA {
                let mut random = Random::new(seed * 1000 + rule as u64);
                let map = random_map(&mut random, 40, 30, flora);
                let mut snapshot = Snapshot::new(&map, view);
                if seed % 3 == 1 {
                    let survey = snapshot.survey();
                    snapshot.learn(&survey);
                }
                let most = [1, 3, 12, 60][random.below(4) as usize];
                let goals = some_goals(&mut random, &map, most);
                let count = [0, 1, 7, 9, 40, 300][random.below(6) as usize];
                let queries = crowd(&mut random, &map, count);
                let slice = [1, 40, u32::MAX][random.below(3) as usize];
                let (snapshot, to) = (Arc::new(snapshot), Arc::from(&goals[..]));
                let convoy = Convoy::to_nearest(Arc::clone(&snapshot), queries.clone(), to, Scratch::new());
                let (_, field, answers) = run(convoy, slice);
                *if field.is_some() { &mut shared } else { &mut alone } += 1;
                let name = format!("seed {seed}, {:?}, {flora:?}, to {goals:?}", view.rules);
                paths += judge(&name, &snapshot, &queries, &goals, &answers);
            }
        }
    }
    assert!(shared > 50 && alone > 50 && paths > 5000, "both ways were taken: {shared}, {alone}, {paths}");
}

#[test]
fn crowds_that_stand_together_leave_goals_alone_that_are_too_far_away() {
    let (mut shared, mut paths) = (0, 0);
    for (rule, view) in views().iter().enumerate() {
        let flora = FLORA[rule % 3];
        let mut random = Random::new(rule as u64 * 7);
        let map = random_map(&mut random, 130, 110, flora);
        let snapshot = Arc::new(Snapshot::new(&map, view));
        let corner = random.cell(&map);
        let near = |random: &mut Random| corner + (random.below(20) as i32, random.below(20) as i32);
        let queries: Vec<PathQuery> = (0..600).map(|_| PathQuery::new(near(&mut random), (-7, -7))).collect();
        let goals = some_goals(&mut random, &map, 30);
        let to = Arc::from(&goals[..]);
        let convoy = Convoy::to_nearest(Arc::clone(&snapshot), queries.clone(), to, Scratch::new());
        let (_, field, answers) = run(convoy, 100);
        paths += judge(
            &format!("{:?}, {flora:?}, to {goals:?}", view.rules),
            &snapshot,
            &queries,
            &goals,
            &answers,
        );
        let Some(mut field) = field else { continue };
        shared += 1;
        // What it knows besides is right, too, and it can be asked about everything.
        for _ in 0..4 {
            let Some(from) = snapshot.nearest_open(random.cell(&map)) else { continue };
            let best = least(&snapshot, from, &goals);
            assert!(field.cost(from).is_none() || field.cost(from) == best, "{from} {:?}", view.rules);
            let answer = field.answer(from, RouteShape::Cells).unwrap();
            assert_eq!(answer.route().map(Route::cost), best, "{from} {:?}", view.rules);
        }
    }
    assert!(shared > 15 && paths > 3000, "{shared} {paths}");

    let snapshot = Arc::new(Snapshot::new(&Map::new(400, 400).unwrap(), &View::default()));
    let starts: Vec<Cell> = (0..100).map(|i| Cell::new(20 + i % 10, 200 + i / 10)).collect();
    let near = Cell::new(60, 205);
    let far = (0..50).map(|i| Cell::new(399 - i, 8 * i));
    let goals: Vec<Cell> = far.chain([near]).collect();
    let closed = |goals: &[Cell]| {
        let mut field = Field::to_nearest(Arc::clone(&snapshot), goals, &starts, Scratch::new());
        while field.run(100) == Progress::Running {}
        (field.effort().closed, field.bytes())
    };
    assert_eq!(closed(&goals).0, closed(&[near]).0);
    assert!(closed(&goals).1 < closed(&[near]).1 + 2000);
}

#[test]
fn neither_slices_nor_the_order_of_goals_change_an_answer() {
    let (mut shared, mut alone, mut scratch) = (0, 0, Scratch::new());
    for seed in 0..24 {
        let mut random = Random::new(seed * 17 + 3);
        let map = random_map(&mut random, 120, 90, FLORA[seed as usize % 3]);
        let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
        let goals = some_goals(&mut random, &map, 12);
        let count = [12, 30, 60, 150][random.below(4) as usize];
        let queries = crowd(&mut random, &map, count);
        let whole = |goals: &[Cell], slice, scratch| {
            let convoy =
                Convoy::to_nearest(Arc::clone(&snapshot), queries.clone(), Arc::from(goals), scratch);
            run(convoy, slice)
        };
        let (effort, field, answers) = whole(&goals, u32::MAX, core::mem::take(&mut scratch));
        let has_field = field.is_some();
        *if has_field { &mut shared } else { &mut alone } += 1;
        let backwards: Vec<Cell> = goals.iter().rev().chain(&goals).copied().collect();
        for (goals, slice) in [(&goals, 1), (&goals, 7), (&goals, 100), (&backwards, u32::MAX)] {
            let (again, field, others) = whole(goals, slice, Scratch::new());
            assert_eq!((again, field.is_some()), (effort, has_field), "slices of {slice}, seed {seed}");
            let named_first = |answer: &Numbered| matches!(answer.1, Err(QueryError::GoalOutside(_)));
            let differs = |pair: &(&Numbered, &Numbered)| pair.0 != pair.1 && !named_first(pair.0);
            assert_eq!(answers.iter().zip(&others).find(differs), None, "slices of {slice}, seed {seed}");
        }
        scratch = field.map_or_else(Scratch::new, |field| field.finish());
    }
    assert!(shared > 5 && alone > 2, "{shared} {alone}");
}

#[test]
fn while_the_map_changes_everybody_gets_the_cheapest_way_and_old_fields_are_not_used() {
    let (mut with_field, mut stale, mut paths, mut kept) = (0, 0, 0, None::<(Box<Field>, Vec<Cell>)>);
    for_scripts(5, |name, map, snapshot, random| {
        if let Some((field, goals)) = kept.take() {
            let is_same = field.snapshot().is_of_same_ground(snapshot);
            let queries = crowd(random, map, 3);
            let to = Arc::from(&goals[..]);
            let again = Convoy::to_nearest(Arc::clone(snapshot), queries.clone(), to, Scratch::new());
            let again = again.with_field(field);
            assert_eq!(again.has_field(), is_same, "{name}");
            stale += u32::from(!is_same);
            judge(name, snapshot, &queries, &goals, &run(again, 50).2);
        }
        let goals = some_goals(random, map, 10);
        let queries = crowd(random, map, 300);
        let to = Arc::from(&goals[..]);
        let convoy = Convoy::to_nearest(Arc::clone(snapshot), queries.clone(), to, Scratch::new());
        let (_, field, answers) = run(convoy, 300);
        paths += judge(name, snapshot, &queries, &goals, &answers);
        with_field += u32::from(field.is_some());
        kept = field.map(|field| (field, goals));
    });
    assert!(with_field > 20 && stale > 20 && paths > 5000, "{with_field}, {stale}, {paths}");
}

#[test]
fn memory_does_not_grow_with_every_crowd() {
    let map = random_map(&mut Random::new(3), 200, 200, Flora::Uniform);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let mut random = Random::new(5);
    let (mut scratch, mut most) = (Scratch::new(), 0);
    for round in 0..60 {
        let goals: Vec<Cell> = (0..20).map(|_| random.cell(&map)).collect();
        let queries = crowd(&mut random, &map, 1000);
        let convoy = Convoy::to_nearest(Arc::clone(&snapshot), queries, goals.into(), scratch);
        let field = run(convoy, 1000).1.expect("a crowd makes one");
        if round == 30 {
            most = field.bytes();
        }
        assert!(round <= 30 || field.bytes() <= most * 5 / 4, "{} bytes, {most} before", field.bytes());
        scratch = field.finish();
    }
}

#[test]
fn one_goal_is_a_set_of_one() {
    for seed in 0..20 {
        let mut random = Random::new(seed * 5);
        let map = random_map(&mut random, 100, 90, FLORA[seed as usize % 3]);
        let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
        let goal = random.cell(&map);
        let queries: Vec<PathQuery> =
            crowd(&mut random, &map, 400).iter().map(|query| PathQuery::new(query.start(), goal)).collect();
        let one = run(Convoy::new(Arc::clone(&snapshot), queries.clone(), Scratch::new()), 1000);
        let set = Convoy::to_nearest(Arc::clone(&snapshot), queries, [goal].into(), Scratch::new());
        let set = run(set, 1000);
        assert_eq!((one.0, one.1.is_some(), one.2), (set.0, set.1.is_some(), set.2), "seed {seed}");
    }
}

#[test]
fn goals_that_are_none_are_those_of_a_search_alone() {
    let map = Map::from_text(
        "...#.
         ...#.
         ...##",
    )
    .unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let (wall, behind, outside) = (Cell::new(3, 1), Cell::new(4, 0), Cell::new(9, 9));
    let starts = [(0, 0), (2, 2), (4, 1), (3, 0), (7, 7)];
    let queries = starts.map(|start| PathQuery::new(start, start)).repeat(20);
    let sets: [&[Cell]; 6] =
        [&[], &[outside], &[outside, wall], &[wall, behind], &[behind, behind, outside], &[wall]];
    for goals in sets {
        for fallback in [Fallback::Fail, Fallback::Nearest] {
            let queries: Vec<PathQuery> = queries.iter().map(|query| query.fallback(fallback)).collect();
            let to = Arc::from(goals);
            let convoy = Convoy::to_nearest(Arc::clone(&snapshot), queries.clone(), to, Scratch::new());
            for (number, answer) in run(convoy, 10).2 {
                let alone = find_path_to_nearest(&snapshot, &queries[number], goals, &mut Scratch::new());
                assert_eq!(answer, alone, "{:?} to {goals:?}", queries[number]);
            }
        }
    }
}

#[test]
fn whoever_asks_for_more_than_the_cheapest_path_is_answered_alone() {
    let map = random_map(&mut Random::new(4), 100, 100, Flora::Digits);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let mut random = Random::new(8);
    let goals = some_goals(&mut random, &map, 20);
    let mut queries = crowd(&mut random, &map, 2000);
    for (number, query) in queries.iter_mut().enumerate() {
        *query = match number % 50 {
            0 => query.budget(5),
            1 => query.objective(Objective::TurnCost(500)),
            2 => query.weight(Weight::new(3.0).unwrap()).shape(RouteShape::Corners),
            _ => *query,
        };
    }
    let to = Arc::from(&goals[..]);
    let convoy = Convoy::to_nearest(Arc::clone(&snapshot), queries.clone(), to, Scratch::new());
    let (_, field, answers) = run(convoy, 500);
    assert!(field.is_some());
    for (number, answer) in answers.iter().filter(|(number, _)| number % 50 < 3) {
        let alone = find_path_to_nearest(&snapshot, &queries[*number], &goals, &mut Scratch::new());
        assert_eq!(*answer, alone);
    }
}

#[test]
fn those_who_come_later_use_the_field_while_goals_and_ground_are_the_same() {
    let map = random_map(&mut Random::new(3), 200, 200, Flora::Uniform);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let open = |x, y| snapshot.nearest_open(Cell::new(x, y)).unwrap();
    let goals = [open(190, 190), open(10, 60), open(100, 100), Cell::new(-3, 4)];
    let queries = crowd(&mut Random::new(5), &map, 2000);
    let field = |snapshot: &Arc<Snapshot>| {
        let convoy = Convoy::to_nearest(Arc::clone(snapshot), queries.clone(), goals.into(), Scratch::new());
        run(convoy, 1000).1.expect("a crowd makes one")
    };
    let late = crowd(&mut Random::new(6), &map, 50);
    let with = |snapshot: &Arc<Snapshot>, goals: &[Cell], field| {
        Convoy::to_nearest(Arc::clone(snapshot), late.clone(), goals.into(), Scratch::new()).with_field(field)
    };
    // In another order, one twice, and without the one that does not count.
    let same = [goals[2], goals[0], goals[1], goals[0]];
    let convoy = with(&snapshot, &same, field(&snapshot));
    assert!(convoy.has_field() && convoy.effort() == 0);
    let (_, kept, answers) = run(convoy, 10);
    assert!(judge("late", &snapshot, &late, &same, &answers) > 30);
    let kept = kept.expect("it is handed on");
    assert!(!with(&snapshot, &goals[..2], kept).has_field(), "one less");
    let more = [goals[0], goals[1], goals[2], open(5, 190)];
    assert!(!with(&snapshot, &more, field(&snapshot)).has_field(), "one more");
    let other = Arc::new(Snapshot::new(&map, &View::default()));
    assert!(!with(&other, &goals, field(&snapshot)).has_field(), "other ground");
    let to_one = vec![PathQuery::new((0, 0), goals[0])];
    let to_one = Convoy::new(Arc::clone(&snapshot), to_one, Scratch::new()).with_field(field(&snapshot));
    assert!(!to_one.has_field(), "one goal");
}

#[test]
fn where_costs_are_too_large_for_the_fast_field_goals_that_wait_are_not_forgotten() {
    // A winding way, of which the fast field can count some 128 steps, and goals far apart along it.
    let mut map = Map::new(90, 40).unwrap();
    for i in 0..22 {
        let gap = if i % 2 == 0 { 0 } else { 39 };
        let wall = Area::new((i * 4 + 2, 0), (i * 4 + 2, 39));
        map.edit(wall, |cell, old| if cell.y == gap { old } else { Terrain::WALL }).unwrap();
    }
    let class = Class::default().with(Terrain::OPEN, Factor::whole(255));
    let rules = Rules { costs: StepCosts::new(u16::MAX, u16::MAX).unwrap(), ..Rules::default() };
    let view = View { rules, class, ..View::default() };
    let snapshot = Arc::new(Snapshot::new(&map, &view));
    let goals = [Cell::new(0, 20), Cell::new(88, 3), Cell::new(44, 30)];
    for starts in [&[Cell::new(1, 0), Cell::new(1, 5)][..], &[Cell::new(64, 20), Cell::new(65, 21)]] {
        let mut field = Field::to_nearest(Arc::clone(&snapshot), &goals, starts, Scratch::new());
        while field.run(20) == Progress::Running {}
        for cell in map.area().unwrap().cells().filter(|cell| snapshot.is_open(*cell)).step_by(13) {
            let route = field.answer(cell, RouteShape::Cells).unwrap().into_route().unwrap();
            assert_eq!(Some(route.cost()), least(&snapshot, cell, &goals), "{cell}");
            assert_eq!(oracle::walk(&map, &view, route.cells()).0, route.cost(), "{cell}");
        }
    }
}
