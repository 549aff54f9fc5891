//! Maps that change while units walk.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random, WALL, scattered};

#[test]
fn a_wall_across_the_path_sends_the_unit_around_it() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(20);
    game.take_heard();
    game.edit(|map| assert!(map.set((4, 0), Terrain::WALL).unwrap()));
    game.until("it arrives", |game| {
        assert_ne!(game.nav().map().terrain(game.cell_of(unit)), Terrain::WALL);
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
    let found = Heard::Found(unit, Reach::Goal);
    assert_eq!(game.heard(), [Heard::Invalidated(unit), found, Heard::Arrived(unit, Reach::Goal)]);
}

#[test]
fn a_way_cut_off_for_good_is_a_failure() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(10);
    game.edit(|map| assert_eq!(map.fill(Area::new((4, 0), (4, 4)), Terrain::WALL).unwrap(), 2));
    game.updates(3);
    let [.., Heard::Invalidated(_), Heard::Failed(_, FailureReason::Unreachable { .. })] = game.heard()[..]
    else {
        panic!("{:?}", game.heard())
    };
    assert!(!game.has_request(unit) && game.path(unit).is_empty());
}

#[test]
fn what_does_not_touch_the_rest_of_the_path_is_left_alone() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(40);
    assert!(game.cell_of(unit).x >= 3);
    game.take_heard();
    // Beside it and behind it, all in the same chunk.
    game.edit(|map| {
        assert!(map.set((7, 2), Terrain::WALL).unwrap());
        assert!(map.set((0, 0), Terrain::WALL).unwrap());
    });
    game.updates(5);
    assert_eq!(game.heard(), []);
}

#[test]
fn dearer_ground_counts_cheaper_does_not() {
    let mut game = Game::in_frame(&"2222222222222222\n".repeat(5));
    let unit = game.unit(0, 2);
    game.order(unit, PathRequest::to(Cell::new(15, 2)));
    game.updates(5);
    game.take_heard();
    game.edit(|map| assert!(map.set((8, 2), Terrain::OPEN).unwrap()));
    game.updates(5);
    assert_eq!(game.take_heard(), []);
    game.edit(|map| assert!(map.set((8, 2), Terrain::digit(9).unwrap()).unwrap()));
    game.updates(5);
    assert_eq!(game.heard(), [Heard::Invalidated(unit), Heard::Found(unit, Reach::Goal)]);
}

#[test]
fn a_shorter_way_is_taken_on_demand() {
    let mut game = Game::in_frame(WALL);
    let unit = game.unit_with(2, 2, Agent { speed: 0.0, ..default() });
    game.order(unit, PathRequest::to(Cell::new(6, 2)));
    game.updates(3);
    let long = game.path(unit).cost();
    game.edit(|map| assert!(map.set((4, 2), Terrain::OPEN).unwrap()));
    game.updates(5);
    assert_eq!(game.path(unit).cost(), long);
    game.order(unit, PathRequest::to(Cell::new(6, 2)));
    game.updates(3);
    assert!(game.path(unit).cost() < long);
    assert!(!game.heard().contains(&Heard::Invalidated(unit)));
}

#[test]
fn an_edit_while_the_search_is_under_way_is_not_missed() {
    let mut map = scattered(300, 5);
    for corner in [(0, 0), (299, 299)] {
        map.set(corner, Terrain::OPEN).unwrap();
    }
    // A slice per update: the search takes many.
    let mut game = Game::on(NavMap::new(map), PathfindingPlugin::default()).tuned(|settings| {
        settings.drive = Drive::InFrame;
        settings.frame_budget = core::time::Duration::ZERO;
        settings.slice_nodes = 512;
    });
    let unit = game.world().spawn(PathRequest::between(Cell::new(0, 0), Cell::new(299, 299))).id();
    game.updates(2);
    assert!(game.path(unit).is_waiting(), "the search was over too soon");
    // A wall across the map with one gap, built while the search runs on the map as it was.
    game.edit(|map| {
        map.fill(Area::new((150, 1), (150, 299)), Terrain::WALL).unwrap();
        map.fill(Area::new((149, 0), (151, 0)), Terrain::OPEN).unwrap();
    });
    game.update();
    assert!(game.path(unit).is_waiting(), "the search was over before the edit");
    let found = Heard::Found(unit, Reach::Goal);
    game.until("the last path holds", |game| {
        game.heard().last() == Some(&found) && !game.path(unit).is_waiting()
    });
    let now = game.nav().find_path(Cell::new(0, 0), Cell::new(299, 299)).unwrap();
    assert_eq!(game.path(unit).cost(), now.cost());
    assert_eq!(game.heard(), [found, Heard::Invalidated(unit), found]);
}

