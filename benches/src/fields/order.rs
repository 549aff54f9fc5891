//! Who is to go where: in comes a map, out come the units of an [`Order`] and their goal, the same on every run.

use wayfare::prelude::{Area, Cell, Snapshot};

use crate::measure::SplitMix;

/// How units stand when they are all sent to one goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// So many within 32 × 32 cells.
    Together(usize),
    /// So many all over the map.
    Scattered(usize),
}

/// How far apart units stand that stand together.
const SIDE: i32 = 32;

impl Order {
    /// The ones that are measured.
    pub(crate) const ALL: [Self; 5] = [
        Self::Together(16),
        Self::Scattered(16),
        Self::Together(1000),
        Self::Scattered(1000),
        Self::Scattered(10_000),
    ];

    /// Its key in tables and JSON.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Together(units) => format!("together {units}"),
            Self::Scattered(units) => format!("scattered {units}"),
        }
    }

    /// How many units there are.
    pub(crate) fn units(self) -> usize {
        match self {
            Self::Together(units) | Self::Scattered(units) => units,
        }
    }

    /// A goal, and units on the same island, several on a cell if there is no room. The island is that of a cell picked
    /// blindly, so that it is mostly a large one.
    pub(crate) fn draw(self, snapshot: &Snapshot, round: u64) -> Option<(Cell, Vec<Cell>)> {
        let mut random = SplitMix::new(round * 7919 + self.units() as u64);
        let whole = snapshot.map().area()?;
        let open: Vec<Cell> = whole.cells().filter(|cell| snapshot.is_open(*cell)).collect();
        let goal = *open.get(random.below(open.len().max(1)))?;
        let island: Vec<Cell> = open.into_iter().filter(|cell| snapshot.reachable(*cell, goal)).collect();
        let room = match self {
            Self::Scattered(_) => island,
            Self::Together(_) => {
                let middle = island[random.below(island.len())];
                let corner = middle + (-SIDE / 2, -SIDE / 2);
                let square = Area::new(corner, corner + (SIDE - 1, SIDE - 1));
                island.into_iter().filter(|cell| square.contains(*cell)).collect()
            }
        };
        let units = (0..self.units()).map(|_| room[random.below(room.len())]).collect();
        Some((goal, units))
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
            let (goal, units) = order.draw(&snapshot, 1).expect("open cells");
            assert_eq!(units.len(), order.units());
            assert!(units.iter().all(|unit| snapshot.reachable(*unit, goal)));
            assert_eq!(order.draw(&snapshot, 1), Some((goal, units)), "the same on every run");
        }
        let open = Snapshot::new(&Map::new(300, 300).expect("small"), &View::default());
        let (_, units) = Order::Together(1000).draw(&open, 2).expect("open cells");
        let (columns, rows) = units.iter().fold((0, 0), |most, unit| {
            let (x, y) = units[0].gap(*unit);
            (x.max(most.0), y.max(most.1))
        });
        assert!(columns < 32 && rows < 32, "{columns} × {rows}");
        assert_eq!(Order::ALL[0].draw(&Snapshot::new(&Map::default(), &View::default()), 0), None);
    }
}
