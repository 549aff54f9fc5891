//! What nobody should hand in, and what happens then: numbers that are none, and everybody on one point.

use core::num::NonZeroUsize;

use glam::Vec2;
use wayfare::avoid::{Body, Course, Crowd, CrowdSettings, OneThread, Stance, Threads};
use wayfare::prelude::*;

use crate::avoid::{DT, Scene, at, idle, step};

#[test]
fn a_place_that_is_none_takes_a_unit_out_of_the_step() {
    let others = [at(1, 0.0, 0.0), at(2, 0.5, 0.1), at(3, 1.0, -0.2)]
        .map(|body| Body { wanted: Vec2::new(1.0, 0.5), ..body });
    let expected = step(&others, DT);
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in [Vec2::new(odd, 0.0), Vec2::new(0.0, odd), Vec2::splat(odd)] {
            let nowhere = Body { position: place, wanted: Vec2::X, ..at(9, 0.0, 0.0) };
            let outcomes = step(&[others[0], nowhere, others[1], others[2]], DT);
            assert_eq!(format!("{place}"), format!("{}", outcomes[1].position), "it is left where it was");
            assert_eq!((outcomes[1].velocity, outcomes[1].blocker), (Vec2::ZERO, None));
            let rest = [outcomes[0], outcomes[2], outcomes[3]];
            assert_eq!(format!("{rest:?}"), format!("{expected:?}"), "the others do not notice");
        }
    }
    assert!(step(&[], DT).is_empty());
}

#[test]
fn senseless_numbers_send_nobody_nowhere() {
    let map = Map::from_text("......\n.#....\n......").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 0.0, -0.0, f32::MAX, f32::MIN, 1e-30, 1e30];
    type Set = fn(&mut Body, f32);
    let setters: [Set; 8] = [
        |body, value| body.velocity = Vec2::new(value, 1.0),
        |body, value| body.wanted = Vec2::new(1.0, value),
        |body, value| body.wanted = Vec2::splat(value),
        |body, value| body.speed = value,
        |body, value| body.radius = value,
        |body, value| (body.radius, body.speed) = (value, value),
        |body, value| body.course = Some(Course { end: Vec2::new(value, 0.0), to_go: 3.0 }),
        |body, value| body.course = Some(Course { end: Vec2::ONE, to_go: value }),
    ];
    for (which, set) in setters.iter().enumerate() {
        for value in odd {
            for stance in [Stance::Walking, Stance::Idle, Stance::Locked] {
                let mut scene = Scene::default();
                for (id, x) in [(1, 0.6), (2, 1.4), (3, 3.0), (4, 3.0)] {
                    let ground = (id != 3).then_some(0);
                    scene.add(Body { wanted: Vec2::X, ground, ..at(id, x, 0.6) }, None);
                }
                scene.bodies[2].stance = stance;
                set(&mut scene.bodies[2], value);
                scene.bodies[1].stance = stance;
                set(&mut scene.bodies[1], value);
                for _ in 0..4 {
                    for outcome in scene.step(&ground) {
                        assert!(
                            outcome.position.is_finite() && outcome.velocity.is_finite(),
                            "{which} {value} {stance:?}: {outcome:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn places_at_the_end_of_all_numbers_are_places() {
    for far in [f32::MAX, f32::MIN, 1e30, -1e30, 9.3e18, -9.3e18, 3e9, -3e9] {
        let far = Body { position: Vec2::new(far, -far), wanted: Vec2::X, ..at(5, 0.0, 0.0) };
        let near = [at(1, 0.0, 0.0), at(2, 0.3, 0.0)];
        let outcomes = step(&[near[0], far, near[1]], DT);
        assert!(outcomes.iter().all(|outcome| outcome.position.is_finite() && outcome.velocity.is_finite()));
        assert!(outcomes[0].position.distance(outcomes[2].position) > 0.35, "the others part all the same");
    }
}

#[test]
fn a_time_that_is_none_moves_nobody() {
    // They overlap each other and a wall, and want to go somewhere.
    let map = Map::from_text("..#").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    for dt in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40] {
        let mut crowd = Crowd::new();
        let bodies = [at(1, 1.5, 0.5), at(2, 1.8, 0.5), idle(at(3, 1.9, 0.4))];
        for body in bodies {
            crowd.push(Body { wanted: Vec2::X, ground: Some(0), ..body });
        }
        crowd.step(&CrowdSettings::default(), dt, &ground, &OneThread);
        for (body, outcome) in bodies.iter().zip(crowd.outcomes()) {
            assert_eq!((outcome.position, outcome.velocity), (body.position, Vec2::ZERO), "{dt}");
        }
    }
    // The longest is a quarter of a second.
    let walker = Body { wanted: Vec2::X, ..at(1, 0.0, 0.0) };
    assert_eq!(step(&[walker], 1e9)[0].position, Vec2::new(0.25, 0.0));
}

#[test]
fn points_without_a_size_pass_through_each_other() {
    let point = |id, x: f32| Body { radius: 0.0, wanted: Vec2::new(-x.signum(), 0.0), ..at(id, x, 0.0) };
    let mut scene = Scene::default();
    scene.add(point(1, -0.5), None);
    scene.add(point(2, 0.5), None);
    for _ in 0..20 {
        scene.step(&[]);
        assert!(scene.bodies.iter().all(|body| body.position.is_finite()));
    }
    // They are about where they wanted to be; each may have gone around the other.
    assert!(scene.bodies[0].position.x > 0.3 && scene.bodies[1].position.x < -0.3);
}

#[test]
fn two_hundred_on_one_point_part() {
    for stance in [Stance::Walking, Stance::Idle] {
        let mut scene = Scene::default();
        for i in 0..200 {
            // Names need not follow each other.
            let id = if i % 3 == 0 { i * 65_536 } else { u64::MAX - i * 1000 };
            scene.add(Body { stance, ..at(id, 7.0, -7.0) }, None);
        }
        let mut steps = 0;
        while scene.overlap() > 0.2 {
            scene.step(&[]);
            steps += 1;
            assert!(steps < 400, "{stance:?}: still {} deep", scene.overlap());
        }
        let spread = scene.bodies.iter().map(|body| body.position.distance(Vec2::new(7.0, -7.0)));
        let farthest = spread.fold(0.0, f32::max);
        assert!((4.0..20.0).contains(&farthest), "the ideal disc has a radius of 6: {farthest}");
    }
}

#[test]
fn thousands_on_one_point_take_no_time_to_speak_of() {
    let mut scene = Scene::default();
    for i in 0..2000 {
        scene.add(at(i, 0.0, 0.0), None);
    }
    let began = std::time::Instant::now();
    for _ in 0..8 {
        scene.step(&[]);
    }
    assert!(began.elapsed().as_secs_f32() < 5.0);
    let apart = scene.bodies.iter().filter(|body| body.position.length() > 0.1).count();
    assert!(apart > 1500, "only {apart} have moved");
}

#[test]
fn the_threads_that_there_are_not_do_no_harm() {
    let threads = Threads(NonZeroUsize::new(7).unwrap());
    let mut crowd = Crowd::new();
    crowd.step(&CrowdSettings::default(), DT, &[], &threads);
    assert!(crowd.is_empty() && crowd.outcomes().is_empty());
    crowd.push(at(1, 0.0, 0.0));
    crowd.step(&CrowdSettings::default(), DT, &[], &threads);
    assert_eq!((crowd.len(), crowd.outcomes().len()), (1, 1));
}
