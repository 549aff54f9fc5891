//! Long work in short steps: a function that [pauses](pause) now and then, and whoever runs it goes on from there, now or later.
//!
//! Written as one flow from beginning to end, with a pause wherever it has worked for some ten microseconds. The compiler
//! makes the rest of it: a future that nobody wakes, for it never waits for anything.

use core::ops::Range;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

/// Work that is put aside between steps.
pub(crate) type Work<T> = Pin<Box<dyn Future<Output = T> + Send + Sync>>;

/// What is cheap to look at is looked at so often before a pause.
pub(crate) const AT_ONCE: usize = 4096;

/// Whoever comes here goes on with the next step.
pub(crate) struct Pause {
    is_over: bool,
}

/// Ends a step.
pub(crate) const fn pause() -> Pause {
    Pause { is_over: false }
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if core::mem::replace(&mut self.is_over, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Works to the next pause. Returns what comes out if that was the last step; not to be called after it.
pub(crate) fn step<T>(work: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match work.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

/// Works without a pause.
pub(crate) fn finish<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Some(done) = step(work.as_mut()) {
            return done;
        }
    }
}

/// So many things, a few at a time.
pub(crate) fn parts(count: usize, at_once: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    (0..count).step_by(at_once).map(move |begin| begin..count.min(begin + at_once))
}

/// How many lines of so many words are looked at before a pause.
pub(crate) fn lines_at_once(words: usize) -> usize {
    (AT_ONCE / words.max(1)).max(1)
}

/// So many of one value. To write them takes a while where they are many.
pub(crate) async fn filled<T: Copy>(value: T, count: usize) -> Vec<T> {
    let mut list = Vec::with_capacity(count);
    for part in parts(count, 8 * AT_ONCE) {
        list.resize(part.end, value);
        pause().await;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_goes_on_where_it_paused() {
        let sum = async |count: u32| {
            let mut sum = 0;
            for number in 0..count {
                sum += number;
                pause().await;
            }
            sum
        };
        let mut work = pin!(sum(5));
        assert_eq!([(); 6].map(|()| step(work.as_mut())), [None, None, None, None, None, Some(10)]);
        assert_eq!(finish(sum(100)), 4950);
        assert_eq!(finish(filled(7, 100_000)), vec![7; 100_000]);
        assert!(parts(10, 4).eq([0..4, 4..8, 8..10]) && parts(0, 4).next().is_none());
    }
}
