//! Scenes without a map: everybody goes straight to its goal.

use core::f32::consts::TAU;

use glam::Vec2;

use super::{beside, block, give_up, steps};
use crate::crowd::drive::{Finish, World};
use crate::crowd::play::{AT_REST, REST, Setup, Watch};
use crate::crowd::unit::{RADIUS, Unit};
use crate::measure::SplitMix;

/// From one to the next on the rim of the circle, and how much of it a place may be off.
const RIM: f32 = 1.0;
const JITTER: f32 = 0.05;

/// Radii that follow each other on the rim, and the spacing there: neighbours are 1.1 from centre to centre at least.
const RADII: [f32; 3] = [0.3, 0.4, 0.7];
const MIXED: u16 = 400;
const MIXED_RIM: f32 = 1.2;
const MIXED_JITTER: f32 = 0.025;

/// Each stream is so many abreast, so many deep, with this spacing, and walks this far. Its front begins this far
/// before the square where the streams cross.
const ABREAST: u16 = 10;
const DEEP: u16 = 20;
const STREAM: f32 = 1.5;
const ACROSS: f32 = 60.0;
const BEFORE: f32 = 5.0;

/// Units scattered over a disc, no two closer than this, all sent to its middle.
const RALLY: u64 = 500;
const FIELD: f32 = 45.0;
const SCATTER: f32 = 1.2;

/// The walkers, and those that stand in their way, are a block of so many squared with this spacing. They walk this far, and
/// the others have so many steps to get home afterwards.
const FRIENDS: u16 = 10;
const FRIENDS_APART: f32 = 1.2;
const THROUGH: f32 = 40.0;
const HOMEWARD: u32 = 200;

pub(super) fn circle_250(seed: u64) -> Option<Setup> {
    Some(circle(250, RIM, JITTER, &[RADIUS], seed))
}

pub(super) fn circle_1000(seed: u64) -> Option<Setup> {
    Some(circle(1_000, RIM, JITTER, &[RADIUS], seed))
}

pub(super) fn mixed(seed: u64) -> Option<Setup> {
    Some(circle(MIXED, MIXED_RIM, MIXED_JITTER, &RADII, seed))
}

/// Everybody to the other side.
fn circle(count: u16, spacing: f32, jitter: f32, radii: &[f32], seed: u64) -> Setup {
    let mut random = SplitMix::new(seed);
    let rim = f32::from(count) * spacing / TAU;
    let units = (0..count).zip(radii.iter().cycle()).map(|(number, radius)| {
        let place = Vec2::from_angle(f32::from(number) / f32::from(count) * TAU) * rim;
        let place = beside(place, jitter * spacing, &mut random);
        Unit { radius: *radius, ..Unit::new(number.into(), place, -place) }
    });
    let world = World::new(units.collect(), None, Finish::Goal);
    let ideal = steps(2.0 * rim);
    Setup { world, ideal, cap: give_up(ideal, 1.5), linger: 0, watch: Watch::Nothing }
}

/// Two streams at a right angle, each straight on.
pub(super) fn crossing(seed: u64) -> Option<Setup> {
    let mut random = SplitMix::new(seed);
    let width = f32::from(ABREAST) * STREAM;
    let depth = f32::from(DEEP) * STREAM;
    let middle = Vec2::new(-(width / 2.0 + BEFORE + depth / 2.0), 0.0);
    let mut units = Vec::new();
    for along in [Vec2::X, Vec2::Y] {
        for place in block(middle, DEEP, ABREAST, Vec2::splat(STREAM)) {
            let place = along.rotate(beside(place, JITTER * STREAM, &mut random));
            units.push(Unit::new(units.len() as u64, place, place + along * ACROSS));
        }
    }
    let ideal = steps(ACROSS);
    let world = World::new(units, None, Finish::Goal);
    Some(Setup { world, ideal, cap: give_up(ideal, 2.0), linger: 0, watch: Watch::Nothing })
}

/// All to one point.
pub(super) fn rally(seed: u64) -> Option<Setup> {
    let mut random = SplitMix::new(seed);
    let mut units: Vec<Unit> = Vec::new();
    while (units.len() as u64) < RALLY {
        let place = beside(Vec2::ZERO, FIELD, &mut random);
        let is_free = units.iter().all(|unit| unit.position.distance(place) >= SCATTER);
        if place.length() <= FIELD && is_free {
            units.push(Unit::new(units.len() as u64, place, Vec2::ZERO));
        }
    }
    let farthest = units.iter().map(|unit| unit.position.length()).fold(0.0, f32::max);
    let ideal = steps(farthest);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
    let cap = (AT_REST * ideal).ceil() as u32 + REST;
    let world = World::new(units, None, Finish::Shared);
    Some(Setup { world, ideal, cap, linger: 0, watch: Watch::Rally(Vec2::ZERO) })
}

/// A block of walkers through a block of those who stand around.
pub(super) fn friends(seed: u64) -> Option<Setup> {
    let mut random = SplitMix::new(seed);
    let mut places = |middle: f32| -> Vec<Vec2> {
        let places = block(Vec2::new(middle, 0.0), FRIENDS, FRIENDS, Vec2::splat(FRIENDS_APART));
        places.map(|place| beside(place, JITTER * FRIENDS_APART, &mut random)).collect()
    };
    let mut units = Vec::new();
    for place in places(-THROUGH / 2.0) {
        units.push(Unit::new(units.len() as u64, place, place + Vec2::X * THROUGH));
    }
    for place in places(0.0) {
        units.push(Unit::standing(units.len() as u64, place));
    }
    let ideal = steps(THROUGH);
    let world = World::new(units, None, Finish::Goal);
    Some(Setup { world, ideal, cap: give_up(ideal, 2.0), linger: HOMEWARD, watch: Watch::Homes })
}
