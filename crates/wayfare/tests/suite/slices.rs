//! A search in slices is the search in one go; dropped, cancelled or reused, it leaves nothing behind.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::support::{Flora, Random, random_map, searched};

const OBJECTIVES: [Objective; 3] =
    [Objective::Cheapest, Objective::TurnCost(400), Objective::FewestBends { within_percent: 5 }];

#[derive(Default, PartialEq, Debug)]
struct Log(Vec<(u8, Visit)>);

impl Recorder for Log {
    fn opened(&mut self, visit: Visit) {
        self.0.push((0, visit));
    }

    fn reparented(&mut self, visit: Visit) {
        self.0.push((1, visit));
    }

    fn closed(&mut self, visit: Visit) {
        self.0.push((2, visit));
    }
}

fn scene() -> (Arc<Snapshot>, Vec<PathQuery>) {
    let mut random = Random::new(11);
    let map = random_map(&mut random, 80, 70, Flora::Roads);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let mut queries = Vec::new();
    for i in 0..30 {
        let query = PathQuery::new(random.cell(&map), random.cell(&map));
        let fallback = if i % 2 == 0 { Fallback::Fail } else { Fallback::Nearest };
        queries.push(query.objective(OBJECTIVES[i % 3]).fallback(fallback));
    }
    (snapshot, queries)
}

#[test]
fn slices_of_any_size_give_the_same_answer() {
    let (snapshot, queries) = scene();
    let mut searched_in_slices = 0;
    for query in queries {
        let mut log = Log::default();
        let mut scratch = Scratch::new();
        let whole = find_path_recorded(&snapshot, &query, &mut scratch, &mut log);
        for slice in [1, 7, 64, u32::MAX] {
            let mut sliced_log = Log::default();
            let mut search = Search::new(Arc::clone(&snapshot), query, Scratch::new());
            let mut slices = 1_u64;
            while search.run_recorded(slice, &mut sliced_log) == Progress::Running {
                assert!(search.effort().closed <= slices * u64::from(slice));
                slices += 1;
            }
            searched_in_slices += u64::from(slices > 3);
            assert_eq!(search.run(1), Progress::Done);
            assert_eq!(search.effort(), scratch.effort());
            assert_eq!(sliced_log, log);
            assert_eq!(search.finish().0, whole, "{query:?} in slices of {slice}");
        }
    }
    assert!(searched_in_slices > 20, "{searched_in_slices}");
}

#[test]
fn a_recorder_changes_nothing_and_sees_everything() {
    let (snapshot, queries) = scene();
    for query in queries {
        let mut scratch = Scratch::new();
        let unwatched = find_path(&snapshot, &query, &mut scratch);
        let mut log = Log::default();
        let watcher: &mut dyn Recorder = &mut log;
        let watched = find_path_recorded(&snapshot, &query, &mut scratch, watcher);
        let effort = scratch.effort();
        // Whoever watches sees the search from cell to cell; any other finds as cheap a path.
        let plain = find_path(&snapshot, &query.gear(Gear::Cells), &mut scratch);
        assert_eq!((&watched, effort), (&plain, scratch.effort()));
        let cost = |answer: &Result<Answer, QueryError>| answer.clone().ok()?.route().map(Route::cost);
        assert_eq!((watched.is_ok(), cost(&watched)), (unwatched.is_ok(), cost(&unwatched)));
        let count = |event| log.0.iter().filter(|(kind, _)| *kind == event).count() as u64;
        assert_eq!(count(2), effort.closed);
        assert_eq!((count(0), count(1)), (effort.opened, effort.reparented));
        assert!(log.0.iter().all(|(_, visit)| visit.f == visit.g + visit.h));
        for (i, (_, visit)) in log.0.iter().enumerate().filter(|(_, (kind, _))| *kind == 2) {
            let told = |known: &Visit| (known.cell, known.g) == (visit.cell, visit.g);
            let opened = log.0[..i].iter().any(|(kind, known)| *kind < 2 && told(known));
            assert!(opened, "closed without being opened: {visit:?}");
        }
        for (i, (_, visit)) in log.0.iter().enumerate().filter(|(_, (kind, _))| *kind == 1) {
            let before = log.0[..i].iter().rev().find(|(kind, known)| *kind < 2 && known.cell == visit.cell);
            let is_better = before.is_some_and(|(_, known)| visit.g < known.g);
            assert!(is_better || query_has_headings(&query), "{visit:?}");
        }
    }
}

