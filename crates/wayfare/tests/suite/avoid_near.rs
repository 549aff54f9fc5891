//! Neighbours against an oracle, and the same result whoever does the work, in whatever order.

use core::num::NonZeroUsize;

use glam::Vec2;
use wayfare::avoid::{Body, Crowd, Disc, Layers, OneThread, Outcome, Spread, Stance, Threads};
use wayfare::prelude::*;

use crate::avoid::{DT, Scene, at, locked};
use crate::support::Random;

fn unit(random: &mut Random) -> f32 {
    random.below(1 << 20) as f32 / (1 << 20) as f32
}

/// Looks at everybody and compares: those who are found are the nearest, and as many as there may be.
fn check_neighbours(crowd: &Crowd, bodies: &[Body], within: f32) {
    for (i, body) in bodies.iter().enumerate() {
        let gap = |other: usize| bodies[other].position.distance_squared(body.position);
        let mut all: Vec<usize> = (0..bodies.len())
            .filter(|j| *j != i && body.layers.avoid(bodies[*j].layers) && gap(*j) < within * within)
            .collect();
        all.sort_by(|a, b| gap(*a).total_cmp(&gap(*b)).then(a.cmp(b)));
        let mut found: Vec<usize> = crowd.neighbours_within(i, within).collect();
        found.sort_by(|a, b| gap(*a).total_cmp(&gap(*b)).then(a.cmp(b)));
        let most = all.len().min(Crowd::NEIGHBOURS);
        // Where the last ones are about equally far, some of them may be left out.
        let is_tied = all.len() > most && {
            let nearest = |rank: usize| gap(all[rank]);
            nearest(most) - nearest(most - 1) < 0.01 * within * within
        };
        assert!(found.len() == most || (is_tied && found.len() >= most / 2), "{i}: {found:?} of {all:?}");
        assert_eq!(found, all[..found.len()], "{i} of {}", bodies.len());
    }
}

fn sorted(bodies: &[Body]) -> Crowd {
    let mut crowd = Crowd::new();
    for body in bodies {
        crowd.push(*body);
    }
    crowd.sort(DT);
    crowd
}

#[test]
fn neighbours_are_the_nearest() {
    let mut random = Random::new(5);
    for round in 0..60_u16 {
        let (count, side) = (1 + random.below(250), 1.0 + 20.0 * unit(&mut random));
        let middle = (Vec2::new(unit(&mut random), unit(&mut random)) - 0.5) * f32::from(round) * 100.0;
        let mut bodies: Vec<Body> = (0..count)
            .map(|i| {
                let place = middle + Vec2::new(unit(&mut random), unit(&mut random)) * side;
                let layers = Layers { on: 1 << random.below(2), avoids: 1 + random.below(3) };
                Body { layers, ..at(u64::from(i), place.x, place.y) }
            })
            .collect();
        // One far away folds the grid of all others.
        if round % 3 == 0 {
            bodies.push(at(9999, 1e9, -1e9));
        }
        let crowd = sorted(&bodies);
        for within in [0.3, 1.0, 2.4, 4.0] {
            check_neighbours(&crowd, &bodies, within);
        }
        assert_eq!(crowd.neighbours_within(0, f32::NAN).count(), 0);
        assert_eq!(crowd.neighbours_within(0, -2.0).count(), 0);
        assert_eq!(crowd.neighbours(bodies.len()).count(), 0);
    }
}

#[test]
fn neighbours_of_a_long_line_are_those_beside() {
    for direction in [Vec2::X, Vec2::NEG_Y, Vec2::new(-0.6, 0.8)] {
        let bodies: Vec<Body> = (0..600_u16)
            .map(|i| {
                let place = direction * f32::from(i) * 1.7;
                at(u64::from(i) * 3, place.x, place.y)
            })
            .collect();
        check_neighbours(&sorted(&bodies), &bodies, 2.3);
    }
}

#[test]
fn one_before_a_pile_sees_somebody_of_it() {
    // More than a list holds, and all equally far.
    let pile = (1..30).map(|id| at(id, 0.5, 0.0));
    let bodies: Vec<Body> = core::iter::once(at(0, 0.0, 0.0)).chain(pile).collect();
    assert_eq!(sorted(&bodies).neighbours(0).count(), Crowd::NEIGHBOURS);
}

