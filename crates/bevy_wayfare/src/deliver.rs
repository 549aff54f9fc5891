//! From answers to paths: what workers found is written into `Path`, and the game hears of it.
//!
//! Comes in: the channel of the [`Pool`]. Goes out: `Path`, `PathFound`, `PathFailed`; units set out.

use std::sync::Arc;

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::{Allow, QueryData};
use bevy::prelude::*;
use wayfare::Headway;
use wayfare::follow::{is_worse, join};

use crate::agent::Agent;
use crate::diagnostics::Tally;
use crate::event::{FailureReason, PathFound, PathInvalidated};
use crate::group::Billet;
use crate::life::fail;
use crate::lockstep::Early;
use crate::motion::{Motion, Walkers, Whereabouts};
use crate::path::{Path, Reach};
use crate::plan::Planned;
use crate::plugin::{Following, PathfindingClock};
use crate::queue::{Desk, Due, Figures, Outcome, Pool};
use crate::request::{Goal, Goals, PathRequest};
use crate::scene::{Kind, Place, Scene};
use crate::settings::{Drive, PathfindingSettings};

/// How many points of a new path are tried as the one to walk to first.
const JOIN: usize = 3;

/// Whoever may be waiting for an answer.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Unit {
    entity: Entity,
    path: &'static mut Path,
    walker: Option<(&'static Agent, &'static mut Motion)>,
    request: Option<&'static PathRequest>,
    at: Option<Whereabouts>,
    billet: Option<&'static mut Billet>,
}

type Units<'w, 's> = Query<'w, 's, Unit, Allow<Disabled>>;

/// Hands answers to those who asked.
pub(crate) fn deliver_paths(
    // Reads
    clock: Res<PathfindingClock>,
    scene: Res<Scene>,
    settings: Res<PathfindingSettings>,
    following: Res<Following>,
    pool: Res<Pool>,
    // Local
    mut early: Local<Early>,
    targets: Query<Whereabouts>,
    // Writes
    mut units: Units,
    mut desk: ResMut<Desk>,
    mut walkers: ResMut<Walkers>,
    mut tally: ResMut<Tally>,
    mut commands: Commands,
) {
    let mut courier = Courier {
        scene: &scene,
        targets: &targets,
        lockstep: settings.delivery.lockstep().is_some(),
        following: *following,
        desk: &mut desk,
        walkers: &mut walkers,
        tally: &mut tally,
        commands: commands.reborrow(),
    };
    if courier.lockstep {
        let alone = settings.driver() == Drive::InFrame;
        while let Some(due) = courier.desk.due.pop_front_if(|due| due.tick <= clock.tick()) {
            if is_awaited(&due, &units)
                && let Some(outcome) = early.wait_for(&due, courier.desk, &pool, alone)
            {
                courier.hand_over(outcome, &mut units);
            }
        }
        for outcome in early.made_before_lockstep(courier.desk, &pool) {
            courier.hand_over(outcome, &mut units);
        }
        return;
    }
    courier.desk.due.clear();
    for outcome in early.take_all() {
        courier.hand_over(outcome, &mut units);
    }
    let mut delivered = 0;
    while delivered < settings.deliveries.max(1) {
        let Some(outcome) = courier.desk.ready.pop_front().or_else(|| pool.receive()) else { break };
        // What nobody waits for any more takes no time worth counting.
        delivered += usize::from(courier.hand_over(outcome, &mut units));
    }
}

/// Whether an answer is still wanted: the order may have been replaced or withdrawn.
fn is_awaited(due: &Due, units: &Units) -> bool {
    units.get(due.entity).is_ok_and(|unit| unit.path.order.ticket == Some(due.ticket))
}

struct Courier<'a, 'tw, 'ts> {
    scene: &'a Scene,
    targets: &'a Query<'tw, 'ts, Whereabouts>,
    lockstep: bool,
    following: Following,
    desk: &'a mut Desk,
    walkers: &'a mut Walkers,
    tally: &'a mut Tally,
    commands: Commands<'a, 'a>,
}

