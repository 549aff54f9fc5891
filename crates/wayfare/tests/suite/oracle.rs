//! The judge: Dijkstra in the plainest words, sharing no code with the engines. Nobody optimises this file.

use std::collections::{BTreeMap, BTreeSet};

use wayfare::prelude::*;

/// Whether a unit may stand there.
pub(crate) fn open(map: &Map, view: &View, cell: Cell) -> bool {
    map.contains(cell) && view.class.factor(map.terrain(cell)).is_some()
}

/// Every legal step out of a cell, with its direction and cost, from the words of the rule.
pub(crate) fn steps(map: &Map, view: &View, from: Cell) -> Vec<(Direction, Cell, u64)> {
    let rules = view.rules;
    let mut found = Vec::new();
    for direction in Direction::ALL {
        let (dx, dy) = direction.offset();
        let to = Cell::new(from.x + dx, from.y + dy);
        if !open(map, view, from) || !open(map, view, to) {
            continue;
        }
        let diagonal = dx != 0 && dy != 0;
        if diagonal {
            let free = [Cell::new(from.x + dx, from.y), Cell::new(from.x, from.y + dy)]
                .iter()
                .filter(|side| open(map, view, **side))
                .count();
            let needed = match rules.corners {
                Corners::BothFree => 2,
                Corners::OneFree => 1,
                Corners::Always => 0,
            };
            if rules.directions == Directions::Four || free < needed {
                continue;
            }
        }
        let step = if diagonal {
            rules.costs.diagonal()
        } else if dx != 0 {
            rules.costs.x()
        } else {
            rules.costs.y()
        };
        let factor = view.class.factor(map.terrain(to)).unwrap().value();
        let cost = (f64::from(step) * f64::from(factor)).round().max(1.0);
        found.push((direction, to, cost as u64));
    }
    found
}

/// The cost of the cheapest path from `start` to every cell that can be reached.
pub(crate) fn distances(map: &Map, view: &View, start: Cell) -> BTreeMap<(i32, i32), u64> {
    let mut settled = BTreeMap::new();
    let mut open_list = BTreeSet::from([(0, start.x, start.y)]);
    while let Some((cost, x, y)) = open_list.pop_first() {
        if settled.contains_key(&(x, y)) {
            continue;
        }
        settled.insert((x, y), cost);
        for (_, to, step) in steps(map, view, Cell::new(x, y)) {
            open_list.insert((cost + step, to.x, to.y));
        }
    }
    settled
}

/// The cost of the cheapest path when every change of direction costs `turn`.
pub(crate) fn cost_with_turns(map: &Map, view: &View, start: Cell, goal: Cell, turn: u64) -> Option<u64> {
    let mut settled = BTreeSet::new();
    // Heading 8: not yet under way.
    let mut open_list = BTreeSet::from([(0, start.x, start.y, 8_u8)]);
    while let Some((cost, x, y, heading)) = open_list.pop_first() {
        if (x, y) == (goal.x, goal.y) {
            return Some(cost);
        }
        if !settled.insert((x, y, heading)) {
            continue;
        }
        for (direction, to, step) in steps(map, view, Cell::new(x, y)) {
            let turned = heading != 8 && direction as u8 != heading;
            let next = cost + step + if turned { turn } else { 0 };
            open_list.insert((next, to.x, to.y, direction as u8));
        }
    }
    None
}

/// The fewest bends of any path that costs at most `limit`, and the least cost of a path with so few.
pub(crate) fn fewest_bends(
    map: &Map,
    view: &View,
    start: Cell,
    goal: Cell,
    limit: u64,
) -> Option<(u32, u64)> {
    let mut settled = BTreeSet::new();
    let mut best: Option<(u32, u64)> = None;
    let mut open_list = BTreeSet::from([(0, start.x, start.y, 8_u8, 0_u32)]);
    while let Some((cost, x, y, heading, bends)) = open_list.pop_first() {
        if cost > limit {
            break;
        }
        if (x, y) == (goal.x, goal.y) && best.is_none_or(|(least, _)| bends < least) {
            best = Some((bends, cost));
        }
        // More bends than the best so far cannot win any more; that is what keeps this finite.
        if best.is_some_and(|(least, _)| bends >= least) || !settled.insert((x, y, heading, bends)) {
            continue;
        }
        for (direction, to, step) in steps(map, view, Cell::new(x, y)) {
            let turned = heading != 8 && direction as u8 != heading;
            open_list.insert((cost + step, to.x, to.y, direction as u8, bends + u32::from(turned)));
        }
    }
    best
}

/// Panics unless the cells are joined by legal single steps; returns their cost and the number of bends.
pub(crate) fn walk(map: &Map, view: &View, cells: &[Cell]) -> (u64, u64) {
    let (mut cost, mut bends, mut heading) = (0, 0, None);
    for pair in cells.windows(2) {
        let legal = steps(map, view, pair[0]);
        let taken = legal.iter().find(|(_, to, _)| *to == pair[1]);
        let (direction, _, step) = taken.unwrap_or_else(|| panic!("illegal step {} to {}", pair[0], pair[1]));
        bends += u64::from(heading.is_some_and(|heading| heading != *direction));
        heading = Some(*direction);
        cost += step;
    }
    (cost, bends)
}
