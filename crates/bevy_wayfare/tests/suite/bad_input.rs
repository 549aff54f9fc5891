//! Input that makes no sense: each has a defined answer, nothing is lost and nothing hangs.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, WALL};

/// What a request on this entity is told.
fn told(game: &mut Game, unit: Entity) -> FailureReason {
    game.updates(4);
    let heard = game.take_heard();
    let [Heard::Failed(entity, reason)] = heard[..] else { panic!("heard {heard:?}") };
    assert_eq!(entity, unit);
    assert!(!game.has_request(unit), "a failed request is removed");
    assert!(!reason.to_string().is_empty());
    reason
}

#[test]
fn positions_that_are_no_numbers() {
    let mut game = Game::in_frame(WALL);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let unit = game.unit(0, 0);
        game.order(unit, PathRequest::to(Vec3::new(bad, 0.0, 0.0)));
        assert_eq!(told(&mut game, unit), FailureReason::BadPosition);
        game.order(unit, PathRequest::to(Vec2::new(1.0, bad)));
        assert_eq!(told(&mut game, unit), FailureReason::BadPosition);
        game.order(unit, PathRequest::to_nearest([Vec2::new(1.0, bad)]));
        assert_eq!(told(&mut game, unit), FailureReason::BadPosition);
        game.world().get_mut::<Transform>(unit).unwrap().translation.x = bad;
        game.order(unit, PathRequest::to(Cell::new(1, 1)));
        assert_eq!(told(&mut game, unit), FailureReason::BadPosition);
    }
}

#[test]
fn a_unit_that_becomes_a_nan_under_way_does_not_spread_it() {
    let mut game = Game::in_frame(WALL);
    let (unit, other, chaser) = (game.unit(0, 0), game.unit(0, 0), game.unit(0, 4));
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.order(other, PathRequest::to(Cell::new(9, 0)));
    game.order(chaser, PathRequest::to(unit));
    game.updates(5);
    game.world().get_mut::<Transform>(unit).unwrap().translation = Vec3::NAN;
    for _ in 0..20 {
        game.update();
        assert!(game.position(other).is_finite() && game.position(chaser).is_finite());
        for entity in [unit, other, chaser] {
            assert!(game.path(entity).points().iter().all(|point| point.is_finite()));
            assert!(game.app.world().get::<WantedVelocity>(entity).unwrap().0.is_finite());
        }
    }
    // Whatever put it there must put it back.
    let back = game.centre(2, 2);
    game.world().get_mut::<Transform>(unit).unwrap().translation = back;
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
}

#[test]
fn goals_outside_every_map() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    for goal in [
        Goal::from(Cell::new(10, 0)),
        Goal::from(Cell::new(i32::MIN, i32::MAX)),
        Goal::from(Vec3::splat(1e30)),
    ] {
        game.order(unit, PathRequest::to(goal));
        assert_eq!(told(&mut game, unit), FailureReason::OutOfMap, "{goal:?}");
        game.order(unit, PathRequest::to(goal).or_nearest());
        assert_eq!(told(&mut game, unit), FailureReason::OutOfMap, "{goal:?}");
    }
    game.order(unit, PathRequest::between(Cell::new(-1, 0), Cell::new(0, 0)));
    assert_eq!(told(&mut game, unit), FailureReason::OutOfMap);
}

#[test]
fn no_goal_no_position_no_target_no_class() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to_nearest(Vec::<Cell>::new()));
    assert_eq!(told(&mut game, unit), FailureReason::NoGoal);
    let nobody = game.world().spawn_empty().id();
    game.order(nobody, PathRequest::to(Cell::new(1, 1)));
    assert_eq!(told(&mut game, nobody), FailureReason::NoPosition);
    let gone = game.flag(1, 1);
    game.world().despawn(gone);
    game.order(unit, PathRequest::to(gone));
    assert_eq!(told(&mut game, unit), FailureReason::TargetLost);
    game.order(unit, PathRequest::to_nearest([gone]));
    assert_eq!(told(&mut game, unit), FailureReason::TargetLost);
    let unknown = game.unit_with(0, 0, Agent { class: ClassId(3), ..default() });
    game.order(unknown, PathRequest::to(Cell::new(1, 1)));
    assert_eq!(told(&mut game, unknown), FailureReason::UnknownClass);
    let blocked = game.unit(0, 0);
    game.order(blocked, PathRequest::between(Cell::new(4, 2), Cell::new(0, 0)));
    assert_eq!(told(&mut game, blocked), FailureReason::StartBlocked);
}

