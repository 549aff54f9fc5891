//! Every gear through one suite: whatever a search makes of the ground, its answers cost the same.

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Flora, ROAD, Random, find, found, random_map, searched, views};

const GEARS: [Gear; 4] = [Gear::Cells, Gear::Jump, Gear::Graph, Gear::Full];

/// A snapshot that has been surveyed.
pub(crate) fn surveyed(map: &Map, view: &View) -> Snapshot {
    let mut snapshot = Snapshot::new(map, view);
    let survey = snapshot.survey();
    snapshot.learn(&survey);
    snapshot
}

/// What is of use before all is found.
pub(crate) fn half_surveyed(snapshot: &Snapshot) -> Survey {
    let mut surveyor = Surveyor::new(snapshot);
    while surveyor.so_far().is_none() && surveyor.run(50) == Progress::Running {}
    surveyor.so_far().unwrap()
}

/// Walls in blocks and lines, as in games: long jumps, dead ends, doors.
pub(crate) fn built_map(random: &mut Random, width: u32, height: u32) -> Map {
    let mut map = Map::new(width, height).unwrap();
    for _ in 0..(width * height / 150) {
        edit(random, &mut map);
    }
    map
}

/// Builds or tears down something small or large.
pub(crate) fn edit(random: &mut Random, map: &mut Map) {
    let a = random.cell(map);
    let (long, wide) = (random.below(30) as i32, random.below(3) as i32);
    let (dx, dy) = match random.below(4) {
        0 => (long, wide),
        1 => (wide, long),
        2 => (0, 0),
        _ => (random.below(6) as i32, random.below(6) as i32),
    };
    let far = map.area().unwrap().max();
    let b = Cell::new((a.x + dx).min(far.x), (a.y + dy).min(far.y));
    let terrain = if random.below(5) < 3 { Terrain::WALL } else { Terrain::OPEN };
    map.fill(Area::new(a, b), terrain).unwrap();
}

/// Asks all gears, and holds them to the oracle: reachability, cost, legal steps that add up.
pub(crate) fn judge(name: &str, snapshot: &Snapshot, start: Cell, goal: Cell) -> bool {
    let (map, view) = (snapshot.map(), snapshot.view());
    let best = oracle::distances(map, view, start).get(&(goal.x, goal.y)).copied();
    for gear in GEARS {
        let answer = find(snapshot, &searched(start, goal).gear(gear));
        let Some(best) = best else {
            assert!(matches!(answer, Answer::Unreachable { .. }), "{gear:?} {name}");
            continue;
        };
        let Answer::Found(route) = answer else { panic!("{gear:?} {answer:?} {name}") };
        assert_eq!(
            (route.cells().first(), route.cells().last()),
            (Some(&start), Some(&goal)),
            "{gear:?} {name}"
        );
        assert_eq!(oracle::walk(map, view, route.cells()).0, best, "{gear:?} {name}");
        assert_eq!(route.cost(), best, "{gear:?} {name}");
        let cells = route.into_cells();
        let mut corners = cells.clone();
        keep_corners(&mut corners);
        let bent = found(snapshot, &searched(start, goal).gear(gear).shape(RouteShape::Corners));
        assert_eq!((bent.cells(), bent.cost()), (&corners[..], best), "{gear:?} {name}");
        assert!(bent.into_steps().eq(cells), "{gear:?} {name}");
    }
    best.is_some()
}

fn keep_corners(cells: &mut Vec<Cell>) {
    let all = cells.clone();
    let turns = |i: usize| all[i - 1].direction_to(all[i]) != all[i].direction_to(all[i + 1]);
    let kept = (0..all.len()).filter(|i| *i == 0 || *i + 1 == all.len() || turns(*i));
    *cells = kept.map(|i| all[i]).collect();
}

