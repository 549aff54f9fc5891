//! One order for many: one search, a place for each, and who leaves the group when.

use std::collections::BTreeSet;

use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random, WALL, scattered};

#[derive(Resource, Default)]
struct Closed(Vec<GroupArrived>);

/// A group on a map.
pub(crate) struct Host {
    pub(crate) game: Game,
    pub(crate) units: Vec<Entity>,
}

impl Host {
    /// So many units in a block whose corner is at this cell, two a cell.
    pub(crate) fn new(mut game: Game, count: i32, (x, y): (i32, i32)) -> Self {
        game.app.init_resource::<Closed>();
        game.app.add_observer(|e: On<GroupArrived>, mut closed: ResMut<Closed>| closed.0.push(*e));
        let agent = Agent { speed: 6.0, radius: 0.3, ..default() };
        let units = (0..count).map(|i| game.unit_with(x + i % 5, y + i / 5, agent)).collect();
        Self { game, units }
    }

    pub(crate) fn open(side: u32, count: i32) -> Self {
        let map = NavMap::new(Map::new(side, side).unwrap());
        Self::new(Game::on(map, PathfindingPlugin::default()), count, (1, 1))
    }

    pub(crate) fn order(&mut self, order: GroupOrder) -> Entity {
        let order = order.units(self.units.iter().copied());
        self.game.world().spawn(order).id()
    }

    pub(crate) fn closed(&self) -> &[GroupArrived] {
        &self.game.app.world().resource::<Closed>().0
    }

    pub(crate) fn until_closed(&mut self) {
        self.game.until("the group has arrived", |game| !game.app.world().resource::<Closed>().0.is_empty());
    }

    pub(crate) fn flat(&self, unit: Entity) -> Vec2 {
        self.game.position(unit).truncate()
    }

    /// The least distance between any two.
    pub(crate) fn closest(&self) -> f32 {
        let at: Vec<Vec2> = self.units.iter().map(|unit| self.flat(*unit)).collect();
        let pairs = at.iter().enumerate().flat_map(|(i, a)| at[..i].iter().map(|b| a.distance(*b)));
        pairs.fold(f32::INFINITY, f32::min)
    }

    pub(crate) fn diagnostic(&self, path: &bevy::diagnostic::DiagnosticPath) -> f64 {
        let store = self.game.app.world().resource::<DiagnosticsStore>();
        store.get(path).into_iter().flat_map(|found| found.values()).sum()
    }
}

pub(crate) const FORMATIONS: [Formation; 5] =
    [Formation::Loose, Formation::Line, Formation::Wedge, Formation::Box, Formation::AsTheyStand];

#[test]
fn everybody_arrives_at_a_place_of_their_own() {
    for formation in FORMATIONS {
        let mut host = Host::open(40, 20);
        let goal = host.game.centre(28, 20);
        let order = host.order(GroupOrder::to(goal).formation(formation));
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 20, missing: 0 }], "{formation:?}");
        for unit in host.units.clone() {
            assert!(host.game.has_heard(Heard::Found(unit, Reach::Goal)), "{formation:?}");
            assert!(host.game.has_heard(Heard::Arrived(unit, Reach::Goal)));
            assert!(!host.game.has_request(unit) && host.game.app.world().get::<MemberOf>(unit).is_none());
            assert!(host.flat(unit).distance(goal.truncate()) < 9.0);
        }
        // Whoever had to make way for the last is back by then.
        host.game.updates(64);
        assert!(host.closest() > 0.599, "{formation:?} {}", host.closest());
        assert!(host.game.app.world().get_entity(order).is_err(), "nothing but the order was on it");
    }
}

#[test]
fn a_group_takes_one_search() {
    let map = scattered(120, 3);
    let mut random = Random(9);
    let game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default());
    let snapshot = Snapshot::new(&map, &View::default());
    let goal = snapshot.nearest_open(Cell::new(110, 110)).unwrap();
    let mut host = Host::new(game, 0, (0, 0));
    // What it would take to search for each alone.
    let (mut alone, mut scratch) = (0, Scratch::new());
    while host.units.len() < 100 {
        let cell = Cell::new(random.below(25).cast_signed(), random.below(25).cast_signed());
        if snapshot.reachable(cell, goal) {
            let query = PathQuery::new(cell, goal).gear(Gear::Cells);
            assert!(find_path(&snapshot, &query, &mut scratch).is_ok());
            alone += scratch.effort().closed;
            let unit = host.game.unit(cell.x, cell.y);
            host.units.push(unit);
        }
    }
    host.order(GroupOrder::to(goal));
    let units = host.units.clone();
    host.game.until("all have paths", |game| units.iter().all(|unit| !game.path(*unit).is_empty()));
    let nodes = host.diagnostic(&PathfindingDiagnostics::NODES);
    // Cells may be looked at more than once, but not once for each unit.
    assert!(
        nodes > 100.0 && 10.0 * nodes < alone as f64,
        "{nodes} nodes for a hundred units, {alone} one by one"
    );
    assert!(host.diagnostic(&PathfindingDiagnostics::FOUND) >= 100.0);
    let ends: BTreeSet<String> =
        units.iter().map(|unit| format!("{:?}", host.game.path(*unit).end())).collect();
    assert_eq!(ends.len(), 100, "a place for each");
}

