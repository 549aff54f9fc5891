//! From land to ground: in comes the [`Land`], out go three tilemaps that are one [`NavMap`].
//!
//! This is all the glue there is. [`NavMap::from_tiles`] on the lowest tilemap makes it walkable, [`LayerOf`] merges the
//! others into it, and [`TileRules`] say what the textures mean. From then on tiles are the truth: whoever spawns,
//! changes or despawns one changes where units walk.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::art::{Art, TILE, tile, z};
use crate::terrain::{Course, Ground, Land, SIDE, cells, hash, neighbours};

/// Terrain of the nav map, besides open and blocked.
const ROAD: Terrain = Terrain(1);
const SWAMP: Terrain = Terrain(2);

/// Units that walk.
pub(crate) const WALKERS: ClassId = ClassId(0);
/// Units that cross everything.
pub(crate) const FLYERS: ClassId = ClassId(1);

/// Tiles of the lowest layer, which covers everything.
#[derive(Component, Debug)]
pub(crate) struct GroundTile;

/// The layer that walls and gates are built on.
#[derive(Component, Debug)]
pub(crate) struct WallLayer;

/// Spawns the land as tiles.
pub(crate) fn lay_ground(land: Res<Land>, art: Res<Art>, mut commands: Commands) -> Result {
    let walkers = Class::default().with(ROAD, Factor::new(0.6)?).with(SWAMP, Factor::new(2.5)?);
    let ground = commands.spawn_empty().id();
    let mut storage = TileStorage::empty(size());
    for cell in cells() {
        let tile = commands.spawn((GroundTile, tile_at(cell, ground, texture(&land, cell)))).id();
        storage.checked_set(&tile_pos(cell), tile);
    }
    commands.entity(ground).insert((
        Name::new("ground"),
        tilemap(&art, storage, z::GROUND),
        // A bridge lies on water, and can be crossed.
        NavMap::from_tiles()
            .with_merge(Merge::TopmostWins)
            .with_class(WALKERS, walkers)
            .with_class(FLYERS, Class::flyer()),
        TileRules::default()
            .with_textures(tile::WATER, NavTile::Blocked)
            .with_textures(tile::ROCK, NavTile::Blocked)
            .with_textures(tile::SWAMP, NavTile::Terrain(SWAMP.0))
            .with_textures(tile::ROAD, NavTile::Terrain(ROAD.0))
            .with_default(NavTile::Open),
    ));

    let above = commands.spawn_empty().id();
    let mut storage = TileStorage::empty(size());
    for (cell, texture) in cells().filter_map(|cell| Some((cell, texture_above(&land, cell)?))) {
        let tile = commands.spawn(tile_at(cell, above, texture)).id();
        storage.checked_set(&tile_pos(cell), tile);
    }
    commands.entity(above).insert((
        Name::new("trees and bridges"),
        tilemap(&art, storage, z::ABOVE_GROUND),
        LayerOf(ground),
        TileRules::default()
            .with_textures(tile::TREES, NavTile::Blocked)
            .with_default(NavTile::Terrain(ROAD.0)),
    ));

    // Empty at first. What its tiles mean is written on each of them, see `build`.
    let walls = tilemap(&art, TileStorage::empty(size()), z::WALLS);
    commands.spawn((Name::new("walls"), WallLayer, walls, LayerOf(ground)));
    Ok(())
}

/// Whether a unit of this class may be where it is.
pub(crate) fn walks_on(map: &NavMap, class: ClassId, position: Vec3) -> bool {
    let open = |cell| map.snapshot(class).is_ok_and(|snapshot| snapshot.is_open(cell));
    map.cell_at(position).is_some_and(open)
}

/// The middle of a cell. Once the tiles have been read, [`NavMap::centre`] says the same.
pub(crate) fn centre(cell: Cell) -> Vec2 {
    (Vec2::new(cell.x as f32, cell.y as f32) + 0.5) * TILE
}

/// The tile of a cell: the two count alike on square tilemaps.
pub(crate) fn tile_pos(cell: Cell) -> TilePos {
    TilePos::new(cell.x.cast_unsigned(), cell.y.cast_unsigned())
}

