//! One search for a group, from wishes in the world's coordinates to points to walk along. Knows nothing of queues.

use core::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

use bevy::prelude::*;
use wayfare::group::{GroupQuery, GroupSearch, GroupWay, Member, Straggler};
use wayfare::{CellShape, Fallback, Formation, Progress, QueryError, Scratch, Shortfall};

use crate::event::FailureReason;
use crate::march::{MarchPlan, Posting};
use crate::path::Reach;
use crate::plan::{Aim, Planned};
use crate::scene::{Kind, Place};

/// What is asked for a group.
#[derive(Clone, Debug)]
pub(crate) struct Muster {
    pub(crate) group: Entity,
    pub(crate) aim: Aim,
    pub(crate) formation: Formation,
    pub(crate) fallback: Fallback,
    pub(crate) escape_cells: u32,
    pub(crate) recruits: Vec<Recruit>,
    /// Places of others.
    pub(crate) taken: Vec<(Vec2, f32)>,
}

/// A unit that is to get a path with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recruit {
    pub(crate) entity: Entity,
    pub(crate) ticket: u64,
    pub(crate) kind: Kind,
    pub(crate) member: Member,
}

/// The search under way.
#[derive(Debug)]
pub(crate) struct MusterPlan {
    muster: Arc<Muster>,
    place: Arc<Place>,
    /// Who is searched for together, by their numbers: one kind each, those whose turn it is first.
    parts: VecDeque<(Kind, Vec<usize>)>,
    search: Option<GroupSearch>,
    scratch: Scratch,
    taken: Vec<(Vec2, f32)>,
    results: Vec<Result<Planned, FailureReason>>,
    /// Nodes closed by searches that are done.
    nodes: u64,
}

impl MusterPlan {
    /// A search that has not looked at anything yet.
    pub(crate) fn new(muster: Arc<Muster>, place: Arc<Place>, scratch: Scratch) -> Self {
        let mut kinds: Vec<Kind> = muster.recruits.iter().map(|recruit| recruit.kind).collect();
        // Of each class those who need the most room choose their places first.
        kinds.sort_unstable_by_key(|kind| (kind.class, Reverse(kind.clearance.offsets().count()), *kind));
        kinds.dedup();
        let of = |kind: Kind| {
            (0..muster.recruits.len()).filter(|number| muster.recruits[*number].kind == kind).collect()
        };
        let parts = kinds.into_iter().map(|kind| (kind, of(kind))).collect();
        let results = muster.recruits.iter().map(|_| Err(FailureReason::Cancelled)).collect();
        let taken = muster.taken.clone();
        Self { muster, place, parts, search: None, scratch, taken, results, nodes: 0 }
    }

    /// Closes up to so many nodes, about.
    pub(crate) fn run(&mut self, nodes: u32) -> Progress {
        let end = self.nodes() + u64::from(nodes);
        while let Some((kind, numbers)) = self.parts.front() {
            match &mut self.search {
                None => match self.begin(*kind) {
                    Ok(query) => {
                        let members: Vec<Member> =
                            numbers.iter().map(|number| self.muster.recruits[*number].member).collect();
                        let (Ok(view), Some(layout)) = (self.place.view(*kind), self.place.layout) else {
                            continue;
                        };
                        let scratch = core::mem::take(&mut self.scratch);
                        self.search =
                            Some(GroupSearch::new(Arc::clone(view), layout, query, &members, scratch));
                    }
                    Err(reason) => {
                        for number in numbers {
                            self.results[*number] = Err(reason);
                        }
                        self.parts.pop_front();
                    }
                },
                Some(search) => {
                    let left = end.saturating_sub(self.nodes + search.effort());
                    if search.run(u32::try_from(left).unwrap_or(u32::MAX)) == Progress::Running {
                        return Progress::Running;
                    }
                    self.conclude();
                }
            }
        }
        Progress::Done
    }

    /// How many nodes have been closed.
    pub(crate) fn nodes(&self) -> u64 {
        self.nodes + self.search.as_ref().map_or(0, GroupSearch::effort)
    }

    pub(crate) fn cancel(self) -> Scratch {
        self.search.map_or(self.scratch, GroupSearch::cancel)
    }

    /// What became of each, in the order of the recruits.
    pub(crate) fn finish(self) -> (Vec<Result<Planned, FailureReason>>, Scratch) {
        (self.results, self.scratch)
    }

    /// What to search for, if it can be asked at all.
    fn begin(&self, kind: Kind) -> Result<GroupQuery, FailureReason> {
        let layout = self.place.layout.ok_or(FailureReason::NoMap)?;
        if layout.shape() == CellShape::Hexagon {
            return Err(FailureReason::HexagonalMap);
        }
        self.place.view(kind)?;
        let Muster { aim, formation, fallback, escape_cells, .. } = *self.muster;
        let goal = match aim {
            Aim::Point(point) => point,
            Aim::Cell(cell) => layout.centre(cell),
        };
        // Whoever is searched for later keeps clear of those before.
        Ok(GroupQuery { goal, formation, fallback, escape_cells, taken: self.taken.clone() })
    }

    /// A part is done.
    fn conclude(&mut self) {
        let (Some(search), Some((kind, numbers))) = (self.search.take(), self.parts.pop_front()) else {
            return;
        };
        let effort = search.effort();
        let (answer, scratch) = search.finish();
        (self.scratch, self.nodes) = (scratch, self.nodes + effort);
        let is_kept = self.muster.formation.is_kept();
        let plan = Arc::new(MarchPlan {
            group: self.muster.group,
            kind,
            goal: answer.goal,
            way: Some(answer.way).filter(|way| is_kept && way.len() > 1),
            turns: self.muster.formation.turns(),
        });
        let reach = match answer.shortfall {
            None => Reach::Goal,
            Some(Shortfall::Unreachable) => Reach::Nearest,
            Some(Shortfall::OutOfBudget) => Reach::BudgetSpent,
        };
        let mut left_over = Vec::new();
        for (number, way) in numbers.iter().copied().zip(answer.ways) {
            let radius = self.muster.recruits[number].member.radius;
            match way {
                Ok(GroupWay { points, cost, slot, offset }) => {
                    self.taken.push((slot.place, radius));
                    let posting = Some(Posting { place: slot.place, offset, plan: Arc::clone(&plan) });
                    self.results[number] = Ok(Planned { points, cost, reach, posting });
                }
                Err(straggler) => {
                    self.results[number] = Err(reason(straggler));
                    if matches!(straggler, Straggler::Unreachable { .. }) {
                        left_over.push(number);
                    }
                }
            }
        }
        // Those on another island go as near as they can together. Each time one island's units less are left.
        if self.muster.fallback == Fallback::Nearest
            && left_over.len() < numbers.len()
            && !left_over.is_empty()
        {
            self.parts.push_front((kind, left_over));
        }
    }
}

fn reason(straggler: Straggler) -> FailureReason {
    match straggler {
        Straggler::BadPosition | Straggler::BadGoal => FailureReason::BadPosition,
        Straggler::Lost(QueryError::StartBlocked(_)) => FailureReason::StartBlocked,
        Straggler::Unreachable { nearest } => FailureReason::Unreachable { nearest: nearest.into() },
        // It or the goal is outside.
        _ => FailureReason::OutOfMap,
    }
}
