//! The judges: what a run looks like from outside. They share nothing with the solver, not even its way to find
//! neighbours, and are as plain as can be.

use glam::Vec2;
use wayfare::prelude::{Cell, Snapshot};

use super::unit::Unit;

/// How far a disc may reach into a wall, in radii: what rounding does.
const TOLERANCE: f32 = 0.01;

/// The deepest overlap of two units, in radii of the smaller: 0 or below if none touch.
pub(crate) fn worst_overlap(units: &[Unit]) -> f32 {
    overlap_at(units).map_or(f32::NEG_INFINITY, |(_, depth)| depth)
}

/// Where that is, and how deep, among those close to each other.
pub(crate) fn overlap_at(units: &[Unit]) -> Option<(Vec2, f32)> {
    let largest = units.iter().map(|unit| unit.radius).fold(0.0, f32::max);
    // No two whose columns are not neighbours can touch.
    let column = |unit: &Unit| (unit.position.x / (2.0 * largest)).floor();
    let mut order: Vec<&Unit> = units.iter().collect();
    order.sort_by(|a, b| {
        column(a).total_cmp(&column(b)).then(a.position.y.total_cmp(&b.position.y)).then(a.id.cmp(&b.id))
    });
    let mut worst: Option<(Vec2, f32)> = None;
    let mut ahead = 0;
    for (index, unit) in order.iter().enumerate() {
        let here = column(unit);
        let reaches = |other: &&&Unit| other.position.y <= unit.position.y + 2.0 * largest;
        let same = order[index + 1..].iter().take_while(|other| column(other) <= here).take_while(reaches);
        // Those of the next column, from the first that is high enough: it only moves up within a column.
        let is_behind = |other: &Unit| {
            column(other) <= here
                || (column(other) <= here + 1.0 && other.position.y < unit.position.y - 2.0 * largest)
        };
        if index == 0 || column(order[index - 1]) < here {
            ahead = index;
        }
        while ahead < order.len() && is_behind(order[ahead]) {
            ahead += 1;
        }
        let next = order[ahead..].iter().take_while(|other| column(other) <= here + 1.0).take_while(reaches);
        for other in same.chain(next) {
            let depth = overlap(unit, other);
            if worst.is_none_or(|(_, worst)| depth > worst) {
                worst = Some((unit.position.midpoint(other.position), depth));
            }
        }
    }
    worst
}

fn overlap(a: &Unit, b: &Unit) -> f32 {
    (a.radius + b.radius - a.position.distance(b.position)) / a.radius.min(b.radius)
}

/// What walls say about a disc.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct InWall {
    /// How far it reaches into a blocked cell, in radii.
    pub(crate) depth: f32,
    /// Whether that is too far, or its centre lies in one.
    pub(crate) is_violation: bool,
}

/// Looks at every cell around a disc. Cells have sides of 1, and the map begins at the origin.
pub(crate) fn in_wall(snapshot: &Snapshot, centre: Vec2, radius: f32) -> InWall {
    let (low, high) = (whole(centre - radius), whole(centre + radius));
    let mut depth = 0.0_f32;
    let mut is_inside = false;
    for y in low.y..=high.y {
        for x in low.x..=high.x {
            if !snapshot.is_open(Cell::new(x, y)) {
                let corner = Cell::new(x, y);
                let near = centre.clamp(at(corner), at(corner) + 1.0);
                depth = depth.max((radius - centre.distance(near)) / radius.max(f32::MIN_POSITIVE));
                is_inside |= whole(centre) == corner;
            }
        }
    }
    InWall { depth, is_violation: is_inside || depth > TOLERANCE }
}

#[expect(clippy::cast_possible_truncation, reason = "maps are small")]
fn whole(point: Vec2) -> Cell {
    Cell::new(point.x.floor() as i32, point.y.floor() as i32)
}

fn at(cell: Cell) -> Vec2 {
    glam::IVec2::from(cell).as_vec2()
}

/// The value that `percent` of a hundred values do not exceed, unless there are none.
pub(crate) fn percentile(mut values: Vec<f32>, percent: usize) -> Option<f32> {
    values.sort_by(f32::total_cmp);
    values.get((values.len() * percent).div_ceil(100).max(1) - 1).copied()
}

/// When `percent` of a hundred units had arrived, in steps; `None` if they never did.
pub(crate) fn arrival(units: &[Unit], percent: usize) -> Option<u32> {
    let sent: Vec<&Unit> = units.iter().filter(|unit| unit.is_sent).collect();
    let mut steps: Vec<u32> = sent.iter().filter_map(|unit| unit.arrived).collect();
    steps.sort_unstable();
    steps.get((sent.len() * percent).div_ceil(100).max(1) - 1).copied()
}

