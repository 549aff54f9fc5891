//! Who is near whom: units sorted by the squares of a coarse grid, and a short list of neighbours for each.
//!
//! The grid is a table of bounded size. Where units are spread wider than it reaches, it is folded over itself: then a
//! square holds units of several places, and the distance tells them apart. So one unit far away costs the others
//! nothing.
//!
//! A few that are much larger than all others are in no square, which would have to be as large as they are: everybody
//! looks at them, and they look at everybody. Where radii differ, those count as the nearest whose surface is.
//!
//! PERF: with one of radius 3 among 10,000 of 0.4, a step takes 0.36 × as long as with squares made for it.

use core::ops::Range;

use glam::{DVec2, Vec2};

use super::Layers;
use super::sizes::Sizes;

/// How many neighbours a list holds.
pub(super) const MOST: usize = 10;

/// How many candidates a unit looks at to find them, and how many of those that are near enough it weighs. If there are
/// more, it looks less far, so often; and then it is in a pile, where any of them will do.
const CANDIDATES: usize = 4096;
const WEIGHED: usize = 64;
const CLOSER: u32 = 10;

/// How many candidates are looked at before it is asked whether there are too many.
const AT_A_TIME: usize = 256;

/// Squares a unit looks at to each side of its own, at most: fewer than half of the smallest table, which is folded else.
const RINGS: i32 = 4;

/// Squares along a side of the smallest table.
const SMALLEST: u32 = 16;

/// Neighbours of one unit, by their place in the sorted order.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    len: u8,
    near: [u32; MOST],
}

impl List {
    pub(super) const EMPTY: Self = Self { len: 0, near: [0; MOST] };

    #[inline]
    pub(super) fn as_slice(&self) -> &[u32] {
        &self.near[..usize::from(self.len)]
    }

    #[inline]
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = 0;
        for i in 0..usize::from(self.len) {
            let other = self.near[i];
            self.near[kept] = other;
            kept += usize::from(keep(other));
        }
        #[expect(clippy::cast_possible_truncation, reason = "no more than there were")]
        let kept = kept as u8;
        self.len = kept;
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = u32> {
        self.near.into_iter().take(usize::from(self.len))
    }
}

/// What of the units is looked at to find neighbours, in the sorted order.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) centres: Vec<Vec2>,
    pub(super) radii: Vec<f32>,
    /// How far each reaches, and how far it may come in a step.
    pub(super) extents: Vec<f32>,
    pub(super) layers: Vec<Layers>,
    /// How far anybody may come in a step.
    pub(super) longest_step: f32,
}

impl Places {
    /// For so many, each of whom is still to be written.
    pub(super) fn resize(&mut self, len: usize) {
        self.centres.resize(len, Vec2::ZERO);
        self.radii.resize(len, 0.0);
        self.extents.resize(len, 0.0);
        self.layers.resize(len, Layers::only(0));
    }
}

/// Where in the sorted order the units of each square are.
#[derive(Debug, Default)]
pub(super) struct Grid {
    /// Squares per unit of length.
    scale: f64,
    /// Squares in a row of the table and rows in it, less one: powers of two, so that masks fold.
    mask: [i32; 2],
    /// Where each square begins, and then where the giants do.
    starts: Vec<u32>,
    /// Where in the sorted order those are that are much larger than the rest.
    giants: Range<usize>,
    /// The widest of all others, if radii differ.
    mixed: Option<f32>,
    /// The square of each unit, in the order of input.
    squares: Vec<u32>,
}

impl Grid {
    /// Sorts the units with these places, radii and names into squares of this side: fills `order` with their numbers,
    /// square by square and in a square by name, and at the end giants. Places that are not finite are left out.
    pub(super) fn sort(
        &mut self,
        places: impl Iterator<Item = (Vec2, f32, u64)> + Clone,
        sizes: &Sizes,
        side: f32,
        order: &mut Vec<(u32, u64)>,
    ) {
        self.spread(places.clone().map(|(place, ..)| place), side);
        self.mixed = sizes.differ().then_some(sizes.widest());
        let giants = (1 + self.mask[0] + (self.mask[0] + 1) * self.mask[1]).unsigned_abs();
        self.starts.clear();
        self.starts.resize(giants as usize + 2, 0);
        self.squares.clear();
        for (place, radius, _) in places.clone() {
            let square = match place.is_finite() {
                true if radius > sizes.widest() => giants,
                true => self.square(self.column_and_row(place)),
                false => NOWHERE,
            };
            self.squares.push(square);
            if let Some(count) = self.starts.get_mut(square as usize) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            (*start, sum) = (sum, sum + *start);
        }
        order.clear();
        order.resize(sum as usize, (0, 0));
        for ((number, square), (.., name)) in (0..).zip(&self.squares).zip(places) {
            if let Some(next) = self.starts.get_mut(*square as usize) {
                order[*next as usize] = (number, name);
                *next += 1;
            }
        }
        // Each start has become the start of the next one.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
        for bounds in self.starts.windows(2) {
            let square = &mut order[bounds[0] as usize..bounds[1] as usize];
            if square.len() > 1 {
                square.sort_unstable_by_key(|(number, name)| (*name, *number));
            }
        }
        self.giants = self.starts[giants as usize] as usize..order.len();
    }

