//! The pictures: out go their handles. Where they show what, and which way they face, is told here and nowhere else.
//!
//! Without a window nothing is loaded, and every handle is Bevy's empty one.

use std::ops::Range;

use bevy::prelude::*;

/// The side of a tile, in pixels and units of the world.
pub(crate) const TILE: f32 = 32.0;

/// Frames of each unit's animation, side by side.
pub(crate) const FRAMES: u8 = 4;

/// Where things are in the atlas of tiles.
pub(crate) mod tile {
    use super::Range;

    pub(crate) const GRASS: Range<u32> = 0..8;
    pub(crate) const BRIDGE_EASTWARD: u32 = 8;
    pub(crate) const BRIDGE_SOUTHWARD: u32 = 9;
    pub(crate) const TUFTS: Range<u32> = 12..16;
    // The next five have sixteen tiles each: bit 0 of the index is set if the neighbour to the north is alike, then
    // east, south, west.
    pub(crate) const WATER: Range<u32> = 16..32;
    pub(crate) const SWAMP: Range<u32> = 32..48;
    pub(crate) const ROCK: Range<u32> = 48..64;
    pub(crate) const ROAD: Range<u32> = 64..80;
    pub(crate) const WALL: Range<u32> = 80..96;
    pub(crate) const TREES: Range<u32> = 96..102;
    /// Closed; the next one is open.
    pub(crate) const GATE_EASTWARD: u32 = 102;
    pub(crate) const GATE_SOUTHWARD: u32 = 104;
    /// Its northern side, its middle and its southern side.
    pub(crate) const WIDE_BRIDGE_EASTWARD: u32 = 106;
    /// Its western side, its middle and its eastern side.
    pub(crate) const WIDE_BRIDGE_SOUTHWARD: u32 = 109;
}

/// Everything that is drawn with pictures. Units face right, because that is where a [`Transform`] without rotation
/// faces.
#[derive(Resource, Clone, Default, Debug)]
pub(crate) struct Art {
    pub(crate) tiles: Handle<Image>,
    pub(crate) scout: Handle<Image>,
    pub(crate) tank: Handle<Image>,
    pub(crate) flyer: Handle<Image>,
    pub(crate) shadow: Handle<Image>,
    pub(crate) ring: Handle<Image>,
    pub(crate) marker: Handle<Image>,
}

impl Art {
    pub(crate) fn all(&self) -> [&Handle<Image>; 7] {
        [&self.tiles, &self.scout, &self.tank, &self.flyer, &self.shadow, &self.ring, &self.marker]
    }
}

/// Begins to load all pictures.
pub(crate) fn load(assets: Res<AssetServer>, mut art: ResMut<Art>) {
    *art = Art {
        tiles: assets.load("rts/tiles.png"),
        scout: assets.load("rts/scout.png"),
        tank: assets.load("rts/tank.png"),
        flyer: assets.load("rts/flyer.png"),
        shadow: assets.load("rts/flyer_shadow.png"),
        ring: assets.load("rts/ring.png"),
        marker: assets.load("rts/marker.png"),
    };
}

/// What lies above what.
pub(crate) mod z {
    pub(crate) const GROUND: f32 = 0.0;
    pub(crate) const ABOVE_GROUND: f32 = 1.0;
    pub(crate) const WALLS: f32 = 2.0;
    pub(crate) const MARKERS: f32 = 3.0;
    pub(crate) const SHADOWS: f32 = 4.0;
    /// Rings lie one below their unit.
    pub(crate) const WALKERS: f32 = 6.0;
    pub(crate) const FLYERS: f32 = 8.0;
    pub(crate) const SELECTION_BOX: f32 = 10.0;
}
