//! One query on its way to an answer: which engine searches, and what its outcome means.
//!
//! In this order: the question is checked, the islands say which goals can be reached at all, a straight line is
//! tried if that leaves one, an engine searches, and the path gets the shape that was asked for.

mod answer;

use crate::cell::Cell;
use crate::cost::Cost;
use crate::query::{Fallback, Gear, Heuristic, Objective, PathQuery, StopWhen, StraightLine, Weight};
use crate::record::{Effort, Recorder};
use crate::route::{Answer, QueryError, Route, Shortfall};
use crate::search::astar::{AStar, Backwards, Cells, Goal, Headings, Limits, Outcome, Space, trace_back};
use crate::search::bends::Bends;
use crate::search::estimate::Estimate;
use crate::search::goals::{NOWHERE, OneCell, Target};
use crate::search::jump::JumpSearch;
use crate::search::jump::bare::Bare;
use crate::search::jump::surveyed::Surveyed;
use crate::search::line::Lines;
use crate::search::rivals::{FEW, Rivals};
use crate::search::scratch::Scratch;
use crate::search::uneven::{self, Uneven};
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
    /// If the goals are searched for one by one.
    rivals: Option<Rivals>,
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

/// What becomes of a search at the end of a slice.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
enum Stopped {
    Answered(Answer),
    Paused(Engine),
}

impl Job {
    pub(crate) const fn new(query: PathQuery) -> Self {
        Self { query, engine: None, target: query.goal, shortfall: None, rivals: None }
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
        loop {
            let look_at = self.rivals.as_ref().map_or(u64::MAX, |rivals| rivals.look_at);
            let limits = Limits { slice_end: slice_end.min(look_at), budget: self.query.budget };
            let stopped = self.advance(engine, snapshot, limits, scratch, recorder);
            let Some(rivals) = &mut self.rivals else {
                return match stopped {
                    Stopped::Answered(answer) => Some(Ok(answer)),
                    Stopped::Paused(engine) => {
                        self.engine = Some(engine);
                        None
                    }
                };
            };
            engine = match stopped {
                Stopped::Paused(engine) if scratch.effort.closed < look_at => {
                    self.engine = Some(engine);
                    return None;
                }
                Stopped::Paused(engine) if rivals.go_on(scratch) => engine,
                stopped => {
                    if let Stopped::Answered(answer) = stopped {
                        rivals.add(answer, scratch);
                    }
                    match self.begin_next(snapshot, scratch, recorder) {
                        Begun::Searching(engine) => engine,
                        Begun::Answered(answer) => return Some(Ok(answer)),
                    }
                }
            };
        }
    }

    /// Searches until there is an answer or a limit is reached.
    fn advance<R: Recorder + ?Sized>(
        &mut self,
        mut engine: Engine,
        snapshot: &Snapshot,
        limits: Limits,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Stopped {
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
                (engine, Outcome::Running, _) => return Stopped::Paused(engine),
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
                    return Stopped::Answered(self.conclude_jumps(snapshot, &search, outcome, scratch));
                }
                (Engine::Graph(search), ..) => {
                    return Stopped::Answered(self.conclude_jumps(snapshot, &search, outcome, scratch));
                }
                (Engine::Cells(search), ..) => {
                    let space = Cells(&snapshot.ground);
                    let trace =
                        |node, scratch: &mut _, cells: &mut _| trace_back(&space, node, scratch, cells);
                    let nearest = search.nearest().map(|node| (node, space.cell_of(node)));
                    return Stopped::Answered(self.conclude(snapshot, outcome, nearest, trace, scratch));
                }
                (Engine::Headings(search), ..) => {
                    let space = self.headings(snapshot);
                    let trace =
                        |node, scratch: &mut _, cells: &mut _| trace_back(&space, node, scratch, cells);
                    let nearest = search.nearest().map(|node| (node, space.cell_of(node)));
                    return Stopped::Answered(self.conclude(snapshot, outcome, nearest, trace, scratch));
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
                    return Stopped::Answered(self.conclude(snapshot, outcome, nearest, trace, scratch));
                }
                (Engine::ToGo(_, cheapest, _) | Engine::Bends(_, cheapest), ..) => {
                    return Stopped::Answered(self.conclude_bends(snapshot, outcome, cheapest, scratch));
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
            goals if goals.len() <= FEW && self.is_jumping(snapshot) && !recorder.watching() => {
                self.rivals = Some(Rivals::new(snapshot, start, scratch));
                return Ok(self.begin_next(snapshot, scratch, recorder));
            }
            _ => {
                let engine = self.begin_search(snapshot, start_index, Target::AnyGoal, scratch, recorder);
                return Ok(Begun::Searching(engine));
            }
        };
        Ok(self.set_out(snapshot, start_index, scratch, recorder))
    }

    /// The next of several goals.
    fn begin_next<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Begun {
        let start = self.query.start;
        let start_index = snapshot.ground.map.index_inside(start);
        while let Some(rivals) = &mut self.rivals {
            if rivals.are_many(snapshot, scratch) {
                self.rivals = None;
                let engine = self.begin_search(snapshot, start_index, Target::AnyGoal, scratch, recorder);
                return Begun::Searching(engine);
            }
            let Some(goal) = rivals.next(scratch) else { break };
            self.target = goal;
            match (self.set_out(snapshot, start_index, scratch, recorder), &mut self.rivals) {
                (Begun::Answered(answer), Some(rivals)) => rivals.add(answer, scratch),
                (begun, _) => return begun,
            }
        }
        Begun::Answered(match self.rivals.take().and_then(Rivals::finish) {
            Some(route) => self.deliver(self.shaped(snapshot, route, scratch)),
            // The islands promised a path to each.
            None => Answer::Unreachable { nearest: start },
        })
    }

    /// Sets out for the target: by a straight line, if that will do.
    fn set_out<R: Recorder + ?Sized>(
        &mut self,
        snapshot: &Snapshot,
        start_index: u32,
        scratch: &mut Scratch,
        recorder: &mut R,
    ) -> Begun {
        let start = self.query.start;
        let mut cells = scratch.take_cells();
        if start == self.target {
            cells.push(start);
            return Begun::Answered(self.deliver(Route { cells, cost: 0 }));
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
            return Begun::Answered(self.deliver(self.shaped(snapshot, route, scratch)));
        }
        scratch.recycle(route);
        let index = snapshot.ground.map.index_inside(self.target);
        let target = Target::One(OneCell { cell: self.target, index });
        Begun::Searching(self.begin_search(snapshot, start_index, target, scratch, recorder))
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

    /// Whether a search jumps, to whatever end: then one for each goal takes less than one for all.
    fn is_jumping(&self, snapshot: &Snapshot) -> bool {
        // What is left in the scratch when a budget is spent is known of one goal only.
        self.is_plain() && snapshot.jumps().is_some() && self.query.budget == u64::MAX
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
