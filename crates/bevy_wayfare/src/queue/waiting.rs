//! Who is next: orders by priority and age, one per entity, and the searches that were put aside.
//!
//! Every order is first looked at for half a slice, oldest first, which is all that most searches need. What is not
//! done by then is put aside and goes on in turns with first looks, so that neither holds up the other. The number of
//! searches put aside is bounded; what finds no room there is looked at again from the start when there is.

use std::collections::{BTreeSet, VecDeque};

use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use wayfare::Scratch;

use crate::queue::Due;
use crate::queue::job::{Job, Stub};
use crate::queue::order::{Item, Order, Outcome};
use crate::scene::Scene;

/// All orders that have not been answered.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(crate) scene: Scene,
    entries: EntityHashMap<Entry>,
    /// Not looked at yet.
    fresh: BTreeSet<Key>,
    /// Looked at once, and waiting for room to be searched for longer.
    long: BTreeSet<Key>,
    /// Searched for longer, in turns.
    parked: VecDeque<Job>,
    /// Searches of the long kind, parked or in the hands of workers.
    long_in_work: usize,
    /// How many of these there may be.
    pub(crate) room: usize,
    /// Whose turn it is.
    long_next: bool,
    scratches: Vec<Scratch>,
    /// Blocks of the post that have been read.
    pub(crate) emptied: Vec<Vec<Item>>,
    /// Answers that found the channel full.
    pub(crate) unsent: VecDeque<Outcome>,
}

/// Lower ones first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rank: i64,
    served: u64,
    age: u64,
    entity: Entity,
}

struct Entry {
    order: Order,
    key: Key,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Long,
    /// A worker has it, or it is parked.
    Taken,
}

impl Waiting {
    /// Orders not answered yet, and answers not sent yet.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() + self.unsent.len()
    }

    /// Whether this order is to be answered yet.
    pub(crate) fn has(&self, due: &Due) -> bool {
        let (entity, ticket) = due.job;
        let queued = self.entries.get(&entity).is_some_and(|entry| entry.order.ticket == ticket);
        queued || self.unsent.iter().any(|outcome| outcome.ticket == due.ticket)
    }

    /// Searches that have begun and not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.entries.len() - self.fresh.len() - self.long.len()
    }

    pub(crate) fn absorb(&mut self, item: Item) {
        match item {
            Item::Order(order) => self.enter(order),
            Item::Cancel(entity) => {
                if let Some(entry) = self.entries.remove(&entity) {
                    self.withdraw(&entry);
                }
            }
        }
    }

    /// Puts an order into the queue; one that replaces another keeps its age.
    fn enter(&mut self, order: Order) {
        let entity = order.entity;
        let old = self.entries.remove(&entity);
        let mut key = Key { rank: order.rank, served: order.served, age: order.ticket, entity };
        if let Some(old) = old {
            self.withdraw(&old);
            key = Key { rank: order.rank.min(old.key.rank), ..old.key };
        }
        self.fresh.insert(key);
        self.entries.insert(entity, Entry { order, key, state: State::Fresh });
    }

    /// Takes an entry out of wherever it waits. A worker that has it will find that it is gone.
    fn withdraw(&mut self, entry: &Entry) {
        match entry.state {
            State::Fresh => {
                self.fresh.remove(&entry.key);
            }
            State::Long => {
                self.long.remove(&entry.key);
            }
            State::Taken => {
                let at = self.parked.iter().position(|job| job.stub().ticket == entry.order.ticket);
                if let Some(job) = at.and_then(|at| self.parked.remove(at)) {
                    self.long_in_work -= usize::from(job.stub().long);
                    self.scratches.push(job.into_scratch());
                }
            }
        }
    }

    /// The next search to be run for a while. First looks and long searches take turns.
    pub(crate) fn next(&mut self) -> Option<Job> {
        self.long_next = !self.long_next;
        if self.long_next {
            self.next_long().or_else(|| self.next_fresh())
        } else {
            self.next_fresh().or_else(|| self.next_long())
        }
    }

    fn next_fresh(&mut self) -> Option<Job> {
        let key = self.fresh.pop_first()?;
        self.take(key.entity, false)
    }

    fn next_long(&mut self) -> Option<Job> {
        if self.long_in_work < self.room
            && let Some(key) = self.long.pop_first()
        {
            self.long_in_work += 1;
            return self.take(key.entity, true);
        }
        self.parked.pop_front()
    }

    fn take(&mut self, entity: Entity, long: bool) -> Option<Job> {
        let entry = self.entries.get_mut(&entity)?;
        entry.state = State::Taken;
        let order = entry.order.clone();
        let scene = order.scene.clone().unwrap_or_else(|| self.scene.clone());
        let scratch = self.scratches.pop().unwrap_or_default();
        Some(Job::new(order, scene, scratch, long))
    }

    /// A worker gives a search back that is not done.
    pub(crate) fn put_aside(&mut self, mut job: Job) {
        let stub = job.stub();
        let entry = self.entries.get_mut(&stub.entity).filter(|entry| is_current(entry, stub.ticket));
        let Some(entry) = entry else {
            self.long_in_work -= usize::from(stub.long);
            self.scratches.push(job.into_scratch());
            return;
        };
        if !stub.long && self.long_in_work >= self.room {
            entry.state = State::Long;
            self.long.insert(entry.key);
            self.scratches.push(job.into_scratch());
            return;
        }
        self.long_in_work += usize::from(!stub.long);
        job.set_long();
        self.parked.push_back(job);
    }

    /// A worker is done with a search. Returns whether anybody still wants the answer.
    pub(crate) fn conclude(&mut self, stub: Stub, scratch: Option<Scratch>) -> bool {
        self.long_in_work -= usize::from(stub.long);
        self.scratches.extend(scratch);
        let wanted = self.entries.get(&stub.entity).is_some_and(|entry| is_current(entry, stub.ticket));
        if wanted {
            self.entries.remove(&stub.entity);
        }
        wanted
    }
}

fn is_current(entry: &Entry, ticket: u64) -> bool {
    entry.order.ticket == ticket && entry.state == State::Taken
}
