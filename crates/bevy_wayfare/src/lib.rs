//! Pathfinding for Bevy: put a [`PathRequest`] on an entity and the unit walks there, around walls and without a late
//! frame.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! fn main() {
//!     App::new()
//!         .add_plugins((MinimalPlugins, PathfindingPlugin::default()))
//!         .add_systems(Startup, setup)
//!         .add_observer(|arrived: On<Arrived>, mut exit: MessageWriter<AppExit>| {
//!             println!("{} is there", arrived.entity);
//!             exit.write(AppExit::Success);
//!         })
//!         .add_observer(|failed: On<PathFailed>| println!("{} cannot get there: {}", failed.entity, failed.reason))
//!         .run();
//! }
//!
//! fn setup(mut commands: Commands) -> Result {
//!     let map = NavMap::from_text(
//!         "......
//!          .####.
//!          ......",
//!     )?;
//!     commands.spawn(map);
//!     let unit = (Transform::from_xyz(0.5, -0.5, 0.0), Agent { speed: 60.0, ..default() });
//!     commands.spawn((unit, PathRequest::to(Cell::new(5, 2))));
//!     Ok(())
//! }
//! ```
//!
//! The crate is built on [Wayfare's core](wayfare), which it re-exports: maps, rules, searches and answers can be used in any
//! system as they are. What the plugin adds is a pipeline of seven stages. Each is a
//! [system set](PathfindingSystems), in this order, in `FixedUpdate` or
//! [another schedule](PathfindingPlugin::in_schedule).
//!
//! # 1. `SyncMap`
//!
//! A [`NavMap`] on an entity owns the terrain and says where it lies: the size of its cells, the [`Plane`] (XY for 2D, XZ
//! for 3D), and the entity's `Transform`. Edit it at any time through [`NavMap::map_mut`]: searches under way go on reading
//! what they began with, and chunks of 64 × 64 cells are copied only if they change.
//!
//! When it has changed, exactly those units whose *remaining* path is blocked or dearer now hear [`PathInvalidated`] and plan
//! again. A unit on whose cell a wall was built walks out. A shorter way that has been opened is taken when the game orders
//! the unit again; a way to a goal that could not be reached is taken at once.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! const WATER: Terrain = Terrain(1);
//! const BOATS: ClassId = ClassId(1);
//!
//! fn setup(mut commands: Commands) -> Result {
//!     let mut map = Map::new(64, 64)?;
//!     map.fill(Area::new((20, 0), (25, 63)), WATER)?;
//!     // Class 0 walks, class 1 sails.
//!     let walks = Class::default().without(WATER);
//!     let sails = Class::default().without(Terrain::OPEN).with(WATER, Factor::ONE);
//!     commands.spawn(NavMap::new(map).with_cell_size(16.0).with_class(ClassId(0), walks).with_class(BOATS, sails));
//!     commands.spawn((Transform::from_xyz(350.0, 8.0, 0.0), Agent { class: BOATS, ..default() }));
//!     Ok(())
//! }
//!
//! fn blow_the_bridge(mut map: Single<&mut NavMap>) -> Result {
//!     map.map_mut().fill(Area::new((20, 30), (25, 31)), WATER)?;
//!     Ok(())
//! }
//! # App::new().add_plugins((MinimalPlugins, PathfindingPlugin::default())).add_systems(Startup, setup).update();
//! ```
//!
//! **Tilemaps** become ground with one component, and stay in step by themselves: [`NavMap::from_tiles`] on the tilemap, and
//! a [`NavTile`] on tiles that differ or [`TileRules`] for all tiles with a texture. It takes the feature `tilemap` for
//! those of `bevy_ecs_tilemap`, or `tilemap_chunk` for Bevy's own, whose tiles are no entities and have rules only. A tile
//! that is not shown counts all the same. Several tilemaps become one ground if the others are a
//! [`LayerOf`] it; [`Merge`] says which of them decides. Whoever keeps tiles of their own writes a [`TileLayer`].
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! // A tilemap, and one for bridges and trees above it; what spawns them is up to the game.
//! fn make_walkable(ground: Entity, above: Entity, mut commands: Commands) {
//!     commands.entity(ground).insert((
//!         NavMap::from_tiles().with_merge(Merge::TopmostWins),
//!         TileRules::default().with_texture(16, NavTile::Blocked).with_textures(32..48, NavTile::Cost(3.0)),
//!     ));
//!     commands.entity(above).insert((LayerOf(ground), TileRules::default().with_textures(96..102, NavTile::Blocked)));
//! }
//! ```
//!
//! What is no tile, a building, a gate or a tree, is an [`Obstacle`]: it blocks the cells it stands on, on any map, while it is
//! there and enabled.
//!
//! Maps follow tiles and obstacles in every run of the schedule, and once more at the end of each frame.
//!
//! A map that is left alone for a moment is surveyed in the background, and searches are several times as fast from then on. A
//! level that is the same at every start need not be: [`NavMap::bake`] makes a file of what there is to know, islands and a
//! survey, and [`NavMap::load`] takes it up.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! fn setup(mut commands: Commands) -> Result {
//!     let mut map = NavMap::from_text(
//!         "......
//!          .####.
//!          ......",
//!     )?;
//!     // With the tools that make the level, this is written to a file.
//!     let baked: Vec<u8> = map.bake(ClassId::default())?;
//!     if let Err(why) = map.load(ClassId::default(), &baked) {
//!         eprintln!("{why}"); // islands are looked for, and a survey is made in the background then
//!     }
//!     assert!(map.snapshot(ClassId::default())?.is_surveyed());
//!     commands.spawn(map);
//!     Ok(())
//! }
//! # App::new().add_plugins((MinimalPlugins, PathfindingPlugin::default())).add_systems(Startup, setup).update();
//! ```
//!
//! # 2. `Queue`
//!
//! A [`PathRequest`] is an order: to a point, a cell, an entity that may move, the nearest of several goals, or between two
//! cells. It stays while the order is alive. Inserting another one replaces it, removing it stops the unit, and the plugin removes
//! it when the unit has arrived or cannot get there. The queue holds one entry per entity, whatever floods in:
//! [priorities](Priority) first, the oldest among equals, and nobody starves.
//!
//! A unit whose body does not fit into a cell goes only where it does not reach into anything blocked: round a gap that is too
//! narrow for it, up to a wall but for its radius, or not at all (`Unreachable`, with the nearest cell where it has room). How
//! a map looks to units of one class and size is found out when the first of them is ordered, and kept up with edits.
//!
//! A [`GroupOrder`] is an order for many units: one search for all of them, a place of its own around the goal for each, and a
//! [`Formation`](wayfare::Formation) that is kept on the way. [`GroupArrived`] fires when all are done.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! fn attack(mut commands: Commands, units: Query<Entity, With<Agent>>) {
//!     commands.spawn(GroupOrder::to(Cell::new(40, 12)).units(&units).formation(Formation::Wedge));
//! }
//! ```
//!
//! # 3. `Search`
//!
//! Workers on Bevy's `AsyncComputeTaskPool` pull from the queue and search a slice at a time, so that a long search does not
//! hold up short ones and the game's own tasks get their turn. [`PathfindingSettings`] bounds what they may use, and says how
//! to give them more threads. Where there are no threads the same queue is worked off inside the frame, within a time
//! budget.
//!
//! Units that are ordered to the same point in the same run are answered together, and so are those that are ordered to the nearest
//! of the same goals, each of whom gets the cheapest path to a goal of its own: a few of them are searched for alone, and where what
//! that takes says so, one [`Field`](wayfare::Field) finds the ways of the rest. It is kept for those who come later, until the map
//! changes, or one of the goals is an entity that moves.
//!
//! # 4. `Deliver`
//!
//! Answers are written into [`Path`], which an [`Agent`] has from the start. The game hears [`PathFound`], or
//! [`PathFailed`] with the [reason](FailureReason). By default an answer is delivered when it is ready; games that must run
//! alike on several machines choose [`Delivery::Lockstep`].
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! let lockstep = PathfindingSettings { delivery: Delivery::Lockstep { ticks: 4 }, ..default() };
//! App::new().add_plugins((MinimalPlugins, PathfindingPlugin::default().with_settings(lockstep))).update();
//! ```
//!
//! # 5. `Follow`
//!
//! Agents walk their path at their speed, slower on dear ground, turning at their rate, smoothly around corners and never through
//! a wall. The result is [`WantedVelocity`].
//!
//! # 6. `Avoid`
//!
//! Searches ignore units, because units move; they are dealt with here. What units want becomes [`SafeVelocity`]: they pass each
//! other on the right ([`KeepTo`]), slow down before whoever is in the way, and keep clear of walls by their radius. Idle ones step
//! aside, and return when nobody is still to come past. [`Avoidance`] says who gives way to whom, who is never moved, and who ignores whom:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! fn spawn(mut commands: Commands) {
//!     let knight = commands.spawn((Agent::default(), Avoidance { priority: 1, ..default() })).id();
//!     let tower = commands.spawn((Agent { radius: 1.5, ..default() }, Avoidance::LOCKED)).id();
//!     let dragon = commands.spawn((Agent::default(), Avoidance::on_layer(1))).id();
//! }
//! ```
//!
//! A unit that makes no progress along its path waits, steps aside, asks whoever is in the way to make room, looks for a way around
//! those who stand there, and plans anew; at last the game hears [`Stuck`]. In a lane that has no room for two, the one of lower
//! priority backs out to the nearest bay. Where many are sent to one point, those who come late settle around the first and have
//! arrived. All this works for units with or without a path: a game may write [`WantedVelocity`] itself for an agent that has
//! none. Several maps are several crowds. Units at rest are looked at by nobody until somebody stirs nearby.
//!
//! Whoever wants to have a say changes [`SafeVelocity`] after this set:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! fn wind(mut units: Query<&mut SafeVelocity>) {
//!     for mut velocity in &mut units {
//!         velocity.0 += Vec3::X;
//!     }
//! }
//!
//! App::new()
//!     .add_plugins((MinimalPlugins, PathfindingPlugin::default()))
//!     .add_systems(FixedUpdate, wind.after(PathfindingSystems::Avoid).before(PathfindingSystems::Move))
//!     .update();
//! ```
//!
//! # 7. `Move`
//!
//! The `Transform` is moved along [`SafeVelocity`], up to walls. In `FixedUpdate` it is drawn between the last two steps, so
//! that movement is smooth at any frame rate; inside the fixed steps it is the true one. A unit somebody else has moved goes
//! on from where it is. When it is at the end of its path, [`Arrived`] fires, once.
//!
//! # Leaving stages out
//!
//! - Only paths: [`without_following`](PathfindingPlugin::without_following).
//! - Units that walk through each other: [`without_avoidance`](PathfindingPlugin::without_avoidance).
//! - Bodies moved by the game or a physics engine: [`without_moving`](PathfindingPlugin::without_moving), and read
//!   [`SafeVelocity`].
//! - A path at once, for a tool or a test: [`NavMap::find_path`].
//! - A dedicated server: `MinimalPlugins` are enough.
//!
//! # Seeing it
//!
//! [`PathfindingDiagnostics`] lists what is measured. With the feature `gizmos`, `PathfindingGizmosPlugin` draws maps,
//! islands, paths, who has been waiting for how long, velocities, neighbours, and who is in whose way.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `gizmos` | `PathfindingGizmosPlugin`, drawn with Bevy's gizmos |
//! | `tilemap` | tilemaps of `bevy_ecs_tilemap` 0.19 as ground |
//! | `tilemap_chunk` | Bevy's own `TilemapChunk` as ground |
//!
//! None is on by default. The tilemaps bring Bevy's renderer with them, the rest needs none. Threads are Bevy's feature
//! `multi_threaded`.

