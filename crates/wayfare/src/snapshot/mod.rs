//! What searches read: a [`Snapshot`] is a map seen through a view at one moment, with its islands.
//!
//! It never changes under a search. A game keeps one per view, [refreshes](Snapshot::refresh) it after edits, and
//! hands it to searches behind an `Arc`; what did not change is shared between the old and the new one.

mod bake;

use core::fmt;
use std::sync::Arc;

use crate::bits::Bits;
use crate::cell::{Area, Cell, Direction};
use crate::cost::{Cost, Factor};
use crate::ground::Ground;
use crate::island::{Island, Islands};
use crate::landmark::Landmarks;
use crate::map::{Map, Terrain};
use crate::rules::Rules;
use crate::search::line::Lines;
use crate::survey::known::Known;
use crate::view::View;

/// A map seen through a [`View`], ready to be searched.
#[derive(Clone)]
pub struct Snapshot {
    /// What searches walk on: the map, less what is too close to something blocked.
    pub(crate) ground: Arc<Ground>,
    pub(crate) islands: Islands,
    /// For [jumps](Self::jumps). Once there, they are kept up to date, be the ground even or not: what is free does not depend
    /// on its price.
    pub(crate) bits: Option<Arc<Bits>>,
    /// What a survey found out, if one was made.
    pub(crate) known: Option<Known>,
    /// What leads searches over uneven ground, if it was found out.
    pub(crate) landmarks: Option<Arc<Landmarks>>,
    /// The map itself.
    truth: Map,
}

/// What a [`Snapshot`] takes of memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SnapshotBytes {
    /// The terrain of all cells.
    pub map: usize,
    /// Who can reach whom.
    pub islands: usize,
    /// Which cells are free and where scans stop, on ground that is even or was.
    pub bits: usize,
}

impl Snapshot {
    /// Looks at `map` through `view`, and finds its islands.
    pub fn new(map: &Map, view: &View) -> Self {
        let ground = Ground::new(view.clearance.of(map, &view.class), view.clone());
        let islands = Islands::new(&ground);
        Self::of(map, ground, islands)
    }

    /// Sees what is free on a ground of which the islands are known.
    fn of(map: &Map, ground: Ground, islands: Islands) -> Self {
        let bits = ground.jump_costs().map(|_| Arc::new(Bits::new(&ground, Some(&islands))));
        Self { ground: Arc::new(ground), islands, bits, known: None, landmarks: None, truth: map.clone() }
    }

