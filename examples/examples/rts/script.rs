//! Timed clicks and keys, for demos and tests: in comes a text file, out go the messages that mouse and keys send.
//!
//! Each line says at which frame what happens. Frames count from when the game is ready; with a script they are 1/60 s
//! of the game each, however long they take, so that a script does the same on every machine. Empty lines and lines
//! that begin with `#` are skipped.
//!
//! ```text
//! at 60 move 640 360        the cursor, in logical pixels from the upper left corner of the window
//! at 70 press left          a mouse button: left, right or middle
//! at 90 release left
//! at 95 click right         pressed now, released with the next frame
//! at 97 wheel -1            notches, away from the player if positive
//! at 98 hold Shift          a key: A, B, F, H, S, U, X, 1 to 9, F1 to F12, Shift, Ctrl, Left, Right, Up, Down
//! at 99 free Shift
//! at 100 key B              pressed now, released with the next frame
//! at 120 screenshot FILE
//! ```

use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::str::SplitWhitespace;

use bevy::input::ButtonState;
use bevy::input::keyboard::{Key, KeyboardInput, NativeKey};
use bevy::input::mouse::{MouseButtonInput, MouseScrollUnit, MouseWheel};
use bevy::input::touch::TouchPhase;
use bevy::prelude::*;
use bevy::window::WindowEvent;

use crate::run::{Frames, take_screenshot};

/// What happens when, in order.
#[derive(Resource, Default, Debug)]
pub(crate) struct Script {
    steps: Vec<(u32, Action)>,
    next: usize,
}

#[derive(Clone, PartialEq, Debug)]
enum Action {
    Move(Vec2),
    Button(MouseButton, ButtonState),
    Key(KeyCode, ButtonState),
    Wheel(f32),
    Screenshot(PathBuf),
}

impl Script {
    /// Reads a script. An error is one sentence that names the line.
    pub(crate) fn load(file: &FilePath) -> Result<Self, String> {
        let name = file.display();
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read {name}: {error}"))?;
        let mut steps = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.trim();
            if !words.is_empty() && !words.starts_with('#') {
                let step = parse(words).map_err(|error| format!("{name}, line {number}: {error}"))?;
                steps.extend(step);
            }
        }
        // Stable: what happens in the same frame keeps its order.
        steps.sort_by_key(|(frame, _)| *frame);
        Ok(Self { steps, next: 0 })
    }
}

/// Sends what is due in this frame.
pub(crate) fn play_script(
    // Reads
    frames: Res<Frames>,
    window: Single<(Entity, &mut Window)>,
    // Writes
    mut script: ResMut<Script>,
    mut buttons: MessageWriter<MouseButtonInput>,
    mut keys: MessageWriter<KeyboardInput>,
    mut wheel: MessageWriter<MouseWheel>,
    mut moves: MessageWriter<CursorMoved>,
    mut events: MessageWriter<WindowEvent>,
    mut commands: Commands,
) {
    let Some(now) = frames.0 else { return };
    let (window, mut shown) = window.into_inner();
    let script = &mut *script;
    let due = script.steps[script.next..].iter().take_while(|(frame, _)| *frame <= now);
    for (_, action) in due {
        script.next += 1;
        match action.clone() {
            Action::Move(position) => {
                shown.set_cursor_position(Some(position));
                let moved = CursorMoved { window, position, delta: None };
                events.write(moved.clone().into());
                moves.write(moved);
            }
            Action::Button(button, state) => {
                let input = MouseButtonInput { button, state, window };
                events.write(input.into());
                buttons.write(input);
            }
            Action::Key(key_code, state) => {
                let logical_key = Key::Unidentified(NativeKey::Unidentified);
                keys.write(KeyboardInput { key_code, logical_key, state, text: None, repeat: false, window });
            }
            Action::Wheel(y) => {
                let (unit, phase) = (MouseScrollUnit::Line, TouchPhase::Moved);
                wheel.write(MouseWheel { unit, x: 0.0, y, window, phase });
            }
            Action::Screenshot(file) => take_screenshot(file, &mut commands),
        }
    }
}

