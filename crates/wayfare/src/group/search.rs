//! One order for many units on its way to an answer: who can get there at all, one field for those who can, a place and a
//! way for each.

use std::sync::Arc;

use glam::Vec2;

use super::formation::middle;
use super::gather::{Goal, Seat, find_goal, same_bodies, start_cell};
use super::slots::{self, Ground, Slot, Slots};
use super::{Formation, GroupAnswer, GroupQuery, GroupWay, Member, Straggler, assign, way};
use crate::cell::Cell;
use crate::follow::{Footing, lay};
use crate::layout::Layout;
use crate::query::RouteShape;
use crate::route::{Answer, Route};
use crate::search::line::Lines;
use crate::search::scratch::Scratch;
use crate::search::{Field, Progress};
use crate::smooth;
use crate::snapshot::Snapshot;

/// A search for a whole group that can be run a little at a time, put aside, moved to another thread, and dropped at any
/// time: see [`group`](super).
#[derive(Debug)]
pub struct GroupSearch {
    layout: Layout,
    query: GroupQuery,
    /// In the order of ids.
    seats: Vec<Seat>,
    aim: Option<Goal>,
    field: Field,
    stage: Stage,
    /// Work other than closing cells, counted in cells closed.
    work: u64,
    way: Vec<Vec2>,
}

#[derive(Debug)]
enum Stage {
    /// The field spreads.
    Spreading,
    /// Places are looked for.
    Placing(Box<Placing>),
    /// Seats from this number on get their ways.
    Routing(Option<Box<Slots>>, usize),
}

#[derive(Debug)]
struct Placing {
    slots: Box<Slots>,
    /// Seats whose place is known, if there is room: the next one last.
    wished: Vec<(usize, Vec2)>,
    /// Seats that take what there is: the next one last.
    rest: Vec<usize>,
}

impl GroupSearch {
    /// A search that has not looked at anything yet. The scratch is lent to it and comes back at the end.
    pub fn new(
        snapshot: Arc<Snapshot>,
        layout: Layout,
        query: GroupQuery,
        members: &[Member],
        scratch: Scratch,
    ) -> Self {
        let mut seats: Vec<Seat> =
            members.iter().enumerate().map(|(number, member)| Seat::new(number, *member)).collect();
        seats.sort_by_key(|seat| {
            let Vec2 { x, y } = seat.member.position;
            (seat.member.id, x.to_bits(), y.to_bits())
        });
        for seat in &mut seats {
            seat.start = start_cell(&snapshot, &layout, seat.member.position, query.escape_cells);
        }
        same_bodies(&mut seats, layout.reach());
        let aim = find_goal(&snapshot, &layout, &query, &mut seats);
        let mut starts: Vec<Cell> = seats.iter().filter_map(|seat| seat.start.ok()).collect();
        starts.extend(aim.map(|aim| aim.from.1));
        // Without a goal there is nothing to spread from, and nobody left to go there.
        let goal = aim.map_or(Cell::new(-1, -1), |aim| aim.cell);
        let field = Field::new(snapshot, goal, &starts, scratch);
        Self { layout, query, seats, aim, field, stage: Stage::Spreading, work: 0, way: Vec::new() }
    }

    /// Does the work of closing up to `max_nodes` cells, about.
    pub fn run(&mut self, max_nodes: u32) -> Progress {
        let Some(aim) = self.aim else { return Progress::Done };
        let end = self.effort().saturating_add(max_nodes.into());
        while self.effort() < end {
            let before = self.effort();
            match &mut self.stage {
                Stage::Spreading => {
                    let left = u32::try_from(end - before).unwrap_or(u32::MAX);
                    if self.field.run(left) == Progress::Done {
                        self.stage = self.begin_placing(aim);
                    }
                }
                Stage::Placing(_) => self.place_next(),
                Stage::Routing(_, next) if *next >= self.seats.len() => return Progress::Done,
                Stage::Routing(..) => self.route_next(aim),
            }
            self.work += 1;
        }
        Progress::Running
    }

    /// How much work has been done, counted in cells closed.
    pub fn effort(&self) -> u64 {
        self.field.effort().closed + self.work
    }

    /// Gives up, and returns the scratch.
    pub fn cancel(self) -> Scratch {
        self.field.finish()
    }

