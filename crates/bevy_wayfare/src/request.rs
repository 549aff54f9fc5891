//! What a game asks: a [`PathRequest`] on an entity, to one [`Goal`] or the nearest of several.
//!
//! The request is the order. It stays on the entity while the order is alive; replacing it is a new order, removing it
//! is the order to stop. The queue reads it.

use core::fmt;

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use wayfare::{
    Cell, Fallback, Gear, Heuristic, Objective, PathQuery, RouteShape, StopWhen, StraightLine, Weight,
};

use crate::group::GroupOrder;
use crate::path::Path;
use crate::queue::Inbox;

/// An order to find a path, and for an [`Agent`](crate::Agent) to walk it.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn order(mut commands: Commands, units: Query<Entity, With<Agent>>, player: Single<Entity, With<Camera>>) {
///     for unit in &units {
///         // To a point of the world, or to the nearest one that can be reached.
///         commands.entity(unit).insert(PathRequest::to(Vec3::new(40.0, 12.0, 0.0)).or_nearest());
///         // To a cell; before all others.
///         commands.entity(unit).insert(PathRequest::to(Cell::new(3, 7)).priority(Priority::HIGH));
///         // After somebody who may move.
///         commands.entity(unit).insert(PathRequest::to(*player));
///         // To whichever is cheapest to reach.
///         commands.entity(unit).insert(PathRequest::to_nearest([Cell::new(0, 0), Cell::new(31, 31)]));
///         // Stop.
///         commands.entity(unit).remove::<PathRequest>();
///     }
///     // Only a path, for nobody: the entity needs neither an agent nor a transform.
///     commands.spawn(PathRequest::between(Cell::new(0, 0), Cell::new(5, 5)));
/// }
/// ```
///
/// # Life of a request
///
/// An entity has at most one. Inserting another one, or changing it in place, replaces it: the search for
/// the old one is dropped, no failure is reported, and the unit goes on along its old path until the new
/// one is there. An entity ordered anew keeps its place in the queue, and one that is ordered anew again and again
/// before it is served gets the path of its eighth order before the ninth is looked at, so that nobody starves.
/// Inserting an equal request again plans again from where the unit is: that is how a unit takes a shorter way that
/// has been opened.
///
/// The plugin removes it after [`Arrived`](crate::Arrived) and after [`PathFailed`](crate::PathFailed). On an entity
/// that does not walk it stays after [`PathFound`](crate::PathFound), and the path is kept right as the map changes.
#[derive(Component, Reflect, Clone, PartialEq, Debug)]
#[reflect(Component, Clone, PartialEq, Debug)]
#[require(Path)]
#[component(on_insert = note_insertion, on_remove = note_removal)]
pub struct PathRequest {
    pub(crate) from: Option<IVec2>,
    pub(crate) goals: Goals,
    pub(crate) priority: Priority,
    pub(crate) options: PathOptions,
    /// The entity of the order it was given with, to many.
    pub(crate) group: Option<Entity>,
}

impl PathRequest {
    /// From where the entity is to a point, a cell or another entity.
    pub fn to(goal: impl Into<Goal>) -> Self {
        Self::new(None, Goals::One(goal.into()))
    }

    /// From where the entity is to whichever of these is the cheapest to reach.
    pub fn to_nearest<G: Into<Goal>>(goals: impl IntoIterator<Item = G>) -> Self {
        Self::new(None, Goals::Nearest(goals.into_iter().map(Into::into).collect()))
    }

    /// Between two cells of the map named by [`OnMap`](crate::OnMap), or of the oldest map. The path is found and
    /// kept, not walked.
    pub fn between(from: impl Into<Cell>, to: impl Into<Cell>) -> Self {
        let from: Cell = from.into();
        Self::new(Some(IVec2::new(from.x, from.y)), Goals::One(Goal::from(to.into())))
    }

    fn new(from: Option<IVec2>, goals: Goals) -> Self {
        Self { from, goals, priority: Priority::NORMAL, options: PathOptions::default(), group: None }
    }

    /// What a unit is asked with others.
    pub(crate) fn in_group(group: Entity, order: &GroupOrder) -> Self {
        let alone = Self::to(order.goal).priority(order.priority);
        let request = if order.or_nearest { alone.or_nearest() } else { alone };
        Self { group: Some(group), ..request }
    }

    /// Served before lower ones.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Goes to the nearest point that can be reached if the goal cannot be. If a way to the goal is opened before the unit is
    /// there, it takes that; once it has arrived at the nearest point, the request is done.
    #[must_use]
    pub fn or_nearest(self) -> Self {
        self.map(|query| query.fallback(Fallback::Nearest))
    }

    /// How the remaining cost is estimated.
    #[must_use]
    pub fn heuristic(self, heuristic: Heuristic) -> Self {
        self.map(|query| query.heuristic(heuristic))
    }

    /// How much the estimate counts.
    #[must_use]
    pub fn weight(self, weight: Weight) -> Self {
        self.map(|query| query.weight(weight))
    }

