//! Many plain requests to one place: answered together, each with a cheapest path of its own.

use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random, scattered};

const SIDE: u32 = 150;

/// Entities that ask for paths on a map full of rocks.
struct Host {
    game: Game,
    map: Map,
    random: Random,
    goal: Cell,
}

impl Host {
    fn new(tune: impl FnOnce(&mut PathfindingSettings)) -> Self {
        let map = scattered(SIDE, 5);
        let game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default()).tuned(|settings| {
            settings.surveys = false;
            tune(settings);
        });
        let goal = Snapshot::new(&map, &View::default()).nearest_open(Cell::new(140, 140)).unwrap();
        Self { game, map, random: Random(3), goal }
    }

    fn ask(&mut self, count: usize) -> Vec<(Entity, Cell)> {
        let from: Vec<Cell> = (0..count).map(|_| self.random.cell(&self.map)).collect();
        let goal = self.goal;
        let ask = |from: Cell| {
            let request = PathRequest::between(from, goal).shape(RouteShape::Corners);
            (self.game.world().spawn(request).id(), from)
        };
        from.into_iter().map(ask).collect()
    }

    fn until_answered(&mut self, count: usize) {
        self.game.until("all are answered", |game| game.heard().len() >= count);
    }

    /// What each must have heard, and what its path must cost.
    fn judge(&mut self, asked: &[(Entity, Cell)]) {
        let snapshot = self.game.nav().snapshot(ClassId::default()).unwrap();
        let mut scratch = Scratch::new();
        for (entity, from) in asked {
            match find_path(&snapshot, &PathQuery::new(*from, self.goal), &mut scratch) {
                Ok(Answer::Found(route)) => {
                    assert!(self.game.has_heard(Heard::Found(*entity, Reach::Goal)));
                    assert_eq!(self.game.path(*entity).cost(), route.cost(), "from {from}");
                }
                Ok(Answer::Unreachable { nearest }) => {
                    let reason = FailureReason::Unreachable { nearest: nearest.into() };
                    assert!(self.game.has_heard(Heard::Failed(*entity, reason)));
                }
                Err(_) => {
                    assert!(self.game.has_heard(Heard::Failed(*entity, FailureReason::StartBlocked)));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn nodes(&self) -> f64 {
        let store = self.game.app.world().resource::<DiagnosticsStore>();
        store.get(&PathfindingDiagnostics::NODES).into_iter().flat_map(|found| found.values()).sum()
    }
}

#[test]
fn a_crowd_with_one_goal_takes_one_field() {
    for drive in [Drive::Pool, Drive::InFrame] {
        let mut host = Host::new(|settings| settings.drive = drive);
        let asked = host.ask(5000);
        host.until_answered(5000);
        host.judge(&asked);
        let (snapshot, mut alone) = (host.game.nav().snapshot(ClassId::default()).unwrap(), 0);
        let mut scratch = Scratch::new();
        for (_, from) in &asked {
            if find_path(&snapshot, &PathQuery::new(*from, host.goal), &mut scratch).is_ok() {
                alone += scratch.effort().closed;
            }
        }
        let nodes = host.nodes();
        assert!(nodes > 0.0 && 5.0 * nodes < alone as f64, "{nodes} nodes together, {alone} one by one");
    }
}

#[test]
fn those_who_come_later_use_what_is_known_until_the_map_changes() {
    let mut host = Host::new(|_| {});
    let asked = host.ask(3000);
    host.until_answered(3000);
    host.judge(&asked);
    let (before, mut alone) = (host.nodes(), 0);
    for round in 0..20 {
        host.game.take_heard();
        if round % 5 == 4 {
            host.game.edit(|map| {
                map.fill(Area::new((0, 5 * round), (120, 5 * round)), Terrain::WALL).unwrap();
            });
            host.game.update();
            host.game.take_heard();
        }
        let late = host.ask(3);
        let is_answered = |game: &Game, entity: Entity| {
            let is_its = |heard: &Heard| match heard {
                Heard::Found(of, _) | Heard::Failed(of, _) => *of == entity,
                _ => false,
            };
            game.heard().iter().any(is_its)
        };
        host.game.until("they are answered", |game| late.iter().all(|(late, _)| is_answered(game, *late)));
        host.judge(&late);
        let snapshot = host.game.nav().snapshot(ClassId::default()).unwrap();
        for (_, from) in &late {
            let mut scratch = Scratch::new();
            if find_path(&snapshot, &PathQuery::new(*from, host.goal), &mut scratch).is_ok() {
                alone += scratch.effort().closed;
            }
        }
        if round == 3 {
            let nodes = host.nodes() - before;
            assert!(2.0 * nodes < alone as f64, "{nodes} nodes with the field, {alone} without");
        }
    }
}

#[test]
fn whoever_leaves_a_convoy_is_not_answered_and_whoever_is_ordered_elsewhere_goes_there() {
    // Slices so short that most are still waiting after some frames.
    let mut host = Host::new(|settings| {
        settings.drive = Drive::InFrame;
        settings.slice_nodes = 64;
        settings.frame_budget = std::time::Duration::ZERO;
    });
    let asked = host.ask(400);
    host.game.updates(3);
    let waiting: Vec<(Entity, Cell)> =
        asked.iter().copied().filter(|(entity, _)| host.game.path(*entity).is_waiting()).collect();
    assert!(waiting.len() > 200, "{}", waiting.len());
    let (gone, moved, elsewhere) = (waiting[50].0, waiting[60].0, waiting[70].0);
    host.game.world().despawn(gone);
    host.game.world().entity_mut(moved).remove::<PathRequest>();
    let request = PathRequest::between(host.goal, host.goal);
    host.game.world().entity_mut(elsewhere).insert(request);
    host.until_answered(398);
    host.game.updates(50);
    assert_eq!(host.game.heard().len(), 398);
    let rest: Vec<(Entity, Cell)> =
        asked.into_iter().filter(|(entity, _)| ![gone, moved, elsewhere].contains(entity)).collect();
    host.judge(&rest);
    assert_eq!(host.game.path(elsewhere).cost(), 0);
    assert!(host.game.path(moved).is_empty());
}

#[test]
fn all_leaving_a_convoy_end_it() {
    let mut host = Host::new(|settings| {
        settings.drive = Drive::InFrame;
        settings.slice_nodes = 64;
        settings.frame_budget = std::time::Duration::ZERO;
    });
    let asked = host.ask(400);
    host.game.updates(3);
    for (entity, _) in asked {
        host.game.world().entity_mut(entity).remove::<PathRequest>();
    }
    let heard = host.game.heard().len();
    host.game.updates(200);
    assert_eq!(host.game.heard().len(), heard);
    // The queue goes on as if nothing had been.
    host.game.take_heard();
    let asked = host.ask(40);
    host.until_answered(40);
    host.judge(&asked);
}

#[test]
fn in_lockstep_a_convoy_finds_the_same_paths_on_any_number_of_threads() {
    let ends = |workers: usize, slice_nodes: u32| {
        let mut host = Host::new(|settings| {
            settings.delivery = Delivery::Lockstep { ticks: 4 };
            settings.workers = Some(workers);
            settings.slice_nodes = slice_nodes;
        });
        let mut paths = Vec::new();
        for _ in 0..4 {
            let asked = host.ask(500);
            host.game.updates(6);
            paths.extend(asked.iter().map(|(entity, _)| host.game.path(*entity).points().to_vec()));
        }
        assert_eq!(host.game.heard().len(), 2000);
        paths
    };
    let alone = ends(1, 4096);
    assert_eq!(alone, ends(8, 50));
    assert_eq!(alone, ends(3, 1000));
}
