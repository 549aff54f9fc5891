//! Crowds in the open: who gives way to whom, who waits, and who settles.

use glam::Vec2;
use wayfare::avoid::{
    Advice, Body, Course, Crowd, CrowdSettings, Layers, OneThread, Outcome, RoadSide, Rung, Spread, Stance,
};
use wayfare::prelude::*;

use crate::support::Random;

pub(crate) const DT: f32 = 0.05;

/// Units that walk straight to where they want to, and do as they are told at the end.
#[derive(Default)]
pub(crate) struct Scene {
    pub(crate) bodies: Vec<Body>,
    pub(crate) goals: Vec<Option<Vec2>>,
    pub(crate) settings: CrowdSettings,
    pub(crate) crowd: Crowd,
}

impl Scene {
    pub(crate) fn add(&mut self, body: Body, goal: Option<Vec2>) -> usize {
        self.bodies.push(body);
        self.goals.push(goal);
        self.bodies.len() - 1
    }

    pub(crate) fn step(&mut self, grounds: &[Footing<'_>]) -> &[Outcome] {
        self.step_on(grounds, &OneThread)
    }

    pub(crate) fn step_on(&mut self, grounds: &[Footing<'_>], spread: &impl Spread) -> &[Outcome] {
        for (body, goal) in self.bodies.iter_mut().zip(&self.goals) {
            let Some(goal) = goal.filter(|_| body.stance == Stance::Walking) else { continue };
            let to = goal - body.position;
            body.wanted = (to / DT).clamp_length_max(body.speed);
            body.course = Some(Course { end: goal, to_go: to.length() });
        }
        self.crowd.clear();
        for body in &self.bodies {
            self.crowd.push(*body);
        }
        self.crowd.step(&self.settings, DT, grounds, spread);
        let outcomes = self.crowd.outcomes();
        for ((body, goal), outcome) in self.bodies.iter_mut().zip(&self.goals).zip(outcomes) {
            (body.position, body.velocity, body.memory) =
                (outcome.position, outcome.velocity, outcome.memory);
            let is_there = goal.is_some_and(|goal| goal.distance(body.position) < 0.1);
            if body.stance == Stance::Walking && (is_there || outcome.advice == Advice::Settle) {
                (body.stance, body.course, body.wanted) = (Stance::Idle, None, Vec2::ZERO);
            }
        }
        outcomes
    }

    /// The deepest overlap of two units, in parts of the smaller radius.
    pub(crate) fn overlap(&self) -> f32 {
        let mut deepest = 0.0_f32;
        for (i, a) in self.bodies.iter().enumerate() {
            for b in &self.bodies[..i] {
                let depth = a.radius + b.radius - a.position.distance(b.position);
                deepest = deepest.max(depth / a.radius.min(b.radius));
            }
        }
        deepest
    }
}

pub(crate) fn at(id: u64, x: f32, y: f32) -> Body {
    Body { id, position: Vec2::new(x, y), ..Body::default() }
}

pub(crate) fn idle(body: Body) -> Body {
    Body { stance: Stance::Idle, ..body }
}

pub(crate) fn locked(body: Body) -> Body {
    Body { stance: Stance::Locked, ..body }
}

/// One step of these, without walls.
pub(crate) fn step(bodies: &[Body], dt: f32) -> Vec<Outcome> {
    let mut crowd = Crowd::new();
    for body in bodies {
        crowd.push(*body);
    }
    crowd.step(&CrowdSettings::default(), dt, &[], &OneThread);
    assert_eq!(crowd.outcomes().len(), bodies.len());
    crowd.outcomes().to_vec()
}

#[test]
fn one_alone_moves_exactly_as_it_wants() {
    let mut random = Random::new(1);
    let mut body = at(77, -3.0, 1e3);
    for round in 0..200 {
        // Now and then it stands for a moment, which must not hold it back afterwards.
        let angle = random.below(1000) as f32;
        body.wanted = if round % 7 == 3 { Vec2::ZERO } else { Vec2::from_angle(angle) * 2.9 };
        let outcome = step(&[body], DT)[0];
        assert_eq!(outcome.position, body.position + body.wanted * DT, "round {round}");
        assert_eq!((outcome.advice, outcome.blocker), (Advice::GoOn, None));
        (body.position, body.memory) = (outcome.position, outcome.memory);
    }
    // Nobody is faster than it can be.
    body.wanted = Vec2::new(100.0, 0.0);
    let outcome = step(&[body], DT)[0];
    assert!((outcome.velocity.length() - 3.0).abs() < 1e-2);
}

#[test]
fn the_locked_never_move() {
    let map = Map::from_text("....#\n....#\n....#").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let ground = [Footing { snapshot: &snapshot, layout: &Layout::default() }];
    let mut scene = Scene::default();
    let places = [(1.5, 1.5), (1.9, 1.5), (3.8, 1.5), (4.5, 1.5), (0.1, 0.1)];
    for (id, (x, y)) in (10..).zip(places) {
        // Beside each other, reaching into a wall, inside one, and at the edge of the map.
        let wanted = Vec2::new(3.0, 1.0);
        scene.add(locked(Body { wanted, ground: Some(0), ..at(id, x, y) }), None);
    }
    for id in 0..8 {
        let walker = Body { ground: Some(0), priority: 5, ..at(id, 0.5 + 0.4 * id as f32, 2.5) };
        scene.add(walker, Some(Vec2::new(2.0, 0.5)));
    }
    for _ in 0..100 {
        let outcomes = scene.step(&ground);
        for (outcome, (x, y)) in outcomes.iter().zip(places) {
            assert_eq!((outcome.position, outcome.velocity), (Vec2::new(x, y), Vec2::ZERO));
            assert_eq!(outcome.advice, Advice::GoOn);
        }
    }
}

#[test]
fn layers_do_not_see_each_other() {
    let wanted = Vec2::new(2.0, 0.5);
    let flyer = Body { layers: Layers::only(1), wanted, ..at(1, 0.0, 0.0) };
    let on_the_ground = [locked(at(2, 0.1, 0.0)), at(3, 0.2, 0.0), idle(at(4, 0.5, 0.1))];
    let outcomes = step(&[flyer, on_the_ground[0], on_the_ground[1], on_the_ground[2]], DT);
    assert_eq!(outcomes[0].position, wanted * DT);
    assert_eq!(format!("{:?}", step(&on_the_ground, DT)), format!("{:?}", &outcomes[1..]));
    // One-sided: a guest makes room for the locals, who do not see it.
    let guest = Body { layers: Layers { on: 2, avoids: 1 }, ..at(1, 0.0, 0.0) };
    let outcomes = step(&[guest, at(2, 0.3, 0.0)], DT);
    assert!(outcomes[0].position.x < 0.0);
    assert_eq!(outcomes[1].position, Vec2::new(0.3, 0.0));
    assert!(Layers::only(33) == Layers::only(1) && !Layers::only(0).avoid(Layers::only(1)));
}

#[test]
fn a_swarm_overhead_hides_nobody() {
    let mut scene = Scene::default();
    let (a, b) = (at(1, 0.0, 0.0), at(2, 0.5, 0.0));
    scene.add(a, None);
    scene.add(b, None);
    for id in 3..200 {
        let place = Vec2::from_angle(id as f32) * 0.3 * (id % 7) as f32 / 7.0;
        scene.add(Body { layers: Layers::only(4), ..at(id, place.x, place.y) }, None);
    }
    scene.step(&[]);
    assert_eq!(scene.crowd.neighbours(0).collect::<Vec<_>>(), [1]);
    let gap = scene.bodies[0].position.distance(scene.bodies[1].position);
    assert!(gap > 0.6, "they part as if the swarm were not there: {gap}");
}

#[test]
fn the_idle_make_way_and_come_home() {
    let mut scene = Scene::default();
    for i in 0..25 {
        scene.add(idle(at(i, (i % 5) as f32 * 1.2, (i / 5) as f32 * 1.2)), None);
    }
    let homes: Vec<Vec2> = scene.bodies.iter().map(|body| body.position).collect();
    let walker = scene.add(at(100, -3.0, 2.4), Some(Vec2::new(9.0, 2.4)));
    let (mut moved, mut steps) = (0.0_f32, 0);
    while scene.bodies[walker].stance == Stance::Walking {
        scene.step(&[]);
        moved = scene
            .bodies
            .iter()
            .zip(&homes)
            .map(|(body, home)| body.position.distance(*home))
            .fold(moved, f32::max);
        steps += 1;
        assert!(steps < 160, "4 seconds of way take 8");
    }
    assert!(moved > 0.3, "somebody has made way: {moved}");
    for _ in 0..60 {
        scene.step(&[]);
    }
    for (body, home) in scene.bodies.iter().zip(&homes) {
        assert!(body.position.distance(*home) < 0.05, "{} is not home", body.id);
    }
}

#[test]
fn where_an_idle_one_is_put_is_its_home() {
    let mut scene = Scene::default();
    let unit = scene.add(idle(at(1, 0.0, 0.0)), None);
    scene.step(&[]);
    scene.bodies[unit].position = Vec2::new(50.0, 3.0);
    for _ in 0..20 {
        scene.step(&[]);
    }
    assert_eq!(scene.bodies[unit].position, Vec2::new(50.0, 3.0));
    // And from there it makes way and returns.
    let walker = scene.add(at(2, 48.0, 3.0), Some(Vec2::new(53.0, 3.0)));
    for _ in 0..100 {
        scene.step(&[]);
    }
    assert!(scene.bodies[walker].position.x > 52.8);
    assert!(scene.bodies[unit].position.distance(Vec2::new(50.0, 3.0)) < 0.05);
}

#[test]
fn of_two_with_one_home_the_one_of_lower_priority_finds_another() {
    let mut scene = Scene::default();
    let owner = scene.add(idle(at(2, 0.0, 0.0)), None);
    scene.step(&[]);
    let guest = scene.add(Body { priority: -1, ..idle(at(1, 0.1, 0.0)) }, None);
    for _ in 0..100 {
        scene.step(&[]);
    }
    let (owner, guest) = (scene.bodies[owner].position, scene.bodies[guest].position);
    assert!(owner.length() < 0.05 && guest.length() > 0.7, "{owner} {guest}");
}

#[test]
fn who_has_settled_and_is_carried_away_makes_way_again() {
    // It has arrived at a place, and is put somewhere else: another one that wants to the first place comes past.
    let mut scene = Scene::default();
    let unit = scene.add(at(1, -0.5, 0.0), Some(Vec2::ZERO));
    for _ in 0..20 {
        scene.step(&[]);
    }
    assert_eq!(scene.bodies[unit].stance, Stance::Idle);
    scene.bodies[unit].position = Vec2::new(-6.0, 0.0);
    let walker = scene.add(at(2, -12.0, 0.0), Some(Vec2::ZERO));
    let mut aside = 0.0_f32;
    for _ in 0..120 {
        scene.step(&[]);
        aside = aside.max(scene.bodies[unit].position.distance(Vec2::new(-6.0, 0.0)));
    }
    assert!(aside > 0.2, "it did not make way: {aside}");
    assert_eq!(scene.bodies[walker].stance, Stance::Idle);
}

#[test]
fn the_lower_priority_gives_way_more() {
    for (first, second) in [(0, 1), (-3, 2), (i8::MIN, i8::MAX), (5, 4)] {
        for wanted in [Vec2::ZERO, Vec2::X] {
            let body = |id, x, priority| Body { priority, wanted, ..at(id, x, 0.0) };
            let bodies = [body(1, 0.0, first), body(2, 0.4, second)];
            let outcomes = step(&bodies, DT);
            let moved = |i: usize| (outcomes[i].position - bodies[i].position - wanted * DT).length();
            assert_eq!(moved(0) > moved(1), first < second, "{first} {second}: {} {}", moved(0), moved(1));
        }
    }
}

/// Where two that meet head-on, one from the left, are when they pass each other.
fn meeting(side: RoadSide) -> [Vec2; 2] {
    let mut scene =
        Scene { settings: CrowdSettings { side, ..CrowdSettings::default() }, ..Scene::default() };
    scene.add(at(1, -4.0, 0.0), Some(Vec2::new(4.0, 0.0)));
    scene.add(at(2, 4.0, 0.0), Some(Vec2::new(-4.0, 0.0)));
    for _ in 0..80 {
        scene.step(&[]);
        assert!(scene.overlap() < 0.2);
        if scene.bodies[0].position.x > scene.bodies[1].position.x {
            break;
        }
    }
    [0, 1].map(|i| scene.bodies[i].position)
}

#[test]
fn each_keeps_to_its_side_of_the_road() {
    let (right, left) = (meeting(RoadSide::Right), meeting(RoadSide::Left));
    assert!(right[0].y < -0.2 && right[1].y > 0.2, "{right:?}");
    assert!(left[0].y > 0.2 && left[1].y < -0.2, "{left:?}");
    for (right, left) in right.into_iter().zip(left) {
        assert_eq!(right * Vec2::new(1.0, -1.0), left, "the left is the mirror of the right");
    }
    let either = meeting(RoadSide::Either);
    assert!(either[0].x > either[1].x && (either[0].y - either[1].y).abs() > 0.6, "{either:?}");
}

#[test]
fn who_is_gone_is_in_nobodys_way() {
    let mut scene = Scene::default();
    let walker = scene.add(at(8, 0.0, 0.0), Some(Vec2::new(9.0, 0.0)));
    let blocker = scene.add(locked(Body { radius: 2.0, ..at(3, 2.6, 0.0) }), None);
    let mut met = false;
    for _ in 0..10 {
        met |= scene.step(&[])[walker].blocker == Some(3);
    }
    assert!(met);
    scene.bodies.remove(blocker);
    scene.goals.remove(blocker);
    for _ in 0..70 {
        let outcomes = scene.step(&[]);
        assert_eq!((outcomes.len(), outcomes[0].blocker), (1, None));
    }
    assert_eq!((scene.bodies[0].stance, scene.bodies[0].memory.rung()), (Stance::Idle, Rung::Free));
    assert!(scene.crowd.neighbours(0).next().is_none() && scene.crowd.neighbours(1).next().is_none());
}

#[test]
fn sixty_at_one_point_settle_and_stand() {
    let mut scene = Scene::default();
    for i in 0..60 {
        let place = Vec2::from_angle(i as f32 * 2.4) * (6.0 + i as f32 * 0.1);
        scene.add(at(i * 7, place.x, place.y), Some(Vec2::ZERO));
    }
    for _ in 0..400 {
        scene.step(&[]);
    }
    let walking = scene.bodies.iter().filter(|body| body.stance == Stance::Walking).count();
    assert_eq!(walking, 0, "some never settle");
    let before: Vec<Vec2> = scene.bodies.iter().map(|body| body.position).collect();
    for _ in 0..100 {
        scene.step(&[]);
    }
    for (body, before) in scene.bodies.iter().zip(before) {
        assert!(body.position.distance(before) < 0.05, "{} is not at rest", body.id);
        assert!(body.position.length() < 1.6 * 0.4 * (60.0_f32 / 0.9).sqrt(), "{} is far off", body.id);
    }
    assert!(scene.overlap() < 0.2, "{}", scene.overlap());
}

#[test]
fn those_who_come_from_one_side_settle_around_the_point_and_not_in_a_column() {
    let ideal = Body::default().radius * (60.0_f32 / 0.9).sqrt();
    for (apart, off) in [(Vec2::new(1.9, 2.7), 2.0), (Vec2::new(2.4, 2.2), 4.0), (Vec2::new(3.1, 1.5), 7.0)] {
        let mut scene = Scene::default();
        for (number, (row, column)) in (0..).zip((0..6_u8).flat_map(|row| (0..10_u8).map(move |x| (row, x))))
        {
            let place = Vec2::new(-28.0, off - 28.0) + apart * Vec2::new(column.into(), row.into());
            scene.add(at(number, place.x, place.y), Some(Vec2::ZERO));
        }
        for _ in 0..600 {
            scene.step(&[]);
        }
        assert!(scene.bodies.iter().all(|body| body.stance == Stance::Idle), "{apart}");
        let mut off: Vec<f32> = scene.bodies.iter().map(|body| body.position.length() / ideal).collect();
        off.sort_by(f32::total_cmp);
        assert!(off[57] < 1.8, "{apart}: {off:?}");
    }
}
