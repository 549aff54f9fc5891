//! Uneven ground, with landmarks and without, fresh and after edits: every answer is the cheapest by the oracle, in
//! slices and within a budget, too.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{Flora, ROAD, Random, find, found, random_map, searched, views};

/// What edits do to the ground.
#[derive(Clone, Copy, Debug)]
enum Edits {
    Dearer,
    Walls,
    Anything,
}

fn digit(cost: u32) -> Terrain {
    Terrain::digit(u8::try_from(cost).unwrap()).unwrap()
}

/// Rewrites a small rectangle.
fn edit(random: &mut Random, map: &mut Map, edits: Edits) {
    let (a, b) = (random.cell(map), random.cell(map));
    let (dx, dy) = ((b.x - a.x).clamp(-4, 4), (b.y - a.y).clamp(-4, 4));
    let area = Area::new(a, (a.x + dx, a.y + dy));
    let walls = matches!(edits, Edits::Walls);
    map.edit(area, |_, old| match edits {
        Edits::Anything => [Terrain::WALL, Terrain::OPEN, ROAD, digit(7)][random.below(4) as usize],
        _ if old == Terrain::WALL => old,
        _ if walls && random.below(2) == 0 => Terrain::WALL,
        _ if old == digit(9) => old,
        _ => digit(9),
    })
    .unwrap();
}

/// Asks for paths from one cell to some others.
fn check(random: &mut Random, snapshot: &Snapshot, scratch: &mut Scratch, name: &str) -> u32 {
    let (map, view) = (snapshot.map(), snapshot.view());
    let Some(start) = snapshot.nearest_open(random.cell(map)) else { return 0 };
    let best = oracle::distances(map, view, start);
    let mut compared = 0;
    for _ in 0..6 {
        let goal = random.cell(map);
        let answer = find_path(snapshot, &searched(start, goal), scratch).unwrap();
        let cost = answer.route().map(Route::cost);
        assert_eq!(cost, best.get(&(goal.x, goal.y)).copied(), "{name}, {start} to {goal}");
        if let Some(route) = answer.route() {
            assert_eq!((route.cells().first(), route.cells().last()), (Some(&start), Some(&goal)), "{name}");
            assert_eq!(oracle::walk(map, view, route.cells()).0, route.cost(), "{name}");
            compared += 1;
        }
    }
    compared
}

fn learnt(snapshot: &Snapshot) -> Snapshot {
    let mut learnt = snapshot.clone();
    learnt.learn(&snapshot.survey());
    learnt
}

#[test]
fn every_rule_agrees_with_the_oracle_through_edits() {
    let (mut compared, mut kept, mut lost) = (0, 0, 0);
    let mut scratch = Scratch::new();
    for (rule, view) in views().iter().enumerate() {
        for (seed, edits) in (0_u64..).zip([Edits::Dearer, Edits::Walls, Edits::Anything, Edits::Anything]) {
            let mut random = Random::new(seed * 100 + rule as u64);
            let flora = [Flora::Digits, Flora::Roads][random.below(2) as usize];
            let (width, height) = (2 + random.below(30), 2 + random.below(30));
            let mut map = random_map(&mut random, width, height, flora);
            let bare = Snapshot::new(&map, view);
            let old = bare.survey();
            let mut snapshot = learnt(&bare);
            for round in 0..4 {
                let name =
                    format!("{:?}, {edits:?} {round}, seed {seed}\n{}", view.rules, map.to_text(|_| None));
                compared += check(&mut random, &snapshot, &mut scratch, &name);
                compared += check(&mut random, &Snapshot::new(&map, view), &mut scratch, &name);
                // Landmarks that come late are refused exactly if they would be forgotten.
                let mut late = Snapshot::new(&map, view);
                if late.learn(&old) {
                    compared += check(&mut random, &late, &mut scratch, &name);
                }
                edit(&mut random, &mut map, edits);
                snapshot.refresh(&map);
                match snapshot.is_surveyed() {
                    true => kept += 1,
                    false => lost += 1,
                }
                let never = matches!(edits, Edits::Dearer | Edits::Walls);
                assert!(!never || snapshot.is_surveyed(), "{name}");
            }
        }
    }
    assert!(compared > 3000 && kept > 250 && lost > 100, "{compared}, {kept} and {lost}");
}

