//! What a step comes to for each unit: where it is, what it remembers, and what it is advised to do.
//!
//! Comes in: where contact left everybody. Goes out: the outcomes, in the order of input.

use core::cmp::Reverse;

use glam::Vec2;

use super::crowd::{Crowd, Move, NOWHERE, part_size, walls_of};
use super::ladder::{Block, climb};
use super::mover::Mover;
use super::{Advice, Body, Outcome, Rung, Spread, Stance};
use crate::follow::Footing;

impl Crowd {
    /// Writes the outcomes.
    pub(super) fn judge(&mut self, dt: f32, grounds: &[Footing<'_>], spread: &impl Spread) {
        self.gathering.count(self.widest, &self.movers);
        let mut outcomes = core::mem::take(&mut self.outcomes);
        outcomes.clear();
        outcomes.extend(self.bodies.iter().map(Outcome::unmoved));
        let size = part_size(outcomes.len(), spread);
        let parts = (0..).step_by(size).zip(outcomes.chunks_mut(size));
        spread.each(parts, |(first, outcomes): (usize, &mut [Outcome])| {
            for (number, outcome) in (first..).zip(outcomes) {
                if self.sorted[number] != NOWHERE {
                    self.conclude(number, outcome, dt, grounds);
                }
            }
        });
        self.outcomes = outcomes;
        self.ask(grounds);
        self.answer();
    }

    /// The outcome of one unit.
    fn conclude(&self, number: usize, outcome: &mut Outcome, dt: f32, grounds: &[Footing<'_>]) {
        let own = self.sorted[number] as usize;
        let (mover, step, body) = (&self.movers[own], &self.moves[own], &self.bodies[number]);
        let mut place = if dt > 0.0 { self.ahead[own] } else { mover.position };
        let (gone, most) = (place - mover.position, mover.longest_step(dt));
        if gone.length_squared() > most * most {
            place = mover.position + gone.clamp_length_max(most);
            if let Some(walls) = walls_of(grounds, step.walls) {
                place = walls.carry(mover.position, place, mover.radius);
            }
        }
        outcome.position = place;
        outcome.velocity = if dt > 0.0 { (place - mover.position) / dt } else { Vec2::ZERO };
        outcome.memory.remember(body, mover, place, dt);
        outcome.memory.press(pressed(own, &self.moves, &self.movers, &self.bodies, &self.order), dt);
        if let Some(exit) = step.exit {
            outcome.memory.settle_at(exit);
        } else if mover.stance == Stance::Idle && is_cramped(own, &self.moves, &self.movers) {
            outcome.memory.settle_at(place);
        }
        if mover.looks {
            let choice = step.choice;
            let kept = outcome.memory.choose(&choice);
            let block = block(&self.movers, own, choice.blocker);
            outcome.blocker = choice.blocker.map(|blocker| self.movers[blocker as usize].id);
            let other = choice.blocker.map(|blocker| &self.movers[blocker as usize]);
            let rival = other.filter(|other| other.wants_where(mover));
            outcome.advice =
                climb(&mut outcome.memory, (body, mover), block, rival, self.gathering.has_room(mover), kept);
        }
        let is_astray = self.stands_astray(own, outcome);
        if outcome.memory.stray(is_astray, dt) {
            outcome.advice = Advice::GoHome;
        }
    }

    /// Whether a unit that has nothing to do stands away from home, and nobody is about from whom that may be.
    fn stands_astray(&self, own: usize, outcome: &Outcome) -> bool {
        let (mover, step) = (&self.movers[own], &self.moves[own]);
        let near = step.touching.as_slice();
        mover.stance == Stance::Idle
            && step.choice.turn == Vec2::ZERO
            && outcome.velocity.length() < STANDS * mover.speed
            && near.iter().all(|other| self.movers[*other as usize].stance != Stance::Walking)
            && outcome.memory.is_astray(outcome.position, mover.radius, !near.is_empty())
    }

    /// Finds out who has to give way to whom, because one of them asks for room: the one who is idle, or else the one of
    /// lower rank. Of several, the one with the lowest name is heard.
    fn ask(&mut self, grounds: &[Footing<'_>]) {
        self.asked_by.clear();
        self.asked_by.resize(self.order.len(), None);
        for (own, (number, _)) in (0..).zip(&self.order) {
            let Some(blocker) = self.moves[own as usize].choice.blocker else { continue };
            let block = block(&self.movers, own as usize, Some(blocker));
            // Idle ones are asked at once, or they would be pushed along a lane to its end.
            let asks = self.outcomes[*number as usize].memory.rung() == Rung::Asks || block == Block::Idle;
            if !asks || self.has_room(own as usize, blocker as usize, grounds) {
                continue;
            }
            let (asked, by) = match block {
                Block::Idle => (blocker, own),
                Block::Mutual if self.outranks(own, blocker) => (blocker, own),
                Block::Mutual => (own, blocker),
                Block::None | Block::Queue | Block::Settled | Block::Locked => continue,
            };
            let heard = &mut self.asked_by[asked as usize];
            let name = |place: u32| self.order[place as usize].1;
            if heard.is_none_or(|other: u32| name(by) < name(other)) {
                *heard = Some(by);
            }
        }
    }

    /// Whether a unit could get past another one on either side, if that one stood still.
    fn has_room(&self, own: usize, other: usize, grounds: &[Footing<'_>]) -> bool {
        let (mover, other) = (&self.movers[own], &self.movers[other]);
        let Some(walls) = walls_of(grounds, mover.ground) else {
            return true;
        };
        let aside = mover.wanted.perp().normalize_or_zero() * (mover.radius + other.radius);
        // Beside the other one, and beside itself: there, too.
        let is_clear = |at: Vec2| walls.is_clear(at, mover.radius);
        [aside, -aside]
            .into_iter()
            .any(|aside| is_clear(other.position + aside) && is_clear(mover.position + aside))
    }

    fn outranks(&self, own: u32, other: u32) -> bool {
        let rank = |place: u32| {
            let (number, name) = self.order[place as usize];
            let is_cornered = self.outcomes[number as usize].memory.is_cornered();
            (is_cornered, self.bodies[number as usize].priority, Reverse(name))
        };
        rank(own) > rank(other)
    }

    /// Tells those who have to that they give way.
    fn answer(&mut self) {
        for (own, by) in self.asked_by.iter().enumerate() {
            let Some(by) = by else { continue };
            let outcome = &mut self.outcomes[self.order[own].0 as usize];
            if outcome.memory.give_way() {
                outcome.advice = Advice::GiveWay { to: self.order[*by as usize].1 };
            }
        }
    }
}

/// Whether an idle unit has no room at home, because somebody else who stands has the same and is of no lower priority: of
/// two, that one gives way. While somebody walks past, that remains to be seen.
fn is_cramped(own: usize, moves: &[Move], movers: &[Mover]) -> bool {
    let (mover, near) = (&movers[own], moves[own].touching.as_slice());
    let mut others = near.iter().map(|other| &movers[*other as usize]);
    let has_same_home = |other: &Mover| {
        let near = CRAMPED * (mover.radius + other.radius);
        other.priority >= mover.priority && other.home.distance_squared(mover.home) < near * near
    };
    others.clone().any(has_same_home) && others.all(|other| other.stance != Stance::Walking)
}

/// For how long the least pressed of those have been whom an idle unit may touch. `None` if nobody presses it.
fn pressed(
    own: usize,
    moves: &[Move],
    movers: &[Mover],
    bodies: &[Body],
    order: &[(u32, u64)],
) -> Option<f32> {
    let near = moves[own].touching.as_slice();
    if movers[own].stance != Stance::Idle || moves[own].choice.turn != Vec2::ZERO || near.is_empty() {
        return None;
    }
    let mut least = f32::INFINITY;
    for other in near {
        match movers[*other as usize].stance {
            Stance::Walking => return None,
            Stance::Idle => least = least.min(bodies[order[*other as usize].0 as usize].memory.pressed()),
            Stance::Locked => {}
        }
    }
    Some(least)
}

/// Who is slower than this part of its speed stands.
const STANDS: f32 = 0.1;

/// How near two homes are, in parts of touching, that are too near.
const CRAMPED: f32 = 0.95;

/// How a unit stands to whoever is in its way.
fn block(movers: &[Mover], own: usize, blocker: Option<u32>) -> Block {
    let Some(blocker) = blocker else { return Block::None };
    let (mover, other) = (&movers[own], &movers[blocker as usize]);
    match other.stance {
        Stance::Locked => Block::Locked,
        Stance::Idle if other.yields_to(mover) => Block::Idle,
        Stance::Idle => Block::Settled,
        Stance::Walking => {
            let along = mover.wanted.dot(other.wanted);
            let is_against = along < -0.7 * mover.wanted.length() * other.wanted.length();
            if is_against { Block::Mutual } else { Block::Queue }
        }
    }
}
