//! What units do about their way when others are in it: settle, plan around them, get out of their way for a while.
//!
//! Comes in: what [avoidance](crate::avoid) advises. Goes out: new orders for the queue, short paths to a bay and back,
//! [`Stuck`].

use std::collections::VecDeque;
use std::sync::Arc;

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use wayfare::avoid::bay::{find_bay, find_way_home, has_passed};
use wayfare::avoid::{Advice, Disc, Rung};
use wayfare::follow::Footing;

use crate::agent::Agent;
use crate::avoid::{Crowds, Steering};
use crate::event::Stuck;
use crate::group::Billet;
use crate::life::{arrive, leads_on};
use crate::motion::{Motion, Stage, Walkers, Whereabouts};
use crate::path::Path;
use crate::plane::Plane;
use crate::queue::Desk;
use crate::request::PathRequest;
use crate::scene::{Kind, Place, Scene};

/// A unit that lets another one pass, or goes home.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Errand {
    stage: ErrandStage,
    /// How much longer it waits, in seconds. Who is stuck itself never passes.
    patience: f32,
    /// Where it stood, for one that has no order to go on with.
    home: Option<Vec2>,
    /// How often it has not come there.
    tries: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ErrandStage {
    /// Gets out of somebody's way.
    Leaves(Entity),
    /// Waits for that one to pass.
    Waits(Entity),
    /// Goes back to where it stood.
    Returns,
    /// Did not get there, and waits before it tries again.
    Rests,
}

impl Errand {
    /// It has come to the end of its path. Returns whether it still has something to do.
    pub(crate) fn arrive(&mut self) -> bool {
        let (ErrandStage::Leaves(to) | ErrandStage::Waits(to)) = self.stage else { return false };
        self.stage = ErrandStage::Waits(to);
        true
    }

    /// Whether it has a home and stands elsewhere.
    pub(crate) fn is_away(&self) -> bool {
        self.home.is_some() && matches!(self.stage, ErrandStage::Waits(_) | ErrandStage::Rests)
    }

    /// Whether it goes home: it has somewhere to come to, but nobody has sent it.
    pub(crate) fn returns(&self) -> bool {
        self.stage == ErrandStage::Returns
    }
}

/// In seconds.
const PATIENCE: f32 = 15.0;

/// How long one that does not come home rests between two tries, in seconds, and how many it has: hundreds may come the other
/// way, but somebody who has come to stay will not go.
const REST: f32 = 5.0;
const TRIES: u8 = 16;

/// How far around itself and its home a unit that would go there looks for those who come, in lengths of its body and of a cell,
/// and how long it waits before it looks again, in seconds.
const BUSY: f32 = 6.0;
const PAUSE: f32 = 0.25;

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
    /// Leads it along some points on an errand.
    fn set_out(&mut self, way: Way, errand: Errand, walkers: &mut Walkers, desk: &mut Desk) {
        let Way { map, plane, kind, version, points } = way;
        desk.keep(self.path.take());
        (self.path.map, self.path.kind, self.path.version) = (Some(map), kind, version);
        self.path.radius = self.agent.radius;
        (self.path.points, self.path.errand) = (points, Some(errand));
        self.motion.leave_group();
        self.motion.set_out(plane, &self.at, self.agent.facing);
        // The first step is planned with the next run.
        (self.motion.planned, self.motion.arrives) = (self.motion.position, false);
        walkers.0 += 1;
    }

    /// What it does that goes home: nobody has to hear of it.
    fn heed_on_its_way_home(&mut self, advice: Advice, desk: &mut Desk) {
        let Some(mut errand) = self.path.errand.filter(Errand::returns) else { return };
        if !matches!(advice, Advice::Settle | Advice::Stuck) {
            return;
        }
        self.motion.halt();
        desk.keep(self.path.take());
        if advice == Advice::Stuck && errand.tries < TRIES {
            (errand.stage, errand.patience, errand.tries) = (ErrandStage::Rests, REST, errand.tries + 1);
            self.path.errand = Some(errand);
        }
    }
}

