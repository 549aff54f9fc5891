//! What a unit is given: a [`Path`], there from the start and empty until a request is answered.

use std::sync::Arc;

use bevy::ecs::change_detection::Tick;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use wayfare::avoid::Disc;
use wayfare::{Cost, Headway};

use crate::errand::Errand;
use crate::queue::Inbox;
use crate::request::PathRequest;
use crate::scene::Kind;

/// The points an entity is to walk along, and how far it is. Comes with [`Agent`](crate::Agent) and
/// [`PathRequest`], and is written in place: an empty path is no path.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn show(paths: Query<(&Transform, &Path)>, mut lines: Local<Vec<(Vec2, Vec2)>>) {
///     lines.clear();
///     for (transform, path) in &paths {
///         let mut at = transform.translation.truncate();
///         for point in path.points() {
///             lines.push((at, *point));
///             at = *point;
///         }
///     }
/// }
/// ```
#[derive(Component, Reflect, Default, Debug)]
#[reflect(Component, Default, Clone, Debug)]
#[component(on_insert = note_new_path)]
pub struct Path {
    pub(crate) points: Vec<Vec2>,
    #[reflect(ignore)]
    pub(crate) headway: Headway,
    pub(crate) cost: Cost,
    pub(crate) version: u64,
    pub(crate) map: Option<Entity>,
    /// Whom it was found for, and the size of the body that was.
    #[reflect(ignore)]
    pub(crate) kind: Kind,
    pub(crate) radius: f32,
    pub(crate) reach: Reach,
    #[reflect(ignore)]
    pub(crate) order: OrderState,
    /// Those whom the next search should lead around.
    #[reflect(ignore)]
    pub(crate) around: Option<Arc<[Disc]>>,
    /// It leads out of somebody's way, not to where the unit was ordered.
    #[reflect(ignore)]
    pub(crate) errand: Option<Errand>,
}

impl Path {
    /// The points still to be reached, on the map's plane: X and Y, or X and Z. Empty if there is no path.
    pub fn points(&self) -> &[Vec2] {
        self.points.get(self.headway.next()..).unwrap_or_default()
    }

    /// The point where it ends.
    pub fn end(&self) -> Option<Vec2> {
        self.points.last().copied()
    }

    /// Whether there is nothing to walk.
    pub fn is_empty(&self) -> bool {
        self.points().is_empty()
    }

    /// What the whole path costs, in the step costs of the map's rules.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The version of the map it was made for.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The map it lies on.
    pub fn map(&self) -> Option<Entity> {
        self.map
    }

    /// Where it leads.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Whether a request is still to be answered.
    pub fn is_waiting(&self) -> bool {
        self.order.ticket.is_some() || self.order.replan
    }

    /// For how many runs of the schedule the request has been waiting, if it is; `now` is
    /// [`PathfindingClock::tick`](crate::PathfindingClock::tick).
    pub fn waited(&self, now: u64) -> Option<u64> {
        self.is_waiting().then(|| now.saturating_sub(self.order.since))
    }

    /// Whether there is an order, or something to walk.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_waiting() || !self.points.is_empty()
    }

    /// Leads straight to a point, which is in sight, instead of along what is left.
    pub(crate) fn lead_to(&mut self, point: Vec2) {
        self.points.clear();
        self.points.push(point);
        self.headway = Headway::default();
    }

    /// Ends the walk, and returns the memory of the points.
    pub(crate) fn take(&mut self) -> Vec<Vec2> {
        self.headway = Headway::default();
        self.cost = 0;
        self.order.broken = false;
        self.errand = None;
        core::mem::take(&mut self.points)
    }
}

/// A copy of the points; the order they were found for stays with the original.
impl Clone for Path {
    fn clone(&self) -> Self {
        let Self { points, headway, cost, version, map, kind, radius, reach, .. } = self;
        let (points, order) = (points.clone(), OrderState::default());
        Self {
            points,
            headway: *headway,
            cost: *cost,
            version: *version,
            map: *map,
            kind: *kind,
            radius: *radius,
            reach: *reach,
            order,
            around: None,
            errand: None,
        }
    }
}

/// A path that is put in the place of another takes what is known of the order with it: it must be asked for again.
fn note_new_path(mut world: DeferredWorld, context: HookContext) {
    if world.get::<PathRequest>(context.entity).is_some()
        && let Some(mut inbox) = world.get_resource_mut::<Inbox>()
    {
        inbox.path_replaced(context.entity);
    }
}

/// How far a path leads.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum Reach {
    /// To the goal.
    #[default]
    Goal,
    /// To the nearest point that can be reached, because the goal cannot.
    Nearest,
    /// As near as the search had come when its budget was spent.
    BudgetSpent,
}

/// What the queue knows of an entity's order.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct OrderState {
    /// The order to be answered next.
    pub(crate) ticket: Option<u64>,
    /// When the first order was made that has not been answered since.
    pub(crate) since: u64,
    /// How often it has been replaced since.
    pub(crate) replaced: u8,
    /// The number of the last answer it got.
    pub(crate) served: u64,
    /// How often its answer was overtaken by events.
    pub(crate) retries: u8,
    /// What remains of the path no longer holds, and a new one is on its way.
    pub(crate) broken: bool,
    /// It is to be sent off with the next run of the schedule.
    pub(crate) replan: bool,
    /// A newer order waits until this one is answered.
    pub(crate) superseded: bool,
    /// Where the target was when the order was made, if it is an entity.
    pub(crate) target: Option<(Entity, Vec2)>,
    /// The map it is about.
    pub(crate) map: Option<Entity>,
    /// Which change of the request it stands for.
    pub(crate) asked: Option<Tick>,
}

/// How often an answer that events have overtaken is asked for again, before it counts nevertheless.
const MOST_RETRIES: u8 = 8;

impl OrderState {
    pub(crate) fn may_retry(&self) -> bool {
        self.retries < MOST_RETRIES
    }

    /// The order is answered, or no longer wanted. Returns its ticket.
    pub(crate) fn close(&mut self) -> Option<u64> {
        self.replaced = 0;
        (self.superseded, self.replan) = (false, false);
        self.ticket.take()
    }
}
