//! The figures of the dynamic suite: in comes what was measured, out go a [`Row`] per script and contender, one
//! [`Summary`], and the tables for a reader. Field names are the keys of the JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::edit::{OursAged, OursSurveyed};
use super::replay::Replay;
use super::script::Script;
use crate::contender::{Contender, Ours};
use crate::peers::PlainAstar;
use crate::report::figure;
use crate::stats::{self, Spread};

/// One contender on one script.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) script: String,
    pub(crate) contender: &'static str,
    pub(crate) batches: usize,
    pub(crate) queries: usize,
    /// The mean over batches, until the next query may be answered.
    pub(crate) edit_us_per_batch: f64,
    pub(crate) edit_us_worst: f64,
    /// What a worker takes after that, if it has anything to do.
    pub(crate) repair_us_per_batch: Option<f64>,
    pub(crate) repair_us_worst: Option<f64>,
    /// What it takes then, for queries to be faster still.
    pub(crate) refinement_us_per_batch: Option<f64>,
    /// The mean over queries.
    pub(crate) query_us: f64,
    pub(crate) query_us_p99: f64,
    /// The mean over all paths that lead to the goal, legal or not; `None` if there are none.
    pub(crate) length_over_optimum: Option<f64>,
    /// Answers that are missing, illegal or not optimal on the map as it was then.
    pub(crate) mismatches: usize,
    /// For the table only.
    #[serde(skip)]
    pub(crate) note: &'static str,
}

impl Row {
    /// Sums up what was measured.
    pub(crate) fn new<C: Contender>(script: &Script, replay: &Replay) -> Self {
        let (edits, queries) = (replay.edit_us(), Spread::of(&replay.query_us()));
        let judged = replay.verdicts.iter().zip(&script.level.queries);
        let lengths: Vec<f64> = judged
            .filter(|(_, query)| query.optimal > 0.0)
            .filter_map(|(verdict, query)| verdict.length.map(|length| length / query.optimal))
            .collect();
        Self {
            script: script.level.name.clone(),
            contender: C::NAME,
            batches: edits.len(),
            queries: script.level.queries.len(),
            edit_us_per_batch: stats::mean(&edits).unwrap_or(0.0),
            edit_us_worst: edits.into_iter().fold(0.0, f64::max),
            repair_us_per_batch: stats::mean(&replay.repair_us()),
            repair_us_worst: replay.repair_us().into_iter().reduce(f64::max),
            refinement_us_per_batch: stats::mean(&replay.refinement_us()),
            query_us: queries.mean,
            query_us_p99: queries.p99,
            length_over_optimum: stats::mean(&lengths),
            mismatches: replay.verdicts.iter().filter(|verdict| verdict.fault.is_some()).count(),
            note: C::NOTE,
        }
    }
}

/// A peer's times over ours.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Ratio {
    pub(crate) edit: Option<f64>,
    pub(crate) query: Option<f64>,
}

/// All scripts together.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    /// How many each contender answered.
    pub(crate) queries: usize,
    /// Of ours.
    pub(crate) mismatches: usize,
    /// Ours, the mean over all batches: without a survey or with an old one, whichever takes longer.
    pub(crate) edit_us_per_batch: f64,
    /// Ours, the mean over all queries, likewise.
    pub(crate) query_us: f64,
    /// Ours, on a worker after a batch: the mean over scripts, and the worst batch.
    pub(crate) repair_us_per_batch: Option<f64>,
    pub(crate) repair_us_worst: Option<f64>,
    /// And then: the mean over scripts.
    pub(crate) refinement_us_per_batch: Option<f64>,
    /// Each peer's mean over ours.
    pub(crate) vs: BTreeMap<&'static str, Ratio>,
}

