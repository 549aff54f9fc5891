//! Lines between any two points, against lines between centres and against dense samples.

use glam::Vec2;
use wayfare::prelude::*;

use crate::support::{Flora, Random, random_map, views};

fn centre(cell: Cell) -> Vec2 {
    Vec2::new(cell.x as f32 + 0.5, cell.y as f32 + 0.5)
}

fn cell_at(point: Vec2) -> Cell {
    Cell::new(point.x.floor() as i32, point.y.floor() as i32)
}

fn point_on(random: &mut Random, map: &Map) -> Vec2 {
    let unit = |random: &mut Random| random.below(1 << 20) as f32 / (1 << 20) as f32;
    Vec2::new(unit(random) * map.width() as f32, unit(random) * map.height() as f32)
}

/// Views that differ in what a line may pass.
fn rules() -> impl Iterator<Item = View> {
    views().into_iter().filter(|view| view.rules.costs == StepCosts::FINE)
}

fn scenes(seeds: u64, mut test: impl FnMut(&mut Random, &Map, &Snapshot)) {
    for seed in 0..seeds {
        for view in rules() {
            let mut random = Random::new(seed);
            let map = random_map(&mut random, 30, 23, Flora::Uniform);
            test(&mut random, &map, &Snapshot::new(&map, &view));
        }
    }
}

#[test]
fn between_centres_a_line_is_clear_exactly_if_it_is_in_sight() {
    let (mut clear, mut blocked) = (0, 0);
    scenes(150, |random, map, snapshot| {
        for _ in 0..60 {
            let (from, to) = (random.cell(map), random.cell(map));
            let expected = snapshot.line_of_sight(from, to);
            assert_eq!(snapshot.is_clear(centre(from), centre(to)), expected, "{from} to {to} {snapshot:?}");
            if expected { clear += 1 } else { blocked += 1 }
        }
    });
    assert!(clear > 5000 && blocked > 5000, "{clear} clear, {blocked} blocked");
}

#[test]
fn centres_far_from_the_first_cell_are_judged_alike() {
    let mut random = Random::new(9);
    let area = Area::new((1200, 1300), (1239, 1339));
    for view in rules() {
        let mut map = Map::new(1400, 1400).unwrap();
        map.edit(area, |_, _| if random.below(100) < 8 { Terrain::WALL } else { Terrain::OPEN }).unwrap();
        let snapshot = Snapshot::new(&map, &view);
        for _ in 0..4000 {
            let mut cell = || Cell::new(1200 + random.below(40) as i32, 1300 + random.below(40) as i32);
            let (from, to) = (cell(), cell());
            let expected = snapshot.line_of_sight(from, to);
            assert_eq!(snapshot.is_clear(centre(from), centre(to)), expected, "{from} to {to}");
        }
    }
}

#[test]
fn a_line_is_clear_exactly_if_samples_of_it_are() {
    let (mut clear, mut blocked) = (0, 0);
    scenes(60, |random, map, snapshot| {
        for _ in 0..20 {
            let (from, to) = (point_on(random, map), point_on(random, map));
            let samples = 4000;
            let at = |i: i32| from.as_dvec2().lerp(to.as_dvec2(), f64::from(i) / f64::from(samples));
            // Near a border or a corner neither floats nor samples tell; such lines have their own tests.
            let corner_gap = |i: i32| (at(i) - at(i).round()).abs().max_element();
            if (0..=samples).any(|i| corner_gap(i) < 0.02) {
                continue;
            }
            let is_open = |i: i32| snapshot.is_open(cell_at(at(i).as_vec2()));
            let expected = (0..=samples).all(is_open);
            assert_eq!(snapshot.is_clear(from, to), expected, "{from} to {to}\n{}", map.to_text(|_| None));
            assert_eq!(snapshot.is_clear(to, from), expected, "{to} to {from}");
            if expected { clear += 1 } else { blocked += 1 }
        }
    });
    assert!(clear > 300 && blocked > 500, "{clear} clear, {blocked} blocked");
}

