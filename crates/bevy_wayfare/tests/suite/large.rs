//! Units that do not fit into a cell: they are led where they have room, and their bodies never enter a wall.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::group::Host;
use crate::support::{Game, Heard, Random};

/// A wall with gaps of two cells and of one on top, and one of three at the bottom.
const GAPS: &str = "
    ....................
    ....................
    ..........#.........
    ....................
    ..........#.........
    ..........#.........
    ..........#.........
    ..........#.........
    ..........#.........
    ..........#.........
    ....................
    ....................
    ....................
    ..........#.........
    ..........#.........";

const TANK: Agent = Agent { radius: 0.9, speed: 6.0, ..small() };

const fn small() -> Agent {
    Agent {
        radius: 0.4,
        speed: 6.0,
        turn_rate: f32::INFINITY,
        arrival_radius: 0.0,
        class: ClassId(0),
        facing: Facing::Turns,
    }
}

impl Game {
    /// How far a disc at the place of a unit reaches into something blocked, or beyond the map.
    fn depth(&self, unit: Entity) -> f32 {
        let (nav, at) = (self.nav(), self.position(unit).truncate());
        let radius = self.app.world().get::<Agent>(unit).unwrap().radius;
        let (snapshot, layout) = (nav.snapshot(ClassId(0)).unwrap(), nav.layout().unwrap());
        let middle = layout.cell_at(at).unwrap();
        let cells = Area::new((middle.x - 3, middle.y - 3), (middle.x + 3, middle.y + 3)).cells();
        let gap = |cell: Cell| {
            let corners: Vec<Vec2> = layout.corners(cell).collect();
            let low = corners.iter().copied().reduce(Vec2::min).unwrap();
            let high = corners.iter().copied().reduce(Vec2::max).unwrap();
            at.distance(at.clamp(low, high))
        };
        let walls = cells.filter(|cell| !snapshot.is_open(*cell));
        (radius - walls.map(gap).fold(f32::INFINITY, f32::min)).max(0.0)
    }

    /// Updates until something holds, and looks at a body all the while.
    fn keeps_clear(&mut self, unit: Entity, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let radius = self.app.world().get::<Agent>(unit).unwrap().radius;
        self.until(what, |game| {
            assert!(game.depth(unit) < 0.01 * radius, "{} at {}", game.depth(unit), game.position(unit));
            holds(game)
        });
    }
}

#[test]
fn a_tank_goes_round_where_others_go_through() {
    let mut game = Game::in_frame(GAPS);
    let (tank, scout) = (game.unit_with(3, 3, TANK), game.unit_with(3, 7, small()));
    for unit in [tank, scout] {
        game.order(unit, PathRequest::to(Cell::new(17, 3)));
    }
    game.updates(3);
    let lowest = |game: &Game, unit| game.path(unit).points().iter().map(|at| at.y).fold(0.0, f32::min);
    assert!(lowest(&game, scout) > -8.0 && lowest(&game, tank) < -10.0, "rows go down");
    game.keeps_clear(tank, "the tank is there", |game| game.has_heard(Heard::Arrived(tank, Reach::Goal)));
    game.until("the scout is there", |game| game.has_heard(Heard::Arrived(scout, Reach::Goal)));
}

#[test]
fn where_it_has_no_room_it_cannot_go_and_says_how_near_it_gets() {
    let mut game = Game::in_frame(GAPS);
    // One pillar leaves two gaps of one cell.
    game.edit(|map| assert!(map.set((10, 11), Terrain::WALL).unwrap()));
    let tank = game.unit_with(3, 7, TANK);
    game.order(tank, PathRequest::to(Cell::new(17, 7)));
    game.updates(3);
    let nearest = IVec2::new(8, 7);
    assert_eq!(game.take_heard(), [Heard::Failed(tank, FailureReason::Unreachable { nearest })]);
    game.order(tank, PathRequest::to(Cell::new(17, 7)).or_nearest());
    game.keeps_clear(tank, "it is there", |game| game.has_heard(Heard::Arrived(tank, Reach::Nearest)));
    assert_eq!(game.cell_of(tank), Cell::new(8, 7));
}

#[test]
fn sent_close_to_a_wall_it_stops_where_its_body_fits() {
    let mut game = Game::in_frame(GAPS);
    let tank = game.unit_with(3, 7, TANK);
    for (goal, end) in [((9, 6), (8, 6)), ((0, 0), (1, 1))] {
        game.take_heard();
        game.order(tank, PathRequest::to(Cell::new(goal.0, goal.1)));
        game.keeps_clear(tank, "it is there", |game| game.has_heard(Heard::Arrived(tank, Reach::Goal)));
        assert_eq!(game.cell_of(tank), Cell::new(end.0, end.1));
    }
}