    /// Lays the table over all places.
    fn spread(&mut self, places: impl Iterator<Item = Vec2> + Clone, side: f32) {
        let (mut low, mut high, mut count) = (Vec2::INFINITY, Vec2::NEG_INFINITY, 0_u32);
        for place in places.filter(|place| place.is_finite()) {
            (low, high, count) = (low.min(place), high.max(place), count + 1);
        }
        self.scale = 1.0 / f64::from(side.max(f32::MIN_POSITIVE));
        let extent = if count == 0 { Vec2::ZERO } else { high - low };
        let squares = (extent.as_dvec2() * self.scale).clamp(DVec2::ZERO, DVec2::splat(f64::from(1 << 24)));
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        let mut sides = [squares.x, squares.y]
            .map(|side| (side as i32 + 1).unsigned_abs().next_power_of_two().max(SMALLEST));
        let most = (4 * u64::from(count)).max(u64::from(SMALLEST).pow(2)).next_power_of_two();
        // At once as much as so many can need, however they spread.
        self.starts.clear();
        self.starts.reserve(usize::try_from(most + 1).unwrap_or(0));
        while u64::from(sides[0]) * u64::from(sides[1]) > most {
            let longer = usize::from(sides[1] > sides[0]);
            sides[longer] /= 2;
        }
        self.mask = sides.map(|side| side.max(SMALLEST).cast_signed() - 1);
    }

    #[inline]
    fn column_and_row(&self, place: Vec2) -> [i32; 2] {
        // The grid begins at the origin, so that it does not move when units do.
        // PERF: rounding down by hand; without a newer instruction set than compilers count on it is a call.
        #[expect(clippy::cast_possible_truncation, reason = "what is too large is folded anyway")]
        let square = |coordinate: f32| {
            let scaled = f64::from(coordinate) * self.scale;
            let whole = scaled as i64;
            whole.wrapping_sub(i64::from((whole as f64) > scaled)) as i32
        };
        [square(place.x), square(place.y)]
    }

    #[inline]
    fn square(&self, [column, row]: [i32; 2]) -> u32 {
        ((row & self.mask[1]) * (self.mask[0] + 1) + (column & self.mask[0])).unsigned_abs()
    }

    /// The nearest of those whom a unit avoids, from surface to surface, in no particular order, looked for some squares
    /// around it. `own` is its place in the sorted order. `range` is how far away the middle of one is looked at that is
    /// as wide as the widest but for giants.
    pub(super) fn around(&self, own: usize, places: &Places, range: f32) -> List {
        let range = range.max(0.0);
        let Some(widest) = self.mixed else { return self.around_within(own, places, range) };
        // Whoever is touched is seen, however little is seen beyond.
        let touch = (places.radii[own] + widest).min(range);
        self.looking_closer(own, places, (touch, range - touch), |range| {
            move |gap: f32, _, radius| by_surface(gap, widest - radius, |rank| rank < range)
        })
    }

    /// As [`around`](Self::around), of those whose middle is nearer than `within`.
    pub(super) fn around_within(&self, own: usize, places: &Places, within: f32) -> List {
        let within = within.max(0.0);
        self.looking_closer(own, places, (0.0, within), |within| {
            let within = within * within;
            move |gap, _, radius| match self.mixed {
                Some(widest) => by_surface(gap, widest - radius, |_| gap < within),
                None => (gap, gap < within),
            }
        })
    }

    /// The nearest within a range, which is the sum of two, or within less: of the second, as much less as it takes.
    fn looking_closer<R: Fn(f32, f32, f32) -> (f32, bool)>(
        &self,
        own: usize,
        places: &Places,
        (least, mut more): (f32, f32),
        rank: impl Fn(f32) -> R,
    ) -> List {
        if self.giants.contains(&own) {
            return nearest_of_all(own, places, rank(least + more));
        }
        for _ in 0..CLOSER {
            let range = least + more;
            let rank = rank(range);
            if let Some(list) = self.nearest(own, places, (self.rings(range), range), rank, CANDIDATES) {
                return list;
            }
            more *= 0.7;
        }
        self.anybody(own, places, least + more, rank(least + more))
    }

