//! Crowds of very different sizes: nobody is too large or too small to be seen.

use glam::Vec2;
use wayfare::avoid::{Body, Crowd, Stance};

use crate::avoid::{DT, Scene, at, idle};
use crate::support::Random;

fn part(random: &mut Random) -> f32 {
    random.below(1 << 20) as f32 / (1 << 20) as f32
}

/// From surface to surface.
fn gap(a: &Body, b: &Body) -> f32 {
    a.position.distance(b.position) - a.radius - b.radius
}

fn sorted(bodies: &[Body]) -> Crowd {
    let mut crowd = Crowd::new();
    bodies.iter().for_each(|body| crowd.push(*body));
    crowd.sort(DT);
    crowd
}

/// Looks at everybody: those in the list are nearer than those who are not, and as many as there may be.
fn check_lists(bodies: &[Body], sight: f32) {
    let crowd = sorted(bodies);
    for (i, body) in bodies.iter().enumerate() {
        let mut all: Vec<usize> =
            (0..bodies.len()).filter(|j| *j != i && gap(body, &bodies[*j]) < sight).collect();
        all.sort_by(|a, b| gap(body, &bodies[*a]).total_cmp(&gap(body, &bodies[*b])));
        let found: Vec<usize> = crowd.neighbours(i).collect();
        let farthest = found.iter().map(|j| gap(body, &bodies[*j])).fold(f32::NEG_INFINITY, f32::max);
        let nearer = all.iter().filter(|j| gap(body, &bodies[**j]) < farthest - 1e-4);
        assert!(nearer.clone().all(|j| found.contains(j)), "{i}: {found:?}, not {:?}", &all[..found.len()]);
        // Where the last ones are about equally far, some of them may be left out.
        assert!(farthest < sight + 1e-4 && found.len() >= all.len().min(Crowd::NEIGHBOURS / 2), "{i}");
    }
}

#[test]
fn the_nearest_are_those_whose_surface_is() {
    let mut random = Random::new(3);
    for radii in [&[0.3, 0.4, 0.7][..], &[0.1, 0.9], &[0.3; 3], &[0.0, 0.5, 1.9]] {
        for side in [15.0, 25.0, 40.0] {
            let mut bodies: Vec<Body> = (0..300)
                .map(|i| Body {
                    radius: radii[random.below(radii.len() as u32) as usize],
                    ..at(i, side * part(&mut random), side * part(&mut random))
                })
                .collect();
            check_lists(&bodies, 3.0 * 0.55);
            // And with some that are far larger than the rest.
            let widest = radii.iter().copied().fold(0.0, f32::max);
            for (id, times) in (1000..).zip([3.0, 6.0, 3.0]) {
                let place = Vec2::new(part(&mut random), part(&mut random)) * side;
                bodies.push(Body { radius: times * widest, ..at(id, place.x, place.y) });
            }
            check_lists(&bodies, 3.0 * 0.55);
        }
    }
}

#[test]
fn a_giant_beside_a_soldier_is_seen_before_comrades() {
    // A dozen comrades whose middles are nearer.
    let soldier = Body { radius: 0.3, ..at(0, 0.0, 0.0) };
    let giant = Body { radius: 3.0, ..at(1, 3.2, 0.0) };
    let comrades = (2..14).map(|id| {
        let place = Vec2::from_angle(1.0 + 4.3 * (id - 2) as f32 / 12.0) * 1.2;
        Body { radius: 0.3, ..at(id, place.x, place.y) }
    });
    let bodies: Vec<Body> = [soldier, giant].into_iter().chain(comrades).collect();
    assert!(sorted(&bodies).neighbours(0).any(|other| other == 1));
    // Even if there are too many giants for them to be a few.
    let crowd = (14..60).map(|id| Body { radius: 3.0, ..at(id, 20.0 * id as f32, 0.0) });
    let bodies: Vec<Body> = bodies.into_iter().chain(crowd).collect();
    assert!(sorted(&bodies).neighbours(0).any(|other| other == 1));
}

/// How deep the giant gets into others, in radii of theirs, at worst after the first steps.
fn giant_among(others: Stance) -> f32 {
    let mut scene = Scene::default();
    for i in 0..100_u16 {
        let place = Vec2::new(f32::from(i % 10), f32::from(i / 10)) * 0.9;
        let body = Body { radius: 0.3, ..at(u64::from(i), place.x, place.y) };
        match others {
            Stance::Walking => scene.add(body, Some(place - Vec2::X * 15.0)),
            _ => scene.add(idle(body), None),
        };
    }
    let goal = Vec2::new(16.0, 4.0);
    let giant = scene.add(Body { radius: 3.0, speed: 2.0, ..at(500, -6.0, 4.0) }, Some(goal));
    let mut deepest = 0.0_f32;
    for step in 0.. {
        scene.step(&[]);
        let giant = &scene.bodies[giant];
        let depth = |other: &Body| {
            (giant.radius + other.radius - giant.position.distance(other.position)) / other.radius
        };
        deepest = scene.bodies[..100].iter().map(depth).fold(deepest, f32::max);
        if giant.stance == Stance::Idle {
            assert!(giant.position.distance(goal) < 3.0, "{}", giant.position);
            break;
        }
        assert!(step < 1200, "it is at {}", giant.position);
    }
    deepest
}

#[test]
fn a_giant_walks_through_many_who_stand_and_many_who_come() {
    for others in [Stance::Idle, Stance::Walking] {
        let depth = giant_among(others);
        assert!(depth < 0.5, "{others:?}: {depth}");
    }
}
