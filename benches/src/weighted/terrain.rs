//! The ground: in come a board and a seed, out goes a [`Ground`] with terrain on every open cell, the same on every
//! machine. Only whole numbers are used for it, and no search: a road that followed a path would move whenever a
//! search settled a tie in another way.

use wayfare::prelude::{Cell, Class, Factor, Map, Rules, StepCosts, Terrain, View};

use crate::check::Board;
use crate::measure::SplitMix;

/// How many kinds of rough ground there are; each costs as many times an ordinary step as its number says.
const ROUGH: u8 = 8;

/// The kind of a road.
const ROAD: u8 = ROUGH + 1;

/// What a road costs.
const ROAD_FACTOR: f32 = 0.5;

/// The noise has features of two sizes, in cells; the larger ones count twice.
const LARGE: i32 = 40;
const SMALL: i32 = 14;

/// A side of so many cells has one road.
const CELLS_PER_ROAD: usize = 96;

/// What covers each cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ground {
    width: usize,
    /// Row by row: 0 where a cell is blocked, a factor from 1 to [`ROUGH`], or [`ROAD`].
    kinds: Vec<u8>,
}

impl Ground {
    /// Covers the open cells of a board with patches of rough ground and straight roads across them.
    pub(crate) fn new(board: &Board, seed: u64) -> Self {
        let mut kinds = vec![0; board.width() * board.height()];
        for (x, y) in board.open_cells() {
            kinds[y * board.width() + x] = rough_kind(seed, x, y);
        }
        let mut ground = Self { width: board.width(), kinds };
        let open: Vec<(usize, usize)> = board.open_cells().collect();
        if !open.is_empty() {
            let mut random = SplitMix::new(seed);
            let roads = (board.width() + board.height()).div_ceil(CELLS_PER_ROAD);
            for _ in 0..roads {
                let ends = [(); 2].map(|()| open[random.below(open.len())]);
                ground.draw_road(ends[0], ends[1]);
            }
        }
        ground
    }

    /// What covers a cell; `None` where it is blocked or outside.
    pub(crate) fn kind(&self, cell: Cell) -> Option<u8> {
        let (Ok(x), Ok(y)) = (usize::try_from(cell.x), usize::try_from(cell.y)) else {
            return None;
        };
        let inside = x < self.width;
        self.kinds.get(y * self.width + x).copied().filter(|kind| inside && *kind != 0)
    }

    /// Every kind that covers a cell.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = u8> {
        self.kinds.iter().copied().filter(|kind| *kind != 0)
    }

    /// The map with this ground on its open cells, for us.
    pub(crate) fn cover(&self, mut map: Map) -> Map {
        if let Some(area) = map.area() {
            let edited = map.edit(area, |cell, old| self.kind(cell).map_or(old, Terrain));
            edited.expect("its own area lies on the map");
        }
        map
    }

    /// A line of road, interrupted where it meets a wall.
    fn draw_road(&mut self, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
        let between =
            |a: usize, b: usize, step: usize| (a * (steps - step) + b * step + steps / 2) / steps.max(1);
        for step in 0..=steps {
            let (x, y) = (between(from.0, to.0, step), between(from.1, to.1, step));
            let kind = &mut self.kinds[y * self.width + x];
            if *kind != 0 {
                *kind = ROAD;
            }
        }
    }
}

/// The units that the ground is made for.
pub(crate) fn view() -> View {
    let mut class = Class::default();
    for kind in 1..=ROUGH {
        class = class.with(Terrain(kind), Factor::whole(kind));
    }
    let road = Factor::new(ROAD_FACTOR).unwrap_or_default();
    let rules = Rules { costs: StepCosts::FINE, ..Rules::default() };
    View { class: class.with(Terrain(ROAD), road), rules, ..View::default() }
}

/// What entering a cell of this kind costs by a step of this length, in the whole numbers of our own costs: 256ths of
/// a factor, rounded to the nearest unit. Written anew, so that the judge shares no code with what it judges.
pub(crate) fn step_cost(kind: u8, is_diagonal: bool) -> u64 {
    let step = if is_diagonal { 1393 } else { 985 };
    let factor = if kind == ROAD { 128 } else { u64::from(kind) * 256 };
    (step * factor + 128) / 256
}

