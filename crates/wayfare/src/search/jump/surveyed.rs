//! Jumps over ground that was surveyed: from corner to corner along what the graph has noted down.
//!
//! The start scans for its own jumps. The goal needs none: a search comes to it from a corner that sees it. Where the map
//! has changed since the survey, corners scan as well, and cells that have become corners are nodes beyond those of the
//! graph.

use std::sync::Arc;

use crate::bits::{At, Bits};
use crate::cell::Direction;
use crate::cost::Cost;
use crate::map::Map;
use crate::search::jump::scan::{Landing, Scan};
use crate::search::jump::{Length, Origin, Ways, least_cost};
use crate::survey::changes::Changes;
use crate::survey::deadend::{DeadEnds, Marks};
use crate::survey::graph::Graph;
use crate::survey::known::Known;
use crate::survey::landmark::{Distances, Landmarks};
use crate::survey::{Bearings, Findings};

/// See the [module](self).
pub(crate) struct Surveyed {
    findings: Arc<Findings>,
    /// Rays, if nothing has changed since, and landmarks, if no way has become shorter.
    bearings: Option<Arc<Bearings>>,
    /// What they were found on, if these are not the findings.
    older: Option<Arc<Findings>>,
    /// Nodes with lower numbers are corners whose distances from landmarks are noted down.
    led: u32,
    changes: Option<Arc<Changes>>,
    map: Map,
    /// Whether dead ends may be used, and whether they are by now.
    knows_dead_ends: bool,
    shuns_dead_ends: bool,
    /// How far the goal is from the landmarks, on the ground they were found on.
    goal: Option<Distances>,
}

impl Surveyed {
    /// `None` if the map has more cells than can be numbered beside the corners.
    pub(crate) fn new(known: &Known, map: &Map, knows_all: bool) -> Option<Self> {
        let cells = map.chunks().len() * crate::map::CHUNK_CELLS;
        let is_same = known.changes.is_none();
        (cells + known.findings.graph.corners.list.len() < 1 << 28).then(|| Self {
            findings: Arc::clone(&known.findings),
            bearings: known.bearings.clone().filter(|_| knows_all && known.leads),
            older: known.older.clone(),
            led: if known.older.is_none() { number_of_corners(&known.findings) } else { 0 },
            changes: known.changes.clone(),
            map: map.clone(),
            knows_dead_ends: knows_all && is_same,
            shuns_dead_ends: false,
            goal: None,
        })
    }

    /// Nodes with lower numbers are corners of the graph.
    #[inline]
    fn corners(&self) -> u32 {
        number_of_corners(&self.findings)
    }

    /// How far a cell is from the landmarks, on the ground they were found on: it was free there, too.
    fn distances_of(&self, scan: &Scan<'_>, landmarks: &Landmarks, at: At) -> Distances {
        let Findings { bits, graph, .. } = &**self.older.as_ref().unwrap_or(&self.findings);
        let rays = self.bearings.as_ref().and_then(|bearings| bearings.rays.as_ref());
        landmarks.distances_of(&Scan { bits, rays, ..*scan }, &graph.corners, at)
    }

    /// The least it costs from a cell of which no distances are noted down under its own number.
    #[cold]
    fn at_least_from(&self, scan: &Scan<'_>, landmarks: &Landmarks, at: At, goal: &Distances) -> Cost {
        if at == scan.goal || (self.older.is_none() && self.changes.is_none()) {
            return 0;
        }
        match self.older.as_ref().and_then(|older| older.graph.corners.number(at)) {
            Some(corner) => landmarks.at_least(corner, goal).into(),
            // A corner that was none: were less known about it than about the others, one could be closed too early.
            None => Landmarks::apart(&self.distances_of(scan, landmarks, at), goal).into(),
        }
    }
}

#[inline]
fn number_of_corners(findings: &Findings) -> u32 {
    u32::try_from(findings.graph.corners.list.len()).unwrap_or(u32::MAX)
}

