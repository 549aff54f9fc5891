//! From edits to what searches read: maps that changed become a new [`Scene`], and paths that suffer are planned again.
//!
//! Comes in: `NavMap`s and their transforms. Goes out: the scene, `PathInvalidated`, units to be planned for.

use std::sync::Arc;

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::Allow;
use bevy::prelude::*;
use wayfare::CellShape;
use wayfare::follow::is_worse;

use crate::agent::{Agent, OnMap};
use crate::event::{FailureReason, PathInvalidated};
use crate::lay::lay_tiles;
use crate::life::fail;
use crate::map::NavMap;
use crate::motion::{Motion, Stage, Walkers, Whereabouts, WhereaboutsItem};
use crate::obstacle::place_obstacles;
use crate::path::{Path, Reach};
use crate::plugin::{Following, PathfindingClock};
use crate::queue::{Desk, Item, Pool};
use crate::request::{Goal, Goals, PathRequest};
use crate::scene::{Place, Scene};
use crate::settings::PathfindingSettings;
#[cfg(feature = "tilemap")]
use crate::tilemap;
#[cfg(feature = "tilemap_chunk")]
use crate::tilemap_chunk;

/// Lets maps follow the tiles they are made of and the obstacles that stand on them.
///
/// Runs in the plugin's schedule, so that a step sees what was built before it, and once more at the end of the frame, so
/// that a map is never a frame behind its tiles. Both times the same systems run, which know what they have seen.
pub(crate) fn sync_ground(world: &mut World) -> Result {
    #[cfg(feature = "tilemap")]
    {
        world.run_system_cached(tilemap::shape_layers)?;
        world.run_system_cached(tilemap::read_tiles)?;
    }
    #[cfg(feature = "tilemap_chunk")]
    world.run_system_cached(tilemap_chunk::read_chunks)?;
    world.run_system_cached(lay_tiles)?;
    world.run_system_cached(place_obstacles)?;
    Ok(())
}

/// Looks at all maps that changed, and lets searches begun from now on read them as they are now.
pub(crate) fn sync_maps(
    // Writes
    mut clock: ResMut<PathfindingClock>,
    mut maps: Query<(Entity, &mut NavMap, Ref<Transform>, Option<Ref<GlobalTransform>>, Has<ChildOf>)>,
    mut scene: ResMut<Scene>,
    mut changes: ResMut<Changes>,
    pool: Res<Pool>,
) {
    clock.advance();
    changes.clear();
    for (entity, mut map, transform, global, child) in &mut maps {
        let global = global.filter(|_| child);
        let moved = transform.is_changed() || global.as_ref().is_some_and(|global| global.is_changed());
        // One that was disabled has left the scene, and has not changed since.
        let is_known = scene.place(entity).is_some();
        if is_known && !moved && !map.is_changed() {
            continue;
        }
        let global = global.map_or_else(|| GlobalTransform::from(*transform), |global| *global);
        if let Some(new) = map.bypass_change_detection().refresh(entity, &global, scene.place(entity)) {
            changes.changed.push((scene.place(entity).cloned(), new));
        }
    }
    let gone = scene.places.iter().map(|place| place.map).filter(|map| !maps.contains(*map));
    changes.gone.extend(gone);
    if changes.is_empty() {
        return;
    }
    let mut places: Vec<Arc<Place>> = scene.places.iter().cloned().collect();
    places.retain(|place| !changes.gone.contains(&place.map));
    // An entity's own order runs against that of its index.
    changes.changed.sort_by_key(|(_, new)| new.map.index_u32());
    for (_, new) in &changes.changed {
        match places.iter_mut().find(|place| place.map == new.map) {
            Some(place) => *place = Arc::clone(new),
            None => places.push(Arc::clone(new)),
        }
    }
    scene.places = Arc::new(places);
    pool.post(|post| post.scene = Some(scene.clone()));
}

/// What happened to maps in this run of the schedule.
#[derive(Resource, Default, Debug)]
pub(crate) struct Changes {
    /// What they were, if they were, and what they are.
    changed: Vec<(Option<Arc<Place>>, Arc<Place>)>,
    gone: Vec<Entity>,
}

impl Changes {
    fn clear(&mut self) {
        self.changed.clear();
        self.gone.clear();
    }

    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }

    fn of(&self, map: Option<Entity>) -> Option<(&Arc<Place>, &Arc<Place>)> {
        let (old, new) = self.changed.iter().find(|(_, new)| Some(new.map) == map)?;
        Some((old.as_ref()?, new))
    }

    /// Whether the cell at this position was free before.
    fn has_blocked(&self, place: &Place, agent: &Agent, position: Vec3) -> bool {
        let before = self.of(Some(place.map)).and_then(|(old, _)| old.view(agent.class).ok());
        let cell = place.cell_at(position);
        before.zip(cell).is_some_and(|(before, cell)| before.is_open(cell))
    }
}

pub(crate) fn maps_changed(changes: Res<Changes>) -> bool {
    !changes.is_empty()
}

