//! The step itself: sort, steer and part. What comes of it for each is [judged](super::judge) then.

use glam::Vec2;

use super::contact::{PASSES, part};
use super::gathering::Gathering;
use super::mover::{Mover, longest_step, sane};
use super::near::{Grid, List, MOST, Places};
use super::sizes::Sizes;
use super::steer::{Choice, HORIZON, make_way, walk};
use super::wall::Walls;
use super::{Body, OneThread, Outcome, Rung, Spread, Stance};
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
    pub(super) bodies: Vec<Body>,
    pub(super) outcomes: Vec<Outcome>,
    grid: Grid,
    /// How far the largest reaches, but for giants.
    pub(super) widest: f32,
    /// From the sorted order to that of input, with the names that decide it.
    pub(super) order: Vec<(u32, u64)>,
    /// From the order of input to the sorted one.
    pub(super) sorted: Vec<u32>,
    // From here on everything is in the sorted order.
    places: Places,
    pub(super) movers: Vec<Mover>,
    pub(super) moves: Vec<Move>,
    pub(super) ahead: Vec<Vec2>,
    after: Vec<Vec2>,
    pub(super) asked_by: Vec<Option<u32>>,
    pub(super) gathering: Gathering,
}

/// What a unit does in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) choice: Choice,
    /// Those it may come to touch.
    pub(super) touching: List,
    /// The ground it may come to touch a wall of.
    pub(super) walls: Option<u8>,
    /// Where it gets out of the wall it is in.
    pub(super) exit: Option<Vec2>,
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

    /// A unit as it was [pushed](Self::push).
    pub fn body(&self, index: usize) -> Option<&Body> {
        self.bodies.get(index)
    }

    /// How far apart two units are at least, from middle to middle, that have nothing to do with each other in a step of `dt`
    /// seconds, nor through a third one between them, if no unit is larger or faster than this. A step may leave out those
    /// who stand so far from everybody who moves.
    pub fn reach(radius: f32, speed: f32, dt: f32) -> f32 {
        let (radius, speed) = (sane(radius), sane(speed));
        let sight = 2.0 * radius + speed * LOOK;
        sight + 2.0 * (radius + longest_step(radius, speed, sane(dt).min(LONGEST_STEP)))
    }

    /// Moves everybody by `dt` seconds. A time that is not positive and finite moves nobody; a quarter of a second is the
    /// longest, and what is below a microsecond is none.
    ///
    /// Units walk on the ground of their number; one whose number is not there is stopped by no walls.
    pub fn step(&mut self, settings: &CrowdSettings, dt: f32, grounds: &[Footing<'_>], spread: &impl Spread) {
        let dt = if dt.is_finite() && dt >= SHORTEST_STEP { dt.min(LONGEST_STEP) } else { 0.0 };
        self.arrange(dt, spread);
        self.steer(settings, dt, grounds, spread);
        self.narrow(spread);
        for _ in 0..PASSES {
            self.part(grounds, spread);
        }
        self.judge(dt, grounds, spread);
    }

    /// The first stage of a step alone, after which [`neighbours`](Self::neighbours) knows who is where.
    pub fn sort(&mut self, dt: f32) {
        self.arrange(dt, &OneThread);
    }

    fn arrange(&mut self, dt: f32, spread: &impl Spread) {
        let (mut speed, mut longest) = (0.0_f32, 0.0_f32);
        for body in &self.bodies {
            speed = speed.max(sane(body.speed));
            longest = longest.max(longest_step(sane(body.radius), sane(body.speed), dt));
        }
        let sizes = Sizes::new(self.bodies.iter().map(|body| sane(body.radius)));
        let radius = sizes.widest();
        self.widest = radius;
        let touching = 2.0 * (radius + longest_step(radius, speed, dt));
        let side = touching.max((2.0 * radius + speed * LOOK) / 3.0);
        let places = self.bodies.iter().map(|body| (body.position, sane(body.radius), body.id));
        self.grid.sort(places, &sizes, side, &mut self.order);
        self.sorted.clear();
        self.sorted.resize(self.bodies.len(), NOWHERE);
        for (place, (number, _)) in (0..).zip(&self.order) {
            self.sorted[*number as usize] = place;
        }
        let len = self.order.len();
        self.places.resize(len);
        self.places.longest_step = longest;
        self.movers.resize(len, Mover::NOBODY);
        let (size, bodies) = (part_size(len, spread), &self.bodies);
        let Places { centres, radii, extents, layers, .. } = &mut self.places;
        let columns = centres.chunks_mut(size).zip(radii.chunks_mut(size));
        let columns = columns.zip(extents.chunks_mut(size).zip(layers.chunks_mut(size)));
        let parts = self.order.chunks(size).zip(self.movers.chunks_mut(size)).zip(columns);
        spread.each(parts, |((order, movers), ((centres, radii), (extents, layers)))| {
            for (at, ((number, _), mover)) in order.iter().zip(movers).enumerate() {
                let body = &bodies[*number as usize];
                *mover = Mover::new(body, dt);
                (centres[at], radii[at], layers[at]) = (mover.position, mover.radius, body.layers);
                extents[at] = mover.radius + mover.longest_step(dt);
            }
        });
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

    /// Calls `visit` with the numbers of those who walk and were within `reach` of a place when the last step began, and whom a
    /// unit avoids; in no particular order.
    ///
    /// By the grid, so that many who ask in one run of a game of 10,000 do not look at everybody each.
    pub fn walking_around(&self, index: usize, place: Vec2, reach: f32, mut visit: impl FnMut(usize)) {
        let Some(own) = self.bodies.get(index).filter(|_| !self.movers.is_empty()) else { return };
        self.grid.within(place, reach, self.movers.len(), |run| {
            for at in run {
                let mover = &self.movers[at];
                let is_near = mover.position.distance(place) <= reach;
                let counts = mover.stance == Stance::Walking && is_near && mover.id != own.id;
                if counts && own.layers.avoid(self.places.layers[at]) {
                    visit(self.order[at].0 as usize);
                }
            }
        });
    }

    /// Fills `discs` with those within `reach` of a unit that it avoids, and that stand: locked and idle ones, and those
    /// that get no farther, but for those who look for a way around themselves: they are about to leave.
    pub fn standing_around(&self, index: usize, reach: f32, discs: &mut Vec<Disc>) {
        discs.clear();
        let Some(body) = self.bodies.get(index) else { return };
        for (place, mover) in self.movers.iter().enumerate() {
            // As the step has left it: many who stand before a wall find that out in the same one.
            let outcome = self.outcomes.get(self.order[place].0 as usize);
            let rung = outcome.map_or(mover.rung, |outcome| outcome.memory.rung());
            let leaves = matches!(rung, Rung::PlansAround | Rung::Replans);
            let stands = mover.stance != Stance::Walking || (rung >= Rung::Waits && !leaves);
            let is_near = mover.position.distance(body.position) <= reach;
            if stands && is_near && mover.id != body.id && body.layers.avoid(self.places.layers[place]) {
                discs.push(Disc { centre: mover.position, radius: mover.radius });
            }
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
pub(super) const NOWHERE: u32 = u32::MAX;

const _: () = assert!(LOOK <= HORIZON);

/// How far away somebody is looked at.
#[inline]
fn range(mover: &Mover, widest: f32) -> f32 {
    mover.radius + widest + mover.speed * LOOK
}

/// Parts for each thread, where there are several: one that begins late or has more to do leaves some of its own to the others.
///
/// PERF: on two cores a step of 10,000 units inside the plugin is 1.46 × as fast as on one; with one part each it is 1.29 ×, with
/// 4 parts 1.40 ×, and 16 make no difference.
const PARTS: usize = 8;

/// How many units a thread is given at a time.
pub(super) fn part_size(len: usize, spread: &impl Spread) -> usize {
    let parts = match spread.threads() {
        0 | 1 => 1,
        threads => threads.saturating_mul(PARTS),
    };
    len.div_ceil(parts).max(64)
}

pub(super) fn walls_of<'a>(grounds: &[Footing<'a>], ground: Option<u8>) -> Option<Walls<'a>> {
    grounds.get(usize::from(ground?)).map(|footing| Walls::new(*footing))
}
