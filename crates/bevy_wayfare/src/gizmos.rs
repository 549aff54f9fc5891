//! What the plugin knows, drawn: maps with their islands, paths, and who waits for how long. Feature `gizmos`.

use std::sync::Arc;

use bevy::color::palettes::css::{AQUA, GOLD, GRAY, LIME, ORANGE_RED, WHITE};
use bevy::gizmos::AppGizmoBuilder;
use bevy::prelude::*;
use wayfare::CellShape;
use wayfare::avoid::Rung;

use crate::agent::Agent;
use crate::avoid::{Crowds, Steering};
use crate::motion::{Motion, SafeVelocity, WantedVelocity, Whereabouts};
use crate::path::Path;
use crate::plane::Plane;
use crate::plugin::{PathfindingClock, PathfindingSystems};
use crate::scene::{Place, Scene};

/// Draws maps, paths and waiting units with Bevy's gizmos.
///
/// ```no_run
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// App::new()
///     .add_plugins((DefaultPlugins, PathfindingPlugin::default(), PathfindingGizmosPlugin))
///     .add_systems(Startup, |mut store: ResMut<GizmoConfigStore>| {
///         store.config_mut::<PathfindingGizmos>().1.map = false;
///     })
///     .run();
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct PathfindingGizmosPlugin;

impl Plugin for PathfindingGizmosPlugin {
    fn build(&self, app: &mut App) {
        app.init_gizmo_group::<PathfindingGizmos>().add_systems(
            PostUpdate,
            (draw_maps, draw_paths, draw_queue, draw_crowds).chain().after(PathfindingSystems::Move),
        );
    }
}

/// What is drawn; a group of Bevy's `GizmoConfigStore`, where line widths and the like are set too.
#[derive(GizmoConfigGroup, Reflect, Clone, Debug)]
pub struct PathfindingGizmos {
    /// The edges of walkable ground, as class 0 sees it. Not drawn for hexagonal maps.
    pub map: bool,
    /// Each island's edges in a colour of its own. If not, all are in [`ground`](Self::ground).
    pub islands: bool,
    /// What remains of each unit's path.
    pub paths: bool,
    /// A ring around each unit that waits for an answer, green at first and red after
    /// [`late`](Self::late) runs of the schedule.
    pub queue: bool,
    /// Where each unit wants to go, in [`wanted`](Self::wanted), and where it goes, in [`safe`](Self::safe): as far as it
    /// comes in a second.
    pub velocities: bool,
    /// A line from each unit to those it looks at.
    pub neighbours: bool,
    /// A line from each unit to whoever is in its way, and around the unit as many rings as the rung of the ladder it has
    /// climbed to: one while it waits, six when it is stuck.
    pub blockers: bool,
    /// The colour of the edges of the ground.
    pub ground: Color,
    /// The colour of paths.
    pub path: Color,
    /// The colour of wanted velocities.
    pub wanted: Color,
    /// The colour of safe velocities.
    pub safe: Color,
    /// After how many runs of the schedule a ring is red.
    pub late: u64,
}

impl Default for PathfindingGizmos {
    fn default() -> Self {
        Self {
            map: true,
            islands: true,
            paths: true,
            queue: true,
            velocities: false,
            neighbours: false,
            blockers: false,
            ground: WHITE.into(),
            path: LIME.into(),
            wanted: GOLD.into(),
            safe: AQUA.into(),
            late: 64,
        }
    }
}

/// The edges of one map, until it changes.
#[derive(Debug)]
struct Drawn {
    place: Arc<Place>,
    lines: Vec<(Vec3, Vec3, u32)>,
}

fn draw_maps(scene: Res<Scene>, mut drawn: Local<Vec<Drawn>>, mut gizmos: Gizmos<PathfindingGizmos>) {
    if !gizmos.config_ext.map {
        return;
    }
    drawn.retain(|drawn| scene.places.iter().any(|place| Arc::ptr_eq(place, &drawn.place)));
    for place in scene.places.iter() {
        if !drawn.iter().any(|drawn| Arc::ptr_eq(place, &drawn.place)) {
            drawn.push(Drawn { place: Arc::clone(place), lines: lines(place) });
        }
    }
    let PathfindingGizmos { islands, ground, .. } = *gizmos.config_ext;
    for (from, to, island) in drawn.iter().flat_map(|drawn| &drawn.lines) {
        // Neighbouring numbers get far apart hues: steps of the golden angle.
        #[expect(clippy::cast_precision_loss, reason = "a hue")]
        let hue = (*island as f32 * 137.508) % 360.0;
        let colour = if islands { Color::hsl(hue, 0.7, 0.6) } else { ground };
        gizmos.line(*from, *to, colour);
    }
}

