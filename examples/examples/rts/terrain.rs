//! The land: in comes a seed, out comes a grid of grass, road, swamp, water, rock, trees and bridges.
//!
//! A pure function without floats: the same seed gives the same land everywhere. `ground` makes tiles of it, `build`
//! asks where a wall may stand, `minimap` paints it.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::roads::{self, Bridge};

/// Cells along each side.
pub(crate) const SIDE: i32 = 128;

/// Nothing grows or stands within so many cells of the camp.
const CLEARING: i32 = 8;

/// What covers a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ground {
    Grass,
    Road,
    Swamp,
    Water,
    Rock,
    Tree,
    /// A road over water, and the axis it leads along.
    Bridge(Course),
}

impl Ground {
    /// Whether this is dry land that units cross and walls may stand on.
    pub(crate) fn is_buildable(self) -> bool {
        matches!(self, Self::Grass | Self::Road | Self::Swamp)
    }
}

/// The whole land.
#[derive(Resource, Clone, Debug)]
pub(crate) struct Land {
    pub(crate) seed: u64,
    /// Row by row, from the south up.
    cells: Vec<Ground>,
    /// The middle of the clearing where the first units stand.
    pub(crate) camp: Cell,
    pub(crate) bridges: Vec<Bridge>,
}

impl Land {
    pub(crate) fn new(seed: u64) -> Self {
        let camp = Cell::new(SIDE / 2, SIDE / 2);
        let cells = cells().map(|cell| wilderness(seed, camp, cell)).collect();
        let mut land = Self { seed, cells, camp, bridges: Vec::new() };
        land.weed(Ground::Rock);
        land.weed(Ground::Swamp);
        let rivers = [River::southward(seed), River::eastward(seed)];
        for cell in rivers.iter().flat_map(River::cells) {
            land.set(cell, Ground::Water);
        }
        roads::lay(&mut land, &rivers);
        land.plant_pockets();
        land
    }

    /// What covers a cell. Beyond the edge the land goes on as it is there.
    pub(crate) fn at(&self, cell: Cell) -> Ground {
        let inside = |n: i32| usize::try_from(n.clamp(0, SIDE - 1)).unwrap_or(0);
        self.cells[inside(cell.y) * SIDE as usize + inside(cell.x)]
    }

    pub(crate) fn set(&mut self, cell: Cell, ground: Ground) {
        let index = usize::try_from(cell.y * SIDE + cell.x).ok().filter(|_| contains(cell));
        if let Some(old) = index.and_then(|index| self.cells.get_mut(index)) {
            *old = ground;
        }
    }

    /// Turns single cells and thin tips to grass: they would look like noise.
    fn weed(&mut self, ground: Ground) {
        let is_thin = |cell: &Cell| {
            let alike = neighbours(*cell).into_iter().filter(|next| self.at(*next) == ground).count();
            self.at(*cell) == ground && alike < 2
        };
        let thin: Vec<Cell> = cells().filter(is_thin).collect();
        for cell in thin {
            self.set(cell, Ground::Grass);
        }
    }

    /// Trees grow on land that no unit could get to.
    fn plant_pockets(&mut self) {
        let mut map = roads::map_of(self);
        // Rock and trees are only dear to whoever builds a road; units do not cross them.
        for cell in cells().filter(|cell| matches!(self.at(*cell), Ground::Rock | Ground::Tree)) {
            let inside = map.set(cell, Terrain::WALL);
            debug_assert!(inside.is_ok());
        }
        let walkers = Class::default().without(roads::WATER);
        let snapshot = Snapshot::new(&map, &View { class: walkers, ..default() });
        let camp = self.camp;
        for cell in cells().filter(|cell| snapshot.is_open(*cell) && !snapshot.reachable(camp, *cell)) {
            self.set(cell, Ground::Tree);
        }
    }
}

/// All cells, row by row.
pub(crate) fn cells() -> impl Iterator<Item = Cell> {
    Area::new((0, 0), (SIDE - 1, SIDE - 1)).cells()
}

/// Whether a cell lies on the land.
pub(crate) fn contains(cell: Cell) -> bool {
    (0..SIDE).contains(&cell.x) && (0..SIDE).contains(&cell.y)
}

/// The cells to the north, east, south and west: the order of the bits in the masks of the tile atlas.
pub(crate) fn neighbours(cell: Cell) -> [Cell; 4] {
    [cell + (0, 1), cell + (1, 0), cell + (0, -1), cell + (-1, 0)]
}

