//! Every kind of request, and its life from order to end.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, STEP, WALL};

const LANE: &str = "....................";

#[test]
fn a_unit_goes_to_a_point_of_the_world_and_stops_exactly_there() {
    let mut game = Game::new(WALL);
    let unit = game.unit(0, 0);
    let goal = game.centre(9, 2) + Vec3::new(0.1, -0.05, 7.0);
    game.order(unit, PathRequest::to(goal));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.heard(), [Heard::Found(unit, Reach::Goal), Heard::Arrived(unit, Reach::Goal)]);
    game.update(); // it is drawn there a frame later
    assert_eq!(game.position(unit).truncate(), goal.truncate());
    assert!(game.position(unit).z.abs() < f32::EPSILON, "the height is the game's own");
    assert!(!game.has_request(unit) && game.path(unit).is_empty());
    game.updates(50);
    assert_eq!(game.heard().len(), 2, "each event fires once");
}

#[test]
fn cells_points_and_entities_are_goals() {
    let mut game = Game::in_frame(WALL);
    let flag = game.flag(8, 1);
    let goals = [
        (Goal::from(Cell::new(9, 4)), game.centre(9, 4)),
        (Goal::from(IVec2::new(3, 3)), game.centre(3, 3)),
        (Goal::from(game.centre(7, 0).truncate()), game.centre(7, 0)),
        (Goal::from(flag), game.centre(8, 1)),
    ];
    let unit = game.unit(0, 4);
    for (goal, end) in goals {
        game.take_heard();
        game.order(unit, PathRequest::to(goal));
        game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
        game.update();
        assert!(game.position(unit).distance(end) < 1e-4, "{goal:?}");
    }
}

#[test]
fn the_nearest_of_several_goals_is_the_cheapest_to_reach() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(3, 2);
    // (5, 2) is nearer as the crow flies, but behind the wall.
    game.order(unit, PathRequest::to_nearest([Cell::new(5, 2), Cell::new(1, 2), Cell::new(99, 0)]));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.cell_of(unit), Cell::new(1, 2));
}

#[test]
fn a_path_between_two_cells_needs_no_transform_and_is_not_walked() {
    let mut game = Game::in_frame(WALL);
    let nobody = game.world().spawn(PathRequest::between(Cell::new(0, 2), Cell::new(9, 2))).id();
    let agent = game.unit(0, 0);
    game.order(agent, PathRequest::between(Cell::new(0, 2), Cell::new(9, 2)));
    game.updates(20);
    for entity in [nobody, agent] {
        assert!(game.has_heard(Heard::Found(entity, Reach::Goal)));
        assert!(game.has_request(entity), "it stays, so that edits keep the path right");
        let (start, end) = (game.centre(0, 2).truncate(), game.centre(9, 2).truncate());
        let path = game.path(entity);
        assert_eq!((path.points().first(), path.end()), (Some(&start), Some(end)));
        assert!(path.cost() > 0);
    }
    assert_eq!(game.cell_of(agent), Cell::new(0, 0));
    game.world().entity_mut(nobody).remove::<PathRequest>();
    game.update();
    assert!(game.path(nobody).is_empty());
}

#[test]
fn what_cannot_be_reached_fails_or_is_approached_as_asked() {
    let text = "
        ...#..
        ...#..
        ...#..";
    let mut game = Game::in_frame(text);
    let unit = game.unit(0, 1);
    game.order(unit, PathRequest::to(Cell::new(5, 1)));
    game.updates(2);
    let nearest = IVec2::new(2, 1);
    assert_eq!(game.take_heard(), [Heard::Failed(unit, FailureReason::Unreachable { nearest })]);
    assert!(!game.has_request(unit));

    game.order(unit, PathRequest::to(Cell::new(5, 1)).or_nearest());
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Nearest)));
    assert_eq!(game.heard()[0], Heard::Found(unit, Reach::Nearest));
    assert_eq!(game.cell_of(unit), Cell::new(2, 1));
}

#[test]
fn a_budget_ends_a_search() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(3, 2);
    game.order(unit, PathRequest::to(Cell::new(5, 2)).budget(2));
    game.updates(2);
    let [Heard::Failed(_, FailureReason::OutOfBudget { .. })] = game.take_heard()[..] else {
        panic!("no failure")
    };
    game.order(unit, PathRequest::to(Cell::new(5, 2)).budget(2).or_nearest());
    game.updates(2);
    assert_eq!(game.heard()[0], Heard::Found(unit, Reach::BudgetSpent));
}

