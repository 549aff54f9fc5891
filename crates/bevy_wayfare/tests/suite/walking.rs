//! Units on their way: speed, turns, walls, smoothness, and who moves the body.

use std::f32::consts::{FRAC_PI_2, PI};
use std::time::Duration;

use bevy::ecs::schedule::{ScheduleLabel, SingleThreadedExecutor};
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random, STEP, WALL, scattered};

const LANE: &str = "....................";

/// Seconds of the game's time until a unit has arrived.
fn travel_time(game: &mut Game, unit: Entity, goal: Cell, frame: Duration) -> f32 {
    game.set_frame(frame);
    game.order(unit, PathRequest::to(goal));
    game.until("it has a path", |game| game.has_heard(Heard::Found(unit, Reach::Goal)));
    let updates = game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    f32::from(u16::try_from(updates).unwrap()) * frame.as_secs_f32()
}

#[test]
fn a_unit_walks_at_its_speed_whatever_the_frame_rate() {
    for milliseconds in [2, 7, 16, 33, 100] {
        let mut game = Game::in_frame(LANE);
        let unit = game.unit(0, 0);
        let frame = Duration::from_millis(milliseconds);
        let time = travel_time(&mut game, unit, Cell::new(18, 0), frame);
        // Eighteen cells at six a second, to the frame.
        let slack = frame.as_secs_f32() + 2.0 * STEP.as_secs_f32();
        assert!((time - 3.0).abs() <= slack, "{time} s at {milliseconds} ms");
    }
}

#[test]
fn dear_ground_slows_down_unless_switched_off() {
    for (slowed, expected) in [(true, 6.0), (false, 2.0)] {
        let mut game =
            Game::in_frame("33333333333333333333").tuned(|settings| settings.slowed_by_terrain = slowed);
        let unit = game.unit(0, 0);
        let time = travel_time(&mut game, unit, Cell::new(12, 0), STEP);
        assert!((time - expected).abs() < 0.05, "{time} s, slowed {slowed}");
    }
}

#[test]
fn time_can_be_scaled_and_paused() {
    // They meet in a lane that has no room for two.
    let mut game = Game::with(LANE, PathfindingPlugin::default().without_avoidance())
        .tuned(|settings| settings.drive = Drive::InFrame);
    let unit = game.unit(0, 0);
    game.world().resource_mut::<Time<Virtual>>().set_relative_speed(2.0);
    let time = travel_time(&mut game, unit, Cell::new(18, 0), STEP);
    assert!((time - 1.5).abs() < 0.05, "{time} s at double speed");

    game.order(unit, PathRequest::to(Cell::new(0, 0)));
    game.updates(20);
    game.world().resource_mut::<Time<Virtual>>().pause();
    game.updates(2);
    let (paused, heard) = (game.position(unit), game.heard().len());
    let other = game.unit(5, 0);
    game.order(other, PathRequest::to(Cell::new(6, 0)));
    game.updates(50);
    assert_eq!((game.position(unit), game.heard().len()), (paused, heard));
    game.world().resource_mut::<Time<Virtual>>().unpause();
    game.until("both go on", |game| {
        game.has_heard(Heard::Arrived(other, Reach::Goal)) && game.cell_of(unit) == Cell::new(0, 0)
    });
}

#[test]
fn nobody_ever_stands_in_a_wall() {
    for (seed, speed, turn_rate) in [(1, 3.0, f32::INFINITY), (2, 12.0, 4.0), (3, 90.0, f32::INFINITY)] {
        let map = scattered(48, seed);
        let mut random = Random(seed);
        let mut game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default());
        let mut units = Vec::new();
        for _ in 0..60 {
            let (from, to) = (random.cell(&map), random.cell(&map));
            let unit = game.unit_with(from.x, from.y, Agent { speed, turn_rate, ..default() });
            // Anywhere in the cell.
            let aside = Vec3::new(random.below(90) as f32 / 100.0 - 0.45, 0.3, 0.0);
            game.world().get_mut::<Transform>(unit).unwrap().translation += aside;
            game.order(unit, PathRequest::to(to).or_nearest());
            units.push(unit);
        }
        game.until("all arrive", |game| {
            for unit in &units {
                let cell = game.cell_of(*unit);
                assert_ne!(map.terrain(cell), Terrain::WALL, "{unit} at {cell}");
            }
            game.heard().iter().filter(|heard| matches!(heard, Heard::Arrived(..))).count() == units.len()
        });
        assert!(!game.heard().iter().any(|heard| matches!(heard, Heard::Failed(..))));
    }
}

