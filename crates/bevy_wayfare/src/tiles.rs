//! Tiles as ground: what a tile means ([`NavTile`], [`TileRules`]), and a layer of them ([`TileLayer`]).
//!
//! Comes in: tiles, from `bevy_ecs_tilemap`, from Bevy's own chunks, or from a game's own storage. Goes out: layers that
//! [`NavMap::from_tiles`](crate::NavMap::from_tiles) merges into one ground.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use wayfare::{Cell, CellShape, Layout, Map, MapError, Skew};

/// What a tile is to units. As a component on a tile it goes before every rule of its tilemap.
///
/// It cannot be changed in place: insert another one, or remove it to go back to the rule.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn flood(mut commands: Commands, tiles: Query<Entity, With<NavTile>>) {
///     for tile in &tiles {
///         commands.entity(tile).insert(NavTile::Blocked);
///     }
/// }
/// ```
#[derive(Component, Reflect, Clone, Copy, PartialEq, Default, Debug)]
#[component(immutable, on_insert = look_again, on_remove = look_again)]
#[reflect(Component, Default, Clone, PartialEq, Debug)]
pub enum NavTile {
    /// Ordinary ground.
    #[default]
    Open,
    /// A wall: nobody passes but those who fly.
    Blocked,
    /// A terrain by its number, whose price each class of units knows; see [`Class`](wayfare::Class). Numbers from 200 up
    /// are taken by [`Cost`](Self::Cost) on maps that use it.
    Terrain(u8),
    /// Ground so many times as dear as ordinary ground: 0.5 for a road, 3 for a swamp. Flyers, and other classes to which
    /// all [digits](wayfare::Terrain::digit) cost the same as open ground, do not mind. A map may have
    /// [44](TilesError::TooManyCosts) of them at a time besides the whole numbers from 1 to 9.
    Cost(f32),
    /// Decoration: as if it were not there.
    Ignored,
}

impl NavTile {
    /// The harder of two tiles at the same place: a blocked one before a cost, the higher of two costs, a cost before a
    /// terrain, the higher number of two terrains, a terrain before open ground.
    #[must_use]
    pub fn harder(self, other: Self) -> Self {
        let rank = |tile: Self| match tile {
            Self::Ignored => (0, 0.0),
            Self::Open => (1, 0.0),
            Self::Terrain(terrain) => (2, f32::from(terrain)),
            Self::Cost(cost) => (3, cost),
            Self::Blocked => (4, 0.0),
        };
        let (a, b) = (rank(self), rank(other));
        if a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).is_lt() { other } else { self }
    }
}

/// Tiles that have got or lost something no change detection tells of. There only if somebody reads it.
#[derive(Resource, Default, Debug)]
pub(crate) struct TileNews(pub(crate) Vec<Entity>);

fn look_again(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut news) = world.get_resource_mut::<TileNews>() {
        news.0.push(context.entity);
    }
}

/// A tile, as a [rule](TileRules::with_rule) sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileInfo {
    /// Its column and row.
    pub position: UVec2,
    /// The number of its texture.
    pub texture: u32,
}

/// What the tiles of one tilemap mean: a component beside it. Without it every tile is open ground.
///
/// The first of these that has an answer counts: a [`NavTile`] on the tile, the table of textures, the rule, the default.
///
/// ```
/// use bevy_wayfare::prelude::*;
///
/// const WATER: u32 = 16;
/// let rules = TileRules::default()
///     .with_texture(WATER, NavTile::Blocked)
///     .with_textures(64..80, NavTile::Cost(0.5))
///     .with_rule(|tile| (tile.texture >= 96).then_some(NavTile::Blocked));
/// ```
#[derive(Component, Reflect, Clone, Default)]
#[reflect(Component, Default, Clone)]
pub struct TileRules {
    textures: BTreeMap<u32, NavTile>,
    #[reflect(ignore)]
    rule: Option<Arc<dyn Fn(TileInfo) -> Option<NavTile> + Send + Sync>>,
    default: NavTile,
}

impl TileRules {
    /// Tiles with this texture are that.
    #[must_use]
    pub fn with_texture(self, texture: u32, tile: NavTile) -> Self {
        self.with_textures([texture], tile)
    }

