//! From wanted to safe velocities: units keep clear of each other and of walls, by the core's [`Crowd`].
//!
//! Comes in: [`WantedVelocity`], who the units are and where. Goes out: [`SafeVelocity`], and the step it stands for. Units of
//! one map form one crowd. What a step advises, such as to plan around somebody, is carried out right after it.

use std::collections::VecDeque;

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::query::QueryData;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use bevy::tasks::ComputeTaskPool;
use wayfare::avoid::{
    Advice, Body, Course, Crowd, CrowdSettings, Disc, Layers, Memory, OneThread, RoadSide, Spread, Stance,
};
use wayfare::follow::{Footing, remaining};

use crate::agent::{Agent, OnMap};
use crate::diagnostics::Tally;
use crate::errand::Errand;
use crate::motion::{Motion, SafeVelocity, Stage, Walkers, WantedVelocity, Whereabouts};
use crate::path::Path;
use crate::plane::Plane;
use crate::plugin::Moving;
use crate::scene::{Place, Scene};
use crate::settings::{KeepTo, PathfindingSettings};
use crate::wake::{Rest, Vacancy, stays};

/// How a unit gets on with others. Comes with [`Agent`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// const AIR: u32 = 1;
///
/// fn spawn(mut commands: Commands) {
///     // Others make way for the general.
///     commands.spawn((Agent::default(), Avoidance { priority: 10, ..default() }));
///     // Nobody moves a tower.
///     commands.spawn((Agent::default(), Avoidance::LOCKED));
///     // Flyers avoid flyers.
///     commands.spawn((Agent::default(), Avoidance::on_layer(AIR)));
/// }
/// ```
#[derive(Component, Reflect, Clone, Copy, PartialEq, Eq, Debug)]
#[reflect(Component, Default, Clone, PartialEq, Debug)]
pub struct Avoidance {
    /// The unit's name among all others: ties are broken by it, so the same names make the same game. `None`, the default,
    /// stands for the order in which units were spawned.
    pub id: Option<u64>,
    /// Of two units that meet, the one of lower priority gives way.
    pub priority: i8,
    /// Whether it stays where it is, whoever comes. It can still walk.
    pub locked: bool,
    /// The layers it is on, as bits.
    pub layers: u32,
    /// The layers whose units it avoids, as bits.
    pub avoids: u32,
}

impl Avoidance {
    /// Never pushed while it stands.
    pub const LOCKED: Self = Self { locked: true, ..Self::NEW };

    /// Neither avoids anybody nor is avoided.
    pub const NONE: Self = Self { layers: 0, avoids: 0, ..Self::NEW };

    const NEW: Self = Self { id: None, priority: 0, locked: false, layers: 1, avoids: 1 };

    /// On one layer, by its number below 32, and avoiding those on it only. Ordinary units are on layer 0.
    pub const fn on_layer(layer: u32) -> Self {
        let Layers { on, avoids } = Layers::only(layer);
        Self { layers: on, avoids, ..Self::NEW }
    }

    const fn layers(&self) -> Layers {
        Layers { on: self.layers, avoids: self.avoids }
    }
}

impl Default for Avoidance {
    fn default() -> Self {
        Self::NEW
    }
}

/// What avoidance remembers of a unit.
#[derive(Component, Clone, Copy, Default, Debug)]
#[component(on_add = number)]
pub(crate) struct Steering {
    /// The order in which it was spawned; 0 if nobody has counted yet.
    number: u64,
    pub(crate) memory: Memory,
    /// Who was in its way when it last looked.
    pub(crate) blocker: Option<Entity>,
    /// The map it stands on, and where it was when that was looked up.
    map: Option<Entity>,
    looked_at: Vec3,
    /// Where it was in the last step that it took part in.
    pub(crate) stood_at: Vec3,
    /// Whether that step moved it, or may have the next one do so.
    stirs: bool,
    /// Its crowd and its number there, in the last step.
    pub(crate) place: (u32, u32),
}

