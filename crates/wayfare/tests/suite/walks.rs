//! Walking, laying, joining and sliding on drawn maps, where one knows what should come out.

use core::f32::consts::PI;

use glam::Vec2;
use wayfare::prelude::*;

use crate::support::Random;

fn plain(text: &str) -> Snapshot {
    Snapshot::new(&Map::from_text(text).unwrap(), &View::default())
}

const UNIT: Layout = Layout::UNIT;

fn on(snapshot: &Snapshot) -> Footing<'_> {
    Footing { snapshot, layout: &UNIT }
}

fn at(x: f32, y: f32) -> Vec2 {
    Vec2::new(x, y)
}

#[test]
fn a_radius_of_arrival_ends_the_way_where_it_is_entered() {
    let snapshot = plain(".........");
    let points = [at(0.5, 0.5), at(8.5, 0.5)];
    for dt in [0.01, 0.1, 1.0, 100.0] {
        let gait = Gait { arrival: 2.0, ..Gait::default() };
        let (mut position, mut headway, mut time) = (points[0], Headway::default(), 0.0);
        while !{
            let stride = follow::walk(on(&snapshot), &points, &mut headway, position, 0.0, &gait, dt);
            position = stride.position;
            stride.arrived
        } {
            time += dt;
        }
        assert!((position.x - 6.5).abs() < 0.01 && time <= 6.1, "{position} after {time}");
    }
    // Close, but behind a wall.
    let walled = plain("...\n##.\n...");
    let points = [at(0.5, 0.5), at(2.5, 0.5), at(2.5, 2.5), at(0.5, 2.5)];
    let gait = Gait { arrival: 2.5, ..Gait::default() };
    let stride = follow::walk(on(&walled), &points, &mut Headway::default(), points[0], 0.0, &gait, 0.01);
    assert!(!stride.arrived);
}

#[test]
fn a_path_that_passes_its_end_goes_on() {
    let snapshot = plain(".....\n.....\n.....");
    let points = [at(0.5, 0.5), at(4.5, 0.5), at(4.5, 2.5), at(0.5, 2.5), at(0.5, 0.5)];
    for arrival in [0.0, 0.3] {
        let gait = Gait { arrival, ..Gait::default() };
        let mut headway = Headway::default();
        let stride = follow::walk(on(&snapshot), &points, &mut headway, points[0], 0.0, &gait, 4.0);
        assert!(!stride.arrived && stride.position.x > 3.0, "{stride:?}");
        assert!(
            follow::walk(on(&snapshot), &points, &mut headway, stride.position, 0.0, &gait, 20.0).arrived
        );
    }
}

#[test]
fn slow_ground_takes_its_factor() {
    let snapshot = plain("....4444....");
    let points = [at(0.5, 0.5), at(11.5, 0.5)];
    for (slowed, expected) in [(true, 7.0 + 4.0 * 4.0), (false, 11.0)] {
        for dt in [0.005, 0.1, 0.7] {
            let gait = Gait { slowed, ..Gait::default() };
            let (mut position, mut headway, mut ticks) = (points[0], Headway::default(), 0);
            loop {
                let stride = follow::walk(on(&snapshot), &points, &mut headway, position, 0.0, &gait, dt);
                position = stride.position;
                ticks += 1;
                if stride.arrived {
                    break;
                }
            }
            let time = ticks as f32 * dt;
            assert!((time - expected).abs() <= dt + 0.005 * expected, "{time} instead of {expected}");
        }
    }
}

