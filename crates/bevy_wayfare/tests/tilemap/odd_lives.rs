//! What games do that nobody expects: tilemaps disabled, cloned, stripped and given back.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{TILE, app, changes_in_ten_frames, cover, ground, nav, seen, tile, tile_at, tilemap};

fn rules() -> TileRules {
    TileRules::default().with_texture(1, NavTile::Blocked)
}

#[test]
fn a_tilemap_follows_its_tiles_again_when_it_is_enabled() {
    let mut app = app();
    let ground = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let layer = app.world_mut().spawn((tilemap(3, 1), LayerOf(ground), rules())).id();
    cover(&mut app, layer, 3, 1, 0);
    app.update();
    assert_eq!(seen(&app, ground), "...");
    app.world_mut().entity_mut(layer).insert(Disabled);
    app.update();
    app.world_mut().entity_mut(layer).remove::<Disabled>();
    app.update();
    assert_eq!(seen(&app, ground), "...");
    let tile = tile_at(&mut app, layer, 1, 0);
    app.world_mut().get_mut::<TileTextureIndex>(tile).unwrap().0 = 1;
    app.update();
    assert_eq!(seen(&app, ground), ".#.");
}

#[test]
fn tiles_that_went_while_a_tilemap_was_disabled_are_gone() {
    let mut app = app();
    let ground = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let layer = app.world_mut().spawn((tilemap(3, 1), LayerOf(ground), rules())).id();
    cover(&mut app, layer, 3, 1, 0);
    app.update();
    app.world_mut().entity_mut(layer).insert(Disabled);
    app.update();
    let tile = tile_at(&mut app, layer, 1, 0);
    app.world_mut().despawn(tile);
    app.update();
    app.world_mut().entity_mut(layer).remove::<Disabled>();
    app.update();
    assert_eq!(seen(&app, ground), ".#.");
}

#[test]
fn rules_that_changed_while_it_was_no_ground_count() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    app.world_mut().entity_mut(ground).remove::<NavMap>();
    app.update();
    app.world_mut().entity_mut(ground).insert(TileRules::default().with_default(NavTile::Blocked));
    app.update();
    app.world_mut().entity_mut(ground).insert(NavMap::from_tiles());
    app.update();
    assert_eq!(seen(&app, ground), "###");
}

#[test]
fn a_cloned_tilemap_has_no_tiles_yet() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    let clone = app.world_mut().entity_mut(ground).clone_and_spawn();
    app.update();
    // No tiles of its own yet.
    assert_eq!(seen(&app, clone), "###");
}

#[test]
fn a_cloned_tilemap_follows_its_own_tiles() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    let clone = app.world_mut().entity_mut(ground).clone_and_spawn();
    app.update();
    cover(&mut app, clone, 3, 1, 1);
    app.update();
    assert_eq!(seen(&app, clone), "###");
}

#[test]
fn ground_that_moves_in_a_step_keeps_its_layers() {
    #[derive(Resource, Default)]
    struct Seen(Vec<String>);
    let mut app = app();
    let ground = ground(&mut app, 4, 1, NavMap::from_tiles(), rules());
    let trees = app.world_mut().spawn((tilemap(4, 1), LayerOf(ground), ChildOf(ground), rules())).id();
    app.world_mut().spawn(tile(trees, 2, 0, 1));
    app.update();
    app.update();
    assert_eq!(seen(&app, ground), "..#.");
    app.init_resource::<Seen>();
    app.add_systems(
        FixedUpdate,
        (
            (move |mut t: Query<&mut Transform>| t.get_mut(ground).unwrap().translation.x += TILE)
                .before(PathfindingSystems::SyncMap),
            (move |n: Query<&NavMap>, mut seen: ResMut<Seen>| {
                seen.0.push(n.get(ground).unwrap().map().to_text(|_| None));
            })
            .after(PathfindingSystems::SyncMap),
        ),
    );
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Seen>().0, ["..#.", "..#."]);
}

#[test]
fn a_map_that_loses_its_layers_is_empty_whatever_else_changes() {
    let mut app = app();
    let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let one = app.world_mut().spawn((tilemap(2, 1), LayerOf(level), rules())).id();
    cover(&mut app, one, 2, 1, 0);
    app.update();
    app.world_mut().despawn(one);
    app.world_mut().get_mut::<NavMap>(level).unwrap().set_class(ClassId(1), Class::flyer());
    app.update();
    app.update();
    assert!(nav(&app, level).map().area().is_none());
}

