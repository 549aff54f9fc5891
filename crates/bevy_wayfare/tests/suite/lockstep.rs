//! Lockstep: the same events in the same ticks on any machine.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random, scattered};

#[derive(Resource, Default)]
struct Diary(Vec<String>);

fn note<E: EntityEvent + core::fmt::Debug>(
    event: On<E>,
    clock: Res<PathfindingClock>,
    mut diary: ResMut<Diary>,
) {
    diary.0.push(format!("{}: {:?}", clock.tick(), event.event()));
}

fn lockstep_game(map: Map, ticks: u32, tune: impl FnOnce(&mut PathfindingSettings)) -> Game {
    let mut game = Game::on(NavMap::new(map), PathfindingPlugin::default()).tuned(|settings| {
        settings.delivery = Delivery::Lockstep { ticks };
        tune(settings);
    });
    game.world().init_resource::<Diary>();
    game.app
        .add_observer(note::<PathFound>)
        .add_observer(note::<PathFailed>)
        .add_observer(note::<Arrived>)
        .add_observer(note::<PathInvalidated>);
    game.update();
    game
}

/// A busy game: orders, new orders, stops, despawns and edits; what happened when, and where everybody ended.
fn play(tune: impl FnOnce(&mut PathfindingSettings)) -> (Vec<String>, Vec<Vec3>) {
    let map = scattered(80, 21);
    let mut random = Random(8);
    let mut game = lockstep_game(map.clone(), 3, tune);
    let mut units: Vec<Entity> = (0..60)
        .map(|_| {
            let cell = random.cell(&map);
            game.unit(cell.x, cell.y)
        })
        .collect();
    let leader = units[0];
    for tick in 0..150 {
        for _ in 0..random.below(12) {
            let unit = units[random.below(u32::try_from(units.len()).unwrap()) as usize];
            let goal = random.cell(&map);
            match random.below(8) {
                0 => {
                    game.world().entity_mut(unit).remove::<PathRequest>();
                }
                1 => game.order(unit, PathRequest::to(Cell::new(-1, 5))),
                2 if unit != leader => game.order(unit, PathRequest::to(leader).or_nearest()),
                3 => game.order(unit, PathRequest::to(goal)),
                _ => game.order(unit, PathRequest::to(goal).or_nearest()),
            }
        }
        if tick % 7 == 0 {
            let cell = random.cell(&map);
            game.edit(|map| {
                map.set(cell, Terrain::WALL).unwrap();
            });
        }
        if tick % 50 == 49 {
            let unit = units.pop().unwrap();
            game.world().despawn(unit);
        }
        game.update();
    }
    game.updates(60);
    let places = units.iter().map(|unit| game.position(*unit)).collect();
    (core::mem::take(&mut game.world().resource_mut::<Diary>().0), places)
}

#[test]
fn events_and_positions_are_the_same_for_any_number_of_threads() {
    let alone = play(|settings| settings.drive = Drive::InFrame);
    assert!(alone.0.len() > 200, "only {} events", alone.0.len());
    for workers in [1, 2, 3, 8] {
        assert_eq!(play(|settings| settings.workers = Some(workers)), alone, "{workers} workers");
    }
    for slice_nodes in [16, 100_000] {
        assert_eq!(play(|settings| settings.slice_nodes = slice_nodes), alone, "slices of {slice_nodes}");
    }
}

#[test]
fn an_answer_comes_exactly_when_it_is_due_and_in_the_order_of_requests() {
    for ticks in [1, 4] {
        let mut game = lockstep_game(Map::new(200, 200).unwrap(), ticks, |_| {});
        let units: Vec<Entity> =
            (0..20).map(|i| game.unit_with(i, 0, Agent { speed: 0.0, ..default() })).collect();
        // Twice, in different orders: the first time the entities get their request, then it is replaced.
        for stride in [7, 11] {
            game.take_heard();
            let order: Vec<Entity> = (0..20).map(|i| units[i * stride % 20]).collect();
            for unit in &order {
                game.order(*unit, PathRequest::to(Cell::new(199, 150)));
            }
            for _ in 0..ticks {
                game.update();
                assert_eq!(game.heard(), []);
            }
            game.update();
            let expected: Vec<Heard> = order.iter().map(|unit| Heard::Found(*unit, Reach::Goal)).collect();
            assert_eq!(game.heard(), expected);
        }
    }
}

#[test]
fn it_is_searched_on_the_map_as_it_was_when_it_was_asked() {
    // Next to nothing is searched before it is due, so the edit comes before the search.
    let mut game = lockstep_game(Map::new(20, 5).unwrap(), 5, |settings| {
        settings.drive = Drive::InFrame;
        settings.frame_budget = core::time::Duration::ZERO;
        settings.slice_nodes = 2;
    });
    for _ in 0..20 {
        game.world().spawn(PathRequest::between(Cell::new(0, 0), Cell::new(9, 4)));
    }
    let entity = game.world().spawn(PathRequest::between(Cell::new(0, 2), Cell::new(19, 2))).id();
    game.update();
    game.edit(|map| assert!(map.fill(Area::new((10, 0), (10, 4)), Terrain::WALL).unwrap() > 0));
    game.updates(4);
    assert_eq!(game.heard(), []);
    game.updates(12);
    let of_it: Vec<Heard> = game.heard().iter().copied().filter(|heard| heard.unit() == entity).collect();
    let [Heard::Found(..), Heard::Invalidated(_), Heard::Failed(_, FailureReason::Unreachable { .. })] =
        of_it[..]
    else {
        panic!("{of_it:?}")
    };
}