#[test]
fn a_map_that_disappears_cancels_what_was_asked_of_it() {
    let mut game = Game::new(WALL);
    let (walking, waiting) = (game.unit(0, 0), game.unit(0, 4));
    game.order(walking, PathRequest::to(Cell::new(9, 0)));
    game.until("it walks", |game| game.has_heard(Heard::Found(walking, Reach::Goal)));
    game.take_heard();
    game.order(waiting, PathRequest::to(Cell::new(9, 4)));
    let map = game.map;
    game.world().despawn(map);
    game.updates(5);
    let mut heard = game.take_heard();
    heard.sort_by_key(|heard| format!("{heard:?}"));
    let mut expected =
        [Heard::Failed(walking, FailureReason::Cancelled), Heard::Failed(waiting, FailureReason::NoMap)];
    expected.sort_by_key(|heard| format!("{heard:?}"));
    assert_eq!(heard, expected);
    assert!(!game.has_request(walking) && !game.has_request(waiting));
}

#[test]
fn a_map_of_another_size_may_take_its_place_under_way() {
    let mut game = Game::in_frame(WALL);
    let (outside, inside) = (game.unit(0, 0), game.unit(0, 1));
    game.order(outside, PathRequest::to(Cell::new(9, 0)));
    game.order(inside, PathRequest::to(Cell::new(3, 1)));
    game.updates(3);
    game.edit(|map| *map = Map::new(5, 5).unwrap());
    game.updates(4);
    assert!(game.has_heard(Heard::Failed(outside, FailureReason::OutOfMap)));
    game.until("the other arrives", |game| game.has_heard(Heard::Arrived(inside, Reach::Goal)));
}

#[test]
fn a_bridge_blown_and_rebuilt_in_every_frame_hangs_nobody() {
    // All go to one corner; whether there is room is not the question here.
    let mut game = Game::with(WALL, PathfindingPlugin::default().without_avoidance());
    let units: Vec<Entity> = (0..5).map(|y| game.unit(0, y)).collect();
    for unit in &units {
        game.order(*unit, PathRequest::to(Cell::new(9, 0)).or_nearest());
    }
    for frame in 0..100 {
        let terrain = if frame % 2 == 0 { Terrain::WALL } else { Terrain::OPEN };
        game.edit(|map| assert!(map.fill(Area::new((6, 0), (6, 4)), terrain).unwrap() > 0));
        game.update();
    }
    game.until("all arrive", |game| units.iter().all(|unit| !game.has_request(*unit)));
}

#[test]
fn a_map_put_back_as_it_was_is_the_map_that_is_searched() {
    let mut game = Game::in_frame(WALL);
    let backup = game.nav().clone();
    game.edit(|map| assert_eq!(map.fill(Area::new((4, 0), (4, 4)), Terrain::WALL).unwrap(), 2));
    game.updates(2);
    let map = game.map;
    *game.world().get_mut::<NavMap>(map).unwrap() = backup;
    game.updates(2);
    assert!(game.nav().find_path(Cell::new(0, 0), Cell::new(9, 0)).is_ok());
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.updates(3);
    assert_eq!(game.heard(), [Heard::Found(unit, Reach::Goal)]);
}