fn lines(place: &Place) -> Vec<(Vec3, Vec3, u32)> {
    // The outlines of islands run along the sides of squares.
    let layout = place.layout.filter(|layout| layout.shape() == CellShape::Parallelogram);
    let (Some(view), Some(layout)) = (place.views.first(), layout) else {
        return Vec::new();
    };
    let corner = |cell: wayfare::Cell| {
        let corner = layout.to_plane(IVec2::new(cell.x, cell.y).as_vec2());
        place.plane.at_height(corner, place.height)
    };
    let edges = view.edges();
    edges.iter().map(|edge| (corner(edge.from), corner(edge.to), edge.island.number())).collect()
}

fn draw_paths(
    scene: Res<Scene>,
    paths: Query<(&Path, Option<Whereabouts>, Option<&Motion>)>,
    mut gizmos: Gizmos<PathfindingGizmos>,
) {
    if !gizmos.config_ext.paths {
        return;
    }
    let colour = gizmos.config_ext.path;
    for (path, at, motion) in &paths {
        let Some(place) = path.map().and_then(|map| scene.place(map)) else { continue };
        let height = at.as_ref().map_or(place.height, |at| place.plane.height(at.position()));
        let start = at.map(|at| place.plane.flat(at.position()));
        let mut ahead = path.points();
        if let (Some(start), true) = (start, motion.is_some_and(|motion| motion.to_go.is_some())) {
            // In a formation it does not walk from point to point; what it has passed is behind it.
            let gap = |point: &Vec2| point.distance_squared(start);
            let nearest = ahead.iter().enumerate().min_by(|(_, a), (_, b)| gap(a).total_cmp(&gap(b)));
            ahead = &ahead[nearest.map_or(0, |(i, _)| (i + 1).min(ahead.len() - 1))..];
        }
        let points = start.into_iter().chain(ahead.iter().copied());
        gizmos.linestrip(points.map(|point| place.plane.at_height(point, height)), colour);
    }
}

fn draw_queue(
    clock: Res<PathfindingClock>,
    scene: Res<Scene>,
    waiting: Query<(&Path, &Agent, Whereabouts)>,
    mut gizmos: Gizmos<PathfindingGizmos>,
) {
    if !gizmos.config_ext.queue {
        return;
    }
    let late = gizmos.config_ext.late.max(1);
    for (path, agent, at) in &waiting {
        let Some(waited) = path.waited(clock.tick()) else { continue };
        let plane = scene.place_under(at.position()).map_or_else(default, |place| place.plane);
        #[expect(clippy::cast_precision_loss, reason = "a colour")]
        let age = (waited as f32 / late as f32).min(1.0);
        let colour = Color::from(LIME).mix(&ORANGE_RED.into(), age);
        gizmos.circle(Isometry3d::new(at.position(), lying_on(plane)), size(agent), colour);
    }
}

/// How a ring is turned that lies on a plane.
fn lying_on(plane: Plane) -> Quat {
    match plane {
        Plane::Xy => Quat::IDENTITY,
        Plane::Xz => Quat::from_rotation_x(core::f32::consts::FRAC_PI_2),
    }
}

fn size(agent: &Agent) -> f32 {
    if agent.radius.is_finite() { agent.radius.max(0.0) } else { 0.0 }
}

