//! Who walks: an [`Agent`] with its body and gait, and the [`OnMap`] that names its map.

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use wayfare::Gait;

use crate::avoid::{Avoidance, Steering};
use crate::motion::{Motion, SafeVelocity, WantedVelocity};
use crate::path::Path;

/// A unit that walks where a [`PathRequest`](crate::PathRequest) sends it.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Transform::from_xyz(8.0, 8.0, 0.0), Agent { speed: 60.0, ..default() }));
/// }
/// ```
///
/// It may be the child of another entity; that counts with Bevy's `TransformPlugin` only. While it is `Disabled` it
/// stands, and goes on when it is enabled again.
///
/// Lengths are in units of the world. Values that make no sense are no error: a speed that is zero, negative or not
/// a number means a unit that gets paths and stays where it is; such a radius means a point.
#[derive(Component, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Component, Default, Clone, PartialEq, Debug)]
#[require(Transform, Path, Motion, Avoidance, Steering, WantedVelocity, SafeVelocity)]
#[component(on_remove = stand)]
pub struct Agent {
    /// The size of its body: others keep off it, and it keeps clear of walls. One that does not fit into a cell is led only where
    /// it has room at the centre of each cell it crosses: through a gap of three cells if it is up to three wide.
    pub radius: f32,
    /// Units of the world per second on ordinary ground.
    pub speed: f32,
    /// Radians per second. A unit that faces away turns before it walks; an infinite rate, the default, turns at once.
    pub turn_rate: f32,
    /// How near to the goal is near enough. 0, the default, means exactly there.
    pub arrival_radius: f32,
    /// What kind of unit it is, which decides what ground it crosses at what cost.
    pub class: ClassId,
    /// Whether its `Transform` turns the way it walks.
    pub facing: Facing,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            radius: 0.4,
            speed: 3.0,
            turn_rate: f32::INFINITY,
            arrival_radius: 0.0,
            class: ClassId::default(),
            facing: Facing::default(),
        }
    }
}

impl Agent {
    pub(crate) fn gait(&self, slowed: bool) -> Gait {
        Gait { speed: self.speed, turn_rate: self.turn_rate, arrival: self.arrival_radius, slowed }
    }
}

/// What is no agent any more does not move.
fn stand(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut motion) = world.get_mut::<Motion>(context.entity) {
        motion.rest();
    }
    if let Some(mut wanted) = world.get_mut::<WantedVelocity>(context.entity) {
        wanted.0 = Vec3::ZERO;
    }
    if let Some(mut safe) = world.get_mut::<SafeVelocity>(context.entity) {
        safe.0 = Vec3::ZERO;
    }
}

/// A class of units, by its number on the map; see [`NavMap::with_class`](crate::NavMap::with_class).
#[derive(Reflect, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub struct ClassId(pub u8);

/// What walking does to the rotation of a unit.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum Facing {
    /// It turns the way it walks: X forward on [`Plane::Xy`](crate::Plane::Xy), −Z on [`Plane::Xz`](crate::Plane::Xz).
    #[default]
    Turns,
    /// It is the game's own; turn rates count nevertheless.
    Free,
}

/// Names the map a unit is on. Without it, that is the map under the unit.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn setup(mut commands: Commands) -> Result {
///     let cellar = commands.spawn(NavMap::new(Map::new(32, 32)?)).id();
///     commands.spawn((Transform::default(), Agent::default(), OnMap(cellar)));
///     Ok(())
/// }
/// ```
#[derive(Component, Reflect, Clone, Copy, PartialEq, Eq, Debug)]
#[reflect(Component, Clone, PartialEq, Debug)]
#[relationship(relationship_target = Units)]
pub struct OnMap(pub Entity);

/// The units that name this map with [`OnMap`].
#[derive(Component, Reflect, Default, Debug)]
#[reflect(Component, Default, Debug)]
#[relationship_target(relationship = OnMap)]
pub struct Units(Vec<Entity>);
