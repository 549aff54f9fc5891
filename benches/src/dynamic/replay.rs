//! The stopwatch: in come a contender and a script, out come the time of each batch of edits and of each query, and
//! the judge's verdicts. Times are CPU time of this thread; reading that clock takes a fraction of a microsecond, which
//! stays in everybody's figures.

use std::time::Duration;

use cpu_time::ThreadTime;
use indicatif::ProgressBar;

use super::edit::Edit;
use super::script::Script;
use crate::check::Verdict;
use crate::measure;

/// How often a script is played from its beginning; each batch and each query keeps its best time. A whole script lies
/// between two times that a query is asked, so that nothing of it is left in the cache.
pub(crate) const PASSES: usize = if cfg!(test) { 1 } else { 5 };

/// What has been learnt about a contender on a script so far.
#[derive(Debug)]
pub(crate) struct Replay {
    /// The best time of each batch.
    edits: Vec<Duration>,
    /// The best time of what is done after each batch; empty if nothing is.
    repairs: Vec<Duration>,
    /// The best time of what is done after that.
    refinements: Vec<Duration>,
    /// The best time of each query.
    queries: Vec<Duration>,
    /// The verdict on each query: the first bad one if any pass gave a bad answer.
    pub(crate) verdicts: Vec<Verdict>,
}

impl Replay {
    pub(crate) fn new(script: &Script) -> Self {
        let queries = script.level.queries.len();
        Self {
            edits: vec![Duration::MAX; script.batches()],
            repairs: Vec::new(),
            refinements: Vec::new(),
            queries: vec![Duration::MAX; queries],
            verdicts: (0..queries).map(|_| Verdict::default()).collect(),
        }
    }

    /// Plays the whole script with a contender that is built for it.
    pub(crate) fn pass<C: Edit>(&mut self, script: &Script, bar: &ProgressBar) {
        let level = &script.level;
        bar.set_message(format!("{} {}", level.name, C::NAME));
        // Counting allocations would slow those who allocate in every query.
        allocation_counter::opt_out(|| {
            let mut contender = C::build(level);
            let mut board = level.board.clone();
            let mut cells = Vec::new();
            let mut edited = 0;
            for round in &script.rounds {
                if let Some(batch) = &round.batch {
                    let clock = ThreadTime::now();
                    contender.apply(batch);
                    self.edits[edited] = self.edits[edited].min(clock.elapsed());
                    let clock = ThreadTime::now();
                    if contender.repair() {
                        self.repairs.resize(self.edits.len(), Duration::MAX);
                        self.repairs[edited] = self.repairs[edited].min(clock.elapsed());
                        let clock = ThreadTime::now();
                        contender.refine();
                        self.refinements.resize(self.edits.len(), Duration::MAX);
                        self.refinements[edited] = self.refinements[edited].min(clock.elapsed());
                    }
                    edited += 1;
                    batch.changes.iter().for_each(|&(cell, open)| board.set(cell, open));
                }
                for index in round.queries.clone() {
                    let query = &level.queries[index];
                    let (time, verdict) = measure::ask(&mut contender, &board, query, &mut cells);
                    self.queries[index] = self.queries[index].min(time);
                    if self.verdicts[index].fault.is_none() {
                        self.verdicts[index] = verdict;
                    }
                }
                bar.inc(round.queries.len() as u64);
            }
        });
    }

    /// The best time of each batch, in microseconds.
    pub(crate) fn edit_us(&self) -> Vec<f64> {
        self.edits.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }

    /// The best time of what is done after each batch, in microseconds.
    pub(crate) fn repair_us(&self) -> Vec<f64> {
        self.repairs.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }

    /// The best time of what is done after that, in microseconds.
    pub(crate) fn refinement_us(&self) -> Vec<f64> {
        self.refinements.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }

    /// The best time of each query, in microseconds.
    pub(crate) fn query_us(&self) -> Vec<f64> {
        self.queries.iter().map(|time| time.as_secs_f64() * 1e6).collect()
    }
}

#[cfg(test)]
mod tests {
    use wayfare::prelude::Cell;

    use super::*;
    use crate::check::Fault;
    use crate::contender::Contender;
    use crate::dynamic::edit::OursEdited;
    use crate::dynamic::script::Batch;
    use crate::dynamic::script::tests::script;
    use crate::level::Level;
    use crate::peers::{JumpPoints, PlainAstar};

    fn faults<C: Edit>(name: &str) -> Vec<Option<Fault>> {
        let script = script(name);
        let mut replay = Replay::new(&script);
        replay.pass::<C>(&script, &ProgressBar::hidden());
        assert_eq!((replay.edit_us().len(), replay.query_us().len()), (4, 6));
        assert!(replay.edits.iter().chain(&replay.queries).all(|time| *time < Duration::MAX));
        replay.verdicts.into_iter().map(|verdict| verdict.fault).collect()
    }

    #[test]
    fn answers_are_judged_on_the_board_as_it_is_then() {
        assert_eq!(faults::<OursEdited>("replay_ours"), [const { None }; 6]);
        assert_eq!(faults::<PlainAstar>("replay_plain"), [const { None }; 6]);
        // It goes around the end of the wall by cutting its corners.
        let cut = faults::<JumpPoints>("replay_jumps");
        assert!(matches!(cut[2], Some(Fault::CutCorner(..))), "{cut:?}");
        assert_eq!(cut.iter().flatten().count(), 1, "{cut:?}");
    }

    /// A library that takes no notice of edits.
    #[derive(Debug)]
    struct Stale(PlainAstar);

    impl Contender for Stale {
        const NAME: &'static str = "stale";
        const NOTE: &'static str = "";
        type Path = Vec<(i32, i32)>;

        fn build(level: &Level) -> Self {
            Self(PlainAstar::build(level))
        }

        fn find(&mut self, start: Cell, goal: Cell) -> Option<Self::Path> {
            self.0.find(start, goal)
        }

        fn write_cells(path: &Self::Path, start: Cell, cells: &mut Vec<Cell>) {
            PlainAstar::write_cells(path, start, cells);
        }
    }

    impl Edit for Stale {
        fn apply(&mut self, _batch: &Batch) {}
    }

    #[test]
    fn an_answer_for_the_map_as_it_was_is_caught() {
        let faults = faults::<Stale>("replay_stale");
        assert!(matches!(faults[2], Some(Fault::Blocked(_))), "{faults:?}");
        assert!(matches!(faults[4], Some(Fault::Blocked(_))), "{faults:?}");
        assert_eq!(faults[5], None, "the wall is gone again");
    }
}
