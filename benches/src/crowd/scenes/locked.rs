//! One unit whose way leads through those that will not move, on a wide field.

use core::f32::consts::TAU;

use glam::Vec2;
use wayfare::prelude::Map;

use super::{give_up, steps};
use crate::crowd::drive::{Finish, Ground, World};
use crate::crowd::play::{Setup, Watch};
use crate::crowd::unit::{RADIUS, Unit};
use crate::measure::SplitMix;

/// The field, and the way across it with the locked ones in its middle. They may be off it by this much.
const FIELD: (u32, u32) = (50, 40);
const START: Vec2 = Vec2::new(10.5, 20.5);
const WAY: f32 = 30.0;
const OFF: f32 = 0.2;

/// The wall is made of so many, this far apart: too close for anybody to pass between them.
const WALL: u8 = 7;
const WALL_APART: f32 = 0.9;

pub(super) fn one(seed: u64) -> Option<Setup> {
    let setup = across(1, seed)?;
    // Straight on, as if nobody stood there.
    let ideal = steps(WAY);
    Some(Setup { ideal, cap: give_up(ideal, 1.2), watch: Watch::Nothing, ..setup })
}

pub(super) fn wall(seed: u64) -> Option<Setup> {
    across(WALL, seed)
}

/// So many locked ones in a row across the way.
fn across(count: u8, seed: u64) -> Option<Setup> {
    let mut random = SplitMix::new(seed);
    let goal = START + Vec2::X * WAY;
    let middle = START.midpoint(goal) + Vec2::Y * OFF * (2.0 * random.fraction() - 1.0);
    let place = |number: u8| middle + Vec2::Y * WALL_APART * (f32::from(number) - f32::from(count - 1) / 2.0);
    let mut units = vec![Unit::new(0, START, goal)];
    units.extend((0..count).map(|number| Unit::locked(u64::from(number) + 1, place(number))));
    let ends = [place(0), place(count - 1)];
    let around = ends.map(|end| around(START, goal, end, 2.0 * RADIUS));
    let ideal = steps(around[0].min(around[1]));
    let map = Map::new(FIELD.0, FIELD.1).ok()?;
    let world = World::new(units, Some(Ground::new(&map)), Finish::Goal);
    let longer = Vec2::Y * RADIUS;
    let row = [ends[0] - longer, ends[1] + longer];
    Some(Setup { world, ideal, cap: give_up(ideal, 1.5), linger: 0, watch: Watch::Row(row) })
}

/// The length of a string from one point to another, pulled tight around the far side of a disc.
fn around(from: Vec2, to: Vec2, centre: Vec2, radius: f32) -> f32 {
    let (a, b) = (from - centre, to - centre);
    let tangent = |side: Vec2| (side.length_squared() - radius * radius).max(0.0).sqrt();
    let beside = |side: Vec2| (radius / side.length()).min(1.0).acos();
    // The far side: away from the line, seen from the centre, unless the line itself passes there.
    let arc = TAU - a.angle_to(b).abs() - beside(a) - beside(b);
    tangent(a) + tangent(b) + radius * arc.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_around_a_disc_has_the_length_it_has() {
        let (from, to) = (Vec2::new(-10.0, 0.0), Vec2::new(10.0, 0.0));
        let point = around(from, to, Vec2::new(0.0, 3.0), 0.0);
        assert!((point - 2.0 * 109.0_f32.sqrt()).abs() < 1e-3, "{point}");
        let grazed = around(from, to, Vec2::new(0.0, -1.0), 1.0);
        assert!(grazed > 20.0, "{grazed}: around the far side, not past the near one");
        let half = around(from, to, Vec2::ZERO, 1.0);
        let exact = 2.0 * (99.0_f32.sqrt() + core::f32::consts::FRAC_PI_2 - 0.1_f32.acos());
        assert!((half - exact).abs() < 1e-3, "{half}, not {exact}");
    }
}