    /// When the search may stop.
    #[must_use]
    pub fn stop_when(self, stop: StopWhen) -> Self {
        self.map(|query| query.stop_when(stop))
    }

    /// What makes one path better than another.
    #[must_use]
    pub fn objective(self, objective: Objective) -> Self {
        self.map(|query| query.objective(objective))
    }

    /// Whether a clear straight line is taken without a search.
    #[must_use]
    pub fn straight_line(self, straight_line: StraightLine) -> Self {
        self.map(|query| query.straight_line(straight_line))
    }

    /// Which points the path lists. [Pulled taut](RouteShape::Pulled) by default, which is what looks best walked.
    #[must_use]
    pub fn shape(self, shape: RouteShape) -> Self {
        self.map(|query| query.shape(shape))
    }

    /// Gives up after closing this many nodes.
    #[must_use]
    pub fn budget(self, nodes: u64) -> Self {
        self.map(|query| query.budget(nodes))
    }

    /// How much the search may make of the ground. All find a cheapest path; less takes longer.
    #[must_use]
    pub fn gear(self, gear: Gear) -> Self {
        self.map(|query| query.gear(gear))
    }

    fn map(mut self, change: impl FnOnce(PathQuery) -> PathQuery) -> Self {
        self.options.0 = change(self.options.0);
        self
    }

    /// Where it leads.
    pub fn goals(&self) -> &[Goal] {
        match &self.goals {
            Goals::One(goal) => core::slice::from_ref(goal),
            Goals::Nearest(goals) => goals,
        }
    }
}

/// Where a path leads, or one of several places it may lead to.
#[derive(Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub enum Goal {
    /// A point of the world; its height does not matter.
    Position(Vec3),
    /// A point of the map's plane: X and Y, or X and Z.
    Point(Vec2),
    /// The centre of a cell.
    Cell(IVec2),
    /// Where this entity is. If it moves away, the path is planned again; if it disappears, the request fails, unless it
    /// was one of several goals.
    Entity(Entity),
}

impl From<Vec3> for Goal {
    fn from(position: Vec3) -> Self {
        Self::Position(position)
    }
}

impl From<Vec2> for Goal {
    fn from(point: Vec2) -> Self {
        Self::Point(point)
    }
}

impl From<Cell> for Goal {
    fn from(cell: Cell) -> Self {
        Self::Cell(IVec2::new(cell.x, cell.y))
    }
}

impl From<IVec2> for Goal {
    fn from(cell: IVec2) -> Self {
        Self::Cell(cell)
    }
}

impl From<Entity> for Goal {
    fn from(entity: Entity) -> Self {
        Self::Entity(entity)
    }
}

#[derive(Reflect, Clone, PartialEq, Debug)]
pub(crate) enum Goals {
    One(Goal),
    Nearest(Vec<Goal>),
}

/// Who is served first: higher ones, and among equals the oldest.
///
/// A step of priority is worth [`HEAD_START`](Self::HEAD_START) runs of the schedule: a request that has waited so much
/// longer goes first though it is lower. So nobody waits forever.
///
/// ```
/// use bevy_wayfare::prelude::*;
///
/// let urgent = PathRequest::to(Cell::new(3, 4)).priority(Priority::HIGH);
/// let more_urgent = PathRequest::to(Cell::new(3, 4)).priority(Priority(5));
/// ```
#[derive(Reflect, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub struct Priority(pub i8);

impl Priority {
    /// Whenever there is time.
    pub const LOW: Self = Self(-1);
    /// The usual.
    pub const NORMAL: Self = Self(0);
    /// A player is looking.
    pub const HIGH: Self = Self(1);

    /// How many runs of the schedule a request may be younger than one a step lower and still go first.
    pub const HEAD_START: u64 = 256;
}

/// What a request asks of the search besides start and goal.
#[derive(Reflect, Clone, Copy, PartialEq)]
#[reflect(opaque)]
#[reflect(Clone, PartialEq, Debug)]
pub(crate) struct PathOptions(pub(crate) PathQuery);

impl Default for PathOptions {
    fn default() -> Self {
        // Start and goal are filled in when the search begins.
        Self(PathQuery::new((0, 0), (0, 0)).shape(RouteShape::Pulled))
    }
}

impl fmt::Debug for PathOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// In lockstep the order of requests is part of the answer, and only their insertion knows it.
fn note_insertion(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut inbox) = world.get_resource_mut::<Inbox>() {
        inbox.inserted(context.entity);
    }
}

/// A removal is a stop order. Bevy forgets removals after two frames, which may be before the next fixed step.
fn note_removal(mut world: DeferredWorld, context: HookContext) {
    // Where nothing has come of the request yet, or everything is done, there is nothing to stop.
    let busy = world.get::<Path>(context.entity).is_none_or(Path::is_busy);
    if let Some(mut inbox) = world.get_resource_mut::<Inbox>() {
        inbox.removed(context.entity, busy);
    }
}