#[test]
fn a_unit_with_no_map() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.world().get_mut::<Transform>(unit).unwrap().translation.x = -500.0;
    game.order(unit, PathRequest::to(Cell::new(1, 1)));
    assert_eq!(told(&mut game, unit), FailureReason::NoMap);
    let no_map = game.flag(0, 0);
    let other = game.unit(0, 0);
    game.world().entity_mut(other).insert(OnMap(no_map));
    game.order(other, PathRequest::to(Cell::new(1, 1)));
    assert_eq!(told(&mut game, other), FailureReason::NoMap);
    let map = game.map;
    game.world().despawn(map);
    game.update();
    game.order(unit, PathRequest::between(Cell::new(0, 0), Cell::new(1, 1)));
    assert_eq!(told(&mut game, unit), FailureReason::NoMap);
}

#[test]
fn maps_without_cells_or_with_cells_without_size() {
    for (text, side) in [("", 1.0), ("...", 0.0), ("...", f32::NAN), ("...", f32::INFINITY), ("...", -0.0)] {
        let map = match text {
            "" => NavMap::new(Map::default()),
            text => NavMap::from_text(text).unwrap(),
        };
        let mut game = Game::on(map.with_cell_size(side), PathfindingPlugin::default());
        let unit = game.world().spawn((Transform::default(), Agent::default())).id();
        game.order(unit, PathRequest::to(Cell::new(1, 0)));
        assert_eq!(told(&mut game, unit), FailureReason::NoMap, "{text:?} {side}");
    }
}

#[test]
fn where_two_maps_overlap_the_older_counts_unless_a_unit_names_the_other() {
    let mut game = Game::in_frame(WALL);
    let upper = game.world().spawn(NavMap::from_text("..........\n..........").unwrap()).id();
    game.update();
    let (plain, naming) = (game.unit(0, 0), game.unit(0, 0));
    game.world().entity_mut(naming).insert(OnMap(upper));
    for unit in [plain, naming] {
        game.order(unit, PathRequest::to(Cell::new(9, 1)));
    }
    game.updates(2);
    assert_eq!(game.path(plain).map(), Some(game.map));
    assert_eq!(game.path(naming).map(), Some(upper));
    assert!(game.path(naming).cost() <= game.path(plain).cost());
}

#[test]
fn on_the_ground_of_a_3d_game_the_map_nearest_in_height_counts() {
    let storey = || NavMap::from_text("....\n....").unwrap().with_plane(Plane::Xz);
    let mut game = Game::on(storey(), PathfindingPlugin::default());
    let above = game.world().spawn((storey(), Transform::from_xyz(0.0, 10.0, 0.0))).id();
    let (low, high) = (game.unit(0, 0), game.unit(0, 0));
    game.world().get_mut::<Transform>(high).unwrap().translation.y = 9.0;
    for unit in [low, high] {
        game.order(unit, PathRequest::to(Cell::new(3, 1)));
    }
    game.until("both walk", |game| game.heard().len() == 2);
    assert_eq!((game.path(low).map(), game.path(high).map()), (Some(game.map), Some(above)));
}

