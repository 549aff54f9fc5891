//! No window: in come a number of units and of frames, out go figures of what walking costs the main thread.
//!
//! The same land and the same units. All are ordered to far places at once, and whoever arrives is sent on, so that all
//! keep walking. Frames begin 1/60 s apart, as they do when a game waits for the screen. Every schedule runs on the
//! main thread, whose CPU time is measured; searches run on Bevy's task pool, as always.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::thread;
use std::time::{Duration, Instant};

use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_wayfare::prelude::*;
use cpu_time::ThreadTime;

use crate::art::{Art, TILE};
use crate::ground::{self, WALKERS, centre};
use crate::options::Options;
use crate::terrain::{Land, SIDE, cells, hash};
use crate::units::{self, Kind, Reinforcements};

pub(crate) const FRAME: Duration = Duration::from_nanos(16_666_667);

/// The first frames read the tiles and spawn the units.
const WARM_UP: usize = 10;

/// A far place is at least so many cells away.
const FAR: f32 = 32.0;

/// Where units are sent, and what came of it.
#[derive(Resource, Default)]
struct Tour {
    places: Vec<Vec2>,
    turn: i32,
    arrived: usize,
    failed: usize,
}

impl Tour {
    /// Some place far from here.
    fn next(&mut self, from: Vec2) -> Vec2 {
        let mut place = from;
        for _ in 0..32 {
            self.turn += 1;
            let index = hash(7, self.turn, 0) as usize % self.places.len().max(1);
            place = self.places.get(index).copied().unwrap_or(from);
            if place.distance(from) > FAR * TILE {
                break;
            }
        }
        place
    }
}

pub(crate) fn run(options: &Options) -> AppExit {
    let (units, frames) = (options.units.unwrap_or(2000), options.frames.unwrap_or(600).max(1));
    let mut game = Game::new(options.seed, Reinforcements::new(units), PathfindingSettings::default());
    game.app.init_resource::<Tour>().add_observer(send_on);
    game.app.add_observer(|_: On<PathFailed>, mut tour: ResMut<Tour>| tour.failed += 1);
    game.warm_up();
    println!("{units} units on a land of {SIDE} × {SIDE} cells, seed {}", options.seed);
    game.order_all();
    let mut setting_out = vec![game.frame()];
    while game.walking() < units && setting_out.len() < 3600 {
        setting_out.push(game.frame());
    }
    let figures = Figures::of(&setting_out);
    println!(
        "all ordered in one frame and on their way after {}: worst {:.2} ms",
        setting_out.len(),
        figures.worst
    );
    let before = game.app.world().resource::<Tour>().arrived;
    let measured: Vec<f64> = (0..frames).map(|_| game.frame()).collect();
    let Figures { mean, p99, worst } = Figures::of(&measured);
    let tour = game.app.world().resource::<Tour>();
    println!(
        "{frames} frames: mean {mean:.2} ms, p99 {p99:.2} ms, worst {worst:.2} ms (CPU of the main thread)"
    );
    println!("{} arrived and were sent on, {} failed", tour.arrived - before, tour.failed);
    println!("{} of {units} walking at the end", game.walking());
    AppExit::Success
}

/// An app that is driven frame by frame.
pub(crate) struct Game {
    pub(crate) app: App,
    next: Instant,
}

impl Game {
    pub(crate) fn new(seed: u64, units: Reinforcements, settings: PathfindingSettings) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, PathfindingPlugin::default().with_settings(settings)))
            .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME))
            .insert_resource(Land::new(seed))
            .insert_resource(units)
            .init_resource::<Art>()
            .add_systems(Startup, ground::lay_ground)
            .add_systems(Update, units::spawn_units);
        app.finish();
        app.cleanup();
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
        Self { app, next: Instant::now() }
    }

    /// Runs until all units stand on the land.
    pub(crate) fn warm_up(&mut self) {
        for _ in 0..WARM_UP {
            self.app.update();
        }
    }

    /// Waits for the next frame, runs it, and returns the milliseconds it took the main thread.
    fn frame(&mut self) -> f64 {
        thread::sleep(self.next.saturating_duration_since(Instant::now()));
        let begun = ThreadTime::now();
        self.app.update();
        let taken = begun.elapsed();
        // A late frame delays the next; nothing is caught up with.
        self.next = (self.next + FRAME).max(Instant::now());
        taken.as_secs_f64() * 1e3
    }

    /// Sends every unit to a far place.
    fn order_all(&mut self) {
        let world = self.app.world_mut();
        let camp = world.resource::<Land>().camp;
        let map = world.query::<&NavMap>().single(world).ok();
        let snapshot = map.and_then(|map| map.snapshot(WALKERS).ok());
        let reachable = |cell: &Cell| snapshot.as_ref().is_some_and(|land| land.reachable(camp, *cell));
        world.resource_mut::<Tour>().places = cells().filter(reachable).map(centre).collect();
        let mut query = world.query_filtered::<(Entity, &Transform), With<Kind>>();
        let units = query.iter(world).map(|(unit, at)| (unit, at.translation.truncate()));
        for (unit, at) in units.collect::<Vec<_>>() {
            let place = world.resource_mut::<Tour>().next(at);
            world.entity_mut(unit).insert(PathRequest::to(place));
        }
    }

    /// How many units have a path before them.
    fn walking(&mut self) -> usize {
        let world = self.app.world_mut();
        world.query::<&Path>().iter(world).filter(|path| !path.is_empty()).count()
    }
}

/// An observer: whoever has arrived goes on.
fn send_on(arrived: On<Arrived>, units: Query<&Transform>, mut tour: ResMut<Tour>, mut commands: Commands) {
    tour.arrived += 1;
    if let Ok(at) = units.get(arrived.entity) {
        let place = tour.next(at.translation.truncate());
        commands.entity(arrived.entity).insert(PathRequest::to(place));
    }
}

/// Of frames, in milliseconds.
struct Figures {
    mean: f64,
    p99: f64,
    worst: f64,
}

impl Figures {
    fn of(frames: &[f64]) -> Self {
        let mut sorted = frames.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
        Self {
            mean: sorted.iter().sum::<f64>() / sorted.len().max(1) as f64,
            p99: at(sorted.len().saturating_sub(1) * 99 / 100),
            worst: at(sorted.len().saturating_sub(1)),
        }
    }
}