pub mod settings;
pub mod plane;
mod whereabouts;
pub mod agent;
pub mod tiles;
#[cfg(feature = "tilemap")]
pub mod tilemap;
#[cfg(feature = "tilemap_chunk")]
pub mod tilemap_chunk;
mod arrange;
mod lay;
pub mod obstacle;
pub mod spot;
pub mod map;
pub mod bake;
mod scene;
pub mod group;
pub mod request;
pub mod path;
pub mod event;
mod plan;
mod convoy;
mod field;
mod muster;
mod sync;
mod survey;
mod queue;
mod lockstep;
mod deliver;
mod life;
mod follow;
mod march;
mod wake;
pub mod avoid;
mod errand;
pub mod motion;
pub mod diagnostics;
#[cfg(feature = "gizmos")]
pub mod gizmos;
pub mod plugin;

pub use agent::{Agent, ClassId, Facing, OnMap, Units};
pub use avoid::Avoidance;
pub use bake::LoadError;
pub use diagnostics::PathfindingDiagnostics;
pub use event::{Arrived, FailureReason, PathFailed, PathFound, PathInvalidated, Stuck};
#[cfg(feature = "gizmos")]
pub use gizmos::{PathfindingGizmos, PathfindingGizmosPlugin};
pub use group::{GroupArrived, GroupOrder, MemberOf, Members};
pub use map::{NavMap, Rows};
pub use motion::{SafeVelocity, WantedVelocity};
pub use obstacle::{Footprint, Obstacle};
pub use path::{Path, Reach};
pub use plane::Plane;
pub use plugin::{PathfindingClock, PathfindingPlugin, PathfindingSystems};
pub use request::{Goal, PathRequest, Priority};
pub use settings::{Delivery, Drive, KeepTo, PathfindingSettings};
pub use spot::Spot;
pub use tiles::{
    LayerOf, Merge, NavLayers, NavTile, TileGrid, TileInfo, TileLayer, TileRules, TilesError, TilesRefused,
};
pub use wayfare;

/// Everything a game names.
pub mod prelude {
    pub use crate::{
        Agent, Arrived, Avoidance, ClassId, Delivery, Drive, Facing, FailureReason, Footprint, Goal,
        GroupArrived, GroupOrder, KeepTo, LayerOf, MemberOf, Members, Merge, NavLayers, NavMap, NavTile,
        Obstacle, OnMap, Path, PathFailed, PathFound, PathInvalidated, PathRequest, PathfindingClock,
        PathfindingDiagnostics, PathfindingPlugin, PathfindingSettings, PathfindingSystems, Plane, Priority,
        Reach, Rows, SafeVelocity, Spot, Stuck, TileGrid, TileInfo, TileLayer, TileRules, TilesError,
        TilesRefused, Units, WantedVelocity,
    };
    #[cfg(feature = "gizmos")]
    pub use crate::{PathfindingGizmos, PathfindingGizmosPlugin};
    pub use wayfare::prelude::*;
}