    fn rings(&self, range: f32) -> i32 {
        #[expect(clippy::cast_possible_truncation, reason = "cut to the rings there are")]
        let rings = (f64::from(range) * self.scale).ceil().clamp(1.0, f64::from(RINGS)) as i32;
        rings
    }

    /// As [`around`](Self::around), those whom a unit may come to touch in this step. They are among those `around` it, if
    /// it has looked.
    pub(super) fn touching(&self, own: usize, places: &Places, around: Option<List>) -> List {
        let extent = places.extents[own];
        let reach = |other: f32| (extent + other) * (extent + other);
        let Some(widest) = self.mixed else {
            // A full list may have left somebody out; but nobody is touched by more than it holds, if they are as large.
            return self.touched(own, places, around, |gap, extent, _| (gap, gap < reach(extent)));
        };
        // The same if somebody is in it who is too far away for anybody farther to be touched.
        let is_out_of_reach = |other: usize| {
            places.centres[other].distance(places.centres[own]) - places.radii[other]
                >= extent + places.longest_step
        };
        let has_all = |list: &List| {
            list.as_slice().len() < MOST
                || list.as_slice().iter().any(|other| is_out_of_reach(*other as usize))
        };
        let around = around.filter(has_all);
        self.touched(own, places, around, |gap, extent, radius| {
            by_surface(gap, widest - radius, |_| gap < reach(extent))
        })
    }
    fn touched(
        &self,
        own: usize,
        places: &Places,
        around: Option<List>,
        rank: impl Fn(f32, f32, f32) -> (f32, bool),
    ) -> List {
        let (extent, centre) = (places.extents[own], places.centres[own]);
        let Some(mut list) = around else {
            if self.giants.contains(&own) {
                return nearest_of_all(own, places, rank);
            }
            let list = self.nearest(own, places, (1, extent), &rank, CANDIDATES);
            return list.unwrap_or_else(|| self.anybody(own, places, extent, rank));
        };
        list.retain(|other| {
            let other = other as usize;
            let gap = places.centres[other].distance_squared(centre);
            rank(gap, places.extents[other], places.radii[other]).1
        });
        list
    }

    /// Some of those around one in a pile: the ones it is sorted beside.
    fn anybody(
        &self,
        own: usize,
        places: &Places,
        range: f32,
        rank: impl Fn(f32, f32, f32) -> (f32, bool),
    ) -> List {
        self.nearest(own, places, (1, range), rank, WEIGHED - 1).unwrap_or(List::EMPTY)
    }

    /// The nearest of those in the squares around a unit, by a rank that the square of a distance, an extent and a radius
    /// make, and whether that counts. Ranks are about as large as the square of the range, or smaller. `None` if there
    /// are more than it can weigh.
    #[inline]
    fn nearest(
        &self,
        own: usize,
        places: &Places,
        (rings, range): (i32, f32),
        rank: impl Fn(f32, f32, f32) -> (f32, bool),
        most: usize,
    ) -> Option<List> {
        let (centre, avoids) = (places.centres[own], places.layers[own]);
        let (mut near, mut ranks) = ([0; WEIGHED], [0.0; WEIGHED]);
        let (mut found, mut candidates) = (0, 0);
        self.runs(centre, rings, |run| {
            let run = part_around(own, run, most - candidates);
            candidates += run.len();
            for start in run.clone().step_by(AT_A_TIME) {
                if found == WEIGHED - 1 {
                    break;
                }
                let part = start..run.end.min(start + AT_A_TIME);
                let all = part.clone().zip(&places.centres[part.clone()]).zip(&places.extents[part.clone()]);
                let all = all.zip(&places.radii[part.clone()]).zip(&places.layers[part]);
                for ((((other, at), extent), radius), layers) in all {
                    let (rank, is_near) = rank(at.distance_squared(centre), *extent, *radius);
                    // PERF: written and then counted or not, which halves the time of a branch that nobody can predict.
                    #[expect(clippy::cast_possible_truncation, reason = "units are counted in 32 bits")]
                    let number = other as u32;
                    let last = found & (WEIGHED - 1);
                    (near[last], ranks[last]) = (number, rank);
                    let counts = is_near & (other != own) & avoids.avoid(*layers);
                    found += usize::from(counts & (found < WEIGHED - 1));
                }
            }
        });
        if found == WEIGHED - 1 && most > found {
            return None;
        }
        let limit = if found <= MOST { f32::INFINITY } else { nearest_limit(&ranks[..found], range * range) };
        let mut list = List::EMPTY;
        for (other, rank) in near[..found].iter().zip(&ranks) {
            if *rank < limit && usize::from(list.len) < MOST {
                list.near[usize::from(list.len)] = *other;
                list.len += 1;
            }
        }
        Some(list)
    }

