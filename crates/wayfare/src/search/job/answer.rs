//! What the end of a search means: an outcome comes in, an [`Answer`] with a route of the shape that was asked for goes out.

use crate::cell::Cell;
use crate::cost::Cost;
use crate::query::{Fallback, RouteShape};
use crate::route::{Answer, Route, Shortfall};
use crate::search::astar::Outcome;
use crate::search::bends::Bends;
use crate::search::job::Job;
use crate::search::jump::{JumpSearch, Ways};
use crate::search::line::Lines;
use crate::search::scratch::Scratch;
use crate::smooth;
use crate::snapshot::Snapshot;

impl Job {
    pub(super) fn conclude_jumps<W: Ways>(
        &self,
        snapshot: &Snapshot,
        search: &JumpSearch<W>,
        outcome: Outcome,
        scratch: &mut Scratch,
    ) -> Answer {
        let trace = |node, scratch: &mut Scratch, cells: &mut Vec<Cell>| {
            search.trace_back(node, self.query.shape, scratch, cells)
        };
        let nearest = search.nearest().map(|node| (node, search.cell_of(node)));
        self.conclude(snapshot, outcome, nearest, trace, scratch)
    }

    /// What the outcome means. `nearest` is a node with its cell, and `trace` fills a buffer with the path to a node and
    /// returns its cost.
    pub(super) fn conclude(
        &self,
        snapshot: &Snapshot,
        outcome: Outcome,
        nearest: Option<(u32, Cell)>,
        trace: impl Fn(u32, &mut Scratch, &mut Vec<Cell>) -> Cost,
        scratch: &mut Scratch,
    ) -> Answer {
        let traced = |node: u32, scratch: &mut Scratch| {
            let mut cells = scratch.take_cells();
            let cost = trace(node, scratch, &mut cells);
            self.shaped(snapshot, Route { cells, cost }, scratch)
        };
        match (outcome, nearest) {
            (Outcome::Reached(node), _) => {
                let route = traced(node, scratch);
                self.deliver(route)
            }
            (Outcome::OutOfBudget, Some((node, _))) if self.query.fallback == Fallback::Nearest => {
                Answer::Partial { route: traced(node, scratch), because: Shortfall::OutOfBudget }
            }
            (Outcome::OutOfBudget, None) if self.query.fallback == Fallback::Nearest => {
                // Nothing was settled: the unit stays where it is.
                let mut cells = scratch.take_cells();
                cells.push(self.query.start);
                Answer::Partial { route: Route { cells, cost: 0 }, because: Shortfall::OutOfBudget }
            }
            (Outcome::OutOfBudget, nearest) => {
                Answer::OutOfBudget { nearest: nearest.map_or(self.query.start, |(_, cell)| cell) }
            }
            // The islands promised a path, so the open list cannot run dry before the goal.
            (Outcome::Running | Outcome::Exhausted, _) => Answer::Unreachable { nearest: self.query.start },
        }
    }

    pub(super) fn conclude_bends(
        &self,
        snapshot: &Snapshot,
        outcome: Outcome,
        cheapest: Route,
        scratch: &mut Scratch,
    ) -> Answer {
        match outcome {
            Outcome::Reached(label) => {
                let mut cells = cheapest.cells;
                let cost = Bends::trace_back(&snapshot.ground, label, scratch, &mut cells);
                let route = self.shaped(snapshot, Route { cells, cost }, scratch);
                self.deliver(route)
            }
            _ if self.query.fallback == Fallback::Nearest => {
                let route = self.shaped(snapshot, cheapest, scratch);
                Answer::Partial { route, because: Shortfall::OutOfBudget }
            }
            _ => {
                scratch.recycle(cheapest);
                Answer::OutOfBudget { nearest: self.target }
            }
        }
    }

    pub(super) fn deliver(&self, route: Route) -> Answer {
        match self.shortfall {
            None => Answer::Found(route),
            Some(because) => Answer::Partial { route, because },
        }
    }

    /// Lists of the cells of a route those the query asked for. Of several routes only the cheapest is worth that, and which one
    /// that is must not depend on it.
    pub(super) fn shaped(&self, snapshot: &Snapshot, mut route: Route, scratch: &mut Scratch) -> Route {
        if self.rivals.is_some() {
            return route;
        }
        match self.query.shape {
            RouteShape::Cells => {}
            RouteShape::Corners => smooth::keep_corners(&mut route.cells),
            RouteShape::Pulled => {
                let turn_cost = self.query.objective.turn_cost();
                smooth::pull(Lines::on(snapshot), &mut route, turn_cost, scratch);
            }
        }
        route
    }
}
