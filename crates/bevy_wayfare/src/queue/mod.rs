//! From requests to orders: reads `PathRequest`s that are new or changed, and sends them to the workers.
//!
//! Comes in: requests, removals, and units whose path must be planned again. Goes out: orders in the [`Pool`]'s post;
//! what cannot even be asked becomes an answer at once. [Deliver](crate::deliver) reads the answers.

mod order;
mod draft;
mod job;
mod gather;
mod shelf;
mod waiting;
mod pool;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use bevy::ecs::entity::{EntityHashMap, EntityIndexSet};
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::{Allow, QueryData};
use bevy::platform::time::Instant;
use bevy::prelude::*;
use core::time::Duration;

use crate::agent::{Agent, ClassId, OnMap};
use crate::avoid::Crowds;
use crate::event::FailureReason;
use crate::group::Billet;
use crate::march::MarchPlan;
use crate::motion::{Motion, Whereabouts};
use crate::path::Path;
use crate::plan::{Aim, Aims, Wish};
use crate::plane::Plane;
use crate::plugin::PathfindingClock;
use crate::request::{Goal, Goals, PathRequest, Priority};
use crate::scene::{Place, Scene};
use crate::settings::{Drive, PathfindingSettings};
use draft::{Companies, Draft};
pub(crate) use order::{Figures, Item, Order, Outcome, Task};
pub(crate) use pool::{Pool, Post, Turn};

/// How often an order may be replaced before it is answered. The next one waits for the answer, so that a unit ordered
/// anew in every frame is served too.
const MOST_REPLACED: u8 = 8;

/// What happened to requests since the queue was last looked at, as told by their hooks.
///
/// It may be long until somebody looks, so each entity is noted once.
#[derive(Resource, Debug)]
pub(crate) struct Inbox {
    /// Whether the order of insertions matters.
    keep_order: bool,
    insertions: u64,
    inserted: EntityHashMap<u64>,
    removed: EntityIndexSet,
    paths_replaced: EntityIndexSet,
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            // Until the settings are known it may.
            keep_order: true,
            insertions: 0,
            inserted: EntityHashMap::default(),
            removed: EntityIndexSet::default(),
            paths_replaced: EntityIndexSet::default(),
        }
    }
}

impl Inbox {
    pub(crate) fn inserted(&mut self, entity: Entity) {
        if self.keep_order {
            self.insertions += 1;
            self.inserted.insert(entity, self.insertions);
        }
    }

    pub(crate) fn removed(&mut self, entity: Entity, was_busy: bool) {
        self.inserted.remove(&entity);
        self.paths_replaced.swap_remove(&entity);
        if was_busy {
            self.removed.insert(entity);
        }
    }

    pub(crate) fn path_replaced(&mut self, entity: Entity) {
        self.paths_replaced.insert(entity);
    }
}

/// What the main thread keeps between request and answer.
#[derive(Resource, Default, Debug)]
pub(crate) struct Desk {
    pub(crate) last_ticket: u64,
    /// How many answers have been handed over.
    pub(crate) served: u64,
    /// Units whose path must be planned again.
    pub(crate) replans: Vec<Entity>,
    /// Units on their way to an entity that may move.
    pub(crate) chasers: Vec<Entity>,
    /// Answers that needed no search.
    pub(crate) ready: VecDeque<Outcome>,
    /// In lockstep, who must be answered when, in order.
    pub(crate) due: VecDeque<Due>,
    /// Groups whose orders are being put together.
    drafts: Vec<Draft>,
    /// Formations that have a new way.
    pub(crate) marches: Vec<Arc<MarchPlan>>,
    /// Memory to be handed to the workers.
    spare: Vec<Vec<Vec2>>,
}

impl Desk {
    /// Keeps the memory of points for the workers.
    pub(crate) fn keep(&mut self, points: Vec<Vec2>) {
        if points.capacity() > 0 {
            self.spare.push(points);
        }
    }

    /// Has a formation set out on its way; all its members bring the same one.
    pub(crate) fn march(&mut self, plan: Arc<MarchPlan>) {
        if self.marches.last().is_none_or(|last| !Arc::ptr_eq(last, &plan)) {
            self.marches.push(plan);
        }
    }

