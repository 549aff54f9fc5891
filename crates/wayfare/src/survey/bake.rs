//! A [`Survey`] as bytes, and back: see [`bake`](crate::bake).
//!
//! Where corners, runs and rays are follows from the map, and what a jump costs from its ends. What takes long to find is kept:
//! the jumps and what they looked at, blocks of dead ends, and distances from landmarks. Of uneven ground there are landmarks
//! only, which write and read themselves.

use std::sync::Arc;

use crate::bake::{BakeError, Mark, Reader, Writer, fingerprint};
use crate::bits::{At, Bits, Plane};
use crate::cell::Direction;
use crate::cost::Cost;
use crate::landmark::Landmarks as TerrainLandmarks;
use crate::map::Map;
use crate::rules::Directions;
use crate::snapshot::Snapshot;
use crate::survey::changes::Bounds;
use crate::survey::corners::Corners;
use crate::survey::deadend::{DeadEnds, Forest, NO_BLOCK};
use crate::survey::graph::{Graph, Leap};
use crate::survey::landmark::{GROUP, Landmarks, MOST, Row};
use crate::survey::pace::finish;
use crate::survey::rays::Rays;
use crate::survey::{Bearings, Findings, Survey};

const MARK: Mark = *b"wayfrSRV";

/// The fingerprint where there was nothing to be found.
const NOTHING: u64 = 0;

/// How much of a survey is there: nothing; the graph and dead ends; rays and landmarks, too; or landmarks of uneven ground.
const NONE: u8 = 0;
const HALF: u8 = 1;
const WHOLE: u8 = 2;
const UNEVEN: u8 = 3;

impl Survey {
    /// Everything it holds, to be kept beside the map and [read](Self::from_bytes) at the next start. If it found nothing,
    /// reading says [`BakeError::Empty`]. Of a survey [in the making](crate::Surveyor::so_far) the rest still has to be
    /// found after reading.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// # let map = Map::from_text(
    /// #     "....#...
    /// #      .##.#.#.
    /// #      ..#...#.",
    /// # )?;
    /// # let folder = std::env::temp_dir().join(format!("wayfare_survey_{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let file = folder.join("level.survey");
    /// let mut snapshot = Snapshot::new(&map, &View::default());
    /// // Once, with the tools that make the map:
    /// std::fs::write(&file, snapshot.survey().to_bytes())?;
    /// // At every start; whatever is wrong with the file, a new survey will do.
    /// let baked = std::fs::read(&file).ok().and_then(|bytes| Survey::from_bytes(&bytes, &snapshot).ok());
    /// let survey = baked.unwrap_or_else(|| snapshot.survey());
    /// assert!(snapshot.learn(&survey));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let made_of = match (&self.findings, &self.terrain) {
            (Some(findings), _) => fingerprint(&findings.map, &findings.view),
            (None, Some(landmarks)) => {
                let (map, view) = landmarks.measured();
                fingerprint(map, view)
            }
            (None, None) => NOTHING,
        };
        let mut writer = Writer::new(MARK, made_of);
        self.write(&mut writer);
        writer.finish()
    }

    /// All of it, in sections, of which the first says what there is.
    pub(crate) fn write(&self, writer: &mut Writer) {
        let kind = match (&self.findings, &self.bearings, &self.terrain) {
            (Some(_), None, _) => HALF,
            (Some(_), Some(_), _) => WHOLE,
            (None, _, Some(_)) => UNEVEN,
            (None, _, None) => NONE,
        };
        writer.section(|writer| writer.byte(kind));
        match (&self.findings, &self.terrain) {
            (Some(findings), _) => self.write_even(findings, writer),
            (None, Some(landmarks)) => landmarks.write(writer),
            (None, None) => {}
        }
    }

    fn write_even(&self, findings: &Findings, writer: &mut Writer) {
        let Findings { graph, dead_ends, .. } = findings;
        writer.section(|writer| write_jumps(graph, writer));
        writer.section(|writer| write_forest(&dead_ends.rows, writer));
        writer.section(|writer| write_forest(&dead_ends.columns, writer));
        let landmarks = self.bearings.as_ref().map(|bearings| &bearings.landmarks);
        if let Some(landmarks) = landmarks {
            writer
                .section(|writer| landmarks.iter().for_each(|landmarks| write_landmarks(landmarks, writer)));
        }
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote, for a snapshot of the same map and an equal view. What was kept
    /// [together with a snapshot](Snapshot::to_bytes) will do as well.
    ///
    /// # Errors
    /// [`BakeError`] if the bytes are anything else. They can have come from anywhere.
    pub fn from_bytes(bytes: &[u8], snapshot: &Snapshot) -> Result<Self, BakeError> {
        let (made_of, mut reader) = match Reader::open(bytes, MARK) {
            Err(BakeError::Foreign) => return snapshot.survey_in(bytes),
            opened => opened?,
        };
        if made_of == NOTHING {
            return Err(BakeError::Empty);
        }
        if made_of != fingerprint(&snapshot.ground.map, snapshot.view()) {
            return Err(BakeError::Stale);
        }
        let survey = Self::read(snapshot, &mut reader)?;
        reader.finish()?;
        survey.ok_or(BakeError::Empty)
    }

    /// Reads what was [written](Self::write); `None` if there was nothing.
    pub(crate) fn read(snapshot: &Snapshot, reader: &mut Reader<'_>) -> Result<Option<Self>, BakeError> {
        let mut section = reader.section()?;
        let kind = section.byte()?;
        section.finish()?;
        match kind {
            NONE => Ok(None),
            HALF | WHOLE => read_even(kind, snapshot, reader).map(Some),
            UNEVEN if !snapshot.ground.is_even() => {
                let terrain = Some(Arc::new(TerrainLandmarks::read(snapshot, reader)?));
                Ok(Some(Self { terrain, ..Self::NOTHING }))
            }
            _ => Err(BakeError::Damaged),
        }
    }
}