impl Ways for Surveyed {
    fn node_count(&self, _: &Bits) -> usize {
        self.findings.graph.corners.list.len() + self.map.chunks().len() * crate::map::CHUNK_CELLS
    }

    /// Cells that are no corners have numbers beyond them.
    #[inline]
    fn node(&self, at: At) -> u32 {
        let corner = self.findings.graph.corners.number(at);
        corner.unwrap_or_else(|| self.corners() + self.map.index_inside(at.cell()))
    }

    #[inline]
    fn at(&self, node: u32) -> At {
        match self.findings.graph.corners.list.get(node as usize) {
            Some(corner) => corner.at(),
            None => At::new(self.map.cell_at(node - self.corners())),
        }
    }

    /// Landmarks lead a long search. Where there are none, and where they do not lead it to its end before long, it shuns dead
    /// ends.
    fn aim(&mut self, length: Length, scan: &Scan<'_>, start: At, marks: &mut Marks) -> bool {
        if let (Length::Long, Some(Bearings { landmarks: Some(landmarks), .. })) =
            (length, self.bearings.as_deref())
        {
            self.goal = Some(self.distances_of(scan, landmarks, scan.goal));
            return true;
        }
        let is_news = self.knows_dead_ends && !self.shuns_dead_ends;
        if is_news {
            self.findings.dead_ends.mark(scan.bits, start, scan.goal, marks);
            self.shuns_dead_ends = true;
        }
        is_news
    }

    #[inline]
    fn is_worth(&self, node: u32, marks: &Marks) -> bool {
        let corner = self.findings.graph.corners.list.get(node as usize).filter(|_| self.shuns_dead_ends);
        corner.is_none_or(|corner| DeadEnds::may_lead_through(marks, corner))
    }

    #[inline]
    fn at_least(&self, scan: &Scan<'_>, node: u32) -> Cost {
        let (Some(goal), Some(Bearings { landmarks: Some(landmarks), .. })) =
            (&self.goal, self.bearings.as_deref())
        else {
            return 0;
        };
        if node < self.led {
            return landmarks.at_least(node, goal).into();
        }
        self.at_least_from(scan, landmarks, self.at(node), goal)
    }

    #[inline]
    fn for_each_jump(&self, scan: &Scan<'_>, from: Origin, mut visit: impl FnMut(u32, Landing)) {
        let graph = &self.findings.graph;
        let corner = graph.corners.list.get(from.node as usize);
        let node = corner.and_then(|corner| corner.node(from.entered));
        let fresh = |node: &u32| self.changes.as_ref().is_none_or(|changes| !graph.is_stale(*node, changes));
        let Some(node) = node.filter(fresh) else {
            let bearings = self.bearings.as_ref().filter(|_| self.changes.is_none() && self.older.is_none());
            let scan = Scan { rays: bearings.and_then(|bearings| bearings.rays.as_ref()), ..*scan };
            scan.jump_along(from.at, from.entered, &mut |landing: Landing| {
                visit(self.node(landing.at), landing);
            });
            return;
        };
        // What a corner knows of its diagonals goes beyond what its jumps have looked at, and may have changed there.
        let sees_goal = match (corner, &self.changes) {
            (Some(corner), None) => Graph::sees(scan.bits, corner, scan.goal),
            (Some(corner), Some(_)) => Graph::leads(scan.bits, corner.at(), scan.goal),
            (None, _) => false,
        };
        if sees_goal {
            let cost = least_cost(scan.bits, scan.costs, from.at, scan.goal);
            // No jump leads on from the goal, so it does not matter how it was entered.
            visit(self.node(scan.goal), Landing { at: scan.goal, entered: Direction::North, cost });
        }
        for leap in graph.jumps_of(node) {
            let at = graph.corners.list[leap.corner() as usize].at();
            let entered = Direction::ALL[usize::from(leap.entered())];
            let cost = least_cost(scan.bits, scan.costs, from.at, at);
            visit(leap.corner(), Landing { at, entered, cost });
        }
    }
}
