//! Where units stand who were sent to the same place: in comes a point, out come spots around it, nearest first.
//!
//! Until units keep out of each other's way by themselves, nobody is sent to where somebody else of the same order will
//! stand.

use std::collections::{HashMap, VecDeque};

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::terrain::neighbours;

/// No spot is further away than so many rings.
const RINGS: i16 = 96;

/// Spots around a point for bodies of this radius, none much farther to walk from there than it looks. Begins with the
/// point itself; there are no others if nobody can stand there.
pub(crate) fn spots<'a>(
    map: &'a NavMap,
    snapshot: &Snapshot,
    around: Vec2,
    radius: f32,
) -> impl Iterator<Item = Vec2> + 'a {
    let cell_at = |point: Vec2| map.cell_at(point.extend(0.0));
    let steps = cell_at(around).map(|cell| steps_from(snapshot, cell)).unwrap_or_default();
    // Nobody stands half in a wall, and nobody is sent across the river.
    let has_room = move |(ring, spot): &(i16, Vec2)| {
        let sides = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y];
        let is_near = |side: Vec2| {
            let steps = cell_at(*spot + side * radius * 0.8).and_then(|cell| steps.get(&cell));
            steps.is_some_and(|steps| *steps <= 4 * i32::from(*ring) + 4)
        };
        sides.into_iter().all(is_near)
    };
    let spacing = radius * 2.4;
    let rings = (1..RINGS).flat_map(|radius| ring(radius).map(move |spot| (radius, spot)));
    let others = rings.map(move |(ring, (x, y))| (ring, around + Vec2::new(x, y) * spacing));
    std::iter::once(around).chain(others.filter(has_room).map(|(_, spot)| spot))
}

/// How many steps it is from a cell to every cell that can be reached from there.
fn steps_from(snapshot: &Snapshot, start: Cell) -> HashMap<Cell, i32> {
    let mut steps = HashMap::new();
    let mut next = VecDeque::from_iter(snapshot.is_open(start).then_some((start, 0)));
    while let Some((cell, step)) = next.pop_front() {
        if snapshot.is_open(cell) && !steps.contains_key(&cell) {
            steps.insert(cell, step);
            next.extend(neighbours(cell).map(|neighbour| (neighbour, step + 1)));
        }
    }
    steps
}

/// The points of a square ring with whole coordinates.
fn ring(radius: i16) -> impl Iterator<Item = (f32, f32)> {
    (-radius..radius).flat_map(move |along| {
        let (along, radius) = (f32::from(along), f32::from(radius));
        [(along, radius), (radius, -along), (-along, -radius), (-radius, along)]
    })
}
