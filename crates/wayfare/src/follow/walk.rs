//! One span of time on the way: a unit follows its points, smoothly around corners and never through a wall.
//!
//! This is pure pursuit, after R. Craig Coulter's "Implementation of the Pure Pursuit Path Tracking Algorithm": the
//! unit makes for a point of the path a little ahead of it. That point only ever moves on to where the unit sees it
//! in a clear line, so wherever the unit is, the way to the point is walkable, and from the point on the path is.

use core::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, Vec2};

use super::aim::Leg;
use super::{Footing, Gait, Headway, Stride, sane};

/// Walks along `points` for `dt` seconds, from where the unit stands and faces.
///
/// The unit makes for a point of the path at most a [`reach`](crate::Layout::reach) ahead, so it rounds corners inside
/// the cell they lie in. The result hardly depends on how time is cut: a second in one call or in a hundred ends at
/// nearly the same place. Work is bounded by the length of the path, however long `dt` is.
///
/// - **Turning**: the unit faces the way it goes as fast as the turn rate allows. Until it does, it is slower by the
///   cosine of the angle it is off, and stands while that is a right angle or more. It never leaves its path for it.
/// - **Walls**: where the path has become blocked, the unit stops and `blocked` is set. On blocked ground, where it
///   can only have been put, it walks straight on until it is out.
/// - **Displaced**: pushed off its path, it keeps beside it while there is room, and comes back to it slowly, so that crowds go
///   side by side. Where there is none it makes for the leg it was on, wherever it sees it nearest; `blocked` if it sees none
///   of it.
/// - **Arrival**: it stops at the last point exactly, or as soon as it is within [`Gait::arrival`] of it in a clear line.
///   After that it stays, and every call says `arrived`.
///
/// Without points the unit stands still and has not arrived. A position that is not finite stays as it is, blocked.
pub fn walk(
    footing: Footing<'_>,
    points: &[Vec2],
    headway: &mut Headway,
    from: Vec2,
    heading: f32,
    gait: &Gait,
    dt: f32,
) -> Stride {
    let heading = if heading.is_finite() { wrap(f64::from(heading)) } else { 0.0 };
    let Some(last) = points.len().checked_sub(1) else {
        return Stride::still(from, heading);
    };
    if !from.is_finite() {
        return Stride { blocked: true, ..Stride::still(from, heading) };
    }
    let turn_rate = if gait.turn_rate == f32::INFINITY { f64::INFINITY } else { sane(gait.turn_rate) };
    let mut walker = Walker {
        footing,
        points,
        headway: Headway { next: headway.next.min(last), ..*headway },
        position: from,
        heading,
        speed: sane(gait.speed),
        turn_rate,
        arrival: sane(gait.arrival),
        slowed: gait.slowed,
        reach: f64::from(footing.layout.reach()),
        keeps_lane: false,
    };
    walker.note_push();
    let end = walker.run(sane(dt));
    *headway = Headway { left: Some(walker.position), ..walker.headway };
    let velocity = (walker.position.as_dvec2() - from.as_dvec2()) / sane(dt);
    let velocity = velocity.as_vec2();
    Stride {
        position: walker.position,
        velocity: if velocity.is_finite() { velocity } else { Vec2::ZERO },
        arrived: end == End::Arrived,
        blocked: end == End::Blocked,
        ..Stride::still(from, walker.heading)
    }
}

impl Stride {
    #[expect(clippy::cast_possible_truncation, reason = "an angle")]
    fn still(position: Vec2, heading: f64) -> Self {
        // Rounding may push the angle past a half turn, of which only one end belongs to the range.
        let heading = (heading as f32).min(core::f32::consts::PI);
        let heading = if heading <= -core::f32::consts::PI { core::f32::consts::PI } else { heading };
        Self { position, heading, velocity: Vec2::ZERO, arrived: false, blocked: false }
    }
}

/// Why a walk ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    TimeUp,
    Arrived,
    Blocked,
}

/// A unit on its way.
pub(super) struct Walker<'a> {
    pub(super) footing: Footing<'a>,
    pub(super) points: &'a [Vec2],
    pub(super) headway: Headway,
    pub(super) position: Vec2,
    heading: f64,
    speed: f64,
    turn_rate: f64,
    arrival: f64,
    slowed: bool,
    pub(super) reach: f64,
    /// Whether what it makes for now lies far ahead, because it goes beside its path.
    pub(super) keeps_lane: bool,
}

