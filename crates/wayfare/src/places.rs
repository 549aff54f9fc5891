//! Routes between marked places, found once: what a game that sends units from town to town asks all day.
//!
//! Comes in: a [`Snapshot`] and a list of cells. Goes out: [`Places`], which know what it costs from each to each other and
//! which way to go, without a search, for as long as the map stays as it was. They can be [kept](Places::to_bytes)
//! beside the map. A [`Scout`] finds them.

use core::fmt;
use std::sync::Arc;

use crate::bake::{BakeError, Mark, Reader, Writer, fingerprint};
use crate::cell::Cell;
use crate::cost::Cost;
use crate::ground::Ground;
use crate::map::Map;
use crate::route::{QueryError, Route};
use crate::scout::Scout;
use crate::search::Scratch;
use crate::snapshot::Snapshot;
use crate::survey::changes::Changes;

const MARK: Mark = *b"wayfrPLC";

/// The cheapest routes between all places of a list.
///
/// ```
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     "....#...
///      .##.#.#.
///      ..#...#.",
/// )?;
/// let snapshot = Snapshot::new(&map, &View::default());
/// let towns = [Cell::new(0, 2), Cell::new(7, 2), Cell::new(3, 0)];
/// let places = Places::new(&snapshot, &towns, &mut Scratch::new())?;
/// let route = places.route(0, 1).ok_or("no way")?;
/// assert_eq!((route.cells().first(), route.cells().last()), (Some(&towns[0]), Some(&towns[1])));
/// assert_eq!(places.cost(0, 1), Some(route.cost()));
/// // The same again, from bytes.
/// let baked = Places::from_bytes(&places.to_bytes(), &snapshot)?;
/// assert_eq!(baked.route(0, 1), Some(route));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Places {
    /// What they were found on.
    ground: Arc<Ground>,
    cells: Vec<Cell>,
    /// From each to each, in the order of the cells; `None` where no way leads.
    ways: Vec<Option<Way>>,
    /// Where ways bend, one after the other.
    bends: Vec<Cell>,
}

/// A way between two places: its cost, and where its bends are. One back has those of the way there, from the last one on.
#[derive(Clone, Copy)]
struct Way {
    cost: Cost,
    begin: usize,
    end: usize,
    is_back: bool,
}

impl Places {
    /// Searches for the ways from each cell to each other one. That takes a while if there are many, so a game does it on a
    /// thread of its own, with the tools that make the map, or little by little with a [`Scout`]. It is faster on a snapshot
    /// that has learned of a [survey](Snapshot::survey).
    ///
    /// # Errors
    /// [`QueryError`] if a cell lies outside the map or is blocked.
    pub fn new(snapshot: &Snapshot, cells: &[Cell], scratch: &mut Scratch) -> Result<Self, QueryError> {
        let scout = Scout::new(Arc::new(snapshot.clone()), cells, core::mem::take(scratch))?;
        let (places, lent) = scout.finish();
        *scratch = lent;
        Ok(places)
    }

    /// Each place is connected with itself only.
    pub(crate) fn unconnected(ground: Arc<Ground>, cells: Vec<Cell>) -> Self {
        let count = cells.len();
        let mut places = Self { ground, ways: vec![None; count * count], bends: cells.clone(), cells };
        for place in 0..count {
            places.ways[place * count + place] =
                Some(Way { cost: 0, begin: place, end: place + 1, is_back: false });
        }
        places
    }

    /// The places of a way, by its number.
    pub(crate) fn pair(&self, way: usize) -> Option<(usize, usize)> {
        (way < self.ways.len()).then(|| (way / self.cells.len(), way % self.cells.len()))
    }

    /// Whether the way does not follow from others: where all ground has one price, a way back is the way there.
    pub(crate) fn is_looked_for(&self, (from, to): (usize, usize)) -> bool {
        if self.ground.is_even() { from < to } else { from != to }
    }

    /// Notes a way that was looked for.
    pub(crate) fn add(&mut self, (from, to): (usize, usize), route: &Route) {
        let begin = self.bends.len();
        self.bends.extend(route.cells());
        self.connect((from, to), Way { cost: route.cost(), begin, end: self.bends.len(), is_back: false });
    }

    fn connect(&mut self, (from, to): (usize, usize), way: Way) {
        let count = self.cells.len();
        self.ways[from * count + to] = Some(way);
        if self.ground.is_even() {
            self.ways[to * count + from] = Some(Way { is_back: true, ..way });
        }
    }

    /// The places, in the order in which they were named. Routes are asked for by their numbers.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether the routes are still right: the map is the one they were found on and has not changed since, and the view is
    /// an equal one.
    pub fn hold_for(&self, snapshot: &Snapshot) -> bool {
        let shape = |map: &Map| (map.width(), map.height());
        self.ground.view == *snapshot.view()
            && shape(&self.ground.map) == shape(&snapshot.ground.map)
            && Changes::between(&self.ground.map, &snapshot.ground.map).is_none()
    }

