//! How far corners are from a few places far apart, for estimates that know about walls.
//!
//! Comes in: the graph. Goes out: [`Landmarks`]. If one cell is 100 from a landmark and another 30, they are at least 70
//! apart (Goldberg and Harrelson, 2005). As distances are exact, the estimate never drops by more than a step costs.

use crate::bits::{At, Bits};
use crate::cost::Cost;
use crate::onward::ANYHOW;
use crate::search::jump::least_cost;
use crate::search::jump::scan::{Landing, NO_GOAL, Scan};
use crate::search::open::Open;
use crate::survey::corners::{Corners, leads};
use crate::survey::graph::Graph;
use crate::survey::rays::Rays;

/// Landmarks come in groups.
pub(crate) const GROUP: usize = 8;

/// There are at most so many.
pub(crate) const MOST: usize = 16;

/// A distance to each landmark, or [`FAR`] if it cannot be reached.
pub(crate) type Distances = [u32; MOST];

const FAR: u32 = u32::MAX;

/// Places far apart, and the distances of all corners to them.
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
    pub(crate) fn new(bits: &Bits, costs: [Cost; 3], graph: &Graph, rays: Option<&Rays>) -> Option<Self> {
        let corners = &graph.corners;
        let count = worth(corners.list.len());
        if count == 0 {
            return None;
        }
        let arrivals = Arrivals::new(bits, costs, corners, rays);
        let mut open = Open::default();
        // The farthest corner from anywhere is a first landmark; then whichever is farthest from all others.
        let anywhere =
            arrivals.distances(bits, costs, graph, corners.list[arrivals.busiest].at(), &mut open)?;
        let mut nearest = anywhere;
        let groups = count / GROUP;
        let distances = vec![Row([FAR; GROUP]); corners.list.len() * groups];
        let mut found = Self { places: Vec::with_capacity(count), distances };
        for landmark in 0..count {
            // Of equals the first.
            let is_reached = |(_, distance): &(usize, &u32)| **distance != FAR;
            let far =
                nearest.iter().enumerate().filter(is_reached).rev().max_by_key(|(_, distance)| **distance)?;
            let place = corners.list[far.0].at();
            let distances = arrivals.distances(bits, costs, graph, place, &mut open)?;
            if landmark == 0 {
                nearest.clone_from(&distances);
            }
            let rows = found.distances[landmark / GROUP..].iter_mut().step_by(groups);
            for ((nearest, row), distance) in nearest.iter_mut().zip(rows).zip(&distances) {
                *nearest = (*nearest).min(*distance);
                row.0[landmark % GROUP] = *distance;
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

/// For each corner, those whose jumps lead to it, whichever way they were entered.
struct Arrivals {
    firsts: Vec<u32>,
    from: Vec<(u32, u32)>,
    /// The corner that most jumps lead to; it lies in the open, on a large island.
    busiest: usize,
}

impl Arrivals {
    fn new(bits: &Bits, costs: [Cost; 3], corners: &Corners, rays: Option<&Rays>) -> Self {
        let scan = Scan { rays, ..Scan::of_all(bits, costs) };
        let mut jumps: Vec<(u32, u32, u32)> = Vec::new();
        let mut firsts = vec![0_u32; corners.list.len() + 1];
        for (number, corner) in (0..).zip(&corners.list) {
            scan.jump_along(corner.at(), ANYHOW, &mut |landing: Landing| {
                if let Some(to) = corners.number(landing.at) {
                    jumps.push((to, number, shortened(landing.cost)));
                    firsts[to as usize + 1] += 1;
                }
            });
        }
        let busiest = (0..corners.list.len()).rev().max_by_key(|number| firsts[number + 1]).unwrap_or(0);
        for number in 0..corners.list.len() {
            firsts[number + 1] += firsts[number];
        }
        let mut next = firsts.clone();
        let mut from = vec![(0, 0); jumps.len()];
        for (to, number, cost) in jumps {
            let place = &mut next[to as usize];
            from[*place as usize] = (number, cost);
            *place += 1;
        }
        Self { firsts, from, busiest }
    }

    /// The exact distance of every corner to a cell; `None` if one is too large to be kept.
    ///
    /// A shortest way from a corner begins with one of its jumps, or with the one that ends at the cell itself.
    fn distances(
        &self,
        bits: &Bits,
        costs: [Cost; 3],
        graph: &Graph,
        to: At,
        open: &mut Open,
    ) -> Option<Vec<u32>> {
        let mut distances = vec![Cost::MAX; graph.corners.list.len()];
        open.begin(false);
        for (number, corner) in (0..).zip(&graph.corners.list) {
            if corner.at() == to || Graph::sees(bits, corner, to) {
                let cost = least_cost(bits, costs, corner.at(), to);
                distances[number as usize] = cost;
                open.push(cost, number);
            }
        }
        let mut closed = vec![false; distances.len()];
        while let Some(number) = open.pop() {
            let number = number as usize;
            if core::mem::replace(&mut closed[number], true) {
                continue;
            }
            for (from, cost) in &self.from[self.firsts[number] as usize..self.firsts[number + 1] as usize] {
                let distance = distances[number] + Cost::from(*cost);
                if distance < distances[*from as usize] {
                    distances[*from as usize] = distance;
                    open.push(distance, *from);
                }
            }
        }
        let is_kept = |distance: &Cost| *distance == Cost::MAX || *distance < Cost::from(FAR);
        distances.iter().all(is_kept).then(|| distances.into_iter().map(shortened).collect())
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
