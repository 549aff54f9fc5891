//! A survey in the making, a little at a time: [`Surveyor`].
//!
//! Comes in: a snapshot. Goes out: a [`Survey`], in two parts: the graph with its dead ends, and long before the rest is found
//! searches can make use of that; then rays and landmarks.

use core::fmt;
use std::sync::Arc;

use crate::cost::Cost;
use crate::landmark::Landmarks as TerrainLandmarks;
use crate::map::Map;
use crate::rules::Directions;
use crate::search::Progress;
use crate::snapshot::Snapshot;
use crate::survey::deadend::DeadEnds;
use crate::survey::graph::Graph;
use crate::survey::landmark::Landmarks;
use crate::survey::pace::{Work, parts, pause, step};
use crate::survey::rays::Rays;
use crate::survey::{Bearings, Findings, Survey};

/// A survey in the making, so that it can share a thread with others, be put aside, or dropped.
///
/// ```
/// use wayfare::prelude::*;
///
/// let map = Map::from_text("....#...\n.##.#.#.\n..#...#.")?;
/// let mut snapshot = Snapshot::new(&map, &View::default());
/// let mut surveyor = Surveyor::new(&snapshot);
/// while surveyor.run(100) == Progress::Running {} // a frame goes by
/// assert!(snapshot.learn(&surveyor.finish()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Surveyor {
    map: Map,
    costs: [Cost; 3],
    stage: Stage,
}

enum Stage {
    /// Corners, the jumps between them, dead ends; `None` if there are too many of them.
    Findings(Work<Option<Findings>>),
    /// All that searches need to make use of these.
    Bearings(Arc<Findings>, Work<Bearings>),
    /// How far it is from cell to cell over uneven ground.
    Terrain(Work<TerrainLandmarks>),
    Done(Survey),
}

/// A step takes about as long as a look at so many corners.
const STEP: usize = 64;

/// Corners whose jumps are found in one step. Where the ground is open they go far.
const CORNERS: usize = 8;

impl Surveyor {
    /// A survey of what a snapshot shows. Nothing is looked at yet.
    pub fn new(snapshot: &Snapshot) -> Self {
        let costs = snapshot.ground.jump_costs().unwrap_or_default().map(Cost::from);
        let unchanged = snapshot.known.as_ref().filter(|known| known.changes.is_none());
        let stage = match (unchanged, snapshot.jumps().is_some()) {
            (Some(known), true) if known.is_whole() => {
                Stage::Done(Survey::of_even(Arc::clone(&known.findings), known.bearings.clone()))
            }
            (Some(known), true) => Stage::take_bearings(Arc::clone(&known.findings), costs),
            (None, true) => Stage::Findings(Box::pin(look_around(snapshot.clone(), costs))),
            (_, false) if snapshot.ground.is_even() => Stage::Done(Survey::NOTHING),
            (_, false) => match snapshot
                .landmarks
                .as_ref()
                .filter(|known| known.are_of(&snapshot.ground.map) && known.measured().1 == snapshot.view())
            {
                Some(known) => Stage::Done(Survey { terrain: Some(Arc::clone(known)), ..Survey::NOTHING }),
                None => {
                    let (ground, islands) = (Arc::clone(&snapshot.ground), snapshot.islands.clone());
                    Stage::Terrain(Box::pin(TerrainLandmarks::of(ground, islands)))
                }
            },
        };
        Self { map: snapshot.ground.map.clone(), costs, stage }
    }

    /// Works for about as long as it takes to look at so many corners, in steps of some ten microseconds. It stops in between
    /// when there is [something of use](Self::so_far).
    pub fn run(&mut self, max_corners: u32) -> Progress {
        let steps = (max_corners as usize).div_ceil(STEP).max(1);
        for _ in 0..steps {
            let next = match &mut self.stage {
                Stage::Findings(work) => step(work.as_mut()).map(|found| match found {
                    Some(findings) => Stage::take_bearings(Arc::new(findings), self.costs),
                    None => Stage::Done(Survey::NOTHING),
                }),
                Stage::Bearings(findings, work) => step(work.as_mut()).map(|bearings| {
                    Stage::Done(Survey::of_even(Arc::clone(findings), Some(Arc::new(bearings))))
                }),
                Stage::Terrain(work) => step(work.as_mut()).map(|landmarks| {
                    Stage::Done(Survey { terrain: Some(Arc::new(landmarks)), ..Survey::NOTHING })
                }),
                Stage::Done(_) => return Progress::Done,
            };
            if let Some(next) = next {
                self.stage = next;
                break;
            }
        }
        if matches!(self.stage, Stage::Done(_)) { Progress::Done } else { Progress::Running }
    }

    /// What was found so far, as soon as searches can make use of it and before all is found: of even ground, the graph and
    /// its dead ends. They are there long before rays and landmarks, which is what matters where the map keeps changing.
    pub fn so_far(&self) -> Option<Survey> {
        match &self.stage {
            Stage::Bearings(findings, _) => Some(Survey::of_even(Arc::clone(findings), None)),
            Stage::Done(survey) => Some(survey.clone()),
            Stage::Findings(_) | Stage::Terrain(_) => None,
        }
    }

    /// Runs to the end if need be, and returns what was found.
    pub fn finish(mut self) -> Survey {
        while self.run(u32::MAX) == Progress::Running {}
        match self.stage {
            Stage::Done(survey) => survey,
            Stage::Findings(_) | Stage::Bearings(..) | Stage::Terrain(_) => Survey::NOTHING,
        }
    }
}

impl Stage {
    fn take_bearings(findings: Arc<Findings>, costs: [Cost; 3]) -> Self {
        Self::Bearings(Arc::clone(&findings), Box::pin(take_bearings(findings, costs)))
    }
}

/// Finds corners, jumps and dead ends. What the snapshot knows already and edits have not touched is taken over.
async fn look_around(snapshot: Snapshot, costs: [Cost; 3]) -> Option<Findings> {
    let (map, bits) = (snapshot.ground.map.clone(), snapshot.bits.clone()?);
    let mut graph = Graph::new(&map, &bits, costs).await?;
    let known = snapshot.known.as_ref();
    let known = known.and_then(|known| Some((&known.findings.graph, known.changes.as_deref()?)));
    for some in parts(graph.corners.list.len().max(1), CORNERS) {
        graph.grow(&bits, costs, known, some.start, some.len())?;
        pause().await;
    }
    Rays::clear(&bits, &mut graph.corners).await;
    let dead_ends = DeadEnds::new(&bits, &mut graph.corners).await;
    let view = snapshot.view().clone();
    Some(Findings { map, bits, view, graph, dead_ends })
}

async fn take_bearings(findings: Arc<Findings>, costs: [Cost; 3]) -> Bearings {
    let Findings { bits, graph, view, .. } = &*findings;
    let rays = Rays::of(bits, &graph.corners).await;
    // In four directions there are so many ways of one length that an estimate hardly helps.
    let landmarks = match view.rules.directions {
        Directions::Four => None,
        Directions::Eight => Landmarks::new(bits, costs, graph, rays.as_ref()).await,
    };
    Bearings { rays, landmarks }
}

impl fmt::Debug for Surveyor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Findings(_) => "jumps and dead ends",
            Stage::Bearings(..) | Stage::Terrain(_) => "landmarks",
            Stage::Done(_) => "done",
        };
        write!(f, "Surveyor({:?}, {stage})", self.map)
    }
}
