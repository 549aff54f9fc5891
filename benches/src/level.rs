//! The data: in comes a folder, out come its [`Level`]s, read and validated before anything is timed, so that a
//! bad file is reported in the first second and not in the last.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{fs, io};

use wayfare::movingai::{self, Scenario};
use wayfare::prelude::{Map, Snapshot, View};

use crate::check::{Board, Query};
use crate::cli::Failure;

/// A map with the questions asked on it.
#[derive(Debug)]
pub(crate) struct Level {
    /// Where the map lies below the folder, without its extension: `dao/arena2`.
    pub(crate) name: String,
    /// The folder that holds the map: `dao`.
    pub(crate) set: String,
    /// For us.
    pub(crate) map: Map,
    /// What that map holds on the heap.
    pub(crate) map_bytes: i64,
    /// The same map, for the peers and the judge.
    pub(crate) board: Board,
    pub(crate) queries: Vec<Query>,
}

/// Reads every level below `dir`, sorted by path, with `count` queries each (all if `None`).
pub(crate) fn load(dir: &Path, count: Option<NonZeroUsize>) -> Result<Vec<Level>, Failure> {
    // The full path has a last name even where `dir` is `.`.
    let root = dir.canonicalize().map_err(|error| Failure::Read(dir.into(), error))?;
    let mut maps = Vec::new();
    find_maps(&root, &mut maps)?;
    maps.sort();
    if maps.is_empty() {
        return Err(Failure::NoMaps(dir.into()));
    }
    maps.iter().map(|map| load_level(&root, map, count)).collect()
}

/// The list of queries that belongs to a map.
fn scenario_path(map: &Path) -> PathBuf {
    map.with_added_extension("scen")
}

fn find_maps(dir: &Path, maps: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let fail = |error: io::Error| Failure::Read(dir.into(), error);
    for entry in fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let path = entry.path();
        // A link to a folder is not followed: it may lead back up.
        if entry.file_type().map_err(fail)?.is_dir() {
            find_maps(&path, maps)?;
        } else if path.extension().is_some_and(|extension| extension == "map")
            && scenario_path(&path).is_file()
        {
            maps.push(path);
        }
    }
    Ok(())
}

fn load_level(root: &Path, path: &Path, count: Option<NonZeroUsize>) -> Result<Level, Failure> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| Failure::Read(path.into(), error));
    let text = read(path)?;
    let mut parsed = None;
    let memory = allocation_counter::measure(|| parsed = Some(movingai::parse_map(&text)));
    let map = parsed
        .expect("the closure has run")
        .map_err(|error| Failure::Malformed(path.into(), error.to_string()))?;
    let scenario_path = scenario_path(path);
    let malformed = |reason: String| Failure::Malformed(scenario_path.clone(), reason);
    let scenarios =
        movingai::parse_scenarios(&read(&scenario_path)?).map_err(|error| malformed(error.to_string()))?;
    if scenarios.is_empty() {
        return Err(malformed("it holds no queries".into()));
    }

    let snapshot = Snapshot::new(&map, &View::default());
    let board = Board::new(map.width(), map.height(), |cell| snapshot.is_open(cell));
    for (index, scenario) in scenarios.iter().enumerate() {
        // Several peers panic on a cell outside of the map.
        for end in [scenario.start, scenario.goal] {
            if !board.is_open(end.x, end.y) {
                return Err(malformed(format!("query {}: {end} is blocked or outside", index + 1)));
            }
        }
    }

    let folder = path.parent().unwrap_or(root);
    let set = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = path.strip_prefix(root).unwrap_or(path).with_extension("");
    let queries = spread(scenarios.len(), count).map(|index| to_query(&scenarios[index], &set)).collect();
    Ok(Level {
        name: name.to_string_lossy().into_owned(),
        set,
        map,
        map_bytes: memory.bytes_current,
        board,
        queries,
    })
}

/// `count` places spread evenly over a list: the middle of each of `count` equal slices, so that a list that is
/// sorted by difficulty keeps its mean.
fn spread(len: usize, count: Option<NonZeroUsize>) -> impl Iterator<Item = usize> {
    let count = count.map_or(len, |count| count.get().min(len));
    (0..count).map(move |slice| (2 * slice + 1) * len / (2 * count))
}

