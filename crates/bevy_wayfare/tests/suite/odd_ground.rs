//! What games do that nobody expects: maps put back, swapped, disabled and moved under their obstacles and layers.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

fn stand(game: &mut Game, x: f32, y: f32, footprint: Footprint) -> Entity {
    game.world().spawn((Transform::from_xyz(x, y, 0.0), Obstacle::new(footprint))).id()
}

#[test]
fn a_saved_map_put_back_has_the_obstacles_of_now() {
    let mut game = Game::in_frame("......");
    let gate = stand(&mut game, 1.5, -0.5, Footprint::Cell);
    game.update();
    let saved = game.nav().clone();
    game.world().get_mut::<Transform>(gate).unwrap().translation.x = 4.5;
    game.update();
    assert_eq!(game.seen(), "....#.");
    let map = game.map;
    game.world().entity_mut(map).insert(saved);
    game.updates(3);
    assert_eq!(game.seen(), "....#.");
    game.world().despawn(gate);
    game.updates(3);
    assert_eq!(game.seen(), "......");
}

#[test]
fn swapped_maps_have_their_own_obstacles() {
    let mut game = Game::in_frame("......");
    let other = NavMap::from_text("......").unwrap();
    let other = game.world().spawn((other, Transform::from_xyz(0.0, -10.0, 0.0))).id();
    stand(&mut game, 1.5, -0.5, Footprint::Cell);
    stand(&mut game, 4.5, -10.5, Footprint::Cell);
    game.updates(2);
    assert_eq!(game.seen(), ".#....");
    let (a, b) = (game.map, other);
    let one = game.world().get::<NavMap>(a).unwrap().clone();
    let two = game.world().get::<NavMap>(b).unwrap().clone();
    game.world().entity_mut(a).insert(two);
    game.world().entity_mut(b).insert(one);
    game.updates(2);
    assert_eq!(game.seen(), ".#....");
}

#[test]
fn a_map_that_was_disabled_comes_back() {
    let mut game = Game::in_frame("......");
    let unit = game.unit(0, 0);
    let map = game.map;
    game.world().entity_mut(map).insert(Disabled);
    game.updates(3);
    game.world().entity_mut(map).remove::<Disabled>();
    game.updates(3);
    game.order(unit, PathRequest::to(Cell::new(5, 0)));
    game.updates(200);
    assert!(game.has_heard(Heard::Arrived(unit, Reach::Goal)), "{:?}", game.heard());
}

#[test]
fn a_child_spawned_in_a_step_does_not_stand_at_the_origin() {
    #[derive(Resource, Default)]
    struct Seen(Vec<String>);
    let mut game = Game::in_frame("......");
    let cart = game.world().spawn(Transform::from_xyz(4.5, -0.5, 0.0)).id();
    game.updates(2);
    game.app.init_resource::<Seen>();
    let mut done = false;
    game.app.add_systems(
        FixedUpdate,
        (
            (move |mut commands: Commands| {
                if !done {
                    done = true;
                    commands.spawn((
                        Transform::default(),
                        Obstacle::new(Footprint::Rect { size: Vec2::splat(0.8) }),
                        ChildOf(cart),
                    ));
                }
            })
            .before(PathfindingSystems::SyncMap),
            (|n: Query<&NavMap>, mut seen: ResMut<Seen>| {
                seen.0.push(n.single().unwrap().snapshot(ClassId(0)).unwrap().map().to_text(|_| None));
            })
            .after(PathfindingSystems::SyncMap),
        ),
    );
    game.updates(2);
    assert_eq!(game.app.world().resource::<Seen>().0[0], "....#.");
}

#[test]
fn versions_do_not_depend_on_the_frame_rate() {
    use std::time::Duration;
    let run = |frames: u32| {
        let mut game = Game::in_frame("............");
        let unit = game.unit(0, 0);
        game.world().entity_mut(unit).insert(Obstacle { terrain: 0, ..default() });
        game.order(unit, PathRequest::to(Cell::new(11, 0)));
        game.set_frame(Duration::from_micros(15_625) / frames);
        game.updates(60 * frames as usize);
        game.set_frame(Duration::from_micros(15_625));
        while game.app.world().resource::<PathfindingClock>().tick() < 70 {
            game.update();
        }
        let tick = game.app.world().resource::<PathfindingClock>().tick();
        (tick, game.nav().snapshot(ClassId(0)).unwrap().map().version())
    };
    let all = [run(1), run(4), run(10)];
    assert!(all[0] == all[1] && all[1] == all[2], "{all:?}");
}

