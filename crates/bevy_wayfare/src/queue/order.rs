//! What the main thread tells workers and what they tell it.

use core::time::Duration;
use std::sync::Arc;

use bevy::platform::time::Instant;
use bevy::prelude::*;
use wayfare::Field;

use crate::event::FailureReason;
use crate::muster::Muster;
use crate::plan::{Aim, Aims, Planned, Wish};
use crate::scene::{Kind, Place, Scene};

/// A request on its way to a worker.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) entity: Entity,
    /// Goes up with every order, so that an answer to an older one is known as such.
    pub(crate) ticket: u64,
    /// Lower ones first: the run of the schedule it was made in, less the head start of its priority.
    pub(crate) rank: i64,
    /// The run of the schedule it was made in.
    pub(crate) tick: u64,
    /// When the entity was served last, or 0: of those who ask at the same time, whoever has waited longest is first.
    pub(crate) served: u64,
    pub(crate) map: Entity,
    pub(crate) kind: Kind,
    pub(crate) task: Task,
    pub(crate) made: Instant,
    /// The maps to search on; the newest if none.
    pub(crate) scene: Option<Scene>,
}

/// What is to be searched for.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// A path for the entity itself.
    Path(Wish),
    /// Paths for all of a group; the entity is that of the order.
    Group(Arc<Muster>),
    /// Paths for several who go to the same place, or the nearest of the same places; the entity is that of the first of them.
    Convoy(Arc<Riders>),
}

/// Those who are answered together, by number: who they are, and what each wishes.
#[derive(Debug)]
pub(crate) struct Riders {
    pub(crate) destination: Destination,
    pub(crate) tickets: Vec<(Entity, u64)>,
    pub(crate) wishes: Vec<Wish>,
}

/// Where an order leads, and for what kind of unit: one field serves all who have this in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Destination {
    pub(crate) map: Entity,
    pub(crate) kind: Kind,
    goal: Mark,
    /// The others, if it is the nearest of several: each once, in order, after that one.
    others: Option<Arc<[Mark]>>,
}

/// The bits of a point, or a cell.
type Mark = (bool, u32, u32);

impl Destination {
    /// `None` if the order asks for something that it cannot have in common with others.
    pub(crate) fn of(order: &Order) -> Option<Self> {
        let Task::Path(wish) = &order.task else { return None };
        if wish.around.is_some() || !Field::suits(&wish.options.0) {
            return None;
        }
        let (goal, others) = match &wish.aims {
            Aims::One(aim) => (mark(*aim), None),
            Aims::Nearest(aims) => {
                let mut marks: Vec<Mark> = aims.iter().copied().map(mark).collect();
                marks.sort_unstable();
                marks.dedup();
                let (goal, others) = marks.split_first()?;
                (*goal, (!others.is_empty()).then(|| others.into()))
            }
        };
        Some(Self { map: order.map, kind: order.kind, goal, others })
    }
}

fn mark(aim: Aim) -> Mark {
    match aim {
        Aim::Point(point) => (true, point.x.to_bits(), point.y.to_bits()),
        Aim::Cell(cell) => (false, cell.x.cast_unsigned(), cell.y.cast_unsigned()),
    }
}

/// Who a search is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Owner {
    /// A unit, or the group whose order it is.
    Entity(Entity),
    /// All riders of the order with this ticket.
    Convoy(u64),
}

impl Order {
    pub(crate) fn owner(&self) -> Owner {
        match self.task {
            Task::Convoy(_) => Owner::Convoy(self.ticket),
            Task::Path(_) | Task::Group(_) => Owner::Entity(self.entity),
        }
    }
}

/// News for the workers.
#[expect(
    clippy::large_enum_variant,
    reason = "a box would be an allocation per request; blocks of these are used again"
)]
#[derive(Debug)]
pub(crate) enum Item {
    Order(Order),
    Cancel(Entity),
}

/// What an answer cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) waited: Duration,
    pub(crate) nodes: u64,
    pub(crate) searched: Duration,
}

impl Outcome {
    pub(crate) fn figures(&self) -> Figures {
        Figures { waited: self.made.elapsed(), nodes: self.nodes, searched: self.searched }
    }
}

/// The answer to an order.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) entity: Entity,
    pub(crate) ticket: u64,
    pub(crate) result: Result<Planned, FailureReason>,
    /// The map that was searched.
    pub(crate) place: Option<Arc<Place>>,
    pub(crate) kind: Kind,
    pub(crate) made: Instant,
    pub(crate) nodes: u64,
    pub(crate) searched: Duration,
}
