//! Walls everywhere: a public map of a city, units at random places, each with a goal of its own.

use std::path::Path;
use std::{env, fs};

use wayfare::movingai;
use wayfare::prelude::{Area, Cell};

use super::{give_up, steps};
use crate::crowd::drive::{Finish, Ground, World};
use crate::crowd::play::{Setup, Watch};
use crate::crowd::unit::Unit;
use crate::measure::SplitMix;

/// Below the folder of maps.
const MAP: &str = "cities/London_2_256.map";

const UNITS: usize = 500;

/// Looked for in the folder that `WAYFARE_MOVINGAI` names, or in `../shared/movingai` beside the project.
pub(super) fn london(seed: u64) -> Option<Setup> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = env::var_os("WAYFARE_MOVINGAI").unwrap_or_else(|| "../shared/movingai".into());
    let text = fs::read_to_string(root.join(folder).join(MAP)).ok()?;
    let ground = Ground::new(&movingai::parse_map(&text).ok()?);
    let mut random = SplitMix::new(seed);
    let mut cells: Vec<Cell> = ground.snapshot.map().area().into_iter().flat_map(Area::cells).collect();
    cells.retain(|cell| ground.snapshot.is_open(*cell));
    let (mut starts, mut goals) = (Vec::new(), Vec::new());
    while starts.len() < UNITS {
        let (start, goal) = (cells[random.below(cells.len())], cells[random.below(cells.len())]);
        let is_new = !starts.contains(&start) && !goals.contains(&goal) && start != goal;
        if is_new && ground.snapshot.reachable(start, goal) {
            starts.push(start);
            goals.push(goal);
        }
    }
    let place = |cell: &Cell| ground.layout.centre(*cell);
    let ways = starts.iter().map(place).zip(goals.iter().map(place));
    let units = ways.zip(0..).map(|((from, to), id)| Unit::new(id, from, to)).collect();
    let world = World::new(units, Some(ground), Finish::Goal);
    // The longest way of all.
    let ideal = steps((0..UNITS).map(|index| world.to_go(index)).fold(0.0, f32::max));
    Some(Setup { world, ideal, cap: give_up(ideal, 1.5), linger: 0, watch: Watch::Nothing })
}
