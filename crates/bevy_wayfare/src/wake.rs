//! When avoidance has something to do. A crowd in which nobody walks and nobody is pushed is at rest, and what does not
//! change stays at rest: it is not looked at until somebody stirs.
//!
//! Comes in: what the last step left behind, and whatever may have happened to units and maps since. Goes out: whether
//! the next step is taken.

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::Allow;
use bevy::prelude::*;

use crate::agent::{Agent, OnMap};
use crate::avoid::{Avoidance, Crowds, Steering};
use crate::motion::{Walkers, WantedVelocity, Whereabouts};
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
        moved.iter().any(|(agent, steering, wanted, at)| {
            let nudge = NUDGE * agent.radius.max(0.0);
            // Of a place that is none, nobody knows how far it is from another.
            let stays = at.position().distance_squared(steering.stood_at) <= nudge * nudge;
            wanted.0 != Vec3::ZERO || !stays
        })
    };
    let is_changed = scene.is_changed() || settings.is_changed() || !changed.is_empty();
    walkers.0 > 0 || crowds.stirred || is_changed || is_stirred()
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

type Agents<'w, 's> = Query<'w, 's, (), (With<Agent>, Allow<Disabled>)>;

fn stir(entity: Entity, agents: &Agents, mut crowds: ResMut<Crowds>) {
    if agents.contains(entity) {
        (crowds.stirred, crowds.roused) = (true, true);
    }
}

/// Whoever is moved by no more than this part of its radius was not put elsewhere, only nudged: bodies of a physics engine
/// are never quite still.
const NUDGE: f32 = 0.25;