#[test]
fn speeds_and_radii_that_make_no_sense() {
    let mut game = Game::in_frame(WALL);
    for bad in [0.0, -3.0, f32::NAN, f32::NEG_INFINITY] {
        let agent = Agent { speed: bad, radius: bad, arrival_radius: bad, ..default() };
        let slow = game.unit_with(0, 0, agent);
        let round =
            game.unit_with(0, 1, Agent { radius: bad, arrival_radius: bad, turn_rate: 9.0, ..default() });
        game.take_heard();
        for unit in [slow, round] {
            game.order(unit, PathRequest::to(Cell::new(3, 1)));
        }
        game.until("the one that can arrives", |game| game.has_heard(Heard::Arrived(round, Reach::Goal)));
        assert!(game.has_heard(Heard::Found(slow, Reach::Goal)));
        assert_eq!(game.cell_of(slow), Cell::new(0, 0));
        assert!(game.has_request(slow), "it has a path and stays where it is");
    }
    let frozen = game.unit_with(0, 0, Agent { turn_rate: f32::NAN, ..default() });
    game.order(frozen, PathRequest::to(Cell::new(0, 4)));
    game.updates(50);
    assert!(game.position(frozen).is_finite());
}

#[test]
fn inserted_and_removed_in_the_same_frame() {
    let mut game = Game::new(WALL);
    let unit = game.unit(0, 0);
    game.run(move |mut commands: Commands| {
        commands.entity(unit).insert(PathRequest::to(Cell::new(9, 0))).remove::<PathRequest>();
    });
    game.updates(20);
    assert_eq!(game.heard(), []);
    game.run(move |mut commands: Commands| {
        let mut unit = commands.entity(unit);
        unit.insert(PathRequest::to(Cell::new(9, 0)))
            .remove::<PathRequest>()
            .insert(PathRequest::to(Cell::new(2, 0)));
    });
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.cell_of(unit), Cell::new(2, 0));
    game.take_heard();
    game.run(move |mut commands: Commands| {
        commands.entity(unit).insert(PathRequest::to(Cell::new(9, 0))).despawn();
    });
    let other = game.unit(0, 0);
    game.order(other, PathRequest::to(Cell::new(1, 0)));
    game.until("others go on", |game| game.has_heard(Heard::Arrived(other, Reach::Goal)));
    assert_eq!(game.heard(), [Heard::Found(other, Reach::Goal), Heard::Arrived(other, Reach::Goal)]);
}

#[test]
fn budgets_of_nothing() {
    let mut game = Game::new(WALL).tuned(|settings| {
        settings.slice_nodes = 0;
        settings.workers = Some(0);
        settings.deliveries = 0;
        settings.frame_budget = core::time::Duration::ZERO;
    });
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 4)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
}

#[test]
fn a_component_taken_away_under_way() {
    let mut game = Game::in_frame(WALL);
    let (no_agent, no_path, no_transform) = (game.unit(0, 0), game.unit(0, 1), game.unit(0, 3));
    for unit in [no_agent, no_path, no_transform] {
        game.order(unit, PathRequest::to(Cell::new(9, 0)));
    }
    game.updates(5);
    game.take_heard();
    game.world().entity_mut(no_agent).remove::<Agent>();
    game.world().entity_mut(no_path).remove::<Path>();
    game.world().entity_mut(no_transform).remove::<Transform>();
    game.update();
    let at = [no_agent, no_path].map(|unit| game.position(unit));
    game.updates(20);
    game.edit(|map| assert!(map.set((4, 0), Terrain::WALL).unwrap()));
    game.updates(20);
    assert_eq!([no_agent, no_path].map(|unit| game.position(unit)), at, "they stand");
    // Without an agent the path is kept right, without a transform there is no start for another one.
    let heard = game.take_heard();
    let of =
        |unit: Entity| heard.iter().filter(move |heard| heard.unit() == unit).copied().collect::<Vec<_>>();
    assert_eq!(of(no_agent), [Heard::Invalidated(no_agent), Heard::Found(no_agent, Reach::Goal)]);
    assert_eq!(of(no_path), []);
    let lost = Heard::Failed(no_transform, FailureReason::NoPosition);
    assert_eq!(of(no_transform), [Heard::Invalidated(no_transform), lost]);
    assert!(game.has_request(no_agent) && game.has_request(no_path) && !game.has_request(no_transform));
    // Given back what it lacks, it goes on.
    game.world().entity_mut(no_path).insert(Path::default());
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(no_path, Reach::Goal)));
}