fn number(mut world: DeferredWorld, context: HookContext) {
    let Some(mut crowds) = world.get_resource_mut::<Crowds>() else { return };
    crowds.spawned += 1;
    let number = crowds.spawned;
    if let Some(mut steering) = world.get_mut::<Steering>(context.entity) {
        steering.number = number;
    }
}

/// Names that the plugin gives begin here, so that a game may give all that are lower.
const OUR_NAMES: u64 = 1 << 63;

/// The crowds of all maps.
#[derive(Resource, Default, Debug)]
pub(crate) struct Crowds {
    /// How many units have been spawned.
    spawned: u64,
    /// Whether the next step may move somebody, for all that is known.
    pub(crate) stirred: bool,
    /// Whether there may be more room somewhere than there was: whoever takes part in the step looks for it.
    roused: bool,
    /// Where somebody is no more: those nearby have to look.
    pub(crate) vacated: Vec<Vacancy>,
    pub(crate) all: Vec<MapCrowd>,
    /// Who lets somebody pass.
    pub(crate) errands: Vec<Entity>,
    /// What is to be done about ways.
    pub(crate) advice: Vec<(u64, Entity, Advice)>,
    /// What of that takes long and waits for its turn.
    pub(crate) put_off: VecDeque<(Entity, Advice)>,
}

/// The units of one map.
#[derive(Debug)]
pub(crate) struct MapCrowd {
    pub(crate) map: Entity,
    pub(crate) plane: Plane,
    pub(crate) crowd: Crowd,
    pub(crate) units: Vec<Entity>,
    rest: Rest,
}

impl Crowds {
    /// The crowd of a map, to be filled.
    fn of(&mut self, place: &Place) -> usize {
        if let Some(known) = self.all.iter().position(|crowd| crowd.map == place.map) {
            return known;
        }
        let (map, plane) = (place.map, place.plane);
        self.all.push(MapCrowd { map, plane, crowd: Crowd::new(), units: Vec::new(), rest: Rest::default() });
        self.all.len() - 1
    }

    pub(crate) fn find(&self, steering: &Steering) -> Option<(&MapCrowd, usize)> {
        let (crowd, index) = steering.place;
        Some((self.all.get(crowd as usize)?, index as usize))
    }
}

/// A unit of whom avoidance has to know.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Walker {
    entity: Entity,
    agent: Ref<'static, Agent>,
    avoidance: Ref<'static, Avoidance>,
    on_map: Option<Ref<'static, OnMap>>,
    at: Whereabouts,
    path: &'static Path,
    motion: &'static mut Motion,
    steering: &'static mut Steering,
    wanted: &'static WantedVelocity,
    safe: &'static mut SafeVelocity,
}

/// Turns what units want into what is safe.
pub(crate) fn avoid_units(
    // Reads
    time: Res<Time>,
    scene: Res<Scene>,
    settings: Res<PathfindingSettings>,
    moving: Res<Moving>,
    // Local
    mut has_counted: Local<bool>,
    mut nowhere: Local<Vec<Entity>>,
    // Writes
    mut crowds: ResMut<Crowds>,
    mut units: Query<Walker>,
    mut walkers: ResMut<Walkers>,
    mut tally: ResMut<Tally>,
) {
    let crowds = crowds.as_mut();
    crowds.all.retain(|crowd| scene.place(crowd.map).is_some());
    for crowd in &mut crowds.all {
        crowd.crowd.clear();
        crowd.units.clear();
        crowd.rest.clear();
    }
    if !core::mem::replace(&mut *has_counted, true) {
        count(&mut units, crowds);
    }
    nowhere.clear();
    let dt = time.delta_secs();
    let all = scene.is_changed() || settings.is_changed();
    crowds.roused = scene.is_changed() || !crowds.vacated.is_empty();
    for unit in &mut units {
        if all || unit.stirs() {
            enter(unit, crowds, &scene, &mut nowhere);
        } else {
            rest(unit, crowds, &scene);
        }
    }
    for index in 0..crowds.all.len() {
        let MapCrowd { crowd, rest, plane, .. } = &mut crowds.all[index];
        rest.wake(crowd, &crowds.vacated, *plane, dt);
        let woken = core::mem::take(&mut rest.woken);
        for unit in &woken {
            if let Ok(unit) = units.get_mut(*unit) {
                enter(unit, crowds, &scene, &mut nowhere);
            }
        }
        // Keeps its memory.
        crowds.all[index].rest.woken = woken;
    }
    crowds.vacated.clear();
    // While time stands still nobody moves, and that says nothing.
    crowds.stirred = dt <= 0.0;
    for crowd in crowds.all.iter_mut().filter(|crowd| !crowd.units.is_empty()) {
        crowd.step(&scene, &settings, dt);
        tally.avoided(crowd.units.len());
    }
    // PERF: only those who took part are looked at again. Where one of 10,000 walks, that is most of a pass.
    for index in 0..crowds.all.len() {
        for number in 0..crowds.all[index].units.len() {
            if let Ok(unit) = units.get_mut(crowds.all[index].units[number]) {
                leave(unit, crowds, *moving, dt, &mut walkers);
            }
        }
    }
    // On no map nobody is in the way.
    for unit in &nowhere {
        if let Ok(mut unit) = units.get_mut(*unit)
            && unit.motion.stage == Stage::Walking
        {
            (unit.safe.0, unit.motion.safe) = (unit.wanted.0, unit.wanted.0);
        }
    }
    // Whoever is heard first must not depend on where units lie in memory.
    crowds.advice.sort_unstable_by_key(|(name, ..)| *name);
}