/// What grows where nobody has been yet.
fn wilderness(seed: u64, camp: Cell, cell: Cell) -> Ground {
    let from_camp = distance_squared(cell, camp);
    let clear = from_camp < CLEARING * CLEARING;
    // The nearer to the camp, the less there is in the way.
    let calm = (190 - from_camp).max(0);
    let rock = rough(seed ^ 1, cell, 15) - calm;
    let swamp = rough(seed ^ 2, cell, 20) - calm;
    let forest = rough(seed ^ 3, cell, 17);
    let lakes = rough(seed ^ 4, cell, 24) - calm;
    let thicket = (hash(seed ^ 5, cell.x, cell.y) % 256).cast_signed();
    if clear {
        Ground::Grass
    } else if lakes > 735 {
        Ground::Water
    } else if rock > 670 {
        Ground::Rock
    } else if swamp > 690 || lakes > 705 {
        Ground::Swamp
    } else if thicket < 3 || (forest > 560 && thicket < (forest - 500) * 3 / 4) {
        Ground::Tree
    } else {
        Ground::Grass
    }
}

/// Water from one side to the other: for each step along it, where its middle is and how far it reaches.
pub(crate) struct River {
    pub(crate) course: Course,
    /// Where the middle is after so many steps.
    bends: Vec<i32>,
    /// The step it springs at.
    source: i32,
    seed: u64,
}

/// The axis a river or a bridge runs along.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Course {
    Southward,
    Eastward,
}

impl Course {
    /// From one side to the other.
    pub(crate) fn across(self) -> Self {
        match self {
            Self::Southward => Self::Eastward,
            Self::Eastward => Self::Southward,
        }
    }
}

impl River {
    /// West of the camp, or east of it.
    fn southward(seed: u64) -> Self {
        let base = if hash(seed, 0, 7).is_multiple_of(2) { 43 } else { SIDE - 44 };
        Self::new(Course::Southward, seed ^ 11, base, 0)
    }

    /// South of the camp, or north of it; from the other river to the edge.
    fn eastward(seed: u64) -> Self {
        let base = if hash(seed, 0, 8).is_multiple_of(2) { 44 } else { SIDE - 45 };
        let other = Self::southward(seed);
        let source = usize::try_from(base).ok().and_then(|step| other.bends.get(step).copied());
        Self::new(Course::Eastward, seed ^ 12, base, source.unwrap_or(0))
    }

    fn new(course: Course, seed: u64, base: i32, source: i32) -> Self {
        let bend = |step| base + (rough(seed, Cell::new(step, 0), 22) - 512) * 24 / 1024;
        Self { course, bends: (0..SIDE).map(bend).collect(), source, seed }
    }

    /// The cell at a step along the river and a distance across.
    pub(crate) fn cell(&self, step: i32, across: i32) -> Cell {
        match self.course {
            Course::Southward => Cell::new(across, step),
            Course::Eastward => Cell::new(step, across),
        }
    }

    /// Where its middle is at this step, unless it springs later.
    pub(crate) fn middle(&self, step: i32) -> Option<i32> {
        let step = usize::try_from(step).ok().filter(|_| self.flows(step))?;
        self.bends.get(step).copied()
    }

    /// The other river lies to the west of the camp, or to the east of it.
    fn flows(&self, step: i32) -> bool {
        let eastern_source = self.source > SIDE / 2;
        self.course == Course::Southward
            || if eastern_source { step <= self.source } else { step >= self.source }
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        let steps = (0..SIDE).filter_map(|step| Some((step, self.middle(step)?)));
        steps.flat_map(move |(step, middle)| {
            let wide = 1 + noise(self.seed ^ 3, Cell::new(step, 0), 9) / 512;
            (middle - 1..=middle + wide).map(move |across| self.cell(step, across))
        })
    }
}

pub(crate) fn distance_squared(a: Cell, b: Cell) -> i32 {
    (a.x - b.x).pow(2) + (a.y - b.y).pow(2)
}

/// Noise of two sizes, between 0 and 1023.
pub(crate) fn rough(seed: u64, at: Cell, size: i32) -> i32 {
    (noise(seed, at, size) * 11 + noise(seed ^ 77, at, size / 3) * 5) / 16
}

/// Smooth noise between 0 and 1023, with hills and valleys about `size` cells wide.
fn noise(seed: u64, at: Cell, size: i32) -> i32 {
    let (x, y) = (at.x.div_euclid(size), at.y.div_euclid(size));
    // From 0 to 256 along an S, so that no edges of the lattice are seen.
    let ease = |n: i32| {
        let t = n.rem_euclid(size) * 256 / size;
        (t * t * (768 - 2 * t)) >> 16
    };
    let (u, v) = (ease(at.x), ease(at.y));
    let corner = |dx: i32, dy: i32| (hash(seed, x + dx, y + dy) % 1024).cast_signed();
    let row = |dy: i32| corner(0, dy) * (256 - u) + corner(1, dy) * u;
    (row(0) * (256 - v) + row(1) * v) >> 16
}

/// A number that has nothing to do with its neighbours' (the last steps of `SplitMix64`).
pub(crate) fn hash(seed: u64, x: i32, y: i32) -> u32 {
    let place = u64::from(x.cast_unsigned()) << 32 | u64::from(y.cast_unsigned());
    let mut n = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xd134_2543_de82_ef95) ^ place;
    n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((n ^ n >> 31) >> 32) as u32
}
