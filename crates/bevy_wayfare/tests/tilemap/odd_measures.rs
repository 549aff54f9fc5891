//! Sizes, places and costs that nobody expects: each has an answer, and nothing panics.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Heard, TILE, app, cover, ground, listening, nav, seen, tile_at, tilemap};

fn rules() -> TileRules {
    TileRules::default().with_texture(1, NavTile::Blocked)
}

#[test]
fn a_tilemap_that_is_too_large_is_named_once() {
    let mut app = listening();
    app.world_mut().spawn((tilemap(20_000, 1), NavMap::from_tiles()));
    for _ in 0..10 {
        app.update();
    }
    assert_eq!(app.world().resource::<Heard>().0.len(), 1);
}

#[test]
fn a_cost_that_is_no_number_is_named_once() {
    let mut app = listening();
    let ground = ground(&mut app, 4, 4, NavMap::from_tiles(), rules());
    let bad = tile_at(&mut app, ground, 0, 0);
    let other = tile_at(&mut app, ground, 3, 3);
    app.world_mut().entity_mut(bad).insert(NavTile::Cost(f32::NAN));
    for i in 0..10 {
        app.world_mut().get_mut::<TileTextureIndex>(other).unwrap().0 = i % 2;
        app.update();
    }
    assert_eq!(app.world().resource::<Heard>().0.len(), 1);
}

#[test]
fn costs_that_nobody_has_any_more_are_given_back() {
    let mut app = listening();
    let ground = ground(&mut app, 4, 4, NavMap::from_tiles(), rules());
    let snow = tile_at(&mut app, ground, 0, 0);
    for i in 0..60 {
        app.world_mut().entity_mut(snow).insert(NavTile::Cost(1.0 + 0.11 * (i + 1) as f32));
        app.update();
    }
    assert_eq!(app.world().resource::<Heard>().0, []);
    assert_eq!(nav(&app, ground).map().count(Terrain::WALL), 0);
}

#[test]
fn a_first_cost_between_two_steps_does_not_move_the_map() {
    let mut app = app();
    let ground = ground(&mut app, 4, 4, NavMap::from_tiles(), rules());
    app.world_mut().get_mut::<Transform>(ground).unwrap().translation.x = 1000.0;
    app.update();
    app.update();
    let at = Vec3::new(1000.0 + 1.5 * TILE, 0.5 * TILE, 0.0);
    assert_eq!(nav(&app, ground).cell_at(at), Some(Cell::new(1, 0)));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    let tile = tile_at(&mut app, ground, 0, 0);
    app.world_mut().entity_mut(tile).insert(NavTile::Cost(2.5));
    app.update();
    assert_eq!(nav(&app, ground).cell_at(at), Some(Cell::new(1, 0)));
}

#[test]
fn a_map_that_grows_between_two_steps_knows_its_cells() {
    let mut app = app();
    let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let one = app.world_mut().spawn((tilemap(2, 1), LayerOf(level), rules())).id();
    cover(&mut app, one, 2, 1, 0);
    app.update();
    app.update();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    let two = app.world_mut().spawn((tilemap(2, 1), LayerOf(level), rules())).id();
    app.world_mut().get_mut::<Transform>(two).unwrap().translation.x = -2.0 * TILE;
    cover(&mut app, two, 2, 1, 1);
    app.update();
    assert_eq!(seen(&app, level), "##..");
    let nav = nav(&app, level);
    let at = nav.cell_at(Vec3::new(0.5 * TILE, 0.5 * TILE, 0.0)).unwrap();
    assert_eq!(nav.map().terrain(at), Terrain::OPEN, "{at}");
}

#[test]
fn a_flat_layer_below_does_not_take_the_others_down() {
    let mut app = listening();
    let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let bad = app.world_mut().spawn((tilemap(2, 1), LayerOf(level), rules())).id();
    app.world_mut().get_mut::<Transform>(bad).unwrap().scale = Vec3::ZERO;
    let good = app.world_mut().spawn((tilemap(2, 1), LayerOf(level), rules())).id();
    cover(&mut app, good, 2, 1, 0);
    app.update();
    assert_eq!(app.world().resource::<Heard>().0, [(bad, TilesError::Flat)]);
    assert_eq!(seen(&app, level), "..");
}

#[test]
fn a_layer_too_far_away_is_left_out() {
    let mut app = listening();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    let far = app.world_mut().spawn((tilemap(2, 1), LayerOf(ground), rules())).id();
    app.world_mut().get_mut::<Transform>(far).unwrap().translation.x = 1.0e6;
    app.update();
    println!("{:?}", app.world().resource::<Heard>().0);
    assert_eq!(seen(&app, ground), "...");
}

#[test]
fn tiles_beyond_a_layer_have_no_cells() {
    let mut app = app();
    let level = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let one = app.world_mut().spawn((tilemap(2, 1), LayerOf(level), rules())).id();
    let two = app.world_mut().spawn((tilemap(2, 1), LayerOf(level), rules())).id();
    app.world_mut().get_mut::<Transform>(two).unwrap().translation.x = -2.0 * TILE;
    app.update();
    let nav = nav(&app, level);
    assert_eq!(nav.cells_of_tile(two, UVec2::new(2, 0)), None);
    assert_eq!(nav.cells_of_tile(one, UVec2::new(u32::MAX, 0)), None);
}

#[test]
fn the_largest_tile_there_can_be_has_no_cells() {
    let mut app = app();
    let ground = ground(&mut app, 3, 1, NavMap::from_tiles(), rules());
    app.update();
    assert_eq!(nav(&app, ground).cells_of_tile(ground, UVec2::new(i32::MAX as u32, 0)), None);
}

