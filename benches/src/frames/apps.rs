//! The games that are measured: in come a map and units, out come apps in which the units can be ordered as users
//! order them, by inserting a component with `Commands` in `Update`.
//!
//! All have Bevy's `MinimalPlugins` and a plugin with its default settings, nothing else: what is not there costs
//! nothing and hides nothing.

use std::marker::PhantomData;

use bevy::diagnostic::{Diagnostic, DiagnosticsStore};
use bevy::prelude::{
    App, Commands, Component, Entity, IntoScheduleConfigs, MinimalPlugins, ResMut, Resource, Transform,
    Update, With,
};
use bevy_northstar::prelude::{
    AgentOfGrid, AgentPos, Grid, NorthstarPlugin, OrdinalNeighborhood, Path as NorthstarPath, Pathfind,
    PathingSet,
};
use bevy_wayfare::{
    Agent, NavMap, Path, PathRequest, PathfindingClock, PathfindingDiagnostics, PathfindingPlugin,
};
use glam::{IVec2, Vec2};
use wayfare::prelude::{Cell, Weight};

use crate::frames::scene::Scene;
use crate::frames::stage::Stage;
use crate::peers::{northstar_grid, to_uvec3};

/// How units are ordered.
pub(crate) trait Order: Send + Sync + 'static {
    /// What is inserted.
    type Component: Component;

    fn to(goal: Cell) -> Self::Component;
}

/// As users of our plugin order units.
pub(crate) struct Plain;

impl Order for Plain {
    type Component = PathRequest;

    fn to(goal: Cell) -> PathRequest {
        PathRequest::to(goal)
    }
}

/// Any path will do, if it comes soon.
pub(crate) struct Hasty;

impl Order for Hasty {
    type Component = PathRequest;

    fn to(goal: Cell) -> PathRequest {
        PathRequest::to(goal).weight(Weight::GREEDY)
    }
}

/// As users of `bevy_northstar` order units.
struct Northstar;

impl Order for Northstar {
    type Component = Pathfind;

    fn to(goal: Cell) -> Pathfind {
        Pathfind::new(to_uvec3(goal))
    }
}

/// Words in a request.
const WORDS: usize = size_of::<PathRequest>().div_ceil(size_of::<u64>());

/// Nobody reads it, but it moves an entity to another table as a request does. What its insertion costs is Bevy's.
#[derive(Component)]
#[expect(dead_code, reason = "only its size matters")]
pub(crate) struct Inert([u64; WORDS]);

impl Order for Inert {
    type Component = Self;

    fn to(goal: Cell) -> Self {
        Self([u64::from(goal.x.unsigned_abs()); WORDS])
    }
}

/// Orders to be given in the next frame.
#[derive(Resource)]
struct Orders<O> {
    orders: Vec<(Entity, Cell)>,
    kind: PhantomData<O>,
}

fn give_orders<O: Order>(mut orders: ResMut<Orders<O>>, mut commands: Commands) {
    for (unit, goal) in orders.orders.drain(..) {
        commands.entity(unit).insert(O::to(goal));
    }
}

/// An app with units that can be given orders of one kind.
pub(crate) struct Game {
    pub(crate) stage: Stage,
    pub(crate) units: Vec<Entity>,
    order: fn(&mut App, Vec<(Entity, Cell)>),
}

/// How long units have to come to rest, in frames. If they do not, what they cost is measured all the same.
const RESTING: usize = 600;

/// What the units of [`Game::wayfare`] are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Units {
    Agents,
    /// Entities of which the plugin wants nothing.
    Transforms,
}

impl Game {
    /// One with our plugin.
    pub(crate) fn wayfare<O: Order>(
        scene: &Scene,
        starts: &[Cell],
        units: Units,
        plugin: PathfindingPlugin,
    ) -> Self {
        let mut app = app_with_orders::<O>();
        app.add_plugins(plugin).add_systems(Update, give_orders::<O>);
        app.world_mut().spawn(NavMap::new(scene.map.clone()));
        let spawn = |start: &Cell| {
            let transform = Transform::from_translation(centre(*start).extend(0.0));
            let mut unit = app.world_mut().spawn(transform);
            if units == Units::Agents {
                unit.insert(Agent::default());
            }
            unit.id()
        };
        let units = starts.iter().map(spawn).collect();
        let mut game = Self { stage: Stage::new(app), units, order: set_orders::<O> };
        game.come_to_rest();
        game
    }

