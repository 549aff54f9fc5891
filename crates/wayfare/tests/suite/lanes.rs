//! Lanes: who is pushed aside goes on beside its path while there is room, and a crowd uses the whole width of a bridge.

use glam::Vec2;
use wayfare::avoid::{Body, Course, Crowd, CrowdSettings, Memory, OneThread};
use wayfare::prelude::*;

use crate::support::{found, searched};

const DT: f32 = 0.05;
const GAIT: Gait = Gait { speed: 3.0, turn_rate: f32::INFINITY, arrival: 0.0, slowed: false };

/// A field with a river across it, and a bridge of some rows over that.
fn river(width: i32, height: i32, river: core::ops::Range<i32>, bridge: core::ops::Range<i32>) -> Snapshot {
    let mut map = Map::new(width as u32, height as u32).unwrap();
    map.fill(Area::new((river.start, 0), (river.end - 1, height - 1)), Terrain::WALL).unwrap();
    map.fill(Area::new((river.start, bridge.start), (river.end - 1, bridge.end - 1)), Terrain::OPEN).unwrap();
    Snapshot::new(&map, &View::default())
}

struct Unit {
    position: Vec2,
    points: Vec<Vec2>,
    headway: Headway,
    arrived: bool,
}

impl Unit {
    fn new(ground: Footing<'_>, from: Vec2, to: Vec2) -> Self {
        let cell = |at| ground.layout.cell_at(at).unwrap();
        let query = searched(cell(from), cell(to)).shape(RouteShape::Pulled);
        let mut points = Vec::new();
        follow::lay(ground, found(ground.snapshot, &query).cells(), Some(from), Some(to), &mut points);
        Self { position: from, points, headway: Headway::default(), arrived: false }
    }

    fn walk(&mut self, ground: Footing<'_>) -> Stride {
        follow::walk(ground, &self.points, &mut self.headway, self.position, 0.0, &GAIT, DT)
    }

    fn step(&mut self, ground: Footing<'_>) {
        let stride = self.walk(ground);
        assert!(!stride.blocked && ground.is_open(stride.position));
        (self.position, self.arrived) = (stride.position, stride.arrived);
    }
}

#[test]
fn one_that_was_pushed_aside_keeps_its_lane_and_arrives_exactly() {
    let snapshot = Snapshot::new(&Map::new(40, 11).unwrap(), &View::default());
    let ground = Footing { snapshot: &snapshot, layout: &Layout::default() };
    for side in [1.0, -1.0] {
        let (from, to) = (Vec2::new(2.5, 5.5), Vec2::new(37.5, 5.5));
        let mut unit = Unit::new(ground, from, to);
        (0..20).for_each(|_| unit.step(ground));
        unit.position.y += side * 2.0;
        (0..40).for_each(|_| unit.step(ground));
        let aside = (unit.position.y - 5.5) * side;
        assert!((0.7..1.8).contains(&aside), "six forward for one to the side, in 6 cells: {aside}");
        let mut steps = 60;
        while !unit.arrived {
            unit.step(ground);
            steps += 1;
        }
        assert_eq!(unit.position, to);
        assert!(
            steps as f32 * DT < 35.0 / 3.0 * 1.02 + DT,
            "{steps}: hardly later than one that nobody pushed"
        );
    }
}

#[test]
fn where_there_is_no_room_for_a_lane_it_gets_in_line() {
    // A door one wide, in the middle of a wall.
    let snapshot = river(30, 11, 20..21, 5..6);
    let ground = Footing { snapshot: &snapshot, layout: &Layout::default() };
    for by in [-2.0, -0.7, 0.7, 2.0] {
        let mut unit = Unit::new(ground, Vec2::new(2.5, 5.5), Vec2::new(27.5, 5.5));
        while unit.position.x < 17.0 {
            unit.step(ground);
        }
        unit.position.y += by;
        let before = unit.position.x;
        while (unit.position.y - 5.5).abs() > 0.25 {
            unit.step(ground);
            assert!(unit.position.x < before + 1.0, "straight back, from {by}: {}", unit.position);
        }
        while !unit.arrived {
            unit.step(ground);
        }
    }
}

/// Sends a block of units over a bridge. Returns how many cross its middle per second, without the first and the last tenth of them,
/// as a part of what as many lanes as there is room for could let through.
fn flow(bridge: core::ops::Range<i32>) -> f32 {
    const RADIUS: f32 = 0.4;
    let lanes = ((bridge.end - bridge.start) as f32 / (2.0 * RADIUS)).floor();
    let snapshot = river(56, 31, 26..32, bridge);
    let ground = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let places = (0..120).map(|i| Vec2::new(10.5 + (i / 12) as f32 * 1.3, 2.5 + (i % 12) as f32 * 1.3));
    let mut units: Vec<Unit> = places.map(|at| Unit::new(ground, at, at + Vec2::new(26.0, 9.0))).collect();
    let mut memories = vec![(Memory::default(), Vec2::ZERO); units.len()];
    let (mut crowd, mut crossed, mut steps) = (Crowd::new(), Vec::new(), 0);
    let mut is_over = vec![false; units.len()];
    while crossed.len() < units.len() {
        crowd.clear();
        for (id, (unit, (memory, velocity))) in (0..).zip(units.iter_mut().zip(&memories)) {
            let wanted = unit.walk(ground).velocity;
            let to_go = follow::remaining(&unit.points, unit.headway, unit.position);
            let course = unit.points.last().map(|end| Course { end: *end, to_go });
            let (position, ground) = (unit.position, Some(0));
            let body = Body { id, position, velocity: *velocity, wanted, radius: RADIUS, ..Body::default() };
            crowd.push(Body { ground, course, memory: *memory, ..body });
        }
        crowd.step(&CrowdSettings::default(), DT, &[ground], &OneThread);
        steps += 1;
        for (number, outcome) in crowd.outcomes().iter().enumerate() {
            units[number].position = outcome.position;
            memories[number] = (outcome.memory, outcome.velocity);
            if outcome.position.x > 29.0 && !core::mem::replace(&mut is_over[number], true) {
                crossed.push(steps as f32 * DT);
            }
        }
        assert!(steps < 3000, "{} of {} are over", crossed.len(), units.len());
    }
    let (first, last) = (crossed[units.len() / 10], crossed[units.len() * 9 / 10]);
    0.8 * units.len() as f32 / (last - first) / (lanes * 3.0 / (2.0 * RADIUS))
}

#[test]
fn a_crowd_crosses_a_bridge_side_by_side() {
    // In single file it would be half of that.
    for (bridge, least) in [(18..21, 0.35), (18..23, 0.2)] {
        let flow = flow(bridge.clone());
        assert!(flow > least, "{bridge:?}: {flow} of what it could let through");
    }
}
