//! Where a unit gets out of the way of another one, where there is no room for two, and how it gets back.

use core::cmp::Reverse;
use core::iter::once;
use std::collections::{BinaryHeap, HashMap};

use glam::Vec2;

use super::Disc;
use crate::cell::{Cell, Direction};
use crate::cost::Cost;
use crate::follow::{Footing, lay};

/// How many cells are looked at before a unit counts as cornered, or home as too far away.
const MOST_CELLS: usize = 4096;

/// How much more room than touching a bay leaves to the way past it, in parts of both radii.
const SPARE: f32 = 1.05;

/// Finds the nearest place where `unit` is out of the way of `other`, whose way leads through the points of `way`,
/// without passing through `other`. Fills `points` with the way there, from where the unit is, or returns false if there
/// is none among the nearest few thousand cells.
///
/// ```
/// use glam::Vec2;
/// use wayfare::avoid::{Disc, bay};
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     "#########
///      .........
///      .#.######",
/// )?;
/// let snapshot = Snapshot::new(&map, &View::default());
/// let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
/// let disc = |x: f32| Disc { centre: Vec2::new(x, 1.5), radius: 0.4 };
/// let mut points = Vec::new();
/// assert!(bay::find_bay(footing, disc(4.5), disc(5.5), &[Vec2::new(0.5, 1.5)], &mut points));
/// assert_eq!(points.last(), Some(&Vec2::new(2.5, 2.5)));
/// # Ok::<(), MapTextError>(())
/// ```
pub fn find_bay(footing: Footing<'_>, unit: Disc, other: Disc, way: &[Vec2], points: &mut Vec<Vec2>) -> bool {
    points.clear();
    let Some(start) = footing.layout.cell_at(unit.centre).filter(|cell| footing.snapshot.is_open(*cell))
    else {
        return false;
    };
    let room = unit.radius + other.radius;
    let is_taken = |cell: Cell| footing.layout.centre(cell).distance(other.centre) < room;
    // Behind where the other one's way ends it would stand in the way again.
    let farthest = once(&other.centre).chain(way).zip(way).map(|(a, b)| a.distance(*b)).sum::<f32>() - room;
    let is_bay = |cell: Cell| {
        let (gap, along) = to_way(other.centre, way, footing.layout.centre(cell));
        gap > SPARE * room && along <= farthest
    };
    let Some(cells) = nearest(footing, start, is_bay, is_taken) else { return false };
    points.push(unit.centre);
    let way = if cells.len() > 1 { &cells[1..] } else { &cells };
    points.extend(way.iter().map(|cell| footing.layout.centre(*cell)));
    true
}

/// Finds the way of a unit back to where it stood, from where it has been pushed or has let somebody pass. Fills `points`
/// with it, from where the unit is, or returns false if that is not among the nearest few thousand cells, or there is no
/// room for the unit.
///
/// ```
/// use glam::Vec2;
/// use wayfare::avoid::bay;
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     "...
///      .#.",
/// )?;
/// let snapshot = Snapshot::new(&map, &View::default());
/// let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
/// let mut points = Vec::new();
/// assert!(bay::find_way_home(footing, Vec2::new(0.5, 1.5), Vec2::new(2.6, 1.4), &mut points));
/// assert_eq!(points.last(), Some(&Vec2::new(2.6, 1.4)));
/// # Ok::<(), MapTextError>(())
/// ```
pub fn find_way_home(footing: Footing<'_>, from: Vec2, home: Vec2, points: &mut Vec<Vec2>) -> bool {
    points.clear();
    let Some((start, end)) = footing.berth(from).zip(footing.berth(home)) else { return false };
    let Some(cells) = nearest(footing, start, |cell| cell == end, |_| false) else { return false };
    lay(footing, &cells, Some(from), Some(home), points);
    true
}

/// The cells to the nearest one that is wanted, from the first to that one, around those that are taken.
fn nearest(
    footing: Footing<'_>,
    start: Cell,
    is_wanted: impl Fn(Cell) -> bool,
    is_taken: impl Fn(Cell) -> bool,
) -> Option<Vec<Cell>> {
    let mut open = BinaryHeap::from([Reverse((0 as Cost, start.y, start.x))]);
    let mut came_from: HashMap<Cell, (Cost, Cell)> = HashMap::from([(start, (0, start))]);
    while let Some(Reverse((cost, y, x))) = open.pop() {
        let cell = Cell::new(x, y);
        if came_from.get(&cell).is_some_and(|(best, _)| *best < cost) {
            continue;
        }
        if is_wanted(cell) {
            return Some(walk_back(&came_from, start, cell));
        }
        if came_from.len() > MOST_CELLS {
            return None;
        }
        for direction in Direction::ALL {
            let next = cell.step(direction);
            let Some(step) = footing.snapshot.step_cost(cell, direction).filter(|_| !is_taken(next)) else {
                continue;
            };
            let known = came_from.get(&next).map_or(Cost::MAX, |(cost, _)| *cost);
            if cost + step < known {
                came_from.insert(next, (cost + step, cell));
                open.push(Reverse((cost + step, next.y, next.x)));
            }
        }
    }
    None
}

fn walk_back(came_from: &HashMap<Cell, (Cost, Cell)>, start: Cell, end: Cell) -> Vec<Cell> {
    let mut cells = vec![end];
    let mut cell = end;
    while cell != start {
        cell = came_from.get(&cell).map_or(start, |(_, before)| *before);
        cells.push(cell);
    }
    cells.reverse();
    cells
}

/// Whether `other`, whose way leads on through the points of `way`, will not come past `unit` any more: it has, or it
/// goes nowhere.
///
/// One that is stuck itself never passes; whoever waits should not wait forever.
pub fn has_passed(unit: Disc, other: Disc, way: &[Vec2]) -> bool {
    let (_, along) = to_way(other.centre, way, unit.centre);
    let room = SPARE * (unit.radius + other.radius);
    way.is_empty() || (along <= 0.1 * other.radius && unit.centre.distance(other.centre) > room)
}

/// How far a point is from a way, and how far along it the nearest point of it lies.
fn to_way(from: Vec2, way: &[Vec2], point: Vec2) -> (f32, f32) {
    let mut nearest = (point.distance(from), 0.0);
    let mut walked = 0.0;
    for (a, b) in once(&from).chain(way).zip(way) {
        let leg = *b - *a;
        let part = ((point - *a).dot(leg) / leg.length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        let gap = point.distance(*a + leg * part);
        if gap < nearest.0 {
            nearest = (gap, walked + leg.length() * part);
        }
        walked += leg.length();
    }
    nearest
}
