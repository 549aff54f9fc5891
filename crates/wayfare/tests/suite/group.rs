//! Group orders: every place is open, near, apart from walls and others; every way leads there; the same for everybody in
//! whatever order they are handed in.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::Vec2;
use wayfare::group::{
    Formation, GroupAnswer, GroupQuery, GroupSearch, GroupWay, Member, Room, Straggler, assign,
};
use wayfare::prelude::*;

use crate::oracle;
use crate::support::{FLORA, Flora, Random, find, random_map, searched, views};

pub(crate) const FORMATIONS: [Formation; 5] =
    [Formation::Loose, Formation::Line, Formation::Wedge, Formation::Box, Formation::AsTheyStand];

pub(crate) fn snapshot_of(text: &str) -> Arc<Snapshot> {
    Arc::new(Snapshot::new(&Map::from_text(text).unwrap(), &View::default()))
}

pub(crate) fn solve(snapshot: &Arc<Snapshot>, query: &GroupQuery, members: &[Member]) -> GroupAnswer {
    let search =
        GroupSearch::new(Arc::clone(snapshot), Layout::default(), query.clone(), members, Scratch::new());
    search.finish().0
}

pub(crate) fn ways(answer: &GroupAnswer) -> Vec<&GroupWay> {
    answer.ways.iter().map(|way| way.as_ref().unwrap()).collect()
}

/// How far a disc reaches into a blocked cell of a map of unit cells, in the plainest words.
fn depth_in_walls(snapshot: &Snapshot, at: Vec2, radius: f32) -> f32 {
    let (low, high) = ((at - radius - 1.0).floor().as_ivec2(), (at + radius + 1.0).ceil().as_ivec2());
    let mut deepest = 0.0_f32;
    for y in low.y..=high.y {
        for x in low.x..=high.x {
            if !snapshot.is_open(Cell::new(x, y)) {
                let corner = Vec2::new(x as f32, y as f32);
                deepest = deepest.max(radius - at.distance(at.clamp(corner, corner + 1.0)));
            }
        }
    }
    deepest
}

fn random_members(random: &mut Random, map: &Map, count: u32, radii: &[f32]) -> Vec<Member> {
    (0..count)
        .map(|id| {
            let cell = random.cell(map);
            let inside = Vec2::new(random.below(100) as f32, random.below(100) as f32) / 100.0;
            let radius = radii[random.below(radii.len() as u32) as usize];
            Member::new(u64::from(id), Vec2::new(cell.x as f32, cell.y as f32) + inside, radius, 3.0)
        })
        .collect()
}

#[test]
fn places_are_near_apart_and_clear_of_walls_on_random_maps() {
    let (mut own, mut tight) = (0, 0);
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let size = 12 + random.below(30);
        let map = random_map(&mut random, size, size, FLORA[seed as usize % 3]);
        let snapshot = Arc::new(Snapshot::new(&map, &views()[seed as usize % views().len()]));
        let count = 1 + random.below(40);
        let radii = [&[0.4][..], &[0.3, 0.4, 0.7], &[0.0, 1.3]][random.below(3) as usize];
        let members = random_members(&mut random, &map, count, radii);
        let Some(goal) = snapshot.nearest_open(random.cell(&map)) else { continue };
        let formation = FORMATIONS[random.below(5) as usize];
        let query = GroupQuery { formation, ..GroupQuery::to(Layout::default().centre(goal)) };
        let answer = solve(&snapshot, &query, &members);
        let plain = View::from(snapshot.rules());
        let flat = Map::from_text(&map.to_text(|cell| snapshot.is_open(cell).then_some('.'))).unwrap();
        let walks = oracle::distances(&flat, &plain, goal);
        let mut taken: Vec<(Vec2, f32)> = Vec::new();
        for (member, way) in members.iter().zip(&answer.ways) {
            let Ok(way) = way else { continue };
            let (place, name) = (way.slot.place, format!("seed {seed} {formation:?} {member:?} {way:?}"));
            let cell = Layout::default().cell_at(place).unwrap();
            assert!(snapshot.is_open(cell) && snapshot.reachable(cell, goal), "{name}");
            let costs = snapshot.rules().costs;
            let straight = Vec2::new(
                (cell.x - goal.x) as f32 * f32::from(costs.x()),
                (cell.y - goal.y) as f32 * f32::from(costs.y()),
            );
            let limit = 2.0 * straight.length() + 4.0 * f32::from(costs.x().max(costs.y())) + 2.0;
            assert!(walks[&(cell.x, cell.y)] as f32 <= limit, "a long walk: {name}");
            match way.slot.room {
                Room::Own => {
                    let depth = depth_in_walls(&snapshot, place, member.radius);
                    assert!(depth <= 0.01 * member.radius, "{depth} {name}");
                    own += 1;
                }
                Room::Tight => tight += 1,
                Room::Shared => continue,
            }
            for (other, radius) in &taken {
                let gap = place.distance(*other);
                assert!(gap > 1.1 * (radius + member.radius) && gap > 0.05, "{other} {name}");
            }
            taken.push((place, member.radius));
        }
    }
    assert!(own > 800 && tight > 50, "{own} {tight}");
}