/// A seed for each name of a map (Fowler, Noll and Vo's hash).
pub(crate) fn seed(name: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// Value noise in bands.
fn rough_kind(seed: u64, x: usize, y: usize) -> u8 {
    let (x, y) = (crate::peers::signed(x), crate::peers::signed(y));
    let noise = (2 * value(seed, x, y, LARGE) + value(!seed, x, y, SMALL)) / 3;
    // Averages crowd around the middle; spread them, so that no kind is rare.
    let spread = ((noise - 128) * 17 / 10 + 128).clamp(0, 255);
    1 + u8::try_from(spread * i32::from(ROUGH) / 256).unwrap_or(0)
}

/// Smooth noise from 0 to 255 with one random value every `size` cells.
fn value(seed: u64, x: i32, y: i32, size: i32) -> i32 {
    let corner = |dx: i32, dy: i32| {
        let place =
            (u64::from((x / size + dx).unsigned_abs()) << 32) | u64::from((y / size + dy).unsigned_abs());
        let mut random = SplitMix::new(seed ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        i32::try_from(random.below(256)).unwrap_or(0)
    };
    let mix = |a: i32, b: i32, part: i32| (a * (256 - part) + b * part) / 256;
    let (across, down) = (ease(x % size, size), ease(y % size, size));
    let top = mix(corner(0, 0), corner(1, 0), across);
    mix(top, mix(corner(0, 1), corner(1, 1), across), down)
}

/// 0 to 256, slowly at both ends (a smoothstep).
fn ease(offset: i32, size: i32) -> i32 {
    let t = offset * 256 / size;
    t * t * (768 - 2 * t) / 65536
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of walls with gaps, 200 × 150.
    fn board() -> Board {
        Board::new(200, 150, |cell| cell.x % 17 != 3 || cell.y % 11 == 0)
    }

    #[test]
    fn the_same_seed_gives_the_same_ground() {
        let ground = Ground::new(&board(), seed("arena2"));
        assert_eq!(ground, Ground::new(&board(), seed("arena2")));
        assert_ne!(ground, Ground::new(&board(), seed("arena3")));
        // Another machine has to find this, too.
        let sum = ground.kinds.iter().fold(0_u64, |sum, kind| (sum * 31 + u64::from(*kind)) % 1_000_003);
        assert_eq!(sum, 697_769);
    }

    #[test]
    fn blocked_cells_stay_blocked_and_all_others_are_covered() {
        let board = board();
        let ground = Ground::new(&board, 1);
        let mut map = Map::new(200, 150).expect("small");
        let area = map.area().expect("not empty");
        let wall = |cell: Cell, _| if board.is_open(cell.x, cell.y) { Terrain::OPEN } else { Terrain::WALL };
        map.edit(area, wall).expect("inside");
        let map = ground.cover(map);
        for cell in area.cells() {
            let kind = ground.kind(cell);
            assert_eq!(kind.is_some(), board.is_open(cell.x, cell.y), "{cell}");
            assert!(kind.is_none_or(|kind| (1..=ROAD).contains(&kind)), "{cell}: {kind:?}");
            assert_eq!(map.terrain(cell), kind.map_or(Terrain::WALL, Terrain), "{cell}");
        }
        for outside in [(-1, 0), (0, -1), (200, 0), (0, 150)] {
            assert_eq!(ground.kind(outside.into()), None);
        }
    }

    #[test]
    fn every_kind_occurs_in_patches_several_cells_across() {
        let board = Board::new(512, 512, |_| true);
        let ground = Ground::new(&board, seed("open"));
        for kind in 1..=ROUGH {
            let share = ground.kinds().filter(|found| *found == kind).count() * 100 / (512 * 512);
            assert!((4..=30).contains(&share), "{share} % of kind {kind}");
        }
        let roads = ground.kinds().filter(|kind| *kind == ROAD).count();
        assert!((500..10_000).contains(&roads), "{roads} cells of road");
        let borders =
            ground.kinds.chunks(512).flat_map(|row| row.windows(2)).filter(|pair| pair[0] != pair[1]);
        let mean_run = 512 * 512 / borders.count().max(1);
        assert!((4..=12).contains(&mean_run), "runs of {mean_run} cells");
    }

    #[test]
    fn a_board_without_open_cells_and_one_with_one_are_no_trouble() {
        assert_eq!(Ground::new(&Board::new(3, 2, |_| false), 1).kinds, [0; 6]);
        assert_eq!(Ground::new(&Board::new(1, 1, |_| true), 1).kinds, [ROAD], "from a cell to itself");
        assert_eq!(Ground::new(&Board::new(0, 0, |_| true), 1).kinds().count(), 0);
    }

    #[test]
    fn costs_are_those_of_the_library() {
        use wayfare::prelude::{Direction, Snapshot};
        for kind in 1..=ROAD {
            let map = Map::filled(2, 2, Terrain(kind)).expect("small");
            let snapshot = Snapshot::new(&map, &view());
            for direction in [Direction::East, Direction::South, Direction::SouthEast] {
                let ours = snapshot.step_cost(Cell::new(0, 0), direction);
                assert_eq!(ours, Some(step_cost(kind, direction.is_diagonal())), "kind {kind}");
            }
        }
        assert_eq!((step_cost(ROAD, false), step_cost(ROAD, true)), (493, 697));
    }
}
