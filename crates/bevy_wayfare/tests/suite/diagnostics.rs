//! What the plugin reports, and that its types are known to reflection.

use bevy::diagnostic::DiagnosticsStore;
use bevy::ecs::reflect::{AppTypeRegistry, ReflectComponent};
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, WALL};

#[test]
fn found_failed_nodes_and_times_are_measured() {
    let mut game = Game::in_frame(WALL);
    for goal in [Cell::new(9, 2), Cell::new(9, 3), Cell::new(99, 0)] {
        let unit = game.unit(0, 2);
        game.order(unit, PathRequest::to(goal).gear(Gear::Cells));
    }
    game.update();
    let value = |path| {
        let store = game.app.world().resource::<DiagnosticsStore>();
        store.get(&path).unwrap().value().unwrap()
    };
    let exactly = |path, expected: f64| assert!((value(path) - expected).abs() < 1e-9);
    exactly(PathfindingDiagnostics::FOUND, 2.0);
    exactly(PathfindingDiagnostics::FAILED, 1.0);
    exactly(PathfindingDiagnostics::QUEUE, 0.0);
    exactly(PathfindingDiagnostics::IN_FLIGHT, 0.0);
    assert!(value(PathfindingDiagnostics::NODES) > 10.0);
    assert!(value(PathfindingDiagnostics::SEARCH_TIME) > 0.0);
    assert!(value(PathfindingDiagnostics::WAIT_P95) >= value(PathfindingDiagnostics::WAIT_P50));
    assert!(value(PathfindingDiagnostics::WAIT_P50) > 0.0);
}

#[test]
fn a_failure_is_counted_when_it_is_told_and_once() {
    for delivery in [Delivery::WhenReady, Delivery::Lockstep { ticks: 4 }] {
        let mut game = Game::in_frame("...#...\n...#...").tuned(|settings| settings.delivery = delivery);
        let unit = game.unit(0, 0);
        game.order(unit, PathRequest::to(Cell::new(5, 0)));
        let mut failed = 0.0;
        for frame in 0..30 {
            let terrain = if frame % 2 == 0 { Terrain::WALL } else { Terrain::OPEN };
            game.edit(|map| assert!(map.set((6, 1), terrain).unwrap()));
            game.update();
            let store = game.app.world().resource::<DiagnosticsStore>();
            failed += store.get(&PathfindingDiagnostics::FAILED).unwrap().value().unwrap();
        }
        assert_eq!(game.heard().len(), 1);
        assert!((failed - 1.0).abs() < 1e-9, "{failed} failures counted, {delivery:?}");
    }
}

#[test]
fn requests_wait_visibly() {
    let mut game =
        Game::on(NavMap::new(Map::new(64, 64).unwrap()), PathfindingPlugin::default()).tuned(|settings| {
            settings.drive = Drive::InFrame;
            settings.slice_nodes = 2;
            settings.frame_budget = core::time::Duration::ZERO;
        });
    let units: Vec<Entity> = (0..30).map(|x| game.unit(x, 0)).collect();
    for unit in &units {
        game.order(*unit, PathRequest::to(Cell::new(63, 63)));
    }
    game.updates(5);
    let now = game.app.world().resource::<PathfindingClock>().tick();
    let waits: Vec<u64> = units.iter().filter_map(|unit| game.path(*unit).waited(now)).collect();
    assert!(!waits.is_empty() && waits.iter().all(|wait| *wait == 4), "{waits:?}");
    let store = game.app.world().resource::<DiagnosticsStore>();
    let queued = store.get(&PathfindingDiagnostics::QUEUE).unwrap().value().unwrap();
    assert!((queued - f64::from(u32::try_from(waits.len()).unwrap())).abs() < 0.5);
}

#[test]
fn components_can_be_reflected() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.update();
    let registry = game.app.world().resource::<AppTypeRegistry>().read();
    for name in ["NavMap", "Agent", "PathRequest", "Path", "WantedVelocity", "SafeVelocity", "OnMap"] {
        let entry =
            registry.get_with_short_type_path(name).unwrap_or_else(|| panic!("{name} is not registered"));
        assert!(entry.data::<ReflectComponent>().is_some(), "{name}");
    }
    for name in [
        "PathFound",
        "PathFailed",
        "Arrived",
        "PathInvalidated",
        "PathfindingSettings",
        "FailureReason",
        "Goal",
        "Plane",
    ] {
        assert!(registry.get_with_short_type_path(name).is_some(), "{name} is not registered");
    }
    // A component goes through reflection and comes out as it was.
    let request = registry.get_with_short_type_path("PathRequest").unwrap();
    let reflect = request.data::<ReflectComponent>().unwrap();
    let value = reflect.reflect(game.app.world().entity(unit)).unwrap();
    let copy = PathRequest::from_reflect(value.as_partial_reflect()).unwrap();
    assert_eq!(Some(&copy), game.app.world().get::<PathRequest>(unit));
}