#[test]
fn tiles_nobody_reads_are_not_remembered() {
    let mut game = Game::in_frame("......");
    let e = game.world().spawn_empty().id();
    game.updates(3);
    let info = allocation_counter::measure(|| {
        for _ in 0..10 {
            for _ in 0..100_000 {
                game.world().entity_mut(e).insert(NavTile::Blocked);
            }
            game.update();
        }
    });
    println!("{} bytes kept", info.bytes_current);
    assert!(info.bytes_current < 1_500_000, "{} bytes kept", info.bytes_current);
}

#[test]
fn an_infinite_footprint_covers_everything() {
    let mut game = Game::in_frame("......");
    stand(&mut game, 1.5, -0.5, Footprint::Disc { radius: f32::INFINITY });
    game.update();
    assert_eq!(game.seen(), "######");
}

#[test]
fn a_huge_footprint_covers_everything() {
    for size in [1e10, 1e20, 1e30] {
        let mut game = Game::in_frame("......");
        stand(&mut game, 1.5, -0.5, Footprint::Rect { size: Vec2::splat(size) });
        game.update();
        assert_eq!(game.seen(), "######", "{size}");
    }
}

#[test]
fn an_obstacle_stays_on_tiles_that_move_under_it() {
    let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    layer.fill(NavTile::Open);
    let mut game = Game::on(NavMap::from_tiles(), PathfindingPlugin::default());
    let map = game.map;
    game.world().entity_mut(map).insert(layer);
    stand(&mut game, 1.5, 0.5, Footprint::Cell);
    game.updates(2);
    assert_eq!(game.seen(), ".#....");
    game.world().get_mut::<Transform>(map).unwrap().translation.x = 1.0;
    game.updates(2);
    assert_eq!(game.seen(), "#.....");
    let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(2, 2), Vec2::ONE)).unwrap();
    layer.fill(NavTile::Open);
    game.world().entity_mut(map).insert(layer);
    game.updates(2);
    assert_eq!(game.seen(), "#.\n..");
}

#[test]
fn what_is_for_tiles_leaves_other_maps_alone() {
    let map = NavMap::from_text("...").unwrap().with_missing(NavTile::Open);
    let mut game = Game::on(map, PathfindingPlugin::default());
    game.updates(2);
    assert!(game.nav().layout().is_some());
}

#[test]
fn a_moving_ground_is_not_laid_anew_by_rounding() {
    // A layer half a cell aside: does the map flicker when the ground is far away and moves?
    let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    layer.fill(NavTile::Open);
    let mut trees = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    trees.set(UVec2::new(2, 0), Some(NavTile::Blocked));
    let mut game = Game::on(NavMap::from_tiles(), PathfindingPlugin::default());
    let map = game.map;
    game.world().entity_mut(map).insert(layer);
    game.world().spawn((trees, LayerOf(map), ChildOf(map), Transform::from_xyz(0.0, 0.0, 1.0)));
    game.updates(3);
    let version = game.nav().map().version();
    for i in 0..50 {
        let t = Vec3::new(10_000.0 + i as f32 * 3.7, 7_000.0 + i as f32 * 1.3, 0.0);
        let mut tr = game.app.world_mut().get_mut::<Transform>(map).unwrap();
        tr.translation = t;
        tr.rotation = Quat::from_rotation_z(i as f32 * 0.1);
        game.update();
    }
    assert_eq!(game.nav().map().version(), version);
}

#[test]
fn nor_between_two_steps() {
    let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    layer.fill(NavTile::Open);
    let mut trees = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    trees.set(UVec2::new(2, 0), Some(NavTile::Blocked));
    let mut game = Game::on(NavMap::from_tiles(), PathfindingPlugin::default());
    let map = game.map;
    game.world().entity_mut(map).insert(layer);
    let trees =
        game.world().spawn((trees, LayerOf(map), ChildOf(map), Transform::from_xyz(0.0, 0.0, 1.0))).id();
    game.updates(3);
    assert_eq!(game.nav().map().to_text(|_| None), "..#...");
    #[derive(Resource)]
    struct Moving(Entity, u32);
    game.app.insert_resource(Moving(map, 0));
    game.app.add_systems(Update, |mut m: ResMut<Moving>, mut t: Query<&mut Transform>| {
        m.1 += 1;
        let mut tr = t.get_mut(m.0).unwrap();
        let i = m.1 as f32;
        tr.translation = Vec3::new(10_000.0 + i * 3.7, 7_000.0 + i * 1.3, 0.0);
        tr.rotation = Quat::from_rotation_z(i * 0.1);
    });
    let mut heard = Vec::new();
    for _ in 0..50 {
        game.update();
        heard.push(game.nav().map().to_text(|_| None));
    }
    let _ = trees;
    heard.dedup();
    assert_eq!(heard, ["..#..."]);
}

