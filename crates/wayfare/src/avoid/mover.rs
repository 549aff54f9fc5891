//! A unit as its neighbours see it: what of a [`Body`] counts in a step, made sane, and who yields to whom.

use glam::Vec2;

use super::steer::go_home;
use super::{Body, RoadSide, Rung, Stance};

/// What of a [`Body`] counts in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    pub(super) position: Vec2,
    pub(super) velocity: Vec2,
    /// Zero for a unit that does not walk.
    pub(super) wanted: Vec2,
    /// Where its way ends, or where it has settled; not a number if neither.
    pub(super) end: Vec2,
    /// Where it stands when nobody pushes it.
    pub(super) home: Vec2,
    pub(super) radius: f32,
    pub(super) speed: f32,
    /// The angle it side-steps by where the right is its side.
    pub(super) dodge: f32,
    /// How readily it lets itself be moved.
    pub(super) ease: f32,
    pub(super) stance: Stance,
    pub(super) rung: Rung,
    /// Whether it looks around in this step, or keeps to what it chose.
    pub(super) looks: bool,
    pub(super) choice: Vec2,
    pub(super) priority: i8,
    pub(super) ground: Option<u8>,
    pub(super) id: u64,
}

/// The sine of the angle from which on a way bends.
const BENDS: f32 = 0.05;

/// How far a unit gets in a step at most. Nobody is thrown far, however deep it was in others.
#[inline]
pub(super) fn longest_step(radius: f32, speed: f32, dt: f32) -> f32 {
    (1.5 * speed * dt).max(0.25 * radius)
}

/// What is negative or not a number counts as nothing; what is beyond all reason as that.
pub(super) fn sane(value: f32) -> f32 {
    if value > 0.0 { value.min(1e9) } else { 0.0 }
}

fn sane_velocity(velocity: Vec2, most: f32) -> Vec2 {
    if velocity.is_finite() { velocity.clamp_length_max(most) } else { Vec2::ZERO }
}

impl Mover {
    /// Fills a place that is still to be written.
    pub(super) const NOBODY: Self = Self {
        position: Vec2::NAN,
        velocity: Vec2::ZERO,
        wanted: Vec2::ZERO,
        end: Vec2::NAN,
        home: Vec2::NAN,
        radius: 0.0,
        speed: 0.0,
        dodge: 0.0,
        ease: 0.0,
        stance: Stance::Locked,
        rung: Rung::Free,
        looks: false,
        choice: Vec2::ZERO,
        priority: 0,
        ground: None,
        id: 0,
    };

    pub(super) fn new(body: &Body, dt: f32) -> Self {
        let speed = sane(body.speed);
        let wanted = match body.stance {
            Stance::Walking => sane_velocity(body.wanted, speed),
            Stance::Idle | Stance::Locked => Vec2::ZERO,
        };
        let memory = &body.memory;
        Self {
            position: body.position,
            velocity: sane_velocity(body.velocity, 2.0 * speed),
            wanted,
            end: memory.end_of(body),
            home: memory.home_of(body),
            radius: sane(body.radius),
            speed,
            dodge: memory.dodge(),
            ease: if body.stance == Stance::Idle { memory.ease() } else { 1.0 },
            stance: body.stance,
            rung: memory.rung,
            looks: memory.looks_around(body.stance, dt),
            choice: memory.choice,
            priority: body.priority,
            ground: body.ground,
            id: body.id,
        }
    }

    /// The velocity it goes with, if it chose this.
    pub(super) fn velocity_for(&self, turn: Vec2) -> Vec2 {
        match self.stance {
            Stance::Walking => turn.rotate(self.wanted),
            Stance::Idle if turn == Vec2::ZERO => go_home(self) * self.ease,
            Stance::Idle => turn,
            Stance::Locked => Vec2::ZERO,
        }
    }

    /// Its side of the road: 1 for the right, -1 for the left. Where the rules name none, it is the one that its way bends
    /// to in the end; on a way that does not, everybody's is the same, so that two who meet choose different ones.
    pub(super) fn hand(&self, side: RoadSide) -> f32 {
        match side {
            RoadSide::Right => 1.0,
            RoadSide::Left => -1.0,
            RoadSide::Either => {
                let to_end = self.end - self.position;
                let (left, straight) = (self.wanted.perp_dot(to_end), self.wanted.length() * to_end.length());
                if left > BENDS * straight { -1.0 } else { 1.0 }
            }
        }
    }

    #[inline]
    pub(super) fn longest_step(&self, dt: f32) -> f32 {
        longest_step(self.radius, self.speed, dt)
    }

    /// Whether it steps aside for another one: an idle unit does, unless it has settled where the other one wants to.
    #[inline]
    pub(super) fn yields_to(&self, other: &Self) -> bool {
        self.stance == Stance::Idle && !self.has_settled_before(other)
    }

    /// Whether this one has settled where there is no room for both.
    #[inline]
    fn has_settled_before(&self, other: &Self) -> bool {
        self.stance == Stance::Idle && self.wants_where(other)
    }

    /// Whether both want, or are, where there is no room for both.
    #[inline]
    pub(super) fn wants_where(&self, other: &Self) -> bool {
        let near = 0.9 * (self.radius + other.radius);
        // False if either has no end.
        self.end.distance_squared(other.end) < near * near
    }

    /// How much of an overlap this one makes up for; the other one makes up for the rest.
    #[inline]
    pub(super) fn share(&self, other: &Self, to_other: Vec2) -> f32 {
        match (self.stance, other.stance) {
            (Stance::Locked, _) => return 0.0,
            (_, Stance::Locked) => return 1.0,
            (Stance::Walking, Stance::Idle) if other.has_settled_before(self) => return 0.9,
            (Stance::Idle, Stance::Walking) if self.has_settled_before(other) => return 0.1,
            _ => {}
        }
        if self.priority != other.priority {
            return if self.priority < other.priority { 0.85 } else { 0.15 };
        }
        match (self.stance, other.stance) {
            (Stance::Idle, Stance::Walking) => 0.7,
            (Stance::Walking, Stance::Idle) => 0.3,
            _ => {
                // Whoever comes from behind makes room.
                let own = self.wanted.dot(to_other) / self.speed.max(1e-6);
                let others = -other.wanted.dot(to_other) / other.speed.max(1e-6);
                (0.5 + 0.25 * (own - others)).clamp(0.3, 0.7)
            }
        }
    }

    /// The way out of another unit that is in the very same place: each has its own, by its name.
    pub(super) fn apart(&self, other: &Self) -> Vec2 {
        (self.away() - other.away()).normalize_or(if self.id < other.id { Vec2::X } else { Vec2::NEG_X })
    }

    fn away(&self) -> Vec2 {
        // The golden angle spreads names evenly over the circle.
        #[expect(clippy::cast_precision_loss, reason = "any angle will do")]
        let turns = (self.id % 65_536) as f32 * 0.618_034;
        Vec2::from_angle(turns.fract() * core::f32::consts::TAU)
    }
}
