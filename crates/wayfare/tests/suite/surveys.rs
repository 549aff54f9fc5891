//! Surveys in the making, taken up late, and put to use in slices and by crowds.

use std::sync::Arc;

use wayfare::prelude::*;

use crate::gears::{agree, built_map, edit, half_surveyed, in_eight_directions, judge, surveyed};
use crate::support::{Flora, Random, random_map, searched, views};

/// Walls here and there, small ones.
fn wall_off(random: &mut Random, map: &mut Map, count: u32) {
    for _ in 0..count {
        let a = random.cell(map);
        let (dx, dy) = if random.below(2) == 0 { (random.below(9), 0) } else { (0, random.below(9)) };
        let far = map.area().unwrap().max();
        let b = Cell::new((a.x + dx as i32).min(far.x), (a.y + dy as i32).min(far.y));
        map.fill(Area::new(a, b), Terrain::WALL).unwrap();
    }
}

/// An even map that was surveyed and then edited, small and large.
fn edited_since(seed: u64, view: &View) -> (Map, Arc<Snapshot>) {
    let mut random = Random::new(seed);
    let mut map = built_map(&mut random, 150, 110);
    (0..150).for_each(|_| edit(&mut random, &mut map));
    let mut snapshot = surveyed(&map, view);
    (0..4).for_each(|_| edit(&mut random, &mut map));
    snapshot.refresh(&map);
    (map, Arc::new(snapshot))
}

/// A new survey is of use before it has landmarks; those of the one before lead until then, past corners they have never seen.
#[test]
fn landmarks_lead_until_there_are_new_ones() {
    let mut closed = [0; 2];
    for (rule, view) in in_eight_directions() {
        let mut random = Random::new(rule as u64);
        let mut map = built_map(&mut random, 190, 130);
        (0..300).for_each(|_| edit(&mut random, &mut map));
        let mut snapshot = surveyed(&map, &view);
        for round in 0..6 {
            wall_off(&mut random, &mut map, 8);
            snapshot.refresh(&map);
            let half = half_surveyed(&snapshot);
            assert_eq!(half.bytes().landmarks, 0);
            // It may come late.
            if round % 2 == 1 {
                wall_off(&mut random, &mut map, 3);
                snapshot.refresh(&map);
            }
            assert!(snapshot.learn(&half) && snapshot.wants_survey());
            let [start, goal] = [0; 2].map(|_| snapshot.nearest_open(random.cell(&map)).unwrap());
            judge(&format!("round {round} {:?} {start} to {goal}", view.rules), &snapshot, start, goal);
            for _ in 0..30 {
                let [start, goal] = [0; 2].map(|_| snapshot.nearest_open(random.cell(&map)).unwrap());
                for (sum, closed) in closed.iter_mut().zip(agree(&snapshot, start, goal)) {
                    *sum += closed;
                }
            }
        }
        // A wall goes away: they lead no more.
        for _ in 0..3 {
            let a = random.cell(&map);
            let far = map.area().unwrap().max();
            let b = Cell::new((a.x + 20).min(far.x), (a.y + 20).min(far.y));
            map.fill(Area::new(a, b), Terrain::OPEN).unwrap();
            snapshot.refresh(&map);
            for _ in 0..10 {
                let [start, goal] = [0; 2].map(|_| snapshot.nearest_open(random.cell(&map)).unwrap());
                agree(&snapshot, start, goal);
            }
        }
    }
    let [graph, full] = closed;
    assert!(graph > 20_000, "{graph}");
    assert!(3 * full < 2 * graph, "landmarks should save a third: {full} of {graph}");
}

