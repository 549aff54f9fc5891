//! The open list of nodes: the least F first, of equals the newest.
//!
//! A search whose F never falls keeps its nodes in a [`RadixHeap`]; any other in a binary heap of packed entries.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cost::Cost;
use crate::search::radix::RadixHeap;

/// Nodes waiting to be closed.
#[derive(Default)]
pub(crate) struct Open {
    f_may_fall: bool,
    radix: RadixHeap,
    /// F, then age, then node in one number, so that comparing two entries compares all of it at once.
    binary: BinaryHeap<Reverse<u128>>,
    /// Counts down, so that of two entries with the same F the newer one is the smaller.
    next_order: u32,
    /// Kept for [`renew`](Self::renew).
    renewed: Vec<u32>,
}

impl Open {
    /// Forgets everything. Says whether a node may be pushed with a lower F than one that was popped.
    pub(crate) fn begin(&mut self, f_may_fall: bool) {
        self.f_may_fall = f_may_fall;
        self.radix.clear();
        self.binary.clear();
        self.next_order = u32::MAX;
    }

    #[inline]
    pub(crate) fn push(&mut self, f: Cost, node: u32) {
        if self.f_may_fall {
            let entry = u128::from(f) << 64 | u128::from(self.next_order) << 32 | u128::from(node);
            self.binary.push(Reverse(entry));
            // After four thousand million entries ties go to the lower node; still the same on every run.
            self.next_order = self.next_order.saturating_sub(1);
        } else {
            self.radix.push(f, node);
        }
    }

    /// Gives every entry a new F, or none and it is dropped. It must not be lower than what was popped last, and the order of
    /// entries that are equal then is the same on every run.
    pub(crate) fn renew(&mut self, f: impl Fn(u32) -> Option<Cost>) {
        let mut nodes = core::mem::take(&mut self.renewed);
        if self.f_may_fall {
            nodes.extend(self.binary.drain().map(|Reverse(entry)| low_half(entry)));
        } else {
            self.radix.drain(|node| nodes.push(node));
        }
        for node in nodes.drain(..) {
            if let Some(f) = f(node) {
                self.push(f, node);
            }
        }
        self.renewed = nodes;
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.radix.bytes()
            + self.binary.capacity() * size_of::<u128>()
            + self.renewed.capacity() * size_of::<u32>()
    }

    /// No node that waits has a lower F; `None` if none waits.
    pub(crate) fn least(&self) -> Option<Cost> {
        if self.f_may_fall {
            self.binary.peek().map(|Reverse(entry)| Cost::try_from(entry >> 64).unwrap_or(Cost::MAX))
        } else {
            self.radix.least()
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u32> {
        if self.f_may_fall {
            self.binary.pop().map(|Reverse(entry)| low_half(entry))
        } else {
            self.radix.pop()
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the node is in the low 32 bits")]
const fn low_half(entry: u128) -> u32 {
    entry as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_heaps_keep_the_same_order() {
        let (mut rising, mut any) = (Open::default(), Open::default());
        rising.begin(false);
        any.begin(true);
        let mut f_of = Vec::new();
        let (mut seed, mut last) = (3_u64, 0);
        for round in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if seed >> 62 < 2 || round < 50 {
                let f = last + (seed >> 40) % [2, 50, 3000][round % 3];
                let node = u32::try_from(f_of.len()).unwrap();
                rising.push(f, node);
                any.push(f, node);
                f_of.push(f);
            } else {
                let node = rising.pop();
                assert_eq!(node, any.pop());
                last = node.map_or(last, |node| f_of[node as usize]);
            }
        }
    }

    #[test]
    fn a_falling_f_comes_out_first() {
        let mut open = Open::default();
        open.begin(true);
        open.push(10, 1);
        open.push(20, 2);
        assert_eq!(open.pop(), Some(1));
        open.push(5, 3);
        open.push(20, 4);
        assert_eq!([open.pop(), open.pop(), open.pop(), open.pop()], [Some(3), Some(4), Some(2), None]);
    }
}
