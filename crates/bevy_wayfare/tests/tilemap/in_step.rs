//! The map follows its tiles within the frame, whatever happens to them and wherever in the frame it does.

use std::time::Duration;

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{app, cover, ground, nav, seen, tile, tile_at, tilemap};

fn rules() -> TileRules {
    TileRules::default().with_texture(1, NavTile::Blocked)
}

#[test]
fn one_tile_through_all_its_life() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    let mut look = |change: &mut dyn FnMut(&mut World)| {
        change(app.world_mut());
        app.update();
        seen(&app, ground)
    };
    assert_eq!(look(&mut |_| {}), "...");
    let mut new = Entity::PLACEHOLDER;
    assert_eq!(look(&mut |world| new = world.spawn(tile(ground, 1, 0, 1)).id()), ".#.");
    assert_eq!(look(&mut |world| world.get_mut::<TileTextureIndex>(new).unwrap().0 = 7), "...");
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).insert(NavTile::Blocked);
        }),
        ".#."
    );
    assert_eq!(look(&mut |world| world.get_mut::<TilePos>(new).unwrap().x = 2), "..#");
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).insert(NavTile::Cost(3.0));
        }),
        "..3"
    );
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).remove::<NavTile>();
        }),
        "..."
    );
    assert_eq!(look(&mut |world| world.get_mut::<TileTextureIndex>(new).unwrap().0 = 1), "..#");
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).insert(Disabled);
        }),
        "..."
    );
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).remove::<Disabled>();
        }),
        "..#"
    );
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).remove::<TileTextureIndex>();
        }),
        "..."
    );
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).insert(TileTextureIndex(1));
        }),
        "..#"
    );
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).remove::<TilemapId>();
        }),
        "..."
    );
    assert_eq!(
        look(&mut |world| {
            world.entity_mut(new).insert(TilemapId(ground));
        }),
        "..#"
    );
    // Beyond the map, and back.
    assert_eq!(look(&mut |world| world.get_mut::<TilePos>(new).unwrap().x = 3), "...");
    assert_eq!(look(&mut |world| world.get_mut::<TilePos>(new).unwrap().x = 0), "#..");
    assert_eq!(
        look(&mut |world| {
            world.despawn(new);
        }),
        "..."
    );
}

#[test]
fn the_last_tile_that_leaves_a_place_leaves_it_missing() {
    let mut app = app();
    let ground = ground(&mut app, 2, 1, NavMap::from_tiles(), rules());
    let first = tile_at(&mut app, ground, 0, 0);
    let second = app.world_mut().spawn(tile(ground, 0, 0, 1)).id();
    app.update();
    assert_eq!(seen(&app, ground), "#.");
    app.world_mut().despawn(second);
    app.update();
    assert_eq!(seen(&app, ground), "..");
    app.world_mut().despawn(first);
    app.update();
    assert_eq!(seen(&app, ground), "#.");
}

/// `bevy_ecs_tilemap` keeps naming tiles in its `TileStorage` that no longer exist.
#[test]
fn storage_that_was_not_cleaned_is_not_believed() {
    let mut app = app();
    let ground = ground(&mut app, 2, 1, NavMap::from_tiles(), rules());
    let gone = tile_at(&mut app, ground, 1, 0);
    let mut storage = TileStorage::empty(TilemapSize::new(2, 1));
    storage.set(&TilePos::new(1, 0), gone);
    app.world_mut().entity_mut(ground).insert(storage);
    app.update();
    app.world_mut().despawn(gone);
    app.update();
    assert!(app.world().get::<TileStorage>(ground).unwrap().get(&TilePos::new(1, 0)).is_some());
    assert_eq!(seen(&app, ground), ".#");
}

#[test]
fn tiles_changed_anywhere_in_the_frame_are_seen_in_it() {
    #[derive(Resource)]
    struct Frame(u32, Entity);
    fn paint(mut frame: ResMut<Frame>, mut tiles: Query<(&TilePos, &mut TileTextureIndex)>) {
        let column = frame.0;
        frame.0 += 1;
        for (_, mut texture) in tiles.iter_mut().filter(|(at, _)| at.x == column) {
            texture.0 = 1;
        }
    }
    for schedule in ["First", "FixedUpdate", "Update", "PostUpdate"] {
        let mut app = app();
        let ground = ground(&mut app, 8, 1, NavMap::from_tiles(), rules());
        app.insert_resource(Frame(0, ground));
        match schedule {
            "First" => app.add_systems(First, paint),
            "FixedUpdate" => app.add_systems(FixedUpdate, paint),
            "Update" => app.add_systems(Update, paint),
            _ => app.add_systems(PostUpdate, paint.before(TransformSystems::Propagate)),
        };
        app.update();
        for walls in 1..5 {
            let Frame(painted, ground) = *app.world().resource::<Frame>();
            assert_eq!(painted, walls, "{schedule}");
            let expected = format!("{}{}", "#".repeat(walls as usize), ".".repeat(8 - walls as usize));
            assert_eq!(seen(&app, ground), expected, "{schedule}");
            app.update();
        }
    }
}

