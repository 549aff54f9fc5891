//! Who is served when: priorities, age, and nobody starving.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, scattered};

/// A game that looks at few orders per update: one slice of so many nodes.
fn slow_game(map: Map, slice_nodes: u32) -> Game {
    Game::on(NavMap::new(map), PathfindingPlugin::default()).tuned(|settings| {
        settings.drive = Drive::InFrame;
        settings.frame_budget = core::time::Duration::ZERO;
        settings.slice_nodes = slice_nodes;
    })
}

fn found(game: &Game) -> Vec<Entity> {
    let found = game.heard().iter().filter_map(|heard| match heard {
        Heard::Found(entity, _) => Some(*entity),
        _ => None,
    });
    found.collect()
}

fn still() -> Agent {
    Agent { speed: 0.0, ..default() }
}

#[test]
fn everyone_ordered_anew_in_every_frame_is_served_alike() {
    // Every search fits into its first look, and about thirty into an update.
    let mut game = slow_game(Map::new(64, 64).unwrap(), 8192);
    let units: Vec<Entity> = (0..400).map(|i| game.unit_with(i % 64, i / 64, still())).collect();
    for frame in 0..300 {
        for unit in &units {
            game.order(*unit, PathRequest::to(Cell::new(frame % 64, 63)));
        }
        game.update();
    }
    let mut served: HashMap<Entity, u32> = units.iter().map(|unit| (*unit, 0)).collect();
    for unit in found(&game) {
        *served.get_mut(&unit).unwrap() += 1;
    }
    let (least, most) = (served.values().min().unwrap(), served.values().max().unwrap());
    assert!(*least >= 3 && most - least <= 1, "served between {least} and {most} times");
}

#[test]
fn even_searches_longer_than_a_frame_end_when_ordered_anew_in_every_frame() {
    let mut map = scattered(96, 3);
    for corner in [(0, 0), (95, 95)] {
        map.set(corner, Terrain::OPEN).unwrap();
    }
    let mut game = slow_game(map, 128);
    let units: Vec<Entity> = (0..4).map(|_| game.unit_with(0, 0, still())).collect();
    for _ in 0..2000 {
        for unit in &units {
            game.order(*unit, PathRequest::to(Cell::new(95, 95)).heuristic(Heuristic::Zero).or_nearest());
        }
        game.update();
    }
    for unit in units {
        let times = found(&game).iter().filter(|found| **found == unit).count();
        assert!(times >= 2, "{unit} was served {times} times");
    }
}

#[test]
fn higher_priorities_first_and_the_oldest_among_equals() {
    let mut game = slow_game(Map::new(64, 64).unwrap(), 64);
    let mut units = Vec::new();
    for (priority, column) in [(Priority::LOW, 0), (Priority::NORMAL, 1), (Priority::HIGH, 2)] {
        for row in 0..10 {
            units.push((priority, game.unit_with(column, row, still())));
        }
    }
    for (priority, unit) in &units {
        game.order(*unit, PathRequest::to(Cell::new(63, 63)).priority(*priority));
    }
    game.update();
    // Ordered later, with the highest: before everybody who is still waiting.
    let late = game.unit_with(5, 5, still());
    game.order(late, PathRequest::to(Cell::new(63, 63)).priority(Priority(2)));
    game.until("all are served", |game| found(game).len() == 31);
    let mut served = found(&game);
    let at = served.iter().position(|unit| *unit == late).unwrap();
    assert!(at <= 3, "the late one came as number {at}");
    served.remove(at);
    let mut expected: Vec<_> = units.iter().zip(0..).collect();
    expected.sort_by_key(|((priority, _), i)| (core::cmp::Reverse(*priority), *i));
    let expected: Vec<Entity> = expected.into_iter().map(|((_, unit), _)| *unit).collect();
    assert_eq!(served, expected);
}

#[test]
fn a_flood_of_high_priorities_starves_nobody() {
    let mut game = slow_game(Map::new(64, 64).unwrap(), 64);
    let low = game.unit_with(0, 0, still());
    let rich: Vec<Entity> = (0..64).map(|i| game.unit_with(i, 1, still())).collect();
    game.order(low, PathRequest::to(Cell::new(63, 63)).priority(Priority::LOW));
    let flooded = usize::try_from(3 * Priority::HEAD_START).unwrap();
    for _ in 0..flooded {
        for unit in &rich {
            game.order(*unit, PathRequest::to(Cell::new(63, 63)).priority(Priority::HIGH));
        }
        game.update();
    }
    assert!(found(&game).len() > 500, "the flood was served meanwhile");
    assert!(found(&game).contains(&low));
}

