//! What a unit does that gets no farther: one rung after the other, from waiting to giving up.
//!
//! Progress is measured along the way, not by speed: a unit that is carried about by a crowd moves and gets nowhere.

use glam::Vec2;

use super::mover::Mover;
use super::steer::Choice;
use super::{Advice, Body, Stance};

/// What a unit remembers from one step to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    pub(super) rung: Rung,
    /// For how long it has been on this rung, in seconds.
    waited: f32,
    /// For how long it has made no progress.
    stalled: f32,
    /// The least it had to go, and where the way ended then.
    best: f32,
    /// What it had to go when it last looked around.
    to_go: f32,
    end: Vec2,
    /// Where it stands when nobody pushes it; not a number while it walks.
    home: Vec2,
    /// Where the last step left it. If it is elsewhere, somebody has put it there.
    left: Vec2,
    /// Until when it outranks those it met, because it has nowhere to go, in seconds.
    cornered: f32,
    /// Until when it is not told to give way again.
    given: f32,
    has_settled: bool,
    /// For how long nobody but those has been in its way who have settled where it wants to, in seconds.
    settling: f32,
    /// For how long it has stood among others who stand, in seconds.
    pressed: f32,
    /// For how long it has stood away from home, in seconds.
    strayed: f32,
    /// What it chose when it last looked around: for one that walks, relative to where it wants to go and how fast; for an
    /// idle one the velocity itself.
    pub(super) choice: Vec2,
    /// How long it keeps to that, in seconds, and how long it has.
    pub(super) keeps: f32,
    kept: f32,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            rung: Rung::Free,
            waited: 0.0,
            stalled: 0.0,
            best: f32::INFINITY,
            to_go: 0.0,
            end: Vec2::NAN,
            home: Vec2::NAN,
            left: Vec2::NAN,
            cornered: 0.0,
            given: 0.0,
            has_settled: false,
            settling: 0.0,
            pressed: 0.0,
            strayed: 0.0,
            choice: Vec2::ZERO,
            keeps: 0.0,
            kept: 0.0,
        }
    }
}

/// A rung of the ladder that a unit climbs while it makes no progress along its way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Rung {
    /// It gets on.
    #[default]
    Free,
    /// It waits: perhaps the way clears by itself.
    Waits,
    /// It tries to get past on its side of the road, then on the other.
    SideSteps,
    /// It asks whoever is in the way to make room.
    Asks,
    /// It looks for a way around those who stand in the way.
    PlansAround,
    /// It looks for a new way from scratch.
    Replans,
    /// It has given up, and its owner knows.
    Stuck,
}

/// How long a unit stays on a rung before it climbs to the next, in seconds.
const PATIENCE: [f32; 7] = [0.25, 0.3, 0.4, 0.8, 1.5, 3.0, 10.0];

/// How much longer it waits in a queue: whoever is ahead of it wants the same.
const QUEUEING: f32 = 4.0;

/// How long a queue may stand still before those in it go on up the ladder, in seconds.
const STANDSTILL: f32 = 30.0;

/// How long it takes to see that somebody will never move, in seconds.
const AT_ONCE: f32 = 0.1;

/// How long one that found no bay outranks the other, and how long one is not told to give way again.
const CORNERED: f32 = 6.0;
const GIVEN: f32 = 2.0;

/// How near to its end, in radii, a unit counts as having come there.
const THERE: f32 = 2.0;

/// How near to its end, in radii, is near enough if somebody is in the way.
const CLOSE: f32 = 0.5;

/// How near to its end, in radii, a unit that is wedged in settles, and after how many seconds.
const NEARBY: f32 = 4.0;
const WEDGED: f32 = 1.5;

/// How long units that stand jostle for room, in seconds; then they give in, little by little, and after as long again they
/// stand as they stand. What one feels of somebody who is pressed less, it feels so much weaker.
const JOSTLES: f32 = 4.0;
const HEARSAY: f32 = 0.5;

/// How far from home, in radii, an idle unit has strayed that stands, and how long it stands there before it is said so, in
/// seconds.
const ASTRAY: f32 = 2.0;
const STRAYED: f32 = 1.0;

/// How long somebody who stands in the way at the goal is put up with, in seconds, and how long if those who have settled there
/// leave room for more: else those who come in a column settle in one.
const SETTLING: f32 = 0.5;
const LOOSE: f32 = 2.0;

impl Memory {
    /// Which rung of the ladder the unit is on.
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Where an idle unit returns to when nobody is in its way any more. `None` while it walks.
    pub fn home(&self) -> Option<Vec2> {
        self.home.is_finite().then_some(self.home)
    }