impl Courier<'_, '_, '_> {
    /// Returns whether anybody was waiting for it.
    fn hand_over(&mut self, outcome: Outcome, units: &mut Units) -> bool {
        let unit = units.get_mut(outcome.entity).ok();
        let Some(mut unit) = unit.filter(|unit| unit.path.order.ticket == Some(outcome.ticket)) else {
            if let Ok(planned) = outcome.result {
                self.desk.keep(planned.points);
            }
            return false;
        };
        let superseded = unit.path.order.superseded;
        unit.path.order.close();
        self.desk.served += 1;
        unit.path.order.served = self.desk.served;
        let figures = outcome.figures();
        let now = outcome.place.as_ref().and_then(|place| self.scene.place(place.map));
        let is_new = |then: &Arc<Place>| now.is_none_or(|now| !Arc::ptr_eq(then, now));
        let overtaken = outcome.place.as_ref().is_some_and(is_new);
        match (outcome.result, outcome.place.as_deref(), now) {
            // Another order, or the map as it is now, may have another answer; but lockstep promised this one.
            (Err(_), ..) if superseded || (overtaken && unit.path.order.may_retry() && !self.lockstep) => {
                let retries = &mut unit.path.order.retries;
                *retries = retries.saturating_add(u8::from(!superseded));
                self.desk.replan(unit.entity, &mut unit.path);
            }
            (Err(reason), ..) => self.refuse(reason, figures, unit),
            (Ok(planned), Some(then), Some(now)) => {
                let worse = overtaken && is_overtaken(&planned.points, then, now, outcome.kind);
                let answer =
                    Answer { planned, kind: outcome.kind, version: then.version(), worse, superseded };
                self.give(answer, figures, unit, now);
            }
            (Ok(planned), ..) => {
                self.desk.keep(planned.points);
                self.refuse(FailureReason::Cancelled, figures, unit);
            }
        }
        true
    }

    fn refuse(&mut self, reason: FailureReason, figures: Figures, mut unit: UnitItem<'_, '_>) {
        self.tally.failed(figures);
        let motion = unit.walker.map(|(_, motion)| motion.into_inner());
        let path = &mut unit.path;
        fail(unit.entity, reason, path, motion, self.desk, self.walkers, &mut self.commands);
    }

    /// Writes the path, and sends the unit off.
    fn give(&mut self, answer: Answer, figures: Figures, unit: UnitItem<'_, '_>, now: &Place) {
        let UnitItem { entity, mut path, walker, request, at, billet } = unit;
        let Answer { planned, kind, version, worse, superseded } = answer;
        let Planned { points, cost, reach, posting } = planned;
        // The game may have withdrawn the request since the queue was last looked at.
        let Some(request) = request else {
            self.desk.keep(points);
            return;
        };
        let walks = self.following == Following::On && request.from.is_none();
        let mut headway = Headway::default();
        // In a formation it need not get onto its own path.
        let marches = walks && posting.as_ref().is_some_and(|posting| posting.plan.way.is_some());
        if let Some(at) = at.as_ref().filter(|_| walks && walker.is_some() && !marches) {
            match get_on(now, kind, &points, now.plane.flat(at.position())) {
                Some(joined) => headway = joined,
                // The unit has walked on out of sight of its new path.
                None if path.order.may_retry() => {
                    path.order.retries += 1;
                    self.desk.keep(points);
                    self.desk.replan(entity, &mut path);
                    return;
                }
                None => {}
            }
        }
        self.tally.found(figures);
        self.desk.keep(path.take());
        path.order.retries = 0;
        (path.points, path.headway, path.cost, path.reach) = (points, headway, cost, reach);
        (path.map, path.kind, path.version) = (Some(now.map), kind, version);
        // If it has another size than when it was asked for, that is seen with the next step.
        let agent = walker.as_ref().map(|(agent, _)| *agent);
        let is_same = |agent: &&Agent| now.kind(agent.class, agent.radius) == kind;
        path.radius = agent.filter(is_same).map_or(f32::NAN, |agent| agent.radius);
        if let Some(target) = nearest_target(request, &path, now, self.targets) {
            // Of several entities, one was the nearest: from now on it is watched.
            if path.order.target.is_none() {
                self.desk.chasers.push(entity);
            }
            path.order.target = Some(target);
        }
        if let (Some(posting), Some(mut billet)) = (posting, billet) {
            billet.join(&posting);
            if walks {
                self.desk.march(posting.plan);
            }
        }
        match (walker, at) {
            (Some((agent, mut motion)), Some(at)) if walks => {
                motion.set_out(now.plane, &at, agent.facing);
                motion.marching = marches;
                self.walkers.0 += 1;
            }
            // A path between two cells is not walked, and the one before is gone.
            (Some((_, mut motion)), _) => motion.halt(),
            (None, _) => {}
        }
        self.commands.trigger(PathFound { entity, reach, cost });
        if worse {
            path.order.broken = true;
            self.commands.trigger(PathInvalidated { entity });
        }
        if worse || superseded {
            self.desk.replan(entity, &mut path);
        }
    }
}

/// A path to be given to a unit.
struct Answer {
    planned: Planned,
    kind: Kind,
    /// The version of the map it was searched on.
    version: u64,
    /// That map is no longer, and the path does not hold on the new one.
    worse: bool,
    /// A newer order waits.
    superseded: bool,
}

/// Which of several entities a path leads to, and where it was.
fn nearest_target(
    request: &PathRequest,
    path: &Path,
    place: &Place,
    targets: &Query<Whereabouts>,
) -> Option<(Entity, Vec2)> {
    let (Goals::Nearest(goals), Reach::Goal, Some(end)) = (&request.goals, path.reach, path.end()) else {
        return None;
    };
    let entities = goals.iter().filter_map(|goal| match goal {
        Goal::Entity(target) => Some(*target),
        _ => None,
    });
    let gap = |target: Entity| Some(place.plane.flat(targets.get(target).ok()?.position()).distance(end));
    let gaps = entities.filter_map(|target| Some((target, gap(target)?)));
    let (target, gap) = gaps.min_by(|a, b| a.1.total_cmp(&b.1))?;
    // A goal that is no entity may have been nearer.
    let near = place.layout.map_or(0.0, |layout| 4.0 * layout.reach());
    (gap <= near).then_some((target, end))
}

/// Whether a path searched on a map as it was no longer holds on the map as it is.
fn is_overtaken(points: &[Vec2], then: &Place, now: &Place, kind: Kind) -> bool {
    let (Ok(before), Some(footing), Some(start)) = (then.view(kind), now.footing(kind), points.first())
    else {
        return true;
    };
    then.layout != now.layout || is_worse(footing, before, points, *start)
}

/// Where a unit gets onto its new path, having perhaps moved since it was asked for.
fn get_on(now: &Place, kind: Kind, points: &[Vec2], at: Vec2) -> Option<Headway> {
    if points.first() == Some(&at) {
        return Some(Headway::default());
    }
    // Out of a blocked cell nothing is in sight; the way out is straight ahead.
    let footing = now.footing(kind).filter(|footing| footing.is_open(at));
    match footing {
        Some(footing) => join(footing, &points[..points.len().min(JOIN)], at),
        None => Some(Headway::default()),
    }
}
