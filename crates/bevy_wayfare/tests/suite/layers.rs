//! Layers of tiles that a game writes itself, without any tilemap.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Random};

fn layer(width: u32, height: u32, tile: f32) -> TileLayer {
    TileLayer::new(TileGrid::rectangular(UVec2::new(width, height), Vec2::splat(tile))).unwrap()
}

fn game(layer: TileLayer, map: NavMap) -> Game {
    let mut game = Game::on(map, PathfindingPlugin::default());
    let map = game.map;
    game.world().entity_mut(map).insert(layer);
    game.update();
    game
}

#[test]
fn a_layer_is_ground_and_its_edits_are_followed() {
    let mut tiles = layer(4, 2, 10.0);
    tiles.fill(NavTile::Open);
    let mut game = game(tiles, NavMap::from_tiles());
    assert_eq!(game.nav().map().to_text(|_| None), "....\n....");
    let map = game.map;
    let mut tiles = game.world().get_mut::<TileLayer>(map).unwrap();
    assert!(tiles.set(UVec2::new(1, 0), Some(NavTile::Blocked)));
    assert!(!tiles.set(UVec2::new(1, 0), Some(NavTile::Blocked)), "no news");
    assert!(!tiles.set(UVec2::new(4, 0), Some(NavTile::Blocked)), "beyond the layer");
    assert!(tiles.set(UVec2::new(2, 1), None));
    assert_eq!(tiles.get(UVec2::new(9, 9)), None);
    game.update();
    // Row 0 comes first.
    assert_eq!(game.nav().map().to_text(|_| None), ".#..\n..#.");
    assert_eq!(game.nav().cell_at(Vec3::new(15.0, 5.0, 0.0)), Some(Cell::new(1, 0)));
    // Another layer in its place.
    let mut other = layer(2, 1, 5.0);
    other.set(UVec2::ZERO, Some(NavTile::Cost(4.0)));
    game.world().entity_mut(map).insert(other);
    game.update();
    assert_eq!(game.nav().map().to_text(|_| None), "4#");
    game.world().entity_mut(map).remove::<TileLayer>();
    game.update();
    assert!(game.nav().map().area().is_none());
}

/// Nobody reads a layer of no ground; it must not remember its changes forever, nor forget any.
#[test]
fn changes_nobody_reads_are_not_kept_and_not_lost() {
    let mut random = Random(4);
    let mut tiles = layer(20, 20, 1.0);
    tiles.fill(NavTile::Open);
    let mut game = game(tiles, NavMap::from_tiles());
    let map = game.map;
    for round in 0..40 {
        let edits = [1, 3, 99, 101, 5000][round % 5];
        for _ in 0..edits {
            let tile = UVec2::new(random.below(20), random.below(20));
            let meaning = [None, Some(NavTile::Open), Some(NavTile::Cost(2.0))][random.below(3) as usize];
            game.world().get_mut::<TileLayer>(map).unwrap().set(tile, meaning);
        }
        game.update();
        let (tiles, nav): (&TileLayer, _) = (game.app.world().get(map).unwrap(), game.nav());
        for y in 0..20 {
            for x in 0..20 {
                let expected = match tiles.get(UVec2::new(x, y)) {
                    None => Terrain::WALL,
                    Some(NavTile::Open) => Terrain::OPEN,
                    Some(_) => Terrain::digit(2).unwrap(),
                };
                let cell = Cell::new(x.cast_signed(), y.cast_signed());
                assert_eq!(nav.map().terrain(cell), expected, "round {round}: {cell}");
            }
        }
    }
}

#[test]
fn a_copied_layer_goes_its_own_way() {
    let mut tiles = layer(3, 1, 1.0);
    tiles.fill(NavTile::Open);
    let mut copy = tiles.clone();
    let mut game = game(tiles, NavMap::from_tiles());
    copy.set(UVec2::new(2, 0), Some(NavTile::Blocked));
    let map = game.map;
    game.world().entity_mut(map).insert(copy);
    game.update();
    assert_eq!(game.nav().map().to_text(|_| None), "..#");
}

#[test]
fn a_layer_that_is_too_large_is_refused() {
    let grid = TileGrid::rectangular(UVec2::new(16_385, 1), Vec2::ONE);
    assert_eq!(TileLayer::new(grid).unwrap_err(), MapError::TooLarge { width: 16_385, height: 1 });
}

/// Obstacles smaller than a tile need cells that are, too.
#[test]
fn finer_ground_lets_units_pass_beside_a_post() {
    for (cells, passes) in [(1, false), (4, true)] {
        let mut tiles = layer(3, 1, 4.0);
        tiles.fill(NavTile::Open);
        let mut game = game(tiles, NavMap::from_tiles().with_cells_per_tile(cells));
        game.world()
            .spawn((Transform::from_xyz(6.0, 2.0, 0.0), Obstacle::new(Footprint::Disc { radius: 0.9 })));
        game.update();
        let path = game.nav().find_path(Vec2::new(1.0, 1.0), Vec2::new(11.0, 1.0));
        assert_eq!(path.is_ok(), passes, "{cells}");
    }
}
