//! Several tilemaps, one ground: which of them decides, and where each lies.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{TILE, app, cover, ground, nav, seen, tile, tilemap};

/// Grass with a river, a bridge and a swamp over it, trees on top.
fn river(app: &mut App, merge: Merge) -> (Entity, Entity, Entity) {
    let water = TileRules::default().with_texture(1, NavTile::Blocked);
    let ground = ground(app, 5, 1, NavMap::from_tiles().with_merge(merge), water);
    for x in [1, 2] {
        let tile = crate::support::tile_at(app, ground, x, 0);
        app.world_mut().entity_mut(tile).insert(TileTextureIndex(1));
    }
    let mut layer = |z: f32, default| {
        let rules = TileRules::default().with_default(default);
        let layer = app.world_mut().spawn((tilemap(5, 1), LayerOf(ground), rules)).id();
        app.world_mut().get_mut::<Transform>(layer).unwrap().translation.z = z;
        layer
    };
    let (bridges, trees) = (layer(1.0, NavTile::Cost(2.0)), layer(2.0, NavTile::Blocked));
    app.world_mut().spawn(tile(bridges, 2, 0, 0));
    app.world_mut().spawn((tile(bridges, 3, 0, 0), NavTile::Terrain(5)));
    app.world_mut().spawn(tile(trees, 4, 0, 0));
    app.update();
    (ground, bridges, trees)
}

#[test]
fn the_rule_of_the_map_decides() {
    let mut app = app();
    let cases = [(Merge::TopmostWins, ".#2F#"), (Merge::BlockedWins, ".##F#"), (Merge::DearestWins, ".##F#")];
    for (merge, expected) in cases {
        let (ground, ..) = river(&mut app, merge);
        // Terrain 5 costs no more than grass: the layer above goes first.
        assert_eq!(seen(&app, ground), expected, "{merge:?}");
    }
}

#[test]
fn the_dearest_is_what_the_first_class_finds_so() {
    let mut app = app();
    let rules = TileRules::default().with_default(NavTile::Terrain(7));
    let dear = Class::default().with(Terrain(7), Factor::whole(4));
    let map = NavMap::from_tiles().with_merge(Merge::DearestWins).with_class(ClassId(0), dear);
    let ground = ground(&mut app, 2, 1, map, rules);
    let layer = app.world_mut().spawn((tilemap(2, 1), LayerOf(ground))).id();
    app.world_mut().spawn((tile(layer, 0, 0, 0), NavTile::Cost(3.0)));
    app.world_mut().spawn((tile(layer, 1, 0, 0), NavTile::Cost(5.0)));
    app.update();
    assert_eq!(seen(&app, ground), "H5");
    // Another price, another order.
    let mut map = app.world_mut().get_mut::<NavMap>(ground).unwrap();
    map.set_class(ClassId(0), Class::default().with(Terrain(7), Factor::whole(9)));
    app.update();
    assert_eq!(seen(&app, ground), "HH");
}

#[test]
fn the_topmost_is_the_one_drawn_last() {
    let mut app = app();
    let (ground, bridges, trees) = river(&mut app, Merge::TopmostWins);
    app.world_mut().spawn(tile(trees, 2, 0, 0));
    app.update();
    assert_eq!(seen(&app, ground), ".##F#");
    // The bridge is raised above the trees.
    app.world_mut().get_mut::<Transform>(bridges).unwrap().translation.z = 3.0;
    app.update();
    assert_eq!(seen(&app, ground), ".#2F#");
    app.world_mut().entity_mut(bridges).remove::<LayerOf>();
    app.update();
    assert_eq!(seen(&app, ground), ".##.#");
    app.world_mut().entity_mut(bridges).insert(LayerOf(ground));
    app.world_mut().despawn(trees);
    app.update();
    assert_eq!(seen(&app, ground), ".#2F.");
}

/// Editors put layers beside each other below an entity that is no tilemap itself.
#[test]
fn ground_without_tiles_of_its_own_spans_all_its_layers() {
    let mut app = app();
    let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::from_xyz(1000.0, 0.0, 0.0))).id();
    let mut chunk = |x: f32, y: f32, width, height| {
        let layer = app.world_mut().spawn((tilemap(width, height), LayerOf(level), ChildOf(level))).id();
        app.world_mut().get_mut::<Transform>(layer).unwrap().translation = Vec3::new(x * TILE, y * TILE, 0.0);
        cover(&mut app, layer, width, height, 0);
        layer
    };
    let (_, second) = (chunk(0.0, 0.0, 2, 2), chunk(2.0, -1.0, 3, 1));
    // One update for Bevy to place children.
    app.update();
    app.update();
    assert_eq!(seen(&app, level), "..   \n..   \n  ...");
    let nav = nav(&app, level);
    let corner = Vec3::new(1000.0 + 2.5 * TILE, -0.5 * TILE, 0.0);
    assert_eq!(nav.cell_at(corner), Some(Cell::new(2, 0)));
    assert_eq!(nav.cells_of_tile(second, UVec2::ZERO), Some(Area::new((2, 0), (2, 0))));
    assert_eq!(nav.centre(Cell::new(2, 0)), Some(corner));
}

