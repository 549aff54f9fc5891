//! What is measured: in come a level and then queries, out come paths. Every library that takes part does so
//! through [`Contender`]; ours is here, the others are in [`crate::peers`].

use wayfare::prelude::{Answer, Cell, PathQuery, Scratch, Snapshot, SurveyBytes, View, find_path};

use crate::gears::Bytes;
use crate::level::Level;

/// A library under measurement.
///
/// [`build`](Self::build) and [`find`](Self::find) are timed, the rest is not.
pub(crate) trait Contender: Sized {
    /// Its key in tables and JSON.
    const NAME: &'static str;
    /// How its answers differ from the question, for the table.
    const NOTE: &'static str;
    /// Its own kind of path, holding every cell: turning it into ours costs time that is not its own.
    type Path;

    /// Makes whatever it keeps per map.
    fn build(level: &Level) -> Self;

    /// Answers one query with every cell of the path. Memory may be reused from one query to the next, findings
    /// may not.
    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path>;

    /// Appends the path to `cells`, which holds nothing yet. Some libraries leave out the start.
    fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>);

    /// Bytes of the level that the built structure shares instead of copying, and so keeps alive.
    fn shared_bytes(_level: &Level) -> i64 {
        0
    }

    /// Takes a path back when the judge has seen it.
    fn recycle(&mut self, path: Self::Path) {
        drop(path);
    }
}

/// Wayfare, as a game would call it: surveyed, so that all gears are there.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) snapshot: Snapshot,
    scratch: Scratch,
    survey_bytes: SurveyBytes,
}

impl Ours {
    /// With a snapshot that has not been surveyed.
    pub(crate) fn unsurveyed(level: &Level) -> Self {
        let snapshot = Snapshot::new(&level.map, &View::default());
        Self { snapshot, scratch: Scratch::new(), survey_bytes: SurveyBytes::default() }
    }

    /// Surveys the map as it is now.
    pub(crate) fn survey(&mut self) {
        let survey = self.snapshot.survey();
        self.snapshot.learn(&survey);
        self.survey_bytes = survey.bytes();
    }

    /// What each gear takes of memory.
    pub(crate) fn bytes_per_cell(&self, level: &Level) -> Bytes {
        let cells = level.board.width() * level.board.height();
        Bytes::new(self.snapshot.bytes(), self.survey_bytes, cells)
    }
}

impl Contender for Ours {
    const NAME: &'static str = "wayfare";
    const NOTE: &'static str = "";
    type Path = wayfare::prelude::Route;

    fn build(level: &Level) -> Self {
        let mut ours = Self::unsurveyed(level);
        ours.survey();
        ours
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        match find_path(&self.snapshot, &PathQuery::new(start, goal), &mut self.scratch) {
            Ok(Answer::Found(route)) => Some(route),
            _ => None,
        }
    }

    fn write_cells(path: &Self::Path, _start: Cell, cells: &mut Vec<Cell>) {
        cells.extend_from_slice(path.cells());
    }

    fn shared_bytes(level: &Level) -> i64 {
        level.map_bytes
    }

    fn recycle(&mut self, path: Self::Path) {
        self.scratch.recycle(path);
    }
}

/// Wayfare without a survey: the state right after an edit.
#[derive(Debug)]
pub(crate) struct FirstGear(Ours);

impl Contender for FirstGear {
    const NAME: &'static str = "first_gear";
    const NOTE: &'static str = "ours, unsurveyed";
    type Path = wayfare::prelude::Route;

    fn build(level: &Level) -> Self {
        Self(Ours::unsurveyed(level))
    }

    fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
        self.0.find(start, goal)
    }

    fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>) {
        Ours::write_cells(path, start, cells);
    }

    fn shared_bytes(level: &Level) -> i64 {
        level.map_bytes
    }

    fn recycle(&mut self, path: Self::Path) {
        self.0.recycle(path);
    }
}
