//! Formations on the way: from a group's march to the velocities of its members, by the core's [`March`].
//!
//! Comes in: marches that answers brought, where members are. Goes out: [`WantedVelocity`] of those who march, and the step it
//! stands for. Those who lost sight of their formation are sent to their places on their own; when the formation is
//! there, everybody is.

use std::sync::Arc;

use bevy::prelude::*;
use wayfare::follow::slide;
use wayfare::group::{March, MarchOrder, Marcher};

use crate::agent::Agent;
use crate::group::{Billet, GroupOrder, Members, Pace};
use crate::motion::{Motion, Stage, WantedVelocity};
use crate::path::Path;
use crate::queue::Desk;
use crate::request::PathRequest;
use crate::scene::{Kind, Scene};
use crate::settings::PathfindingSettings;

/// The way of a formation, as a search found it.
#[derive(PartialEq, Debug)]
pub(crate) struct MarchPlan {
    pub(crate) group: Entity,
    pub(crate) kind: Kind,
    /// The point its members have their places around.
    pub(crate) goal: Vec2,
    /// The way of its middle, if it is kept.
    pub(crate) way: Option<Vec<Vec2>>,
    pub(crate) turns: bool,
}

/// What a member is told of its place.
#[derive(Clone, Debug)]
pub(crate) struct Posting {
    pub(crate) place: Vec2,
    pub(crate) offset: Vec2,
    pub(crate) plan: Arc<MarchPlan>,
}

/// The formations of a group that are on their way: one for each kind of units.
#[derive(Component, Default, Debug)]
pub(crate) struct Columns(Vec<Column>);

#[derive(Debug)]
struct Column {
    plan: Arc<MarchPlan>,
    march: March,
}

impl Columns {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Sets out on a new way, unless it is the one it is on.
    fn set_out(&mut self, plan: &Arc<MarchPlan>) {
        if self.0.iter().any(|column| Arc::ptr_eq(&column.plan, plan)) {
            return;
        }
        self.0.retain(|column| column.plan.kind != plan.kind);
        if let Some(way) = &plan.way {
            let march = March::new(way.clone(), plan.turns);
            self.0.push(Column { plan: Arc::clone(plan), march });
        }
    }
}

type Soldiers<'w, 's> = Query<
    'w,
    's,
    (
        Entity,
        &'static Agent,
        &'static PathRequest,
        &'static mut Path,
        &'static mut Motion,
        &'static mut Billet,
        &'static mut WantedVelocity,
    ),
>;

/// Leads formations on, and says where their members have to be.
pub(crate) fn lead_groups(
    // Reads
    time: Res<Time>,
    scene: Res<Scene>,
    settings: Res<PathfindingSettings>,
    // Writes
    mut groups: Query<(Entity, &GroupOrder, &mut Columns, &Members)>,
    mut soldiers: Soldiers,
    mut desk: ResMut<Desk>,
) {
    for plan in desk.marches.drain(..) {
        if let Ok((_, _, mut columns, _)) = groups.get_mut(plan.group) {
            columns.set_out(&plan);
        }
    }
    let (dt, slowed) = (time.delta_secs(), settings.slowed_by_terrain);
    for (group, order, mut columns, members) in &mut groups {
        if order.pace == Pace::Common {
            keep_pace(group, members, &mut soldiers);
        }
        if columns.0.is_empty() {
            continue;
        }
        for column in &mut columns.0 {
            column.lead(members, &scene, slowed, dt, &mut soldiers, &mut desk);
        }
        columns.0.retain(|column| !column.march.has_arrived());
    }
}

impl MarchPlan {
    /// Whether a unit is to keep its place in this formation.
    fn has(&self, request: &PathRequest, path: &Path, motion: &Motion, billet: &Billet) -> bool {
        request.group == Some(self.group)
            && path.kind == self.kind
            && motion.stage == Stage::Walking
            && billet.place.is_some()
            && !billet.detached
            && path.errand.is_none()
    }
}