#[test]
fn every_way_is_clear_and_leads_from_the_unit_to_its_place() {
    let (mut count, mut longer) = (0, 0.0);
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let map = random_map(&mut random, 40, 40, Flora::Uniform);
        let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
        let members = random_members(&mut random, &map, 12, &[0.4]);
        let Some(goal) = snapshot.nearest_open(random.cell(&map)) else { continue };
        let answer = solve(&snapshot, &GroupQuery::to(Layout::default().centre(goal)), &members);
        let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
        for (member, way) in members.iter().zip(&answer.ways) {
            let start = Layout::default().cell_at(member.position).unwrap();
            let Ok(way) = way else {
                assert!(
                    !snapshot
                        .nearest_open_within(start, 16)
                        .is_some_and(|cell| snapshot.reachable(cell, goal))
                );
                continue;
            };
            assert_eq!(way.points.first(), Some(&member.position));
            assert_eq!(way.points.last(), Some(&way.slot.place));
            let skipped = usize::from(!snapshot.is_open(start));
            let clear = way.points.windows(2).skip(skipped).all(|leg| footing.is_clear(leg[0], leg[1]));
            assert!(clear, "seed {seed} {way:?}");
            let end = Layout::default().cell_at(way.slot.place).unwrap();
            if skipped == 0 {
                let best =
                    find(&snapshot, &searched(start, end).shape(RouteShape::Pulled)).into_route().unwrap();
                longer += way.cost as f64 / best.cost().max(985) as f64;
                count += 1;
            }
        }
    }
    let mean = longer / f64::from(count);
    assert!(count > 500 && mean < 1.03, "{mean} times as long as the best way to the place, of {count}");
}

#[test]
fn a_loose_group_is_a_dense_disc() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(80, 80).unwrap(), &View::default()));
    let goal = Vec2::new(40.3, 39.8);
    let members: Vec<Member> = (0..500)
        .map(|id| Member::new(id, Vec2::new(2.0 + (id % 10) as f32, 5.0 + (id / 10) as f32), 0.4, 3.0))
        .collect();
    let answer = solve(&snapshot, &GroupQuery::to(goal), &members);
    let ideal = 0.4 * (500.0_f32 / 0.9).sqrt();
    for way in ways(&answer) {
        assert_eq!(way.slot.room, Room::Own);
        assert!(way.slot.place.distance(goal) < 1.25 * ideal);
    }
}

#[test]
fn places_spill_along_the_street_and_not_into_the_next_one() {
    let mut map = Map::new(60, 9).unwrap();
    map.fill(Area::new((0, 4), (58, 4)), Terrain::WALL).unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    let members: Vec<Member> = (0..60)
        .map(|id| Member::new(id, Vec2::new(1.0 + (id % 20) as f32 / 2.0, 0.5 + (id / 20) as f32), 0.4, 3.0))
        .collect();
    for formation in FORMATIONS {
        let query = GroupQuery { formation, ..GroupQuery::to(Vec2::new(25.5, 3.5)) };
        let answer = solve(&snapshot, &query, &members);
        for way in ways(&answer) {
            assert!(way.slot.place.y < 4.0 && way.slot.room == Room::Own, "{formation:?} {way:?}");
        }
    }
}

#[test]
fn a_corridor_holds_a_column() {
    let snapshot = snapshot_of(&".".repeat(40));
    for y in [0.11, 0.5, 0.8] {
        let members: Vec<Member> = (0..20).map(|id| Member::new(id, Vec2::new(0.5, y), 0.4, 3.0)).collect();
        let answer = solve(&snapshot, &GroupQuery::to(Vec2::new(20.5, y)), &members);
        assert!(ways(&answer).iter().all(|way| way.slot.room == Room::Own), "{answer:?}");
    }
}

