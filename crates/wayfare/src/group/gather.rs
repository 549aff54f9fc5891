//! Who can get to the goal at all, from which cell, and where the goal really is.

use glam::Vec2;

use super::formation::middle;
use super::{GroupQuery, GroupWay, Member, Slot, Straggler, slots};
use crate::cell::Cell;
use crate::follow::Footing;
use crate::island::Island;
use crate::layout::Layout;
use crate::query::Fallback;
use crate::route::{QueryError, Shortfall};
use crate::snapshot::Snapshot;

/// One member on its way to an answer.
#[derive(Debug)]
pub(super) struct Seat {
    /// Which one of those given it is.
    pub(super) number: usize,
    pub(super) member: Member,
    /// The cell its way begins in.
    pub(super) start: Result<Cell, Straggler>,
    /// What its body counts as.
    pub(super) radius: f32,
    pub(super) offset: Vec2,
    pub(super) slot: Option<Slot>,
    /// It keeps the place it had.
    pub(super) keeps: bool,
    pub(super) way: Option<GroupWay>,
}

/// Where the group really goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) place: Vec2,
    pub(super) cell: Cell,
    pub(super) shortfall: Option<Shortfall>,
    /// Where the way of the group's middle begins.
    pub(super) from: (Vec2, Cell),
}

impl Seat {
    pub(super) fn new(number: usize, member: Member) -> Self {
        let keeps = member.place.is_some_and(Vec2::is_finite);
        Self {
            number,
            member,
            start: Err(Straggler::BadPosition),
            radius: 0.0,
            offset: Vec2::ZERO,
            slot: None,
            keeps,
            way: None,
        }
    }
}

/// The cell a way begins in: that of the unit or, out of a blocked one, the nearest that is free.
pub(super) fn start_cell(
    snapshot: &Snapshot,
    layout: &Layout,
    at: Vec2,
    escape_cells: u32,
) -> Result<Cell, Straggler> {
    if !at.is_finite() {
        return Err(Straggler::BadPosition);
    }
    // Too far away to be named is outside, too.
    let cell =
        layout.cell_at(at).ok_or(Straggler::Lost(QueryError::StartOutside(Cell::new(i32::MIN, i32::MIN))))?;
    if !snapshot.map().contains(cell) {
        return Err(Straggler::Lost(QueryError::StartOutside(cell)));
    }
    let open = Footing { snapshot, layout }.entry(at, escape_cells);
    open.ok_or(Straggler::Lost(QueryError::StartBlocked(cell)))
}

/// Bodies of about the same size count as equal: as large as the largest of them.
pub(super) fn same_bodies(seats: &mut [Seat], reach: f32) {
    let mut classes: Vec<(f32, f32)> = Vec::new();
    for seat in &*seats {
        let radius = super::sane(seat.member.radius).max(slots::least_body(reach));
        let class = slots::body(radius, reach);
        match classes.iter_mut().find(|(known, _)| known.total_cmp(&class).is_eq()) {
            Some((_, largest)) => *largest = largest.max(radius),
            None => classes.push((class, radius)),
        }
    }
    for seat in seats {
        let class = slots::body(seat.member.radius, reach);
        let known = classes.iter().find(|(known, _)| known.total_cmp(&class).is_eq());
        seat.radius = known.map_or(class, |(_, largest)| *largest);
    }
}

/// Where the group goes. Whoever cannot get there is told so.
pub(super) fn find_goal(
    snapshot: &Snapshot,
    layout: &Layout,
    query: &GroupQuery,
    seats: &mut [Seat],
) -> Option<Goal> {
    let lose_all = |seats: &mut [Seat], why: Straggler| {
        seats.iter_mut().filter(|seat| seat.start.is_ok()).for_each(|seat| seat.start = Err(why));
    };
    if !query.goal.is_finite() {
        lose_all(seats, Straggler::BadGoal);
        return None;
    }
    let asked = layout.cell_at(query.goal).filter(|cell| snapshot.map().contains(*cell));
    let Some(asked) = asked else {
        let cell = layout.cell_at(query.goal).unwrap_or(Cell::new(i32::MIN, i32::MIN));
        lose_all(seats, Straggler::Lost(QueryError::GoalOutside(cell)));
        return None;
    };
    // Close to a wall the large have too little room.
    let asked = Footing { snapshot, layout }.berth(query.goal).unwrap_or(asked);
    let reaches = |seat: &Seat, goal: Cell| seat.start.is_ok_and(|start| snapshot.reachable(start, goal));
    let (cell, shortfall) = match query.fallback {
        Fallback::Nearest if !seats.iter().any(|seat| reaches(seat, asked)) => {
            let most = most_common_start(snapshot, seats)?;
            (snapshot.nearest_reachable(most, asked)?, Some(Shortfall::Unreachable))
        }
        _ => (asked, None),
    };
    for seat in seats.iter_mut() {
        if let Ok(start) = seat.start
            && !snapshot.reachable(start, cell)
        {
            let nearest = snapshot.nearest_reachable(start, asked).unwrap_or(start);
            seat.start = Err(Straggler::Unreachable { nearest });
        }
    }
    let place = if layout.cell_at(query.goal) == Some(cell) { query.goal } else { layout.centre(cell) };
    let on_way = || seats.iter().filter(|seat| seat.start.is_ok());
    let centre = middle(on_way().map(|seat| seat.member.position));
    let distance = |seat: &&Seat| seat.member.position.distance(centre);
    let first = on_way().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let own = layout.cell_at(centre).filter(|at| snapshot.reachable(*at, cell));
    let from = match (own, first.start) {
        (Some(own), _) => (centre, own),
        (None, Ok(start)) => (first.member.position, start),
        (None, Err(_)) => return None,
    };
    Some(Goal { place, cell, shortfall, from })
}

/// The start of the first unit on the island where most of them are.
fn most_common_start(snapshot: &Snapshot, seats: &[Seat]) -> Option<Cell> {
    let mut islands: Vec<(Island, Cell, usize)> = Vec::new();
    for start in seats.iter().filter_map(|seat| seat.start.ok()) {
        let island = snapshot.island(start)?;
        match islands.iter_mut().find(|(known, ..)| *known == island) {
            Some((.., count)) => *count += 1,
            None => islands.push((island, start, 1)),
        }
    }
    let most = islands.iter().map(|(.., count)| *count).max()?;
    islands.iter().find(|(.., count)| *count == most).map(|(_, start, _)| *start)
}
