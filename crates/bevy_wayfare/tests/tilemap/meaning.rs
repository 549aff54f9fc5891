//! What a tile means: the component, then the texture, then the rule, then the default; and what no tile means.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{app, ground, nav, seen, tile, tile_at, tilemap};

#[test]
fn the_first_answer_counts() {
    let mut app = app();
    let rules = TileRules::default()
        .with_texture(1, NavTile::Blocked)
        .with_textures(2..4, NavTile::Terrain(5))
        .with_rule(|tile| (tile.texture < 5 || tile.position.x == 0).then_some(NavTile::Cost(4.0)))
        .with_default(NavTile::Cost(2.0));
    let ground = app.world_mut().spawn((tilemap(8, 1), NavMap::from_tiles(), rules)).id();
    for (x, texture) in [(0, 9), (1, 1), (2, 2), (3, 3), (4, 4), (5, 9), (6, 1)] {
        app.world_mut().spawn(tile(ground, x, 0, texture));
    }
    let own = tile_at(&mut app, ground, 6, 0);
    app.world_mut().entity_mut(own).insert(NavTile::Open);
    app.update();
    // The last tile is missing, and that is blocked.
    assert_eq!(seen(&app, ground), "4#FF42.#");
}

#[test]
fn without_rules_every_tile_is_open() {
    let mut app = app();
    let ground = app.world_mut().spawn((tilemap(3, 2), NavMap::from_tiles())).id();
    app.world_mut().spawn(tile(ground, 0, 0, 77));
    app.world_mut().spawn(tile(ground, 2, 1, 3));
    app.update();
    assert_eq!(seen(&app, ground), "##.\n.##");
}

#[test]
fn missing_tiles_follow_the_policy_of_the_map() {
    for (policy, letter) in [(NavTile::Open, '.'), (NavTile::Cost(3.0), '3'), (NavTile::Ignored, '#')] {
        let mut app = app();
        let map = NavMap::from_tiles().with_missing(policy);
        let ground = app.world_mut().spawn((tilemap(3, 1), map)).id();
        let middle = app.world_mut().spawn((tile(ground, 1, 0, 0), NavTile::Terrain(1))).id();
        app.update();
        assert_eq!(seen(&app, ground), format!("{letter}B{letter}"));
        // Decoration is as if it were not there.
        app.world_mut().entity_mut(middle).insert(NavTile::Ignored);
        app.update();
        assert_eq!(seen(&app, ground), format!("{letter}{letter}{letter}"));
    }
}

#[test]
fn a_cost_of_any_size_is_paid_by_those_who_walk() {
    let mut app = app();
    let map = NavMap::from_tiles().with_class(ClassId(1), Class::flyer());
    let rules =
        TileRules::default().with_texture(1, NavTile::Cost(0.5)).with_texture(2, NavTile::Cost(12.25));
    let ground = ground(&mut app, 6, 1, map, rules);
    app.update();
    let price = |app: &App, class: u8| {
        let path = nav(app, ground).find_path_as(ClassId(class), Cell::new(0, 0), Cell::new(5, 0)).unwrap();
        path.cost()
    };
    assert_eq!((price(&app, 0), price(&app, 1)), (5 * 985, 5 * 985));
    for (x, texture) in [(2, 1), (3, 2)] {
        let tile = tile_at(&mut app, ground, x, 0);
        app.world_mut().entity_mut(tile).insert(bevy_ecs_tilemap::tiles::TileTextureIndex(texture));
    }
    app.update();
    // 985 × 0.5 and 985 × 12.25 are rounded to whole units.
    assert_eq!(price(&app, 0), 3 * 985 + 493 + 12_066);
    assert_eq!(price(&app, 1), 5 * 985);
}

#[test]
fn a_map_of_the_games_own_making_stays_as_it_is() {
    let mut app = app();
    let map = NavMap::from_text("..#\n#..").unwrap();
    let ground = app.world_mut().spawn((tilemap(9, 9), map)).id();
    app.world_mut().spawn(tile(ground, 0, 0, 0));
    app.update();
    assert_eq!(nav(&app, ground).map().to_text(|_| None), "..#\n#..");
    assert!(app.world().get::<TileLayer>(ground).is_none());
}
