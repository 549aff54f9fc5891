//! Where a grid lies in the plane of the game: a [`Layout`] turns points into cells and cells into points.
//!
//! Everything before this is counted in cells. Here lengths begin: units of the game, whatever they are.

use core::fmt;

use glam::{DVec2, Vec2};

use crate::cell::Cell;

/// The place of a grid in the plane of the game: where its first cell lies, and how far on the next ones are.
///
/// ```
/// use glam::Vec2;
/// use wayfare::prelude::*;
///
/// // Tiles of 64 × 32, the first row on top, the map's upper left corner at (-320, 160).
/// let layout = Layout::new(Vec2::new(-320.0, 160.0), Vec2::new(64.0, 0.0), Vec2::new(0.0, -32.0))?;
/// assert_eq!(layout.centre(Cell::new(0, 0)), Vec2::new(-288.0, 144.0));
/// assert_eq!(layout.cell_at(Vec2::new(-100.0, 100.0)), Some(Cell::new(3, 1)));
/// # Ok::<(), LayoutError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Layout {
    origin: Vec2,
    x: Vec2,
    y: Vec2,
    shape: CellShape,
}

/// What the cells of a grid look like. Their centres lie on a lattice either way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum CellShape {
    /// Squares, rectangles, diamonds: spanned by the two axes.
    #[default]
    Parallelogram,
    /// Six sides. Columns and rows are axial coordinates: neighbours are one column on, one row on, or one of them
    /// on and the other back.
    Hexagon,
}

impl Layout {
    /// Unit cells, the outer corner of the first at the origin, rows going up: the default.
    pub const UNIT: Self =
        Self { origin: Vec2::ZERO, x: Vec2::X, y: Vec2::Y, shape: CellShape::Parallelogram };

    /// A grid whose first cell has its outer corner at `origin`, with `x` from one column to the next and `y` from
    /// one row to the next.
    ///
    /// Any two vectors will do that span the plane: rectangular cells, rows going up or down, turned and sheared
    /// maps.
    ///
    /// # Errors
    /// [`LayoutError::NotFinite`] if a number is infinite or not one, [`LayoutError::Flat`] if the cells would have
    /// no area worth the name: a side of length 0, axes less than a ten-thousandth of a radian apart, or a size
    /// beyond what floats can reckon with.
    pub fn new(origin: Vec2, x: Vec2, y: Vec2) -> Result<Self, LayoutError> {
        if !(origin.is_finite() && x.is_finite() && y.is_finite()) {
            return Err(LayoutError::NotFinite);
        }
        let layout = Self { origin, x, y, shape: CellShape::default() };
        let (long_x, long_y) = (x.as_dvec2().length(), y.as_dvec2().length());
        let in_range = |length: f64| (SHORTEST..=LONGEST).contains(&length);
        let sine = layout.area().abs() / (long_x * long_y);
        if in_range(long_x) && in_range(long_y) && sine > FLATTEST {
            Ok(layout)
        } else {
            Err(LayoutError::Flat { x, y })
        }
    }

