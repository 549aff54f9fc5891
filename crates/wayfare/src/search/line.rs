//! Straight lines on the grid: what a leg of any angle costs, and the clear line tried before any search.
//!
//! A line between two centres is followed from edge to edge in whole numbers. The walk is the one Amit Patel
//! describes in "Line drawing on a grid" (Red Blob Games), with the exact passage through a corner kept apart.

use crate::cell::{Cell, Direction};
use crate::cost::Cost;
use crate::ground::Ground;
use crate::query::StraightLine;
use crate::rules::Directions;
use crate::search::estimate::Estimate;

/// The cost of walking straight from `from` to `to`, or `None` if a blocked cell or a forbidden corner is touched.
///
/// Along rows, columns and diagonals it is the sum of the steps. At other angles it is the length, each part times
/// the factor of the cell it lies in, with one correction: steps charge for what they enter and not for what they
/// leave, so the half column before the first border is charged at the price of the last cell. That makes a
/// leg cut in two at a cell cost what it did whole, and a leg of one step cost what the step does. Length is the
/// straight distance, or that of the steps where the rule makes them shorter (as 1/1 does).
pub(crate) fn leg_cost(ground: &Ground, from: Cell, to: Cell) -> Option<Cost> {
    if !ground.is_open(from) || !ground.map.contains(to) {
        return None;
    }
    let (nx, ny) = from.gap(to);
    if nx == 0 || ny == 0 || nx == ny {
        return octile_leg_cost(ground, from, to);
    }
    let (along, across) = axes(from, to);
    let (n, m) = (u64::from(nx.max(ny)), u64::from(nx.min(ny)));
    let (mut i, mut j) = (0, 0);
    let mut cell = from;
    let first = ground.factor_units(from)?;
    // The way so far in units of 1/2nm of the leg, in which every border is crossed at a whole number.
    let (mut at, mut factor, mut sum) = (0, first, 0);
    while i < n || j < m {
        let (edge_along, edge_across) = ((2 * i + 1) * m, (2 * j + 1) * n);
        let edge = edge_along.min(edge_across);
        sum += factor * (edge - at);
        at = edge;
        if edge_along == edge_across
            && !ground.view.rules.corners.allow(ground.is_open(cell + along), ground.is_open(cell + across))
        {
            return None;
        }
        if edge == edge_along {
            i += 1;
            cell = cell + along;
        }
        if edge == edge_across {
            j += 1;
            cell = cell + across;
        }
        factor = ground.factor_units(cell)?;
    }
    sum += factor * (2 * n * m - at);
    // The first border is crossed after m units, all of them charged at the price of the first cell.
    let sum = sum - first * m + factor * m;
    #[expect(
        clippy::cast_precision_loss,
        reason = "below 2^46, for factors are below 2^16 and sides below 2^14"
    )]
    let mean_factor = sum as f64 / (256 * 2 * n * m) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, bounded by the map"
    )]
    Some((free_length(ground, nx, ny) * mean_factor).ceil() as Cost)
}

/// The sum of the steps of a leg along a row, a column or a diagonal.
fn octile_leg_cost(ground: &Ground, from: Cell, to: Cell) -> Option<Cost> {
    let offset = ((to.x - from.x).signum(), (to.y - from.y).signum());
    let mut cell = from;
    let mut cost = 0;
    while cell != to {
        let direction = Direction::from_offset(offset.0, offset.1)?;
        if direction.is_diagonal() && !ground.corner_allows(cell, direction) {
            return None;
        }
        cell = cell.step(direction);
        cost += Cost::from(ground.enter_cost(cell, direction)?);
    }
    Some(cost)
}

/// The length of a straight leg over ordinary ground.
fn free_length(ground: &Ground, nx: u32, ny: u32) -> f64 {
    let steps = ground.view.rules.costs;
    let (x, y) = (f64::from(nx) * f64::from(steps.x()), f64::from(ny) * f64::from(steps.y()));
    let both = f64::from(nx.min(ny));
    let saved = f64::from(steps.x()) + f64::from(steps.y()) - f64::from(steps.diagonal());
    let walked = match ground.view.rules.directions {
        Directions::Four => x + y,
        Directions::Eight => x + y - both * saved,
    };
    x.hypot(y).min(walked)
}

/// The single steps along the longer and the shorter extent of a line.
fn axes(from: Cell, to: Cell) -> ((i32, i32), (i32, i32)) {
    let (x, y) = ((to.x - from.x).signum(), (to.y - from.y).signum());
    let (nx, ny) = from.gap(to);
    if nx >= ny { ((x, 0), (0, y)) } else { ((0, y), (x, 0)) }
}

/// Fills `cells` with the legal steps of a clear straight line and returns their cost, if `policy` takes the line.
pub(crate) fn straight_path(
    ground: &Ground,
    from: Cell,
    to: Cell,
    policy: StraightLine,
    cells: &mut Vec<Cell>,
) -> Option<Cost> {
    if policy == StraightLine::Never {
        return None;
    }
    cells.clear();
    cells.push(from);
    let cost = match ground.view.rules.directions {
        Directions::Eight => king_steps(ground, from, to, cells),
        Directions::Four => rook_steps(ground, from, to, cells),
    }?;
    let taken = match policy {
        StraightLine::Never => false,
        StraightLine::IfOptimal => cost == Estimate::lower_bound(ground, from, to),
        StraightLine::IfUniform => {
            let mut factors = cells[1..].iter().map(|cell| ground.factor_units(*cell));
            factors.next().is_none_or(|first| factors.all(|factor| factor == first))
        }
    };
    (taken && leg_cost(ground, from, to).is_some()).then_some(cost)
}

/// Bresenham's line: one step per column (or row, if steep), diagonal where the line has moved on.
fn king_steps(ground: &Ground, from: Cell, to: Cell, cells: &mut Vec<Cell>) -> Option<Cost> {
    let (along, across) = axes(from, to);
    let (nx, ny) = from.gap(to);
    let (n, m) = (u64::from(nx.max(ny)), u64::from(nx.min(ny)));
    let mut cell = from;
    let (mut cost, mut moved) = (0, 0);
    for i in 1..=n {
        let due = (2 * i * m + n) / (2 * n);
        let next = if due > moved { cell + along + across } else { cell + along };
        moved = due;
        cost += Cost::from(ground.step_cost(cell, cell.direction_to(next)?)?);
        cell = next;
        cells.push(cell);
    }
    Some(cost)
}

/// The cells a line crosses, edge by edge; where it passes through a corner, around whichever side is free.
fn rook_steps(ground: &Ground, from: Cell, to: Cell, cells: &mut Vec<Cell>) -> Option<Cost> {
    let (along, across) = axes(from, to);
    let (nx, ny) = from.gap(to);
    let (n, m) = (u64::from(nx.max(ny)), u64::from(nx.min(ny)));
    let mut cell = from;
    let (mut cost, mut i, mut j) = (0, 0, 0);
    while i < n || j < m {
        let (edge_along, edge_across) = ((2 * i + 1) * m, (2 * j + 1) * n);
        let at_corner = edge_along == edge_across;
        let goes_along = edge_along < edge_across || (at_corner && ground.is_open(cell + along));
        let next = if goes_along { cell + along } else { cell + across };
        if goes_along {
            i += 1;
        } else {
            j += 1;
        }
        cost += Cost::from(ground.step_cost(cell, cell.direction_to(next)?)?);
        cell = next;
        cells.push(cell);
    }
    Some(cost)
}
