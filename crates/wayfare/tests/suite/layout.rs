//! Layouts: from cells to points and back.

use glam::Vec2;
use wayfare::prelude::*;

use crate::support::Random;

const SIDES: [f32; 9] = [1.0, 16.0, 32.0, 0.1, 3.3, 0.5, 100.0, 1e-3, 7e4];

/// Cells of the largest map: its corners, its edges, and many between.
fn cells(random: &mut Random) -> Vec<Cell> {
    let last = Map::MAX_SIDE as i32 - 1;
    let corners = [0, 1, last - 1, last];
    let mut cells: Vec<Cell> =
        corners.iter().flat_map(|x| corners.iter().map(|y| Cell::new(*x, *y))).collect();
    cells.extend((0..2000).map(|_| Cell::new(random.below(1 << 14) as i32, random.below(1 << 14) as i32)));
    cells
}

#[test]
fn the_centre_of_a_cell_lies_in_it() {
    let mut random = Random::new(1);
    for side in SIDES {
        for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (2.0, 1.0), (1.0, 3.0)] {
            let (x, y) = (Vec2::new(side * x, 0.0), Vec2::new(0.0, side * y));
            for layout in [Layout::new(Vec2::ZERO, x, y), Layout::new(Vec2::ZERO, y, x)] {
                let layout = layout.unwrap();
                for cell in cells(&mut random) {
                    assert_eq!(layout.cell_at(layout.centre(cell)), Some(cell), "{layout:?}");
                }
            }
        }
    }
}

#[test]
fn turned_sheared_and_shifted_layouts_lead_back_too() {
    let mut random = Random::new(2);
    for _ in 0..200 {
        let angle = random.below(6283) as f32 / 1000.0;
        let spread = 0.5 + random.below(2000) as f32 / 1000.0;
        let side = SIDES[random.below(9) as usize];
        let origin = Vec2::new(random.below(9999) as f32 - 5000.0, random.below(9999) as f32 - 5000.0) * side;
        let (x, y) = (Vec2::from_angle(angle) * side, Vec2::from_angle(angle + spread) * side * 1.5);
        let layout = Layout::new(origin, x, y).unwrap();
        for cell in cells(&mut random).into_iter().take(300) {
            let centre = layout.centre(cell);
            assert_eq!(layout.cell_at(centre), Some(cell), "{layout:?}");
            let grid = layout.to_grid(centre);
            let expected = Vec2::new(cell.x as f32 + 0.5, cell.y as f32 + 0.5);
            assert!(grid.distance(expected) < 0.02, "{grid} {expected}");
            assert!(layout.to_plane(grid).distance(centre) < 0.02 * side);
        }
    }
}

#[test]
fn a_point_on_a_border_belongs_to_the_higher_cell() {
    for side in [1.0, 16.0, 32.0, 0.5, 3.0] {
        let layout = Layout::square(side).unwrap();
        for i in 0..16_384 {
            let border = i as f32 * side;
            assert_eq!(layout.cell_at(Vec2::splat(border)), Some(Cell::new(i, i)));
            if i > 0 {
                assert_eq!(layout.cell_at(Vec2::splat(border.next_down())), Some(Cell::new(i - 1, i - 1)));
            }
        }
    }
    let down = Layout::new(Vec2::new(0.0, 10.0), Vec2::X, Vec2::NEG_Y).unwrap();
    assert_eq!(down.cell_at(Vec2::new(3.0, 7.0)), Some(Cell::new(3, 3)));
    assert_eq!(down.cell_at(Vec2::new(3.0, 7.1)), Some(Cell::new(3, 2)));
}

#[test]
fn a_grid_point_and_its_cell_agree() {
    let mut random = Random::new(3);
    let layout = Layout::new(Vec2::new(3.0, -8.0), Vec2::new(3.3, 0.7), Vec2::new(-0.2, 1.9)).unwrap();
    for _ in 0..5000 {
        let point = Vec2::new(random.below(100_000) as f32, random.below(100_000) as f32) / 37.0;
        let grid = layout.to_grid(point).floor();
        assert_eq!(layout.cell_at(point), Some(Cell::new(grid.x as i32, grid.y as i32)));
    }
}

#[test]
fn the_reach_is_the_largest_disc_in_a_cell() {
    let reach = |x: (f32, f32), y: (f32, f32)| Layout::new(Vec2::ZERO, x.into(), y.into()).unwrap().reach();
    assert_eq!(reach((1.0, 0.0), (0.0, 1.0)).to_bits(), 0.5_f32.to_bits());
    assert_eq!(reach((64.0, 0.0), (0.0, -32.0)).to_bits(), 16.0_f32.to_bits());
    // A rhombus of 64 by 32: its sides are hypot(32, 16) long and its area is 1024.
    assert!((reach((32.0, 16.0), (-32.0, 16.0)) - 512.0 / 1280.0_f32.sqrt()).abs() < 1e-4);
    for layout in [((2.0, 0.0), (1.5, 1.0)), ((0.6, 0.8), (-0.8, 0.6)), ((1.0, 0.3), (-2.0, 4.0))] {
        let layout = Layout::new(Vec2::ONE, layout.0.into(), layout.1.into()).unwrap();
        let (cell, centre) = (Cell::new(4, 5), layout.centre(Cell::new(4, 5)));
        let on_circle = |radius: f32| {
            (0..3600).all(|i| {
                let direction = Vec2::from_angle(i as f32 * core::f32::consts::TAU / 3600.0);
                layout.cell_at(centre + direction * radius) == Some(cell)
            })
        };
        assert!(on_circle(layout.reach() * 0.999) && !on_circle(layout.reach() * 1.001), "{layout:?}");
    }
}

#[test]
fn senseless_layouts_are_refused() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    for bad in [nan, inf, -inf] {
        assert_eq!(Layout::new(Vec2::new(bad, 0.0), Vec2::X, Vec2::Y), Err(LayoutError::NotFinite));
        assert_eq!(Layout::square(bad), Err(LayoutError::NotFinite));
    }
    for (x, y) in [((0.0, 0.0), (0.0, 1.0)), ((1.0, 1.0), (2.0, 2.0)), ((1.0, 0.0), (-1.0, 1e-6))] {
        let (x, y) = (Vec2::from(x), Vec2::from(y));
        assert_eq!(Layout::new(Vec2::ZERO, x, y), Err(LayoutError::Flat { x, y }));
    }
    for side in [0.0, 1e-30, 1e30, f32::MIN_POSITIVE, f32::MAX] {
        assert!(matches!(Layout::square(side), Err(LayoutError::Flat { .. })), "{side}");
    }
    assert!(
        Layout::square(-1.0).is_ok_and(|layout| layout.cell_at(Vec2::splat(-0.5)) == Some(Cell::new(0, 0)))
    );
}

#[test]
fn a_point_that_is_nowhere_has_no_cell() {
    let layout = Layout::default();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e9, -3e9, f32::MAX] {
        assert_eq!(layout.cell_at(Vec2::new(bad, 0.0)), None);
        assert_eq!(layout.cell_at(Vec2::new(0.0, bad)), None);
    }
    assert_eq!(layout.cell_at(Vec2::new(-0.1, -2.0)), Some(Cell::new(-1, -2)));
}
