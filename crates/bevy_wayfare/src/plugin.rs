//! The machine on one page: resources, one chain of sets, the systems in them.

use bevy::app::{FixedFirst, RunFixedMainLoop, RunFixedMainLoopSystems};
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::schedule::{InternedScheduleLabel, ScheduleLabel};
use bevy::prelude::*;

use crate::agent::{Agent, ClassId, Facing, OnMap, Units};
use crate::avoid::{Avoidance, Crowds, avoid_units};
use crate::deliver::deliver_paths;
use crate::diagnostics::{PathfindingDiagnostics, Tally, report};
use crate::errand::heed_advice;
use crate::event::{Arrived, FailureReason, PathFailed, PathFound, PathInvalidated, Stuck};
use crate::follow::{avoid_nobody, follow_paths, watch_targets};
use crate::group::{GroupArrived, GroupOrder, MemberOf, Members, close_groups, note_arrival};
use crate::map::{NavMap, Rows};
use crate::march::lead_groups;
use crate::motion::{
    SafeVelocity, Walkers, WantedVelocity, anybody_walks, draw_between_steps, move_units, recall_positions,
    take_positions,
};
use crate::obstacle::{Footprint, Obstacle, Standing, watch_obstacles};
use crate::path::{Path, Reach};
use crate::plan::Wish;
use crate::plane::Plane;
use crate::queue::{Desk, Inbox, Pool, queue_requests, search};
use crate::request::{Goal, PathRequest, Priority};
use crate::scene::Scene;
use crate::settings::{Delivery, Drive, KeepTo, PathfindingSettings};
use crate::survey::{Surveys, survey_maps};
use crate::sync::{Changes, check_paths, maps_changed, sync_ground, sync_maps};
use crate::tiles::{LayerOf, Merge, NavLayers, NavTile, TileRules, TilesError, TilesRefused};
use crate::wake::{anybody_stirs, watch_crowds};

/// Paths for entities that have a [`PathRequest`], and legs for those that are an [`Agent`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new().add_plugins((MinimalPlugins, PathfindingPlugin::default())).update();
///
/// // A roguelike that moves its units itself, turn by turn, and wants the path only.
/// App::new().add_plugins((MinimalPlugins, PathfindingPlugin::default().without_following())).update();
///
/// // Bodies moved by a physics engine, in every frame.
/// App::new()
///     .add_plugins((MinimalPlugins, PathfindingPlugin::default().without_moving().in_schedule(Update)))
///     .update();
/// ```
#[derive(Clone, Debug)]
pub struct PathfindingPlugin {
    schedule: InternedScheduleLabel,
    following: Following,
    avoiding: Avoiding,
    moving: Moving,
    settings: PathfindingSettings,
}

impl Default for PathfindingPlugin {
    fn default() -> Self {
        Self {
            schedule: FixedUpdate.intern(),
            following: Following::On,
            avoiding: Avoiding::On,
            moving: Moving::ByThePlugin,
            settings: PathfindingSettings::default(),
        }
    }
}

impl PathfindingPlugin {
    /// Runs in another schedule than `FixedUpdate`. In `FixedUpdate` units are drawn between two steps, so that they move
    /// smoothly at any frame rate, and everything stands still while the game's clock is paused; in `Update`
    /// paths are found then, too.
    #[must_use]
    pub fn in_schedule(mut self, schedule: impl ScheduleLabel) -> Self {
        self.schedule = schedule.intern();
        self
    }

    /// Finds paths only. Nobody walks; a request stays until the game removes it.
    #[must_use]
    pub fn without_following(mut self) -> Self {
        self.following = Following::Off;
        self
    }

    /// Lets units walk through each other, and along walls with their centre only: what is wanted is safe.
    #[must_use]
    pub fn without_avoidance(mut self) -> Self {
        self.avoiding = Avoiding::Off;
        self
    }

    /// Writes [`SafeVelocity`] and leaves the `Transform` to the game.
    #[must_use]
    pub fn without_moving(mut self) -> Self {
        self.moving = Moving::ByTheGame;
        self
    }

    /// Begins with these settings.
    #[must_use]
    pub fn with_settings(mut self, settings: PathfindingSettings) -> Self {
        self.settings = settings;
        self
    }
}

