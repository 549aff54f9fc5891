//! Jams of many: what takes long is spread over runs of the schedule, and nobody is forgotten.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

/// How many are served in one run.
const TURNS: usize = 8;

#[derive(Resource, Default)]
struct Halted(usize);

#[test]
fn many_who_stand_before_a_wall_of_locked_units_all_get_around_it() {
    let map = NavMap::new(Map::new(40, 60).unwrap());
    let mut game = Game::on(map, PathfindingPlugin::default()).tuned(|settings| {
        settings.drive = Drive::InFrame;
        // Whoever asks is answered at once.
        settings.frame_budget = core::time::Duration::from_secs(10);
    });
    game.app.init_resource::<Halted>();
    game.app.add_observer(|_: On<Stuck>, mut halted: ResMut<Halted>| halted.0 += 1);
    for y in 16..44 {
        let tower = game.unit(20, y);
        game.world().entity_mut(tower).insert(Avoidance::LOCKED);
    }
    let units: Vec<Entity> = (0..18).map(|i| game.unit(16, 21 + i)).collect();
    for (unit, y) in units.iter().zip(21..) {
        game.order(*unit, PathRequest::to(Cell::new(24, y)));
    }
    game.until("all have their first way", |game| game.heard().len() == units.len());
    game.take_heard();
    let (mut most, mut before) = (0, 0);
    let mut served = std::collections::BTreeSet::new();
    game.until("all arrive", |game| {
        let found = |heard: &&Heard| matches!(heard, Heard::Found(..));
        let now = game.heard().iter().filter(found).count();
        (most, before) = (most.max(now - before), now);
        served.extend(game.heard().iter().filter(found).map(|heard| heard.unit()));
        units.iter().all(|unit| game.has_heard(Heard::Arrived(*unit, Reach::Goal)))
    });
    assert_eq!(served.len(), units.len(), "each was led around");
    assert_eq!(most, TURNS, "so many in one run, and not all");
    assert_eq!(game.app.world().resource::<Halted>().0, 0, "nobody has given up");
}
