//! Threads: what keeping units off each other costs inside the plugin, on the main thread alone and with Bevy's compute pool,
//! by turns in one app.
//!
//! Units cross a disc as in [speed](super::speed), each driven by the velocity that the game gives it. Measured is the
//! whole set `Avoid` on the clock on the wall, with what it reads from entities and writes back, which one thread does.

use core::time::Duration;
use std::time::Instant;

use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::prelude::{
    App, Component, IntoScheduleConfigs, MinimalPlugins, Query, ResMut, Resource, Transform, Update,
};
use bevy::time::TimeUpdateStrategy;
use bevy_wayfare::{
    Agent, NavMap, PathfindingPlugin, PathfindingSettings, PathfindingSystems, WantedVelocity,
};
use glam::Vec2;
use wayfare::prelude::Map;

use super::figures::Row;
use super::scenes::disc;
use super::unit::{DT, RADIUS, SPEED};
use crate::stats::{median, ratio};

const UNITS: u16 = if cfg!(test) { 100 } else { 10_000 };

/// Steps on one thread, and as many on all.
const STEPS: usize = if cfg!(test) { 3 } else { 100 };

/// Cells along a side of the map; the disc fits on it.
const SIDE: u32 = 200;

/// Both figures, and how many times as fast all threads are. There is no bar: how many there are is up to the machine.
pub(crate) fn row() -> Row {
    let mut app = app();
    let mut times = [Vec::new(), Vec::new()];
    for step in 0..2 * STEPS + 2 {
        let (turn, threads) = if step % 2 == 0 { (0, Some(1)) } else { (1, None) };
        app.world_mut().resource_mut::<PathfindingSettings>().crowd_threads = threads;
        app.update();
        // The first two fill memories.
        if step >= 2 {
            times[turn].push(app.world().resource::<Stopwatch>().took.as_secs_f64() * 1e3);
        }
    }
    // The fastest tenth: what else runs on the machine takes its share of the other thread.
    let [one, all] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        median(times.into_iter().take(STEPS.div_ceil(10))).unwrap_or(0.0)
    });
    let times = ratio(one, all).unwrap_or(0.0);
    let note = format!("{one:.2} ms on one thread, {all:.2} ms on all: {times:.2} × as fast");
    Row { pass: None, ..Row::verdict("plugin_10k", true, note) }
}

/// Where a unit wants to.
#[derive(Component)]
struct Goal(Vec2);

#[derive(Resource)]
struct Stopwatch {
    began: Instant,
    took: Duration,
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, PathfindingPlugin::default().in_schedule(Update)))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)))
        .insert_resource(Stopwatch { began: Instant::now(), took: Duration::ZERO })
        .add_systems(
            Update,
            (
                (drive, begin).chain().after(PathfindingSystems::Follow).before(PathfindingSystems::Avoid),
                end.after(PathfindingSystems::Avoid).before(PathfindingSystems::Move),
            ),
        );
    if let Ok(map) = Map::new(SIDE, SIDE) {
        app.world_mut().spawn(NavMap::new(map).centred());
    }
    for unit in disc(UNITS, 1).units {
        let agent = Agent { radius: RADIUS, speed: SPEED, ..Agent::default() };
        let at = Transform::from_translation(unit.position.extend(0.0));
        app.world_mut().spawn((at, agent, Goal(unit.goal)));
    }
    app.finish();
    app.cleanup();
    // The other executor moves systems about between threads.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app
}

fn drive(mut units: Query<(&Goal, &Transform, &mut WantedVelocity)>) {
    for (goal, transform, mut wanted) in &mut units {
        let to_goal = goal.0 - transform.translation.truncate();
        wanted.0 = (to_goal / DT).clamp_length_max(SPEED).extend(0.0);
    }
}

fn begin(mut watch: ResMut<Stopwatch>) {
    watch.began = Instant::now();
}

fn end(mut watch: ResMut<Stopwatch>) {
    watch.took = watch.began.elapsed();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_moved_while_they_are_measured() {
        let mut app = app();
        let places = |app: &mut App| -> Vec<Vec2> {
            let mut units = app.world_mut().query::<(&Agent, &Transform)>();
            units.iter(app.world()).map(|(_, transform)| transform.translation.truncate()).collect()
        };
        let before = places(&mut app);
        (0..5).for_each(|_| app.update());
        let moved = places(&mut app).iter().zip(&before).filter(|(now, then)| now != then).count();
        assert!(moved > before.len() / 2, "{moved}");
        assert!(app.world().resource::<Stopwatch>().took > Duration::ZERO);
    }
}