    /// Square cells with sides of `side`, the outer corner of the first at the origin, rows going up.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn square(side: f32) -> Result<Self, LayoutError> {
        Self::new(Vec2::ZERO, Vec2::new(side, 0.0), Vec2::new(0.0, side))
    }

    /// The same lattice, with cells of another shape around the same centres.
    ///
    /// ```
    /// use glam::Vec2;
    /// use wayfare::prelude::*;
    ///
    /// // Hexagons 40 wide and 48 high that stand on a corner: rows are ¾ of that apart and half a hexagon aside.
    /// let square = Layout::new(Vec2::new(-30.0, -18.0), Vec2::new(40.0, 0.0), Vec2::new(20.0, 36.0))?;
    /// let layout = square.with_shape(CellShape::Hexagon);
    /// assert_eq!(layout.centre(Cell::new(0, 0)), Vec2::ZERO);
    /// // Near the upper corner of that hexagon, where the row above begins between its neighbours.
    /// assert_eq!(layout.cell_at(Vec2::new(0.0, 23.0)), Some(Cell::new(0, 0)));
    /// assert_eq!(layout.cell_at(Vec2::new(18.0, 23.0)), Some(Cell::new(0, 1)));
    /// # Ok::<(), LayoutError>(())
    /// ```
    #[must_use]
    pub const fn with_shape(mut self, shape: CellShape) -> Self {
        self.shape = shape;
        self
    }

    /// What its cells look like.
    pub const fn shape(&self) -> CellShape {
        self.shape
    }

    /// The cell a point lies in. On a border it is the one of the higher column or row; between hexagons it is one of
    /// those that meet there, always the same. `None` if the point is not finite or so far away that no cell
    /// can be named. The cell need not lie on any map.
    pub fn cell_at(&self, point: Vec2) -> Option<Cell> {
        match self.shape {
            CellShape::Parallelogram => cell_of(self.to_grid(point)),
            CellShape::Hexagon => hexagon_of(self.to_grid(point)),
        }
    }

    /// The corners of a cell, in order around it.
    pub fn corners(&self, cell: Cell) -> impl Iterator<Item = Vec2> + use<> {
        const THIRD: f64 = 1.0 / 3.0;
        let offsets: &[(f64, f64)] = match self.shape {
            CellShape::Parallelogram => &[(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)],
            // Each lies between two neighbours, a third of the way to both.
            CellShape::Hexagon => &[
                (THIRD, THIRD),
                (-THIRD, 2.0 * THIRD),
                (-2.0 * THIRD, THIRD),
                (-THIRD, -THIRD),
                (THIRD, -2.0 * THIRD),
                (2.0 * THIRD, -THIRD),
            ],
        };
        let layout = *self;
        let centre = DVec2::new(f64::from(cell.x) + 0.5, f64::from(cell.y) + 0.5);
        offsets.iter().map(move |offset| layout.place(centre + DVec2::from(*offset)))
    }

    /// The point in the middle of a cell.
    pub fn centre(&self, cell: Cell) -> Vec2 {
        self.place(DVec2::new(f64::from(cell.x) + 0.5, f64::from(cell.y) + 0.5))
    }

    /// A point of the plane, counted in columns and rows: cell (3, 1) reaches from (3, 1) to (4, 2).
    pub fn to_grid(&self, point: Vec2) -> Vec2 {
        let (x, y) = (self.x.as_dvec2(), self.y.as_dvec2());
        let from_origin = point.as_dvec2() - self.origin.as_dvec2();
        // A quotient of whole multiples is whole, which a product with a rounded inverse need not be; and where the
        // axes are those of the plane, the other coordinate must not add its rounding.
        let grid = if self.x.y == 0.0 && self.y.x == 0.0 {
            DVec2::new(from_origin.x / x.x, from_origin.y / y.y)
        } else if self.x.x == 0.0 && self.y.y == 0.0 {
            DVec2::new(from_origin.y / x.y, from_origin.x / y.x)
        } else {
            DVec2::new(from_origin.perp_dot(y), x.perp_dot(from_origin)) / self.area()
        };
        grid.as_vec2()
    }

    /// A point counted in columns and rows, in the plane.
    pub fn to_plane(&self, grid: Vec2) -> Vec2 {
        self.place(grid.as_dvec2())
    }

    /// How far one may go from the centre of a cell in any direction without leaving it.
    pub fn reach(&self) -> f32 {
        let longer = self.x.as_dvec2().length().max(self.y.as_dvec2().length());
        #[expect(clippy::cast_possible_truncation, reason = "a length between two that fit")]
        let reach = (0.5 * self.area().abs() / longer) as f32;
        reach
    }

    /// From one column to the next, and from one row to the next.
    pub(crate) fn axes(&self) -> (DVec2, DVec2) {
        (self.x.as_dvec2(), self.y.as_dvec2())
    }

    fn place(&self, grid: DVec2) -> Vec2 {
        let place = self.origin.as_dvec2() + self.x.as_dvec2() * grid.x + self.y.as_dvec2() * grid.y;
        place.as_vec2()
    }

    /// The area of a cell, negative if rows and columns are mirrored.
    fn area(&self) -> f64 {
        self.x.as_dvec2().perp_dot(self.y.as_dvec2())
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::UNIT
    }
}

/// Axes a grid cannot have.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum LayoutError {
    /// A number is infinite, or not a number.
    NotFinite,
    /// The axes span no cell.
    Flat {
        /// From one column to the next.
        x: Vec2,
        /// From one row to the next.
        y: Vec2,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => write!(f, "a layout must be made of finite numbers"),
            Self::Flat { x, y } => write!(f, "columns along {x} and rows along {y} span no cell"),
        }
    }
}

impl core::error::Error for LayoutError {}

/// Sides between these have squares, products and quotients that a float can hold.
const SHORTEST: f64 = 1e-15;
const LONGEST: f64 = 1e15;
/// The sine of the least angle between the axes.
const FLATTEST: f64 = 1e-4;

/// The hexagon that a point in columns and rows lies in, if it can be named: rounded in the three coordinates of a
/// cube that add up to zero, and the one that was rounded most follows from the others (Amit Patel).
fn hexagon_of(grid: Vec2) -> Option<Cell> {
    let (q, r) = (f64::from(grid.x) - 0.5, f64::from(grid.y) - 0.5);
    let s = -(q + r);
    let [near_q, near_r, near_s] = [q, r, s].map(f64::round);
    let [off_q, off_r, off_s] = [near_q - q, near_r - r, near_s - s].map(f64::abs);
    let (q, r) = if off_q > off_r && off_q > off_s {
        (-(near_r + near_s), near_r)
    } else if off_r > off_s {
        (near_q, -(near_q + near_s))
    } else {
        (near_q, near_r)
    };
    Some(Cell::new(whole(q)?, whole(r)?))
}

/// The cell that a point in columns and rows lies in, if it can be named.
pub(crate) fn cell_of(grid: Vec2) -> Option<Cell> {
    Some(Cell::new(whole(f64::from(grid.x).floor())?, whole(f64::from(grid.y).floor())?))
}

fn whole(value: f64) -> Option<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
    (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value).then_some(value as i32)
}
