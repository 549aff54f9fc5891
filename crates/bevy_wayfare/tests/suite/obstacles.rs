//! Obstacles: what stands on which cell, while it is there, wherever it goes.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random};

const FIELD: &str = "
    ......
    ......
    ......";

fn stand(game: &mut Game, x: f32, y: f32, footprint: Footprint) -> Entity {
    game.world().spawn((Transform::from_xyz(x, y, 0.0), Obstacle::new(footprint))).id()
}

#[test]
fn an_obstacle_blocks_while_it_is_there() {
    let mut game = Game::in_frame(FIELD);
    let gate = stand(&mut game, 2.5, -1.5, Footprint::Cell);
    let mut after = |change: &mut dyn FnMut(&mut World)| {
        change(game.world());
        game.update();
        game.seen().replace('\n', "/")
    };
    let open = "....../....../......";
    let shut = "....../..#.../......";
    assert_eq!(after(&mut |_| {}), shut);
    let set = |world: &mut World, enabled| world.get_mut::<Obstacle>(gate).unwrap().enabled = enabled;
    assert_eq!(after(&mut |world| set(world, false)), open);
    assert_eq!(after(&mut |world| set(world, true)), shut);
    assert_eq!(
        after(&mut |world| {
            world.entity_mut(gate).insert(Disabled);
        }),
        open
    );
    assert_eq!(
        after(&mut |world| {
            world.entity_mut(gate).remove::<Disabled>();
        }),
        shut
    );
    let moved = &mut |world: &mut World| world.get_mut::<Transform>(gate).unwrap().translation.x = 5.9;
    assert_eq!(after(moved), "....../.....#/......");
    let away = &mut |world: &mut World| world.get_mut::<Transform>(gate).unwrap().translation.x = 60.0;
    assert_eq!(after(away), open);
    let back = &mut |world: &mut World| world.get_mut::<Transform>(gate).unwrap().translation.x = 2.5;
    assert_eq!(after(back), shut);
    assert_eq!(
        after(&mut |world| {
            world.entity_mut(gate).remove::<Obstacle>();
        }),
        open
    );
    assert_eq!(
        after(&mut |world| {
            world.entity_mut(gate).insert(Obstacle::default());
        }),
        shut
    );
    let nowhere = &mut |world: &mut World| world.get_mut::<Transform>(gate).unwrap().translation.y = f32::NAN;
    assert_eq!(after(nowhere), open);
    assert_eq!(after(&mut |world| world.get_mut::<Transform>(gate).unwrap().translation.y = -1.5), shut);
    assert_eq!(
        after(&mut |world| {
            world.despawn(gate);
        }),
        open
    );
}

#[test]
fn footprints_are_turned_and_scaled_with_their_owner() {
    let mut game = Game::in_frame(FIELD);
    let house = stand(&mut game, 2.0, -1.5, Footprint::Rect { size: Vec2::new(4.0, 1.0) });
    game.update();
    assert_eq!(game.seen(), "......\n####..\n......");
    game.world().get_mut::<Transform>(house).unwrap().rotation =
        Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
    game.world().get_mut::<Transform>(house).unwrap().translation.x = 1.5;
    game.update();
    assert_eq!(game.seen(), ".#....\n.#....\n.#....");
    *game.world().get_mut::<Transform>(house).unwrap() =
        Transform::from_xyz(2.0, -1.5, 0.0).with_scale(Vec3::new(0.5, 1.0, 1.0));
    game.update();
    assert_eq!(game.seen(), "......\n.##...\n......");
    game.world().despawn(house);
    stand(&mut game, 3.5, -1.5, Footprint::Disc { radius: 0.6 });
    game.update();
    assert_eq!(game.seen(), "...#..\n..###.\n...#..");
}

