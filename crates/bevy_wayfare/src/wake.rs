//! When avoidance has something to do, and with whom. A unit that nobody pushes and that wants nothing is at rest, and what
//! does not change stays at rest: it is not looked at until somebody stirs nearby, or something happens to it.
//!
//! Comes in: what the last step left behind, and whatever may have happened to units and maps since. Goes out: whether
//! the next step is taken, and who takes part in it.

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::Allow;
use bevy::prelude::*;
use wayfare::avoid::{Body, Crowd, Disc, Layers};

use crate::agent::{Agent, OnMap};
use crate::avoid::{Avoidance, Crowds, Steering};
use crate::motion::{Walkers, WantedVelocity, Whereabouts, WhereaboutsItem};
use crate::plane::Plane;
use crate::scene::Scene;
use crate::settings::PathfindingSettings;

/// Whether somebody walks or is pushed, is new or gone or has been changed or put elsewhere, was given a velocity by the
/// game, or stands on ground that has changed; or whether the rules have.
pub(crate) fn anybody_stirs(
    walkers: Res<Walkers>,
    crowds: Res<Crowds>,
    scene: Res<Scene>,
    settings: Res<PathfindingSettings>,
    changed: Query<(), Or<(Changed<Agent>, Changed<Avoidance>, Changed<OnMap>)>>,
    moved: Query<
        (&Agent, &Steering, &WantedVelocity, Whereabouts),
        Or<(Changed<Transform>, Changed<GlobalTransform>, Changed<WantedVelocity>)>,
    >,
) -> bool {
    let is_stirred = || {
        moved
            .iter()
            .any(|(agent, steering, wanted, at)| wanted.0 != Vec3::ZERO || !stays(agent, steering, &at))
    };
    let is_changed = scene.is_changed() || settings.is_changed() || !changed.is_empty();
    walkers.0 > 0 || crowds.stirred || is_changed || is_stirred()
}

/// Whether a unit is where the last step saw it.
pub(crate) fn stays(agent: &Agent, steering: &Steering, at: &WhereaboutsItem<'_, '_>) -> bool {
    let nudge = NUDGE * agent.radius.max(0.0);
    // Of a place that is none, nobody knows how far it is from another.
    at.position().distance_squared(steering.stood_at) <= nudge * nudge
}

/// A place that a unit has left for good, in the world, on whichever map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vacancy {
    position: Vec3,
    radius: f32,
}

/// Those of a map who are at rest.
#[derive(Default, Debug)]
pub(crate) struct Rest {
    units: Vec<Resting>,
    /// What the largest and the fastest of them are.
    radius: f32,
    speed: f32,
    near: Squares,
    /// Who rests no more.
    pub(crate) woken: Vec<Entity>,
}

#[derive(Clone, Copy, Debug)]
struct Resting {
    entity: Entity,
    disc: Disc,
    layers: Layers,
}

impl Rest {
    pub(crate) fn clear(&mut self) {
        self.units.clear();
        (self.radius, self.speed) = (0.0, 0.0);
    }

    pub(crate) fn add(&mut self, entity: Entity, disc: Disc, speed: f32, layers: Layers) {
        self.units.push(Resting { entity, disc, layers });
        // What is not a number is none.
        (self.radius, self.speed) = (self.radius.max(disc.radius), self.speed.max(speed));
    }

    /// Wakes those who are near somebody of the crowd that is about to take a step: they may have to make way, or be in the
    /// way. And those near to where somebody was: there is more room.
    pub(crate) fn wake(&mut self, crowd: &Crowd, vacated: &[Vacancy], plane: Plane, dt: f32) {
        self.woken.clear();
        if (crowd.is_empty() && vacated.is_empty()) || self.units.is_empty() {
            return;
        }
        let bodies = || (0..crowd.len()).filter_map(|index| crowd.body(index));
        let radii = bodies().map(|body| body.radius).chain(vacated.iter().map(|gone| gone.radius));
        let radius = radii.fold(self.radius, f32::max);
        let speed = bodies().map(|body| body.speed).fold(self.speed, f32::max);
        self.near.begin(Crowd::reach(radius, speed, dt), crowd.len() + vacated.len());
        let places = bodies().map(|body| body.position);
        for place in places.chain(vacated.iter().map(|gone| plane.flat(gone.position))) {
            self.near.add_around(place);
        }
        let Self { units, near, woken, .. } = self;
        units.retain(|unit| {
            let is_near = near.has(unit.disc.centre);
            if is_near {
                woken.push(unit.entity);
            }
            !is_near
        });
    }

