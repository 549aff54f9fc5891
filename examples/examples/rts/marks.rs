//! What a player sees of selections and orders: rings, markers and path lines.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::art::{Art, z};
use crate::orders::{Legs, Order};
use crate::select::Selected;

const RING: Color = Color::srgba(0.65, 1.0, 0.6, 0.95);
const REACHABLE: Color = Color::srgb(0.55, 1.0, 0.5);
const NEAREST: Color = Color::srgb(1.0, 0.6, 0.15);
const PATH: Color = Color::srgb(1.0, 1.0, 0.8);
const NEXT_LEGS: Color = Color::srgb(0.7, 0.9, 1.0);

/// Around a selected unit.
#[derive(Component, Debug)]
pub(crate) struct Ring;

/// An observer: whoever is selected gets a ring.
pub(crate) fn add_ring(
    selected: On<Add, Selected>,
    art: Res<Art>,
    units: Query<&Agent>,
    mut commands: Commands,
) {
    let Ok(agent) = units.get(selected.entity) else { return };
    let size = Some(Vec2::splat(agent.radius * 2.6));
    let sprite = Sprite { image: art.ring.clone(), color: RING, custom_size: size, ..default() };
    commands.entity(selected.entity).with_child((Ring, sprite, Transform::from_xyz(0.0, 0.0, -1.0)));
}

/// An observer: and loses it again.
pub(crate) fn remove_ring(
    unselected: On<Remove, Selected>,
    units: Query<&Children>,
    rings: Query<Entity, With<Ring>>,
    mut commands: Commands,
) {
    let children = units.get(unselected.entity).into_iter().flatten();
    for ring in children.filter_map(|child| rings.get(*child).ok()) {
        commands.entity(ring).despawn();
    }
}

/// The colour of a marker.
pub(crate) fn colour(reach: Reach) -> Color {
    if reach == Reach::Goal { REACHABLE } else { NEAREST }
}

/// An observer: a marker where an order leads.
pub(crate) fn mark_order(
    given: On<Add, Order>,
    art: Res<Art>,
    orders: Query<&Order>,
    mut commands: Commands,
) {
    let Ok(order) = orders.get(given.entity) else { return };
    let sprite = Sprite { image: art.marker.clone(), color: colour(order.reach), ..default() };
    let place = Transform::from_translation(order.at.extend(z::MARKERS));
    commands.entity(given.entity).insert((sprite, place));
}

/// Markers breathe, so that they are seen.
pub(crate) fn pulse_markers(time: Res<Time>, mut markers: Query<&mut Transform, With<Order>>) {
    let scale = 1.0 + 0.15 * (time.elapsed_secs_wrapped() * 6.0).sin();
    for mut marker in &mut markers {
        marker.scale = Vec3::splat(scale);
    }
}

/// The way each selected unit has before it.
pub(crate) fn draw_paths(
    units: Query<(&Transform, &Path, &Legs), With<Selected>>,
    orders: Query<&Order>,
    mut gizmos: Gizmos,
) {
    let alpha = (3.0 / (units.iter().len() as f32).sqrt()).clamp(0.12, 0.6);
    for (transform, path, legs) in &units {
        let here = transform.translation.truncate();
        gizmos.linestrip_2d([here].into_iter().chain(path.points().iter().copied()), PATH.with_alpha(alpha));
        let last = path.end().unwrap_or(here);
        let next = orders.iter_many(legs.0.iter().skip(1)).map(|order| order.at);
        gizmos.linestrip_2d([last].into_iter().chain(next), NEXT_LEGS.with_alpha(alpha));
    }
}