#[test]
fn another_request_takes_a_unit_out_and_removing_it_stops_it() {
    for formation in [Formation::Loose, Formation::Wedge] {
        let mut host = Host::open(40, 8);
        let order = host.order(GroupOrder::to(Cell::new(30, 20)).formation(formation));
        host.game.updates(40);
        let (leaver, stopper) = (host.units[2], host.units[5]);
        let elsewhere = host.game.centre(2, 30);
        host.game.order(leaver, PathRequest::to(elsewhere));
        host.game.world().entity_mut(stopper).remove::<PathRequest>();
        host.game.updates(3);
        let stopped_at = host.game.position(stopper);
        assert!(host.game.app.world().get::<MemberOf>(leaver).is_none());
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 6, missing: 1 }], "{formation:?}");
        host.game.until("the other one is there", |game| game.has_heard(Heard::Arrived(leaver, Reach::Goal)));
        assert!(host.game.position(leaver).distance(elsewhere) < 0.01);
        assert!(host.game.position(stopper).distance(stopped_at) < 0.01);
    }
}

#[test]
fn removing_the_order_stops_all_and_a_new_one_replaces_it() {
    for formation in [Formation::Loose, Formation::Box] {
        let mut host = Host::open(40, 6);
        let order = host.order(GroupOrder::to(Cell::new(30, 20)).formation(formation));
        host.game.updates(40);
        host.game.world().despawn(order);
        host.game.updates(3);
        let at: Vec<Vec2> = host.units.iter().map(|unit| host.flat(*unit)).collect();
        host.game.updates(30);
        for (unit, before) in host.units.clone().into_iter().zip(at) {
            assert!(host.flat(unit).distance(before) < 1e-3 && !host.game.has_request(unit));
        }
        assert!(host.closed().is_empty());
        // Ordered again, twice; the last order counts.
        let first = host.order(GroupOrder::to(Cell::new(5, 30)).formation(formation));
        host.game.updates(20);
        let second = host.order(GroupOrder::to(Cell::new(30, 8)).formation(formation));
        host.game.until("both are closed", |game| game.app.world().resource::<Closed>().0.len() == 2);
        let expected = [
            GroupArrived { entity: first, arrived: 0, missing: 0 },
            GroupArrived { entity: second, arrived: 6, missing: 0 },
        ];
        assert_eq!(host.closed(), expected, "{formation:?}");
        let goal = host.game.centre(30, 8).truncate();
        assert!(host.units.iter().all(|unit| host.flat(*unit).distance(goal) < 4.0));
    }
}

#[test]
fn an_order_changed_in_place_leads_elsewhere() {
    let mut host = Host::open(40, 6);
    let units = host.units.clone();
    let squad = host
        .game
        .world()
        .spawn((Name::new("squad"), GroupOrder::to(Cell::new(30, 20)).units(units.clone())))
        .id();
    host.game.updates(40);
    // Without the first one.
    host.game.world().entity_mut(squad).insert(GroupOrder::to(Cell::new(8, 30)).units(units[1..].to_vec()));
    host.until_closed();
    assert_eq!(host.closed(), [GroupArrived { entity: squad, arrived: 5, missing: 0 }]);
    let goal = host.game.centre(8, 30).truncate();
    assert!(units[1..].iter().all(|unit| host.flat(*unit).distance(goal) < 3.0));
    assert!(host.flat(units[0]).distance(goal) > 3.0 && !host.game.has_request(units[0]));
    let squad = host.game.app.world().entity(squad);
    assert!(squad.contains::<Name>() && !squad.contains::<GroupOrder>(), "the squad is the game's own");
}

