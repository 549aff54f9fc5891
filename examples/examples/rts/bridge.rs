//! No window: in comes a number of units, out go figures of how they fare who are sent over one bridge all at once, past some
//! who stand before it.
//!
//! Nobody waits for a clock: frames follow each other as fast as they can, and answers come in lockstep, so the figures are
//! the same wherever it runs.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::art::TILE;
use crate::ground::WALKERS;
use crate::headless::{FRAME, Game};
use crate::idlers::Idlers;
use crate::options::Options;
use crate::roads::Bridge;
use crate::terrain::{Land, cells, distance_squared};
use crate::units::{Kind, Reinforcements};

/// They are sent so many cells beyond the bridge at most, ...
const BEYOND: i32 = 20;

/// ... to where the most of so many cells around is open.
const MEADOW: i32 = 8;

/// So many more have nothing to do and stand before it.
const IDLERS: usize = 12;

/// They may take so many times as long as the farthest of them would alone, ...
const PATIENCE: f32 = 3.0;

/// ... and so many times as long as a bridge without a gap between any two takes to let all pass.
const FLOW: f32 = 2.0;

/// So many seconds after the last has arrived, ...
const SETTLING: f32 = 5.0;

/// ... they move no faster than this part of their speed.
const STILL: f32 = 0.02;

/// What has been heard of the units.
#[derive(Resource, Default)]
struct Crossing {
    /// What the way of each costs, as it was when it set out.
    costs: EntityHashMap<Cost>,
    arrived: EntityHashSet,
    failed: EntityHashSet,
    /// Those who could not get on for long, if only once.
    stuck: EntityHashSet,
    is_over: bool,
}

impl Crossing {
    fn watch(app: &mut App) {
        app.init_resource::<Self>()
            .add_observer(|found: On<PathFound>, mut crossing: ResMut<Self>| {
                crossing.costs.entry(found.entity).or_insert(found.cost);
            })
            .add_observer(|arrived: On<Arrived>, mut crossing: ResMut<Self>| {
                crossing.arrived.insert(arrived.entity);
            })
            .add_observer(|failed: On<PathFailed>, mut crossing: ResMut<Self>| {
                crossing.failed.insert(failed.entity);
            })
            .add_observer(|stuck: On<Stuck>, mut crossing: ResMut<Self>| {
                crossing.stuck.insert(stuck.entity);
            })
            .add_observer(|_: On<GroupArrived>, mut crossing: ResMut<Self>| crossing.is_over = true);
    }
}

pub(crate) fn run(options: &Options) -> AppExit {
    let count = options.units.unwrap_or(300).max(1);
    let settings = PathfindingSettings { delivery: Delivery::Lockstep { ticks: 2 }, ..default() };
    let mut game = Game::new(options.seed, Reinforcements::walkers(count + IDLERS), settings);
    Crossing::watch(&mut game.app);
    game.warm_up();
    let Some((bridge, goal)) = far_side(game.app.world_mut()) else {
        println!("bridge: there is none that leads to where they could stand");
        return AppExit::error();
    };
    println!(
        "bridge: {count} units, seed {}, over {} cells side by side to {goal}",
        options.seed, bridge.width
    );
    let mut idlers = Idlers::before(bridge, IDLERS, game.app.world_mut());
    game.warm_up();
    let units = order(game.app.world_mut(), goal, &idlers);
    let all_arrived = walk(&mut game, &units, &mut idlers, bridge);
    let have_settled = settle(&mut game, &units);
    let are_home = idlers.come_home(&mut game);
    if all_arrived && have_settled && are_home { AppExit::Success } else { AppExit::error() }
}

/// The widest bridge, of several the nearest to the camp, and a meadow beyond it.
fn far_side(world: &mut World) -> Option<(Bridge, Cell)> {
    let land = world.resource::<Land>();
    let (camp, bridges) = (land.camp, land.bridges.clone());
    let from_camp = |bridge: &Bridge| bridge.ends.map(|end| distance_squared(end, camp)).into_iter().min();
    let mut bridge = bridges.into_iter().min_by_key(|bridge| (-bridge.width, from_camp(bridge)))?;
    bridge.ends.sort_by_key(|end| distance_squared(*end, camp));
    let [near, far] = bridge.ends;
    let snapshot = world.query::<&NavMap>().single(world).ok()?.snapshot(WALKERS).ok()?;
    let is_beyond = |cell: &Cell| {
        let across = (cell.x - far.x) * (far.x - near.x) + (cell.y - far.y) * (far.y - near.y);
        across > 0 && distance_squared(*cell, far) <= BEYOND.pow(2) && snapshot.reachable(camp, *cell)
    };
    let room = |cell: &Cell| {
        let around = Area::new(*cell + (-MEADOW, -MEADOW), *cell + (MEADOW, MEADOW)).cells();
        around.filter(|near| snapshot.is_open(*near)).count()
    };
    Some((bridge, cells().filter(is_beyond).max_by_key(room)?))
}