#[test]
fn the_options_of_the_core_reach_the_search() {
    let mut game = Game::in_frame(WALL);
    let points = |game: &mut Game, request: PathRequest| {
        let entity = game.world().spawn(request).id();
        game.updates(2);
        game.path(entity).points().len()
    };
    let ask = || PathRequest::between(Cell::new(0, 2), Cell::new(9, 2));
    let (pulled, cells) = (points(&mut game, ask()), points(&mut game, ask().shape(RouteShape::Cells)));
    let corners = points(&mut game, ask().shape(RouteShape::Corners));
    assert!(pulled <= corners && corners < cells, "{pulled} {corners} {cells}");
    assert_eq!(cells, 10);
}

#[test]
fn a_new_order_replaces_the_old_one_without_a_failure() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(99, 99)));
    game.order(unit, PathRequest::to(Cell::new(3, 0)));
    game.updates(5);
    game.order(unit, PathRequest::to(Cell::new(0, 4)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    let found = Heard::Found(unit, Reach::Goal);
    assert_eq!(game.heard(), [found, found, Heard::Arrived(unit, Reach::Goal)]);
    assert_eq!(game.cell_of(unit), Cell::new(0, 4));
}

#[test]
fn a_request_changed_in_place_is_a_new_order() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(5);
    *game.world().get_mut::<PathRequest>(unit).unwrap() = PathRequest::to(Cell::new(0, 4));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.cell_of(unit), Cell::new(0, 4));
}

#[test]
fn removing_the_request_is_the_order_to_stop() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(20);
    assert_ne!(game.cell_of(unit), Cell::new(0, 0));
    game.world().entity_mut(unit).remove::<PathRequest>();
    game.update();
    game.update();
    let stopped = game.position(unit);
    game.updates(20);
    assert_eq!(game.position(unit), stopped);
    assert!(game.path(unit).is_empty());
    assert_eq!(game.app.world().get::<SafeVelocity>(unit).unwrap().0, Vec3::ZERO);
    assert_eq!(game.heard(), [Heard::Found(unit, Reach::Goal)]);
}

#[test]
fn an_observer_may_order_again_at_once() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.app.add_observer(|failed: On<PathFailed>, mut commands: Commands| {
        commands.entity(failed.entity).insert(PathRequest::to(Cell::new(2, 0)));
    });
    let mut laps = 0;
    game.app.add_observer(move |arrived: On<Arrived>, mut commands: Commands| {
        laps += 1;
        if laps == 1 {
            commands.entity(arrived.entity).insert(PathRequest::to(Cell::new(0, 2)));
        }
    });
    game.order(unit, PathRequest::to(Cell::new(99, 99)));
    let arrived = Heard::Arrived(unit, Reach::Goal);
    game.until("it arrives twice", |game| {
        game.heard().iter().filter(|heard| **heard == arrived).count() == 2
    });
    assert_eq!(game.cell_of(unit), Cell::new(0, 2));
}

#[test]
fn the_path_knows_its_map_its_version_and_what_remains() {
    let mut game = Game::in_frame(WALL);
    game.edit(|map| assert!(map.set((9, 4), Terrain::WALL).unwrap()));
    let unit = game.unit(0, 2);
    game.order(unit, PathRequest::to(Cell::new(9, 2)));
    game.updates(2);
    let (map, version) = (game.map, game.nav().map().version());
    assert_eq!((game.path(unit).map(), game.path(unit).version()), (Some(map), version));
    let before = game.path(unit).points().len();
    game.updates(60);
    let after = game.path(unit).points().len();
    assert!(after < before && after > 0, "{before} {after}");
}

