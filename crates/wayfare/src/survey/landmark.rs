//! How far corners are from a few places far apart, for estimates that know about walls.
//!
//! Comes in: the graph. Goes out: [`Landmarks`]. If one cell is 100 from a landmark and another 30, they are at least 70
//! apart (Goldberg and Harrelson, 2005). As distances are exact, the estimate never drops by more than a step costs.

use core::ops::Range;

use crate::bits::{At, Bits};
use crate::cost::Cost;
use crate::onward::ANYHOW;
use crate::search::jump::least_cost;
use crate::search::jump::scan::{Landing, NO_GOAL, Scan};
use crate::search::uneven::buckets::{Buckets, Cut};
use crate::survey::corners::{Corners, leads};
use crate::survey::graph::Graph;
use crate::survey::pace::{AT_ONCE, filled, parts, pause};
use crate::survey::rays::Rays;

/// Landmarks come in groups.
pub(crate) const GROUP: usize = 8;

/// There are at most so many.
pub(crate) const MOST: usize = 16;

/// A distance to each landmark, or [`FAR`] if it cannot be reached.
pub(crate) type Distances = [u32; MOST];

const FAR: u32 = u32::MAX;

/// Places far apart, and the distances of all corners to them.
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Landmarks {
    /// In whole groups.
    pub(super) places: Vec<At>,
    /// For each corner as many as there are groups.
    pub(super) distances: Vec<Row>,
}

/// How far a corner is from the landmarks of a group. Half a line of the cache holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(32))]
pub(crate) struct Row(pub(super) [u32; GROUP]);

/// How many landmarks so many corners are worth; 0 if they are too few for it to matter. What a search opens grows with the
/// square of the way unless estimates get better, too.
///
/// PERF: on generated maps of 4096² cells 16 landmarks close 1.4 (streets) and 2.0 (caves) times fewer nodes than 8 do. 32
/// close 1.5 times fewer still, and take 1.7 times as long to build.
const fn worth(corners: usize) -> usize {
    match corners {
        ..64 => 0,
        64..75_000 => 8,
        _ => MOST,
    }
}

impl Landmarks {
    /// `None` where there are too few corners for it to matter, or distances are too large to be kept.
    pub(crate) async fn new(
        bits: &Bits,
        costs: [Cost; 3],
        graph: &Graph,
        rays: Option<&Rays>,
    ) -> Option<Self> {
        let corners = &graph.corners.list;
        let count = worth(corners.len());
        if count == 0 {
            return None;
        }
        let arrivals = Arrivals::new(bits, costs, &graph.corners, rays).await;
        let scan = Scan::of_all(bits, costs);
        let mut open = Buckets::default();
        // The farthest corner from anywhere is a first landmark; then whichever is farthest from all others.
        let anywhere = corners[arrivals.busiest].at();
        let mut nearest = arrivals.distances(&scan, graph, anywhere, &mut open).await?;
        let groups = count / GROUP;
        let distances = filled(Row([FAR; GROUP]), corners.len() * groups).await;
        let mut found = Self { places: Vec::with_capacity(count), distances };
        for landmark in 0..count {
            let place = corners[farthest(&nearest).await?].at();
            let distances = arrivals.distances(&scan, graph, place, &mut open).await?;
            for some in parts(corners.len(), AT_ONCE) {
                let rows = found.distances[some.start * groups + landmark / GROUP..].iter_mut();
                let known = nearest[some.clone()].iter_mut().zip(&distances[some]);
                for ((nearest, distance), row) in known.zip(rows.step_by(groups)) {
                    // The first is chosen for being far from anywhere, which is no landmark itself.
                    *nearest = if landmark == 0 { *distance } else { (*nearest).min(*distance) };
                    row.0[landmark % GROUP] = *distance;
                }
                pause().await;
            }
            found.places.push(place);
        }
        Some(found)
    }

