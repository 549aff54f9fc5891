//! Bodies on the ground: which cells they cover, and that the ground is there again when they leave.

use std::collections::BTreeMap;

use glam::Vec2;
use wayfare::GroundPlan;
use wayfare::prelude::*;

use crate::support::Random;

#[test]
fn what_stands_is_counted_whatever_happens_underneath() {
    let mut random = Random::new(41);
    for (width, height) in [(30, 20), (150, 70), (64, 64)] {
        let mut ground = Map::new(width, height).unwrap();
        let mut obstacles = Obstacles::default();
        let mut standing: BTreeMap<(i32, i32), Vec<Terrain>> = BTreeMap::new();
        let mut snapshot = Snapshot::new(&obstacles.settle(&ground), &View::default());
        let mut version = snapshot.map().version();
        for step in 0..400 {
            let cell = random.cell(&ground);
            let terrain = [Terrain::WALL, Terrain(7), Terrain::OPEN][random.below(3) as usize];
            let here = standing.entry((cell.x, cell.y)).or_default();
            match random.below(4) {
                0 | 1 => {
                    obstacles.add(cell, terrain);
                    here.push(terrain);
                }
                2 => {
                    let index = here.iter().position(|other| *other == terrain);
                    assert_eq!(obstacles.remove(cell, terrain), index.is_some());
                    index.map(|index| here.remove(index));
                }
                _ => drop(ground.set(cell, Terrain(random.below(5) as u8)).unwrap()),
            }
            if step % 7 == 0 {
                // Asking leaves no trace.
                assert_eq!(obstacles.on(&ground), obstacles.on(&ground));
            }
            let before = snapshot.map().clone();
            let map = obstacles.settle(&ground);
            let changed = snapshot.refresh(&map);
            assert!(changed || map == before);
            assert!(map.version() >= version && (map == before || map.version() > version));
            version = map.version();
            let expected = |cell: Cell| {
                let top = standing.get(&(cell.x, cell.y)).and_then(|here| here.iter().max());
                top.copied().unwrap_or(ground.terrain(cell))
            };
            let mut counts = BTreeMap::new();
            for cell in ground.area().unwrap().cells() {
                assert_eq!(map.terrain(cell), expected(cell), "{cell}");
                *counts.entry(map.terrain(cell)).or_insert(0) += 1;
            }
            assert!(counts.iter().all(|(terrain, count)| map.count(*terrain) == *count));
        }
        obstacles.clear();
        assert!(obstacles.settle(&ground) == ground && obstacles.is_empty());
        // Nothing stands there: the ground itself is read, and nothing has changed since.
        assert!(snapshot.refresh(&obstacles.settle(&ground)) || ground == *snapshot.map());
        assert!(!snapshot.refresh(&obstacles.settle(&ground)));
    }
}

#[test]
fn a_hole_in_the_map_stays_one() {
    let mut map = Map::filled(3, 1, Terrain::OUTSIDE).unwrap();
    map.set((1, 0), Terrain::OPEN).unwrap();
    let mut obstacles = Obstacles::default();
    for x in -1..70 {
        obstacles.add(Cell::new(x, 0), Terrain(3));
    }
    let map = obstacles.on(&map);
    let terrain: Vec<Terrain> = (0..3).map(|x| map.terrain(Cell::new(x, 0))).collect();
    assert_eq!(terrain, [Terrain::OUTSIDE, Terrain(3), Terrain::OUTSIDE]);
    assert_eq!(map.count(Terrain(3)), 1);
}

/// Whether any of many points of the body lies well inside the cell.
fn is_hit(layout: &Layout, cell: Cell, inside: impl Fn(Vec2) -> bool, margin: f32) -> bool {
    let steps = 60;
    (0..=steps).any(|u| {
        (0..=steps).any(|v| {
            let part = |step: i32| margin + (1.0 - 2.0 * margin) * step as f32 / steps as f32;
            let (x, y) = (cell.x as f32 + part(u), cell.y as f32 + part(v));
            inside(layout.to_plane(Vec2::new(x, y)))
        })
    })
}