    /// Whether an idle unit is making way, and will turn back when it next looks around and nobody is there, or is about to be
    /// told to [go home](super::Advice::GoHome): it has not come to rest, though a wall may hold it where it is.
    pub fn makes_way(&self) -> bool {
        self.home.is_finite() && (self.choice != Vec2::ZERO || (0.0 < self.strayed && self.strayed < STRAYED))
    }

    /// For one that was told to [give way](super::Advice::GiveWay) and found no bay: now the other one has to.
    pub fn be_cornered(&mut self) {
        self.cornered = CORNERED;
    }

    /// For one that stands, when something has changed around it: perhaps there is more room now.
    pub fn rouse(&mut self) {
        self.pressed = 0.0;
    }

    /// How readily an idle unit lets itself be moved by others who stand, from 1 to 0.
    pub(super) fn ease(&self) -> f32 {
        (2.0 - self.pressed / JOSTLES).clamp(0.0, 1.0)
    }

    /// Notes for how long it has been pressed, as those it may touch have, or have not: `None` if it is not.
    pub(super) fn press(&mut self, others: Option<f32>, dt: f32) {
        self.pressed =
            others.map_or(0.0, |others| (self.pressed + dt).min(others + HEARSAY).min(2.0 * JOSTLES));
    }

    pub(super) const fn pressed(&self) -> f32 {
        self.pressed
    }

    /// Whether an idle unit that ends a step at `place` has strayed from home, if others hold it there or nobody does. Those
    /// who have settled in a crowd stand as they stand.
    pub(super) fn is_astray(&self, place: Vec2, radius: f32, is_held: bool) -> bool {
        let is_far = place.distance_squared(self.home) > (ASTRAY * radius).powi(2);
        is_far && !(is_held && self.has_settled)
    }

    /// Notes whether it stands astray. Returns whether it is to be told: once, until it has got on.
    pub(super) fn stray(&mut self, is_astray: bool, dt: f32) -> bool {
        let before = self.strayed;
        self.strayed = if is_astray { before + dt } else { 0.0 };
        before < STRAYED && self.strayed >= STRAYED
    }

    /// The angle it side-steps by where the right is its side: to the right first, then to the left.
    pub(super) fn dodge(&self) -> f32 {
        let half = 0.5 * PATIENCE[Rung::SideSteps as usize];
        if self.waited < half { -1.1 } else { 1.1 }
    }

    /// Whether the unit looks around in a step, or keeps to what it chose a moment ago.
    pub(super) fn looks_around(&self, stance: Stance, dt: f32) -> bool {
        let was_walking = !self.home.is_finite();
        self.keeps <= 0.5 * dt || (stance == Stance::Walking) != was_walking
    }

    /// Notes what it chose. Returns how long it kept to what it chose before.
    pub(super) fn choose(&mut self, choice: &Choice) -> f32 {
        (self.choice, self.keeps) = (choice.turn, choice.keeps);
        core::mem::take(&mut self.kept)
    }

    pub(super) fn home_of(&self, body: &Body) -> Vec2 {
        let is_moved = body.position.distance_squared(self.left) > (0.25 * body.radius).powi(2);
        if self.home.is_finite() && !is_moved { self.home } else { body.position }
    }

    pub(super) fn end_of(&self, body: &Body) -> Vec2 {
        match body.stance {
            Stance::Walking => body.course.map_or(Vec2::NAN, |course| course.end),
            Stance::Idle if self.has_settled => self.end,
            _ => Vec2::NAN,
        }
    }

    /// What the memory of a unit becomes in a step of `dt` seconds that it ends at `place`.
    pub(super) fn remember(&mut self, body: &Body, mover: &Mover, place: Vec2, dt: f32) {
        self.cornered = (self.cornered - dt).max(0.0);
        self.given = (self.given - dt).max(0.0);
        self.keeps -= dt;
        self.kept += dt;
        match body.stance {
            Stance::Walking => {
                (self.home, self.has_settled) = (Vec2::NAN, false);
                if let Some(course) = body.course {
                    let is_new = self.end.distance_squared(course.end) > (0.01 * body.radius).powi(2);
                    if is_new || !self.end.is_finite() {
                        (self.end, self.best) = (course.end, f32::INFINITY);
                    }
                } else {
                    (self.end, self.best) = (Vec2::NAN, f32::INFINITY);
                    self.climb_down();
                }
            }
            Stance::Idle | Stance::Locked => {
                if !self.home.is_finite() {
                    self.has_settled |= self.end.distance(body.position) <= THERE * body.radius;
                } else if self.home != mover.home {
                    // Somebody has put it elsewhere.
                    (self.has_settled, self.pressed) = (false, 0.0);
                }
                self.home = mover.home;
                self.best = f32::INFINITY;
                self.climb_down();
            }
        }
        self.left = place;
    }

