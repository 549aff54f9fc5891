//! What units do about their way when others are in it: settle, plan around them, get out of their way for a while.
//!
//! Comes in: what [avoidance](crate::avoid) advises. Goes out: new orders for the queue, short paths to a bay and back,
//! [`Stuck`].

use std::sync::Arc;

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use wayfare::avoid::bay::{find_bay, has_passed};
use wayfare::avoid::{Advice, Disc, Rung};

use crate::agent::Agent;
use crate::avoid::{Crowds, Steering};
use crate::event::Stuck;
use crate::group::Billet;
use crate::life::{arrive, leads_on};
use crate::motion::{Motion, Walkers, Whereabouts};
use crate::path::Path;
use crate::plane::Plane;
use crate::queue::Desk;
use crate::request::PathRequest;
use crate::scene::{Kind, Scene};

/// A unit that lets another one pass.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Errand {
    to: Entity,
    stage: ErrandStage,
    /// How much longer it waits, in seconds. Who is stuck itself never passes.
    patience: f32,
    /// The way back, for one that has no order to go on with.
    back: Vec<Vec2>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ErrandStage {
    /// Gets out of the way.
    Leaves,
    /// Waits.
    Waits,
    /// Goes back to where it stood.
    Returns,
}

impl Errand {
    /// It has come to the end of its path. Returns whether it still has something to do.
    pub(crate) fn arrive(&mut self) -> bool {
        let waits = self.stage != ErrandStage::Returns;
        self.stage = ErrandStage::Waits;
        waits
    }
}

/// In seconds.
const PATIENCE: f32 = 15.0;

/// How many units get a way around others, or out of the way, in one run of the schedule: looking for a bay takes a
/// millisecond or two where there is none. The others have their turn in the next runs, first come, first served.
const TURNS: usize = 8;

/// How far around a unit those who stand count when it plans around them, in lengths of its body and of a cell.
const AROUND: f32 = 16.0;

/// A unit that is given advice.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Advised {
    entity: Entity,
    agent: &'static Agent,
    request: Option<&'static PathRequest>,
    at: Whereabouts,
    path: &'static mut Path,
    motion: &'static mut Motion,
    steering: &'static mut Steering,
    billet: Option<&'static mut Billet>,
}

impl AdvisedItem<'_, '_> {
    fn set_out(&mut self, points: Vec<Vec2>, plane: Plane, walkers: &mut Walkers) {
        self.path.points = points;
        self.motion.leave_group();
        self.motion.set_out(plane, &self.at, self.agent.facing);
        // The first step is planned with the next run.
        (self.motion.planned, self.motion.arrives) = (self.motion.position, false);
        walkers.0 += 1;
    }
}

impl AdvisedReadOnlyItem<'_, '_> {
    fn disc(&self, plane: Plane) -> Disc {
        let is_moving = self.motion.stage.is_moving() && self.motion.plane == plane;
        let centre = if is_moving { self.motion.position } else { plane.flat(self.at.position()) };
        Disc { centre, radius: self.agent.radius }
    }
}

/// Does what the last step advised, and ends the errands of those who were let pass.
pub(crate) fn heed_advice(
    // Reads
    time: Res<Time>,
    scene: Res<Scene>,
    // Local
    mut way: Local<Vec<Vec2>>,
    // Writes
    mut crowds: ResMut<Crowds>,
    mut units: Query<Advised>,
    mut desk: ResMut<Desk>,
    mut walkers: ResMut<Walkers>,
    mut commands: Commands,
) {
    let mut errands = core::mem::take(&mut crowds.errands);
    errands.retain(|unit| go_on(*unit, &mut units, time.delta_secs(), &mut desk, &mut walkers));
    crowds.errands = errands;
    let mut advice = core::mem::take(&mut crowds.advice);
    for (_, unit, advice) in advice.drain(..) {
        // Whoever is told something else need not do any more what it has not come to.
        crowds.put_off.retain(|(other, _)| *other != unit);
        if matches!(advice, Advice::GiveWay { .. } | Advice::PlanAround) {
            crowds.put_off.push_back((unit, advice));
            continue;
        }
        let Ok(mut unit) = units.get_mut(unit) else { continue };
        if unit.request.is_none() || unit.path.is_empty() {
            continue;
        }
        match advice {
            Advice::Settle => {
                // It has come as near as it can to where the old order led; a new one may lead elsewhere.
                let goes_on = leads_on(unit.request, &scene, &unit.path, &unit.motion, unit.agent);
                let (path, motion) = (&mut unit.path, &mut unit.motion);
                arrive(unit.entity, path, motion, goes_on, &mut desk, &mut commands);
            }
            Advice::Replan => desk.replan(unit.entity, &mut unit.path),
            Advice::Stuck => {
                commands.trigger(Stuck { entity: unit.entity, blocker: unit.steering.blocker });
            }
            _ => {}
        }
    }
    // Keeps its memory.
    crowds.advice = advice;
    for _ in 0..TURNS {
        match crowds.put_off.pop_front() {
            Some((unit, Advice::GiveWay { to })) => {
                give_way(unit, to, &scene, &mut crowds, &mut units, &mut way, &mut walkers, &mut desk);
            }
            Some((unit, _)) => {
                let Ok(mut unit) = units.get_mut(unit) else { continue };
                // It may have got on since, or have another order.
                let is_stalled = unit.steering.memory.rung() == Rung::PlansAround;
                if is_stalled && unit.request.is_some() && !unit.path.is_empty() {
                    plan_around(&mut unit, &scene, &crowds, &mut desk);
                }
            }
            None => break,
        }
    }
}

