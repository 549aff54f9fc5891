//! Where layers of tiles lie on their common ground: an [`Arrangement`] finds the cells of the map, and each layer's place on
//! them.
//!
//! Comes in: the grids of the layers, and where their entities are. Goes out: a lattice for the map, and sheets for the
//! core's `Mosaic`.

use bevy::math::{Affine3A, DVec2};
use bevy::prelude::*;
use wayfare::{CellShape, Map, Mosaic, Sheet};

use crate::lay::Refusal;
use crate::tiles::{TileGrid, TilesError};

/// A layer, and where it lies in the space of the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lying {
    pub(crate) entity: Entity,
    pub(crate) grid: TileGrid,
    pub(crate) to_ground: Affine3A,
    /// How high above others it lies.
    pub(crate) height: f32,
}

/// Where the cells of a map lie in the space of its entity, and the layers on them, topmost first.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    pub(crate) lattice: Lattice,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) sheets: Vec<(Entity, Sheet)>,
}

/// The cells of a map in the space of its entity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Lattice {
    pub(crate) origin: DVec2,
    pub(crate) x: DVec2,
    pub(crate) y: DVec2,
    pub(crate) shape: CellShape,
}

impl Arrangement {
    /// Arranges layers that have tiles, topmost first. Each tile of one of them is `fineness` cells wide and high: of the
    /// `ground`, if it is among them, or else of the lowest. Those that do not fit are left out, and named.
    pub(crate) fn new(
        layers: &[Lying],
        ground: Entity,
        fineness: f64,
        misfits: &mut Vec<Refusal>,
    ) -> Option<Self> {
        let (own, others): (Vec<_>, Vec<_>) =
            layers.iter().enumerate().rev().partition(|(_, layer)| layer.entity == ground);
        let mut candidates = own.into_iter().chain(others);
        let mut found: Option<(Lattice, (DVec2, DVec2))> = None;
        let mut sheets = Vec::new();
        // The first that will do is what the others have to fit.
        for (number, layer) in candidates.by_ref() {
            match Lattice::of(layer, fineness).and_then(|lattice| Ok((lattice, lattice.sheet(layer)?))) {
                Ok((lattice, sheet)) => {
                    let extent = reached(sheet.extent());
                    match too_large(extent) {
                        Some(error) => misfits.push((layer.entity, error)),
                        None => {
                            sheets.push((number, sheet));
                            found = Some((lattice, extent));
                            break;
                        }
                    }
                }
                Err(error) => misfits.push((layer.entity, error)),
            }
        }
        let (lattice, (mut low, mut high)) = found?;
        for (number, layer) in candidates {
            let fitted = lattice.sheet(layer).and_then(|sheet| {
                let (from, to) = reached(sheet.extent());
                let extent = (low.min(from), high.max(to));
                too_large(extent).map_or(Ok((sheet, extent)), Err)
            });
            match fitted {
                Ok((sheet, extent)) => {
                    sheets.push((number, sheet));
                    (low, high) = extent;
                }
                Err(error) => misfits.push((layer.entity, error)),
            }
        }
        sheets.sort_unstable_by_key(|(number, _)| *number);
        let shifted = |(number, sheet): (usize, Sheet)| {
            (layers[number].entity, Sheet { origin: sheet.origin - low, ..sheet })
        };
        let sheets = sheets.into_iter().map(shifted).collect();
        let lattice = Lattice { origin: lattice.origin + lattice.x * low.x + lattice.y * low.y, ..lattice };
        let size = high - low;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not larger than a map")]
        let (width, height) = (size.x as u32, size.y as u32);
        Some(Self { lattice, width, height, sheets })
    }

    /// Whether cells lie where they did, but for rounding.
    pub(crate) fn has_cells_like(&self, other: &Self) -> bool {
        let (a, b) = (self.lattice, other.lattice);
        let near = |one: DVec2, two: DVec2| one.abs_diff_eq(two, SLACK * a.x.length().min(a.y.length()));
        (self.width, self.height, a.shape) == (other.width, other.height, b.shape)
            && near(a.origin, b.origin)
            && near(a.x, b.x)
            && near(a.y, b.y)
    }