#[test]
fn walkers_are_not_disturbed_when_their_ground_moves() {
    // A raft with a crate layer as its child, drifting in PreUpdate; a unit walking on it is the game's affair,
    // but nobody on *another* place of the map should see the crate move.
    let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    layer.fill(NavTile::Open);
    let mut trees = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    trees.set(UVec2::new(2, 0), Some(NavTile::Blocked));
    let mut game = Game::on(NavMap::from_tiles(), PathfindingPlugin::default());
    let map = game.map;
    game.world().entity_mut(map).insert(layer);
    game.world().spawn((trees, LayerOf(map), ChildOf(map), Transform::from_xyz(0.0, 0.0, 1.0)));
    game.updates(3);
    #[derive(Resource, Default)]
    struct Seen(Vec<String>);
    game.app.init_resource::<Seen>();
    game.app.add_systems(
        FixedUpdate,
        (|n: Query<&NavMap>, mut seen: ResMut<Seen>| {
            seen.0.push(n.single().unwrap().map().to_text(|_| None));
        })
        .after(PathfindingSystems::SyncMap),
    );
    #[derive(Resource)]
    struct Raft(Entity);
    game.app.insert_resource(Raft(map));
    game.app.add_systems(PreUpdate, |m: Res<Raft>, mut t: Query<&mut Transform>| {
        t.get_mut(m.0).unwrap().translation.x += 0.1;
    });
    game.updates(5);
    let seen = &game.app.world().resource::<Seen>().0;
    assert!(seen.iter().all(|seen| seen == "..#..."), "{seen:?}");
}

#[test]
fn a_digger_pays_the_same_way_for_every_cost() {
    let cost = |price: f32| {
        let digger = Class::default().with(Terrain::WALL, Factor::whole(5));
        let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(5, 1), Vec2::ONE)).unwrap();
        layer.fill(NavTile::Cost(price));
        let mut game =
            Game::on(NavMap::from_tiles().with_class(ClassId(1), digger), PathfindingPlugin::default());
        let map = game.map;
        game.world().entity_mut(map).insert(layer);
        game.updates(2);
        game.nav().find_path_as(ClassId(1), Cell::new(0, 0), Cell::new(4, 0)).unwrap().cost()
    };
    let costs = [cost(1.0), cost(3.0), cost(3.5), cost(4.0)].map(|cost| format!("{cost:?}"));
    assert!(costs[2] > costs[1] && costs[2] < costs[3], "{costs:?}");
}

#[test]
fn an_obstacle_without_a_transform_is_nowhere() {
    let mut game = Game::in_frame("......");
    let gate = stand(&mut game, 1.5, -0.5, Footprint::Cell);
    game.updates(2);
    game.world().entity_mut(gate).remove::<Transform>();
    game.updates(2);
    assert_eq!(game.seen(), "......");
}

#[test]
fn another_map_with_as_many_obstacles_is_another_map() {
    // Hot reload: a map that was cloned with its obstacle, while the obstacle is gone by now and another stands elsewhere.
    let mut game = Game::in_frame("......");
    let first = stand(&mut game, 1.5, -0.5, Footprint::Cell);
    game.update();
    let prefab = game.nav().clone();
    game.world().despawn(first);
    stand(&mut game, 4.5, -0.5, Footprint::Cell);
    game.update();
    let map = game.map;
    game.world().entity_mut(map).insert(prefab);
    game.updates(5);
    assert_eq!(game.seen(), "....#.");
}

#[test]
fn a_version_never_goes_back() {
    let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(6, 1), Vec2::ONE)).unwrap();
    layer.fill(NavTile::Open);
    let mut game = Game::on(NavMap::from_tiles(), PathfindingPlugin::default());
    let map = game.map;
    game.world().entity_mut(map).insert(layer);
    game.updates(2);
    for x in 0..6 {
        game.world().get_mut::<TileLayer>(map).unwrap().set(UVec2::new(x, 0), None);
        game.update();
    }
    let before = game.nav().map().version();
    let mut layer = TileLayer::new(TileGrid::rectangular(UVec2::new(7, 1), Vec2::ONE)).unwrap();
    layer.fill(NavTile::Open);
    game.world().entity_mut(map).insert(layer);
    game.updates(2);
    let after = game.nav().map().version();
    assert!(after > before, "{before} {after}");
}