#[test]
fn maps_far_away_tiny_huge_or_turned_are_walked_alike() {
    let places = [
        (100_000.0, 1.0, 0.0),
        (1_000_000.0, 1.0, 0.3),
        (1000.0, 0.01, 0.4),
        (50_000.0, 0.25, 0.2),
        (0.0, 0.001, 0.4),
        (0.0, 1e6, 0.4),
    ];
    for (far, side, turn) in places {
        let map = scattered(48, 4);
        let nav = NavMap::new(map.clone()).with_cell_size(side);
        let mut game = Game::on(nav, PathfindingPlugin::default());
        let place = Transform::from_xyz(far, far, 0.0).with_rotation(Quat::from_rotation_z(turn));
        let entity = game.map;
        game.world().entity_mut(entity).insert(place);
        game.updates(2);
        let mut random = Random(5);
        let units: Vec<Entity> = (0..30)
            .map(|_| {
                let (from, to) = (random.cell(&map), random.cell(&map));
                let agent = Agent { speed: 16.0 * side, radius: 0.3 * side, ..default() };
                let unit = game.unit_with(from.x, from.y, agent);
                game.order(unit, PathRequest::to(to).or_nearest());
                unit
            })
            .collect();
        game.until("all arrive", |game| {
            for unit in &units {
                assert_ne!(game.terrain_under(*unit), Terrain::WALL, "{side} wide, {far} away");
            }
            game.heard().iter().filter(|heard| matches!(heard, Heard::Arrived(..))).count() == units.len()
        });
        assert_eq!(game.heard().len(), 2 * units.len(), "each found one path");
    }
}

#[test]
fn units_are_drawn_smoothly_between_steps() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    // Frames that are no multiple of the step.
    let frame = Duration::from_micros(4_100);
    game.set_frame(frame);
    game.order(unit, PathRequest::to(Cell::new(19, 0)));
    game.updates(20);
    let mut before = game.position(unit).x;
    for _ in 0..200 {
        game.update();
        let step = game.position(unit).x - before;
        let even = 6.0 * frame.as_secs_f32();
        assert!((step - even).abs() < 0.02 * even, "a step of {step} instead of {even}");
        before = game.position(unit).x;
    }
}

#[derive(Resource, Default)]
struct Seen(Vec<f32>);

#[test]
fn in_a_fixed_step_the_transform_is_the_true_one() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    game.world().init_resource::<Seen>();
    let look = move |units: Query<&Transform>, mut seen: ResMut<Seen>| {
        seen.0.push(units.get(unit).unwrap().translation.x);
    };
    game.app.add_systems(FixedUpdate, look.after(PathfindingSystems::Move));
    game.set_frame(Duration::from_micros(4_100));
    game.order(unit, PathRequest::to(Cell::new(19, 0)));
    game.updates(300);
    let seen = &game.app.world().resource::<Seen>().0;
    let walked: Vec<f32> = seen.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
    assert!(walked.len() > 50);
    for step in walked {
        assert!((step - 6.0 * STEP.as_secs_f32()).abs() < 1e-4, "{step}");
    }
}

#[test]
fn a_unit_turns_at_its_rate_before_it_walks() {
    let mut game = Game::in_frame(LANE);
    let agent = Agent { speed: 6.0, turn_rate: PI, ..default() };
    let unit = game.unit_with(10, 0, agent);
    // It faces right; its goal lies to the left, half a turn away.
    game.order(unit, PathRequest::to(Cell::new(2, 0)));
    let start = game.position(unit);
    game.updates(2);
    let angle_of = |game: &Game| Plane::Xy.angle(game.app.world().get::<Transform>(unit).unwrap().rotation);
    let mut facing = angle_of(&game).abs();
    for _ in 0..28 {
        game.update();
        let angle = angle_of(&game);
        assert!((angle.abs() - facing).abs() <= PI * STEP.as_secs_f32() + 1e-3);
        facing = angle.abs();
    }
    assert!(facing > 1.0 && facing < FRAC_PI_2 + 0.1, "{facing}");
    assert!(game.position(unit).distance(start) < 0.05, "it turns on the spot");
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    let angle = angle_of(&game);
    assert!((angle.abs() - PI).abs() < 0.1, "{angle}");
}