fn read_even(kind: u8, snapshot: &Snapshot, reader: &mut Reader<'_>) -> Result<Survey, BakeError> {
    let (map, view) = (&snapshot.ground.map, snapshot.view());
    let even = snapshot.bits.as_ref().zip(snapshot.ground.jump_costs());
    let (bits, costs) = even.ok_or(BakeError::Damaged)?;
    let mut graph = read_jumps(map, bits, costs.map(Cost::from), reader.section()?)?;
    finish(Rays::clear(bits, &mut graph.corners));
    let rows = read_forest(&bits.rows, reader.section()?)?;
    let columns = read_forest(&bits.columns, reader.section()?)?;
    let dead_ends = finish(DeadEnds::of(bits, &mut graph.corners, rows, columns));
    let bearings = match kind {
        HALF => None,
        _ => {
            let landmarks = read_landmarks(map, &graph.corners, reader.section()?)?;
            Some(Arc::new(Bearings { rays: finish(Rays::of(bits, &graph.corners)), landmarks }))
        }
    };
    let (map, bits, view) = (map.clone(), Arc::clone(bits), view.clone());
    Ok(Survey::of_even(Arc::new(Findings { map, bits, view, graph, dead_ends }), bearings))
}

/// For each corner and each way into it, what its jumps looked at, how many there are, and where they lead.
fn write_jumps(graph: &Graph, writer: &mut Writer) {
    let mut nodes = (0..).zip(&graph.nodes);
    for (number, corner) in (0..).zip(&graph.corners.list) {
        for (node, (_, bounds)) in nodes.by_ref().take(corner.ways.count_ones() as usize) {
            write_bounds(bounds.beyond(Bounds::around(corner.at())), writer);
            let jumps = graph.jumps_of(node);
            writer.number(jumps.len() as u64);
            let mut before = number;
            for jump in jumps {
                writer.step(before, jump.corner());
                before = jump.corner();
            }
        }
    }
}

fn read_jumps(map: &Map, bits: &Bits, costs: [Cost; 3], mut reader: Reader<'_>) -> Result<Graph, BakeError> {
    let Graph { corners, .. } = finish(Graph::new(map, bits, costs)).ok_or(BakeError::Damaged)?;
    let begin = |jumps: &Vec<Leap>| u32::try_from(jumps.len()).map_err(|_| BakeError::Damaged);
    // Each takes a byte at least, and half of them are no more.
    let (mut nodes, mut jumps) = (Vec::new(), Vec::with_capacity(reader.left() / 2));
    for (number, corner) in (0..).zip(&corners.list) {
        for _ in 0..corner.ways.count_ones() {
            let bounds = Bounds::around(corner.at()).grown(read_bounds(&mut reader)?);
            nodes.push((begin(&jumps)?, bounds.ok_or(BakeError::Damaged)?));
            let mut to = number;
            for _ in 0..reader.number::<u64>()? {
                to = reader.step(to)?;
                let landing = corners.list.get(to as usize).filter(|_| to != number);
                let at = landing.ok_or(BakeError::Damaged)?.at();
                jumps.push(Leap::new(to, last_step(bits.rules.directions, corner.at(), at)));
            }
        }
    }
    nodes.push((begin(&jumps)?, Bounds::default()));
    reader.finish()?;
    Ok(Graph { corners, nodes, jumps })
}

