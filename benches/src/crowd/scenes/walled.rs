//! Scenes between walls.

use glam::Vec2;
use wayfare::prelude::{Area, Map, Terrain};

use super::{beside, block, give_up, steps};
use crate::crowd::drive::{Finish, Ground, World};
use crate::crowd::play::{Setup, Watch};
use crate::crowd::unit::{DT, RADIUS, SPEED, Unit};
use crate::measure::SplitMix;

/// How much of their spacing places may be off.
const JITTER: f32 = 0.05;

/// Two columns in a corridor so wide and long, each so many abreast and deep with this spacing, from middle to middle
/// this far apart. Each walks to where the other stood.
const CORRIDOR: i16 = 10;
const LENGTH: i16 = 90;
const ABREAST: u16 = 5;
const DEEP: u16 = 20;
const COLUMN: Vec2 = Vec2::new(1.5, 1.6);
const APART: f32 = 50.0;

/// A wall one thick between two rooms of this size, a door in its middle. The block of units begins this far before
/// it, and they walk this far beyond, so that those in front stand farthest behind it.
const ROOM: (i16, i16) = (30, 30);
const CROWD: (u16, u16) = (10, 20);
const CROWD_APART: f32 = 1.2;
const TO_DOOR: f32 = 4.0;

/// A corridor one wide and this long, and the columns of its bay, counted from the left: in the middle, and not.
const ALLEY: i16 = 31;
const BAY_MIDDLE: i16 = 15;
const BAY_ELSEWHERE: i16 = 6;

pub(super) fn columns(seed: u64) -> Option<Setup> {
    let mut random = SplitMix::new(seed);
    let mut map = walled(LENGTH + 2, CORRIDOR + 2)?;
    map.fill(area(1, 1, LENGTH, CORRIDOR), Terrain::OPEN).ok()?;
    let middle = Vec2::new(f32::from(LENGTH), f32::from(CORRIDOR)) / 2.0 + 1.0;
    let mut places = |middle: Vec2| -> Vec<Vec2> {
        let places = block(middle, DEEP, ABREAST, COLUMN);
        places.map(|place| beside(place, JITTER * COLUMN.x, &mut random)).collect()
    };
    let half = Vec2::X * APART / 2.0;
    let (left, right) = (places(middle - half), places(middle + half));
    let pairs = left.iter().zip(&right);
    let ways = pairs.clone().map(|(a, b)| (*a, *b)).chain(pairs.map(|(a, b)| (*b, *a)));
    let units = ways.zip(0..).map(|((from, to), id)| Unit::new(id, from, to)).collect();
    let ideal = steps(APART);
    let world = World::new(units, Some(Ground::new(&map)), Finish::Goal);
    Some(Setup { world, ideal, cap: give_up(ideal, 2.0), linger: 0, watch: Watch::Nothing })
}

pub(super) fn door_two(seed: u64) -> Option<Setup> {
    door(2, 2.0, seed)
}

pub(super) fn door_one(seed: u64) -> Option<Setup> {
    door(1, 3.0, seed)
}

/// Through a door so many cells wide. Its ideal is as if units went through without a gap, one after the other in as many
/// lanes. Those are through whose whole disc is behind the wall.
fn door(lanes: i16, bar: f64, seed: u64) -> Option<Setup> {
    let mut random = SplitMix::new(seed);
    let (width, height) = ROOM;
    let mut map = walled(2 * width + 3, height + 2)?;
    map.fill(area(1, 1, width, height), Terrain::OPEN).ok()?;
    map.fill(area(width + 2, 1, width, height), Terrain::OPEN).ok()?;
    let door = 1 + height / 2 - lanes / 2;
    map.fill(area(width + 1, door, 1, lanes), Terrain::OPEN).ok()?;
    let (columns, rows) = CROWD;
    let depth = f32::from(columns) * CROWD_APART;
    let middle = Vec2::new(f32::from(width) + 1.0 - TO_DOOR - depth / 2.0, f32::from(height) / 2.0 + 1.0);
    let beyond = Vec2::X * (2.0 * TO_DOOR + depth + 1.0);
    let places = block(middle, columns, rows, Vec2::splat(CROWD_APART));
    let units = places.zip(0..).map(|(place, id)| {
        let place = beside(place, JITTER * CROWD_APART, &mut random);
        Unit::new(id, place, place + beyond)
    });
    let units: Vec<Unit> = units.collect();
    let flow = f32::from(lanes) * SPEED / (2.0 * RADIUS);
    let ideal = f64::from(units.len() as f32 / flow / DT);
    let through = Finish::Past(f32::from(width) + 2.0 + RADIUS);
    let world = World::new(units, Some(Ground::new(&map)), through);
    Some(Setup { world, ideal, cap: give_up(ideal, bar), linger: 0, watch: Watch::Nothing })
}

pub(super) fn head_on_bay(seed: u64) -> Option<Setup> {
    head_on(BAY_MIDDLE, seed)
}

pub(super) fn head_on_bay_elsewhere(seed: u64) -> Option<Setup> {
    head_on(BAY_ELSEWHERE, seed)
}

/// Two units that cannot pass each other but at a bay. By turns they are equals, and one or the other has priority.
fn head_on(bay: i16, seed: u64) -> Option<Setup> {
    let mut random = SplitMix::new(seed);
    let mut map = walled(ALLEY + 2, 4)?;
    map.fill(area(1, 1, ALLEY, 1), Terrain::OPEN).ok()?;
    map.fill(area(1 + bay, 2, 1, 1), Terrain::OPEN).ok()?;
    let mut end = |x: i16| Vec2::new(f32::from(x) + random.fraction() - 0.5, 1.5);
    let (left, right) = (end(3), end(ALLEY - 1));
    let priorities = [(0, 0), (0, 1), (1, 0)][usize::try_from(seed % 3).unwrap_or(0)];
    let units = vec![
        Unit { priority: priorities.0, ..Unit::new(0, left, right) },
        Unit { priority: priorities.1, ..Unit::new(1, right, left) },
    ];
    let ideal = steps(left.distance(right));
    let world = World::new(units, Some(Ground::new(&map)), Finish::Goal);
    Some(Setup { world, ideal, cap: give_up(ideal, 3.0), linger: 0, watch: Watch::Nothing })
}

fn walled(width: i16, height: i16) -> Option<Map> {
    Map::filled(width.unsigned_abs().into(), height.unsigned_abs().into(), Terrain::WALL).ok()
}

fn area(x: i16, y: i16, width: i16, height: i16) -> Area {
    let (x, y) = (i32::from(x), i32::from(y));
    Area::new((x, y), (x + i32::from(width) - 1, y + i32::from(height) - 1))
}
