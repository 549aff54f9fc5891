//! The step itself: sort, steer, part, and judge how everybody gets on.

use core::cmp::Reverse;

use glam::Vec2;

use super::contact::{PASSES, part};
use super::ladder::{Block, climb};
use super::mover::{Mover, longest_step, sane};
use super::near::{Grid, List, MOST, Places};
use super::sizes::Sizes;
use super::steer::{Choice, HORIZON, make_way, walk};
use super::wall::Walls;
use super::{Advice, Body, Outcome, Rung, Spread, Stance};
use crate::follow::Footing;

/// The rules of the crowd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrowdSettings {
    /// On which side units pass each other that meet head-on.
    pub side: RoadSide,
    /// How many cells away a free one may be for a unit in a wall to walk out to it.
    pub escape_cells: u32,
}

/// On the right; 16 cells.
impl Default for CrowdSettings {
    fn default() -> Self {
        Self { side: RoadSide::Right, escape_cells: 16 }
    }
}

/// On which side of the road units keep, where x leads right and y leads up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum RoadSide {
    /// On the right.
    #[default]
    Right,
    /// On the left.
    Left,
    /// On either: each pair passes as it happens to meet.
    Either,
}

/// A body that stands in somebody's way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Disc {
    /// Its middle.
    pub centre: Vec2,
    /// How far it reaches.
    pub radius: f32,
}

/// The units of one plane, and the memory that their steps need. Keep it: once it is warm, steps allocate nothing.
#[derive(Debug, Default)]
pub struct Crowd {
    bodies: Vec<Body>,
    outcomes: Vec<Outcome>,
    grid: Grid,
    /// How far the largest reaches, but for giants.
    widest: f32,
    /// From the sorted order to that of input, with the names that decide it.
    order: Vec<(u32, u64)>,
    /// From the order of input to the sorted one.
    sorted: Vec<u32>,
    // From here on everything is in the sorted order.
    places: Places,
    movers: Vec<Mover>,
    moves: Vec<Move>,
    ahead: Vec<Vec2>,
    after: Vec<Vec2>,
    asked_by: Vec<Option<u32>>,
}

/// What a unit does in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    choice: Choice,
    /// Those it may come to touch.
    pub(super) touching: List,
    /// The ground it may come to touch a wall of.
    walls: Option<u8>,
    /// Where it gets out of the wall it is in.
    exit: Option<Vec2>,
}

impl Move {
    const STAND: Self = Self { choice: Choice::STAND, touching: List::EMPTY, walls: None, exit: None };
}

impl Crowd {
    /// How many neighbours a unit looks at, at most.
    pub const NEIGHBOURS: usize = MOST;

    /// Nobody yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a new step with nobody in it.
    pub fn clear(&mut self) {
        self.bodies.clear();
    }

    /// Adds a unit to the coming step. Outcomes are numbered in this order.
    pub fn push(&mut self, body: Body) {
        self.bodies.push(body);
    }