#[test]
fn every_gear_agrees_with_the_oracle_on_small_maps() {
    let mut compared = 0;
    for seed in 0..60 {
        for (rule, view) in views().iter().enumerate() {
            let mut random = Random::new(seed * 1000 + rule as u64);
            let (width, height) = (1 + random.below(24), 1 + random.below(24));
            let flora = if seed % 3 == 0 { FLORA[random.below(3) as usize] } else { Flora::Uniform };
            let map = random_map(&mut random, width, height, flora);
            let snapshot = surveyed(&map, view);
            let Some(start) = snapshot.nearest_open(random.cell(&map)) else { continue };
            let goal = random.cell(&map);
            let name = format!("seed {seed} {:?} {start} to {goal}\n{}", view.rules, map.to_text(|_| None));
            compared += u32::from(judge(&name, &snapshot, start, goal));
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn every_gear_agrees_with_the_oracle_on_maps_of_several_chunks() {
    let mut compared = 0;
    for seed in 0..3 {
        for (rule, view) in views().iter().enumerate().filter(|(rule, _)| rule % 6 == seed as usize) {
            let mut random = Random::new(seed * 77 + rule as u64);
            let (width, height) = (100 + random.below(100), 60 + random.below(100));
            let map = built_map(&mut random, width, height);
            let snapshot = surveyed(&map, view);
            for _ in 0..4 {
                let Some(start) = snapshot.nearest_open(random.cell(&map)) else { continue };
                let goal = random.cell(&map);
                let name = format!("seed {seed} {:?} {start} to {goal}", view.rules);
                compared += u32::from(judge(&name, &snapshot, start, goal));
            }
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn every_gear_is_right_the_moment_after_an_edit() {
    let mut compared = 0;
    for seed in 0..12 {
        for (rule, view) in
            views().iter().enumerate().filter(|(rule, _)| (rule + seed as usize).is_multiple_of(6))
        {
            let mut random = Random::new(seed * 1000 + rule as u64);
            let mut map = built_map(&mut random, 150, 70);
            let mut snapshot = surveyed(&map, view);
            for round in 0..6 {
                for _ in 0..=random.below(4) {
                    edit(&mut random, &mut map);
                }
                snapshot.refresh(&map);
                let Some(start) = snapshot.nearest_open(random.cell(&map)) else { continue };
                let goal = random.cell(&map);
                let name = format!("seed {seed} round {round} {:?} {start} to {goal}", view.rules);
                compared += u32::from(judge(&name, &snapshot, start, goal));
                // A survey that comes late knows of some edits and not of others; one in three comes at once.
                if random.below(3) == 0 {
                    let survey =
                        if random.below(2) == 0 { snapshot.survey() } else { half_surveyed(&snapshot) };
                    if random.below(2) == 0 {
                        edit(&mut random, &mut map);
                        snapshot.refresh(&map);
                    }
                    assert!(snapshot.learn(&survey));
                    let Some(start) = snapshot.nearest_open(random.cell(&map)) else { continue };
                    compared += u32::from(judge(&format!("late {name}"), &snapshot, start, goal));
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// As long as walls are only added no way gets shorter, so that landmarks go on leading searches, past corners that are new as
/// well.
#[test]
fn landmarks_hold_while_walls_are_only_added() {
    let mut closed = [0; 2];
    for (rule, view) in in_eight_directions() {
        let mut random = Random::new(rule as u64);
        let mut map = built_map(&mut random, 190, 130);
        // So dense that searches are long ones.
        (0..300).for_each(|_| edit(&mut random, &mut map));
        let mut snapshot = surveyed(&map, &view);
        for round in 0..8 {
            for _ in 0..=random.below(12) {
                let a = random.cell(&map);
                let (dx, dy) = if random.below(2) == 0 { (random.below(9), 0) } else { (0, random.below(9)) };
                let far = map.area().unwrap().max();
                let b = Cell::new((a.x + dx as i32).min(far.x), (a.y + dy as i32).min(far.y));
                map.fill(Area::new(a, b), Terrain::WALL).unwrap();
            }
            snapshot.refresh(&map);
            let Some(start) = snapshot.nearest_open(random.cell(&map)) else { continue };
            judge(&format!("round {round} {:?}", view.rules), &snapshot, start, random.cell(&map));
            for _ in 0..30 {
                let [start, goal] = [0; 2].map(|_| snapshot.nearest_open(random.cell(&map)).unwrap());
                for (sum, closed) in closed.iter_mut().zip(agree(&snapshot, start, goal)) {
                    *sum += closed;
                }
            }
        }
    }
    let [graph, full] = closed;
    assert!(graph > 20_000, "{graph}");
    assert!(3 * full < 2 * graph, "landmarks should save a third: {full} of {graph}");
}

/// A door in a wall that one had to walk around for long: landmarks say more than is true, and are not asked.
#[test]
fn landmarks_are_not_asked_once_a_wall_is_gone() {
    for (rule, view) in in_eight_directions() {
        let mut random = Random::new(rule as u64);
        let mut map = built_map(&mut random, 190, 130);
        map.fill(Area::new((0, 64), (185, 66)), Terrain::WALL).unwrap();
        let mut snapshot = surveyed(&map, &view);
        for x in (10..180).step_by(40) {
            let closed = map.clone();
            map.fill(Area::new((x, 60), (x + 1, 70)), Terrain::OPEN).unwrap();
            snapshot.refresh(&map);
            for _ in 0..10 {
                let mut cell = |y| Cell::new(random.below(120) as i32, y);
                let [start, goal] = [cell(20), cell(100)].map(|cell| snapshot.nearest_open(cell).unwrap());
                agree(&snapshot, start, goal);
            }
            snapshot.refresh(&closed);
            map = closed;
        }
    }
}

pub(crate) fn in_eight_directions() -> impl Iterator<Item = (usize, View)> {
    views().into_iter().enumerate().filter(|(_, view)| view.rules.directions == Directions::Eight)
}

/// Holds what makes use of a survey to what does not, and returns how many nodes the graph and all of it closed.
pub(crate) fn agree(snapshot: &Snapshot, start: Cell, goal: Cell) -> [u64; 2] {
    let mut scratch = Scratch::new();
    let mut ask = |gear| {
        let answer = find_path(snapshot, &searched(start, goal).gear(gear), &mut scratch).unwrap();
        (answer.route().map(Route::cost), scratch.effort().closed)
    };
    let (best, graph, full) = (ask(Gear::Jump), ask(Gear::Graph), ask(Gear::Full));
    assert_eq!((graph.0, full.0), (best.0, best.0), "{:?} {start} to {goal}", snapshot.rules());
    [graph.1, full.1]
}

#[test]
fn half_a_survey_is_of_use_and_the_next_one_completes_it() {
    let map = built_map(&mut Random::new(3), 150, 70);
    let mut snapshot = Snapshot::new(&map, &View::default());
    let half = half_surveyed(&snapshot);
    let bytes = half.bytes();
    assert!(bytes.graph > 0 && bytes.dead_ends > 0 && bytes.rays == 0 && bytes.landmarks == 0, "{bytes:?}");
    assert!(snapshot.learn(&half) && snapshot.is_surveyed() && snapshot.wants_survey());
    // What is there is not looked for again.
    let mut surveyor = Surveyor::new(&snapshot);
    assert_eq!(surveyor.so_far().map(|survey| survey.bytes()), Some(bytes));
    while surveyor.run(1) == Progress::Running {
        assert_eq!(surveyor.so_far().map(|survey| survey.bytes()), Some(bytes));
    }
    let whole = surveyor.finish();
    let (bytes, anew) = (whole.bytes(), Snapshot::new(&map, &View::default()).survey());
    assert!(bytes.rays > 0 && bytes.landmarks > 0, "{bytes:?}");
    assert_eq!(bytes, anew.bytes());
    assert_eq!(whole.to_bytes(), anew.to_bytes());
    assert!(snapshot.learn(&whole) && !snapshot.wants_survey());
}

#[test]
fn a_budget_counts_landings_and_names_the_closest() {
    let mut map = Map::new(40, 40).unwrap();
    for x in (4..36).step_by(8) {
        map.fill(Area::new((x, 0), (x, 38)), Terrain::WALL).unwrap();
        map.fill(Area::new((x + 4, 1), (x + 4, 39)), Terrain::WALL).unwrap();
    }
    let snapshot = Snapshot::new(&map, &View::default());
    let query = searched(Cell::new(0, 0), Cell::new(39, 20));
    let mut scratch = Scratch::new();
    let whole = find_path(&snapshot, &query, &mut scratch).unwrap();
    let spent = scratch.effort().closed;
    assert!((10..60).contains(&spent), "{spent}");
    assert_eq!(find(&snapshot, &query.budget(spent)), whole);
    let mut before = 0;
    for budget in 0..spent {
        let answer = find(&snapshot, &query.budget(budget).fallback(Fallback::Nearest));
        let Answer::Partial { route, because: Shortfall::OutOfBudget } = answer else { panic!("{answer:?}") };
        assert_eq!(route.cost(), oracle::walk(&map, &View::default(), route.cells()).0);
        let nearest = *route.cells().last().unwrap();
        assert_eq!(find(&snapshot, &query.budget(budget)), Answer::OutOfBudget { nearest });
        assert!(nearest.x >= before, "it never gets farther away");
        before = nearest.x;
    }
    assert!(before > 25, "{before}");
}

/// Snow that melts: all ground gets another price at once and stays even, so that no bit changes. What was measured in other
/// prices leads nobody, be they higher or lower, and neither does a survey that comes late.
#[test]
fn ground_may_get_another_price_all_at_once() {
    let prices = [Terrain::OPEN, ROAD, Terrain::digit(3).unwrap()];
    for (rule, view) in views().into_iter().enumerate() {
        let mut random = Random::new(rule as u64);
        let mut map = built_map(&mut random, 150, 110);
        (0..150).for_each(|_| edit(&mut random, &mut map));
        let mut snapshot = Snapshot::new(&map, &view);
        for (round, price) in [2, 0, 2, 1, 0, 1, 2].into_iter().enumerate() {
            let late = snapshot.survey();
            if round % 2 == 0 {
                snapshot.learn(&late);
            }
            map.edit(map.area().unwrap(), |_, old| if old == Terrain::WALL { old } else { prices[price] })
                .unwrap();
            if round % 3 == 1 {
                let a = random.cell(&map);
                map.fill(Area::new(a, (a.x, a.y)), Terrain::WALL).unwrap();
            }
            snapshot.refresh(&map);
            if round % 2 == 1 {
                snapshot.learn(&late);
            }
            for judged in [true, false, false, false, false, false] {
                let [start, goal] = [0; 2].map(|_| snapshot.nearest_open(random.cell(&map)).unwrap());
                let name = format!("round {round} {:?} {start} to {goal}", view.rules);
                match judged && round % 3 == rule % 3 {
                    true => drop(judge(&name, &snapshot, start, goal)),
                    false => drop(agree(&snapshot, start, goal)),
                }
            }
        }
    }
}

/// A maze of lanes one cell wide, with one way from each cell to each.
fn maze(random: &mut Random, side: i32) -> Map {
    let size = side.cast_unsigned();
    let mut map = Map::new(size, size).unwrap();
    map.fill(map.area().unwrap(), Terrain::WALL).unwrap();
    let mut way = vec![Cell::new(1, 1)];
    map.set(way[0], Terrain::OPEN).unwrap();
    while let Some(cell) = way.last().copied() {
        let is_new = |(x, y): &(i32, i32)| {
            let next = cell + (2 * x, 2 * y);
            map.contains(next) && map.terrain(next) == Terrain::WALL
        };
        let steps: Vec<(i32, i32)> = [(1, 0), (0, 1), (-1, 0), (0, -1)].into_iter().filter(is_new).collect();
        if steps.is_empty() {
            way.pop();
            continue;
        }
        let (x, y) = steps[random.below(steps.len() as u32) as usize];
        for next in [cell + (x, y), cell + (2 * x, 2 * y)] {
            map.set(next, Terrain::OPEN).unwrap();
        }
        way.push(cell + (2 * x, 2 * y));
    }
    map
}

#[test]
fn a_very_long_search_goes_into_no_more_dead_ends() {
    let mut random = Random::new(12);
    let map = maze(&mut random, 151);
    let snapshot = surveyed(&map, &View::default());
    let (mut scratch, mut very_long) = (Scratch::new(), 0);
    for _ in 0..60 {
        let [start, goal] = [0; 2].map(|_| snapshot.nearest_open(random.cell(&map)).unwrap());
        let query = searched(start, goal);
        let corners = found(&snapshot, &query.shape(RouteShape::Corners)).cells().len() as u64;
        let answer = find_path(&snapshot, &query, &mut scratch).unwrap();
        let closed = scratch.effort().closed;
        let plain = found(&snapshot, &query.gear(Gear::Cells));
        assert_eq!(answer.route().map(Route::cost), Some(plain.cost()), "{start} to {goal}");
        // By then it has come to so many nodes; from there on there is the way, and nothing beside it.
        assert!(closed <= 128 + corners, "{closed} closed for {corners} corners, {start} to {goal}");
        very_long += u32::from(closed > 128);
    }
    assert!(very_long > 20, "{very_long}");
}