#[test]
fn a_path_planned_again_stays_on_its_map() {
    // The older map lies over the right half of the younger; the goal is a cell of the younger.
    let mut game = Game::in_frame(".....\n.....\n.....");
    let older = game.map;
    game.world().get_mut::<Transform>(older).unwrap().translation.x = 10.0;
    let row = ".".repeat(20);
    let younger = game.world().spawn(NavMap::from_text(&[row.as_str(); 3].join("\n")).unwrap()).id();
    game.updates(2);
    let at = Transform::from_xyz(0.5, -1.5, 0.0);
    let unit = game.world().spawn((at, Agent { speed: 6.0, ..default() })).id();
    game.order(unit, PathRequest::to(Cell::new(19, 1)));
    game.until("it is over the older map", |game| game.position(unit).x > 11.0);
    assert_eq!(game.path(unit).map(), Some(younger));
    let mut nav = game.world().get_mut::<NavMap>(younger).unwrap();
    assert!(nav.map_mut().set((17, 1), Terrain::WALL).unwrap());
    game.update();
    assert!(game.has_heard(Heard::Invalidated(unit)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert!(game.position(unit).x > 19.0);
}

#[test]
fn a_map_that_drifts_takes_nobody_s_goal_away() {
    let mut game = Game::in_frame(WALL);
    let (unit, map) = (game.unit(0, 0), game.map);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.until("it arrives", |game| {
        game.world().get_mut::<Transform>(map).unwrap().translation.x += 0.002;
        game.has_heard(Heard::Arrived(unit, Reach::Goal))
    });
    assert_eq!(game.cell_of(unit), Cell::new(9, 0));
}

/// Whether a straight line passes within a hair of a corner of this cell, where two answers are right.
fn grazes(a: Vec2, b: Vec2, cell: Cell) -> bool {
    let steps = 2000_u16;
    (0..=steps).any(|i| {
        let at = a.lerp(b, f32::from(i) / f32::from(steps));
        let corner = at.round();
        let offset = corner.as_ivec2() - IVec2::new(cell.x, cell.y);
        offset.min_element() >= 0 && offset.max_element() <= 1 && at.distance(corner) < 0.02
    })
}

#[test]
fn exactly_those_are_planned_again_whose_way_is_blocked() {
    let mut random = Random(11);
    let (mut hit, mut missed) = (0, 0);
    for round in 0..30 {
        let map = scattered(64, round);
        let mut game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default())
            .tuned(|settings| settings.drive = Drive::InFrame);
        let mut units = Vec::new();
        for _ in 0..30 {
            let (from, to) = (random.cell(&map), random.cell(&map));
            let unit =
                game.unit_with(from.x, from.y, Agent { speed: 4.0, facing: Facing::Free, ..default() });
            game.order(unit, PathRequest::to(to).or_nearest());
            units.push(unit);
        }
        game.updates(30);
        game.take_heard();
        // On the way of one of them, somewhere.
        let victim = units[random.below(30) as usize];
        let from = game.position(victim).truncate();
        let to = game.path(victim).points().first().copied().unwrap_or(from);
        let wall = Cell::from(from.lerp(to, 0.7).floor().as_ivec2());
        let mut expected = Vec::new();
        let mut unclear = Vec::new();
        for unit in units.iter().copied() {
            let points = game.path(unit).points().to_vec();
            let mut from = game.position(unit).truncate();
            let mut crosses = false;
            for to in points {
                let steps = 4000_u16;
                crosses |= (0..=steps).any(|i| {
                    let at = from.lerp(to, f32::from(i) / f32::from(steps)).floor().as_ivec2();
                    Cell::from(at) == wall
                });
                if grazes(from, to, wall) {
                    unclear.push(unit);
                }
                from = to;
            }
            if crosses {
                expected.push(unit);
            }
        }
        game.edit(|map| assert!(map.set(wall, Terrain::WALL).unwrap()));
        game.update();
        let invalidated: Vec<Entity> = game
            .heard()
            .iter()
            .filter_map(|heard| match heard {
                Heard::Invalidated(unit) => Some(*unit),
                _ => None,
            })
            .collect();
        for unit in expected.iter().chain(&invalidated).filter(|unit| !unclear.contains(unit)) {
            assert_eq!(expected.contains(unit), invalidated.contains(unit), "{unit} and {wall}");
        }
        let is_clear = |unit: &&Entity| !unclear.contains(unit);
        hit += expected.iter().filter(is_clear).count();
        missed += units.iter().filter(is_clear).filter(|unit| !expected.contains(unit)).count();
    }
    assert!(hit >= 10 && missed > 100, "the maps prove nothing: {hit} hit, {missed} missed");
}

/// A gate that is shut for a moment does not end an order.
#[test]
fn a_way_that_is_opened_again_is_taken_by_those_who_went_to_the_nearest_point() {
    let goals: [fn() -> PathRequest; 3] = [
        || PathRequest::to(Cell::new(9, 0)),
        || PathRequest::to(Vec2::new(9.5, -0.5)),
        || PathRequest::to_nearest([Goal::from(Cell::new(9, 0)), Goal::from(Vec2::new(9.2, -0.4))]),
    ];
    for goal in goals {
        let mut game = Game::in_frame("..........");
        let unit = game.unit(0, 0);
        game.order(unit, goal().or_nearest());
        game.updates(5);
        game.edit(|map| {
            map.set((7, 0), Terrain::WALL).unwrap();
        });
        game.updates(5);
        assert!(game.has_heard(Heard::Found(unit, Reach::Nearest)), "{:?}", game.heard());
        // Something else changes: nothing is gained, nobody plans again.
        game.take_heard();
        game.edit(|map| {
            map.set((8, 0), Terrain::digit(2).unwrap()).unwrap();
        });
        game.updates(5);
        assert_eq!(game.heard(), []);
        game.edit(|map| {
            map.set((7, 0), Terrain::OPEN).unwrap();
        });
        game.until("it has arrived", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
        assert!(!game.has_heard(Heard::Arrived(unit, Reach::Nearest)));
    }
}
