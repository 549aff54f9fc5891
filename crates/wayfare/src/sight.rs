//! Straight lines between any two points: what a unit walks when it is not at the centre of a cell.
//!
//! Points are counted in columns and rows, as [`Layout::to_grid`](crate::Layout::to_grid) gives them. Lines between
//! centres are followed in whole numbers by [`line_of_sight`](Snapshot::line_of_sight); here the borders a line
//! crosses are computed one by one, as John Amanatides and Andrew Woo do in "A Fast Voxel Traversal Algorithm".

use std::sync::Arc;

use glam::{DVec2, Vec2};

use crate::cell::Cell;
use crate::layout::cell_of;
use crate::map::Map;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// Whether the straight line between two points touches open cells only and passes corners as the rule allows.
    ///
    /// Points are counted in columns and rows, as [`Layout::to_grid`](crate::Layout::to_grid) gives them; the centre
    /// of cell (3, 1) is (3.5, 1.5), and a point on a border belongs to the higher column or row. False if either
    /// is not a number or lies outside the map.
    ///
    /// A line that misses a corner by less than a float can tell counts as passing through it, so that a unit on its
    /// way along a diagonal still sees the end of it. Some thousand cells away from the first cell, floats can no
    /// longer tell some hundredths of a cell.
    ///
    /// A line that begins where a unit does not have the room it needs, but which is not blocked itself, leads out of there: on
    /// it only what is really blocked counts.
    pub fn is_clear(&self, from: Vec2, to: Vec2) -> bool {
        self.is_clear_within(from, to, 1.0)
    }

    /// As [`is_clear`](Self::is_clear), with less patience for lines beside a corner: none at 0, all of it at 1. A
    /// line that is clear with little of it stays clear with all of it while somebody walks along it.
    pub(crate) fn is_clear_within(&self, from: Vec2, to: Vec2, patience: f64) -> bool {
        let is_inside = cell_of(from).is_some_and(|cell| self.is_open(cell));
        if is_inside {
            self.follow_line(from, to, patience, |cell| self.is_open(cell))
        } else {
            self.is_free_line(from, to, patience)
        }
    }

    /// Whether a straight line touches nothing blocked, however much room a unit needs.
    pub(crate) fn is_free_line(&self, from: Vec2, to: Vec2, patience: f64) -> bool {
        self.follow_line(from, to, patience, |cell| self.is_free(cell))
    }

    fn follow_line(&self, from: Vec2, to: Vec2, patience: f64, is_open: impl Fn(Cell) -> bool) -> bool {
        let Some(mut line) = Line::new(self.map(), from, to) else {
            return false;
        };
        line.blur *= patience;
        let corners = self.rules().line_corners();
        if !is_open(line.cell) {
            return false;
        }
        while let Some(border) = line.next_border() {
            let enters_open = is_open(border.enters);
            line.cell = border.enters;
            if let Some(corner) = border.corner {
                let allowed = corners.allow(enters_open, is_open(corner.beside));
                if corner.is_touched && !allowed {
                    return false;
                }
                if !enters_open && corner.is_near && allowed && is_open(corner.beyond) {
                    line.cell = corner.beyond;
                    continue;
                }
            }
            if !enters_open {
                return false;
            }
        }
        true
    }

    /// Whether a straight line got worse since `before`: a cell it touches, or one it needs to pass a corner, is
    /// blocked now and was not, or costs more than it did. What is blocked and always was does not count.
    ///
    /// Points are counted as in [`is_clear`](Self::is_clear). Whatever lies outside a map is blocked. False if an
    /// end of the line lies outside the earlier map, for no way led there. The two may differ in size, class and
    /// rule; where they share what was not edited, cells are passed without a look.
    pub fn is_worse_along(&self, before: &Self, from: Vec2, to: Vec2) -> bool {
        if Arc::ptr_eq(&self.ground, &before.ground) {
            return false;
        }
        let Some(mut line) = Line::new(before.map(), from, to) else {
            return false;
        };
        let same_view = self.view() == before.view();
        let is_same = |cell: Cell| same_view && self.ground.map.shares(&before.ground.map, cell);
        let is_worse = |cell: Cell| {
            let price = |snapshot: &Self| snapshot.view().class.factor(snapshot.ground.map.terrain(cell));
            !is_same(cell) && price(before).is_some_and(|before| price(self).is_none_or(|now| now > before))
        };
        let passes = |snapshot: &Self, a: Cell, b: Cell| {
            snapshot.rules().line_corners().allow(snapshot.is_open(a), snapshot.is_open(b))
        };
        if is_worse(line.cell) {
            return true;
        }
        while let Some(Border { enters, corner }) = line.next_border() {
            line.cell = enters;
            if let Some(corner) = corner {
                let passed = passes(before, enters, corner.beside);
                if passed && !passes(self, enters, corner.beside) {
                    return true;
                }
                if passed && corner.is_near {
                    line.cell = corner.beyond;
                }
            }
            if is_worse(line.cell) {
                return true;
            }
        }
        false
    }
}

