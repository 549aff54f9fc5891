//! What was saved comes back as it was; anything else is refused, and nothing panics.

use wayfare::prelude::*;

use crate::support::{FLORA, Flora, Random, find, random_map, seal, searched, views};

const GEARS: [Gear; 2] = [Gear::Graph, Gear::Full];

/// Two snapshots of one map: one has learned of a survey, the other of the same one baked.
fn both(map: &Map, view: &View) -> (Snapshot, Snapshot) {
    let mut made = Snapshot::new(map, view);
    let mut baked = made.clone();
    let survey = made.survey();
    let bytes = survey.to_bytes();
    let loaded = match Survey::from_bytes(&bytes, &baked) {
        Ok(loaded) => loaded,
        Err(error) => {
            // There was nothing to be found.
            assert_eq!((error, survey.bytes()), (BakeError::Empty, SurveyBytes::default()));
            return (made.clone(), made);
        }
    };
    assert_eq!(loaded.bytes(), survey.bytes());
    assert_eq!(loaded.to_bytes(), bytes);
    assert_eq!(made.learn(&survey), baked.learn(&loaded));
    (made, baked)
}

#[test]
fn a_baked_survey_gives_the_same_answers_with_the_same_effort() {
    let mut found = 0;
    for seed in 0..12 {
        for (rule, view) in views().iter().enumerate() {
            let mut random = Random::new(seed * 1000 + rule as u64);
            let (width, height) = (1 + random.below(150), 1 + random.below(90));
            let flora = if seed % 4 == 0 { FLORA[random.below(3) as usize] } else { Flora::Uniform };
            let mut map = random_map(&mut random, width, height, flora);
            let (mut made, mut baked) = both(&map, view);
            for round in 0..4 {
                // What is known of untouched parts stays in use after an edit.
                if round == 2 {
                    map.set(random.cell(&map), Terrain::WALL).unwrap();
                    made.refresh(&map);
                    baked.refresh(&map);
                }
                let Some(start) = made.nearest_open(random.cell(&map)) else { continue };
                let query = searched(start, random.cell(&map));
                for gear in GEARS {
                    let (mut a, mut b) = (Scratch::new(), Scratch::new());
                    let answer = find_path(&made, &query.gear(gear), &mut a).unwrap();
                    assert_eq!(find_path(&baked, &query.gear(gear), &mut b).unwrap(), answer);
                    assert_eq!(a.effort(), b.effort());
                    found += u32::from(matches!(answer, Answer::Found(_)));
                }
            }
        }
    }
    assert!(found > 500, "{found}");
}

