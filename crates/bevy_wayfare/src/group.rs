//! Orders for many: a [`GroupOrder`] sends units to one goal, with one search for all and a place of its own for each.
//!
//! Comes in: the order, on an entity of its own or on any other. Goes out: a `PathRequest` on each unit, which is what keeps it
//! in the group; [`GroupArrived`] when none is left. The queue makes one search of these requests.

use bevy::ecs::entity::EntityHashSet;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::query::Allow;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use wayfare::Formation;

use crate::event::Arrived;
use crate::march::{Columns, Posting};
use crate::motion::Motion;
use crate::request::{Goal, PathRequest, Priority};

/// An order for many units to go to one goal.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// #[derive(Component)]
/// struct Selected;
///
/// fn order(mut commands: Commands, selected: Query<Entity, With<Selected>>) {
///     // As close around the point as there is room.
///     commands.spawn(GroupOrder::to(Vec3::new(40.0, 12.0, 0.0)).units(&selected));
///     // In formation, all the way.
///     commands.spawn(GroupOrder::to(Cell::new(3, 7)).units(&selected).formation(Formation::Wedge));
/// }
///
/// App::new().add_observer(|arrived: On<GroupArrived>| {
///     println!("{} of {} are there", arrived.arrived, arrived.arrived + arrived.missing);
/// });
/// ```
///
/// **One search** serves them all (one for each class of units among them, and for each size of those who do not fit into a
/// cell; they form up kind by kind). Everybody gets a place of their own around the goal: on ground in walking distance, clear of
/// walls and of each other as far as there is room, and so that their ways cross little.
///
/// # Life of an order
///
/// Each unit gets a `PathRequest` and with it everything that comes with one: [`PathFound`](crate::PathFound),
/// [`PathFailed`](crate::PathFailed), [`Arrived`], new paths when the ground changes. Another `PathRequest`, or another
/// group's order, takes it out of the group; removing its request stops it. Removing the `GroupOrder` stops all who are still on
/// their way, inserting another one in its place replaces it.
///
/// When none is left, [`GroupArrived`] fires and the order is removed; if that leaves its entity without any component, the
/// entity is despawned.
#[derive(Component, Reflect, Clone, PartialEq, Debug)]
#[reflect(Component, Clone, PartialEq, Debug)]
#[require(Columns)]
#[component(on_insert = muster, on_discard = note_replaced, on_remove = dismiss)]
pub struct GroupOrder {
    pub(crate) units: Vec<Entity>,
    pub(crate) goal: Goal,
    #[reflect(ignore)]
    pub(crate) formation: Formation,
    pub(crate) pace: Pace,
    pub(crate) priority: Priority,
    pub(crate) or_nearest: bool,
}

impl GroupOrder {
    /// To a point, a cell or another entity, for nobody yet.
    pub fn to(goal: impl Into<Goal>) -> Self {
        Self {
            units: Vec::new(),
            goal: goal.into(),
            formation: Formation::Loose,
            pace: Pace::Own,
            priority: Priority::NORMAL,
            or_nearest: false,
        }
    }

    /// For these units, besides those it is for already.
    #[must_use]
    pub fn units(mut self, units: impl IntoIterator<Item = Entity>) -> Self {
        self.units.extend(units);
        self
    }

    /// How they stand when they arrive, and all but [`Formation::Loose`] on the way, too.
    #[must_use]
    pub fn formation(mut self, formation: Formation) -> Self {
        self.formation = formation;
        self
    }

    /// Nobody is faster than the slowest of them. A formation that is kept on the way goes so anyway.
    #[must_use]
    pub fn common_speed(mut self) -> Self {
        self.pace = Pace::Common;
        self
    }

    /// Served before lower ones.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Goes to the nearest point that can be reached if the goal cannot be.
    #[must_use]
    pub fn or_nearest(mut self) -> Self {
        self.or_nearest = true;
        self
    }

    /// Whom it is for, as it was given.
    pub fn all_units(&self) -> &[Entity] {
        &self.units
    }

    /// Where it leads.
    pub fn goal(&self) -> Goal {
        self.goal
    }
}

/// How fast units of a group walk.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub(crate) enum Pace {
    #[default]
    Own,
    Common,
}

/// On a unit that a [`GroupOrder`] sent off: names the order's entity. It goes when the order is done, or when the unit has got
/// another order.
#[derive(Component, Reflect, Clone, Copy, PartialEq, Eq, Debug)]
#[reflect(Component, Clone, PartialEq, Debug)]
#[relationship(relationship_target = Members)]
#[require(Billet)]
pub struct MemberOf(pub Entity);

/// The units of a group: those on their way, and those who are done and have had no other order since.
#[derive(Component, Reflect, Default, Debug)]
#[reflect(Component, Default, Debug)]
#[relationship_target(relationship = MemberOf)]
pub struct Members(Vec<Entity>);

/// All units of a group are done: they have arrived, or failed, or been given another order. The order has been removed.
#[derive(EntityEvent, Reflect, Clone, Copy, PartialEq, Eq, Debug)]
#[reflect(Clone, PartialEq, Debug)]
pub struct GroupArrived {
    /// Whose [`GroupOrder`] it was.
    pub entity: Entity,
    /// How many have arrived.
    pub arrived: usize,
    /// How many were sent off and have not.
    pub missing: usize,
}

