//! Bevy's own chunks of tiles as ground. They draw themselves with assets this app has not got, so their components
//! are put in place without their hooks' help.

use bevy::asset::AssetPlugin;
use bevy::image::ImagePlugin;
use bevy::mesh::MeshPlugin;
use bevy::prelude::*;
use bevy::sprite_render::{
    TileData, TilemapChunk, TilemapChunkMaterial, TilemapChunkMeshCache, TilemapChunkTileData,
};
use bevy_wayfare::prelude::*;

use crate::support::{Random, app, nav, seen};

const SIDE: u32 = 16;

fn drawing() -> App {
    let mut app = app();
    app.add_plugins((AssetPlugin::default(), ImagePlugin::default(), MeshPlugin))
        .init_asset::<TilemapChunkMaterial>()
        .init_resource::<TilemapChunkMeshCache>();
    app
}

fn chunk(width: u32, height: u32, textures: impl Fn(u32, u32) -> Option<u16>) -> impl Bundle {
    let tiles = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let tiles = tiles.map(|(x, y)| textures(x, y).map(TileData::from_tileset_index)).collect();
    let chunk = TilemapChunk {
        chunk_size: UVec2::new(width, height),
        tile_display_size: UVec2::splat(SIDE),
        ..default()
    };
    (TilemapChunkTileData(tiles), chunk)
}

fn rules() -> TileRules {
    TileRules::default().with_texture(1, NavTile::Blocked).with_texture(2, NavTile::Cost(2.0))
}

#[test]
fn a_chunk_is_ground_and_stays_in_step() {
    let mut app = drawing();
    let tiles = chunk(3, 2, |x, y| (x != 2 || y != 0).then_some(0));
    let ground = app
        .world_mut()
        .spawn((tiles, NavMap::from_tiles(), rules(), Transform::from_xyz(100.0, 0.0, 0.0)))
        .id();
    app.update();
    assert_eq!(seen(&app, ground), "...\n..#");
    // A chunk lies around its middle.
    let corner = Vec3::new(100.0 - 1.5 * 16.0 + 1.0, -16.0 + 1.0, 0.0);
    assert_eq!(nav(&app, ground).cell_at(corner), Some(Cell::new(0, 0)));
    let version = nav(&app, ground).map().version();
    app.world_mut().get_mut::<TilemapChunkTileData>(ground).unwrap()[4] =
        Some(TileData::from_tileset_index(1));
    app.update();
    assert_eq!(seen(&app, ground), ".#.\n..#");
    assert_eq!(nav(&app, ground).map().version(), version + 1);
    // Drawn differently, the same to units: nothing is written.
    app.world_mut().get_mut::<TilemapChunkTileData>(ground).unwrap()[0] =
        Some(TileData::from_tileset_index(77));
    app.update();
    assert_eq!(nav(&app, ground).map().version(), version + 1);
    app.world_mut().entity_mut(ground).insert(TileRules::default().with_texture(77, NavTile::Blocked));
    app.update();
    assert_eq!(seen(&app, ground), "...\n#.#");
    app.world_mut().entity_mut(ground).remove::<TileRules>();
    app.update();
    assert_eq!(seen(&app, ground), "...\n..#");
}

#[test]
fn many_chunks_are_one_ground_after_any_script_of_edits() {
    let mut random = Random(9);
    let mut app = drawing();
    let ground = app.world_mut().spawn((NavMap::from_tiles(), Transform::default())).id();
    let mut chunks = Vec::new();
    for y in 0..3 {
        for x in 0..3 {
            let at = Vec3::new((x * 4 * SIDE) as f32, (y * 4 * SIDE) as f32, 0.0);
            let tiles = chunk(4, 4, |_, _| Some(0));
            chunks.push(
                app.world_mut()
                    .spawn((tiles, LayerOf(ground), rules(), Transform::from_translation(at)))
                    .id(),
            );
        }
    }
    for step in 0..150 {
        for _ in 0..1 + random.below(6) {
            let chunk = chunks[random.below(9) as usize];
            let mut tiles = app.world_mut().get_mut::<TilemapChunkTileData>(chunk).unwrap();
            let texture = random.below(4) as u16;
            tiles[random.below(16) as usize] = (texture < 3).then(|| TileData::from_tileset_index(texture));
        }
        app.update();
        let map = nav(&app, ground).map();
        assert_eq!((map.width(), map.height()), (12, 12));
        for cell in map.area().unwrap().cells() {
            let chunk = chunks[(cell.y / 4 * 3 + cell.x / 4) as usize];
            let tile = app.world().get::<TilemapChunkTileData>(chunk).unwrap()
                [(cell.y % 4 * 4 + cell.x % 4) as usize];
            let expected = match tile.map(|tile| tile.tileset_index) {
                Some(0) => Terrain::OPEN,
                Some(2) => Terrain::digit(2).unwrap(),
                _ => Terrain::WALL,
            };
            assert_eq!(map.terrain(cell), expected, "step {step}, {cell}");
        }
    }
}

/// Bevy warns of such a list and draws nothing.
#[test]
fn a_list_that_is_too_short_ends_in_missing_tiles() {
    let mut app = drawing();
    let ground = app.world_mut().spawn((chunk(2, 2, |_, _| Some(0)), NavMap::from_tiles())).id();
    app.world_mut().get_mut::<TilemapChunkTileData>(ground).unwrap().truncate(3);
    app.update();
    assert_eq!(seen(&app, ground), ".#\n..");
}
