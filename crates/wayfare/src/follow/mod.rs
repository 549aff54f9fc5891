//! From cells to movement: a route is [laid](lay) into the plane as points, and a unit [walks](walk) along them.
//!
//! Comes in: the cells of a route, a position, a span of time. Goes out: where the unit is after it, which way it
//! faces, and whether it has arrived. Positions are those of the game; a [`Layout`] says where the grid lies.
//!
//! Nothing here remembers anything but a [`Headway`], so a game may move the unit in between, edit the map, or hand
//! out new points. What it may not do is walk through a wall. Nothing here allocates but [`lay`].

mod lay;
mod walk;
mod aim;
mod lane;
mod slide;

use glam::Vec2;

use crate::cell::Cell;
use crate::layout::Layout;
use crate::snapshot::Snapshot;

pub use lay::{is_worse, join, lay, remaining};
pub use slide::slide;
pub use walk::walk;

/// What a unit walks on: a snapshot, and where it lies in the plane.
#[derive(Clone, Copy, Debug)]
pub struct Footing<'a> {
    /// The ground, as the unit sees it.
    pub snapshot: &'a Snapshot,
    /// Where the ground lies.
    pub layout: &'a Layout,
}

impl Footing<'_> {
    /// Whether the straight line between two points of the plane is clear: [`Snapshot::is_clear`].
    pub fn is_clear(&self, from: Vec2, to: Vec2) -> bool {
        self.snapshot.is_clear(self.layout.to_grid(from), self.layout.to_grid(to))
    }

    /// Whether a unit may stand at a point of the plane.
    pub fn is_open(&self, at: Vec2) -> bool {
        self.layout.cell_at(at).is_some_and(|cell| self.snapshot.is_open(cell))
    }

    /// Whether the ground at a point of the plane is not blocked itself, however much room a unit needs.
    pub fn is_free(&self, at: Vec2) -> bool {
        self.layout.cell_at(at).is_some_and(|cell| self.snapshot.is_free(cell))
    }

    /// Whether the straight line between two points touches nothing blocked, however much room a unit needs.
    pub(crate) fn is_free_line(&self, from: Vec2, to: Vec2) -> bool {
        self.snapshot.is_free_line(self.layout.to_grid(from), self.layout.to_grid(to), 1.0)
    }

    /// The cell that the way of a unit begins in: its own or, if it cannot stand there, the nearest where it can, no more than
    /// so many columns and rows away. One that only has too little room where it is must see that in a straight line; one
    /// in a wall gets out of it wherever that is nearest. `None` if there is none, or `from` lies on no map.
    pub fn entry(&self, from: Vec2, cells: u32) -> Option<Cell> {
        let own = self.layout.cell_at(from)?;
        let is_caught = !self.snapshot.is_free(own);
        let is_seen =
            |cell: Cell| cell == own || is_caught || self.is_free_line(from, self.layout.centre(cell));
        self.snapshot.nearest_open_where(own, cells, is_seen)
    }

    /// The cell that the way of a unit ends in that is sent to a point: that of the point or, if the unit has too little room
    /// there, the nearest in sight where it has enough. `None` if that is blocked, or there is none within the unit's reach.
    pub fn berth(&self, at: Vec2) -> Option<Cell> {
        let reach = self.snapshot.view().clearance.reach();
        self.entry(at, reach).filter(|_| self.is_free(at))
    }

    /// How many times as long a stretch takes on the ground at a point. Blocked ground, which a unit is only ever
    /// leaving, does not slow it.
    fn slowness(&self, at: Vec2) -> f64 {
        let terrain = self.layout.cell_at(at).map(|cell| self.snapshot.map().terrain(cell));
        let factor = terrain.and_then(|terrain| self.snapshot.view().class.factor(terrain));
        factor.map_or(1.0, |factor| f64::from(factor.value()))
    }
}

impl Footing<'_> {
    /// [`slowness`](Self::slowness) as a plain float.
    #[expect(clippy::cast_possible_truncation, reason = "a factor below 256")]
    pub(crate) fn slowness_at(&self, at: Vec2) -> f32 {
        self.slowness(at) as f32
    }
}

/// How a unit moves. A number that is negative or not one counts as 0, and so does one that is infinite, except for
/// the turn rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gait {
    /// Length per second, on ordinary ground.
    pub speed: f32,
    /// Radians per second. Infinite: the unit faces where it goes at once. 0: it never turns, and gets nowhere
    /// unless it happens to face there.
    pub turn_rate: f32,
    /// How close to the last point is close enough. 0: exactly there.
    pub arrival: f32,
    /// Whether terrain slows the unit: its speed is divided by the factor of the ground under it.
    pub slowed: bool,
}

/// Speed 1, turning at once, to the very last point, slowed by terrain.
impl Default for Gait {
    fn default() -> Self {
        Self { speed: 1.0, turn_rate: f32::INFINITY, arrival: 0.0, slowed: true }
    }
}

/// How far along its points a unit is. New points need a new one: the default, or what [`join`] says.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Headway {
    /// The end of the leg on which the point lies that the unit makes for.
    next: usize,
    /// How far along that leg it lies; more than the leg is long means its end.
    along: f32,
    /// Length walked but too short for a position to change by it, or less than that if rounding gave too much.
    owed: f32,
    /// Where the last step left the unit. If it is elsewhere, something else has moved it.
    left: Option<Vec2>,
    /// Whether it was moved, and has not been on its leg since.
    is_aside: bool,
}

impl Headway {
    /// A unit that has all points before `next` behind it and makes straight for that one.
    pub const fn to(next: usize) -> Self {
        Self { next, along: f32::INFINITY, owed: 0.0, left: None, is_aside: false }
    }

    /// Which point the unit walks to. Around a corner it is the one after, as soon as the unit bends towards it.
    pub const fn next(&self) -> usize {
        self.next
    }
}

/// What a span of time did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stride {
    /// Where the unit is now.
    pub position: Vec2,
    /// Which way it faces: the angle from +x, in radians, above -π and up to π.
    pub heading: f32,
    /// How it moved: the change of position by the time it took; 0 if no time passed.
    pub velocity: Vec2,
    /// Whether it is where the points end, or as close as the gait asks. It stays so until it is moved.
    pub arrived: bool,
    /// Whether the way ahead is blocked. The unit has stopped before the obstacle.
    pub blocked: bool,
}

/// What a number of the game counts as: nothing, if it is negative, infinite or not a number.
fn sane(value: f32) -> f64 {
    if value.is_finite() { f64::from(value.max(0.0)) } else { 0.0 }
}
