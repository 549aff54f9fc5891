//! Maps are surveyed in the background, so that searches on them are faster.
//!
//! Comes in: what maps look like, and for how long they have; surveys that were [loaded](NavMap::load). Goes out: the same
//! places, with views that have [learnt](wayfare::Snapshot::learn) of a survey: one for each class of units, and for each size
//! that is about. A survey shares the task pool with the searches and gives way to them after every step; until it is there,
//! and wherever the ground has changed since, searches look for themselves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::futures_lite::future::yield_now;
use bevy::tasks::{AsyncComputeTaskPool, Task};
use crossbeam_channel::{Receiver, Sender, bounded};
use wayfare::{Progress, Snapshot, Survey, Surveyor};

use crate::map::NavMap;
use crate::plugin::PathfindingClock;
use crate::queue::Pool;
use crate::scene::{Kind, Place, Scene};
use crate::settings::{Delivery, Drive, PathfindingSettings};

/// For so many runs a map must have been left alone before it is surveyed. Whoever draws a wall draws more of it.
const QUIET: u64 = 16;

/// A map that is never left alone is surveyed all the same, every so many runs.
const PATIENCE: u64 = 256;

/// As many corners could be looked at before other tasks get the thread; that takes about half a millisecond.
const STEP: u32 = 512;

/// What is being surveyed, and what has been.
#[derive(Resource, Default, Debug)]
pub(crate) struct Surveys(Vec<Record>);

/// One kind of units on one map.
#[derive(Debug)]
struct Record {
    map: Entity,
    kind: Kind,
    /// What it looked like when it was last looked at, and in which run it began to look so.
    view: Arc<Snapshot>,
    since: u64,
    /// The run in which the last survey began, and what it was made of. That is not kept alive.
    begun: u64,
    surveyed: Weak<Snapshot>,
    work: Option<Work>,
    /// One has panicked: there will be no other.
    is_given_up: bool,
}

/// A survey under way.
#[derive(Debug)]
struct Work {
    /// What is of use before all is found.
    half: Receiver<Survey>,
    /// `None` if it panicked.
    whole: Task<Option<Survey>>,
}

/// Hands over surveys that were loaded or are done, and begins those that are due.
pub(crate) fn survey_maps(
    // Reads
    settings: Res<PathfindingSettings>,
    clock: Res<PathfindingClock>,
    pool: Res<Pool>,
    // Writes
    mut surveys: ResMut<Surveys>,
    mut maps: Query<&mut NavMap>,
    mut scene: ResMut<Scene>,
) {
    let mut learnt = false;
    for mut map in &mut maps {
        for loaded in core::mem::take(&mut map.bypass_change_detection().loaded) {
            let (kind, Some(survey)) = (Kind::from(loaded.class), loaded.survey) else { continue };
            let Some(place) = tell(&mut map, kind, &survey, &mut scene) else { continue };
            // What is found out just now is known already.
            let records = surveys.0.iter_mut();
            let same = |record: &&mut Record| record.map == place.map && record.kind == kind;
            records.filter(same).for_each(|record| record.work = None);
            learnt = true;
        }
    }
    let is_on = settings.surveys && settings.driver() == Drive::Pool;
    // Which of several cheapest paths is found must not depend on when a survey is done.
    if is_on && !matches!(settings.delivery, Delivery::Lockstep { .. }) {
        learnt |= surveys.go_on(clock.tick(), &mut maps, &mut scene);
    } else {
        surveys.0.clear();
    }
    if learnt {
        pool.post(|post| post.scene = Some(scene.clone()));
    }
}

/// Lets searches know what a survey found. Returns what they read from now on; `None` if it is of no use.
fn tell(map: &mut Mut<NavMap>, kind: Kind, survey: &Survey, scene: &mut ResMut<Scene>) -> Option<Arc<Place>> {
    // The ground is what it was: nobody has to plan again, and no crowd is stirred.
    let scene = scene.bypass_change_detection();
    let new = map.bypass_change_detection().learn(kind, survey)?;
    let mut places: Vec<_> = scene.places.iter().cloned().collect();
    places.iter_mut().filter(|known| known.map == new.map).for_each(|known| *known = Arc::clone(&new));
    scene.places = Arc::new(places);
    Some(new)
}

impl Surveys {
    /// Hands over what is done and begins what is due. Returns whether anything was handed over.
    fn go_on(&mut self, tick: u64, maps: &mut Query<&mut NavMap>, scene: &mut ResMut<Scene>) -> bool {
        self.look_at(scene, tick);
        let mut learnt = false;
        for record in &mut self.0 {
            if let (Some(survey), Ok(mut map)) = (record.found(), maps.get_mut(record.map)) {
                let Some(place) = tell(&mut map, record.kind, &survey, scene) else { continue };
                if let Some(view) = place.seen_by(record.kind) {
                    record.view = Arc::clone(view);
                }
                learnt = true;
            }
            if record.is_due(tick) {
                record.begin(tick);
            }
        }
        learnt
    }

