//! Discs and walls: how far a body may go, and where it is pushed when it reaches into a wall. A wall is what is blocked
//! itself: discs have the size that a clearance stands for.

use glam::Vec2;

use super::Disc;
use crate::cell::{Area, Cell};
use crate::follow::{Footing, slide};
use crate::layout::CellShape;

/// Reaching into a wall by less than this part of the radius is touching it.
const SKIN: f32 = 1e-3;

/// How often a body that is pushed out of one wall may be pushed out of another.
const PUSHES: u32 = 6;

/// How often the way to where it would still be in a wall is halved.
const HALVINGS: u32 = 5;

/// The longest piece of a step, in [reaches](crate::Layout::reach): so short that nothing blocked fits in between.
const PIECE: f32 = 0.9;

/// Into how many pieces a step is cut at most. What is left of it then is not gone.
const PIECES: u32 = 32;

/// How far a body reaches at most, in [reaches](crate::Layout::reach): all cells that it covers are looked at.
const WIDEST: f32 = 64.0;

/// Moves a disc by a displacement that something else chose, as far as walls allow, and along them: as
/// [`follow::slide`](crate::follow::slide) does with a point. It never gets deeper into a wall than it was.
///
/// A displacement longer than some ten cells is cut to that; one that is not finite moves nothing. A body that is wider
/// than some 64 cells counts as that wide.
pub fn push(footing: Footing<'_>, disc: Disc, by: Vec2) -> Vec2 {
    let to = disc.centre + by;
    if !(disc.centre.is_finite() && to.is_finite()) {
        return disc.centre;
    }
    Walls::new(footing).carry(disc.centre, to, disc.radius.max(0.0))
}

/// Where a disc is clear of walls that reaches into one where it is: the nearest place, or nearly. Where walls leave no room
/// nearby, the place it has.
///
/// ```
/// use glam::Vec2;
/// use wayfare::avoid::{self, Disc};
/// use wayfare::prelude::*;
///
/// let snapshot = Snapshot::new(&Map::from_text("..#")?, &View::default());
/// let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
/// let fitted = avoid::fit(footing, Disc { centre: Vec2::new(1.9, 0.5), radius: 0.4 });
/// assert!(fitted.distance(Vec2::new(1.6, 0.5)) < 1e-3);
/// # Ok::<(), MapTextError>(())
/// ```
pub fn fit(footing: Footing<'_>, disc: Disc) -> Vec2 {
    let (walls, Disc { centre, radius }) = (Walls::new(footing), disc);
    let radius = walls.cut(radius);
    if !(centre.is_finite() && radius > 0.0) || walls.is_clear(centre, radius) || !footing.is_free(centre) {
        return centre;
    }
    let fitted = walls.pushed_out(centre, radius);
    let is_good = walls.depth(fitted, radius) <= radius * SKIN && footing.is_free_line(centre, fitted);
    if is_good { fitted } else { centre }
}

/// The walls of a ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walls<'a> {
    pub(super) footing: Footing<'a>,
    /// Whether cells are rectangles along the axes of the plane.
    is_upright: bool,
    /// How many columns and rows a length may span.
    span: Vec2,
    pub(super) reach: f32,
}

impl<'a> Walls<'a> {
    pub(super) fn new(footing: Footing<'a>) -> Self {
        let (x, y) = footing.layout.axes();
        let is_upright = x.y == 0.0 && y.x == 0.0 && footing.layout.shape() == CellShape::Parallelogram;
        let span = glam::DVec2::new(y.length(), x.length()) / x.perp_dot(y).abs();
        Self { footing, is_upright, span: span.as_vec2(), reach: footing.layout.reach() }
    }

    /// Whether a disc touches nothing blocked: the quick answer for bodies in the open.
    #[inline]
    pub(super) fn is_clear(&self, centre: Vec2, radius: f32) -> bool {
        self.cells(centre, radius).cells().all(|cell| self.footing.snapshot.is_free(cell))
    }

    /// The cells a disc may touch.
    #[inline]
    fn cells(&self, centre: Vec2, radius: f32) -> Area {
        let (grid, span) = (self.footing.layout.to_grid(centre), self.span * radius);
        // Hexagons reach beyond the parallelogram around their centre.
        let more =
            if self.footing.layout.shape() == CellShape::Hexagon { Vec2::splat(0.5) } else { Vec2::ZERO };
        let (low, high) = ((grid - span - more).floor(), (grid + span + more).floor());
        #[expect(clippy::cast_possible_truncation, reason = "far outside the map it does not matter where")]
        Area::new((low.x as i32, low.y as i32), (high.x as i32, high.y as i32))
    }

    fn cut(&self, radius: f32) -> f32 {
        radius.min(self.reach * WIDEST)
    }

    /// Of some cells those on the map and right beside it: farther out nothing is nearer.
    fn on_the_map(&self, cells: Area) -> Area {
        let map = self.footing.snapshot.map();
        let (width, height) = (map.width().cast_signed(), map.height().cast_signed());
        let nearest = |cell: Cell| Cell::new(cell.x.clamp(-1, width), cell.y.clamp(-1, height));
        Area::new(nearest(cells.min()), nearest(cells.max()))
    }

