//! How each library takes a batch of edits, in the cheapest way that leaves it able to answer: in come edits, out goes
//! the contender as it is after them. Which cells the edits change all together is known beforehand and costs nobody
//! time; ours gets the stamps as the script has them, as a game would pass them on.

use bevy_northstar::prelude::Nav;
use grid_util::grid::ValueGrid;
use wayfare::prelude::{Cell, Map, Progress, Route, Surveyor};

use super::script::Batch;
use crate::contender::{Contender, Ours};
use crate::level::Level;
use crate::peers::{self, Hierarchical, JumpPoints, Northstar, PlainAstar};

/// A contender whose map can change between queries.
pub(crate) trait Edit: Contender {
    /// Makes all edits, and whatever must be done before the next query. Timed.
    fn apply(&mut self, batch: &Batch);

    /// What a worker does after that, while queries may be answered already, until what edits have outdated is in use again.
    /// Timed apart. Says whether there was anything.
    fn repair(&mut self) -> bool {
        false
    }

    /// What it does then, for queries to be faster still. Timed apart, too.
    fn refine(&mut self) {}
}

/// Wayfare as a game would use it: edit the map, then refresh the snapshot.
#[derive(Debug)]
pub(crate) struct OursEdited {
    map: Map,
    ours: Ours,
}

impl Contender for OursEdited {
    const NAME: &'static str = Ours::NAME;
    const NOTE: &'static str = Ours::NOTE;
    type Path = Route;

    fn build(level: &Level) -> Self {
        Self { map: level.map.clone(), ours: Ours::unsurveyed(level) }
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        self.ours.find(start, goal)
    }

    fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>) {
        Ours::write_cells(path, start, cells);
    }

    fn recycle(&mut self, path: Self::Path) {
        self.ours.recycle(path);
    }
}

impl Edit for OursEdited {
    fn apply(&mut self, batch: &Batch) {
        for stamp in &batch.stamps {
            let edited = self.map.edit(stamp.area(), |cell, _| stamp.terrain(cell));
            edited.expect("scripts whose stamps reach beyond the map are refused");
        }
        self.ours.snapshot.refresh(&self.map);
    }
}

/// The same with a survey that is brought up to date after each batch.
#[derive(Debug)]
pub(crate) struct OursSurveyed {
    edited: OursEdited,
    surveyor: Option<Surveyor>,
}

impl Contender for OursSurveyed {
    const NAME: &'static str = "surveyed";
    const NOTE: &'static str = "ours, after its repair";
    type Path = Route;

    fn build(level: &Level) -> Self {
        let mut edited = OursEdited::build(level);
        edited.ours.survey();
        Self { edited, surveyor: None }
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        self.edited.find(start, goal)
    }

    fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>) {
        Ours::write_cells(path, start, cells);
    }

    fn recycle(&mut self, path: Self::Path) {
        self.edited.recycle(path);
    }
}

impl Edit for OursSurveyed {
    fn apply(&mut self, batch: &Batch) {
        self.edited.apply(batch);
    }

    /// The graph and its dead ends.
    fn repair(&mut self) -> bool {
        let snapshot = &mut self.edited.ours.snapshot;
        let mut surveyor = Surveyor::new(snapshot);
        while surveyor.so_far().is_none() && surveyor.run(u32::MAX) == Progress::Running {}
        if let Some(survey) = surveyor.so_far() {
            snapshot.learn(&survey);
        }
        self.surveyor = Some(surveyor);
        true
    }

    /// Rays and landmarks.
    fn refine(&mut self) {
        if let Some(surveyor) = self.surveyor.take() {
            self.edited.ours.snapshot.learn(&surveyor.finish());
        }
    }
}

/// The same with a survey of the map as it was in the beginning, which is never brought up to date: what edits have left of
/// it is in use, and they have to say what they touch.
#[derive(Debug)]
pub(crate) struct OursAged(OursEdited);

impl Contender for OursAged {
    const NAME: &'static str = "aged";
    const NOTE: &'static str = "ours, with its first survey";
    type Path = Route;

    fn build(level: &Level) -> Self {
        let mut edited = OursEdited::build(level);
        edited.ours.survey();
        Self(edited)
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        self.0.find(start, goal)
    }

    fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>) {
        Ours::write_cells(path, start, cells);
    }

    fn recycle(&mut self, path: Self::Path) {
        self.0.recycle(path);
    }
}

impl Edit for OursAged {
    fn apply(&mut self, batch: &Batch) {
        self.0.apply(batch);
    }
}

/// It keeps nothing about the map: the board is all there is to change.
impl Edit for PlainAstar {
    fn apply(&mut self, batch: &Batch) {
        for &(cell, open) in &batch.changes {
            self.board.set(cell, open);
        }
    }
}

/// Its `set` keeps jump points and neighbours up to date and joins components; its `update` labels all of them anew if
/// anything was blocked. Cells that stay as they are must not be set: that would join components across walls.
impl Edit for JumpPoints {
    fn apply(&mut self, batch: &Batch) {
        for &(cell, open) in &batch.changes {
            self.grid.set(cell.x, cell.y, !open);
        }
        self.grid.update();
    }
}

/// Its `build` does again what the changed cells have made dirty.
impl Edit for Northstar {
    fn apply(&mut self, batch: &Batch) {
        for &(cell, open) in &batch.changes {
            let nav = if open { Nav::Passable(1) } else { Nav::Impassable };
            self.grid.set_nav(peers::to_uvec3(cell), nav);
        }
        self.grid.build();
    }
}

/// It is told of all changed cells at once.
impl Edit for Hierarchical {
    fn apply(&mut self, batch: &Batch) {
        for &(cell, open) in &batch.changes {
            self.board.set(cell, open);
        }
        let tiles: Vec<_> = batch.changes.iter().map(|&(cell, _)| peers::to_tuple(cell)).collect();
        let board = &self.board;
        self.cache.tiles_changed(&tiles, |cell| peers::cost(board, cell));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::script::tests::script;

    /// Whether a path is found for each query of the test script.
    fn found<C: Edit>() -> Vec<bool> {
        let script = script(&format!("edit_{}", C::NAME));
        let mut contender = C::build(&script.level);
        let mut found = Vec::new();
        for round in &script.rounds {
            if let Some(batch) = &round.batch {
                contender.apply(batch);
            }
            for query in &script.level.queries[round.queries.clone()] {
                found.push(contender.find(query.start, query.goal).is_some());
            }
        }
        found
    }

    #[test]
    fn everybody_sees_walls_come_and_go() {
        let expected = [true, true, true, true, false, true];
        assert_eq!(found::<OursEdited>(), expected);
        assert_eq!(found::<OursAged>(), expected);
        assert_eq!(found::<OursSurveyed>(), expected);
        assert_eq!(found::<PlainAstar>(), expected);
        assert_eq!(found::<JumpPoints>(), expected);
        assert_eq!(found::<Northstar>(), expected);
        assert_eq!(found::<Hierarchical>(), expected);
    }
}
