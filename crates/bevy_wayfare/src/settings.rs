//! What the plugin may spend, and how answers are delivered: the resource [`PathfindingSettings`].
//!
//! Every system reads it each time it runs, so a game may change it while it plays; only the size of the channel that
//! brings results back is fixed when the plugin is built.

use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::tasks::AsyncComputeTaskPool;
use core::time::Duration;

/// Budgets and modes of the plugin.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new()
///     .add_plugins((MinimalPlugins, PathfindingPlugin::default()))
///     .insert_resource(PathfindingSettings { slice_nodes: 1024, ..default() })
///     .update();
/// ```
///
/// # More threads
///
/// Searches run on Bevy's [`AsyncComputeTaskPool`], to which Bevy gives a quarter of the cores, at least one and at most
/// four. Give it more with Bevy's own plugin:
///
/// ```
/// use bevy::app::{TaskPoolOptions, TaskPoolPlugin, TaskPoolThreadAssignmentPolicy};
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// let mut task_pool_options = TaskPoolOptions::default();
/// task_pool_options.async_compute.max_threads = 8;
/// task_pool_options.async_compute.percent = 0.5;
/// App::new()
///     .add_plugins(MinimalPlugins.set(TaskPoolPlugin { task_pool_options }))
///     .add_plugins(PathfindingPlugin::default())
///     .update();
/// ```
#[derive(Resource, Reflect, Clone, PartialEq, Debug)]
#[reflect(Resource, Default, Clone, PartialEq, Debug)]
pub struct PathfindingSettings {
    /// How many workers search at the same time. `None`: as many as the pool has threads, less one if it has more
    /// than one, so that the game's own tasks find a free thread.
    pub workers: Option<usize>,
    /// How many nodes a worker closes before it gives its thread back. A slice of the default takes about half a
    /// millisecond.
    pub slice_nodes: u32,
    /// How many answers are handed to units in one run of the schedule; the rest waits for the next one. Lockstep
    /// delivery hands out all that are due.
    pub deliveries: usize,
    /// Who runs the searches.
    pub drive: Drive,
    /// How long searches may take out of a frame where they are driven [in the frame](Drive::InFrame). It is looked
    /// at between slices, so a frame takes at most one slice more; and up to 4,096 new orders are sorted into the queue
    /// with each.
    pub frame_budget: Duration,
    /// When answers arrive.
    pub delivery: Delivery,
    /// Whether maps are surveyed in the background, which makes searches several times as fast; it takes some milliseconds
    /// of the task pool after a map has been edited and left alone for a while. Paths cost the same with a survey and without
    /// one, but of several that are equally cheap another one may be found, so two runs of a game may differ in that. Without
    /// threads, and in lockstep, maps are not surveyed; what was [kept in a file](crate::NavMap::load) is used all the same.
    pub surveys: bool,
    /// On which side units pass each other that meet head-on.
    pub keep: KeepTo,
    /// How many threads avoidance is spread over, the main thread among them, where crowds are large. `None`: all that Bevy's
    /// `ComputeTaskPool` has. The result is the same for any number.
    pub crowd_threads: Option<usize>,
    /// Whether units walk slower where the ground is dear: their speed is divided by the factor of the terrain.
    pub slowed_by_terrain: bool,
    /// How many cells away a free cell may be for a unit whose own is blocked to walk out to it. Beyond that its
    /// request fails with [`StartBlocked`](crate::FailureReason::StartBlocked).
    pub escape_cells: u32,
}

impl Default for PathfindingSettings {
    fn default() -> Self {
        Self {
            workers: None,
            slice_nodes: 4096,
            deliveries: 2048,
            drive: Drive::Pool,
            frame_budget: Duration::from_millis(2),
            delivery: Delivery::WhenReady,
            surveys: true,
            keep: KeepTo::Right,
            crowd_threads: None,
            slowed_by_terrain: true,
            escape_cells: 16,
        }
    }
}

impl PathfindingSettings {
    /// Who runs the searches here: without threads there is only the frame.
    pub(crate) fn driver(&self) -> Drive {
        bevy::tasks::cfg::multi_threaded! {
            if { self.drive } else { Drive::InFrame }
        }
    }

    /// How many threads a crowd is stepped on here; the main thread helps.
    pub(crate) fn crowd_thread_count(&self) -> usize {
        let threads = bevy::tasks::cfg::multi_threaded! {
            if { bevy::tasks::ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num() + 1) } else { 1 }
        };
        self.crowd_threads.map_or(threads, |wanted| wanted.clamp(1, threads))
    }

    pub(crate) fn worker_count(&self) -> usize {
        let threads = AsyncComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num());
        self.workers.unwrap_or(threads.saturating_sub(1)).max(1)
    }

    /// When a drive in the frame must stop.
    pub(crate) fn frame_end(&self) -> Option<Instant> {
        Instant::now().checked_add(self.frame_budget)
    }
}

/// On which side of the road units keep, seen by one who walks it.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum KeepTo {
    /// On the right.
    #[default]
    Right,
    /// On the left.
    Left,
    /// On either: each pair passes as it happens to meet.
    Either,
}

/// Who runs the searches.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum Drive {
    /// Workers on Bevy's [`AsyncComputeTaskPool`]. Where Bevy has no threads (on the web, or without its feature
    /// `multi_threaded`) this means [`InFrame`](Self::InFrame).
    #[default]
    Pool,
    /// The main thread, in slices, within [`frame_budget`](PathfindingSettings::frame_budget).
    InFrame,
}

/// When answers arrive.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum Delivery {
    /// As soon as they are known. How soon depends on the machine.
    #[default]
    WhenReady,
    /// For games that must run alike on every machine: a request seen in one run of the schedule is searched on the
    /// map as it was then and answered exactly so many runs later, in the order in which requests were made,
    /// whatever the number of threads. If a search is late, the frame waits for it. 0 counts as 1.
    ///
    /// A path that is planned again because the map or its target changed is a request of that moment.
    Lockstep {
        /// Runs of the schedule between request and answer.
        ticks: u32,
    },
}

impl Delivery {
    /// Runs of the schedule between request and answer, in lockstep.
    pub(crate) fn lockstep(self) -> Option<u64> {
        match self {
            Self::WhenReady => None,
            Self::Lockstep { ticks } => Some(u64::from(ticks.max(1))),
        }
    }
}
