//! How units stand who are sent off together: in comes the key F, out goes the [`Drill`] that the next orders follow.
//!
//! All of that is the library's work; a game only names the formation.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::report::Report;

/// What key F goes through.
const ALL: [Formation; 5] =
    [Formation::Loose, Formation::Line, Formation::Wedge, Formation::Box, Formation::AsTheyStand];

/// The formation of orders to come.
#[derive(Resource, Default, Debug)]
pub(crate) struct Drill(pub(crate) Formation);

/// F changes it.
pub(crate) fn change_formation(keys: Res<ButtonInput<KeyCode>>, mut drill: ResMut<Drill>) {
    if keys.just_pressed(KeyCode::KeyF) {
        let now = ALL.iter().position(|formation| *formation == drill.0).unwrap_or(0);
        drill.0 = ALL[(now + 1) % ALL.len()];
        Report::Formation(drill.0).log();
    }
}

/// In the words of the player.
pub(crate) fn name(formation: Formation) -> &'static str {
    match formation {
        Formation::Loose => "loose",
        Formation::Line => "line",
        Formation::Wedge => "wedge",
        Formation::Box => "box",
        Formation::AsTheyStand => "as they stand",
    }
}