#[test]
fn units_are_drawn_turning_smoothly_between_steps() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit_with(10, 0, Agent { speed: 6.0, turn_rate: PI, ..default() });
    let frame = Duration::from_micros(4_100);
    game.set_frame(frame);
    game.order(unit, PathRequest::to(Cell::new(2, 0)));
    game.updates(20);
    let facing = |game: &Game| Plane::Xy.angle(game.app.world().get::<Transform>(unit).unwrap().rotation);
    let mut before = facing(&game);
    for _ in 0..150 {
        game.update();
        let (turn, even) = ((facing(&game) - before).abs(), PI * frame.as_secs_f32());
        assert!((turn - even).abs() < 0.02 * even, "a turn of {turn} instead of {even}");
        before = facing(&game);
    }
}

#[test]
fn a_unit_with_free_facing_is_not_turned() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit_with(0, 0, Agent { facing: Facing::Free, ..default() });
    game.order(unit, PathRequest::to(Cell::new(0, 4)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.app.world().get::<Transform>(unit).unwrap().rotation, Quat::IDENTITY);
}

#[test]
fn near_enough_is_the_arrival_radius() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit_with(0, 0, Agent { arrival_radius: 2.5, ..default() });
    game.order(unit, PathRequest::to(Cell::new(10, 0)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    game.update();
    let left = game.centre(10, 0).x - game.position(unit).x;
    assert!((2.4..=2.5).contains(&left), "{left}");
}

#[test]
fn a_game_may_move_bodies_itself() {
    let mut game = Game::with(WALL, PathfindingPlugin::default().without_moving());
    let unit = game.unit(0, 2);
    // A body with inertia, as a physics engine has it.
    let integrate =
        |mut bodies: Query<(&mut Transform, &SafeVelocity)>, time: Res<Time>, mut v: Local<Vec3>| {
            for (mut transform, safe) in &mut bodies {
                *v = v.lerp(safe.0, 0.5);
                transform.translation += *v * time.delta_secs();
            }
        };
    game.app.add_systems(FixedUpdate, integrate.after(PathfindingSystems::Move));
    let still = game.position(unit);
    game.order(unit, PathRequest::to(Cell::new(9, 2)));
    game.until("it moves", |game| game.position(unit) != still);
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert!(game.position(unit).distance(game.centre(9, 2)) < 0.3);
    game.updates(3);
    assert_eq!(game.app.world().get::<SafeVelocity>(unit).unwrap().0, Vec3::ZERO);
}

#[test]
fn a_changed_velocity_stops_at_walls() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(3, 2);
    // Somebody pushes everybody to the right, into the wall.
    let push = |mut units: Query<&mut SafeVelocity>| {
        for mut safe in &mut units {
            safe.0 += Vec3::X * 20.0;
        }
    };
    game.app.add_systems(FixedUpdate, push.after(PathfindingSystems::Avoid).before(PathfindingSystems::Move));
    game.order(unit, PathRequest::to(Cell::new(0, 2)));
    for _ in 0..100 {
        game.update();
        assert_ne!(game.nav().map().terrain(game.cell_of(unit)), Terrain::WALL);
    }
    assert_eq!(game.cell_of(unit).x, 3);
}

#[test]
fn only_the_path_if_that_is_all_a_game_wants() {
    let mut game = Game::with(WALL, PathfindingPlugin::default().without_following());
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 4)));
    game.until("it has a path", |game| game.has_heard(Heard::Found(unit, Reach::Goal)));
    game.updates(30);
    assert_eq!(game.cell_of(unit), Cell::new(0, 0));
    assert!(!game.path(unit).is_empty() && game.has_request(unit));
}