    /// Looks again, after edits. Only chunks that changed are labelled anew, or, with a [clearance](crate::Clearance), those
    /// where that made a difference. Returns whether anything changed.
    ///
    /// `map` need not be the one the snapshot was made from: any map of any size will do.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let mut map = Map::from_text(".#.")?;
    /// let mut snapshot = Snapshot::new(&map, &View::default());
    /// assert!(!snapshot.reachable(Cell::new(0, 0), Cell::new(2, 0)));
    /// map.set((1, 0), Terrain::OPEN)?;
    /// snapshot.refresh(&map);
    /// assert!(snapshot.reachable(Cell::new(0, 0), Cell::new(2, 0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refresh(&mut self, map: &Map) -> bool {
        let old = self.truth.clone();
        let same_shape = (old.width(), old.height()) == (map.width(), map.height());
        // A chunk is unchanged exactly if it is the same allocation: we hold it, so any edit had to copy it.
        if same_shape && map.chunks().changed_from(old.chunks()).next().is_none() {
            return false;
        }
        self.truth = map.clone();
        let (before, view) = (self.ground.map.clone(), self.view());
        let unchanged = |slot: usize| same_shape && Arc::ptr_eq(&old.chunks()[slot], &map.chunks()[slot]);
        let walkable = view.clearance.again(map, &view.class, &before, unchanged);
        Arc::make_mut(&mut self.ground).set_map(&walkable);
        let ground = &self.ground;
        self.islands = if same_shape { self.islands.updated(ground, &before) } else { Islands::new(ground) };
        self.bits = match (self.bits.take(), ground.jump_costs()) {
            (Some(mut bits), _) if same_shape => {
                let changed = walkable.chunks().changed_from(before.chunks());
                Arc::make_mut(&mut bits).update(ground, Some(&self.islands), changed);
                Some(bits)
            }
            (_, Some(_)) => Some(Arc::new(Bits::new(ground, Some(&self.islands)))),
            (_, None) => None,
        };
        let known = self.known.take().zip(self.bits.as_ref());
        self.known = known.and_then(|(known, bits)| known.again(ground, bits));
        // What held before holds where nothing has changed since.
        let is_alike =
            |slot: usize| same_shape && Arc::ptr_eq(&before.chunks()[slot], &walkable.chunks()[slot]);
        self.landmarks.take_if(|landmarks| !landmarks.hold_for(ground, is_alike));
        true
    }

    /// What the ground is like for jumps, and what their steps cost, where that is the same everywhere.
    pub(crate) fn jumps(&self) -> Option<(&Arc<Bits>, [u32; 3])> {
        self.bits.as_ref().zip(self.ground.jump_costs())
    }

    /// The same ground with a burden on some cells: they cost at least `factor`, for a search that should rather lead
    /// around whoever stands there. What is blocked stays so, and nothing else is.
    ///
    /// It is for one search. Nothing but the burdened chunks is copied, and the islands are shared.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let map = Map::new(9, 3)?;
    /// let snapshot = Snapshot::new(&map, &View::default());
    /// let burdened = snapshot.burdened(&[Cell::new(4, 1)], Factor::whole(20));
    /// let query = PathQuery::new((0, 1), (8, 1));
    /// let answer = find_path(&burdened, &query, &mut Scratch::new())?;
    /// assert!(answer.route().is_some_and(|route| !route.cells().contains(&Cell::new(4, 1))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn burdened(&self, cells: &[Cell], factor: Factor) -> Self {
        // A terrain that the map does not use stands for the burden; if it uses all, there is none.
        let unused = (0..Terrain::WALL.0).rev().map(Terrain).find(|terrain| self.map().count(*terrain) == 0);
        let Some(burden) = unused else { return self.clone() };
        let class = &self.view().class;
        let burden_cells = |map: &mut Map| {
            for cell in cells {
                let is_cheaper = class.factor(map.terrain(*cell)).is_some_and(|price| price < factor);
                if is_cheaper && map.terrain(*cell) != burden && map.set(*cell, burden).is_err() {
                    break;
                }
            }
        };
        let (mut map, mut truth) = (self.ground.map.clone(), self.truth.clone());
        burden_cells(&mut map);
        if self.view().clearance.is_none() {
            truth = map.clone();
        } else {
            burden_cells(&mut truth);
        }
        let view = View { class: class.clone().with(burden, factor), ..*self.view() };
        Self { ground: Arc::new(Ground::new(map, view)), truth, bits: None, known: None, ..self.clone() }
    }

    /// The map as it was when the snapshot was made or refreshed.
    pub fn map(&self) -> &Map {
        &self.truth
    }

    /// How much memory it takes, in bytes. What other snapshots and maps share with it is counted, a
    /// [survey](Self::survey) is not.
    pub fn bytes(&self) -> SnapshotBytes {
        SnapshotBytes {
            map: self.ground.map.bytes(),
            islands: self.islands.bytes(),
            bits: self.bits.as_ref().map_or(0, |bits| bits.bytes()),
        }
    }

    /// Whether the two show the very same ground: the same view of the same map, with no edit in between. Then they say the
    /// same about every path, whatever a [survey](Self::survey) has told one of them. False for equal maps that were looked
    /// at separately.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let mut map = Map::from_text("..#\n...")?;
    /// let snapshot = Snapshot::new(&map, &View::default());
    /// let mut later = snapshot.clone();
    /// assert!(later.is_of_same_ground(&snapshot));
    /// map.set((2, 0), Terrain::OPEN)?;
    /// later.refresh(&map);
    /// assert!(!later.is_of_same_ground(&snapshot));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_of_same_ground(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ground, &other.ground)
    }

    /// The view it is seen through.
    pub fn view(&self) -> &View {
        &self.ground.view
    }

    /// The movement rule of that view.
    pub fn rules(&self) -> Rules {
        self.ground.view.rules
    }

    /// Whether a unit may stand on `cell`, and has the room it needs there. Never outside the map.
    pub fn is_open(&self, cell: Cell) -> bool {
        self.ground.is_open(cell)
    }

    /// Whether `cell` itself is not blocked, however much room a unit needs. Never outside the map.
    #[inline]
    pub fn is_free(&self, cell: Cell) -> bool {
        self.ground.enters(self.truth.terrain(cell).0)
    }

    /// The cost of one step, or `None` if it is not legal.
    pub fn step_cost(&self, from: Cell, direction: Direction) -> Option<Cost> {
        self.ground.step_cost(from, direction).map(Cost::from)
    }

    /// The island `cell` belongs to, or `None` if it is blocked or outside.
    pub fn island(&self, cell: Cell) -> Option<Island> {
        self.ground.map.index(cell).and_then(|index| self.islands.at(index))
    }

    /// How many islands there are.
    pub fn island_count(&self) -> u32 {
        self.islands.count()
    }

    /// Whether a path between the two exists. Takes no search.
    pub fn reachable(&self, from: Cell, to: Cell) -> bool {
        self.island(from).is_some_and(|island| self.island(to) == Some(island))
    }

    /// Of all cells that can be reached from `from`, the one closest to `goal`: by straight distance, then by
    /// lower row, then by lower column. `None` if `from` is blocked or either lies outside. Takes no search.
    pub fn nearest_reachable(&self, from: Cell, goal: Cell) -> Option<Cell> {
        self.nearest_reachable_of(from, &[goal])
    }

    /// As [`nearest_reachable`](Self::nearest_reachable), closest to any of the `goals` that lie on the map.
    pub(crate) fn nearest_reachable_of(&self, from: Cell, goals: &[Cell]) -> Option<Cell> {
        let island = self.island(from)?;
        self.islands.nearest(&self.ground, goals, |other| other == island)
    }

    /// The open cell closest to `cell`, itself if it is open: where a unit caught in a wall gets out. `None` if
    /// nothing is open or `cell` lies outside.
    pub fn nearest_open(&self, cell: Cell) -> Option<Cell> {
        self.islands.nearest(&self.ground, &[cell], |_| true)
    }

    /// As [`nearest_open`](Self::nearest_open), but no more than so many columns and rows away. Looks at no more cells
    /// than that, however large the map is.
    ///
    /// ```
    /// use wayfare::prelude::*;
    ///
    /// let snapshot = Snapshot::new(&Map::from_text(".####.")?, &View::default());
    /// assert_eq!(snapshot.nearest_open_within(Cell::new(3, 0), 1), None);
    /// assert_eq!(snapshot.nearest_open_within(Cell::new(3, 0), 2), Some(Cell::new(5, 0)));
    /// # Ok::<(), MapTextError>(())
    /// ```
    pub fn nearest_open_within(&self, cell: Cell, cells: u32) -> Option<Cell> {
        self.nearest_open_where(cell, cells, |_| true)
    }

    /// As [`nearest_open_within`](Self::nearest_open_within), of those cells that will do.
    pub(crate) fn nearest_open_where(
        &self,
        cell: Cell,
        cells: u32,
        will_do: impl Fn(Cell) -> bool,
    ) -> Option<Cell> {
        let whole = self.map().area().filter(|_| self.map().contains(cell))?;
        let costs = self.rules().costs;
        let shorter = u64::from(costs.x().min(costs.y()));
        let mut best: Option<(u64, i32, i32)> = None;
        for radius in 0..=cells.min(Map::MAX_SIDE) {
            // The nearest cells of a ring lie straight above, below or beside.
            let bound = (u64::from(radius) * shorter).pow(2);
            if best.is_some_and(|(distance, ..)| bound > distance) {
                break;
            }
            let r = radius.cast_signed();
            let ring = Area::new((cell.x - r, cell.y - r), (cell.x + r, cell.y + r));
            for y in ring.min().y.max(whole.min().y)..=ring.max().y.min(whole.max().y) {
                let is_edge = y == ring.min().y || y == ring.max().y;
                let stride = if is_edge || r == 0 { 1 } else { 2 * r };
                let columns = (ring.min().x..=ring.max().x).step_by(stride.unsigned_abs() as usize);
                for open in columns.map(|x| Cell::new(x, y)).filter(|cell| self.is_open(*cell)) {
                    let key = (self.ground.distance_squared(open, cell), open.y, open.x);
                    if best.is_none_or(|best| key < best) && will_do(open) {
                        best = Some(key);
                    }
                }
            }
        }
        best.map(|(_, y, x)| Cell::new(x, y))
    }

    /// Whether the straight line between the centres of two cells touches open cells only and passes corners as
    /// the rule allows.
    pub fn line_of_sight(&self, from: Cell, to: Cell) -> bool {
        self.leg_cost(from, to).is_some()
    }

    /// What walking straight from one cell to another costs, or `None` if there is no
    /// [line of sight](Self::line_of_sight).
    ///
    /// Along the directions of the rule it is the sum of the steps. At other angles it is the straight distance,
    /// each part of it at the price of the terrain it crosses. As with steps, what is left behind is not charged
    /// for: the half cell at the start counts at the price of the end.
    pub fn leg_cost(&self, from: Cell, to: Cell) -> Option<Cost> {
        Lines::on(self).leg_cost(from, to)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({:?}, {:?}, {} islands)", self.ground.map, self.rules(), self.island_count())
    }
}