/// The direction in which a jump lands: it goes diagonally first and straight then, or along a column first and a row then.
fn last_step(directions: Directions, from: At, to: At) -> Direction {
    let (dx, dy) = (from.x.abs_diff(to.x), from.y.abs_diff(to.y));
    let (east, south) = (to.x > from.x, to.y > from.y);
    match directions {
        Directions::Eight if dx == dy => match (east, south) {
            (false, false) => Direction::NorthWest,
            (true, false) => Direction::NorthEast,
            (true, true) => Direction::SouthEast,
            (false, true) => Direction::SouthWest,
        },
        Directions::Eight if dx < dy => along_column(south),
        Directions::Four if dx == 0 => along_column(south),
        _ if east => Direction::East,
        _ => Direction::West,
    }
}

const fn along_column(south: bool) -> Direction {
    if south { Direction::South } else { Direction::North }
}

/// Two bits for each side; 3 says that the rest follows.
const MORE: u8 = 3;

fn write_bounds(beyond: [u8; 4], writer: &mut Writer) {
    let sides = beyond.iter().zip([0, 2, 4, 6]);
    writer.byte(sides.fold(0, |packed, (side, shift)| packed | (*side).min(MORE) << shift));
    beyond.iter().filter(|side| **side >= MORE).for_each(|side| writer.byte(*side));
}

fn read_bounds(reader: &mut Reader<'_>) -> Result<[u8; 4], BakeError> {
    let packed = reader.byte()?;
    let mut beyond = [0, 2, 4, 6].map(|shift| packed >> shift & MORE);
    for side in beyond.iter_mut().filter(|side| **side == MORE) {
        *side = reader.byte()?;
    }
    Ok(beyond)
}

/// How many blocks there are, what each hangs on, and what each run hangs in.
fn write_forest(forest: &Forest, writer: &mut Writer) {
    writer.number(forest.tops.len() as u64);
    let mut before = 0;
    for top in &forest.tops {
        writer.step(before, *top);
        before = *top;
    }
    before = 0;
    for block in &forest.above {
        // No block is 0.
        let block = block.wrapping_sub(NO_BLOCK);
        writer.step(before, block);
        before = block;
    }
}

fn read_forest(plane: &Plane, mut reader: Reader<'_>) -> Result<Forest, BakeError> {
    let forest = Forest::known(plane, |runs| {
        let blocks: usize = reader.number()?;
        let mut tops = Vec::with_capacity(blocks.min(reader.left()));
        let mut before = 0;
        for _ in 0..blocks {
            before = reader.step(before)?;
            tops.push(before);
        }
        let mut above = Vec::with_capacity(runs.min(reader.left()));
        before = 0;
        for _ in 0..runs {
            before = reader.step(before)?;
            above.push(before.wrapping_add(NO_BLOCK));
        }
        reader.finish()?;
        Ok((above, tops))
    })?;
    forest.ok_or(BakeError::Damaged)
}

/// Where they are, and how far each corner is from them beside the corner before.
fn write_landmarks(landmarks: &Landmarks, writer: &mut Writer) {
    writer.number(landmarks.places.len() as u64);
    for place in &landmarks.places {
        writer.number(place.x);
        writer.number(place.y);
    }
    let mut before = [Row([0; GROUP]); MOST / GROUP];
    for rows in landmarks.distances.chunks_exact(landmarks.places.len() / GROUP) {
        for (before, row) in before.iter_mut().zip(rows) {
            for (before, distance) in before.0.iter().zip(row.0) {
                writer.step(*before, distance);
            }
            *before = *row;
        }
    }
}

fn read_landmarks(
    map: &Map,
    corners: &Corners,
    mut reader: Reader<'_>,
) -> Result<Option<Landmarks>, BakeError> {
    if reader.left() == 0 {
        return Ok(None);
    }
    let count: usize = reader.number()?;
    if !(GROUP..=MOST).contains(&count) || !count.is_multiple_of(GROUP) {
        return Err(BakeError::Damaged);
    }
    let mut places = Vec::with_capacity(count);
    for _ in 0..count {
        let place = At { x: reader.number()?, y: reader.number()? };
        if !(1..=map.width()).contains(&place.x) || !(1..=map.height()).contains(&place.y) {
            return Err(BakeError::Damaged);
        }
        places.push(place);
    }
    let mut distances = Vec::with_capacity((corners.list.len() * count / GROUP).min(reader.left() / GROUP));
    let mut before = [Row([0; GROUP]); MOST / GROUP];
    for _ in 0..corners.list.len() {
        for row in &mut before[..count / GROUP] {
            for distance in &mut row.0 {
                *distance = reader.step(*distance)?;
            }
            distances.push(*row);
        }
    }
    reader.finish()?;
    Ok(Some(Landmarks { places, distances }))
}
