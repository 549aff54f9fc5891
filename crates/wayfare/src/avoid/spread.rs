//! Who does the work of a step: one thread, or several. The result is the same.

use core::num::NonZeroUsize;

/// Hands out parts of a step to threads. A game implements this with its own task pool.
pub trait Spread {
    /// How many threads there are, so that a step can be cut into parts worth handing out.
    fn threads(&self) -> usize;

    /// Calls `work` once with every part, on any thread and in any order, and returns when all are done.
    fn each<T: Send>(&self, parts: impl Iterator<Item = T>, work: impl Fn(T) + Send + Sync);
}

/// The calling thread does everything.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct OneThread;

impl Spread for OneThread {
    fn threads(&self) -> usize {
        1
    }

    fn each<T: Send>(&self, parts: impl Iterator<Item = T>, work: impl Fn(T) + Send + Sync) {
        parts.for_each(work);
    }
}

/// So many threads, started anew each time: for tests and tools. A game has a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threads(pub NonZeroUsize);

impl Spread for Threads {
    fn threads(&self) -> usize {
        self.0.get()
    }

    fn each<T: Send>(&self, parts: impl Iterator<Item = T>, work: impl Fn(T) + Send + Sync) {
        std::thread::scope(|scope| {
            let work = &work;
            for part in parts {
                scope.spawn(move || work(part));
            }
        });
    }
}
