//! Which cells a body covers: a [`GroundPlan`] laid on a [`Layout`] becomes a list of cells.
//!
//! Comes in: a building, a tree, a gate, with its place in the plane. Goes out: the cells it stands on, for
//! [`Obstacles`](crate::Obstacles).

use glam::Vec2;

use crate::cell::{Area, Cell};
use crate::layout::Layout;

/// The ground plan of a body in the plane of the game.
///
/// A plan without an area covers the cell it stands in: a box without width, a disc whose radius is zero, negative or not a
/// number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum GroundPlan {
    /// The one cell under a point.
    Point(Vec2),
    /// A disc.
    Disc {
        /// Its middle.
        centre: Vec2,
        /// How far it reaches.
        radius: f32,
    },
    /// A box, turned and sheared as its half sides are.
    Box {
        /// Its middle.
        centre: Vec2,
        /// From the middle to the middle of two neighbouring sides.
        half: [Vec2; 2],
    },
}

impl GroundPlan {
    /// The cells of `within` that the body covers, row by row. Touching a cell's border, or reaching in by less than
    /// a five-hundredth of a cell, is not covering it: a building three cells wide covers three.
    ///
    /// ```
    /// use glam::Vec2;
    /// use wayfare::prelude::*;
    ///
    /// let layout = Layout::square(32.0)?;
    /// let house = GroundPlan::Box { centre: Vec2::new(80.0, 48.0), half: [Vec2::new(48.0, 0.0), Vec2::new(0.0, 16.0)] };
    /// let covered = house.cells(&layout, Area::new((0, 0), (9, 9)));
    /// assert_eq!(covered, [Cell::new(1, 1), Cell::new(2, 1), Cell::new(3, 1)]);
    /// # Ok::<(), LayoutError>(())
    /// ```
    pub fn cells(&self, layout: &Layout, within: Area) -> Vec<Cell> {
        // Larger than any map is large enough, and leaves floats room to tell cells apart.
        let most = layout.reach() * LARGEST;
        let body = match *self {
            Self::Disc { centre, radius } if radius > 0.0 => {
                let radius = radius.min(most);
                let (x, y) = (Vec2::new(radius, 0.0), Vec2::new(0.0, radius));
                Body { corners: corners(centre, x, y), disc: Some((centre, radius)) }
            }
            Self::Box { centre, half } if area(half, most) > 0.0 => {
                let [x, y] = half.map(|half| limited(half, most));
                Body { corners: corners(centre, x, y), disc: None }
            }
            Self::Point(point) | Self::Disc { centre: point, .. } | Self::Box { centre: point, .. } => {
                return layout.cell_at(point).filter(|cell| within.contains(*cell)).into_iter().collect();
            }
        };
        let Some(around) = body.around(layout, within) else {
            return Vec::new();
        };
        around.cells().filter(|cell| body.covers(layout, *cell)).collect()
    }
}

struct Body {
    corners: [Vec2; 4],
    /// If it is one; the corners are those of the square around it then.
    disc: Option<(Vec2, f32)>,
}

impl Body {
    /// The cells that may be covered, or `None` if there is none or the body is nowhere.
    fn around(&self, layout: &Layout, within: Area) -> Option<Area> {
        let grid = self.corners.map(|corner| layout.to_grid(corner));
        if !grid.iter().all(|point| point.is_finite()) {
            return None;
        }
        let low = grid.into_iter().reduce(Vec2::min)?.floor();
        let high = grid.into_iter().reduce(Vec2::max)?.floor();
        // A hexagon reaches a sixth of a cell beyond the parallelogram around its centre.
        let (low, high) = (low - Vec2::ONE, high + Vec2::ONE);
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and is cut to the area")]
        let cell = |point: Vec2| Cell::new(point.x as i32, point.y as i32);
        let (low, high, least, most) = (cell(low), cell(high), within.min(), within.max());
        let min = Cell::new(low.x.max(least.x), low.y.max(least.y));
        let max = Cell::new(high.x.min(most.x), high.y.min(most.y));
        (min.x <= max.x && min.y <= max.y).then(|| Area::new(min, max))
    }

    fn covers(&self, layout: &Layout, cell: Cell) -> bool {
        let cell: Vec<Vec2> = layout.corners(cell).collect();
        let hair = layout.reach() * HAIR;
        match self.disc {
            Some((centre, radius)) => distance(&cell, centre) < radius - hair,
            None => !(parted(&cell, &self.corners, hair) || parted(&self.corners, &cell, hair)),
        }
    }
}

/// Half the side of the largest body, in halves of a cell: more than a map has from corner to corner.
const LARGEST: f32 = 65_536.0;

/// How far a body may reach into a cell without covering it, in halves of the cell.
const HAIR: f32 = 0.004;

fn limited(half: Vec2, most: f32) -> Vec2 {
    if half.is_nan() { Vec2::ZERO } else { half.clamp(Vec2::splat(-most), Vec2::splat(most)) }
}

fn area(half: [Vec2; 2], most: f32) -> f32 {
    let [x, y] = half.map(|half| limited(half, most));
    x.perp_dot(y).abs()
}

fn corners(centre: Vec2, x: Vec2, y: Vec2) -> [Vec2; 4] {
    [centre - x - y, centre + x - y, centre + x + y, centre - x + y]
}

fn sides(corners: &[Vec2]) -> impl Iterator<Item = (Vec2, Vec2)> {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}

/// Whether a line along one side of `a` parts the two convex outlines, give or take a hair.
fn parted(a: &[Vec2], b: &[Vec2], hair: f32) -> bool {
    sides(a).any(|(from, to)| {
        let normal = (to - from).perp().normalize_or_zero();
        let span = |corners: &[Vec2]| {
            corners
                .iter()
                .map(|corner| (*corner - from).dot(normal))
                .fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), along| {
                    (least.min(along), most.max(along))
                })
        };
        let (a, b) = (span(a), span(b));
        a.1.min(b.1) - a.0.max(b.0) <= hair
    })
}

/// How far a point is from a convex outline; 0 inside.
fn distance(corners: &[Vec2], point: Vec2) -> f32 {
    let turns = || sides(corners).map(|(from, to)| (to - from).perp_dot(point - from));
    if turns().all(|turn| turn >= 0.0) || turns().all(|turn| turn <= 0.0) {
        return 0.0;
    }
    let to_side = |(from, to): (Vec2, Vec2)| {
        let side = to - from;
        let along = ((point - from).dot(side) / side.length_squared()).clamp(0.0, 1.0);
        point.distance(from + side * along)
    };
    sides(corners).map(to_side).fold(f32::INFINITY, f32::min)
}
