//! An open list for searches whose F hardly ever falls and never rises by more than a known amount at a time: a ring
//! of buckets, each for a stretch of F (Dial, 1969).
//!
//! Inside a bucket the newest entry leaves first, whatever its F: the search has to put up with that.

/// No more buckets than this: where the dearest step is too many times the cheapest, others search.
const MOST: u32 = 4096;

/// Places waiting to be closed.
#[derive(Default)]
pub(crate) struct Buckets {
    /// A shift that divides F by the width of a bucket.
    shift: u32,
    /// The bucket that is being emptied, counted from F = 0.
    current: u32,
    /// Buckets in use, less one; their number is a power of two.
    mask: u32,
    /// Which buckets of the ring hold something.
    occupied: Vec<u64>,
    ring: Vec<Vec<u32>>,
}

/// How the buckets are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    shift: u32,
    count: u32,
}

impl Cut {
    /// Buckets no wider than `width`, for an F that rises by at most `rise` at once. `None` if there were too many.
    pub(crate) fn new(width: u32, rise: u32) -> Option<Self> {
        let shift = width.max(1).ilog2();
        let count = ((rise >> shift) + 3).next_power_of_two().max(64);
        (count <= MOST).then_some(Self { shift, count })
    }

    /// The same for any rise. What rises by too much waits in a bucket before its own, and has to be pushed again when it
    /// [is early](Buckets::is_early) there.
    pub(crate) fn any(width: u32, rise: u32) -> Self {
        let shift = width.max(1).ilog2();
        let count = (rise >> shift).saturating_add(3).min(MOST).next_power_of_two().max(64);
        Self { shift, count }
    }
}

impl Buckets {
    /// Forgets everything.
    pub(crate) fn begin(&mut self, cut: Cut, f: u32) {
        for (word, bits) in self.occupied.iter_mut().enumerate() {
            while *bits != 0 {
                self.ring[word * 64 + bits.trailing_zeros() as usize].clear();
                *bits &= *bits - 1;
            }
        }
        self.shift = cut.shift;
        self.mask = cut.count - 1;
        self.current = f >> cut.shift;
        if self.ring.len() < cut.count as usize {
            self.ring.resize_with(cut.count as usize, Vec::new);
            self.occupied.resize(cut.count as usize / 64, 0);
        }
    }

    /// Adds an entry. One that belongs before the current bucket goes there.
    #[inline]
    pub(crate) fn push(&mut self, f: u32, place: u32) {
        let bucket = (f >> self.shift).clamp(self.current, self.current + self.mask) & self.mask;
        self.occupied[bucket as usize >> 6] |= 1 << (bucket & 63);
        self.ring[bucket as usize].push(place);
    }

    /// Looks at the entry that [`pop`](Self::pop) takes, if there is one with an F below `end`.
    #[inline]
    pub(crate) fn peek(&mut self, end: u32) -> Option<u32> {
        loop {
            if let Some(place) = self.ring[(self.current & self.mask) as usize].last() {
                return Some(*place);
            }
            self.advance(end)?;
        }
    }

    /// Takes the entry looked at.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.ring[(self.current & self.mask) as usize].pop();
    }

    /// Whether something with this F belongs to a later bucket than the one that is being emptied.
    #[inline]
    pub(crate) fn is_early(&self, f: u32) -> bool {
        f >> self.shift > self.current
    }

    /// Whether it belonged to an earlier one.
    #[inline]
    pub(crate) fn is_late(&self, f: u32) -> bool {
        f >> self.shift < self.current
    }

    /// The bucket that is being emptied. When it changes, all before it are empty for good.
    #[inline]
    pub(crate) fn current(&self) -> u32 {
        self.current
    }

    /// Goes on to the next bucket that holds something, unless everything there has an F of `end` or more.
    fn advance(&mut self, end: u32) -> Option<()> {
        let here = self.current & self.mask;
        self.occupied[here as usize >> 6] &= !(1 << (here & 63));
        let words = (self.mask as usize + 1) / 64;
        let first = here as usize >> 6;
        // The word of this bucket comes first with what lies behind it, and last with what lies before it.
        for step in 0..=words {
            let word = (first + step) % words;
            let keep = match step {
                0 => u64::MAX << (here & 63),
                _ => u64::MAX,
            };
            let bits = self.occupied[word] & keep;
            if bits != 0 {
                let found = u32::try_from(word * 64).unwrap_or(0) + bits.trailing_zeros();
                let next = self.current + (found.wrapping_sub(here) & self.mask);
                if u64::from(next) << self.shift >= u64::from(end) {
                    return None;
                }
                self.current = next;
                return Some(());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_leave_in_order_however_often_the_ring_turns() {
        let mut buckets = Buckets::default();
        for (width, rise) in [(1, 40), (16, 3000), (300, 700_000), (64, 100)] {
            let cut = Cut::new(width, rise).unwrap();
            buckets.begin(cut, 1000);
            let mut f_of = Vec::new();
            let (mut seed, mut last) = (5_u64, 1000);
            for round in 0..20_000_u32 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if seed >> 62 < 2 || round < 50 {
                    let f = last + u32::try_from(seed >> 33).unwrap() % (rise + 1);
                    buckets.push(f, u32::try_from(f_of.len()).unwrap());
                    f_of.push(f);
                } else if let Some(place) = buckets.peek(u32::MAX) {
                    buckets.pop();
                    let f = f_of[place as usize];
                    assert!(f >> cut.shift >= last >> cut.shift, "{f} after {last}");
                    assert_eq!(buckets.current(), f >> cut.shift);
                    last = last.max(f);
                }
            }
        }
    }

    #[test]
    fn nothing_is_left_behind_and_the_end_is_respected() {
        let mut buckets = Buckets::default();
        buckets.begin(Cut::new(10, 5000).unwrap(), 0);
        for place in 0..500 {
            buckets.push(place * 10, place);
        }
        let mut left = Vec::new();
        while let Some(place) = buckets.peek(2048) {
            buckets.pop();
            left.push(place);
        }
        left.sort_unstable();
        assert_eq!(left, (0..205).collect::<Vec<_>>());
        buckets.begin(Cut::new(10, 5000).unwrap(), 0);
        assert_eq!(buckets.peek(u32::MAX), None, "a new search begins empty");
    }

    #[test]
    fn too_wide_a_range_of_prices_is_refused() {
        assert!(Cut::new(1, 4000).is_some());
        assert!(Cut::new(1, 5000).is_none());
        assert!(Cut::new(0, 5000).is_none());
    }
}
