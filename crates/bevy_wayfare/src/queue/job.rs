//! One order in the hands of a worker: begun, run for a while, put aside or done.

use core::time::Duration;
use std::sync::Arc;

use bevy::math::Vec2;
use bevy::platform::time::Instant;
use bevy::prelude::Entity;
use wayfare::avoid::Disc;
use wayfare::{Cell, Factor, Field, GroundPlan, Layout, Progress, Scratch, Snapshot};

use crate::convoy::{ConvoyPlan, LookUp};
use crate::event::FailureReason;
use crate::muster::{Muster, MusterPlan, Recruit};
use crate::plan::{Asked, Plan, Planned, Wish};
use crate::queue::order::{Order, Outcome, Owner, Riders, Task};
use crate::scene::{Kind, Place, Scene};

/// A search, begun or not.
pub(crate) struct Job {
    stub: Stub,
    searched: Duration,
    work: Work,
}

enum Work {
    NotBegun(Box<(Order, Scene, Scratch, Option<Box<Field>>)>),
    Begun(Box<Plan>, Arc<Place>),
    Mustering(Box<MusterPlan>, Arc<Muster>, Arc<Place>),
    /// So many of its nodes have been told of.
    Convoying(Box<ConvoyPlan>, Arc<Riders>, Arc<Place>, u64),
}

/// Those who are answered by one job.
#[derive(Clone)]
pub(crate) enum Company {
    Group(Arc<Muster>),
    Convoy(Arc<Riders>),
}

/// What is left of an order when its search is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stub {
    pub(crate) owner: Owner,
    entity: Entity,
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
    /// Answers for some of a convoy, and the rest of it.
    Partly(Vec<Outcome>, Job),
    /// Answers for the last of a convoy, the nodes closed for all of it, and the field it leaves.
    Convoyed(Vec<Outcome>, u64, Scratch, Option<Box<Field>>),
}

