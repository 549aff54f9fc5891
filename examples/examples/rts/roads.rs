//! Roads and bridges: in comes wild land with its rivers, out comes land where every shore can be reached.
//!
//! A bridge is built straight across a river where it is narrow. A road is the cheapest path from the camp to a
//! bridge or to the edge of the land, found by the very search that units use.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::terrain::{Ground, Land, River, SIDE, cells, rough};

/// No road leads over it.
pub(crate) const WATER: Terrain = Terrain(9);

/// What a bend costs a road, in steps over roads: few bends, but no straight lines through everything.
const BEND: u32 = 900;

/// A bridge that carries an army, where each river passes the camp, ...
const WIDE: i32 = 3;

/// ... and one that two units pass each other on.
const NARROW: i32 = 2;

/// A way over a river.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bridge {
    /// The cells on land before and behind its middle.
    pub(crate) ends: [Cell; 2],
    /// How many cells are side by side.
    pub(crate) width: i32,
}

/// Builds all bridges, and roads to them and beyond.
pub(crate) fn lay(land: &mut Land, rivers: &[River]) {
    let mut ends = vec![Cell::new(SIDE / 2, SIDE - 6), Cell::new(SIDE / 2, 5)];
    ends.extend([Cell::new(SIDE - 6, SIDE / 2), Cell::new(5, SIDE / 2)]);
    ends.extend([(10, 10), (SIDE - 11, 10), (10, SIDE - 11), (SIDE - 11, SIDE - 11)].map(Cell::from));
    for river in rivers {
        for (around, width) in [(SIDE / 8, NARROW), (SIDE / 2, WIDE), (SIDE - SIDE / 8, NARROW)] {
            let bridge = bridge(land, river, around, width);
            land.bridges.extend(bridge);
            ends.extend(bridge.into_iter().flat_map(|bridge| bridge.ends));
        }
    }
    // The near ones first: the far ones join their roads.
    ends.sort_by_key(|end| crate::terrain::distance_squared(*end, land.camp));
    for end in ends {
        road(land, end);
    }
}

/// The land as a road builder sees it.
pub(crate) fn map_of(land: &Land) -> Map {
    let side = SIDE.unsigned_abs();
    let mut map = Map::new(side, side).unwrap_or_default();
    for cell in cells() {
        let terrain = match land.at(cell) {
            Ground::Road | Ground::Bridge(_) => 0,
            // Even meadows differ, so that roads wind.
            Ground::Grass if rough(land.seed ^ 21, cell, 9) < 500 => 1,
            Ground::Grass => 2,
            Ground::Tree => 3,
            Ground::Swamp => 4,
            Ground::Rock => 5,
            Ground::Water => WATER.0,
        };
        let inside = map.set(cell, Terrain(terrain));
        debug_assert!(inside.is_ok());
    }
    map
}

/// Builds the shortest bridge over a river somewhere around this step along it.
fn bridge(land: &mut Land, river: &River, around: i32, width: i32) -> Option<Bridge> {
    let reach = |step: i32| {
        let middle = river.middle(step)?;
        let is_wet = |across: &i32| land.at(river.cell(step, *across)) == Ground::Water;
        let last = (middle..middle + 8).take_while(is_wet).last()?;
        let first = (middle - 8..=middle).rev().take_while(is_wet).last()?;
        Some((first, last))
    };
    // All lanes are as long as the longest has to be.
    let span = |step: i32| {
        let lanes: Option<Vec<_>> = (step..step + width).map(reach).collect();
        let (firsts, lasts): (Vec<_>, Vec<_>) = lanes?.into_iter().unzip();
        let (first, last) = (firsts.into_iter().min()?, lasts.into_iter().max()?);
        (last - first < 8).then_some((last - first, step, first, last))
    };
    let (_, step, first, last) = (around - 12..around + 12).filter_map(span).min()?;
    for lane in step..step + width {
        for across in first - 1..=last + 1 {
            let cell = river.cell(lane, across);
            let is_wet = land.at(cell) == Ground::Water;
            land.set(cell, if is_wet { Ground::Bridge(river.course.across()) } else { Ground::Road });
        }
    }
    let middle = step + width / 2;
    let ends = [river.cell(middle, first - 1), river.cell(middle, last + 1)];
    for end in ends {
        clear(land, end, width);
    }
    Some(Bridge { ends, width })
}

/// Builds the cheapest road from the camp to here, or to as near as it gets.
fn road(land: &mut Land, end: Cell) {
    let costs = [(0, 1), (1, 2), (2, 4), (3, 6), (4, 9), (5, 16)];
    let builders = costs.into_iter().fold(Class::default().without(WATER), |class, (terrain, cost)| {
        class.with(Terrain(terrain), Factor::whole(cost))
    });
    let rules = Rules { directions: Directions::Four, ..default() };
    let snapshot = Snapshot::new(&map_of(land), &View { rules, class: builders, ..View::default() });
    let query = PathQuery::new(land.camp, end)
        .straight_line(StraightLine::Never)
        .objective(Objective::TurnCost(BEND))
        .fallback(Fallback::Nearest);
    let answer = find_path(&snapshot, &query, &mut Scratch::new()).ok();
    let route = answer.and_then(Answer::into_route).map(Route::into_cells).unwrap_or_default();
    for cell in route {
        if !matches!(land.at(cell), Ground::Bridge(_)) {
            land.set(cell, Ground::Road);
        }
        clear(land, cell, 1);
    }
}

/// Cuts the trees around a cell: where many walk, a road alone is too narrow.
fn clear(land: &mut Land, cell: Cell, reach: i32) {
    for near in Area::new(cell + (-reach, -reach), cell + (reach, reach)).cells() {
        if land.at(near) == Ground::Tree {
            land.set(near, Ground::Grass);
        }
    }
}