/// A fire that burns for a while: as long as it does no jump is right, and afterwards all is there that was before.
#[test]
fn ground_that_was_uneven_for_a_while_is_known_again() {
    let mut compared = 0;
    for (rule, view) in views().into_iter().enumerate() {
        let mut random = Random::new(rule as u64);
        let mut map = built_map(&mut random, 150, 70);
        let mut snapshot = surveyed(&map, &view);
        let mut ask = |random: &mut Random, snapshot: &Snapshot, name: &str| {
            let Some(start) = snapshot.nearest_open(random.cell(snapshot.map())) else { return };
            let goal = random.cell(snapshot.map());
            let name = format!("{name} {:?} {start} to {goal}", view.rules);
            compared += u32::from(judge(&name, snapshot, start, goal));
        };
        for round in 0..2 {
            let calm = map.clone();
            let fire = snapshot.nearest_open(random.cell(&map)).unwrap();
            map.set(fire, Terrain::digit(7).unwrap()).unwrap();
            snapshot.refresh(&map);
            assert!(!snapshot.is_surveyed() && snapshot.wants_survey());
            ask(&mut random, &snapshot, "burning");
            // A survey that was begun before may come now, and one of uneven ground.
            if round == 1 {
                assert!(snapshot.learn(&surveyed(&calm, &view).survey()));
                assert!(!snapshot.is_surveyed());
                let of_uneven = snapshot.survey();
                assert!(snapshot.learn(&of_uneven) && !snapshot.wants_survey());
                ask(&mut random, &snapshot, "known and burning");
            }
            edit(&mut random, &mut map);
            snapshot.refresh(&map);
            ask(&mut random, &snapshot, "edited and burning");
            map.edit(map.area().unwrap(), |_, old| if old == Terrain::WALL { old } else { Terrain::OPEN })
                .unwrap();
            snapshot.refresh(&map);
            assert!(snapshot.is_surveyed(), "nothing was forgotten");
            ask(&mut random, &snapshot, "burnt down");
        }
    }
    assert!(compared > 150, "{compared}");
}

/// Whoever shares a thread with a survey waits for a short step, not for a part of it.
#[test]
fn a_survey_takes_many_small_steps() {
    let mut random = Random::new(5);
    let mut map = random_map(&mut random, 300, 300, Flora::Uniform);
    let mut surveyor = Surveyor::new(&Snapshot::new(&map, &View::default()));
    let mut steps = [0; 2];
    while surveyor.run(1) == Progress::Running {
        steps[usize::from(surveyor.so_far().is_some())] += 1;
    }
    assert!(steps[0] > 500 && steps[1] > 500, "{steps:?}");
    map.set((0, 0), Terrain::digit(3).unwrap()).unwrap();
    let mut surveyor = Surveyor::new(&Snapshot::new(&map, &View::default()));
    let mut steps = 0;
    while surveyor.run(1) == Progress::Running {
        steps += 1;
    }
    assert!(steps > 1000, "{steps}");
}

#[test]
fn surveyed_searches_in_slices_of_any_size_give_the_same_answer() {
    let mut searched_in_slices = 0;
    for (rule, view) in views().into_iter().enumerate().step_by(2) {
        let (map, snapshot) = edited_since(rule as u64, &view);
        let mut random = Random::new(rule as u64);
        let mut scratch = Scratch::new();
        for round in 0..12 {
            let query = PathQuery::new(random.cell(&map), random.cell(&map));
            let query = query.straight_line(StraightLine::Never).gear([Gear::Graph, Gear::Full][round % 2]);
            let whole = find_path(&snapshot, &query, &mut Scratch::new());
            for slice in [1, 7, 1000] {
                // One that was given up leaves nothing behind.
                let mut dropped = Search::new(Arc::clone(&snapshot), query, scratch);
                let _ = dropped.run(slice * 3);
                let mut search = Search::new(Arc::clone(&snapshot), query, dropped.cancel());
                let mut slices = 1;
                while search.run(slice) == Progress::Running {
                    slices += 1;
                }
                searched_in_slices += u32::from(slices > 3);
                let (answer, lent) = search.finish();
                assert_eq!(answer, whole, "{query:?} in slices of {slice}");
                scratch = lent;
            }
        }
    }
    assert!(searched_in_slices > 150, "{searched_in_slices}");
}