/// Sends all others there with one order.
fn order(world: &mut World, goal: Cell, idlers: &Idlers) -> Vec<(Entity, Agent)> {
    let mut query = world.query_filtered::<(Entity, &Agent), With<Kind>>();
    let units = query.iter(world).filter(|(unit, _)| !idlers.contain(*unit));
    let units: Vec<_> = units.map(|(unit, agent)| (unit, *agent)).collect();
    world.spawn(GroupOrder::to(goal).units(units.iter().map(|(unit, _)| *unit)));
    units
}

/// Lets them walk until nobody is on the way, or their time is up. Returns whether all have arrived.
fn walk(game: &mut Game, units: &[(Entity, Agent)], idlers: &mut Idlers, bridge: Bridge) -> bool {
    let (mut seconds, mut limit, mut alone) = (0.0, 1.0, 0.0);
    while seconds < limit && !game.app.world().resource::<Crossing>().is_over {
        game.app.update();
        seconds += FRAME.as_secs_f32();
        idlers.watch(game.app.world());
        // Known as soon as they have their paths.
        alone = time_alone(game.app.world(), units);
        limit = PATIENCE * alone + FLOW * time_to_pass(units, bridge);
    }
    let Crossing { arrived, failed, stuck, .. } = game.app.world().resource::<Crossing>();
    println!(
        "bridge: {} of {} arrived after {seconds:.1} s, {:.2} × the {alone:.1} s of the farthest alone, at most {limit:.1} s",
        arrived.len(),
        units.len(),
        seconds / alone,
    );
    println!("bridge: {} were stuck on the way, {} gave up", stuck.len(), failed.len());
    arrived.len() == units.len()
}

/// How long the farthest would take if nobody else were on the way: costs count how much dear ground slows units, too.
fn time_alone(world: &World, units: &[(Entity, Agent)]) -> f32 {
    let costs = &world.resource::<Crossing>().costs;
    let step = f32::from(Rules::default().costs.x());
    let time = |(unit, agent): &(Entity, Agent)| {
        let cost = costs.get(unit).copied().unwrap_or(0);
        cost as f32 / step * TILE / agent.speed
    };
    units.iter().map(time).fold(0.0, f32::max)
}

/// How long a bridge takes to let all pass, each as large and as slow as the largest and the slowest.
fn time_to_pass(units: &[(Entity, Agent)], bridge: Bridge) -> f32 {
    let diameter = 2.0 * units.iter().map(|(_, agent)| agent.radius).fold(0.0, f32::max);
    let speed = units.iter().map(|(_, agent)| agent.speed).fold(f32::INFINITY, f32::min);
    let lanes = (bridge.width as f32 * TILE / diameter).floor();
    units.len() as f32 / (lanes * speed / diameter)
}

/// Looks whether they still jostle a while later. Returns whether they stand.
fn settle(game: &mut Game, units: &[(Entity, Agent)]) -> bool {
    let frame = FRAME.as_secs_f32();
    let mut seconds = 0.0;
    while seconds < SETTLING {
        game.app.update();
        seconds += frame;
    }
    // For a second, from frame to frame: who trembles on the spot moves, too.
    let (mut moved, mut frames) = (0.0, 0.0);
    let mut before = positions(game.app.world(), units);
    while frames * frame < 1.0 {
        game.app.update();
        let now = positions(game.app.world(), units);
        let steps = units.iter().zip(before.iter().zip(&now));
        moved += steps.map(|((_, agent), (from, to))| from.distance(*to) / agent.speed).sum::<f32>();
        (before, frames) = (now, frames + 1.0);
    }
    let speed = moved / (units.len() as f32 * frames * frame);
    println!("bridge: {SETTLING} s later they move at {:.2} % of their speed", speed * 100.0);
    speed <= STILL
}

fn positions(world: &World, units: &[(Entity, Agent)]) -> Vec<Vec2> {
    let at = |unit| world.get::<Transform>(unit).map_or(Vec2::ZERO, |at| at.translation.truncate());
    units.iter().map(|(unit, _)| at(*unit)).collect()
}
