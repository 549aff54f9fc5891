//! Workers on Bevy's task pool: they pull from the queue, run a slice, and give the thread back.
//!
//! The main thread only appends to the post and reads the channel; it never waits for a search, except in lockstep.

use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::tasks::AsyncComputeTaskPool;
use bevy::tasks::futures_lite::future::yield_now;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use wayfare::Scratch;

use crate::convoy::LookUp;
use crate::event::FailureReason;
use crate::queue::Due;
use crate::queue::job::{Advanced, Company, Job, Stub};
use crate::queue::order::{Item, Outcome};
use crate::queue::waiting::Waiting;
use crate::scene::Scene;

/// Even an order answered without a search takes a while: as long as closing so many nodes.
const LEAST_NODES: u32 = 32;

/// Items that may lie in the post while no worker comes for them.
pub(crate) const MOST_POSTED: usize = 1 << 16;

/// Blocks of the post that are read in one go; in the frame, more would take too long.
const BLOCKS_AT_ONCE: usize = 16;

/// Buffers for points that are kept for the next paths.
const SPARE_BUFFERS: usize = 16_384;

/// The queue and its workers.
#[derive(Resource, Clone)]
pub(crate) struct Pool(Arc<Employer>);

/// When the app is gone, nobody wants the answers any more.
struct Employer(Arc<Shared>);

impl Drop for Employer {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Relaxed);
    }
}

impl core::ops::Deref for Pool {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0.0
    }
}

pub(crate) struct Shared {
    closed: AtomicBool,
    post: Mutex<Post>,
    /// Items in the post, for those who must not wait for its lock.
    posted: AtomicUsize,
    waiting: Mutex<Waiting>,
    /// What is in `waiting`.
    outstanding: AtomicUsize,
    in_flight: AtomicUsize,
    buffers: Mutex<Vec<Vec<Vec2>>>,
    sender: Sender<Outcome>,
    receiver: Receiver<Outcome>,
    workers: AtomicUsize,
    max_workers: AtomicUsize,
    slice_nodes: AtomicU32,
    slices: AtomicU64,
    look_up: LookUp,
}

/// What the main thread has to say, in blocks that go to and fro: a flood must not make it copy what it has written, nor
/// ask for fresh memory each time.
#[derive(Default)]
pub(crate) struct Post {
    pub(crate) scene: Option<Scene>,
    blocks: Vec<Vec<Item>>,
    empty: Vec<Vec<Item>>,
    count: usize,
}

/// Items in a block.
const BLOCK: usize = 256;

/// Empty blocks that are kept.
const SPARE_BLOCKS: usize = 64;

impl Post {
    pub(crate) fn push(&mut self, item: Item) {
        self.count += 1;
        match self.blocks.last_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => block.push(item),
            None => {
                let mut block = self.empty.pop().unwrap_or_else(|| Vec::with_capacity(BLOCK));
                block.push(item);
                self.blocks.push(block);
            }
        }
    }
}

/// What a turn at the queue came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// There is more to do, perhaps.
    Worked,
    /// Nothing is left that is not in somebody's hands.
    Idle,
    /// The channel is full: the main thread must read it first.
    Stalled,
}

impl Pool {
    pub(crate) fn new(capacity: usize, look_up: LookUp) -> Self {
        let (sender, receiver) = bounded(capacity.max(1));
        let shared = Shared {
            closed: AtomicBool::new(false),
            post: Mutex::default(),
            posted: AtomicUsize::new(0),
            waiting: Mutex::default(),
            outstanding: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            buffers: Mutex::default(),
            sender,
            receiver,
            workers: AtomicUsize::new(0),
            max_workers: AtomicUsize::new(1),
            slice_nodes: AtomicU32::new(1),
            slices: AtomicU64::new(0),
            look_up,
        };
        Self(Arc::new(Employer(Arc::new(shared))))
    }

    /// Opens the post, to add to it. Workers do not wait for it, so it may be held for a while.
    pub(crate) fn post(&self, write: impl FnOnce(&mut Post)) {
        let mut post = lock(&self.post);
        write(&mut post);
        self.posted.store(post.count, Ordering::Release);
        let overflows = post.count > MOST_POSTED;
        drop(post);
        // Nobody has read it for long: the game keeps the task pool busy. There is one order per entity in the queue, so
        // sorting the post into it keeps the memory bounded.
        if overflows && let Ok(mut waiting) = self.waiting.try_lock() {
            self.open_post(&mut waiting, usize::MAX);
        }
    }

    /// Sets the budgets, and sees to it that somebody works if there is work.
    pub(crate) fn employ(&self, max_workers: usize, slice_nodes: u32) {
        self.set_budgets(max_workers, slice_nodes);
        while self.has_work() && self.hire() {
            let shared = Arc::clone(&self.0.0);
            AsyncComputeTaskPool::get_or_init(default).spawn(work(shared)).detach();
        }
    }

