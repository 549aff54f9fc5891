//! Which velocity a unit chooses: the one that gets it farthest on without meeting anybody.
//!
//! A walking unit looks in a fan of directions around the one it wants, and asks of each how long it could walk that
//! way before it met one of its neighbours, if they went on as they go. It takes the direction that leads closest to
//! where it would be without them, as pedestrians do in Mehdi Moussaïd, Dirk Helbing and Guy Theraulaz, "How simple
//! rules determine pedestrian behavior and crowd disasters", and slows down before whoever is in the way.

use glam::Vec2;

use super::crowd::RoadSide;
use super::mover::Mover;
use super::{Rung, Stance};

/// How far ahead a unit looks, in seconds.
pub(super) const HORIZON: f32 = 2.5;

/// How long before contact a unit begins to slow down, in seconds.
const BRAKING: f32 = 0.1;

/// Who is met sooner than this, in seconds, is in the way.
const IN_THE_WAY: f32 = 0.35;

/// Directions a unit looks in, as cosines and sines of angles to where it wants to go: straight on, then to the right
/// and left by turns, each farther out.
const FAN: usize = 12;
const COSINES: [f32; FAN] =
    [1.0, 0.983_8, 0.983_8, 0.921_1, 0.921_1, 0.764_8, 0.764_8, 0.497_6, 0.497_6, 0.070_7, 0.070_7, -0.588_5];
const SINES: [f32; FAN] = [
    0.0, -0.179, 0.179, -0.389_4, 0.389_4, -0.644_2, 0.644_2, -0.867_4, 0.867_4, -0.997_5, 0.997_5, -0.808_5,
];

/// What a direction to the wrong side costs more, and what one that is unlike the last.
const WRONG_SIDE: f32 = 0.15;
const FICKLE: f32 = 0.1;

/// How hard a unit that has nowhere to go presses on, as a part of its speed, and how far to the side in radians. It stops
/// when it is squeezed by this part of what it takes to touch.
const PRESS: f32 = 0.9;
const PRESS_ASIDE: f32 = 0.3;
const SQUEEZED: f32 = 0.06;

/// How much of their bodies idle units count for: they will step aside.
const SOFT: f32 = 0.5;

/// What a unit chose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// For one that walks, relative to where it wants to go and how fast; for an idle one the velocity itself.
    pub(super) turn: Vec2,
    /// Who is in its way, by place in the sorted order.
    pub(super) blocker: Option<u32>,
    /// For how long it may keep to that before it looks around again, in seconds.
    pub(super) keeps: f32,
}

impl Choice {
    pub(super) const STAND: Self = Self { turn: Vec2::ZERO, blocker: None, keeps: KEEPS };
}

/// How long a unit keeps to what it chose before it looks around again, in seconds. Somewhat shorter straight on, and
/// somewhat longer aside, by these parts of the time before it would meet somebody.
const KEEPS: f32 = 0.1;
const KEEPS_MOST: f32 = 0.2;
const KEEPS_STRAIGHT: f32 = 0.2;
const KEEPS_ASIDE: f32 = 0.1;

/// What a unit chooses that is on its way.
pub(super) fn walk(own: &Mover, near: &[u32], movers: &[Mover], side: RoadSide) -> Choice {
    let speed = own.wanted.length();
    if speed <= 0.0 {
        // The moment it wants something it looks again.
        return Choice { keeps: 0.0, ..Choice::STAND };
    }
    let ahead = own.wanted / speed;
    // On the left everything is mirrored.
    let hand = own.hand(side);
    let dodge = if own.rung == Rung::SideSteps { Vec2::from_angle(own.dodge * hand) } else { Vec2::X };
    let ahead = dodge.rotate(ahead);
    let fan = Fan::new(ahead * speed, hand);
    let mut free = [HORIZON; FAN];
    let (mut blocker, mut soonest, mut squeezed) = (None, IN_THE_WAY, 1.0_f32);
    for index in near {
        let other = &movers[*index as usize];
        let to = other.position - own.position;
        let (distance, full) = (to.length(), own.radius + other.radius);
        squeezed = squeezed.min(distance / full.max(f32::MIN_POSITIVE));
        let touch = if other.yields_to(own) { full * SOFT } else { full };
        // Whoever is touched already can still be passed.
        let touch = touch.min(distance * 0.995);
        fan.meet(&mut free, to, other.velocity, distance * distance - touch * touch);
        if free[0] < soonest {
            (blocker, soonest) = (Some(*index), free[0]);
        }
    }
    let best = fan.choose(&free, own.velocity / speed, side);
    let slow = (free[best] / BRAKING).min(1.0);
    let press = PRESS * (1.0 - (1.0 - squeezed) / SQUEEZED).clamp(0.0, 1.0);
    let queues = blocker.is_some_and(|blocker| {
        let other = &movers[blocker as usize];
        other.stance == Stance::Walking && other.wanted.dot(ahead) > 0.3 * other.speed
    });
    let turn = if slow < press && !queues {
        // Nowhere to go: it presses on, a little to the side on which it keeps.
        Vec2::from_angle(-PRESS_ASIDE * hand) * press
    } else {
        Vec2::new(COSINES[best], SINES[best] * hand) * slow
    };
    // One that has turned aside stays with it: whoever changes its mind too often blocks everybody.
    let keeps = match best {
        0 => (free[0] * KEEPS_STRAIGHT).min(KEEPS),
        _ => (KEEPS + free[best] * KEEPS_ASIDE).min(KEEPS_MOST),
    };
    Choice { turn: dodge.rotate(turn), blocker, keeps }
}

