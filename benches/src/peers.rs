//! The other libraries, each used the way its own documentation and benchmarks use it: in comes a level, out
//! come paths in the peer's own type.
//!
//! Two of them cannot follow the rule of the benchmark: `grid_pathfinding` and `hierarchical_pathfinding` cut
//! corners. They solve an easier question, are timed on it all the same, and the table says so.

use bevy_northstar::prelude::{
    Grid as NorthstarGrid, GridSettingsBuilder, Nav, OrdinalNeighborhood, Path as NorthstarPath,
    PathfindArgs, filter::NoCornerCutting,
};
use glam::{IVec2, UVec3};
use grid_pathfinding::PathingGrid;
use grid_util::{grid::ValueGrid, point::Point};
use hierarchical_pathfinding::prelude::{MooreNeighborhood, PathCache, PathCacheConfig};
use pathfinding::prelude::astar;
use wayfare::prelude::Cell;

use crate::check::Board;
use crate::contender::Contender;
use crate::level::Level;

/// `pathfinding` 4: a generic A*, the usual first choice. Costs are millionths of a cell, so that rounding cannot
/// make it choose a longer path.
#[derive(Debug)]
pub(crate) struct PlainAstar {
    pub(crate) board: Board,
}

const STRAIGHT: u64 = 1_000_000;
const DIAGONAL: u64 = 1_414_214;

impl PlainAstar {
    fn successors(&self, (x, y): (i32, i32)) -> impl Iterator<Item = ((i32, i32), u64)> + use<> {
        let open = |dx, dy| self.board.is_open(x + dx, y + dy);
        let (north, east, south, west) = (open(0, -1), open(1, 0), open(0, 1), open(-1, 0));
        [
            (north, (x, y - 1), STRAIGHT),
            (east, (x + 1, y), STRAIGHT),
            (south, (x, y + 1), STRAIGHT),
            (west, (x - 1, y), STRAIGHT),
            (north && east && open(1, -1), (x + 1, y - 1), DIAGONAL),
            (south && east && open(1, 1), (x + 1, y + 1), DIAGONAL),
            (south && west && open(-1, 1), (x - 1, y + 1), DIAGONAL),
            (north && west && open(-1, -1), (x - 1, y - 1), DIAGONAL),
        ]
        .into_iter()
        .filter_map(|(is_open, to, cost)| is_open.then_some((to, cost)))
    }
}

/// The length of the shortest path on an empty board.
fn octile((x, y): (i32, i32), goal: Cell) -> u64 {
    let (dx, dy) = (u64::from(x.abs_diff(goal.x)), u64::from(y.abs_diff(goal.y)));
    let (long, short) = (dx.max(dy), dx.min(dy));
    STRAIGHT * (long - short) + DIAGONAL * short
}

impl Contender for PlainAstar {
    const NAME: &'static str = "pathfinding";
    const NOTE: &'static str = "";
    type Path = Vec<(i32, i32)>;

    fn build(level: &Level) -> Self {
        Self { board: level.board.clone() }
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        let found = astar(
            &(start.x, start.y),
            |&cell| self.successors(cell),
            |&cell| octile(cell, goal),
            |&cell| cell == (goal.x, goal.y),
        );
        found.map(|(path, _cost)| path)
    }

    fn write_cells(path: &Self::Path, _start: Cell, cells: &mut Vec<Cell>) {
        cells.extend(path.iter().map(|&cell| Cell::from(cell)));
    }
}

/// `grid_pathfinding` 0.3: jump point search. Its improved pruning is off because it is faster without.
#[derive(Debug)]
pub(crate) struct JumpPoints {
    pub(crate) grid: PathingGrid,
}

impl Contender for JumpPoints {
    const NAME: &'static str = "grid_pathfinding";
    const NOTE: &'static str = "other rule: cuts corners";
    type Path = Vec<Point>;

    fn build(level: &Level) -> Self {
        let board = &level.board;
        let mut grid = PathingGrid::new(board.width(), board.height(), true);
        grid.improved_pruning = false;
        grid.allow_diagonal_move = true;
        for (x, y) in board.open_cells() {
            grid.grid.set(signed(x), signed(y), false);
        }
        grid.initialize();
        grid.generate_components();
        Self { grid }
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        self.grid.get_path_single_goal(Point::new(start.x, start.y), Point::new(goal.x, goal.y), false)
    }

    fn write_cells(path: &Self::Path, _start: Cell, cells: &mut Vec<Cell>) {
        cells.extend(path.iter().map(|point| Cell::new(point.x, point.y)));
    }
}

/// `bevy_northstar` 0.7: hierarchical A* over chunks of 16, refined by line of sight, with its own filter for
/// our corner rule.
pub(crate) struct Northstar {
    pub(crate) grid: NorthstarGrid<OrdinalNeighborhood>,
}

impl Contender for Northstar {
    const NAME: &'static str = "northstar";
    const NOTE: &'static str = "not optimal";
    type Path = NorthstarPath;

    fn build(level: &Level) -> Self {
        Self { grid: northstar_grid(&level.board) }
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        self.grid.pathfind(&mut PathfindArgs::new(to_uvec3(start), to_uvec3(goal)).refined())
    }

    fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>) {
        let rest = path.path().iter().map(|position| Cell::from(position.as_ivec3().truncate()));
        prepend_start(start, rest, cells);
    }
}

/// The grid of `bevy_northstar`, built.
pub(crate) fn northstar_grid(board: &Board) -> NorthstarGrid<OrdinalNeighborhood> {
    // It refuses boards under 3 × 3; more blocked cells change no answer.
    let size = |cells: usize| u32::try_from(cells).unwrap_or(u32::MAX).max(3);
    let settings = GridSettingsBuilder::new_2d(size(board.width()), size(board.height()))
        .chunk_size(16)
        .default_impassable()
        .add_neighbor_filter(NoCornerCutting)
        .build();
    let mut grid = NorthstarGrid::new(&settings);
    for (x, y) in board.open_cells() {
        grid.set_nav(to_uvec3(Cell::new(signed(x), signed(y))), Nav::Passable(1));
    }
    grid.build();
    grid
}

/// `hierarchical_pathfinding` 0.5: hierarchical A* over chunks of 32, with its default of paths cached inside of
/// chunks when it is built.
#[derive(Debug)]
pub(crate) struct Hierarchical {
    pub(crate) cache: PathCache<MooreNeighborhood>,
    /// The library asks for the cost of cells again at every query.
    pub(crate) board: Board,
}

/// The cost of a cell, negative where it is blocked.
pub(crate) fn cost(board: &Board, (x, y): (usize, usize)) -> isize {
    if board.is_open(signed(x), signed(y)) { 1 } else { -1 }
}

impl Contender for Hierarchical {
    const NAME: &'static str = "hierarchical";
    const NOTE: &'static str = "other rule: cuts corners; not optimal";
    type Path = Vec<(usize, usize)>;

    fn build(level: &Level) -> Self {
        let board = level.board.clone();
        let (width, height) = (board.width(), board.height());
        let cache = PathCache::new(
            (width, height),
            |cell| cost(&board, cell),
            MooreNeighborhood::new(width, height),
            PathCacheConfig::with_chunk_size(32),
        );
        Self { cache, board }
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        let (board, ends) = (&self.board, [start, goal].map(to_tuple));
        let path = self.cache.find_path(ends[0], ends[1], |cell| cost(board, cell))?;
        Some(path.resolve(|cell| cost(board, cell)))
    }

    fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>) {
        let rest = path.iter().map(|&(x, y)| Cell::new(signed(x), signed(y)));
        prepend_start(start, rest, cells);
    }
}

/// For libraries whose paths begin with the first step, except perhaps where no step is needed.
fn prepend_start(start: Cell, rest: impl Iterator<Item = Cell>, cells: &mut Vec<Cell>) {
    cells.push(start);
    cells.extend(rest.skip_while(|&cell| cell == start));
}

/// Boards come from files whose sides fit easily.
pub(crate) fn signed(coordinate: usize) -> i32 {
    i32::try_from(coordinate).unwrap_or(i32::MAX)
}

/// The ends of a query lie inside of the board, so they are not negative.
pub(crate) fn to_tuple(cell: Cell) -> (usize, usize) {
    (cell.x.unsigned_abs() as usize, cell.y.unsigned_abs() as usize)
}

/// A cell as `bevy_northstar` names it.
pub(crate) fn to_uvec3(cell: Cell) -> UVec3 {
    IVec2::from(cell).as_uvec2().extend(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Fault, judge};
    use crate::level::{self, tests as data};

    /// The faults in the answers to the four queries of the test level.
    fn faults<C: Contender>() -> Vec<Option<Fault>> {
        let dir = data::TempDir::new(C::NAME);
        dir.write("tiny.map", data::MAP);
        dir.write("tiny.map.scen", data::SCENARIOS);
        let level = level::load(&dir.0, None).expect("a level").remove(0);
        let mut contender = C::build(&level);
        let verdicts = level.queries.iter().map(|query| {
            let path = contender.find(query.start, query.goal).expect("a path");
            let mut cells = Vec::new();
            C::write_cells(&path, query.start, &mut cells);
            judge(&level.board, query, Some(&cells)).fault
        });
        verdicts.collect()
    }

    #[test]
    fn those_with_our_rule_solve_the_test_level() {
        assert_eq!(faults::<PlainAstar>(), [const { None }; 4]);
        let northstar = faults::<Northstar>();
        let only_longer = |fault: &Option<Fault>| matches!(fault, None | Some(Fault::WrongLength { .. }));
        assert!(northstar.iter().all(only_longer), "{northstar:?}");
    }

    #[test]
    fn those_that_cut_corners_reach_every_goal() {
        for found in [faults::<JumpPoints>(), faults::<Hierarchical>()] {
            let connected = |fault: &Option<Fault>| {
                matches!(fault, None | Some(Fault::CutCorner(..) | Fault::WrongLength { .. }))
            };
            assert!(found.iter().all(connected), "{found:?}");
            assert!(found.iter().any(|fault| matches!(fault, Some(Fault::CutCorner(..)))), "{found:?}");
        }
    }
}