    pub(crate) fn set_budgets(&self, max_workers: usize, slice_nodes: u32) {
        self.max_workers.store(max_workers, Ordering::Relaxed);
        self.slice_nodes.store(slice_nodes.max(2), Ordering::Relaxed);
    }

    /// Works on the calling thread for a slice.
    pub(crate) fn turn(&self) -> Turn {
        Shared::turn(self)
    }

    /// An answer, if there is one.
    pub(crate) fn receive(&self) -> Option<Outcome> {
        self.receiver.try_recv().ok()
    }

    /// An answer; waits for one a little.
    pub(crate) fn receive_within(&self, time: Duration) -> Option<Outcome> {
        self.receiver.recv_timeout(time).ok()
    }

    /// Whether this order is still to be answered: it is in the queue, or its answer found the channel full.
    pub(crate) fn has(&self, due: &Due) -> bool {
        self.posted.load(Ordering::Acquire) > 0 || lock(&self.waiting).has(due)
    }

    /// Orders not answered yet.
    pub(crate) fn queued(&self) -> usize {
        self.outstanding.load(Ordering::Relaxed) + self.posted.load(Ordering::Relaxed)
    }

    /// Searches begun and not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Slices run so far, by anybody.
    #[cfg(test)]
    pub(crate) fn slices(&self) -> u64 {
        self.slices.load(Ordering::Relaxed)
    }

    /// How many scratches and fields are kept for later, and the bytes of both.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> ([usize; 2], usize) {
        lock(&self.waiting).kept()
    }

    /// Tells whether anybody, the app or a worker, still has the queue; does not keep the app's part of it alive.
    #[cfg(test)]
    pub(crate) fn watch(&self) -> std::sync::Weak<Shared> {
        Arc::downgrade(&self.0.0)
    }

    /// Keeps the memory of points nobody needs any more, for workers to use: freeing it costs the main thread more than
    /// handing it over.
    pub(crate) fn recycle(&self, buffers: &mut Vec<Vec<Vec2>>) {
        if !buffers.is_empty() {
            let mut kept = lock(&self.buffers);
            let room = SPARE_BUFFERS.saturating_sub(kept.len()).min(buffers.len());
            kept.extend(buffers.drain(..room));
            drop(kept);
            buffers.clear();
        }
    }
}

impl core::fmt::Debug for Pool {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Pool({} queued, {} in flight)", self.queued(), self.in_flight())
    }
}

/// A worker: slice by slice until there is nothing to do. Between slices the game's own tasks get the thread.
async fn work(shared: Arc<Shared>) {
    loop {
        match shared.turn() {
            Turn::Worked if shared.is_needed() => yield_now().await,
            Turn::Worked => return,
            Turn::Stalled => {
                shared.workers.fetch_sub(1, Ordering::AcqRel);
                return;
            }
            Turn::Idle => {
                shared.workers.fetch_sub(1, Ordering::AcqRel);
                // Something may have come in while the worker was leaving.
                if shared.posted.load(Ordering::Acquire) == 0 || !shared.hire() {
                    return;
                }
            }
        }
    }
}

