//! Many plain requests to one place, or to the nearest of the same places: answered together, each with a cheapest path of its
//! own.

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
    goals: Vec<Cell>,
}

impl Host {
    /// All go to one place.
    fn new(tune: impl FnOnce(&mut PathfindingSettings)) -> Self {
        Self::with_goals(1, tune)
    }

    /// All go to the nearest of so many places.
    fn with_goals(count: usize, tune: impl FnOnce(&mut PathfindingSettings)) -> Self {
        let map = scattered(SIDE, 5);
        let game = Game::on(NavMap::new(map.clone()), PathfindingPlugin::default()).tuned(|settings| {
            settings.surveys = false;
            // Whoever asks from inside a wall stays there.
            settings.escape_cells = 0;
            tune(settings);
        });
        let corner = Snapshot::new(&map, &View::default()).nearest_open(Cell::new(140, 140)).unwrap();
        let mut random = Random(11);
        let goals = std::iter::once(corner).chain((1..count).map(|_| random.cell(&map))).collect();
        Self { game, map, random: Random(3), goals }
    }

    fn ask(&mut self, count: usize) -> Vec<(Entity, Cell)> {
        (0..count)
            .map(|number| {
                let from = self.random.cell(&self.map);
                let at = Transform::from_translation(self.game.centre(from.x, from.y));
                let request = match self.goals[..] {
                    [goal] => PathRequest::between(from, goal),
                    // The order in which they are named does not matter.
                    _ => {
                        let first = number % self.goals.len();
                        PathRequest::to_nearest([&self.goals[first..], &self.goals[..first]].concat())
                    }
                };
                (self.game.world().spawn((at, request.shape(RouteShape::Corners))).id(), from)
            })
            .collect()
    }

    /// A search of its own, and what it takes.
    fn alone(&self, from: Cell) -> (Result<Answer, QueryError>, u64) {
        let snapshot = self.game.nav().snapshot(ClassId::default()).unwrap();
        let mut scratch = Scratch::new();
        let query = PathQuery::new(from, from);
        let answer = find_path_to_nearest(&snapshot, &query, &self.goals, &mut scratch);
        let nodes = if answer.is_ok() { scratch.effort().closed } else { 0 };
        (answer, nodes)
    }

    fn until_answered(&mut self, count: usize) {
        self.game.until("all are answered", |game| game.heard().len() >= count);
    }

    /// What each must have heard, and what its path must cost.
    fn judge(&mut self, asked: &[(Entity, Cell)]) {
        for (entity, from) in asked {
            match self.alone(*from).0 {
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
fn a_crowd_with_the_same_goals_takes_one_field() {
    for (drive, goals) in [(Drive::Pool, 1), (Drive::InFrame, 1), (Drive::Pool, 8), (Drive::InFrame, 8)] {
        let mut host = Host::with_goals(goals, |settings| settings.drive = drive);
        let asked = host.ask(5000);
        host.until_answered(5000);
        host.judge(&asked);
        let alone: u64 = asked.iter().map(|(_, from)| host.alone(*from).1).sum();
        let nodes = host.nodes();
        assert!(
            nodes > 0.0 && 5.0 * nodes < alone as f64,
            "{goals} goals: {nodes} nodes together, {alone} one by one"
        );
    }
}

#[test]
fn those_who_come_later_use_what_is_known_until_the_map_changes() {
    for goals in [1, 8] {
        let mut host = Host::with_goals(goals, |_| {});
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
            host.game
                .until("they are answered", |game| late.iter().all(|(late, _)| is_answered(game, *late)));
            host.judge(&late);
            alone += late.iter().map(|(_, from)| host.alone(*from).1).sum::<u64>();
            if round == 3 {
                let nodes = host.nodes() - before;
                assert!(
                    2.0 * nodes < alone as f64,
                    "{goals} goals: {nodes} nodes with the field, {alone} without"
                );
            }
        }
    }
}

#[test]
fn each_goes_to_the_nearest_of_its_own_goals_be_they_cells_points_or_entities() {
    let mut host = Host::with_goals(3, |_| {});
    let [cell, point, flagged] = host.goals[..] else { unreachable!() };
    let flag = host.game.flag(flagged.x, flagged.y);
    let point_at = host.game.centre(point.x, point.y).truncate();
    let lost = host.game.world().spawn_empty().id();
    let mixed = [Goal::from(cell), Goal::from(point_at), Goal::from(flag), Goal::from(lost)];
    let fewer = [Goal::from(cell), Goal::from(point_at)];
    for _ in 0..3 {
        host.game.take_heard();
        // In one run: to all of them, to some of them, and to one.
        let from: Vec<Cell> = (0..600).map(|_| host.random.cell(&host.map)).collect();
        let asked: Vec<Entity> = (0..600)
            .map(|number| {
                let at = host.game.centre(from[number].x, from[number].y);
                let request = match number % 3 {
                    0 => PathRequest::to_nearest(mixed),
                    1 => PathRequest::to_nearest(fewer),
                    _ => PathRequest::to(flag),
                };
                let request = request.shape(RouteShape::Corners);
                host.game.world().spawn((Transform::from_translation(at), request)).id()
            })
            .collect();
        host.until_answered(600);
        let all = [cell, point, host.game.cell_of(flag)];
        for (number, entity) in asked.iter().enumerate() {
            host.goals = [&all[..], &all[..2], &all[2..]][number % 3].to_vec();
            host.judge(&[(*entity, from[number])]);
        }
        // The entity goes somewhere else, and those who are sent next go there.
        asked.into_iter().for_each(|entity| assert!(host.game.world().despawn(entity)));
        let to = host.random.cell(&host.map);
        let to = host.game.centre(to.x, to.y);
        host.game.world().get_mut::<Transform>(flag).unwrap().translation = to;
        host.game.updates(2);
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
    let request = PathRequest::between(host.goals[0], host.goals[0]);
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
    for goals in [1, 8] {
        let ends = |workers: usize, slice_nodes: u32| {
            let mut host = Host::with_goals(goals, |settings| {
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
}
