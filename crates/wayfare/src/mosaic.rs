//! From tiles to ground: a [`Mosaic`] of [`Sheet`]s laid over each other says what terrain a cell of the map gets.
//!
//! Comes in: where each sheet lies and, on demand, what its tiles are. Goes out: a terrain per cell, and which cells a
//! tile has a say in. Editors make one sheet per layer and tileset, or several per level; a map has one ground.

use glam::{DVec2, IVec2, UVec2};

use crate::cell::{Area, Cell};
use crate::cost::Factor;
use crate::map::Terrain;
use crate::view::Class;

/// How tiles are numbered, against the lattice their centres lie on.
///
/// On a square or diamond map they are the same. Where every second row or column is shifted, and where
/// diamonds are staggered, going up one row means going aside on the lattice too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Skew {
    /// Tile (x, y) is lattice point (x, y).
    #[default]
    None,
    /// Staggered diamonds: every column begins one row further on.
    Staggered,
    /// Hexagons in rows, the odd ones shifted to the right.
    RowOdd,
    /// Hexagons in rows, the even ones shifted to the right.
    RowEven,
    /// Hexagons in columns, the odd ones shifted up.
    ColumnOdd,
    /// Hexagons in columns, the even ones shifted up.
    ColumnEven,
}

impl Skew {
    /// The lattice point of a tile.
    pub const fn lattice(self, tile: IVec2) -> IVec2 {
        let IVec2 { x, y } = tile;
        match self {
            Self::None => tile,
            Self::Staggered => IVec2::new(x, y.wrapping_add(x)),
            Self::RowOdd => IVec2::new(x.wrapping_sub(y.div_euclid(2)), y),
            Self::RowEven => IVec2::new(x.wrapping_sub(y.wrapping_add(1).div_euclid(2)), y),
            Self::ColumnOdd => IVec2::new(x, y.wrapping_sub(x.div_euclid(2))),
            Self::ColumnEven => IVec2::new(x, y.wrapping_sub(x.wrapping_add(1).div_euclid(2))),
        }
    }

    /// The tile at a lattice point.
    pub const fn tile(self, lattice: IVec2) -> IVec2 {
        let IVec2 { x, y } = lattice;
        match self {
            Self::None => lattice,
            Self::Staggered => IVec2::new(x, y.wrapping_sub(x)),
            Self::RowOdd => IVec2::new(x.wrapping_add(y.div_euclid(2)), y),
            Self::RowEven => IVec2::new(x.wrapping_add(y.wrapping_add(1).div_euclid(2)), y),
            Self::ColumnOdd => IVec2::new(x, y.wrapping_add(x.div_euclid(2))),
            Self::ColumnEven => IVec2::new(x, y.wrapping_add(x.wrapping_add(1).div_euclid(2))),
        }
    }

    /// The lattice points that so many tiles take up, if any: the lowest column and row, and those beyond the highest.
    pub fn extent(self, size: UVec2) -> (IVec2, IVec2) {
        let last = size.as_ivec2().wrapping_sub(IVec2::ONE);
        let corners = [IVec2::ZERO, IVec2::new(last.x, 0), IVec2::new(0, last.y), last];
        let points = corners.map(|tile| self.lattice(tile));
        let fold = |by: fn(IVec2, IVec2) -> IVec2| points.into_iter().reduce(by).unwrap_or_default();
        (fold(IVec2::min), fold(IVec2::max).saturating_add(IVec2::ONE))
    }
}

/// A sheet of tiles, and where it lies on the map.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sheet {
    /// Columns and rows of tiles.
    pub size: UVec2,
    /// How they are numbered.
    pub skew: Skew,
    /// Where lattice point (0, 0) begins, in columns and rows of the map.
    pub origin: DVec2,
    /// How many columns and rows of the map a tile takes up.
    pub scale: DVec2,
}

