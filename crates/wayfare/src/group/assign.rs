//! Who takes which place.

use glam::Vec2;

/// Pairs of units that are looked at before the result is good enough.
///
/// PERF: some 5 ms, of which a thousand units take 2.
const MOST_PAIRS: usize = 4_000_000;

/// Chooses a place for each unit so that the sum of squared distances is small: fills `chosen` with the place of each by
/// its number. If there are more of one than of the other, the last ones are left out.
///
/// No two units would do better by swapping their places, so their ways hardly cross; only with more than some thousand
/// units the search for such pairs may end before. How far away the places are as a whole does not matter, only how
/// they lie to each other.
///
/// ```
/// use glam::Vec2;
/// use wayfare::group::assign;
///
/// let units = [Vec2::new(0.0, 5.0), Vec2::new(0.0, 1.0), Vec2::new(0.0, 3.0)];
/// let places = [Vec2::new(90.0, 0.0), Vec2::new(90.0, 1.0), Vec2::new(90.0, 2.0)];
/// let mut chosen = Vec::new();
/// assign(&units, &places, &mut chosen);
/// assert_eq!(chosen, [2, 0, 1]);
/// ```
pub fn assign(units: &[Vec2], places: &[Vec2], chosen: &mut Vec<usize>) {
    let count = units.len().min(places.len());
    let (units, places) = (&units[..count], &places[..count]);
    chosen.clear();
    chosen.resize(count, 0);
    // Both are sorted into strips the same way; so most are near their place from the beginning.
    for (unit, place) in in_strips(units).into_iter().zip(in_strips(places)) {
        chosen[unit] = place;
    }
    let mut pairs: Vec<Pair> = chosen.iter().map(|place| places[*place]).zip(units).map(Pair::new).collect();
    swap_while_it_helps(&mut pairs, chosen);
}

/// A unit and its place.
#[derive(Clone, Copy)]
struct Pair {
    unit: Vec2,
    place: Vec2,
    /// Its place has changed since it was compared with all others.
    is_new: bool,
}

impl Pair {
    fn new((place, unit): (Vec2, &Vec2)) -> Self {
        // Whoever is nowhere takes any place.
        let known = |point: Vec2| if point.is_finite() { point } else { Vec2::ZERO };
        Self { unit: known(*unit), place: known(place), is_new: true }
    }

    /// Whether the sum of the squares would be smaller if these two swapped their places.
    #[inline]
    fn would_swap(&self, other: &Self) -> bool {
        let (units, places) = (self.unit - other.unit, self.place - other.place);
        f64::from(units.x) * f64::from(places.x) + f64::from(units.y) * f64::from(places.y) < 0.0
    }
}

/// Pairs of units swap their places until none would gain. Every swap makes the sum smaller, so this ends.
fn swap_while_it_helps(pairs: &mut [Pair], chosen: &mut [usize]) {
    let mut looks = 0;
    loop {
        let mut swapped = false;
        for i in 0..pairs.len() {
            if !core::mem::take(&mut pairs[i].is_new) {
                continue;
            }
            for j in 0..pairs.len() {
                if pairs[i].would_swap(&pairs[j]) {
                    let (a, b) = (pairs[i].place, pairs[j].place);
                    (pairs[i].place, pairs[j].place) = (b, a);
                    (pairs[i].is_new, pairs[j].is_new) = (true, true);
                    chosen.swap(i, j);
                    swapped = true;
                }
            }
            looks += pairs.len();
            if looks >= MOST_PAIRS {
                return;
            }
        }
        if !swapped {
            return;
        }
    }
}

/// The numbers of points, in strips across: about as many strips as there are points in each.
fn in_strips(points: &[Vec2]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| points[*a].x.total_cmp(&points[*b].x).then(a.cmp(b)));
    for strip in order.chunks_mut(points.len().isqrt().max(1)) {
        strip.sort_by(|a, b| points[*a].y.total_cmp(&points[*b].y).then(a.cmp(b)));
    }
    order
}
