//! A place that is asked about: a point of the world, of the plane, or a cell.

use bevy::prelude::*;
use wayfare::Cell;

use crate::plan::Aim;
use crate::plane::Plane;

/// A place on a map, however it is given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Spot {
    /// A point of the world; its height does not matter.
    Position(Vec3),
    /// A point of the map's plane.
    Point(Vec2),
    /// The centre of a cell.
    Cell(Cell),
}

impl Spot {
    pub(crate) fn aim(self, plane: Plane) -> Aim {
        match self {
            Self::Position(position) => Aim::Point(plane.flat(position)),
            Self::Point(point) => Aim::Point(point),
            Self::Cell(cell) => Aim::Cell(cell),
        }
    }
}

impl From<Vec3> for Spot {
    fn from(position: Vec3) -> Self {
        Self::Position(position)
    }
}

impl From<Vec2> for Spot {
    fn from(point: Vec2) -> Self {
        Self::Point(point)
    }
}

impl From<Cell> for Spot {
    fn from(cell: Cell) -> Self {
        Self::Cell(cell)
    }
}

impl From<IVec2> for Spot {
    fn from(cell: IVec2) -> Self {
        Self::Cell(cell.into())
    }
}
