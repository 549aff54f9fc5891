//! The units: in come wishes for more of them, out go entities with an [`Agent`] that stand around the camp.
//!
//! A kind of unit is an `Agent` with its own speed, radius and class. The library walks it and turns its `Transform`; what
//! is left to do here is to draw it.

use std::collections::HashSet;

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::art::{Art, FRAMES, z};
use crate::formation;
use crate::ground::{FLYERS, WALKERS};
use crate::orders::Legs;
use crate::report::Report;
use crate::terrain::{Land, SIDE};

/// Where the shadow of a flyer falls.
const SHADOW: Vec3 = Vec3::new(13.0, -19.0, z::SHADOWS - z::FLYERS);

/// Pictures per second while a unit moves.
const PACE: f32 = 12.0;

/// The kinds of units.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
#[require(Legs)]
pub(crate) enum Kind {
    /// Light and fast.
    Scout,
    /// Heavy and large.
    Tank,
    /// Crosses everything.
    Flyer,
}

/// Who comes when a unit is asked for, again and again.
const MIX: [Kind; 6] = [Kind::Scout, Kind::Tank, Kind::Scout, Kind::Flyer, Kind::Scout, Kind::Tank];

impl Kind {
    pub(crate) fn agent(self) -> Agent {
        match self {
            Self::Scout => Agent { radius: 11.0, speed: 130.0, turn_rate: 12.0, class: WALKERS, ..default() },
            Self::Tank => Agent { radius: 17.0, speed: 65.0, turn_rate: 4.0, class: WALKERS, ..default() },
            Self::Flyer => Agent { radius: 17.0, speed: 165.0, turn_rate: 5.0, class: FLYERS, ..default() },
        }
    }

    /// The side of its picture.
    fn side(self) -> f32 {
        match self {
            Self::Scout => 24.0,
            Self::Tank | Self::Flyer => 40.0,
        }
    }

    fn sprite(self, art: &Art) -> Sprite {
        let image = match self {
            Self::Scout => &art.scout,
            Self::Tank => &art.tank,
            Self::Flyer => &art.flyer,
        };
        Sprite { image: image.clone(), rect: Some(self.frame(0)), ..default() }
    }

    /// Where a picture of its animation is.
    fn frame(self, number: u8) -> Rect {
        let corner = Vec2::new(f32::from(number) * self.side(), 0.0);
        Rect::from_corners(corner, corner + self.side())
    }

    fn z(self) -> f32 {
        match self {
            Self::Scout | Self::Tank => z::WALKERS,
            Self::Flyer => z::FLYERS,
        }
    }
}

/// Units that are still to be spawned. The game begins with some; key U wants more.
#[derive(Resource, Debug)]
pub(crate) struct Reinforcements(pub(crate) usize);

pub(crate) fn call_reinforcements(keys: Res<ButtonInput<KeyCode>>, mut wanted: ResMut<Reinforcements>) {
    if keys.just_pressed(KeyCode::KeyU) {
        wanted.0 += 100;
    }
}

/// Spawns the units that are wanted on free ground around the camp, as soon as the tiles have been read.
pub(crate) fn spawn_units(
    // Reads
    land: Res<Land>,
    art: Res<Art>,
    map: Single<&NavMap>,
    units: Query<&Transform, With<Kind>>,
    // Writes
    mut wanted: ResMut<Reinforcements>,
    mut commands: Commands,
) -> Result {
    if wanted.0 == 0 {
        return Ok(());
    }
    let snapshot = map.snapshot(WALKERS)?;
    // The player may have built on the camp itself.
    let open = snapshot.nearest_open_within(land.camp, SIDE.unsigned_abs());
    let Some(camp) = open.and_then(|cell| map.centre(cell)) else { return Ok(()) };
    let (new, old) = (wanted.0, units.iter().len());
    let taken: HashSet<Cell> = units.iter().filter_map(|unit| map.cell_at(unit.translation)).collect();
    let spots = formation::spots(&map, &snapshot, camp.truncate(), Kind::Tank.agent().radius);
    let is_free = |spot: &Vec2| map.cell_at(spot.extend(0.0)).is_some_and(|cell| !taken.contains(&cell));
    let spots = spots.filter(is_free).chain(std::iter::repeat(camp.truncate()));
    for (number, spot) in (old..old + new).zip(spots) {
        spawn_unit(MIX[number % MIX.len()], number, spot, &art, &mut commands);
    }
    wanted.0 = 0;
    Report::Spawned { new, all: old + new }.log();
    Ok(())
}

fn spawn_unit(kind: Kind, number: usize, spot: Vec2, art: &Art, commands: &mut Commands) {
    // Each lies at a height of its own, five thousand of them at least: those who overlap never flicker.
    let height = kind.z() + (number % 5000) as f32 * 1e-4;
    let mut unit = commands.spawn((
        kind,
        kind.agent(),
        kind.sprite(art),
        Transform::from_translation(spot.extend(height)),
    ));
    if kind == Kind::Flyer {
        let shadow = Sprite::from_image(art.shadow.clone());
        unit.with_child((Shadow, shadow, Transform::from_translation(SHADOW)));
    }
}

/// On the ground, below a flyer.
#[derive(Component, Debug)]
pub(crate) struct Shadow;

/// A shadow turns with its flyer, but the sun stays where it is.
pub(crate) fn cast_shadows(
    flyers: Query<&Transform, (With<Kind>, Without<Shadow>)>,
    mut shadows: Query<(&ChildOf, &mut Transform), With<Shadow>>,
) {
    for (flyer, mut shadow) in &mut shadows {
        if let Ok(flyer) = flyers.get(flyer.parent()) {
            shadow.translation = flyer.rotation.inverse() * SHADOW;
        }
    }
}

/// Wheels and treads turn while a unit moves; rotors always do.
pub(crate) fn animate(time: Res<Time>, mut units: Query<(Entity, &Kind, &SafeVelocity, &mut Sprite)>) {
    for (entity, kind, velocity, mut sprite) in &mut units {
        if velocity.0 == Vec3::ZERO && *kind != Kind::Flyer {
            continue;
        }
        // Not all in step.
        let phase = time.elapsed_secs_wrapped() * PACE + (entity.index_u32() % 4) as f32;
        let number = (0..FRAMES).rfind(|frame| f32::from(*frame) <= phase % f32::from(FRAMES)).unwrap_or(0);
        let frame = Some(kind.frame(number));
        if sprite.rect != frame {
            sprite.rect = frame;
        }
    }
}
