//! The minimap: in come the land, the units and the camera, out goes a small picture of them in the corner.
//!
//! A press or a drag on it moves the camera.

use bevy::asset::RenderAssetUsages;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_ecs_tilemap::prelude::TilePos;
use bevy_wayfare::prelude::*;

use crate::art::TILE;
use crate::build::Wall;
use crate::camera::{Eye, Eyes};
use crate::pointer::Pointer;
use crate::select::Selected;
use crate::terrain::{Ground, Land, SIDE};
use crate::units::Kind;

/// Three pixels for two cells.
const PIXELS: i32 = SIDE * 3 / 2;
/// From the edges of the window.
const MARGIN: f32 = 12.0;
const BORDER: f32 = 2.0;

const WALL: [u8; 4] = [225, 220, 210, 255];
const UNIT: [u8; 4] = [150, 205, 255, 255];
const SELECTED: [u8; 4] = [255, 255, 255, 255];

/// The picture, and the land without anybody on it.
#[derive(Resource, Debug)]
pub(crate) struct Minimap {
    image: Handle<Image>,
    land: Vec<u8>,
}

/// The part of the land that is seen.
#[derive(Component, Debug)]
pub(crate) struct ViewFrame;

/// Where it is in the window, in logical pixels.
pub(crate) fn frame(window: &Window) -> Rect {
    let corner = window.size() - MARGIN - BORDER;
    Rect::from_corners(corner - PIXELS as f32, corner)
}

/// The point of the world shown at a point of the window.
pub(crate) fn to_world(window: &Window, screen: Vec2) -> Vec2 {
    let frame = frame(window);
    Vec2::new(screen.x - frame.min.x, frame.max.y - screen.y) * (SIDE as f32 * TILE / PIXELS as f32)
}

pub(crate) fn spawn_minimap(land: Res<Land>, mut images: ResMut<Assets<Image>>, mut commands: Commands) {
    let picture = paint_land(&land);
    let side = PIXELS.unsigned_abs();
    let size = Extent3d { width: side, height: side, ..default() };
    let format = TextureFormat::Rgba8UnormSrgb;
    let image = Image::new(size, TextureDimension::D2, picture.clone(), format, RenderAssetUsages::default());
    let image = images.add(image);
    let place = Node {
        position_type: PositionType::Absolute,
        right: px(MARGIN),
        bottom: px(MARGIN),
        width: px(PIXELS as f32 + 2.0 * BORDER),
        height: px(PIXELS as f32 + 2.0 * BORDER),
        border: UiRect::all(px(BORDER)),
        overflow: Overflow::clip(),
        ..default()
    };
    let view = Node { position_type: PositionType::Absolute, border: UiRect::all(px(1)), ..default() };
    commands
        .spawn((place, ImageNode::new(image.clone()), BorderColor::all(Color::srgb_u8(20, 24, 28))))
        .with_child((ViewFrame, view, BorderColor::all(Color::WHITE)));
    commands.insert_resource(Minimap { image, land: picture });
}

/// A press on the minimap, and a drag that began there, move the camera.
pub(crate) fn steer_by_minimap(
    buttons: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    pointer: Res<Pointer>,
    mut steering: Local<bool>,
    mut eye: Single<&mut Eye>,
) {
    if buttons.just_pressed(MouseButton::Left) {
        *steering = pointer.minimap.is_some();
    }
    let held = buttons.pressed(MouseButton::Left) || buttons.just_pressed(MouseButton::Left);
    if let Some(screen) = pointer.screen.filter(|_| *steering && held) {
        eye.at = to_world(&window, screen);
    }
}

/// Where the camera is.
pub(crate) fn frame_view(eyes: Eyes, mut frame: Single<&mut Node, With<ViewFrame>>) {
    let shrink = PIXELS as f32 / (SIDE as f32 * TILE);
    let view = eyes.view();
    frame.left = px((view.min.x * shrink).round());
    frame.bottom = px((view.min.y * shrink).round());
    frame.width = px((view.width() * shrink).round());
    frame.height = px((view.height() * shrink).round());
}

/// Units and walls, several times per second.
pub(crate) fn paint_minimap(
    minimap: Res<Minimap>,
    map: Single<&NavMap>,
    walls: Query<&TilePos, With<Wall>>,
    units: Query<(&Transform, Has<Selected>), With<Kind>>,
    mut images: ResMut<Assets<Image>>,
) {
    let Some(mut image) = images.get_mut(&minimap.image) else { return };
    let Some(pixels) = image.data.as_mut() else { return };
    pixels.clone_from(&minimap.land);
    for wall in &walls {
        dot(pixels, Cell::new(wall.x.cast_signed(), wall.y.cast_signed()), WALL);
    }
    for (unit, selected) in &units {
        if let Some(cell) = map.cell_at(unit.translation) {
            dot(pixels, cell, if selected { SELECTED } else { UNIT });
        }
    }
}

fn paint_land(land: &Land) -> Vec<u8> {
    let rows = (0..PIXELS).rev().flat_map(|y| (0..PIXELS).map(move |x| Cell::new(x * 2 / 3, y * 2 / 3)));
    let colour = |cell| match land.at(cell) {
        Ground::Grass => [98, 142, 70, 255],
        Ground::Road => [196, 170, 118, 255],
        Ground::Swamp => [104, 104, 62, 255],
        Ground::Water => [54, 108, 152, 255],
        Ground::Rock => [122, 122, 120, 255],
        Ground::Tree => [54, 96, 50, 255],
        Ground::Bridge(_) => [150, 104, 60, 255],
    };
    rows.flat_map(colour).collect()
}

/// Four pixels at a cell.
fn dot(pixels: &mut [u8], cell: Cell, colour: [u8; 4]) {
    let (left, top) = (cell.x * 3 / 2, PIXELS - 2 - cell.y * 3 / 2);
    for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let index = usize::try_from(((top + y) * PIXELS + left + x) * 4).unwrap_or(usize::MAX);
        if let Some(pixel) = pixels.get_mut(index..).and_then(|rest| rest.get_mut(..4)) {
            pixel.copy_from_slice(&colour);
        }
    }
}