    /// Notes what has changed since the last run. Whoever is gone is surveyed no more.
    fn look_at(&mut self, scene: &Scene, tick: u64) {
        let is_seen = |record: &Record| scene.place(record.map)?.seen_by(record.kind);
        self.0.retain(|record| is_seen(record).is_some());
        for place in scene.places.iter() {
            for (kind, view) in place.seen() {
                let known = self.0.iter_mut().find(|record| record.map == place.map && record.kind == kind);
                match known {
                    Some(record) if Arc::ptr_eq(&record.view, view) => {}
                    Some(record) => (record.view, record.since) = (Arc::clone(view), tick),
                    None => self.0.push(Record {
                        map: place.map,
                        kind,
                        view: Arc::clone(view),
                        since: tick,
                        begun: tick,
                        surveyed: Weak::new(),
                        work: None,
                        is_given_up: false,
                    }),
                }
            }
        }
    }
}

impl Record {
    fn is_due(&self, tick: u64) -> bool {
        let is_quiet = tick.saturating_sub(self.since) >= QUIET;
        let has_waited = tick.saturating_sub(self.begun) >= PATIENCE;
        // What a survey was made of already and still wants one cannot be surveyed.
        let is_new = self.surveyed.as_ptr() != Arc::as_ptr(&self.view);
        let is_idle = self.work.is_none() && !self.is_given_up;
        is_idle && (is_quiet || has_waited) && is_new && self.view.wants_survey()
    }

    fn begin(&mut self, tick: u64) {
        (self.begun, self.surveyed) = (tick, Arc::downgrade(&self.view));
        let (sender, half) = bounded(1);
        let making = make(Arc::clone(&self.view), |surveyor| surveyor.run(STEP), sender);
        self.work = Some(Work { half, whole: AsyncComputeTaskPool::get_or_init(default).spawn(making) });
    }

    /// What was found since the last run.
    fn found(&mut self) -> Option<Survey> {
        let work = self.work.as_mut()?;
        let Some(done) = check_ready(&mut work.whole) else { return work.half.try_recv().ok() };
        self.work = None;
        // The panic itself was told by whoever is called when something panics. Another survey would tell it again.
        self.is_given_up = done.is_none();
        done
    }
}

/// Makes a survey of what is seen, whatever happens to the map meanwhile: on one that is never left alone there would be none
/// otherwise. `None` if it panics.
async fn make(
    view: Arc<Snapshot>,
    run: impl Fn(&mut Surveyor) -> Progress,
    half: Sender<Survey>,
) -> Option<Survey> {
    let mut surveyor = Surveyor::new(&view);
    // It may be outdated soon, and the surveyor knows what it needs.
    drop(view);
    let mut is_told = false;
    // Nobody looks at a surveyor that has panicked.
    while catch_unwind(AssertUnwindSafe(|| run(&mut surveyor))).ok()? == Progress::Running {
        if !is_told && let Some(survey) = surveyor.so_far() {
            is_told = half.try_send(survey).is_ok();
        }
        yield_now().await;
    }
    Some(surveyor.finish())
}

#[cfg(test)]
mod tests {
    use wayfare::Terrain;

    use super::*;
    use crate::plugin::PathfindingPlugin;

    #[test]
    fn a_survey_that_panics_is_given_up_and_nobody_else_notices() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, PathfindingPlugin::default().in_schedule(Update)));
        app.world_mut().spawn(NavMap::from_text("....\n.##.\n....").unwrap());
        app.update();
        // Without threads there is no background.
        let has_threads = bevy::tasks::cfg::multi_threaded! { if { true } else { false } };
        if !has_threads {
            assert!(app.world().resource::<Surveys>().0.is_empty());
            return;
        }
        let surveys = |app: &mut App, change: fn(&mut Record)| {
            let mut surveys = app.world_mut().resource_mut::<Surveys>();
            assert_eq!(surveys.0.len(), 1);
            change(&mut surveys.0[0]);
            surveys.0[0].work.is_some()
        };
        let is_at_work = surveys(&mut app, |record| {
            let (sender, half) = bounded(1);
            let making = make(Arc::clone(&record.view), |_| panic!("on purpose"), sender);
            let whole = AsyncComputeTaskPool::get_or_init(default).spawn(making);
            (record.surveyed, record.work) = (Arc::downgrade(&record.view), Some(Work { half, whole }));
        });
        assert!(is_at_work);
        for _ in 0..1000 {
            app.update();
            if !surveys(&mut app, |_| {}) {
                // And whatever happens to the map, there is no other.
                for y in 0..40 {
                    let mut maps = app.world_mut().query::<&mut NavMap>();
                    let mut map = maps.single_mut(app.world_mut()).unwrap();
                    map.map_mut().set((0, y % 2), Terrain::WALL).unwrap();
                    app.update();
                    assert!(!surveys(&mut app, |_| {}));
                }
                return;
            }
            std::thread::sleep(core::time::Duration::from_millis(1));
        }
        panic!("it is still waited for");
    }
}
