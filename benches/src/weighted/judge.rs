//! The judge: in come the ground, a query, an answer and the cost that the peer found, out goes what is wrong with the
//! answer. Costs are whole numbers, so they are equal or wrong.

use std::fmt;

use wayfare::prelude::Cell;

use super::terrain::{Ground, step_cost};
use crate::check::{self, Board, Query};

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// The cells are no legal path between the ends.
    Path(check::Fault),
    /// The steps cost something else than the answer says.
    Sum { stated: u64, walked: u64 },
    /// Another path is cheaper, or the peer's is not the cheapest.
    Cost { found: u64, cheapest: u64 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(fault) => fault.fmt(f),
            Self::Sum { stated, walked } => write!(f, "the steps cost {walked}, not {stated} as stated"),
            Self::Cost { found, cheapest } => write!(f, "cost {found} instead of {cheapest}"),
        }
    }
}

/// Judges a path with its stated cost by what the peer's path costs; `None` is an answer without a path.
pub(crate) fn judge(
    board: &Board,
    ground: &Ground,
    query: &Query,
    answer: Option<(&[Cell], u64)>,
    cheapest: Option<u64>,
) -> Option<Fault> {
    // Here the cheapest path need not be the shortest: any length will do. Whether there is a path at all does not
    // depend on the ground, so the published length still says so.
    let any_length = Query { tolerance: f64::INFINITY, ..*query };
    if let Some(fault) = check::judge(board, &any_length, answer.map(|(cells, _)| cells)).fault {
        return Some(Fault::Path(fault));
    }
    let (cells, stated) = answer?;
    let walked = cells.windows(2).map(|step| cost_of(ground, step[0], step[1])).sum();
    if stated != walked {
        return Some(Fault::Sum { stated, walked });
    }
    match cheapest {
        Some(cheapest) if cheapest != stated => Some(Fault::Cost { found: stated, cheapest }),
        Some(_) => None,
        None => Some(Fault::Path(check::Fault::FoundTheImpossible)),
    }
}

/// The cost of a step that is known to be legal.
fn cost_of(ground: &Ground, from: Cell, to: Cell) -> u64 {
    let is_diagonal = from.x != to.x && from.y != to.y;
    ground.kind(to).map_or(0, |kind| step_cost(kind, is_diagonal))
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

    const PATH: [(i32, i32); 4] = [(0, 0), (1, 0), (2, 0), (3, 1)];

    fn fault(path: &[(i32, i32)], error: i64, cheapest: impl Fn(u64) -> Option<u64>) -> Option<Fault> {
        let (board, ground) = (board(), Ground::new(&board(), 7));
        let cells: Vec<Cell> = path.iter().map(|&cell| cell.into()).collect();
        let right = cells.windows(2).map(|step| cost_of(&ground, step[0], step[1])).sum::<u64>();
        let query = Query { start: Cell::new(0, 0), goal: Cell::new(3, 1), optimal: 3.4, tolerance: 1e-3 };
        let stated = right.checked_add_signed(error).expect("a small error");
        judge(&board, &ground, &query, Some((&cells, stated)), cheapest(right))
    }

    #[test]
    fn the_cheapest_path_passes_and_no_other() {
        assert_eq!(fault(&PATH, 0, Some), None);
        let dearer = fault(&PATH, 0, |right| Some(right - 1));
        assert!(
            matches!(dearer, Some(Fault::Cost { found, cheapest }) if found == cheapest + 1),
            "{dearer:?}"
        );
        let cheaper = fault(&PATH, 0, |right| Some(right + 1));
        assert!(matches!(cheaper, Some(Fault::Cost { .. })), "the peer should have found it: {cheaper:?}");
    }

    #[test]
    fn a_cost_that_its_steps_do_not_have_is_caught() {
        for error in [-1, 1] {
            let cheapest = |right: u64| right.checked_add_signed(error);
            let found = fault(&PATH, error, cheapest);
            assert!(matches!(found, Some(Fault::Sum { .. })), "{error}: {found:?}");
        }
    }

    #[test]
    fn illegal_paths_are_caught() {
        let path_fault = |path: &[(i32, i32)]| match fault(path, 0, Some) {
            Some(Fault::Path(fault)) => fault,
            other => panic!("{path:?} gives {other:?}"),
        };
        assert!(matches!(path_fault(&[(0, 0), (1, 0), (2, 1), (3, 1)]), check::Fault::CutCorner(..)));
        assert!(matches!(path_fault(&[(0, 0), (0, 1), (1, 1), (2, 1), (3, 1)]), check::Fault::Blocked(_)));
        assert!(matches!(path_fault(&[(0, 0), (2, 0), (3, 1)]), check::Fault::Gap(..)));
        assert_eq!(path_fault(&PATH[..3]), check::Fault::WrongEnd);
        assert_eq!(path_fault(&PATH[1..]), check::Fault::WrongStart);
    }

    #[test]
    fn no_path_is_right_only_where_none_exists() {
        let (board, ground) = (board(), Ground::new(&board(), 7));
        let query =
            |optimal| Query { start: Cell::new(0, 0), goal: Cell::new(3, 1), optimal, tolerance: 1e-3 };
        let none = |optimal| judge(&board, &ground, &query(optimal), None, None);
        assert_eq!(none(3.4), Some(Fault::Path(check::Fault::NotFound)));
        assert_eq!(none(0.0), None);
        assert_eq!(fault(&PATH, 0, |_| None), Some(Fault::Path(check::Fault::FoundTheImpossible)));
    }
}