/// Has a way searched around those who stand, as if they made the ground dear.
fn plan_around(unit: &mut AdvisedItem<'_, '_>, scene: &Scene, crowds: &Crowds, desk: &mut Desk) {
    let Some((crowd, index)) = crowds.find(&unit.steering) else { return };
    let cell = scene.place(crowd.map).and_then(|place| place.layout).map_or(0.0, |layout| layout.reach());
    let mut discs = Vec::new();
    crowd.standing_around(index, AROUND * (unit.agent.radius.max(0.0) + cell), &mut discs);
    for disc in &mut discs {
        disc.radius += unit.agent.radius.max(0.0);
    }
    unit.path.around = (!discs.is_empty()).then(|| Arc::from(discs));
    // Its formation leads where it cannot go.
    if let Some(billet) = &mut unit.billet {
        (billet.alone, billet.detached) = (true, true);
    }
    unit.motion.leave_group();
    desk.replan(unit.entity, &mut unit.path);
}

/// Sends a unit out of another one's way.
fn give_way(
    unit: Entity,
    to: u64,
    scene: &Scene,
    crowds: &mut Crowds,
    units: &mut Query<Advised>,
    way: &mut Vec<Vec2>,
    walkers: &mut Walkers,
    desk: &mut Desk,
) {
    let Ok(own) = units.get(unit) else { return };
    let Some((crowd, _)) = crowds.find(own.steering) else { return };
    let (map, plane) = (crowd.map, crowd.plane);
    let other = crowd.crowd.find(to).and_then(|index| crowd.units.get(index));
    let Some(other) = other.and_then(|other| units.get(*other).ok()) else { return };
    let Some(place) = scene.place(map) else { return };
    let (at, plain) = (own.disc(plane).centre, Kind::from(own.agent.class));
    // From where it has too little room it gets out of the way as well as it can.
    let kind = place.kind(own.agent.class, own.agent.radius);
    let kind = if place.footing(kind).is_some_and(|footing| footing.is_open(at)) { kind } else { plain };
    let Some(footing) = place.footing(kind) else { return };
    way.clear();
    way.extend(other.path.points());
    let mut points = Vec::new();
    let found = find_bay(footing, own.disc(plane), other.disc(plane), way, &mut points);
    let other = other.entity;
    let Ok(mut own) = units.get_mut(unit) else { return };
    if !found {
        own.steering.memory.be_cornered();
        return;
    }
    // One that was letting somebody pass returns to where it stood in the end.
    let before = own.path.errand.take().map(|errand| errand.back).filter(|back| !back.is_empty());
    let back = match own.request {
        Some(_) => Vec::new(),
        None => before.unwrap_or_else(|| {
            let home = own.steering.memory.home().filter(|home| footing.is_clear(points[0], *home));
            points.iter().rev().copied().chain(home).collect()
        }),
    };
    desk.keep(own.path.take());
    (own.path.map, own.path.kind, own.path.version) = (Some(map), kind, place.version());
    own.path.radius = own.agent.radius;
    own.set_out(points, plane, walkers);
    own.path.errand = Some(Errand { to: other, stage: ErrandStage::Leaves, patience: PATIENCE, back });
    if !crowds.errands.contains(&unit) {
        crowds.errands.push(unit);
    }
}

/// Looks whether a unit need not give way any more. Returns whether it still has to.
fn go_on(unit: Entity, units: &mut Query<Advised>, dt: f32, desk: &mut Desk, walkers: &mut Walkers) -> bool {
    let Ok(own) = units.get(unit) else { return false };
    let Some(errand) = &own.path.errand else { return false };
    if errand.stage == ErrandStage::Returns {
        return true;
    }
    let plane = own.motion.plane;
    let passed = units
        .get(errand.to)
        .ok()
        .is_none_or(|other| has_passed(own.disc(plane), other.disc(plane), other.path.points()));
    let Ok(mut own) = units.get_mut(unit) else { return false };
    let has_request = own.request.is_some();
    let Some(errand) = &mut own.path.bypass_change_detection().errand else { return false };
    errand.patience -= dt;
    if !passed && errand.patience > 0.0 {
        return true;
    }
    if has_request {
        own.path.errand = None;
        desk.replan(unit, &mut own.path);
        return false;
    }
    let back = core::mem::take(&mut errand.back);
    errand.stage = ErrandStage::Returns;
    own.path.headway = wayfare::Headway::default();
    own.set_out(back, plane, walkers);
    true
}
