//! The path itself: cells laid out as points, how to get onto them, how much is left, and whether it still holds.

use core::iter::once;

use glam::Vec2;

use super::{Footing, Headway};
use crate::cell::Cell;
use crate::cost::Cost;
use crate::snapshot::Snapshot;

/// Lays the cells of a route into the plane: fills `points` with their centres, beginning with `from` and ending with
/// `to` instead, where these lie in the first and the last cell.
///
/// The centre of the first or last cell stays as a point in between where the line past it is not clear. So every
/// leg is clear if those of the route are, with one exception: `from` may lie where the unit cannot stand beside the first
/// cell, as it does when it has to get out of a wall; then the first leg leads out of it. No point comes twice in
/// a row, and a route of one cell may become a single point.
///
/// ```
/// use glam::Vec2;
/// use wayfare::prelude::*;
///
/// let snapshot = Snapshot::new(&Map::new(9, 9)?, &View::default());
/// let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
/// let cells = [Cell::new(0, 0), Cell::new(4, 4), Cell::new(8, 4)];
/// let mut points = Vec::new();
/// follow::lay(footing, &cells, Some(Vec2::new(0.2, 0.9)), None, &mut points);
/// assert_eq!(points, [Vec2::new(0.2, 0.9), Vec2::new(4.5, 4.5), Vec2::new(8.5, 4.5)]);
/// # Ok::<(), MapError>(())
/// ```
pub fn lay(
    footing: Footing<'_>,
    cells: &[Cell],
    from: Option<Vec2>,
    to: Option<Vec2>,
    points: &mut Vec<Vec2>,
) {
    points.clear();
    let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
        return;
    };
    let lies_in = |point: &Vec2, cell: &Cell| footing.layout.cell_at(*point) == Some(*cell);
    let from = from.filter(|from| from.is_finite() && (lies_in(from, first) || !footing.is_open(*from)));
    let to = to.filter(|to| lies_in(to, last));
    let centre = |i: usize| cells.get(i).map(|cell| footing.layout.centre(*cell));
    let mut push = |point: Vec2| {
        if points.last() != Some(&point) {
            points.push(point);
        }
    };
    let mut previous = from;
    if let Some(from) = from {
        push(from);
    }
    for i in 0..cells.len() {
        let Some(here) = centre(i) else { break };
        // Only the first and the last centre are not where the unit comes from or goes to.
        let is_between = (i == 0 && from.is_some()) || (i + 1 == cells.len() && to.is_some());
        let after = centre(i + 1).or(to);
        let is_passed = match (previous, after) {
            // Whoever has too little room where it is makes for where it has enough first.
            (Some(previous), Some(after)) => footing.is_open(previous) && footing.is_clear(previous, after),
            (None, Some(_)) => cells.len() == 1,
            (_, None) => false,
        };
        if !(is_between && is_passed) {
            push(here);
            previous = Some(here);
        }
    }
    if let Some(to) = to {
        push(to);
    }
}

/// Where a unit at `from` gets onto `points`, for it may have walked on while they were searched for: it makes for
/// the farthest of the first eight that it sees in a clear line, and that it reaches straight at no more cost than
/// over the points between. `None` if it sees none of them.
///
/// On blocked ground nothing is clear; from there a unit makes for the first point.
pub fn join(footing: Footing<'_>, points: &[Vec2], from: Vec2) -> Option<Headway> {
    let first = *points.first()?;
    if from.is_finite() && !footing.is_free(from) {
        return Some(Headway::to(0));
    }
    let mut best = footing.is_clear(from, first).then_some(0);
    let mut cost = footing.leg_cost(from, first);
    for (i, leg) in (1..JOIN).zip(points.windows(2)) {
        let over = cost.zip(footing.leg_cost(leg[0], leg[1])).map(|(a, b)| a + b);
        let straight = footing.leg_cost(from, leg[1]);
        let is_cheaper = match (straight, over) {
            (Some(straight), Some(over)) => straight <= over,
            _ => best.is_none(),
        };
        cost = over;
        if is_cheaper && footing.is_clear(from, leg[1]) {
            best = Some(i);
            cost = straight;
        }
    }
    best.map(Headway::to)
}

/// How many points [`join`] looks at.
const JOIN: usize = 8;

/// Whether what remains of a way, from `from` through all of `points`, got worse since `before`: something on it is
/// blocked or costs more than it did. Pass the points from [`Headway::next`] on.
pub fn is_worse(footing: Footing<'_>, before: &Snapshot, points: &[Vec2], from: Vec2) -> bool {
    let starts = once(&from).chain(points);
    starts.zip(points).any(|(a, b)| {
        let (a, b) = (footing.layout.to_grid(*a), footing.layout.to_grid(*b));
        footing.snapshot.is_worse_along(before, a, b)
    })
}

/// How long the way from `from` along the rest of the points is. Infinite if a point is not finite.
pub fn remaining(points: &[Vec2], headway: Headway, from: Vec2) -> f32 {
    let rest = points.get(headway.next.min(points.len().saturating_sub(1))..).unwrap_or_default();
    let starts = once(&from).chain(rest);
    let length: f64 = starts.zip(rest).map(|(a, b)| a.as_dvec2().distance(b.as_dvec2())).sum();
    #[expect(clippy::cast_possible_truncation, reason = "the digits of a float are enough to tell a length")]
    let length = length as f32;
    if length.is_nan() { f32::INFINITY } else { length }
}

impl Footing<'_> {
    fn leg_cost(&self, from: Vec2, to: Vec2) -> Option<Cost> {
        self.snapshot.leg_cost(self.layout.cell_at(from)?, self.layout.cell_at(to)?)
    }
}