    /// Some units start on the same cell. They come apart before anything is measured.
    fn come_to_rest(&mut self) {
        for _ in 0..RESTING {
            self.stage.app.update();
            let store = self.stage.app.world().resource::<DiagnosticsStore>();
            let avoiding = store.get(&PathfindingDiagnostics::AVOIDING).and_then(Diagnostic::measurement);
            // The first is of a run before which there was none.
            let moves = avoiding.is_none_or(|avoiding| avoiding.value > 0.0);
            if !moves && self.stage.app.world().resource::<PathfindingClock>().tick() > 2 {
                break;
            }
        }
    }

    /// One with `bevy_northstar` and no units yet.
    pub(crate) fn northstar(scene: &Scene) -> Self {
        let mut app = app_with_orders::<Northstar>();
        app.add_plugins(NorthstarPlugin::<OrdinalNeighborhood>::default())
            .add_systems(Update, give_orders::<Northstar>.before(PathingSet));
        app.world_mut().spawn(northstar_grid(&scene.board));
        Self { stage: Stage::new(app), units: Vec::new(), order: set_orders::<Northstar> }
    }

    /// Replaces the units of a game with `bevy_northstar`. Building its grid for every run would take too long.
    pub(crate) fn recast_northstar(&mut self, starts: &[Cell]) {
        let world = self.stage.app.world_mut();
        for unit in self.units.drain(..) {
            world.despawn(unit);
        }
        let mut grids = world.query_filtered::<Entity, With<Grid<OrdinalNeighborhood>>>();
        let Ok(grid) = grids.single(world) else { return };
        let spawn = |start: &Cell| {
            let transform = Transform::from_translation(centre(*start).extend(0.0));
            world.spawn((transform, AgentPos(to_uvec3(*start)), AgentOfGrid(grid))).id()
        };
        self.units = starts.iter().map(spawn).collect();
    }

    /// Sends each unit to its goal in the next frame.
    pub(crate) fn order(&mut self, goals: &[Cell]) {
        let orders = self.units.iter().copied().zip(goals.iter().copied()).collect();
        (self.order)(&mut self.stage.app, orders);
    }
}

fn app_with_orders<O: Order>() -> App {
    let mut app = App::new();
    app.add_plugins(MinimalPlugins);
    set_orders::<O>(&mut app, Vec::new());
    app
}

fn set_orders<O: Order>(app: &mut App, orders: Vec<(Entity, Cell)>) {
    app.insert_resource(Orders::<O> { orders, kind: PhantomData });
}

/// The middle of a cell in a world of unit cells.
pub(crate) fn centre(cell: Cell) -> Vec2 {
    IVec2::from(cell).as_vec2() + Vec2::splat(0.5)
}

/// Whether a unit of ours has the path it was ordered last.
pub(crate) fn has_path(app: &App, unit: Entity, goal: Cell) -> bool {
    let path = app.world().get::<Path>(unit);
    path.is_some_and(|path| !path.is_waiting() && !path.is_empty() && path.end() == Some(centre(goal)))
}

/// Whether a unit of ours has a path, or has walked it to its end.
pub(crate) fn is_served(app: &App, unit: Entity) -> bool {
    let path = app.world().get::<Path>(unit);
    let walks = path.is_some_and(|path| !path.is_waiting() && !path.is_empty());
    walks || app.world().get::<PathRequest>(unit).is_none()
}

/// Whether a unit of `bevy_northstar` has a path.
pub(crate) fn has_northstar_path(app: &App, unit: Entity) -> bool {
    app.world().get::<NorthstarPath>(unit).is_some()
}

/// Asks `is_done` about each of so many units, and about none again that is done: looking at all of them in every
/// frame would fill the cache with what the frame is to be charged for.
pub(crate) fn all(count: usize, is_done: impl Fn(&App, usize) -> bool) -> impl FnMut(&App) -> bool {
    let mut done = 0;
    move |app| {
        while done < count && is_done(app, done) {
            done += 1;
        }
        done == count
    }
}