#[test]
fn points_very_far_away_lie_on_no_tile() {
    let mut bad = Vec::new();
    let t = TilemapTileSize::new(1.0, 1.0);
    for kind in [
        TilemapType::Square,
        TilemapType::Isometric(IsoCoordSystem::Staggered),
        TilemapType::Hexagon(HexCoordSystem::RowEven),
        TilemapType::Hexagon(HexCoordSystem::ColumnOdd),
    ] {
        let grid =
            bevy_wayfare::tilemap::tile_grid(TilemapSize::new(8, 8), t.into(), t, kind, TilemapAnchor::None);
        for x in [-2.1e9, -1.5e9, 0.0, 1.5e9, 2.1e9] {
            for y in [-2.1e9, -1.5e9, 0.5e9, 1.5e9, 2.1e9] {
                let r = std::panic::catch_unwind(|| grid.tile_at(Vec2::new(x, y)));
                if r.is_err() {
                    bad.push((kind, x, y));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn points_beyond_many_small_tiles_lie_on_none() {
    // How far is far? Zoomed-out cursor, tiles of 1/1024 (a normalised map).
    let t = TilemapTileSize::new(1.0 / 1024.0, 1.0 / 1024.0);
    let kind = TilemapType::Isometric(IsoCoordSystem::Staggered);
    let grid =
        bevy_wayfare::tilemap::tile_grid(TilemapSize::new(8, 8), t.into(), t, kind, TilemapAnchor::None);
    assert_eq!(grid.tile_at(Vec2::new(0.0, -2.0e6)), None);
}

#[test]
fn grids_of_any_size_can_be_asked_for() {
    let t = TilemapTileSize::new(1.0, 1.0);
    use HexCoordSystem::*;
    let mut bad = Vec::new();
    for kind in [
        TilemapType::Square,
        TilemapType::Isometric(IsoCoordSystem::Staggered),
        TilemapType::Isometric(IsoCoordSystem::Diamond),
        TilemapType::Hexagon(RowEven),
        TilemapType::Hexagon(RowOdd),
        TilemapType::Hexagon(Row),
        TilemapType::Hexagon(Column),
        TilemapType::Hexagon(ColumnOdd),
        TilemapType::Hexagon(ColumnEven),
    ] {
        for size in [u32::MAX, 1 << 31, i32::MAX as u32] {
            let r = std::panic::catch_unwind(|| {
                bevy_wayfare::tilemap::tile_grid(
                    TilemapSize::new(size, size),
                    t.into(),
                    t,
                    kind,
                    TilemapAnchor::Center,
                )
            });
            if r.is_err() {
                bad.push((kind, size));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn a_cell_of_a_hundred_tiles_is_the_worst_of_them() {
    let mut missed = Vec::new();
    for x in 0..100 {
        let mut app = app();
        let map = NavMap::from_tiles().with_tiles_per_cell(100);
        let ground = ground(&mut app, 100, 1, map, rules());
        let tile = tile_at(&mut app, ground, x, 0);
        app.world_mut().entity_mut(tile).insert(NavTile::Blocked);
        app.update();
        if seen(&app, ground) != "#" {
            missed.push(x);
        }
    }
    assert!(missed.is_empty(), "{} {missed:?}", missed.len());
}

#[test]
fn flyers_do_not_pay_for_costs() {
    let mut app = app();
    let map = NavMap::from_tiles().with_class(ClassId(1), Class::flyer());
    let ground = ground(&mut app, 5, 1, map, rules());
    app.update();
    let cost = |app: &App| {
        nav(app, ground).find_path_as(ClassId(1), Cell::new(0, 0), Cell::new(4, 0)).unwrap().cost()
    };
    let plain = cost(&app);
    for price in [3.5, 3.0] {
        for x in 0..5 {
            let tile = tile_at(&mut app, ground, x, 0);
            app.world_mut().entity_mut(tile).insert(NavTile::Cost(price));
        }
        app.update();
        assert_eq!(cost(&app), plain, "{price}");
    }
}

#[test]
fn tiles_that_stand_upright_on_their_plane_are_named() {
    let mut app = listening();
    let ground = ground(&mut app, 3, 3, NavMap::from_tiles().with_plane(Plane::Xz), rules());
    app.update();
    app.update();
    assert!(nav(&app, ground).layout().is_none());
    assert!(!app.world().resource::<Heard>().0.is_empty());
}

#[test]
fn a_bad_cost_that_was_put_right_is_named_again() {
    let mut app = listening();
    let ground = ground(&mut app, 4, 4, NavMap::from_tiles(), rules());
    let bad = tile_at(&mut app, ground, 0, 0);
    for cost in [-1.0, 2.0, -5.0] {
        app.world_mut().entity_mut(bad).insert(NavTile::Cost(cost));
        app.update();
        app.update();
    }
    assert_eq!(app.world().resource::<Heard>().0.len(), 2);
}

#[test]
fn a_scaled_map_is_measured_truly() {
    // Square tiles, drawn twice as wide as high.
    let mut app = app();
    let ground = ground(&mut app, 9, 9, NavMap::from_tiles(), rules());
    app.world_mut().get_mut::<Transform>(ground).unwrap().scale = Vec3::new(2.0, 1.0, 1.0);
    app.update();
    app.update();
    let nav = nav(&app, ground);
    let along = |x, y| nav.find_path(Cell::new(0, 0), Cell::new(x, y)).unwrap().cost();
    println!("{:?} {:?}", along(4, 0), along(0, 4));
    assert_ne!(along(4, 0), along(0, 4));
}
