//! The situation: in comes a map file, out come units on it and the goals they are sent to, the same on every run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use wayfare::movingai;
use wayfare::prelude::{Cell, Map, Snapshot, View};

use crate::check::Board;
use crate::cli::Failure;
use crate::measure::SplitMix;
use crate::peers::signed;

/// A map, and where on it everybody can reach everybody.
#[derive(Debug)]
pub(crate) struct Scene {
    /// The file's name without its extension.
    pub(crate) name: String,
    /// For us.
    pub(crate) map: Map,
    /// The same map, for the peer.
    pub(crate) board: Board,
    /// The cells of the largest island.
    cells: Vec<Cell>,
}

/// Where units are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goals {
    /// All to the same cell.
    One,
    /// Each to its own.
    Random,
}

impl Goals {
    /// As the table and the JSON call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Random => "random",
        }
    }
}

/// Units, where they stand, and where they are sent first and then again. No unit is sent to where it stands.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) starts: Vec<Cell>,
    pub(crate) first: Vec<Cell>,
    pub(crate) second: Vec<Cell>,
}

impl Scene {
    /// Reads a map in MovingAI's format.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::Read(path.into(), error))?;
        let malformed = |reason: String| Failure::Malformed(path.into(), reason);
        let map = movingai::parse_map(&text).map_err(|error| malformed(error.to_string()))?;
        let snapshot = Snapshot::new(&map, &View::default());
        let board = Board::new(map.width(), map.height(), |cell| snapshot.is_open(cell));
        let cells = largest_island(&snapshot, &board);
        if cells.len() < 3 {
            return Err(malformed("no three open cells are connected".into()));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, map, board, cells })
    }

    /// Draws `units` units with their goals.
    pub(crate) fn cast(&self, units: usize, goals: Goals) -> Cast {
        let mut random = SplitMix::new(units as u64);
        let common = [self.draw(&mut random, &[]), self.draw(&mut random, &[])];
        let mut cast = Cast { starts: Vec::new(), first: Vec::new(), second: Vec::new() };
        for _ in 0..units {
            let start = self.draw(&mut random, &common);
            let [first, second] = match goals {
                Goals::One => common,
                Goals::Random => [self.draw(&mut random, &[start]), self.draw(&mut random, &[start])],
            };
            cast.starts.push(start);
            cast.first.push(first);
            cast.second.push(second);
        }
        cast
    }

    /// A cell of the island that is none of `not`, which are fewer than the island has.
    fn draw(&self, random: &mut SplitMix, not: &[Cell]) -> Cell {
        loop {
            let cell = self.cells[random.below(self.cells.len())];
            if !not.contains(&cell) {
                return cell;
            }
        }
    }
}

fn largest_island(snapshot: &Snapshot, board: &Board) -> Vec<Cell> {
    let mut islands: BTreeMap<_, Vec<Cell>> = BTreeMap::new();
    for (x, y) in board.open_cells() {
        let cell = Cell::new(signed(x), signed(y));
        if let Some(island) = snapshot.island(cell) {
            islands.entry(island).or_default().push(cell);
        }
    }
    islands.into_values().max_by_key(Vec::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::tests::{MAP, TempDir};

    #[test]
    fn units_stand_on_the_largest_island_and_are_sent_elsewhere() {
        let dir = TempDir::new("scene");
        // A lonely cell in the corner, behind walls.
        dir.write("two.map", "type octile\nheight 3\nwidth 5\nmap\n...@.\n.@.@@\n.....\n");
        let scene = Scene::load(&dir.0.join("two.map")).expect("a map");
        assert_eq!(scene.name, "two");
        assert_eq!(scene.cells.len(), 10);
        for goals in [Goals::One, Goals::Random] {
            let cast = scene.cast(50, goals);
            assert_eq!([cast.starts.len(), cast.first.len(), cast.second.len()], [50; 3]);
            for (start, goals) in cast.starts.iter().zip(cast.first.iter().zip(&cast.second)) {
                assert!(start != goals.0 && start != goals.1);
                assert!([start, goals.0, goals.1].iter().all(|cell| scene.cells.contains(cell)));
            }
            let same = cast.first.iter().all(|goal| *goal == cast.first[0]);
            assert_eq!(same, goals == Goals::One);
            assert_eq!(scene.cast(50, goals).starts, cast.starts, "the same on every run");
        }
    }

    #[test]
    fn a_map_without_room_is_refused() {
        let dir = TempDir::new("no_room");
        dir.write("full.map", &MAP.replace('.', "@"));
        let failure = Scene::load(&dir.0.join("full.map")).expect_err("nowhere to stand");
        assert!(failure.to_string().contains("no three open cells"), "{failure}");
        assert!(matches!(Scene::load(&dir.0.join("none.map")), Err(Failure::Read(..))));
    }
}
