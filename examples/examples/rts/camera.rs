//! The camera: in come arrow keys, the edges of the screen, middle drags and the wheel; out goes what is seen.
//!
//! A texel of a tile always covers a whole number of pixels, or a pixel a whole number of texels, and the camera stands
//! on whole pixels: that keeps the pictures sharp. Others ask [`Eyes`] where something is on the screen.

use bevy::ecs::system::SystemParam;
use bevy::input::mouse::{AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;

use crate::art::TILE;
use crate::ground::centre;
use crate::pointer::Pointer;
use crate::terrain::{Land, SIDE};

/// Pixels of the screen per pixel of the pictures.
const ZOOMS: [f32; 6] = [1.0 / 3.0, 0.5, 1.0, 2.0, 3.0, 4.0];

/// Pixels per second.
const SPEED: f32 = 900.0;

/// The camera follows a cursor that is so near to the edge of the window.
const EDGE: f32 = 4.0;

/// So many pixels of a touchpad are one notch of a wheel.
const NOTCH: f32 = 60.0;

/// The camera of the game.
#[derive(Component, Debug)]
pub(crate) struct Eye {
    /// Where it looks.
    pub(crate) at: Vec2,
    /// The same, on whole pixels.
    drawn: Vec2,
    /// An index into [`ZOOMS`].
    zoom: usize,
    /// Units of the world per logical pixel.
    scale: f32,
}

pub(crate) fn spawn_camera(window: Single<&Window>, land: Res<Land>, mut commands: Commands) {
    let at = centre(land.camp);
    // As large as the desktop draws everything else.
    let gap = |zoom: &usize| (ZOOMS[*zoom] - window.scale_factor()).abs();
    let zoom = (0..ZOOMS.len()).min_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(0);
    commands.spawn((Camera2d, Msaa::Off, Eye { at, drawn: at, zoom, scale: 1.0 }));
}

/// Where things are on the screen.
#[derive(SystemParam)]
pub(crate) struct Eyes<'w, 's> {
    window: Single<'w, 's, &'static Window>,
    eye: Single<'w, 's, &'static Eye>,
}

impl Eyes<'_, '_> {
    /// The part of the world that is seen.
    pub(crate) fn view(&self) -> Rect {
        Rect::from_center_size(self.eye.drawn, self.window.size() * self.eye.scale)
    }

    pub(crate) fn to_world(&self, screen: Vec2) -> Vec2 {
        self.eye.drawn + flipped(screen - self.window.size() / 2.0) * self.eye.scale
    }

    pub(crate) fn to_screen(&self, world: Vec2) -> Vec2 {
        self.window.size() / 2.0 + flipped(world - self.eye.drawn) / self.eye.scale
    }

    /// Units of the world per logical pixel.
    pub(crate) fn scale(&self) -> f32 {
        self.eye.scale
    }
}

/// Screens count downwards, the world upwards.
fn flipped(v: Vec2) -> Vec2 {
    Vec2::new(v.x, -v.y)
}

/// Arrow keys, and the cursor at the edge of the window.
pub(crate) fn pan(
    time: Res<Time<Real>>,
    keys: Res<ButtonInput<KeyCode>>,
    window: Single<&Window>,
    pointer: Res<Pointer>,
    mut eye: Single<&mut Eye>,
) {
    let towards = |less: KeyCode, more: KeyCode, at: Option<f32>, side: f32| {
        let at = at.filter(|_| window.focused);
        let less = keys.pressed(less) || at.is_some_and(|at| at < EDGE);
        let more = keys.pressed(more) || at.is_some_and(|at| at >= side - EDGE);
        f32::from(u8::from(more)) - f32::from(u8::from(less))
    };
    let (size, cursor) = (window.size(), pointer.screen);
    let way = Vec2::new(
        towards(KeyCode::ArrowLeft, KeyCode::ArrowRight, cursor.map(|at| at.x), size.x),
        towards(KeyCode::ArrowUp, KeyCode::ArrowDown, cursor.map(|at| at.y), size.y),
    );
    let scale = eye.scale;
    eye.at += flipped(way.normalize_or_zero()) * SPEED * scale * time.delta_secs();
}

/// The middle button takes hold of the land.
pub(crate) fn drag(
    buttons: Res<ButtonInput<MouseButton>>,
    pointer: Res<Pointer>,
    mut last: Local<Option<Vec2>>,
    mut eye: Single<&mut Eye>,
) {
    let held = pointer.screen.filter(|_| buttons.pressed(MouseButton::Middle));
    if let (Some(from), Some(to)) = (*last, held) {
        let scale = eye.scale;
        eye.at -= flipped(to - from) * scale;
    }
    *last = held;
}

/// The wheel zooms, and what is under the cursor stays there.
pub(crate) fn zoom(
    scroll: Res<AccumulatedMouseScroll>,
    window: Single<&Window>,
    pointer: Res<Pointer>,
    mut turned: Local<f32>,
    mut eye: Single<&mut Eye>,
) {
    *turned += match scroll.unit {
        MouseScrollUnit::Line => scroll.delta.y,
        MouseScrollUnit::Pixel => scroll.delta.y / NOTCH,
    };
    // One step a frame, however fast the wheel is turned.
    let zoom = if *turned >= 1.0 {
        (eye.zoom + 1).min(ZOOMS.len() - 1)
    } else if *turned <= -1.0 {
        eye.zoom.saturating_sub(1)
    } else {
        return;
    };
    *turned = 0.0;
    let scale = scale(&window, zoom);
    let from_middle = flipped(pointer.screen.map_or(Vec2::ZERO, |at| at - window.size() / 2.0));
    // From where it is, not from the pixel it is drawn at: in and out again leads back.
    let from_scale = eye.scale;
    eye.at += from_middle * (from_scale - scale);
    (eye.zoom, eye.scale) = (zoom, scale);
}

fn scale(window: &Window, zoom: usize) -> f32 {
    window.scale_factor() / ZOOMS[zoom]
}

/// Keeps the camera over the land and on whole pixels.
pub(crate) fn place_camera(
    window: Single<&Window>,
    camera: Single<(&mut Eye, &mut Transform, &mut Projection)>,
) {
    let (mut eye, mut transform, mut projection) = camera.into_inner();
    let land = Vec2::splat(SIDE as f32 * TILE);
    eye.scale = scale(&window, eye.zoom);
    // Land that is smaller than the window lies in its middle.
    let margin = (window.size() * eye.scale / 2.0).min(land / 2.0);
    eye.at = eye.at.clamp(margin, land - margin);
    // The middle of a window of odd size is the middle of a pixel.
    let zoom = ZOOMS[eye.zoom];
    let odd = (window.physical_size() % 2).as_vec2() / 2.0;
    eye.drawn = ((eye.at * zoom).round() + odd) / zoom;
    transform.translation = eye.drawn.extend(transform.translation.z);
    if let Projection::Orthographic(projection) = &mut *projection {
        projection.scale = eye.scale;
    }
}