#[test]
fn even_one_ordered_anew_in_every_tick_is_answered() {
    let mut game = lockstep_game(Map::new(50, 50).unwrap(), 3, |_| {});
    let unit = game.unit(0, 0);
    for tick in 0..100 {
        game.order(unit, PathRequest::to(Cell::new(49, tick % 50)));
        game.update();
    }
    assert!(game.heard().len() >= 5, "{:?}", game.heard());
}

#[test]
fn it_may_be_switched_on_and_off_under_way() {
    let map = scattered(100, 2);
    let mut game = lockstep_game(map.clone(), 6, |_| {});
    let mut random = Random(1);
    for round in 0..30 {
        for _ in 0..10 {
            let (from, to) = (random.cell(&map), random.cell(&map));
            game.world().spawn(PathRequest::between(from, to).or_nearest());
        }
        let lockstep = Delivery::Lockstep { ticks: 1 + round % 5 };
        let delivery = if round % 3 == 0 { Delivery::WhenReady } else { lockstep };
        game.world().resource_mut::<PathfindingSettings>().delivery = delivery;
        game.update();
    }
    game.until("all are answered", |game| game.heard().len() == 300);
}

#[derive(Resource, Default)]
struct Served(Vec<Entity>);

#[test]
fn the_order_of_requests_counts_in_the_very_first_tick() {
    let settings = PathfindingSettings { delivery: Delivery::Lockstep { ticks: 2 }, ..default() };
    let plugin = PathfindingPlugin::default().in_schedule(Update).with_settings(settings);
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, plugin)).init_resource::<Served>();
    app.add_observer(|found: On<PathFound>, mut served: ResMut<Served>| served.0.push(found.entity));
    app.world_mut().spawn(NavMap::new(Map::new(9, 9).unwrap()));
    let [first, second] = [0, 1].map(|_| app.world_mut().spawn_empty().id());
    for entity in [second, first] {
        let request = PathRequest::between(Cell::new(0, 0), Cell::new(5, 0));
        app.world_mut().entity_mut(entity).insert(request);
    }
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(app.world().resource::<Served>().0, [second, first]);
}

#[test]
fn a_failure_comes_when_it_is_due_though_the_map_is_edited_meanwhile() {
    let ticks = 4;
    let mut game = lockstep_game(Map::from_text("...#...\n...#...").unwrap(), ticks, |_| {});
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(5, 0)));
    for tick in 0..=ticks {
        assert_eq!(game.heard(), []);
        let terrain = if tick % 2 == 0 { Terrain::WALL } else { Terrain::OPEN };
        game.edit(|map| assert!(map.set((6, 1), terrain).unwrap()));
        game.update();
    }
    let nearest = IVec2::new(2, 0);
    assert_eq!(game.heard(), [Heard::Failed(unit, FailureReason::Unreachable { nearest })]);
}

#[test]
fn fewer_ticks_hold_for_whoever_asks_from_then_on() {
    let mut game = lockstep_game(Map::new(20, 1).unwrap(), 100, |_| {});
    let (patient, quick) = (game.unit(0, 0), game.unit(1, 0));
    game.order(patient, PathRequest::to(Cell::new(9, 0)));
    game.updates(2);
    game.world().resource_mut::<PathfindingSettings>().delivery = Delivery::Lockstep { ticks: 1 };
    game.order(quick, PathRequest::to(Cell::new(19, 0)));
    game.updates(2);
    assert_eq!(game.heard(), [Heard::Found(quick, Reach::Goal)]);
    game.updates(96);
    assert_eq!(game.heard().len(), 1);
    game.update();
    assert!(game.has_heard(Heard::Found(patient, Reach::Goal)));
}

#[test]
fn what_was_asked_for_while_it_was_off_is_answered_when_it_is_on_again() {
    let mut map = scattered(96, 3);
    for corner in [(0, 0), (95, 95)] {
        map.set(corner, Terrain::OPEN).unwrap();
    }
    let mut game = lockstep_game(map, 100_000, |settings| {
        settings.drive = Drive::InFrame;
        settings.slice_nodes = 64;
        settings.frame_budget = core::time::Duration::ZERO;
    });
    let promised = game.world().spawn(PathRequest::between(Cell::new(0, 0), Cell::new(0, 0))).id();
    game.updates(3);
    game.world().resource_mut::<PathfindingSettings>().delivery = Delivery::WhenReady;
    game.updates(3);
    assert_eq!(game.heard(), [Heard::Found(promised, Reach::Goal)]);
    let long = PathRequest::between(Cell::new(0, 0), Cell::new(95, 95)).heuristic(Heuristic::Zero);
    game.world().spawn(long.or_nearest());
    game.updates(2);
    assert_eq!(game.heard().len(), 1);
    game.world().resource_mut::<PathfindingSettings>().delivery = Delivery::Lockstep { ticks: 2 };
    game.until("it is answered", |game| game.heard().len() == 2);
}
