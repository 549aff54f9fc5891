//! Units that others lay hands on: moved, nudged, steered, disabled, carried, or taken apart.

use std::time::Duration;

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, STEP, WALL};

const LANE: &str = "....................";

fn arrives(game: &mut Game, unit: Entity) {
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
}

fn velocity(game: &Game, unit: Entity) -> Vec3 {
    game.app.world().get::<SafeVelocity>(unit).unwrap().0
}

/// A unit that is the child of something that does not move.
fn carried(game: &mut Game, speed: f32) -> (Entity, Entity) {
    let carrier = game.world().spawn(Transform::default()).id();
    let unit = game.unit_with(0, 0, Agent { speed, ..default() });
    game.world().entity_mut(unit).insert(ChildOf(carrier));
    game.updates(2);
    (carrier, unit)
}

#[test]
fn a_unit_put_elsewhere_in_a_fixed_step_is_not_snatched_back() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    let to = game.centre(15, 0);
    let put = move |mut units: Query<&mut Transform>, mut steps: Local<u32>| {
        *steps += 1;
        if *steps == 10 {
            units.get_mut(unit).unwrap().translation = to;
        }
    };
    game.app.add_systems(FixedUpdate, put.before(PathfindingSystems::SyncMap));
    game.order(unit, PathRequest::to(Cell::new(19, 0)));
    game.updates(20);
    assert!(game.position(unit).x >= to.x, "it is at {}", game.position(unit));
    arrives(&mut game, unit);
}

#[test]
fn a_unit_put_out_of_sight_while_it_waits_is_told_of_the_path_from_there_only() {
    let mut game =
        Game::in_frame(WALL).tuned(|settings| settings.delivery = Delivery::Lockstep { ticks: 10 });
    let unit = game.unit(0, 2);
    game.order(unit, PathRequest::to(Cell::new(3, 0)));
    game.updates(5);
    // Behind the wall.
    let elsewhere = game.centre(5, 2);
    game.world().get_mut::<Transform>(unit).unwrap().translation = elsewhere;
    arrives(&mut game, unit);
    assert_eq!(game.heard(), [Heard::Found(unit, Reach::Goal), Heard::Arrived(unit, Reach::Goal)]);
}

#[test]
fn a_sprite_that_trembles_keeps_its_speed() {
    for micros in [4_100_u16, 10_000, 15_625, 16_667, 33_000] {
        let mut game = Game::in_frame(&".".repeat(60));
        game.set_frame(Duration::from_micros(micros.into()));
        let unit = game.unit(0, 0);
        // A hundredth of a cell up and down.
        let tremble = move |mut units: Query<&mut Transform>, mut up: Local<bool>| {
            *up = !*up;
            units.get_mut(unit).unwrap().translation.y += if *up { 0.01 } else { -0.01 };
        };
        game.app.add_systems(Update, tremble);
        game.order(unit, PathRequest::to(Cell::new(59, 0)));
        game.updates(20);
        let from = game.position(unit).x;
        let frames = 5_000_000 / u32::from(micros);
        game.updates(usize::try_from(frames).unwrap());
        let speed = (game.position(unit).x - from) / (frames as f32 * f32::from(micros)) * 1e6;
        assert!((speed - 6.0).abs() < 0.12, "{speed} with frames of {micros} us");
    }
}

#[test]
fn a_unit_blown_aside_arrives_within_its_radius() {
    let mut game = Game::in_frame(&[LANE; 3].join("\n"));
    let unit = game.unit_with(0, 1, Agent { speed: 6.0, arrival_radius: 1.0, ..default() });
    let wind = |mut units: Query<&mut SafeVelocity>| {
        for mut safe in &mut units {
            safe.0 += Vec3::Y * 0.05;
        }
    };
    game.app.add_systems(FixedUpdate, wind.after(PathfindingSystems::Avoid).before(PathfindingSystems::Move));
    game.order(unit, PathRequest::to(Cell::new(10, 1)));
    arrives(&mut game, unit);
    assert!(game.position(unit).distance(game.centre(10, 1)) <= 1.1);
}

#[test]
fn a_body_moved_by_the_game_stops_at_the_end_and_not_in_the_wall_behind_it() {
    for speed in [5.0, 60.0, 90.0] {
        let mut game = Game::with("...........#", PathfindingPlugin::default().without_moving());
        let unit = game.unit_with(0, 0, Agent { speed, ..default() });
        let obey = |mut bodies: Query<(&mut Transform, &SafeVelocity)>, time: Res<Time>| {
            for (mut transform, safe) in &mut bodies {
                transform.translation += safe.0 * time.delta_secs();
            }
        };
        game.app.add_systems(FixedUpdate, obey.after(PathfindingSystems::Move));
        game.order(unit, PathRequest::to(Cell::new(10, 0)));
        arrives(&mut game, unit);
        game.updates(3);
        let gap = game.position(unit).distance(game.centre(10, 0));
        assert!(gap < 0.01, "{gap} off at a speed of {speed}");
        assert_eq!(velocity(&game, unit), Vec3::ZERO);
    }
}