#[test]
fn a_reflected_copy_is_still_made_of_tiles() {
    use bevy::reflect::{FromReflect, Reflect};
    let mut app = app();
    let map = NavMap::from_tiles();
    let copy = NavMap::from_reflect(map.to_dynamic().as_partial_reflect()).unwrap();
    let _ = map.as_reflect();
    let ground = ground(&mut app, 3, 1, copy, rules());
    app.update();
    assert_eq!(seen(&app, ground), "...");
}

#[test]
fn ground_that_was_disabled_comes_back() {
    let mut app = app();
    let ground = ground(&mut app, 5, 1, NavMap::from_tiles(), rules());
    app.update();
    app.world_mut().entity_mut(ground).insert(Disabled);
    app.update();
    app.update();
    app.world_mut().entity_mut(ground).remove::<Disabled>();
    app.update();
    app.update();
    let at = Transform::from_xyz(0.5 * TILE, 0.5 * TILE, 0.0);
    let unit = app
        .world_mut()
        .spawn((Agent { speed: 100.0, ..default() }, at, PathRequest::to(Vec2::new(4.5 * TILE, 0.5 * TILE))))
        .id();
    for _ in 0..5 {
        app.update();
    }
    assert!(app.world().get::<Transform>(unit).unwrap().translation.x > 0.6 * TILE);
}

#[test]
fn nothing_changes_in_quiet_frames() {
    // NavMap must not be marked changed in quiet frames.
    let mut app = app();
    let ground = ground(&mut app, 5, 5, NavMap::from_tiles(), rules());
    app.world_mut().spawn((Transform::from_xyz(20.0, 20.0, 0.0), Obstacle::default()));
    let layer = app.world_mut().spawn((tilemap(5, 5), LayerOf(ground), ChildOf(ground))).id();
    app.world_mut().get_mut::<Transform>(layer).unwrap().rotation = Quat::from_rotation_z(0.3);
    app.update();
    app.update();
    assert_eq!(changes_in_ten_frames(&mut app), 0);
}

#[test]
fn nothing_changes_in_quiet_frames_at_a_height_that_is_no_number() {
    let mut app = app();
    let ground = ground(&mut app, 5, 5, NavMap::from_tiles(), rules());
    app.world_mut().get_mut::<Transform>(ground).unwrap().translation.z = f32::NAN;
    app.world_mut().spawn((Transform::from_xyz(20.0, 20.0, 0.0), Obstacle::default()));
    app.update();
    assert_eq!(changes_in_ten_frames(&mut app), 0);
}

#[test]
fn a_layer_may_carry_a_map_of_its_own() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    let own = NavMap::new(Map::new(3, 1).unwrap());
    let layer = app.world_mut().spawn((tilemap(3, 1), LayerOf(ground), own, rules())).id();
    cover(&mut app, layer, 3, 1, 1);
    app.update();
    assert_eq!(seen(&app, ground), "###");
}

#[test]
fn other_schedules_do_as_well() {
    for which in 0..3 {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin));
        match which {
            0 => app.add_plugins(PathfindingPlugin::default().in_schedule(PostUpdate)),
            1 => app.add_plugins(PathfindingPlugin::default().in_schedule(Update).without_following()),
            _ => app.add_plugins(PathfindingPlugin::default().in_schedule(First).without_moving()),
        };
        app.update();
        let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
        app.update();
        assert_eq!(seen(&app, ground), "...");
        let tile = tile_at(&mut app, ground, 1, 0);
        app.world_mut().despawn(tile);
        app.update();
        assert_eq!(seen(&app, ground), ".#.");
    }
}

#[test]
fn a_map_may_become_one_of_tiles_and_back() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    app.world_mut().entity_mut(ground).insert(NavMap::new(Map::new(7, 7).unwrap()));
    app.update();
    let tile = tile_at(&mut app, ground, 1, 0);
    app.world_mut().despawn(tile);
    app.world_mut().entity_mut(ground).insert(rules());
    app.update();
    assert_eq!(nav(&app, ground).map().width(), 7);
    app.world_mut().entity_mut(ground).insert(NavMap::from_tiles());
    app.update();
    assert_eq!(seen(&app, ground), ".#.");
}

#[test]
fn a_layer_removed_by_hand_is_made_again() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    app.world_mut().entity_mut(ground).remove::<TileLayer>();
    app.update();
    assert_eq!(seen(&app, ground), "...");
    let tile = tile_at(&mut app, ground, 1, 0);
    app.world_mut().despawn(tile);
    app.update();
    assert_eq!(seen(&app, ground), ".#.");
}

