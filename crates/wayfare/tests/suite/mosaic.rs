//! Sheets of tiles over each other, judged by somebody who looks at one point after another.

use glam::{DVec2, IVec2, UVec2};
use wayfare::mosaic::dearer;
use wayfare::prelude::*;
use wayfare::{Merge, Mosaic, Sheet, Skew};

use crate::support::Random;

const SKEWS: [Skew; 6] =
    [Skew::None, Skew::Staggered, Skew::RowOdd, Skew::RowEven, Skew::ColumnOdd, Skew::ColumnEven];
const MERGES: [Merge; 3] = [Merge::BlockedWins, Merge::DearestWins, Merge::TopmostWins];

type Tiles = Vec<Vec<Option<Terrain>>>;

fn at(tiles: &Tiles, sheets: &[Sheet], sheet: usize, tile: UVec2) -> Option<Terrain> {
    tiles[sheet][sheets[sheet].index(tile).unwrap()]
}

fn random_tile(random: &mut Random) -> Option<Terrain> {
    match random.below(8) {
        0 | 1 => None,
        2 => Some(Terrain::WALL),
        3 => Terrain::digit(1 + random.below(9) as u8),
        _ => Some(Terrain::OPEN),
    }
}

/// What the tiles of one sheet mean at a point of the map, if it reaches there.
fn under(sheet: &Sheet, point: DVec2) -> Option<UVec2> {
    let lattice = ((point - sheet.origin) / sheet.scale).floor().as_ivec2();
    let tile = sheet.skew.tile(lattice);
    (tile.cmpge(IVec2::ZERO).all() && tile.as_uvec2().cmplt(sheet.size).all()).then(|| tile.as_uvec2())
}

/// The terrain of a cell, the slow way: at `looks` × `looks` points, all sheets, by the words of the rule.
fn oracle(cell: Cell, sheets: &[Sheet], tiles: &Tiles, merge: Merge, looks: u32) -> Terrain {
    let class = Class::default();
    let blocked = |terrain: &Terrain| class.factor(*terrain).is_none();
    let mut worst: Option<Terrain> = None;
    for v in 0..looks {
        for u in 0..looks {
            let part = |look: u32| (f64::from(look) + 0.5) / f64::from(looks);
            let point = DVec2::new(f64::from(cell.x) + part(u), f64::from(cell.y) + part(v));
            let hits: Vec<_> = (0..sheets.len())
                .filter_map(|sheet| under(&sheets[sheet], point).map(|tile| at(tiles, sheets, sheet, tile)))
                .collect();
            let found: Vec<Terrain> = hits.iter().copied().flatten().collect();
            let here = match merge {
                _ if hits.is_empty() => continue,
                _ if found.is_empty() => Terrain::WALL,
                Merge::TopmostWins => found[0],
                Merge::BlockedWins => *found.iter().find(|terrain| blocked(terrain)).unwrap_or(&found[0]),
                Merge::DearestWins => found.into_iter().reduce(|a, b| dearer(&class, a, b)).unwrap(),
            };
            worst = Some(worst.map_or(here, |worst| dearer(&class, worst, here)));
        }
    }
    worst.unwrap_or(Terrain::OUTSIDE)
}

#[test]
fn tiles_and_lattice_points_are_the_same_under_another_name() {
    for skew in SKEWS {
        for x in -7..9 {
            for y in -7..9 {
                let tile = IVec2::new(x, y);
                assert_eq!(skew.tile(skew.lattice(tile)), tile, "{skew:?}");
            }
        }
    }
}

#[test]
fn an_extent_holds_all_tiles_and_no_row_too_many() {
    for skew in SKEWS {
        for (width, height) in [(1, 1), (1, 2), (2, 1), (5, 4), (4, 5), (2, 2), (7, 1), (1, 7), (3, 6)] {
            let tiles = (0..height).flat_map(|y| (0..width).map(move |x| skew.lattice(IVec2::new(x, y))));
            let (low, high) =
                tiles.fold((IVec2::MAX, IVec2::MIN), |(low, high), at| (low.min(at), high.max(at)));
            let expected = (low, high + IVec2::ONE);
            assert_eq!(
                skew.extent(UVec2::new(width as u32, height as u32)),
                expected,
                "{skew:?} {width} {height}"
            );
        }
    }
}

