//! Units on whose cell a wall is built: they walk out, whatever they were doing, and never on through it.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, WALL};

const LANE: &str = "....................";

fn build(game: &mut Game, cell: Cell) {
    game.edit(|map| assert!(map.set(cell, Terrain::WALL).unwrap()));
}

fn gets_out(game: &mut Game, unit: Entity) {
    assert_eq!(game.terrain_under(unit), Terrain::WALL, "it was not caught");
    game.updates(200);
    assert_ne!(game.terrain_under(unit), Terrain::WALL, "it is stuck at {}", game.cell_of(unit));
    assert!(!game.path(unit).is_waiting() && game.path(unit).is_empty());
}

#[test]
fn whoever_stands_where_a_wall_is_built_walks_out() {
    let mut game = Game::in_frame(WALL);
    let (idle, walking, ordered) = (game.unit(1, 1), game.unit(6, 3), game.unit(1, 3));
    game.order(walking, PathRequest::to(Cell::new(9, 0)));
    game.updates(10);
    let under = [game.cell_of(idle), game.cell_of(walking), game.cell_of(ordered)];
    game.edit(|map| {
        for cell in under {
            assert!(map.set(cell, Terrain::WALL).unwrap());
        }
    });
    game.order(ordered, PathRequest::to(Cell::new(0, 0)));
    game.take_heard();
    game.until("all are out and there", |game| {
        let arrived =
            [walking, ordered].iter().all(|unit| game.has_heard(Heard::Arrived(*unit, Reach::Goal)));
        arrived && game.terrain_under(idle) != Terrain::WALL
    });
    game.updates(20);
    assert!(!game.heard().iter().any(|heard| matches!(heard, Heard::Failed(..))));
    let of_idle = |heard: &&Heard| matches!(heard, Heard::Found(e, _) | Heard::Arrived(e, _) if *e == idle);
    assert_eq!(game.heard().iter().filter(of_idle).count(), 0, "nobody ordered it");
}

#[test]
fn a_unit_walled_in_too_deep_is_stuck() {
    let mut game = Game::in_frame(&".".repeat(60)).tuned(|settings| settings.escape_cells = 3);
    let unit = game.unit(30, 0);
    game.edit(|map| assert!(map.fill(Area::new((20, 0), (40, 0)), Terrain::WALL).unwrap() > 0));
    game.order(unit, PathRequest::to(Cell::new(0, 0)));
    game.updates(3);
    assert_eq!(game.heard(), [Heard::Failed(unit, FailureReason::StartBlocked)]);
    // Nor does one walk out that nobody ordered.
    game.updates(200);
    assert_eq!(game.cell_of(unit), Cell::new(30, 0));
    let idle = game.unit(5, 0);
    game.edit(|map| assert!(map.fill(Area::new((0, 0), (15, 0)), Terrain::WALL).unwrap() > 0));
    game.updates(200);
    assert_eq!(game.cell_of(idle), Cell::new(5, 0));
}

#[test]
fn a_wall_on_the_way_out_leads_another_way_out() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(10, 0);
    build(&mut game, Cell::new(10, 0));
    game.updates(2);
    // It is on its way to a neighbour; now both are built over.
    game.edit(|map| assert_eq!(map.fill(Area::new((9, 0), (11, 0)), Terrain::WALL).unwrap(), 2));
    gets_out(&mut game, unit);
    assert_eq!(game.heard(), [], "nobody ordered it");
}

#[test]
fn a_unit_whose_order_fails_in_a_wall_walks_out() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(19, 0)));
    game.updates(60);
    let cell = game.cell_of(unit);
    // On it, and across its way.
    build(&mut game, cell);
    build(&mut game, Cell::new(15, 0));
    gets_out(&mut game, unit);
    assert!(matches!(game.heard().last(), Some(Heard::Failed(_, FailureReason::Unreachable { .. }))));
}

#[test]
fn a_wall_on_a_unit_that_has_just_arrived() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(2, 0)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    build(&mut game, Cell::new(2, 0));
    gets_out(&mut game, unit);
}

