//! Orders: in come right clicks and keys, out goes a [`GroupOrder`] for the selected units; the library does the rest.
//!
//! An order is an entity, drawn as a marker, that lives until nobody has to follow it any more. A unit keeps the orders it
//! was given in a list. When its group is done with the first, it goes on to the next, with all others who do.

use std::collections::VecDeque;

use bevy::ecs::entity::EntityHashSet;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::formation::Drill;
use crate::ground::{FLYERS, WALKERS};
use crate::marks;
use crate::pointer::Pointer;
use crate::report::Report;
use crate::select::{SHIFT, Selected, is_held};

/// The orders a unit has before it, the one it follows first.
#[derive(Component, Default, Debug)]
pub(crate) struct Legs(pub(crate) VecDeque<Entity>);

/// One right click.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) at: Vec2,
    /// Whether that place can be reached, or only the nearest point.
    pub(crate) reach: Reach,
    formation: Formation,
    ordered: usize,
    arrived: usize,
    /// Those who got only near.
    near: usize,
}

impl Order {
    /// Sends these units off: one search for all, a place for each.
    fn send(&self, units: Vec<Entity>, commands: &mut Commands) {
        if !units.is_empty() {
            commands.spawn(GroupOrder::to(self.at).units(units).formation(self.formation).or_nearest());
        }
    }
}

/// Right click moves; with shift, after all that was ordered before.
pub(crate) fn give_orders(
    // Reads
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    drill: Res<Drill>,
    map: Single<&NavMap>,
    // Writes
    mut units: Query<(Entity, &Transform, &Agent, &mut Legs), With<Selected>>,
    mut commands: Commands,
) -> Result {
    // Of several in one slow frame the last counts.
    let click = pointer.clicks.iter().rfind(|click| click.button == MouseButton::Right && click.pressed);
    let Some((at, cell)) = click.and_then(|click| click.ground.zip(click.cell)) else { return Ok(()) };
    if units.is_empty() {
        return Ok(());
    }
    let (walkers, flyers) = (map.snapshot(WALKERS)?, map.snapshot(FLYERS)?);
    let gets_there = |from: Vec3, class: ClassId| {
        let snapshot = if class == FLYERS { &flyers } else { &walkers };
        map.cell_at(from).is_some_and(|from| snapshot.reachable(from, cell))
    };
    let all = units.iter().all(|(_, from, agent, _)| gets_there(from.translation, agent.class));
    let reach = if all { Reach::Goal } else { Reach::Nearest };
    let (formation, ordered) = (drill.0, units.iter().len());
    let order = Order { at, reach, formation, ordered, arrived: 0, near: 0 };
    let marker = commands.spawn(order).id();
    let queued = is_held(&keys, SHIFT);
    let mut free = Vec::new();
    for (unit, .., mut legs) in &mut units {
        if !queued {
            legs.0.clear();
        }
        legs.0.push_back(marker);
        free.extend((legs.0.len() == 1).then_some(unit));
    }
    order.send(free, &mut commands);
    Report::Ordered { units: ordered, cell, reach, queued }.log();
    Ok(())
}

/// S stops.
pub(crate) fn stop(
    keys: Res<ButtonInput<KeyCode>>,
    mut units: Query<(Entity, &mut Legs), With<Selected>>,
    mut commands: Commands,
) {
    if !keys.just_pressed(KeyCode::KeyS) {
        return;
    }
    for (unit, mut legs) in &mut units {
        legs.0.clear();
        commands.entity(unit).remove::<PathRequest>();
    }
    Report::Stopped(units.iter().len()).log();
}

/// An observer: a unit has done what it was ordered.
pub(crate) fn note_arrival(arrived: On<Arrived>, mut units: Query<&mut Legs>, mut orders: Query<&mut Order>) {
    let Ok(mut legs) = units.get_mut(arrived.entity) else { return };
    if let Some(done) = legs.0.pop_front()
        && let Ok(mut order) = orders.get_mut(done)
    {
        match arrived.reach {
            Reach::Goal => order.arrived += 1,
            _ => order.near += 1,
        }
    }
}

/// On to the next way-point. Who arrives before the others of its group belongs to it until they are there, so all go on
/// together.
pub(crate) fn go_on(
    units: Query<(Entity, &Legs), Without<MemberOf>>,
    orders: Query<(Entity, &Order)>,
    mut commands: Commands,
) {
    for (marker, order) in &orders {
        let free = units.iter().filter(|(_, legs)| legs.0.front() == Some(&marker));
        order.send(free.map(|(unit, _)| unit).collect(), &mut commands);
    }
}

/// An observer: a way that was closed after the order was given shows on its marker. Flyers get there all the same, so
/// nobody turns it back.
pub(crate) fn correct_marker(
    found: On<PathFound>,
    units: Query<&Legs>,
    mut orders: Query<(&mut Order, &mut Sprite)>,
) {
    let leg = units.get(found.entity).ok().and_then(|legs| legs.0.front());
    let Some((mut order, mut marker)) = leg.and_then(|leg| orders.get_mut(*leg).ok()) else { return };
    if order.reach == Reach::Goal && found.reach != Reach::Goal {
        order.reach = found.reach;
        marker.color = marks::colour(found.reach);
    }
}

/// An observer: who cannot get there forgets all that was to come after.
pub(crate) fn give_up(failed: On<PathFailed>, mut units: Query<&mut Legs>) {
    Report::Failed(failed.reason).log();
    if let Ok(mut legs) = units.get_mut(failed.entity) {
        legs.0.clear();
    }
}

/// Ends orders that nobody is carrying out any more.
pub(crate) fn close_orders(units: Query<&Legs>, orders: Query<(Entity, &Order)>, mut commands: Commands) {
    if orders.is_empty() {
        return;
    }
    let open: EntityHashSet = units.iter().flat_map(|legs| &legs.0).copied().collect();
    for (entity, order) in orders.iter().filter(|(entity, _)| !open.contains(entity)) {
        let Order { ordered, arrived, near, .. } = *order;
        if arrived + near > 0 {
            Report::Arrived { arrived, near, ordered }.log();
        }
        commands.entity(entity).despawn();
    }
}
