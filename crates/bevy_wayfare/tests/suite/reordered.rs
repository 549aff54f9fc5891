//! Units that are ordered elsewhere while they press towards where they were sent before: the crowd in their way ends the
//! old order, never the new one.

use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

const RADIUS: f32 = 0.4;

/// How long every search takes: longer than it takes to see that there is no room at the goal.
const TICKS: u32 = 300;

/// One unit stands on the goal, and another one that wants to the same point has come up to it. Its old order would end
/// in a moment.
fn pressing() -> (Game, Entity) {
    let map = NavMap::new(Map::new(20, 9).unwrap());
    let mut game = Game::on(map, PathfindingPlugin::default())
        .tuned(|settings| settings.delivery = Delivery::Lockstep { ticks: TICKS });
    let (first, second) = (game.unit(12, 4), game.unit(4, 4));
    let goal = game.centre(13, 4);
    for unit in [first, second] {
        game.order(unit, PathRequest::to(goal));
    }
    game.until("the second one is at the first one", |game| {
        game.position(second).distance(game.position(first)) < 2.1 * RADIUS
    });
    assert!(game.has_heard(Heard::Arrived(first, Reach::Goal)));
    assert!(game.has_request(second) && !game.path(second).is_empty());
    game.take_heard();
    (game, second)
}

/// Until the unit has gone where it was ordered to last.
fn goes_on(game: &mut Game, unit: Entity, there: Vec3) {
    let mut stood = false;
    game.until("the new order is answered", |game| {
        stood |= game.path(unit).is_empty();
        game.has_heard(Heard::Found(unit, Reach::Goal))
    });
    assert!(stood, "the old order has ended before");
    assert_eq!(game.take_heard(), [Heard::Found(unit, Reach::Goal)], "and nobody heard of that");
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    game.updates(2);
    assert_eq!(game.heard(), [Heard::Arrived(unit, Reach::Goal)]);
    assert!(!game.has_request(unit) && game.position(unit).distance(there) < 1e-3);
}

#[test]
fn who_gives_up_an_old_goal_goes_on_to_a_new_one() {
    let (mut game, unit) = pressing();
    let there = game.centre(2, 1);
    game.order(unit, PathRequest::to(there));
    goes_on(&mut game, unit, there);
}

#[test]
fn who_gives_up_an_old_goal_goes_on_with_a_group() {
    let (mut game, unit) = pressing();
    let there = game.centre(2, 1);
    game.world().spawn(GroupOrder::to(there).units([unit]));
    goes_on(&mut game, unit, there);
}

#[test]
fn who_gives_up_and_is_ordered_nowhere_else_has_arrived() {
    let (mut game, unit) = pressing();
    game.until("it settles", |game| !game.has_request(unit));
    assert_eq!(game.heard(), [Heard::Arrived(unit, Reach::Goal)]);
}