#[test]
fn one_that_stands_too_close_to_walls_gets_going() {
    let mut game = Game::in_frame(GAPS);
    // Its body is clear; a unit at the centre of that cell would not be.
    let tank = game.unit_with(8, 6, TANK);
    game.world().get_mut::<Transform>(tank).unwrap().translation.x = 9.05;
    game.updates(20);
    game.order(tank, PathRequest::to(Cell::new(17, 3)));
    game.keeps_clear(tank, "it is there", |game| game.has_heard(Heard::Arrived(tank, Reach::Goal)));
    // In the middle of a lane that is far too narrow, nothing helps.
    let mut game = Game::in_frame("#########\n#.......#\n#########\n.........\n.........\n.........");
    let tank = game.unit_with(4, 1, TANK);
    game.order(tank, PathRequest::to(Cell::new(4, 4)));
    game.updates(3);
    assert_eq!(game.heard(), [Heard::Failed(tank, FailureReason::StartBlocked)]);
}

#[test]
fn a_tank_plans_again_when_its_way_gets_too_narrow_or_it_grows() {
    let mut game = Game::in_frame(GAPS);
    let scout = game.unit_with(3, 3, small());
    game.order(scout, PathRequest::to(Cell::new(17, 3)));
    game.updates(40);
    game.world().get_mut::<Agent>(scout).unwrap().radius = TANK.radius;
    game.updates(3);
    assert!(game.path(scout).points().iter().any(|at| at.y < -10.0), "it does not fit through any more");
    game.keeps_clear(scout, "it is there", |game| game.has_heard(Heard::Arrived(scout, Reach::Goal)));
    game.take_heard();
    game.order(scout, PathRequest::to(Cell::new(3, 3)));
    game.updates(10);
    game.edit(|map| assert!(map.set((10, 11), Terrain::WALL).unwrap()));
    game.updates(3);
    let reason = FailureReason::Unreachable { nearest: IVec2::new(12, 3) };
    assert_eq!(game.take_heard().last(), Some(&Heard::Failed(scout, reason)));
    // And a door for it elsewhere.
    game.edit(|map| assert_eq!(map.fill(Area::new((10, 0), (10, 4)), Terrain::OPEN).unwrap(), 2));
    game.order(scout, PathRequest::to(Cell::new(3, 3)));
    game.keeps_clear(scout, "it is there", |game| game.has_heard(Heard::Arrived(scout, Reach::Goal)));
}

#[test]
fn sizes_are_those_of_the_world() {
    for (scale, fits) in [(1.0, false), (3.0, true)] {
        let map = NavMap::from_text(GAPS).unwrap().with_cell_size(scale);
        let mut game = Game::on(map, PathfindingPlugin::default()).tuned(|it| it.drive = Drive::InFrame);
        let tank = game.unit_with(3, 3, TANK);
        game.order(tank, PathRequest::to(Cell::new(17, 3)));
        game.updates(3);
        let lowest = game.path(tank).points().iter().map(|at| at.y / scale).fold(0.0, f32::min);
        assert_eq!(lowest > -8.0, fits, "{lowest}");
        let class = ClassId(0);
        let snapshot = game.nav().snapshot_for(class, TANK.radius).unwrap();
        assert_eq!(snapshot.is_open(Cell::new(10, 3)), fits);
    }
}

#[test]
fn in_a_group_each_goes_where_it_has_room() {
    let mut host = Host::new(Game::new(GAPS), 8, (1, 6));
    for tank in [host.units[0], host.units[5]] {
        host.game.world().get_mut::<Agent>(tank).unwrap().radius = TANK.radius;
    }
    let order = host.order(GroupOrder::to(Cell::new(16, 7)));
    let tanks = [host.units[0], host.units[5]];
    host.game.until("it is over", |game| {
        for tank in tanks.into_iter().filter(|tank| game.position(*tank).x > 4.0) {
            assert!(game.depth(tank) < 0.02, "{} at {}", game.depth(tank), game.position(tank));
        }
        tanks.iter().all(|tank| !game.has_request(*tank))
    });
    host.until_closed();
    assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 8, missing: 0 }]);
}

#[test]
fn large_ones_get_wherever_they_are_led() {
    let (mut random, mut trips) = (Random(11), 0);
    for round in 0..40 {
        let radius = [0.6, 0.74, 0.9, 1.2, 1.45, 1.9][round % 6];
        let mut map = Map::new(40, 40).unwrap();
        for _ in 0..45 {
            let cell = random.cell(&map);
            map.set(cell, Terrain::WALL).unwrap();
        }
        let (start, goal) = (random.cell(&map), random.cell(&map));
        let mut game = Game::on(NavMap::new(map), PathfindingPlugin::default());
        game = game.tuned(|settings| settings.drive = Drive::InFrame);
        let snapshot = game.nav().snapshot_for(ClassId(0), radius).unwrap();
        if !snapshot.is_open(start) || !snapshot.reachable(start, goal) {
            continue;
        }
        trips += 1;
        let unit = game.unit_with(start.x, start.y, Agent { radius, ..TANK });
        game.order(unit, PathRequest::to(goal));
        let mut steps = 0;
        game.keeps_clear(unit, "it is there", |game| {
            steps += 1;
            assert!(steps < 64 * 40, "round {round}: stuck at {} with {radius}", game.position(unit));
            game.has_heard(Heard::Arrived(unit, Reach::Goal))
        });
    }
    assert!(trips > 12, "{trips}");
}