/// The longest step straight on, in reaches.
const LONGEST_STEP: f64 = 0.25;
/// The longest step in a curve, in reaches: so short that it hardly matters how time is cut.
const CURVE_STEP: f64 = 1.0 / 32.0;
/// Borders and radii are met to within this, in reaches.
const SHORTEST_STEP: f64 = 1.0 / 64.0;

impl Walker<'_> {
    fn run(&mut self, mut time: f64) -> End {
        let mut farthest = self.headway.next;
        let mut steps = self.allowance();
        let mut has_looked = false;
        loop {
            if self.has_arrived() {
                return End::Arrived;
            }
            // PERF: what lies ahead is looked at once in a short span, which halves its cost; but if no time passes,
            // too.
            if time <= 0.0 && has_looked {
                return End::TimeUp;
            }
            has_looked = true;
            let Some(target) = self.aim() else {
                return End::Blocked;
            };
            if self.headway.next > farthest {
                farthest = self.headway.next;
                steps = self.allowance();
            }
            if time <= 0.0 || steps == 0 {
                return End::TimeUp;
            }
            steps -= 1;
            time -= self.step(target, time);
            if f64::from(self.headway.owed.abs()) > self.reach {
                // Here floats are coarser than cells.
                self.headway.owed = 0.0;
                return End::Blocked;
            }
        }
    }

    /// More steps than the current leg can take. What is still in the way then is a mistake in the input, such as a
    /// point a light year off the map; the rest is left for the next call.
    fn allowance(&self) -> u32 {
        let leg = self.leg(self.headway.next);
        let length = leg.length + self.position.as_dvec2().distance(leg.end.as_dvec2());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is cut to the range")]
        let steps = (length / self.reach * 64.0).clamp(0.0, f64::from(1 << 20)) as u32;
        1024 + steps
    }

    /// Near the end in a clear line, and not only because the path happens to pass there earlier.
    fn has_arrived(&self) -> bool {
        let Some(last) = self.points.last() else { return false };
        let gap = self.gap(*last);
        let is_near = gap <= self.arrival && (gap == 0.0 || self.footing.is_clear(self.position, *last));
        is_near && self.is_left(2.0 * self.arrival)
    }

    /// Whether no more than `limit` of the path is left.
    fn is_left(&self, limit: f64) -> bool {
        let (mut at, mut sum) = (self.position, 0.0);
        self.points[self.headway.next..].iter().all(|point| {
            sum += at.as_dvec2().distance(point.as_dvec2());
            at = *point;
            sum <= limit
        })
    }

    /// Walks towards `target` for at most `time` and returns the time it took.
    fn step(&mut self, target: Vec2, time: f64) -> f64 {
        let to_target = target.as_dvec2() - self.position.as_dvec2();
        let distance = to_target.length();
        if distance <= self.rounding() {
            // So close that the direction is an accident.
            self.advance(target, distance, distance);
            return 0.0;
        }
        let angle = to_target.to_angle();
        let (sign, off) = if self.turn_rate == f64::INFINITY {
            self.heading = angle;
            (1.0, 0.0)
        } else {
            let off = wrap(angle - self.heading);
            (off.signum(), off.abs())
        };
        if off > FRAC_PI_2 || self.speed == 0.0 {
            // A hair more than needed, or rounding might leave it standing at the right angle.
            let needed =
                if self.speed == 0.0 { f64::INFINITY } else { (off - FRAC_PI_2 + 1e-3) / self.turn_rate };
            let used = needed.min(time);
            self.turn(sign, off, used);
            return used;
        }
        let slowness = if self.slowed { self.footing.slowness(self.position) } else { 1.0 };
        let speed = self.speed / slowness;
        let longest = self.longest_step(target, distance);
        let owed = f64::from(self.headway.owed);
        let at_full_speed = (longest - owed).max(longest / 8.0) / speed;
        let used = self.time_for(at_full_speed, off).min(time);
        let walked = speed * self.mean_cosine(off, used) * used;
        let length = owed + walked;
        let used = if length > distance && walked > 0.0 {
            used * ((distance - owed) / walked).clamp(0.0, 1.0)
        } else {
            used
        };
        self.turn(sign, off, used);
        self.advance(target, length, distance);
        used
    }

    fn turn(&mut self, sign: f64, off: f64, time: f64) {
        if off > 0.0 {
            self.heading = wrap(self.heading + sign * off.min(self.turn_rate * time));
        }
    }

    /// How long a step may be: short in curves, up to the border of the cell if the next may be slower ground, and
    /// up to the radius of arrival.
    fn longest_step(&self, target: Vec2, distance: f64) -> f64 {
        let mut longest = self.reach * LONGEST_STEP;
        let is_along = |leg: Leg, direction: DVec2| leg.direction.dot(direction) > 0.99999;
        let direction = (target.as_dvec2() - self.position.as_dvec2()) / distance;
        let (next, leg) = (self.headway.next, self.leg(self.headway.next));
        let before_curve = self.gap(leg.end) - self.reach;
        // Who keeps a lane comes back by a straight line.
        let curves = next > 0 && !self.keeps_lane && !is_along(leg, direction);
        if curves {
            longest = self.reach * CURVE_STEP;
        } else if next + 1 < self.points.len() && !is_along(self.leg(next + 1), direction) {
            longest = before_curve.clamp(self.reach * CURVE_STEP, longest);
        }
        if self.slowed {
            let (from, to) =
                (self.footing.layout.to_grid(self.position), self.footing.layout.to_grid(target));
            let (from, across) = (from.as_dvec2(), to.as_dvec2() - from.as_dvec2());
            let ahead =
                |at: f64, across: f64| if across > 0.0 { at.floor() + 1.0 - at } else { at - at.floor() };
            // Where the line runs along an axis it is infinitely far to the border, or not a number.
            let border =
                (ahead(from.x, across.x) / across.x.abs()).min(ahead(from.y, across.y) / across.y.abs());
            longest = longest.min(border * distance + self.reach / 256.0);
        }
        if let Some(last) = self.points.last() {
            let gap = self.gap(*last) - self.arrival;
            if self.arrival > 0.0 && gap > 0.0 {
                longest = longest.min(gap);
            }
        }
        longest.max(self.reach * SHORTEST_STEP)
    }

    /// How long a step takes that would take `at_full_speed` if the unit were not `off` its direction; or less, but
    /// never less than that. While it turns, the cosine grows by no more than the angle it turns, so the length is
    /// below time × (cosine + rate × time); this solves for time.
    fn time_for(&self, at_full_speed: f64, off: f64) -> f64 {
        if off <= 0.0 {
            return at_full_speed;
        }
        let cosine = off.cos().max(0.0);
        let root = (cosine * cosine + 4.0 * self.turn_rate * at_full_speed).sqrt();
        (2.0 * at_full_speed / (cosine + root)).max(at_full_speed)
    }

    /// The mean of the cosine of the angle the unit is off its direction while it turns towards it.
    fn mean_cosine(&self, off: f64, time: f64) -> f64 {
        let turning = (off / self.turn_rate).min(time);
        if off <= 0.0 {
            1.0
        } else if self.turn_rate * turning < 1e-6 {
            off.cos().max(0.0)
        } else {
            let while_turning = (off.sin() - (off - self.turn_rate * turning).sin()) / self.turn_rate;
            ((while_turning + time - turning) / time).clamp(0.0, 1.0)
        }
    }

    /// Moves by `length` towards a target in a clear line.
    fn advance(&mut self, target: Vec2, length: f64, distance: f64) {
        if length >= distance {
            self.position = target;
            self.headway.owed = 0.0;
            return;
        }
        let from = self.position.as_dvec2();
        let direction = (target.as_dvec2() - from) / distance;
        let leaves_a_wall = !self.footing.is_free(self.position);
        // Beside a corner, rounding may put the unit on the wrong side of it: then a little less or more.
        for part in [1.0, 0.75, 0.5, 1.25] {
            let length = (length * part).clamp(0.0, distance);
            let position = (from + direction * length).as_vec2();
            if leaves_a_wall || self.footing.is_clear(self.position, position) {
                self.position = position;
                break;
            }
        }
        // Only what leads to the target counts: where floats are coarse, a line is a staircase.
        let walked = (self.position.as_dvec2() - from).dot(direction);
        #[expect(clippy::cast_possible_truncation, reason = "about the length of a step")]
        let owed = (length - walked) as f32;
        self.headway.owed = owed;
    }

    /// A distance that means nothing: what floats cannot tell here, or nobody can see.
    pub(super) fn rounding(&self) -> f64 {
        let floats = f64::from(self.position.abs().max_element()) * 2.0 * f64::from(f32::EPSILON);
        floats.max(self.reach * 1e-4)
    }

    pub(super) fn gap(&self, point: Vec2) -> f64 {
        self.position.as_dvec2().distance(point.as_dvec2())
    }
}

/// An angle above -π and up to π.
fn wrap(angle: f64) -> f64 {
    if angle > -PI && angle <= PI {
        return angle;
    }
    let turned = angle.rem_euclid(TAU);
    if turned > PI { turned - TAU } else { turned }
}
