//! Units that stand where there is no room for all: they jostle for a while and then let it be, until somebody comes.

use core::num::NonZeroUsize;

use glam::Vec2;
use wayfare::avoid::{Body, OneThread, Threads};
use wayfare::prelude::*;

use crate::avoid::{Scene, at, idle};

const SECOND: usize = 20;

/// Units that stand on one cell, which has room for one of them. `order` says in which order they are in memory.
fn pile(order: impl Iterator<Item = u64>) -> Scene {
    let mut scene = Scene::default();
    for id in order {
        scene.add(idle(Body { ground: Some(0), ..at(id, 1.5, 1.5) }), None);
    }
    scene
}

fn places(scene: &Scene) -> Vec<(u64, [u32; 2])> {
    let place = |body: &Body| (body.id, body.position.to_array().map(f32::to_bits));
    let mut places: Vec<_> = scene.bodies.iter().map(place).collect();
    places.sort_unstable();
    places
}

#[test]
fn a_pile_without_room_comes_to_rest() {
    let walled = Snapshot::new(&Map::from_text("###\n#.#\n###").unwrap(), &View::default());
    let ground = [Footing { snapshot: &walled, layout: &Layout::default() }];
    let mut scene = pile(0..40);
    let mut jostled = 0;
    for step in 0..30 * SECOND {
        let outcomes = scene.step(&ground);
        if outcomes.iter().any(|outcome| outcome.velocity.length() > 1e-3) {
            jostled = step;
        }
    }
    assert!((4 * SECOND..20 * SECOND).contains(&jostled), "{jostled}");
}

#[test]
fn somebody_who_walks_stirs_those_who_rest() {
    let walled = Snapshot::new(&Map::from_text("###......\n#.#......\n###......").unwrap(), &View::default());
    let ground = [Footing { snapshot: &walled, layout: &Layout::default() }];
    let mut scene = pile(0..6);
    for _ in 0..10 * SECOND {
        scene.step(&ground);
    }
    // The walls are gone, and nobody minds.
    let open = Snapshot::new(&Map::from_text(".........\n.........\n.........").unwrap(), &View::default());
    let ground = [Footing { snapshot: &open, layout: &Layout::default() }];
    let before = places(&scene);
    for _ in 0..SECOND {
        scene.step(&ground);
    }
    assert_eq!(places(&scene), before);
    assert!(scene.overlap() > 1.5, "{}", scene.overlap());
    scene.add(Body { ground: Some(0), ..at(99, 6.5, 1.5) }, Some(Vec2::new(1.5, 1.5)));
    for _ in 0..5 * SECOND {
        scene.step(&ground);
    }
    assert!(scene.overlap() < 0.1, "{}", scene.overlap());
}

#[test]
fn one_that_is_roused_jostles_again_and_so_do_those_around_it() {
    let walled = Snapshot::new(&Map::from_text("###\n#.#\n###").unwrap(), &View::default());
    let ground = [Footing { snapshot: &walled, layout: &Layout::default() }];
    let mut scene = pile(0..40);
    for _ in 0..30 * SECOND {
        scene.step(&ground);
    }
    let before = places(&scene);
    scene.step(&ground);
    assert_eq!(places(&scene), before);
    scene.bodies[7].memory.rouse();
    for _ in 0..SECOND {
        scene.step(&ground);
    }
    let moved = places(&scene).iter().zip(&before).filter(|(now, before)| now != before).count();
    assert!(moved > 5, "{moved}");
}

#[test]
fn a_pile_rests_alike_on_any_threads_and_in_any_order() {
    let walled = Snapshot::new(&Map::from_text("####\n#..#\n####").unwrap(), &View::default());
    let ground = [Footing { snapshot: &walled, layout: &Layout::default() }];
    let run = |mut scene: Scene, spread: &dyn Fn(&mut Scene)| {
        for _ in 0..6 * SECOND {
            spread(&mut scene);
        }
        places(&scene)
    };
    let one = |scene: &mut Scene| _ = scene.step_on(&ground, &OneThread);
    let three = |scene: &mut Scene| _ = scene.step_on(&ground, &Threads(NonZeroUsize::new(3).unwrap()));
    let expected = run(pile(0..130), &one);
    assert_eq!(run(pile((0..130).rev()), &one), expected);
    assert_eq!(run(pile(0..130), &three), expected);
}
