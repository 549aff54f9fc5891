//! A formation on its way: a [`March`] leads the middle of the group along a way and says where everybody has to be.
//!
//! The middle goes at the pace of the slowest and waits for those who lag. In the open everybody keeps their place in
//! the formation, which turns with the way. Where that place is in a wall, or behind one, the formation is drawn in: ranks
//! close up and fold back into a column along the way, and open again behind the passage.

use core::f32::consts::PI;

use glam::Vec2;

use super::{sane, way};
use crate::follow::Footing;

/// The middle of a group on its way. Plain values: keep it with the order, and step it with [`advance`](Self::advance).
///
/// ```
/// use glam::Vec2;
/// use wayfare::group::{March, Marcher};
/// use wayfare::prelude::*;
///
/// let snapshot = Snapshot::new(&Map::new(30, 9)?, &View::default());
/// let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
/// let mut march = March::new(vec![Vec2::new(2.5, 4.5), Vec2::new(26.5, 4.5)], true);
/// let mut pair = [1.0, -1.0].map(|aside| Marcher {
///     position: Vec2::new(2.5, 4.5 + aside),
///     radius: 0.4,
///     speed: 3.0,
///     offset: Vec2::new(0.0, aside),
///     slot: Vec2::new(26.5, 4.5 + aside),
/// });
/// let dt = 1.0 / 20.0;
/// for _ in 0..9 * 20 {
///     march.advance(footing, pair.into_iter(), true, dt);
///     for marcher in &mut pair {
///         let Some(order) = march.order(footing, marcher, true, dt) else { panic!() };
///         marcher.position += order.velocity * dt;
///     }
///     // Side by side all the way.
///     assert!((pair[0].position.x - pair[1].position.x).abs() < 0.1);
/// }
/// assert!(march.has_arrived() && pair.iter().all(|one| one.position.distance(one.slot) < 1e-3));
/// # Ok::<(), MapError>(())
/// ```
#[derive(Clone, PartialEq, Default, Debug)]
pub struct March {
    way: Vec<Vec2>,
    length: f32,
    /// How far along the way the middle is.
    along: f32,
    /// Which way the formation faces.
    ahead: Vec2,
    /// How the middle moved last.
    velocity: Vec2,
    turns: bool,
    /// How long the middle has been waiting for somebody.
    waited: f32,
    /// It has waited long enough, and goes on until all are there again.
    waits_no_more: bool,
}

/// A unit that marches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Marcher {
    /// Where it is.
    pub position: Vec2,
    /// How far its body reaches.
    pub radius: f32,
    /// How fast it can be.
    pub speed: f32,
    /// Its place in the formation: [`GroupWay::offset`](super::GroupWay::offset).
    pub offset: Vec2,
    /// Its place in the end: [`GroupWay::slot`](super::GroupWay::slot).
    pub slot: Vec2,
}

/// What a unit has to do to keep its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MarchOrder {
    /// Where it has to be.
    pub place: Vec2,
    /// How to move: towards that place and on with it, never faster than the unit can.
    pub velocity: Vec2,
    /// How far it still has to go.
    pub to_go: f32,
}

/// How long units take to get back to their place, in seconds.
const CATCH_UP: f32 = 0.4;

/// While somebody lags, the middle goes no slower than this part of its pace, ...
const SLOWEST: f32 = 0.15;

/// ... and after so many seconds of it, it does not wait any more.
const PATIENCE: f32 = 8.0;

/// Radians per second: no formation turns faster, however small.
const TURN_RATE: f32 = PI;

/// What is left of the distance from the way where the formation is drawn in.
const DRAWN_IN: [f32; 3] = [0.5, 0.25, 0.0];

/// After that it goes at this part of its pace, so that those who only lag get there after all.
const IMPATIENT: f32 = 0.7;

/// How many points of the way somebody looks for who does not see its place, half a cell apart.
const REJOIN: u8 = 32;