impl Summary {
    /// Sums up the rows of any number of scripts.
    pub(crate) fn new(rows: &[Row]) -> Self {
        let [ours, aged, surveyed] =
            [Ours::NAME, OursAged::NAME, OursSurveyed::NAME].map(|name| Total::of(rows, name));
        let (edit_us, query_us) = (ours.edit_us.max(aged.edit_us), ours.query_us.max(aged.query_us));
        let peers = rows.iter().map(|row| row.contender).filter(|name| !is_ours(name));
        let repairs: Vec<f64> = rows.iter().filter_map(|row| row.repair_us_per_batch).collect();
        let refinements: Vec<f64> = rows.iter().filter_map(|row| row.refinement_us_per_batch).collect();
        let versus = |peer| {
            let theirs = Total::of(rows, peer);
            let edit = stats::ratio(theirs.edit_us, edit_us);
            (peer, Ratio { edit, query: stats::ratio(theirs.query_us, query_us) })
        };
        Self {
            queries: ours.queries,
            mismatches: ours.mismatches + aged.mismatches + surveyed.mismatches,
            edit_us_per_batch: edit_us,
            query_us,
            repair_us_per_batch: stats::mean(&repairs),
            repair_us_worst: rows.iter().filter_map(|row| row.repair_us_worst).reduce(f64::max),
            refinement_us_per_batch: stats::mean(&refinements),
            vs: peers.map(versus).collect(),
        }
    }
}

fn is_ours(contender: &str) -> bool {
    [Ours::NAME, OursAged::NAME, OursSurveyed::NAME].contains(&contender)
}

/// One contender on all scripts.
struct Total {
    queries: usize,
    mismatches: usize,
    /// Means over all batches and over all queries.
    edit_us: f64,
    query_us: f64,
}

impl Total {
    fn of(rows: &[Row], contender: &str) -> Self {
        let rows = || rows.iter().filter(|row| row.contender == contender);
        let mean = |count: fn(&Row) -> usize, each: fn(&Row) -> f64| {
            let sum: f64 = rows().map(|row| each(row) * count(row) as f64).sum();
            sum / rows().map(count).sum::<usize>().max(1) as f64
        };
        Self {
            queries: rows().map(|row| row.queries).sum(),
            mismatches: rows().map(|row| row.mismatches).sum(),
            edit_us: mean(|row| row.batches, |row| row.edit_us_per_batch),
            query_us: mean(|row| row.queries, |row| row.query_us),
        }
    }
}

/// The table of one script.
pub(crate) fn script_table(script: &Script, rows: &[Row]) -> String {
    let level = &script.level;
    let changed: usize =
        script.rounds.iter().filter_map(|round| round.batch.as_ref()).map(|batch| batch.changes.len()).sum();
    let mut text = format!(
        "{} ({} × {}, {} batches of edits with {changed} changed cells in all, {} queries in between)\n",
        level.name,
        level.board.width(),
        level.board.height(),
        script.batches(),
        level.queries.len(),
    );
    text += "                    a batch of edits, µs             a query, µs\n";
    text += "  contender             mean      worst         mean        p99  length  mismatches\n";
    for row in rows {
        let line = format!(
            "  {:<16} {:>9.1}  {:>9.1}    {:>9.1}  {:>9.1}  {:>6}  {:>10}  {}",
            row.contender,
            row.edit_us_per_batch,
            row.edit_us_worst,
            row.query_us,
            row.query_us_p99,
            figure(row.length_over_optimum, 3),
            row.mismatches,
            row.note,
        );
        text += line.trim_end();
        text += "\n";
    }
    text
}

