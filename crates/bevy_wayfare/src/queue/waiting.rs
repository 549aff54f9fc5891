//! Who is next: orders by priority and age, one per entity, and the searches that were put aside.
//!
//! Every order is first looked at for half a slice, oldest first, which is all that most searches need. What is not
//! done by then is put aside and goes on in turns with first looks, so that neither holds up the other. The number of
//! searches put aside is bounded; what finds no room there is looked at again from the start when there is. A convoy is
//! known to be long, and waits for room before it is begun.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use wayfare::{Field, Scratch};

use crate::queue::Due;
use crate::queue::gather::{Gathered, Gathering};
use crate::queue::job::{Job, Stub};
use crate::queue::order::{Destination, Item, Order, Outcome, Owner, Riders, Task};
use crate::queue::shelf::{Shelf, is_valid};
use crate::scene::Scene;

/// All orders that have not been answered.
#[derive(Default)]
pub(crate) struct Waiting {
    scene: Scene,
    /// Those of the run that is being read.
    gathering: Gathering,
    entries: EntityHashMap<Entry>,
    /// By ticket.
    convoys: BTreeMap<u64, Entry>,
    /// Who is answered with others.
    riders: EntityHashMap<Ride>,
    /// Not looked at yet.
    fresh: BTreeSet<Key>,
    /// Looked at once, or known to be long, and waiting for room to be searched for longer.
    long: BTreeSet<Key>,
    /// Searched for longer, in turns.
    parked: VecDeque<Job>,
    /// Searches of the long kind, parked or in the hands of workers.
    long_in_work: usize,
    /// How many of these there may be.
    pub(crate) room: usize,
    /// Whose turn it is: that of first looks or of long searches, and of these, of new or of parked ones.
    long_next: bool,
    parked_next: bool,
    shelf: Shelf,
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
    owner: Owner,
}

struct Entry {
    order: Order,
    key: Key,
    state: State,
    /// For how many an answer is still to be found.
    left: usize,
}