/// Units that were there before the plugin are counted in the order of their entities.
fn count(units: &mut Query<Walker>, crowds: &mut Crowds) {
    let uncounted = units.iter().filter(|unit| unit.steering.number == 0).map(|unit| unit.entity);
    let mut uncounted: Vec<Entity> = uncounted.collect();
    uncounted.sort_unstable_by_key(|entity| entity.index_u32());
    for entity in uncounted {
        if let Ok(mut unit) = units.get_mut(entity) {
            crowds.spawned += 1;
            unit.steering.number = crowds.spawned;
        }
    }
}

impl WalkerItem<'_, '_> {
    /// Whether it walks or is pushed, or something has happened to it: others may have to look at it, and it at them.
    fn stirs(&self) -> bool {
        let is_changed = self.agent.is_changed()
            || self.avoidance.is_changed()
            || self.on_map.as_ref().is_some_and(Ref::is_changed);
        let is_driven = self.motion.stage.is_moving() || self.wanted.0 != Vec3::ZERO;
        self.steering.stirs || is_driven || is_changed || !stays(&self.agent, &self.steering, &self.at)
    }

    fn name(&self) -> u64 {
        self.avoidance.id.unwrap_or(OUR_NAMES | self.steering.number)
    }

    /// The map it is on.
    fn place<'a>(&mut self, scene: &'a Scene) -> Option<&'a Place> {
        // PERF: of one that rests the path is not looked at, and nothing is written: that is a tenth of what it costs.
        let walks_on = if self.motion.stage == Stage::Walking { self.path.map } else { None };
        if let Some(map) = walks_on.or(self.on_map.as_ref().map(|on_map| on_map.0)) {
            return scene.place(map).map(|place| &**place);
        }
        let position = self.at.position();
        let known = self.steering.map.and_then(|map| scene.place(map));
        // One that drifts stays where it is; another one is looked for again only if it was moved.
        let stays = self.motion.stage.is_moving() || self.steering.looked_at == position;
        if let Some(place) = known.filter(|_| stays && self.steering.looked_at == position) {
            return Some(&**place);
        }
        let place = known.filter(|_| stays).or_else(|| scene.place_under(position));
        (self.steering.map, self.steering.looked_at) = (place.map(|place| place.map), position);
        place.map(|place| &**place)
    }

    fn body(&self, place: &Place) -> Body {
        let plane = place.plane;
        let is_moving = self.motion.stage.is_moving() && self.motion.plane == plane;
        let position = if is_moving { self.motion.position } else { plane.flat(self.at.position()) };
        let wanted = plane.flat(self.wanted.0);
        let walks = (self.motion.stage == Stage::Walking && !self.path.is_empty()) || wanted != Vec2::ZERO;
        let stance = match (walks, self.avoidance.locked) {
            (true, _) => Stance::Walking,
            (false, true) => Stance::Locked,
            (false, false) => Stance::Idle,
        };
        let Path { points, headway, .. } = self.path;
        let to_go = || self.motion.to_go.unwrap_or_else(|| remaining(points, *headway, position));
        let goes_home = self.path.errand.as_ref().is_some_and(Errand::returns);
        let is_away = !walks && self.path.errand.as_ref().is_some_and(Errand::is_away);
        let end = self.path.end().filter(|_| walks && (goes_home || self.path.errand.is_none()));
        let class = if walks && !self.path.is_empty() { self.path.kind.class } else { self.agent.class };
        Body {
            id: self.name(),
            position,
            velocity: plane.flat(self.safe.0),
            wanted,
            radius: self.agent.radius,
            speed: self.agent.speed,
            // Whoever only goes home lets all pass who are on their way, and who waits for that stands where others belong.
            priority: if goes_home || is_away { i8::MIN } else { self.avoidance.priority },
            layers: self.avoidance.layers(),
            stance,
            ground: place.footing(class).map(|_| class.0),
            course: end.map(|end| Course { end, to_go: to_go() }),
            memory: self.steering.memory,
        }
    }
}