/// The last lines of a run.
pub(crate) fn summary_table(summary: &Summary) -> String {
    let mut text = format!(
        "{} queries, {} mismatches of ours; ours takes {:.1} µs per batch of edits and {:.1} µs per query\n",
        summary.queries, summary.mismatches, summary.edit_us_per_batch, summary.query_us,
    );
    if let (Some(mean), Some(worst)) = (summary.repair_us_per_batch, summary.repair_us_worst) {
        let refinement = figure(summary.refinement_us_per_batch, 0);
        text +=
            &format!("  graph and dead ends are repaired in {mean:.0} µs per batch, {worst:.0} at worst; ");
        text += &format!("rays and landmarks take {refinement} µs more\n");
    }
    text += "  peer's mean ÷ ours       edits   queries\n";
    for (&peer, ratio) in &summary.vs {
        let note = if peer == PlainAstar::NAME { "keeps nothing that edits could outdate" } else { "" };
        let (edit, query) = (figure(ratio.edit, 2), figure(ratio.query, 2));
        text += format!("  {peer:<18}  {edit:>10}  {query:>8}  {note}").trim_end();
        text += "\n";
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::Value;

    use super::*;
    use crate::report::Report;

    /// A row with these counts and times.
    pub(crate) fn row(contender: &'static str, batches: usize, edit_us: f64, query_us: f64) -> Row {
        Row {
            script: "x".into(),
            contender,
            batches,
            queries: 10 * batches,
            edit_us_per_batch: edit_us,
            query_us,
            ..Row::default()
        }
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().expect("an object").keys().map(String::as_str).collect()
    }

    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.expect("should have a value");
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn scripts_count_by_their_batches_and_queries() {
        let mut rows = vec![row("wayfare", 1, 2.0, 20.0), row("northstar", 1, 200.0, 10.0)];
        rows.extend([row("wayfare", 3, 6.0, 40.0), row("northstar", 3, 600.0, 90.0)]);
        rows[0].mismatches = 2;
        rows[1].mismatches = 100;
        let summary = Summary::new(&rows);
        assert_eq!((summary.queries, summary.mismatches), (40, 2));
        assert_near(Some(summary.edit_us_per_batch), 5.0);
        assert_near(Some(summary.query_us), 35.0);
        assert_eq!(summary.vs.len(), 1);
        assert_near(summary.vs["northstar"].edit, 100.0);
        assert_near(summary.vs["northstar"].query, 2.0);
    }

    #[test]
    fn the_slower_of_ours_counts() {
        let mut rows = vec![row("wayfare", 1, 2.0, 20.0), row("northstar", 1, 200.0, 60.0)];
        rows.push(Row { mismatches: 1, ..row("aged", 1, 4.0, 10.0) });
        let summary = Summary::new(&rows);
        assert_eq!((summary.vs.len(), summary.mismatches), (1, 1));
        assert_near(summary.vs["northstar"].edit, 50.0);
        assert_near(summary.vs["northstar"].query, 3.0);
    }

    #[test]
    fn nothing_is_divided_by_no_batches() {
        let summary = Summary::new(&[row("wayfare", 0, 0.0, 0.0), row("northstar", 0, 0.0, 0.0)]);
        assert_near(Some(summary.edit_us_per_batch), 0.0);
        assert_eq!(summary.vs["northstar"].edit, None);
    }

    #[test]
    fn the_json_has_exactly_the_promised_keys() {
        let rows = [row("wayfare", 1, 2.0, 20.0), row("grid_pathfinding", 1, 200.0, 10.0)];
        let summary = Summary::new(&rows);
        let json = serde_json::to_value(Report { suite: "dynamic", rows: &rows, summary: &summary });
        let json = json.expect("plain data");
        assert_eq!(json["suite"], "dynamic");
        let mut row = vec!["script", "contender", "batches", "queries", "edit_us_per_batch", "edit_us_worst"];
        row.extend([
            "repair_us_per_batch",
            "repair_us_worst",
            "refinement_us_per_batch",
            "query_us",
            "query_us_p99",
            "length_over_optimum",
            "mismatches",
        ]);
        row.sort_unstable();
        assert_eq!(keys(&json["rows"][0]), row);
        let summary = [
            "edit_us_per_batch",
            "mismatches",
            "queries",
            "query_us",
            "refinement_us_per_batch",
            "repair_us_per_batch",
            "repair_us_worst",
            "vs",
        ];
        assert_eq!(keys(&json["summary"]), summary);
        assert_eq!(keys(&json["summary"]["vs"]), ["grid_pathfinding"]);
        assert_eq!(json["summary"]["vs"]["grid_pathfinding"]["edit"], 100.0);
        assert_eq!(json["summary"]["vs"]["grid_pathfinding"]["query"], 0.5);
    }
}
