//! Walls and gates: in come the keys B and X, out go tiles of the wall layer and obstacles. Units plan again by themselves.
//!
//! Both ways of blocking a cell are used. A wall is a tile that says so with [`NavTile::Blocked`]. A gate is a tile that
//! says nothing, and an [`Obstacle`] that is enabled while the gate is closed. Despawning either frees the cell.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_wayfare::prelude::*;

use crate::art::tile;
use crate::ground::{WallLayer, centre, mask, tile_at, tile_pos};
use crate::pointer::Pointer;
use crate::report::Report;
use crate::terrain::{Land, neighbours};

/// A tile of the wall layer: a wall, or with an [`Obstacle`] a gate.
#[derive(Component, Debug)]
pub(crate) struct Wall;

type Layer<'w, 's> = Single<'w, 's, (Entity, &'static mut TileStorage), With<WallLayer>>;

/// B builds a wall, makes a gate of a wall, opens and closes a gate; held and dragged it builds on.
pub(crate) fn build(
    // Reads
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    land: Res<Land>,
    // Local
    mut last: Local<Option<Cell>>,
    // Writes
    layer: Layer,
    mut gates: Query<&mut Obstacle, With<Wall>>,
    mut commands: Commands,
) {
    let Some(cell) = pointer.cell.filter(|_| is_down(&keys, KeyCode::KeyB)) else {
        *last = None;
        return;
    };
    let (layer, mut storage) = layer.into_inner();
    let standing = storage.checked_get(&tile_pos(cell)).filter(|_| keys.just_pressed(KeyCode::KeyB));
    match standing {
        Some(tile) => match gates.get_mut(tile) {
            Ok(mut gate) => {
                gate.enabled = !gate.enabled;
                Report::Gate { cell, open: !gate.enabled }.log();
            }
            Err(_) => make_gate(cell, tile, &mut commands),
        },
        None => {
            for cell in line(last.unwrap_or(cell), cell) {
                make_wall(cell, &land, layer, &mut storage, &mut commands);
            }
        }
    }
    *last = Some(cell);
}

/// X removes what stands under the cursor; held and dragged it goes on.
pub(crate) fn remove(
    // Reads
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    // Local
    mut last: Local<Option<Cell>>,
    // Writes
    layer: Layer,
    mut commands: Commands,
) {
    let Some(cell) = pointer.cell.filter(|_| is_down(&keys, KeyCode::KeyX)) else {
        *last = None;
        return;
    };
    let (_, mut storage) = layer.into_inner();
    for cell in line(last.unwrap_or(cell), cell) {
        // bevy_ecs_tilemap does not notice by itself that a tile is gone.
        let standing = storage.checked_get(&tile_pos(cell)).and_then(|_| storage.remove(&tile_pos(cell)));
        if let Some(tile) = standing {
            commands.entity(tile).despawn();
            Report::Removed(cell).log();
        }
    }
    *last = Some(cell);
}

/// Gives every wall and gate the picture that joins its neighbours.
pub(crate) fn join_walls(
    layer: Single<Ref<TileStorage>, With<WallLayer>>,
    changed_gates: Query<(), (With<Wall>, Changed<Obstacle>)>,
    mut walls: Query<(&TilePos, Option<&Obstacle>, &mut TileTextureIndex), With<Wall>>,
) {
    if !layer.is_changed() && changed_gates.is_empty() {
        return;
    }
    let stands = |cell: Cell| layer.checked_get(&tile_pos(cell)).is_some();
    for (pos, gate, mut texture) in &mut walls {
        let cell = Cell::new(pos.x.cast_signed(), pos.y.cast_signed());
        let [north, _, south, _] = neighbours(cell).map(stands);
        let picture = match gate {
            None => tile::WALL.start + mask(cell, stands),
            Some(gate) if north || south => tile::GATE_SOUTHWARD + u32::from(!gate.enabled),
            Some(gate) => tile::GATE_EASTWARD + u32::from(!gate.enabled),
        };
        texture.set_if_neq(TileTextureIndex(picture));
    }
}

fn make_wall(cell: Cell, land: &Land, layer: Entity, storage: &mut TileStorage, commands: &mut Commands) {
    if storage.checked_get(&tile_pos(cell)).is_some() || !land.at(cell).is_buildable() {
        return;
    }
    let tile = commands.spawn((Wall, tile_at(cell, layer, tile::WALL.start), NavTile::Blocked)).id();
    storage.checked_set(&tile_pos(cell), tile);
    Report::Wall(cell).log();
}

/// The tile no longer blocks; the obstacle does, for as long as it is enabled.
fn make_gate(cell: Cell, tile: Entity, commands: &mut Commands) {
    let place = Transform::from_translation(centre(cell).extend(0.0));
    commands.entity(tile).insert((NavTile::Ignored, place, Obstacle::default()));
    Report::Gate { cell, open: false }.log();
}

/// Down in this frame, if only for a moment.
fn is_down(keys: &ButtonInput<KeyCode>, key: KeyCode) -> bool {
    keys.pressed(key) || keys.just_pressed(key)
}

/// The cells from one to another, side by side, so that a wall has no holes.
fn line(from: Cell, to: Cell) -> impl Iterator<Item = Cell> {
    let step = move |at: &Cell| {
        let (dx, dy) = (to.x - at.x, to.y - at.y);
        let way = if dx.abs() >= dy.abs() { (dx.signum(), 0) } else { (0, dy.signum()) };
        (*at != to).then_some(*at + way)
    };
    std::iter::successors(Some(from), step)
}