#[test]
fn maps_of_many_chunks_agree_with_the_oracle() {
    let mut compared = 0;
    let mut scratch = Scratch::new();
    for (rule, view) in views().iter().enumerate().step_by(5) {
        let mut random = Random::new(rule as u64);
        let map = random_map(&mut random, 150, 131, [Flora::Digits, Flora::Roads][rule % 2]);
        let snapshot = Snapshot::new(&map, view);
        let name = format!("{:?}", view.rules);
        compared += check(&mut random, &snapshot, &mut scratch, &name);
        compared += check(&mut random, &learnt(&snapshot), &mut scratch, &name);
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn any_prices_agree_with_the_oracle() {
    let mut scratch = Scratch::new();
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let largest = [20, 2000, u32::from(u16::MAX) / 2][seed as usize % 3];
        let (x, y) = (1 + random.below(largest) as u16, 1 + random.below(largest) as u16);
        let diagonal = x.max(y) + random.below(u32::from(x.min(y)) + 1) as u16;
        let mut class = Class::default();
        for kind in 1..=5 {
            let factor = (1 + random.below([600, 65_280][seed as usize % 2])) as f32 / 256.0;
            class = class.with(Terrain(kind), Factor::new(factor).unwrap());
        }
        let directions = [Directions::Four, Directions::Eight][random.below(2) as usize];
        let corners = [Corners::BothFree, Corners::OneFree, Corners::Always][random.below(3) as usize];
        let costs = StepCosts::with_axes(x, y, diagonal).unwrap();
        let view = View { rules: Rules { directions, corners, costs }, class, ..View::default() };
        let mut map = random_map(&mut random, 24, 24, Flora::Uniform);
        let area = map.area().unwrap();
        let patch = 1 + random.below(6).cast_signed();
        map.edit(area, |cell, old| match old {
            Terrain::OPEN => Terrain(1 + ((cell.x / patch + 2 * (cell.y / patch)) % 5) as u8),
            other => other,
        })
        .unwrap();
        let snapshot = Snapshot::new(&map, &view);
        let name = format!("seed {seed}, {view:?}");
        check(&mut random, &snapshot, &mut scratch, &name);
        check(&mut random, &learnt(&snapshot), &mut scratch, &name);
    }
}

/// Noise on open ground with some walls, several chunks wide.
fn scene() -> Snapshot {
    let mut random = Random::new(3);
    let mut map = Map::new(140, 100).unwrap();
    let area = map.area().unwrap();
    map.edit(area, |cell, _| match random.below(8) {
        0 => Terrain::WALL,
        _ => digit(1 + (cell.x / 9 + cell.y / 7).unsigned_abs() % 6),
    })
    .unwrap();
    map.fill(Area::new((0, 0), (3, 3)), ROAD).unwrap();
    map.fill(Area::new((130, 90), (139, 99)), ROAD).unwrap();
    let class = Class::default().with(ROAD, Factor::new(0.5).unwrap());
    learnt(&Snapshot::new(&map, &View { class, ..View::default() }))
}

#[test]
fn slices_and_other_searches_in_between_change_nothing() {
    let snapshot = Arc::new(scene());
    let query = searched(Cell::new(1, 2), Cell::new(133, 97));
    let mut scratch = Scratch::new();
    let whole = find_path(&snapshot, &query, &mut scratch).unwrap();
    let effort = scratch.effort();
    assert!(effort.closed > 100 && effort.opened >= effort.closed);
    for slice in [1, 7, 1000] {
        let mut search = Search::new(Arc::clone(&snapshot), query, Scratch::new());
        let mut slices = 1;
        while search.run(slice) == Progress::Running {
            assert!(search.effort().closed <= slices * u64::from(slice));
            slices += 1;
        }
        let (answer, scratch) = search.finish();
        assert_eq!((answer.unwrap(), scratch.effort()), (whole.clone(), effort), "in slices of {slice}");
    }
    // The same scratch, after a search that was given up on another map.
    let other = Arc::new(Snapshot::new(&Map::from_text("123\n321\n222").unwrap(), &View::default()));
    let mut given_up = Search::new(other, searched(Cell::new(0, 0), Cell::new(2, 2)), scratch);
    let _ = given_up.run(2);
    let mut scratch = given_up.cancel();
    assert_eq!(find_path(&snapshot, &query, &mut scratch).unwrap(), whole);
}

#[test]
fn a_budget_leads_to_a_cell_whose_cost_is_final() {
    let snapshot = scene();
    let (start, goal) = (Cell::new(1, 2), Cell::new(133, 97));
    let best = oracle::distances(snapshot.map(), snapshot.view(), start);
    let away = |cell: Cell| f64::from(cell.x - goal.x).hypot(f64::from(cell.y - goal.y));
    let mut last = f64::INFINITY;
    for budget in [1, 10, 100, 400, 1000] {
        let query = searched(start, goal).budget(budget).fallback(Fallback::Nearest);
        let Answer::Partial { route, because: Shortfall::OutOfBudget } = find(&snapshot, &query) else {
            panic!("{budget} is enough");
        };
        let end = *route.cells().last().unwrap();
        assert_eq!(Some(&route.cost()), best.get(&(end.x, end.y)), "budget {budget}");
        assert!(away(end) <= last, "budget {budget}");
        last = away(end);
        let nearest = find(&snapshot, &query.fallback(Fallback::Fail));
        assert_eq!(nearest, Answer::OutOfBudget { nearest: end });
    }
    assert!(last < away(start) / 2.0);
}

#[test]
fn landmarks_spare_most_of_the_search() {
    let led = scene();
    let bare = Snapshot::new(led.map(), led.view());
    let query = searched(Cell::new(1, 2), Cell::new(133, 97));
    let mut scratch = Scratch::new();
    let mut closed = |snapshot: &Snapshot| {
        find_path(snapshot, &query, &mut scratch).unwrap();
        scratch.effort().closed
    };
    let (led, bare) = (closed(&led), closed(&bare));
    assert!(led * 2 < bare, "{led} and {bare}");
}

#[test]
fn a_path_too_dear_for_small_numbers_is_found_all_the_same() {
    let costs = StepCosts::new(u16::MAX, u16::MAX).unwrap();
    let class = Class::default().with(ROAD, Factor::whole(200)).with(Terrain(2), Factor::whole(255));
    let view = View { rules: Rules { costs, ..Rules::default() }, class, ..View::default() };
    let mut map = Map::filled(300, 1, ROAD).unwrap();
    map.fill(Area::new((100, 0), (250, 0)), Terrain(2)).unwrap();
    let snapshot = Snapshot::new(&map, &view);
    let query = searched(Cell::new(0, 0), Cell::new(299, 0));
    let expected = 65_535 * (151 * 255 + 148 * 200);
    assert!(expected > 1 << 32);
    assert_eq!(found(&snapshot, &query).cost(), expected);
    assert_eq!(found(&learnt(&snapshot), &query).cost(), expected);
}

#[test]
fn landmarks_of_another_map_are_refused() {
    let text = "1..2\n3..4\n.##.";
    let map = Map::from_text(text).unwrap();
    let survey = Snapshot::new(&map, &View::default()).survey();
    let learns = |map: &Map, view: &View| Snapshot::new(map, view).learn(&survey);
    assert!(learns(&map, &View::default()));
    assert!(learns(&Map::from_text("1.92\n3#.4\n.##.").unwrap(), &View::default()), "dearer");
    assert!(!learns(&Map::from_text("1..1\n3..4\n.##.").unwrap(), &View::default()), "cheaper");
    assert!(!learns(&Map::from_text("1..2\n3..4\n.#..").unwrap(), &View::default()), "a wall less");
    assert!(!learns(&Map::from_text("1..2\n3..4").unwrap(), &View::default()), "another size");
    let four = Rules { directions: Directions::Four, ..Rules::default() };
    assert!(!learns(&map, &View::from(four)), "another rule");
    let class = Class::default().with(digit(4), Factor::whole(3));
    assert!(!learns(&map, &View { class, ..View::default() }), "another price");
}

#[test]
fn a_burden_keeps_the_landmarks_and_the_cheapest_path() {
    let snapshot = scene();
    let path = found(&snapshot, &searched(Cell::new(1, 2), Cell::new(133, 97)));
    let burdened = snapshot.burdened(&path.cells()[40..60], Factor::whole(30));
    assert!(burdened.is_surveyed());
    let mut random = Random::new(1);
    assert!(check(&mut random, &burdened, &mut Scratch::new(), "burdened") > 0);
}