    /// The nearest place on open ground, for a body in a wall.
    pub(super) fn exit(&self, centre: Vec2, within: u32) -> Option<Vec2> {
        let cell = self.footing.layout.cell_at(centre)?;
        let open = self.footing.snapshot.nearest_open_within(cell, within)?;
        Some(self.footing.layout.centre(open))
    }

    /// Takes a disc from one place towards another, as far as walls allow, and along them. It never gets deeper into
    /// a wall than it was, and its centre never crosses one. On blocked ground it moves freely.
    pub(super) fn carry(&self, from: Vec2, to: Vec2, radius: f32) -> Vec2 {
        let radius = self.cut(radius);
        let (length, longest) = (from.distance(to), self.reach * PIECE);
        if length <= longest {
            return self.carry_a_bit(from, to, radius);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "cut to the pieces there may be"
        )]
        let pieces = ((length / longest).ceil().min(PIECES as f32)) as u32;
        let bit = (to - from) * (1.0 / pieces as f32).min(longest / length);
        (0..pieces).fold(from, |at, _| self.carry_a_bit(at, at + bit, radius))
    }

    fn carry_a_bit(&self, from: Vec2, to: Vec2, radius: f32) -> Vec2 {
        if !self.footing.is_free(from) {
            return to;
        }
        if self.is_clear(to, radius) && self.footing.is_free_line(from, to) {
            return to;
        }
        let allowed = self.depth(from, radius).max(radius * SKIN);
        let pushed = self.pushed_out(to, radius);
        if self.depth(pushed, radius) <= allowed && self.footing.is_free_line(from, pushed) {
            return pushed;
        }
        // Between two walls, or around a corner: as far as it goes, or along the axes of the grid.
        let slid = slide(self.footing, from, to - from);
        for end in [pushed, slid] {
            let (mut best, mut part, mut step) = (from, 0.0, 0.5);
            for _ in 0..HALVINGS {
                let farther = from.lerp(end, part + step);
                if self.depth(farther, radius) <= allowed && self.footing.is_free_line(from, farther) {
                    (best, part) = (farther, part + step);
                }
                step /= 2.0;
            }
            if part > 0.0 {
                return best;
            }
        }
        from
    }

    /// Moves a disc out of the walls it reaches into, the deepest first.
    fn pushed_out(&self, mut centre: Vec2, radius: f32) -> Vec2 {
        for _ in 0..PUSHES {
            let Some((depth, out)) = self.deepest(centre, radius) else { break };
            if depth <= radius * SKIN * 0.5 {
                break;
            }
            centre += out * depth;
        }
        centre
    }

    /// How far a disc reaches into a wall.
    fn depth(&self, centre: Vec2, radius: f32) -> f32 {
        self.deepest(centre, radius).map_or(0.0, |(depth, _)| depth)
    }

    /// How far a disc reaches into the wall it is deepest in, and which way is out of it.
    fn deepest(&self, centre: Vec2, radius: f32) -> Option<(f32, Vec2)> {
        let mut deepest: Option<(f32, Vec2)> = None;
        for cell in self.on_the_map(self.cells(centre, radius)).cells() {
            if self.footing.snapshot.is_free(cell) {
                continue;
            }
            let (gap, out) = self.gap(cell, centre);
            let depth = radius - gap;
            if depth > deepest.map_or(0.0, |(depth, _)| depth) {
                deepest = Some((depth, out));
            }
        }
        deepest
    }

    /// How far a point is from a cell, negative inside, and the way out.
    fn gap(&self, cell: Cell, point: Vec2) -> (f32, Vec2) {
        if self.is_upright {
            let a = self.footing.layout.to_plane(Vec2::new(cell.x as f32, cell.y as f32));
            let b = self.footing.layout.to_plane(Vec2::new((cell.x + 1) as f32, (cell.y + 1) as f32));
            let (low, high) = (a.min(b), a.max(b));
            let off = point - point.clamp(low, high);
            let length = off.length();
            if length > 0.0 {
                return (length, off / length);
            }
        }
        self.gap_to_sides(cell, point)
    }

    /// The same for a cell of any shape, side by side.
    fn gap_to_sides(&self, cell: Cell, point: Vec2) -> (f32, Vec2) {
        let middle = self.footing.layout.centre(cell);
        let first = self.footing.layout.corners(cell);
        let next = self.footing.layout.corners(cell).skip(1).chain(self.footing.layout.corners(cell).take(1));
        let (mut nearest, mut off, mut is_inside) = (f32::INFINITY, Vec2::ZERO, true);
        let mut outward = Vec2::ZERO;
        for (a, b) in first.zip(next) {
            let side = b - a;
            let along = ((point - a).dot(side) / side.length_squared()).clamp(0.0, 1.0);
            let to_point = point - (a + side * along);
            let normal = if side.perp().dot(middle - a) > 0.0 { -side.perp() } else { side.perp() };
            is_inside &= (point - a).dot(normal) <= 0.0;
            if to_point.length_squared() < nearest {
                (nearest, off, outward) = (to_point.length_squared(), to_point, normal);
            }
        }
        let length = nearest.sqrt();
        if is_inside {
            (-length, outward.normalize_or_zero())
        } else {
            (length, off.normalize_or(outward.normalize_or_zero()))
        }
    }
}