    /// Calls `visit` with runs of units among which are all that are within `reach` of a place, of so many in all.
    pub(super) fn within(&self, place: Vec2, reach: f32, all: usize, mut visit: impl FnMut(Range<usize>)) {
        let rings = (f64::from(reach) * self.scale).ceil();
        // In a table that the squares around the place fill, some would be met twice.
        let most = f64::from(self.mask[0].min(self.mask[1]) / 2);
        if rings < most && place.is_finite() {
            #[expect(clippy::cast_possible_truncation, reason = "fewer than a table has squares in a row")]
            self.runs(place, rings.max(0.0) as i32, visit);
        } else {
            visit(0..all);
        }
    }

    /// Calls `visit` with all giants and with the runs of units in the squares around a place, its own row first, in an
    /// order that only the squares decide.
    #[inline]
    pub(super) fn runs(&self, place: Vec2, rings: i32, mut visit: impl FnMut(Range<usize>)) {
        if !self.giants.is_empty() {
            visit(self.giants.clone());
        }
        let [column, row] = self.column_and_row(place);
        let first = column.wrapping_sub(rings) & self.mask[0];
        let last = column.wrapping_add(rings) & self.mask[0];
        for row in (0..=2 * rings).map(|i| row.wrapping_add(if i % 2 == 0 { i / 2 } else { -(i + 1) / 2 })) {
            let mut run = |from: i32, to: i32| {
                let from = self.starts[self.square([from, row]) as usize] as usize;
                let to = self.starts[self.square([to, row]) as usize + 1] as usize;
                if from < to {
                    visit(from..to);
                }
            };
            if first <= last {
                run(first, last);
            } else {
                // Folded.
                run(0, last);
                run(first, self.mask[0]);
            }
        }
    }
}

/// The rank of a unit by how far its surface is, from the square of how far its middle is and how much smaller it is than the
/// widest; and whether that counts.
#[inline]
fn by_surface(gap: f32, smaller: f32, counts: impl FnOnce(f32) -> bool) -> (f32, bool) {
    let rank = (gap.sqrt() + smaller).max(0.0);
    (rank * rank, counts(rank))
}

/// The nearest of all, for the few who are so large that anybody may be near.
fn nearest_of_all(own: usize, places: &Places, rank: impl Fn(f32, f32, f32) -> (f32, bool)) -> List {
    let (centre, avoids) = (places.centres[own], places.layers[own]);
    let (mut list, mut ranks) = (List::EMPTY, [f32::INFINITY; MOST]);
    let all = (0_u32..).zip(&places.centres).zip(&places.extents).zip(&places.radii).zip(&places.layers);
    for ((((other, at), extent), radius), layers) in all {
        let (rank, is_near) = rank(at.distance_squared(centre), *extent, *radius);
        if !is_near || rank >= ranks[MOST - 1] || other as usize == own || !avoids.avoid(*layers) {
            continue;
        }
        let place = ranks.partition_point(|nearer| *nearer <= rank);
        ranks[place..].rotate_right(1);
        list.near[place..].rotate_right(1);
        (ranks[place], list.near[place]) = (rank, other);
        list.len += u8::from(usize::from(list.len) < MOST);
    }
    list
}

/// The square of a unit that is nowhere.
const NOWHERE: u32 = u32::MAX;

/// So many of a run, around one of them if it is among them.
#[inline]
fn part_around(own: usize, run: Range<usize>, most: usize) -> Range<usize> {
    if run.len() <= most {
        return run;
    }
    let start = own.saturating_sub(most / 2).clamp(run.start, run.end - most);
    let start = if run.contains(&own) { start } else { run.start };
    start..start + most
}

/// A square of a distance below which [`MOST`] of these are, or nearly as many.
///
/// PERF: counting how many are nearer than a guess has no branches to mispredict; sorting them takes twice the time.
fn nearest_limit(gaps: &[f32], widest: f32) -> f32 {
    let (mut low, mut high, mut has_nearer) = (0.0, f32::INFINITY, false);
    // Where units are spread evenly, as many are within a square of the distance as it is large.
    let mut guess = widest * MOST as f32 / gaps.len() as f32;
    for _ in 0..12 {
        let nearer = gaps.iter().map(|gap| u32::from(*gap < guess)).sum::<u32>() as usize;
        if nearer == MOST {
            return guess;
        }
        if nearer < MOST {
            (low, has_nearer) = (guess, nearer > 0);
        } else {
            high = guess;
        }
        guess = if high == f32::INFINITY { guess * 1.5 } else { 0.5 * (low + high) };
    }
    // Some are equally far; then none of them, unless nobody is nearer: one in a pile has neighbours.
    if has_nearer { low } else { high }
}
