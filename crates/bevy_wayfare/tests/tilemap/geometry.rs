//! Where tiles are: the same tile at the same place as `bevy_ecs_tilemap` says, under every type, anchor and transform.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;
use bevy_wayfare::tilemap::tile_grid;

use crate::support::{Random, app, nav};

const TYPES: [TilemapType; 9] = [
    TilemapType::Square,
    TilemapType::Isometric(IsoCoordSystem::Diamond),
    TilemapType::Isometric(IsoCoordSystem::Staggered),
    TilemapType::Hexagon(HexCoordSystem::Row),
    TilemapType::Hexagon(HexCoordSystem::RowEven),
    TilemapType::Hexagon(HexCoordSystem::RowOdd),
    TilemapType::Hexagon(HexCoordSystem::Column),
    TilemapType::Hexagon(HexCoordSystem::ColumnEven),
    TilemapType::Hexagon(HexCoordSystem::ColumnOdd),
];

const ANCHORS: [TilemapAnchor; 11] = [
    TilemapAnchor::None,
    TilemapAnchor::Center,
    TilemapAnchor::BottomLeft,
    TilemapAnchor::BottomCenter,
    TilemapAnchor::BottomRight,
    TilemapAnchor::CenterLeft,
    TilemapAnchor::CenterRight,
    TilemapAnchor::TopLeft,
    TilemapAnchor::TopCenter,
    TilemapAnchor::TopRight,
    TilemapAnchor::Custom(Vec2::new(0.3, -0.2)),
];

const SIZES: [(u32, u32); 5] = [(1, 1), (7, 5), (6, 9), (1, 8), (13, 2)];
const GRIDS: [(f32, f32); 5] = [(16.0, 16.0), (64.0, 32.0), (17.0, 15.0), (1.0, 1.0), (0.3, 0.7)];

