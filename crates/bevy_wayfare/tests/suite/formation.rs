//! Formations of a group: kept on the way, through doors and mazes, at one speed, whoever moves the bodies.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::group::{FORMATIONS, Host};
use crate::support::Game;

#[test]
fn a_formation_is_kept_on_the_way() {
    let map = NavMap::new(Map::new(80, 30).unwrap());
    let mut host = Host::new(Game::on(map, PathfindingPlugin::default()), 8, (1, 12));
    // The slow one in the middle must not be left behind.
    let slow = host.units[4];
    host.game.world().get_mut::<Agent>(slow).unwrap().speed = 4.0;
    let goal = host.game.centre(70, 14);
    host.order(GroupOrder::to(goal).formation(Formation::Line));
    let mut looked = 0;
    while host.closed().is_empty() {
        host.game.update();
        let at: Vec<Vec2> = host.units.iter().map(|unit| host.flat(*unit)).collect();
        let middle = at.iter().sum::<Vec2>() / 8.0;
        if (20.0..60.0).contains(&middle.x) {
            looked += 1;
            let ahead = at.iter().map(|at| (at.x - middle.x).abs()).fold(0.0, f32::max);
            assert!(ahead < 0.5, "a line across the way: {at:?}");
            assert!(host.closest() > 0.5, "{at:?}");
        }
    }
    assert!(looked > 500, "{looked}");
    assert_eq!(host.closed()[0].arrived, 8);
}

#[test]
fn a_formation_passes_a_door_and_all_arrive() {
    let mut map = Map::new(60, 21).unwrap();
    map.fill(Area::new((25, 0), (28, 20)), Terrain::WALL).unwrap();
    map.fill(Area::new((25, 10), (28, 10)), Terrain::OPEN).unwrap();
    for formation in FORMATIONS {
        let game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default());
        let mut host = Host::new(game, 10, (3, 9));
        let order = host.order(GroupOrder::to(Cell::new(50, 10)).formation(formation));
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 10, missing: 0 }], "{formation:?}");
    }
}

#[test]
fn common_speed_is_that_of_the_slowest() {
    // However late answers are; who leaves the others goes where none of them is in the way.
    for ticks in [1, 8, 14, 20] {
        let mut host = Host::open(60, 4);
        host.game.world().resource_mut::<PathfindingSettings>().delivery = Delivery::Lockstep { ticks };
        let slow = host.units[3];
        host.game.world().get_mut::<Agent>(slow).unwrap().speed = 1.5;
        host.order(GroupOrder::to(Cell::new(40, 2)).common_speed());
        host.game.updates(64 * 4);
        for unit in &host.units {
            let gone = host.flat(*unit).x;
            assert!((5.0..13.0).contains(&gone), "{gone}");
        }
        let fast = host.units[0];
        host.game.order(fast, PathRequest::to(Cell::new(6, 40)));
        host.game.update();
        host.game.until("it has its own way", |game| {
            game.app.world().get::<Path>(fast).is_some_and(|path| !path.is_waiting())
        });
        let before = host.flat(fast);
        host.game.updates(64);
        let gone = host.flat(fast).distance(before);
        assert!(gone > 4.0, "on its own it is fast again: {gone}");
    }
}

#[test]
fn formations_get_through_a_maze() {
    let text = "
        ....................
        ....................
        .....##########.....
        .....#........#.....
        .....#........#.....
        .....#...##...#.....
        .....#...##...#.....
        .........##.........
        .........##.........
        .....#...##...#.....
        .....#........#.....
        .....##########.....
        ....................
        ....................";
    for formation in FORMATIONS {
        let mut host = Host::new(Game::new(text), 10, (0, 0));
        let order = host.order(GroupOrder::to(Cell::new(12, 7)).formation(formation));
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 10, missing: 0 }], "{formation:?}");
    }
}

#[test]
fn a_game_that_moves_bodies_itself_moves_groups_too() {
    for formation in [Formation::Loose, Formation::Wedge] {
        let map = NavMap::new(Map::new(40, 40).unwrap());
        let plugin = PathfindingPlugin::default().without_moving().in_schedule(Update);
        let agent = Agent { speed: 6.0, radius: 0.3, arrival_radius: 0.2, ..default() };
        let mut host = Host::new(Game::on(map, plugin).following_blindly(), 0, (0, 0));
        host.units = (0..7).map(|i| host.game.unit_with(2 + i, 3, agent)).collect();
        let order = host.order(GroupOrder::to(Cell::new(30, 20)).formation(formation));
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 7, missing: 0 }], "{formation:?}");
    }
}

#[test]
fn a_march_stands_still_while_no_time_passes() {
    let map = NavMap::new(Map::new(40, 40).unwrap());
    let plugin = PathfindingPlugin::default().in_schedule(Update);
    for turn_rate in [f32::INFINITY, f32::NAN, 4.0] {
        let agent = Agent { speed: 6.0, radius: 0.3, turn_rate, ..default() };
        let mut host = Host::new(Game::on(map.clone(), plugin.clone()), 0, (0, 0));
        host.units = (0..6).map(|i| host.game.unit_with(2 + i, 6, agent)).collect();
        host.order(GroupOrder::to(Cell::new(30, 20)).formation(Formation::Line));
        host.game.updates(40);
        host.game.set_frame(core::time::Duration::ZERO);
        host.game.updates(2);
        let before: Vec<Vec2> = host.units.iter().map(|unit| host.flat(*unit)).collect();
        host.game.updates(5);
        assert!(host.units.iter().zip(before).all(|(unit, before)| host.flat(*unit) == before));
    }
}
