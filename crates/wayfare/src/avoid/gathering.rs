//! Where many want to the same place: whether those who have settled there leave room for more.

use std::collections::HashMap;

use glam::IVec2;

use super::Stance;
use super::mover::Mover;

/// How dense a crowd is that has no room for more, as the part of the disc around its middle that bodies cover.
const DENSE: f32 = 0.3;

/// How wide a square is, in radii of the widest unit: ways that end in the same one end in the same place.
const SQUARE: f32 = 4.0;

/// The ground that those cover who have settled, by the square that they wanted to.
#[derive(Default, Debug)]
pub(super) struct Gathering {
    side: f32,
    covered: HashMap<IVec2, f32>,
}

impl Gathering {
    /// Sums up anew. Movers come in an order that does not depend on memory, because sums of floats do on theirs.
    pub(super) fn count(&mut self, widest: f32, movers: &[Mover]) {
        self.side = SQUARE * widest.max(f32::MIN_POSITIVE);
        self.covered.clear();
        // All may come to settle, and a warm crowd allocates nothing.
        self.covered.reserve(movers.len());
        for mover in movers.iter().filter(|mover| mover.stance == Stance::Idle && mover.end.is_finite()) {
            *self.covered.entry(self.square(mover)).or_default() += mover.radius * mover.radius;
        }
    }

    /// Whether there is room between a unit and its end.
    pub(super) fn has_room(&self, mover: &Mover) -> bool {
        let covered = self.covered.get(&self.square(mover)).copied().unwrap_or_default();
        mover.position.distance_squared(mover.end) * DENSE > covered
    }

    fn square(&self, mover: &Mover) -> IVec2 {
        (mover.end / self.side).floor().as_ivec2()
    }
}
