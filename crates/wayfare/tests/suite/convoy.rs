//! Many queries with one goal: every answer is the oracle's, whichever way was chosen and however it was run.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Flora, Random, random_map, views};

type Numbered = (usize, Result<Answer, QueryError>);

fn answers(mut convoy: Convoy, slice: u32) -> (Vec<Numbered>, Option<Box<Field>>) {
    let mut answers = Vec::new();
    while convoy.run(slice, &mut answers) == Progress::Running {}
    assert_eq!(convoy.run(slice, &mut Vec::new()), Progress::Done);
    (answers, convoy.finish().1)
}

/// Cells of the map, open or not, and some outside.
fn crowd(random: &mut Random, map: &Map, count: u32, goal: Cell) -> Vec<PathQuery> {
    let mut start = || random.cell(map) + ((random.below(20) == 0).into(), 0);
    (0..count).map(|_| PathQuery::new(start(), goal)).collect()
}

#[test]
fn everybody_gets_the_answer_of_a_search_alone() {
    let (mut shared, mut alone) = (0, 0);
    for seed in 0..12 {
        for view in views() {
            for flora in FLORA {
                let mut random = Random::new(seed * 31);
                let map = random_map(&mut random, 40, 30, flora);
                let snapshot = Arc::new(Snapshot::new(&map, &view));
                let goal = random.cell(&map);
                let count = [0, 1, 7, 8, 9, 300][random.below(6) as usize];
                let queries = crowd(&mut random, &map, count, goal);
                let slice = [1, 40, u32::MAX][random.below(3) as usize];
                let convoy = Convoy::new(Arc::clone(&snapshot), queries.clone(), Scratch::new());
                let (answers, field) = answers(convoy, slice);
                *if field.is_some() { &mut shared } else { &mut alone } += 1;
                assert!(answers.iter().map(|(number, _)| *number).eq(0..queries.len()));
                let mut scratch = Scratch::new();
                for (number, answer) in answers {
                    let expected = find_path(&snapshot, &queries[number], &mut scratch);
                    match (answer, expected) {
                        (Ok(Answer::Found(route)), Ok(Answer::Found(expected))) => {
                            assert_eq!(route.cost(), expected.cost());
                            let (cost, _) = oracle::walk(&map, &view, route.cells());
                            assert_eq!(cost, route.cost(), "{:?}", queries[number]);
                        }
                        (answer, expected) => assert_eq!(answer, expected),
                    }
                }
            }
        }
    }
    assert!(shared > 20 && alone > 20, "both ways were taken: {shared}, {alone}");
}

#[test]
fn a_few_are_searched_for_alone_and_a_crowd_together() {
    let map = random_map(&mut Random::new(3), 200, 200, Flora::Uniform);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let goal = snapshot.nearest_open(Cell::new(190, 190)).unwrap();
    let chosen = |count| {
        let queries = crowd(&mut Random::new(5), &map, count, goal);
        answers(Convoy::new(Arc::clone(&snapshot), queries, Scratch::new()), 1000).1.is_some()
    };
    assert_eq!([8, 12, 2000, 10_000].map(chosen), [false, false, true, true]);
}

#[test]
fn those_who_come_later_use_the_field_of_the_first() {
    let map = random_map(&mut Random::new(3), 200, 200, Flora::Uniform);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let goal = snapshot.nearest_open(Cell::new(190, 190)).unwrap();
    let queries = crowd(&mut Random::new(5), &map, 2000, goal);
    let first = Convoy::new(Arc::clone(&snapshot), queries, Scratch::new());
    let (_, field) = answers(first, 1000);
    let late = crowd(&mut Random::new(6), &map, 50, goal);
    let mut convoy = Convoy::new(Arc::clone(&snapshot), late.clone(), Scratch::new());
    convoy = convoy.with_field(field.expect("a crowd makes one"));
    assert!(convoy.has_field() && convoy.effort() == 0);
    let (found, field) = answers(convoy, 10);
    for (number, answer) in found {
        let expected = find_path(&snapshot, &late[number], &mut Scratch::new());
        let cost = |answer: Result<Answer, QueryError>| answer.ok()?.route().map(Route::cost);
        assert_eq!(cost(answer), cost(expected));
    }
    // Another goal, or other ground, is another matter.
    let field = field.expect("it is handed on");
    let elsewhere = vec![PathQuery::new(goal, (0, 0))];
    let other = Convoy::new(Arc::clone(&snapshot), elsewhere, Scratch::new()).with_field(field);
    assert!(!other.has_field());
    let (_, field) = answers(
        Convoy::new(Arc::clone(&snapshot), crowd(&mut Random::new(5), &map, 2000, goal), Scratch::new()),
        1000,
    );
    let edited = Arc::new(Snapshot::new(&map, &View::default()));
    let other = Convoy::new(edited, late, Scratch::new()).with_field(field.expect("as before"));
    assert!(!other.has_field());
}

