//! Moves that something else chose, such as a push from a neighbour: as far as walls allow.

use glam::{DVec2, Vec2};

use super::Footing;

/// Moves a body by a displacement that something else chose, as far as walls allow: it stops at them and slides
/// along them.
///
/// It never crosses or ends in a blocked cell, nor passes a corner that the rule forbids, unless it starts on blocked
/// ground, where it moves freely until it is out. A displacement longer than 32 [reaches](crate::Layout::reach), some
/// 16 cells, is cut to that; one that is not finite moves nothing.
pub fn slide(footing: Footing<'_>, from: Vec2, by: Vec2) -> Vec2 {
    if !(from.is_finite() && by.is_finite()) {
        return from;
    }
    let reach = f64::from(footing.layout.reach());
    let by = by.as_dvec2().clamp_length_max(reach * LONGEST);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most twice the longest")]
    let steps = (by.length() / reach * 2.0).ceil().max(1.0) as u32;
    let step = by / f64::from(steps);
    (0..steps).fold(from, |position, _| slide_once(footing, position, step))
}

/// In reaches.
const LONGEST: f64 = 32.0;

/// One step, shorter than a cell.
fn slide_once(footing: Footing<'_>, from: Vec2, by: DVec2) -> Vec2 {
    if !footing.is_free(from) {
        return moved(from, by);
    }
    let (position, part) = push(footing, from, by);
    if part >= 1.0 {
        return position;
    }
    // Walls run along the axes of the grid, so what is left of the displacement goes on along one of them.
    let rest = by * (1.0 - part);
    let (x, y) = footing.layout.axes();
    let (along_x, along_y) = (rest.project_onto(x), rest.project_onto(y));
    let (by_x, by_y) = (push(footing, position, along_x), push(footing, position, along_y));
    if along_x.length() * by_x.1 >= along_y.length() * by_y.1 { by_x.0 } else { by_y.0 }
}

/// Moves straight on as far as the line is clear. Returns the part of the displacement that was.
fn push(footing: Footing<'_>, from: Vec2, by: DVec2) -> (Vec2, f64) {
    let whole = moved(from, by);
    if footing.is_free_line(from, whole) {
        return (whole, 1.0);
    }
    let (mut position, mut part, mut step) = (from, 0.0, 0.5);
    for _ in 0..HALVINGS {
        let farther = moved(from, by * (part + step));
        if footing.is_free_line(from, farther) {
            (position, part) = (farther, part + step);
        }
        step /= 2.0;
    }
    (position, part)
}

/// How close to a wall a body gets: within the step divided by two to this power.
const HALVINGS: u32 = 8;

fn moved(from: Vec2, by: DVec2) -> Vec2 {
    let to = (from.as_dvec2() + by).as_vec2();
    if to.is_finite() { to } else { from }
}
