//! Fields and convoys while the map changes: after every edit they say what a rebuild says, and the oracle, whether the snapshot
//! was refreshed, surveyed, or both.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Flora, Random, random_map, views};

/// Walls are built and torn down, large and small, and prices change where there are any.
fn edit(map: &mut Map, random: &mut Random, flora: Flora) {
    let corner = random.cell(map);
    let size = [(0, 0), (1, 2), (40, 0), (0, 50), (25, 30)][random.below(5) as usize];
    let far = Cell::new(map.width() as i32 - 1, map.height() as i32 - 1);
    let end = Cell::new((corner.x + size.0).min(far.x), (corner.y + size.1).min(far.y));
    let terrain = match (flora, random.below(4)) {
        (_, 0 | 1) => Terrain::WALL,
        (Flora::Uniform, _) | (_, 2) => Terrain::OPEN,
        _ => Terrain::digit(1 + random.below(9) as u8).unwrap(),
    };
    map.fill(Area::new(corner, end), terrain).unwrap();
}

/// Maps of two by two chunks, under some rules, each with a script of edits. The first edit of each is none.
pub(crate) fn for_scripts(edits: u32, mut test: impl FnMut(&str, &Map, &Arc<Snapshot>, &mut Random)) {
    for (rule, view) in views().iter().enumerate().step_by(5) {
        for flora in FLORA {
            let mut random = Random::new(rule as u64 * 53);
            let mut map = random_map(&mut random, 100, 80, flora);
            let mut snapshot = Arc::new(Snapshot::new(&map, view));
            for step in 0..edits {
                let name = format!("{:?}, {flora:?}, edit {step}", view.rules);
                test(&name, &map, &snapshot, &mut random);
                edit(&mut map, &mut random, flora);
                let mut next = Snapshot::clone(&snapshot);
                next.refresh(&map);
                if step % 2 == 0 {
                    let survey = next.survey();
                    next.learn(&survey);
                }
                snapshot = Arc::new(next);
            }
        }
    }
}

