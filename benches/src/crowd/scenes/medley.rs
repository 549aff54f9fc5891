//! Something of everything, for the hash: walls, a door, both directions, priorities, idle and locked units, three radii.

use glam::Vec2;
use wayfare::prelude::{Area, Map, Terrain};

use super::{beside, block};
use crate::crowd::drive::{Finish, Ground, World};
use crate::crowd::unit::Unit;
use crate::measure::SplitMix;

/// Two rooms of this size, a door of this height between them.
const ROOM: u16 = 30;
const DOOR: i32 = 4;

/// A block of so many columns and rows in each room.
const BLOCK: (u16, u16) = (6, 15);
const APART: f32 = 1.6;
const RADII: [f32; 4] = [0.4, 0.3, 0.4, 0.48];

/// The same for the same seed.
pub(crate) fn medley(seed: u64) -> World {
    let mut random = SplitMix::new(seed);
    let side = i32::from(ROOM);
    let mut map = Map::new(u32::from(2 * ROOM + 1), ROOM.into()).expect("a small map");
    map.fill(Area::new((side, 0), (side, side - 1)), Terrain::WALL).expect("on the map");
    let door = (side - DOOR) / 2;
    map.fill(Area::new((side, door), (side, door + DOOR - 1)), Terrain::OPEN).expect("on the map");
    let room = f32::from(ROOM);
    let rooms = [Vec2::splat(room / 2.0), Vec2::new(1.5 * room + 1.0, room / 2.0)];
    let mut units: Vec<Unit> = Vec::new();
    for (here, there) in [(rooms[0], rooms[1]), (rooms[1], rooms[0])] {
        for place in block(here, BLOCK.0, BLOCK.1, Vec2::splat(APART)) {
            let id = units.len() as u64;
            let place = beside(place, 0.1, &mut random);
            let kind = random.below(12);
            let unit = match kind {
                0 => Unit::locked(id, place),
                1 | 2 => Unit::standing(id, place),
                _ => Unit::new(id, place, place + there - here),
            };
            let priority = i8::from(kind == 3) - i8::from(kind == 4);
            units.push(Unit { radius: RADII[random.below(RADII.len())], priority, ..unit });
        }
    }
    World::new(units, Some(Ground::new(&map)), Finish::Goal)
}
