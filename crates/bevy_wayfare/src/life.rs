//! How an order ends: arrived or failed. The request goes, the game hears of it.

use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;

use crate::agent::Agent;
use crate::event::{Arrived, FailureReason, PathFailed};
use crate::motion::{Motion, Walkers};
use crate::path::Path;
use crate::queue::Desk;
use crate::request::{Goal, Goals, PathRequest};
use crate::scene::Scene;

/// A unit is at the end of its path. If a new order is on its way that leads elsewhere, it stands and waits for that.
pub(crate) fn arrive(
    entity: Entity,
    path: &mut Path,
    motion: &mut Motion,
    goes_on: bool,
    desk: &mut Desk,
    commands: &mut Commands,
) {
    motion.halt();
    let errand = path.errand.take();
    desk.keep(path.take());
    if let Some(mut errand) = errand {
        // It was only getting out of somebody's way.
        path.errand = errand.arrive().then_some(errand);
        return;
    }
    if path.is_waiting() && goes_on {
        return;
    }
    path.order.close();
    path.order.target = None;
    let reach = path.reach;
    close(commands, entity, path.order.asked, move |world| world.trigger(Arrived { entity, reach }));
}

/// Whether a request leads elsewhere than to where the unit stands. A unit that is ordered to the same place again and
/// again arrives nevertheless.
pub(crate) fn leads_on(
    request: Option<&PathRequest>,
    scene: &Scene,
    path: &Path,
    motion: &Motion,
    agent: &Agent,
) -> bool {
    let Some(PathRequest { from: None, goals: Goals::One(goal), .. }) = request else { return true };
    let layout = path.map.and_then(|map| scene.place(map)).and_then(|place| place.layout);
    let goal = match *goal {
        Goal::Position(position) => Some(motion.plane.flat(position)),
        Goal::Point(point) => Some(point),
        Goal::Cell(cell) => layout.map(|layout| layout.centre(cell.into())),
        Goal::Entity(_) => path.order.target.map(|(_, at)| at),
    };
    goal.is_none_or(|goal| goal.distance(motion.position) > agent.arrival_radius.max(0.0))
}

/// An order cannot be fulfilled. The unit stands still.
pub(crate) fn fail(
    entity: Entity,
    reason: FailureReason,
    path: &mut Path,
    motion: Option<&mut Motion>,
    desk: &mut Desk,
    walkers: &mut Walkers,
    commands: &mut Commands,
) {
    path.order.close();
    path.order.target = None;
    path.order.retries = 0;
    if let Some(motion) = motion {
        // Wherever it stands then, it comes to rest there, and looks whether it can.
        motion.settle();
        walkers.0 += 1;
    }
    desk.keep(path.take());
    close(commands, entity, path.order.asked, move |world| world.trigger(PathFailed { entity, reason }));
}

/// Removes the request and tells the game, unless the request has been replaced or removed since it was asked: then the
/// game wants something else and hears nothing.
fn close(
    commands: &mut Commands,
    entity: Entity,
    asked: Option<Tick>,
    tell: impl FnOnce(&mut World) + Send + 'static,
) {
    commands.queue(move |world: &mut World| {
        let Ok(mut unit) = world.get_entity_mut(entity) else { return };
        let request = unit.get_ref::<PathRequest>();
        if request.is_some_and(|request| Some(request.last_changed()) == asked) {
            unit.remove::<PathRequest>();
            tell(world);
        }
    });
}
