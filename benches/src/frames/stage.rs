//! The stopwatch of frames: in comes an app, out comes what each of its frames costs the main thread.
//!
//! Frames are paced: each begins 1/60 s after the one before, and the thread sleeps in between, as it would wait for
//! the screen. A loop without that would hide workers that stand idle until the next frame. The game's clock goes
//! on by exactly 1/60 s per frame, whatever the machine does, so that the fixed schedule (64 Hz) runs in the same
//! frames of every run: once, and twice in every fifteenth.

use std::thread;
use std::time::{Duration, Instant};

use bevy::app::App;
use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::time::TimeUpdateStrategy;
use cpu_time::ThreadTime;

use crate::stats::{Spread, median};

/// From the beginning of a frame to the beginning of the next.
pub(crate) const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Frames until maps are read, caches are filled and nobody is new.
const WARM_UP: usize = 10;

/// Frames of which the median is what the app costs when nothing happens.
pub(crate) const IDLE: usize = 30;

/// An app that is driven frame by frame.
pub(crate) struct Stage {
    pub(crate) app: App,
    next: Instant,
}

/// What a frame took, in milliseconds.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Frame {
    /// CPU time of the main thread.
    pub(crate) cpu: f64,
    /// On the clock on the wall.
    pub(crate) wall: f64,
}

impl Frame {
    /// What it took above another one.
    pub(crate) fn above(self, other: Self) -> Self {
        Self { cpu: self.cpu - other.cpu, wall: self.wall - other.wall }
    }
}

impl Stage {
    /// Puts every schedule of a finished app on the single-threaded executor: the other one moves systems off the
    /// main thread, where they would not be seen, and costs more than most of what is measured here.
    pub(crate) fn new(mut app: App) -> Self {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
        app.finish();
        app.cleanup();
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
        Self { app, next: Instant::now() }
    }

    /// Waits for the next frame and runs it.
    pub(crate) fn frame(&mut self) -> Frame {
        thread::sleep(self.next.saturating_duration_since(Instant::now()));
        let (wall, cpu) = (Instant::now(), ThreadTime::now());
        // Counting allocations would make them dearer than they are.
        allocation_counter::opt_out(|| self.app.update());
        let (cpu, ended) = (cpu.elapsed(), Instant::now());
        // A frame that took too long delays the next; nothing is caught up with.
        self.next = (self.next + FRAME).max(ended);
        Frame { cpu: cpu.as_secs_f64() * 1e3, wall: (ended - wall).as_secs_f64() * 1e3 }
    }

    /// What a frame takes when nothing happens, after the first ones.
    pub(crate) fn idle(&mut self) -> Frame {
        for _ in 0..WARM_UP {
            self.frame();
        }
        let frames: Vec<Frame> = (0..IDLE).map(|_| self.frame()).collect();
        middle(&frames)
    }

    /// Runs the frame of an order and those after it, until `more` frames after `is_done` is true for the first
    /// time, and not more than `most` altogether. `idle` is taken off every frame, `inserts` off the first.
    pub(crate) fn watch(
        &mut self,
        idle: Frame,
        inserts: Frame,
        limits: Limits,
        mut is_done: impl FnMut(&App) -> bool,
    ) -> Trace {
        let ordered = Instant::now();
        let first = self.frame().above(idle).above(inserts);
        let mut trace = Trace { frames: vec![first], done: None };
        let mut end = limits.most;
        while trace.frames.len() < end {
            let frame = self.frame();
            let ms = ordered.elapsed().as_secs_f64() * 1e3;
            if trace.done.is_none() && is_done(&self.app) {
                trace.done = Some(Done { frames: trace.frames.len(), ms });
                end = end.min(trace.frames.len() + 1 + limits.more);
            }
            trace.frames.push(frame.above(idle));
        }
        trace
    }
}

/// For how long an app is watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Frames at most.
    pub(crate) most: usize,
    /// Frames after all is done.
    pub(crate) more: usize,
}

/// The frames from an order on, each above an idle one.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) frames: Vec<Frame>,
    /// When all was done, if that came to pass.
    pub(crate) done: Option<Done>,
}

/// How long it took from the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Frames after that of the order.
    pub(crate) frames: usize,
    pub(crate) ms: f64,
}

impl Trace {
    /// Percentiles of the CPU time.
    pub(crate) fn cpu(&self) -> Spread {
        Spread::of(&self.frames.iter().map(|frame| frame.cpu).collect::<Vec<_>>())
    }

    /// Percentiles of the time on the wall.
    pub(crate) fn wall(&self) -> Spread {
        Spread::of(&self.frames.iter().map(|frame| frame.wall).collect::<Vec<_>>())
    }

    /// The dearest frame: which one after the order, and its CPU time.
    pub(crate) fn worst(&self) -> (usize, f64) {
        let cpu = self.frames.iter().map(|frame| frame.cpu).enumerate();
        cpu.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default()
    }
}

/// The median of the CPU times, and that of the times on the wall.
pub(crate) fn middle(frames: &[Frame]) -> Frame {
    Frame {
        cpu: median(frames.iter().map(|frame| frame.cpu)).unwrap_or(0.0),
        wall: median(frames.iter().map(|frame| frame.wall)).unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use bevy::prelude::*;

    use super::*;

    const NOTHING: Frame = Frame { cpu: 0.0, wall: 0.0 };

    #[test]
    fn frames_are_paced_and_time_goes_on_by_a_sixtieth() {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins);
        let mut stage = Stage::new(app);
        let begun = Instant::now();
        let frames: Vec<Frame> = (0..7).map(|_| stage.frame()).collect();
        assert!(begun.elapsed() >= 6 * FRAME);
        assert!(frames.iter().all(|frame| frame.cpu > 0.0 && frame.cpu <= frame.wall + 0.1), "{frames:?}");
        assert_eq!(stage.app.world().resource::<Time>().delta(), FRAME);
    }

    #[test]
    fn watching_ends_some_frames_after_all_is_done() {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins);
        let mut stage = Stage::new(app);
        let mut calls = 0;
        let limits = Limits { most: 100, more: 2 };
        let trace = stage.watch(NOTHING, NOTHING, limits, |_| {
            calls += 1;
            calls == 3
        });
        assert_eq!(trace.done.expect("done").frames, 3);
        assert_eq!(trace.frames.len(), 6, "the order's, three more, two more");
        let trace = stage.watch(NOTHING, NOTHING, Limits { most: 4, more: 2 }, |_| false);
        assert!(trace.done.is_none());
        assert_eq!(trace.frames.len(), 4);
    }

    #[test]
    fn idle_and_inserts_are_taken_off() {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins);
        let mut stage = Stage::new(app);
        let idle = Frame { cpu: 1000.0, wall: 2000.0 };
        let inserts = Frame { cpu: 500.0, wall: 500.0 };
        let trace = stage.watch(idle, inserts, Limits { most: 3, more: 0 }, |_| false);
        assert!(trace.frames[0].cpu < -1400.0 && trace.frames[0].wall < -2300.0);
        assert!(trace.frames[1].cpu > -1001.0 && trace.frames[1].wall > -2001.0);
        assert_ne!(trace.worst().0, 0);
    }

    #[test]
    fn the_middle_is_taken_of_each_clock() {
        let frames = [(1.0, 9.0), (3.0, 8.0), (2.0, 7.0)].map(|(cpu, wall)| Frame { cpu, wall });
        let found = middle(&frames);
        assert!((found.cpu - 2.0).abs() < 1e-9 && (found.wall - 8.0).abs() < 1e-9);
    }
}
