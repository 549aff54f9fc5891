//! An app with a tilemap in it, and somebody who works out from the tiles themselves what the ground must be.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

pub(crate) const TILE: f32 = 16.0;

/// Small, seeded, and the same everywhere (Steele, Lea and Flood's `SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.below(1 << 20) as f32 / (1 << 20) as f32
    }
}

pub(crate) fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, PathfindingPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(15_625)))
        .insert_resource(PathfindingSettings { drive: Drive::InFrame, ..default() });
    app.update();
    app
}

/// A square tilemap without tiles. Its first tile's outer corner is at the entity's position.
pub(crate) fn tilemap(width: u32, height: u32) -> impl Bundle {
    let tile = TilemapTileSize::new(TILE, TILE);
    (
        TilemapSize::new(width, height),
        tile,
        TilemapGridSize::from(tile),
        TilemapType::Square,
        TilemapAnchor::BottomLeft,
        Transform::default(),
    )
}

pub(crate) fn tile(tilemap: Entity, x: u32, y: u32, texture: u32) -> impl Bundle {
    (TilePos::new(x, y), TilemapId(tilemap), TileTextureIndex(texture))
}

/// A tilemap that is ground, covered with tiles of texture 0.
pub(crate) fn ground(app: &mut App, width: u32, height: u32, map: NavMap, rules: TileRules) -> Entity {
    let ground = app.world_mut().spawn((tilemap(width, height), map, rules)).id();
    cover(app, ground, width, height, 0);
    ground
}

pub(crate) fn cover(app: &mut App, tilemap: Entity, width: u32, height: u32, texture: u32) {
    let tiles = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    app.world_mut().spawn_batch(
        tiles
            .map(|(x, y)| (TilePos::new(x, y), TilemapId(tilemap), TileTextureIndex(texture)))
            .collect::<Vec<_>>(),
    );
}

pub(crate) fn nav(app: &App, ground: Entity) -> &NavMap {
    app.world().get::<NavMap>(ground).unwrap()
}

/// The map as text, the highest row on top, as it is seen on the screen.
pub(crate) fn seen(app: &App, ground: Entity) -> String {
    let map = nav(app, ground).map();
    let letter = |cell: Cell| match map.terrain(cell) {
        Terrain::OPEN => '.',
        Terrain::WALL => '#',
        Terrain::OUTSIDE => ' ',
        Terrain(number @ 245..=253) => char::from(b'0' + (number - 244)),
        Terrain(number) => char::from(b'A' + number % 26),
    };
    let row = |y: u32| (0..map.width()).map(|x| letter(Cell::new(x as i32, y as i32))).collect::<String>();
    (0..map.height()).rev().map(row).collect::<Vec<_>>().join("\n")
}

/// The tile of a tilemap at a position.
pub(crate) fn tile_at(app: &mut App, tilemap: Entity, x: u32, y: u32) -> Entity {
    let mut tiles = app.world_mut().query::<(Entity, &TilePos, &TilemapId)>();
    let found = tiles.iter(app.world()).find(|(_, at, id)| **at == TilePos::new(x, y) && id.0 == tilemap);
    found.unwrap().0
}

/// What was refused, in order.
#[derive(Resource, Default)]
pub(crate) struct Heard(pub(crate) Vec<(Entity, TilesError)>);

/// An app that listens to what is refused.
pub(crate) fn listening() -> App {
    let mut app = app();
    app.init_resource::<Heard>().add_observer(|refused: On<TilesRefused>, mut heard: ResMut<Heard>| {
        heard.0.push((refused.entity, refused.reason));
    });
    app
}

/// How often a map is marked as changed in ten frames.
pub(crate) fn changes_in_ten_frames(app: &mut App) -> u32 {
    #[derive(Resource, Default)]
    struct Changes(u32);
    app.init_resource::<Changes>();
    app.add_systems(Last, |maps: Query<(), Changed<NavMap>>, mut changes: ResMut<Changes>| {
        changes.0 += maps.iter().count() as u32;
    });
    app.update();
    app.world_mut().resource_mut::<Changes>().0 = 0;
    for _ in 0..10 {
        app.update();
    }
    app.world().resource::<Changes>().0
}