    /// What the way from one place to another costs; `None` if no way leads there, or there is no such place.
    pub fn cost(&self, from: usize, to: usize) -> Option<Cost> {
        self.way(from, to).map(|way| way.cost)
    }

    /// A cheapest route from one place to another, with all its cells.
    pub fn route(&self, from: usize, to: usize) -> Option<Route> {
        let way = self.way(from, to)?;
        let mut bends = self.bends[way.begin..way.end].to_vec();
        if way.is_back {
            bends.reverse();
        }
        let mut cells: Vec<Cell> = bends.first().copied().into_iter().collect();
        for leg in bends.windows(2) {
            let (dx, dy) = ((leg[1].x - leg[0].x).signum(), (leg[1].y - leg[0].y).signum());
            let (nx, ny) = leg[0].gap(leg[1]);
            let mut cell = leg[0];
            cells.extend((0..nx.max(ny)).map(|_| {
                cell = cell + (dx, dy);
                cell
            }));
        }
        Some(Route { cells, cost: way.cost })
    }

    fn way(&self, from: usize, to: usize) -> Option<Way> {
        let count = self.cells.len();
        if from < count && to < count { self.ways[from * count + to] } else { None }
    }

    /// Everything they hold, to be kept beside the map and [read](Self::from_bytes) at the next start.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(MARK, fingerprint(&self.ground.map, &self.ground.view));
        writer.section(|writer| {
            writer.number(self.cells.len() as u64);
            self.cells.iter().for_each(|cell| write_cell(*cell, writer));
        });
        writer.section(|writer| {
            let looked_for = |number: &usize| self.pair(*number).is_some_and(|pair| self.is_looked_for(pair));
            for way in (0..self.ways.len()).filter(looked_for).map(|number| self.ways[number]) {
                // The ends of a way are known. One without bends has two of them, or one.
                let bends = way.map_or(&[][..], |way| &self.bends[way.begin..way.end]);
                writer.number(bends.len() as u64);
                way.iter().for_each(|way| writer.number(way.cost));
                bends.iter().skip(1).rev().skip(1).rev().for_each(|bend| write_cell(*bend, writer));
            }
        });
        writer.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote, for a snapshot of the same map and an equal view.
    ///
    /// # Errors
    /// [`BakeError`] if the bytes are anything else. They can have come from anywhere.
    pub fn from_bytes(bytes: &[u8], snapshot: &Snapshot) -> Result<Self, BakeError> {
        let (made_of, mut reader) = Reader::open(bytes, MARK)?;
        let map = &snapshot.ground.map;
        if made_of != fingerprint(map, snapshot.view()) {
            return Err(BakeError::Stale);
        }
        let mut section = reader.section()?;
        let count: usize = section.number()?;
        let mut cells = Vec::with_capacity(count.min(section.left()));
        for _ in 0..count {
            cells.push(read_cell(map, &mut section)?);
        }
        section.finish()?;
        let mut section = reader.section()?;
        reader.finish()?;
        // Each way takes a byte at least.
        let count = cells.len().checked_mul(cells.len()).ok_or(BakeError::Damaged)?;
        if count / 2 > section.left() + cells.len() {
            return Err(BakeError::Damaged);
        }
        let mut places = Self::unconnected(Arc::clone(&snapshot.ground), cells);
        for number in 0..count {
            if let Some(pair) = places.pair(number).filter(|pair| places.is_looked_for(*pair)) {
                places.read_way(pair, &mut section)?;
            }
        }
        section.finish()?;
        Ok(places)
    }

    /// A way whose legs each go in one direction.
    fn read_way(&mut self, (from, to): (usize, usize), reader: &mut Reader<'_>) -> Result<(), BakeError> {
        let count: u64 = reader.number()?;
        if count == 0 {
            return Ok(());
        }
        let cost = reader.number()?;
        let begin = self.bends.len();
        self.bends.push(self.cells[from]);
        for _ in 2..count {
            self.bends.push(read_cell(&self.ground.map, reader)?);
        }
        if count > 1 {
            self.bends.push(self.cells[to]);
        }
        let is_leg = |leg: &[Cell]| {
            let (dx, dy) = leg[0].gap(leg[1]);
            dx == 0 || dy == 0 || dx == dy
        };
        let end = self.bends.len();
        let arrives = self.bends.last() == Some(&self.cells[to]);
        if !arrives || !self.bends[begin..].windows(2).all(is_leg) {
            return Err(BakeError::Damaged);
        }
        self.connect((from, to), Way { cost, begin, end, is_back: false });
        Ok(())
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Places({}, {} bends)", self.cells.len(), self.bends.len())
    }
}

fn write_cell(cell: Cell, writer: &mut Writer) {
    writer.number(cell.x.unsigned_abs());
    writer.number(cell.y.unsigned_abs());
}

fn read_cell(map: &Map, reader: &mut Reader<'_>) -> Result<Cell, BakeError> {
    let mut coordinate = || i32::try_from(reader.number::<u32>()?).map_err(|_| BakeError::Damaged);
    let cell = Cell::new(coordinate()?, coordinate()?);
    if map.contains(cell) { Ok(cell) } else { Err(BakeError::Damaged) }
}