    /// Has a path planned again with the next look at the queue.
    pub(crate) fn replan(&mut self, entity: Entity, path: &mut Path) {
        if !path.order.replan {
            path.order.replan = true;
            self.replans.push(entity);
        }
    }
}

/// An answer that lockstep owes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) tick: u64,
    pub(crate) entity: Entity,
    pub(crate) ticket: u64,
    /// What the workers know the search by that finds it: that of a group is another one.
    pub(crate) job: (Entity, u64),
}

/// An entity with a request.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Asker {
    entity: Entity,
    request: Ref<'static, PathRequest>,
    agent: Option<&'static Agent>,
    on_map: Option<&'static OnMap>,
    at: Option<Whereabouts>,
    billet: Option<&'static Billet>,
    path: &'static mut Path,
}

/// A disabled unit loses no order; it walks when it is enabled again.
type New = (Changed<PathRequest>, Allow<Disabled>);

/// Sends new orders to the workers and takes cancelled ones back.
pub(crate) fn queue_requests(
    // Reads
    clock: Res<PathfindingClock>,
    scene: Res<Scene>,
    settings: Res<PathfindingSettings>,
    crowds: Option<Res<Crowds>>,
    targets: Query<Whereabouts>,
    companies: Companies,
    changed_agents: Query<Entity, (Or<(Added<Agent>, Changed<OnMap>)>, With<PathRequest>, Allow<Disabled>)>,
    // Local
    mut sequence: Local<Vec<Entity>>,
    // Writes
    mut requests: ParamSet<(Query<Asker, New>, Query<Asker, Allow<Disabled>>)>,
    mut stopped: Query<(&mut Path, Option<&mut Motion>), (Without<PathRequest>, Allow<Disabled>)>,
    mut inbox: ResMut<Inbox>,
    mut desk: ResMut<Desk>,
    pool: Res<Pool>,
) {
    let lockstep = settings.delivery.lockstep();
    let now = Instant::now();
    let avoids = crowds.is_some();
    let clerk =
        Clerk { tick: clock.tick(), now, scene: &scene, settings: &settings, avoids, targets: &targets };
    pool.post(|post| {
        for entity in inbox.removed.drain(..) {
            let cancelled = match stopped.get_mut(entity) {
                Ok((mut path, motion)) => stop(&mut path, motion, &mut desk),
                // Despawned, or ordered again since.
                Err(_) => !requests.p1().contains(entity),
            };
            if cancelled {
                post.push(Item::Cancel(entity));
            }
        }
        if lockstep.is_some() {
            in_order_of_insertion(&inbox, &requests.p0(), &mut sequence);
            for entity in sequence.drain(..) {
                if let Ok(asker) = requests.p1().get_mut(entity) {
                    clerk.take(asker, &mut desk, post);
                }
            }
        } else {
            for asker in &mut requests.p0() {
                clerk.take(asker, &mut desk, post);
            }
        }
        // A path may be there already, and nobody to walk it; or it may be on another map; or it may have been put in the
        // place of one that was waited for.
        for entity in changed_agents.iter().chain(inbox.paths_replaced.drain(..)) {
            if let Ok(mut asker) = requests.p1().get_mut(entity)
                && !asker.path.is_waiting()
            {
                desk.replan(entity, &mut asker.path);
            }
        }
        companies.call_up(&mut requests.p1(), &mut desk);
        let mut replans = core::mem::take(&mut desk.replans);
        for entity in replans.drain(..) {
            // One that was ordered anew in this very run needs nothing more.
            if let Ok(asker) = requests.p1().get_mut(entity)
                && asker.path.order.replan
            {
                clerk.take(asker, &mut desk, post);
            }
        }
        // Keeps its memory.
        desk.replans = replans;
        for draft in core::mem::take(&mut desk.drafts) {
            clerk.send(draft, &companies, &mut requests.p1(), &mut desk, post);
        }
    });
    inbox.inserted.clear();
    inbox.keep_order = lockstep.is_some();
    pool.recycle(&mut desk.spare);
}