#[test]
fn a_unit_that_faces_away_turns_before_it_walks() {
    let snapshot = plain("......");
    let points = [at(0.5, 0.5), at(5.5, 0.5)];
    let gait = Gait { turn_rate: PI, ..Gait::default() };
    for heading in [PI, -PI, 3.0, -3.0] {
        let mut headway = Headway::default();
        let stride = follow::walk(on(&snapshot), &points, &mut headway, points[0], heading, &gait, 0.4);
        assert!(stride.position == points[0] && stride.heading.abs() < 2.0, "{stride:?}");
        let stride =
            follow::walk(on(&snapshot), &points, &mut headway, points[0], stride.heading, &gait, 10.0);
        assert!(stride.arrived && stride.heading.abs() < 1e-3, "{stride:?}");
    }
    // The integral of the cosine over a quarter turn in half a second is 1/π.
    let stride =
        follow::walk(on(&snapshot), &points, &mut Headway::default(), points[0], PI / 2.0, &gait, 0.5);
    assert!((stride.position.x - 0.5 - 1.0 / PI).abs() < 1e-3, "{stride:?}");
    // Who never turns goes nowhere but ahead.
    for (heading, gets) in [(PI, 0.5), (PI / 2.0 + 0.01, 0.5), (0.0, 1.5), (PI / 3.0, 1.0)] {
        let gait = Gait { turn_rate: 0.0, ..gait };
        let stride =
            follow::walk(on(&snapshot), &points, &mut Headway::default(), points[0], heading, &gait, 1.0);
        assert!(
            (stride.position.x - gets).abs() < 1e-3 && (stride.position.y - 0.5).abs() < 1e-6,
            "{stride:?}"
        );
    }
}

#[test]
fn a_unit_in_a_wall_walks_out_of_it() {
    let snapshot = plain("###..\n###..\n###..");
    let from = at(0.3, 1.2);
    let mut points = Vec::new();
    let cells = [Cell::new(3, 1), Cell::new(4, 1)];
    follow::lay(on(&snapshot), &cells, Some(from), None, &mut points);
    assert_eq!(points, [from, at(3.5, 1.5), at(4.5, 1.5)]);
    for headway in [Headway::default(), follow::join(on(&snapshot), &points, from).unwrap()] {
        let mut headway = headway;
        let stride = follow::walk(on(&snapshot), &points, &mut headway, from, 0.0, &Gait::default(), 1.0);
        assert!((stride.position.distance(from) - 1.0).abs() < 0.01 && !stride.blocked, "{stride:?}");
        let position = stride.position;
        assert!(
            follow::walk(on(&snapshot), &points, &mut headway, position, 0.0, &Gait::default(), 9.0).arrived
        );
    }
    // The same from outside the map.
    let outside = at(7.0, 1.5);
    let stride = follow::walk(
        on(&snapshot),
        &points[2..],
        &mut Headway::default(),
        outside,
        0.0,
        &Gait::default(),
        9.0,
    );
    assert!(stride.arrived);
}

#[test]
fn a_wall_across_the_way_stops_a_unit_close_to_it() {
    let mut map = Map::new(20, 3).unwrap();
    let mut snapshot = Snapshot::new(&map, &View::default());
    let before = snapshot.clone();
    let points = [at(0.5, 1.5), at(19.5, 1.5)];
    map.fill(Area::new((10, 0), (10, 2)), Terrain::WALL).unwrap();
    snapshot.refresh(&map);
    for dt in [0.01, 0.5, 1e6] {
        let (mut position, mut headway) = (points[0], Headway::default());
        let mut stride;
        loop {
            stride = follow::walk(on(&snapshot), &points, &mut headway, position, 0.0, &Gait::default(), dt);
            position = stride.position;
            if stride.blocked {
                break;
            }
        }
        assert!(position.x > 9.8 && position.x < 10.0 && (position.y - 1.5).abs() < 1e-6, "{position}");
        // It knows without moving, and goes on when the way is free again.
        let gait = Gait::default();
        assert!(follow::walk(on(&snapshot), &points, &mut headway, position, 0.0, &gait, 0.0).blocked);
        assert!(follow::walk(on(&before), &points, &mut headway, position, 0.0, &gait, 20.0).arrived);
    }
    assert!(follow::is_worse(on(&snapshot), &before, &points[1..], points[0]));
    assert!(!follow::is_worse(on(&snapshot), &before, &points[1..], at(11.5, 1.5)));
    assert!(!follow::is_worse(on(&before), &snapshot, &points[1..], points[0]));
}

