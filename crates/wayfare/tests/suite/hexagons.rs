//! Layouts with hexagonal cells: every point lies in the hexagon whose centre is nearest.

use glam::Vec2;
use wayfare::prelude::*;

use crate::support::Random;

/// Regular hexagons, standing on a corner or on a side, turned by any angle.
fn layouts(random: &mut Random) -> Vec<Layout> {
    let mut layouts = Vec::new();
    for (x, y) in [
        (Vec2::new(1.0, 0.0), Vec2::new(0.5, 0.866_025_4)),
        (Vec2::new(0.866_025_4, 0.5), Vec2::new(0.0, 1.0)),
        (Vec2::new(1.0, 0.0), Vec2::new(0.5, -0.866_025_4)),
    ] {
        for side in [1.0, 16.0, 0.1] {
            let turn = Vec2::from_angle(random.below(6283) as f32 / 1000.0) * side;
            let origin = Vec2::new(random.below(100) as f32, random.below(100) as f32) * side;
            let layout = Layout::new(origin, turn.rotate(x), turn.rotate(y)).unwrap();
            layouts.push(layout.with_shape(CellShape::Hexagon));
        }
    }
    layouts
}

/// The cell itself and the six around it.
fn with_neighbours(cell: Cell) -> [Cell; 7] {
    [(0, 0), (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)].map(|offset| cell + offset)
}

#[test]
fn a_point_lies_in_the_hexagon_with_the_nearest_centre() {
    let mut random = Random::new(11);
    for layout in layouts(&mut random) {
        let side = layout.centre(Cell::new(1, 0)).distance(layout.centre(Cell::new(0, 0)));
        for _ in 0..2000 {
            let grid = Vec2::new(random.below(20_000) as f32, random.below(20_000) as f32) / 1000.0;
            let point = layout.to_plane(grid);
            let cell = layout.cell_at(point).unwrap();
            let away = |cell: Cell| layout.centre(cell).distance(point);
            let nearest = with_neighbours(cell).map(away).into_iter().fold(f32::INFINITY, f32::min);
            assert!(away(cell) <= nearest + 1e-4 * side, "{layout:?} {point}");
        }
    }
}

#[test]
fn centres_lead_back_and_corners_are_shared_by_three() {
    let mut random = Random::new(12);
    for layout in layouts(&mut random) {
        let side = layout.centre(Cell::new(1, 0)).distance(layout.centre(Cell::new(0, 0)));
        for _ in 0..300 {
            let cell = Cell::new(random.below(400) as i32 - 200, random.below(400) as i32 - 200);
            let centre = layout.centre(cell);
            assert_eq!(layout.cell_at(centre), Some(cell));
            let corners: Vec<Vec2> = layout.corners(cell).collect();
            assert_eq!(corners.len(), 6);
            for corner in corners {
                // Just inside it is this cell; the corner is as far from two others as from this one.
                assert_eq!(layout.cell_at(centre.lerp(corner, 0.99)), Some(cell));
                let far =
                    |cell: Cell| (layout.centre(cell).distance(corner) / centre.distance(corner) - 1.0).abs();
                assert_eq!(with_neighbours(cell).into_iter().filter(|cell| far(*cell) < 1e-2).count(), 3);
                assert!((centre.distance(corner) / side - 0.577).abs() < 0.01);
            }
        }
    }
}

#[test]
fn what_is_nowhere_is_in_no_hexagon() {
    let layout = Layout::UNIT.with_shape(CellShape::Hexagon);
    assert_eq!(layout.cell_at(Vec2::new(f32::NAN, 0.0)), None);
    assert_eq!(layout.cell_at(Vec2::new(0.0, 1e30)), None);
}
