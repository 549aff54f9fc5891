//! The units: in come wishes for more of them, out go entities with an [`Agent`] that stand around the camp.
//!
//! A kind of unit is an `Agent` with its own speed, radius and class. The library walks it and turns its `Transform`; what
//! is left to do here is to draw it.

use std::collections::{HashMap, HashSet, VecDeque};

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::art::{Art, FRAMES, z};
use crate::ground::{FLYERS, WALKERS, centre};
use crate::orders::Legs;
use crate::report::Report;
use crate::terrain::{Land, SIDE, cells, distance_squared, neighbours};

/// Where the shadow of a flyer falls.
const SHADOW: Vec3 = Vec3::new(13.0, -19.0, z::SHADOWS - z::FLYERS);

/// The layer that flyers avoid each other on.
const AIR: u32 = 1;

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

/// Who comes when units are asked for, again and again.
const MIX: &[Kind] = &[Kind::Scout, Kind::Tank, Kind::Scout, Kind::Flyer, Kind::Scout, Kind::Tank];

impl Kind {
    /// About as large as it is drawn, and small enough for gaps of one tile.
    pub(crate) fn agent(self) -> Agent {
        match self {
            Self::Scout => Agent { radius: 11.0, speed: 130.0, turn_rate: 12.0, class: WALKERS, ..default() },
            Self::Tank => Agent { radius: 15.0, speed: 65.0, turn_rate: 4.0, class: WALKERS, ..default() },
            Self::Flyer => Agent { radius: 17.0, speed: 165.0, turn_rate: 5.0, class: FLYERS, ..default() },
        }
    }

    /// Those on the ground and those in the air do not meet.
    fn avoidance(self) -> Avoidance {
        match self {
            Self::Scout | Self::Tank => Avoidance::default(),
            Self::Flyer => Avoidance::on_layer(AIR),
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
pub(crate) struct Reinforcements {
    pub(crate) number: usize,
    mix: &'static [Kind],
}

impl Reinforcements {
    pub(crate) fn new(number: usize) -> Self {
        Self { number, mix: MIX }
    }

    /// Nobody who flies.
    pub(crate) fn walkers(number: usize) -> Self {
        Self { number, mix: &[Kind::Scout, Kind::Tank, Kind::Scout] }
    }
}

pub(crate) fn call_reinforcements(keys: Res<ButtonInput<KeyCode>>, mut wanted: ResMut<Reinforcements>) {
    if keys.just_pressed(KeyCode::KeyU) {
        wanted.number += 100;
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
    if wanted.number == 0 {
        return Ok(());
    }
    let snapshot = map.snapshot(WALKERS)?;
    // The player may have built on the camp itself.
    let Some(camp) = snapshot.nearest_open_within(land.camp, SIDE.unsigned_abs()) else { return Ok(()) };
    let (new, old) = (wanted.number, units.iter().len());
    let taken: HashSet<Cell> = units.iter().filter_map(|unit| map.cell_at(unit.translation)).collect();
    // Like the black squares of a chessboard: nobody touches anybody.
    let is_free = |cell: &Cell| (cell.x + cell.y) % 2 == 0 && !taken.contains(cell);
    let free = ground_around(&snapshot, camp).into_iter().filter(is_free);
    for (number, cell) in (old..old + new).zip(free.chain(std::iter::repeat(camp))) {
        let kind = wanted.mix[number % wanted.mix.len()];
        spawn_unit(kind, number, centre(cell), &art, &mut commands);
    }
    wanted.number = 0;
    Report::Spawned { new, all: old + new }.log();
    Ok(())
}

/// The cells around the camp, nearest first: those on its side of rivers and rocks, from where it is not much farther to
/// walk than it looks.
fn ground_around(snapshot: &Snapshot, camp: Cell) -> Vec<Cell> {
    let mut steps = HashMap::from([(camp, 0)]);
    let mut next = VecDeque::from([camp]);
    while let Some(cell) = next.pop_front() {
        let step = steps.get(&cell).copied().unwrap_or(0) + 1;
        for neighbour in neighbours(cell).into_iter().filter(|cell| snapshot.is_open(*cell)) {
            steps.entry(neighbour).or_insert_with(|| {
                next.push_back(neighbour);
                step
            });
        }
    }
    let is_near = |cell: &Cell| {
        let steps: Option<&i32> = steps.get(cell);
        steps.is_some_and(|steps| steps.pow(2) <= 4 * distance_squared(*cell, camp))
    };
    let mut ground: Vec<Cell> = cells().filter(is_near).collect();
    ground.sort_by_key(|cell| distance_squared(*cell, camp));
    ground
}

fn spawn_unit(kind: Kind, number: usize, spot: Vec2, art: &Art, commands: &mut Commands) {
    // Each lies at a height of its own, five thousand of them at least: those who overlap never flicker.
    let height = kind.z() + (number % 5000) as f32 * 1e-4;
    let mut unit = commands.spawn((
        kind,
        kind.agent(),
        kind.avoidance(),
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