impl Job {
    pub(crate) fn new(
        order: Order,
        scene: Scene,
        (scratch, field): (Scratch, Option<Box<Field>>),
        long: bool,
    ) -> Self {
        let Order { entity, ticket, kind, made, .. } = order;
        let stub = Stub { owner: order.owner(), entity, ticket, long, kind, made };
        let work = Work::NotBegun(Box::new((order, scene, scratch, field)));
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
            Work::Convoying(plan, ..) => plan.nodes(),
        }
    }

    pub(crate) fn into_scratch(self) -> Scratch {
        match self.work {
            Work::NotBegun(unbegun) => unbegun.2,
            Work::Begun(plan, _) => plan.cancel(),
            Work::Mustering(plan, ..) => plan.cancel(),
            Work::Convoying(plan, ..) => {
                let (scratch, field) = plan.finish();
                field.map_or(scratch, |field| field.finish())
            }
        }
    }

    /// For whom it searches, if that is more than one.
    pub(crate) fn company(&self) -> Option<Company> {
        match &self.work {
            Work::NotBegun(unbegun) => match &unbegun.0.task {
                Task::Group(muster) => Some(Company::Group(Arc::clone(muster))),
                Task::Convoy(riders) => Some(Company::Convoy(Arc::clone(riders))),
                Task::Path(_) => None,
            },
            Work::Begun(..) => None,
            Work::Mustering(_, muster, _) => Some(Company::Group(Arc::clone(muster))),
            Work::Convoying(_, riders, ..) => Some(Company::Convoy(Arc::clone(riders))),
        }
    }

    /// Closes up to so many nodes. `buffer` is asked for when there are points to be written.
    pub(crate) fn advance(
        mut self,
        look_up: LookUp,
        nodes: u32,
        mut buffer: impl FnMut() -> Vec<Vec2>,
    ) -> Advanced {
        let from = Instant::now();
        let (mut plan, place) = match self.work {
            Work::Begun(plan, place) => (plan, place),
            Work::Mustering(plan, muster, place) => {
                return Self { work: Work::Mustering(plan, muster, place), ..self }
                    .advance_group(nodes, from);
            }
            Work::Convoying(..) => return self.advance_convoy(nodes, from, &mut buffer),
            Work::NotBegun(unbegun) => {
                let (order, scene, scratch, field) = *unbegun;
                let place = scene.place(order.map).cloned();
                let wish = match (order.task, &place) {
                    (Task::Path(wish), _) => wish,
                    (Task::Convoy(riders), _) => match ground(order.kind, place) {
                        Ok((view, layout, place)) => {
                            let plan = ConvoyPlan::new(view, layout, look_up, field, scratch);
                            let work = Work::Convoying(Box::new(plan), riders, place, 0);
                            return Self { work, ..self }.advance_convoy(nodes, from, &mut buffer);
                        }
                        Err(reason) => {
                            let outcomes = self.stub.refuse(&Company::Convoy(riders), reason);
                            return Advanced::Convoyed(outcomes, 0, scratch, None);
                        }
                    },
                    (Task::Group(muster), Some(place)) => {
                        let plan = MusterPlan::new(Arc::clone(&muster), Arc::clone(place), scratch);
                        let work = Work::Mustering(Box::new(plan), muster, Arc::clone(place));
                        return Self { work, ..self }.advance_group(nodes, from);
                    }
                    (Task::Group(muster), None) => {
                        let company = Company::Group(muster);
                        let outcomes = self.stub.refuse(&company, FailureReason::Cancelled);
                        return Advanced::Mustered(outcomes, scratch);
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
            let stub = stub.of(recruit.entity, recruit.ticket, recruit.kind);
            outcomes.push(stub.outcome(result, Some(Arc::clone(&place)), nodes, searched));
        }
        Advanced::Mustered(outcomes, scratch)
    }

    fn advance_convoy(
        mut self,
        nodes: u32,
        from: Instant,
        buffer: &mut impl FnMut() -> Vec<Vec2>,
    ) -> Advanced {
        let Work::Convoying(plan, riders, place, told) = &mut self.work else {
            return Advanced::Running(self);
        };
        let mut found = Vec::new();
        let progress = plan.run(nodes, &riders.wishes, buffer, &mut found);
        self.searched += from.elapsed();
        let closed = plan.nodes();
        let mut outcomes = Vec::with_capacity(found.len());
        for (number, result) in found {
            let (entity, ticket) = riders.tickets[number];
            // What has been done since the last answers is counted once.
            let nodes = closed - core::mem::replace(told, closed);
            let searched = core::mem::take(&mut self.searched);
            let stub = self.stub.of(entity, ticket, self.stub.kind);
            outcomes.push(stub.outcome(result, Some(Arc::clone(place)), nodes, searched));
        }
        match (progress, self.work) {
            (Progress::Done, Work::Convoying(plan, ..)) => {
                let (scratch, field) = plan.finish();
                Advanced::Convoyed(outcomes, closed, scratch, field)
            }
            (_, work) => Advanced::Partly(outcomes, Self { work, ..self }),
        }
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

    /// The same for one of several.
    fn of(self, entity: Entity, ticket: u64, kind: Kind) -> Self {
        Self { entity, ticket, kind, ..self }
    }

    /// No answer for any of them.
    pub(crate) fn refuse(self, company: &Company, reason: FailureReason) -> Vec<Outcome> {
        let refuse = |(entity, ticket, kind)| {
            self.of(entity, ticket, kind).outcome(Err(reason), None, 0, Duration::ZERO)
        };
        match company {
            Company::Group(muster) => {
                let of = |recruit: &Recruit| (recruit.entity, recruit.ticket, recruit.kind);
                muster.recruits.iter().map(of).map(refuse).collect()
            }
            Company::Convoy(riders) => {
                let of = |(entity, ticket): &(Entity, u64)| (*entity, *ticket, self.kind);
                riders.tickets.iter().map(of).map(refuse).collect()
            }
        }
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

/// What a convoy walks on.
fn ground(
    kind: Kind,
    place: Option<Arc<Place>>,
) -> Result<(Arc<Snapshot>, Layout, Arc<Place>), FailureReason> {
    let place = place.ok_or(FailureReason::Cancelled)?;
    let view = Arc::clone(place.view(kind)?);
    Ok((view, place.layout.ok_or(FailureReason::NoMap)?, place))
}

fn begin(look_up: LookUp, wish: &Wish, kind: Kind, place: Option<&Place>) -> Result<Begun, FailureReason> {
    let place = place.ok_or(FailureReason::Cancelled)?;
    let view = Arc::clone(place.view(kind)?);
    let layout = place.layout.ok_or(FailureReason::NoMap)?;
    let asked = look_up(wish, &view, &layout, None)?;
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
