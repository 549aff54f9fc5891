//! Tiles that cannot be ground: said once, with the reason, and the rest of the ground is as it was.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Heard, TILE, cover, ground, listening, nav, seen, tile, tilemap};

fn heard(app: &mut App) -> Vec<(Entity, TilesError)> {
    for _ in 0..3 {
        app.update();
    }
    core::mem::take(&mut app.world_mut().resource_mut::<Heard>().0)
}

#[test]
fn a_layer_that_does_not_fit_is_left_out() {
    let layer_with = |change: fn(&mut EntityWorldMut)| {
        let mut app = listening();
        let ground = ground(&mut app, 2, 2, NavMap::from_tiles(), TileRules::default());
        let rules = TileRules::default().with_default(NavTile::Blocked);
        let layer = app.world_mut().spawn((tilemap(2, 2), LayerOf(ground), rules)).id();
        change(&mut app.world_mut().entity_mut(layer));
        cover(&mut app, layer, 2, 2, 0);
        let heard = heard(&mut app);
        let reasons: Vec<TilesError> = heard.iter().map(|(_, reason)| *reason).collect();
        assert!(heard.iter().all(|(entity, _)| *entity == layer));
        assert_eq!(seen(&app, ground), "..\n..");
        // Put right, it counts.
        app.world_mut().entity_mut(layer).insert(tilemap(2, 2));
        app.update();
        assert_eq!(seen(&app, ground), "##\n##");
        reasons
    };
    let turn = |layer: &mut EntityWorldMut| {
        layer.get_mut::<Transform>().unwrap().rotate_z(0.5);
    };
    assert_eq!(layer_with(turn), [TilesError::Turned]);
    let mirror = |layer: &mut EntityWorldMut| layer.get_mut::<Transform>().unwrap().scale.x = -1.0;
    assert_eq!(layer_with(mirror), [TilesError::Turned]);
    let flatten = |layer: &mut EntityWorldMut| layer.get_mut::<Transform>().unwrap().scale.y = 0.0;
    assert_eq!(layer_with(flatten), [TilesError::Turned]);
    let lose = |layer: &mut EntityWorldMut| layer.get_mut::<Transform>().unwrap().translation.x = f32::NAN;
    assert_eq!(layer_with(lose), [TilesError::Flat]);
    let diamonds = |layer: &mut EntityWorldMut| {
        layer.insert(TilemapType::Isometric(IsoCoordSystem::Diamond));
    };
    assert_eq!(layer_with(diamonds), [TilesError::Turned]);
}

#[test]
fn ground_that_is_too_large_or_flat_is_empty() {
    for (tiles, cells, expected) in [
        (20_000, 1, TilesError::TooLarge { width: 20_000.0, height: 1.0 }),
        (10_000, 2, TilesError::TooLarge { width: 20_000.0, height: 2.0 }),
    ] {
        let mut app = listening();
        let map = NavMap::from_tiles().with_cells_per_tile(cells);
        let ground = app.world_mut().spawn((tilemap(tiles, 1), map)).id();
        assert_eq!(heard(&mut app), [(ground, expected)]);
        assert!(nav(&app, ground).map().area().is_none());
    }
    for side in [0.0, f32::NAN, f32::INFINITY] {
        let mut app = listening();
        let ground = app.world_mut().spawn((tilemap(3, 3), NavMap::from_tiles())).id();
        app.world_mut().entity_mut(ground).insert(TilemapGridSize::new(side, 8.0));
        cover(&mut app, ground, 3, 3, 0);
        app.update();
        app.update();
        assert_eq!(heard(&mut app), [(ground, TilesError::Flat)], "{side}");
        assert_eq!(nav(&app, ground).cell_at(Vec3::ZERO), None);
        let unit = app.world_mut().spawn((Agent::default(), PathRequest::to(Vec2::new(TILE, TILE)))).id();
        app.update();
        app.update();
        assert!(app.world().get::<PathRequest>(unit).is_none(), "a request on it fails");
    }
}