/// A unit that takes no part in a step.
const NOWHERE: (u32, u32) = (u32::MAX, 0);

/// Leaves a unit out of the step, unless somebody stirs nearby.
fn rest(mut unit: WalkerItem<'_, '_>, crowds: &mut Crowds, scene: &Scene) {
    if unit.steering.place != NOWHERE {
        unit.steering.place = NOWHERE;
    }
    let Some(place) = unit.place(scene) else { return };
    let centre = place.plane.flat(unit.at.position());
    let disc = Disc { centre, radius: unit.agent.radius };
    let index = crowds.of(place);
    let crowd = &mut crowds.all[index];
    crowd.plane = place.plane;
    crowd.rest.add(unit.entity, disc, unit.agent.speed, unit.avoidance.layers());
}

/// Puts a unit into the crowd of its map.
fn enter(mut unit: WalkerItem<'_, '_>, crowds: &mut Crowds, scene: &Scene, nowhere: &mut Vec<Entity>) {
    unit.steering.place = NOWHERE;
    unit.steering.stood_at = unit.at.position();
    if crowds.roused || unit.agent.is_changed() {
        unit.steering.memory.rouse();
    }
    let Some(place) = unit.place(scene) else {
        nowhere.push(unit.entity);
        return;
    };
    let body = unit.body(place);
    let index = crowds.of(place);
    let crowd = &mut crowds.all[index];
    crowd.plane = place.plane;
    #[expect(clippy::cast_possible_truncation, reason = "as many as there are entities at most")]
    let number = (index as u32, crowd.units.len() as u32);
    unit.steering.place = number;
    crowd.units.push(unit.entity);
    crowd.crowd.push(body);
}

impl MapCrowd {
    /// Fills `discs` with those within `reach` of a unit that it avoids, and that stand.
    pub(crate) fn standing_around(&self, index: usize, reach: f32, discs: &mut Vec<Disc>) {
        self.crowd.standing_around(index, reach, discs);
        if let Some(body) = self.crowd.body(index) {
            self.rest.add_around(body, reach, discs);
        }
    }

    fn step(&mut self, scene: &Scene, settings: &PathfindingSettings, dt: f32) {
        let Some(place) = scene.place(self.map) else { return };
        // Seen from above, Z leads down: there, right is where left would be.
        let side = match (settings.keep, self.plane) {
            (KeepTo::Either, _) => RoadSide::Either,
            (KeepTo::Right, Plane::Xy) | (KeepTo::Left, Plane::Xz) => RoadSide::Right,
            (KeepTo::Left, Plane::Xy) | (KeepTo::Right, Plane::Xz) => RoadSide::Left,
        };
        let rules = CrowdSettings { side, escape_cells: settings.escape_cells };
        let layout = place.layout.as_ref();
        let grounds: Vec<Footing<'_>> = layout.map_or_else(Vec::new, |layout| {
            place.views.iter().map(|snapshot| Footing { snapshot, layout }).collect()
        });
        let threads = settings.crowd_thread_count();
        match ComputeTaskPool::try_get() {
            Some(pool) if threads > 1 && self.units.len() >= WORTH_SPREADING => {
                self.crowd.step(&rules, dt, &grounds, &OnPool { pool, threads });
            }
            _ => self.crowd.step(&rules, dt, &grounds, &OneThread),
        }
    }
}

