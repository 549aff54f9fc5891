//! How the plugin is doing, through Bevy's `DiagnosticsStore`.

use bevy::diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic};
use bevy::prelude::*;

use crate::queue::{Figures, Pool};

/// The paths of the plugin's diagnostics.
///
/// ```
/// use bevy::diagnostic::DiagnosticsStore;
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn show_queue(store: Res<DiagnosticsStore>) {
///     let length = store.get(&PathfindingDiagnostics::QUEUE).and_then(|queue| queue.value());
///     println!("{} requests are waiting", length.unwrap_or(0.0));
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PathfindingDiagnostics;

impl PathfindingDiagnostics {
    /// Requests in the queue, searches under way included.
    pub const QUEUE: DiagnosticPath = DiagnosticPath::const_new("wayfare/queue");
    /// Searches begun and not ended.
    pub const IN_FLIGHT: DiagnosticPath = DiagnosticPath::const_new("wayfare/in_flight");
    /// Paths found in this run of the schedule.
    pub const FOUND: DiagnosticPath = DiagnosticPath::const_new("wayfare/found");
    /// Requests that failed in this run.
    pub const FAILED: DiagnosticPath = DiagnosticPath::const_new("wayfare/failed");
    /// Nodes closed by the searches answered in this run.
    pub const NODES: DiagnosticPath = DiagnosticPath::const_new("wayfare/nodes");
    /// Time these searches took, all together, on whatever thread.
    pub const SEARCH_TIME: DiagnosticPath = DiagnosticPath::const_new("wayfare/search_time");
    /// Time between request and answer: half of the last 256 answers took longer.
    pub const WAIT_P50: DiagnosticPath = DiagnosticPath::const_new("wayfare/wait_p50");
    /// Time between request and answer: one in twenty of the last 256 took longer.
    pub const WAIT_P95: DiagnosticPath = DiagnosticPath::const_new("wayfare/wait_p95");
    /// Units that [avoidance](crate::Avoidance) looked at in the run before this one: 0 while all are at rest, for then it
    /// looks at nobody.
    pub const AVOIDING: DiagnosticPath = DiagnosticPath::const_new("wayfare/avoiding");

    const ALL: [(DiagnosticPath, &'static str); 9] = [
        (Self::QUEUE, ""),
        (Self::IN_FLIGHT, ""),
        (Self::FOUND, ""),
        (Self::FAILED, ""),
        (Self::NODES, ""),
        (Self::SEARCH_TIME, "ms"),
        (Self::WAIT_P50, "ms"),
        (Self::WAIT_P95, "ms"),
        (Self::AVOIDING, ""),
    ];

    pub(crate) fn register(app: &mut App) {
        for (path, suffix) in Self::ALL {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(suffix));
        }
    }
}

/// How many waits the percentiles look back on.
const WAITS: usize = 256;

/// What was delivered since the last report.
#[derive(Resource, Debug)]
pub(crate) struct Tally {
    found: u32,
    failed: u32,
    nodes: u64,
    search_ms: f64,
    /// The last waits, in milliseconds; a ring.
    waits: Vec<f32>,
    next_wait: usize,
    /// Kept for sorting.
    sorted: Vec<f32>,
    percentiles: (f32, f32),
    avoided: usize,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            found: 0,
            failed: 0,
            nodes: 0,
            search_ms: 0.0,
            waits: Vec::with_capacity(WAITS),
            next_wait: 0,
            sorted: Vec::with_capacity(WAITS),
            percentiles: (0.0, 0.0),
            avoided: 0,
        }
    }
}

impl Tally {
    pub(crate) fn found(&mut self, figures: Figures) {
        self.found += 1;
        self.count(figures);
    }

    pub(crate) fn failed(&mut self, figures: Figures) {
        self.failed += 1;
        self.count(figures);
    }

    /// So many units were looked at to keep them off each other.
    pub(crate) fn avoided(&mut self, units: usize) {
        self.avoided += units;
    }

    fn count(&mut self, figures: Figures) {
        self.nodes += figures.nodes;
        self.search_ms += figures.searched.as_secs_f64() * 1e3;
        let waited = figures.waited.as_secs_f32() * 1e3;
        if self.waits.len() < WAITS {
            self.waits.push(waited);
        } else {
            self.waits[self.next_wait] = waited;
            self.next_wait = (self.next_wait + 1) % WAITS;
        }
    }

    /// Waits that half, and one in twenty, of the last answers exceeded.
    fn percentiles(&mut self) -> (f32, f32) {
        if self.found + self.failed > 0 {
            self.sorted.clone_from(&self.waits);
            self.sorted.sort_by(f32::total_cmp);
            let last = self.sorted.len() - 1;
            self.percentiles = (self.sorted[last / 2], self.sorted[last * 19 / 20]);
        }
        self.percentiles
    }
}

/// Reports what was delivered, and begins to count anew.
pub(crate) fn report(pool: Res<Pool>, mut tally: ResMut<Tally>, mut diagnostics: Diagnostics) {
    let (p50, p95) = tally.percentiles();
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    let figures = [
        (PathfindingDiagnostics::QUEUE, pool.queued() as f64),
        (PathfindingDiagnostics::IN_FLIGHT, pool.in_flight() as f64),
        (PathfindingDiagnostics::FOUND, tally.found.into()),
        (PathfindingDiagnostics::FAILED, tally.failed.into()),
        (PathfindingDiagnostics::NODES, tally.nodes as f64),
        (PathfindingDiagnostics::SEARCH_TIME, tally.search_ms),
        (PathfindingDiagnostics::WAIT_P50, p50.into()),
        (PathfindingDiagnostics::WAIT_P95, p95.into()),
        (PathfindingDiagnostics::AVOIDING, tally.avoided as f64),
    ];
    for (path, value) in figures {
        diagnostics.add_measurement(&path, || value);
    }
    (tally.found, tally.failed, tally.nodes, tally.search_ms, tally.avoided) = (0, 0, 0, 0.0, 0);
}
