//! Searches on Bevy's task pool, and in the frame where there is none.

use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random, scattered};

/// How searches are run.
struct Way {
    drive: Drive,
    workers: Option<usize>,
    slice_nodes: u32,
    surveys: bool,
}

const WAYS: [(Drive, Option<usize>); 4] =
    [(Drive::InFrame, None), (Drive::Pool, None), (Drive::Pool, Some(1)), (Drive::Pool, Some(8))];

fn costs(way: Way, shape: RouteShape) -> Vec<u64> {
    let map = scattered(100, 9);
    let mut game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default()).tuned(|settings| {
        settings.drive = way.drive;
        settings.workers = way.workers;
        settings.slice_nodes = way.slice_nodes;
        settings.surveys = way.surveys;
    });
    let mut random = Random(4);
    let asked: Vec<Entity> = (0..300)
        .map(|_| {
            let (from, to) = (random.cell(&map), random.cell(&map));
            game.world().spawn(PathRequest::between(from, to).or_nearest().shape(shape)).id()
        })
        .collect();
    game.until("all are answered", |game| game.heard().len() == asked.len());
    asked.iter().map(|entity| game.path(*entity).cost()).collect()
}

fn expected_costs(shape: RouteShape) -> Vec<u64> {
    let map = NavMap::new(scattered(100, 9));
    let mut random = Random(4);
    let mut cost = || {
        let (from, to) = (random.cell(map.map()), random.cell(map.map()));
        let snapshot = map.snapshot(ClassId::default()).unwrap();
        let query = PathQuery::new(from, to).fallback(Fallback::Nearest).shape(shape);
        find_path(&snapshot, &query, &mut Scratch::new()).unwrap().route().unwrap().cost()
    };
    (0..300).map(|_| cost()).collect()
}

/// Of several cheapest paths, each is pulled taut to another length, so this tells them apart.
#[test]
fn every_drive_finds_the_same() {
    let expected = expected_costs(RouteShape::Pulled);
    for slice_nodes in [1, 50, 4096] {
        for (drive, workers) in WAYS {
            let way = Way { drive, workers, slice_nodes, surveys: false };
            assert_eq!(costs(way, RouteShape::Pulled), expected);
        }
    }
}

#[test]
fn every_drive_finds_a_cheapest_path_whenever_the_map_is_surveyed() {
    let expected = expected_costs(RouteShape::Corners);
    for slice_nodes in [1, 50, 4096] {
        for (drive, workers) in WAYS {
            let way = Way { drive, workers, slice_nodes, surveys: true };
            assert_eq!(costs(way, RouteShape::Corners), expected);
        }
    }
}

#[test]
fn the_drive_may_be_changed_under_way() {
    let map = scattered(100, 2);
    let mut game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default());
    let mut random = Random(1);
    for round in 0..20 {
        for _ in 0..20 {
            let (from, to) = (random.cell(&map), random.cell(&map));
            game.world().spawn(PathRequest::between(from, to).or_nearest());
        }
        let drive = if round % 2 == 0 { Drive::InFrame } else { Drive::Pool };
        game.world().resource_mut::<PathfindingSettings>().drive = drive;
        game.update();
    }
    game.until("all are answered", |game| game.heard().len() == 400);
}

#[test]
fn no_more_is_delivered_at_a_time_than_allowed() {
    for drive in [Drive::InFrame, Drive::Pool] {
        let settings = PathfindingSettings { deliveries: 7, drive, ..default() };
        let plugin = PathfindingPlugin::default().with_settings(settings);
        let mut game = Game::on(NavMap::new(Map::new(64, 64).unwrap()), plugin);
        for i in 0..64 {
            game.world().spawn(PathRequest::between(Cell::new(0, i), Cell::new(63, i)));
        }
        let mut before = 0;
        game.until("all are answered", |game| {
            let heard = game.heard().len();
            assert!(heard - before <= 7, "{} at once", heard - before);
            before = heard;
            heard == 64
        });
    }
}

#[test]
fn a_hundred_thousand_requests_in_one_frame_are_all_answered_once() {
    let mut game = Game::on(NavMap::new(Map::new(400, 400).unwrap()), PathfindingPlugin::default());
    let count = 100_000;
    let make = move |mut commands: Commands| {
        for i in 0..count {
            let (x, y) = (i % 400, i / 400);
            commands.spawn(PathRequest::between(Cell::new(x, y), Cell::new(399 - x, y)));
        }
    };
    game.run(make);
    game.until("all are answered", |game| game.heard().len() >= 100_000);
    game.updates(3);
    assert_eq!(game.heard().len(), 100_000);
    assert!(game.heard().iter().all(|heard| matches!(heard, Heard::Found(_, Reach::Goal))));
    let store = game.app.world().resource::<DiagnosticsStore>();
    let queued = store.get(&PathfindingDiagnostics::QUEUE).unwrap().value().unwrap();
    assert!(queued < 0.5, "{queued} are still queued");
}