#[test]
fn every_cell_is_what_the_rule_says_also_after_edits() {
    let mut random = Random::new(31);
    for round in 0..120 {
        let skew = if round % 3 == 0 { SKEWS[random.below(6) as usize] } else { Skew::None };
        // Tiles of a whole number of cells, or cells of a whole number of tiles.
        let looks = if round % 4 == 3 { 2 + random.below(2) } else { 1 };
        let sheets: Vec<Sheet> = (0..1 + random.below(4))
            .map(|_| {
                let scale = if looks > 1 { 1.0 / f64::from(looks) } else { f64::from(1 + random.below(2)) };
                Sheet {
                    size: UVec2::new(1 + random.below(30), 1 + random.below(30)),
                    skew,
                    origin: IVec2::new(random.below(12) as i32 - 4, random.below(12) as i32 - 4).as_dvec2(),
                    scale: DVec2::splat(scale),
                }
            })
            .collect();
        let mut tiles: Tiles = sheets
            .iter()
            .map(|sheet| (0..sheet.size.element_product()).map(|_| random_tile(&mut random)).collect())
            .collect();
        let merge = MERGES[random.below(3) as usize];
        let mosaic = Mosaic::new(40, 33, sheets.iter().copied(), merge);
        let class = Class::default();
        let whole = Area::new((0, 0), (39, 32));
        let terrain = |tiles: &Tiles, cell| {
            mosaic.terrain(cell, Terrain::WALL, &class, |sheet, tile| at(tiles, &sheets, sheet, tile))
        };
        let mut map: Vec<Terrain> = whole.cells().map(|cell| terrain(&tiles, cell)).collect();
        for step in 0..30 {
            let sheet = random.below(sheets.len() as u32) as usize;
            let UVec2 { x, y } = sheets[sheet].size;
            let tile = UVec2::new(random.below(x), random.below(y));
            tiles[sheet][sheets[sheet].index(tile).unwrap()] = random_tile(&mut random);
            // Only the cells named may change.
            for cell in mosaic.cells_of(sheet, tile).into_iter().flat_map(Area::cells) {
                map[(cell.y * 40 + cell.x) as usize] = terrain(&tiles, cell);
            }
            if step % 10 != 9 {
                continue;
            }
            for (cell, terrain) in whole.cells().zip(&map) {
                let expected = oracle(cell, &sheets, &tiles, merge, looks);
                assert_eq!(*terrain, expected, "round {round}, {cell}, {merge:?}, {sheets:?}");
            }
        }
    }
}

#[test]
fn nothing_lies_beyond_the_sheets() {
    let sheet = Sheet { size: UVec2::new(2, 2), skew: Skew::None, origin: DVec2::ONE, scale: DVec2::ONE };
    let mosaic = Mosaic::new(4, 4, [sheet], Merge::default());
    let terrain = |x, y| mosaic.terrain(Cell::new(x, y), Terrain(9), &Class::default(), |_, _| None);
    assert_eq!((terrain(0, 0), terrain(1, 1), terrain(2, 2)), (Terrain::OUTSIDE, Terrain(9), Terrain(9)));
    assert_eq!(
        (terrain(-1, 1), terrain(4, 1), terrain(1, 99)),
        (Terrain::OUTSIDE, Terrain::OUTSIDE, Terrain::OUTSIDE)
    );
    assert_eq!(mosaic.cells_of(0, UVec2::new(1, 0)), Some(Area::new((2, 1), (2, 1))));
    assert_eq!(mosaic.cells_of(1, UVec2::ZERO), None);
    assert_eq!(mosaic.cells_of(0, UVec2::new(7, 0)), None);
    assert_eq!(mosaic.cells_of(0, UVec2::new(u32::MAX, i32::MAX as u32)), None);
    assert_eq!(mosaic.area_of(0), Some(Area::new((1, 1), (2, 2))));
    let beside = Sheet { origin: DVec2::splat(9.0), ..sheet };
    assert_eq!(Mosaic::new(4, 4, [beside], Merge::default()).area_of(0), None);
}

/// Tiles that do not fit into cells a whole number of times are looked at all the same.
#[test]
fn no_tile_is_overlooked() {
    for scale in [0.6, 0.35, 0.26, 1.0 / 3.0, 0.9] {
        let sheet = Sheet {
            size: UVec2::splat(12),
            skew: Skew::None,
            origin: DVec2::ZERO,
            scale: DVec2::splat(scale),
        };
        let mosaic = Mosaic::new(12, 12, [sheet], Merge::default());
        for index in 0..144 {
            let wall = UVec2::new(index % 12, index / 12);
            let blocked = |cell| {
                let tile = |_, tile| Some(if tile == wall { Terrain::WALL } else { Terrain::OPEN });
                mosaic.terrain(cell, Terrain::WALL, &Class::default(), tile) == Terrain::WALL
            };
            let named: Vec<Cell> = mosaic.cells_of(0, wall).into_iter().flat_map(Area::cells).collect();
            assert!(named.iter().any(|cell| blocked(*cell)), "{scale}: {wall}");
            let all = Area::new((0, 0), (11, 11)).cells().filter(|cell| blocked(*cell));
            assert!(all.into_iter().all(|cell| named.contains(&cell)), "{scale}: {wall}");
        }
    }
}

/// A small sheet of very small tiles costs no more than its own cells.
#[test]
fn only_cells_with_small_tiles_are_looked_at_closely() {
    let ground = Sheet { size: UVec2::splat(64), skew: Skew::None, origin: DVec2::ZERO, scale: DVec2::ONE };
    let tiny = Sheet { size: UVec2::splat(4), scale: DVec2::splat(0.01), ..ground };
    let mosaic = Mosaic::new(64, 64, [tiny, ground], Merge::default());
    let mut asked = 0;
    for cell in Area::new((0, 0), (63, 63)).cells() {
        mosaic.terrain(cell, Terrain::WALL, &Class::default(), |_, _| {
            asked += 1;
            Some(Terrain::OPEN)
        });
    }
    assert!(asked < 64 * 64 + 2 * 100 * 100, "{asked}");
}