/// A line on its way: the cell it has come to, and the one it ends in.
struct Line {
    cell: Cell,
    end: Cell,
    from: DVec2,
    across: DVec2,
    /// How far a float may be off where the line is farthest out.
    blur: f64,
}

/// The next border a line crosses.
struct Border {
    enters: Cell,
    /// The corner it crosses the border next to.
    corner: Option<Corner>,
}

/// A corner that a line passes closely: the other cell beside it, and the one beyond.
struct Corner {
    beside: Cell,
    beyond: Cell,
    /// The line passes through the corner, or so close that no unit could tell.
    is_touched: bool,
    /// The line passes so close to the corner that floats cannot tell on which side.
    is_near: bool,
}

/// Closer than this to a corner, in cells, is touching it. Lines between centres on the largest map that miss a
/// corner do so by twenty times as much.
const TOUCH: f64 = 1e-6;
/// The least blur, for small maps that lie far from where the plane begins.
const LEAST_BLUR: f64 = 1e-4;
/// What a blurred line may cut off at a corner at most.
const LONGEST_CUT: f64 = 0.25;
/// Eight times the distance between floats around 1.
const RELATIVE_BLUR: f64 = 8.0 * f32::EPSILON as f64;

impl Line {
    /// `None` if an end lies outside the map.
    fn new(map: &Map, from: Vec2, to: Vec2) -> Option<Self> {
        let (cell, end) = (cell_of(from)?, cell_of(to)?);
        let farthest = f64::from(from.max(to).max_element());
        let blur = LEAST_BLUR.max(farthest * RELATIVE_BLUR);
        let (from, to) = (from.as_dvec2(), to.as_dvec2());
        (map.contains(cell) && map.contains(end)).then_some(Self { cell, end, from, across: to - from, blur })
    }

    /// The border where the line leaves its cell, or `None` in the last one.
    #[inline]
    fn next_border(&self) -> Option<Border> {
        let (x, y) = ((self.end.x - self.cell.x).signum(), (self.end.y - self.cell.y).signum());
        match (x, y) {
            (0, 0) => return None,
            (_, 0) => return Some(Border { enters: self.cell + (x, 0), corner: None }),
            (0, _) => return Some(Border { enters: self.cell + (0, y), corner: None }),
            _ => {}
        }
        let along_x = border_after(self.cell.x, x, self.from.x, self.across.x);
        let along_y = border_after(self.cell.y, y, self.from.y, self.across.y);
        let (enters, beside) = if along_x <= along_y {
            (self.cell + (x, 0), self.cell + (0, y))
        } else {
            (self.cell + (0, y), self.cell + (x, 0))
        };
        let gap = self.across.abs() * (along_x - along_y).abs();
        let is_touched = gap.min_element() <= TOUCH;
        let is_near = gap.min_element() <= self.blur && gap.max_element() <= LONGEST_CUT;
        let beyond = self.cell + (x, y);
        let corner = (is_touched || is_near).then_some(Corner { beside, beyond, is_touched, is_near });
        Some(Border { enters, corner })
    }
}

/// Where a line leaves its column (or row) stepping by `step`, as a part of its length.
fn border_after(cell: i32, step: i32, from: f64, across: f64) -> f64 {
    (f64::from(cell + i32::from(step > 0)) - from) / across
}
