//! Tilemaps of [`bevy_ecs_tilemap`] as ground. Feature `tilemap`.
//!
//! Comes in: tilemaps with their size, type and anchor, and an entity per tile. Goes out: a
//! [`TileLayer`] beside every tilemap that is ground, with what its tiles mean. Who is where is kept here:
//! the crate's own `TileStorage` still names tiles that have been despawned.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_ecs_tilemap::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! fn setup(mut commands: Commands) {
//!     let (size, tile) = (TilemapSize::new(32, 20), TilemapTileSize::new(16.0, 16.0));
//!     let ground = commands
//!         .spawn((size, tile, TilemapGridSize::from(tile), TilemapType::Square, Transform::default()))
//!         .insert(NavMap::from_tiles())
//!         .id();
//!     for x in 0..size.x {
//!         for y in 0..size.y {
//!             let tile = commands.spawn((TilePos::new(x, y), TilemapId(ground))).id();
//!             if x == 10 && y != 4 {
//!                 commands.entity(tile).insert(NavTile::Blocked);
//!             }
//!         }
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, PathfindingPlugin::default())).add_systems(Startup, setup).update();
//! let map = app.world_mut().query::<&NavMap>().single(app.world()).unwrap();
//! assert_eq!((map.map().width(), map.map().height()), (32, 20));
//! assert_eq!(map.map().count(Terrain::WALL), 19);
//! ```

use std::collections::BTreeMap;

use bevy::ecs::change_detection::Tick;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::{QueryData, QueryNotDenseError};
use bevy::prelude::*;
use bevy_ecs_tilemap::anchor::TilemapAnchor;
use bevy_ecs_tilemap::map::{
    HexCoordSystem, IsoCoordSystem, TilemapGridSize, TilemapId, TilemapSize, TilemapTileSize, TilemapType,
};
use bevy_ecs_tilemap::tiles::{TilePos, TileTextureIndex};
use wayfare::{CellShape, Map, Skew};

use crate::map::NavMap;
use crate::tiles::{
    LayerOf, NavTile, TileGrid, TileInfo, TileLayer, TileNews, TileRules, TilesError, TilesRefused,
};

/// Where the tiles of a tilemap lie, in the space of its entity.
///
/// Everything follows from what `bevy_ecs_tilemap` says of the centres of its tiles. An isometric map lies on a lattice of
/// diamonds, a hexagonal one on axial coordinates; maps that number their tiles in another way are
/// [skewed](wayfare::Skew).
///
/// ```
/// use bevy::math::{UVec2, Vec2};
/// use bevy_ecs_tilemap::prelude::*;
/// use bevy_wayfare::tilemap::tile_grid;
///
/// let (size, tile) = (TilemapSize::new(8, 8), TilemapTileSize::new(64.0, 32.0));
/// let kind = TilemapType::Isometric(IsoCoordSystem::Staggered);
/// let grid = tile_grid(size, tile.into(), tile, kind, TilemapAnchor::None);
/// assert_eq!(grid.tile_at(Vec2::new(64.0, 0.0)), Some(UVec2::new(1, 0)));
/// assert_eq!(grid.centre(UVec2::new(0, 1)), Some(Vec2::new(32.0, 16.0)));
/// ```
pub fn tile_grid(
    size: TilemapSize,
    grid_size: TilemapGridSize,
    tile_size: TilemapTileSize,
    kind: TilemapType,
    anchor: TilemapAnchor,
) -> TileGrid {
    let (lattice, shape, skew) = match kind {
        TilemapType::Square => (kind, CellShape::Parallelogram, Skew::None),
        TilemapType::Isometric(system) => {
            let skew = match system {
                IsoCoordSystem::Diamond => Skew::None,
                IsoCoordSystem::Staggered => Skew::Staggered,
            };
            (TilemapType::Isometric(IsoCoordSystem::Diamond), CellShape::Parallelogram, skew)
        }
        TilemapType::Hexagon(system) => {
            let (axial, skew) = match system {
                HexCoordSystem::RowEven => (HexCoordSystem::Row, Skew::RowEven),
                HexCoordSystem::RowOdd => (HexCoordSystem::Row, Skew::RowOdd),
                HexCoordSystem::Row => (HexCoordSystem::Row, Skew::None),
                HexCoordSystem::ColumnEven => (HexCoordSystem::Column, Skew::ColumnEven),
                HexCoordSystem::ColumnOdd => (HexCoordSystem::Column, Skew::ColumnOdd),
                HexCoordSystem::Column => (HexCoordSystem::Column, Skew::None),
            };
            (TilemapType::Hexagon(axial), CellShape::Hexagon, skew)
        }
    };
    // Points of the lattice as that crate places them. It counts back from the last tile, which an empty map has not.
    let one = TilemapSize::new(1, 1);
    let point = |x, y| {
        TilePos::new(x, y).center_in_world(&one, &grid_size, &tile_size, &lattice, &TilemapAnchor::None)
    };
    let (x, y) = (point(1, 0), point(0, 1));
    // It counts in numbers that a map of more tiles than ours may have does not fit into.
    let is_some = [size.x, size.y].into_iter().all(|side| (1..=Map::MAX_SIDE).contains(&side));
    let offset = if is_some { anchor.as_offset(&size, &grid_size, &tile_size, &kind) } else { Vec2::ZERO };
    TileGrid { size: size.into(), origin: offset - (x + y) * 0.5, x, y, shape, skew }
}

