//! Orders: in come right clicks and keys, out goes a [`PathRequest`] on each selected unit; the library does the rest.
//!
//! A unit keeps the [`Leg`]s it was ordered to walk in a list. It has a request for the first; when it has
//! [`Arrived`], it asks for the next one. An order is an entity, drawn as a marker, that lives until nobody has a
//! leg of it left.

use std::collections::VecDeque;

use bevy::ecs::entity::EntityHashSet;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::formation;
use crate::ground::{FLYERS, WALKERS};
use crate::marks;
use crate::pointer::Pointer;
use crate::report::Report;
use crate::select::{SHIFT, Selected, is_held};

/// Where a unit is to go, one after the other.
#[derive(Component, Default, Debug)]
pub(crate) struct Legs(pub(crate) VecDeque<Leg>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    order: Entity,
    pub(crate) goal: Vec2,
}

/// One right click.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) at: Vec2,
    /// Whether that place can be reached, or only the nearest point.
    pub(crate) reach: Reach,
    ordered: usize,
    arrived: usize,
    /// Those who got only near.
    near: usize,
}

/// A selected unit, and where it is.
#[derive(Clone, Copy)]
struct Called {
    unit: Entity,
    at: Vec2,
    agent: Agent,
}

/// Right click moves; with shift, after all that was ordered before.
pub(crate) fn give_orders(
    // Reads
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
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
    let queued = is_held(&keys, SHIFT);
    let order = commands.spawn_empty().id();
    let (mut reach, mut ordered) = (Reach::Goal, 0);
    for class in [WALKERS, FLYERS] {
        let called = units.iter().filter(|unit| unit.2.class == class);
        let called = called.map(|(unit, transform, agent, _)| {
            let at = transform.translation.truncate();
            Called { unit, at, agent: *agent }
        });
        let (goals, class_reach) = goals(&map, class, at, called.collect())?;
        if class_reach != Reach::Goal {
            reach = class_reach;
        }
        ordered += goals.len();
        for (unit, goal) in goals {
            let Ok((.., mut legs)) = units.get_mut(unit) else { continue };
            if !queued {
                legs.0.clear();
            }
            legs.0.push_back(Leg { order, goal });
            if legs.0.len() == 1 {
                commands.entity(unit).insert(PathRequest::to(goal).or_nearest());
            }
        }
    }
    commands.entity(order).insert(Order { at, reach, ordered, arrived: 0, near: 0 });
    Report::Ordered { units: ordered, cell, reach, queued }.log();
    Ok(())
}

/// A place of its own for each unit of a class: the nearest goes to the point itself, the others stand around it.
fn goals(
    map: &NavMap,
    class: ClassId,
    at: Vec2,
    mut called: Vec<Called>,
) -> Result<(Vec<(Entity, Vec2)>, Reach)> {
    called.sort_by(|a, b| a.at.distance_squared(at).total_cmp(&b.at.distance_squared(at)));
    let Some(first) = called.first() else { return Ok((Vec::new(), Reach::Goal)) };
    let snapshot = map.snapshot(class)?;
    let cell_at = |point: Vec2| map.cell_at(point.extend(0.0));
    let gets_there = |from: Vec2| {
        cell_at(from).zip(cell_at(at)).is_some_and(|(from, goal)| snapshot.reachable(from, goal))
    };
    let reach = if called.iter().all(|called| gets_there(called.at)) { Reach::Goal } else { Reach::Nearest };
    // Where a click into rock leads; the others gather there. This takes no search.
    let nearest = cell_at(first.at).zip(cell_at(at));
    let nearest = nearest.and_then(|(from, goal)| snapshot.nearest_reachable(from, goal));
    let nearest = nearest.filter(|_| !gets_there(first.at)).and_then(|cell| map.centre(cell));
    let around = nearest.map_or(at, Vec3::truncate);
    let radius = called.iter().map(|called| called.agent.radius).fold(0.0, f32::max);
    let spots = formation::spots(map, &snapshot, around, radius).skip(1).chain(std::iter::repeat(around));
    let goals = std::iter::once(at).chain(spots);
    Ok((called.iter().map(|called| called.unit).zip(goals).collect(), reach))
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

/// An observer: on to the next leg.
pub(crate) fn go_on(
    arrived: On<Arrived>,
    mut units: Query<&mut Legs>,
    mut orders: Query<&mut Order>,
    mut commands: Commands,
) {
    let Ok(mut legs) = units.get_mut(arrived.entity) else { return };
    if let Some(done) = legs.0.pop_front()
        && let Ok(mut order) = orders.get_mut(done.order)
    {
        match arrived.reach {
            Reach::Goal => order.arrived += 1,
            _ => order.near += 1,
        }
    }
    if let Some(next) = legs.0.front() {
        commands.entity(arrived.entity).insert(PathRequest::to(next.goal).or_nearest());
    }
}

/// An observer: a way that was closed after the order was given shows on its marker. Who has a spot beside the goal may reach
/// that all the same, so nobody turns it back.
pub(crate) fn correct_marker(
    found: On<PathFound>,
    units: Query<&Legs>,
    mut orders: Query<(&mut Order, &mut Sprite)>,
) {
    let leg = units.get(found.entity).ok().and_then(|legs| legs.0.front());
    let Some((mut order, mut marker)) = leg.and_then(|leg| orders.get_mut(leg.order).ok()) else { return };
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
    let open: EntityHashSet = units.iter().flat_map(|legs| &legs.0).map(|leg| leg.order).collect();
    for (entity, order) in orders.iter().filter(|(entity, _)| !open.contains(entity)) {
        let Order { ordered, arrived, near, .. } = *order;
        if arrived + near > 0 {
            Report::Arrived { arrived, near, ordered }.log();
        }
        commands.entity(entity).despawn();
    }
}