/// Ends an order because its request was removed. Returns whether a worker must be told.
fn stop(path: &mut Path, motion: Option<Mut<Motion>>, desk: &mut Desk) -> bool {
    let waiting = path.order.close().is_some();
    path.order.target = None;
    if !path.points.is_empty() {
        desk.keep(path.take());
        if let Some(mut motion) = motion {
            motion.halt();
        }
    }
    waiting
}

/// Fills `sequence` with the entities whose request changed, in the order in which they were given it; those changed
/// in place come last.
fn in_order_of_insertion(inbox: &Inbox, changed: &Query<Asker, New>, sequence: &mut Vec<Entity>) {
    sequence.clear();
    sequence.extend(changed.iter().map(|asker| asker.entity));
    sequence
        .sort_by_key(|entity| (inbox.inserted.get(entity).copied().unwrap_or(u64::MAX), entity.index_u32()));
}

/// What it takes to turn a request into an order.
struct Clerk<'a, 'w, 's> {
    tick: u64,
    now: Instant,
    scene: &'a Scene,
    settings: &'a PathfindingSettings,
    /// Whether units keep clear of walls and of each other.
    avoids: bool,
    targets: &'a Query<'w, 's, Whereabouts>,
}

impl Clerk<'_, '_, '_> {
    /// Sends the request of one entity off, unless an older one of the same entity must be answered first.
    fn take(&self, asker: AskerItem<'_, '_>, desk: &mut Desk, post: &mut Post) {
        let AskerItem { entity, request, agent, on_map, at, billet, mut path } = asker;
        let path = path.bypass_change_detection();
        let around = path.around.take();
        let state = &mut path.order;
        state.replan = false;
        let again = state.asked == Some(request.last_changed());
        if state.ticket.is_some() && state.replaced >= MOST_REPLACED {
            state.superseded = true;
            return;
        }
        if state.ticket.is_some() {
            state.replaced += 1;
        } else {
            (state.since, state.replaced) = (self.tick, 0);
        }
        if !again {
            state.retries = 0;
        }
        // The same order stays on the map it was given on, whatever other map the unit passes over.
        let on_map = on_map.map(|on_map| on_map.0).or(state.map.filter(|_| again));
        desk.last_ticket += 1;
        let ticket = desk.last_ticket;
        state.superseded = false;
        state.ticket = Some(ticket);
        state.asked = Some(request.last_changed());
        let chased = state.target.is_some();
        state.target = None;
        let class = agent.map_or(ClassId::default(), |agent| agent.class);
        let position = at.map(|at| at.position());
        let asked = self.wish(&request, on_map, position).and_then(|(place, wish, target)| {
            place.view(class)?;
            Ok((place, wish, target))
        });
        let radius = agent.map_or(0.0, |agent| agent.radius);
        let (place, mut wish, target) = match asked {
            Ok(asked) => asked,
            Err(reason) => {
                post.push(Item::Cancel(entity));
                self.owe(desk, entity, ticket, (entity, ticket));
                let (made, nodes, searched) = (self.now, 0, Duration::ZERO);
                let (result, place) = (Err(reason), None);
                let kind = class.into();
                desk.ready.push_back(Outcome { entity, ticket, result, place, kind, made, nodes, searched });
                return;
            }
        };
        if self.avoids {
            (wish.radius, wish.around) = (radius, around);
        }
        if target.is_some() && !chased {
            desk.chasers.push(entity);
        }
        (state.target, state.map) = (target, Some(place.map));
        let (rank, served) = (self.rank(request.priority), state.served);
        match (request.group, billet) {
            // It has lost its group, and goes to its place alone.
            (Some(_), Some(Billet { alone: true, place: Some((place, _)), .. })) => wish.lead_to(*place),
            (Some(group), Some(billet)) => {
                let recruit = billet.recruit((entity, ticket), agent, place, &wish);
                if recruit.is_some_and(|recruit| desk.draft(group, place.map, recruit, &wish, (rank, served)))
                {
                    // It is answered with the others, and nothing it asked for before is.
                    post.push(Item::Cancel(entity));
                    return;
                }
            }
            _ => {}
        }
        self.owe(desk, entity, ticket, (entity, ticket));
        let (map, scene, task, made) = (place.map, self.scene_now(), Task::Path(wish), self.now);
        let (kind, tick) = (place.kind(class, radius), self.tick);
        post.push(Item::Order(Order { entity, ticket, rank, tick, served, map, kind, task, made, scene }));
    }

    /// In lockstep, an answer is due a while after it was asked for.
    fn owe(&self, desk: &mut Desk, entity: Entity, ticket: u64, job: (Entity, u64)) {
        let Some(ticks) = self.settings.delivery.lockstep() else { return };
        let due = Due { tick: self.tick + ticks, entity, ticket, job };
        let is_sooner = desk.due.back().is_some_and(|last| last.tick > due.tick);
        desk.due.push_back(due);
        if is_sooner {
            // Answers have been promised faster than before.
            desk.due.make_contiguous().sort_by_key(|due| due.tick);
        }
    }

    /// The maps that an order made now is about, if that matters.
    fn scene_now(&self) -> Option<Scene> {
        self.settings.delivery.lockstep().map(|_| self.scene.clone())
    }

    fn rank(&self, priority: Priority) -> i64 {
        let tick = self.tick.cast_signed();
        match self.settings.delivery.lockstep() {
            // There the answer is due at a given time, whatever the priority.
            Some(_) => tick,
            None => tick - i64::from(priority.0) * Priority::HEAD_START.cast_signed(),
        }
    }

    fn wish(
        &self,
        request: &PathRequest,
        on_map: Option<Entity>,
        position: Option<Vec3>,
    ) -> Result<(&Place, Wish, Option<(Entity, Vec2)>), FailureReason> {
        let position = match request.from {
            Some(_) => Vec3::ZERO,
            None => position.ok_or(FailureReason::NoPosition)?,
        };
        if !position.is_finite() {
            return Err(FailureReason::BadPosition);
        }
        let place = match (on_map, request.from) {
            (Some(map), _) => self.scene.place(map),
            (None, Some(_)) => self.scene.places.first(),
            (None, None) => self.scene.place_under(position),
        };
        let place = place.filter(|place| place.layout.is_some()).ok_or(FailureReason::NoMap)?;
        let start = match request.from {
            Some(cell) => Aim::Cell(cell.into()),
            None => Aim::Point(place.plane.flat(position)),
        };
        let (aims, target) = match &request.goals {
            Goals::One(goal) => {
                let aim = self.aim(*goal, place.plane)?;
                let target = match (goal, aim) {
                    (Goal::Entity(target), Aim::Point(point)) => Some((*target, point)),
                    _ => None,
                };
                (Aims::One(aim), target)
            }
            Goals::Nearest(goals) => {
                let found = goals.iter().filter_map(|goal| self.aim(*goal, place.plane).ok());
                let aims: Vec<Aim> = found.collect();
                if aims.is_empty() && !goals.is_empty() {
                    return Err(FailureReason::TargetLost);
                }
                (Aims::Nearest(aims.into()), None)
            }
        };
        let escape_cells = self.settings.escape_cells;
        Ok((
            place,
            Wish { start, aims, options: request.options, escape_cells, radius: 0.0, around: None },
            target,
        ))
    }

    fn aim(&self, goal: Goal, plane: Plane) -> Result<Aim, FailureReason> {
        Ok(match goal {
            Goal::Position(position) => Aim::Point(plane.flat(position)),
            Goal::Point(point) => Aim::Point(point),
            Goal::Cell(cell) => Aim::Cell(cell.into()),
            Goal::Entity(entity) => {
                let target = self.targets.get(entity).map_err(|_| FailureReason::TargetLost)?;
                Aim::Point(plane.flat(target.position()))
            }
        })
    }
}

/// Has the workers work, or works itself.
pub(crate) fn search(settings: Res<PathfindingSettings>, pool: Res<Pool>) {
    match settings.driver() {
        Drive::Pool => pool.employ(settings.worker_count(), settings.slice_nodes),
        Drive::InFrame => {
            // Workers that are still there leave after their slice.
            pool.set_budgets(0, settings.slice_nodes);
            let end = settings.frame_end();
            while pool.queued() > 0 && pool.turn() == Turn::Worked {
                if end.is_some_and(|end| Instant::now() >= end) {
                    break;
                }
            }
        }
    }
}