impl March {
    /// The middle of a group at the beginning of a way: [`GroupAnswer::way`](super::GroupAnswer::way). Whether the
    /// formation turns with it, [`Formation::turns`](super::Formation::turns) says.
    pub fn new(way: Vec<Vec2>, turns: bool) -> Self {
        let length = way::length(&way);
        let length = if length.is_finite() { length } else { 0.0 };
        let ahead = way::direction(&way, 0.0, length.min(1.0)).unwrap_or(Vec2::X);
        Self { way, length, ahead, turns, ..Self::default() }
    }

    /// Where the middle is.
    pub fn middle(&self) -> Vec2 {
        way::point_at(&self.way, self.along)
    }

    /// Which way the formation faces: the angle from +x, in radians.
    pub fn heading(&self) -> f32 {
        self.ahead.to_angle()
    }

    /// How long the way of the middle still is.
    pub fn remaining(&self) -> f32 {
        (self.length - self.along).max(0.0)
    }

    /// Whether the middle is at the end of its way. From then on everybody is sent to their slot.
    pub fn has_arrived(&self) -> bool {
        self.along >= self.length
    }

    /// The way of the middle.
    pub fn way(&self) -> &[Vec2] {
        &self.way
    }

    /// Moves the middle on for `dt` seconds, as fast as the slowest of the marchers, if they keep up. `slowed`: on dear
    /// ground everybody is slower, as in [`Gait`](crate::Gait).
    pub fn advance(
        &mut self,
        footing: Footing<'_>,
        marchers: impl Iterator<Item = Marcher>,
        slowed: bool,
        dt: f32,
    ) {
        let dt = sane(dt);
        let (mut pace, mut widest, mut keeping_up) = (f32::INFINITY, footing.layout.reach(), 1.0_f32);
        for marcher in marchers.filter(|marcher| marcher.position.is_finite()) {
            pace = pace.min(sane(marcher.speed));
            widest = widest.max(marcher.offset.length());
            let gap = marcher.position.distance(self.place(footing, &marcher));
            let slack = sane(marcher.radius) + CATCH_UP * sane(marcher.speed);
            if slack > 0.0 {
                // Even a small gap is only ever closed if the others are slower.
                keeping_up = keeping_up.min(1.0 - (gap / slack - 0.1) / 3.0);
            }
        }
        if !pace.is_finite() {
            self.velocity = Vec2::ZERO;
            return;
        }
        let part = self.wait(keeping_up.clamp(SLOWEST, 1.0), dt);
        let slowness = if slowed { footing.slowness_at(self.middle()) } else { 1.0 };
        let look = widest.max(2.0 * footing.layout.reach());
        let target = way::direction(&self.way, self.along, self.along + look).unwrap_or(self.ahead);
        let off = self.ahead.angle_to(target);
        // The outermost has to keep up, too.
        let turn_rate = (pace / widest).min(TURN_RATE);
        self.ahead = Vec2::from_angle(off.clamp(-turn_rate * dt, turn_rate * dt))
            .rotate(self.ahead)
            .normalize_or(target);
        let turning = if self.turns { (1.0 - off.abs() / PI).max(SLOWEST) } else { 1.0 };
        let before = self.middle();
        self.along = (self.along + pace * part * turning / slowness * dt).min(self.length);
        self.velocity = if dt > 0.0 { (self.middle() - before) / dt } else { Vec2::ZERO };
    }

    /// How fast to go: what those who lag allow, but not forever.
    fn wait(&mut self, keeping_up: f32, dt: f32) -> f32 {
        if keeping_up > 0.9 {
            (self.waited, self.waits_no_more) = (0.0, false);
        } else if keeping_up < 0.5 {
            self.waited += dt;
            self.waits_no_more |= self.waited > PATIENCE;
        }
        if self.waits_no_more { keeping_up.max(IMPATIENT) } else { keeping_up }
    }