#[test]
fn without_room_places_are_tight_and_then_shared() {
    let snapshot = snapshot_of("...\n...\n...");
    let crowd = |count: u64, radius: f32| {
        let members: Vec<Member> =
            (0..count).map(|id| Member::new(id, Vec2::new(1.0, 1.5), radius, 3.0)).collect();
        let answer = solve(&snapshot, &GroupQuery::to(Vec2::new(1.5, 1.5)), &members);
        let mut rooms: Vec<Room> = ways(&answer).iter().map(|way| way.slot.room).collect();
        rooms.sort_unstable();
        rooms
    };
    assert_eq!(crowd(4, 0.4), [Room::Own; 4]);
    let many = crowd(60, 0.4);
    assert!(many.iter().filter(|room| **room == Room::Own).count() >= 7, "{many:?}");
    assert!(many.ends_with(&[Room::Shared; 30]), "{many:?}");
    let giants = crowd(3, 50.0);
    assert_eq!(giants, [Room::Tight, Room::Shared, Room::Shared]);
}

#[test]
fn the_order_of_members_slices_and_a_used_scratch_change_nothing() {
    let mut scratch = Scratch::new();
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let map = random_map(&mut random, 30, 30, FLORA[seed as usize % 3]);
        let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
        let mut members = random_members(&mut random, &map, 30, &[0.3, 0.45]);
        let formation = FORMATIONS[seed as usize % 5];
        let goal = Layout::default().centre(random.cell(&map));
        let query = GroupQuery { formation, fallback: Fallback::Nearest, ..GroupQuery::to(goal) };
        let whole = solve(&snapshot, &query, &members);
        let mut expected: Vec<_> = members.iter().map(|member| member.id).zip(whole.ways.clone()).collect();
        for i in 0..members.len() {
            members.swap(i, random.below(30) as usize);
        }
        let lent = core::mem::take(&mut scratch);
        let mut search = GroupSearch::new(Arc::clone(&snapshot), Layout::default(), query, &members, lent);
        let mut slices = 0;
        while search.run(16) == Progress::Running {
            slices += 1;
        }
        let (answer, used) = search.finish();
        scratch = used;
        let mut shuffled: Vec<_> = members.iter().map(|member| member.id).zip(answer.ways).collect();
        expected.sort_by_key(|(id, _)| *id);
        shuffled.sort_by_key(|(id, _)| *id);
        assert_eq!(shuffled, expected, "seed {seed}");
        assert_eq!((answer.way, answer.goal, answer.shortfall), (whole.way, whole.goal, whole.shortfall));
        assert!(slices > 2 || expected.iter().all(|(_, way)| way.is_err()));
    }
}

#[test]
fn nobody_gains_by_swapping_places() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let count = [1, 2, 3, 10, 50, 200][seed as usize % 6];
        let mut points = |spread: u32| -> Vec<Vec2> {
            (0..count)
                .map(|_| Vec2::new(random.below(spread) as f32, random.below(spread) as f32) / 16.0)
                .collect()
        };
        let (units, places) = (points(900), points([900, 90][seed as usize % 2]));
        let mut chosen = Vec::new();
        assign(&units, &places, &mut chosen);
        assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), count, "everybody has a place of their own");
        let sum = |chosen: &[usize]| -> f32 {
            chosen.iter().zip(&units).map(|(place, unit)| places[*place].distance_squared(*unit)).sum()
        };
        let naive: Vec<usize> = (0..count).collect();
        assert!(sum(&chosen) <= sum(&naive));
        assert!(
            count < 10 || seed % 2 == 1 || sum(&chosen) < 0.8 * sum(&naive),
            "{} {}",
            sum(&chosen),
            sum(&naive)
        );
        for i in 0..count {
            for j in 0..i {
                let gain = (units[i] - units[j]).dot(places[chosen[i]] - places[chosen[j]]);
                assert!(gain >= 0.0, "seed {seed}: {i} and {j} would swap");
            }
        }
    }
}