#[test]
fn on_the_ground_of_a_3d_game_height_is_left_alone() {
    let map = NavMap::from_text(WALL).unwrap().with_plane(Plane::Xz).with_cell_size(2.0);
    let mut game = Game::on(map, PathfindingPlugin::default());
    let unit = game.unit(0, 2);
    game.world().get_mut::<Transform>(unit).unwrap().translation.y = 1.25;
    game.order(unit, PathRequest::to(game.centre(9, 2)));
    game.until("it arrives", |game| {
        assert!((game.position(unit).y - 1.25).abs() < 1e-6);
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
    game.update();
    let end = game.centre(9, 2);
    assert!(Plane::Xz.flat(game.position(unit)).distance(Plane::Xz.flat(end)) < 1e-4);
    let forward = *game.app.world().get::<Transform>(unit).unwrap().forward();
    assert!(forward.x > 0.5, "it faces the way it came: {forward}");
}

#[test]
fn maps_may_be_moved_turned_and_scaled_and_units_may_be_children() {
    let text = NavMap::from_text(WALL).unwrap().centred();
    let mut game = Game::on(text, PathfindingPlugin::default());
    let map = game.map;
    *game.world().get_mut::<Transform>(map).unwrap() = Transform::from_xyz(100.0, -40.0, 3.0)
        .with_rotation(Quat::from_rotation_z(0.7))
        .with_scale(Vec3::splat(8.0));
    game.updates(2);
    let carrier = Transform::from_xyz(3.0, 5.0, 0.0)
        .with_rotation(Quat::from_rotation_z(-1.2))
        .with_scale(Vec3::splat(0.5));
    let carrier = game.world().spawn(carrier).id();
    game.update();
    let start = game.centre(0, 2);
    let parent = *game.app.world().get::<GlobalTransform>(carrier).unwrap();
    let local = parent.affine().inverse().transform_point3(start);
    let agent = Agent { speed: 48.0, ..default() };
    let unit = game.world().spawn((Transform::from_translation(local), agent, ChildOf(carrier))).id();
    game.update();
    game.order(unit, PathRequest::to(game.centre(9, 2)));
    let world = |game: &Game| game.app.world().get::<GlobalTransform>(unit).unwrap().translation();
    game.until("it arrives", |game| {
        let cell = game.nav().cell_at(world(game)).unwrap();
        assert_ne!(game.nav().map().terrain(cell), Terrain::WALL);
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
    game.updates(2);
    let end = game.centre(9, 2).truncate();
    assert!(world(&game).truncate().distance(end) < 1e-2, "{} {end}", world(&game));
}

#[test]
fn a_unit_moved_by_somebody_else_finds_its_way_from_there() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(10);
    let elsewhere = game.centre(3, 3);
    game.world().get_mut::<Transform>(unit).unwrap().translation = elsewhere;
    game.update();
    assert!(game.position(unit).distance(elsewhere) < 0.5, "it is not snatched back");
    game.until("it arrives", |game| {
        assert_ne!(game.nav().map().terrain(game.cell_of(unit)), Terrain::WALL);
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
}

#[test]
fn following_allocates_nothing_per_unit_and_frame() {
    let allocations = |count: i32| {
        let map = Map::new(200, 64).unwrap();
        let mut game = Game::on(NavMap::new(map), PathfindingPlugin::default())
            .tuned(|settings| settings.drive = Drive::InFrame);
        let stages = [FixedFirst.intern(), FixedUpdate.intern(), RunFixedMainLoop.intern()];
        for label in stages {
            game.app.edit_schedule(label, |schedule| {
                schedule.set_executor(SingleThreadedExecutor::new());
            });
        }
        let units: Vec<Entity> = (0..count).map(|i| game.unit(i / 64 * 2, i % 64)).collect();
        for (unit, i) in units.iter().zip(0..) {
            game.order(*unit, PathRequest::to(Cell::new(180 + i / 64 * 2, i % 64)));
        }
        game.until("all walk", |game| game.heard().len() == units.len());
        // Until the diagnostics' histories are full.
        game.updates(150);
        let before = game.position(units[0]);
        let counted = allocation_counter::measure(|| {
            for _ in 0..20 {
                for label in stages {
                    game.world().run_schedule(label);
                }
            }
        });
        assert_ne!(game.position(units[0]), before);
        counted.count_total
    };
    // The schedules themselves allocate now and then; one more per unit and frame would be 9,800.
    let (many, few) = (allocations(500), allocations(10));
    assert!(many.abs_diff(few) < 20, "{many} with 500 units, {few} with 10");
}

#[derive(Resource)]
struct Held;

#[test]
fn a_unit_that_is_held_is_drawn_where_it_stands() {
    let mut game = Game::in_frame(LANE);
    let unit = game.unit(0, 0);
    for set in [PathfindingSystems::Follow, PathfindingSystems::Avoid, PathfindingSystems::Move] {
        game.app.configure_sets(FixedUpdate, set.run_if(not(resource_exists::<Held>)));
    }
    game.set_frame(Duration::from_micros(4_100));
    game.order(unit, PathRequest::to(Cell::new(19, 0)));
    game.updates(100);
    game.world().insert_resource(Held);
    game.updates(8);
    let held = game.position(unit);
    for _ in 0..40 {
        game.update();
        assert_eq!(game.position(unit), held);
    }
    game.world().remove_resource::<Held>();
    game.until("it goes on", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
}
