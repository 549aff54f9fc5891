//! The ground a search walks on: a [`Map`] with its terrain turned into step costs by a [`View`].
//!
//! All engines ask here which steps are legal and what they cost, so the movement rule is written once.

use crate::cell::{Cell, Direction};
use crate::cost::{Cost, StepCosts};
use crate::map::{CHUNK_CELLS, CHUNK_SHIFT, CHUNK_SIDE, Map, Terrain};
use crate::onward::Onward;
use crate::open::Open;
use crate::sieve::{Amid, Costs, Sieve};
use crate::view::View;

/// A map seen through a view.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) map: Map,
    pub(crate) view: View,
    /// Cost of entering each terrain along a row, along a column and diagonally; 0 where it cannot be entered.
    costs: Costs,
    /// What of its terrain can be entered.
    open: Open,
    /// Which steps are worth taking, on this ground and under this rule.
    onward: Onward,
    /// The same amid cells of one price.
    amid: Amid,
    /// The costs of a step if they are the same everywhere.
    even: Option<[u32; 3]>,
    /// The cheapest step of each kind over the terrain that is really there: what heuristics may count on.
    least: Least,
    /// The dearest step of any kind over the terrain that is really there.
    dearest: u32,
}

/// The cheapest step along a row, along a column and diagonally, anywhere on the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Least {
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) diagonal: u64,
}

/// One legal step out of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) direction: Direction,
    pub(crate) cell: Cell,
    pub(crate) index: u32,
    pub(crate) cost: u32,
}

impl Ground {
    pub(crate) fn new(map: Map, view: View) -> Self {
        let steps = view.rules.costs;
        let mut costs = [[0; 256]; 3];
        for (axis, step) in costs.iter_mut().zip([steps.x(), steps.y(), steps.diagonal()]) {
            for (id, cost) in (0..=u8::MAX).zip(axis) {
                *cost = view.class.factor(Terrain(id)).map_or(0, |factor| factor.apply(step));
            }
        }
        let even = find_even(&map, &costs);
        let onward = Onward::new(view.rules, even);
        let amid = Amid::new(view.rules, &onward, &costs);
        let least = find_least(&map, &costs).unwrap_or(Least {
            x: steps.x().into(),
            y: steps.y().into(),
            diagonal: steps.diagonal().into(),
        });
        let dearest = find_dearest(&map, &costs);
        let open = Open::new(&map, |id| costs[0][usize::from(id)] != 0);
        Self { open, onward, amid, map, view, costs, even, least, dearest }
    }

    /// The same view of a newer map.
    pub(crate) fn set_map(&mut self, map: &Map) {
        self.map = map.clone();
        self.open = Open::new(map, |id| self.costs[0][usize::from(id)] != 0);
        self.least = find_least(map, &self.costs).unwrap_or(self.least);
        self.dearest = find_dearest(map, &self.costs);
        let even = find_even(map, &self.costs);
        if even != self.even {
            self.even = even;
            self.onward = Onward::new(self.view.rules, even);
        }
    }

    /// The costs of a step if they are the same everywhere, and such that no detour beats a jump.
    pub(crate) fn jump_costs(&self) -> Option<[u32; 3]> {
        // Rounded factors may make a diagonal dearer than the two steps it replaces.
        self.even.filter(|[x, y, diagonal]| x.max(y) <= diagonal && *diagonal <= x + y)
    }

    /// What a step along a row, along a column and diagonally costs, if it is the same everywhere.
    pub(crate) const fn even(&self) -> Option<[u32; 3]> {
        self.even
    }

    /// The same on another map seen through this view.
    pub(crate) fn even_on(&self, map: &Map) -> Option<[u32; 3]> {
        find_even(map, &self.costs)
    }

    pub(crate) const fn least(&self) -> Least {
        self.least
    }

    pub(crate) const fn dearest(&self) -> u32 {
        self.dearest
    }

    /// Whether a step of each kind costs the same everywhere.
    pub(crate) const fn is_even(&self) -> bool {
        self.even.is_some()
    }

    /// How many cells can be entered.
    pub(crate) fn open_cells(&self) -> u64 {
        let open = (0..=u8::MAX).filter(|id| self.enters(*id));
        open.map(|id| u64::from(self.map.count(Terrain(id)))).sum()
    }