/// A number that differs if any bit of any position or velocity does (Fowler, Noll and Vo's hash), whatever the order in
/// memory.
pub(crate) fn hash(units: &[Unit]) -> u64 {
    let mut order: Vec<&Unit> = units.iter().collect();
    order.sort_unstable_by_key(|unit| unit.id);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for unit in order {
        for value in unit.position.to_array().into_iter().chain(unit.velocity.to_array()) {
            for byte in value.to_bits().to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use wayfare::prelude::{Map, View};

    use super::*;
    use crate::measure::SplitMix;

    fn unit(id: u64, x: f32, y: f32, radius: f32) -> Unit {
        Unit { radius, ..Unit::standing(id, Vec2::new(x, y)) }
    }

    #[test]
    fn the_deepest_overlap_is_found_among_all_pairs() {
        assert!(worst_overlap(&[]) < 0.0 && worst_overlap(&[unit(0, 1.0, 1.0, 0.4)]) < 0.0, "no pair");
        let pair = [unit(0, 0.0, 0.0, 0.3), unit(1, 0.9, 0.0, 0.7)];
        assert!((worst_overlap(&pair) - 1.0 / 3.0).abs() < 1e-5, "of the smaller radius");
        let apart = [unit(0, 0.0, 0.0, 0.4), unit(1, 0.9, 0.0, 0.4)];
        assert!(worst_overlap(&apart) < 0.0);
        for seed in 0..50 {
            let mut random = SplitMix::new(seed);
            let count = 2 + random.below(60);
            let mut place = || random.fraction() * 12.0 - 6.0;
            let mut units: Vec<Unit> = (0..count).map(|id| unit(id as u64, place(), place(), 0.4)).collect();
            units[0].radius = 0.7;
            let pairs = units.iter().enumerate().flat_map(|(i, a)| units[..i].iter().map(move |b| (a, b)));
            let plain = pairs.map(|(a, b)| overlap(a, b)).fold(f32::NEG_INFINITY, f32::max);
            let found = worst_overlap(&units);
            assert!(
                plain < 0.0 && found < 0.0 || (plain - found).abs() < 1e-6,
                "seed {seed}: {found}, not {plain}"
            );
        }
    }

    #[test]
    fn walls_and_the_edge_of_the_map_are_seen() {
        let map = Map::from_text("....\n..#.\n....").expect("a map");
        let snapshot = Snapshot::new(&map, &View::default());
        let free = in_wall(&snapshot, Vec2::new(1.5, 1.5), 0.4);
        assert_eq!(free, InWall { depth: 0.0, is_violation: false });
        let grazing = in_wall(&snapshot, Vec2::new(1.602, 1.5), 0.4);
        assert!(grazing.depth > 0.0 && !grazing.is_violation, "{grazing:?}");
        let beside = in_wall(&snapshot, Vec2::new(1.7, 1.5), 0.4);
        assert!((beside.depth - 0.25).abs() < 1e-4 && beside.is_violation, "{beside:?}");
        let corner = in_wall(&snapshot, Vec2::new(1.75, 0.75), 0.4);
        assert!((corner.depth - (1.0 - 0.25 * 2.0_f32.sqrt() / 0.4)).abs() < 1e-4, "{corner:?}");
        assert!(in_wall(&snapshot, Vec2::new(2.5, 1.5), 0.0).is_violation, "a centre is enough");
        assert!(in_wall(&snapshot, Vec2::new(0.2, 0.6), 0.4).is_violation, "outside is blocked");
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred: Vec<f32> = (1..=100_u8).rev().map(f32::from).collect();
        assert_eq!(percentile(hundred, 95), Some(95.0));
        assert_eq!(percentile(vec![2.0, 1.0], 95), Some(2.0));
        assert_eq!(percentile(Vec::new(), 95), None);
        let mut units: Vec<Unit> = (0..20).map(|id| Unit::new(id, Vec2::ZERO, Vec2::X)).collect();
        for (unit, step) in units.iter_mut().zip(1..19) {
            unit.arrived = Some(step);
        }
        assert_eq!(arrival(&units, 90), Some(18));
        assert_eq!(arrival(&units, 95), None, "18 of 20 are too few");
    }

    #[test]
    fn a_hash_sees_every_bit_but_not_the_order() {
        let units = [unit(0, 1.0, 2.0, 0.4), unit(1, 3.0, 4.0, 0.4)];
        let [a, b] = units.clone();
        assert_eq!(hash(&units), hash(&[b.clone(), a.clone()]));
        let moved = Unit { position: Vec2::new(1.0_f32.next_up(), 2.0), ..a };
        assert_ne!(hash(&units), hash(&[moved, b]));
    }
}
