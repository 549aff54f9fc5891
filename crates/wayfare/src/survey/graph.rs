//! The second gear's map: from every corner of the ground, the corners a jump leads to.
//!
//! Comes in: the bits of even ground. Goes out: a [`Graph`], the coarse tier of a search in two: its edges are jumps, whose
//! cells follow from their ends. Jump points as the nodes of a graph are Harabor, Uras, Stuckey and Koenig's (2019).
//!
//! The graph remembers for every corner the chunks its jumps looked at. Where the map has changed since, the search
//! [asks](Graph::is_stale) and jumps by itself; everything else stays in use.

use crate::bits::{At, Bits};
use crate::cell::Direction;
use crate::cost::Cost;
use crate::map::Map;
use crate::rules::Directions;
use crate::search::jump::scan::{Landing, Scan, Scout};
use crate::survey::changes::{Bounds, Changes};
use crate::survey::corners::{Corner, Corners, is_clear, leads, sees};

/// Corners and the jumps between them.
pub(crate) struct Graph {
    pub(crate) corners: Corners,
    /// For each corner and each way into it: where its jumps begin in `jumps`, and what they looked at.
    pub(super) nodes: Vec<(u32, Bounds)>,
    pub(super) jumps: Vec<Leap>,
}

/// A jump to a corner. What it costs follows from its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Leap(u32);

/// Corners are numbered in 27 bits.
const ENTERED: u32 = 29;

impl Leap {
    pub(super) const fn new(corner: u32, entered: Direction) -> Self {
        Self(corner | (entered as u32) << ENTERED)
    }

    #[inline]
    pub(crate) const fn corner(self) -> u32 {
        self.0 & ((1 << ENTERED) - 1)
    }

    #[inline]
    pub(crate) const fn entered(self) -> u8 {
        self.0.to_be_bytes()[0] >> 5
    }
}

impl Graph {
    /// A graph of corners whose jumps are still to be [found](Self::grow). `None` if the map has too many corners or jumps that
    /// cost too much to be kept.
    pub(crate) async fn new(map: &Map, bits: &Bits, costs: [Cost; 3]) -> Option<Self> {
        // The longest jump crosses the map along a diagonal and a side.
        let longest = (Cost::from(map.width()) + Cost::from(map.height())) * costs[2];
        if longest >= Cost::from(u32::MAX) {
            return None;
        }
        let corners = Corners::find(map, bits).await?;
        Some(Self { corners, nodes: Vec::new(), jumps: Vec::new() })
    }

    /// Finds the jumps of so many more corners, beginning with the one numbered `done`. What `known` has of the same ground
    /// but for `changes` is taken over. `None` if there are more jumps than can be kept.
    pub(crate) fn grow(
        &mut self,
        bits: &Bits,
        costs: [Cost; 3],
        known: Option<(&Self, &Changes)>,
        done: usize,
        more: usize,
    ) -> Option<()> {
        let scan = Scan::of_all(bits, costs);
        let end = self.corners.list.len().min(done + more);
        for number in done..end {
            let corner = self.corners.list[number];
            for entered in (0..8).filter(|entered| corner.ways >> entered & 1 == 1) {
                let begin = u32::try_from(self.jumps.len()).ok()?;
                let taken_over =
                    known.and_then(|(known, changes)| self.take_over(known, changes, corner, entered));
                let bounds = taken_over.unwrap_or_else(|| self.leap(&scan, corner.at(), entered));
                self.nodes.push((begin, bounds));
            }
        }
        if end == self.corners.list.len() {
            self.nodes.push((u32::try_from(self.jumps.len()).ok()?, Bounds::default()));
        }
        Some(())
    }

    /// Adds the jumps out of a corner, and returns what they looked at.
    fn leap(&mut self, scan: &Scan<'_>, at: At, entered: u8) -> Bounds {
        let mut leaps = Leaps { corners: &self.corners, jumps: &mut self.jumps, first: at, last: at };
        scan.jump_on(at, entered, &mut leaps);
        Bounds::between(leaps.first, leaps.last)
    }

    /// Adds the jumps that an older graph knew, if nothing has changed where they looked.
    fn take_over(&mut self, known: &Self, changes: &Changes, corner: Corner, entered: u8) -> Option<Bounds> {
        let number = known.corners.number(corner.at())?;
        let node = known.corners.list[number as usize].node(entered)?;
        let bounds = known.nodes[node as usize].1;
        if changes.touch(bounds) {
            return None;
        }
        for leap in known.jumps_of(node) {
            let at = known.corners.list[leap.corner() as usize].at();
            let corner = self.corners.number(at)?;
            self.jumps.push(Leap(corner | u32::from(leap.entered()) << ENTERED));
        }
        Some(bounds)
    }

    /// The jumps out of a corner by one of the ways into it.
    #[inline]
    pub(crate) fn jumps_of(&self, node: u32) -> &[Leap] {
        let node = node as usize;
        &self.jumps[self.nodes[node].0 as usize..self.nodes[node + 1].0 as usize]
    }

    /// Whether the jumps out of a corner by one of the ways into it may lead elsewhere by now.
    #[inline]
    pub(crate) fn is_stale(&self, node: u32, changes: &Changes) -> bool {
        changes.touch(self.nodes[node as usize].1)
    }

    /// Whether a single jump leads from a corner to `goal`, on the ground the graph was made of.
    #[inline]
    pub(crate) fn sees(bits: &Bits, corner: &Corner, goal: At) -> bool {
        match bits.rules.directions {
            Directions::Eight => sees(bits, corner, goal),
            Directions::Four => Self::leads(bits, corner.at(), goal),
        }
    }

    /// The same from any cell, on any ground.
    pub(crate) fn leads(bits: &Bits, at: At, goal: At) -> bool {
        match bits.rules.directions {
            Directions::Eight => leads(bits, at, goal),
            Directions::Four => {
                is_clear(&bits.columns, at.x, at.y, goal.y) && is_clear(&bits.rows, goal.y, at.x, goal.x)
            }
        }
    }

    /// What it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.corners.bytes() + size_of_val(&*self.nodes) + size_of_val(&*self.jumps)
    }
}

/// Writes jumps down.
struct Leaps<'a> {
    corners: &'a Corners,
    jumps: &'a mut Vec<Leap>,
    /// The first and the last column and row that were looked at.
    first: At,
    last: At,
}

impl Scout for Leaps<'_> {
    fn land(&mut self, landing: Landing) {
        // Every landing that is no goal is a corner.
        if let Some(corner) = self.corners.number(landing.at) {
            self.jumps.push(Leap::new(corner, landing.entered));
        }
    }

    fn reach(&mut self, at: At) {
        self.first = At { x: self.first.x.min(at.x), y: self.first.y.min(at.y) };
        self.last = At { x: self.last.x.max(at.x), y: self.last.y.max(at.y) };
    }
}

#[cfg(test)]
impl Graph {
    /// Whether it has the same corners and jumps, and looked at the same chunks for them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.corners.list == other.corners.list && self.jumps == other.jumps && self.nodes == other.nodes
    }
}