    #[inline]
    pub(crate) fn is_open(&self, cell: Cell) -> bool {
        self.enters(self.map.terrain(cell).0)
    }

    /// What of its terrain can be entered, for whoever looks at many cells at once.
    pub(crate) const fn open(&self) -> &Open {
        &self.open
    }

    #[inline]
    pub(crate) const fn enters(&self, terrain: u8) -> bool {
        self.costs[0][terrain as usize] != 0
    }

    /// The cost of the step from `from` in `direction`, or `None` if the rule or the ground forbids it.
    pub(crate) fn step_cost(&self, from: Cell, direction: Direction) -> Option<u32> {
        let rules = self.view.rules;
        let to = self.map.terrain(from.step(direction)).0;
        let is_side_free = |turn: usize| {
            let side = Direction::ALL[(direction as usize + turn) % 8];
            self.is_open(from.step(side))
        };
        let is_legal = rules.knows(direction)
            && self.enters(to)
            && self.is_open(from)
            && (!direction.is_diagonal() || rules.corners.allow(is_side_free(7), is_side_free(1)));
        is_legal.then(|| self.cost_of(direction, to))
    }

    /// The cost of a legal step in `direction` to a cell of this terrain.
    #[inline]
    pub(crate) fn cost_of(&self, direction: Direction, terrain: u8) -> u32 {
        self.costs[direction.axis()][terrain as usize]
    }

    /// Calls `visit` with every step worth taking out of the cell at `index`, clockwise from the top left, for a
    /// search that entered it in direction `entered` (or [`ANYHOW`]).
    #[inline]
    pub(crate) fn for_each_step(&self, index: u32, cell: Cell, entered: u8, mut visit: impl FnMut(Step)) {
        let (x, y) = (index & (CHUNK_SIDE - 1), index >> CHUNK_SHIFT & (CHUNK_SIDE - 1));
        let inner = 1..CHUNK_SIDE - 1;
        let is_inner = inner.contains(&x) && inner.contains(&y);
        let terrain = if is_inner { self.around_inner(index) } else { self.around_any(cell) };
        let mut worth = self.worth(entered, &terrain);
        while worth != 0 {
            let direction = Direction::ALL[worth.trailing_zeros() as usize & 7];
            worth &= worth - 1;
            let next = cell.step(direction);
            let index = if is_inner {
                index.wrapping_add_signed(OFFSETS[direction as usize])
            } else {
                self.map.index_inside(next)
            };
            let cost = self.cost_of(direction, terrain[direction as usize]);
            visit(Step { direction, cell: next, index, cost });
        }
    }

    /// The steps worth taking out of a cell entered in direction `entered` with this terrain around it, as bits.
    #[inline]
    pub(crate) fn worth(&self, entered: u8, around: &[u8; 8]) -> u8 {
        self.onward.steps(entered, self.free(around))
    }

    /// The steps worth taking out of a cell of terrain `own` that was entered in the directions `ways`, given as bits, if of
    /// several paths that cost the same one is enough. Amid its like that is seen at a glance.
    #[inline]
    pub(crate) fn sift(&self, own: u8, ways: u8, around: &[u8; 8]) -> u8 {
        if *around == [own; 8] {
            return self.amid.worth(ways);
        }
        let sieve = Sieve { rules: self.view.rules, onward: &self.onward, costs: &self.costs };
        sieve.around(own, ways, around, self.free(around))
    }

    /// Which of eight neighbours can be entered, as bits.
    #[inline]
    fn free(&self, terrain: &[u8; 8]) -> u8 {
        (0..8).fold(0, |free, i| free | u8::from(self.enters(terrain[i])) << i)
    }

    /// Terrain of the eight neighbours of a cell that is not at the border of its chunk.
    #[inline]
    pub(crate) fn around_inner(&self, index: u32) -> [u8; 8] {
        let chunk = &self.map.chunks()[(index >> (2 * CHUNK_SHIFT)) as usize].terrain;
        let north_west = (index as usize & (CHUNK_CELLS - 1)).saturating_sub(CHUNK_SIDE as usize + 1);
        // One check for the three rows of the window instead of one per neighbour.
        match chunk[north_west..].first_chunk::<{ 2 * CHUNK_SIDE as usize + 3 }>() {
            Some(at) => [at[0], at[1], at[2], at[66], at[130], at[129], at[128], at[64]],
            None => [Terrain::OUTSIDE.0; 8],
        }
    }

