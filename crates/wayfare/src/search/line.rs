//! Straight lines on the grid: what a leg of any angle costs, and the clear line tried before any search.
//!
//! A line between two centres is followed from edge to edge in whole numbers. The walk is the one Amit Patel
//! describes in "Line drawing on a grid" (Red Blob Games), with the exact passage through a corner kept apart.

use crate::bits::{At, Bits};
use crate::cell::{Cell, Direction};
use crate::cost::Cost;
use crate::ground::Ground;
use crate::query::StraightLine;
use crate::rules::Directions;
use crate::search::estimate::Estimate;
use crate::search::even_line;
use crate::snapshot::Snapshot;

/// What straight lines are looked at on: any ground, and the bits of even ground, where many cells are seen at a glance.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    ground: &'a Ground,
    even: Option<(&'a Bits, [u32; 3])>,
}

impl<'a> Lines<'a> {
    pub(crate) fn on(snapshot: &'a Snapshot) -> Self {
        let ground = &*snapshot.ground;
        Self { ground, even: snapshot.bits.as_deref().zip(ground.even()) }
    }

    /// Whether a step of each kind costs the same everywhere.
    pub(crate) const fn are_even(self) -> bool {
        self.even.is_some()
    }

    /// See [`leg_cost`].
    ///
    /// PERF: by bits, a route is pulled taut with 3.5 × fewer instructions on `MovingAI`'s `cities/NewYork_1_512` (110,000
    /// instead of 387,000), which makes a whole answer along a survey 2.8 × cheaper, and it is the same route.
    pub(crate) fn leg_cost(self, from: Cell, to: Cell) -> Option<Cost> {
        let Some((bits, prices)) = self.even else { return leg_cost(self.ground, from, to) };
        let map = &self.ground.map;
        if !map.contains(from) || !map.contains(to) || !even_line::is_clear(bits, from, to) {
            return None;
        }
        let (nx, ny) = from.gap(to);
        Some(match step_along(self.ground, from, to) {
            Some(axis) => Cost::from(prices[axis]) * Cost::from(nx.max(ny)),
            None => rounded(whole_leg(self.ground, prices, nx, ny)),
        })
    }

    /// Fills `cells` with the legal steps of a clear straight line and returns their cost, if `policy` takes the line. Both ends
    /// must lie on the map.
    pub(crate) fn straight_path(
        self,
        from: Cell,
        to: Cell,
        policy: StraightLine,
        cells: &mut Vec<Cell>,
    ) -> Option<Cost> {
        let directions = self.ground.view.rules.directions;
        if policy == StraightLine::Never
            || (directions == Directions::Eight && is_plainly_blocked(self, from, to))
        {
            return None;
        }
        cells.clear();
        cells.push(from);
        match (self.even, directions) {
            (Some((bits, prices)), Directions::Eight) => {
                if !even_line::is_clear(bits, from, to) {
                    return None;
                }
                even_line::write_steps(bits, from, to, cells)?;
                let cost = cost_of_steps(prices, from.gap(to));
                let is_taken =
                    policy == StraightLine::IfUniform || cost == Estimate::lower_bound(self.ground, from, to);
                is_taken.then_some(cost)
            }
            _ => uneven_path(self.ground, from, to, policy, cells),
        }
    }

    fn is_open(self, cell: Cell) -> bool {
        match self.even {
            Some((bits, _)) => bits.is_free(At::new(cell)),
            None => self.ground.is_open(cell),
        }
    }
}

/// What a line takes that has as many diagonal steps as it can.
fn cost_of_steps([x, y, diagonal]: [u32; 3], (nx, ny): (u32, u32)) -> Cost {
    let both = nx.min(ny);
    let steps = [(nx - both, x), (ny - both, y), (both, diagonal)];
    steps.into_iter().map(|(count, price)| Cost::from(count) * Cost::from(price)).sum()
}

/// The kind of step that a leg consists of, if it leads in a direction of the rule.
fn step_along(ground: &Ground, from: Cell, to: Cell) -> Option<usize> {
    let (nx, ny) = from.gap(to);
    let diagonals = ground.view.rules.directions == Directions::Eight;
    (nx == 0 || ny == 0 || (nx == ny && diagonals)).then(|| {
        let direction = Direction::from_offset((to.x - from.x).signum(), (to.y - from.y).signum());
        direction.map_or(0, Direction::axis)
    })
}

