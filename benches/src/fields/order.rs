//! Who is to go where: in comes a map, out come the units of an [`Order`] and their goals, the same on every run.

use wayfare::prelude::{Area, Cell, Snapshot};

use crate::measure::SplitMix;

/// So many units, all sent to one goal, or each to the nearest of several that are scattered over the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    pub(crate) stand: Stand,
    pub(crate) units: usize,
    pub(crate) goals: usize,
}

/// How units stand when they are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stand {
    /// Within 32 × 32 cells.
    Together,
    /// All over the map.
    Scattered,
}

/// How far apart units stand that stand together.
const SIDE: i32 = 32;

const fn together(units: usize, goals: usize) -> Order {
    Order { stand: Stand::Together, units, goals }
}

const fn scattered(units: usize, goals: usize) -> Order {
    Order { stand: Stand::Scattered, units, goals }
}

impl Order {
    /// The ones that are measured.
    pub(crate) const ALL: [Self; 10] = [
        together(16, 1),
        scattered(16, 1),
        together(1000, 1),
        scattered(1000, 1),
        scattered(10_000, 1),
        together(16, 8),
        scattered(16, 8),
        together(1000, 8),
        scattered(1000, 8),
        scattered(10_000, 8),
    ];

    /// Its key in tables and JSON.
    pub(crate) fn name(self) -> String {
        let stand = match self.stand {
            Stand::Together => "together",
            Stand::Scattered => "scattered",
        };
        match self.goals {
            1 => format!("{stand} {}", self.units),
            goals => format!("{stand} {} to {goals}", self.units),
        }
    }

    /// Goals, and units on the same island, several on a cell if there is no room. The island is that of a cell picked
    /// blindly, so that it is mostly a large one.
    pub(crate) fn draw(self, snapshot: &Snapshot, round: u64) -> Option<(Vec<Cell>, Vec<Cell>)> {
        let mut random = SplitMix::new(round * 7919 + self.units as u64);
        let whole = snapshot.map().area()?;
        let open: Vec<Cell> = whole.cells().filter(|cell| snapshot.is_open(*cell)).collect();
        let goal = *open.get(random.below(open.len().max(1)))?;
        let island: Vec<Cell> = open.into_iter().filter(|cell| snapshot.reachable(*cell, goal)).collect();
        let room = match self.stand {
            Stand::Scattered => island.clone(),
            Stand::Together => {
                let middle = island[random.below(island.len())];
                let corner = middle + (-SIDE / 2, -SIDE / 2);
                let square = Area::new(corner, corner + (SIDE - 1, SIDE - 1));
                island.iter().copied().filter(|cell| square.contains(*cell)).collect()
            }
        };
        let units = (0..self.units).map(|_| room[random.below(room.len())]).collect();
        let others = (1..self.goals).map(|_| island[random.below(island.len())]);
        Some((std::iter::once(goal).chain(others).collect(), units))
    }
}

#[cfg(test)]
mod tests {
    use wayfare::prelude::{Map, View};

    use super::*;

    #[test]
    fn units_stand_where_the_order_says_and_can_get_there() {
        let map = Map::from_text(&format!("{}\n{}", "....#".repeat(40), "....#".repeat(40))).expect("valid");
        let snapshot = Snapshot::new(&map, &View::default());
        for order in Order::ALL {
            let (goals, units) = order.draw(&snapshot, 1).expect("open cells");
            assert_eq!((units.len(), goals.len()), (order.units, order.goals));
            let is_reachable = |unit: &Cell| goals.iter().all(|goal| snapshot.reachable(*unit, *goal));
            assert!(units.iter().all(is_reachable));
            assert_eq!(order.draw(&snapshot, 1), Some((goals, units)), "the same on every run");
        }
        let open = Snapshot::new(&Map::new(300, 300).expect("small"), &View::default());
        let (_, units) = together(1000, 1).draw(&open, 2).expect("open cells");
        let (columns, rows) = units.iter().fold((0, 0), |most, unit| {
            let (x, y) = units[0].gap(*unit);
            (x.max(most.0), y.max(most.1))
        });
        assert!(columns < 32 && rows < 32, "{columns} × {rows}");
        assert_eq!(Order::ALL[0].draw(&Snapshot::new(&Map::default(), &View::default()), 0), None);
    }
}