#[test]
fn a_field_over_edited_ground_is_that_over_a_rebuild_and_the_oracle_s() {
    let (mut compared, mut scratch) = (0, Scratch::new());
    for_scripts(7, |name, map, snapshot, random| {
        let goals: Vec<Cell> = (0..1 + random.below(3)).map(|_| random.cell(map)).collect();
        let mut field = Field::to(Arc::clone(snapshot), &goals, core::mem::take(&mut scratch));
        while field.run(500) == Progress::Running {}
        let rebuilt = Arc::new(Snapshot::new(map, snapshot.view()));
        let mut afresh = Field::to(rebuilt, &goals, Scratch::new());
        assert_eq!(afresh.run(u32::MAX), Progress::Done);
        for cell in map.area().unwrap().cells() {
            assert_eq!(field.cost(cell), afresh.cost(cell), "{cell} {name}");
        }
        for _ in 0..2 {
            let Some(from) = snapshot.nearest_open(random.cell(map)) else { continue };
            let reached = oracle::distances(map, snapshot.view(), from);
            let open = goals.iter().filter(|goal| oracle::open(map, snapshot.view(), **goal));
            let least = open.filter_map(|goal| reached.get(&(goal.x, goal.y)).copied()).min();
            assert_eq!(field.cost(from), least, "{from} {name}");
            if let Some(route) = field.answer(from, RouteShape::Cells).unwrap().into_route() {
                let walked = oracle::walk(map, snapshot.view(), route.cells()).0;
                assert_eq!(Some(walked), least, "{from} {name}");
                compared += 1;
            }
        }
        scratch = field.finish();
    });
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_convoy_over_edited_and_surveyed_ground_gives_everybody_their_cheapest_path() {
    let (mut with_field, mut stale, mut kept) = (0, 0, None::<Box<Field>>);
    for_scripts(5, |name, map, snapshot, random| {
        let goal = random.cell(map);
        let queries: Vec<PathQuery> = (0..600).map(|_| PathQuery::new(random.cell(map), goal)).collect();
        let mut convoy = Convoy::new(Arc::clone(snapshot), queries.clone(), Scratch::new());
        if let Some(field) = kept.take() {
            let again = vec![PathQuery::new((0, 0), field.goals()[0])];
            let is_same = field.snapshot().is_of_same_ground(snapshot);
            let again = Convoy::new(Arc::clone(snapshot), again, Scratch::new()).with_field(field);
            assert_eq!(again.has_field(), is_same, "{name}");
            stale += u32::from(!is_same);
        }
        let mut answers = Vec::new();
        while convoy.run(300, &mut answers) == Progress::Running {}
        kept = convoy.finish().1;
        with_field += u32::from(kept.is_some());
        let rebuilt = Snapshot::new(map, snapshot.view());
        let mut scratch = Scratch::new();
        for (number, answer) in answers {
            let expected = find_path(&rebuilt, &queries[number].gear(Gear::Cells), &mut scratch);
            match (answer, expected) {
                (Ok(Answer::Found(route)), Ok(Answer::Found(expected))) => {
                    assert_eq!(route.cost(), expected.cost(), "{:?} {name}", queries[number]);
                    let walked = oracle::walk(map, snapshot.view(), route.cells()).0;
                    assert_eq!(walked, expected.cost(), "{:?} {name}", queries[number]);
                }
                (answer, expected) => assert_eq!(answer, expected, "{name}"),
            }
        }
    });
    assert!(with_field > 20 && stale > 20, "{with_field}, {stale}");
}

#[test]
fn a_survey_does_not_take_a_field_away() {
    let map = random_map(&mut Random::new(3), 200, 200, Flora::Uniform);
    let bare = Arc::new(Snapshot::new(&map, &View::default()));
    let goal = bare.nearest_open(Cell::new(190, 190)).unwrap();
    let mut random = Random::new(5);
    let mut crowd = |count: u32| -> Vec<PathQuery> {
        (0..count).map(|_| PathQuery::new(random.cell(&map), goal)).collect()
    };
    let mut first = Convoy::new(Arc::clone(&bare), crowd(2000), Scratch::new());
    while first.run(1000, &mut Vec::new()) == Progress::Running {}
    let field = first.finish().1.expect("a crowd makes one");
    let mut surveyed = Snapshot::clone(&bare);
    assert!(surveyed.learn(&bare.survey()) && surveyed.is_of_same_ground(&bare));
    let surveyed = Arc::new(surveyed);
    let late = crowd(50);
    let mut convoy = Convoy::new(Arc::clone(&surveyed), late.clone(), Scratch::new()).with_field(field);
    assert!(convoy.has_field());
    let mut answers = Vec::new();
    while convoy.run(1000, &mut answers) == Progress::Running {}
    for (number, answer) in answers {
        let cost = |answer: Result<Answer, QueryError>| answer.ok()?.route().map(Route::cost);
        let alone = find_path(&surveyed, &late[number], &mut Scratch::new());
        assert_eq!(cost(answer), cost(alone));
    }
}

#[test]
fn a_field_takes_the_memory_that_was_lent() {
    let map = random_map(&mut Random::new(3), 200, 200, Flora::Uniform);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let mut random = Random::new(5);
    let (mut scratch, mut most) = (Scratch::new(), 0);
    for round in 0..100 {
        let goal = snapshot.nearest_open(random.cell(&map)).unwrap();
        let queries = (0..1000).map(|_| PathQuery::new(random.cell(&map), goal)).collect();
        let before = scratch.bytes();
        let mut convoy = Convoy::new(Arc::clone(&snapshot), queries, scratch);
        while convoy.run(1000, &mut Vec::new()) == Progress::Running {}
        let (rest, field) = convoy.finish();
        let field = field.expect("a crowd makes one");
        assert_eq!(rest.bytes(), 0, "there is no second one");
        assert!(field.bytes() >= before.max(200 * 200), "{} bytes", field.bytes());
        if round == 50 {
            most = field.bytes();
        }
        assert!(round <= 50 || field.bytes() <= most * 5 / 4, "{} bytes, {most} before", field.bytes());
        scratch = field.finish();
    }
}

#[test]
fn where_costs_are_too_large_for_the_fast_field_it_goes_on_all_the_same() {
    // A winding way, of which the fast field can count some 128 steps.
    let mut map = Map::new(90, 40).unwrap();
    for i in 0..22 {
        let gap = if i % 2 == 0 { 0 } else { 39 };
        let wall = Area::new((i * 4 + 2, 0), (i * 4 + 2, 39));
        map.edit(wall, |cell, old| if cell.y == gap { old } else { Terrain::WALL }).unwrap();
    }
    let class = Class::default().with(Terrain::OPEN, Factor::whole(255));
    for directions in [Directions::Four, Directions::Eight] {
        let costs = StepCosts::new(u16::MAX, u16::MAX).unwrap();
        let rules = Rules { directions, costs, ..Rules::default() };
        let view = View { rules, class: class.clone(), ..View::default() };
        let snapshot = Arc::new(Snapshot::new(&map, &view));
        let goal = Cell::new(0, 20);
        let best = oracle::distances(&map, &view, goal);
        assert!(best.values().max() > Some(&(4 << 31)), "far beyond");
        let near: Vec<Cell> = (0..20).map(|y| Cell::new(1, y)).collect();
        let far: Vec<Cell> = (0..9).map(|y| Cell::new(89, y)).collect();
        let mut scratch = Scratch::new();
        for starts in [&near[..], &far, &[near[0], far[0]], &[]] {
            let mut field = match starts {
                [] => Field::to(Arc::clone(&snapshot), &[goal], scratch),
                starts => Field::new(Arc::clone(&snapshot), goal, starts, scratch),
            };
            let mut known = 0;
            while field.run(50) == Progress::Running {
                let now = best.keys().filter(|(x, y)| field.cost(Cell::new(*x, *y)).is_some()).count();
                assert!(now >= known, "what is known stays known");
                known = now;
            }
            let named = if starts.is_empty() { best.len() } else { starts.len() };
            let reached = best.keys().filter(|(x, y)| field.cost(Cell::new(*x, *y)).is_some()).count();
            assert!(reached >= named, "{reached}");
            for ((x, y), cost) in best.iter().step_by(7) {
                let from = Cell::new(*x, *y);
                let route = field.answer(from, RouteShape::Cells).unwrap().into_route().unwrap();
                assert_eq!((route.cost(), field.cost(from)), (*cost, Some(*cost)), "{from}");
                assert_eq!(oracle::walk(&map, &view, route.cells()).0, *cost, "{from}");
                let Some(direction) = field.direction(from) else { continue };
                assert_eq!(from.step(direction), route.cells()[1], "{from}");
            }
            scratch = field.finish();
        }
        let within = 1 << 33;
        let mut field = Field::to_within(Arc::clone(&snapshot), &[goal], within, scratch);
        while field.run(50) == Progress::Running {}
        for ((x, y), cost) in best.iter().filter(|(_, cost)| **cost <= within) {
            assert_eq!(field.cost(Cell::new(*x, *y)), Some(*cost));
        }
    }
}