    /// Runs to the end if need be, and returns the answer and the scratch.
    pub fn finish(mut self) -> (GroupAnswer, Scratch) {
        while self.run(u32::MAX) == Progress::Running {}
        let Self { query, seats, aim, field, way, .. } = self;
        let mut ways: Vec<Result<GroupWay, Straggler>> = vec![Err(Straggler::BadPosition); seats.len()];
        for seat in seats {
            // Whoever has a start has been given a way.
            ways[seat.number] = match (seat.way, seat.start) {
                (Some(way), _) => Ok(way),
                (None, Err(straggler)) => Err(straggler),
                (None, Ok(nearest)) => Err(Straggler::Unreachable { nearest }),
            };
        }
        let goal = aim.map_or(query.goal, |aim| aim.place);
        let answer = GroupAnswer { goal, shortfall: aim.and_then(|aim| aim.shortfall), way, ways };
        (answer, field.finish())
    }

    /// Everybody has been reached: now the way of the middle is known, and with it how the group stands at its end.
    fn begin_placing(&mut self, aim: Goal) -> Stage {
        let (snapshot, layout) = (Arc::clone(self.field.snapshot()), self.layout);
        let footing = Footing { snapshot: &snapshot, layout: &layout };
        if let Ok(answer) = self.field.answer(aim.from.1, RouteShape::Pulled)
            && let Some(route) = answer.into_route()
        {
            lay(footing, route.cells(), Some(aim.from.0), Some(aim.place), &mut self.way);
            self.field.recycle(route);
        }
        let on_way: Vec<usize> = (0..self.seats.len()).filter(|i| self.seats[*i].start.is_ok()).collect();
        let largest = on_way.iter().map(|i| self.seats[*i].radius).fold(0.0, f32::max);
        let taken = self.query.taken.iter().map(|(_, radius)| super::sane(*radius));
        let room = taken.fold(largest, f32::max);
        let (look, long) = (slots::spacing(largest) * 2.0, way::length(&self.way));
        let straight = (aim.place - aim.from.0).try_normalize().unwrap_or(Vec2::X);
        let sets_out = way::direction(&self.way, 0.0, look).unwrap_or(straight);
        let arrives = way::direction(&self.way, long - look, long).unwrap_or(straight);
        self.form(&on_way, largest, sets_out);
        let mut ground = Ground { footing, scratch: self.field.scratch_mut() };
        let mut slots = Slots::new(&mut ground, (aim.place, aim.cell), arrives, on_way.len(), room);
        for (place, radius) in self.query.taken.iter().filter(|(place, _)| place.is_finite()) {
            slots.occupy(*place, super::sane(*radius));
        }
        let (formation, mut wished, mut rest) = (self.query.formation, Vec::new(), Vec::new());
        for i in on_way {
            let Seat { offset, member, keeps, .. } = &self.seats[i];
            match (formation, member.place) {
                (Formation::Loose, Some(place)) if *keeps => wished.push((i, place)),
                (Formation::Loose, _) => rest.push(i),
                _ if formation.turns() => wished.push((i, aim.place + arrives.rotate(*offset))),
                _ => wished.push((i, aim.place + *offset)),
            }
        }
        // The last ones come first: places in the middle, and large bodies, for which it is harder to find room.
        let seats = &self.seats;
        wished.sort_by(|a, b| {
            let far = |i: usize| seats[i].offset.length();
            far(b.0).total_cmp(&far(a.0)).then(b.0.cmp(&a.0))
        });
        rest.sort_by(|a, b| seats[*a].radius.total_cmp(&seats[*b].radius).then(b.cmp(a)));
        Stage::Placing(Box::new(Placing { slots: Box::new(slots), wished, rest }))
    }

    /// Gives everybody their place in the formation.
    fn form(&mut self, on_way: &[usize], largest: f32, sets_out: Vec2) {
        let positions: Vec<Vec2> = on_way.iter().map(|i| self.seats[*i].member.position).collect();
        let centre = middle(positions.iter().copied());
        let apart = slots::spacing(largest);
        let mut offsets = Vec::new();
        match self.query.formation {
            Formation::Loose => {}
            Formation::AsTheyStand => {
                let far = positions.iter().map(|position| position.distance(centre)).fold(0.0, f32::max);
                let wide = on_way.iter().fold(0.0, |sum: f32, _| sum + apart * apart).sqrt() * DRAWN_IN;
                let part = if far > wide { wide / far } else { 1.0 };
                for (i, position) in on_way.iter().zip(&positions) {
                    self.seats[*i].offset = (*position - centre) * part;
                }
            }
            formation => {
                formation.ranks(on_way.len(), apart, &mut offsets);
                let turned: Vec<Vec2> = offsets.iter().map(|offset| sets_out.rotate(*offset)).collect();
                let mut chosen = Vec::new();
                assign(&positions, &turned, &mut chosen);
                for (i, place) in on_way.iter().zip(chosen) {
                    self.seats[*i].offset = offsets[place];
                }
            }
        }
    }