/// A layer whose tiles are half or twice as large as those of the ground, as `LDtk` has them.
#[test]
fn layers_may_have_tiles_of_another_size() {
    let mut app = app();
    let ground = ground(&mut app, 4, 2, NavMap::from_tiles(), TileRules::default());
    let mut layer = |side: f32, width, height| {
        let tile = TilemapTileSize::new(side, side);
        let rules = TileRules::default().with_default(NavTile::Blocked);
        let layer = app.world_mut().spawn((tilemap(width, height), LayerOf(ground), rules)).id();
        app.world_mut().entity_mut(layer).insert((tile, TilemapGridSize::from(tile)));
        layer
    };
    let (large, small) = (layer(2.0 * TILE, 2, 1), layer(0.5 * TILE, 8, 4));
    app.world_mut().spawn(tile(large, 1, 0, 0));
    // In a corner of its cell, where a look at the middle would miss it.
    app.world_mut().spawn(tile(small, 1, 3, 0));
    app.update();
    assert_eq!(seen(&app, ground), "#.##\n..##");
}

#[test]
fn finer_and_coarser_ground() {
    let mut app = app();
    let rules = || TileRules::default().with_texture(1, NavTile::Blocked).with_texture(2, NavTile::Cost(3.0));
    let fine = ground(&mut app, 3, 2, NavMap::from_tiles().with_cells_per_tile(2), rules());
    let coarse = ground(&mut app, 5, 3, NavMap::from_tiles().with_tiles_per_cell(2), rules());
    for (map, x, y, texture) in [(fine, 1, 0, 1), (coarse, 0, 0, 2), (coarse, 1, 1, 1), (coarse, 4, 2, 2)] {
        let tile = crate::support::tile_at(&mut app, map, x, y);
        app.world_mut().entity_mut(tile).insert(TileTextureIndex(texture));
    }
    app.update();
    assert_eq!(seen(&app, fine), "......\n......\n..##..\n..##..");
    // The last column and row of cells reach beyond the tiles; what is not there does not count.
    assert_eq!(seen(&app, coarse), "..3\n#..");
    let cell_at = |map: Entity, x: f32, y: f32| nav(&app, map).cell_at(Vec3::new(x * TILE, y * TILE, 0.0));
    assert_eq!(cell_at(fine, 1.6, 0.4), Some(Cell::new(3, 0)));
    assert_eq!(cell_at(coarse, 3.5, 2.5), Some(Cell::new(1, 1)));
    let area = nav(&app, fine).cells_of_tile(fine, UVec2::new(1, 0));
    assert_eq!(area, Some(Area::new((2, 0), (3, 1))));
}

#[test]
fn costs_with_a_fraction_are_compared_too() {
    let mut app = app();
    let map = NavMap::from_tiles().with_merge(Merge::DearestWins);
    let ground = ground(&mut app, 2, 1, map, TileRules::default().with_default(NavTile::Cost(3.0)));
    let layer = app.world_mut().spawn((tilemap(2, 1), LayerOf(ground))).id();
    app.world_mut().spawn((tile(layer, 0, 0, 0), NavTile::Cost(3.5)));
    app.world_mut().spawn((tile(layer, 1, 0, 0), NavTile::Cost(2.5)));
    app.update();
    let price = |app: &App, x| {
        let snapshot = nav(app, ground).snapshot(ClassId(0)).unwrap();
        snapshot.view().class.factor(snapshot.map().terrain(Cell::new(x, 0))).map(Factor::value)
    };
    assert_eq!((price(&app, 0), price(&app, 1)), (Some(3.5), Some(3.0)));
}

#[test]
fn a_layer_that_is_scaled_covers_other_cells() {
    let mut app = app();
    let ground = ground(&mut app, 4, 2, NavMap::from_tiles(), TileRules::default());
    let rules = TileRules::default().with_default(NavTile::Blocked);
    let layer = app.world_mut().spawn((tilemap(2, 1), LayerOf(ground), rules)).id();
    app.world_mut().spawn(tile(layer, 0, 0, 0));
    app.update();
    assert_eq!(seen(&app, ground), "....\n#...");
    app.world_mut().get_mut::<Transform>(layer).unwrap().scale = Vec3::splat(2.0);
    app.update();
    assert_eq!(seen(&app, ground), "##..\n##..");
}

/// Positions of layers are sums of floats; a row that is there by rounding only is none.
#[test]
fn rounding_adds_no_cells() {
    for nudge in [-1e-4, 1e-4] {
        let mut app = app();
        let ground = ground(&mut app, 3, 3, NavMap::from_tiles(), TileRules::default());
        let layer = app.world_mut().spawn((tilemap(3, 3), LayerOf(ground))).id();
        app.world_mut().entity_mut(layer).insert(Transform::from_xyz(nudge, nudge, 1.0));
        cover(&mut app, layer, 3, 3, 0);
        app.update();
        assert_eq!(seen(&app, ground), "...\n...\n...");
    }
}

/// One more layer, one less: what the others cover is not written again.
#[test]
fn layers_that_come_and_go_change_their_own_cells_only() {
    let mut app = app();
    let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let chunk = |app: &mut App, x: f32| {
        let layer = app.world_mut().spawn((tilemap(64, 64), LayerOf(level))).id();
        app.world_mut().entity_mut(layer).insert(Transform::from_xyz(x * 64.0 * TILE, 0.0, 0.0));
        cover(app, layer, 64, 64, 0);
        layer
    };
    for x in [0.0, 1.0, 3.0] {
        chunk(&mut app, x);
    }
    app.update();
    let version = nav(&app, level).map().version();
    let third = chunk(&mut app, 2.0);
    app.update();
    let changed: Vec<ChunkId> = nav(&app, level).map().changed_since(version).collect();
    assert_eq!(changed, [ChunkId { x: 2, y: 0 }]);
    assert_eq!(nav(&app, level).map().count(Terrain::OPEN), 4 * 64 * 64);
    app.world_mut().despawn(third);
    app.update();
    assert_eq!(nav(&app, level).map().count(Terrain::OUTSIDE), 64 * 64);
}
