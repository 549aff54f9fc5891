//! Who has nothing to do and stands in the way: in comes a bridge that others are sent over, goes out whether those who stand
//! before it let them pass and are back in the end.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::ground::{WALKERS, centre};
use crate::headless::{FRAME, Game};
use crate::roads::Bridge;
use crate::terrain::{cells, distance_squared};
use crate::units::Kind;

/// They have so many seconds for the way back. Who let somebody pass that is late waits for that one.
const HOMEWARD: f32 = 30.0;

/// How far from where they stood they end at most, in radii.
const HOME: f32 = 3.0;

/// Units without an order.
pub(crate) struct Idlers {
    units: Vec<Idler>,
}

struct Idler {
    unit: Entity,
    radius: f32,
    home: Vec2,
    /// How far away from it it has been.
    strayed: f32,
}

impl Idlers {
    /// Puts as many units before a bridge, every other cell.
    pub(crate) fn before(bridge: Bridge, count: usize, world: &mut World) -> Self {
        let mut query = world.query_filtered::<(Entity, &Agent), With<Kind>>();
        let mut units: Vec<_> = query.iter(world).map(|(unit, agent)| (unit, agent.radius)).collect();
        units.sort_unstable_by_key(|(unit, _)| unit.index_u32());
        let snapshot = world.query::<&NavMap>().single(world).ok().and_then(|map| map.snapshot(WALKERS).ok());
        let is_open = |cell: &Cell| {
            (cell.x + cell.y) % 2 == 0 && snapshot.as_ref().is_some_and(|snapshot| snapshot.is_open(*cell))
        };
        let mut places: Vec<Cell> = cells().filter(is_open).collect();
        places.sort_by_key(|cell| (distance_squared(*cell, bridge.ends[0]), cell.y, cell.x));
        let units = units.into_iter().zip(places).take(count).map(|((unit, radius), cell)| {
            let home = centre(cell);
            if let Some(mut at) = world.get_mut::<Transform>(unit) {
                (at.translation.x, at.translation.y) = (home.x, home.y);
            }
            Idler { unit, radius, home, strayed: 0.0 }
        });
        Self { units: units.collect() }
    }

    pub(crate) fn contain(&self, unit: Entity) -> bool {
        self.units.iter().any(|idler| idler.unit == unit)
    }

    /// Notes how far away from home each is.
    pub(crate) fn watch(&mut self, world: &World) {
        for idler in &mut self.units {
            idler.strayed = idler.strayed.max(idler.away(world));
        }
    }

    /// Lets them go home, and prints how they fared. Returns whether all are there.
    pub(crate) fn come_home(&self, game: &mut Game) -> bool {
        let mut seconds = 0.0;
        while seconds < HOMEWARD && self.farthest(game.app.world()) > HOME {
            game.app.update();
            seconds += FRAME.as_secs_f32();
        }
        let made_way = self.units.iter().filter(|idler| idler.strayed > idler.radius).count();
        let farthest = self.farthest(game.app.world());
        println!(
            "bridge: {made_way} of {} who stood before it made way, and {seconds:.1} s later are {farthest:.2} radii from home at most",
            self.units.len()
        );
        farthest <= HOME
    }

    /// How far from home any of them is, in its radii.
    fn farthest(&self, world: &World) -> f32 {
        self.units.iter().map(|idler| idler.away(world) / idler.radius).fold(0.0, f32::max)
    }
}

impl Idler {
    fn away(&self, world: &World) -> f32 {
        // One that is gone did not come back.
        let at = world.get::<Transform>(self.unit).map(|at| at.translation.truncate());
        at.map_or(f32::INFINITY, |at| at.distance(self.home))
    }
}
