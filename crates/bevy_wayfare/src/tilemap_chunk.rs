//! Bevy's own [`TilemapChunk`] as ground. Feature `tilemap_chunk`.
//!
//! Comes in: chunks with the list of their tiles. Goes out: a [`TileLayer`] beside every chunk that is ground;
//! when the list changes, only what differs is written. Its tiles are no entities: [`TileRules`] say what they mean. A world of many chunks is one ground if each is a
//! [`LayerOf`] the same entity.

use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::prelude::*;
use bevy::sprite_render::{TilemapChunk, TilemapChunkTileData};

use crate::map::NavMap;
use crate::tiles::{LayerOf, NavTile, TileGrid, TileInfo, TileLayer, TileRules, TilesError, TilesRefused};

/// Where the tiles of a chunk lie, in the space of its entity: around its middle, as they are drawn.
pub fn tile_grid(chunk: &TilemapChunk) -> TileGrid {
    let tile = chunk.tile_display_size.as_vec2();
    let grid = TileGrid::rectangular(chunk.chunk_size, tile);
    TileGrid { origin: chunk.chunk_size.as_vec2() * tile * -0.5, ..grid }
}

/// Writes the meaning of tiles that changed into the layers of their chunks.
pub(crate) fn read_chunks(
    // Reads
    mut without_rules: RemovedComponents<TileRules>,
    // Local
    mut read: Local<EntityHashSet>,
    mut refused: Local<EntityHashMap<UVec2>>,
    // Writes
    mut chunks: Query<
        (
            Entity,
            &TilemapChunk,
            Ref<TilemapChunkTileData>,
            (Option<&NavMap>, Has<LayerOf>),
            Option<&mut TileLayer>,
            Option<Ref<TileRules>>,
        ),
        Or<(With<NavMap>, With<LayerOf>)>,
    >,
    mut commands: Commands,
) {
    let without_rules: EntityHashSet = without_rules.read().collect();
    for entity in read.iter().filter(|entity| !chunks.contains(**entity)) {
        if let Ok(mut former) = commands.get_entity(*entity) {
            former.try_remove::<TileLayer>();
        }
    }
    read.retain(|entity| chunks.contains(*entity));
    refused.retain(|entity, _| chunks.contains(*entity));
    for (entity, chunk, tiles, (map, is_layer), layer, rules) in &mut chunks {
        // A chunk may carry a map of the game's own making.
        if map.is_some_and(|map| map.tiling.is_none()) && !is_layer {
            continue;
        }
        let grid = tile_grid(chunk);
        let layer = layer.filter(|layer| layer.grid().is_same(&grid) && read.contains(&entity));
        let other_rules =
            rules.as_ref().is_some_and(|rules| rules.is_changed()) || without_rules.contains(&entity);
        if layer.is_some() && !tiles.is_changed() && !other_rules {
            continue;
        }
        let rules = rules.as_deref();
        if let Some(mut layer) = layer {
            write(&mut layer, &tiles, rules);
            continue;
        }
        match TileLayer::new(grid) {
            Ok(mut layer) => {
                write(&mut layer, &tiles, rules);
                commands.entity(entity).insert(layer);
                read.insert(entity);
                refused.remove(&entity);
            }
            Err(_) => {
                read.remove(&entity);
                if refused.insert(entity, grid.size) != Some(grid.size) {
                    let UVec2 { x, y } = grid.size;
                    let reason = TilesError::TooLarge { width: f64::from(x), height: f64::from(y) };
                    commands.entity(entity).remove::<TileLayer>();
                    commands.trigger(TilesRefused { entity, reason });
                }
            }
        }
    }
}

/// Tiles beyond the end of a list that is too short are missing, as they are on the screen.
fn write(layer: &mut TileLayer, tiles: &TilemapChunkTileData, rules: Option<&TileRules>) {
    let UVec2 { x: width, y: height } = layer.grid().size;
    let positions = (0..height).flat_map(|y| (0..width).map(move |x| UVec2::new(x, y)));
    for (position, tile) in positions.zip(tiles.iter().chain(core::iter::repeat(&None))) {
        let meaning = tile.map(|tile| {
            let tile = TileInfo { position, texture: u32::from(tile.tileset_index) };
            rules.map_or(NavTile::default(), |rules| rules.meaning(tile))
        });
        layer.set(position, meaning);
    }
}