#[test]
fn a_slide_runs_along_the_wall() {
    let snapshot = plain("......\n......\n######");
    let slid = follow::slide(on(&snapshot), at(1.5, 1.5), at(2.0, 3.0));
    assert!((slid.x - 3.5).abs() < 0.02 && slid.y > 1.98 && slid.y < 2.0, "{slid}");
    let slid = follow::slide(on(&snapshot), at(1.5, 1.5), at(-20.0, 0.0));
    assert!(slid.x < 0.02 && slid.x >= 0.0 && (slid.y - 1.5).abs() < 1e-6, "{slid}");
    // Out of a wall it may go anywhere.
    assert_eq!(follow::slide(on(&snapshot), at(1.5, 2.5), at(0.25, 0.25)), at(1.75, 2.75));
    assert_eq!(follow::slide(on(&snapshot), at(1.5, 1.5), Vec2::ZERO), at(1.5, 1.5));
}

#[test]
fn a_path_is_joined_as_far_on_as_it_is_seen_and_pays() {
    let snapshot = plain("......\n......\n......");
    let points: Vec<Vec2> = (0..6).map(|x| at(x as f32 + 0.5, 1.5)).collect();
    assert_eq!(follow::join(on(&snapshot), &points, at(2.7, 0.6)), Some(Headway::to(5)));
    assert_eq!(follow::join(on(&snapshot), &[], at(2.7, 0.6)), None);
    assert_eq!(follow::join(on(&snapshot), &points, at(f32::NAN, 0.6)), None);
    // Not straight through the swamp that the path goes around.
    let swamp = plain("......\n.9999.\n.9999.");
    let around = [at(0.5, 2.5), at(0.5, 0.5), at(5.5, 0.5), at(5.5, 2.5)];
    assert_eq!(follow::join(on(&swamp), &around, around[0]), Some(Headway::to(1)));
    let walled = plain("......\n.####.\n.#....");
    assert_eq!(follow::join(on(&walled), &around, at(3.0, 2.5)), Some(Headway::to(3)));
    assert_eq!(follow::join(on(&walled), &around[..2], at(3.0, 2.5)), None);
}

#[test]
fn a_route_is_laid_from_where_the_unit_is_to_where_it_goes() {
    let snapshot = plain(".....\n.#...\n.....");
    let lay = |cells: &[(i32, i32)], from: Option<Vec2>, to: Option<Vec2>| {
        let cells: Vec<Cell> = cells.iter().map(|cell| Cell::from(*cell)).collect();
        let mut points = vec![Vec2::ONE];
        follow::lay(on(&snapshot), &cells, from, to, &mut points);
        points
    };
    let (a, b) = (at(0.9, 0.1), at(0.1, 0.8));
    assert_eq!(lay(&[], Some(a), Some(b)), []);
    assert_eq!(lay(&[(0, 0)], Some(a), Some(b)), [a, b]);
    assert_eq!(lay(&[(0, 0)], Some(a), Some(a)), [a]);
    assert_eq!(lay(&[(0, 0)], Some(a), None), [a, at(0.5, 0.5)]);
    assert_eq!(lay(&[(0, 0)], None, Some(b)), [b]);
    assert_eq!(lay(&[(0, 0)], None, None), [at(0.5, 0.5)]);
    // From the right half of the cell the line down would clip the wall, from the left it is clear.
    let down = [(0, 0), (0, 2)];
    assert_eq!(lay(&down, Some(a), Some(at(0.9, 2.9))), [a, at(0.9, 2.9)]);
    let corner = [(1, 0), (0, 0), (0, 2), (1, 2)];
    let (from, to) = (at(1.8, 0.9), at(1.9, 2.1));
    assert_eq!(
        lay(&corner, Some(from), Some(to)),
        [from, at(0.5, 0.5), at(0.5, 2.5), to],
        "the line past the first centre is clear"
    );
    // What lies in another cell, or nowhere, is not part of this route.
    assert_eq!(lay(&down, Some(at(3.5, 0.5)), Some(at(f32::NAN, 0.0))), [at(0.5, 0.5), at(0.5, 2.5)]);
}

