//! Sides of the road: whoever keeps left does what one does who keeps right, in a mirror, also where it gets no farther.

use glam::Vec2;
use wayfare::avoid::{Body, Course, CrowdSettings, RoadSide, Rung, Stance};
use wayfare::prelude::*;

use crate::avoid::{Scene, at, idle, locked};
use crate::support::Random;

fn keeping(side: RoadSide) -> Scene {
    Scene { settings: CrowdSettings { side, ..CrowdSettings::default() }, ..Scene::default() }
}

/// The same with left and right exchanged, if that is so.
fn seen(point: Vec2, side: RoadSide) -> Vec2 {
    if side == RoadSide::Left { Vec2::new(point.x, -point.y) } else { point }
}

/// Where a unit is at each step that walks straight at a wall of locked ones, and its rung.
fn at_a_wall(side: RoadSide) -> Vec<(Vec2, Rung)> {
    let mut scene = keeping(side);
    let walker = scene.add(at(1, -3.0, 0.0), Some(Vec2::new(9.0, 0.0)));
    for (id, row) in (2..).zip(-4_i8..=4) {
        scene.add(locked(at(id, 0.0, 0.7 * f32::from(row))), None);
    }
    (0..200)
        .map(|_| {
            let rung = scene.step(&[])[walker].memory.rung();
            (seen(scene.bodies[walker].position, side), rung)
        })
        .collect()
}

#[test]
fn before_a_wall_the_left_is_the_mirror_of_the_right() {
    let right = at_a_wall(RoadSide::Right);
    let aside = right.iter().map(|(place, _)| place.y).find(|y| y.abs() > 0.1);
    assert!(aside.is_some_and(|y| y < 0.0), "to the right first: {aside:?}");
    assert!(right.iter().any(|(_, rung)| *rung > Rung::SideSteps), "it tries everything");
    assert_eq!(at_a_wall(RoadSide::Left), right);
}

/// How far to the left a unit is at each step in which it side-steps, before a gap that it does not fit through.
fn at_a_gap(side: RoadSide) -> Vec<f32> {
    let text = "......#...\n......#...\n..........\n......#...\n......#...";
    let snapshot = Snapshot::new(&Map::from_text(text).unwrap(), &View::default());
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let mut scene = keeping(side);
    let large = Body { radius: 0.8, ground: Some(0), ..at(1, 3.0, 2.5) };
    let unit = scene.add(large, Some(Vec2::new(9.0, 2.5)));
    let mut places = Vec::new();
    for _ in 0..100 {
        scene.step(&ground);
        if scene.bodies[unit].memory.rung() == Rung::SideSteps {
            places.push(scene.bodies[unit].position.y - 2.5);
        }
    }
    places
}

#[test]
fn who_side_steps_tries_its_own_side_first() {
    let (right, left) = (at_a_gap(RoadSide::Right), at_a_gap(RoadSide::Left));
    let first = |places: &[f32]| places.iter().copied().find(|y| y.abs() > 0.05);
    assert!(first(&right).is_some_and(|y| y < 0.0), "{right:?}");
    assert_eq!(right.len(), left.len());
    // Which corner of the gap pushes it first is not mirrored.
    let differs = right.iter().zip(&left).position(|(right, left)| (right + left).abs() > 0.05);
    assert_eq!(differs, None, "{right:?} {left:?}");
}

/// Where an idle unit is at each step past which another one walks.
fn made_way(side: RoadSide) -> Vec<Vec2> {
    let mut scene = keeping(side);
    let one = scene.add(idle(at(1, 0.0, 0.0)), None);
    scene.add(at(2, -4.0, 0.0), Some(Vec2::new(5.0, 0.0)));
    (0..100)
        .map(|_| {
            scene.step(&[]);
            seen(scene.bodies[one].position, side)
        })
        .collect()
}

#[test]
fn the_idle_make_way_to_the_side_on_which_nobody_keeps() {
    let right = made_way(RoadSide::Right);
    assert!(right.iter().any(|place| place.y > 0.3));
    assert_eq!(made_way(RoadSide::Left), right);
}

/// Two streams that meet: how far to the left of their ways units are on average in the middle of it, and whether all arrive.
fn streams(side: RoadSide, seed: u64) -> f32 {
    let mut random = Random::new(seed);
    let mut part = || random.below(1 << 20) as f32 / (1 << 20) as f32 - 0.5;
    let mut scene = keeping(side);
    for i in 0..60_u16 {
        let (row, column) = (f32::from(i % 6) - 2.5, f32::from(i / 12));
        let ahead = if i % 12 < 6 { 1.0 } else { -1.0 };
        let place = Vec2::new(-ahead * (6.0 + 1.3 * column) + 0.2 * part(), 1.2 * row + 0.2 * part());
        // Mirrored places, so that only the side makes the difference.
        let goal = place + Vec2::X * ahead * 22.0;
        let body = Body { position: seen(place, side), ..at(u64::from(i), 0.0, 0.0) };
        scene.add(body, Some(seen(goal, side)));
    }
    let homes: Vec<Vec2> = scene.bodies.iter().map(|body| body.position).collect();
    let (mut left, mut count) = (0.0, 0);
    for _ in 0..600 {
        scene.step(&[]);
        for (body, home) in scene.bodies.iter().zip(&homes) {
            if body.position.x.abs() < 3.0 && body.stance == Stance::Walking {
                left += (body.position.y - home.y) * -home.x.signum();
                count += 1;
            }
        }
    }
    assert!(
        scene.bodies.iter().all(|body| body.stance == Stance::Idle),
        "{side:?} {seed}: some are on their way"
    );
    left / count as f32
}

#[test]
fn streams_keep_to_their_side() {
    let mean = |side| (1..=6).map(|seed| streams(side, seed)).sum::<f32>() / 6.0;
    let (right, left, either) = (mean(RoadSide::Right), mean(RoadSide::Left), mean(RoadSide::Either));
    assert!(right < -0.1 && left > 0.1, "{right} {left}");
    assert!(
        (right + left).abs() < 0.25 * (left - right),
        "the left is the mirror of the right: {right} {left}"
    );
    assert!(either.abs() < right.abs().min(left), "{either} is between {right} and {left}");
}

#[test]
fn who_keeps_to_neither_side_turns_to_where_its_way_bends() {
    for bend in [1.0, -1.0] {
        let end = Vec2::new(4.0, bend * 4.0);
        let mut scene = keeping(RoadSide::Either);
        // It follows a way that leads straight on first.
        let unit = scene.add(Body { wanted: Vec2::X * 3.0, ..at(1, -1.5, 0.0) }, None);
        for (id, row) in (2..).zip(-6_i8..=6) {
            scene.add(locked(at(id, 0.0, 0.7 * f32::from(row))), None);
        }
        for _ in 0..60 {
            let body = &mut scene.bodies[unit];
            body.course = Some(Course { end, to_go: body.position.distance(end) });
            scene.step(&[]);
            if scene.bodies[unit].position.y.abs() > 0.1 {
                break;
            }
        }
        let aside = scene.bodies[unit].position.y;
        assert!(aside * bend > 0.1, "{bend}: {aside}");
    }
}