    /// How far a cell that need not be a corner is from them all.
    pub(crate) fn distances_of(&self, scan: &Scan<'_>, corners: &Corners, at: At) -> Distances {
        let mut distances = [FAR; MOST];
        let scan = Scan { goal: NO_GOAL, ..*scan };
        scan.jump_along(at, ANYHOW, &mut |landing: Landing| {
            let Some(corner) = corners.number(landing.at) else { return };
            let cost = shortened(landing.cost);
            for (distance, beyond) in distances.iter_mut().zip(self.rows(corner).iter().flat_map(|row| row.0))
            {
                *distance = (*distance).min(beyond.saturating_add(cost));
            }
        });
        // One that is in sight is no farther than that.
        for (distance, place) in distances.iter_mut().zip(&self.places) {
            let straight = shortened(least_cost(scan.bits, scan.costs, at, *place));
            if straight < *distance && leads(scan.bits, at, *place) {
                *distance = straight;
            }
        }
        distances
    }

    /// The least that the way between a corner and a cell with these distances costs.
    #[inline]
    pub(crate) fn at_least(&self, corner: u32, to: &Distances) -> u32 {
        let mut least = 0;
        for (from, to) in self.rows(corner).iter().zip(to.as_chunks::<GROUP>().0) {
            for (from, to) in from.0.iter().zip(to) {
                least = least.max(from.abs_diff(*to));
            }
        }
        least
    }

    /// The least that the way between two cells with these distances costs.
    pub(crate) fn apart(from: &Distances, to: &Distances) -> u32 {
        from.iter().zip(to).map(|(from, to)| from.abs_diff(*to)).max().unwrap_or(0)
    }

    /// How far a corner is from all landmarks, group by group.
    #[inline]
    fn rows(&self, corner: u32) -> &[Row] {
        let groups = self.places.len() / GROUP;
        &self.distances[corner as usize * groups..][..groups]
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.distances)
    }
}

fn shortened(cost: Cost) -> u32 {
    u32::try_from(cost).unwrap_or(FAR)
}

/// The corner with the longest distance of those that are reached, of equals the first.
async fn farthest(distances: &[u32]) -> Option<usize> {
    let mut farthest: Option<usize> = None;
    for some in parts(distances.len(), 2 * AT_ONCE) {
        for number in some {
            let distance = distances[number];
            if distance != FAR && farthest.is_none_or(|farthest| distance > distances[farthest]) {
                farthest = Some(number);
            }
        }
        pause().await;
    }
    farthest
}

/// For each corner, those whose jumps lead to it, whichever way they were entered.
struct Arrivals {
    firsts: Vec<u32>,
    from: Vec<(u32, u32)>,
    /// What the longest jump costs.
    longest: u32,
    /// The corner that most jumps lead to; it lies in the open, on a large island.
    busiest: usize,
}

impl Arrivals {
    async fn new(bits: &Bits, costs: [Cost; 3], corners: &Corners, rays: Option<&Rays>) -> Self {
        let scan = Scan { rays, ..Scan::of_all(bits, costs) };
        let count = corners.list.len();
        // A list for each step: to move a single one as it grows would take too long.
        let mut jumps = Vec::with_capacity(count.div_ceil(CORNERS));
        let mut firsts = vec![0_u32; count + 1];
        for some in parts(count, CORNERS) {
            jumps.push(look(&scan, corners, some, &mut firsts));
            pause().await;
        }
        let mut busiest = 0;
        for some in parts(count, AT_ONCE) {
            for number in some {
                // Of equals the first. Numbers before this one have become sums already.
                let arrivals = firsts[number + 1];
                if arrivals > firsts[busiest + 1] - firsts[busiest] {
                    busiest = number;
                }
                firsts[number + 1] += firsts[number];
            }
            pause().await;
        }
        let mut next = firsts.clone();
        let mut from = filled((0, 0), firsts[count] as usize).await;
        let mut longest = 0;
        for some in jumps {
            for (to, number, cost) in some {
                longest = longest.max(cost);
                let place = &mut next[to as usize];
                from[*place as usize] = (number, cost);
                *place += 1;
            }
            pause().await;
        }
        Self { firsts, from, longest, busiest }
    }