/// Plans again for exactly those units whose remaining path is blocked or dearer now, or led to the nearest point only and need
/// not any more; ends the orders of those whose map is gone; gets those out on whom a wall was built.
pub(crate) fn check_paths(
    // Reads
    changes: Res<Changes>,
    scene: Res<Scene>,
    settings: Res<PathfindingSettings>,
    following: Res<Following>,
    pool: Res<Pool>,
    // Writes
    mut units: Query<
        (
            Entity,
            &mut Path,
            Option<(&Agent, &mut Motion)>,
            Option<&OnMap>,
            Option<Whereabouts>,
            Option<&PathRequest>,
        ),
        Allow<Disabled>,
    >,
    mut walkers: ResMut<Walkers>,
    mut desk: ResMut<Desk>,
    mut commands: Commands,
) {
    for (entity, mut path, walker, on_map, at, request) in &mut units {
        let about = if path.is_waiting() { path.order.map } else { path.map };
        if path.is_busy() && about.is_some_and(|map| changes.gone.contains(&map)) {
            let motion = walker.map(|(_, motion)| motion.into_inner());
            pool.post(|post| post.push(Item::Cancel(entity)));
            fail(entity, FailureReason::Cancelled, &mut path, motion, &mut desk, &mut walkers, &mut commands);
            continue;
        }
        if path.is_busy() {
            let Some((old, new)) = changes.of(path.map).filter(|_| !path.points.is_empty()) else { continue };
            if !has_suffered(&path, old, new, at.as_ref()) {
                let is_open =
                    |request| !path.is_waiting() && is_reachable_now(&path, request, new, at.as_ref());
                if request.is_some_and(is_open) {
                    desk.replan(entity, &mut path);
                }
                continue;
            }
            path.order.broken = true;
            if request.is_some() && !path.is_waiting() {
                commands.trigger(PathInvalidated { entity });
                desk.replan(entity, &mut path);
            } else if let (None, Some((_, mut motion))) = (request, walker) {
                // It was only getting out of a wall; where it comes to rest it looks again.
                desk.keep(path.take());
                motion.halt();
            }
        } else if let (Some((agent, mut motion)), Some(at)) = (walker, at)
            && *following == Following::On
            && motion.stage == Stage::Still
            && let Some((place, out)) = way_out(&scene, agent, on_map, at.position(), settings.escape_cells)
            && changes.has_blocked(place, agent, at.position())
        {
            motion.set_out(place.plane, &at, agent.facing);
            walk_out(&mut path, &mut motion, agent, place, out);
            walkers.0 += 1;
        }
    }
}

fn has_suffered(path: &Path, old: &Place, new: &Place, at: Option<&WhereaboutsItem<'_, '_>>) -> bool {
    let (Ok(before), Some(footing)) = (old.view(path.kind), new.footing(path.kind)) else {
        return true;
    };
    if old.layout != new.layout || old.plane != new.plane {
        return true;
    }
    let points = path.points();
    let from = at.map(|at| new.plane.flat(at.position())).or_else(|| points.first().copied());
    from.is_some_and(|from| is_worse(footing, before, points, from))
}

/// Whether a path that led to the nearest point only could lead to a goal now. The islands know; it takes no search.
fn is_reachable_now(
    path: &Path,
    request: &PathRequest,
    place: &Place,
    at: Option<&WhereaboutsItem<'_, '_>>,
) -> bool {
    let Some(footing) = place.footing(path.kind) else { return false };
    let (view, layout) = (footing.snapshot, footing.layout);
    let from = at.and_then(|at| place.cell_at(at.position()));
    let target = path.order.target.map(|(_, at)| at);
    let opens = |goal: &Goal| {
        let cell = match *goal {
            Goal::Position(position) => place.cell_at(position),
            Goal::Point(point) => layout.cell_at(point),
            Goal::Cell(cell) => Some(cell.into()),
            Goal::Entity(_) => target.and_then(|at| layout.cell_at(at)),
        };
        let berth = cell.and_then(|cell| footing.berth(layout.centre(cell)));
        from.zip(berth).is_some_and(|(from, to)| view.reachable(from, to))
    };
    let goals = match &request.goals {
        Goals::One(goal) => core::slice::from_ref(goal),
        Goals::Nearest(goals) => goals,
    };
    path.reach == Reach::Nearest && request.from.is_none() && goals.iter().any(opens)
}

/// From where a unit without an order stands to the nearest free cell, if its own is blocked.
pub(crate) fn way_out<'a>(
    scene: &'a Scene,
    agent: &Agent,
    on_map: Option<&OnMap>,
    position: Vec3,
    escape_cells: u32,
) -> Option<(&'a Arc<Place>, [Vec2; 2])> {
    let place = match on_map {
        Some(OnMap(map)) => scene.place(*map),
        None => scene.place_under(position),
    }?;
    let (cell, view) = (place.cell_at(position)?, place.view(agent.class).ok()?);
    let square = place.layout.is_some_and(|layout| layout.shape() == CellShape::Parallelogram);
    if view.is_open(cell) || !square {
        return None;
    }
    let at = place.plane.flat(position);
    // If it has no room anywhere near, out of the wall is better than in it.
    let roomy = place.footing(place.kind(agent.class, agent.radius))?.entry(at, escape_cells);
    let free = roomy.or_else(|| view.nearest_open_within(cell, escape_cells))?;
    Some((place, [at, place.layout?.centre(free)]))
}

/// Sends a unit out of a wall. Nobody ordered it, so nobody hears of it.
pub(crate) fn walk_out(
    path: &mut Path,
    motion: &mut Motion,
    agent: &Agent,
    place: &Place,
    way_out: [Vec2; 2],
) {
    path.points.extend(way_out);
    (path.map, path.kind, path.version) = (Some(place.map), agent.class.into(), place.version());
    path.radius = agent.radius;
    path.reach = Reach::Goal;
    motion.stage = Stage::Walking;
    // The first step is planned with the next run.
    (motion.planned, motion.arrives) = (motion.position, false);
}