#[test]
fn a_plan_covers_the_cells_it_overlaps() {
    let mut random = Random::new(43);
    let area = Area::new((0, 0), (11, 11));
    for round in 0..60 {
        let mut number = |low: f32, high: f32| low + (high - low) * random.below(10_000) as f32 / 10_000.0;
        let turn = Vec2::from_angle(number(0.0, core::f32::consts::TAU));
        let side = number(0.5, 40.0);
        let (x, y) = (turn * side, turn.rotate(Vec2::from_angle(number(0.7, 2.4))) * side * 0.8);
        let layout = Layout::new(Vec2::new(number(-9.0, 9.0), 3.0), x, y).unwrap();
        let centre = layout.to_plane(Vec2::new(number(-1.0, 13.0), number(-1.0, 13.0)));
        let spin = Vec2::from_angle(number(0.0, core::f32::consts::TAU));
        let half = [spin * number(0.1, 3.0) * side, spin.perp() * number(0.1, 3.0) * side];
        let radius = number(0.1, 3.0) * side;
        let in_box = |point: Vec2| {
            half.iter().all(|half| (point - centre).dot(half.normalize()).abs() <= half.length())
        };
        let in_disc = |point: Vec2| point.distance(centre) <= radius;
        let plans: [(GroundPlan, &dyn Fn(Vec2) -> bool); 2] =
            [(GroundPlan::Box { centre, half }, &in_box), (GroundPlan::Disc { centre, radius }, &in_disc)];
        for (plan, inside) in plans {
            let covered = plan.cells(&layout, area);
            for cell in area.cells() {
                let sure = is_hit(&layout, cell, inside, 0.02);
                let possible = is_hit(&layout, cell, inside, 0.0);
                // A sliver may slip between the points that were looked at, but not much more.
                let is_covered = covered.contains(&cell);
                assert!(!sure || is_covered, "round {round}: {plan:?} misses {cell}");
                let near = is_hit(&layout, cell, |point| inside(centre.lerp(point, 0.97)), 0.0);
                assert!(!is_covered || possible || near, "round {round}: {plan:?} covers {cell}");
            }
        }
    }
}

#[test]
fn touching_is_not_covering() {
    let area = Area::new((0, 0), (9, 9));
    for side in [1.0, 32.0, 0.1, 33.3] {
        let layout = Layout::square(side).unwrap();
        let cells = |plan: GroundPlan| plan.cells(&layout, area);
        let half = [Vec2::new(1.5 * side, 0.0), Vec2::new(0.0, 0.5 * side)];
        let centre = Vec2::new(2.5, 4.5) * side;
        let row: Vec<Cell> = (1..=3).map(|x| Cell::new(x, 4)).collect();
        assert_eq!(cells(GroundPlan::Box { centre, half }), row);
        assert_eq!(cells(GroundPlan::Disc { centre, radius: side * 0.5 }), [Cell::new(2, 4)]);
        assert_eq!(cells(GroundPlan::Disc { centre, radius: side * 0.6 }).len(), 5);
        assert_eq!(cells(GroundPlan::Point(centre)), [Cell::new(2, 4)]);
    }
}

#[test]
fn a_plan_without_an_area_covers_the_cell_it_stands_in() {
    let area = Area::new((0, 0), (9, 9));
    let centre = Vec2::new(2.2, 3.7);
    let nothing = [Vec2::ZERO, Vec2::Y];
    for plan in [
        GroundPlan::Box { centre, half: nothing },
        GroundPlan::Box { centre, half: [Vec2::new(f32::NAN, 0.0), Vec2::Y] },
        GroundPlan::Disc { centre, radius: 0.0 },
        GroundPlan::Disc { centre, radius: -3.0 },
        GroundPlan::Disc { centre, radius: f32::NAN },
    ] {
        assert_eq!(plan.cells(&Layout::UNIT, area), [Cell::new(2, 3)]);
    }
    let nowhere = Vec2::new(f32::NAN, 0.0);
    for plan in [
        GroundPlan::Point(nowhere),
        GroundPlan::Disc { centre: nowhere, radius: 2.0 },
        GroundPlan::Box { centre: Vec2::splat(1e30), half: [Vec2::X, Vec2::Y] },
    ] {
        assert_eq!(plan.cells(&Layout::UNIT, area), []);
    }
    // Larger than the map: all of it, and in no time.
    for size in [1e9, 1e30, f32::INFINITY] {
        let disc = GroundPlan::Disc { centre, radius: size };
        assert_eq!(disc.cells(&Layout::UNIT, area).len(), 100, "{size}");
        let half = [Vec2::new(size, 0.0), Vec2::new(0.0, size)];
        assert_eq!(GroundPlan::Box { centre, half }.cells(&Layout::UNIT, area).len(), 100, "{size}");
    }
}