/// Lengths are published with six significant digits, in `bg512` with two decimals.
fn to_query(scenario: &Scenario, set: &str) -> Query {
    let is_coarse = scenario.optimal >= 1000.0 || set == "bg512";
    Query {
        start: scenario.start,
        goal: scenario.goal,
        optimal: scenario.optimal,
        tolerance: if is_coarse { 6e-3 } else { 1e-3 },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const MAP: &str = "type octile\nheight 4\nwidth 5\nmap\n.....\n.@@@.\n...@.\n.....\n";
    pub(crate) const SCENARIOS: &str = "version 1\n\
        0\ttiny.map\t5\t4\t0\t0\t4\t0\t4\n\
        0\ttiny.map\t5\t4\t0\t0\t4\t2\t6\n\
        0\ttiny.map\t5\t4\t2\t2\t4\t2\t4\n\
        0\ttiny.map\t5\t4\t0\t2\t1\t3\t1.41421\n";

    /// A folder that is removed with its contents at the end of a test.
    pub(crate) struct TempDir(pub(crate) PathBuf);

    impl TempDir {
        /// Makes one; `name` keeps tests that run at the same time apart.
        pub(crate) fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("wayfare_bench_{name}_{}", std::process::id()));
            fs::create_dir_all(&path).expect("a temporary folder");
            Self(path)
        }

        /// Writes a file, with the folders it needs.
        pub(crate) fn write(&self, name: &str, text: &str) {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            fs::write(path, text).expect("a temporary file");
        }
    }

    impl Drop for TempDir {
        fn drop(&mut self) {
            // Litter in the temporary folder is no reason to fail a test.
            drop(fs::remove_dir_all(&self.0));
        }
    }

    fn complaint(dir: &TempDir) -> String {
        load(&dir.0, None).expect_err("should be refused").to_string()
    }

    #[test]
    fn queries_are_spread_evenly() {
        let pick = |len, count| spread(len, NonZeroUsize::new(count)).collect::<Vec<_>>();
        assert_eq!(pick(10, 5), [1, 3, 5, 7, 9]);
        assert_eq!(pick(9, 3), [1, 4, 7]);
        assert_eq!(pick(7, 1), [3]);
        assert_eq!(pick(3, 3), [0, 1, 2]);
        assert_eq!(pick(3, 100), [0, 1, 2]);
        assert_eq!(pick(4, 0), [0, 1, 2, 3], "no count means all");
        let many = pick(1000, 37);
        assert!(many.windows(2).all(|pair| (27..=28).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn levels_are_found_below_sorted_and_named_by_their_place() {
        let dir = TempDir::new("found");
        for name in ["b/two.map", "a/deep/one.map", "a/lonely.map"] {
            dir.write(name, MAP);
        }
        dir.write("b/two.map.scen", SCENARIOS);
        dir.write("a/deep/one.map.scen", SCENARIOS);
        let levels = load(&dir.0, NonZeroUsize::new(2)).expect("two levels");
        let names: Vec<_> = levels.iter().map(|level| (level.name.as_str(), level.set.as_str())).collect();
        assert_eq!(names, [("a/deep/one", "deep"), ("b/two", "b")]);
        assert_eq!(levels[0].queries.len(), 2);
        assert_eq!((levels[0].board.width(), levels[0].board.height()), (5, 4));
        assert_eq!(levels[0].board.open_cells().count(), 16);
    }

    #[test]
    fn tolerances_follow_the_rounding_of_the_lengths() {
        let (start, goal) = ((0, 0).into(), (1, 0).into());
        let tolerance = |optimal, set| to_query(&Scenario { bucket: 0, start, goal, optimal }, set).tolerance;
        assert!(tolerance(999.0, "dao") < 2e-3);
        assert!(tolerance(1000.0, "dao") > 5e-3);
        assert!(tolerance(10.0, "bg512") > 5e-3);
    }

    #[test]
    fn bad_folders_and_files_are_named() {
        let dir = TempDir::new("bad");
        assert!(complaint(&dir).contains("no maps in"));
        dir.write("x.map", "type octile\nheight 2\nwidth 2\nmap\n.\n");
        dir.write("x.map.scen", SCENARIOS);
        assert!(complaint(&dir).contains("x.map is malformed"));
        dir.write("x.map", MAP);
        dir.write("x.map.scen", "version 1\n");
        assert!(complaint(&dir).contains("holds no queries"));
        dir.write("x.map.scen", "version 1\n0\tx.map\t5\t4\t0\t0\t1\t1\t2\n");
        assert!(complaint(&dir).contains("query 1: (1, 1) is blocked"));
        let missing = load(Path::new("no/such/folder"), None).expect_err("should be refused");
        assert!(missing.to_string().contains("cannot read no/such/folder"));
    }
}