#[test]
fn a_wall_on_a_unit_in_the_frame_in_which_it_is_stopped() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(19, 0)));
    game.updates(30);
    let cell = game.cell_of(unit);
    game.world().entity_mut(unit).remove::<PathRequest>();
    build(&mut game, cell);
    gets_out(&mut game, unit);
}

#[test]
fn a_wall_on_a_unit_in_the_frame_after_its_order_failed() {
    let mut game = Game::in_frame("..........#.");
    let unit = game.unit(3, 0);
    game.order(unit, PathRequest::to(Cell::new(11, 0)));
    game.update();
    assert_eq!(game.heard().len(), 1);
    build(&mut game, Cell::new(3, 0));
    gets_out(&mut game, unit);
}

#[test]
fn nobody_walks_on_through_a_wall_while_the_way_out_is_searched() {
    let row = ".".repeat(40);
    let mut game = Game::in_frame(&[row.as_str(); 5].join("\n"))
        .tuned(|settings| settings.delivery = Delivery::Lockstep { ticks: 64 });
    let unit = game.unit(0, 2);
    game.order(unit, PathRequest::to(Cell::new(39, 2)));
    game.updates(100);
    let x = game.cell_of(unit).x;
    assert!(x > 1);
    // A wall four thick, built from where the unit is; there is a way around it at the top.
    game.edit(|map| assert_eq!(map.fill(Area::new((x, 1), (x + 3, 4)), Terrain::WALL).unwrap(), 16));
    game.until("it arrives", |game| {
        let in_the_wall = game.terrain_under(unit) == Terrain::WALL;
        assert!(!in_the_wall || game.cell_of(unit).x == x, "it is deep in the wall");
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
}

#[test]
fn a_wall_on_another_storey_concerns_nobody() {
    let storey = || NavMap::from_text("....\n....\n....").unwrap().with_plane(Plane::Xz);
    // Both stand in the same place, and stay there.
    let mut game = Game::on(storey(), PathfindingPlugin::default().without_avoidance());
    let above = game.world().spawn((storey(), Transform::from_xyz(0.0, 10.0, 0.0))).id();
    let (plain, naming) = (game.unit(1, 1), game.unit(1, 1));
    for unit in [plain, naming] {
        game.world().get_mut::<Transform>(unit).unwrap().translation.y = 10.0;
    }
    game.world().entity_mut(naming).insert(OnMap(above));
    game.updates(3);
    let at = game.position(plain);
    build(&mut game, Cell::new(1, 1));
    game.updates(60);
    assert_eq!([game.position(plain), game.position(naming)], [at, at]);
}

#[test]
fn a_unit_that_cannot_get_anywhere_walks_out_on_the_ground_of_a_3d_game_too() {
    let map = NavMap::from_text(".....#..").unwrap().with_plane(Plane::Xz);
    let mut game = Game::on(map, PathfindingPlugin::default());
    let unit = game.unit(1, 0);
    game.edit(|map| assert!(map.set((1, 0), Terrain::WALL).unwrap()));
    game.order(unit, PathRequest::to(Cell::new(7, 0)));
    let is_failure = |heard: &Heard| matches!(heard, Heard::Failed(_, FailureReason::Unreachable { .. }));
    game.until("it fails", |game| game.heard().iter().any(is_failure));
    game.until("it is out", |game| game.terrain_under(unit) != Terrain::WALL);
    assert!(game.position(unit).y.abs() < 1e-6, "its height is left alone");
}

#[test]
fn a_unit_that_never_moved_is_not_turned_by_a_failure() {
    let mut game = Game::in_frame(".....#..");
    let unit = game.unit(1, 0);
    let turned = Quat::from_rotation_z(1.0);
    game.world().get_mut::<Transform>(unit).unwrap().rotation = turned;
    // Nobody follows, so that it is not even brought to rest.
    game.app.configure_sets(FixedUpdate, PathfindingSystems::Follow.run_if(|| false));
    game.order(unit, PathRequest::to(Cell::new(7, 0)));
    game.updates(5);
    assert_eq!(game.heard().len(), 1);
    assert_eq!(game.app.world().get::<Transform>(unit).unwrap().rotation, turned);
}
