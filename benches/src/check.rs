//! The judge: in come a map, a query with its published optimum and the cells that a contender returned, out
//! goes the length of the path and what is wrong with it. It shares no code with any search.

use std::f64::consts::SQRT_2;
use std::fmt;

use wayfare::prelude::Cell;

/// Which cells can be walked on, one flag each, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    width: usize,
    height: usize,
    open: Vec<bool>,
}

impl Board {
    /// Asks `is_open` for every cell.
    pub(crate) fn new(width: u32, height: u32, is_open: impl Fn(Cell) -> bool) -> Self {
        let mut open = Vec::with_capacity(width as usize * height as usize);
        for y in 0..height.cast_signed() {
            open.extend((0..width.cast_signed()).map(|x| is_open(Cell::new(x, y))));
        }
        Self { width: width as usize, height: height as usize, open }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// Whether a unit may stand there; nowhere outside of the map.
    pub(crate) fn is_open(&self, x: i32, y: i32) -> bool {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return false;
        };
        x < self.width && y < self.height && self.open[y * self.width + x]
    }

    /// Opens or blocks a cell; nothing happens outside of the map.
    pub(crate) fn set(&mut self, cell: Cell, open: bool) {
        let (Ok(x), Ok(y)) = (usize::try_from(cell.x), usize::try_from(cell.y)) else {
            return;
        };
        if x < self.width && y < self.height {
            self.open[y * self.width + x] = open;
        }
    }

    /// Every cell that is open, as column and row.
    pub(crate) fn open_cells(&self) -> impl Iterator<Item = (usize, usize)> {
        let open = self.open.iter().enumerate().filter(|(_, open)| **open);
        open.map(|(index, _)| (index % self.width, index / self.width))
    }
}

/// A question with a known answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) start: Cell,
    pub(crate) goal: Cell,
    /// The published length; 0 between two different cells means that no way exists.
    pub(crate) optimal: f64,
    /// By how much a length may differ, because published lengths are rounded.
    pub(crate) tolerance: f64,
}

impl Query {
    /// Whether the goal can be reached at all.
    pub(crate) fn is_solvable(&self) -> bool {
        self.optimal > 0.0 || self.start == self.goal
    }
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    NotFound,
    FoundTheImpossible,
    WrongStart,
    WrongEnd,
    Gap(Cell, Cell),
    Blocked(Cell),
    CutCorner(Cell, Cell),
    WrongLength { found: f64, optimal: f64 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => write!(f, "no path found"),
            Self::FoundTheImpossible => write!(f, "a path where none exists"),
            Self::WrongStart => write!(f, "the path does not begin at the start"),
            Self::WrongEnd => write!(f, "the path does not end at the goal"),
            Self::Gap(from, to) => write!(f, "{from} to {to} is not one step"),
            Self::Blocked(cell) => write!(f, "{cell} is blocked"),
            Self::CutCorner(from, to) => write!(f, "{from} to {to} cuts a corner"),
            Self::WrongLength { found, optimal } => write!(f, "length {found:.6} instead of {optimal:.6}"),
        }
    }
}

/// What the judge says about one answer.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// The length, if the cells lead from the start to the goal without a gap, legally or not.
    pub(crate) length: Option<f64>,
    /// The first thing that is wrong.
    pub(crate) fault: Option<Fault>,
}