#[test]
fn whoever_asks_for_something_else_is_answered_alone() {
    let map = Map::new(60, 60).unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let mut queries = crowd(&mut Random::new(5), &map, 3000, Cell::new(30, 30));
    queries[100] = PathQuery::new((0, 0), (59, 0));
    queries[200] =
        PathQuery::new((0, 59), (30, 30)).gear(Gear::Cells).straight_line(StraightLine::Never).budget(3);
    queries[300] = PathQuery::new((0, 30), (30, 30)).shape(RouteShape::Corners);
    let (answers, _) = answers(Convoy::new(snapshot, queries, Scratch::new()), 500);
    let cells = |number: usize| answers[number].1.clone().unwrap().into_route().unwrap().cells().to_vec();
    assert_eq!(cells(100).last(), Some(&Cell::new(59, 0)));
    assert!(matches!(answers[200].1, Ok(Answer::OutOfBudget { .. })));
    assert_eq!(cells(300), [Cell::new(0, 30), Cell::new(30, 30)]);
}

#[test]
fn what_is_chosen_does_not_depend_on_how_it_is_run() {
    let (mut shared, mut alone) = (0, 0);
    for seed in 0..24 {
        let mut random = Random::new(seed * 17);
        let map = random_map(&mut random, 120, 90, FLORA[seed as usize % 3]);
        let mut snapshot = Snapshot::new(&map, &View::default());
        if seed % 2 == 0 {
            let survey = snapshot.survey();
            snapshot.learn(&survey);
        }
        let snapshot = Arc::new(snapshot);
        let goal = random.cell(&map);
        let count = [12, 30, 60, 150][random.below(4) as usize];
        let queries = crowd(&mut random, &map, count, goal);
        let run = |slice| {
            let mut convoy = Convoy::new(Arc::clone(&snapshot), queries.clone(), Scratch::new());
            let mut answers = Vec::new();
            while convoy.run(slice, &mut answers) == Progress::Running {}
            let effort = convoy.effort();
            (effort, convoy.finish().1.is_some(), answers)
        };
        let whole = run(u32::MAX);
        *if whole.1 { &mut shared } else { &mut alone } += 1;
        for slice in [1, 7, 100] {
            assert_eq!(run(slice), whole, "{count} in slices of {slice}, seed {seed}");
        }
    }
    assert!(shared > 5 && alone > 5, "{shared} {alone}");
}

#[test]
fn a_field_is_made_as_soon_as_one_search_is_dear_enough() {
    // A maze, in which the first search would see most of it, and a crowd in its last corner.
    let mut map = Map::new(300, 300).unwrap();
    for i in 0..74 {
        let gap = if i % 2 == 0 { 0 } else { 299 };
        let wall = Area::new((i * 4 + 2, 0), (i * 4 + 2, 299));
        map.edit(wall, |cell, old| if cell.y == gap { old } else { Terrain::WALL }).unwrap();
    }
    map.edit(
        map.area().unwrap(),
        |cell, old| if cell.x % 4 == 1 && cell.y % 4 == 2 { Terrain::WALL } else { old },
    )
    .unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let queries: Vec<PathQuery> = (0..500).map(|i| PathQuery::new((299, i % 150), (0, 299))).collect();
    let mut scratch = Scratch::new();
    assert!(find_path(&snapshot, &queries[0], &mut scratch).unwrap().route().is_some());
    let one = scratch.effort().closed;
    let mut convoy = Convoy::new(Arc::clone(&snapshot), queries, Scratch::new());
    let mut answers = Vec::new();
    while !convoy.has_field() && convoy.run(16, &mut answers) == Progress::Running {}
    assert!(convoy.has_field() && answers.is_empty());
    assert!(convoy.effort() < one / 4, "{} of {one} nodes", convoy.effort());
}