#[test]
fn the_way_is_planned_again_when_the_ground_changes() {
    for formation in [Formation::Loose, Formation::Box] {
        let mut map = Map::new(40, 30).unwrap();
        map.fill(Area::new((20, 0), (20, 29)), Terrain::WALL).unwrap();
        map.fill(Area::new((20, 5), (20, 7)), Terrain::OPEN).unwrap();
        map.fill(Area::new((20, 22), (20, 24)), Terrain::OPEN).unwrap();
        let mut host = Host::new(Game::on(NavMap::new(map), PathfindingPlugin::default()), 8, (3, 4));
        let order = host.order(GroupOrder::to(Cell::new(32, 8)).formation(formation));
        host.game.updates(60);
        host.game.edit(|map| {
            map.fill(Area::new((20, 5), (20, 7)), Terrain::WALL).unwrap();
        });
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 8, missing: 0 }], "{formation:?}");
        let goal = host.game.centre(32, 8).truncate();
        assert!(host.units.iter().all(|unit| host.flat(*unit).distance(goal) < 4.0));
    }
}

#[test]
fn those_who_cannot_get_there_say_so_and_the_others_go() {
    let text = "
        ....#....
        ....#....
        ....#....";
    let mut host = Host::new(Game::new(text), 0, (0, 0));
    host.units = [(0, 0), (1, 1), (7, 1)].map(|(x, y)| host.game.unit(x, y)).to_vec();
    let ghost = host.game.world().spawn_empty().id();
    let gone = host.game.world().spawn_empty().id();
    host.game.world().despawn(gone);
    host.units.extend([ghost, gone]);
    let order = host.order(GroupOrder::to(Cell::new(2, 2)));
    host.until_closed();
    assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 2, missing: 2 }]);
    let nearest = IVec2::new(5, 2);
    assert!(host.game.has_heard(Heard::Failed(host.units[2], FailureReason::Unreachable { nearest })));
    assert!(host.game.has_heard(Heard::Failed(ghost, FailureReason::NoPosition)));
    // As near as each of them can.
    host.units.truncate(3);
    host.order(GroupOrder::to(Cell::new(2, 0)).or_nearest());
    host.game.until("all are there", |game| game.app.world().resource::<Closed>().0.len() == 2);
    assert_eq!(host.closed()[1].arrived, 3);
    assert!(host.game.has_heard(Heard::Arrived(host.units[2], Reach::Nearest)));
    assert_eq!(host.game.cell_of(host.units[2]).x, 5);
    // For nobody, and for nowhere.
    host.units.clear();
    host.order(GroupOrder::to(Cell::new(2, 0)));
    host.game.updates(3);
    assert_eq!(host.closed()[2].arrived, 0);
}

#[test]
fn different_classes_go_together() {
    let mut map = Map::new(30, 30).unwrap();
    map.fill(Area::new((12, 0), (13, 25)), Terrain::WALL).unwrap();
    let nav = NavMap::new(map).with_class(ClassId(1), Class::flyer());
    for formation in [Formation::Loose, Formation::Line] {
        let mut host = Host::new(Game::on(nav.clone(), PathfindingPlugin::default()), 5, (2, 2));
        for i in 0..5 {
            let agent = Agent { class: ClassId(1), speed: 6.0, radius: 0.3, ..default() };
            let unit = host.game.unit_with(2 + i, 5, agent);
            host.units.push(unit);
        }
        host.order(GroupOrder::to(Cell::new(22, 5)).formation(formation));
        host.until_closed();
        assert_eq!((host.closed()[0].arrived, host.closed()[0].missing), (10, 0), "{formation:?}");
        // Whoever had to make way for the last is back by then.
        host.game.updates(128);
        assert!(formation != Formation::Loose || host.closest() > 0.6);
    }
}

#[test]
fn an_entity_that_moves_is_followed_by_all() {
    let mut host = Host::new(Game::new(WALL), 0, (0, 0));
    host.units = [(0, 0), (0, 2), (1, 4)].map(|(x, y)| host.game.unit(x, y)).to_vec();
    let flag = host.game.flag(9, 0);
    host.order(GroupOrder::to(flag));
    host.game.updates(20);
    let there = host.game.centre(8, 4);
    host.game.world().get_mut::<Transform>(flag).unwrap().translation = there;
    host.until_closed();
    assert_eq!(host.closed()[0].arrived, 3);
    assert!(host.units.iter().all(|unit| host.flat(*unit).distance(there.truncate()) < 2.0));
}

#[test]
fn a_map_that_disappears_ends_the_order() {
    for formation in [Formation::Loose, Formation::Line] {
        let mut host = Host::open(40, 6);
        let order = host.order(GroupOrder::to(Cell::new(30, 20)).formation(formation));
        host.game.updates(30);
        let map = host.game.map;
        host.game.world().despawn(map);
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 0, missing: 6 }]);
        for unit in host.units.clone() {
            assert!(host.game.has_heard(Heard::Failed(unit, FailureReason::Cancelled)), "{formation:?}");
        }
    }
}

