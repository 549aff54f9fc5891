//! How a group stands: places relative to its middle, x ahead and y to the left.

use glam::Vec2;

/// How the units of a group stand when they arrive; all but the loose one are kept on the way, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Formation {
    /// As close around the goal as there is room. Everybody goes there on a way of their own.
    #[default]
    Loose,
    /// Side by side, across the way; in several ranks if they are many.
    Line,
    /// A full wedge, its point ahead.
    Wedge,
    /// As deep as it is wide.
    Box,
    /// As they stand when they are ordered, not turned. Those who are far off are drawn in.
    AsTheyStand,
}

/// The longest line of one rank.
const LINE: usize = 8;

/// Ranks stand closer behind each other than files stand beside each other: as in the densest packing.
const DEPTH: f32 = 0.87;

impl Formation {
    /// Whether it is kept on the way.
    pub const fn is_kept(self) -> bool {
        !matches!(self, Self::Loose)
    }

    /// Whether it turns with the way.
    pub const fn turns(self) -> bool {
        !matches!(self, Self::AsTheyStand)
    }

    /// Fills `offsets` with a place per unit for so many, this far apart. Their middle is where the group is. Nothing for
    /// formations that are not made of ranks.
    pub(super) fn ranks(self, count: usize, spacing: f32, offsets: &mut Vec<Vec2>) {
        offsets.clear();
        let wide = match self {
            Self::Loose | Self::AsTheyStand => return,
            Self::Line if count <= LINE => count,
            // Eight times as wide as it is deep.
            Self::Line => (LINE * count).isqrt(),
            Self::Box => count.isqrt() + usize::from(count.isqrt().pow(2) < count),
            Self::Wedge => 1,
        };
        let mut rank = 0_u16;
        while offsets.len() < count {
            let width = if self == Self::Wedge { usize::from(rank) + 1 } else { wide.max(1) };
            let width = u16::try_from(width.min(count - offsets.len())).unwrap_or(u16::MAX);
            let ahead = -f32::from(rank) * DEPTH;
            let leftmost = f32::from(width - 1) / 2.0;
            let files = (0..width).map(|file| Vec2::new(ahead, leftmost - f32::from(file)) * spacing);
            offsets.extend(files);
            rank = rank.saturating_add(1);
        }
        centre(offsets);
    }
}

/// Moves places so that their middle is zero.
pub(super) fn centre(places: &mut [Vec2]) {
    let middle = middle(places.iter().copied());
    places.iter_mut().for_each(|place| *place -= middle);
}

/// The mean of points; zero if there are none.
pub(super) fn middle(points: impl Iterator<Item = Vec2>) -> Vec2 {
    let (sum, count) =
        points.fold((glam::DVec2::ZERO, 0.0), |(sum, count), point| (sum + point.as_dvec2(), count + 1.0));
    if count > 0.0 { (sum / count).as_vec2() } else { Vec2::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_a_place_for_everybody_at_a_distance() {
        for formation in [Formation::Line, Formation::Wedge, Formation::Box] {
            for count in [0, 1, 2, 3, 8, 9, 10, 25, 100, 301] {
                let mut offsets = Vec::new();
                formation.ranks(count, 2.0, &mut offsets);
                assert_eq!(offsets.len(), count);
                for (i, a) in offsets.iter().enumerate() {
                    for b in &offsets[..i] {
                        assert!(a.distance(*b) > 1.7, "{formation:?} {count}: {a} {b}");
                    }
                }
                assert!(middle(offsets.iter().copied()).length() < 1e-3);
            }
        }
    }

    #[test]
    fn a_wedge_has_its_point_ahead_and_a_line_is_wide() {
        let mut offsets = Vec::new();
        Formation::Wedge.ranks(10, 1.0, &mut offsets);
        assert!(offsets[1..].iter().all(|other| other.x < offsets[0].x));
        Formation::Line.ranks(8, 1.0, &mut offsets);
        assert!(offsets.iter().all(|place| place.x == 0.0));
        Formation::Line.ranks(100, 1.0, &mut offsets);
        let size = |axis: fn(&Vec2) -> f32| 2.0 * offsets.iter().map(axis).fold(0.0, f32::max);
        assert!(size(|place| place.y) > 5.0 * size(|place| place.x));
    }
}