#[test]
fn a_part_of_a_clear_line_is_clear() {
    let mut parts = 0;
    scenes(60, |random, map, snapshot| {
        for _ in 0..40 {
            let (from, to) = (centre(random.cell(map)), centre(random.cell(map)));
            if !snapshot.is_clear(from, to) {
                continue;
            }
            // A diagonal passes corners exactly, and floats do not: what was clear must stay so all the way.
            for i in 0..50 {
                let here = from.lerp(to, i as f32 / 50.0);
                if snapshot.is_open(cell_at(here)) {
                    assert!(snapshot.is_clear(here, to), "{here} to {to}\n{}", map.to_text(|_| None));
                    parts += 1;
                }
            }
        }
    });
    assert!(parts > 50_000, "{parts}");
}

fn corner_scene(directions: Directions, corners: Corners, text: &str) -> Snapshot {
    let rules = Rules { directions, corners, ..Rules::default() };
    Snapshot::new(&Map::from_text(text).unwrap(), &rules.into())
}

#[test]
fn corners_are_passed_as_the_rule_says() {
    let (free, one, two) = ("..\n..", ".#\n..", ".#\n#.");
    let (a, b) = (Vec2::splat(0.2), Vec2::splat(1.9));
    for (corners, expected) in [
        (Corners::BothFree, [true, false, false]),
        (Corners::OneFree, [true, true, false]),
        (Corners::Always, [true, true, true]),
    ] {
        for (text, expected) in [free, one, two].iter().zip(expected) {
            let snapshot = corner_scene(Directions::Eight, corners, text);
            assert_eq!(snapshot.is_clear(a, b), expected, "{corners:?}\n{text}");
            assert_eq!(snapshot.is_clear(b, a), expected, "{corners:?}\n{text}");
            // The same within a hair of the corner, on either side of it.
            for hair in [1e-7, -1e-7] {
                let shift = Vec2::new(hair, -hair);
                assert_eq!(snapshot.is_clear(a + shift, b + shift), expected, "{corners:?} {hair}\n{text}");
            }
            // Well into the blocked side it is blocked, whatever the rule.
            let shift = Vec2::new(0.01, -0.01);
            assert_eq!(snapshot.is_clear(a + shift, b + shift), *text == free, "{corners:?}\n{text}");
        }
        let four = corner_scene(Directions::Four, corners, two);
        assert!(!four.is_clear(a, b), "without diagonals nothing slips between two walls");
    }
}

#[test]
fn a_line_along_a_wall_is_clear() {
    let snapshot = corner_scene(Directions::Eight, Corners::BothFree, "#####\n.....\n#####");
    assert!(snapshot.is_clear(Vec2::new(0.0, 1.0), Vec2::new(4.9, 1.0)));
    assert!(snapshot.is_clear(Vec2::new(0.0, 1.999), Vec2::new(4.9, 1.999)));
    assert!(!snapshot.is_clear(Vec2::new(0.0, 1.0), Vec2::new(4.9, 2.0)));
    assert!(!snapshot.is_clear(Vec2::new(0.0, 0.999), Vec2::new(4.9, 0.999)));
    assert!(!snapshot.is_clear(Vec2::new(0.0, 1.5), Vec2::new(4.9, 0.99)));
}

#[test]
fn nothing_is_clear_from_or_to_nowhere() {
    let snapshot = Snapshot::new(&Map::new(4, 4).unwrap(), &View::default());
    let inside = Vec2::splat(2.0);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.1, 4.0, f32::MAX, -3e9] {
        for outside in [Vec2::new(bad, 1.0), Vec2::new(1.0, bad)] {
            assert!(!snapshot.is_clear(outside, inside) && !snapshot.is_clear(inside, outside), "{bad}");
            assert!(!snapshot.is_worse_along(&snapshot, outside, inside));
            let before = Snapshot::new(&Map::new(4, 4).unwrap(), &View::default());
            assert!(!snapshot.is_worse_along(&before, outside, outside), "{bad}");
        }
    }
    assert!(snapshot.is_clear(Vec2::ZERO, Vec2::splat(3.999)));
}

