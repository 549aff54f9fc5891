//! Room for a disc: clear of walls, and of discs that stand there already.

use std::collections::HashMap;

use glam::Vec2;

use crate::cell::Cell;
use crate::follow::Footing;
use crate::layout::CellShape;

/// Discs are kept this much farther apart than touching.
pub(super) const APART: f32 = 1.12;

/// Walls farther than so many cells from the middle of a disc are not looked for.
const FARTHEST: f32 = 12.0;

/// How often a disc is pushed away from the nearest wall, until it is clear or has to go elsewhere.
const PUSHES: u32 = 6;

/// Discs by where they are.
#[derive(Clone, Debug)]
pub(super) struct Occupied {
    /// How large a square is in which they are looked up: no two discs in squares that do not touch can overlap.
    side: f32,
    squares: HashMap<(i32, i32), Vec<(Vec2, f32)>>,
}

impl Occupied {
    /// Room for discs up to this radius.
    pub(super) fn new(largest: f32) -> Self {
        Self { side: (2.0 * APART * largest).max(f32::MIN_POSITIVE), squares: HashMap::new() }
    }

    fn square(&self, at: Vec2) -> (i32, i32) {
        let at = (at / self.side).floor();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a number too large is cut, and only shares a square"
        )]
        let square = (at.x as i32, at.y as i32);
        square
    }

    /// Whether a disc overlaps none.
    pub(super) fn is_free(&self, at: Vec2, radius: f32) -> bool {
        let (x, y) = self.square(at);
        let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        around.filter_map(|(dx, dy)| self.squares.get(&(x.saturating_add(dx), y.saturating_add(dy)))).all(
            |discs| {
                discs
                    .iter()
                    .all(|(other, other_radius)| at.distance(*other) >= APART * (radius + other_radius))
            },
        )
    }

    pub(super) fn add(&mut self, at: Vec2, radius: f32) {
        self.squares.entry(self.square(at)).or_default().push((at, radius));
    }
}

/// Pushes a disc away from walls it overlaps, by no more than `limit` in all. `None` if it stays in one.
pub(super) fn push_clear(footing: Footing<'_>, from: Vec2, radius: f32, limit: f32) -> Option<Vec2> {
    let mut at = from;
    for _ in 0..PUSHES {
        if !footing.is_open(at) {
            return None;
        }
        let Some(push) = deepest_overlap(footing, at, radius) else { return Some(at) };
        at += push * 1.001;
        if at.distance(from) > limit {
            return None;
        }
    }
    (footing.is_open(at) && deepest_overlap(footing, at, radius).is_none()).then_some(at)
}

/// How a disc, whose middle is on open ground, gets out of the wall that it reaches into the deepest.
fn deepest_overlap(footing: Footing<'_>, at: Vec2, radius: f32) -> Option<Vec2> {
    let (x, y) = footing.layout.axes();
    let area = x.perp_dot(y).abs();
    #[expect(clippy::cast_possible_truncation, reason = "lengths in cells")]
    let (wide, high) = ((y.length() / area) as f32 * radius, (x.length() / area) as f32 * radius);
    let margin = if footing.layout.shape() == CellShape::Hexagon { 1.0 } else { 0.0 };
    let reach = Vec2::new(wide + margin, high + margin).min(Vec2::splat(FARTHEST));
    let middle = footing.layout.to_grid(at);
    let (low, top) = ((middle - reach).floor().as_ivec2(), (middle + reach).floor().as_ivec2());
    let cells = (low.y..=top.y).flat_map(|y| (low.x..=top.x).map(move |x| Cell::new(x, y)));
    let mut deepest: Option<(f32, Vec2)> = None;
    for cell in cells.filter(|cell| !footing.snapshot.is_free(*cell)) {
        let nearest = nearest_of(footing, cell, at);
        let away = at - nearest;
        let depth = radius - away.length();
        if depth > radius * 1e-3 && deepest.is_none_or(|(most, _)| depth > most) {
            let direction = away.try_normalize().unwrap_or(Vec2::X);
            deepest = Some((depth, direction * depth));
        }
    }
    deepest.map(|(_, push)| push)
}

/// The point of the border of a cell that is nearest to a point outside of it.
fn nearest_of(footing: Footing<'_>, cell: Cell, at: Vec2) -> Vec2 {
    let corners = footing.layout.corners(cell);
    let mut last = footing.layout.corners(cell).last().unwrap_or(at);
    let mut nearest = last;
    for corner in corners {
        let side = corner - last;
        let part = ((at - last).dot(side) / side.length_squared()).clamp(0.0, 1.0);
        let point = last + side * part;
        if at.distance_squared(point) < at.distance_squared(nearest) {
            nearest = point;
        }
        last = corner;
    }
    nearest
}
