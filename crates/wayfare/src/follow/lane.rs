//! A lane of its own: how a unit goes on beside its path where others have pushed it.
//!
//! Comes in: how far it is beside its leg. Goes out: how much farther on the path the point lies that it makes for. If
//! everybody made straight for the path from wherever they were pushed, a crowd would cross the widest bridge in single
//! file, and whoever steps around somebody would be led right back into them.

use glam::DVec2;

use super::walk::Walker;

impl Walker<'_> {
    /// Notes whether something else has moved the unit since its last step.
    pub(super) fn note_push(&mut self) {
        let is_moved = |left| self.gap(left) > MOVED * self.rounding();
        self.headway.is_aside |= self.headway.left.is_some_and(is_moved);
    }

    /// Notes whether it is on its leg again.
    pub(super) fn note_return(&mut self) {
        if self.headway.is_aside {
            let leg = self.leg(self.headway.next);
            let foot = leg.foot(self.position.as_dvec2());
            self.headway.is_aside = self.gap(leg.at(foot)) > BACK * self.reach;
        }
    }

    /// How far ahead on its leg a unit makes for that is beside it: 0 for one that goes straight back, because nobody has pushed
    /// it, or because there is no room for a lane where it is.
    pub(super) fn lane(&self) -> f64 {
        if !self.headway.is_aside {
            return 0.0;
        }
        let (leg, position) = (self.leg(self.headway.next), self.position.as_dvec2());
        let foot = leg.foot(position);
        let aside = position - leg.at(foot).as_dvec2();
        let gap = aside.length();
        // Behind the beginning of a path there is nothing to go beside.
        if gap <= 0.0 || (foot <= 0.0 && self.headway.next <= 1) {
            return 0.0;
        }
        // Not where its middle is but farther out, so that there is room for its body; and some way ahead, so that all for whom
        // there is none on a bridge are in line before they come to it.
        let outer = position + aside * (self.reach / gap);
        let length = (SEEN * self.reach).min((leg.length - foot).max(self.reach));
        let grid = |point: DVec2| self.footing.layout.to_grid(point.as_vec2());
        let (from, to) = (grid(outer), grid(outer + leg.direction * length));
        let is_clear = self.footing.snapshot.is_clear_within(from, to, 1.0);
        if is_clear { (SLANT * gap).min(FARTHEST * self.reach) } else { 0.0 }
    }
}

/// Who is elsewhere than its last step ended by so many roundings was moved.
const MOVED: f64 = 8.0;

/// Who is less than this beside its leg is back on it, in reaches.
const BACK: f64 = 0.1;

/// How slowly a unit comes back: so much forward for every bit to the side. And how far ahead it makes for the path at most, in
/// reaches.
const SLANT: f64 = 6.0;
const FARTHEST: f64 = 16.0;

/// How far ahead a lane has to be clear, in reaches.
const SEEN: f64 = 6.0;