#[test]
fn what_makes_no_sense_moves_nothing() {
    let snapshot = plain(".....\n.....");
    let empty = Snapshot::new(&Map::new(0, 0).unwrap(), &View::default());
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 0.0, 1e-45, f32::MAX, f32::MIN, 0.5];
    let mut random = Random::new(5);
    let mut any = || bad[random.below(bad.len() as u32) as usize];
    for i in 0..6_000 {
        let snapshot = if i % 10 == 0 { &empty } else { &snapshot };
        let points = [at(any(), any()), at(any(), any()), at(0.5, 0.5), at(any(), 0.5)];
        let points = &points[..i % 5];
        let gait = Gait { speed: any(), turn_rate: any(), arrival: any(), slowed: i % 2 == 0 };
        let from = at(any(), any());
        let mut headway = Headway::to(i % 7);
        for _ in 0..3 {
            let stride = follow::walk(on(snapshot), points, &mut headway, from, any(), &gait, any());
            assert!(stride.velocity.is_finite() && stride.heading.abs() <= PI, "{stride:?}");
            assert!(stride.position.is_finite() || !from.is_finite(), "{stride:?} {points:?}");
            assert!(!(stride.arrived && stride.blocked));
            assert!(!stride.arrived || !points.is_empty());
            assert!(!follow::remaining(points, headway, from).is_nan());
        }
        let slid = follow::slide(on(snapshot), from, at(any(), any()));
        assert!(slid.is_finite() || !from.is_finite());
        follow::join(on(snapshot), points, from);
        follow::is_worse(on(snapshot), &empty, points, from);
        let mut laid = Vec::new();
        let cell = Cell::new(any() as i32, any() as i32);
        follow::lay(on(snapshot), &[cell, cell], Some(from), Some(at(any(), any())), &mut laid);
    }
    let still =
        follow::walk(on(&snapshot), &[], &mut Headway::default(), Vec2::ONE, 1.0, &Gait::default(), 1.0);
    assert_eq!((still.position, still.arrived, still.blocked), (Vec2::ONE, false, false));
}

#[test]
fn far_out_a_slow_unit_moves_all_the_same() {
    // At 16,000 cells the floats are a thousandth of a cell apart, and a step is shorter than that.
    let snapshot = Snapshot::new(&Map::new(16_384, 16_384).unwrap(), &View::default());
    let points = [at(16_000.5, 16_100.5), at(16_002.5, 16_101.5)];
    let gait = Gait { speed: 0.1, ..Gait::default() };
    let (mut position, mut headway, mut ticks) = (points[0], Headway::default(), 0);
    while position != points[1] {
        position =
            follow::walk(on(&snapshot), &points, &mut headway, position, 0.0, &gait, 1.0 / 240.0).position;
        ticks += 1;
        assert!(ticks < 10_000, "{position}");
    }
    let expected = 5.0_f32.sqrt() / 0.1 * 240.0;
    assert!((ticks as f32 - expected).abs() < expected * 0.05, "{ticks} ticks instead of {expected}");
}

#[test]
fn a_corner_beside_a_wall_is_not_cut() {
    let snapshot = plain("...\n.#.\n...");
    let points = [at(0.9, 0.2), at(0.9, 2.1), at(2.1, 2.1), at(2.1, 0.9), at(1.2, 0.9)];
    for dt in [0.003, 0.05, 60.0] {
        let (mut position, mut headway) = (points[0], Headway::default());
        loop {
            let stride =
                follow::walk(on(&snapshot), &points, &mut headway, position, 0.0, &Gait::default(), dt);
            assert!(!stride.blocked && on(&snapshot).is_open(stride.position), "{stride:?}");
            position = stride.position;
            if stride.arrived {
                break;
            }
        }
        assert_eq!(position, points[4]);
    }
}