impl Plugin for PathfindingPlugin {
    fn build(&self, app: &mut App) {
        use PathfindingSystems::{Avoid, Deliver, Follow, Move, Queue, Search, SyncMap};
        app.insert_resource(self.settings.clone())
            .insert_resource(self.following)
            .insert_resource(self.moving)
            .insert_resource(Pool::new(self.settings.deliveries, Wish::look_up))
            .init_resource::<PathfindingClock>()
            .init_resource::<Standing>()
            .init_resource::<Scene>()
            .init_resource::<Changes>()
            .init_resource::<Surveys>()
            .init_resource::<Inbox>()
            .init_resource::<Desk>()
            .init_resource::<Walkers>()
            .init_resource::<Tally>();
        PathfindingDiagnostics::register(app);
        register_types(app);

        app.configure_sets(self.schedule, (SyncMap, Queue, Search, Deliver, Follow, Avoid, Move).chain());
        app.add_systems(
            self.schedule,
            (
                (sync_ground, sync_maps, check_paths.run_if(maps_changed), survey_maps)
                    .chain()
                    .in_set(SyncMap),
                (watch_targets, close_groups, queue_requests).chain().in_set(Queue),
                search.in_set(Search),
                (deliver_paths, report).chain().in_set(Deliver),
                (follow_paths, lead_groups).chain().run_if(anybody_walks).in_set(Follow),
            ),
        );
        match self.avoiding {
            Avoiding::On => {
                app.init_resource::<Crowds>().add_systems(
                    self.schedule,
                    (avoid_units.run_if(anybody_stirs), heed_advice).chain().in_set(Avoid),
                );
                watch_crowds(app);
            }
            Avoiding::Off => {
                app.add_systems(self.schedule, avoid_nobody.run_if(anybody_walks).in_set(Avoid));
            }
        }
        app.add_systems(PostUpdate, sync_ground.after(TransformSystems::Propagate));
        watch_obstacles(app);
        #[cfg(feature = "tilemap")]
        crate::tilemap::watch_tiles(app);
        app.add_observer(note_arrival);
        // Whoever was disabled on its way is looked at again.
        app.add_observer(|_: On<Remove, Disabled>, mut walkers: ResMut<Walkers>| walkers.0 += 1);
        if self.moving == Moving::ByTheGame {
            app.add_systems(self.schedule, take_positions.run_if(anybody_walks).before(SyncMap));
            return;
        }
        app.add_systems(self.schedule, move_units.run_if(anybody_walks).in_set(Move));
        if self.schedule == FixedUpdate.intern() {
            app.add_systems(FixedFirst, recall_positions.run_if(anybody_walks));
            app.add_systems(
                RunFixedMainLoop,
                draw_between_steps.run_if(anybody_walks).in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            );
        } else {
            app.add_systems(self.schedule, recall_positions.run_if(anybody_walks).before(SyncMap));
        }
    }
}

/// The stages of the plugin, in order: one chain in its schedule.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathfindingSystems {
    /// Maps that changed become what searches read; paths that suffer are planned again.
    SyncMap,
    /// Requests become orders.
    Queue,
    /// Workers are set to work.
    Search,
    /// Answers become paths.
    Deliver,
    /// Paths become [`WantedVelocity`].
    Follow,
    /// What is wanted becomes [`SafeVelocity`].
    Avoid,
    /// That becomes a new `Transform`.
    Move,
}

/// Counts the runs of the plugin's schedule.
#[derive(Resource, Reflect, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[reflect(Resource, Default, Clone, PartialEq, Debug)]
pub struct PathfindingClock {
    tick: u64,
}

impl PathfindingClock {
    /// The run under way, or the last one.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    pub(crate) fn advance(&mut self) {
        self.tick += 1;
    }
}

/// Whether agents walk their paths.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Following {
    On,
    Off,
}

/// Whether units keep off each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Avoiding {
    On,
    Off,
}

/// Who moves bodies.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moving {
    ByThePlugin,
    ByTheGame,
}

fn register_types(app: &mut App) {
    app.register_type::<NavMap>()
        .register_type::<Rows>()
        .register_type::<NavTile>()
        .register_type::<TileRules>()
        .register_type::<Merge>()
        .register_type::<LayerOf>()
        .register_type::<NavLayers>()
        .register_type::<TilesRefused>()
        .register_type::<TilesError>()
        .register_type::<Obstacle>()
        .register_type::<Footprint>()
        .register_type::<Plane>()
        .register_type::<Agent>()
        .register_type::<ClassId>()
        .register_type::<Facing>()
        .register_type::<OnMap>()
        .register_type::<Avoidance>()
        .register_type::<Units>()
        .register_type::<PathRequest>()
        .register_type::<Goal>()
        .register_type::<Priority>()
        .register_type::<GroupOrder>()
        .register_type::<MemberOf>()
        .register_type::<Members>()
        .register_type::<GroupArrived>()
        .register_type::<Path>()
        .register_type::<Reach>()
        .register_type::<WantedVelocity>()
        .register_type::<SafeVelocity>()
        .register_type::<PathFound>()
        .register_type::<PathFailed>()
        .register_type::<FailureReason>()
        .register_type::<Arrived>()
        .register_type::<Stuck>()
        .register_type::<PathInvalidated>()
        .register_type::<PathfindingSettings>()
        .register_type::<PathfindingClock>()
        .register_type::<Drive>()
        .register_type::<KeepTo>()
        .register_type::<Delivery>();
}
