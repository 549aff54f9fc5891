//! What our gears take of memory, each by itself: in come a snapshot and the survey it has learnt, out go [`Bytes`] for each cell
//! of the map.

use serde::Serialize;
use wayfare::prelude::{SnapshotBytes, SurveyBytes};

/// Bytes for each cell of a map.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Bytes {
    pub(crate) map: f64,
    pub(crate) islands: f64,
    pub(crate) bits: f64,
    pub(crate) graph: f64,
    pub(crate) dead_ends: f64,
    pub(crate) rays: f64,
    pub(crate) landmarks: f64,
    pub(crate) total: f64,
}

impl Bytes {
    /// Divides what everything takes by the cells of the map.
    pub(crate) fn new(snapshot: SnapshotBytes, survey: SurveyBytes, cells: usize) -> Self {
        let each = |bytes: usize| bytes as f64 / cells.max(1) as f64;
        let mut bytes = Self {
            map: each(snapshot.map),
            islands: each(snapshot.islands),
            bits: each(snapshot.bits),
            graph: each(survey.graph),
            dead_ends: each(survey.dead_ends),
            rays: each(survey.rays),
            landmarks: each(survey.landmarks),
            total: 0.0,
        };
        bytes.total = bytes.parts().iter().map(|(_, part)| part).sum();
        bytes
    }

    /// What the total consists of, with names for a table.
    pub(crate) fn parts(&self) -> [(&'static str, f64); 7] {
        [
            ("map", self.map),
            ("islands", self.islands),
            ("bits", self.bits),
            ("graph", self.graph),
            ("dead ends", self.dead_ends),
            ("rays", self.rays),
            ("landmarks", self.landmarks),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up() {
        let snapshot = SnapshotBytes { map: 100, islands: 10, bits: 75 };
        let survey = SurveyBytes { graph: 200, dead_ends: 50, rays: 25, landmarks: 40 };
        let bytes = Bytes::new(snapshot, survey, 100);
        assert!((bytes.total - 5.0).abs() < 1e-12 && (bytes.graph - 2.0).abs() < 1e-12);
        assert!(Bytes::new(snapshot, survey, 0).total.is_finite());
    }
}
