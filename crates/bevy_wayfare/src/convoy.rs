//! Units that were ordered to the same goal, or the nearest of the same goals, in the same run of the schedule: from wishes in
//! the world's coordinates to points to walk along. Knows nothing of queues; [`wayfare::Convoy`] finds the paths.

use std::sync::Arc;

use bevy::math::Vec2;
use wayfare::{Convoy, Field, Layout, PathQuery, Progress, Scratch, Snapshot};

use crate::event::FailureReason;
use crate::plan::{Asked, GoalCells, Planned, Wish};

/// So many are looked up before others get the thread.
const LOOKED_UP_AT_ONCE: usize = 256;

/// Looking one up takes as long as closing so many nodes.
const LOOK: u64 = 2;

/// How start and goals of a wish are found; tests put something else in its place.
pub(crate) type LookUp = fn(&Wish, &Snapshot, &Layout, Option<&GoalCells>) -> Result<Asked, FailureReason>;

/// Paths for all of them, under way.
#[derive(Debug)]
pub(crate) struct ConvoyPlan {
    snapshot: Arc<Snapshot>,
    layout: Layout,
    look_up: LookUp,
    /// Where all of them go, once one has been looked up.
    goals: Option<GoalCells>,
    field: Option<Box<Field>>,
    stage: Stage,
    /// Work besides that of the searches, counted in nodes closed.
    work: u64,
}

#[derive(Debug)]
enum Stage {
    /// So many have been looked up, and these are to be searched for: the number of each, and what is asked.
    LookingUp(usize, Vec<usize>, Vec<PathQuery>, Box<Scratch>),
    /// Who is searched for.
    Searching(Vec<usize>, Box<Convoy>),
}

/// What was found for the one with this number.
pub(crate) type Found = (usize, Result<Planned, FailureReason>);

impl ConvoyPlan {
    /// Nothing has been looked at yet. A field to the same goals may be there from others.
    pub(crate) fn new(
        snapshot: Arc<Snapshot>,
        layout: Layout,
        look_up: LookUp,
        field: Option<Box<Field>>,
        scratch: Scratch,
    ) -> Self {
        let stage = Stage::LookingUp(0, Vec::new(), Vec::new(), Box::new(scratch));
        Self { snapshot, layout, look_up, goals: None, field, stage, work: 0 }
    }

    /// Closes up to so many nodes, about. What is found is added to `found`; `buffer` gives memory for points.
    pub(crate) fn run(
        &mut self,
        nodes: u32,
        wishes: &[Wish],
        mut buffer: impl FnMut() -> Vec<Vec2>,
        found: &mut Vec<Found>,
    ) -> Progress {
        let end = self.nodes() + u64::from(nodes);
        while self.nodes() < end {
            let left = u32::try_from(end - self.nodes()).unwrap_or(u32::MAX);
            match &mut self.stage {
                Stage::LookingUp(next, ..) if *next == wishes.len() => self.set_out(),
                Stage::LookingUp(..) => self.look_up(wishes, found),
                Stage::Searching(numbers, convoy) => {
                    let mut answers = Vec::new();
                    let progress = convoy.run(left, &mut answers);
                    for (number, answer) in answers {
                        let number = numbers[number];
                        let (snapshot, layout) = (&self.snapshot, &self.layout);
                        let planned =
                            wishes[number].planned(snapshot, layout, answer, &mut buffer, |route| {
                                convoy.recycle(route);
                            });
                        found.push((number, planned));
                    }
                    if progress == Progress::Done {
                        return Progress::Done;
                    }
                }
            }
        }
        Progress::Running
    }

    /// How many nodes have been closed, about.
    pub(crate) fn nodes(&self) -> u64 {
        match &self.stage {
            Stage::LookingUp(..) => self.work,
            Stage::Searching(_, convoy) => self.work + convoy.effort(),
        }
    }

    /// Ends it, done or not: the scratch, and the field for those who come later.
    pub(crate) fn finish(self) -> (Scratch, Option<Box<Field>>) {
        match self.stage {
            Stage::LookingUp(.., scratch) => (*scratch, self.field),
            Stage::Searching(_, convoy) => convoy.finish(),
        }
    }

    /// Finds out what some of them ask in cells of the map.
    fn look_up(&mut self, wishes: &[Wish], found: &mut Vec<Found>) {
        let Stage::LookingUp(next, numbers, queries, _) = &mut self.stage else { return };
        let end = wishes.len().min(*next + LOOKED_UP_AT_ONCE);
        for (number, wish) in wishes.iter().enumerate().take(end).skip(*next) {
            match (self.look_up)(wish, &self.snapshot, &self.layout, self.goals.as_ref()) {
                Ok(Asked { start, goals }) => {
                    numbers.push(number);
                    queries.push(wish.options.0.from_to(start, start));
                    self.goals = Some(goals);
                }
                Err(reason) => found.push((number, Err(reason))),
            }
            self.work += LOOK;
        }
        *next = end;
    }

    /// Everybody has been looked up.
    fn set_out(&mut self) {
        let Stage::LookingUp(_, numbers, queries, scratch) = &mut self.stage else { return };
        let (numbers, queries) = (core::mem::take(numbers), core::mem::take(queries));
        let (snapshot, scratch) = (Arc::clone(&self.snapshot), core::mem::take(&mut **scratch));
        // Without one that was looked up there is nobody to search for.
        let goals = match self.goals.take() {
            Some(GoalCells::One(goal)) => [goal].into(),
            Some(GoalCells::Nearest(goals)) => goals,
            None => [].into(),
        };
        let convoy = Convoy::to_nearest(snapshot, queries, goals, scratch);
        let convoy = match self.field.take() {
            Some(field) => convoy.with_field(field),
            None => convoy,
        };
        self.stage = Stage::Searching(numbers, Box::new(convoy));
    }
}
