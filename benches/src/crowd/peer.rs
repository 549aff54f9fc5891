//! The peer: `dodgy_2d`, which is ORCA, told of the neighbours that our own lists name.

use std::borrow::Cow;

use dodgy_2d::{Agent, AvoidanceOptions};
use glam::Vec2;
use wayfare::avoid::{Body, Crowd};

use super::unit::{DT, SPEED, Unit};

/// How far it looks ahead, in seconds.
const HORIZON: f32 = 2.0;

/// How far away somebody is looked at.
const RANGE: f32 = 4.0;

/// The units as the peer sees them.
#[derive(Debug, Default)]
pub(crate) struct Dodgy {
    agents: Vec<Agent>,
    wanted: Vec<dodgy_2d::Vec2>,
    velocities: Vec<dodgy_2d::Vec2>,
}

impl Dodgy {
    /// Hands over the units. A game that uses the peer has them in this form, so this is not its cost.
    pub(crate) fn load<'a>(&mut self, bodies: impl Iterator<Item = &'a Body>) {
        self.agents.clear();
        self.wanted.clear();
        for body in bodies {
            self.agents.push(Agent {
                position: theirs(body.position),
                velocity: theirs(body.velocity),
                radius: body.radius,
                avoidance_responsibility: 1.0,
            });
            self.wanted.push(theirs(body.wanted));
        }
    }

    /// Its part of a step: neighbours from our lists, then a velocity for everybody.
    pub(crate) fn solve(&mut self, crowd: &mut Crowd) {
        crowd.sort(DT);
        let options =
            AvoidanceOptions { obstacle_margin: 0.0, time_horizon: HORIZON, obstacle_time_horizon: HORIZON };
        let mut near: Vec<Cow<'_, Agent>> = Vec::new();
        self.velocities.clear();
        for (index, (agent, wanted)) in self.agents.iter().zip(&self.wanted).enumerate() {
            near.clear();
            near.extend(
                crowd.neighbours_within(index, RANGE).map(|other| Cow::Borrowed(&self.agents[other])),
            );
            let velocity = agent.compute_avoiding_velocity(&near, &[], *wanted, SPEED, DT, &options);
            self.velocities.push(velocity);
        }
    }

    /// Moves the units by what it found.
    pub(crate) fn apply(&self, units: &mut [Unit]) {
        for (unit, velocity) in units.iter_mut().zip(&self.velocities) {
            unit.velocity = Vec2::new(velocity.x, velocity.y);
            unit.position += unit.velocity * DT;
        }
    }
}

/// It has an older version of the same vector.
fn theirs(vector: Vec2) -> dodgy_2d::Vec2 {
    dodgy_2d::Vec2::new(vector.x, vector.y)
}