#[test]
fn despawned_and_disabled_members_hold_nobody_up() {
    use bevy::ecs::entity_disabling::Disabled;
    for formation in [Formation::Loose, Formation::Box] {
        let mut host = Host::open(40, 9);
        let order = host.order(GroupOrder::to(Cell::new(30, 20)).formation(formation));
        host.game.updates(40);
        let (dead, asleep) = (host.units[1], host.units[4]);
        host.game.world().despawn(dead);
        host.game.world().entity_mut(asleep).insert(Disabled);
        let others: Vec<Entity> =
            host.units.iter().copied().filter(|unit| *unit != dead && *unit != asleep).collect();
        host.game.until("the others are there", |game| {
            others.iter().all(|unit| game.has_heard(Heard::Arrived(*unit, Reach::Goal)))
        });
        assert!(host.closed().is_empty(), "one is still to come");
        host.game.world().entity_mut(asleep).remove::<Disabled>();
        host.until_closed();
        assert_eq!(host.closed(), [GroupArrived { entity: order, arrived: 8, missing: 0 }], "{formation:?}");
    }
}

#[test]
fn without_following_everybody_gets_a_path() {
    let map = NavMap::new(Map::new(40, 40).unwrap());
    let game = Game::on(map, PathfindingPlugin::default().without_following());
    let mut host = Host::new(game, 10, (2, 2));
    host.order(GroupOrder::to(Cell::new(30, 20)).formation(Formation::Line));
    let units = host.units.clone();
    host.game.until("all have paths", |game| units.iter().all(|unit| !game.path(*unit).is_empty()));
    let before: Vec<Vec2> = units.iter().map(|unit| host.flat(*unit)).collect();
    host.game.updates(20);
    assert!(units.iter().zip(before).all(|(unit, before)| host.flat(*unit) == before));
}

#[test]
fn lockstep_is_the_same_for_any_number_of_workers() {
    let run = |workers: Option<usize>| {
        let lockstep = PathfindingSettings {
            delivery: Delivery::Lockstep { ticks: 3 },
            workers,
            drive: if workers.is_some() { Drive::Pool } else { Drive::InFrame },
            slice_nodes: if workers == Some(1) { 64 } else { 4096 },
            ..default()
        };
        let map = scattered(60, 5);
        let plugin = PathfindingPlugin::default().with_settings(lockstep);
        let mut host = Host::new(Game::on(NavMap::new(map.clone()), plugin), 0, (0, 0));
        let mut random = Random(4);
        for _ in 0..30 {
            let cell = random.cell(&map);
            let unit = host.game.unit(cell.x, cell.y);
            host.units.push(unit);
        }
        let mut trace = Vec::new();
        for round in 0..4 {
            let goal = random.cell(&map);
            let half = host.units.split_off(host.units.len() / 2);
            let formation = FORMATIONS[round % 5];
            host.order(GroupOrder::to(goal).formation(formation).or_nearest());
            host.game.world().spawn(GroupOrder::to(random.cell(&map)).units(half.clone()).or_nearest());
            host.units.extend(half);
            for tick in 0..120 {
                host.game.update();
                if tick == 50 {
                    let wall = random.cell(&map);
                    host.game.edit(|map| {
                        map.fill(Area::new(wall, wall + (4, 0)), Terrain::WALL).ok();
                    });
                }
                trace.extend(
                    host.units.iter().map(|unit| host.game.position(*unit).to_array().map(f32::to_bits)),
                );
            }
        }
        (trace, host.game.take_heard())
    };
    let (first, heard) = run(Some(1));
    assert!(heard.len() > 100);
    for workers in [Some(1), Some(3), None] {
        let (again, heard_again) = run(workers);
        assert_eq!(heard, heard_again, "{workers:?}");
        assert!(first == again, "{workers:?}");
    }
}

#[test]
fn a_group_ordered_in_every_frame_gets_there_nevertheless() {
    let mut host = Host::open(60, 30);
    let goal = host.game.centre(50, 50);
    let mut last = None;
    for _ in 0..200 {
        last = Some(host.order(GroupOrder::to(goal)));
        host.game.update();
    }
    let moved = host.units.iter().filter(|unit| host.flat(**unit).length() > 8.0).count();
    assert!(moved > 20, "{moved} of 30 are under way");
    host.game.until("all are there", |game| {
        game.app.world().resource::<Closed>().0.iter().any(|closed| Some(closed.entity) == last)
    });
    assert_eq!(host.closed().last().map(|closed| closed.arrived), Some(30));
    let groups = host.game.world().query::<&GroupOrder>().iter(host.game.app.world()).count();
    assert_eq!(groups, 0, "nothing piles up");
}