#[test]
fn one_giant_and_one_runner_blind_nobody() {
    let mut random = Random::new(6);
    let mut bodies: Vec<Body> = (0..1500)
        .map(|i| at(i, 25.0 * unit(&mut random), 25.0 * unit(&mut random)))
        .map(|body| Body { radius: 0.3, ..body })
        .collect();
    bodies.push(Body { radius: 3.0, ..at(5000, -20.0, 0.0) });
    bodies.push(Body { speed: 20.0, ..at(5001, -40.0, 0.0) });
    let crowd = sorted(&bodies);
    check_neighbours(&crowd, &bodies, 2.0);
    check_neighbours(&crowd, &bodies, 6.0);
}

#[test]
fn a_giant_far_away_does_not_press_others_into_each_other() {
    let mut scene = Scene::default();
    for i in 0..500_u16 {
        let place = Vec2::new(f32::from(i % 25), f32::from(i / 25)) * 0.65;
        let small = Body { radius: 0.3, ..at(u64::from(i), place.x, place.y) };
        scene.add(small, Some(place + Vec2::new(30.0, 0.0)));
    }
    scene.add(locked(Body { radius: 4.0, speed: 20.0, ..at(999, -30.0, 0.0) }), None);
    let mut deepest = 0.0_f32;
    for _ in 0..20 {
        scene.step(&[]);
        deepest = deepest.max(scene.overlap());
    }
    assert!(deepest < 0.2, "{deepest}");
}

#[test]
fn those_who_stand_around_are_found() {
    let mut scene = Scene::default();
    let own = scene.add(at(1, 0.0, 0.0), Some(Vec2::new(5.0, 0.0)));
    scene.add(locked(at(2, 2.0, 0.0)), None);
    scene.add(Body { stance: Stance::Idle, radius: 0.7, ..at(3, 0.0, 3.0) }, None);
    scene.add(at(4, 0.0, -3.0), Some(Vec2::new(9.0, -3.0)));
    scene.add(locked(Body { layers: Layers::only(3), ..at(5, 1.0, 1.0) }), None);
    scene.add(locked(at(6, 0.0, 9.0)), None);
    scene.step(&[]);
    let mut discs = vec![Disc { centre: Vec2::ZERO, radius: 1.0 }];
    scene.crowd.standing_around(own, 4.0, &mut discs);
    discs.sort_by(|a, b| b.centre.x.total_cmp(&a.centre.x));
    let disc = |x, y, radius| Disc { centre: Vec2::new(x, y), radius };
    assert_eq!(discs, [disc(2.0, 0.0, 0.4), disc(0.0, 3.0, 0.7)]);
    for reach in [f32::NAN, -4.0, 0.0] {
        scene.crowd.standing_around(own, reach, &mut discs);
        assert_eq!(discs, [], "{reach}");
    }
    scene.crowd.standing_around(77, 4.0, &mut discs);
    assert!(discs.is_empty());
}

#[test]
fn those_who_walk_around_a_place_are_found() {
    let mut scene = Scene::default();
    let own = scene.add(Body { stance: Stance::Idle, ..at(1, 0.0, 0.0) }, None);
    let walker = scene.add(at(2, 7.0, 0.0), Some(Vec2::new(5.0, 0.0)));
    scene.add(Body { layers: Layers::only(3), ..at(3, 7.0, 1.0) }, Some(Vec2::new(5.0, 0.0)));
    scene.add(Body { stance: Stance::Idle, ..at(4, 7.0, 2.0) }, None);
    scene.add(locked(at(5, 7.0, -2.0)), None);
    scene.add(at(6, 12.0, 0.0), Some(Vec2::new(5.0, 0.0)));
    scene.step(&[]);
    let found = |own, place, reach| {
        let mut found = Vec::new();
        scene.crowd.walking_around(own, place, reach, |number| found.push(number));
        found
    };
    let place = Vec2::new(8.0, 0.0);
    assert_eq!(found(own, place, 3.0), [walker]);
    assert_eq!(found(walker, place, 3.0), [], "not itself");
    for (own, place, reach) in
        [(own, Vec2::ZERO, 3.0), (77, place, 3.0), (own, place, f32::NAN), (own, Vec2::NAN, 9.0)]
    {
        assert_eq!(found(own, place, reach), [], "{own} {place} {reach}");
    }
}

