//! What becomes of a unit that gets no farther: the ladder, the bay, and the search around those who stand.

use glam::Vec2;
use wayfare::avoid::{Advice, Body, Course, Disc, Rung, Stance, bay};
use wayfare::prelude::*;

use crate::avoid::{DT, Scene, at, idle, locked};
use crate::support::{found, searched};

/// Everything a unit is told in so many steps, and the rungs it is on, without repetitions.
fn climb(
    scene: &mut Scene,
    unit: usize,
    ground: &[Footing<'_>],
    steps: u32,
) -> (Vec<(u32, Advice)>, Vec<Rung>) {
    let (mut told, mut rungs) = (Vec::new(), Vec::new());
    for step in 0..steps {
        let outcome = scene.step(ground)[unit];
        if outcome.advice != Advice::GoOn {
            told.push((step, outcome.advice));
        }
        rungs.push(outcome.memory.rung());
    }
    rungs.dedup();
    (told, rungs)
}

fn corridor() -> Snapshot {
    Snapshot::new(&Map::from_text("############\n............\n############").unwrap(), &View::default())
}

#[test]
fn before_one_who_never_moves_each_rung_is_climbed_once() {
    let snapshot = corridor();
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let mut scene = Scene::default();
    let unit = scene.add(Body { ground: Some(0), ..at(1, 1.5, 1.5) }, Some(Vec2::new(11.5, 1.5)));
    scene.add(locked(Body { ground: Some(0), ..at(2, 5.5, 1.5) }), None);
    let (told, rungs) = climb(&mut scene, unit, &ground, 200);
    let advice: Vec<Advice> = told.iter().map(|(_, advice)| *advice).collect();
    assert_eq!(advice, [Advice::PlanAround, Advice::Replan, Advice::Stuck]);
    assert_eq!(rungs, [Rung::Free, Rung::Waits, Rung::PlansAround, Rung::Replans, Rung::Stuck]);
    // It takes about a second to get there, and no more than another to see.
    assert!(told[0].0 < 40, "{told:?}");
    // Later it tries all of it again, once more in this order.
    let (told, _) = climb(&mut scene, unit, &ground, 280);
    let advice: Vec<Advice> = told.iter().map(|(_, advice)| *advice).collect();
    assert_eq!(advice, [Advice::PlanAround, Advice::Replan, Advice::Stuck]);
    // When the way is free, it goes on, and nothing is left of it.
    scene.bodies.truncate(1);
    scene.goals.truncate(1);
    let (told, rungs) = climb(&mut scene, unit, &ground, 60);
    assert_eq!((told, rungs.last()), (vec![], Some(&Rung::Free)));
    assert!(scene.bodies[unit].position.x > 11.3);
}

#[test]
fn who_gets_on_is_told_nothing_however_slow() {
    // On ground where it is slow, or in step with others: far below what it could do.
    for (speed, pace) in [(3.0, 3.0), (3.0, 0.2), (60.0, 1.5)] {
        let mut scene = Scene::default();
        let unit = scene.add(Body { speed, ..at(1, 0.0, 0.0) }, None);
        for _ in 0..100 {
            let end = Vec2::new(1000.0, 0.0);
            let to_go = end.distance(scene.bodies[unit].position);
            scene.bodies[unit].course = Some(Course { end, to_go });
            scene.bodies[unit].wanted = Vec2::new(pace, 0.0);
            let outcome = scene.step(&[])[unit];
            assert_eq!((outcome.advice, outcome.memory.rung()), (Advice::GoOn, Rung::Free), "{speed} {pace}");
        }
        assert!((scene.bodies[unit].position.x - 100.0 * DT * pace).abs() < 0.05 * pace);
    }
}

#[test]
fn who_wants_nothing_or_has_no_way_climbs_nothing() {
    let mut scene = Scene::default();
    // One waits for something, one is steered by hand, one has a way to nowhere.
    let course = Some(Course { end: Vec2::X * 9.0, to_go: 9.0 });
    scene.add(Body { course, ..at(1, 0.0, 0.0) }, None);
    scene.add(Body { wanted: Vec2::X, ..at(2, 0.0, 5.0) }, None);
    scene.add(locked(at(3, 0.8, 5.0)), None);
    let course = Some(Course { end: Vec2::NAN, to_go: f32::NAN });
    scene.add(Body { course, wanted: Vec2::X, speed: 0.0, ..at(4, 0.0, 10.0) }, None);
    for _ in 0..300 {
        for outcome in scene.step(&[]) {
            assert_eq!((outcome.advice, outcome.memory.rung()), (Advice::GoOn, Rung::Free));
        }
    }
}

#[test]
fn a_pause_does_not_climb() {
    let snapshot = corridor();
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let mut scene = Scene::default();
    let unit = scene.add(Body { ground: Some(0), ..at(1, 4.4, 1.5) }, Some(Vec2::new(11.5, 1.5)));
    scene.add(locked(Body { ground: Some(0), ..at(2, 5.5, 1.5) }), None);
    let (told, _) = climb(&mut scene, unit, &ground, 30);
    assert_eq!(told.last().map(|(_, advice)| *advice), Some(Advice::PlanAround));
    let bodies = scene.bodies.clone();
    for _ in 0..1000 {
        scene.crowd.clear();
        for body in &scene.bodies {
            scene.crowd.push(*body);
        }
        scene.crowd.step(&scene.settings, 0.0, &ground, &wayfare::avoid::OneThread);
        for (body, outcome) in scene.bodies.iter_mut().zip(scene.crowd.outcomes()) {
            assert_eq!(outcome.position, body.position);
            body.memory = outcome.memory;
        }
    }
    assert_eq!(scene.bodies[unit].memory.rung(), bodies[unit].memory.rung());
}

#[test]
fn two_in_a_corridor_agree_who_backs_out() {
    let snapshot = corridor();
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    for (first, second, loser) in [(0, 0, 1), (0, 1, 0), (2, 1, 1)] {
        let mut scene = Scene::default();
        let body = |id, x, priority| Body { priority, ground: Some(0), ..at(id, x, 1.5) };
        scene.add(body(4, 1.5, first), Some(Vec2::new(11.5, 1.5)));
        scene.add(body(9, 8.5, second), Some(Vec2::new(0.5, 1.5)));
        let mut told = Vec::new();
        for _ in 0..80 {
            let advice: Vec<Advice> = scene.step(&ground).iter().map(|outcome| outcome.advice).collect();
            told.extend((0..2).zip(advice).filter(|(_, advice)| matches!(advice, Advice::GiveWay { .. })));
        }
        let (winner, names) = (1 - loser, [4, 9]);
        assert_eq!(told[0], (loser, Advice::GiveWay { to: names[winner] }), "{first} {second}");
        // One that finds no bay says so, and it is the turn of the other one.
        scene.bodies[loser].memory.be_cornered();
        let mut told = None;
        for _ in 0..80 {
            let outcomes = scene.step(&ground);
            let mut told_now = (0..2).filter(|i| matches!(outcomes[*i].advice, Advice::GiveWay { .. }));
            told = told.or(told_now.next());
        }
        assert_eq!(told, Some(winner), "{first} {second}: the cornered one goes first");
    }
}

/// A corridor with a bay below column `bay`, if any, 12 long.
fn with_bay(bay: Option<usize>) -> Snapshot {
    let mut below = vec!['#'; 12];
    if let Some(bay) = bay {
        below[bay] = '.';
    }
    let below: String = below.into_iter().collect();
    let text = format!("############\n#..........#\n{below}");
    Snapshot::new(&Map::from_text(&text).unwrap(), &View::default())
}

fn disc(x: f32, y: f32) -> Disc {
    Disc { centre: Vec2::new(x, y), radius: 0.4 }
}

#[test]
fn a_bay_is_found_on_this_side_only() {
    let mut points = vec![Vec2::ONE; 3];
    let mut look = |bay: Option<usize>, way: &[Vec2]| {
        let snapshot = with_bay(bay);
        let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
        // The unit stands in column 6 and the other one in column 7, on its way to the left.
        let is_found = bay::find_bay(footing, disc(6.5, 1.5), disc(7.5, 1.5), way, &mut points);
        is_found.then(|| points.clone())
    };
    let to_the_left = [Vec2::new(1.5, 1.5)];
    let points = look(Some(3), &to_the_left).unwrap();
    assert_eq!((points[0], points[points.len() - 1]), (Vec2::new(6.5, 1.5), Vec2::new(3.5, 2.5)));
    for leg in points.windows(2) {
        assert!(leg[0].distance(leg[1]) < 1.5, "{points:?}");
    }
    assert_eq!(look(Some(6), &to_the_left).unwrap().last(), Some(&Vec2::new(6.5, 2.5)));
    assert_eq!(look(Some(9), &to_the_left), None, "behind the other one");
    assert_eq!(look(None, &to_the_left), None, "a dead end");
    assert_eq!(look(Some(3), &[]), None, "the other one goes nowhere");
    // The other one turns into the bay itself: that is none, but behind it there is room.
    let into_the_bay = [Vec2::new(3.5, 1.5), Vec2::new(3.5, 2.5)];
    assert_eq!(look(Some(3), &into_the_bay).unwrap().last(), Some(&Vec2::new(2.5, 1.5)));
    assert_eq!(look(Some(3), &[Vec2::NAN]), None);
}

#[test]
fn a_bay_is_not_looked_for_from_inside_a_wall() {
    let snapshot = with_bay(Some(3));
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let mut points = vec![Vec2::ONE];
    for place in [Vec2::new(6.5, 0.5), Vec2::NAN, Vec2::splat(1e30), Vec2::splat(-5.0)] {
        let unit = Disc { centre: place, radius: 0.4 };
        assert!(!bay::find_bay(footing, unit, disc(7.5, 1.5), &[Vec2::new(1.5, 1.5)], &mut points));
        assert!(points.is_empty());
    }
    // In the open there is always one, also on a map that is larger than the search.
    let snapshot = Snapshot::new(&Map::new(300, 300).unwrap(), &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let way = [Vec2::new(1.5, 150.5)];
    assert!(bay::find_bay(footing, disc(150.5, 150.5), disc(151.5, 150.5), &way, &mut points));
    let end = points[points.len() - 1];
    assert!((end.y - 150.5).abs() > 0.8, "{end} is out of the way");
    // Nor does one that sweeps all of a map leave any, and the search ends.
    let giant = Disc { centre: Vec2::new(400.0, 150.5), radius: 200.0 };
    assert!(!bay::find_bay(footing, disc(150.5, 150.5), giant, &way, &mut points));
}

#[test]
fn who_waits_in_a_bay_knows_when_the_other_has_passed() {
    let unit = disc(3.5, 2.5);
    let way = [Vec2::new(0.5, 1.5)];
    for (x, has_passed) in [(8.5, false), (4.5, false), (3.8, false), (3.5, true), (2.3, true), (0.5, true)] {
        assert_eq!(bay::has_passed(unit, disc(x, 1.5), &way), has_passed, "{x}");
    }
    // One that goes nowhere has; one that is on its way back has not.
    assert!(bay::has_passed(unit, disc(8.5, 1.5), &[]));
    assert!(!bay::has_passed(unit, disc(1.5, 1.5), &[Vec2::new(9.5, 1.5)]));
    // One that turns around somewhere and comes back.
    assert!(!bay::has_passed(unit, disc(2.3, 1.5), &[Vec2::new(0.5, 1.5), Vec2::new(9.5, 1.5)]));
}

#[test]
fn a_burden_leads_around_and_changes_nothing_else() {
    let map = Map::from_text("9.......\n..#.....\n........").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let (nine, wall, stand) = (Cell::new(0, 0), Cell::new(2, 1), Cell::new(5, 1));
    let outside = [Cell::new(-1, 0), Cell::new(8, 0), Cell::new(0, i32::MAX), Cell::new(i32::MIN, i32::MIN)];
    let cells: Vec<Cell> = outside.into_iter().chain([nine, wall, stand, stand]).collect();
    let burdened = snapshot.burdened(&cells, Factor::whole(5));
    // What is dearer stays so, what is blocked stays blocked, and nobody is cut off.
    assert_eq!(
        burdened.step_cost(Cell::new(1, 0), Direction::West),
        snapshot.step_cost(Cell::new(1, 0), Direction::West)
    );
    let (before, after) = (Cell::new(4, 1), stand);
    let cost = |snapshot: &Snapshot| snapshot.step_cost(before, Direction::East).unwrap();
    assert_eq!(cost(&burdened), 5 * cost(&snapshot), "{after:?}");
    for cell in map.area().unwrap().cells() {
        assert_eq!(burdened.is_open(cell), snapshot.is_open(cell), "{cell:?}");
        assert_eq!(burdened.island(cell), snapshot.island(cell), "{cell:?}");
    }
    assert_eq!(burdened.island_count(), snapshot.island_count());
    let query = searched(before, Cell::new(6, 1));
    assert!(found(&snapshot, &query).cells().contains(&stand));
    assert!(!found(&burdened, &query).cells().contains(&stand));
    // The one it was made from knows nothing of it, nor does the map.
    assert_eq!(snapshot.map().terrain(stand), Terrain::OPEN);
    let fresh = Snapshot::new(&map, &View::default());
    assert_eq!(cost(&snapshot), cost(&fresh));
    // Twice is once more, and a lighter burden lifts nothing.
    let twice = burdened.burdened(&[stand, Cell::new(6, 1)], Factor::whole(3));
    assert_eq!(cost(&twice), cost(&burdened));
    assert_eq!(
        twice.step_cost(Cell::new(7, 1), Direction::West),
        fresh.step_cost(Cell::new(7, 1), Direction::West).map(|cost| 3 * cost)
    );
}

#[test]
fn a_map_that_uses_every_terrain_takes_no_burden_and_no_harm() {
    let mut map = Map::new(16, 16).unwrap();
    for (cell, terrain) in map.area().unwrap().cells().zip(0..=255) {
        // The last may be one that no cell of a map carries.
        let _ = map.set(cell, Terrain(terrain));
    }
    let snapshot = Snapshot::new(&map, &View { class: Class::flyer(), ..View::default() });
    let all: Vec<Cell> = map.area().unwrap().cells().collect();
    let burdened = snapshot.burdened(&all, Factor::whole(9));
    for cell in &all {
        assert_eq!(burdened.is_open(*cell), snapshot.is_open(*cell));
        assert_eq!(burdened.island(*cell), snapshot.island(*cell));
    }
    // With one free, all are burdened, and none is blocked.
    let spare = map.area().unwrap().cells().find(|cell| map.terrain(*cell) == Terrain(77)).unwrap();
    map.set(spare, Terrain::OPEN).unwrap();
    let snapshot = Snapshot::new(&map, &View { class: Class::flyer(), ..View::default() });
    let burdened = snapshot.burdened(&all, Factor::whole(9));
    for cell in &all {
        assert_eq!(burdened.is_open(*cell), snapshot.is_open(*cell));
        let cost = |snapshot: &Snapshot| snapshot.step_cost(*cell, Direction::East);
        assert_eq!(cost(&burdened), cost(&snapshot).map(|cost| 9 * cost), "{cell:?}");
    }
}

#[test]
fn idle_ones_are_asked_before_anybody_plans_around_them() {
    let snapshot = corridor();
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let mut scene = Scene::default();
    let unit = scene.add(Body { ground: Some(0), ..at(1, 1.5, 1.5) }, Some(Vec2::new(11.5, 1.5)));
    let sleeper = Body { ground: Some(0), stance: Stance::Idle, ..at(2, 5.5, 1.5) };
    let sleeper = scene.add(sleeper, None);
    let mut asked = false;
    for _ in 0..200 {
        let outcomes = scene.step(&ground);
        asked |= outcomes[sleeper].advice == Advice::GiveWay { to: 1 };
        assert!(asked || outcomes[unit].advice == Advice::GoOn, "{:?}", outcomes[unit].advice);
    }
    assert!(asked);
}

#[test]
fn an_idle_unit_that_was_carried_around_a_corner_is_told_once_to_go_home() {
    let map = Map::from_text("######\n#....#\n#.##.#\n#.##.#\n######").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let mut scene = Scene::default();
    let home = Vec2::new(1.5, 3.5);
    let unit = scene.add(idle(Body { speed: 0.1, ground: Some(0), ..at(1, home.x, home.y) }), None);
    // So little at a time that it counts as pushed, not as put elsewhere.
    let nudge = 0.2 * scene.bodies[unit].radius;
    for corner in [Vec2::new(1.5, 1.5), Vec2::new(4.5, 1.5), Vec2::new(4.5, 3.5)] {
        while scene.bodies[unit].position.distance(corner) > 0.1 {
            assert_eq!(scene.step(&[footing])[unit].advice, Advice::GoOn);
            let body = &mut scene.bodies[unit];
            body.position += (corner - body.position).clamp_length_max(nudge);
        }
    }
    assert_eq!(scene.bodies[unit].memory.home(), Some(home));
    let (told, _) = climb(&mut scene, unit, &[footing], 200);
    let advice: Vec<Advice> = told.iter().map(|(_, advice)| *advice).collect();
    assert_eq!(advice, [Advice::GoHome]);
    let mut points = Vec::new();
    assert!(bay::find_way_home(footing, scene.bodies[unit].position, home, &mut points));
    assert_eq!((points.first(), points.last()), (Some(&scene.bodies[unit].position), Some(&home)));
    assert!(points.windows(2).all(|leg| footing.is_clear(leg[0], leg[1])), "{points:?}");
}

#[test]
fn there_is_no_way_home_from_where_none_leads() {
    let map = Map::from_text("..#..").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let mut points = vec![Vec2::ZERO];
    for home in [Vec2::new(3.5, 0.5), Vec2::new(2.5, 0.5), Vec2::new(9.5, 0.5), Vec2::NAN] {
        assert!(!bay::find_way_home(footing, Vec2::new(0.5, 0.5), home, &mut points), "{home}");
        assert_eq!(points, []);
    }
}
