//! What happened, for the log: in come [`Report`]s from all over the game, out go lines of a stable format.
//!
//! Each is one line at level `INFO` that begins with `rts: `. Tests that drive the game with mouse and keys read them, so
//! the wording is part of the example. Positions on the screen are whole logical pixels from the upper left corner.

use core::fmt;

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::camera::Eyes;
use crate::formation;
use crate::ground::walks_on;
use crate::pointer::Pointer;
use crate::select::Selected;
use crate::terrain::{Ground, Land, cells};
use crate::units::Kind;

/// Something worth a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Report {
    /// `ready: 24 units, camp at screen 640 360`: pictures are loaded, input counts from now on.
    Ready { units: usize, camp: Vec2 },
    /// `spawned 100, 124 units`
    Spawned { new: usize, all: usize },
    /// `selected 12`
    Selected(usize),
    /// `group 3 has 12`
    Grouped { group: usize, units: usize },
    /// `formation wedge`: of the next orders.
    Formation(Formation),
    /// `ordered 12 to cell (70, 64), reachable`, or `..., nearest point`, or either with `, queued` behind it.
    Ordered { units: usize, cell: Cell, reach: Reach, queued: bool },
    /// `stopped 12`
    Stopped(usize),
    /// `arrived 12 of 12`, or `arrived 11 of 12, 1 as near as possible`: of all who were given one order, once nobody is on
    /// the way any more.
    Arrived { arrived: usize, near: usize, ordered: usize },
    /// `planning again: 7`: so many paths were blocked or became dearer in this frame.
    PlanningAgain(usize),
    /// `cannot get there: it lies outside the map`
    Failed(FailureReason),
    /// `wall at cell (70, 64)`
    Wall(Cell),
    /// `gate closed at cell (70, 64)`, or `gate open ...`
    Gate { cell: Cell, open: bool },
    /// `removed at cell (70, 64)`
    Removed(Cell),
    /// `rock at screen 812 402`: a rock on the screen, the nearest to its middle.
    Rock(Vec2),
    /// `selected units at screen 640 360`: in the mean.
    SelectedAt(Vec2),
    /// `cell (70, 64) under the cursor`
    UnderCursor(Cell),
    /// `units on blocked cells: 0`
    OnBlocked(usize),
}

impl Report {
    pub(crate) fn log(self) {
        info!("rts: {self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { units, camp } => {
                write!(f, "ready: {units} units, camp at screen {:.0} {:.0}", camp.x, camp.y)
            }
            Self::Spawned { new, all } => write!(f, "spawned {new}, {all} units"),
            Self::Selected(units) => write!(f, "selected {units}"),
            Self::Grouped { group, units } => write!(f, "group {group} has {units}"),
            Self::Formation(formation) => write!(f, "formation {}", formation::name(*formation)),
            Self::Ordered { units, cell, reach, queued } => {
                let reach = if *reach == Reach::Goal { "reachable" } else { "nearest point" };
                let queued = if *queued { ", queued" } else { "" };
                write!(f, "ordered {units} to cell {cell}, {reach}{queued}")
            }
            Self::Stopped(units) => write!(f, "stopped {units}"),
            Self::Arrived { arrived, near: 0, ordered } => write!(f, "arrived {arrived} of {ordered}"),
            Self::Arrived { arrived, near, ordered } => {
                write!(f, "arrived {arrived} of {ordered}, {near} as near as possible")
            }
            Self::PlanningAgain(units) => write!(f, "planning again: {units}"),
            Self::Failed(reason) => write!(f, "cannot get there: {reason}"),
            Self::Wall(cell) => write!(f, "wall at cell {cell}"),
            Self::Gate { cell, open } => {
                write!(f, "gate {} at cell {cell}", if *open { "open" } else { "closed" })
            }
            Self::Removed(cell) => write!(f, "removed at cell {cell}"),
            Self::Rock(at) => write!(f, "rock at screen {:.0} {:.0}", at.x, at.y),
            Self::SelectedAt(at) => write!(f, "selected units at screen {:.0} {:.0}", at.x, at.y),
            Self::UnderCursor(cell) => write!(f, "cell {cell} under the cursor"),
            Self::OnBlocked(units) => write!(f, "units on blocked cells: {units}"),
        }
    }
}

/// How many units had to plan again in this frame.
#[derive(Resource, Default, Debug)]
pub(crate) struct PlansLost(usize);

/// An observer: the library says which path no longer holds.
pub(crate) fn count_lost_plans(_: On<PathInvalidated>, mut lost: ResMut<PlansLost>) {
    lost.0 += 1;
}

pub(crate) fn report_lost_plans(mut lost: ResMut<PlansLost>) {
    if lost.0 > 0 {
        Report::PlanningAgain(lost.0).log();
        lost.0 = 0;
    }
}

/// F12 says where things are.
pub(crate) fn report_whereabouts(
    keys: Res<ButtonInput<KeyCode>>,
    land: Res<Land>,
    eyes: Eyes,
    pointer: Res<Pointer>,
    map: Single<&NavMap>,
    units: Query<(&Transform, &Agent, Has<Selected>), With<Kind>>,
) {
    if !keys.just_pressed(KeyCode::F12) {
        return;
    }
    let view = eyes.view();
    let middle = view.center();
    let rocks = cells().filter(|cell| land.at(*cell) == Ground::Rock);
    let rocks = rocks.filter_map(|cell| Some(map.centre(cell)?.truncate())).filter(|at| view.contains(*at));
    let rock = rocks.min_by(|a, b| a.distance_squared(middle).total_cmp(&b.distance_squared(middle)));
    if let Some(rock) = rock {
        Report::Rock(eyes.to_screen(rock)).log();
    }
    let selected = || units.iter().filter(|unit| unit.2).map(|unit| unit.0.translation.truncate());
    let count = selected().count();
    if count > 0 {
        Report::SelectedAt(eyes.to_screen(selected().sum::<Vec2>() / count as f32)).log();
    }
    if let Some(cell) = pointer.cell {
        Report::UnderCursor(cell).log();
    }
    let blocked = units.iter().filter(|unit| !walks_on(&map, unit.1.class, unit.0.translation)).count();
    Report::OnBlocked(blocked).log();
}
