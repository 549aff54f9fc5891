//! Discs and walls: depth is judged here by brute force, over all cells and all of their sides.

use glam::{DVec2, Vec2};
use wayfare::avoid::{Body, Disc, Stance, fit, push};
use wayfare::prelude::*;

use crate::avoid::{Scene, at, locked};
use crate::support::{Flora, Random, random_map};

/// How far a disc reaches into blocked cells or beyond the map, by looking at all of them.
fn depth(footing: Footing<'_>, centre: Vec2, radius: f32) -> f64 {
    let (width, height) = (footing.snapshot.map().width() as i32, footing.snapshot.map().height() as i32);
    let all = Area::new((-1, -1), (width, height));
    let blocked = all.cells().filter(|cell| !footing.snapshot.is_open(*cell));
    let gaps = blocked.map(|cell| distance(footing.layout, cell, centre.as_dvec2()));
    f64::from(radius) - gaps.fold(f64::INFINITY, f64::min)
}

/// How far a point is from a cell, 0 inside.
fn distance(layout: &Layout, cell: Cell, point: DVec2) -> f64 {
    let corners: Vec<DVec2> = layout.corners(cell).map(|corner| corner.as_dvec2()).collect();
    let sides = corners.iter().zip(corners.iter().cycle().skip(1));
    let turns: Vec<f64> = sides.clone().map(|(a, b)| (b - a).perp_dot(point - a)).collect();
    if turns.iter().all(|turn| *turn >= 0.0) || turns.iter().all(|turn| *turn <= 0.0) {
        return 0.0;
    }
    let to_side = |(a, b): (&DVec2, &DVec2)| {
        let part = ((point - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        point.distance(*a + (b - a) * part)
    };
    sides.map(to_side).fold(f64::INFINITY, f64::min)
}

fn layouts() -> [Layout; 6] {
    let new = |x: (f32, f32), y: (f32, f32)| {
        Layout::new(Vec2::new(-40.0, 25.0), Vec2::from(x), Vec2::from(y)).unwrap()
    };
    [
        Layout::UNIT,
        new((16.0, 0.0), (0.0, -16.0)),
        new((0.5, 0.0), (0.0, 1.0)),
        new((2.0, 1.0), (-2.0, 1.0)),
        new((1.0, 0.0), (0.6, 1.0)),
        new((4.0, 0.0), (2.0, 3.6)).with_shape(CellShape::Hexagon),
    ]
}

fn signed(random: &mut Random) -> Vec2 {
    let mut one = || random.below(1 << 16) as f32 / f32::from(1_u16 << 15) - 1.0;
    Vec2::new(one(), one())
}

/// A place where a disc is clear of walls, if there is one soon.
fn clear_place(random: &mut Random, footing: Footing<'_>, radius: f32) -> Option<Vec2> {
    (0..60).find_map(|_| {
        let cell = random.cell(footing.snapshot.map());
        let place = footing.layout.centre(cell) + signed(random) * footing.layout.reach();
        (depth(footing, place, radius) <= 0.0).then_some(place)
    })
}

#[test]
fn a_pushed_disc_never_enters_a_wall() {
    let mut random = Random::new(21);
    let (mut pushes, mut touches) = (0, 0);
    for round in 0..90 {
        let map = random_map(&mut random, 9, 8, Flora::Uniform);
        let layout = layouts()[round % 6];
        let snapshot = Snapshot::new(&map, &View::default());
        let footing = Footing { snapshot: &snapshot, layout: &layout };
        // In reaches, of which half a cell has one.
        let radius = [0.05, 0.5, 0.8, 0.95, 1.3, 1.9, 2.7][round % 7] * layout.reach();
        let Some(mut centre) = clear_place(&mut random, footing, radius) else { continue };
        for _ in 0..25 {
            let long = [0.3, 2.0, 8.0, 100.0][random.below(4) as usize];
            let by = signed(&mut random) * layout.reach() * long;
            let pushed = push(footing, Disc { centre, radius }, by);
            let deep = depth(footing, pushed, radius) / f64::from(radius);
            assert!(deep < 0.01, "{round}: {deep} deep, from {centre} by {by} to {pushed}");
            let island = |place: Vec2| snapshot.island(layout.cell_at(place).unwrap());
            assert_eq!(island(centre), island(pushed), "{round}: through a wall, from {centre} by {by}");
            touches += usize::from(deep > -0.01);
            pushes += 1;
            centre = pushed;
        }
    }
    assert!(pushes > 1000 && touches > 200, "{pushes} pushes, {touches} to a wall");
}

#[test]
fn a_disc_that_reaches_into_walls_gets_no_deeper_and_crosses_none() {
    let mut random = Random::new(23);
    for round in 0..180 {
        let map = random_map(&mut random, 9, 8, Flora::Uniform);
        let layout = layouts()[round % 6];
        let snapshot = Snapshot::new(&map, &View::default());
        let footing = Footing { snapshot: &snapshot, layout: &layout };
        let radius = [0.5, 0.95, 1.3, 1.9, 2.7, 5.0, 9.0][round % 7] * layout.reach();
        let Some(mut centre) = clear_place(&mut random, footing, 0.01 * layout.reach()) else { continue };
        for _ in 0..12 {
            let by = signed(&mut random) * layout.reach() * [0.9, 3.0, 9.0][random.below(3) as usize];
            let pushed = push(footing, Disc { centre, radius }, by);
            let deep = [centre, pushed].map(|place| depth(footing, place, radius) / f64::from(radius));
            assert!(deep[1] < deep[0].max(0.0) + 0.01, "{round}: {deep:?} from {centre} by {by} to {pushed}");
            let island = |place: Vec2| snapshot.island(layout.cell_at(place).unwrap());
            assert_eq!(island(centre), island(pushed), "{round}: from {centre} by {by} to {pushed}");
            centre = pushed;
        }
    }
}

#[test]
fn a_crowd_never_enters_a_wall() {
    let mut random = Random::new(22);
    for round in 0..24 {
        let map = random_map(&mut random, 10, 10, Flora::Uniform);
        let layout = layouts()[round % 6];
        let snapshot = Snapshot::new(&map, &View::default());
        let footing = Footing { snapshot: &snapshot, layout: &layout };
        let mut scene = Scene::default();
        for id in 0..20 {
            let radius = [0.6, 0.9, 1.4][id as usize % 3] * layout.reach();
            let Some(place) = clear_place(&mut random, footing, radius) else { continue };
            // Some of them are faster than a cell in a step.
            let speed = [4.0, 10.0, 80.0][random.below(3) as usize] * layout.reach();
            // Those that are too large for a gap squeeze in if they walk, but not if they are pushed.
            let stance = if radius > 0.98 * layout.reach() { Stance::Idle } else { Stance::Walking };
            let body = Body { radius, speed, stance, ground: Some(0), ..at(id, place.x, place.y) };
            scene.add(body, None);
        }
        let islands = |scene: &Scene| -> Vec<_> {
            scene.bodies.iter().map(|body| snapshot.island(layout.cell_at(body.position).unwrap())).collect()
        };
        let before = islands(&scene);
        for step in 0..30 {
            // All to one point, then to another one.
            let to = layout.centre(Cell::new(if step < 15 { 2 } else { 8 }, 5));
            for body in &mut scene.bodies {
                body.wanted = (to - body.position) * 20.0;
            }
            scene.step(&[footing]);
            for body in &scene.bodies {
                let deep = depth(footing, body.position, body.radius) / f64::from(body.radius);
                assert!(deep < 0.01, "{round}, step {step}: {deep} deep at {}", body.position);
            }
            assert_eq!(islands(&scene), before, "{round}: through a wall in step {step}");
        }
    }
}

#[test]
fn a_large_one_keeps_clear_of_walls_where_there_is_room() {
    let map = Map::from_text(
        "..........
         ..........
         ..........
         ...####...
         ..........
         ..........
         ..........",
    )
    .unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let (mut scene, mut farthest) = (Scene::default(), 0.0_f32);
    let large = scene.add(Body { radius: 1.2, ground: Some(0), ..at(1, 1.3, 1.4) }, None);
    let targets = [(9.0, 0.5), (5.0, 2.9), (9.9, 2.0), (9.9, 9.0), (4.0, 4.1), (-5.0, 5.0), (2.0, -9.0)];
    for round in 0..420 {
        // Along all walls, and against them.
        let target = Vec2::from(targets[round / 60]);
        scene.bodies[large].wanted = (target - scene.bodies[large].position) * 20.0;
        scene.step(&[footing]);
        let place = scene.bodies[large].position;
        assert!(depth(footing, place, 1.2) < 0.012, "step {round}: at {place}");
        farthest = farthest.max(place.distance(Vec2::new(1.3, 1.4)));
    }
    assert!(farthest > 7.0, "it gets about: {farthest}");
}

#[test]
fn a_large_one_never_squeezes_into_a_gap() {
    let map = Map::from_text(".....#.....\n.....#.....\n...........\n.....#.....\n.....#.....").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let mut scene = Scene::default();
    let body = Body { radius: 0.7, ground: Some(0), ..at(1, 2.0, 2.5) };
    scene.add(body, Some(Vec2::new(9.0, 2.5)));
    for _ in 0..120 {
        scene.step(&[footing]);
        let place = scene.bodies[0].position;
        assert!(depth(footing, place, 0.7) < 0.007, "at {place}");
    }
    assert!(scene.bodies[0].position.x > 4.4, "it stands before it: {}", scene.bodies[0].position);
}

#[test]
fn one_that_is_in_a_wall_finds_its_way_out() {
    let map = Map::from_text(
        "#######
         #..####
         #..####
         #######",
    )
    .unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let caught = Vec2::new(5.3, 2.6);
    for stance in [Stance::Walking, Stance::Idle, Stance::Locked] {
        let mut scene = Scene::default();
        scene.add(Body { stance, ground: Some(0), ..at(1, caught.x, caught.y) }, None);
        for _ in 0..60 {
            scene.step(&[footing]);
        }
        let place = scene.bodies[0].position;
        if stance == Stance::Locked {
            assert_eq!(place, caught);
        } else {
            assert!(depth(footing, place, 0.4) < 0.004, "{stance:?}: at {place}");
        }
    }
    // One that knows where it wants to goes there, straight; and its disc is clear of walls in the end.
    let mut scene = Scene::default();
    let goal = Vec2::new(1.5, 1.5);
    scene.add(Body { ground: Some(0), ..at(1, caught.x, caught.y) }, Some(goal));
    for _ in 0..60 {
        scene.step(&[footing]);
    }
    assert!(scene.bodies[0].position.distance(goal) < 0.11, "{}", scene.bodies[0].position);
}

#[test]
fn where_there_is_no_way_out_one_stays() {
    let snapshot = Snapshot::new(&Map::filled(50, 50, Terrain::WALL).unwrap(), &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    // In the middle of it, outside of the map, and so far away that no cell can be named.
    for place in [Vec2::splat(25.2), Vec2::splat(-7.0), Vec2::new(1e30, 0.0)] {
        for stance in [Stance::Walking, Stance::Idle, Stance::Locked] {
            let mut scene = Scene::default();
            scene.add(Body { stance, ground: Some(0), ..at(1, place.x, place.y) }, None);
            // Somebody who stands on the same spot does not push it deeper.
            scene.add(Body { stance, ..at(2, place.x, place.y) }, None);
            for _ in 0..10 {
                scene.step(&[footing]);
            }
            assert_eq!(scene.bodies[0].position, place, "{stance:?}");
        }
    }
}

#[test]
fn a_ground_that_is_not_there_stops_nobody() {
    let snapshot = Snapshot::new(&Map::from_text(".#.").unwrap(), &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    for (ground, is_stopped) in [(Some(0), true), (Some(1), false), (Some(255), false), (None, false)] {
        let mut scene = Scene::default();
        scene.add(Body { ground, ..at(1, 0.5, 0.5) }, Some(Vec2::new(2.5, 0.5)));
        for _ in 0..40 {
            scene.step(&[footing]);
        }
        assert_eq!(scene.bodies[0].position.x < 1.0, is_stopped, "{ground:?}");
    }
}

#[test]
fn bodies_larger_than_the_map_take_no_time_to_speak_of() {
    let snapshot = Snapshot::new(&Map::new(600, 600).unwrap(), &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let began = std::time::Instant::now();
    for radius in [1e3, 1e9, f32::MAX, f32::INFINITY] {
        let disc = Disc { centre: Vec2::splat(300.0), radius };
        assert!(push(footing, disc, Vec2::new(3.0, 1.0)).is_finite());
        assert!(fit(footing, disc).is_finite());
        let mut scene = Scene::default();
        scene.add(Body { radius, ground: Some(0), wanted: Vec2::X, ..at(1, 300.0, 300.0) }, None);
        scene.add(locked(Body { ground: Some(0), ..at(2, 301.0, 300.0) }), None);
        for _ in 0..3 {
            scene.step(&[footing]);
            assert!(scene.bodies[0].position.is_finite());
        }
    }
    assert!(began.elapsed().as_secs_f32() < 5.0);
}

#[test]
fn a_disc_is_fitted_between_walls() {
    let map = Map::from_text("....#\n....#\n#####").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let fitted = |x, y, radius| fit(footing, Disc { centre: Vec2::new(x, y), radius });
    assert!(fitted(3.9, 1.9, 0.4).distance(Vec2::splat(3.6).with_y(1.6)) < 1e-3);
    assert_eq!(fitted(2.0, 1.0, 0.4), Vec2::new(2.0, 1.0), "clear already");
    assert_eq!(fitted(2.2, 1.1, 1.5), Vec2::new(2.2, 1.1), "no room at all");
    assert_eq!(fitted(4.5, 1.0, 0.4), Vec2::new(4.5, 1.0), "in a wall");
    for radius in [0.0, -1.0, f32::NAN] {
        assert_eq!(fitted(3.99, 1.0, radius), Vec2::new(3.99, 1.0));
    }
    assert!(fitted(f32::NAN, 1.0, 0.4).x.is_nan());
    let disc = Disc { centre: Vec2::new(3.5, 1.0), radius: 0.4 };
    for by in [Vec2::NAN, Vec2::new(f32::INFINITY, 0.0), Vec2::new(0.0, f32::MAX)] {
        let pushed = push(footing, disc, by);
        assert!(pushed.is_finite() && depth(footing, pushed, 0.4) < 0.004, "{by}: {pushed}");
    }
}