    /// How many units there are.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Moves everybody by `dt` seconds. A time that is not positive and finite moves nobody; a quarter of a second is the
    /// longest, and what is below a microsecond is none.
    ///
    /// Units walk on the ground of their number; one whose number is not there is stopped by no walls.
    pub fn step(&mut self, settings: &CrowdSettings, dt: f32, grounds: &[Footing<'_>], spread: &impl Spread) {
        let dt = if dt.is_finite() && dt >= SHORTEST_STEP { dt.min(LONGEST_STEP) } else { 0.0 };
        self.sort(dt);
        self.steer(settings, dt, grounds, spread);
        self.narrow(spread);
        for _ in 0..PASSES {
            self.part(grounds, spread);
        }
        self.conclude(dt, grounds);
    }

    /// The first stage of a step alone, after which [`neighbours`](Self::neighbours) knows who is where.
    pub fn sort(&mut self, dt: f32) {
        let speed = self.bodies.iter().map(|body| sane(body.speed)).fold(0.0, f32::max);
        let sizes = Sizes::new(self.bodies.iter().map(|body| sane(body.radius)));
        let radius = sizes.widest();
        self.widest = radius;
        let touching = 2.0 * (radius + longest_step(radius, speed, dt));
        let side = touching.max((2.0 * radius + speed * LOOK) / 3.0);
        let places = self.bodies.iter().map(|body| (body.position, sane(body.radius), body.id));
        self.grid.sort(places, &sizes, side, &mut self.order);
        self.sorted.clear();
        self.sorted.resize(self.bodies.len(), NOWHERE);
        self.places.clear();
        self.movers.clear();
        for (place, (number, _)) in (0..).zip(&self.order) {
            let body = &self.bodies[*number as usize];
            let mover = Mover::new(body, dt);
            self.sorted[*number as usize] = place;
            self.places.centres.push(mover.position);
            self.places.radii.push(mover.radius);
            let step = mover.longest_step(dt);
            self.places.extents.push(mover.radius + step);
            self.places.longest_step = self.places.longest_step.max(step);
            self.places.layers.push(body.layers);
            self.movers.push(mover);
        }
    }

    fn steer(&mut self, settings: &CrowdSettings, dt: f32, grounds: &[Footing<'_>], spread: &impl Spread) {
        let len = self.order.len();
        self.moves.resize(len, Move::STAND);
        self.ahead.resize(len, Vec2::ZERO);
        self.after.resize(len, Vec2::ZERO);
        let (movers, places, grid) = (&self.movers, &self.places, &self.grid);
        let widest = self.widest;
        let size = part_size(len, spread);
        let parts = (0..).step_by(size).zip(self.moves.chunks_mut(size)).zip(self.ahead.chunks_mut(size));
        spread.each(parts, |((first, moves), ahead): ((usize, &mut [Move]), &mut [Vec2])| {
            for ((own, step), ahead) in (first..).zip(moves).zip(ahead) {
                let mover = &movers[own];
                let near = mover.looks.then(|| grid.around(own, places, range(mover, widest)));
                step.choice = match (mover.stance, &near) {
                    (Stance::Locked, _) => Choice::STAND,
                    (Stance::Walking, Some(near)) => walk(mover, near.as_slice(), movers, settings.side),
                    (Stance::Idle, Some(near)) => make_way(mover, near.as_slice(), movers, settings.side),
                    (_, None) => Choice { turn: mover.choice, ..Choice::STAND },
                };
                step.touching = grid.touching(own, places, near);
                *ahead = mover.position + mover.velocity_for(step.choice.turn) * dt;
                step.walls = mover.ground.filter(|_| {
                    let walls = walls_of(grounds, mover.ground);
                    walls.is_some_and(|walls| !walls.is_clear(mover.position, places.extents[own]))
                });
                step.exit = None;
                if let Some(walls) = walls_of(grounds, step.walls) {
                    if !walls.footing.is_free(mover.position) {
                        // Whoever is in a wall is pushed by nobody, and leaves it by the shortest way if it knows none.
                        step.touching = List::EMPTY;
                        let knows_none = mover.wanted == Vec2::ZERO && mover.stance != Stance::Locked;
                        step.exit = walls.exit(mover.position, settings.escape_cells).filter(|_| knows_none);
                        if let Some(exit) = step.exit {
                            *ahead =
                                mover.position + (exit - mover.position).clamp_length_max(mover.speed * dt);
                        }
                    }
                    *ahead = match mover.stance {
                        Stance::Walking | Stance::Idle => walls.carry(mover.position, *ahead, mover.radius),
                        Stance::Locked => mover.position,
                    };
                }
            }
        });
    }

    /// Keeps of those whom each may come to touch the ones it nearly does: most units touch nobody, and contact is done with
    /// them.
    fn narrow(&mut self, spread: &impl Spread) {
        let (radii, ahead) = (&self.places.radii, &self.ahead);
        let size = part_size(self.order.len(), spread);
        let parts = (0..).step_by(size).zip(self.moves.chunks_mut(size));
        spread.each(parts, |(first, moves): (usize, &mut [Move])| {
            for (own, step) in (first..).zip(moves) {
                let (radius, place) = (radii[own], ahead[own]);
                step.touching.retain(|other| {
                    let near = (radius + radii[other as usize]) * NEARLY;
                    ahead[other as usize].distance_squared(place) < near * near
                });
            }
        });
    }

    /// One pass of contact: reads `ahead`, writes `after`, and swaps them.
    fn part(&mut self, grounds: &[Footing<'_>], spread: &impl Spread) {
        let (movers, moves, radii, ahead) = (&self.movers, &self.moves, &self.places.radii, &self.ahead);
        let size = part_size(self.order.len(), spread);
        let parts = (0..).step_by(size).zip(self.after.chunks_mut(size));
        spread.each(parts, |(first, after): (usize, &mut [Vec2])| {
            for (own, after) in (first..).zip(after) {
                *after = part(own, moves, movers, radii, ahead);
                if *after != ahead[own]
                    && let Some(walls) = walls_of(grounds, moves[own].walls)
                {
                    *after = walls.carry(ahead[own], *after, movers[own].radius);
                }
            }
        });
        core::mem::swap(&mut self.ahead, &mut self.after);
    }

    /// Writes the outcomes, in the order of input.
    fn conclude(&mut self, dt: f32, grounds: &[Footing<'_>]) {
        self.outcomes.clear();
        self.outcomes.extend(self.bodies.iter().map(|body| Outcome {
            position: body.position,
            velocity: Vec2::ZERO,
            memory: body.memory,
            blocker: None,
            advice: Advice::GoOn,
        }));
        for (own, (number, _)) in self.order.iter().enumerate() {
            let (mover, body) = (&self.movers[own], &self.bodies[*number as usize]);
            let mut place = if dt > 0.0 { self.ahead[own] } else { mover.position };
            let (step, most) = (place - mover.position, mover.longest_step(dt));
            if step.length_squared() > most * most {
                place = mover.position + step.clamp_length_max(most);
                if let Some(walls) = walls_of(grounds, self.moves[own].walls) {
                    place = walls.carry(mover.position, place, mover.radius);
                }
            }
            let choice = self.moves[own].choice;
            let outcome = &mut self.outcomes[*number as usize];
            outcome.position = place;
            outcome.velocity = if dt > 0.0 { (place - mover.position) / dt } else { Vec2::ZERO };
            outcome.memory.remember(body, mover, place, dt);
            outcome.memory.press(pressed(own, &self.moves, &self.movers, &self.bodies, &self.order), dt);
            if let Some(exit) = self.moves[own].exit {
                outcome.memory.settle_at(exit);
            } else if mover.stance == Stance::Idle && is_cramped(own, &self.moves, &self.movers) {
                outcome.memory.settle_at(place);
            }
            if mover.looks {
                let kept = outcome.memory.choose(&choice);
                let block = block(&self.movers, own, choice.blocker);
                outcome.blocker = choice.blocker.map(|blocker| self.movers[blocker as usize].id);
                let other = choice.blocker.map(|blocker| &self.movers[blocker as usize]);
                let rival = other.filter(|other| other.wants_where(mover));
                outcome.advice = climb(&mut outcome.memory, (body, mover), block, rival, kept);
            }
        }
        self.ask(grounds);
        self.answer();
    }

    /// Finds out who has to give way to whom, because one of them asks for room: the one who is idle, or else the one of
    /// lower rank. Of several, the one with the lowest name is heard.
    fn ask(&mut self, grounds: &[Footing<'_>]) {
        self.asked_by.clear();
        self.asked_by.resize(self.order.len(), None);
        for (own, (number, _)) in (0..).zip(&self.order) {
            let Some(blocker) = self.moves[own as usize].choice.blocker else { continue };
            let block = block(&self.movers, own as usize, Some(blocker));
            // Idle ones are asked at once, or they would be pushed along a lane to its end.
            let asks = self.outcomes[*number as usize].memory.rung() == Rung::Asks || block == Block::Idle;
            if !asks || self.has_room(own as usize, blocker as usize, grounds) {
                continue;
            }
            let (asked, by) = match block {
                Block::Idle => (blocker, own),
                Block::Mutual if self.outranks(own, blocker) => (blocker, own),
                Block::Mutual => (own, blocker),
                Block::None | Block::Queue | Block::Settled | Block::Locked => continue,
            };
            let heard = &mut self.asked_by[asked as usize];
            let name = |place: u32| self.order[place as usize].1;
            if heard.is_none_or(|other: u32| name(by) < name(other)) {
                *heard = Some(by);
            }
        }
    }

    /// Whether a unit could get past another one on either side, if that one stood still.
    fn has_room(&self, own: usize, other: usize, grounds: &[Footing<'_>]) -> bool {
        let (mover, other) = (&self.movers[own], &self.movers[other]);
        let Some(walls) = walls_of(grounds, mover.ground) else {
            return true;
        };
        let aside = mover.wanted.perp().normalize_or_zero() * (mover.radius + other.radius);
        // Beside the other one, and beside itself: there, too.
        let is_clear = |at: Vec2| walls.is_clear(at, mover.radius);
        [aside, -aside]
            .into_iter()
            .any(|aside| is_clear(other.position + aside) && is_clear(mover.position + aside))
    }

    fn outranks(&self, own: u32, other: u32) -> bool {
        let rank = |place: u32| {
            let (number, name) = self.order[place as usize];
            let is_cornered = self.outcomes[number as usize].memory.is_cornered();
            (is_cornered, self.bodies[number as usize].priority, Reverse(name))
        };
        rank(own) > rank(other)
    }

    /// Tells those who have to that they give way.
    fn answer(&mut self) {
        for (own, by) in self.asked_by.iter().enumerate() {
            let Some(by) = by else { continue };
            let outcome = &mut self.outcomes[self.order[own].0 as usize];
            if outcome.memory.give_way() {
                outcome.advice = Advice::GiveWay { to: self.order[*by as usize].1 };
            }
        }
    }

    /// What the last step did, in the order in which units were pushed.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The number of the unit with this name.
    pub fn find(&self, id: u64) -> Option<usize> {
        self.bodies.iter().position(|body| body.id == id)
    }

    /// The number of whoever is in the way of a unit, if it looked around in the last step.
    pub fn blocker(&self, index: usize) -> Option<usize> {
        let place = self.sorted.get(index).and_then(|place| self.moves.get(*place as usize))?;
        self.order.get(place.choice.blocker? as usize).map(|(number, _)| *number as usize)
    }

    /// The neighbours that a unit looks at, by their numbers and in no particular order: the nearest few of those it avoids,
    /// from surface to surface.
    pub fn neighbours(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        self.list(index, |place| {
            self.grid.around(place, &self.places, range(&self.movers[place], self.widest))
        })
    }

    /// As [`neighbours`](Self::neighbours), of those whose middle is nearer than this; at most
    /// [`NEIGHBOURS`](Self::NEIGHBOURS), and none beyond a few sizes of the largest unit.
    pub fn neighbours_within(&self, index: usize, within: f32) -> impl Iterator<Item = usize> + '_ {
        self.list(index, move |place| self.grid.around_within(place, &self.places, within))
    }

    fn list<F: FnOnce(usize) -> List>(
        &self,
        index: usize,
        find: F,
    ) -> impl Iterator<Item = usize> + use<'_, F> {
        let place = self.sorted.get(index).filter(|place| **place != NOWHERE);
        let list = place.map_or(List::EMPTY, |place| find(*place as usize));
        list.into_iter().map(|place| self.order[place as usize].0 as usize)
    }

    /// Fills `discs` with those within `reach` of a unit that it avoids, and that stand: locked and idle ones, and those
    /// that get no farther.
    pub fn standing_around(&self, index: usize, reach: f32, discs: &mut Vec<Disc>) {
        discs.clear();
        let Some(body) = self.bodies.get(index) else { return };
        for (place, mover) in self.movers.iter().enumerate() {
            let stands = mover.stance != Stance::Walking || mover.rung >= Rung::Waits;
            let is_near = mover.position.distance(body.position) <= reach;
            if stands && is_near && mover.id != body.id && body.layers.avoid(self.places.layers[place]) {
                discs.push(Disc { centre: mover.position, radius: mover.radius });
            }
        }
    }
}

/// Whether an idle unit has no room at home, because somebody else who stands has the same. While somebody walks past,
/// that remains to be seen.
fn is_cramped(own: usize, moves: &[Move], movers: &[Mover]) -> bool {
    let (mover, near) = (&movers[own], moves[own].touching.as_slice());
    let mut others = near.iter().map(|other| &movers[*other as usize]);
    let has_same_home = |other: &Mover| {
        let near = CRAMPED * (mover.radius + other.radius);
        other.home.distance_squared(mover.home) < near * near
    };
    others.clone().any(has_same_home) && others.all(|other| other.stance != Stance::Walking)
}

/// For how long the least pressed of those have been whom an idle unit may touch. `None` if nobody presses it.
fn pressed(
    own: usize,
    moves: &[Move],
    movers: &[Mover],
    bodies: &[Body],
    order: &[(u32, u64)],
) -> Option<f32> {
    let near = moves[own].touching.as_slice();
    if movers[own].stance != Stance::Idle || moves[own].choice.turn != Vec2::ZERO || near.is_empty() {
        return None;
    }
    let mut least = f32::INFINITY;
    for other in near {
        match movers[*other as usize].stance {
            Stance::Walking => return None,
            Stance::Idle => least = least.min(bodies[order[*other as usize].0 as usize].memory.pressed()),
            Stance::Locked => {}
        }
    }
    Some(least)
}

/// How near two homes are, in parts of touching, that are too near.
const CRAMPED: f32 = 0.95;

/// How a unit stands to whoever is in its way.
fn block(movers: &[Mover], own: usize, blocker: Option<u32>) -> Block {
    let Some(blocker) = blocker else { return Block::None };
    let (mover, other) = (&movers[own], &movers[blocker as usize]);
    match other.stance {
        Stance::Locked => Block::Locked,
        Stance::Idle if other.yields_to(mover) => Block::Idle,
        Stance::Idle => Block::Settled,
        Stance::Walking => {
            let along = mover.wanted.dot(other.wanted);
            let is_against = along < -0.7 * mover.wanted.length() * other.wanted.length();
            if is_against { Block::Mutual } else { Block::Queue }
        }
    }
}

/// How far ahead neighbours are looked for, in seconds at full speed.
const LOOK: f32 = 0.55;

/// How near others are, in parts of touching, that contact may still bring to touch.
const NEARLY: f32 = 1.35;

/// Steps longer than this, in seconds, are cut to it, and shorter ones than this are none.
const LONGEST_STEP: f32 = 0.25;
const SHORTEST_STEP: f32 = 1e-6;

/// The place of a unit that is nowhere.
const NOWHERE: u32 = u32::MAX;

const _: () = assert!(LOOK <= HORIZON);

/// How far away somebody is looked at.
#[inline]
fn range(mover: &Mover, widest: f32) -> f32 {
    mover.radius + widest + mover.speed * LOOK
}

/// How many units a thread is given at a time.
fn part_size(len: usize, spread: &impl Spread) -> usize {
    len.div_ceil(spread.threads().max(1)).max(64)
}

fn walls_of<'a>(grounds: &[Footing<'a>], ground: Option<u8>) -> Option<Walls<'a>> {
    grounds.get(usize::from(ground?)).map(|footing| Walls::new(*footing))
}
