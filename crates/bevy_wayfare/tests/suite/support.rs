//! An app without a window, driven step by step: time goes on by exactly one fixed step per update.

use std::thread::sleep;
use std::time::Duration;

use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy::tasks::{AsyncComputeTaskPool, TaskPoolBuilder};
use bevy::time::TimeUpdateStrategy;
use bevy_wayfare::prelude::*;

/// One fixed step, and one update.
pub(crate) const STEP: Duration = Duration::from_micros(15_625);

/// A small map with a wall that has a gap at the bottom.
pub(crate) const WALL: &str = "
    ..........
    ....#.....
    ....#.....
    ....#.....
    ..........";

/// What the game heard, in order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Heard {
    Found(Entity, Reach),
    Failed(Entity, FailureReason),
    Arrived(Entity, Reach),
    Invalidated(Entity),
}

impl Heard {
    pub(crate) fn unit(self) -> Entity {
        match self {
            Self::Found(unit, _)
            | Self::Failed(unit, _)
            | Self::Arrived(unit, _)
            | Self::Invalidated(unit) => unit,
        }
    }
}

#[derive(Resource, Default)]
struct Log(Vec<Heard>);

/// An app under test.
pub(crate) struct Game {
    pub(crate) app: App,
    pub(crate) map: Entity,
}

impl Game {
    /// The usual plugin on a map drawn as text, with unit cells.
    pub(crate) fn new(text: &str) -> Self {
        Self::with(text, PathfindingPlugin::default())
    }

    /// The plugin in the frame: deterministic, one update is enough for a short search.
    pub(crate) fn in_frame(text: &str) -> Self {
        let game = Self::new(text);
        game.tuned(|settings| settings.drive = Drive::InFrame)
    }

    pub(crate) fn with(text: &str, plugin: PathfindingPlugin) -> Self {
        Self::on(NavMap::from_text(text).unwrap(), plugin)
    }