#[test]
fn kept_places_are_kept_and_taken_ones_are_left_alone() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(30, 30).unwrap(), &View::default()));
    let mut members: Vec<Member> =
        (0..20).map(|id| Member::new(id, Vec2::new(2.0 + id as f32 / 2.0, 3.0), 0.4, 3.0)).collect();
    let mut query = GroupQuery::to(Vec2::new(20.0, 20.0));
    let first = solve(&snapshot, &query, &members);
    for (member, way) in members.iter_mut().zip(ways(&first)) {
        member.place = Some(way.slot.place);
        member.position += Vec2::new(0.3, 5.0);
    }
    let again = solve(&snapshot, &query, &members);
    let slots = |answer: &GroupAnswer| ways(answer).iter().map(|way| way.slot).collect::<Vec<_>>();
    assert_eq!(slots(&first), slots(&again));
    query.taken = ways(&first).iter().map(|way| (way.slot.place, 0.4)).collect();
    let elsewhere = solve(&snapshot, &query, &members);
    for way in ways(&elsewhere) {
        assert!(query.taken.iter().all(|(place, _)| place.distance(way.slot.place) > 0.85));
    }
}

#[test]
fn what_makes_no_sense_has_an_answer() {
    let snapshot = snapshot_of("...#...\n...#...");
    let good = Member::new(1, Vec2::new(0.5, 0.5), 0.3, 1.0);
    let nan = Member { id: 2, position: Vec2::new(f32::NAN, 0.0), ..good };
    let outside = Member { id: 3, position: Vec2::new(-3.0, 0.5), ..good };
    let beyond = Member { id: 4, position: Vec2::new(5.5, 0.5), ..good };
    let far = Member { id: 5, position: Vec2::splat(1e30), ..good };
    let odd = Member { id: 6, radius: f32::NAN, speed: -1.0, ..good };
    let members = [good, nan, outside, beyond, far, odd];
    for formation in FORMATIONS {
        let to = |x: f32, y: f32| GroupQuery { formation, ..GroupQuery::to(Vec2::new(x, y)) };
        let answer = solve(&snapshot, &to(1.5, 1.5), &members);
        assert!(answer.ways[0].is_ok() && answer.ways[5].is_ok(), "{answer:?}");
        assert_eq!(answer.ways[1], Err(Straggler::BadPosition));
        assert_eq!(answer.ways[2], Err(Straggler::Lost(QueryError::StartOutside(Cell::new(-3, 0)))));
        assert_eq!(answer.ways[3], Err(Straggler::Unreachable { nearest: Cell::new(4, 1) }));
        assert!(matches!(answer.ways[4], Err(Straggler::Lost(QueryError::StartOutside(_)))));
        assert_eq!(solve(&snapshot, &to(f32::NAN, 0.0), &members).ways[0], Err(Straggler::BadGoal));
        let lost = Straggler::Lost(QueryError::GoalOutside(Cell::new(9, 9)));
        assert_eq!(solve(&snapshot, &to(9.5, 9.5), &members).ways[0], Err(lost));
        let blocked = solve(&snapshot, &to(3.5, 0.5), &members);
        assert_eq!(blocked.ways[0], Err(Straggler::Unreachable { nearest: Cell::new(2, 0) }));
        assert!(blocked.way.is_empty());
        let near = GroupQuery { fallback: Fallback::Nearest, ..to(3.5, 0.5) };
        let near = solve(&snapshot, &near, &members);
        assert_eq!((near.goal, near.shortfall), (Vec2::new(2.5, 0.5), Some(Shortfall::Unreachable)));
        assert!(near.ways[0].is_ok() && near.ways[3].is_err());
        assert!(solve(&snapshot, &to(1.5, 1.5), &[]).ways.is_empty());
        assert!(solve(&snapshot, &to(1.5, 1.5), &[nan, outside]).ways.iter().all(Result::is_err));
    }
}

#[test]
fn a_unit_in_a_wall_gets_out_first() {
    let snapshot = snapshot_of("##....\n##....");
    let caught = Member::new(7, Vec2::new(0.5, 0.5), 0.3, 1.0);
    let answer = solve(&snapshot, &GroupQuery::to(Vec2::new(4.5, 1.0)), &[caught]);
    assert_eq!(ways(&answer)[0].points.first(), Some(&caught.position));
    let query = GroupQuery { escape_cells: 1, ..GroupQuery::to(Vec2::new(4.5, 1.0)) };
    let stuck = Straggler::Lost(QueryError::StartBlocked(Cell::new(0, 0)));
    assert_eq!(solve(&snapshot, &query, &[caught]).ways, [Err(stuck)]);
}