/// A tile at a cell of a tilemap.
pub(crate) fn tile_at(cell: Cell, tilemap: Entity, texture: u32) -> TileBundle {
    TileBundle {
        position: tile_pos(cell),
        tilemap_id: TilemapId(tilemap),
        texture_index: TileTextureIndex(texture),
        ..default()
    }
}

/// Which of the four neighbours are alike, as the index of a tile among sixteen.
pub(crate) fn mask(cell: Cell, is_alike: impl Fn(Cell) -> bool) -> u32 {
    let bits = neighbours(cell).into_iter().zip(0..);
    bits.map(|(next, bit)| u32::from(is_alike(next)) << bit).sum()
}

fn size() -> TilemapSize {
    TilemapSize { x: SIDE.unsigned_abs(), y: SIDE.unsigned_abs() }
}

/// The whole land lies right and up of the origin.
fn tilemap(art: &Art, storage: TileStorage, z: f32) -> TilemapBundle {
    TilemapBundle {
        size: size(),
        storage,
        texture: TilemapTexture::Single(art.tiles.clone()),
        tile_size: TilemapTileSize { x: TILE, y: TILE },
        grid_size: TilemapGridSize { x: TILE, y: TILE },
        anchor: TilemapAnchor::BottomLeft,
        transform: Transform::from_xyz(0.0, 0.0, z),
        // Culled chunk by chunk, so small ones: few tiles are drawn in vain.
        render_settings: TilemapRenderSettings { render_chunk_size: UVec2::splat(16), ..default() },
        ..default()
    }
}

/// What the lowest layer shows.
fn texture(land: &Land, cell: Cell) -> u32 {
    let pick = hash(land.seed ^ 31, cell.x, cell.y);
    match land.at(cell) {
        // Most of it is plain.
        Ground::Grass | Ground::Tree if pick.is_multiple_of(19) => tile::TUFTS.start + pick / 19 % 4,
        Ground::Grass | Ground::Tree => tile::GRASS.start + pick % 8,
        Ground::Water | Ground::Bridge(_) => {
            let is_wet = |next| matches!(land.at(next), Ground::Water | Ground::Bridge(_));
            tile::WATER.start + mask(cell, is_wet)
        }
        Ground::Swamp => tile::SWAMP.start + mask(cell, |next| land.at(next) == Ground::Swamp),
        Ground::Rock => tile::ROCK.start + mask(cell, |next| land.at(next) == Ground::Rock),
        Ground::Road => tile::ROAD.start + mask(cell, |next| joins(land, cell, next)),
    }
}

/// What the layer above it shows, if anything.
fn texture_above(land: &Land, cell: Cell) -> Option<u32> {
    match land.at(cell) {
        Ground::Tree => Some(tile::TREES.start + hash(land.seed ^ 32, cell.x, cell.y) % 6),
        Ground::Bridge(course) => Some(planks(land, cell, course)),
        _ => None,
    }
}

/// The part of a bridge that has railings where it ends.
fn planks(land: &Land, cell: Cell, course: Course) -> u32 {
    let [north, east, south, west] = neighbours(cell).map(|next| land.at(next) == Ground::Bridge(course));
    let (narrow, wide, before, behind) = match course {
        Course::Eastward => (tile::BRIDGE_EASTWARD, tile::WIDE_BRIDGE_EASTWARD, north, south),
        Course::Southward => (tile::BRIDGE_SOUTHWARD, tile::WIDE_BRIDGE_SOUTHWARD, west, east),
    };
    match (before, behind) {
        (false, false) => narrow,
        (false, true) => wide,
        (true, true) => wide + 1,
        (true, false) => wide + 2,
    }
}

/// Whether a road leads on to the next cell: over a bridge only lengthwise.
fn joins(land: &Land, cell: Cell, next: Cell) -> bool {
    match land.at(next) {
        Ground::Bridge(Course::Eastward) => cell.y == next.y,
        Ground::Bridge(Course::Southward) => cell.x == next.x,
        other => other == Ground::Road,
    }
}