/// The cost of walking straight from `from` to `to`, or `None` if a blocked cell or a forbidden corner is touched.
///
/// Along the directions of the rule it is the sum of the steps. At other angles each part of the leg costs what
/// the whole would cost on the terrain under that part, with one correction: steps charge for what they enter and not
/// for what they leave, so the half column before the first border is charged at the price of the last cell.
/// That makes a leg cut in two at a cell cost what it did whole.
fn leg_cost(ground: &Ground, from: Cell, to: Cell) -> Option<Cost> {
    if !ground.map.contains(from) || !ground.map.contains(to) {
        return None;
    }
    let (nx, ny) = from.gap(to);
    if let Some(axis) = step_along(ground, from, to) {
        let mut cost = 0;
        follow_line(ground, from, to, |_, prices| cost += Cost::from(prices[axis]))?;
        return Some(cost);
    }
    // Where each cell is entered, in units of 1/2nm of the leg, in which every border lies at a whole number.
    let (n, m) = (u64::from(nx.max(ny)), u64::from(nx.min(ny)));
    let mut known = ground.prices(from)?;
    let first = whole_leg(ground, known, nx, ny);
    let (mut at, mut price, mut sum) = (0, first, 0.0);
    follow_line(ground, from, to, |border, prices| {
        sum += price * as_f64(border - at);
        at = border;
        if prices != known {
            (known, price) = (prices, whole_leg(ground, prices, nx, ny));
        }
    })?;
    // The first border lies after m units; they were charged at the price of the first cell.
    sum += price * as_f64(2 * n * m - at) + (price - first) * as_f64(m);
    Some(rounded(sum / as_f64(2 * n * m)))
}

/// The whole number that a cost rounds up to.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, bounded by the map")]
fn rounded(cost: f64) -> Cost {
    // A hair less than computed, so that rounding errors do not push a whole number up to the next.
    (cost - 1e-6).ceil() as Cost
}

/// Whether all that the line enters costs the same.
fn is_even(ground: &Ground, from: Cell, to: Cell) -> bool {
    let (mut first, mut even) = (None, true);
    let clear = follow_line(ground, from, to, |_, prices| even &= prices == *first.get_or_insert(prices));
    clear.is_some() && even
}

/// Calls `enter` with every cell a line enters after its first: where the border lies, in units of 1/2nm of the
/// line, and what a step into the cell costs along a row, along a column and diagonally. `None` as soon as a
/// blocked cell or a forbidden corner is touched. Both ends must lie on the map.
fn follow_line(ground: &Ground, from: Cell, to: Cell, mut enter: impl FnMut(u64, [u32; 3])) -> Option<()> {
    if !ground.is_open(from) {
        return None;
    }
    let corners = ground.view.rules.line_corners();
    let (along, across) = axes(from, to);
    let (nx, ny) = from.gap(to);
    let (n, m) = (u64::from(nx.max(ny)), u64::from(nx.min(ny)));
    let (mut i, mut j, mut cell) = (0, 0, from);
    while i < n || j < m {
        let (border_along, border_across) = ((2 * i + 1) * m, (2 * j + 1) * n);
        let border = border_along.min(border_across);
        let at_corner = border_along == border_across;
        if at_corner && !corners.allow(ground.is_open(cell + along), ground.is_open(cell + across)) {
            return None;
        }
        if border == border_along {
            i += 1;
            cell = cell + along;
        }
        if border == border_across {
            j += 1;
            cell = cell + across;
        }
        enter(border, ground.prices(cell)?);
    }
    Some(())
}

/// What a leg would cost if all of it lay on terrain with these step costs: the straight distance, or that of the
/// steps where the rule makes them shorter (as 1/1 does).
fn whole_leg(ground: &Ground, prices: [u32; 3], nx: u32, ny: u32) -> f64 {
    let [x, y, diagonal] = prices.map(f64::from);
    let (long_x, long_y) = (f64::from(nx) * x, f64::from(ny) * y);
    let walked = match ground.view.rules.directions {
        Directions::Four => long_x + long_y,
        Directions::Eight => long_x + long_y - f64::from(nx.min(ny)) * (x + y - diagonal).max(0.0),
    };
    // Not `hypot`, whose last digit may differ between machines.
    (long_x * long_x + long_y * long_y).sqrt().min(walked)
}

