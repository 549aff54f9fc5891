//! What a walking unit makes for: a point of its path that it sees in a clear line.
//!
//! The point runs ahead of the unit and never through a wall. A unit that was pushed to where it does not see the
//! point any more looks for another one on the same leg.

use glam::{DVec2, Vec2};

use super::Headway;
use super::walk::Walker;

impl Walker<'_> {
    /// A point ahead on the path, in a clear line, and not where the unit is; `None` if the way is blocked.
    pub(super) fn aim(&mut self) -> Option<Vec2> {
        if !self.footing.is_free(self.position) {
            return self.way_out();
        }
        self.note_return();
        // Only what is surely clear is chosen, and kept as long as it is just clear; else the unit could come to a
        // corner by a line that is clear from afar, and find on the spot that it is not. There may be more than one
        // corner within reach, and how many are passed must not depend on how often somebody looks.
        let mut ahead = None;
        self.keeps_lane = false;
        for _ in 0..CORNERS {
            let (next, lane) = (self.headway.next, self.lane());
            let point = self.look_ahead(self.reach, lane, f64::from(self.headway.along), SURELY);
            self.keeps_lane |= point.is_some() && lane > 0.0;
            ahead = point.or(ahead);
            if point.is_none() || self.headway.next == next {
                break;
            }
        }
        if ahead.is_some() {
            return ahead;
        }
        let current = self.leg(self.headway.next).at(f64::from(self.headway.along));
        if self.sees(current, 1.0) {
            return Some(current);
        }
        [1.0, 0.5, 0.25, 0.125, 0.0625]
            .iter()
            .find_map(|part| self.look_ahead(self.reach * part, 0.0, f64::NEG_INFINITY, 1.0))
            .or_else(|| self.rejoin())
    }

    /// On blocked ground nothing is clear; the unit goes straight to the end of its leg.
    fn way_out(&mut self) -> Option<Vec2> {
        let ahead = self.points.get(self.headway.next..)?;
        let skipped = ahead.iter().position(|point| *point != self.position && point.is_finite())?;
        self.headway = Headway { owed: self.headway.owed, ..Headway::to(self.headway.next + skipped) };
        self.points.get(self.headway.next).copied()
    }

    /// The point of the path `slack` ahead of the unit, less what the unit is beside the path, or as far ahead as its
    /// [`lane`](Self::lane) says, if that lies more than `beyond` along the leg and is in sight. Around the end of the leg, if
    /// that is in sight; else the end. Who keeps a lane comes around the end beside it.
    fn look_ahead(&mut self, slack: f64, lane: f64, beyond: f64, patience: f64) -> Option<Vec2> {
        let leg = self.leg(self.headway.next);
        let foot = leg.foot(self.position.as_dvec2());
        let gap = self.gap(leg.at(foot));
        let along = foot + (slack - gap).max(lane);
        let beside = if lane > 0.0 { gap } else { 0.0 };
        let rest = slack + beside - self.gap(leg.end);
        if along >= leg.length && rest > 0.0 && self.headway.next + 1 < self.points.len() {
            let next_leg = self.leg(self.headway.next + 1);
            let point = next_leg.at(rest);
            if self.sees(point, patience) {
                self.headway.next += 1;
                self.set_along(rest);
                return Some(point);
            }
        }
        let point = leg.at(along);
        if along.min(leg.length) > beyond && self.sees(point, patience) {
            self.set_along(along);
            return Some(point);
        }
        None
    }

    /// The point of the leg, or of the one before it, that is nearest and in sight, for a unit that was moved to
    /// where it does not see the nearest of all. At most [`REJOIN`] reaches from that are looked at.
    fn rejoin(&mut self) -> Option<Vec2> {
        for next in [Some(self.headway.next), self.headway.next.checked_sub(1)].into_iter().flatten() {
            let leg = self.leg(next);
            let foot = leg.foot(self.position.as_dvec2());
            // Closer than this, rounding could make it step to and fro.
            if self.gap(leg.at(foot)) <= self.rounding() {
                // It is on its leg, and the next bit of it is blocked. Going back would help nobody.
                return None;
            }
            for i in 0..=REJOIN {
                for along in [foot + f64::from(i) * self.reach, foot - f64::from(i) * self.reach] {
                    let point = leg.at(along);
                    if (0.0..=leg.length).contains(&along) && self.sees(point, 1.0) {
                        self.headway.next = next;
                        self.set_along(along);
                        return Some(point);
                    }
                }
            }
        }
        None
    }

    #[expect(clippy::cast_possible_truncation, reason = "a length on the map")]
    fn set_along(&mut self, along: f64) {
        self.headway.along = along as f32;
    }

    /// Whether a point is somewhere else and in a clear line.
    fn sees(&self, point: Vec2, patience: f64) -> bool {
        let grid = |point: Vec2| self.footing.layout.to_grid(point);
        point != self.position
            && self.footing.snapshot.is_clear_within(grid(self.position), grid(point), patience)
    }

    /// The leg that ends at a point; the first point is a leg of its own.
    pub(super) fn leg(&self, next: usize) -> Leg {
        let point = |i: usize| self.points.get(i).copied().unwrap_or_default();
        Leg::new(point(next.saturating_sub(1)), point(next))
    }
}

/// More corners than this within a reach are not worth the time.
const CORNERS: u32 = 8;
const REJOIN: u32 = 32;
/// Patience for lines that will stay clear while a unit walks along them, rounded to floats at every step.
const SURELY: f64 = 0.25;

/// A straight part of the path.
pub(super) struct Leg {
    start: DVec2,
    pub(super) end: Vec2,
    pub(super) direction: DVec2,
    pub(super) length: f64,
}

impl Leg {
    fn new(start: Vec2, end: Vec2) -> Self {
        let across = end.as_dvec2() - start.as_dvec2();
        let length = if across.is_finite() { across.length() } else { 0.0 };
        Self { start: start.as_dvec2(), end, direction: across.normalize_or_zero(), length }
    }

    /// How far along the nearest point to `position` is.
    pub(super) fn foot(&self, position: DVec2) -> f64 {
        (position - self.start).dot(self.direction).clamp(0.0, self.length)
    }

    pub(super) fn at(&self, along: f64) -> Vec2 {
        if along >= self.length { self.end } else { (self.start + self.direction * along.max(0.0)).as_vec2() }
    }
}
