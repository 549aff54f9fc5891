//! The writing on the screen: in come diagnostics, out go a status line at the top and the help panel of key H.

use std::time::Instant;

use bevy::diagnostic::{DiagnosticPath, DiagnosticsStore, FrameCount};
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::formation::{self, Drill};
use crate::select::Selected;
use crate::units::Kind;

const HELP: &str = "\
left click     select a unit
left drag      select all in a box
double click   select all of a kind on the screen
  with shift   add to the selection
A              select all
Ctrl + 1 - 9   make a group
1 - 9          recall it

right click    move there
  with shift   move there afterwards
F              change the formation of the next orders
S              stop

B              build a wall, and on by dragging
  on a wall    make it a gate
  on a gate    open or close it
X              remove a wall or gate
U              100 more units

arrows, edges, middle drag, minimap
               look around
wheel          zoom
F1 F2 F3 F4    show paths, islands, costs, queue
F12            report to the log
H              close this";

const BACKGROUND: Color = Color::srgba(0.05, 0.07, 0.08, 0.85);
const TEXT: Color = Color::srgb(0.93, 0.94, 0.9);

#[derive(Component, Debug)]
pub(crate) struct Status;

#[derive(Component, Debug)]
pub(crate) struct Help;

pub(crate) fn spawn_hud(mut commands: Commands) {
    let line = Node {
        position_type: PositionType::Absolute,
        top: px(0),
        left: px(0),
        right: px(0),
        min_height: px(28),
        padding: UiRect::axes(px(12), px(5)),
        ..default()
    };
    commands.spawn((line, BackgroundColor(BACKGROUND))).with_child((Status, writing("")));
    let panel = Node {
        position_type: PositionType::Absolute,
        top: px(42),
        left: px(12),
        padding: UiRect::all(px(12)),
        ..default()
    };
    commands.spawn((Help, panel, BackgroundColor(BACKGROUND), Visibility::Hidden)).with_child(writing(HELP));
}

fn writing(text: &str) -> impl Bundle {
    (Text::new(text), TextFont { font_size: FontSize::Px(15.0), ..default() }, TextColor(TEXT))
}

pub(crate) fn toggle_help(keys: Res<ButtonInput<KeyCode>>, mut help: Single<&mut Visibility, With<Help>>) {
    if keys.just_pressed(KeyCode::KeyH) {
        help.toggle_visible_hidden();
    }
}

/// Several times per second, so that it can be read.
pub(crate) fn update_status(
    store: Res<DiagnosticsStore>,
    fixed: Res<Time<Fixed>>,
    units: Query<Has<Selected>, With<Kind>>,
    drill: Res<Drill>,
    frames: Res<FrameCount>,
    // Local
    mut last: Local<Option<(Instant, u32)>>,
    // Writes
    mut status: Single<&mut Text, With<Status>>,
) {
    let of = |path: DiagnosticPath, read: fn(&bevy::diagnostic::Diagnostic) -> Option<f64>| {
        store.get(&path).and_then(read).unwrap_or(0.0)
    };
    // By the clock on the wall: under a script the game has a time of its own.
    let (now, count) = (Instant::now(), frames.0);
    let (then, before) = last.replace((now, count)).unwrap_or((now, count));
    let frame = (now - then).as_secs_f64() * 1e3 / f64::from(count.wrapping_sub(before).max(1));
    let queue = of(PathfindingDiagnostics::QUEUE, |queue| queue.value());
    // Counted per run of the fixed schedule.
    let per_run = of(PathfindingDiagnostics::FOUND, |found| found.average())
        + of(PathfindingDiagnostics::FAILED, |failed| failed.average());
    let searches = per_run / fixed.timestep().as_secs_f64();
    let wait = of(PathfindingDiagnostics::WAIT_P50, |wait| wait.value());
    let long = of(PathfindingDiagnostics::WAIT_P95, |wait| wait.value());
    let selected = units.iter().filter(|selected| *selected).count();
    status.0 = format!(
        "{frame:5.1} ms | {} units, {selected} selected | formation: {} | queue {queue}, {searches:.0} searches/s, \
         wait {wait:.1} ms (95 %: {long:.1} ms) | H: help",
        units.iter().len(),
        formation::name(drill.0)
    );
}