/// Whether a cell is visited once per heading, so that its visits cannot be told apart here.
fn query_has_headings(query: &PathQuery) -> bool {
    OBJECTIVES[1..].iter().any(|objective| *query == query.objective(*objective))
}

#[test]
fn a_search_may_stop_anywhere_and_its_scratch_be_used_for_any_map() {
    let (snapshot, queries) = scene();
    let small = Arc::new(Snapshot::new(&Map::new(3, 3).unwrap(), &View::default()));
    let mut scratch = Scratch::new();
    for (i, query) in (0..).zip(queries) {
        let mut search = Search::new(Arc::clone(&snapshot), query, scratch);
        let progress = search.run(i);
        scratch = if progress == Progress::Done { search.finish().1 } else { search.cancel() };
        let mut tiny = Search::new(Arc::clone(&small), searched(Cell::new(0, 0), Cell::new(2, 2)), scratch);
        let _ = tiny.run(0);
        let (answer, returned) = tiny.finish();
        assert_eq!(answer.unwrap().route().map(Route::cost), Some(2 * 1393));
        scratch = returned;
        let reused = find_path(&snapshot, &query, &mut scratch);
        assert_eq!(reused, find_path(&snapshot, &query, &mut Scratch::new()));
        drop(Search::new(Arc::clone(&snapshot), query, Scratch::new()));
    }
}

#[test]
fn a_search_may_move_to_another_thread() {
    let (snapshot, queries) = scene();
    for query in queries {
        let mut search = Search::new(Arc::clone(&snapshot), query, Scratch::new());
        let _ = search.run(10);
        let (answer, _) = std::thread::spawn(move || search.finish()).join().unwrap();
        assert_eq!(answer, find_path(&snapshot, &query, &mut Scratch::new()));
    }
}

#[test]
fn an_edit_during_a_search_is_not_seen_by_it() {
    let mut map = Map::new(100, 100).unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let query = searched(Cell::new(0, 0), Cell::new(99, 60)).gear(Gear::Cells);
    let expected = find_path(&snapshot, &query, &mut Scratch::new());
    let mut search = Search::new(Arc::clone(&snapshot), query, Scratch::new());
    assert_eq!(search.run(20), Progress::Running);
    map.fill(Area::new((50, 0), (50, 99)), Terrain::WALL).unwrap();
    let mut newer = Snapshot::clone(&snapshot);
    newer.refresh(&map);
    assert_eq!(search.finish().0, expected);
    assert!(matches!(find_path(&newer, &query, &mut Scratch::new()), Ok(Answer::Unreachable { .. })));
}

#[test]
fn a_wrong_question_is_answered_by_the_first_run() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(2, 2).unwrap(), &View::default()));
    let mut search = Search::new(snapshot, PathQuery::new((0, 0), (5, 5)), Scratch::new());
    assert_eq!(search.run(0), Progress::Done);
    assert_eq!(search.finish().0, Err(QueryError::GoalOutside(Cell::new(5, 5))));
}

#[test]
fn once_warm_a_search_allocates_nothing() {
    let (snapshot, queries) = scene();
    let mut scratch = Scratch::new();
    let mut solve_all = || {
        let mut answered = 0;
        for query in &queries {
            for shape in [RouteShape::Cells, RouteShape::Corners, RouteShape::Pulled] {
                let answer = find_path(&snapshot, &query.shape(shape), &mut scratch);
                if let Some(route) = answer.ok().and_then(Answer::into_route) {
                    answered += 1;
                    scratch.recycle(route);
                }
            }
        }
        answered
    };
    let first = allocation_counter::measure(|| assert!(solve_all() > 30));
    let second = allocation_counter::measure(|| assert!(solve_all() > 30));
    assert!(first.count_total > 0);
    assert_eq!(second.count_total, 0);
}

#[test]
fn a_recorder_that_panics_does_not_hang_the_search() {
    struct Faulty;
    impl Recorder for Faulty {
        fn closed(&mut self, _: Visit) {
            panic!("on purpose");
        }
    }
    let (snapshot, queries) = scene();
    for query in queries {
        let mut search = Search::new(Arc::clone(&snapshot), query, Scratch::new());
        let run = std::panic::AssertUnwindSafe(|| search.run_recorded(5, &mut Faulty));
        drop(std::panic::catch_unwind(run));
        assert_eq!(search.finish().0, find_path(&snapshot, &query, &mut Scratch::new()));
    }
}