impl Sheet {
    /// The cells it takes up, on a map that reaches as far as need be.
    pub fn extent(&self) -> (DVec2, DVec2) {
        let (low, high) = self.skew.extent(self.size);
        (self.origin + low.as_dvec2() * self.scale, self.origin + high.as_dvec2() * self.scale)
    }

    /// The tile under a point of the map, if there may be one.
    fn tile_under(&self, point: DVec2) -> Option<UVec2> {
        let tile = self.skew.tile(((point - self.origin) / self.scale).floor().as_ivec2());
        (tile.cmpge(IVec2::ZERO).all() && tile.as_uvec2().cmplt(self.size).all()).then(|| tile.as_uvec2())
    }

    /// How often one has to look along a side of a cell to see all tiles in it.
    fn looks(&self) -> u32 {
        let tiles = (1.0 / self.scale.min_element() - SLACK).ceil().clamp(1.0, f64::from(Mosaic::FINEST));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let tiles = tiles as u32;
        tiles
    }

    /// Where the tile in this column and row is kept in a list of all of them, row by row.
    pub fn index(&self, tile: UVec2) -> Option<usize> {
        tile.cmplt(self.size).all().then(|| tile.y as usize * self.size.x as usize + tile.x as usize)
    }
}

/// Which of several sheets decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Merge {
    /// A cell is blocked if any sheet blocks it; if none does, the topmost tile decides. Walls, trees and houses over ground.
    #[default]
    BlockedWins,
    /// As before, but the dearest tile decides: for class 0, the first of the map's classes.
    DearestWins,
    /// The topmost tile decides: a bridge over water can be walked on.
    TopmostWins,
}

/// Sheets over each other on a map.
#[derive(Clone, PartialEq, Debug)]
pub struct Mosaic {
    width: u32,
    height: u32,
    merge: Merge,
    layers: Vec<Layer>,
    /// For every block of cells, the layers that reach into it, topmost first.
    blocks: Vec<Vec<u32>>,
    /// Blocks in a row of blocks.
    columns: u32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Layer {
    sheet: Sheet,
    /// The cells it reaches into.
    area: Option<Area>,
    /// How often one has to look along a side of a cell to see all its tiles.
    looks: u32,
}

/// Cells along one side of a block.
const BLOCK: u32 = 16;

impl Mosaic {
    /// The most tiles along one side of a cell. Where there are more, some are not looked at.
    pub const FINEST: u32 = 256;

    /// Lays the sheets, topmost first, over a map of so many cells.
    ///
    /// A cell is what lies under its centre. Where tiles are smaller than cells, it is the worst of what lies
    /// in it, looked at tile by tile.
    pub fn new(width: u32, height: u32, sheets: impl IntoIterator<Item = Sheet>, merge: Merge) -> Self {
        let (columns, rows) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        let blocks = vec![Vec::new(); columns as usize * rows as usize];
        let mut mosaic = Self { width, height, merge, layers: Vec::new(), blocks, columns };
        for (number, sheet) in (0..).zip(sheets) {
            let (low, high) = sheet.extent();
            // A sheet that lies beside the map has no say anywhere.
            let area = mosaic.cells_in(low, high);
            mosaic.layers.push(Layer { sheet, area, looks: sheet.looks() });
            let Some(area) = area else { continue };
            for y in area.min().y.cast_unsigned() / BLOCK..=area.max().y.cast_unsigned() / BLOCK {
                for x in area.min().x.cast_unsigned() / BLOCK..=area.max().x.cast_unsigned() / BLOCK {
                    mosaic.blocks[(y * columns + x) as usize].push(number);
                }
            }
        }
        mosaic
    }

    /// The cells that a sheet reaches into, if any.
    pub fn area_of(&self, sheet: usize) -> Option<Area> {
        self.layers.get(sheet)?.area
    }

    /// The cells that a tile of a sheet has a say in, if any.
    pub fn cells_of(&self, sheet: usize, tile: UVec2) -> Option<Area> {
        let sheet = self.layers.get(sheet)?.sheet;
        sheet.index(tile)?;
        let low = sheet.origin + sheet.skew.lattice(tile.as_ivec2()).as_dvec2() * sheet.scale;
        self.cells_in(low, low + sheet.scale)
    }