    /// Adds those within `reach` of somebody who avoids them.
    pub(crate) fn add_around(&self, body: &Body, reach: f32, discs: &mut Vec<Disc>) {
        let counts = |unit: &&Resting| {
            body.layers.avoid(unit.layers) && unit.disc.centre.distance(body.position) <= reach
        };
        discs.extend(self.units.iter().filter(counts).map(|unit| unit.disc));
    }
}

/// Squares of a plane, as bits of a table. Some squares share a bit; then more units are near somebody than are.
#[derive(Default, Debug)]
struct Squares {
    /// Squares per unit of length.
    scale: f32,
    bits: Vec<u64>,
}

/// Words for each who stirs. It sets nine bits, so of those who are near nobody about one in sixty is woken for nothing.
const WORDS: usize = 8;

/// The longest table, which the cache still holds.
const MOST_WORDS: usize = 1 << 14;

impl Squares {
    /// Begins with no square, for so many places with all squares around them.
    fn begin(&mut self, side: f32, places: usize) {
        self.scale = 1.0 / side.max(f32::MIN_POSITIVE);
        self.bits.clear();
        self.bits.resize((places * WORDS).next_power_of_two().min(MOST_WORDS), 0);
    }

    fn column_and_row(&self, place: Vec2) -> IVec2 {
        // Beyond what can be counted, all squares are one.
        (place * self.scale).floor().as_ivec2()
    }

    /// Where the bit of a square is.
    fn bit(&self, square: IVec2) -> (usize, u64) {
        let [x, y] = square.as_uvec2().to_array();
        let mixed = x.wrapping_mul(0x9e37_79b1).rotate_left(13) ^ y.wrapping_mul(0x85eb_ca77);
        let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d);
        ((mixed >> 6) as usize & (self.bits.len() - 1), 1 << (mixed & 63))
    }

    /// Adds the square of a place and those around it.
    fn add_around(&mut self, place: Vec2) {
        let middle = self.column_and_row(place);
        for (dx, dy) in (-1..=1).flat_map(|dx| [-1, 0, 1].map(|dy| (dx, dy))) {
            let (word, bit) = self.bit(IVec2::new(middle.x.wrapping_add(dx), middle.y.wrapping_add(dy)));
            self.bits[word] |= bit;
        }
    }

    fn has(&self, place: Vec2) -> bool {
        let (word, bit) = self.bit(self.column_and_row(place));
        self.bits[word] & bit != 0
    }
}

/// What is no more cannot be asked for: units that are gone, were disabled, or left their map make room.
pub(crate) fn watch_crowds(app: &mut App) {
    type Gone = (Agent, Avoidance, OnMap, Disabled);
    app.add_observer(|gone: On<Remove, Gone>, agents: Agents, crowds: ResMut<Crowds>| {
        stir(gone.entity, &agents, crowds);
    });
    app.add_observer(|gone: On<Add, Disabled>, agents: Agents, crowds: ResMut<Crowds>| {
        stir(gone.entity, &agents, crowds);
    });
}

type Agents<'w, 's> = Query<'w, 's, (&'static Agent, &'static Steering), Allow<Disabled>>;

fn stir(entity: Entity, agents: &Agents, mut crowds: ResMut<Crowds>) {
    if let Ok((agent, steering)) = agents.get(entity) {
        crowds.stirred = true;
        crowds.vacated.push(Vacancy { position: steering.stood_at, radius: agent.radius });
    }
}

/// Whoever is moved by no more than this part of its radius was not put elsewhere, only nudged: bodies of a physics engine
/// are never quite still.
const NUDGE: f32 = 0.25;