#[test]
fn a_child_stands_where_it_is_in_the_world() {
    let mut game = Game::in_frame(FIELD);
    let cart = game.world().spawn(Transform::from_xyz(1.5, -0.5, 0.0)).id();
    game.world().spawn((Transform::from_xyz(1.0, -1.0, 0.0), Obstacle::default(), ChildOf(cart)));
    game.updates(2);
    assert_eq!(game.seen(), "......\n..#...\n......");
    game.world().get_mut::<Transform>(cart).unwrap().translation.x = 3.5;
    game.updates(2);
    assert_eq!(game.seen(), "......\n....#.\n......");
}

#[test]
fn what_is_underneath_comes_back_as_it_is_by_then() {
    let mut game = Game::in_frame("..3..");
    let first = stand(&mut game, 2.5, -0.5, Footprint::Cell);
    let second = stand(&mut game, 2.0, -0.5, Footprint::Rect { size: Vec2::new(2.0, 1.0) });
    game.update();
    assert_eq!(game.seen(), ".##..");
    assert_eq!(game.nav().map().to_text(|_| None), "..3..", "the ground itself is as it was");
    game.edit(|map| {
        map.set((2, 0), Terrain::digit(7).unwrap()).unwrap();
    });
    game.world().despawn(first);
    game.update();
    assert_eq!(game.seen(), ".##..");
    game.world().despawn(second);
    game.update();
    assert_eq!(game.seen(), "..7..");
}

/// A door that only some units pass; and a plank over a ditch.
#[test]
fn an_obstacle_may_be_any_terrain() {
    let map =
        NavMap::from_text("..#..").unwrap().with_class(ClassId(1), Class::default().without(Terrain(9)));
    let mut game = Game::on(map, PathfindingPlugin::default());
    let plank = Obstacle { terrain: 9, ..default() };
    game.world().spawn((Transform::from_xyz(2.5, -0.5, 0.0), plank));
    game.update();
    let reaches = |class| game.nav().find_path_as(ClassId(class), Cell::new(0, 0), Cell::new(4, 0)).is_ok();
    assert!(reaches(0) && !reaches(1));
}

#[test]
fn overlapping_obstacles_count_through_any_script() {
    let mut random = Random(3);
    let mut game = Game::in_frame(&vec![".".repeat(70); 20].join("\n"));
    let mut placed: Vec<(Entity, i32, i32, bool)> = Vec::new();
    for step in 0..300 {
        let at = (random.below(8).cast_signed() + 60, random.below(8).cast_signed());
        let centre = |(x, y): (i32, i32)| IVec2::new(x, -y).as_vec2().extend(0.0) + Vec3::new(0.5, -0.5, 0.0);
        let chosen = (!placed.is_empty())
            .then(|| random.below(u32::try_from(placed.len()).unwrap()) as usize)
            .filter(|_| random.below(3) > 0);
        match chosen {
            None => {
                let obstacle = Obstacle::new(Footprint::Rect { size: Vec2::splat(3.0) });
                let entity = game.world().spawn((Transform::from_translation(centre(at)), obstacle)).id();
                placed.push((entity, at.0, at.1, true));
            }
            Some(index) => match random.below(3) {
                0 => {
                    let (entity, ..) = placed.swap_remove(index);
                    game.world().despawn(entity);
                }
                1 => {
                    (placed[index].1, placed[index].2) = at;
                    game.world().get_mut::<Transform>(placed[index].0).unwrap().translation = centre(at);
                }
                _ => {
                    placed[index].3 ^= true;
                    game.world().get_mut::<Obstacle>(placed[index].0).unwrap().enabled = placed[index].3;
                }
            },
        }
        if step % 40 == 39 {
            // Another map in the place of the old one: what stands there stands there still.
            let map = game.map;
            let new = NavMap::new(game.nav().map().clone()).with_rows(Rows::Down);
            game.world().entity_mut(map).insert(new);
        }
        game.update();
        let snapshot = game.nav().snapshot(ClassId(0)).unwrap();
        for cell in snapshot.map().area().unwrap().cells() {
            let covers = |(_, x, y, enabled): &(Entity, i32, i32, bool)| {
                *enabled && cell.x.abs_diff(*x) <= 1 && cell.y.abs_diff(*y) <= 1
            };
            assert_eq!(!snapshot.is_open(cell), placed.iter().any(covers), "step {step}: {cell}");
        }
    }
}