    /// Tiles with any of these textures are that.
    #[must_use]
    pub fn with_textures(mut self, textures: impl IntoIterator<Item = u32>, tile: NavTile) -> Self {
        self.textures.extend(textures.into_iter().map(|texture| (texture, tile)));
        self
    }

    /// For tiles that the table of textures does not know. It must depend on nothing but the tile: it is asked when
    /// the tile changes, not when something else does. To change a rule, insert the component again.
    #[must_use]
    pub fn with_rule(mut self, rule: impl Fn(TileInfo) -> Option<NavTile> + Send + Sync + 'static) -> Self {
        self.rule = Some(Arc::new(rule));
        self
    }

    /// What all other tiles are; [`NavTile::Open`] if it is not said.
    #[must_use]
    pub fn with_default(mut self, tile: NavTile) -> Self {
        self.default = tile;
        self
    }

    /// What a tile without a [`NavTile`] of its own means.
    pub fn meaning(&self, tile: TileInfo) -> NavTile {
        let by_texture = self.textures.get(&tile.texture).copied();
        let by_rule = || self.rule.as_ref().and_then(|rule| rule(tile));
        by_texture.or_else(by_rule).unwrap_or(self.default)
    }
}

impl fmt::Debug for TileRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { textures, rule, default } = self;
        let rule = rule.as_ref().map(|_| "…");
        f.debug_struct("TileRules")
            .field("textures", textures)
            .field("rule", &rule)
            .field("default", default)
            .finish()
    }
}

/// Puts a tilemap on top of another one's ground: the layer and the entity that owns the
/// [`NavMap`](crate::NavMap). That entity may be a tilemap itself, or not.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn merge(mut commands: Commands, ground: Entity, trees: Entity) {
///     commands.entity(ground).insert(NavMap::from_tiles());
///     commands.entity(trees).insert((LayerOf(ground), TileRules::default().with_default(NavTile::Blocked)));
/// }
/// ```
#[derive(Component, Reflect, Clone, Copy, PartialEq, Eq, Debug)]
#[reflect(Component, Clone, PartialEq, Debug)]
#[relationship(relationship_target = NavLayers)]
pub struct LayerOf(pub Entity);

/// The layers that name this ground with [`LayerOf`].
#[derive(Component, Reflect, Default, Debug)]
#[reflect(Component, Default, Debug)]
#[relationship_target(relationship = LayerOf)]
pub struct NavLayers(Vec<Entity>);

impl NavLayers {
    pub(crate) fn entities(&self) -> &[Entity] {
        &self.0
    }
}

/// Which of several layers decides.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum Merge {
    /// A cell is blocked if any layer blocks it; if none does, the topmost tile decides. Walls, trees and houses over ground.
    #[default]
    BlockedWins,
    /// As before, but the dearest tile decides: what is dear is what class 0 of the map finds so.
    DearestWins,
    /// The topmost tile decides: a bridge over water can be walked on.
    TopmostWins,
}

impl From<Merge> for wayfare::Merge {
    fn from(merge: Merge) -> Self {
        match merge {
            Merge::BlockedWins => Self::BlockedWins,
            Merge::DearestWins => Self::DearestWins,
            Merge::TopmostWins => Self::TopmostWins,
        }
    }
}

/// Where the tiles of a layer lie, on the XY plane of its entity.
///
/// Their centres are points of a lattice; [`Skew`] says which tile is which point, and [`CellShape`] what they look like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TileGrid {
    /// Columns and rows of tiles.
    pub size: UVec2,
    /// The outer corner of the cell around lattice point (0, 0): half of `x` and half of `y` before its centre.
    pub origin: Vec2,
    /// From one column of the lattice to the next.
    pub x: Vec2,
    /// From one row to the next.
    pub y: Vec2,
    /// What tiles look like.
    pub shape: CellShape,
    /// How they are numbered.
    pub skew: Skew,
}

impl TileGrid {
    /// Rectangular tiles of this size, the outer corner of the first at the entity's position.
    pub fn rectangular(size: UVec2, tile: Vec2) -> Self {
        let (x, y) = (Vec2::new(tile.x, 0.0), Vec2::new(0.0, tile.y));
        Self { size, origin: Vec2::ZERO, x, y, shape: CellShape::default(), skew: Skew::default() }
    }

