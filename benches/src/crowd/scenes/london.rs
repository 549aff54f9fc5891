//! Walls everywhere: a public map of a city, units at random places, each with a goal of its own.

use std::path::Path;
use std::{env, fs};

use wayfare::movingai;
use wayfare::prelude::{Area, Cell};

use super::{give_up, steps};
use crate::crowd::drive::{Finish, Ground, World};
use crate::crowd::play::{Setup, Watch};
use crate::crowd::unit::{RADIUS, Unit};
use crate::measure::SplitMix;

/// Below the folder of maps.
const MAP: &str = "cities/London_2_256.map";

const UNITS: usize = 500;

/// Of units of all sizes there are fewer.
const MIXED_UNITS: usize = 200;

/// Every fourth of them has the largest of these radii, every other one the smallest.
const RADII: [f32; 4] = [RADIUS, 0.8, RADIUS, 1.2];

/// Five hundred that fit into a cell.
pub(super) fn london(seed: u64) -> Option<Setup> {
    setup(seed, UNITS, &[RADIUS])
}

/// Units of all sizes, who meet at corners and in streets that have no room for two of the large ones.
pub(super) fn london_mixed(seed: u64) -> Option<Setup> {
    setup(seed, MIXED_UNITS, &RADII)
}

/// The map is looked for in the folder that `WAYFARE_MOVINGAI` names, or in `../shared/movingai` beside the project.
fn setup(seed: u64, count: usize, radii: &[f32]) -> Option<Setup> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = env::var_os("WAYFARE_MOVINGAI").unwrap_or_else(|| "../shared/movingai".into());
    let text = fs::read_to_string(root.join(folder).join(MAP)).ok()?;
    let large: Vec<f32> = radii.iter().copied().filter(|radius| *radius > RADIUS).collect();
    let ground = Ground::new(&movingai::parse_map(&text).ok()?).with_sizes(&large);
    let mut random = SplitMix::new(seed);
    let mut cells: Vec<Cell> = ground.snapshot.map().area().into_iter().flat_map(Area::cells).collect();
    cells.retain(|cell| ground.snapshot.is_open(*cell));
    let mut units: Vec<Unit> = Vec::new();
    while units.len() < count {
        let (start, goal) = (cells[random.below(cells.len())], cells[random.below(cells.len())]);
        let radius = radii[units.len() % radii.len()];
        let [from, to] = [start, goal].map(|cell| ground.layout.centre(cell));
        let is_apart = |other: &Unit| {
            let least = radius + other.radius;
            from.distance(other.home) >= least && to.distance(other.goal) >= least
        };
        let room = ground.footing_of(radius).snapshot;
        if start != goal && room.reachable(start, goal) && units.iter().all(is_apart) {
            units.push(Unit { radius, ..Unit::new(units.len() as u64, from, to) });
        }
    }
    let world = World::new(units, Some(ground), Finish::Goal);
    // The longest way of all.
    let ideal = steps((0..count).map(|index| world.to_go(index)).fold(0.0, f32::max));
    Some(Setup { world, ideal, cap: give_up(ideal, 1.5), linger: 0, watch: Watch::Nothing })
}
