//! What surveys cost the main thread: in comes a map, out comes the worst frame from an edit in the running game until searches
//! know again all there is to know about it.

use bevy::app::App;
use bevy_wayfare::{ClassId, NavMap, PathfindingPlugin};
use wayfare::prelude::{Cell, Terrain};

use crate::frames::apps::{Game, Plain, Units};
use crate::frames::scene::{Goals, Scene};
use crate::frames::stage::{Frame, Limits};

/// A survey is due after some quiet frames, and takes a few more.
const SURVEYED: Limits = Limits { most: 1_200, more: 5 };

/// Units that stand on the map all the while.
const UNITS: usize = 100;

/// From the edit until the survey is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Learning {
    /// The frame that takes in the edit, above an idle one.
    pub(crate) edit_ms: f64,
    /// The worst of those after it.
    pub(crate) worst_ms: f64,
    /// How many there were.
    pub(crate) frames: usize,
}

/// Blocks a free cell of the map in a running game and watches. `None` if the map was not surveyed in time.
pub(crate) fn learn_after_edit(scene: &Scene) -> Option<Learning> {
    let cast = scene.cast(UNITS, Goals::One);
    let plugin = PathfindingPlugin::default().without_following();
    let mut game = Game::wayfare::<Plain>(scene, &cast.starts, Units::Agents, plugin);
    game.stage.watch(Frame::default(), Frame::default(), SURVEYED, is_surveyed).done?;
    let idle = game.stage.idle();
    edit(&mut game.stage.app, cast.first[0]);
    let trace = game.stage.watch(idle, Frame::default(), SURVEYED, is_surveyed);
    let (first, rest) = trace.frames.split_first()?;
    let worst_ms = rest.iter().map(|frame| frame.cpu).fold(0.0, f64::max);
    Some(Learning { edit_ms: first.cpu, worst_ms, frames: trace.done?.frames })
}

fn edit(app: &mut App, cell: Cell) {
    let mut maps = app.world_mut().query::<&mut NavMap>();
    for mut map in maps.iter_mut(app.world_mut()) {
        // The cell lies on the map.
        let _ = map.map_mut().set(cell, Terrain::WALL);
    }
}

fn is_surveyed(app: &App) -> bool {
    let map = app.world().iter_entities().find_map(|entity| entity.get::<NavMap>());
    let snapshot = map.and_then(|map| map.snapshot(ClassId::default()).ok());
    snapshot.is_some_and(|snapshot| snapshot.is_surveyed() && !snapshot.wants_survey())
}
