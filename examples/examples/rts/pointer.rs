//! The mouse: in come the events of the window, out goes [`Pointer`], which says what it points at and what it clicked.
//!
//! Over the minimap it points at nothing in the world, so that clicks there neither select nor order.

use bevy::prelude::*;
use bevy::window::WindowEvent;
use bevy_wayfare::prelude::*;

use crate::camera::Eyes;
use crate::minimap;

/// What the cursor points at.
#[derive(Resource, Default, Debug)]
pub(crate) struct Pointer {
    /// The cursor, if it is inside the window, in logical pixels from its upper left corner.
    pub(crate) screen: Option<Vec2>,
    /// The cell of the map, unless the minimap is above it.
    pub(crate) cell: Option<Cell>,
    /// The point of the world that the minimap shows there.
    pub(crate) minimap: Option<Vec2>,
    /// The buttons that went down or up in this frame, in that order.
    pub(crate) clicks: Vec<Click>,
}

/// A button that went down or up. In a slow frame the cursor may have moved on since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Click {
    pub(crate) button: MouseButton,
    pub(crate) pressed: bool,
    /// Where the cursor was, in the window and in the world.
    pub(crate) screen: Vec2,
    pub(crate) ground: Option<Vec2>,
    pub(crate) cell: Option<Cell>,
}

pub(crate) fn follow_cursor(
    // Reads
    window: Single<&Window>,
    eyes: Eyes,
    map: Single<&NavMap>,
    mut events: MessageReader<WindowEvent>,
    // Local
    mut last: Local<Option<Vec2>>,
    // Writes
    mut pointer: ResMut<Pointer>,
) {
    let on_minimap = |at: &Vec2| minimap::frame(&window).contains(*at);
    let ground = |at: Vec2| Some(at).filter(|at| !on_minimap(at)).map(|at| eyes.to_world(at));
    let cell = |at: Vec2| ground(at).and_then(|at| map.cell_at(at.extend(0.0)));
    // From event to event: what is clicked is where the cursor was then, or where it left the window.
    let mut clicks = Vec::new();
    for event in events.read() {
        match event {
            WindowEvent::CursorMoved(moved) => *last = Some(moved.position),
            WindowEvent::MouseButtonInput(input) => {
                let (button, pressed) = (input.button, input.state.is_pressed());
                let click =
                    |screen| Click { button, pressed, screen, ground: ground(screen), cell: cell(screen) };
                clicks.extend(last.map(click));
            }
            _ => {}
        }
    }
    let screen = window.cursor_position();
    *pointer = Pointer {
        screen,
        cell: screen.and_then(cell),
        minimap: screen.filter(on_minimap).map(|at| minimap::to_world(&window, at)),
        clicks,
    };
}
