//! Public game maps with published optimal lengths, if they are there.
//!
//! Looked for in the folder that `WAYFARE_MOVINGAI` names, or in `../shared/movingai` beside the project. Get
//! them from `MovingAI`'s grid benchmarks: any folder of `.map` and `.map.scen` files below it will do.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, thread};

use wayfare::movingai::{parse_map, parse_scenarios};
use wayfare::prelude::*;

use crate::oracle;

/// The folder, if there is one. A folder that was named must be there; relative names count from the root.
fn data() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = root.join("../shared/movingai");
    match env::var_os("WAYFARE_MOVINGAI") {
        None => beside.is_dir().then_some(beside),
        Some(named) => {
            let folder = root.join(named);
            assert!(folder.is_dir(), "WAYFARE_MOVINGAI: {} is no folder", folder.display());
            Some(folder)
        }
    }
}

fn maps_below(folder: &Path) -> Vec<PathBuf> {
    let mut maps = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            maps.extend(maps_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "map") {
            maps.push(path);
        }
    }
    maps.sort();
    maps
}

/// Lengths are published with six significant digits, those of bg512 with two decimals.
fn tolerance(map: &Path, length: f64) -> f64 {
    let coarse = map.components().any(|part| part.as_os_str() == "bg512");
    if coarse || length >= 1000.0 { 6e-3 } else { 1e-3 }
}

fn solve_all(path: &Path) -> usize {
    let map = parse_map(&fs::read_to_string(path).unwrap()).unwrap();
    let mut scen = path.as_os_str().to_owned();
    scen.push(".scen");
    let scenarios = parse_scenarios(&fs::read_to_string(scen).unwrap()).unwrap();
    let view = View::default();
    let snapshot = Snapshot::new(&map, &view);
    let mut scratch = Scratch::new();
    for scenario in &scenarios {
        let query = PathQuery::new(scenario.start, scenario.goal);
        let Answer::Found(route) = find_path(&snapshot, &query, &mut scratch).unwrap() else {
            panic!("{}: no path for {scenario:?}", path.display())
        };
        let off = (route.length() - scenario.optimal).abs();
        assert!(
            off <= tolerance(path, scenario.optimal),
            "{}: {} for {scenario:?}",
            path.display(),
            route.length()
        );
        assert_eq!(route.cells().first(), Some(&scenario.start));
        assert_eq!(route.cells().last(), Some(&scenario.goal));
        // The judge is slow; a route of a thousand steps says as much as all of them.
        if scenario.bucket % 8 == 0 {
            assert_eq!(oracle::walk(&map, &view, route.cells()).0, route.cost());
        }
        scratch.recycle(route);
    }
    scenarios.len()
}

#[test]
fn every_published_length_is_met() {
    let Some(folder) = data() else {
        // Past the test runner, which would keep it to itself.
        writeln!(io::stderr(), "skipped: no data").unwrap();
        return;
    };
    let maps = maps_below(&folder);
    assert!(!maps.is_empty(), "{} has no maps", folder.display());
    let (next, solved) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(map) = maps.get(next.fetch_add(1, Ordering::Relaxed)) {
                    solved.fetch_add(solve_all(map), Ordering::Relaxed);
                }
            });
        }
    });
    println!("{} queries on {} maps", solved.load(Ordering::Relaxed), maps.len());
}
