//! One order in the hands of a worker: begun, run for a while, put aside or done.

use core::time::Duration;
use std::sync::Arc;

use bevy::math::Vec2;
use bevy::platform::time::Instant;
use bevy::prelude::Entity;
use wayfare::avoid::Disc;
use wayfare::{Cell, Factor, GroundPlan, Layout, Progress, Scratch, Snapshot};

use crate::event::FailureReason;
use crate::muster::{Muster, MusterPlan, Recruit};
use crate::plan::{Asked, Plan, Planned, Wish};
use crate::queue::order::{Order, Outcome, Task};
use crate::scene::{Kind, Place, Scene};

/// How a search begins; tests put something else in its place.
pub(crate) type LookUp = fn(&Wish, &Snapshot, &Layout) -> Result<Asked, FailureReason>;

/// A search, begun or not.
pub(crate) struct Job {
    stub: Stub,
    searched: Duration,
    work: Work,
}

enum Work {
    NotBegun(Box<(Order, Scene, Scratch)>),
    Begun(Box<Plan>, Arc<Place>),
    Mustering(Box<MusterPlan>, Arc<Muster>, Arc<Place>),
}

/// What is left of an order when its search is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stub {
    pub(crate) entity: Entity,
    pub(crate) ticket: u64,
    /// Whether it counts against the room for long searches.
    pub(crate) long: bool,
    kind: Kind,
    made: Instant,
}

/// What became of a job.
pub(crate) enum Advanced {
    Running(Job),
    Done(Outcome, Scratch),
    /// An answer for each of a group.
    Mustered(Vec<Outcome>, Scratch),
}

impl Job {
    pub(crate) fn new(order: Order, scene: Scene, scratch: Scratch, long: bool) -> Self {
        let Order { entity, ticket, kind, made, .. } = order;
        let stub = Stub { entity, ticket, long, kind, made };
        let work = Work::NotBegun(Box::new((order, scene, scratch)));
        Self { stub, searched: Duration::ZERO, work }
    }

    pub(crate) fn stub(&self) -> Stub {
        self.stub
    }

    pub(crate) fn set_long(&mut self) {
        self.stub.long = true;
    }

    /// Nodes closed so far.
    pub(crate) fn nodes(&self) -> u64 {
        match &self.work {
            Work::NotBegun(_) => 0,
            Work::Begun(plan, _) => plan.nodes(),
            Work::Mustering(plan, ..) => plan.nodes(),
        }
    }

    pub(crate) fn into_scratch(self) -> Scratch {
        match self.work {
            Work::NotBegun(unbegun) => unbegun.2,
            Work::Begun(plan, _) => plan.cancel(),
            Work::Mustering(plan, ..) => plan.cancel(),
        }
    }

    /// For whom it searches, if that is a group.
    pub(crate) fn muster(&self) -> Option<Arc<Muster>> {
        match &self.work {
            Work::NotBegun(unbegun) => match &unbegun.0.task {
                Task::Group(muster) => Some(Arc::clone(muster)),
                Task::Path(_) => None,
            },
            Work::Begun(..) => None,
            Work::Mustering(_, muster, _) => Some(Arc::clone(muster)),
        }
    }