/// What [`Snapshot::is_worse_along`] promises, cell by cell, for lines that touch no corner.
fn got_worse(now: &Snapshot, before: &Snapshot, from: Vec2, to: Vec2) -> bool {
    (0..=4000).any(|i| {
        let cell = cell_at(from.as_dvec2().lerp(to.as_dvec2(), f64::from(i) / 4000.0).as_vec2());
        let factor = |snapshot: &Snapshot| snapshot.view().class.factor(snapshot.map().terrain(cell));
        match (factor(before), factor(now)) {
            (Some(before), Some(now)) => now > before,
            (Some(_), None) => true,
            (None, _) => false,
        }
    })
}

#[test]
fn a_line_gets_worse_exactly_if_a_cell_on_it_does() {
    let (mut worse, mut not) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut map = random_map(&mut random, 150, 90, Flora::Roads);
        let before = Snapshot::new(&map, &View::default());
        let corner = random.cell(&map);
        let to = Cell::new((corner.x + 30).min(149), (corner.y + 30).min(89));
        map.fill(Area::new(corner, to), [Terrain::WALL, Terrain::OPEN, Terrain(250)][seed as usize % 3])
            .unwrap();
        let now = Snapshot::new(&map, &View::default());
        for _ in 0..20 {
            let from = point_on(&mut random, &map);
            let to = from + Vec2::new(random.below(40) as f32 - 20.3, random.below(40) as f32 - 20.7);
            let to = to.clamp(Vec2::ZERO, Vec2::new(149.5, 89.5));
            let at = |i: i32| from.lerp(to, i as f32 / 4000.0);
            if (0..=4000).any(|i| (at(i) - at(i).round()).abs().max_element() < 0.02) {
                continue;
            }
            let expected = got_worse(&now, &before, from, to);
            assert_eq!(now.is_worse_along(&before, from, to), expected, "seed {seed}, {from} to {to}");
            if expected { worse += 1 } else { not += 1 }
        }
    }
    assert!(worse > 50 && not > 1000, "{worse} worse, {not} not");
}

#[test]
fn a_corner_gets_worse_when_the_rule_forbids_it() {
    let (a, b) = (Vec2::splat(0.5), Vec2::splat(1.5));
    for (corners, one_blocked, both_blocked) in
        [(Corners::BothFree, true, true), (Corners::OneFree, false, true), (Corners::Always, false, false)]
    {
        let scene = |text| corner_scene(Directions::Eight, corners, text);
        let (free, one, other, both) = (scene("..\n.."), scene(".#\n.."), scene("..\n#."), scene(".#\n#."));
        for (now, expected) in [(&one, one_blocked), (&other, one_blocked), (&both, both_blocked)] {
            assert_eq!(now.is_worse_along(&free, a, b), expected, "{corners:?}");
            assert!(!free.is_worse_along(now, a, b), "{corners:?}");
            assert!(!now.is_worse_along(now, a, b), "{corners:?}");
        }
    }
}

#[test]
fn a_map_that_shrank_is_worse_where_it_was() {
    let before = Snapshot::new(&Map::new(100, 100).unwrap(), &View::default());
    let now = Snapshot::new(&Map::new(70, 100).unwrap(), &View::default());
    assert!(now.is_worse_along(&before, Vec2::splat(1.0), Vec2::new(70.0, 1.0)));
    assert!(!now.is_worse_along(&before, Vec2::splat(1.0), Vec2::new(69.9, 1.0)));
    assert!(!before.is_worse_along(&now, Vec2::splat(1.0), Vec2::new(69.9, 1.0)));
    // The same map, seen by somebody who does not enter it any more.
    let class = Class::default().without(Terrain::OPEN);
    let other = Snapshot::new(before.map(), &View { class, ..View::default() });
    assert!(other.is_worse_along(&before, Vec2::ZERO, Vec2::splat(0.5)));
}