    /// The tile at a point of the entity's space, or `None` if that is beyond the layer.
    pub fn tile_at(&self, point: Vec2) -> Option<UVec2> {
        let Cell { x, y } = self.layout()?.cell_at(point)?;
        let tile = self.skew.tile(IVec2::new(x, y));
        (tile.cmpge(IVec2::ZERO).all() && tile.as_uvec2().cmplt(self.size).all()).then(|| tile.as_uvec2())
    }

    /// The centre of a tile in the entity's space, or `None` if tiles of this size make no plane.
    pub fn centre(&self, tile: UVec2) -> Option<Vec2> {
        let lattice = self.skew.lattice(tile.as_ivec2());
        Some(self.layout()?.centre(lattice.into()))
    }

    /// Whether it is the same to the last digit. Equal it may not be: what is not a number does not equal itself.
    #[cfg(any(feature = "tilemap", feature = "tilemap_chunk"))]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let bits = |v: Vec2| [v.x.to_bits(), v.y.to_bits()];
        let numbers = |grid: &Self| [grid.origin, grid.x, grid.y].map(bits);
        numbers(self) == numbers(other)
            && (self.size, self.shape, self.skew) == (other.size, other.shape, other.skew)
    }

    fn layout(&self) -> Option<Layout> {
        Some(Layout::new(self.origin, self.x, self.y).ok()?.with_shape(self.shape))
    }
}

/// A layer of tiles with their meaning: what tilemaps become, and what a game with tiles of its own can write.
///
/// Tilemaps of the features `tilemap` and `tilemap_chunk` get one by themselves when they are walkable ground or a
/// [layer](LayerOf) of it. Others write it:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn setup(mut commands: Commands) -> Result {
///     let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(100, 80), Vec2::splat(16.0)))?;
///     layer.fill(NavTile::Open);
///     layer.set(UVec2::new(3, 4), Some(NavTile::Blocked));
///     commands.spawn((NavMap::from_tiles(), layer));
///     Ok(())
/// }
/// ```
#[derive(Component, Clone, Debug)]
pub struct TileLayer {
    grid: TileGrid,
    tiles: Vec<Option<NavTile>>,
    /// Tiles that changed lately, the oldest first.
    changed: Vec<UVec2>,
    /// How many changes came before those.
    forgotten: u64,
    /// So that nobody takes it for one he has read.
    identity: Identity,
}

impl TileLayer {
    /// A layer without tiles.
    ///
    /// # Errors
    /// [`MapError::TooLarge`] if a side exceeds [`Map::MAX_SIDE`].
    pub fn new(grid: TileGrid) -> Result<Self, MapError> {
        let UVec2 { x: width, y: height } = grid.size;
        if width > Map::MAX_SIDE || height > Map::MAX_SIDE {
            return Err(MapError::TooLarge { width, height });
        }
        let tiles = vec![None; width as usize * height as usize];
        Ok(Self { grid, tiles, changed: Vec::new(), forgotten: 0, identity: Identity::default() })
    }

    /// Where its tiles lie.
    pub fn grid(&self) -> &TileGrid {
        &self.grid
    }

    /// What lies there: `None` if nothing, or nothing that counts.
    pub fn get(&self, tile: UVec2) -> Option<NavTile> {
        self.index(tile).and_then(|index| self.tiles[index])
    }

    /// Lays a tile, or takes it away. Returns whether that changes anything; beyond the layer it does not.
    pub fn set(&mut self, tile: UVec2, meaning: Option<NavTile>) -> bool {
        let Some(index) = self.index(tile) else { return false };
        let meaning = meaning.filter(|meaning| *meaning != NavTile::Ignored);
        // A cost that is not a number differs from itself, and is no news.
        let bits = |tile: NavTile| match tile {
            NavTile::Cost(cost) => Err(cost.to_bits()),
            other => Ok(other),
        };
        if self.tiles[index].map(bits) == meaning.map(bits) {
            return false;
        }
        self.tiles[index] = meaning;
        // Who has missed that many had better read everything.
        if self.changed.len() > self.tiles.len() / 4 {
            self.forget();
        }
        self.changed.push(tile);
        true
    }