#[expect(clippy::cast_precision_loss, reason = "below 2^29, for sides are below 2^14")]
const fn as_f64(units: u64) -> f64 {
    units as f64
}

/// The single steps along the longer and the shorter extent of a line.
fn axes(from: Cell, to: Cell) -> ((i32, i32), (i32, i32)) {
    let (x, y) = ((to.x - from.x).signum(), (to.y - from.y).signum());
    let (nx, ny) = from.gap(to);
    if nx >= ny { ((x, 0), (0, y)) } else { ((0, y), (x, 0)) }
}

/// Fills `cells` with the legal steps of a clear straight line over uneven ground and returns their cost, if `policy` takes the
/// line.
fn uneven_path(
    ground: &Ground,
    from: Cell,
    to: Cell,
    policy: StraightLine,
    cells: &mut Vec<Cell>,
) -> Option<Cost> {
    let cost = match ground.view.rules.directions {
        Directions::Eight => king_steps(ground, from, to, cells),
        Directions::Four => rook_steps(ground, from, to, cells),
    }?;
    let taken = match policy {
        StraightLine::Never => false,
        StraightLine::IfOptimal => {
            cost == Estimate::lower_bound(ground, from, to) && leg_cost(ground, from, to).is_some()
        }
        StraightLine::IfUniform => is_even(ground, from, to),
    };
    taken.then_some(cost)
}

/// Cells of a line that are looked at before it is followed, in sixteenths of its length: halves first.
const PROBES: [i64; 15] = [8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15];

/// Whether a blocked cell of Bresenham's line is found at once. Walls are wide, so most lines that are not clear are told by a
/// few cells.
///
/// PERF: 11, 7 and 2 % fewer instructions for a whole query along a survey on `MovingAI`'s `sc1/BigGameHunters`,
/// `bg512/AR0700SR` and `rooms/32room_000`.
fn is_plainly_blocked(lines: Lines<'_>, from: Cell, to: Cell) -> bool {
    let (along, across) = axes(from, to);
    let (nx, ny) = from.gap(to);
    let (n, m) = (i64::from(nx.max(ny)), i64::from(nx.min(ny)));
    n >= 16
        && PROBES.iter().any(|part| {
            let i = n * part / 16;
            let (i, moved) = (near(i), near((2 * i * m + n) / (2 * n)));
            !lines.is_open(from + (along.0 * i + across.0 * moved, along.1 * i + across.1 * moved))
        })
}

/// Sides of maps are below 2^14.
#[expect(clippy::cast_possible_truncation, reason = "no farther than the ends of a line on the map")]
const fn near(steps: i64) -> i32 {
    steps as i32
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Map, Terrain};
    use crate::rules::{Corners, Rules};
    use crate::view::View;

    #[test]
    fn bits_tell_the_same_of_a_line_as_its_cells() {
        let (mut seed, mut clear, mut blocked) = (5_u64, 0, 0);
        let mut next = |below: i32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i32::try_from((seed >> 33) % u64::from(below.cast_unsigned())).unwrap()
        };
        for corners in [Corners::BothFree, Corners::OneFree, Corners::Always] {
            let mut map = Map::new(150, 90).unwrap();
            map.edit(map.area().unwrap(), |_, open| if next(60) == 0 { Terrain::WALL } else { open })
                .unwrap();
            let snapshot = Snapshot::new(&map, &View::from(Rules { corners, ..Rules::default() }));
            let by_bits = Lines::on(&snapshot);
            let by_cells = Lines { even: None, ..by_bits };
            for _ in 0..4000 {
                let from = Cell::new(next(150), next(90));
                let to =
                    Cell::new((from.x + next(41) - 20).clamp(0, 149), (from.y + next(41) - 20).clamp(0, 89));
                if !snapshot.is_open(from) || !snapshot.is_open(to) {
                    continue;
                }
                for policy in [StraightLine::IfOptimal, StraightLine::IfUniform, StraightLine::Never] {
                    let [found, expected] = [by_bits, by_cells].map(|lines| {
                        let mut cells = Vec::new();
                        lines.straight_path(from, to, policy, &mut cells).map(|cost| (cost, cells))
                    });
                    assert_eq!(found, expected, "{from} to {to} {corners:?} {policy:?}");
                    *if found.is_some() { &mut clear } else { &mut blocked } += 1;
                }
            }
        }
        assert!(clear > 2000 && blocked > 2000, "{clear} {blocked}");
    }
}