/// The one or two steps of a line.
fn parse(line: &str) -> Result<Vec<(u32, Action)>, String> {
    use ButtonState::{Pressed, Released};
    let mut words = line.split_whitespace();
    if words.next() != Some("at") {
        return Err("it must begin with \"at\" and the number of a frame".into());
    }
    let frame: u32 = number(&mut words, "a frame")?;
    let verb = words.next().unwrap_or_default();
    let steps = match verb {
        "move" => {
            let position = Vec2::new(number(&mut words, "a column")?, number(&mut words, "a row")?);
            vec![(frame, Action::Move(position))]
        }
        "press" => vec![(frame, Action::Button(button(&mut words)?, Pressed))],
        "release" => vec![(frame, Action::Button(button(&mut words)?, Released))],
        "click" => {
            let button = button(&mut words)?;
            vec![(frame, Action::Button(button, Pressed)), (frame + 1, Action::Button(button, Released))]
        }
        "wheel" => vec![(frame, Action::Wheel(number(&mut words, "a number of notches")?))],
        "hold" => vec![(frame, Action::Key(key(&mut words)?, Pressed))],
        "free" => vec![(frame, Action::Key(key(&mut words)?, Released))],
        "key" => {
            let key = key(&mut words)?;
            vec![(frame, Action::Key(key, Pressed)), (frame + 1, Action::Key(key, Released))]
        }
        "screenshot" => {
            let file = words.next().ok_or("a file is missing")?;
            vec![(frame, Action::Screenshot(file.into()))]
        }
        _ => {
            return Err(format!(
                "\"{verb}\" is none of move, press, release, click, wheel, hold, free, key, screenshot"
            ));
        }
    };
    match words.next() {
        Some(word) => Err(format!("\"{word}\" is too much")),
        None => Ok(steps),
    }
}

fn number<T: core::str::FromStr>(words: &mut SplitWhitespace, what: &str) -> Result<T, String> {
    let word = words.next().ok_or_else(|| format!("{what} is missing"))?;
    word.parse().map_err(|_| format!("\"{word}\" is not {what}"))
}

fn button(words: &mut SplitWhitespace) -> Result<MouseButton, String> {
    match words.next() {
        Some("left") => Ok(MouseButton::Left),
        Some("right") => Ok(MouseButton::Right),
        Some("middle") => Ok(MouseButton::Middle),
        word => Err(format!("\"{}\" is none of left, right, middle", word.unwrap_or_default())),
    }
}

fn key(words: &mut SplitWhitespace) -> Result<KeyCode, String> {
    let word = words.next().unwrap_or_default();
    let named = [
        ("Shift", KeyCode::ShiftLeft),
        ("Ctrl", KeyCode::ControlLeft),
        ("Left", KeyCode::ArrowLeft),
        ("Right", KeyCode::ArrowRight),
        ("Up", KeyCode::ArrowUp),
        ("Down", KeyCode::ArrowDown),
    ];
    let others = KEYS.iter().map(|key| (*key, format!("{key:?}")));
    let others = others.map(|(key, name)| (key, name.replace("Key", "").replace("Digit", "")));
    let named = named.into_iter().map(|(name, key)| (key, name.to_owned()));
    let key = named.chain(others).find(|(_, name)| name == word).map(|(key, _)| key);
    key.ok_or_else(|| format!("\"{word}\" is not a key"))
}

/// All keys that the game knows by their letter or number.
#[rustfmt::skip]
const KEYS: [KeyCode; 28] = {
    use KeyCode::*;
    [
        KeyA, KeyB, KeyF, KeyH, KeyS, KeyU, KeyX,
        Digit1, Digit2, Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9,
        F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12,
    ]
};