/// What a unit knows of its place in the group.
#[derive(Component, Clone, Copy, PartialEq, Default, Debug)]
#[component(on_discard = leave)]
pub(crate) struct Billet {
    /// Its number in the order.
    pub(crate) number: u32,
    /// Its place around the goal, and where that was.
    pub(crate) place: Option<(Vec2, Vec2)>,
    /// Its place in the formation.
    pub(crate) offset: Vec2,
    /// It lost sight of its formation, and goes to its place on its own.
    pub(crate) alone: bool,
    /// It goes its own way, though it could see its formation.
    pub(crate) detached: bool,
    pub(crate) arrived: bool,
}

impl Billet {
    /// Takes the place that a search found for it.
    pub(crate) fn join(&mut self, posting: &Posting) {
        self.place = Some((posting.place, posting.plan.goal));
        (self.offset, self.alone, self.detached) = (posting.offset, false, false);
    }
}

/// Hands the order out.
fn muster(mut world: DeferredWorld, context: HookContext) {
    let group = context.entity;
    let Some(order) = world.get::<GroupOrder>(group).cloned() else { return };
    world.commands().queue(move |world: &mut World| {
        // Replaced since, or gone.
        if world.get::<GroupOrder>(group).is_none_or(|now| *now != order) {
            return;
        }
        let mut seen = EntityHashSet::default();
        for (number, unit) in (0_u32..).zip(order.units.iter().filter(|unit| seen.insert(**unit))) {
            if let Ok(mut unit) = world.get_entity_mut(*unit) {
                let request = PathRequest::in_group(group, &order);
                unit.insert((MemberOf(group), Billet { number, ..default() }, request));
            }
        }
        // Those who were in it and are not any more.
        let members: Vec<Entity> = world.get::<Members>(group).into_iter().flat_map(|m| m.iter()).collect();
        for unit in members.into_iter().filter(|unit| !seen.contains(unit)) {
            stop(world, group, unit);
        }
    });
}

/// A new order needs new columns.
fn note_replaced(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut columns) = world.get_mut::<Columns>(context.entity) {
        columns.clear();
    }
}

/// Removing an order stops whoever is still on the way.
fn dismiss(mut world: DeferredWorld, context: HookContext) {
    let group = context.entity;
    let members: Vec<Entity> = world.get::<Members>(group).into_iter().flat_map(|m| m.iter()).collect();
    world.commands().queue(move |world: &mut World| {
        // Another one may have been put in its place.
        if world.get::<GroupOrder>(group).is_none() {
            members.into_iter().for_each(|unit| stop(world, group, unit));
            if let Ok(mut order) = world.get_entity_mut(group) {
                order.remove::<Columns>();
            }
        }
    });
}

/// Takes a unit out of a group, and stops it if it is still on its way for it.
fn stop(world: &mut World, group: Entity, unit: Entity) {
    let Ok(mut unit) = world.get_entity_mut(unit) else { return };
    if unit.get::<PathRequest>().is_some_and(|request| request.group == Some(group)) {
        unit.remove::<PathRequest>();
    }
    if unit.get::<MemberOf>().is_none_or(|member| member.0 == group) {
        unit.remove::<(MemberOf, Billet)>();
    }
}

/// Who leaves a group, be it for another one, walks at its own pace, on its own path.
fn leave(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut motion) = world.get_mut::<Motion>(context.entity) {
        motion.leave_group();
    }
}

/// Lets units go that have other orders, and closes groups that are done.
pub(crate) fn close_groups(
    // Reads
    groups: Query<(Entity, Option<&Members>), (With<GroupOrder>, Allow<Disabled>)>,
    units: Query<(Option<&PathRequest>, &Billet), Allow<Disabled>>,
    // Writes
    mut commands: Commands,
) {
    for (group, members) in &groups {
        let (mut on_way, mut arrived, mut missing) = (0, 0, 0);
        for unit in members.into_iter().flat_map(|members| members.iter()) {
            match units.get(unit) {
                Ok((Some(request), _)) if request.group == Some(group) => on_way += 1,
                Ok((None, billet)) if billet.arrived => arrived += 1,
                Ok((None, _)) => missing += 1,
                Ok((Some(_), _)) | Err(_) => {
                    commands.entity(unit).try_remove::<(MemberOf, Billet)>();
                }
            }
        }
        if on_way == 0 {
            close(&mut commands, GroupArrived { entity: group, arrived, missing });
        }
    }
}

fn close(commands: &mut Commands, event: GroupArrived) {
    commands.queue(move |world: &mut World| {
        let group = event.entity;
        let Ok(order) = world.get_entity(group) else { return };
        let mut units = order.get::<Members>().into_iter().flat_map(|members| members.iter());
        let is_on_way = |unit| {
            world.get::<PathRequest>(unit).is_some_and(|request: &PathRequest| request.group == Some(group))
        };
        // Ordered again since.
        if units.any(is_on_way) {
            return;
        }
        world.entity_mut(group).remove::<(GroupOrder, Columns)>();
        world.flush();
        world.trigger(event);
        if let Ok(order) = world.get_entity_mut(group)
            && order.archetype().components().is_empty()
        {
            order.despawn();
        }
    });
}

/// Remembers who has arrived.
pub(crate) fn note_arrival(arrived: On<Arrived>, mut billets: Query<&mut Billet, Allow<Disabled>>) {
    if let Ok(mut billet) = billets.get_mut(arrived.entity) {
        billet.arrived = true;
    }
}
