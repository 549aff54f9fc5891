//! The course of a run: in come `--frames` and `--screenshot`, out go the moment the game is ready, and its end.
//!
//! Frames are counted from the moment everything is on the screen.

use std::path::PathBuf;

use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};

use crate::art::Art;
use crate::camera::Eyes;
use crate::ground::centre;
use crate::options::Options;
use crate::report::Report;
use crate::terrain::Land;
use crate::units::{Kind, Reinforcements};

/// Frames between the last picture's arrival and the moment everything is on the screen.
const SETTLING: u32 = 5;

/// The options, for everybody.
#[derive(Resource, Clone, Debug)]
pub(crate) struct Asked(pub(crate) Options);

/// How many frames have been shown since the game was ready.
#[derive(Resource, Default, Debug)]
pub(crate) struct Frames(pub(crate) Option<u32>);

pub(crate) fn count_frames(
    // Reads
    art: Res<Art>,
    assets: Res<AssetServer>,
    land: Res<Land>,
    wanted: Res<Reinforcements>,
    units: Query<(), With<Kind>>,
    eyes: Eyes,
    // Local
    mut settled: Local<u32>,
    // Writes
    mut frames: ResMut<Frames>,
    mut exit: MessageWriter<AppExit>,
) {
    if let Some(frame) = &mut frames.0 {
        *frame += 1;
        return;
    }
    let states = art.all().map(|image| assets.load_state(image));
    for state in &states {
        if let LoadState::Failed(error) = state {
            error!("{error}");
            exit.write(AppExit::error());
        }
    }
    if wanted.number == 0 && states.iter().all(LoadState::is_loaded) {
        *settled += 1;
    }
    if *settled > SETTLING {
        frames.0 = Some(0);
        Report::Ready { units: units.iter().len(), camp: eyes.to_screen(centre(land.camp)) }.log();
    }
}

/// Saves what is shown now.
pub(crate) fn take_screenshot(file: PathBuf, commands: &mut Commands) {
    commands.spawn(Screenshot::primary_window()).observe(save_to_disk(file));
}

/// Ends the game when it was asked to, with a last picture.
pub(crate) fn end(
    asked: Res<Asked>,
    frames: Res<Frames>,
    under_way: Query<(), With<Screenshot>>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    let Some((now, last)) = frames.0.zip(asked.0.frames).filter(|(now, last)| now >= last) else { return };
    match &asked.0.screenshot {
        Some(file) if now == last => take_screenshot(file.clone(), &mut commands),
        // Pictures that are still being taken are waited for.
        _ if under_way.is_empty() => _ = exit.write(AppExit::Success),
        _ => {}
    }
}
