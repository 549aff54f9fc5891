//! Arrival places: around a goal, on ground in walking distance, apart from walls and from each other.

use glam::Vec2;

use super::near::Near;
use super::room::{Occupied, push_clear};
use crate::cell::Cell;
use crate::follow::Footing;
use crate::search::scratch::Scratch;

/// A place to arrive at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slot {
    /// Where it is.
    pub place: Vec2,
    /// How much room there is.
    pub room: Room,
}

/// How much room an arrival place has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Room {
    /// Enough for the whole body.
    Own,
    /// It is nobody else's, but the body reaches into a wall: the unit is wider than the ground.
    Tight,
    /// None: it is another one's place. Whoever comes later stops where it is too crowded.
    Shared,
}

/// Places in a lattice are this many radii apart.
const SPACING: f32 = 2.3;

/// How many places of a lattice are tried: for each unit, and besides.
const TRIES: usize = 24;
const MORE_TRIES: usize = 2048;

/// Tight places are good enough when nothing else is found within so many times the radius that all would need.
const FAR: f32 = 4.0;

/// Bodies are at least this large, in reaches of the layout, or points would all find room on the same spot.
const LEAST_BODY: f32 = 0.2;

/// Finds places one by one.
#[derive(Debug)]
pub(super) struct Slots {
    goal: Vec2,
    /// Which way the group faces there.
    ahead: Vec2,
    /// How many places will be asked for.
    count: usize,
    near: Near,
    occupied: Occupied,
    lattices: Vec<Lattice>,
    found: Vec<Vec2>,
    shared: usize,
}

/// What a place is looked up with.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    pub(super) footing: Footing<'a>,
    pub(super) scratch: &'a mut Scratch,
}

impl Slots {
    /// Around `goal`, which lies in the open cell `cell`; for so many bodies up to that radius.
    pub(super) fn new(
        ground: &mut Ground<'_>,
        (goal, cell): (Vec2, Cell),
        ahead: Vec2,
        count: usize,
        largest: f32,
    ) -> Self {
        Self {
            goal,
            ahead,
            count,
            near: Near::new(&ground.footing.snapshot.ground, cell, ground.scratch),
            occupied: Occupied::new(largest),
            lattices: Vec::new(),
            found: Vec::new(),
            shared: 0,
        }
    }

    /// Nobody else gets a place there.
    pub(super) fn occupy(&mut self, place: Vec2, radius: f32) {
        self.occupied.add(place, radius);
    }

    /// Takes a place if there is room, a little beside it if a wall is in the way.
    pub(super) fn offer(&mut self, ground: &mut Ground<'_>, place: Vec2, radius: f32) -> Option<Slot> {
        self.try_place(ground, place, radius, Room::Own)
    }

    /// The nearest place to the goal where a body of this radius has room; some place if there is no room at all.
    pub(super) fn next(&mut self, ground: &mut Ground<'_>, radius: f32) -> Slot {
        let at = self.lattice(radius);
        let far = FAR * radius * count_as_f32(self.count).sqrt() + 4.0 * ground.footing.layout.reach();
        while let Some(offset) = self.lattices[at].next() {
            let place = self.goal + self.ahead.rotate(offset);
            if offset.length() > far
                && let Some(slot) = self.next_tight(ground, at)
            {
                // The one at hand has its turn later.
                self.lattices[at].put_back(offset);
                return slot;
            }
            if let Some(slot) = self.try_place(ground, place, radius, Room::Own) {
                return slot;
            }
            if ground.footing.is_open(place) {
                self.lattices[at].tight.push(place);
            }
        }
        if let Some(slot) = self.next_tight(ground, at) {
            return slot;
        }
        let place = self.found.get(self.shared % self.found.len().max(1)).copied().unwrap_or(self.goal);
        self.shared += 1;
        Slot { place, room: Room::Shared }
    }

    fn next_tight(&mut self, ground: &mut Ground<'_>, at: usize) -> Option<Slot> {
        while let Some(place) = self.lattices[at].next_tight() {
            let radius = self.lattices[at].radius;
            if let Some(slot) = self.try_place(ground, place, radius, Room::Tight) {
                return Some(slot);
            }
        }
        None
    }

    fn try_place(&mut self, ground: &mut Ground<'_>, place: Vec2, radius: f32, room: Room) -> Option<Slot> {
        let footing = ground.footing;
        let place = match room {
            Room::Own => push_clear(footing, place, radius, radius)?,
            Room::Tight | Room::Shared => place,
        };
        let cell = footing.layout.cell_at(place)?;
        let fits = self.occupied.is_free(place, radius)
            && self.near.contains(&footing.snapshot.ground, cell, ground.scratch);
        if !fits {
            return None;
        }
        self.occupied.add(place, radius);
        self.found.push(place);
        Some(Slot { place, room })
    }

    /// Appends the way from the cell of the goal to a place, without that cell itself, to `cells`.
    pub(super) fn trace(&self, ground: &Ground<'_>, place: Vec2, cells: &mut Vec<Cell>) {
        if let Some(cell) = ground.footing.layout.cell_at(place) {
            self.near.trace(&ground.footing.snapshot.ground, cell, ground.scratch, cells);
        }
    }

