//! A unit as a game keeps it: in comes its errand, out goes the [`Body`] that it is in the next step.

use glam::Vec2;
use wayfare::avoid::{Body, Course, Disc, Memory, Stance};
use wayfare::prelude::{Footing, Gait, Headway, follow};

/// Steps are 1/20 s.
pub(crate) const DT: f32 = 0.05;

/// Of all units, unless a scene says otherwise.
pub(crate) const RADIUS: f32 = 0.4;

/// Of all units.
pub(crate) const SPEED: f32 = 3.0;

/// How close to its goal a unit has arrived, in radii.
const ARRIVAL: f32 = 0.5;

/// How close to its goal a unit that was told to settle counts as arrived, in radii. Where all share one goal, wherever it
/// is.
const SETTLED: f32 = 3.0;

/// One of the crowd.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) id: u64,
    pub(crate) position: Vec2,
    pub(crate) velocity: Vec2,
    pub(crate) heading: f32,
    pub(crate) radius: f32,
    pub(crate) priority: i8,
    pub(crate) goal: Vec2,
    /// Where it stood in the beginning.
    pub(crate) home: Vec2,
    /// Whether it was sent to its goal in the beginning, and so has to arrive there.
    pub(crate) is_sent: bool,
    pub(crate) errand: Errand,
    /// The way it follows; none where there is no map.
    pub(crate) points: Vec<Vec2>,
    pub(crate) headway: Headway,
    pub(crate) memory: Memory,
    /// The step in which it arrived.
    pub(crate) arrived: Option<u32>,
    /// The step in which its errand began.
    pub(crate) since: u32,
    /// Whether it sees nothing of its way any more.
    pub(crate) is_lost: bool,
}

/// What a unit is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Errand {
    /// On its way to the goal.
    Goes,
    /// On its way out of somebody's way.
    GivesWay { to: u64 },
    /// Out of that one's way, until it has passed.
    Waits { to: u64 },
    /// Arrived or settled, or never sent anywhere.
    Done,
    /// Will not move.
    Locked,
}

impl Unit {
    /// One that has to get from here to there.
    pub(crate) fn new(id: u64, position: Vec2, goal: Vec2) -> Self {
        Self {
            id,
            position,
            velocity: Vec2::ZERO,
            heading: 0.0,
            radius: RADIUS,
            priority: 0,
            goal,
            home: position,
            is_sent: true,
            errand: Errand::Goes,
            points: Vec::new(),
            headway: Headway::default(),
            memory: Memory::default(),
            arrived: None,
            since: 0,
            is_lost: false,
        }
    }

    /// One that stands around.
    pub(crate) fn standing(id: u64, position: Vec2) -> Self {
        Self { errand: Errand::Done, is_sent: false, ..Self::new(id, position, position) }
    }

    /// One that will not move.
    pub(crate) fn locked(id: u64, position: Vec2) -> Self {
        Self { errand: Errand::Locked, is_sent: false, ..Self::new(id, position, position) }
    }

    pub(crate) fn disc(&self) -> Disc {
        Disc { centre: self.position, radius: self.radius }
    }

    /// The points it has yet to pass.
    pub(crate) fn way(&self) -> &[Vec2] {
        match self.errand {
            Errand::Goes | Errand::GivesWay { .. } if self.points.is_empty() => {
                core::slice::from_ref(&self.goal)
            }
            Errand::Goes | Errand::GivesWay { .. } => {
                self.points.get(self.headway.next().min(self.points.len() - 1)..).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// Takes up an errand.
    pub(crate) fn begin(&mut self, errand: Errand, step: u32) {
        (self.errand, self.since) = (errand, step);
    }

    /// Whether it is at its goal.
    pub(crate) fn is_there(&self) -> bool {
        self.position.distance(self.goal) <= ARRIVAL * self.radius
    }

    /// Whether it may well end its way here, told so by the crowd.
    pub(crate) fn is_near(&self) -> bool {
        self.position.distance(self.goal) <= SETTLED * self.radius
    }

    /// What it is in the next step.
    pub(crate) fn body(&mut self, footing: Option<Footing<'_>>) -> Body {
        let walks = matches!(self.errand, Errand::Goes | Errand::GivesWay { .. });
        let wanted = if walks { self.wanted(footing) } else { Vec2::ZERO };
        let to_go = match footing {
            Some(_) => follow::remaining(&self.points, self.headway, self.position),
            None => self.position.distance(self.goal),
        };
        Body {
            id: self.id,
            position: self.position,
            velocity: self.velocity,
            wanted,
            radius: self.radius,
            speed: SPEED,
            priority: self.priority,
            stance: match self.errand {
                Errand::Goes | Errand::GivesWay { .. } => Stance::Walking,
                Errand::Waits { .. } | Errand::Done => Stance::Idle,
                Errand::Locked => Stance::Locked,
            },
            ground: footing.map(|_| 0),
            // On the way out of somebody's way nothing is in a hurry.
            course: (self.errand == Errand::Goes).then_some(Course { end: self.goal, to_go }),
            memory: self.memory,
            ..Body::default()
        }
    }

    /// Along its way if there is a map, else straight to the goal, at full speed but for the last step.
    fn wanted(&mut self, footing: Option<Footing<'_>>) -> Vec2 {
        let Some(footing) = footing else {
            return ((self.goal - self.position) / DT).clamp_length_max(SPEED);
        };
        let gait = Gait { speed: SPEED, slowed: false, ..Gait::default() };
        let headway = &mut self.headway;
        let stride = follow::walk(footing, &self.points, headway, self.position, self.heading, &gait, DT);
        self.heading = stride.heading;
        self.is_lost = stride.blocked;
        stride.velocity
    }
}