/// One of a convoy, by the ticket of that. Its key is where in the queue it would be alone.
struct Ride {
    convoy: u64,
    ticket: u64,
    key: Key,
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
        self.entries.len() + self.riders.len() + self.gathering.len() + self.unsent.len()
    }

    /// Whether this order is to be answered yet.
    pub(crate) fn has(&self, due: &Due) -> bool {
        let (entity, ticket) = due.job;
        let queued = self.entries.get(&entity).is_some_and(|entry| entry.order.ticket == ticket);
        let rides = self.riders.get(&due.entity).is_some_and(|ride| ride.ticket == due.ticket);
        queued || rides || self.unsent.iter().any(|outcome| outcome.ticket == due.ticket)
    }

    /// Searches that have begun and not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.entries.len() + self.convoys.len() - self.fresh.len() - self.long.len()
    }

    /// The maps have changed.
    pub(crate) fn set_scene(&mut self, scene: Scene) {
        self.shelf.set_scene(&scene, self.most_scratches());
        self.scene = scene;
    }

    /// Keeps a scratch for the next search.
    fn give(&mut self, scratch: Scratch) {
        self.shelf.give(scratch, self.most_scratches());
    }

    /// So many searches may have one at the same time: those put aside, and one per worker.
    fn most_scratches(&self) -> usize {
        self.room + self.room.div_ceil(2)
    }

    pub(crate) fn absorb(&mut self, item: Item) {
        match item {
            Item::Order(order) => {
                if self.gathering.is_of_another_run(order.tick) {
                    self.close_run();
                }
                match Destination::of(&order) {
                    Some(destination) => self.gathering.add(order, destination),
                    None => {
                        self.gathering.forget(order.entity);
                        self.enter(order);
                    }
                }
            }
            Item::Cancel(entity) => {
                self.gathering.forget(entity);
                self.dismiss(entity);
            }
        }
    }

    /// All orders of a run have been read: puts them into the queue.
    pub(crate) fn close_run(&mut self) {
        let shelf = &self.shelf;
        let has_field =
            |order: &Order, destination: &Destination| order.scene.is_none() && shelf.has_field(destination);
        let Gathered { single, convoys } = self.gathering.close(has_field);
        single.into_iter().for_each(|order| self.enter(order));
        convoys.into_iter().for_each(|(destination, orders)| self.enter_convoy(destination, orders));
    }

    /// Puts an order into the queue; one that replaces another keeps its age.
    fn enter(&mut self, order: Order) {
        let mut key = Key { rank: order.rank, served: order.served, age: order.ticket, owner: order.owner() };
        if let Some(old) = self.dismiss(order.entity) {
            key = Key { rank: order.rank.min(old.rank), owner: key.owner, ..old };
        }
        self.fresh.insert(key);
        self.entries.insert(order.entity, Entry { order, key, state: State::Fresh, left: 1 });
    }

    /// Puts several orders into the queue that are to be answered together, where the first of them would be.
    fn enter_convoy(&mut self, destination: Destination, mut orders: Vec<Order>) {
        let mut keys: Vec<(Key, Order)> =
            orders.drain(..).map(|order| (self.replace(&order), order)).collect();
        keys.sort_unstable_by_key(|(key, _)| *key);
        let Some((key, first)) = keys.first().cloned() else { return };
        let (ticket, key) = (first.ticket, Key { owner: Owner::Convoy(first.ticket), ..key });
        let mut riders = Riders { destination, tickets: Vec::new(), wishes: Vec::new() };
        for (key, order) in keys {
            let Task::Path(wish) = order.task else { continue };
            riders.tickets.push((order.entity, order.ticket));
            riders.wishes.push(wish);
            self.riders.insert(order.entity, Ride { convoy: ticket, ticket: order.ticket, key });
        }
        let left = riders.tickets.len();
        let order = Order { task: Task::Convoy(Arc::new(riders)), ..first };
        self.long.insert(key);
        self.convoys.insert(ticket, Entry { order, key, state: State::Long, left });
    }

    /// Where an order comes in the queue. One that replaces another, which is dismissed, keeps its age.
    fn replace(&mut self, order: &Order) -> Key {
        let owner = order.owner();
        match self.dismiss(order.entity) {
            Some(old) => Key { rank: order.rank.min(old.rank), owner, ..old },
            None => Key { rank: order.rank, served: order.served, age: order.ticket, owner },
        }
    }

    /// Nobody waits for the answer of this entity any more. Returns where in the queue it was.
    fn dismiss(&mut self, entity: Entity) -> Option<Key> {
        if let Some(entry) = self.entries.remove(&entity) {
            self.withdraw(&entry);
            return Some(entry.key);
        }
        let Ride { convoy, key, .. } = self.riders.remove(&entity)?;
        let entry = self.convoys.get_mut(&convoy)?;
        entry.left -= 1;
        if entry.left == 0
            && let Some(entry) = self.convoys.remove(&convoy)
        {
            self.withdraw(&entry);
        }
        Some(key)
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
                    self.give(job.into_scratch());
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
        self.take(key.owner, false)
    }

    /// New ones and those that have been begun take turns, or convoys could keep coming before these.
    fn next_long(&mut self) -> Option<Job> {
        self.parked_next = !self.parked_next;
        if self.parked_next
            && let Some(job) = self.parked.pop_front()
        {
            return Some(job);
        }
        if self.long_in_work < self.room
            && let Some(key) = self.long.pop_first()
        {
            self.long_in_work += 1;
            return self.take(key.owner, true);
        }
        self.parked.pop_front()
    }

    fn entry(&mut self, owner: Owner) -> Option<&mut Entry> {
        match owner {
            Owner::Entity(entity) => self.entries.get_mut(&entity),
            Owner::Convoy(ticket) => self.convoys.get_mut(&ticket),
        }
    }

    fn take(&mut self, owner: Owner, long: bool) -> Option<Job> {
        let entry = self.entry(owner)?;
        entry.state = State::Taken;
        let order = entry.order.clone();
        let field = match &order.task {
            // In lockstep it would depend on how far workers are.
            Task::Convoy(riders) if order.scene.is_none() => self.shelf.field(&riders.destination),
            _ => None,
        };
        let scene = order.scene.clone().unwrap_or_else(|| self.scene.clone());
        let scratch = self.shelf.scratch();
        Some(Job::new(order, scene, (scratch, field), long))
    }

    /// Keeps the field that a convoy has left, as long as the map stays as it is.
    pub(crate) fn keep(&mut self, destination: Destination, field: Box<Field>) {
        if is_valid(&self.scene, &destination, &field) {
            self.shelf.keep(destination, field, self.most_scratches());
        } else {
            self.give(field.finish());
        }
    }

    /// A worker gives a search back that is not done.
    pub(crate) fn put_aside(&mut self, mut job: Job) {
        let stub = job.stub();
        let is_full = !stub.long && self.long_in_work >= self.room;
        let entry = self.entry(stub.owner).filter(|entry| is_current(entry, stub.ticket));
        let Some(entry) = entry else {
            self.long_in_work -= usize::from(stub.long);
            self.give(job.into_scratch());
            return;
        };
        if is_full {
            entry.state = State::Long;
            let key = entry.key;
            self.long.insert(key);
            self.give(job.into_scratch());
            return;
        }
        self.long_in_work += usize::from(!stub.long);
        job.set_long();
        self.parked.push_back(job);
    }

    /// An answer for one of a convoy is there. Returns whether anybody still wants it.
    pub(crate) fn set_down(&mut self, entity: Entity, ticket: u64) -> bool {
        let wanted = self.riders.get(&entity).is_some_and(|ride| ride.ticket == ticket);
        if wanted {
            self.dismiss(entity);
        }
        wanted
    }

    /// A worker is done with a search. Returns whether anybody still wants the answer.
    pub(crate) fn conclude(&mut self, stub: Stub, scratch: Option<Scratch>) -> bool {
        self.long_in_work -= usize::from(stub.long);
        if let Some(scratch) = scratch {
            self.give(scratch);
        }
        let Owner::Entity(entity) = stub.owner else { return false };
        let wanted = self.entries.get(&entity).is_some_and(|entry| is_current(entry, stub.ticket));
        if wanted {
            self.entries.remove(&entity);
        }
        wanted
    }
}

#[cfg(test)]
impl Waiting {
    /// How many scratches and fields are kept, and the bytes of both.
    pub(crate) fn kept(&self) -> ([usize; 2], usize) {
        self.shelf.count()
    }
}

fn is_current(entry: &Entry, ticket: u64) -> bool {
    entry.order.ticket == ticket && entry.state == State::Taken
}