#[test]
fn places_know_what_searches_find() {
    let mut compared = 0;
    for (rule, view) in views().iter().enumerate() {
        let mut random = Random::new(rule as u64);
        let map = random_map(&mut random, 40, 30, FLORA[rule % 3]);
        let snapshot = Snapshot::new(&map, view);
        let cells: Vec<Cell> = (0..6).filter_map(|_| snapshot.nearest_open(random.cell(&map))).collect();
        let places = Places::new(&snapshot, &cells, &mut Scratch::new()).unwrap();
        let baked = Places::from_bytes(&places.to_bytes(), &snapshot).unwrap();
        assert_eq!((baked.cells(), baked.to_bytes()), (&cells[..], places.to_bytes()));
        assert!(baked.hold_for(&snapshot));
        for (from, start) in cells.iter().enumerate() {
            for (to, goal) in cells.iter().enumerate() {
                let best = find(&snapshot, &searched(*start, *goal)).into_route();
                let route = places.route(from, to);
                assert_eq!(baked.route(from, to), route);
                assert_eq!(places.cost(from, to), best.as_ref().map(Route::cost));
                let Some(route) = route else { continue };
                let walked = crate::oracle::walk(&map, view, route.cells()).0;
                assert_eq!(
                    (walked, route.cells().first(), route.cells().last()),
                    (route.cost(), Some(start), Some(goal))
                );
                compared += 1;
            }
        }
        assert_eq!((places.cost(0, 99), places.cost(99, 0)), (None, None));
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn large_units_have_a_survey_and_places_of_their_own() {
    let mut map = Map::new(90, 70).unwrap();
    for x in (6..84).step_by(9) {
        map.fill(Area::new((x, x % 4), (x + 1, 60 + x % 7)), Terrain::WALL).unwrap();
    }
    let view = View { clearance: Clearance::new(1.0), ..View::default() };
    let (made, baked) = both(&map, &view);
    let (start, goal) = (Cell::new(3, 3), Cell::new(86, 40));
    let route = find(&made, &searched(start, goal)).into_route().unwrap();
    assert_eq!(find(&baked, &searched(start, goal)).into_route().as_ref(), Some(&route));
    let places = Places::new(&made, &[start, goal], &mut Scratch::new()).unwrap();
    let loaded = Places::from_bytes(&places.to_bytes(), &baked).unwrap();
    assert!(loaded.hold_for(&baked));
    assert_eq!(loaded.cost(0, 1), Some(route.cost()));
}

#[test]
fn places_on_a_wall_are_a_mistake_and_none_are_none() {
    let map = Map::from_text(".#.").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let mut scratch = Scratch::new();
    let wall = Cell::new(1, 0);
    assert_eq!(Places::new(&snapshot, &[wall], &mut scratch).err(), Some(QueryError::StartBlocked(wall)));
    let outside = Cell::new(0, 7);
    let error = Places::new(&snapshot, &[Cell::new(0, 0), outside], &mut scratch).err();
    assert_eq!(error, Some(QueryError::GoalOutside(outside)));
    let none = Places::new(&snapshot, &[], &mut scratch).unwrap();
    assert_eq!(Places::from_bytes(&none.to_bytes(), &snapshot).unwrap().cells(), &[]);
}

#[test]
fn places_say_when_the_map_has_changed() {
    let mut map = Map::new(70, 5).unwrap();
    let mut snapshot = Snapshot::new(&map, &View::default());
    let places = Places::new(&snapshot, &[Cell::new(0, 0), Cell::new(69, 4)], &mut Scratch::new()).unwrap();
    assert!(places.hold_for(&snapshot));
    map.set((30, 3), Terrain::WALL).unwrap();
    snapshot.refresh(&map);
    assert!(!places.hold_for(&snapshot));
    assert_eq!(Places::from_bytes(&places.to_bytes(), &snapshot).err(), Some(BakeError::Stale));
}

/// A small map with corners, landmarks, dead ends and places; the bytes of both kinds.
fn small() -> (Snapshot, [Vec<u8>; 2]) {
    let mut random = Random::new(5);
    let map = random_map(&mut random, 24, 18, Flora::Uniform);
    let snapshot = Snapshot::new(&map, &View::default());
    let survey = snapshot.survey();
    assert!(survey.bytes().landmarks > 0);
    let cells: Vec<Cell> = (0..3).filter_map(|_| snapshot.nearest_open(random.cell(&map))).collect();
    let places = Places::new(&snapshot, &cells, &mut Scratch::new()).unwrap();
    (snapshot, [survey.to_bytes(), places.to_bytes()])
}

/// Why each kind was refused.
fn refusals(snapshot: &Snapshot, [survey, places]: [&[u8]; 2]) -> [Option<BakeError>; 2] {
    [Survey::from_bytes(survey, snapshot).err(), Places::from_bytes(places, snapshot).err()]
}

#[test]
fn every_truncation_is_refused() {
    let (snapshot, files) = small();
    for (kind, file) in files.iter().enumerate() {
        for end in 0..file.len() {
            assert_eq!(
                refusals(&snapshot, [&file[..end]; 2])[kind],
                Some(BakeError::Truncated),
                "{kind} {end}"
            );
        }
        let longer = [&file[..], &[0]].concat();
        assert_eq!(refusals(&snapshot, [&longer; 2])[kind], Some(BakeError::Damaged));
    }
}

#[test]
fn every_flip_is_refused() {
    let (snapshot, files) = small();
    for (kind, file) in files.iter().enumerate() {
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut file = file.clone();
                file[at] ^= 1 << bit;
                let error = refusals(&snapshot, [&file; 2])[kind].unwrap();
                match at {
                    0..8 => assert_eq!(error, BakeError::Foreign),
                    8..12 => assert!(matches!(error, BakeError::Version { known: 3, .. })),
                    // A length that grew looks like an end that is missing.
                    20..28 => assert!(matches!(error, BakeError::Truncated | BakeError::Damaged)),
                    _ => assert_eq!(error, BakeError::Damaged),
                }
            }
        }
    }
}

