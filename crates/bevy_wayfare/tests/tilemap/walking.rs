//! Units on tilemaps: they get where they are sent, on every shape that can be searched, by the shortest way there is.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{TILE, app, cover, nav, tile_at, tilemap};

#[derive(Resource, Default)]
struct Ends(Vec<Result<Reach, FailureReason>>);

fn playing() -> App {
    let mut app = app();
    app.init_resource::<Ends>()
        .add_observer(|arrived: On<Arrived>, mut ends: ResMut<Ends>| ends.0.push(Ok(arrived.reach)))
        .add_observer(|failed: On<PathFailed>, mut ends: ResMut<Ends>| ends.0.push(Err(failed.reason)));
    app
}

/// Sends a unit from one tile to another, with a wall of tiles between them, and returns how it ended and where.
fn send(kind: TilemapType, plane: Plane, at: Transform) -> (Vec<Result<Reach, FailureReason>>, f32) {
    let mut app = playing();
    let map = NavMap::from_tiles().with_plane(plane);
    let ground = app.world_mut().spawn((tilemap(9, 9), map)).id();
    app.world_mut().entity_mut(ground).insert((kind, at));
    cover(&mut app, ground, 9, 9, 0);
    app.update();
    // A gap in the middle, which all numberings have neighbours of on both sides.
    for y in (0..9).filter(|y| *y != 5) {
        let wall = tile_at(&mut app, ground, 4, y);
        app.world_mut().entity_mut(wall).insert(NavTile::Blocked);
    }
    app.update();
    let nav = nav(&app, ground);
    let centre = |x, y| nav.centre(nav.cells_of_tile(ground, UVec2::new(x, y)).unwrap().min()).unwrap();
    let (from, to) = (centre(1, 2), centre(7, 2));
    let agent = Agent { speed: 200.0, ..default() };
    let unit = app.world_mut().spawn((Transform::from_translation(from), agent, PathRequest::to(to))).id();
    for _ in 0..200 {
        app.update();
    }
    let left = app.world().get::<Transform>(unit).unwrap().translation.distance(to);
    (app.world().resource::<Ends>().0.clone(), left)
}

#[test]
fn units_arrive_on_squares_and_on_both_kinds_of_diamonds() {
    let turned = Transform::from_xyz(50.0, -30.0, 0.0).with_rotation(Quat::from_rotation_z(0.7));
    for kind in [
        TilemapType::Square,
        TilemapType::Isometric(IsoCoordSystem::Diamond),
        TilemapType::Isometric(IsoCoordSystem::Staggered),
    ] {
        for at in [Transform::default(), turned] {
            let (ends, left) = send(kind, Plane::Xy, at);
            assert_eq!(ends, [Ok(Reach::Goal)], "{kind:?}");
            assert!(left < 0.01, "{kind:?}: {left}");
        }
    }
}

/// A tilemap laid flat in a 3D world.
#[test]
fn units_arrive_on_tiles_that_lie_on_the_ground_of_a_3d_world() {
    let lying = Transform::from_xyz(5.0, 2.0, 9.0)
        .with_rotation(Quat::from_rotation_x(-core::f32::consts::FRAC_PI_2));
    let (ends, left) = send(TilemapType::Square, Plane::Xz, lying);
    assert_eq!(ends, [Ok(Reach::Goal)]);
    assert!(left < 0.01, "{left}");
}

/// Their geometry is known, their neighbourhood not yet: that is said, and nobody walks through walls.
#[test]
fn on_hexagons_a_request_fails_and_says_why() {
    for system in [HexCoordSystem::Row, HexCoordSystem::RowOdd, HexCoordSystem::ColumnEven] {
        let (ends, _) = send(TilemapType::Hexagon(system), Plane::Xy, Transform::default());
        assert_eq!(ends, [Err(FailureReason::HexagonalMap)]);
    }
}

#[test]
fn rectangular_tiles_are_measured_truly() {
    let mut app = playing();
    let tile = TilemapTileSize::new(2.0 * TILE, TILE);
    let ground = app.world_mut().spawn((tilemap(8, 8), NavMap::from_tiles())).id();
    app.world_mut().entity_mut(ground).insert((tile, TilemapGridSize::from(tile)));
    cover(&mut app, ground, 8, 8, 0);
    app.update();
    let cost = |app: &App, to: Cell| nav(app, ground).find_path(Cell::new(0, 0), to).unwrap().cost();
    assert_eq!((cost(&app, Cell::new(4, 0)), cost(&app, Cell::new(0, 4))), (8 * 985, 4 * 985));
    // Unless the game has rules of its own.
    app.world_mut().get_mut::<NavMap>(ground).unwrap().set_rules(Rules::default());
    app.update();
    assert_eq!((cost(&app, Cell::new(4, 0)), cost(&app, Cell::new(0, 4))), (4 * 985, 4 * 985));
}