    /// What a cell is made of. `tile` tells what tile of which sheet lies there, `None` where there is none and
    /// where it has no say; `missing` is for ground that a sheet reaches and no tile covers. Beyond all sheets is
    /// [`Terrain::OUTSIDE`]. `class` knows what is dear.
    pub fn terrain(
        &self,
        cell: Cell,
        missing: Terrain,
        class: &Class,
        mut tile: impl FnMut(usize, UVec2) -> Option<Terrain>,
    ) -> Terrain {
        let (Ok(x), Ok(y)) = (u32::try_from(cell.x), u32::try_from(cell.y)) else {
            return Terrain::OUTSIDE;
        };
        if x >= self.width || y >= self.height {
            return Terrain::OUTSIDE;
        }
        let block = &self.blocks[(y / BLOCK * self.columns + x / BLOCK) as usize];
        let reaches = |number: &usize| self.layers[*number].area.is_some_and(|area| area.contains(cell));
        let here = || block.iter().map(|number| *number as usize).filter(reaches);
        let looks = here().map(|number| self.layers[number].looks).max().unwrap_or(0);
        let corner = DVec2::new(f64::from(x), f64::from(y));
        let mut worst: Option<Terrain> = None;
        for v in 0..looks {
            for u in 0..looks {
                let point = corner + (DVec2::new(f64::from(u), f64::from(v)) + 0.5) / f64::from(looks);
                let Some(look) = self.look(point, here(), missing, class, &mut tile) else { continue };
                worst = Some(worst.map_or(look, |worst| dearer(class, worst, look)));
            }
        }
        worst.unwrap_or(Terrain::OUTSIDE)
    }

    /// What lies under one point, or `None` beyond all sheets.
    fn look(
        &self,
        point: DVec2,
        here: impl Iterator<Item = usize>,
        missing: Terrain,
        class: &Class,
        tile: &mut impl FnMut(usize, UVec2) -> Option<Terrain>,
    ) -> Option<Terrain> {
        let (mut covered, mut found) = (false, None);
        for number in here {
            let Some(at) = self.layers[number].sheet.tile_under(point) else { continue };
            covered = true;
            let Some(terrain) = tile(number, at) else { continue };
            match self.merge {
                Merge::TopmostWins => return Some(terrain),
                Merge::BlockedWins if class.factor(terrain).is_none() => return Some(terrain),
                Merge::BlockedWins => found = found.or(Some(terrain)),
                Merge::DearestWins => {
                    found = Some(found.map_or(terrain, |found| dearer(class, found, terrain)));
                }
            }
        }
        covered.then(|| found.unwrap_or(missing))
    }

    /// The cells of the map that reach into a rectangle by more than rounding.
    fn cells_in(&self, low: DVec2, high: DVec2) -> Option<Area> {
        let last = DVec2::new(f64::from(self.width), f64::from(self.height)) - 1.0;
        let low = (low + SLACK).floor().max(DVec2::ZERO);
        let high = ((high - SLACK).ceil() - 1.0).min(last);
        // Not a number is in no cell.
        let is_some = low.cmple(high).all();
        #[expect(clippy::cast_possible_truncation, reason = "between 0 and a side of the map")]
        is_some.then(|| Area::new((low.x as i32, low.y as i32), (high.x as i32, high.y as i32)))
    }
}

/// Rounding in what says where sheets lie, in cells.
const SLACK: f64 = 1e-3;

/// The terrain that is harder on units of this class; the first if they are alike.
pub fn dearer(class: &Class, a: Terrain, b: Terrain) -> Terrain {
    // `None` costs more than anything.
    let price = |terrain| class.factor(terrain).map_or(f32::INFINITY, Factor::value);
    if price(b) > price(a) { b } else { a }
}