/// Near and far, in a few squares and in all of them: each once.
#[test]
fn who_walks_around_a_place_is_found_at_any_reach() {
    let mut scene = Scene::default();
    let mut random = Random::new(9);
    let mut places = Vec::new();
    for id in 0..400 {
        let place = Vec2::new(90.0 * unit(&mut random), 40.0 * unit(&mut random));
        scene.add(at(id, place.x, place.y), Some(place + Vec2::X));
        places.push(place);
    }
    scene.step(&[]);
    for reach in [0.5, 2.0, 7.0, 30.0, 500.0, f32::INFINITY] {
        for centre in [Vec2::new(45.0, 20.0), Vec2::new(-3.0, 44.0), places[17]] {
            let mut found = Vec::new();
            scene.crowd.walking_around(0, centre, reach, |number| found.push(number));
            found.sort_unstable();
            let is_near = |number: &usize| *number > 0 && places[*number].distance(centre) <= reach;
            assert_eq!(found, (0..400).filter(is_near).collect::<Vec<_>>(), "{reach} around {centre}");
        }
    }
}

/// A crowd with everything in it, in an order by `shuffle`.
fn medley(shuffle: u64) -> Scene {
    let mut random = Random::new(11);
    let mut scene = Scene::default();
    for i in 0..300_u64 {
        // Some on top of each other.
        let place = Vec2::new(9.0 + 11.0 * unit(&mut random), 9.0 + 11.0 * unit(&mut random)).floor() + 0.5;
        let goal = Vec2::new(1.0 + 28.0 * unit(&mut random), 1.0 + 28.0 * unit(&mut random));
        let stance = [Stance::Walking, Stance::Walking, Stance::Walking, Stance::Idle, Stance::Locked]
            [random.below(5) as usize];
        let body = Body {
            id: i.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            radius: [0.2, 0.3, 0.45][random.below(3) as usize],
            speed: [1.5, 3.0][random.below(2) as usize],
            priority: random.below(3) as i8,
            layers: Layers { on: 1 << random.below(2), avoids: 1 + random.below(3) },
            ground: random.below(8).checked_sub(1).map(|_| 0),
            stance,
            ..at(0, place.x, place.y)
        };
        scene.add(body, Some(goal));
    }
    let mut random = Random::new(shuffle);
    for i in (1..scene.bodies.len()).rev() {
        let j = random.below(i as u32 + 1) as usize;
        if shuffle > 0 {
            scene.bodies.swap(i, j);
            scene.goals.swap(i, j);
        }
    }
    scene
}

/// Everything that goes out, by name.
fn told(scene: &Scene, outcomes: &[Outcome]) -> String {
    let mut all: Vec<_> = scene.bodies.iter().map(|body| body.id).zip(outcomes).collect();
    all.sort_by_key(|(id, _)| *id);
    format!("{all:?}")
}

fn run(shuffle: u64, spread: &impl Spread) -> Vec<String> {
    let mut map = Map::new(30, 30).unwrap();
    for cell in map.area().unwrap().cells().filter(|cell| (cell.x * 7 + cell.y * 3) % 23 == 0) {
        map.set(cell, Terrain::WALL).unwrap();
    }
    let snapshot = Snapshot::new(&map, &View::default());
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let mut scene = medley(shuffle);
    let mut all = Vec::new();
    for step in 0..200 {
        let outcomes = scene.step_on(&ground, spread).to_vec();
        if step % 20 == 19 {
            all.push(told(&scene, &outcomes));
        }
    }
    all
}

#[test]
fn neither_order_nor_threads_change_a_bit() {
    let threads = |count| Threads(NonZeroUsize::new(count).unwrap());
    let expected = run(0, &OneThread);
    assert!(expected[0] != expected[9], "something happens");
    assert!(run(7, &OneThread) == expected, "shuffled");
    assert!(run(0, &threads(2)) == expected, "two threads");
    assert!(run(8, &threads(4)) == expected, "four threads, shuffled");
}

#[test]
fn a_warm_crowd_allocates_nothing() {
    let map = Map::new(30, 30).unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let mut scene = medley(0);
    for _ in 0..20 {
        scene.step(&ground);
    }
    let mut discs = Vec::with_capacity(300);
    let counted = allocation_counter::measure(|| {
        for _ in 0..50 {
            scene.step(&ground);
            assert!(scene.crowd.neighbours(7).count() <= Crowd::NEIGHBOURS);
            scene.crowd.standing_around(7, 9.0, &mut discs);
        }
    });
    assert_eq!(counted.count_total, 0);
}