    /// Terrain of the eight neighbours of any cell.
    pub(crate) fn around_any(&self, cell: Cell) -> [u8; 8] {
        Direction::ALL.map(|direction| self.map.terrain(cell.step(direction)).0)
    }

    /// The steps worth taking out of a cell entered in direction `entered` whose neighbours in `free` can be entered,
    /// as bits.
    pub(crate) fn legal(&self, entered: u8, free: u8) -> u8 {
        self.onward.steps(entered, free)
    }

    /// Half of what the shorter of the straight steps into this terrain costs.
    #[inline]
    pub(crate) fn lean(&self, terrain: u8) -> u32 {
        self.shorter_steps()[usize::from(terrain)] / 2
    }

    /// The shorter of the straight steps into each terrain; 0 where it cannot be entered.
    pub(crate) fn shorter_steps(&self) -> &[u32; 256] {
        &self.costs[self.shorter_axis()]
    }

    /// Along which of rows and columns a step is shorter: 0 or 1.
    #[inline]
    pub(crate) fn shorter_axis(&self) -> usize {
        let steps = self.view.rules.costs;
        usize::from(steps.y() < steps.x())
    }

    /// What a step into a cell costs along a row, along a column and diagonally, or `None` if it is blocked.
    #[inline]
    pub(crate) fn prices(&self, cell: Cell) -> Option<[u32; 3]> {
        self.prices_of(self.map.terrain(cell).0)
    }

    /// As [`prices`](Self::prices), for a terrain.
    #[inline]
    pub(crate) fn prices_of(&self, terrain: u8) -> Option<[u32; 3]> {
        let terrain = usize::from(terrain);
        let prices = [self.costs[0][terrain], self.costs[1][terrain], self.costs[2][terrain]];
        (prices[0] != 0).then_some(prices)
    }

    /// The square of the straight distance between two cells of the map, in squared step costs.
    #[inline]
    pub(crate) fn distance_squared(&self, a: Cell, b: Cell) -> u64 {
        squared_distance(self.view.rules.costs, a, b)
    }
}

/// The costs of a step if they are the same on all terrain that is there.
fn find_even(map: &Map, costs: &Costs) -> Option<[u32; 3]> {
    let mut kinds = present(map, costs);
    let first = kinds.next()?;
    kinds.all(|other| other == first).then_some(first)
}

/// The cheapest steps, or `None` if nothing can be entered.
fn find_least(map: &Map, costs: &Costs) -> Option<Least> {
    let least = present(map, costs).reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].min(b[2])])?;
    Some(Least { x: least[0].into(), y: least[1].into(), diagonal: least[2].into() })
}

/// The dearest step; 0 if nothing can be entered.
fn find_dearest(map: &Map, costs: &Costs) -> u32 {
    present(map, costs).flatten().max().unwrap_or(0)
}

/// The costs of each terrain that is there and can be entered.
fn present(map: &Map, costs: &Costs) -> impl Iterator<Item = [u32; 3]> {
    let there = (0..=u8::MAX).filter(|id| map.count(Terrain(*id)) > 0);
    there.map(|id| costs.map(|axis| axis[usize::from(id)])).filter(|costs| costs[0] != 0)
}

/// How far in a chunk the eight neighbours are stored from a cell, clockwise from the top left.
pub(crate) const OFFSETS: [i32; 8] = [-65, -64, -63, 1, 65, 64, 63, -1];

/// Sides are below 2^14 cells and steps below 2^16, so the sum stays below 2^61.
pub(crate) fn squared_distance(steps: StepCosts, a: Cell, b: Cell) -> u64 {
    let (dx, dy) = a.gap(b);
    let (dx, dy) = (Cost::from(dx) * Cost::from(steps.x()), Cost::from(dy) * Cost::from(steps.y()));
    dx * dx + dy * dy
}