    /// What a marcher has to do in the next `dt` seconds. `None` if it sees neither its place nor the way there in a clear
    /// line, because it fell behind around a corner: then it has to search for a way of its own to its slot, and follow it
    /// until it has orders again.
    pub fn order(
        &self,
        footing: Footing<'_>,
        marcher: &Marcher,
        slowed: bool,
        dt: f32,
    ) -> Option<MarchOrder> {
        let at = marcher.position;
        let dt = sane(dt);
        let place = Some(self.place(footing, marcher)).filter(|place| footing.is_clear(at, *place));
        let place = place.or_else(|| self.rejoin(footing, marcher))?;
        let slowness = if slowed { footing.slowness_at(at) } else { 1.0 };
        let speed = sane(marcher.speed) / slowness;
        let to_place = place - at;
        let (alone, along) = if self.has_arrived() {
            (to_place / dt.max(f32::MIN_POSITIVE), Vec2::ZERO)
        } else {
            (to_place / CATCH_UP.max(dt), self.velocity)
        };
        let mut velocity = (alone + along).clamp_length_max(speed);
        // Going along may lead into a wall; going to the place does not.
        if along != Vec2::ZERO && !footing.is_clear(at, at + velocity * dt) {
            velocity = alone.clamp_length_max(speed);
        }
        let velocity = if velocity.is_finite() { velocity } else { Vec2::ZERO };
        Some(MarchOrder { place, velocity, to_go: self.remaining() + to_place.length() })
    }

    /// Where a marcher has to be now.
    fn place(&self, footing: Footing<'_>, marcher: &Marcher) -> Vec2 {
        if self.has_arrived() {
            return marcher.slot;
        }
        let middle = self.middle();
        let offset = self.turned(marcher.offset);
        let place = middle + offset;
        if footing.is_clear(middle, place) {
            return place;
        }
        for part in DRAWN_IN {
            let (on_way, aside) = self.folded(marcher, offset, part);
            let place = on_way + aside;
            if aside == Vec2::ZERO || footing.is_clear(on_way, place) {
                return place;
            }
        }
        middle
    }

    /// A point of the way that a marcher sees who does not see its place: where it would be if all walked one behind the
    /// other, or some way behind that.
    fn rejoin(&self, footing: Footing<'_>, marcher: &Marcher) -> Option<Vec2> {
        let along = match self.has_arrived() {
            true => self.length,
            false => self.folded_along(marcher, self.turned(marcher.offset), 0.0),
        };
        let step = footing.layout.reach();
        let behind = (0..REJOIN).map(|i| along - f32::from(i) * step).take_while(|along| *along > -step);
        let mut points = behind.map(|along| way::point_at(&self.way, along));
        let at = marcher.position;
        points.find(|point| point.distance(at) > 0.25 * step && footing.is_clear(at, *point))
    }

    fn turned(&self, offset: Vec2) -> Vec2 {
        if self.turns { self.ahead.rotate(offset) } else { offset }
    }

    /// A place beside the way of which only a part is left: a point of the way, and how far aside of it. What it is
    /// drawn in by, it falls behind; those on the right by half a body more, so that both sides mesh like a zip.
    fn folded(&self, marcher: &Marcher, offset: Vec2, part: f32) -> (Vec2, Vec2) {
        let along = self.folded_along(marcher, offset, part);
        let aside = self.direction_at(self.along).perp_dot(offset);
        (way::point_at(&self.way, along), self.direction_at(along).perp() * aside * part)
    }

    fn folded_along(&self, marcher: &Marcher, offset: Vec2, part: f32) -> f32 {
        let ahead = self.direction_at(self.along);
        let (forward, aside) = (ahead.dot(offset), ahead.perp_dot(offset));
        let zip = if aside < 0.0 { sane(marcher.radius) } else { 0.0 };
        (self.along + forward - (aside.abs() + zip) * (1.0 - part)).clamp(0.0, self.length)
    }

    /// Which way the way leads, on either side of a point of it.
    fn direction_at(&self, along: f32) -> Vec2 {
        let around = 1e-3 * self.length;
        way::direction(&self.way, along - around, along + around).unwrap_or(self.ahead)
    }
}