    fn lattice(&mut self, radius: f32) -> usize {
        let known = self.lattices.iter().position(|lattice| lattice.radius.total_cmp(&radius).is_eq());
        known.unwrap_or_else(|| {
            self.lattices.push(Lattice::new(radius, TRIES * self.count + MORE_TRIES));
            self.lattices.len() - 1
        })
    }
}

/// The radius of the smallest body.
pub(super) fn least_body(reach: f32) -> f32 {
    LEAST_BODY * reach
}

/// The radius that a body counts with: those of about the same size share a lattice, and none is a point.
pub(super) fn body(radius: f32, reach: f32) -> f32 {
    let radius = super::sane(radius).max(least_body(reach));
    // Upwards to the next of eight steps between two powers of two.
    let power = radius.log2().floor().exp2();
    let body = (radius / power * 8.0).ceil() / 8.0 * power;
    if body.is_finite() { body } else { radius }
}

/// How far apart bodies of a radius stand in formation.
pub(super) fn spacing(radius: f32) -> f32 {
    SPACING * radius
}

#[expect(clippy::cast_precision_loss, reason = "a rough number will do")]
fn count_as_f32(count: usize) -> f32 {
    count as f32
}

/// The densest packing of equal discs, from the middle outwards.
#[derive(Debug)]
struct Lattice {
    radius: f32,
    /// The next ring of hexagons to be laid.
    ring: u16,
    /// Places of the rings laid so far that have not been tried: the farthest first.
    waiting: Vec<(f32, Vec2)>,
    tries_left: usize,
    /// Places in the open where a wall is in the way, in order, and how many of them have been tried.
    tight: Vec<Vec2>,
    tight_tried: usize,
}

impl Lattice {
    fn new(radius: f32, tries: usize) -> Self {
        Self { radius, ring: 0, waiting: Vec::new(), tries_left: tries, tight: Vec::new(), tight_tried: 0 }
    }

    /// The next place outwards.
    fn next(&mut self) -> Option<Vec2> {
        self.tries_left = self.tries_left.checked_sub(1)?;
        let spacing = spacing(self.radius);
        loop {
            // The places of a ring lie between it and the circle in it.
            let laid = f32::from(self.ring) * spacing * 0.866;
            match self.waiting.last() {
                Some((distance, place)) if *distance < laid => {
                    let place = *place;
                    self.waiting.pop();
                    return Some(place);
                }
                _ => self.lay_ring(spacing)?,
            }
        }
    }

    fn put_back(&mut self, place: Vec2) {
        self.tries_left += 1;
        self.waiting.push((place.length(), place));
    }

    fn lay_ring(&mut self, spacing: f32) -> Option<()> {
        let ring = f32::from(self.ring);
        for side in 0..6_u8 {
            let corner = |side: u8| Vec2::from_angle(f32::from(side) * core::f32::consts::FRAC_PI_3);
            let (from, along) = (corner(side) * ring, corner((side + 2) % 6));
            for step in 0..self.ring.max(u16::from(side == 0)) {
                let place = (from + along * f32::from(step)) * spacing;
                self.waiting.push((place.length(), place));
            }
        }
        self.ring = self.ring.checked_add(1)?;
        // Of those as far the first that was laid comes first; so it lies last.
        self.waiting
            .sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.x.total_cmp(&a.1.x)).then(b.1.y.total_cmp(&a.1.y)));
        Some(())
    }

    fn next_tight(&mut self) -> Option<Vec2> {
        let place = self.tight.get(self.tight_tried).copied();
        self.tight_tried += usize::from(place.is_some());
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lattice_grows_outwards_and_leaves_nothing_out() {
        let mut lattice = Lattice::new(1.0, 2000);
        let mut places = Vec::new();
        while let Some(place) = lattice.next() {
            places.push(place);
        }
        assert_eq!(places.len(), 2000);
        assert!(places.windows(2).all(|pair| pair[0].length() <= pair[1].length()));
        let closest =
            |at: &Vec2| places.iter().filter(|o| *o != at).map(|o| o.distance(*at)).fold(9e9, f32::min);
        assert!(places.iter().all(|place| (closest(place) - spacing(1.0)).abs() < 0.01));
        // As dense as it should be.
        let area = core::f32::consts::PI * places[1999].length().powi(2);
        assert!((area / 2000.0 / (0.866 * spacing(1.0).powi(2)) - 1.0).abs() < 0.05);
    }

    #[test]
    fn bodies_are_a_little_larger_than_radii() {
        for radius in [0.3, 0.4, 0.5, 0.7, 1.0, 31.0, 1e30] {
            let body = body(radius, 0.5);
            assert!(body >= radius && body <= radius * 1.126, "{radius} {body}");
        }
        assert!((body(0.0, 0.5) - 0.1).abs() < 0.02);
        assert!((body(f32::NAN, 0.5) - 0.1).abs() < 0.02);
        assert!(body(f32::MAX, 0.5).is_finite());
    }
}