#[test]
fn a_unit_after_a_moving_target_plans_again_when_it_has_moved_enough() {
    let mut game = Game::in_frame(&"..............................\n".repeat(5));
    let target = game.flag(20, 2);
    let unit = game.unit(0, 2);
    game.order(unit, PathRequest::to(target));
    game.updates(10);
    assert_eq!(game.take_heard().len(), 1);
    // A step aside, twenty cells away, changes nothing.
    game.world().get_mut::<Transform>(target).unwrap().translation.y += 1.0;
    game.updates(10);
    assert_eq!(game.take_heard(), []);
    game.world().get_mut::<Transform>(target).unwrap().translation.x += 8.0;
    game.updates(3);
    assert_eq!(game.take_heard(), [Heard::Found(unit, Reach::Goal)]);
    // Walking away at half the unit's speed, it is reached nevertheless, after a few plans.
    let mut frames = 0;
    game.until("it arrives", |game| {
        frames += 1;
        if game.position(target).x < 29.0 {
            game.world().get_mut::<Transform>(target).unwrap().translation.x += 0.01;
        }
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
    let plans = game.heard().iter().filter(|heard| matches!(heard, Heard::Found(..))).count();
    assert!(plans < frames / 10, "{plans} plans in {frames} frames");
    assert!(game.position(unit).distance(game.position(target)) < 1.0);
}

#[test]
fn a_target_that_disappears_ends_the_chase() {
    let mut game = Game::in_frame(WALL);
    let target = game.flag(9, 0);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(target));
    game.updates(10);
    game.world().despawn(target);
    game.updates(2);
    assert_eq!(game.heard().last(), Some(&Heard::Failed(unit, FailureReason::TargetLost)));
    let stopped = game.position(unit);
    game.updates(10);
    assert_eq!(game.position(unit), stopped);
}

#[test]
fn the_synchronous_door_gives_the_same_path_at_once() {
    let mut game = Game::in_frame(WALL);
    let entity = game.world().spawn(PathRequest::between(Cell::new(0, 2), Cell::new(9, 2))).id();
    game.updates(2);
    let direct = game.nav().find_path(Cell::new(0, 2), Cell::new(9, 2)).unwrap();
    assert_eq!((direct.points(), direct.cost()), (game.path(entity).points(), game.path(entity).cost()));
    // It sees edits at once.
    game.edit(|map| assert_eq!(map.fill(Area::new((4, 0), (4, 4)), Terrain::WALL).unwrap(), 2));
    let cut_off = game.nav().find_path(Cell::new(0, 2), Cell::new(9, 2)).unwrap_err();
    assert_eq!(cut_off, FailureReason::Unreachable { nearest: IVec2::new(3, 2) });
}

#[test]
fn an_agent_added_to_a_path_walks_it() {
    let mut game = Game::in_frame(WALL);
    let body = game.flag(0, 2);
    game.order(body, PathRequest::to(Cell::new(9, 2)));
    game.updates(10);
    assert!(!game.path(body).is_empty());
    game.world().entity_mut(body).insert(Agent { speed: 6.0, ..default() });
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(body, Reach::Goal)));
}

#[test]
fn a_goal_where_the_unit_stands_is_reached_at_once() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(3, 0);
    for goal in [Goal::from(Cell::new(3, 0)), Goal::from(unit)] {
        game.order(unit, PathRequest::to(goal));
        game.updates(5);
        assert_eq!(game.take_heard(), [Heard::Found(unit, Reach::Goal), Heard::Arrived(unit, Reach::Goal)]);
    }
}

#[test]
fn a_unit_that_walks_and_is_asked_for_a_path_between_cells_stands() {
    // The path asked for begins where the unit sees it, and where it does not.
    for from in [Cell::new(0, 0), Cell::new(5, 2)] {
        let mut game = Game::in_frame(WALL);
        let unit = game.unit(0, 2);
        game.order(unit, PathRequest::to(Cell::new(3, 2)));
        game.updates(10);
        game.take_heard();
        game.order(unit, PathRequest::between(from, Cell::new(9, 0)));
        game.updates(2);
        let at = game.position(unit);
        game.updates(100);
        assert!(game.position(unit).distance(at) < 0.2, "it walks what is not to be walked");
        assert_eq!(game.heard(), [Heard::Found(unit, Reach::Goal)]);
        assert!(game.has_request(unit));
    }
}

#[test]
fn the_nearest_of_several_entities_is_gone_after_when_it_moves() {
    let mut game = Game::in_frame(LANE);
    let flags = [game.flag(10, 0), game.flag(19, 0)];
    let unit = game.unit(5, 0);
    game.order(unit, PathRequest::to_nearest(flags));
    game.updates(5);
    let elsewhere = game.centre(0, 0);
    game.world().get_mut::<Transform>(flags[0]).unwrap().translation = elsewhere;
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    let gaps = flags.map(|flag| game.position(flag).distance(game.position(unit)));
    assert!(gaps.iter().any(|gap| *gap < 1.0), "it arrived where nobody is: {gaps:?}");
}

#[test]
fn when_the_nearest_of_several_entities_disappears_another_is_the_nearest() {
    let mut game = Game::in_frame(LANE);
    let (near, far) = (game.flag(10, 0), game.flag(19, 0));
    let unit = game.unit(5, 0);
    game.order(unit, PathRequest::to_nearest([near, far]));
    game.updates(5);
    game.world().despawn(near);
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.cell_of(unit), Cell::new(19, 0));
}

#[test]
fn when_the_nearest_of_several_entities_disappears_nobody_goes_where_it_was() {
    let mut game = Game::in_frame(LANE);
    let flag = game.flag(19, 0);
    let unit = game.unit(5, 0);
    game.order(unit, PathRequest::to_nearest([flag]));
    game.updates(5);
    game.world().despawn(flag);
    game.updates(3);
    assert_eq!(game.heard().last(), Some(&Heard::Failed(unit, FailureReason::TargetLost)));
    assert!(game.path(unit).is_empty() && !game.has_request(unit));
}