impl Shared {
    fn has_work(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) > 0 || self.posted.load(Ordering::Acquire) > 0
    }

    /// Whether a worker should go on. If there are more than there may be, it is counted out.
    fn is_needed(&self) -> bool {
        let most = self.max_workers.load(Ordering::Relaxed);
        let less = |workers: usize| (workers > most).then(|| workers - 1);
        !self.closed.load(Ordering::Relaxed)
            && self.workers.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_err()
    }

    /// Counts a worker in, unless there are enough.
    fn hire(&self) -> bool {
        let most = self.max_workers.load(Ordering::Relaxed);
        let more = |workers: usize| (workers < most).then_some(workers + 1);
        self.workers.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Runs searches for about a slice: several short ones, or a part of a long one.
    fn turn(&self) -> Turn {
        let slice = self.slice_nodes.load(Ordering::Relaxed);
        let mut spent = 0_u32;
        while spent < slice / 2 {
            let mut waiting = lock(&self.waiting);
            self.open_post(&mut waiting, BLOCKS_AT_ONCE);
            if !self.send_rest(&mut waiting) {
                return Turn::Stalled;
            }
            let Some(job) = waiting.next() else {
                // Orders may have been read whose run has not been to its end.
                let is_read = self.posted.load(Ordering::Acquire) == 0;
                return if spent == 0 && is_read { Turn::Idle } else { Turn::Worked };
            };
            drop(waiting);
            spent = self.run(job, slice / 2).max(LEAST_NODES).saturating_add(spent);
        }
        self.slices.fetch_add(1, Ordering::Relaxed);
        Turn::Worked
    }

    fn open_post(&self, waiting: &mut Waiting, most: usize) {
        waiting.room = 2 * self.max_workers.load(Ordering::Relaxed).max(1);
        // The main thread may be writing; it will be done by the next turn.
        let mut post = match self.post.try_lock() {
            Ok(post) => post,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if let Some(scene) = post.scene.take() {
            waiting.set_scene(scene);
        }
        let room = SPARE_BLOCKS.saturating_sub(post.empty.len());
        post.empty.extend(waiting.emptied.drain(..).take(room));
        if post.count == 0 {
            return;
        }
        let most = most.min(post.blocks.len());
        let blocks: Vec<Vec<Item>> = post.blocks.drain(..most).collect();
        post.count -= blocks.iter().map(Vec::len).sum::<usize>();
        self.posted.store(post.count, Ordering::Release);
        // The main thread holds the lock for as long as it writes, so an empty post has whole runs only.
        let is_all = post.count == 0;
        // Sorting them in takes a while, in which the main thread can write again.
        drop(post);
        for mut block in blocks {
            for item in block.drain(..) {
                waiting.absorb(item);
            }
            waiting.emptied.push(block);
        }
        if is_all {
            waiting.close_run();
        }
        self.count(waiting);
    }

    fn count(&self, waiting: &Waiting) {
        self.outstanding.store(waiting.len(), Ordering::Release);
        self.in_flight.store(waiting.in_flight(), Ordering::Relaxed);
    }

    /// Sends answers that found the channel full. False if it still is.
    fn send_rest(&self, waiting: &mut Waiting) -> bool {
        while let Some(outcome) = waiting.unsent.pop_front() {
            if let Err(TrySendError::Full(outcome) | TrySendError::Disconnected(outcome)) =
                self.sender.try_send(outcome)
            {
                waiting.unsent.push_front(outcome);
                return false;
            }
            self.count(waiting);
        }
        true
    }

    /// Runs one search for a while. Returns how many nodes that closed.
    fn run(&self, job: Job, nodes: u32) -> u32 {
        let from = Instant::now();
        let (stub, before, company) = (job.stub(), job.nodes(), job.company());
        let buffer = || lock(&self.buffers).pop().unwrap_or_default();
        // A search that panics leaves nothing behind that is used again: it and its scratch are dropped.
        let advanced = catch_unwind(AssertUnwindSafe(|| job.advance(self.look_up, nodes, buffer)));
        let mut waiting = lock(&self.waiting);
        let used = match advanced {
            Ok(Advanced::Running(job)) => {
                let closed = job.nodes();
                waiting.put_aside(job);
                closed - before
            }
            Ok(Advanced::Done(outcome, scratch)) => {
                let closed = outcome.nodes;
                self.conclude(&mut waiting, stub, Some(scratch), [outcome]);
                closed.saturating_sub(before)
            }
            Ok(Advanced::Mustered(outcomes, scratch)) => {
                let closed = outcomes.first().map_or(0, |outcome| outcome.nodes);
                self.conclude(&mut waiting, stub, Some(scratch), outcomes);
                closed.saturating_sub(before)
            }
            Ok(Advanced::Partly(outcomes, job)) => {
                let closed = job.nodes();
                self.set_down(&mut waiting, outcomes);
                waiting.put_aside(job);
                closed - before
            }
            Ok(Advanced::Convoyed(outcomes, closed, scratch, field)) => {
                self.set_down(&mut waiting, outcomes);
                waiting.conclude(stub, Some(scratch));
                if let (Some(Company::Convoy(riders)), Some(field)) = (company, field) {
                    waiting.keep(riders.destination.clone(), field);
                }
                closed.saturating_sub(before)
            }
            Err(_) => {
                let refused = |company| stub.refuse(company, FailureReason::SearchPanicked);
                match &company {
                    Some(convoy @ Company::Convoy(_)) => {
                        self.set_down(&mut waiting, refused(convoy));
                        waiting.conclude(stub, None);
                    }
                    Some(group) => self.conclude(&mut waiting, stub, None, refused(group)),
                    None => self.conclude(&mut waiting, stub, None, [stub.panicked(from.elapsed())]),
                }
                nodes.into()
            }
        };
        self.count(&waiting);
        u32::try_from(used).unwrap_or(u32::MAX)
    }

    /// Sends the answer off, if it is still wanted; a group's answer is one for each of its members.
    fn conclude(
        &self,
        waiting: &mut Waiting,
        stub: Stub,
        scratch: Option<Scratch>,
        outcomes: impl IntoIterator<Item = Outcome>,
    ) {
        let wanted = waiting.conclude(stub, scratch);
        for outcome in outcomes {
            self.send(waiting, outcome, wanted);
        }
    }

    /// Sends answers to those of a convoy who still want theirs.
    fn set_down(&self, waiting: &mut Waiting, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            let wanted = waiting.set_down(outcome.entity, outcome.ticket);
            self.send(waiting, outcome, wanted);
        }
    }

    fn send(&self, waiting: &mut Waiting, outcome: Outcome, wanted: bool) {
        if !wanted {
            if let Ok(planned) = outcome.result {
                lock(&self.buffers).push(planned.points);
            }
        } else if let Err(TrySendError::Full(outcome) | TrySendError::Disconnected(outcome)) =
            self.sender.try_send(outcome)
        {
            waiting.unsent.push_back(outcome);
        }
    }
}

/// A panic while the lock was held is impossible, or its data is whole: every change to it is complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
