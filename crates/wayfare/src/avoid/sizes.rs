//! How large units are: whether radii differ, and whether a few are so much larger than the rest that the grid should not
//! be made for them.

/// How many units may count as giants.
const GIANTS: usize = 8;

/// How many times as wide as the widest of all others a giant is, at least.
const GIGANTIC: f32 = 2.0;

/// The radii of a crowd, summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    smallest: f32,
    /// The largest few, in descending order, as often as they come.
    largest: [f32; GIANTS + 1],
    /// How many of those are giants.
    giants: usize,
}

impl Sizes {
    /// Looks at all radii, none of them negative.
    pub(super) fn new(radii: impl Iterator<Item = f32>) -> Self {
        let (mut smallest, mut largest) = (f32::INFINITY, [0.0; GIANTS + 1]);
        for radius in radii {
            smallest = smallest.min(radius);
            if radius > largest[GIANTS] {
                let place = largest.partition_point(|larger| *larger >= radius);
                largest[place..].rotate_right(1);
                largest[place] = radius;
            }
        }
        let is_gap = |count: &usize| {
            let (giant, rest) = (largest[*count - 1], largest[*count]);
            rest > 0.0 && giant >= GIGANTIC * rest
        };
        let giants = (1..=GIANTS).rev().find(is_gap).unwrap_or(0);
        Self { smallest, largest, giants }
    }

    /// The largest radius of all who are no giants.
    pub(super) fn widest(&self) -> f32 {
        self.largest[self.giants]
    }

    /// Whether any two radii are not the same.
    pub(super) fn differ(&self) -> bool {
        self.smallest < self.largest[0]
    }
}
