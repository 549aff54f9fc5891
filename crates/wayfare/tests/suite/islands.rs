//! Islands under edits: after any script they are those of a map seen for the first time.

use std::collections::{BTreeMap, BTreeSet};

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{Flora, Random, random_map, views};

/// Panics unless both give every cell the same island, by the same number.
fn assert_same_islands(edited: &Snapshot, fresh: &Snapshot, name: &str) {
    assert_eq!(edited.island_count(), fresh.island_count(), "{name}");
    for cell in fresh.map().area().unwrap().cells() {
        assert_eq!(edited.island(cell), fresh.island(cell), "{cell} {name}");
    }
}

/// Panics unless the islands are what can be walked, cell by cell, numbered from 0 without gaps.
fn assert_walkable(snapshot: &Snapshot, name: &str) {
    let map = snapshot.map();
    let mut islands = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for start in map.area().unwrap().cells() {
        let Some(island) = snapshot.island(start) else {
            assert!(!snapshot.is_open(start), "{start} {name}");
            continue;
        };
        if seen.contains(&(start.x, start.y)) {
            continue;
        }
        assert_eq!(islands.insert(island.number(), start), None, "{start} {name}");
        let mut left = vec![start];
        while let Some(cell) = left.pop() {
            if seen.insert((cell.x, cell.y)) {
                assert_eq!(snapshot.island(cell), Some(island), "{cell} {name}");
                left.extend(oracle::steps(map, snapshot.view(), cell).iter().map(|(_, to, _)| *to));
            }
        }
    }
    assert!(islands.keys().copied().eq(0..snapshot.island_count()), "{name}");
}

#[test]
fn islands_are_what_dijkstra_reaches() {
    for (rule, view) in views().iter().enumerate() {
        for seed in 0..4 {
            let mut random = Random::new(seed * 100 + rule as u64);
            let size = if seed == 0 { 140 } else { 20 };
            let (width, height) = (1 + random.below(size), 1 + random.below(size));
            let map = random_map(&mut random, width, height, Flora::Uniform);
            let snapshot = Snapshot::new(&map, view);
            let from = random.cell(&map);
            let reached = oracle::distances(&map, view, from);
            for to in map.area().unwrap().cells() {
                let expected = oracle::open(&map, view, from) && reached.contains_key(&(to.x, to.y));
                assert_eq!(snapshot.reachable(from, to), expected, "{:?} {from} to {to}", view.rules);
            }
        }
    }
}

#[test]
fn edits_are_followed() {
    for (rule, view) in views().iter().enumerate().step_by(3) {
        let mut random = Random::new(rule as u64);
        let mut map = random_map(&mut random, 200, 140, Flora::Roads);
        let mut snapshot = Snapshot::new(&map, view);
        for round in 0..25 {
            let (a, b) = (random.cell(&map), random.cell(&map));
            let area = if round % 3 == 0 { Area::new(a, b) } else { Area::new(a, a) };
            let terrain = [Terrain::WALL, Terrain::OPEN, crate::support::ROAD][random.below(3) as usize];
            let changed = map.fill(area, terrain).unwrap() > 0;
            let before = snapshot.clone();
            let before_map = before.map().clone();
            assert_eq!(snapshot.refresh(&map), changed);
            assert_eq!(snapshot.map(), &map);
            assert_eq!(before.map(), &before_map, "a snapshot taken earlier never changes");
            let fresh = Snapshot::new(&map, view);
            assert_same_islands(&snapshot, &fresh, &format!("{:?} round {round}", view.rules));
            let query = PathQuery::new(random.cell(&map), random.cell(&map));
            let ask = |snapshot| find_path(snapshot, &query, &mut Scratch::new());
            assert_eq!(ask(&snapshot), ask(&fresh));
        }
    }
}

/// A cell where much can go wrong: next to the corners of chunks and of blocks of chunks, or anywhere.
fn tricky_cell(random: &mut Random, map: &Map) -> Cell {
    let mut place = |side: u32| {
        let near = [64, 128, 256][random.below(3) as usize] * (1 + random.below(4));
        let place = near + random.below(4);
        let place = if random.below(3) == 0 { random.below(side) } else { place.saturating_sub(2) };
        place.min(side - 1).cast_signed()
    };
    Cell::new(place(map.width()), place(map.height()))
}

#[test]
fn long_scripts_lead_to_the_same_islands_as_a_fresh_look() {
    let corners = [Corners::BothFree, Corners::OneFree, Corners::Always];
    let rules = [Directions::Four, Directions::Eight]
        .into_iter()
        .flat_map(|directions| corners.map(|corners| Rules { directions, corners, ..Rules::default() }));
    for (rule, rules) in (0..).zip(rules) {
        for (walls, width, height) in [(0, 330, 270), (45, 260, 150), (60, 70, 330), (100, 600, 66)] {
            let mut random = Random::new(rule * 1000 + u64::from(walls));
            let mut map = Map::new(width, height).unwrap();
            let all = map.area().unwrap();
            map.edit(all, |_, terrain| if random.below(100) < walls { Terrain::WALL } else { terrain })
                .unwrap();
            let mut snapshot = Snapshot::new(&map, &rules.into());
            for round in 0..30 {
                let name = format!("{rules:?}, {walls} % of {width} × {height}, round {round}");
                let (a, b) = (tricky_cell(&mut random, &map), tricky_cell(&mut random, &map));
                let terrain = if random.below(2) == 0 { Terrain::WALL } else { Terrain::OPEN };
                let area = match random.below(12) {
                    0 => Area::new(a, b),
                    1 => Area::new(a, (a.x, b.y)),
                    2 => Area::new(a, (b.x, a.y)),
                    _ => Area::new(a, a),
                };
                // Single cells come and go, so that most edits change something.
                let other = |old| if old == Terrain::WALL { Terrain::OPEN } else { Terrain::WALL };
                let is_cell = area.min() == area.max();
                map.edit(area, |_, old| if is_cell { other(old) } else { terrain }).unwrap();
                snapshot.refresh(&map);
                assert_same_islands(&snapshot, &Snapshot::new(&map, &rules.into()), &name);
                if round % 10 == 9 {
                    assert_walkable(&snapshot, &name);
                }
            }
        }
    }
}