#[test]
fn a_unit_disabled_when_it_is_ordered_walks_when_it_is_enabled() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    game.world().entity_mut(unit).insert(Disabled);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(5);
    assert_eq!(game.cell_of(unit), Cell::new(0, 0));
    game.world().entity_mut(unit).remove::<Disabled>();
    arrives(&mut game, unit);
}

#[test]
fn a_unit_disabled_while_it_waits_loses_no_answer() {
    let mut game = Game::in_frame(LANE).tuned(|settings| settings.delivery = Delivery::Lockstep { ticks: 4 });
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(2);
    game.world().entity_mut(unit).insert(Disabled);
    game.updates(10);
    game.world().entity_mut(unit).remove::<Disabled>();
    arrives(&mut game, unit);
}

#[test]
fn a_unit_stopped_while_it_is_disabled_stands_when_it_is_enabled() {
    // The other one walks through it.
    let mut game = Game::with(LANE, PathfindingPlugin::default().without_avoidance())
        .tuned(|settings| settings.drive = Drive::InFrame);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(19, 0)));
    game.updates(10);
    game.world().entity_mut(unit).insert(Disabled).remove::<PathRequest>();
    game.updates(3);
    game.world().entity_mut(unit).remove::<Disabled>();
    game.updates(3);
    let at = game.position(unit);
    // Others walking must not take it along.
    let other = game.unit(0, 0);
    game.order(other, PathRequest::to(Cell::new(19, 0)));
    arrives(&mut game, other);
    assert_eq!(game.position(unit), at);
}

#[derive(Resource, Default)]
struct Seen(Vec<f32>);

#[test]
fn a_child_ordered_on_in_a_long_frame_goes_on_from_where_it_is() {
    for delivery in [Delivery::WhenReady, Delivery::Lockstep { ticks: 2 }] {
        let mut game = Game::in_frame(&".".repeat(20)).tuned(|settings| settings.delivery = delivery);
        let (_, unit) = carried(&mut game, 30.0);
        // Eight steps in a frame, in which the transforms of children are worked out once.
        game.set_frame(STEP * 8);
        let turn_back = |arrived: On<Arrived>, mut commands: Commands, mut next: Local<i32>| {
            *next = if *next == 12 { 5 } else { 12 };
            commands.entity(arrived.entity).insert(PathRequest::to(Cell::new(*next, 0)));
        };
        game.app.add_observer(turn_back).init_resource::<Seen>();
        let look = move |units: Query<&Transform>, mut seen: ResMut<Seen>| {
            seen.0.push(units.get(unit).unwrap().translation.x);
        };
        game.app.add_systems(FixedUpdate, look.after(PathfindingSystems::Move));
        game.order(unit, PathRequest::to(Cell::new(5, 0)));
        game.updates(40);
        let seen = &game.app.world().resource::<Seen>().0;
        let longest = seen.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
        assert!((longest - 30.0 * STEP.as_secs_f32()).abs() < 1e-3, "a step of {longest}, {delivery:?}");
        let arrivals = game.heard().iter().filter(|heard| matches!(heard, Heard::Arrived(..))).count();
        assert!(arrivals > 5, "it went to and fro {arrivals} times");
    }
}

#[test]
fn a_parent_scaled_to_nothing_for_a_while_makes_no_nan() {
    let mut game = Game::in_frame(LANE);
    let (carrier, unit) = carried(&mut game, 6.0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(20);
    game.world().get_mut::<Transform>(carrier).unwrap().scale = Vec3::ZERO;
    game.updates(5);
    assert!(game.position(unit).is_finite());
    game.world().entity_mut(unit).remove::<PathRequest>();
    game.updates(5);
    game.world().get_mut::<Transform>(carrier).unwrap().scale = Vec3::ONE;
    game.updates(5);
    assert!(game.position(unit).is_finite());
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    arrives(&mut game, unit);
}

#[test]
fn who_is_no_agent_any_more_wants_to_go_nowhere() {
    let mut game = Game::with(LANE, PathfindingPlugin::default().without_moving());
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.until("it wants to walk", |game| velocity(game, unit) != Vec3::ZERO);
    game.world().entity_mut(unit).remove::<(Agent, PathRequest)>();
    game.updates(10);
    assert_eq!(velocity(&game, unit), Vec3::ZERO);
}
