//! Sets and schedules: where the plugin runs, and beside what.

use std::thread::sleep;
use std::time::Duration;

use bevy::ecs::schedule::{LogLevel, ScheduleBuildSettings, ScheduleLabel};
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimeUpdateStrategy;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, STEP, WALL};

fn arrives(mut game: Game) {
    let unit = game.unit(0, 2);
    game.order(unit, PathRequest::to(Cell::new(9, 2)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
}

#[test]
fn no_two_systems_may_run_in_either_order() {
    let plugins = [
        (FixedUpdate.intern(), PathfindingPlugin::default()),
        (FixedUpdate.intern(), PathfindingPlugin::default().without_moving()),
        (Update.intern(), PathfindingPlugin::default().in_schedule(Update)),
        (Update.intern(), PathfindingPlugin::default().in_schedule(Update).without_following()),
    ];
    for (schedule, plugin) in plugins {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, plugin));
        for label in [schedule, FixedFirst.intern(), RunFixedMainLoop.intern()] {
            app.edit_schedule(label, |schedule| {
                schedule.set_build_settings(ScheduleBuildSettings {
                    ambiguity_detection: LogLevel::Error,
                    ..default()
                });
            });
        }
        app.finish();
        app.update();
        app.world_mut().run_schedule(FixedFirst);
        app.world_mut().run_schedule(schedule);
    }
}

#[test]
fn other_schedules_serve_too() {
    arrives(Game::with(WALL, PathfindingPlugin::default().in_schedule(Update)));
    arrives(Game::with(WALL, PathfindingPlugin::default().in_schedule(FixedPostUpdate)));
    arrives(
        Game::with(WALL, PathfindingPlugin::default().in_schedule(PostUpdate).without_moving())
            .following_blindly(),
    );
}

#[test]
fn in_update_paths_are_found_while_the_clock_stands() {
    let mut game = Game::with(WALL, PathfindingPlugin::default().in_schedule(Update));
    game.world().resource_mut::<Time<Virtual>>().pause();
    let unit = game.unit(0, 2);
    game.order(unit, PathRequest::to(Cell::new(9, 2)));
    game.until("it has a path", |game| game.has_heard(Heard::Found(unit, Reach::Goal)));
    game.updates(10);
    assert_eq!(game.cell_of(unit), Cell::new(0, 2));
}

#[derive(States, Clone, PartialEq, Eq, Hash, Default, Debug)]
enum Screen {
    #[default]
    Menu,
    Battle,
}

#[test]
fn sets_may_depend_on_a_state() {
    let mut game = Game::new(WALL);
    game.app.add_plugins(StatesPlugin).init_state::<Screen>();
    let sets = [
        PathfindingSystems::SyncMap,
        PathfindingSystems::Queue,
        PathfindingSystems::Search,
        PathfindingSystems::Deliver,
        PathfindingSystems::Follow,
        PathfindingSystems::Avoid,
        PathfindingSystems::Move,
    ];
    for set in sets {
        game.app.configure_sets(FixedUpdate, set.run_if(in_state(Screen::Battle)));
    }
    let (unit, stopped) = (game.unit(0, 2), game.unit(0, 3));
    game.order(unit, PathRequest::to(Cell::new(9, 2)));
    game.order(stopped, PathRequest::to(Cell::new(9, 3)));
    game.updates(10);
    // Removed long before anybody looks: not forgotten.
    game.world().entity_mut(stopped).remove::<PathRequest>();
    game.updates(50);
    assert_eq!(game.heard(), []);
    game.world().resource_mut::<NextState<Screen>>().set(Screen::Battle);
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert_eq!(game.heard().len(), 2);
}

#[derive(Resource)]
struct Halted;

#[test]
fn a_game_halted_by_a_condition_stands_still_between_steps_too() {
    let mut game = Game::in_frame(WALL);
    use PathfindingSystems::{Avoid, Deliver, Follow, Move, Queue, Search, SyncMap};
    for set in [SyncMap, Queue, Search, Deliver, Follow, Avoid, Move] {
        game.app.configure_sets(FixedUpdate, set.run_if(not(resource_exists::<Halted>)));
    }
    let unit = game.unit(0, 0);
    game.set_frame(Duration::from_millis(10));
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(30);
    game.world().insert_resource(Halted);
    game.updates(3);
    let at = game.position(unit);
    for _ in 0..10 {
        game.update();
        assert_eq!(game.position(unit), at);
    }
}

#[test]
fn a_server_needs_nothing_but_minimal_plugins() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, PathfindingPlugin::default()))
        .insert_resource(TimeUpdateStrategy::ManualDuration(STEP));
    let map = NavMap::from_text(WALL).unwrap();
    app.world_mut().spawn((map, Transform::from_xyz(50.0, 20.0, 0.0)));
    let unit = (Transform::from_xyz(50.5, 19.5, 0.0), Agent { speed: 30.0, ..default() });
    let unit = app.world_mut().spawn((unit, PathRequest::to(Cell::new(9, 4)))).id();
    for _ in 0..10_000 {
        app.update();
        std::thread::yield_now();
        if app.world().get::<PathRequest>(unit).is_none() {
            break;
        }
        // Workers need real time.
        sleep(Duration::from_millis(1));
    }
    let end = app.world().get::<Transform>(unit).unwrap().translation;
    assert!(end.distance(Vec3::new(59.5, 15.5, 0.0)) < 0.6, "{end}");
}
