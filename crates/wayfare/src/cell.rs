//! Where things are: a [`Cell`] on the grid, an [`Area`] of cells, and the eight [`Direction`]s.
//!
//! `x` grows to the right and `y` grows with the rows of a text map, so `(0, 0)` is its first character.
//! A game whose `y` points up sees the same map mirrored; nothing in a search depends on it.

use core::fmt;
use core::ops::Add;

use glam::IVec2;

/// One square of the grid. Coordinates are signed so that a place outside the map can be named, and refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Cell {
    /// Column, from the left.
    pub x: i32,
    /// Row, from the first line.
    pub y: i32,
}

impl Cell {
    /// The cell in column `x` and row `y`.
    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }

    /// The neighbour one step in `direction`.
    pub const fn step(self, direction: Direction) -> Self {
        let (dx, dy) = direction.offset();
        Self { x: self.x.wrapping_add(dx), y: self.y.wrapping_add(dy) }
    }

    /// How many columns and rows lie between two cells.
    pub const fn gap(self, other: Self) -> (u32, u32) {
        (self.x.abs_diff(other.x), self.y.abs_diff(other.y))
    }

    /// The direction of the single step from this cell to `other`, if they are neighbours.
    pub const fn direction_to(self, other: Self) -> Option<Direction> {
        let dx = other.x.wrapping_sub(self.x);
        let dy = other.y.wrapping_sub(self.y);
        Direction::from_offset(dx, dy)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

impl Add<(i32, i32)> for Cell {
    type Output = Self;

    fn add(self, (dx, dy): (i32, i32)) -> Self {
        Self::new(self.x.wrapping_add(dx), self.y.wrapping_add(dy))
    }
}

impl From<(i32, i32)> for Cell {
    fn from((x, y): (i32, i32)) -> Self {
        Self { x, y }
    }
}

impl From<IVec2> for Cell {
    fn from(v: IVec2) -> Self {
        Self { x: v.x, y: v.y }
    }
}

impl From<Cell> for IVec2 {
    fn from(cell: Cell) -> Self {
        Self::new(cell.x, cell.y)
    }
}

/// A rectangle of cells, both corners included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Area {
    min: Cell,
    max: Cell,
}

impl Area {
    /// The rectangle between two opposite corners, given in any order.
    pub fn new(a: impl Into<Cell>, b: impl Into<Cell>) -> Self {
        let (a, b) = (a.into(), b.into());
        Self { min: Cell::new(a.x.min(b.x), a.y.min(b.y)), max: Cell::new(a.x.max(b.x), a.y.max(b.y)) }
    }

    /// The corner with the lowest column and row.
    pub const fn min(self) -> Cell {
        self.min
    }

    /// The corner with the highest column and row; it belongs to the area.
    pub const fn max(self) -> Cell {
        self.max
    }

    /// Whether `cell` lies inside.
    pub const fn contains(self, cell: Cell) -> bool {
        self.min.x <= cell.x && cell.x <= self.max.x && self.min.y <= cell.y && cell.y <= self.max.y
    }

    /// The cell of the area closest to `cell`, itself if it lies inside.
    #[inline]
    pub(crate) fn nearest(self, cell: Cell) -> Cell {
        Cell::new(cell.x.clamp(self.min.x, self.max.x), cell.y.clamp(self.min.y, self.max.y))
    }

    /// The smallest area around this one and another.
    pub(crate) fn joined(self, other: Self) -> Self {
        let min = Cell::new(self.min.x.min(other.min.x), self.min.y.min(other.min.y));
        let max = Cell::new(self.max.x.max(other.max.x), self.max.y.max(other.max.y));
        Self { min, max }
    }

    /// Every cell, row by row.
    pub fn cells(self) -> impl Iterator<Item = Cell> {
        let columns = self.min.x..=self.max.x;
        (self.min.y..=self.max.y).flat_map(move |y| columns.clone().map(move |x| Cell::new(x, y)))
    }
}

impl From<Cell> for Area {
    fn from(cell: Cell) -> Self {
        Self { min: cell, max: cell }
    }
}

/// A step to one of the eight neighbours, in the order in which searches look at them: clockwise from the top
/// left. North is towards row 0.
///
/// Odd ones are straight and even ones diagonal, and the two sides of a diagonal are its neighbours in the list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "a compass needs no explanation")]
pub enum Direction {
    NorthWest = 0,
    North = 1,
    NorthEast = 2,
    East = 3,
    SouthEast = 4,
    South = 5,
    SouthWest = 6,
    West = 7,
}

impl Direction {
    /// All eight, clockwise from the top left.
    pub const ALL: [Self; 8] = [
        Self::NorthWest,
        Self::North,
        Self::NorthEast,
        Self::East,
        Self::SouthEast,
        Self::South,
        Self::SouthWest,
        Self::West,
    ];

    const OFFSETS: [(i32, i32); 8] = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)];

    /// The change of column and row.
    pub const fn offset(self) -> (i32, i32) {
        Self::OFFSETS[self as usize]
    }

    /// Whether both the column and the row change.
    pub const fn is_diagonal(self) -> bool {
        self as u8 & 1 == 0
    }

    /// Which of three step costs applies: 0 along a row, 1 along a column, 2 diagonally.
    #[inline]
    pub(crate) const fn axis(self) -> usize {
        const AXES: [usize; 8] = [2, 1, 2, 0, 2, 1, 2, 0];
        AXES[self as usize]
    }

    /// The way back.
    pub const fn opposite(self) -> Self {
        Self::ALL[self as usize ^ 4]
    }

    /// The direction with that change of column and row, each of -1, 0 or 1.
    pub const fn from_offset(dx: i32, dy: i32) -> Option<Self> {
        let mut i = 0;
        while i < Self::ALL.len() {
            let (x, y) = Self::OFFSETS[i];
            if x == dx && y == dy {
                return Some(Self::ALL[i]);
            }
            i += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_know_their_sides_and_their_opposite() {
        for direction in Direction::ALL {
            let (dx, dy) = direction.offset();
            assert_eq!(Direction::from_offset(dx, dy), Some(direction));
            assert_eq!(direction.opposite().offset(), (-dx, -dy));
            assert_eq!(direction.is_diagonal(), dx != 0 && dy != 0);
            if direction.is_diagonal() {
                let before = Direction::ALL[(direction as usize + 7) % 8].offset();
                let after = Direction::ALL[(direction as usize + 1) % 8].offset();
                assert_eq!((before.0 + after.0, before.1 + after.1), (dx, dy));
            }
        }
        assert_eq!(Direction::from_offset(0, 0), None);
        assert_eq!(Direction::from_offset(2, 0), None);
    }

    #[test]
    fn an_area_is_its_corners_in_any_order() {
        let area = Area::new((3, 1), (1, 2));
        assert_eq!((area.min(), area.max()), (Cell::new(1, 1), Cell::new(3, 2)));
        assert_eq!(area.cells().count(), 6);
        assert!(area.cells().all(|cell| area.contains(cell)));
        assert!(!area.contains(Cell::new(0, 1)));
    }

    #[test]
    fn a_step_at_the_edge_of_the_numbers_does_not_panic() {
        let corner = Cell::new(i32::MAX, i32::MIN);
        assert_eq!(corner.step(Direction::NorthEast).step(Direction::SouthWest), corner);
        assert_eq!(Cell::new(i32::MIN, 0).gap(Cell::new(i32::MAX, 0)), (u32::MAX, 0));
        assert_eq!(corner.direction_to(Cell::default()), None);
    }
}