/// Which tiles lie where. Several may have the same position; the hardest of them counts.
#[derive(Resource, Default, Debug)]
pub(crate) struct Tiles {
    known: EntityHashMap<Known>,
    layers: EntityHashMap<Occupants>,
    /// Layers whose tiles are all to be read.
    fresh: EntityHashSet,
    /// Tilemaps that are too large, with their size, so that it is said once.
    refused: EntityHashMap<UVec2>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Known {
    layer: Entity,
    position: UVec2,
    meaning: NavTile,
}

/// The tiles of one layer by their position.
#[derive(Default, Debug)]
struct Occupants {
    first: Vec<Option<Entity>>,
    /// Where there are several, the others.
    others: BTreeMap<usize, Vec<Entity>>,
}

/// Notes what no change detection tells of.
pub(crate) fn watch_tiles(app: &mut App) {
    app.init_resource::<Tiles>().init_resource::<TileNews>();
    app.add_observer(|on: On<Remove, TilePos>, mut news: ResMut<TileNews>| news.0.push(on.entity));
    app.add_observer(|on: On<Remove, TilemapId>, mut news: ResMut<TileNews>| news.0.push(on.entity));
    app.add_observer(|on: On<Remove, TileTextureIndex>, mut news: ResMut<TileNews>| news.0.push(on.entity));
    app.add_observer(|on: On<Add, Disabled>, mut news: ResMut<TileNews>| news.0.push(on.entity));
    app.add_observer(|on: On<Remove, Disabled>, mut news: ResMut<TileNews>| news.0.push(on.entity));
}

type Ground = Or<(With<NavMap>, With<LayerOf>)>;

/// Gives every tilemap that is ground a layer of its shape, and takes it from those that are ground no more. One whose shape or
/// rules have changed begins anew.
pub(crate) fn shape_layers(
    // Reads
    tilemaps: Query<
        (
            Entity,
            (&TilemapSize, &TilemapGridSize, &TilemapTileSize, &TilemapType, Option<&TilemapAnchor>),
            (Option<&NavMap>, Has<LayerOf>),
            Option<&TileLayer>,
            Option<Ref<TileRules>>,
        ),
        Ground,
    >,
    mut without_rules: RemovedComponents<TileRules>,
    // Writes
    mut tiles: ResMut<Tiles>,
    mut commands: Commands,
) {
    let without_rules: EntityHashSet = without_rules.read().collect();
    for entity in tiles.layers.keys().filter(|entity| !tilemaps.contains(**entity)) {
        if let Ok(mut former) = commands.get_entity(*entity) {
            former.try_remove::<TileLayer>();
        }
    }
    let Tiles { known, layers, fresh, refused } = &mut *tiles;
    let before = layers.len();
    layers.retain(|entity, _| tilemaps.contains(*entity));
    refused.retain(|entity, _| tilemaps.contains(*entity));
    if layers.len() < before {
        known.retain(|_, tile| layers.contains_key(&tile.layer));
    }
    for (entity, (size, grid_size, tile_size, kind, anchor), (map, is_layer), layer, rules) in &tilemaps {
        // A tilemap may carry a map of the game's own making.
        if map.is_some_and(|map| map.tiling.is_none()) && !is_layer {
            continue;
        }
        let grid = tile_grid(*size, *grid_size, *tile_size, *kind, anchor.copied().unwrap_or_default());
        let other_rules = rules.is_some_and(|rules| rules.is_changed()) || without_rules.contains(&entity);
        let is_read = layers.contains_key(&entity) && layer.is_some_and(|layer| layer.grid().is_same(&grid));
        if is_read && !other_rules {
            continue;
        }
        match TileLayer::new(grid) {
            Ok(layer) => {
                refused.remove(&entity);
                commands.entity(entity).insert(layer);
                fresh.insert(entity);
            }
            Err(_) => {
                layers.remove(&entity);
                if refused.insert(entity, grid.size) != Some(grid.size) {
                    let (width, height) = (f64::from(size.x), f64::from(size.y));
                    let reason = TilesError::TooLarge { width, height };
                    commands.entity(entity).remove::<TileLayer>();
                    commands.trigger(TilesRefused { entity, reason });
                }
            }
        }
    }
}

/// An entity that is a tile.
#[derive(QueryData)]
pub(crate) struct Tile {
    entity: Entity,
    position: &'static TilePos,
    tilemap: &'static TilemapId,
    texture: Option<&'static TileTextureIndex>,
    own: Option<&'static NavTile>,
}

impl TileItem<'_, '_> {
    fn read(&self, rules: &Query<&TileRules>) -> Known {
        let (layer, position) = (self.tilemap.0, UVec2::from(self.position));
        let by_rule = || {
            let tile = TileInfo { position, texture: self.texture.map_or(0, |texture| texture.0) };
            rules.get(layer).map_or(NavTile::default(), |rules| rules.meaning(tile))
        };
        Known { layer, position, meaning: self.own.copied().unwrap_or_else(by_rule) }
    }
}

/// Writes the meaning of tiles that came, went, moved or changed into their layers.
pub(crate) fn read_tiles(
    // Reads
    all: Query<Tile>,
    changed: Query<Tile, Or<(Changed<TilePos>, Changed<TilemapId>, Changed<TileTextureIndex>)>>,
    positions: Query<(Entity, Ref<TilePos>)>,
    tilemaps: Query<(Entity, Ref<TilemapId>)>,
    textures: Query<(Entity, Ref<TileTextureIndex>)>,
    rules: Query<&TileRules>,
    // Writes
    mut layers: Query<&mut TileLayer>,
    mut tiles: ResMut<Tiles>,
    mut news: ResMut<TileNews>,
) {
    if tiles.layers.is_empty() && tiles.fresh.is_empty() {
        // Whoever becomes ground is read as a whole.
        news.0.clear();
        return;
    }
    let fresh = core::mem::take(&mut tiles.fresh);
    if !fresh.is_empty() {
        tiles.open_layers(&fresh, &layers);
        for tile in all.iter().filter(|tile| fresh.contains(&tile.tilemap.0)) {
            tiles.lay(tile.entity, tile.read(&rules), &mut layers);
        }
    }
    let scanned = fresh.is_empty()
        && scan(&positions, &mut news.0)
            .and_then(|()| scan(&tilemaps, &mut news.0))
            .and_then(|()| scan(&textures, &mut news.0))
            .is_ok();
    // Where a tilemap is new, so are most tiles.
    if !scanned {
        for tile in changed.iter().filter(|tile| !fresh.contains(&tile.tilemap.0)) {
            tiles.lay(tile.entity, tile.read(&rules), &mut layers);
        }
    }
    for entity in news.0.drain(..) {
        match all.get(entity) {
            Ok(tile) => tiles.lay(entity, tile.read(&rules), &mut layers),
            Err(_) => tiles.lift(entity, &mut layers),
        }
    }
}

/// Notes the entities on which a component has changed, or says that they do not lie side by side in memory.
///
/// PERF: a frame in which none of 65,536 tiles changes costs 0.06 ms like this, and 0.20 ms with the filter `Changed`
/// (benchmark `tiles`).
fn scan<C: Component>(
    tiles: &Query<(Entity, Ref<C>)>,
    changed: &mut Vec<Entity>,
) -> Result<(), QueryNotDenseError> {
    const BLOCK: usize = 256;
    for (entities, values) in tiles.contiguous_iter()? {
        let (last, now) = (values.last_run_tick(), values.this_run_tick());
        let since = now.get().wrapping_sub(last.get());
        for (entities, ticks) in entities.chunks(BLOCK).zip(values.changed_ticks_slice().chunks(BLOCK)) {
            // Without a branch, so that many are compared at once; what is too much is sorted out below.
            let is_new = |tick: &Tick| now.get().wrapping_sub(tick.get()) < since;
            if ticks.iter().fold(false, |any, tick| any | is_new(tick)) {
                let new = entities.iter().zip(ticks).filter(|(_, tick)| tick.is_newer_than(last, now));
                changed.extend(new.map(|(entity, _)| *entity));
            }
        }
    }
    Ok(())
}

impl Tiles {
    /// Begins to read layers.
    fn open_layers(&mut self, fresh: &EntityHashSet, layers: &Query<&mut TileLayer>) {
        self.known.retain(|_, tile| !fresh.contains(&tile.layer));
        for (layer, new) in fresh.iter().filter_map(|layer| Some((layer, layers.get(*layer).ok()?))) {
            let first = vec![None; new.tiles().len()];
            self.layers.insert(*layer, Occupants { first, others: BTreeMap::new() });
        }
    }

