//! Many units in a disc, each to the far side of its rim: what speed is measured by.

use core::f32::consts::TAU;

use glam::Vec2;

use crate::crowd::drive::{Finish, World};
use crate::crowd::unit::{RADIUS, Unit};
use crate::measure::SplitMix;

/// The part of the disc that bodies cover.
const COVERAGE: f32 = 0.3;

/// Nobody is closer to anybody than this.
const APART: f32 = 2.0 * RADIUS + 0.02;

/// So many units at random places.
pub(crate) fn disc(count: u16, seed: u64) -> World {
    let mut random = SplitMix::new(seed);
    let rim = RADIUS * (f32::from(count) / COVERAGE).sqrt();
    let mut taken = Taken::new(rim);
    let mut units = Vec::with_capacity(count.into());
    while units.len() < usize::from(count) {
        let place = Vec2::from_angle(random.fraction() * TAU) * random.fraction().sqrt() * rim;
        if taken.take(place) {
            let goal = -place.normalize_or(Vec2::X) * rim;
            units.push(Unit::new(units.len() as u64, place, goal));
        }
    }
    World::new(units, None, Finish::Goal)
}

/// Places given out, in squares of which each has room for one.
struct Taken {
    rim: f32,
    side: usize,
    squares: Vec<Option<Vec2>>,
}

/// A square this wide has room for one place only.
const SQUARE: f32 = APART * core::f32::consts::FRAC_1_SQRT_2;

impl Taken {
    fn new(rim: f32) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
        let side = (2.0 * rim / SQUARE).ceil() as usize + 5;
        Self { rim, side, squares: vec![None; side * side] }
    }

    /// Takes a place if it is far enough from all others.
    fn take(&mut self, place: Vec2) -> bool {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside the rim")]
        let square = |value: f32| ((value + self.rim) / SQUARE) as usize + 2;
        let (x, y) = (square(place.x), square(place.y));
        let around = (y - 2..=y + 2).flat_map(|y| (x - 2..=x + 2).map(move |x| (x, y)));
        let mut others = around.filter_map(|(x, y)| self.squares[y * self.side + x]);
        let is_free = others.all(|other| other.distance(place) >= APART);
        if is_free {
            self.squares[y * self.side + x] = Some(place);
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::judge;

    #[test]
    fn nobody_overlaps_and_the_disc_is_covered_as_told() {
        let world = disc(500, 1);
        assert_eq!(world.units.len(), 500);
        assert!(judge::worst_overlap(&world.units) < 0.0);
        let rim = world.units.iter().map(|unit| unit.position.length()).fold(0.0, f32::max);
        let covered = 500.0 * RADIUS * RADIUS / (rim * rim);
        assert!((COVERAGE..COVERAGE * 1.1).contains(&covered), "{covered}");
    }
}
