//! The measure that landmark distances are taken in: whole units so coarse that a step is at most 127 of them, the same
//! in both directions, and never more than what a path really costs.
//!
//! A step is paid for where it ends, so the way back costs something else. Shifting half of a cell's price from the step
//! into it to the step out of it changes the cost of a path by no more than its two ends and makes straight steps the
//! same both ways; of the two directions of a diagonal the cheaper one counts.

use crate::ground::Ground;
use crate::map::Terrain;

/// The largest step, so that what a step changes fits a signed byte.
const LARGEST: u32 = 127;

/// How many sizes of a unit are compared.
const TRIES: u32 = 96;

/// The class of a cell that cannot be entered.
pub(super) const BLOCKED: u8 = u8::MAX;

/// Terrain sorted into classes of equal price, with the measure of a step between any two.
pub(super) struct Metric {
    /// What a unit stands for, in the unit of step costs.
    pub(super) unit: u32,
    /// The class of each terrain, or [`BLOCKED`].
    pub(super) class_of: [u8; 256],
    /// Per class of the one end: along a row, along a column and diagonally, by the class of the other end.
    steps: Vec<[[u8; 256]; 3]>,
}

impl Metric {
    pub(super) fn new(ground: &Ground) -> Self {
        let mut classes: Vec<([u32; 3], u64)> = Vec::new();
        let mut class_of = [BLOCKED; 256];
        for terrain in (0..=u8::MAX).filter(|terrain| ground.map.count(Terrain(*terrain)) > 0) {
            let Some(prices) = ground.prices_of(terrain) else { continue };
            let known = classes.iter().position(|(other, _)| *other == prices);
            let class = known.unwrap_or(classes.len());
            if known.is_none() {
                classes.push((prices, 0));
            }
            classes[class].1 += u64::from(ground.map.count(Terrain(terrain)));
            // Of 256 terrains one is never entered, so no class is taken for a blocked one.
            class_of[usize::from(terrain)] = u8::try_from(class).unwrap_or(BLOCKED);
        }
        let unit = choose_unit(&classes);
        let axis = ground.shorter_axis();
        let lean = |prices: &[u32; 3]| prices[axis] / 2;
        let mut steps = vec![[[0; 256]; 3]; classes.len()];
        for ((a, _), steps) in classes.iter().zip(&mut steps) {
            for (axis, row) in steps.iter_mut().enumerate() {
                for ((b, _), step) in classes.iter().zip(row) {
                    let there = b[axis] + lean(a) - lean(b);
                    let back = a[axis] + lean(b) - lean(a);
                    *step = u8::try_from(there.min(back) / unit).unwrap_or(u8::MAX);
                }
            }
        }
        Self { unit, class_of, steps }
    }

    /// The measures of steps between a cell of this class and any other.
    #[inline]
    pub(super) fn steps(&self, class: u8) -> &[[u8; 256]; 3] {
        &self.steps[usize::from(class)]
    }
}

/// The unit that loses least to rounding on the ground that is there, of those that keep steps small enough.
fn choose_unit(classes: &[([u32; 3], u64)]) -> u32 {
    let dearest = classes.iter().flat_map(|(prices, _)| *prices).max().unwrap_or(1);
    let least = dearest / (LARGEST + 1) + 1;
    let loss = |unit: &u32| -> u64 {
        let lost = |price: &u32| u64::from(price % unit) * 4096 / u64::from(*price);
        classes.iter().map(|(prices, count)| prices.iter().map(lost).sum::<u64>() * count).sum()
    };
    let stride = least.div_ceil(TRIES) as usize;
    (least..2 * least).step_by(stride).min_by_key(loss).unwrap_or(least)
}