/// Where an errand leads.
struct Way {
    map: Entity,
    plane: Plane,
    kind: Kind,
    version: u64,
    points: Vec<Vec2>,
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
    errands.retain(|unit| go_on(*unit, &mut units, time.delta_secs(), &mut crowds.put_off, &mut desk));
    crowds.errands = errands;
    let mut advice = core::mem::take(&mut crowds.advice);
    for (_, unit, advice) in advice.drain(..) {
        // Whoever is told something else need not do any more what it has not come to.
        crowds.put_off.retain(|(other, _)| *other != unit);
        if matches!(advice, Advice::GiveWay { .. } | Advice::PlanAround | Advice::GoHome) {
            crowds.put_off.push_back((unit, advice));
            continue;
        }
        let Ok(mut unit) = units.get_mut(unit) else { continue };
        if unit.path.is_empty() {
            continue;
        }
        if unit.request.is_none() {
            unit.heed_on_its_way_home(advice, &mut desk);
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
            Some((unit, Advice::GoHome)) => {
                go_home(unit, &scene, &mut crowds, &mut units, &mut walkers, &mut desk);
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
    let Some((kind, footing)) = footing(place, own.agent, own.disc(plane).centre) else { return };
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
    // One that was letting somebody pass, or was on its way back, returns to where it stood in the end.
    let before = own.path.errand;
    let home = match own.request {
        Some(_) => None,
        None => before
            .and_then(|errand| errand.home)
            .or_else(|| own.steering.memory.home())
            .or_else(|| points.first().copied()),
    };
    let way = Way { map, plane, kind, version: place.version(), points };
    let tries = before.map_or(0, |errand| errand.tries);
    let errand = Errand { stage: ErrandStage::Leaves(other), patience: PATIENCE, home, tries };
    own.set_out(way, errand, walkers, desk);
    if !crowds.errands.contains(&unit) {
        crowds.errands.push(unit);
    }
}

/// Leads a unit to where it stood.
fn go_home(
    unit: Entity,
    scene: &Scene,
    crowds: &mut Crowds,
    units: &mut Query<Advised>,
    walkers: &mut Walkers,
    desk: &mut Desk,
) {
    let Ok(own) = units.get(unit) else { return };
    // It may have an order by now.
    if own.request.is_some() {
        return;
    }
    let Some((crowd, _)) = crowds.find(own.steering) else { return };
    let (map, plane) = (crowd.map, crowd.plane);
    let Some(place) = scene.place(map) else { return };
    let home = own.path.errand.and_then(|errand| errand.home).or_else(|| own.steering.memory.home());
    let (at, mut points) = (own.disc(plane).centre, Vec::new());
    if is_busy(&own, crowds, units, [Some(at), home], place) {
        rest(unit, home, crowds, units, desk);
        return;
    }
    let ground = footing(place, own.agent, at).zip(home);
    let found = ground.filter(|((_, footing), home)| find_way_home(*footing, at, *home, &mut points));
    let Ok(mut own) = units.get_mut(unit) else { return };
    let Some(((kind, _), home)) = found else {
        // This is its home now.
        own.path.errand = None;
        return;
    };
    let way = Way { map, plane, kind, version: place.version(), points };
    let tries = own.path.errand.map_or(0, |errand| errand.tries);
    let errand = Errand { stage: ErrandStage::Returns, patience: 0.0, home: Some(home), tries };
    own.set_out(way, errand, walkers, desk);
    if !crowds.errands.contains(&unit) {
        crowds.errands.push(unit);
    }
}

/// Whether somebody with an order is still to come past one of two places: while many do, whoever goes home is only in their
/// way, has to make room again, and would be carried along.
fn is_busy(
    own: &AdvisedReadOnlyItem<'_, '_>,
    crowds: &Crowds,
    units: &Query<Advised>,
    places: [Option<Vec2>; 2],
    place: &Place,
) -> bool {
    let Some((crowd, index)) = crowds.find(own.steering) else { return false };
    let (cell, radius) = (place.layout.map_or(0.0, |layout| layout.reach()), own.agent.radius.max(0.0));
    let comes = |centre: Vec2, number: usize| {
        let unit = crowd.units.get(number).and_then(|unit| units.get(*unit).ok());
        unit.filter(|unit| unit.request.is_some()).is_some_and(|unit| {
            !has_passed(Disc { centre, radius }, unit.disc(crowd.plane), unit.path.points())
        })
    };
    let mut is_busy = false;
    for centre in places.into_iter().flatten() {
        let reach = BUSY * (radius + cell);
        crowd.crowd.walking_around(index, centre, reach, |number| is_busy = is_busy || comes(centre, number));
    }
    is_busy
}

/// Has a unit stay where it is for a while before it goes home.
fn rest(unit: Entity, home: Option<Vec2>, crowds: &mut Crowds, units: &mut Query<Advised>, desk: &mut Desk) {
    let Ok(mut own) = units.get_mut(unit) else { return };
    let tries = own.path.errand.map_or(0, |errand| errand.tries);
    own.motion.halt();
    desk.keep(own.path.take());
    own.path.errand = Some(Errand { stage: ErrandStage::Rests, patience: PAUSE, home, tries });
    if !crowds.errands.contains(&unit) {
        crowds.errands.push(unit);
    }
}

/// The ground for a unit; from where it has too little room it gets away as well as it can.
fn footing<'a>(place: &'a Place, agent: &Agent, at: Vec2) -> Option<(Kind, Footing<'a>)> {
    let kind = place.kind(agent.class, agent.radius);
    let kind = if place.footing(kind)?.is_open(at) { kind } else { Kind::from(agent.class) };
    Some((kind, place.footing(kind)?))
}

/// Looks whether a unit need not give way any more, or has lost its way home. Returns whether it still has an errand.
fn go_on(
    unit: Entity,
    units: &mut Query<Advised>,
    dt: f32,
    put_off: &mut VecDeque<(Entity, Advice)>,
    desk: &mut Desk,
) -> bool {
    let Ok(own) = units.get(unit) else { return false };
    let Some(errand) = own.path.errand else { return false };
    let plane = own.motion.plane;
    let is_over = match errand.stage {
        ErrandStage::Returns => own.motion.stage != Stage::Walking,
        ErrandStage::Rests => errand.patience <= dt,
        ErrandStage::Leaves(to) | ErrandStage::Waits(to) => {
            let to = units.get(to).ok();
            errand.patience <= dt
                || to.is_none_or(|to| has_passed(own.disc(plane), to.disc(plane), to.path.points()))
        }
    };
    let Ok(mut own) = units.get_mut(unit) else { return false };
    if let Some(errand) = &mut own.path.bypass_change_detection().errand {
        errand.patience -= dt;
    }
    if is_over && own.request.is_some() {
        own.path.errand = None;
        desk.replan(unit, &mut own.path);
        return false;
    }
    if is_over && !put_off.iter().any(|(other, _)| *other == unit) {
        put_off.push_back((unit, Advice::GoHome));
    }
    true
}
