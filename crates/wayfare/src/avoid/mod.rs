//! Local avoidance: from the velocities that units want to velocities that are safe.
//!
//! Searches ignore units, because units move. This deals with them afterwards, for units with or without a way. Comes
//! in: a [`Body`] per unit and the ground they walk on. Goes out: an [`Outcome`] per unit.
//!
//! 1. **near**: units are sorted by the cell of a coarse grid, and each finds its nearest neighbours.
//! 2. **steer**: each chooses a velocity that passes those it would meet.
//! 3. **contact**: what still overlaps is moved apart, in a few passes, and discs are kept out of walls.
//! 4. **ladder**: who gets no farther along its way is told what to do about it.
//!
//! Everything is read before anything is written, neighbours are visited in an order that only their ids and places
//! decide, and no random numbers are drawn: the same bodies give the same result, bit by bit, in whatever order they
//! are handed in and on however many threads the step is [spread](Spread).

mod body;
mod mover;
mod sizes;
mod near;
mod steer;
mod wall;
mod contact;
mod ladder;
mod gathering;
pub mod bay;
mod spread;
mod crowd;
mod judge;

pub use body::{Advice, Body, Course, Layers, Outcome, Stance};
pub use crowd::{Crowd, CrowdSettings, Disc, RoadSide};
pub use ladder::{Memory, Rung};
pub use spread::{OneThread, Spread, Threads};
pub use wall::{fit, push};