    /// Whether layers lie where they did, too.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let alike =
            |(one, two): (&(Entity, Sheet), &(Entity, Sheet))| one.0 == two.0 && lies_like(&one.1, &two.1);
        self.has_cells_like(other)
            && self.sheets.len() == other.sheets.len()
            && self.sheets.iter().zip(&other.sheets).all(alike)
    }
}

/// Whether a sheet lies where another one does, but for rounding.
pub(crate) fn lies_like(a: &Sheet, b: &Sheet) -> bool {
    (a.size, a.skew) == (b.size, b.skew)
        && a.origin.abs_diff_eq(b.origin, SLACK)
        && a.scale.abs_diff_eq(b.scale, SLACK * a.scale.min_element())
}

impl Lattice {
    /// Cells on the tiles of a layer.
    fn of(layer: &Lying, fineness: f64) -> Result<Self, TilesError> {
        let [origin, x, y] = layer.frame();
        let (x, y) = (x / fineness, y / fineness);
        let shape = layer.grid.shape;
        let area = x.perp_dot(y).abs();
        // What is not a number compares with nothing.
        let is_flat =
            area.partial_cmp(&(FLATTEST * x.length() * y.length())).is_none_or(core::cmp::Ordering::is_le);
        if is_flat || !(origin.is_finite() && x.is_finite() && y.is_finite()) {
            return Err(TilesError::Flat);
        }
        if shape == CellShape::Hexagon && (fineness - 1.0).abs() > 0.0 {
            return Err(TilesError::OtherShape);
        }
        Ok(Self { origin, x, y, shape })
    }

    /// A layer as a sheet on these cells.
    fn sheet(&self, layer: &Lying) -> Result<Sheet, TilesError> {
        let [origin, x, y] = layer.frame();
        let (origin, x, y) = (self.to_grid(origin - self.origin), self.to_grid(x), self.to_grid(y));
        if !(origin.is_finite() && x.is_finite() && y.is_finite()) {
            return Err(TilesError::Flat);
        }
        let scale = DVec2::new(x.x, y.y);
        if scale.min_element() <= 0.0 || x.y.abs() > SLACK * scale.x || y.x.abs() > SLACK * scale.y {
            return Err(TilesError::Turned);
        }
        if scale.min_element() * f64::from(Mosaic::FINEST) < 1.0 - SLACK {
            return Err(TilesError::TooFine);
        }
        let fits = scale.abs_diff_eq(DVec2::ONE, SLACK) && origin.abs_diff_eq(origin.round(), 0.1);
        if layer.grid.shape != self.shape || (self.shape == CellShape::Hexagon && !fits) {
            return Err(TilesError::OtherShape);
        }
        // Hexagons are looked at in their middle, which rounding must not move.
        let origin = if self.shape == CellShape::Hexagon { origin.round() } else { origin };
        Ok(Sheet { size: layer.grid.size, skew: layer.grid.skew, origin, scale })
    }

    fn to_grid(self, vector: DVec2) -> DVec2 {
        DVec2::new(vector.perp_dot(self.y), self.x.perp_dot(vector)) / self.x.perp_dot(self.y)
    }
}

impl Lying {
    /// Its corner and its axes, in the space of the ground.
    fn frame(&self) -> [DVec2; 3] {
        let vector = |v: Vec2| self.to_ground.transform_vector3(v.extend(0.0)).truncate().as_dvec2();
        let origin = self.to_ground.transform_point3(self.grid.origin.extend(0.0)).truncate().as_dvec2();
        [origin, vector(self.grid.x), vector(self.grid.y)]
    }
}

/// The whole cells that an extent reaches into by more than rounding.
fn reached((low, high): (DVec2, DVec2)) -> (DVec2, DVec2) {
    ((low + SLACK).floor(), (high - SLACK).ceil())
}

fn too_large((low, high): (DVec2, DVec2)) -> Option<TilesError> {
    let size = high - low;
    let fits = size.max_element() <= f64::from(Map::MAX_SIDE);
    (!fits).then_some(TilesError::TooLarge { width: size.x, height: size.y })
}

/// Less than this, in cells, is rounding.
const SLACK: f64 = 1e-3;
/// The sine of the least angle between the axes.
const FLATTEST: f64 = 1e-4;
