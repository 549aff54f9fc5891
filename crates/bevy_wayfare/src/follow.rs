//! From paths to velocities: each unit's next step along its path, by the core's [`walk`].
//!
//! Comes in: `Path`, `Agent`, where the unit is. Goes out: [`WantedVelocity`], and the step it stands for.

use std::sync::Arc;

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::Allow;
use bevy::prelude::*;
use wayfare::follow::{remaining, walk};

use crate::agent::{Agent, OnMap};
use crate::event::FailureReason;
use crate::life::{arrive, fail, leads_on};
use crate::motion::{Motion, SafeVelocity, Stage, Walkers, WantedVelocity, Whereabouts};
use crate::path::Path;
use crate::plugin::Moving;
use crate::queue::Desk;
use crate::request::{Goals, PathRequest};
use crate::scene::{Place, Scene};
use crate::settings::PathfindingSettings;
use crate::sync::{walk_out, way_out};

/// A target that has moved by less than this part of the way to it is still where it was, near enough, ...
const NEAR_ENOUGH: f32 = 0.2;

/// ... and so is one that has moved by less than this many cells, ...
const CELLS_ENOUGH: f32 = 1.0;

/// ... except on the last few, where it is gone to wherever it is.
const LAST_CELLS: f32 = 1.5;

/// Plans each unit's next step.
pub(crate) fn follow_paths(
    // Reads
    time: Res<Time>,
    scene: Res<Scene>,
    settings: Res<PathfindingSettings>,
    moving: Res<Moving>,
    parents: Query<&GlobalTransform>,
    // Writes
    mut units: Query<(
        Entity,
        &Agent,
        Option<&OnMap>,
        Option<&PathRequest>,
        &Transform,
        Option<&ChildOf>,
        Whereabouts,
        &mut Path,
        &mut Motion,
        &mut WantedVelocity,
        &mut SafeVelocity,
    )>,
    mut walkers: ResMut<Walkers>,
    mut desk: ResMut<Desk>,
    mut commands: Commands,
) {
    let dt = time.delta_secs();
    walkers.0 = 0;
    for (entity, agent, on_map, request, transform, child, at, mut path, mut motion, mut wanted, mut safe) in
        &mut units
    {
        if motion.stage == Stage::Still {
            continue;
        }
        let parent = child.and_then(|child| parents.get(child.parent()).ok());
        if *moving == Moving::ByThePlugin && motion.stage != Stage::Looking {
            motion.adopt(transform.translation, parent);
        }
        if motion.stage == Stage::Drifting {
            walkers.0 += 1;
            continue;
        }
        if motion.stage != Stage::Walking {
            motion.rest();
            (wanted.0, safe.0) = (Vec3::ZERO, Vec3::ZERO);
            let way_out = way_out(&scene, agent, on_map, at.position(), settings.escape_cells);
            if let Some((place, way_out)) = way_out.filter(|_| request.is_none()) {
                motion.set_out(place.plane, &at, agent.facing);
                walk_out(&mut path, &mut motion, agent, place, way_out);
                walkers.0 += 1;
            }
            continue;
        }
        walkers.0 += 1;
        // Its formation says where it goes, as long as it does.
        if core::mem::take(&mut motion.marching) {
            continue;
        }
        motion.to_go = None;
        let place = path.map.and_then(|map| scene.place(map));
        let Some(footing) = place.and_then(|place| place.footing(path.kind)) else {
            motion.halt();
            continue;
        };
        // Whoever had a wall built upon stands until the way out is known: the old path leads on through the wall.
        let caught = path.order.broken && !footing.is_free(motion.position);
        let mut gait = agent.gait(settings.slowed_by_terrain);
        gait.speed = gait.speed.min(motion.pace);
        let dt = if caught { 0.0 } else { dt };
        // Getting on is no new path: who watches for changes wants to know of those.
        let Path { points, headway, .. } = path.bypass_change_detection();
        let stride = walk(footing, points, headway, motion.position, motion.heading, &gait, dt);
        motion.planned = stride.position;
        motion.planned_heading = stride.heading;
        motion.arrives = stride.arrived;
        wanted.0 = motion.plane.at_height(stride.velocity, 0.0);
        let astray = stride.blocked || is_another(agent, path.bypass_change_detection(), place);
        match request {
            Some(_) if astray && !path.is_waiting() => desk.replan(entity, &mut path),
            // It was only getting out of a wall.
            None if astray => motion.halt(),
            _ => {}
        }
        if stride.arrived && *moving == Moving::ByTheGame {
            safe.0 = wanted.0;
            let goes_on = leads_on(request, &scene, &path, &motion, agent);
            arrive(entity, &mut path, &mut motion, goes_on, &mut desk, &mut commands);
        }
    }
}

/// Whether a path was found for another kind of unit than this one is by now.
fn is_another(agent: &Agent, path: &mut Path, place: Option<&Arc<Place>>) -> bool {
    if agent.radius.to_bits() != path.radius.to_bits() {
        if place.is_some_and(|place| place.kind(agent.class, agent.radius) != path.kind) {
            return true;
        }
        path.radius = agent.radius;
    }
    agent.class != path.kind.class
}

/// Where units do not avoid each other, what is wanted is safe.
pub(crate) fn avoid_nobody(mut units: Query<(&mut Motion, &WantedVelocity, &mut SafeVelocity)>) {
    for (mut motion, wanted, mut safe) in &mut units {
        if motion.stage == Stage::Walking {
            (safe.0, motion.safe) = (wanted.0, wanted.0);
        }
    }
}

/// Plans again for units whose target has moved away from where they are heading.
pub(crate) fn watch_targets(
    // Reads
    scene: Res<Scene>,
    whereabouts: Query<Whereabouts>,
    // Writes
    mut units: Query<(&mut Path, Option<&PathRequest>, Option<&mut Motion>), Allow<Disabled>>,
    mut walkers: ResMut<Walkers>,
    mut desk: ResMut<Desk>,
    mut commands: Commands,
) {
    let mut chasers = core::mem::take(&mut desk.chasers);
    chasers.retain(|entity| {
        let Ok((mut path, request, motion)) = units.get_mut(*entity) else { return false };
        let Some((target, aimed_at)) = path.order.target else { return false };
        let place = path.order.map.and_then(|map| scene.place(map));
        let (Some(place), false) = (place, path.is_waiting()) else { return true };
        let Ok(now) = whereabouts.get(target).map(|target| place.plane.flat(target.position())) else {
            if request.is_some_and(|request| matches!(request.goals, Goals::Nearest(_))) {
                // There may be others.
                path.order.target = None;
                desk.replan(*entity, &mut path);
                return false;
            }
            let motion = motion.map(Mut::into_inner);
            fail(
                *entity,
                FailureReason::TargetLost,
                &mut path,
                motion,
                &mut desk,
                &mut walkers,
                &mut commands,
            );
            return false;
        };
        let position = whereabouts.get(*entity).map_or(now, |unit| place.plane.flat(unit.position()));
        let cell = place.layout.map_or(0.0, |layout| 2.0 * layout.reach());
        let to_go = remaining(&path.points, path.headway, position);
        let enough = if to_go > LAST_CELLS * cell {
            (CELLS_ENOUGH * cell).max(NEAR_ENOUGH * to_go)
        } else {
            0.1 * cell
        };
        if now.distance(aimed_at) > enough {
            desk.replan(*entity, &mut path);
        }
        true
    });
    chasers.append(&mut desk.chasers);
    desk.chasers = chasers;
}