    pub(crate) fn on(map: NavMap, plugin: PathfindingPlugin) -> Self {
        // Several threads even on a small machine: the pool is made once per process.
        AsyncComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(3).build());
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, plugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(STEP))
            .init_resource::<Log>()
            .add_observer(|e: On<PathFound>, mut log: ResMut<Log>| {
                log.0.push(Heard::Found(e.entity, e.reach));
            })
            .add_observer(|e: On<PathFailed>, mut log: ResMut<Log>| {
                log.0.push(Heard::Failed(e.entity, e.reason));
            })
            .add_observer(|e: On<Arrived>, mut log: ResMut<Log>| {
                log.0.push(Heard::Arrived(e.entity, e.reach));
            })
            .add_observer(|e: On<PathInvalidated>, mut log: ResMut<Log>| {
                log.0.push(Heard::Invalidated(e.entity));
            });
        let map = app.world_mut().spawn(map).id();
        let mut game = Self { app, map };
        // The first update only starts the clock.
        game.updates(2);
        game
    }

    pub(crate) fn tuned(mut self, tune: impl FnOnce(&mut PathfindingSettings)) -> Self {
        tune(&mut self.app.world_mut().resource_mut::<PathfindingSettings>());
        self
    }

    /// From now on an update takes this long.
    pub(crate) fn set_frame(&mut self, frame: Duration) {
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    }

    /// A game that moves bodies itself, exactly as it is told.
    pub(crate) fn following_blindly(mut self) -> Self {
        let obey = |mut bodies: Query<(&mut Transform, &SafeVelocity)>, time: Res<Time>| {
            for (mut transform, safe) in &mut bodies {
                transform.translation += safe.0 * time.delta_secs();
            }
        };
        self.app.add_systems(PostUpdate, obey.after(PathfindingSystems::Move));
        self
    }

    pub(crate) fn update(&mut self) {
        self.app.update();
    }

    pub(crate) fn updates(&mut self, count: usize) {
        for _ in 0..count {
            self.update();
        }
    }

    /// Updates until something holds. Workers need real time, so it waits a little now and then.
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) -> usize {
        for count in 0..20_000 {
            if holds(self) {
                return count;
            }
            self.update();
            if count % 4 == 3 {
                sleep(Duration::from_micros(500));
            }
        }
        panic!("waited in vain until {what}; heard {:?}", self.heard());
    }

    pub(crate) fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// The centre of a cell.
    pub(crate) fn centre(&self, x: i32, y: i32) -> Vec3 {
        self.nav().centre((x, y)).unwrap()
    }

    pub(crate) fn nav(&self) -> &NavMap {
        self.app.world().get(self.map).unwrap()
    }

    pub(crate) fn cell_of(&self, unit: Entity) -> Cell {
        self.nav().cell_at(self.position(unit)).unwrap()
    }

    pub(crate) fn terrain_under(&self, unit: Entity) -> Terrain {
        self.nav().map().terrain(self.cell_of(unit))
    }

    /// A unit in the middle of a cell, with six cells a second.
    pub(crate) fn unit(&mut self, x: i32, y: i32) -> Entity {
        self.unit_with(x, y, Agent { speed: 6.0, ..default() })
    }

    pub(crate) fn unit_with(&mut self, x: i32, y: i32, agent: Agent) -> Entity {
        let transform = Transform::from_translation(self.centre(x, y));
        self.world().spawn((transform, agent)).id()
    }

    /// Something that only is somewhere.
    pub(crate) fn flag(&mut self, x: i32, y: i32) -> Entity {
        let transform = Transform::from_translation(self.centre(x, y));
        self.world().spawn(transform).id()
    }

    pub(crate) fn order(&mut self, unit: Entity, request: PathRequest) {
        self.world().entity_mut(unit).insert(request);
    }

    pub(crate) fn position(&self, unit: Entity) -> Vec3 {
        self.app.world().get::<Transform>(unit).unwrap().translation
    }

    pub(crate) fn path(&self, unit: Entity) -> &Path {
        self.app.world().get(unit).unwrap()
    }

    pub(crate) fn has_request(&self, unit: Entity) -> bool {
        self.app.world().get::<PathRequest>(unit).is_some()
    }

    /// The map as units of class 0 see it, obstacles and all.
    pub(crate) fn seen(&self) -> String {
        let snapshot = self.nav().snapshot(ClassId(0)).unwrap();
        snapshot.map().to_text(|_| None)
    }

    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut Map)) {
        let map = self.map;
        edit(self.world().get_mut::<NavMap>(map).unwrap().map_mut());
    }

    pub(crate) fn heard(&self) -> &[Heard] {
        &self.app.world().resource::<Log>().0
    }

    /// What was heard, and forgets it.
    pub(crate) fn take_heard(&mut self) -> Vec<Heard> {
        core::mem::take(&mut self.world().resource_mut::<Log>().0)
    }

    pub(crate) fn has_heard(&self, heard: Heard) -> bool {
        self.heard().contains(&heard)
    }

    /// Runs a system as a game would.
    pub(crate) fn run<M, S: IntoSystem<(), (), M> + 'static>(&mut self, system: S) {
        self.world().run_system_once(system).unwrap();
    }
}

/// A linear congruential generator (Knuth's MMIX): the same numbers on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(limit)).unwrap()
    }

    pub(crate) fn cell(&mut self, map: &Map) -> Cell {
        loop {
            let cell =
                Cell::new(self.below(map.width()).cast_signed(), self.below(map.height()).cast_signed());
            if map.terrain(cell) != Terrain::WALL {
                return cell;
            }
        }
    }
}

/// An open map with scattered walls.
pub(crate) fn scattered(side: u32, seed: u64) -> Map {
    let mut map = Map::new(side, side).unwrap();
    let mut random = Random(seed);
    for _ in 0..side * side / 5 {
        let cell = random.cell(&map);
        map.set(cell, Terrain::WALL).unwrap();
    }
    map
}
