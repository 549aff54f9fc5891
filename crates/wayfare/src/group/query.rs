//! What is asked for a group, and what is answered.

use core::fmt;

use glam::Vec2;

use super::{Formation, Slot};
use crate::cell::Cell;
use crate::cost::Cost;
use crate::query::Fallback;
use crate::route::{QueryError, Shortfall};

/// Where a group is to go, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupQuery {
    /// The point its middle goes to.
    pub goal: Vec2,
    /// How its units stand there.
    pub formation: Formation,
    /// What to do when nobody can get there.
    pub fallback: Fallback,
    /// How many cells away a free cell may be for a unit whose own is blocked.
    pub escape_cells: u32,
    /// Who stands around there already: middle and radius. Nobody is sent to their places.
    pub taken: Vec<(Vec2, f32)>,
}

impl GroupQuery {
    /// To a point, in no particular formation.
    pub const fn to(goal: Vec2) -> Self {
        Self {
            goal,
            formation: Formation::Loose,
            fallback: Fallback::Fail,
            escape_cells: 16,
            taken: Vec::new(),
        }
    }
}

/// What a group is answered.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupAnswer {
    /// Where its middle goes: the goal, or the centre of the nearest cell that can be reached.
    pub goal: Vec2,
    /// Why that is not the goal that was asked for.
    pub shortfall: Option<Shortfall>,
    /// The way of its middle, for a [`March`](super::March). Empty if nobody can get there.
    pub way: Vec<Vec2>,
    /// The way of each member, in the order in which they were given.
    pub ways: Vec<Result<GroupWay, Straggler>>,
}

/// The way of one member.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupWay {
    /// From where it is to its place.
    pub points: Vec<Vec2>,
    /// What that costs.
    pub cost: Cost,
    /// Its place.
    pub slot: Slot,
    /// Its place in the formation, from the middle: x ahead and y to the left, or as on the plane if the formation does
    /// not [turn](Formation::turns).
    pub offset: Vec2,
}

/// Why a member has no way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Straggler {
    /// Its position is not a finite number.
    BadPosition,
    /// The goal is not a finite number.
    BadGoal,
    /// It or the goal is outside the map, or it is stuck in blocked cells.
    Lost(QueryError),
    /// No way leads there.
    Unreachable {
        /// The nearest cell it can reach.
        nearest: Cell,
    },
}

impl fmt::Display for Straggler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadPosition => write!(f, "the position is not a finite number"),
            Self::BadGoal => write!(f, "the goal is not a finite number"),
            Self::Lost(error) => error.fmt(f),
            Self::Unreachable { nearest } => {
                write!(f, "no way leads there; {nearest} is the nearest cell in reach")
            }
        }
    }
}

impl core::error::Error for Straggler {}
