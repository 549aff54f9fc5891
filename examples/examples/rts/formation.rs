//! Where units stand who were sent to the same place: in comes a point, out come spots around it, nearest first.
//!
//! Until units keep out of each other's way by themselves, nobody is sent to where somebody else will stand.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

/// No spot is further away than so many rings.
const RINGS: i16 = 96;

/// Spots around a point for bodies of this radius, all of which can be reached from the point. Begins with the point
/// itself.
pub(crate) fn spots<'a>(
    map: &'a NavMap,
    snapshot: &'a Snapshot,
    around: Vec2,
    radius: f32,
) -> impl Iterator<Item = Vec2> + 'a {
    let island = move |point: Vec2| snapshot.island(map.cell_at(point.extend(0.0))?);
    let here = island(around);
    // Nobody stands half in a wall.
    let has_room = move |spot: &Vec2| {
        let sides = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y];
        sides.into_iter().all(|side| island(*spot + side * radius * 0.8) == here)
    };
    let spacing = radius * 2.4;
    let others = (1..RINGS).flat_map(ring).map(move |(x, y)| around + Vec2::new(x, y) * spacing);
    std::iter::once(around).chain(others.filter(has_room))
}

/// The points of a square ring with whole coordinates.
fn ring(radius: i16) -> impl Iterator<Item = (f32, f32)> {
    (-radius..radius).flat_map(move |along| {
        let (along, radius) = (f32::from(along), f32::from(radius));
        [(along, radius), (radius, -along), (-along, -radius), (-radius, along)]
    })
}
