//! What comes into a step and what goes out of it, unit by unit.

use glam::Vec2;

use super::ladder::Memory;

/// A unit before a step.
///
/// Values that make no sense are no error: a position that is not finite takes the unit out of the step; a velocity
/// that is not finite counts as none; a radius or speed that is negative or not a number counts as 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Body {
    /// Its name: stable over steps, and no two units share it. Ties are broken by it, so the same names give the same
    /// result.
    pub id: u64,
    /// Where it is.
    pub position: Vec2,
    /// How it moved in the last step.
    pub velocity: Vec2,
    /// How it would like to move. What an idle or locked unit would like does not count.
    pub wanted: Vec2,
    /// How far its body reaches.
    pub radius: f32,
    /// How fast it can be.
    pub speed: f32,
    /// Of two units, the one of lower priority gives way.
    pub priority: i8,
    /// Whom it avoids, and who avoids it.
    pub layers: Layers,
    /// What it is about.
    pub stance: Stance,
    /// Which of the grounds given to the step it walks on; `None` for one that walls do not stop.
    pub ground: Option<u8>,
    /// The way it has to go, if it follows one: what progress is measured by.
    pub course: Option<Course>,
    /// What it remembers: the default at first, later what the last [`Outcome`] says.
    pub memory: Memory,
}

impl Default for Body {
    fn default() -> Self {
        Self {
            id: 0,
            position: Vec2::ZERO,
            velocity: Vec2::ZERO,
            wanted: Vec2::ZERO,
            radius: 0.4,
            speed: 3.0,
            priority: 0,
            layers: Layers::default(),
            stance: Stance::default(),
            ground: None,
            course: None,
            memory: Memory::default(),
        }
    }
}

/// What a unit is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Stance {
    /// On its way.
    #[default]
    Walking,
    /// Nothing to do: it makes way for those who have, and returns to where it stood.
    Idle,
    /// Stays where it is, whoever comes.
    Locked,
}

/// Layers a unit is on, and layers whose units it avoids, as bits. Flyers and those on the ground ignore each other if
/// neither is on a layer the other avoids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layers {
    /// The layers it is on.
    pub on: u32,
    /// The layers whose units it avoids.
    pub avoids: u32,
}

impl Layers {
    /// On one layer, by its number below 32, and avoiding whoever is on it. Higher numbers are taken modulo 32.
    pub const fn only(layer: u32) -> Self {
        let bit = 1 << (layer % 32);
        Self { on: bit, avoids: bit }
    }

    /// Whether a unit with these layers avoids one with those.
    pub const fn avoid(self, other: Self) -> bool {
        self.avoids & other.on != 0
    }
}

/// On the first layer, avoiding whoever is on it.
impl Default for Layers {
    fn default() -> Self {
        Self::only(0)
    }
}

/// What is left of a unit's way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Course {
    /// Where it ends. Units whose ways end close to each other share the ground there.
    pub end: Vec2,
    /// How long it still is, along its points: [`follow::remaining`](crate::follow::remaining).
    pub to_go: f32,
}

/// A unit after a step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Where it is: clear of walls and, as far as there is room, of others.
    pub position: Vec2,
    /// The velocity that takes it there.
    pub velocity: Vec2,
    /// What it remembers; hand it in with the next step.
    pub memory: Memory,
    /// Who is in its way.
    pub blocker: Option<u64>,
    /// What its owner should do about its way. Said once, not again in every step.
    pub advice: Advice,
}

impl Outcome {
    /// Of a unit that took no part in the step.
    pub(super) const fn unmoved(body: &Body) -> Self {
        Self {
            position: body.position,
            velocity: Vec2::ZERO,
            memory: body.memory,
            blocker: None,
            advice: Advice::GoOn,
        }
    }
}

/// What the owner of a unit should do about its way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[non_exhaustive]
pub enum Advice {
    /// Nothing: follow it.
    #[default]
    GoOn,
    /// End it here. The units that have arrived before it stand so close that it comes no nearer.
    Settle,
    /// Leave it, get out of somebody's way to a [`bay`](super::bay::find_bay), and take it up again when that one
    /// [has passed](super::bay::has_passed).
    GiveWay {
        /// For whom.
        to: u64,
    },
    /// It has nothing to do, and walls or others keep it from where it stood: lead it [back](super::bay::find_way_home).
    GoHome,
    /// Search again with those who stand around as a cost: [`Crowd::standing_around`](super::Crowd::standing_around)
    /// and [`Snapshot::burdened`](crate::Snapshot::burdened).
    PlanAround,
    /// Search again from scratch.
    Replan,
    /// Nothing helped. Tell the game.
    Stuck,
}
