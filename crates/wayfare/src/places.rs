//! Routes between marked places, found once: what a game that sends units from town to town asks all day.
//!
//! Comes in: a [`Snapshot`] and a list of cells. Goes out: [`Places`], which know what it costs from each to each other and
//! which way to go, without a search, for as long as the map stays as it was. They can be [kept](Places::to_bytes)
//! beside the map.

use core::fmt;
use std::sync::Arc;

use crate::bake::{BakeError, Mark, Reader, Writer, fingerprint};
use crate::cell::Cell;
use crate::cost::Cost;
use crate::ground::Ground;
use crate::map::Map;
use crate::query::{PathQuery, RouteShape, StraightLine};
use crate::route::{Answer, QueryError, Route};
use crate::search::{Scratch, find_path};
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

/// A way between two places: its cost, and where its bends are.
#[derive(Clone, Copy)]
struct Way {
    cost: Cost,
    begin: usize,
    end: usize,
}

impl Places {
    /// Searches for the way from each cell to each other one. That takes a while if there are many, so a game does it on a
    /// thread of its own, or with the tools that make the map.
    ///
    /// # Errors
    /// [`QueryError`] if a cell lies outside the map or is blocked.
    pub fn new(snapshot: &Snapshot, cells: &[Cell], scratch: &mut Scratch) -> Result<Self, QueryError> {
        let ground = Arc::clone(&snapshot.ground);
        let mut places = Self { ground, cells: cells.to_vec(), ways: Vec::new(), bends: Vec::new() };
        for (from, to) in pairs(cells) {
            let query = PathQuery::new(from, to);
            let query = query.shape(RouteShape::Corners).straight_line(StraightLine::Never);
            let way = match find_path(snapshot, &query, scratch)? {
                Answer::Found(route) => {
                    let begin = places.bends.len();
                    places.bends.extend(route.cells());
                    let way = Way { cost: route.cost(), begin, end: places.bends.len() };
                    scratch.recycle(route);
                    Some(way)
                }
                Answer::Partial { .. } | Answer::Unreachable { .. } | Answer::OutOfBudget { .. } => None,
            };
            places.ways.push(way);
        }
        Ok(places)
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
        let bends = &self.bends[way.begin..way.end];
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
            for way in &self.ways {
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
        let (mut ways, mut bends) = (Vec::with_capacity(section.left().min(cells.len().pow(2))), Vec::new());
        for (from, to) in pairs(&cells) {
            ways.push(read_way(map, from, to, &mut section, &mut bends)?);
        }
        section.finish()?;
        Ok(Self { ground: Arc::clone(&snapshot.ground), cells, ways, bends })
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Places({}, {} bends)", self.cells.len(), self.bends.len())
    }
}

/// From each to each.
fn pairs(cells: &[Cell]) -> impl Iterator<Item = (Cell, Cell)> {
    cells.iter().flat_map(|from| cells.iter().map(|to| (*from, *to)))
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

/// A way whose legs each go in one direction.
fn read_way(
    map: &Map,
    from: Cell,
    to: Cell,
    reader: &mut Reader<'_>,
    bends: &mut Vec<Cell>,
) -> Result<Option<Way>, BakeError> {
    let count: u64 = reader.number()?;
    if count == 0 {
        return Ok(None);
    }
    let cost = reader.number()?;
    let begin = bends.len();
    bends.push(from);
    for _ in 2..count {
        bends.push(read_cell(map, reader)?);
    }
    if count > 1 {
        bends.push(to);
    }
    let is_leg = |leg: &[Cell]| {
        let (dx, dy) = leg[0].gap(leg[1]);
        dx == 0 || dy == 0 || dx == dy
    };
    let arrives = bends.last() == Some(&to) && bends[begin..].windows(2).all(is_leg);
    if arrives { Ok(Some(Way { cost, begin, end: bends.len() })) } else { Err(BakeError::Damaged) }
}
