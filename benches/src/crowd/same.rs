//! Determinism: the same scene again, on more threads, and in another order in memory must end in the same state, bit by
//! bit.

use core::num::NonZeroUsize;

use wayfare::avoid::{OneThread, Spread, Threads};

use super::drive::World;
use super::figures::Row;
use super::judge;
use super::scenes::medley;
use crate::measure::SplitMix;

/// How long each is run, in steps.
const STEPS: u32 = if cfg!(test) { 20 } else { 600 };

const FOUR: Threads = Threads(NonZeroUsize::new(4).expect("not 0"));

/// A row for each way in which two runs may differ.
pub(crate) fn rows(seeds: u64) -> Vec<Row> {
    let mut again = Vec::new();
    let mut threads = Vec::new();
    let mut order = Vec::new();
    for seed in 1..=seeds {
        let first = end(medley(seed), &OneThread, None);
        again.push((first, end(medley(seed), &OneThread, None)));
        threads.push((first, end(medley(seed), &FOUR, None)));
        order.push((first, end(medley(seed), &OneThread, Some(SplitMix::new(seed)))));
    }
    vec![
        row("determinism_twice", &again),
        row("determinism_threads", &threads),
        row("determinism_order", &order),
    ]
}

/// The hash of how it ends. With a random number, units change places in memory before every step.
fn end(mut world: World, spread: &impl Spread, mut random: Option<SplitMix>) -> u64 {
    for _ in 0..STEPS {
        if let Some(random) = &mut random {
            world.shuffle(random);
        }
        world.step(spread);
    }
    judge::hash(&world.units)
}

fn row(scene: &'static str, pairs: &[(u64, u64)]) -> Row {
    let holds = pairs.iter().all(|(a, b)| a == b);
    let (a, b) = pairs.iter().find(|(a, b)| a != b).or(pairs.first()).copied().unwrap_or_default();
    let note = if holds { format!("{a:016x}") } else { format!("{a:016x} is not {b:016x}") };
    Row::verdict(scene, holds, note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_that_differ_are_a_miss() {
        assert_eq!(row("x", &[(1, 1), (2, 2)]).pass, Some(true));
        assert_eq!(row("x", &[(1, 1), (2, 3)]).pass, Some(false));
        assert_ne!(end(medley(1), &OneThread, None), end(medley(2), &OneThread, None), "seeds differ");
    }
}