#[test]
fn an_order_that_replaces_another_keeps_its_place() {
    let mut game = slow_game(Map::new(64, 64).unwrap(), 64);
    let units: Vec<Entity> = (0..20).map(|i| game.unit_with(i, 0, still())).collect();
    for (unit, y) in units.iter().zip(40..) {
        game.order(*unit, PathRequest::to(Cell::new(63, y)));
    }
    game.update();
    assert!(found(&game).len() < 10);
    game.order(units[10], PathRequest::to(Cell::new(0, 63)));
    game.until("all are served", |game| found(game).len() == 20);
    assert_eq!(found(&game), units);
    assert_eq!(game.path(units[10]).end(), Some(game.centre(0, 63).truncate()));
}

#[test]
fn those_with_one_goal_are_served_in_their_order() {
    let mut game = slow_game(Map::new(64, 64).unwrap(), 64);
    let units: Vec<Entity> = (0..40).map(|i| game.unit_with(i, 0, still())).collect();
    for unit in &units {
        game.order(*unit, PathRequest::to(Cell::new(63, 63)));
    }
    game.update();
    assert!(found(&game).len() < 10);
    // Alone, it comes when its turn is, not after all the others.
    game.order(units[20], PathRequest::to(Cell::new(0, 63)));
    game.until("all are served", |game| found(game).len() == 40);
    let mut served = found(&game);
    let at = served.iter().position(|unit| *unit == units[20]).unwrap();
    assert!(at <= 20);
    served.remove(at);
    assert!(served.iter().eq(units.iter().filter(|unit| **unit != units[20])));
}

#[test]
fn a_flood_of_short_searches_does_not_hold_up_a_long_one() {
    let mut game = slow_game(scattered(128, 7), 256);
    let long = game.world().spawn(PathRequest::between(Cell::new(0, 0), Cell::new(127, 127))).id();
    let request = PathRequest::between(Cell::new(0, 0), Cell::new(127, 127)).heuristic(Heuristic::Zero);
    game.edit(|map| {
        for area in [Area::new((0, 0), (8, 8)), Area::new((127, 127), (127, 127))] {
            map.fill(area, Terrain::OPEN).unwrap();
        }
    });
    game.order(long, request.or_nearest());
    let short: Vec<Entity> = (0..64).map(|i| game.unit_with(i % 8, i / 8, still())).collect();
    game.until("the long one is served", |game| {
        for unit in &short {
            game.order(*unit, PathRequest::to(Cell::new(7, 3)));
        }
        assert!(found(game).len() < 2000, "only short ones are served");
        found(game).contains(&long)
    });
    assert!(found(&game).len() > 100, "the flood was served meanwhile");
}

#[test]
fn a_long_search_does_not_hold_up_short_ones() {
    let mut map = scattered(256, 7);
    for corner in [(0, 0), (255, 255), (0, 2), (4, 2)] {
        map.fill(Area::new(corner, corner), Terrain::OPEN).unwrap();
    }
    map.fill(Area::new((0, 0), (8, 8)), Terrain::OPEN).unwrap();
    let mut game = slow_game(map, 256);
    let long: Vec<Entity> = (0..20).map(|_| game.unit_with(0, 0, still())).collect();
    for unit in &long {
        game.order(*unit, PathRequest::to(Cell::new(255, 255)).heuristic(Heuristic::Zero).or_nearest());
    }
    game.updates(30);
    assert!(found(&game).is_empty());
    let short: Vec<Entity> = (0..8).map(|y| game.unit_with(0, y, still())).collect();
    for unit in &short {
        game.order(*unit, PathRequest::to(Cell::new(7, 3)));
    }
    let updates =
        game.until("the short ones are served", |game| short.iter().all(|u| found(game).contains(u)));
    assert!(updates <= 40, "they took {updates} updates");
    assert!(!long.iter().any(|unit| found(&game).contains(unit)));
    game.until("the long ones too", |game| long.iter().all(|unit| found(game).contains(unit)));
}

#[test]
fn an_order_withdrawn_is_not_answered() {
    let mut game = slow_game(Map::new(64, 64).unwrap(), 64);
    let units: Vec<Entity> = (0..40).map(|i| game.unit_with(i, 0, still())).collect();
    for unit in &units {
        game.order(*unit, PathRequest::to(Cell::new(0, 63)));
    }
    game.update();
    let served = found(&game).len();
    assert!(served < 20);
    for (unit, i) in units.iter().zip(0..) {
        if i % 2 == 0 {
            game.world().entity_mut(*unit).remove::<PathRequest>();
        } else {
            game.world().despawn(*unit);
        }
    }
    game.updates(50);
    assert_eq!(found(&game).len(), served);
}