/// The directions a unit looks in, as velocities.
struct Fan {
    xs: [f32; FAN],
    ys: [f32; FAN],
}

impl Fan {
    #[inline]
    fn new(ahead: Vec2, hand: f32) -> Self {
        let (mut xs, mut ys) = ([0.0; FAN], [0.0; FAN]);
        for i in 0..FAN {
            xs[i] = ahead.x * COSINES[i] - ahead.y * SINES[i] * hand;
            ys[i] = ahead.x * SINES[i] * hand + ahead.y * COSINES[i];
        }
        Self { xs, ys }
    }

    /// Shortens the free time of each direction to that before another unit is met. `gap` is how much more the square of
    /// the distance is than that of touching.
    #[inline]
    #[expect(clippy::needless_range_loop, reason = "four arrays run in step")]
    fn meet(&self, free: &mut [f32; FAN], to: Vec2, velocity: Vec2, gap: f32) {
        // PERF: plain loops over arrays, which compilers turn into four lanes at a time.
        for i in 0..FAN {
            let (x, y) = (self.xs[i] - velocity.x, self.ys[i] - velocity.y);
            let square = x * x + y * y;
            let closing = to.x * x + to.y * y;
            let root = closing * closing - square * gap;
            let time = gap / (closing + root.max(0.0).sqrt());
            let time = if root >= 0.0 && closing > 0.0 { time } else { HORIZON };
            free[i] = if time < free[i] { time } else { free[i] };
        }
    }

    /// The direction that leads closest to where the unit would be if nobody were there. Its last velocity is given in
    /// parts of its speed.
    #[inline]
    fn choose(&self, free: &[f32; FAN], last: Vec2, side: RoadSide) -> usize {
        let wrong_side = if side == RoadSide::Either { 0.0 } else { WRONG_SIDE };
        let speed = Vec2::new(self.xs[0], self.ys[0]).length();
        let mut costs = [0.0; FAN];
        for i in 0..FAN {
            let part = free[i] * (1.0 / HORIZON);
            let aside = if SINES[i] > 0.0 { wrong_side } else { 0.0 };
            let alike = (self.xs[i] * last.x + self.ys[i] * last.y).min(speed);
            costs[i] = part * (part - 2.0 * COSINES[i]) + aside - FICKLE / speed * alike;
        }
        let (mut best, mut least) = (0, f32::INFINITY);
        for (i, cost) in costs.iter().enumerate() {
            if *cost < least {
                (best, least) = (i, *cost);
            }
        }
        best
    }
}

/// Where a unit steps that has nothing to do: out of the way of those who come, or nowhere.
pub(super) fn make_way(own: &Mover, near: &[u32], movers: &[Mover], side: RoadSide) -> Choice {
    let mut aside = Vec2::ZERO;
    for index in near {
        let other = &movers[*index as usize];
        if other.stance != Stance::Walking || !own.yields_to(other) {
            continue;
        }
        let speed = other.velocity.length();
        let course =
            if speed > 0.1 * other.speed { other.velocity / speed } else { other.wanted.normalize_or_zero() };
        let from = own.position - other.position;
        let along = from.dot(course);
        let touch = own.radius + other.radius;
        let room = ROOM * touch - course.perp_dot(from).abs();
        if along <= 0.0 || room <= 0.0 || along > touch + other.speed * WARNING {
            continue;
        }
        // To the side it is on already, or where the other one does not keep.
        let hand = other.hand(side);
        let far = course.perp() * hand;
        let way = if far.dot(from) >= -1e-3 * touch { far } else { -far };
        let time = ((along - touch) / other.speed.max(f32::MIN_POSITIVE)).max(HURRY);
        aside += way * (room / time);
    }
    Choice { turn: aside.clamp_length_max(own.speed * STROLL), ..Choice::STAND }
}

/// The velocity of an idle unit on its way back.
pub(super) fn go_home(own: &Mover) -> Vec2 {
    ((own.home - own.position) / HOMING).clamp_length_max(own.speed * STROLL)
}

/// How much more than touching an idle unit leaves to one who comes.
const ROOM: f32 = 1.05;
/// How long before somebody comes an idle unit makes way, and how long it takes for it at least, in seconds.
const WARNING: f32 = 1.0;
const HURRY: f32 = 0.2;
/// How fast idle units move, as a part of their speed, and in how many seconds they would be home if nothing held them.
const STROLL: f32 = 0.8;
const HOMING: f32 = 0.25;
