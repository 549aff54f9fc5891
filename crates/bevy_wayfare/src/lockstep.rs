//! Lockstep: answers that came early are kept until they are due, and those that are late are waited for.

use core::time::Duration;
use std::collections::BTreeMap;

use crate::queue::{Desk, Due, Outcome, Pool, Turn};

/// How long to sleep at a time while a worker has the search.
const NAP: Duration = Duration::from_millis(1);

/// Answers that are not due yet, by ticket.
#[derive(Default, Debug)]
pub(crate) struct Early(BTreeMap<u64, Outcome>);

impl Early {
    /// The answer that is due. Helps to find it if it is not there, and waits for the worker that has it. `None` only
    /// if nobody has.
    pub(crate) fn wait_for(
        &mut self,
        due: &Due,
        desk: &mut Desk,
        pool: &Pool,
        alone: bool,
    ) -> Option<Outcome> {
        loop {
            self.collect(desk, pool);
            if let Some(outcome) = self.0.remove(&due.ticket) {
                return Some(outcome);
            }
            if pool.turn() == Turn::Worked {
                continue;
            }
            // Asked in this order: an answer leaves the queue for the channel, never the other way.
            let is_pending = pool.has(due);
            self.collect(desk, pool);
            if let Some(outcome) = self.0.remove(&due.ticket) {
                return Some(outcome);
            }
            if !is_pending {
                return None;
            }
            if !alone && let Some(outcome) = pool.receive_within(NAP) {
                self.0.insert(outcome.ticket, outcome);
            }
        }
    }

    /// Answers to orders that were made before lockstep was switched on: nothing was promised about them. Forgets
    /// those that came for orders replaced since.
    pub(crate) fn made_before_lockstep(&mut self, desk: &mut Desk, pool: &Pool) -> Vec<Outcome> {
        self.collect(desk, pool);
        let first_due = desk.due.iter().map(|due| due.ticket).min().unwrap_or(desk.last_ticket + 1);
        let not_before = self.0.split_off(&first_due);
        let before = core::mem::replace(&mut self.0, not_before);
        before.into_values().collect()
    }

    /// All of them: lockstep has been switched off.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Outcome> {
        core::mem::take(&mut self.0).into_values()
    }

    fn collect(&mut self, desk: &mut Desk, pool: &Pool) {
        for outcome in desk.ready.drain(..) {
            self.0.insert(outcome.ticket, outcome);
        }
        while let Some(outcome) = pool.receive() {
            self.0.insert(outcome.ticket, outcome);
        }
    }
}
