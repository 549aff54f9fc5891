//! Group orders: many units, one goal. One search for all, a place of its own for each, and formations.
//!
//! Comes in: [`Member`]s and a goal. Goes out: a way for each to an arrival place of its own, and on demand a
//! [`March`] that keeps the formation on the way.
//!
//! 1. **search**: a [`GroupSearch`] lets one [`Field`](crate::Field) spread from the goal to all members.
//! 2. **formation**: a [`Formation`] says how they stand around the goal.
//! 3. **slots**: every place is open, in walking distance of the goal, clear of walls and of each other, as far as there
//!    is room. Where there is not, a [`Slot`] says so.
//! 4. **assign**: who takes which, so that their ways [cross little](assign).
//! 5. **march**: where each has to be while the formation moves.
//!
//! ```
//! use std::sync::Arc;
//! use glam::Vec2;
//! use wayfare::group::{GroupQuery, GroupSearch, Member};
//! use wayfare::prelude::*;
//!
//! let map = Map::from_text(
//!     "........
//!      ...##...
//!      ...##...
//!      ........",
//! )?;
//! let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
//! let unit = |id: u8| Member::new(id.into(), Vec2::new(0.5, f32::from(id) + 0.5), 0.3, 2.0);
//! let members = [unit(0), unit(1), unit(2)];
//! let query = GroupQuery::to(Vec2::new(6.5, 2.0));
//! let mut search = GroupSearch::new(snapshot, Layout::default(), query, &members, Scratch::new());
//! while search.run(64) == Progress::Running {} // a frame goes by
//! let (answer, _scratch) = search.finish();
//! for (member, way) in members.iter().zip(&answer.ways) {
//!     let way = way.as_ref().map_err(|error| error.to_string())?;
//!     assert_eq!(way.points.first(), Some(&member.position));
//!     assert_eq!(way.points.last(), Some(&way.slot.place));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same members get the same places in whatever order they are handed in: ties are broken by their ids.

mod query;
mod gather;
mod search;
mod formation;
mod way;
mod near;
mod room;
mod slots;
mod assign;
mod march;

use glam::Vec2;

pub use assign::assign;
pub use formation::Formation;
pub use march::{March, MarchOrder, Marcher};
pub use query::{GroupAnswer, GroupQuery, GroupWay, Straggler};
pub use search::GroupSearch;
pub use slots::{Room, Slot};

/// A unit that is ordered somewhere together with others.
///
/// Values that make no sense are no error: without a finite position it gets no way; a radius or speed that is negative
/// or not a number counts as 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Member {
    /// Its name: stable, and no two units share it.
    pub id: u64,
    /// Where it is.
    pub position: Vec2,
    /// How far its body reaches.
    pub radius: f32,
    /// How fast it can be.
    pub speed: f32,
    /// The place it was given before, if it is to keep that. A formation gives everybody a new one.
    pub place: Option<Vec2>,
}

impl Member {
    /// A unit that has no place yet.
    pub const fn new(id: u64, position: Vec2, radius: f32, speed: f32) -> Self {
        Self { id, position, radius, speed, place: None }
    }
}

/// What a number of the game counts as: nothing, if it is negative, infinite or not a number.
fn sane(value: f32) -> f32 {
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}