/// Judges an answer by the rule of the benchmark: 8 directions, a diagonal needs both of its straight
/// neighbours free, and costs √2.
pub(crate) fn judge(board: &Board, query: &Query, path: Option<&[Cell]>) -> Verdict {
    let wrong = |fault| Verdict { length: None, fault: Some(fault) };
    let Some(path) = path else {
        let fault = query.is_solvable().then_some(Fault::NotFound);
        return Verdict { length: None, fault };
    };
    if path.first() != Some(&query.start) {
        return wrong(Fault::WrongStart);
    }
    if path.last() != Some(&query.goal) {
        return wrong(Fault::WrongEnd);
    }

    let mut illegal = (!board.is_open(query.start.x, query.start.y)).then_some(Fault::Blocked(query.start));
    let (mut straight, mut diagonal) = (0_u32, 0_u32);
    for step in path.windows(2) {
        let (from, to) = (step[0], step[1]);
        match (from.x.abs_diff(to.x), from.y.abs_diff(to.y)) {
            (0, 1) | (1, 0) => straight += 1,
            (1, 1) => diagonal += 1,
            _ => return wrong(Fault::Gap(from, to)),
        }
        if !board.is_open(to.x, to.y) {
            illegal = illegal.or(Some(Fault::Blocked(to)));
        } else if !(board.is_open(from.x, to.y) && board.is_open(to.x, from.y)) {
            illegal = illegal.or(Some(Fault::CutCorner(from, to)));
        }
    }
    let length = f64::from(straight) + f64::from(diagonal) * SQRT_2;

    // Without an optimum there is nothing to compare with, but a legal path disproves that there is none.
    let fault = illegal.or_else(|| {
        if !query.is_solvable() {
            return Some(Fault::FoundTheImpossible);
        }
        let is_optimal = (length - query.optimal).abs() <= query.tolerance;
        (!is_optimal).then_some(Fault::WrongLength { found: length, optimal: query.optimal })
    });
    Verdict { length: Some(length), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    /// . . . .
    /// . # . .
    /// . . . .
    /// ```
    fn board() -> Board {
        Board::new(4, 3, |cell| cell != Cell::new(1, 1))
    }

    fn cells(path: &[(i32, i32)]) -> Vec<Cell> {
        path.iter().map(|&(x, y)| Cell::new(x, y)).collect()
    }

    fn fault_of(path: &[(i32, i32)], optimal: f64) -> Option<Fault> {
        let query = Query { start: Cell::new(0, 0), goal: Cell::new(2, 1), optimal, tolerance: 1e-3 };
        judge(&board(), &query, Some(&cells(path))).fault
    }

    const LEGAL: [(i32, i32); 4] = [(0, 0), (1, 0), (2, 0), (2, 1)];

    #[test]
    fn a_board_can_be_edited_inside_only() {
        let mut board = board();
        board.set(Cell::new(1, 1), true);
        board.set(Cell::new(3, 2), false);
        for outside in [(-1, 0), (0, -1), (4, 0), (0, 3)] {
            board.set(outside.into(), false);
        }
        assert!(board.is_open(1, 1) && !board.is_open(3, 2));
        assert_eq!(board.open_cells().count(), 11);
    }

    #[test]
    fn a_legal_path_of_the_published_length_passes() {
        assert_eq!(fault_of(&LEGAL, 3.0), None);
        assert_eq!(fault_of(&LEGAL, 3.000_9), None);
        let here = Query { start: Cell::new(3, 2), goal: Cell::new(3, 2), optimal: 0.0, tolerance: 1e-3 };
        assert_eq!(judge(&board(), &here, Some(&cells(&[(3, 2)]))).fault, None);
        let query = Query { start: Cell::new(2, 0), goal: Cell::new(3, 1), optimal: SQRT_2, tolerance: 1e-3 };
        assert_eq!(judge(&board(), &query, Some(&cells(&[(2, 0), (3, 1)]))).fault, None);
    }

    #[test]
    fn a_wrong_length_is_refused() {
        assert!(matches!(fault_of(&LEGAL, 2.9), Some(Fault::WrongLength { .. })));
        assert!(matches!(fault_of(&LEGAL, 3.002), Some(Fault::WrongLength { .. })));
    }

    #[test]
    fn an_illegal_corner_cut_is_refused_but_still_measured() {
        let path = [(0, 0), (1, 0), (2, 1)];
        let fault = Some(Fault::CutCorner(Cell::new(1, 0), Cell::new(2, 1)));
        assert_eq!(fault_of(&path, 1.0 + SQRT_2), fault);
        let query = Query { start: Cell::new(0, 0), goal: Cell::new(2, 1), optimal: 3.0, tolerance: 1e-3 };
        let length = judge(&board(), &query, Some(&cells(&path))).length.expect("leads to the goal");
        assert!((length - (1.0 + SQRT_2)).abs() < 1e-12);
    }

    #[test]
    fn gaps_walls_and_wrong_ends_are_refused() {
        assert!(matches!(fault_of(&[(0, 0), (2, 0), (2, 1)], 3.0), Some(Fault::Gap(..))));
        assert!(matches!(fault_of(&[(0, 0), (0, 0), (1, 0), (2, 0), (2, 1)], 3.0), Some(Fault::Gap(..))));
        assert_eq!(fault_of(&[(0, 0), (1, 0), (1, 1), (2, 1)], 3.0), Some(Fault::Blocked(Cell::new(1, 1))));
        assert_eq!(fault_of(&[(0, 0), (1, 0), (2, 0)], 3.0), Some(Fault::WrongEnd));
        assert_eq!(fault_of(&LEGAL[1..], 2.0), Some(Fault::WrongStart));
        assert_eq!(fault_of(&[], 3.0), Some(Fault::WrongStart));
    }

    #[test]
    fn no_path_is_right_only_where_none_exists() {
        let query =
            |optimal| Query { start: Cell::new(0, 0), goal: Cell::new(2, 1), optimal, tolerance: 1e-3 };
        assert_eq!(judge(&board(), &query(3.0), None).fault, Some(Fault::NotFound));
        assert_eq!(judge(&board(), &query(0.0), None).fault, None);
        assert_eq!(fault_of(&LEGAL, 0.0), Some(Fault::FoundTheImpossible));
    }
}
