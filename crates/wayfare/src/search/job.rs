//! One query on its way to an answer: which engine searches, and what its outcome means.
//!
//! In this order: the question is checked, the islands say which goals can be reached at all, a straight line is
//! tried if that leaves one, an engine searches, and the path gets the shape that was asked for.

use crate::cell::Cell;
use crate::cost::Cost;
use crate::query::{
    Fallback, Gear, Heuristic, Objective, PathQuery, RouteShape, StopWhen, StraightLine, Weight,
};
use crate::record::{Effort, Recorder};
use crate::route::{Answer, QueryError, Route, Shortfall};
use crate::search::astar::{AStar, Backwards, Cells, Goal, Headings, Limits, Outcome, Space, trace_back};
use crate::search::bends::Bends;
use crate::search::estimate::Estimate;
use crate::search::goals::{NOWHERE, OneCell, Target};
use crate::search::jump::bare::Bare;
use crate::search::jump::surveyed::Surveyed;
use crate::search::jump::{JumpSearch, Ways};
use crate::search::line::Lines;
use crate::search::scratch::Scratch;
use crate::search::uneven::{self, Uneven};
use crate::smooth;
use crate::snapshot::Snapshot;

/// The state of a search, without what it reads and writes.
pub(crate) struct Job {
    pub(crate) query: PathQuery,
    /// `None` before the query has been looked at.
    engine: Option<Engine>,
    /// Where the path will really end, and why if that is not a goal. Of several goals it is not known before a
    /// search has reached one.
    target: Cell,
    shortfall: Option<Shortfall>,
}

/// A landing takes about as long as so many cells, so that slices take about as long with every engine.
const LANDING: u64 = 8;

/// What is searching.
enum Engine {
    Jump(JumpSearch<Bare>),
    Graph(JumpSearch<Surveyed>),
    Cells(AStar),
    Headings(AStar),
    /// The plain question on uneven ground.
    Uneven(Uneven),
    /// The cheapest route is known; now for what it costs to the goal from wherever a route within the limit goes.
    ToGo(AStar, Route, Cost),
    /// Now for the route with the fewest bends.
    Bends(Bends, Route),
}

/// What becomes of a query that has been looked at.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
enum Begun {
    Answered(Answer),
    Searching(Engine),
}

impl Job {
    pub(crate) const fn new(query: PathQuery) -> Self {
        Self { query, engine: None, target: query.goal, shortfall: None }
    }

    /// Whether the query has been looked at, and not been answered yet.
    pub(crate) const fn has_begun(&self) -> bool {
        self.engine.is_some()
    }