#[test]
fn a_cost_that_is_none_blocks_the_tile() {
    let mut app = listening();
    let ground = ground(&mut app, 4, 1, NavMap::from_tiles(), TileRules::default());
    for (x, cost) in [(0, 0.0), (1, f32::NAN), (2, -1.0)] {
        let tile = crate::support::tile_at(&mut app, ground, x, 0);
        app.world_mut().entity_mut(tile).insert(NavTile::Cost(cost));
    }
    let told = heard(&mut app);
    assert_eq!(told.len(), 1, "once: {told:?}");
    assert!(matches!(told[0], (entity, TilesError::BadCost(_)) if entity == ground));
    assert_eq!(seen(&app, ground), "###.");
}

#[test]
fn there_are_only_so_many_costs() {
    let mut app = listening();
    let ground = app.world_mut().spawn((tilemap(60, 1), NavMap::from_tiles())).id();
    for x in 0..60 {
        app.world_mut().spawn((tile(ground, x, 0, 0), NavTile::Cost(1.5 + x as f32 / 10.0)));
    }
    assert_eq!(heard(&mut app), [(ground, TilesError::TooManyCosts)]);
    // 2, 3, … 7 are whole; of the others 44 have a number.
    let walls = nav(&app, ground).map().count(Terrain::WALL);
    assert_eq!(walls, 60 - 6 - 44);
}

#[test]
fn hexagons_are_one_cell_each() {
    let mut app = listening();
    let map = NavMap::from_tiles().with_cells_per_tile(2);
    let ground = app.world_mut().spawn((tilemap(3, 3), map)).id();
    app.world_mut().entity_mut(ground).insert(TilemapType::Hexagon(HexCoordSystem::RowOdd));
    assert_eq!(heard(&mut app), [(ground, TilesError::OtherShape)]);
}

#[test]
fn a_layer_that_does_not_fit_is_named_whenever_it_comes() {
    let mut app = listening();
    let ground = ground(&mut app, 2, 2, NavMap::from_tiles(), TileRules::default());
    assert_eq!(heard(&mut app), []);
    let turned = Transform::from_rotation(Quat::from_rotation_z(1.0));
    let layer = app.world_mut().spawn((tilemap(2, 2), LayerOf(ground))).insert(turned).id();
    assert_eq!(heard(&mut app), [(layer, TilesError::Turned)]);
    let tiny = Transform::from_scale(Vec3::splat(1e-4));
    app.world_mut().entity_mut(layer).insert(tiny);
    assert_eq!(heard(&mut app), [(layer, TilesError::TooFine)]);
    assert_eq!(seen(&app, ground), "..\n..");
}

#[test]
fn hexagons_must_lie_on_those_of_the_ground() {
    for (at, expected) in
        [(Vec3::new(TILE, 0.0, 1.0), None), (Vec3::new(0.4 * TILE, 0.0, 1.0), Some(TilesError::OtherShape))]
    {
        let mut app = listening();
        let kind = TilemapType::Hexagon(HexCoordSystem::Row);
        let ground = app.world_mut().spawn((tilemap(3, 3), NavMap::from_tiles())).insert(kind).id();
        cover(&mut app, ground, 3, 3, 0);
        let layer = app.world_mut().spawn((tilemap(3, 3), LayerOf(ground))).id();
        app.world_mut().entity_mut(layer).insert((kind, Transform::from_translation(at)));
        app.world_mut().spawn((tile(layer, 0, 0, 0), NavTile::Blocked));
        let told = heard(&mut app);
        assert_eq!(told, expected.map(|reason| (layer, reason)).into_iter().collect::<Vec<_>>());
        let blocked = nav(&app, ground).map().terrain(Cell::new(1, 0)) == Terrain::WALL;
        assert_eq!(blocked, expected.is_none());
    }
}
