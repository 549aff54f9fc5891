//! Room for large units, against brute force: how far the centre of a cell is from everything blocked.

use glam::Vec2;
use wayfare::prelude::*;

use crate::oracle;
use crate::support::Random;

/// How far it is from a point to a cell, by its corners in the plane. 0 inside.
fn gap(layout: &Layout, cell: Cell, point: Vec2) -> f32 {
    let corners: Vec<Vec2> = layout.corners(cell).collect();
    let sides = (0..corners.len()).map(|i| (corners[i], corners[(i + 1) % corners.len()]));
    let crosses = |(a, b): (Vec2, Vec2)| (b - a).perp_dot(point - a);
    if sides.clone().all(|side| crosses(side) >= 0.0) || sides.clone().all(|side| crosses(side) <= 0.0) {
        return 0.0;
    }
    let to_side = |(a, b): (Vec2, Vec2)| {
        let along = ((point - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        point.distance(a.lerp(b, along))
    };
    sides.map(to_side).fold(f32::INFINITY, f32::min)
}

/// The nearest that is blocked for a class, or beyond the map.
fn nearest_wall(map: &Map, class: &Class, layout: &Layout, point: Vec2, reach: i32) -> f32 {
    let at = layout.cell_at(point).unwrap();
    let around = Area::new((at.x - reach, at.y - reach), (at.x + reach, at.y + reach));
    let blocked = around.cells().filter(|cell| class.factor(map.terrain(*cell)).is_none());
    blocked.map(|cell| gap(layout, cell, point)).fold(f32::INFINITY, f32::min)
}

fn ground(random: &mut Random, width: u32, height: u32, walls: u32) -> Map {
    let mut map = Map::new(width, height).unwrap();
    for _ in 0..walls {
        let cell = random.cell(&map);
        let terrain = [Terrain::WALL, Terrain::WALL, Terrain::OUTSIDE, Terrain(7)][random.below(4) as usize];
        map.set(cell, terrain).unwrap();
    }
    map
}

/// What a large unit may walk on, as a map of its own, for an oracle that knows of no sizes.
fn shrunk(snapshot: &Snapshot) -> Map {
    let mut map = snapshot.map().clone();
    if let Some(area) = map.area() {
        map.edit(area, |cell, terrain| if snapshot.is_open(cell) { terrain } else { Terrain::OUTSIDE })
            .unwrap();
    }
    map
}

const RADII: [f32; 9] = [0.0, 0.49, 0.5, 0.6, 0.75, 1.2, 1.5, 2.3, 4.7];

#[test]
fn a_cell_is_open_exactly_if_the_disc_around_its_centre_is_clear() {
    let mut random = Random::new(51);
    let layouts = [
        Layout::default(),
        Layout::square(32.0).unwrap(),
        Layout::new(Vec2::new(-7.0, 900.0), Vec2::new(2.0, 0.0), Vec2::new(0.0, -1.0)).unwrap(),
        Layout::new(Vec2::ZERO, Vec2::new(1.0, 0.5), Vec2::new(-1.0, 0.5)).unwrap(),
        Layout::new(Vec2::ZERO, Vec2::new(1.0, 0.2), Vec2::new(0.4, 1.3)).unwrap(),
    ];
    let classes = [Class::default(), Class::flyer(), Class::default().without(Terrain(7))];
    for layout in &layouts {
        for (round, radius) in RADII.iter().enumerate() {
            let map = ground(&mut random, 70, 66, 45);
            let class = classes[round % 3].clone();
            // In the shorter side of a cell, so that it is a length of the plane.
            let radius = radius * 2.0 * layout.reach();
            let view =
                View { class: class.clone(), clearance: Clearance::on(layout, radius), ..View::default() };
            let snapshot = Snapshot::new(&map, &view);
            for cell in map.area().unwrap().cells() {
                let is_free = class.factor(map.terrain(cell)).is_some();
                assert_eq!(snapshot.is_free(cell), is_free);
                let room = nearest_wall(&map, &class, layout, layout.centre(cell), 7);
                // Touching is neither; the bodies above touch exactly or not at all.
                let fits = is_free && room >= radius * 0.998;
                assert_eq!(snapshot.is_open(cell), fits, "{cell} on {layout:?}: {room} for {radius}");
            }
            assert_eq!(snapshot.map(), &map);
        }
    }
}

#[test]
fn sizes_that_make_no_difference_are_the_same_room() {
    assert_eq!(Clearance::new(0.5), Clearance::NONE);
    assert_eq!(Clearance::new(0.8), Clearance::new(1.4));
    assert_ne!(Clearance::new(0.6), Clearance::new(0.8));
    for none in [f32::NAN, f32::NEG_INFINITY, -1.0, 0.0] {
        assert!(Clearance::new(none).is_none());
    }
    let most = Clearance::new(f32::INFINITY);
    assert_eq!(Clearance::new(1e9), most);
    assert_eq!(most.offsets().count(), 31 * 31);
    assert_eq!(Clearance::new(0.6).offsets().count(), 5);
    // Nobody that wide has room on a small map, and nothing panics.
    let map = Map::new(20, 20).unwrap();
    let snapshot = Snapshot::new(&map, &View { clearance: most, ..View::default() });
    assert_eq!(snapshot.island_count(), 0);
    assert_eq!(
        Snapshot::new(&Map::default(), &View { clearance: most, ..View::default() }).island_count(),
        0
    );
}

#[test]
fn a_refresh_is_as_good_as_looking_anew() {
    let mut random = Random::new(52);
    for radius in [0.6, 1.2, 4.7, 20.0] {
        let view = View { clearance: Clearance::new(radius), ..View::default() };
        let mut map = ground(&mut random, 200, 140, 20);
        let mut snapshot = Snapshot::new(&map, &view);
        for round in 0..40 {
            let near_a_border =
                |side: i32, random: &mut Random| 64 * side + random.below(3).cast_signed() - 2;
            let cell = match round % 3 {
                0 => Cell::new(near_a_border(1, &mut random), near_a_border(1, &mut random)),
                1 => random.cell(&map),
                _ => Cell::new(near_a_border(2, &mut random), random.below(140).cast_signed()),
            };
            let terrain = [Terrain::WALL, Terrain::OPEN][random.below(2) as usize];
            let changed = map.set(cell, terrain).unwrap();
            assert_eq!(snapshot.refresh(&map), changed);
            let anew = Snapshot::new(&map, &view);
            for cell in map.area().unwrap().cells() {
                assert_eq!(snapshot.is_open(cell), anew.is_open(cell), "{cell} after round {round}");
                assert_eq!(snapshot.island(cell), anew.island(cell), "{cell} after round {round}");
            }
        }
        // Another map altogether.
        let map = ground(&mut random, 70, 150, 20);
        assert!(snapshot.refresh(&map));
        assert_eq!(shrunk(&snapshot), shrunk(&Snapshot::new(&map, &view)));
    }
}

#[test]
fn paths_of_large_units_are_the_cheapest_that_keep_clear() {
    let mut random = Random::new(53);
    for round in 0..60 {
        let radius = RADII[3 + round % 5];
        let view = View { clearance: Clearance::new(radius), ..View::default() };
        let map = ground(&mut random, 80, 70, 30);
        let snapshot = Snapshot::new(&map, &view);
        let (plain, shrunk) = (View::default(), shrunk(&snapshot));
        let (start, goal) = (random.cell(&map), random.cell(&map));
        let answer = find_path(&snapshot, &PathQuery::new(start, goal), &mut Scratch::new());
        if !snapshot.is_open(start) {
            assert_eq!(answer, Err(QueryError::StartBlocked(start)));
            continue;
        }
        let reached = oracle::distances(&shrunk, &plain, start);
        match answer.unwrap() {
            Answer::Found(route) => {
                assert_eq!(Some(&route.cost()), reached.get(&(goal.x, goal.y)));
                assert_eq!(oracle::walk(&shrunk, &plain, route.cells()).0, route.cost());
                for step in route.cells().windows(2) {
                    let [from, to] = [step[0], step[1]].map(|cell| Layout::default().centre(cell));
                    for part in 0..=8 {
                        let at = from.lerp(to, part as f32 / 8.0);
                        let room = nearest_wall(&map, &plain.class, &Layout::default(), at, 8);
                        assert!(room >= radius * 0.998, "{room} at {at} for {radius}");
                    }
                }
            }
            Answer::Unreachable { .. } => assert_eq!(reached.get(&(goal.x, goal.y)), None),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn lines_of_large_units_keep_clear_but_for_half_a_cell() {
    let mut random = Random::new(54);
    let mut clear = 0;
    for round in 0..400 {
        let radius = RADII[3 + round % 5];
        let view = View { clearance: Clearance::new(radius), ..View::default() };
        let map = ground(&mut random, 40, 40, 6);
        let snapshot = Snapshot::new(&map, &view);
        let [from, to] = [random.cell(&map), random.cell(&map)].map(|cell| Layout::default().centre(cell));
        if !snapshot.is_open(Layout::default().cell_at(from).unwrap()) || !snapshot.is_clear(from, to) {
            continue;
        }
        clear += 1;
        for part in 0..=100 {
            let at = from.lerp(to, part as f32 / 100.0);
            let room = nearest_wall(&map, &view.class, &Layout::default(), at, 8);
            assert!(room >= radius - 0.5_f32.hypot(0.5), "{room} at {at} for {radius}");
        }
    }
    assert!(clear > 40, "{clear}");
}

#[test]
fn a_line_out_of_a_place_without_room_minds_what_is_blocked_only() {
    let map = Map::from_text(".......\n.......\n.......\n..#....\n.......\n.......\n.......").unwrap();
    let snapshot = Snapshot::new(&map, &View { clearance: Clearance::new(0.9), ..View::default() });
    let beside = Vec2::new(3.5, 3.5);
    assert!(!snapshot.is_open(Cell::new(3, 3)) && snapshot.is_free(Cell::new(3, 3)));
    assert!(snapshot.is_clear(beside, Vec2::new(5.5, 3.5)));
    assert!(!snapshot.is_clear(Vec2::new(5.5, 3.5), beside));
    assert!(!snapshot.is_clear(beside, Vec2::new(1.5, 3.5)), "through the wall");
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    assert_eq!(footing.entry(beside, 4), Some(Cell::new(4, 3)));
    assert_eq!(footing.entry(Vec2::new(2.5, 3.5), 4), Some(Cell::new(2, 1)), "out of the wall");
    assert_eq!(footing.entry(Vec2::new(4.5, 3.5), 4), Some(Cell::new(4, 3)), "it fits");
    assert_eq!(footing.entry(Vec2::new(-1.5, 3.5), 4), None);
}

#[test]
fn whoever_has_too_little_room_is_not_led_through_a_wall() {
    // The alley is too narrow, and what lies nearest is on the other side of the wall.
    let map = Map::from_text(
        "#########
         #.......#
         #.......#
         #.......#
         #########
         #.......#
         #########",
    )
    .unwrap();
    let snapshot = Snapshot::new(&map, &View { clearance: Clearance::new(0.9), ..View::default() });
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    assert_eq!(snapshot.nearest_open_within(Cell::new(4, 5), 9), Some(Cell::new(4, 2)));
    assert_eq!(footing.entry(Vec2::new(4.5, 5.5), 9), None);
}

#[test]
fn a_wall_built_beside_the_way_of_a_large_one_makes_it_worse() {
    let mut map = Map::new(20, 9).unwrap();
    let view = View { clearance: Clearance::new(0.9), ..View::default() };
    let before = Snapshot::new(&map, &view);
    let (from, to) = (Vec2::new(2.5, 4.5), Vec2::new(17.5, 4.5));
    map.set((9, 6), Terrain::WALL).unwrap();
    let mut after = before.clone();
    assert!(after.refresh(&map) && !after.is_worse_along(&before, from, to));
    map.set((9, 5), Terrain::WALL).unwrap();
    assert!(after.refresh(&map) && after.is_worse_along(&before, from, to));
    let small = Snapshot::new(&map, &View::default());
    assert!(!small.is_worse_along(&Snapshot::new(&Map::new(20, 9).unwrap(), &View::default()), from, to));
}