    /// A tile is there, and not where it was before.
    fn lay(&mut self, entity: Entity, tile: Known, layers: &mut Query<&mut TileLayer>) {
        let before = self.known.get(&entity).copied();
        if before == Some(tile) {
            // A tile that is new is noted once for each of its components.
            return;
        }
        if before.is_some_and(|before| (before.layer, before.position) != (tile.layer, tile.position)) {
            self.lift(entity, layers);
        }
        let Ok(mut layer) = layers.get_mut(tile.layer) else { return };
        let Some(occupants) = self.layers.get_mut(&tile.layer) else { return };
        let Some(index) = index(&layer, tile.position) else { return };
        self.known.insert(entity, tile);
        occupants.add(index, entity);
        let meaning = occupants.meaning(index, &self.known);
        if layer.get(tile.position) != meaning {
            layer.set(tile.position, meaning);
        }
    }

    /// A tile is there no more.
    fn lift(&mut self, entity: Entity, layers: &mut Query<&mut TileLayer>) {
        let Some(tile) = self.known.remove(&entity) else { return };
        let Ok(mut layer) = layers.get_mut(tile.layer) else { return };
        let Some(occupants) = self.layers.get_mut(&tile.layer) else { return };
        let Some(index) = index(&layer, tile.position) else { return };
        occupants.remove(index, entity);
        layer.set(tile.position, occupants.meaning(index, &self.known));
    }
}

impl Occupants {
    fn add(&mut self, index: usize, entity: Entity) {
        match self.first[index] {
            None => self.first[index] = Some(entity),
            Some(first) if first == entity => {}
            Some(_) => {
                let others = self.others.entry(index).or_default();
                if !others.contains(&entity) {
                    others.push(entity);
                }
            }
        }
    }

    fn remove(&mut self, index: usize, entity: Entity) {
        let others = self.others.get_mut(&index);
        if self.first[index] == Some(entity) {
            self.first[index] = others.and_then(Vec::pop);
        } else if let Some(others) = others {
            others.retain(|other| *other != entity);
        }
        if self.others.get(&index).is_some_and(Vec::is_empty) {
            self.others.remove(&index);
        }
    }

    fn meaning(&self, index: usize, known: &EntityHashMap<Known>) -> Option<NavTile> {
        let others = self.others.get(&index).into_iter().flatten();
        let here = self.first[index].iter().chain(others);
        here.filter_map(|entity| known.get(entity)).map(|tile| tile.meaning).reduce(NavTile::harder)
    }
}

fn index(layer: &TileLayer, position: UVec2) -> Option<usize> {
    let size = layer.grid().size;
    position.cmplt(size).all().then(|| position.y as usize * size.x as usize + position.x as usize)
}