    /// Closes up to `max_nodes` nodes, and returns the answer once it is known. Not to be called after that. The
    /// `goals` take the place of the query's own.
    pub(crate) fn run<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        goals: &[Cell],
        max_nodes: u64,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Option<Result<Answer, QueryError>> {
        // Taken out while it runs: if the recorder panics, the next run begins anew instead of with half a step.
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => match self.begin(snapshot, goals, scratch, recorder) {
                Ok(Begun::Searching(engine)) => engine,
                Ok(Begun::Answered(answer)) => return Some(Ok(answer)),
                Err(error) => return Some(Err(error)),
            },
        };
        let max_nodes = match engine {
            Engine::Jump(_) | Engine::Graph(_) => max_nodes.div_ceil(LANDING),
            _ => max_nodes,
        };
        let slice_end = scratch.effort.closed.saturating_add(max_nodes);
        let limits = Limits { slice_end, budget: self.query.budget };
        loop {
            let outcome = match &mut engine {
                Engine::Jump(search) => search.run(&snapshot.ground, limits, scratch),
                Engine::Graph(search) => search.run(&snapshot.ground, limits, scratch),
                Engine::Cells(search) => search.run(&Cells(&snapshot.ground), limits, scratch, recorder),
                Engine::Headings(search) => search.run(&self.headings(snapshot), limits, scratch, recorder),
                Engine::Uneven(search) => search.run(snapshot, limits, scratch, recorder),
                Engine::ToGo(search, ..) => {
                    search.run(&Backwards(&snapshot.ground), limits, scratch, recorder)
                }
                Engine::Bends(search, _) => search.run(&snapshot.ground, limits, scratch, recorder),
            };
            engine = match (engine, outcome, self.query.objective) {
                (engine, Outcome::Running, _) => {
                    self.engine = Some(engine);
                    return None;
                }
                (Engine::Cells(_), Outcome::Reached(node), Objective::FewestBends { within_percent }) => {
                    self.begin_to_go(snapshot, node, within_percent, scratch, recorder)
                }
                (Engine::ToGo(_, cheapest, limit), Outcome::Exhausted, _) => {
                    core::mem::swap(&mut scratch.nodes, &mut scratch.to_go);
                    let start = snapshot.ground.map.index_inside(self.query.start);
                    let goal = snapshot.ground.map.index_inside(self.target);
                    let bends = Bends::new(&snapshot.ground, start, goal, limit, scratch, recorder);
                    Engine::Bends(bends, cheapest)
                }
                (Engine::Jump(search), ..) => {
                    return Some(Ok(self.conclude_jumps(snapshot, &search, outcome, scratch)));
                }
                (Engine::Graph(search), ..) => {
                    return Some(Ok(self.conclude_jumps(snapshot, &search, outcome, scratch)));
                }
                (Engine::Cells(search), ..) => {
                    let space = Cells(&snapshot.ground);
                    let trace =
                        |node, scratch: &mut _, cells: &mut _| trace_back(&space, node, scratch, cells);
                    let nearest = search.nearest().map(|node| (node, space.cell_of(node)));
                    return Some(Ok(self.conclude(snapshot, outcome, nearest, trace, scratch)));
                }
                (Engine::Headings(search), ..) => {
                    let space = self.headings(snapshot);
                    let trace =
                        |node, scratch: &mut _, cells: &mut _| trace_back(&space, node, scratch, cells);
                    let nearest = search.nearest().map(|node| (node, space.cell_of(node)));
                    return Some(Ok(self.conclude(snapshot, outcome, nearest, trace, scratch)));
                }
                (Engine::Uneven(_), Outcome::Exhausted, _) => {
                    let index = |cell: Cell| snapshot.ground.map.index_inside(cell);
                    let (start, index) = (index(self.query.start), index(self.target));
                    let target = Target::One(OneCell { cell: self.target, index });
                    self.begin_general(snapshot, start, target, scratch, recorder)
                }
                (Engine::Uneven(search), ..) => {
                    let ground = &snapshot.ground;
                    let trace = |node, scratch: &mut _, cells: &mut _| {
                        uneven::trace_back(ground, node, scratch, cells)
                    };
                    let nearest = search.nearest().map(|node| (node, ground.map.cell_at(node)));
                    return Some(Ok(self.conclude(snapshot, outcome, nearest, trace, scratch)));
                }
                (Engine::ToGo(_, cheapest, _) | Engine::Bends(_, cheapest), ..) => {
                    return Some(Ok(self.conclude_bends(snapshot, outcome, cheapest, scratch)));
                }
            };
        }
    }

    /// Answers at once if no search is needed; otherwise starts one.
    fn begin<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        goals: &[Cell],
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Result<Begun, QueryError> {
        scratch.effort = Effort::default();
        let start = self.query.start;
        let start_index = snapshot.ground.map.index(start).ok_or(QueryError::StartOutside(start))?;
        let any_reachable = scratch.goals.collect(snapshot, snapshot.island(start).as_slice(), goals)?;
        if !snapshot.is_open(start) {
            return Err(QueryError::StartBlocked(start));
        }
        self.target = match scratch.goals.cells() {
            goals if !any_reachable => {
                // The start is open, so at the very least it reaches itself.
                let nearest = snapshot.nearest_reachable_of(start, goals).unwrap_or(start);
                if self.query.fallback == Fallback::Fail {
                    return Ok(Begun::Answered(Answer::Unreachable { nearest }));
                }
                self.shortfall = Some(Shortfall::Unreachable);
                nearest
            }
            [only] => *only,
            _ if scratch.goals.contains(start_index) => start,
            _ => {
                let engine = self.begin_search(snapshot, start_index, Target::AnyGoal, scratch, recorder);
                return Ok(Begun::Searching(engine));
            }
        };
        let mut cells = scratch.take_cells();
        if start == self.target {
            cells.push(start);
            return Ok(Begun::Answered(self.deliver(Route { cells, cost: 0 })));
        }
        let policy = match (self.query.straight_line, self.query.objective) {
            // A line over even ground may be dearer than the limit on the cost.
            (StraightLine::IfUniform, Objective::FewestBends { .. }) => StraightLine::IfOptimal,
            (policy, _) => policy,
        };
        let lines = Lines::on(snapshot);
        let straight = lines.straight_path(start, self.target, policy, &mut cells);
        let route = Route { cells, cost: straight.unwrap_or(0) };
        // A line that bends on the grid may not be the best one where bends count.
        if straight.is_some() && (self.query.objective == Objective::Cheapest || route.bends() == 0) {
            return Ok(Begun::Answered(self.deliver(self.shaped(snapshot, route, scratch))));
        }
        scratch.recycle(route);
        let index = snapshot.ground.map.index_inside(self.target);
        let target = Target::One(OneCell { cell: self.target, index });
        Ok(Begun::Searching(self.begin_search(snapshot, start_index, target, scratch, recorder)))
    }

    fn begin_search<R: Recorder + ?Sized>(
        &self,
        snapshot: &Snapshot,
        start: u32,
        target: Target,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Engine {
        // Whoever watches wants to see the open list as the articles have it.
        if let Target::One(goal) = target
            && self.is_plain()
            && !recorder.watching()
            && let Some(engine) = self.begin_plain(snapshot, start, goal, scratch)
        {
            return engine;
        }
        self.begin_general(snapshot, start, target, scratch, recorder)
    }

    /// Whether an engine may answer that is made for the plainest question.
    fn is_plain(&self) -> bool {
        let PathQuery { heuristic, weight, stop, objective, gear, .. } = self.query;
        gear > Gear::Cells
            && (heuristic, weight) == (Heuristic::Auto, Weight::ONE)
            && (stop, objective) == (StopWhen::GoalClosed, Objective::Cheapest)
    }

    /// The best engine for this ground, if there is one besides the general one.
    fn begin_plain(
        &self,
        snapshot: &Snapshot,
        start: u32,
        goal: OneCell,
        scratch: &mut Scratch,
    ) -> Option<Engine> {
        let ground = &snapshot.ground;
        let is_known = self.query.gear >= Gear::Graph;
        let Some((bits, costs)) = snapshot.jumps() else {
            return Uneven::new(snapshot, (start, goal.index), is_known, scratch).map(Engine::Uneven);
        };
        let (start, goal) = (ground.map.cell_at(start), goal.cell);
        let known = snapshot.known.as_ref().filter(|_| is_known);
        let knows_all = self.query.gear >= Gear::Full;
        Some(match known.and_then(|known| Surveyed::new(known, &ground.map, knows_all)) {
            Some(ways) => Engine::Graph(JumpSearch::new(ways, bits, costs, start, goal, scratch)),
            None => Engine::Jump(JumpSearch::new(Bare, bits, costs, start, goal, scratch)),
        })
    }

    fn begin_general<R: Recorder + ?Sized>(
        &self,
        snapshot: &Snapshot,
        start: u32,
        target: Target,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Engine {
        let ground = &snapshot.ground;
        let PathQuery { heuristic, weight, stop, .. } = self.query;
        let goal = Goal { target, stop, limit: Cost::MAX };
        let estimate = Estimate::new(ground, heuristic, weight);
        match self.query.objective {
            Objective::Cheapest => {
                Engine::Cells(AStar::new(&Cells(ground), start, estimate, goal, scratch, recorder))
            }
            Objective::TurnCost(_) => {
                let space = self.headings(snapshot);
                Engine::Headings(AStar::new(&space, start, estimate, goal, scratch, recorder))
            }
            Objective::FewestBends { .. } => {
                let exact = Estimate::new(ground, Heuristic::Auto, Weight::ONE);
                let goal = Goal { stop: StopWhen::GoalClosed, ..goal };
                Engine::Cells(AStar::new(&Cells(ground), start, exact, goal, scratch, recorder))
            }
        }
    }

    fn headings<'a>(&self, snapshot: &'a Snapshot) -> Headings<'a> {
        Headings { ground: &snapshot.ground, turn_cost: self.query.objective.turn_cost() }
    }

    /// The cheapest path is known, and with it which goal it is and how much a path of fewer bends may cost.
    fn begin_to_go<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        node: u32,
        within_percent: u16,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Engine {
        let ground = &snapshot.ground;
        let mut cells = scratch.take_cells();
        let cost = trace_back(&Cells(ground), node, scratch, &mut cells);
        let limit = limit_within(cost, within_percent);
        self.target = ground.map.cell_at(node);
        let estimate = Estimate::new(ground, Heuristic::Auto, Weight::ONE);
        let target = Target::One(OneCell { cell: self.query.start, index: NOWHERE });
        let goal = Goal { target, stop: StopWhen::GoalClosed, limit };
        let search = AStar::new(&Backwards(ground), node, estimate, goal, scratch, recorder);
        Engine::ToGo(search, Route { cells, cost }, limit)
    }

    fn conclude_jumps<W: Ways>(
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
    fn conclude(
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

    fn conclude_bends(
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

    fn deliver(&self, route: Route) -> Answer {
        match self.shortfall {
            None => Answer::Found(route),
            Some(because) => Answer::Partial { route, because },
        }
    }

    /// Lists of the cells of a route those the query asked for.
    fn shaped(&self, snapshot: &Snapshot, mut route: Route, scratch: &mut Scratch) -> Route {
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

/// The cost of a path that is so many per cent dearer. Without turns a path costs less than 2^52, so that neither
/// part of the sum reaches 2^62.
const fn limit_within(cost: Cost, percent: u16) -> Cost {
    cost + cost / 100 * percent as Cost + cost % 100 * percent as Cost / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_exact_and_cannot_overflow() {
        for cost in [0, 1, 99, 1393, (1 << 52) - 1] {
            for percent in [0, 1, 7, 100, u16::MAX] {
                let exact = u128::from(cost) * (100 + u128::from(percent)) / 100;
                assert_eq!(u128::from(limit_within(cost, percent)), exact, "{cost} and {percent} %");
            }
        }
    }
}
