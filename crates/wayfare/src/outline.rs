//! The edges of the open ground, for drawing: long straight lines instead of cells.

use crate::cell::Cell;
use crate::island::Island;
use crate::snapshot::Snapshot;

/// A straight piece of the border between open and blocked cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The corner of the grid where it begins: that of the cell with these numbers which is nearest to cell (0, 0).
    pub from: Cell,
    /// The corner where it ends, to the right of the first or below it.
    pub to: Cell,
    /// The island it is the border of.
    pub island: Island,
}

impl Snapshot {
    /// The borders of all islands, in pieces as long as they are straight: rows first.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let snapshot = Snapshot::new(&Map::from_text("...#")?, &View::default());
    /// let lengths: Vec<i32> = snapshot.edges().iter().map(|e| e.to.x - e.from.x + e.to.y - e.from.y).collect();
    /// assert_eq!(lengths, [3, 3, 1, 1]); // above, below, left, right
    /// # Ok::<(), MapTextError>(())
    /// ```
    pub fn edges(&self) -> Vec<Edge> {
        let (columns, rows) = (self.map().width().cast_signed(), self.map().height().cast_signed());
        let mut edges = Vec::new();
        for y in 0..=rows {
            self.edges_along(
                columns,
                |x| (Cell::new(x, y - 1), Cell::new(x, y)),
                |x| Cell::new(x, y),
                &mut edges,
            );
        }
        for x in 0..=columns {
            self.edges_along(
                rows,
                |y| (Cell::new(x - 1, y), Cell::new(x, y)),
                |y| Cell::new(x, y),
                &mut edges,
            );
        }
        edges
    }

    /// The edges on one line of the grid, given the two cells beside each of its `length` pieces.
    fn edges_along(
        &self,
        length: i32,
        beside: impl Fn(i32) -> (Cell, Cell),
        corner: impl Fn(i32) -> Cell,
        edges: &mut Vec<Edge>,
    ) {
        let mut run: Option<(i32, Border)> = None;
        for i in 0..=length {
            let border =
                (i < length).then(|| beside(i)).and_then(|(a, b)| match (self.island(a), self.island(b)) {
                    (Some(island), None) => Some(Border { island, first_is_open: true }),
                    (None, Some(island)) => Some(Border { island, first_is_open: false }),
                    _ => None,
                });
            if let Some((start, old)) = run.take_if(|(_, old)| border != Some(*old)) {
                edges.push(Edge { from: corner(start), to: corner(i), island: old.island });
            }
            run = run.or(border.map(|border| (i, border)));
        }
    }
}

/// What an edge divides.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Border {
    island: Island,
    first_is_open: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Map;
    use crate::view::View;

    /// Each side of each open cell that faces a blocked one, counted cell by cell.
    fn sides(snapshot: &Snapshot) -> i32 {
        let map = snapshot.map();
        let cells = map.area().unwrap().cells().filter(|cell| snapshot.is_open(*cell));
        cells
            .map(|cell| {
                let around = [(1, 0), (-1, 0), (0, 1), (0, -1)];
                let open = around.iter().filter(|(x, y)| snapshot.is_open(Cell::new(cell.x + x, cell.y + y)));
                4 - i32::try_from(open.count()).unwrap()
            })
            .sum()
    }

    #[test]
    fn edges_are_all_sides_of_open_cells_that_face_blocked_ones() {
        for text in [".", "#", "..#\n#..\n.#.", "....\n.##.\n.#..\n....", ".#.#.\n#.#.#"] {
            let snapshot = Snapshot::new(&Map::from_text(text).unwrap(), &View::default());
            let edges = snapshot.edges();
            let length: i32 =
                edges.iter().map(|edge| edge.to.x - edge.from.x + edge.to.y - edge.from.y).sum();
            assert_eq!(length, sides(&snapshot), "{text}");
            assert!(edges.iter().all(|edge| (edge.from.x == edge.to.x) != (edge.from.y == edge.to.y)));
        }
    }

    #[test]
    fn an_open_field_has_four() {
        let snapshot = Snapshot::new(&Map::new(100, 70).unwrap(), &View::default());
        assert_eq!(snapshot.edges().len(), 4);
    }
}