    fn place_next(&mut self) {
        let Stage::Placing(placing) = &mut self.stage else { return };
        let snapshot = Arc::clone(self.field.snapshot());
        let footing = Footing { snapshot: &snapshot, layout: &self.layout };
        let mut ground = Ground { footing, scratch: self.field.scratch_mut() };
        let Placing { slots, wished, rest } = placing.as_mut();
        if let Some((i, place)) = wished.pop() {
            let seat = &mut self.seats[i];
            seat.slot = slots.offer(&mut ground, place, seat.radius);
            if seat.slot.is_none() {
                seat.keeps = false;
                rest.insert(0, i);
            }
            return;
        }
        if let Some(i) = rest.pop() {
            let seat = &mut self.seats[i];
            seat.slot = Some(slots.next(&mut ground, seat.radius));
            return;
        }
        if let Stage::Placing(placing) = core::mem::replace(&mut self.stage, Stage::Routing(None, 0)) {
            self.stage = Stage::Routing(Some(placing.slots), 0);
        }
        if self.query.formation == Formation::Loose {
            share_out(&mut self.seats);
        }
    }

    /// Where the field leads, and on from the goal to the place; pulled taut, so that nobody goes to the goal first.
    fn route_next(&mut self, aim: Goal) {
        let Stage::Routing(slots, next) = &mut self.stage else { return };
        let seat = &mut self.seats[*next];
        *next += 1;
        let (Ok(start), Some(slot), Some(slots)) = (seat.start, seat.slot, slots.as_deref()) else { return };
        let Ok(Some(mut route)) = self.field.answer(start, RouteShape::Cells).map(Answer::into_route) else {
            return;
        };
        let snapshot = Arc::clone(self.field.snapshot());
        let footing = Footing { snapshot: &snapshot, layout: &self.layout };
        let ground = Ground { footing, scratch: self.field.scratch_mut() };
        slots.trace(&ground, slot.place, &mut route.cells);
        self.work += (route.cells.len() / CELLS_PER_NODE) as u64;
        smooth::pull(Lines::on(&snapshot), &mut route, 0, ground.scratch);
        let mut points = Vec::new();
        lay(footing, route.cells(), Some(seat.member.position), Some(slot.place), &mut points);
        let offset = if self.query.formation.is_kept() { seat.offset } else { slot.place - aim.place };
        let Route { cost, .. } = route;
        seat.way = Some(GroupWay { points, cost, slot, offset });
        self.field.recycle(route);
    }
}

/// Pulling so many cells taut takes about as long as closing one.
const CELLS_PER_NODE: usize = 4;

/// Units that stand wider apart than so many times what they need are drawn in.
const DRAWN_IN: f32 = 3.0;

/// Hands places out among those of the same size, so that their ways cross little.
fn share_out(seats: &mut [Seat]) {
    let mut radii: Vec<f32> =
        seats.iter().filter(|seat| seat.slot.is_some()).map(|seat| seat.radius).collect();
    radii.sort_by(f32::total_cmp);
    radii.dedup_by(|a, b| a.total_cmp(b).is_eq());
    for radius in radii {
        let is_one =
            |seat: &Seat| seat.slot.is_some() && !seat.keeps && seat.radius.total_cmp(&radius).is_eq();
        let group: Vec<usize> = (0..seats.len()).filter(|i| is_one(&seats[*i])).collect();
        let positions: Vec<Vec2> = group.iter().map(|i| seats[*i].member.position).collect();
        let slots: Vec<Slot> = group.iter().filter_map(|i| seats[*i].slot).collect();
        let places: Vec<Vec2> = slots.iter().map(|slot| slot.place).collect();
        let mut chosen = Vec::new();
        assign(&positions, &places, &mut chosen);
        for (i, place) in group.into_iter().zip(chosen) {
            seats[i].slot = Some(slots[place]);
        }
    }
}
