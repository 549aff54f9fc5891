//! A way as a line of points: how long it is, and what lies how far along it.

use glam::Vec2;

/// How long a line is.
pub(super) fn length(points: &[Vec2]) -> f32 {
    points.windows(2).map(|leg| leg[0].distance(leg[1])).sum()
}

/// The point so far along a line; its ends before and beyond. Zero if there are no points.
pub(super) fn point_at(points: &[Vec2], along: f32) -> Vec2 {
    let mut left = along;
    for leg in points.windows(2) {
        let length = leg[0].distance(leg[1]);
        if left <= length {
            return if length > 0.0 { leg[0].lerp(leg[1], (left / length).max(0.0)) } else { leg[0] };
        }
        left -= length;
    }
    points.last().copied().unwrap_or_default()
}

/// Which way a line leads between two lengths along it, if it leads anywhere there.
pub(super) fn direction(points: &[Vec2], from: f32, to: f32) -> Option<Vec2> {
    (point_at(points, to) - point_at(points, from)).try_normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_along_the_line() {
        let line = [Vec2::ZERO, Vec2::new(3.0, 0.0), Vec2::new(3.0, 0.0), Vec2::new(3.0, 4.0)];
        assert!((length(&line) - 7.0).abs() < 1e-6);
        for (along, point) in [(-1.0, (0.0, 0.0)), (1.0, (1.0, 0.0)), (5.0, (3.0, 2.0)), (99.0, (3.0, 4.0))] {
            assert_eq!(point_at(&line, along), Vec2::from(point));
        }
        assert_eq!(direction(&line, 4.0, 6.0), Some(Vec2::Y));
        assert_eq!(direction(&line, 8.0, 9.0), None);
        assert_eq!(point_at(&[], 1.0), Vec2::ZERO);
    }
}
