//! The nearest of several goals, a slice at a time and without allocations.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::goals::{ask, from, some_goals};
use crate::support::{Flora, Random, random_map, searched};

/// A map, and queries with their goals.
fn scene() -> (Arc<Snapshot>, Vec<(PathQuery, Arc<[Cell]>)>) {
    let mut random = Random::new(11);
    let map = random_map(&mut random, 80, 70, Flora::Roads);
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let objectives =
        [Objective::Cheapest, Objective::TurnCost(400), Objective::FewestBends { within_percent: 5 }];
    let asked = (0..30).map(|i| {
        let start = random.cell(&map);
        let goals = some_goals(&mut random, &map, [2, 9, 40, 200][i % 4]);
        let budget = [u64::MAX, 40][i / 15];
        (from(start).objective(objectives[i % 3]).fallback(Fallback::Nearest).budget(budget), goals.into())
    });
    (snapshot, asked.collect())
}

#[test]
fn slices_of_any_size_give_the_same_answer() {
    let (snapshot, asked) = scene();
    let mut searched_in_slices = 0;
    for (query, goals) in asked {
        let mut scratch = Scratch::new();
        let whole = find_path_to_nearest(&snapshot, &query, &goals, &mut scratch);
        for slice in [1, 7, 64, u32::MAX] {
            let mut search =
                Search::to_nearest(Arc::clone(&snapshot), query, Arc::clone(&goals), Scratch::new());
            let mut slices = 1;
            while search.run(slice) == Progress::Running {
                slices += 1;
            }
            searched_in_slices += u32::from(slices > 3);
            assert_eq!(search.effort(), scratch.effort());
            assert_eq!(search.finish().0, whole, "{query:?} to {goals:?} in slices of {slice}");
        }
        // What a search that was given up leaves in the scratch is of no matter to the next.
        let mut dropped = Search::to_nearest(Arc::clone(&snapshot), query, goals, scratch);
        let _ = dropped.run(5);
        let next = searched(Cell::new(0, 0), Cell::new(79, 69)).fallback(Fallback::Nearest).budget(50);
        let reused = find_path(&snapshot, &next, &mut dropped.cancel());
        assert_eq!(reused, find_path(&snapshot, &next, &mut Scratch::new()));
    }
    assert!(searched_in_slices > 20, "{searched_in_slices}");
}

#[test]
fn a_recorder_that_panics_does_not_hang_the_search() {
    struct Faulty;
    impl Recorder for Faulty {
        fn closed(&mut self, _: Visit) {
            panic!("on purpose");
        }
    }
    let (snapshot, asked) = scene();
    for (query, goals) in asked {
        let mut search = Search::to_nearest(Arc::clone(&snapshot), query, Arc::clone(&goals), Scratch::new());
        let _ = search.run(3);
        let run = std::panic::AssertUnwindSafe(|| search.run_recorded(5, &mut Faulty));
        drop(std::panic::catch_unwind(run));
        assert_eq!(search.finish().0, ask(&snapshot, &query, &goals));
    }
}

#[test]
fn once_warm_a_search_allocates_nothing() {
    let (snapshot, asked) = scene();
    let mut scratch = Some(Scratch::new());
    let mut solve_all = || {
        let mut answered = 0;
        for (query, goals) in &asked {
            let lent = scratch.take().unwrap_or_default();
            let mut search = Search::to_nearest(Arc::clone(&snapshot), *query, Arc::clone(goals), lent);
            while search.run(50) == Progress::Running {}
            let (answer, mut returned) = search.finish();
            if let Some(route) = answer.ok().and_then(Answer::into_route) {
                returned.recycle(route);
            }
            let answer = find_path_to_nearest(&snapshot, query, goals, &mut returned);
            if let Some(route) = answer.ok().and_then(Answer::into_route) {
                answered += 1;
                returned.recycle(route);
            }
            scratch = Some(returned);
        }
        answered
    };
    let first = allocation_counter::measure(|| assert!(solve_all() > 10));
    let second = allocation_counter::measure(|| assert!(solve_all() > 10));
    assert!(first.count_total > 0);
    assert_eq!(second.count_total, 0);
}