    /// An idle unit stands here from now on.
    pub(super) fn settle_at(&mut self, home: Vec2) {
        self.home = home;
    }

    fn climb_down(&mut self) {
        (self.rung, self.waited, self.stalled, self.settling) = (Rung::Free, 0.0, 0.0, 0.0);
    }
}

/// How a unit and whoever is in its way stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Block {
    /// Nobody is in the way.
    None,
    /// Somebody who goes the same way.
    Queue,
    /// Somebody whose way leads the other way, or who is blocked by this one in turn.
    Mutual,
    /// Somebody who has nothing to do.
    Idle,
    /// Somebody who has arrived where this one wants to.
    Settled,
    /// Somebody who never moves.
    Locked,
}

/// Lets a walking unit with a way climb up or down the ladder. Returns what its owner should do.
///
/// `rival` is whoever is in its way, if both want to the same place, and `has_room` whether there is room for more.
pub(super) fn climb(
    memory: &mut Memory,
    (body, mover): (&Body, &Mover),
    block: Block,
    rival: Option<&Mover>,
    has_room: bool,
    dt: f32,
) -> Advice {
    let (Stance::Walking, Some(course)) = (body.stance, body.course) else {
        return Advice::GoOn;
    };
    // Where everybody wants to, nobody comes to stand exactly.
    let is_close = course.to_go.max(body.position.distance(course.end)) <= CLOSE * body.radius;
    if is_close && (rival.is_some() || block == Block::Locked) {
        memory.climb_down();
        memory.has_settled = true;
        return Advice::Settle;
    }
    // Nobody is carried back that far: the way is another one.
    let most = 2.0 * mover.speed * dt + mover.radius;
    if course.to_go > memory.to_go + most {
        (memory.best, memory.waited) = (course.to_go, 0.0);
    }
    memory.to_go = course.to_go;
    // A tenth of what it wants is progress enough: it may be slow for a reason.
    let pace = mover.wanted.length();
    let enough = 0.1 * pace * PATIENCE[0];
    if course.to_go < memory.best - enough || !memory.best.is_finite() {
        memory.best = course.to_go;
        memory.climb_down();
        return Advice::GoOn;
    }
    if pace == 0.0 {
        memory.climb_down();
        return Advice::GoOn;
    }
    memory.waited += dt;
    memory.stalled += dt;
    memory.settling = if block == Block::Settled { memory.settling + dt } else { 0.0 };
    let is_enough = if has_room { memory.settling >= LOOSE } else { memory.waited >= SETTLING };
    if block == Block::Settled && is_enough {
        memory.climb_down();
        memory.has_settled = true;
        return Advice::Settle;
    }
    // Nobody is straight ahead, but bodies and walls leave no room for the last bit.
    let is_near = course.to_go <= NEARBY * body.radius;
    if block == Block::None && is_near && memory.stalled >= WEDGED {
        memory.climb_down();
        memory.has_settled = true;
        return Advice::Settle;
    }
    let patience = match (memory.rung, block) {
        (Rung::Free | Rung::Waits, Block::Locked) => AT_ONCE,
        (Rung::Waits | Rung::PlansAround, Block::Queue) => QUEUEING,
        (rung, _) => PATIENCE[rung as usize],
    };
    if memory.waited < patience {
        return Advice::GoOn;
    }
    memory.waited = 0.0;
    let (rung, advice) = match memory.rung {
        // Who never moves, or wants the same, will not hear of it; but perhaps there is another way.
        Rung::Waits if matches!(block, Block::Queue | Block::Locked) => {
            (Rung::PlansAround, Advice::PlanAround)
        }
        Rung::Waits => (Rung::SideSteps, Advice::GoOn),
        Rung::SideSteps => (Rung::Asks, Advice::GoOn),
        Rung::Asks => (Rung::PlansAround, Advice::PlanAround),
        Rung::PlansAround if block == Block::Queue && memory.stalled < STANDSTILL => {
            (Rung::Waits, Advice::GoOn)
        }
        Rung::PlansAround => (Rung::Replans, Advice::Replan),
        Rung::Replans => (Rung::Stuck, Advice::Stuck),
        // After a while, one that is stuck tries everything again.
        Rung::Free | Rung::Stuck => (Rung::Waits, Advice::GoOn),
    };
    memory.rung = rung;
    advice
}

impl Memory {
    pub(super) fn is_cornered(&self) -> bool {
        self.cornered > 0.0
    }

    /// Returns whether the unit should give way: not if it was told so a moment ago.
    pub(super) fn give_way(&mut self) -> bool {
        let is_told = self.given <= 0.0;
        if is_told {
            self.given = GIVEN;
            self.climb_down();
        }
        is_told
    }
}