fn draw_crowds(
    crowds: Option<Res<Crowds>>,
    units: Query<(&Agent, &Steering, &WantedVelocity, &SafeVelocity, Whereabouts)>,
    mut gizmos: Gizmos<PathfindingGizmos>,
) {
    let PathfindingGizmos { velocities, neighbours, blockers, wanted, safe, .. } = *gizmos.config_ext;
    let Some(crowds) = crowds.filter(|_| velocities || neighbours || blockers) else { return };
    for (agent, steering, wants, goes, at) in &units {
        let at = at.position();
        if velocities {
            gizmos.line(at, at + wants.0, wanted);
            gizmos.line(at, at + goes.0, safe);
        }
        let Some((crowd, index)) = crowds.find(steering) else { continue };
        let place = |unit: Entity| units.get(unit).map(|(.., at)| at.position());
        let seen = crowd.crowd.neighbours(index).filter(|_| neighbours);
        for other in seen.filter_map(|other| place(*crowd.units.get(other)?).ok()) {
            gizmos.line(at, other, GRAY);
        }
        // How far up the ladder, as a number of rings.
        let rung = steering.memory.rung() as u8;
        if !blockers || rung == 0 {
            continue;
        }
        let colour =
            Color::from(LIME).mix(&ORANGE_RED.into(), f32::from(rung) / f32::from(Rung::Stuck as u8));
        for ring in 0..rung {
            let radius = size(agent) * (1.0 + 0.15 * f32::from(ring));
            gizmos.circle(Isometry3d::new(at, lying_on(crowd.plane)), radius, colour);
        }
        if let Some(blocker) = steering.blocker.and_then(|blocker| place(blocker).ok()) {
            gizmos.line(at, blocker, ORANGE_RED);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::any::TypeId;

    use bevy::asset::AssetPlugin;
    use bevy::gizmos::{GizmoAsset, GizmoHandles};

    use super::*;
    use crate::prelude::*;

    /// How many points of single lines and of strips the next update draws.
    fn drawn(app: &mut App) -> (usize, usize) {
        app.update();
        let handles = app.world().resource::<GizmoHandles>().handles();
        let handle = handles.get(&TypeId::of::<PathfindingGizmos>()).and_then(Option::as_ref);
        let asset = handle.and_then(|handle| app.world().resource::<Assets<GizmoAsset>>().get(handle));
        asset.map_or((0, 0), |asset| {
            let view = asset.buffer().buffer();
            (view.list_positions.len(), view.strip_positions.len())
        })
    }

    #[test]
    fn what_is_switched_on_is_drawn() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, AssetPlugin::default()))
            .init_asset::<GizmoAsset>()
            .add_plugins((PathfindingPlugin::default().in_schedule(Update), PathfindingGizmosPlugin));
        app.world_mut().spawn(NavMap::from_text("...#...").expect("a map"));
        let unit = (Transform::from_xyz(0.5, -0.5, 0.0), Agent { speed: 0.0, ..default() });
        let unit = app.world_mut().spawn(unit).id();
        app.update();
        // Two islands of four edges each.
        assert_eq!(drawn(&mut app), (2 * 8, 0));
        app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::new(2, 0)));
        // A ring while it waits, then the path.
        for _ in 0..2000 {
            let waits = app.world().get::<Path>(unit).is_some_and(Path::is_waiting);
            let (_, strip) = drawn(&mut app);
            let path = app.world().get::<Path>(unit).expect("it came with the agent");
            if waits && path.is_waiting() {
                assert!(strip > 20, "no ring was drawn, but {strip} points");
            } else if !path.is_waiting() && !path.is_empty() && !waits {
                assert!((3..20).contains(&strip), "no path was drawn, but {strip} points");
                break;
            }
            std::thread::yield_now();
        }
        assert!(!app.world().get::<Path>(unit).expect("it came with the agent").is_empty());
        let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
        let (_, config) = store.config_mut::<PathfindingGizmos>();
        (config.map, config.paths) = (false, false);
        assert_eq!(drawn(&mut app), (0, 0));
    }

    #[test]
    fn crowds_are_drawn() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, AssetPlugin::default()))
            .init_asset::<GizmoAsset>()
            .add_plugins((PathfindingPlugin::default().in_schedule(Update), PathfindingGizmosPlugin));
        app.world_mut().spawn(NavMap::from_text(".....").expect("a map"));
        for x in [1.5, 2.5] {
            let unit = app.world_mut().spawn((Transform::from_xyz(x, -0.5, 0.0), Agent::default())).id();
            let towards = Vec3::new(2.0 - x, 0.0, 0.0);
            app.world_mut().entity_mut(unit).insert(WantedVelocity(towards));
        }
        app.update();
        let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
        let (_, config) = store.config_mut::<PathfindingGizmos>();
        (config.map, config.velocities) = (false, true);
        // Two lines of two points each for both.
        assert_eq!(drawn(&mut app), (8, 0));
        let mut store = app.world_mut().resource_mut::<GizmoConfigStore>();
        let (_, config) = store.config_mut::<PathfindingGizmos>();
        (config.velocities, config.neighbours) = (false, true);
        assert_eq!(drawn(&mut app), (4, 0), "each sees the other");
    }
}
