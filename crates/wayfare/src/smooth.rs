//! Fewer points on the same way: corners only, or a string pulled taut by line of sight.
//!
//! Comes in: a route cell by cell. Goes out: the same route with fewer cells, its legs straight lines. Pulling is
//! what Marco Pinter's "Toward More Realistic Pathfinding" does after a search, with the cost of each shortcut
//! checked: over uneven ground the straight line may be the dearer one.

use crate::cell::Cell;
use crate::cost::Cost;
use crate::route::{Route, in_line};
use crate::search::line::Lines;
use crate::search::scratch::Scratch;

/// Keeps the first cell, the last, and those where the direction changes.
pub(crate) fn keep_corners(cells: &mut Vec<Cell>) {
    let mut kept = 1;
    for i in 1..cells.len() {
        if i + 1 == cells.len() || !in_line(cells[i - 1], cells[i], cells[i + 1]) {
            cells[kept] = cells[i];
            kept += 1;
        }
    }
    cells.truncate(kept);
}

/// Pulls a route of single steps taut. The result has no more bends and costs no more.
pub(crate) fn pull(lines: Lines<'_>, route: &mut Route, turn_cost: u32, scratch: &mut Scratch) {
    let costs = &mut scratch.costs;
    if !step_costs(lines, &route.cells, costs) {
        return;
    }
    skip_ahead(lines, &mut route.cells, costs);
    while skip_points(lines, &mut route.cells, costs) {}
    let walked: Cost = costs.last().copied().unwrap_or(0);
    route.cost = walked + Cost::from(turn_cost) * route.bends() as Cost;
}

/// Fills `costs` with the cost from the first cell to each. False if a step does not hold on this ground.
fn step_costs(lines: Lines<'_>, cells: &[Cell], costs: &mut Vec<Cost>) -> bool {
    costs.clear();
    costs.push(0);
    let (mut sum, mut at) = (0, 0);
    while at + 1 < cells.len() {
        // Over even ground all steps of a straight part cost the same.
        let mut end = at + 1;
        let step = |to: usize| (cells[to].x - cells[to - 1].x, cells[to].y - cells[to - 1].y);
        while lines.are_even() && end + 1 < cells.len() && step(end + 1) == step(at + 1) {
            end += 1;
        }
        let Some(cost) = lines.leg_cost(cells[at], cells[end]) else { return false };
        let steps = (end - at) as Cost;
        costs.extend((1..=steps).map(|step| sum + cost / steps * step));
        sum += cost;
        at = end;
    }
    true
}

/// From each point leaps to a far one in sight whose straight leg costs no more than the steps between: first in
/// doubling strides, then by halving the last one. What is in sight need not be contiguous, so a leap may fall
/// short of the farthest; it never falls short of the next corner.
fn skip_ahead(lines: Lines<'_>, cells: &mut Vec<Cell>, costs: &mut Vec<Cost>) {
    let last = cells.len() - 1;
    // `spent` is the cost up to `at` as it was, `sum` as it has become.
    let (mut at, mut kept, mut spent, mut sum) = (0, 0, 0, 0);
    while at < last {
        let mut reach = at + 1;
        while reach < last && in_line(cells[at], cells[reach], cells[reach + 1]) {
            reach += 1;
        }
        // Up to the next corner it is the way itself.
        let mut leg = costs[reach] - spent;
        let worth =
            |to: usize| lines.leg_cost(cells[at], cells[to]).filter(|cost| *cost <= costs[to] - spent);
        let mut stride = 1;
        let mut beyond = last + 1;
        while reach < last {
            let to = (reach + stride).min(last);
            match worth(to) {
                Some(cost) => (reach, leg, stride) = (to, cost, stride * 2),
                None => {
                    beyond = to;
                    break;
                }
            }
        }
        while beyond - reach > 1 && beyond <= last {
            let middle = reach.midpoint(beyond);
            match worth(middle) {
                Some(cost) => (reach, leg) = (middle, cost),
                None => beyond = middle,
            }
        }
        // Points before `at` are no longer needed, so the way is rewritten in place.
        spent = costs[reach];
        sum += leg;
        kept += 1;
        cells[kept] = cells[reach];
        costs[kept] = sum;
        at = reach;
    }
    cells.truncate(kept + 1);
    costs.truncate(kept + 1);
}

/// Leaves out points whose neighbours see each other at no more cost. Returns whether any was left out.
fn skip_points(lines: Lines<'_>, cells: &mut Vec<Cell>, costs: &mut Vec<Cost>) -> bool {
    let before = cells.len();
    let mut i = 1;
    while i + 1 < cells.len() {
        let through = costs[i + 1] - costs[i - 1];
        match lines.leg_cost(cells[i - 1], cells[i + 1]).filter(|cost| *cost <= through) {
            Some(direct) => {
                for cost in &mut costs[i + 1..] {
                    *cost -= through - direct;
                }
                cells.remove(i);
                costs.remove(i);
            }
            None => i += 1,
        }
    }
    cells.len() < before
}