    /// Closes up to so many nodes. `buffer` is asked for when there are points to be written.
    pub(crate) fn advance(
        mut self,
        look_up: LookUp,
        nodes: u32,
        buffer: impl FnOnce() -> Vec<Vec2>,
    ) -> Advanced {
        let from = Instant::now();
        let (mut plan, place) = match self.work {
            Work::Begun(plan, place) => (plan, place),
            Work::Mustering(plan, muster, place) => {
                return Self { work: Work::Mustering(plan, muster, place), ..self }
                    .advance_group(nodes, from);
            }
            Work::NotBegun(unbegun) => {
                let (order, scene, scratch) = *unbegun;
                let place = scene.place(order.map).cloned();
                let wish = match (order.task, &place) {
                    (Task::Path(wish), _) => wish,
                    (Task::Group(muster), Some(place)) => {
                        let plan = MusterPlan::new(Arc::clone(&muster), Arc::clone(place), scratch);
                        let work = Work::Mustering(Box::new(plan), muster, Arc::clone(place));
                        return Self { work, ..self }.advance_group(nodes, from);
                    }
                    (Task::Group(muster), None) => {
                        return Advanced::Mustered(
                            self.stub.refuse(&muster, FailureReason::Cancelled),
                            scratch,
                        );
                    }
                };
                match (begin(look_up, &wish, order.kind, place.as_deref()), place) {
                    (Ok(Begun { view, layout, asked }), Some(place)) => {
                        (Box::new(Plan::new(view, layout, wish, asked, scratch)), place)
                    }
                    (begun, place) => {
                        let reason = begun.err().unwrap_or(FailureReason::Cancelled);
                        let outcome = self.stub.outcome(Err(reason), place, 0, from.elapsed());
                        return Advanced::Done(outcome, scratch);
                    }
                }
            }
        };
        let progress = plan.run(nodes);
        self.searched += from.elapsed();
        match progress {
            Progress::Running => Advanced::Running(Self { work: Work::Begun(plan, place), ..self }),
            Progress::Done => {
                let closed = plan.nodes();
                let (result, scratch) = plan.finish(buffer());
                Advanced::Done(self.stub.outcome(result, Some(place), closed, self.searched), scratch)
            }
        }
    }

    fn advance_group(self, nodes: u32, from: Instant) -> Advanced {
        let Self { stub, searched, work: Work::Mustering(mut plan, muster, place) } = self else {
            return Advanced::Running(self);
        };
        let progress = plan.run(nodes);
        let searched = searched + from.elapsed();
        if progress == Progress::Running {
            return Advanced::Running(Self { stub, searched, work: Work::Mustering(plan, muster, place) });
        }
        let closed = plan.nodes();
        let (results, scratch) = plan.finish();
        let mut outcomes = Vec::with_capacity(results.len());
        for (recruit, result) in muster.recruits.iter().zip(results) {
            // What the search took is counted once.
            let (nodes, searched) =
                if outcomes.is_empty() { (closed, searched) } else { (0, Duration::ZERO) };
            outcomes.push(stub.of(recruit).outcome(result, Some(Arc::clone(&place)), nodes, searched));
        }
        Advanced::Mustered(outcomes, scratch)
    }
}

impl Stub {
    fn outcome(
        self,
        result: Result<Planned, FailureReason>,
        place: Option<Arc<Place>>,
        nodes: u64,
        searched: Duration,
    ) -> Outcome {
        let Self { entity, ticket, kind, made, .. } = self;
        Outcome { entity, ticket, result, place, kind, made, nodes, searched }
    }

    /// The same for one of a group.
    fn of(self, recruit: &Recruit) -> Self {
        Self { entity: recruit.entity, ticket: recruit.ticket, kind: recruit.kind, ..self }
    }

    /// No answer for any of a group.
    pub(crate) fn refuse(self, muster: &Muster, reason: FailureReason) -> Vec<Outcome> {
        let refuse = |recruit| self.of(recruit).outcome(Err(reason), None, 0, Duration::ZERO);
        muster.recruits.iter().map(refuse).collect()
    }

    pub(crate) fn panicked(self, searched: Duration) -> Outcome {
        self.outcome(Err(FailureReason::SearchPanicked), None, 0, searched)
    }
}

/// Where an order is searched, and from where to where.
struct Begun {
    view: Arc<Snapshot>,
    layout: Layout,
    asked: Asked,
}

/// What those who stand in the way make the ground cost, for a search around them.
const BURDEN: Factor = Factor::whole(20);

fn begin(look_up: LookUp, wish: &Wish, kind: Kind, place: Option<&Place>) -> Result<Begun, FailureReason> {
    let place = place.ok_or(FailureReason::Cancelled)?;
    let view = Arc::clone(place.view(kind)?);
    let layout = place.layout.ok_or(FailureReason::NoMap)?;
    let asked = look_up(wish, &view, &layout)?;
    let view = match (&wish.around, view.map().area()) {
        (Some(around), Some(area)) => {
            let plans = around.iter().map(|&Disc { centre, radius }| GroundPlan::Disc { centre, radius });
            let cells: Vec<Cell> = plans.flat_map(|plan| plan.cells(&layout, area)).collect();
            Arc::new(view.burdened(&cells, BURDEN))
        }
        _ => view,
    };
    Ok(Begun { view, layout, asked })
}
