//! Far from the origin, where coordinates are coarse: bodies stay out of walls all the same, and arrive exactly.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

const RADIUS: f32 = 0.4;

/// Pillars and a narrow door: ways lead close around corners.
const HALL: &str = "
    ....................
    .....#.......#......
    ..#......#......#...
    ...........#........
    ..........##........
    ...................#
    ..........##........
    ....#......#........
    .......#......#.....
    ....................";

/// How far a disc reaches into a blocked cell, in radii. Cells have sides of 1 and the map begins at `corner`.
fn depth(map: &Map, corner: Vec2, centre: Vec2) -> f32 {
    let at = centre.as_dvec2() - corner.as_dvec2();
    let radius = f64::from(RADIUS);
    let cell = at.floor().as_ivec2();
    let around = (-1..=1).flat_map(|x| (-1..=1).map(move |y| cell + IVec2::new(x, y)));
    let blocked = around.filter(|cell| map.terrain(Cell::from(*cell)) == Terrain::WALL);
    let gaps = blocked.map(|cell| at.distance(at.clamp(cell.as_dvec2(), cell.as_dvec2() + 1.0)));
    let nearest = gaps.fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_possible_truncation, reason = "a part of a radius")]
    let depth = (1.0 - nearest / radius) as f32;
    depth
}

/// Units cross the hall both ways, in each other's way. Returns the deepest that any got into a wall.
fn cross(corner: Vec2) -> f32 {
    let map = Map::from_text(HALL).unwrap();
    let mut game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default())
        .tuned(|settings| settings.drive = Drive::InFrame);
    let at = Transform::from_translation(corner.extend(0.0));
    let entity = game.map;
    game.world().entity_mut(entity).insert((at, GlobalTransform::from(at)));
    game.updates(2);
    let goals: Vec<(Entity, Vec3)> = (0..10)
        .flat_map(|row| [(row, 0, 19), (row, 1, 18), (row, 18, 1), (row, 19, 0)])
        .filter(|(row, from, to)| {
            let is_free = |x| map.terrain(Cell::new(x, *row)) != Terrain::WALL;
            is_free(*from) && is_free(*to)
        })
        .map(|(row, from, to)| (game.unit(from, row), game.centre(to, row)))
        .collect();
    for (unit, goal) in &goals {
        game.order(*unit, PathRequest::to(*goal));
    }
    let mut deepest = 0.0_f32;
    game.until("all arrive", |game| {
        let depths = goals.iter().map(|(unit, _)| depth(&map, corner, game.position(*unit).truncate()));
        deepest = depths.fold(deepest, f32::max);
        goals.iter().all(|(unit, _)| game.has_heard(Heard::Arrived(*unit, Reach::Goal)))
    });
    deepest
}

#[test]
fn no_disc_is_more_than_a_hundredth_in_a_wall_wherever_the_map_lies() {
    for corner in [Vec2::ZERO, Vec2::new(2000.0, 100.0), Vec2::new(-3.0, 8000.0), Vec2::splat(16_000.0)] {
        let deepest = cross(corner);
        assert!(deepest <= 0.01, "{deepest} of a radius at {corner}");
    }
}

#[test]
fn one_alone_arrives_exactly_wherever_the_map_lies() {
    for corner in [Vec2::ZERO, Vec2::new(2000.0, 100.0), Vec2::new(-3.0, 8000.0), Vec2::splat(16_000.0)] {
        let mut game = Game::in_frame(HALL);
        let at = Transform::from_translation(corner.extend(0.0));
        let entity = game.map;
        game.world().entity_mut(entity).insert((at, GlobalTransform::from(at)));
        game.updates(2);
        let unit = game.unit(0, 5);
        for cell in [(18, 4), (3, 9), (12, 4), (0, 0)] {
            let goal = game.centre(cell.0, cell.1);
            game.take_heard();
            game.order(unit, PathRequest::to(goal));
            game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
            game.updates(2);
            assert_eq!(game.position(unit), goal, "at {corner}");
        }
    }
}