    /// Lays the same tile everywhere.
    pub fn fill(&mut self, meaning: NavTile) {
        self.tiles.fill(Some(meaning).filter(|meaning| *meaning != NavTile::Ignored));
        self.changed.push(UVec2::ZERO);
        self.forget();
    }

    /// Its tiles, row by row.
    pub(crate) fn tiles(&self) -> &[Option<NavTile>] {
        &self.tiles
    }

    /// What it is to somebody who has read it: a mark to ask for changes with.
    pub(crate) fn mark(&self) -> LayerMark {
        LayerMark { layer: self.identity.mark(), read: self.forgotten + self.changed.len() as u64 }
    }

    /// What has changed since then; `None` if that may be anything.
    pub(crate) fn changed_since(&self, mark: &LayerMark) -> Option<&[UVec2]> {
        let read = mark.read.checked_sub(self.forgotten)?;
        self.changed.get(usize::try_from(read).ok()?..).filter(|_| self.identity.is(&mark.layer))
    }

    fn forget(&mut self) {
        self.forgotten += self.changed.len() as u64;
        self.changed.clear();
    }

    fn index(&self, tile: UVec2) -> Option<usize> {
        tile.cmplt(self.grid.size)
            .all()
            .then(|| tile.y as usize * self.grid.size.x as usize + tile.x as usize)
    }
}

/// How much of a [`TileLayer`] somebody has read.
#[derive(Clone, Debug)]
pub(crate) struct LayerMark {
    layer: Mark,
    read: u64,
}

/// Tells a thing from all others, its own copies among them: a copy goes its own way.
#[derive(Default, Debug)]
pub(crate) struct Identity(Arc<()>);

/// What is remembered of a thing to know it again.
#[derive(Clone, Debug)]
pub(crate) struct Mark(Arc<()>);

impl Identity {
    pub(crate) fn mark(&self) -> Mark {
        Mark(Arc::clone(&self.0))
    }

    pub(crate) fn is(&self, mark: &Mark) -> bool {
        Arc::ptr_eq(&self.0, &mark.0)
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Tiles that cannot be made ground of, said once. What becomes of them depends on the [reason](TilesError).
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new().add_observer(|refused: On<TilesRefused>| {
///     println!("{} is no ground: {}", refused.entity, refused.reason);
/// });
/// ```
#[derive(EntityEvent, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub struct TilesRefused {
    /// The layer, or the ground itself.
    pub entity: Entity,
    /// Why.
    pub reason: TilesError,
}

/// Why tiles are no ground.
#[derive(Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum TilesError {
    /// So many cells are more than a map may have. The layer is left out; if there is no other, the map is empty.
    TooLarge {
        /// Columns of cells.
        width: f64,
        /// Rows of cells.
        height: f64,
    },
    /// Tiles have no area, or are not made of finite numbers, or stand upright on the plane of their map. The layer is left
    /// out.
    Flat,
    /// Tiles so small that more than 256 × 256 of them lie in one cell. The layer is left out.
    TooFine,
    /// The layer is turned or mirrored against its ground, and left out.
    Turned,
    /// Hexagons on squares or the other way round; hexagons of another size or between those of the ground; or
    /// hexagons and several cells per tile. The layer is left out.
    OtherShape,
    /// A [cost](NavTile::Cost) that is not a number between 1/256 and 255; the tile is blocked.
    BadCost(f32),
    /// More different [costs](NavTile::Cost) than a map can tell apart; the tile is blocked.
    TooManyCosts,
}

impl fmt::Display for TilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { width, height } => {
                write!(f, "{width} × {height} cells are more than {0} × {0}", Map::MAX_SIDE)
            }
            Self::Flat => f.write_str("the tiles have no area"),
            Self::TooFine => f.write_str("the tiles are too small for the cells of the ground"),
            Self::Turned => f.write_str("the layer is turned against its ground"),
            Self::OtherShape => f.write_str("the tiles do not fit those of the ground"),
            Self::BadCost(cost) => write!(f, "{cost} is no cost"),
            Self::TooManyCosts => f.write_str("too many different costs"),
        }
    }
}

impl core::error::Error for TilesError {}