/// Smaller crowds are done before another thread has begun.
const WORTH_SPREADING: usize = 512;

/// Bevy's threads for what must be done within the frame.
struct OnPool<'a> {
    pool: &'a ComputeTaskPool,
    threads: usize,
}

impl Spread for OnPool<'_> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn each<T: Send>(&self, parts: impl Iterator<Item = T>, work: impl Fn(T) + Send + Sync) {
        let work = &work;
        self.pool.scope(|scope| {
            for part in parts {
                scope.spawn(async move { work(part) });
            }
        });
    }
}

/// Takes over what the step did with a unit.
fn leave(mut unit: WalkerItem<'_, '_>, crowds: &mut Crowds, moving: Moving, dt: f32, walkers: &mut Walkers) {
    let Some((crowd, index)) = crowds.find(&unit.steering) else { return };
    let Some(outcome) = crowd.crowd.outcomes().get(index).copied() else { return };
    let (plane, units) = (crowd.plane, &crowd.units);
    if unit.steering.memory.rung() != outcome.memory.rung() || outcome.blocker.is_some() {
        unit.steering.blocker = crowd.crowd.blocker(index).and_then(|blocker| units.get(blocker).copied());
    }
    unit.steering.memory = outcome.memory;
    let name = unit.name();
    let motion = &mut *unit.motion;
    let velocity = plane.at_height(outcome.velocity, 0.0);
    if motion.stage == Stage::Walking {
        (crowds.stirred, unit.steering.stirs) = (true, true);
        // What differs by rounding only is what was planned, so that units arrive exactly.
        let farthest = outcome.position.abs().max(motion.position.abs()).max_element();
        let grain = farthest.next_up() - farthest;
        let rounding = GRAINS * grain + ROUNDING * unit.agent.radius.max(0.0);
        if outcome.position.distance_squared(motion.planned) <= rounding * rounding {
            (unit.safe.0, motion.safe) = (unit.wanted.0, unit.wanted.0);
        } else {
            (motion.planned, motion.arrives) = (outcome.position, false);
            (unit.safe.0, motion.safe) = (velocity, velocity);
        }
        if outcome.advice != Advice::GoOn {
            crowds.advice.push((name, unit.entity, outcome.advice));
        }
        return;
    }
    let still = STILL * unit.agent.speed.max(unit.agent.radius).max(0.0);
    let is_pushed = outcome.velocity.length() > still || unit.wanted.0 != Vec3::ZERO;
    unit.steering.stirs = is_pushed || outcome.memory.makes_way() || dt <= 0.0;
    crowds.stirred |= unit.steering.stirs;
    let velocity = if is_pushed { velocity } else { Vec3::ZERO };
    if unit.safe.0 != velocity {
        unit.safe.0 = velocity;
    }
    motion.safe = velocity;
    if is_pushed {
        if moving == Moving::ByThePlugin {
            motion.drift(plane, &unit.at, unit.agent.facing);
            motion.planned = outcome.position;
            motion.planned_heading = motion.heading;
        }
        walkers.0 += 1;
    } else if motion.stage == Stage::Drifting {
        motion.stage = Stage::Settling;
        walkers.0 += 1;
    }
    if outcome.advice != Advice::GoOn {
        crowds.advice.push((name, unit.entity, outcome.advice));
    }
}

/// A step that differs from what was planned by less than this is that: so many of the smallest differences there are
/// between coordinates, and this part of the radius. More would let units into walls.
const GRAINS: f32 = 2.0;
const ROUNDING: f32 = 1e-5;

/// An idle unit that moves slower than this stands: in parts of its speed, or in radii per second if it has none.
const STILL: f32 = 0.005;
