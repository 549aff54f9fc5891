//! Maps are surveyed in the background, so that searches on them are faster.
//!
//! Comes in: what maps look like, and for how long they have; surveys that were [loaded](NavMap::load). Goes out: the same places, with views that have
//! [learnt](wayfare::Snapshot::learn) of a survey. A survey shares the task pool with the searches and gives way to them
//! after every step; until it is there, and wherever the ground has changed since, searches look for themselves.

use std::sync::Arc;

use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::futures_lite::future::yield_now;
use bevy::tasks::{AsyncComputeTaskPool, Task};
use wayfare::{Progress, Snapshot, Survey, Surveyor};

use crate::map::NavMap;
use crate::plugin::PathfindingClock;
use crate::queue::Pool;
use crate::scene::{Place, Scene};
use crate::settings::{Delivery, Drive, PathfindingSettings};

/// For so many runs a map must have been left alone before it is surveyed. Whoever draws a wall draws more of it.
const QUIET: u64 = 16;

/// A map that is never left alone is surveyed all the same, every so many runs.
const PATIENCE: u64 = 256;

/// Corners that are looked at before other tasks get the thread; that takes about half a millisecond.
const STEP: u32 = 1024;

/// What is being surveyed, and what has been.
#[derive(Resource, Default, Debug)]
pub(crate) struct Surveys(Vec<Record>);

/// One class of units on one map.
#[derive(Debug)]
struct Record {
    map: Entity,
    class: usize,
    /// What it looked like when it was last looked at, and in which run it began to look so.
    view: Arc<Snapshot>,
    since: u64,
    /// The run in which the last survey began, and what it was made of.
    begun: u64,
    surveyed: Option<Arc<Snapshot>>,
    task: Option<Task<Survey>>,
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
            let Some(place) = tell(&mut map, loaded.class, &loaded.survey, &mut scene) else { continue };
            // What is found out just now is known already.
            let records = surveys.0.iter_mut();
            let same = |record: &&mut Record| record.map == place.map && record.class == loaded.class;
            records.filter(same).for_each(|record| record.task = None);
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
fn tell(
    map: &mut Mut<NavMap>,
    class: usize,
    survey: &Survey,
    scene: &mut ResMut<Scene>,
) -> Option<Arc<Place>> {
    // The ground is what it was: nobody has to plan again, and no crowd is stirred.
    let scene = scene.bypass_change_detection();
    let new = map.bypass_change_detection().learn(class, survey)?;
    let mut places: Vec<_> = scene.places.iter().cloned().collect();
    places.iter_mut().filter(|known| known.map == new.map).for_each(|known| *known = Arc::clone(&new));
    scene.places = Arc::new(places);
    Some(new)
}

impl Surveys {
    /// Begins what is due and hands over what is done. Returns whether anything was.
    fn go_on(&mut self, tick: u64, maps: &mut Query<&mut NavMap>, scene: &mut ResMut<Scene>) -> bool {
        self.look_at(scene, tick);
        let mut learnt = false;
        for record in &mut self.0 {
            let done = record.task.as_mut().and_then(check_ready);
            if let (Some(survey), Ok(mut map)) = (done, maps.get_mut(record.map)) {
                record.task = None;
                let Some(place) = tell(&mut map, record.class, &survey, scene) else { continue };
                record.view = Arc::clone(&place.views[record.class]);
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
        self.0.retain(|record| scene.place(record.map).is_some_and(|place| record.class < place.views.len()));
        for place in scene.places.iter() {
            for (class, view) in place.views.iter().enumerate() {
                let known = self.0.iter_mut().find(|record| record.map == place.map && record.class == class);
                match known {
                    Some(record) if Arc::ptr_eq(&record.view, view) => {}
                    Some(record) => (record.view, record.since) = (Arc::clone(view), tick),
                    None => self.0.push(Record {
                        map: place.map,
                        class,
                        view: Arc::clone(view),
                        since: tick,
                        begun: tick,
                        surveyed: None,
                        task: None,
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
        let is_new = self.surveyed.as_ref().is_none_or(|surveyed| !Arc::ptr_eq(surveyed, &self.view));
        self.task.is_none() && (is_quiet || has_waited) && is_new && self.view.wants_survey()
    }

    fn begin(&mut self, tick: u64) {
        (self.begun, self.surveyed) = (tick, Some(Arc::clone(&self.view)));
        let mut surveyor = Surveyor::new(&self.view);
        self.task = Some(AsyncComputeTaskPool::get_or_init(default).spawn(async move {
            while surveyor.run(STEP) == Progress::Running {
                // What is of use already is handed over; the next survey goes on from there.
                if let Some(survey) = surveyor.so_far() {
                    return survey;
                }
                yield_now().await;
            }
            surveyor.finish()
        }));
    }
}