#[test]
fn a_frame_without_a_fixed_step_is_enough() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    app.update();
    assert_eq!(seen(&app, ground), "...");
    let tile = tile_at(&mut app, ground, 1, 0);
    app.world_mut().despawn(tile);
    app.update();
    assert_eq!(seen(&app, ground), ".#.");
}

#[test]
fn a_level_is_torn_down_and_another_one_built() {
    let mut app = app();
    let first = ground(&mut app, 5, 4, NavMap::from_tiles(), rules());
    app.update();
    assert_eq!(nav(&app, first).map().count(Terrain::OPEN), 20);
    // The map goes, its tiles stay behind; a new map is there in the same frame, and some of them go over to it.
    app.world_mut().despawn(first);
    let second = app.world_mut().spawn((tilemap(3, 3), NavMap::from_tiles(), rules())).id();
    app.update();
    assert_eq!(seen(&app, second), "###\n###\n###");
    let mut tiles = app.world_mut().query::<(&TilePos, &mut TilemapId)>();
    for (at, mut id) in tiles.iter_mut(app.world_mut()) {
        if at.x != 1 {
            id.0 = second;
        }
    }
    app.update();
    assert_eq!(seen(&app, second), ".#.\n.#.\n.#.");
}

#[test]
fn a_map_may_grow_shrink_and_be_made_ground_later() {
    let mut app = app();
    let map = app.world_mut().spawn(tilemap(4, 2)).id();
    cover(&mut app, map, 4, 3, 0);
    app.update();
    app.world_mut().entity_mut(map).insert(NavMap::from_tiles());
    app.update();
    assert_eq!(seen(&app, map), "....\n....");
    // A third row of tiles was there all the time.
    *app.world_mut().get_mut::<TilemapSize>(map).unwrap() = TilemapSize::new(5, 3);
    app.update();
    assert_eq!(seen(&app, map), "....#\n....#\n....#");
    *app.world_mut().get_mut::<TilemapSize>(map).unwrap() = TilemapSize::new(2, 1);
    app.update();
    assert_eq!(seen(&app, map), "..");
    app.world_mut().entity_mut(map).insert(TileRules::default().with_default(NavTile::Blocked));
    app.update();
    assert_eq!(seen(&app, map), "##");
    app.world_mut().entity_mut(map).remove::<TileRules>();
    app.update();
    assert_eq!(seen(&app, map), "..");
}

#[test]
fn only_what_changed_is_written() {
    let mut app = app();
    let ground = ground(&mut app, 200, 200, NavMap::from_tiles(), rules());
    app.update();
    assert_eq!(nav(&app, ground).map().count(Terrain::OPEN), 40_000);
    let version = nav(&app, ground).map().version();
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(nav(&app, ground).map().version(), version);
    // Changed to what it means already, and to what is drawn differently but means the same.
    let tile = tile_at(&mut app, ground, 70, 3);
    app.world_mut().entity_mut(tile).insert((NavTile::Open, TileTextureIndex(9)));
    app.update();
    assert_eq!(nav(&app, ground).map().version(), version);
    app.world_mut().entity_mut(tile).insert(NavTile::Blocked);
    app.update();
    let changed: Vec<ChunkId> = nav(&app, ground).map().changed_since(version).collect();
    assert_eq!(changed, [ChunkId { x: 1, y: 0 }]);
    // Thousands at once.
    let tiles: Vec<Entity> =
        app.world_mut().query_filtered::<Entity, With<TilePos>>().iter(app.world()).collect();
    for tile in tiles.iter().step_by(4) {
        app.world_mut().get_mut::<TileTextureIndex>(*tile).unwrap().0 = 1;
    }
    app.update();
    let walls = nav(&app, ground).map().count(Terrain::WALL);
    assert!((10_000..=10_001).contains(&walls), "{walls}");
}