/// Every tilemap there is, with its grid as `bevy_ecs_tilemap` and as we see it.
fn each(mut check: impl FnMut(&Maker, &TileGrid)) {
    for kind in TYPES {
        for anchor in ANCHORS {
            for (width, height) in SIZES {
                for (x, y) in GRIDS {
                    let (size, grid) = (TilemapSize::new(width, height), TilemapGridSize::new(x, y));
                    // Tiles may be drawn larger than the grid they lie on; an anchor minds.
                    let maker = Maker { size, grid, tile: TilemapTileSize::new(x * 1.5, y), kind, anchor };
                    check(&maker, &tile_grid(size, grid, maker.tile, kind, anchor));
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Maker {
    size: TilemapSize,
    grid: TilemapGridSize,
    tile: TilemapTileSize,
    kind: TilemapType,
    anchor: TilemapAnchor,
}

impl Maker {
    fn centre(&self, at: UVec2) -> Vec2 {
        TilePos::from(at).center_in_world(&self.size, &self.grid, &self.tile, &self.kind, &self.anchor)
    }

    fn tile_at(&self, point: Vec2) -> Option<UVec2> {
        let Self { size, grid, tile, kind, anchor } = self;
        TilePos::from_world_pos(&point, size, grid, tile, kind, anchor).map(UVec2::from)
    }

    fn tiles(&self) -> impl Iterator<Item = UVec2> {
        let (width, height) = (self.size.x, self.size.y);
        (0..height).flat_map(move |y| (0..width).map(move |x| UVec2::new(x, y)))
    }
}

#[test]
fn centres_are_those_of_the_tilemap_and_lead_back() {
    each(|maker, grid| {
        let slack = 1e-4 * maker.grid.x.max(maker.grid.y) * (1.0 + maker.size.x.max(maker.size.y) as f32);
        for tile in maker.tiles() {
            let (theirs, ours) = (maker.centre(tile), grid.centre(tile).unwrap());
            assert!(theirs.distance(ours) <= slack, "{maker:?} {tile}: {theirs} {ours}");
            assert_eq!(grid.tile_at(ours), Some(tile), "{maker:?}");
            assert_eq!(grid.tile_at(theirs), Some(tile), "{maker:?}");
        }
    });
}

/// Both may round a point that lies on a border, to the last digit, to either side.
#[test]
fn points_lie_in_the_tile_that_the_tilemap_says() {
    let mut random = Random(5);
    each(|maker, grid| {
        let reach = Vec2::new(maker.grid.x, maker.grid.y) * (maker.size.x.max(maker.size.y) as f32 + 2.0);
        for _ in 0..60 {
            let point = Vec2::new(random.between(-reach.x, reach.x), random.between(-reach.y, reach.y));
            let (theirs, ours) = (maker.tile_at(point), grid.tile_at(point));
            if theirs == ours {
                continue;
            }
            let hair = 2e-4 * reach;
            let around =
                [Vec2::X, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y].map(|aside| grid.tile_at(point + aside * hair));
            assert!(around.contains(&theirs), "{maker:?} {point}: {theirs:?} {ours:?}");
        }
    });
}

/// Where numbers are exact, so is the border: it belongs to the higher column and row, as `bevy_ecs_tilemap` has it.
#[test]
fn borders_of_square_and_diamond_tiles_are_exact() {
    let exact = |maker: &Maker| maker.grid.x.fract() == 0.0 && (maker.grid.x as u32).is_multiple_of(2);
    each(|maker, grid| {
        if !exact(maker) || !matches!(maker.anchor, TilemapAnchor::None | TilemapAnchor::BottomLeft) {
            return;
        }
        let half = match maker.kind {
            TilemapType::Square => Vec2::new(maker.grid.x, maker.grid.y) * 0.5,
            TilemapType::Isometric(_) => Vec2::new(maker.grid.x, 0.0) * 0.5,
            TilemapType::Hexagon(_) => return,
        };
        for tile in maker.tiles() {
            let centre = maker.centre(tile);
            // The lower corner belongs to the tile, and so does all of its two lower sides; the upper ones do not.
            assert_eq!(grid.tile_at(centre - half), Some(tile), "{maker:?}");
            assert_eq!(grid.tile_at(centre - half), maker.tile_at(centre - half), "{maker:?}");
            assert_ne!(grid.tile_at(centre + half), Some(tile), "{maker:?}");
            assert_eq!(grid.tile_at(centre + half), maker.tile_at(centre + half), "{maker:?}");
            let inside = centre + half * (1.0 - 1e-5);
            assert_eq!(grid.tile_at(inside), Some(tile), "{maker:?}");
        }
    });
}

/// A point of the plane belongs to one tile: the borders of all tiles together leave no gap.
#[test]
fn walking_across_a_map_changes_the_tile_once_per_border() {
    let mut random = Random(6);
    for kind in TYPES {
        let maker = Maker {
            size: TilemapSize::new(9, 9),
            grid: TilemapGridSize::new(16.0, 16.0),
            tile: TilemapTileSize::new(16.0, 16.0),
            kind,
            anchor: TilemapAnchor::None,
        };
        let grid = tile_grid(maker.size, maker.grid, maker.tile, kind, maker.anchor);
        for _ in 0..200 {
            // Not from centre to centre: such a line may run along a border.
            let mut inner = || {
                let tile = UVec2::new(1 + random.below(7), 1 + random.below(7));
                maker.centre(tile) + Vec2::new(random.between(-4.0, 4.0), random.between(-4.0, 4.0))
            };
            let (from, to) = (inner(), inner());
            let steps = 4000;
            let walked: Vec<Option<UVec2>> =
                (0..=steps).map(|step| grid.tile_at(from.lerp(to, step as f32 / steps as f32))).collect();
            let mut tiles = walked.clone();
            tiles.dedup();
            // Tiles are convex: a straight line comes to each once at most.
            let mut seen = tiles.clone();
            seen.sort_by_key(|tile| tile.map(|tile| (tile.x, tile.y)));
            seen.dedup();
            let holes = tiles.iter().filter(|tile| tile.is_none()).count();
            assert!(seen.len() + holes.saturating_sub(1) >= tiles.len(), "{kind:?} {from} {to}: {tiles:?}");
        }
    }
}

/// In the world: moved, turned, scaled, and as the child of something that is.
#[test]
fn a_map_knows_its_cells_wherever_it_is_moved() {
    let mut random = Random(8);
    for kind in TYPES {
        for round in 0..12 {
            let mut app = app();
            let maker = Maker {
                size: TilemapSize::new(6, 5),
                grid: TilemapGridSize::new(32.0, 20.0),
                tile: TilemapTileSize::new(32.0, 24.0),
                kind,
                anchor: ANCHORS[round % ANCHORS.len()],
            };
            let mut place = || Transform {
                translation: Vec3::new(random.between(-500.0, 500.0), random.between(-500.0, 500.0), 3.0),
                rotation: Quat::from_rotation_z(random.between(-3.0, 3.0)),
                scale: Vec3::new(random.between(0.5, 3.0), random.between(0.5, 3.0), 1.0),
            };
            let (parent, place) = (place(), place());
            let map = app
                .world_mut()
                .spawn((
                    maker.size,
                    maker.grid,
                    maker.tile,
                    maker.kind,
                    maker.anchor,
                    place,
                    NavMap::from_tiles(),
                ))
                .id();
            for tile in maker.tiles() {
                app.world_mut().spawn((TilePos::from(tile), TilemapId(map)));
            }
            if round % 2 == 0 {
                app.world_mut().spawn(parent).add_child(map);
            }
            app.update();
            app.update();
            let to_world = *app.world().get::<GlobalTransform>(map).unwrap();
            let nav = nav(&app, map);
            assert_eq!(nav.map().count(Terrain::OPEN), 30, "{kind:?}");
            for tile in maker.tiles() {
                let centre = to_world.transform_point(maker.centre(tile).extend(0.0));
                let cells = nav.cells_of_tile(map, tile).unwrap();
                assert_eq!(nav.cell_at(centre), Some(cells.min()), "{kind:?} {tile}");
                assert_eq!(cells.min(), cells.max());
                assert_eq!(nav.map().terrain(cells.min()), Terrain::OPEN);
                let back = nav.centre(cells.min()).unwrap();
                assert!(back.distance(centre) < 0.05, "{kind:?} {tile}: {back} {centre}");
            }
        }
    }
}

/// On a square or diamond map nobody has to ask: cell (x, y) is tile (x, y).
#[test]
fn cells_of_square_and_diamond_maps_have_the_numbers_of_their_tiles() {
    for kind in [TilemapType::Square, TilemapType::Isometric(IsoCoordSystem::Diamond)] {
        let mut app = app();
        let (size, grid) = (TilemapSize::new(4, 3), TilemapGridSize::new(8.0, 4.0));
        let tile = TilemapTileSize::new(8.0, 4.0);
        let map =
            app.world_mut().spawn((size, grid, tile, kind, Transform::default(), NavMap::from_tiles())).id();
        app.world_mut().spawn((TilePos::new(3, 1), TilemapId(map)));
        app.update();
        assert_eq!(nav(&app, map).map().terrain(Cell::new(3, 1)), Terrain::OPEN, "{kind:?}");
        assert_eq!(nav(&app, map).map().count(Terrain::OPEN), 1);
    }
}

/// An empty map has no last tile to measure an anchor by.
#[test]
fn a_map_without_tiles_is_no_ground_and_no_panic() {
    for (width, height) in [(0, 0), (0, 4), (4, 0)] {
        let mut app = app();
        let tile = TilemapTileSize::new(8.0, 8.0);
        let size = TilemapSize::new(width, height);
        let bundle = (size, tile, TilemapGridSize::from(tile), TilemapType::Square, TilemapAnchor::Center);
        let map = app.world_mut().spawn((bundle, Transform::default(), NavMap::from_tiles())).id();
        app.update();
        assert!(nav(&app, map).map().area().is_none());
        assert_eq!(nav(&app, map).cell_at(Vec3::ZERO), None);
    }
}
