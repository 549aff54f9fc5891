//! What the library knows, drawn over the game: in come the keys F1 to F4, out go lines and colours.
//!
//! Paths, islands and the queue are drawn by [`PathfindingGizmosPlugin`]; what the ground costs is read from the
//! [`NavMap`] and painted on the tiles here.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::ground::{GroundTile, WALKERS};

/// Whether the colours of the tiles show what they cost.
#[derive(Resource, Default, Debug)]
pub(crate) struct ShowCosts(bool);

/// Nothing but the game is shown at first.
pub(crate) fn begin_without_overlays(mut store: ResMut<GizmoConfigStore>) {
    let (_, overlays) = store.config_mut::<PathfindingGizmos>();
    (overlays.map, overlays.islands, overlays.paths, overlays.queue) = (false, false, false, false);
    overlays.path = Color::srgba(0.4, 1.0, 0.9, 0.5);
}

pub(crate) fn toggle_overlays(
    keys: Res<ButtonInput<KeyCode>>,
    mut store: ResMut<GizmoConfigStore>,
    mut costs: ResMut<ShowCosts>,
) {
    if !keys.any_just_pressed([KeyCode::F1, KeyCode::F2, KeyCode::F3, KeyCode::F4]) {
        return;
    }
    let (_, overlays) = store.config_mut::<PathfindingGizmos>();
    overlays.paths ^= keys.just_pressed(KeyCode::F1);
    overlays.islands ^= keys.just_pressed(KeyCode::F2);
    overlays.map = overlays.islands;
    costs.0 ^= keys.just_pressed(KeyCode::F3);
    overlays.queue ^= keys.just_pressed(KeyCode::F4);
}

/// Colours the ground by what it costs those who walk, when that changes.
pub(crate) fn paint_costs(
    costs: Res<ShowCosts>,
    map: Single<&NavMap>,
    // Local
    mut painted: Local<Option<u64>>,
    // Writes
    mut tiles: Query<(&TilePos, &mut TileColor), With<GroundTile>>,
) -> Result {
    if !costs.0 && painted.is_none() {
        return Ok(());
    }
    // With the gates that are closed.
    let snapshot = map.snapshot(WALKERS)?;
    let version = costs.0.then(|| snapshot.map().version());
    if *painted == version {
        return Ok(());
    }
    *painted = version;
    for (pos, mut colour) in &mut tiles {
        let terrain = snapshot.map().terrain(Cell::new(pos.x.cast_signed(), pos.y.cast_signed()));
        let factor = snapshot.view().class.factor(terrain).map(Factor::value);
        colour.0 = match factor {
            _ if !costs.0 => Color::WHITE,
            None => Color::srgb(1.0, 0.35, 0.35),
            Some(factor) if factor < 1.0 => Color::srgb(0.55, 1.0, 0.55),
            Some(factor) if factor > 1.0 => Color::srgb(1.0, 0.7, 0.3),
            Some(_) => Color::srgb(0.85, 0.85, 0.85),
        };
    }
    Ok(())
}
