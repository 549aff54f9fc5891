//! What the main thread tells workers and what they tell it.

use core::time::Duration;
use std::sync::Arc;

use bevy::platform::time::Instant;
use bevy::prelude::*;

use crate::event::FailureReason;
use crate::muster::Muster;
use crate::plan::{Planned, Wish};
use crate::scene::{Kind, Place, Scene};

/// A request on its way to a worker.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) entity: Entity,
    /// Goes up with every order, so that an answer to an older one is known as such.
    pub(crate) ticket: u64,
    /// Lower ones first: the run of the schedule it was made in, less the head start of its priority.
    pub(crate) rank: i64,
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
}

/// News for the workers.
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