#[test]
fn a_door_opened_and_closed_all_day_leaves_old_snapshots_alone() {
    // Two halves of a map and a door between them, in the corner of four chunks.
    let mut map = Map::new(300, 300).unwrap();
    map.fill(Area::new((64, 0), (64, 299)), Terrain::WALL).unwrap();
    let mut snapshot = Snapshot::new(&map, &View::default());
    let (west, east, door) = (Cell::new(3, 290), Cell::new(280, 5), Cell::new(64, 64));
    let mut days = Vec::new();
    for day in 0..50 {
        let is_open = day % 2 == 1;
        map.set(door, if is_open { Terrain::OPEN } else { Terrain::WALL }).unwrap();
        snapshot.refresh(&map);
        days.push((is_open, snapshot.clone()));
    }
    for (is_open, snapshot) in days {
        assert_eq!((snapshot.reachable(west, east), snapshot.island(door).is_some()), (is_open, is_open));
        assert_eq!(snapshot.island_count(), if is_open { 1 } else { 2 });
    }
}

#[test]
fn cheaper_ground_laid_later_keeps_paths_optimal() {
    let mut map = Map::filled(20, 3, Terrain::digit(4).unwrap()).unwrap();
    let view = View::default();
    let mut snapshot = Snapshot::new(&map, &view);
    map.fill(Area::new((0, 2), (19, 2)), Terrain::OPEN).unwrap();
    snapshot.refresh(&map);
    let answer = find_path(&snapshot, &PathQuery::new((0, 0), (19, 0)), &mut Scratch::new()).unwrap();
    let best = oracle::distances(&map, &view, Cell::default())[&(19, 0)];
    assert_eq!(answer.route().map(Route::cost), Some(best));
}

#[test]
fn any_map_may_be_looked_at_next() {
    let mut snapshot = Snapshot::new(&Map::from_text("..#..").unwrap(), &View::default());
    assert_eq!(snapshot.island_count(), 2);
    for text in [".#.#.\n#.#.#", ".", "", "###", "....."] {
        let other = Map::from_text(text).unwrap();
        assert!(snapshot.refresh(&other));
        assert!(!snapshot.refresh(&other));
        assert_eq!(snapshot.island_count(), Snapshot::new(&other, &View::default()).island_count(), "{text}");
    }
}

#[test]
fn a_checkerboard_is_one_island_only_where_corners_are_slipped_through() {
    let mut map = Map::new(150, 150).unwrap();
    let all = map.area().unwrap();
    map.edit(all, |cell, terrain| if (cell.x + cell.y) % 2 == 0 { terrain } else { Terrain::WALL }).unwrap();
    let count = |corners| {
        let rules = Rules { corners, ..Rules::default() };
        Snapshot::new(&map, &rules.into()).island_count()
    };
    assert_eq!(count(Corners::Always), 1);
    assert_eq!(count(Corners::OneFree), 150 * 150 / 2);
    assert_eq!(count(Corners::BothFree), 150 * 150 / 2);
}

#[test]
fn the_nearest_open_cell_near_by_is_the_nearest_of_all() {
    for (rule, view) in views().iter().enumerate() {
        for seed in 0..40 {
            let mut random = Random::new(seed * 1000 + rule as u64);
            let (width, height) = (1 + random.below(30), 1 + random.below(30));
            let map = random_map(&mut random, width, height, Flora::Uniform);
            let snapshot = Snapshot::new(&map, view);
            let from = random.cell(&map);
            for cells in [0, 1, 2, 5, 40] {
                let found = snapshot.nearest_open_within(from, cells);
                // By hand: every open cell of the square around it, the nearest first.
                let costs = snapshot.rules().costs;
                let distance = |cell: Cell| {
                    let x = u64::from(cell.x.abs_diff(from.x)) * u64::from(costs.x());
                    let y = u64::from(cell.y.abs_diff(from.y)) * u64::from(costs.y());
                    x * x + y * y
                };
                let is_near = |cell: &Cell| cell.x.abs_diff(from.x).max(cell.y.abs_diff(from.y)) <= cells;
                let square = map.area().unwrap().cells().filter(is_near);
                let expected = square
                    .filter(|cell| snapshot.is_open(*cell))
                    .min_by_key(|cell| (distance(*cell), cell.y, cell.x));
                assert_eq!(found, expected, "{cells} cells around {from}\n{}", map.to_text(|_| None));
            }
            assert_eq!(snapshot.nearest_open_within(from, u32::MAX), snapshot.nearest_open(from));
        }
    }
    let outside = Snapshot::new(&Map::new(2, 2).unwrap(), &View::default());
    assert_eq!(outside.nearest_open_within(Cell::new(2, 0), 5), None);
}