#[test]
fn what_belongs_elsewhere_is_refused() {
    let (snapshot, [survey, places]) = small();
    let files = [&survey[..], &places[..]];
    assert_eq!(refusals(&snapshot, files), [None; 2]);
    assert_eq!(refusals(&snapshot, [&places, &survey]), [Some(BakeError::Foreign); 2]);
    assert_eq!(refusals(&snapshot, [b"{\"not\": \"ours\"}"; 2]), [Some(BakeError::Foreign); 2]);
    let stale = [Some(BakeError::Stale); 2];
    let mut edited = snapshot.map().clone();
    let open = snapshot.nearest_open(Cell::new(9, 9)).unwrap();
    edited.set(open, Terrain::WALL).unwrap();
    assert_eq!(refusals(&Snapshot::new(&edited, &View::default()), files), stale);
    // As it was before: that edit is undone.
    edited.set(open, Terrain::OPEN).unwrap();
    assert_eq!(refusals(&Snapshot::new(&edited, &View::default()), files), [None; 2]);
    edited.set(open, Terrain::digit(3).unwrap()).unwrap();
    assert_eq!(refusals(&Snapshot::new(&edited, &View::default()), files), stale);
    let other = Map::new(24, 18).unwrap();
    assert_eq!(refusals(&Snapshot::new(&other, &View::default()), files), stale);
    assert_eq!(refusals(&Snapshot::new(&Map::new(18, 24).unwrap(), &View::default()), files), stale);
    assert_eq!(refusals(&Snapshot::new(&Map::new(0, 0).unwrap(), &View::default()), files), stale);
    let large = View { clearance: Clearance::new(1.0), ..View::default() };
    assert_eq!(refusals(&Snapshot::new(snapshot.map(), &large), files), stale);
    let mut strangers = 0;
    for view in views().into_iter().filter(|view| view.rules != Rules::default()) {
        let class = Class::default();
        assert_eq!(refusals(&Snapshot::new(snapshot.map(), &View { class, ..view }), files), stale);
        strangers += 1;
    }
    assert_eq!(strangers, 35);
    let class = Class::default().with(Terrain::OPEN, Factor::whole(2));
    assert_eq!(refusals(&Snapshot::new(snapshot.map(), &View { class, ..View::default() }), files), stale);
}

#[test]
fn landmarks_of_uneven_ground_are_kept() {
    let mut found = 0;
    for (rule, view) in views().iter().enumerate() {
        let mut random = Random::new(rule as u64);
        let (width, height) = (60 + random.below(90), 60 + random.below(90));
        let mut map = random_map(&mut random, width, height, FLORA[rule % 3]);
        let (mut made, mut baked) = both(&map, view);
        for round in 0..12 {
            if round == 6 {
                // Where nothing got cheaper they stay in use.
                for _ in 0..20 {
                    map.set(random.cell(&map), Terrain::WALL).unwrap();
                }
                assert_eq!(made.refresh(&map), baked.refresh(&map));
            }
            assert_eq!(made.is_surveyed(), baked.is_surveyed());
            assert_eq!(made.wants_survey(), baked.wants_survey());
            let Some(start) = made.nearest_open(random.cell(&map)) else { continue };
            let query = searched(start, random.cell(&map));
            let (mut a, mut b) = (Scratch::new(), Scratch::new());
            let answer = find_path(&made, &query, &mut a).unwrap();
            assert_eq!(find_path(&baked, &query, &mut b).unwrap(), answer);
            assert_eq!(a.effort(), b.effort());
            found += u32::from(matches!(answer, Answer::Found(_)) && a.effort().closed > 20);
        }
        // What is known need not be measured again to be saved.
        if made.is_surveyed() && !made.wants_survey() {
            assert_eq!(made.survey().to_bytes(), baked.survey().to_bytes());
        }
    }
    assert!(found > 200, "{found}");
}

#[test]
fn half_a_survey_is_read_as_half_a_one() {
    let mut random = Random::new(2);
    let map = random_map(&mut random, 90, 70, Flora::Uniform);
    let mut snapshot = Snapshot::new(&map, &View::default());
    let mut surveyor = Surveyor::new(&snapshot);
    let half = loop {
        match surveyor.so_far() {
            Some(half) => break half,
            None => assert_eq!(surveyor.run(100), Progress::Running),
        }
    };
    let whole = surveyor.finish();
    assert!(half.bytes().landmarks == 0 && whole.bytes().landmarks > 0);
    let bytes = half.to_bytes();
    let read = Survey::from_bytes(&bytes, &snapshot).unwrap();
    assert_eq!((read.bytes(), read.to_bytes()), (half.bytes(), bytes));
    assert!(snapshot.learn(&read));
    assert!(snapshot.is_surveyed() && snapshot.wants_survey());
    // The rest is found, and the whole is what it would have been.
    let rest = snapshot.survey();
    assert_eq!(rest.to_bytes(), whole.to_bytes());
    assert!(snapshot.learn(&rest) && !snapshot.wants_survey());
}

#[test]
fn a_survey_that_found_nothing_is_empty() {
    let snapshot = Snapshot::new(&Map::new(0, 0).unwrap(), &View::default());
    let even = Snapshot::new(&Map::new(3, 2).unwrap(), &View::default());
    // A diagonal step that is dearer, as it is rounded, than the two that it replaces: nobody jumps here.
    let rules = Rules { costs: StepCosts::new(1, 2).unwrap(), ..Rules::default() };
    let class = Class::default().with(Terrain::OPEN, Factor::new(1.4).unwrap());
    let odd = Snapshot::new(&Map::new(3, 2).unwrap(), &View { rules, class, ..View::default() });
    let bytes = odd.survey().to_bytes();
    for snapshot in [snapshot, even, odd] {
        assert_eq!(Survey::from_bytes(&bytes, &snapshot).err(), Some(BakeError::Empty));
    }
}