impl Column {
    fn lead(
        &mut self,
        members: &Members,
        scene: &Scene,
        slowed: bool,
        dt: f32,
        soldiers: &mut Soldiers,
        desk: &mut Desk,
    ) {
        let plan = Arc::clone(&self.plan);
        let find = |unit: Entity| {
            let (_, agent, request, path, motion, billet, _) = soldiers.get(unit).ok()?;
            plan.has(request, path, motion, billet).then(|| (path.map, marcher(agent, motion, billet)))
        };
        let map = members.iter().find_map(|unit| find(unit)?.0);
        let place = map.and_then(|map| scene.place(map));
        let Some(footing) = place.and_then(|place| place.footing(plan.kind)) else { return };
        let marchers = members.iter().filter_map(|unit| find(unit).map(|(_, marcher)| marcher));
        self.march.advance(footing, marchers, slowed, dt);
        for unit in members.iter() {
            let Ok((entity, agent, request, mut path, mut motion, mut billet, mut wanted)) =
                soldiers.get_mut(unit)
            else {
                continue;
            };
            if !plan.has(request, &path, &motion, &billet) {
                continue;
            }
            let soldier = marcher(agent, &motion, &billet);
            match self.march.order(footing, &soldier, slowed, dt) {
                // From here it finds its place by itself.
                Some(_) if self.march.has_arrived() && footing.is_clear(motion.position, soldier.slot) => {
                    path.lead_to(soldier.slot);
                }
                Some(order) if !self.march.has_arrived() => {
                    (motion.marching, billet.alone) = (true, false);
                    let step = slide(footing, motion.position, order.velocity * dt);
                    step_to(&mut motion, agent, &order, step, dt);
                    let velocity = if dt > 0.0 { (step - motion.position) / dt } else { Vec2::ZERO };
                    wanted.0 = motion.plane.at_height(velocity, 0.0);
                }
                _ if !billet.alone => {
                    billet.alone = true;
                    desk.replan(entity, &mut path);
                }
                _ => {}
            }
        }
    }
}

fn marcher(agent: &Agent, motion: &Motion, billet: &Billet) -> Marcher {
    Marcher {
        position: motion.position,
        radius: agent.radius,
        speed: agent.speed,
        offset: billet.offset,
        slot: billet.place.map_or(motion.position, |(place, _)| place),
    }
}

/// Plans a step that keeps a unit in its formation, turning as fast as it can.
fn step_to(motion: &mut Motion, agent: &Agent, order: &MarchOrder, step: Vec2, dt: f32) {
    motion.planned = step;
    motion.to_go = Some(order.to_go);
    motion.arrives = false;
    motion.planned_heading = motion.heading;
    if order.velocity.length_squared() > 1e-6 {
        let facing = Vec2::from_angle(motion.heading);
        // No time is no turn, even at an infinite rate; and what is not a number is none.
        let most = agent.turn_rate * dt;
        let most = if most.is_nan() { 0.0 } else { most.max(0.0) };
        let turn = facing.angle_to(order.velocity).clamp(-most, most);
        motion.planned_heading = Vec2::from_angle(turn).rotate(facing).to_angle();
    }
}

/// Nobody is faster than the slowest who is still on the way.
fn keep_pace(group: Entity, members: &Members, soldiers: &mut Soldiers) {
    let is_on_way = |request: &PathRequest| request.group == Some(group);
    let speeds = members.iter().filter_map(|unit| {
        let (_, agent, request, ..) = soldiers.get(unit).ok()?;
        is_on_way(request).then_some(agent.speed)
    });
    let slowest = speeds.fold(f32::INFINITY, f32::min);
    for unit in members.iter() {
        if let Ok((_, _, request, _, mut motion, ..)) = soldiers.get_mut(unit)
            && is_on_way(request)
        {
            motion.pace = slowest;
        }
    }
}