#[test]
fn once_warm_a_surveyed_search_allocates_nothing() {
    let (map, snapshot) = edited_since(3, &View::default());
    let mut scratch = Scratch::new();
    let mut solve_all = || {
        let (mut random, mut answered) = (Random::new(7), 0);
        for round in 0..60 {
            let [start, goal] = [0; 2].map(|_| random.cell(&map));
            let query = searched(start, goal).gear([Gear::Graph, Gear::Full][round % 2]);
            if let Some(route) = find_path(&snapshot, &query, &mut scratch).ok().and_then(Answer::into_route)
            {
                answered += 1;
                scratch.recycle(route);
            }
        }
        assert!(answered > 10, "{answered}");
    };
    let first = allocation_counter::measure(&mut solve_all);
    let second = allocation_counter::measure(&mut solve_all);
    assert!(first.count_total > 0);
    assert_eq!(second.count_total, 0);
}

#[test]
fn a_crowd_on_surveyed_ground_gets_what_everybody_gets_alone() {
    let (mut shared, mut alone) = (0, 0);
    for (rule, view) in views().into_iter().enumerate() {
        let (map, snapshot) = edited_since(rule as u64, &view);
        let mut random = Random::new(rule as u64);
        let goal = snapshot.nearest_open(random.cell(&map)).unwrap();
        let count = [6, 900][rule % 2];
        let queries: Vec<PathQuery> = (0..count)
            .map(|_| PathQuery::new(snapshot.nearest_open(random.cell(&map)).unwrap(), goal))
            .collect();
        let mut convoy = Convoy::new(Arc::clone(&snapshot), queries.clone(), Scratch::new());
        let mut answers = Vec::new();
        while convoy.run(500, &mut answers) == Progress::Running {}
        *if convoy.finish().1.is_some() { &mut shared } else { &mut alone } += 1;
        let mut field = Field::to(Arc::clone(&snapshot), &[goal], Scratch::new());
        assert_eq!(field.run(u32::MAX), Progress::Done);
        let mut scratch = Scratch::new();
        assert_eq!(answers.len(), count);
        for (number, answer) in answers.into_iter().step_by(7) {
            let cost = |answer: Answer| answer.route().map(Route::cost);
            let expected = find_path(&snapshot, &queries[number], &mut scratch).map(cost);
            assert_eq!(answer.map(cost), expected, "{:?} {:?}", queries[number], view.rules);
            let query = queries[number].gear(Gear::Cells);
            assert_eq!(find_path(&snapshot, &query, &mut scratch).map(cost), expected);
            assert_eq!(Ok(field.cost(query.start())), expected);
        }
    }
    assert!(shared > 5 && alone > 5, "both ways were taken: {shared}, {alone}");
}

/// What a search notes about dead ends takes memory where it leads, not for the whole map.
#[test]
fn a_short_way_on_a_large_map_takes_little_memory() {
    let mut random = Random::new(9);
    let mut map = Map::new(900, 900).unwrap();
    map.edit(map.area().unwrap(), |_, _| if random.below(10) < 3 { Terrain::WALL } else { Terrain::OPEN })
        .unwrap();
    let snapshot = surveyed(&map, &View::default());
    let start = snapshot.nearest_open(Cell::new(10, 10)).unwrap();
    let goal = snapshot.nearest_reachable(start, Cell::new(70, 60)).unwrap();
    let bytes = |gear| {
        let mut scratch = Scratch::new();
        find_path(&snapshot, &searched(start, goal).gear(gear), &mut scratch).unwrap();
        assert!(scratch.effort().closed > 20, "dead ends are looked for in long searches only");
        scratch.bytes()
    };
    let (graph, full) = (bytes(Gear::Graph), bytes(Gear::Full));
    assert!(full < graph + 150_000, "{full} {graph}");
}