#[test]
fn forged_files_make_no_search_panic() {
    let mut random = Random::new(8);
    let (mut taken, mut refused) = (0, 0);
    for (rule, view) in views().into_iter().enumerate().filter(|(rule, _)| rule % 5 == 0) {
        let mut map = random_map(&mut random, 70 + rule as u32, 40, Flora::Uniform);
        let snapshot = Snapshot::new(&map, &view);
        map.set((3, 3), Terrain::WALL).unwrap();
        let cells: Vec<Cell> = (0..4).filter_map(|_| snapshot.nearest_open(random.cell(&map))).collect();
        let places = Places::new(&snapshot, &cells, &mut Scratch::new()).unwrap().to_bytes();
        let survey = snapshot.survey().to_bytes();
        for _ in 0..100 {
            let [mut survey, mut places] = [survey.clone(), places.clone()];
            for file in [&mut survey, &mut places] {
                for _ in 0..=random.below(3) {
                    let at = 28 + random.below(file.len() as u32 - 36) as usize;
                    file[at] ^= 1 << random.below(8);
                }
                seal(file);
            }
            if let Ok(places) = Places::from_bytes(&places, &snapshot) {
                assert!((0..16).all(|pair| places.route(pair / 4, pair % 4).is_some()
                    == places.cost(pair / 4, pair % 4).is_some()));
            }
            let Ok(survey) = Survey::from_bytes(&survey, &snapshot) else {
                refused += 1;
                continue;
            };
            taken += 1;
            let mut learned = snapshot.clone();
            assert!(learned.learn(&survey));
            for round in 0..4 {
                if round == 2 {
                    learned.refresh(&map);
                    assert!(learned.learn(&learned.survey()));
                }
                let Some(start) = learned.nearest_open(random.cell(&map)) else { continue };
                for gear in GEARS {
                    // The answer may be anything.
                    let _answer = find(&learned, &searched(start, random.cell(&map)).gear(gear));
                }
            }
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} {refused}");
}

#[test]
fn a_scout_finds_the_same_in_slices_and_ways_by_search_cost_what_ways_by_field_do() {
    let mut compared = 0;
    for (rule, view) in views().iter().enumerate().filter(|(rule, _)| rule % 5 == 0) {
        let mut random = Random::new(50 + rule as u64);
        let map = random_map(&mut random, 50, 40, FLORA[rule % 3]);
        let snapshot = std::sync::Arc::new(Snapshot::new(&map, view));
        let few: Vec<Cell> = (0..8).filter_map(|_| snapshot.nearest_open(random.cell(&map))).collect();
        let more = (0..30).filter_map(|_| snapshot.nearest_open(random.cell(&map)));
        let many: Vec<Cell> = few.iter().copied().chain(more).collect();
        let some = Places::new(&snapshot, &few, &mut Scratch::new()).unwrap();
        let mut scout = Scout::new(std::sync::Arc::clone(&snapshot), &many, Scratch::new()).unwrap();
        let mut slices = 0;
        while scout.run(50) == Progress::Running {
            slices += 1;
        }
        assert!(slices > 100, "{slices}");
        let all = scout.finish().0;
        let at_once = Places::new(&snapshot, &many, &mut Scratch::new()).unwrap();
        assert_eq!(all.to_bytes(), at_once.to_bytes());
        for from in 0..few.len() {
            let best = crate::oracle::distances(&map, view, few[from]);
            for to in 0..few.len() {
                let cost = best.get(&(few[to].x, few[to].y)).copied();
                assert_eq!((some.cost(from, to), all.cost(from, to)), (cost, cost));
                let Some(route) = all.route(from, to) else { continue };
                let walked = crate::oracle::walk(&map, view, route.cells()).0;
                assert_eq!((Some(walked), route.cells().first()), (cost, Some(&few[from])));
                assert_eq!(route.cells().last(), Some(&few[to]));
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn a_way_back_takes_no_search_where_the_ground_is_even() {
    let map = Map::from_text("....#...\n.##.#.#.\n..#...#.").unwrap();
    let towns = [Cell::new(0, 2), Cell::new(7, 2), Cell::new(3, 0)];
    let snapshot = Snapshot::new(&map, &View::default());
    let places = Places::new(&snapshot, &towns, &mut Scratch::new()).unwrap();
    let there = places.route(0, 1).unwrap();
    let mut back = places.route(1, 0).unwrap().cells().to_vec();
    back.reverse();
    assert_eq!(there.cells(), back);
}