    /// The exact distance of every corner to a cell; `None` if one is too large to be kept.
    ///
    /// A shortest way from a corner begins with one of its jumps, or with the one that ends at the cell itself.
    async fn distances(
        &self,
        scan: &Scan<'_>,
        graph: &Graph,
        to: At,
        open: &mut Buckets,
    ) -> Option<Vec<u32>> {
        let count = graph.corners.list.len();
        // No jump is shorter than a bucket is wide: whatever is in the first bucket stays as it is.
        open.begin(Cut::any(shortened(scan.costs[0].min(scan.costs[1])), self.longest), 0);
        let mut spread = Spread { distances: Vec::with_capacity(count), is_kept: true, open };
        for some in parts(count, AT_ONCE / 2) {
            for corner in &graph.corners.list[some] {
                let is_seen = corner.at() == to || Graph::sees(scan.bits, corner, to);
                let cost = least_cost(scan.bits, scan.costs, corner.at(), to);
                spread.begin(if is_seen { shortened(cost) } else { FAR });
            }
            pause().await;
        }
        while spread.go_on(self, 8 * CORNERS) {
            pause().await;
        }
        spread.is_kept.then_some(spread.distances)
    }
}

/// Corners whose jumps are found before a pause.
const CORNERS: usize = 32;

/// The jumps out of some corners: where to, where from, and what they cost. And counts where they lead.
fn look(scan: &Scan<'_>, corners: &Corners, some: Range<usize>, counts: &mut [u32]) -> Vec<(u32, u32, u32)> {
    let mut jumps = Vec::new();
    for number in some {
        let from = u32::try_from(number).unwrap_or(u32::MAX);
        scan.jump_along(corners.list[number].at(), ANYHOW, &mut |landing: Landing| {
            if let Some(to) = corners.number(landing.at) {
                jumps.push((to, from, shortened(landing.cost)));
                counts[to as usize + 1] += 1;
            }
        });
    }
    jumps
}

/// Distances from one place, on their way to all corners (Dijkstra, 1959, in buckets as Dial's, 1969, that are as narrow as the
/// shortest jump, so that inside a bucket the order does not matter: Dinitz, 1978).
///
/// PERF: with a radix heap and distances of 64 bits, rays and landmarks together took 1.3 to 1.4 × as long on generated maps
/// (cities and noise, 512² to 4096² cells).
struct Spread<'a> {
    distances: Vec<u32>,
    /// Whether all of them are small enough so far.
    is_kept: bool,
    open: &'a mut Buckets,
}

impl Spread<'_> {
    /// The next corner has this distance at first.
    fn begin(&mut self, distance: u32) {
        if distance != FAR {
            self.open.push(distance, u32::try_from(self.distances.len()).unwrap_or(u32::MAX));
        }
        self.distances.push(distance);
    }

    /// Closes up to so many corners. Returns whether there are more.
    fn go_on(&mut self, arrivals: &Arrivals, corners: usize) -> bool {
        let Self { distances, is_kept, open } = self;
        let distances = &mut distances[..];
        for _ in 0..corners {
            let Some(number) = open.peek(FAR) else { return false };
            open.pop();
            let distance = distances[number as usize];
            if open.is_early(distance) {
                open.push(distance, number);
                continue;
            }
            // A shorter way was found, and the corner closed then.
            if open.is_late(distance) {
                continue;
            }
            let firsts = &arrivals.firsts[number as usize..][..2];
            for (from, cost) in &arrivals.from[firsts[0] as usize..firsts[1] as usize] {
                let Some(distance) = distance.checked_add(*cost).filter(|distance| *distance != FAR) else {
                    *is_kept = false;
                    continue;
                };
                if distance < distances[*from as usize] {
                    distances[*from as usize] = distance;
                    open.push(distance, *from);
                }
            }
        }
        true
    }
}

#[cfg(test)]
impl Landmarks {
    /// The landmarks, and how far a corner is from each if it can be reached.
    pub(crate) fn of(&self, corner: usize) -> Vec<(crate::cell::Cell, Option<Cost>)> {
        let distances = self.rows(u32::try_from(corner).unwrap()).iter().flat_map(|row| row.0);
        let known = distances.map(|distance| (distance != FAR).then_some(Cost::from(distance)));
        self.places.iter().map(|place| place.cell()).zip(known).collect()
    }
}