#[test]
fn what_is_no_tilemap_any_more_is_no_ground() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    app.world_mut().entity_mut(ground).remove::<(TilemapSize, TilemapType)>();
    app.update();
    assert!(nav(&app, ground).map().area().is_none());
}

#[test]
fn very_many_tiles_may_lie_in_one_place() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    let t = std::time::Instant::now();
    for _ in 0..4000 {
        app.world_mut().spawn(tile(ground, 1, 0, 0));
    }
    app.update();
    println!("{:?}", t.elapsed());
    assert_eq!(seen(&app, ground), "...");
}

#[test]
fn a_cloned_tilemap_without_rules_follows_its_own_tiles() {
    let mut app = app();
    let ground = app.world_mut().spawn((tilemap(3, 1), NavMap::from_tiles())).id();
    cover(&mut app, ground, 3, 1, 0);
    app.update();
    let clone = app.world_mut().entity_mut(ground).clone_and_spawn();
    app.update();
    let first = seen(&app, clone);
    let t = app.world_mut().spawn((tile(clone, 1, 0, 0), NavTile::Cost(3.0))).id();
    app.update();
    let second = seen(&app, clone);
    app.world_mut().despawn(t);
    assert_eq!((first.as_str(), second.as_str()), ("###", "#3#"));
}

#[cfg(feature = "tilemap_chunk")]
mod chunk {
    use super::*;
    use crate::support::{Heard, listening};
    use bevy::asset::AssetPlugin;
    use bevy::image::ImagePlugin;
    use bevy::mesh::MeshPlugin;
    use bevy::sprite_render::*;

    fn drawing() -> App {
        let mut app = listening();
        app.add_plugins((AssetPlugin::default(), ImagePlugin::default(), MeshPlugin))
            .init_asset::<TilemapChunkMaterial>()
            .init_resource::<TilemapChunkMeshCache>();
        app
    }

    fn chunk(width: u32, height: u32) -> impl Bundle {
        let tiles = vec![Some(TileData::from_tileset_index(0)); (width * height) as usize];
        let chunk = TilemapChunk {
            chunk_size: UVec2::new(width, height),
            tile_display_size: UVec2::splat(16),
            ..default()
        };
        (TilemapChunkTileData(tiles), chunk)
    }

    fn wall(app: &mut App, c: Entity, i: usize) {
        app.world_mut().get_mut::<TilemapChunkTileData>(c).unwrap()[i] =
            Some(TileData::from_tileset_index(1));
    }

    #[test]
    fn edited_while_disabled() {
        let mut app = drawing();
        let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
        let c = app.world_mut().spawn((chunk(3, 1), LayerOf(level), rules())).id();
        app.update();
        app.world_mut().entity_mut(c).insert(Disabled);
        app.update();
        wall(&mut app, c, 1);
        app.update();
        app.world_mut().entity_mut(c).remove::<Disabled>();
        app.update();
        assert_eq!(seen(&app, level), ".#.");
    }

    #[test]
    fn edited_while_no_layer() {
        let mut app = drawing();
        let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
        let c = app.world_mut().spawn((chunk(3, 1), LayerOf(level), rules())).id();
        app.update();
        app.world_mut().entity_mut(c).remove::<LayerOf>();
        app.update();
        wall(&mut app, c, 1);
        app.update();
        app.world_mut().entity_mut(c).insert(LayerOf(level));
        app.update();
        assert_eq!(seen(&app, level), ".#.");
    }

    #[test]
    fn level_despawned_and_another_adopts_the_chunk() {
        let mut app = drawing();
        let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
        let c = app.world_mut().spawn((chunk(3, 1), LayerOf(level), rules())).id();
        app.update();
        app.world_mut().despawn(level);
        app.update();
        app.world_mut().entity_mut(c).insert(TileRules::default().with_default(NavTile::Blocked));
        app.update();
        let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
        app.world_mut().entity_mut(c).insert(LayerOf(level));
        app.update();
        assert_eq!(seen(&app, level), "###");
    }

    #[test]
    fn too_large_chunk() {
        let mut app = drawing();
        let tiles = TilemapChunkTileData(Vec::new());
        let c = TilemapChunk {
            chunk_size: UVec2::new(20_000, 1),
            tile_display_size: UVec2::splat(16),
            ..default()
        };
        app.world_mut().spawn((tiles, c, NavMap::from_tiles()));
        for _ in 0..10 {
            app.update();
        }
        assert_eq!(app.world().resource::<Heard>().0.len(), 1);
    }
}