#[test]
fn each_map_has_the_obstacles_on_it() {
    let mut game = Game::in_frame(FIELD);
    let beside = NavMap::from_text(FIELD).unwrap();
    let beside = game.world().spawn((beside, Transform::from_xyz(6.0, 0.0, 0.0))).id();
    let wall = stand(&mut game, 6.0, -1.5, Footprint::Rect { size: Vec2::new(2.0, 1.0) });
    game.update();
    let other = |game: &Game| {
        let map: &NavMap = game.app.world().get(beside).unwrap();
        map.snapshot(ClassId(0)).unwrap().map().to_text(|_| None)
    };
    assert_eq!(
        (game.seen(), other(&game)),
        ("......\n.....#\n......".into(), "......\n#.....\n......".into())
    );
    // Named, it stands on that map only.
    game.world().entity_mut(wall).insert(OnMap(beside));
    game.update();
    assert_eq!(
        (game.seen(), other(&game)),
        (FIELD.replace(' ', "").trim().into(), "......\n#.....\n......".into())
    );
    game.world().entity_mut(wall).remove::<OnMap>();
    game.update();
    assert_eq!(game.seen(), "......\n.....#\n......", "named no more");
    game.world().despawn(beside);
    game.update();
    assert_eq!(game.seen(), "......\n.....#\n......");
}

#[test]
fn storeys_do_not_share_their_walls() {
    let storey = || NavMap::from_text(FIELD).unwrap().with_rows(Rows::Up).with_plane(Plane::Xz);
    let mut game = Game::on(storey(), PathfindingPlugin::default());
    let upper = game.world().spawn((storey(), Transform::from_xyz(0.0, 5.0, 0.0))).id();
    game.world().spawn((Transform::from_xyz(1.5, 4.6, 1.5), Obstacle::default()));
    game.update();
    let walls = |game: &Game, map: Entity| {
        let map: &NavMap = game.app.world().get(map).unwrap();
        map.snapshot(ClassId(0)).unwrap().map().count(Terrain::WALL)
    };
    assert_eq!((walls(&game, game.map), walls(&game, upper)), (0, 1));
    // Without the upper one it stands on the lower.
    game.world().despawn(upper);
    game.update();
    assert_eq!(walls(&game, game.map), 1);
}

#[test]
fn units_go_round_a_gate_that_is_shut_before_them_and_through_when_it_opens() {
    let mut game = Game::in_frame("......\n.####.\n......");
    let unit = game.unit(0, 1);
    let goal = game.centre(0, 0);
    game.order(unit, PathRequest::to(Cell::new(5, 1)));
    game.updates(10);
    let gate = stand(&mut game, 3.5, -0.5, Footprint::Rect { size: Vec2::new(0.5, 0.9) });
    game.updates(2);
    assert!(game.has_heard(Heard::Invalidated(unit)));
    game.until("it has arrived", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    // A second gate below: no way back, until the first is opened.
    stand(&mut game, 2.5, -2.5, Footprint::Cell);
    game.update();
    game.order(unit, PathRequest::to(goal));
    game.updates(3);
    let failed = |heard: &Heard| matches!(heard, Heard::Failed(_, FailureReason::Unreachable { .. }));
    assert!(game.heard().iter().any(failed));
    game.world().get_mut::<Obstacle>(gate).unwrap().enabled = false;
    game.update();
    game.order(unit, PathRequest::to(goal));
    game.take_heard();
    game.until("it is back", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
}

#[test]
fn a_unit_on_which_something_is_built_walks_out() {
    let mut game = Game::in_frame(FIELD);
    let unit = game.unit(2, 1);
    game.updates(3);
    let house = Footprint::Rect { size: Vec2::splat(2.0) };
    stand(&mut game, 3.0, -2.0, house);
    game.updates(60);
    let cell = game.cell_of(unit);
    assert!(game.nav().snapshot(ClassId(0)).unwrap().is_open(cell), "{cell}");
}