#[test]
fn a_unit_ordered_to_the_same_place_in_every_frame_arrives() {
    for delivery in [Delivery::WhenReady, Delivery::Lockstep { ticks: 2 }] {
        // A frame that is a step, and several frames in a step.
        for frame in [STEP, STEP / 3] {
            let mut game = Game::new(LANE).tuned(|settings| settings.delivery = delivery);
            game.set_frame(frame);
            let unit = game.unit(0, 0);
            game.until("it arrives", |game| {
                game.order(unit, PathRequest::to(Cell::new(9, 0)));
                game.has_heard(Heard::Arrived(unit, Reach::Goal))
            });
            assert_eq!(game.cell_of(unit), Cell::new(9, 0));
        }
    }
}

#[test]
fn an_order_that_fails_may_be_given_in_every_frame() {
    let mut game = Game::in_frame(WALL).tuned(|settings| settings.delivery = Delivery::Lockstep { ticks: 1 });
    let unit = game.unit(0, 0);
    for _ in 0..4000 {
        game.order(unit, PathRequest::to(Cell::new(99, 99)));
        game.update();
    }
    game.updates(3);
    assert_eq!(game.take_heard().last(), Some(&Heard::Failed(unit, FailureReason::OutOfMap)));
    game.order(unit, PathRequest::to(Cell::new(2, 0)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
}

#[test]
fn a_request_withdrawn_before_its_answer_is_handed_over_is_not_answered() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    let withdraw = move |mut commands: Commands, requests: Query<&PathRequest>| {
        if requests.contains(unit) {
            commands.entity(unit).remove::<PathRequest>();
        }
    };
    let between = withdraw.after(PathfindingSystems::Search).before(PathfindingSystems::Deliver);
    game.app.add_systems(FixedUpdate, between);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(5);
    assert_eq!(game.heard(), []);
    assert!(game.path(unit).is_empty() && !game.path(unit).is_waiting());
}

#[test]
fn an_order_given_by_who_hears_of_the_path_outlives_the_arrival() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(3, 0);
    let send_on = |found: On<PathFound>, mut commands: Commands, mut done: Local<bool>| {
        if !core::mem::replace(&mut *done, true) {
            commands.entity(found.entity).insert(PathRequest::to(Cell::new(9, 0)));
        }
    };
    game.app.add_observer(send_on);
    // It stands there already, so it is there in the tick in which the path is found.
    game.order(unit, PathRequest::to(Cell::new(3, 0)));
    game.update();
    assert!(game.has_request(unit), "the new order went with the old one");
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.cell_of(unit), Cell::new(9, 0));
}

#[test]
fn a_path_put_in_the_place_of_one_that_is_waited_for_is_replaced_by_the_answer() {
    let mut game = Game::in_frame(LANE).tuned(|settings| settings.delivery = Delivery::Lockstep { ticks: 4 });
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(2);
    let path = game.nav().find_path(Cell::new(0, 0), Cell::new(5, 0)).unwrap();
    game.world().entity_mut(unit).insert(path);
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.cell_of(unit), Cell::new(9, 0));
    assert!(!game.has_request(unit));
}

#[test]
fn a_unit_that_becomes_another_class_under_way_takes_another_way() {
    let water = Terrain(7);
    let map = NavMap::from_text("..........\n..........\n..........").unwrap();
    let map = map.with_class(ClassId(0), Class::default().with(water, Factor::ONE));
    let map = map.with_class(ClassId(1), Class::default().without(water));
    let mut game =
        Game::on(map, PathfindingPlugin::default()).tuned(|settings| settings.drive = Drive::InFrame);
    game.edit(|map| assert_eq!(map.fill(Area::new((5, 0), (5, 1)), water).unwrap(), 2));
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(10);
    game.world().get_mut::<Agent>(unit).unwrap().class = ClassId(1);
    game.until("it arrives", |game| {
        assert_ne!(game.terrain_under(unit), water, "it walks on what is blocked for its class");
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
}

#[test]
fn a_unit_put_on_another_map_under_way_is_planned_for_on_that_one() {
    let mut game = Game::in_frame(LANE);
    let walled = game.world().spawn(NavMap::from_text(".....#..............").unwrap()).id();
    game.update();
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(10);
    game.world().entity_mut(unit).insert(OnMap(walled));
    game.updates(60);
    let nearest = IVec2::new(4, 0);
    assert_eq!(game.heard().last(), Some(&Heard::Failed(unit, FailureReason::Unreachable { nearest })));
}

#[test]
fn a_unit_stopped_on_a_chase_waits_for_nothing_when_the_target_moves() {
    let mut game = Game::in_frame(LANE);
    let target = game.flag(10, 0);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(target));
    game.updates(10);
    game.world().entity_mut(unit).remove::<PathRequest>();
    game.updates(3);
    game.world().get_mut::<Transform>(target).unwrap().translation.x += 8.0;
    game.updates(10);
    assert!(!game.path(unit).is_waiting());
}
