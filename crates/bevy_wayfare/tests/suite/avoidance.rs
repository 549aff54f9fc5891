//! Units that meet: they pass each other, make way, settle, and get out of dead ends.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

const RADIUS: f32 = 0.4;

fn field(width: u32, height: u32) -> Game {
    Game::on(NavMap::new(Map::new(width, height).unwrap()), PathfindingPlugin::default())
        .tuned(|settings| settings.drive = Drive::InFrame)
}

fn drawn(text: &str) -> Game {
    Game::in_frame(text)
}

impl Game {
    fn flat(&self, unit: Entity) -> Vec2 {
        self.position(unit).truncate()
    }

    fn has_arrived(&self, unit: Entity) -> bool {
        self.heard().iter().any(|heard| matches!(heard, Heard::Arrived(who, _) if *who == unit))
    }

    /// Until all have arrived. Returns the least distance there was between any two of `units`, in their radii.
    fn until_all_arrive(&mut self, walkers: &[Entity], units: &[Entity]) -> f32 {
        let mut closest = f32::INFINITY;
        self.until("all arrive", |game| {
            let at: Vec<Vec2> = units.iter().map(|unit| game.flat(*unit)).collect();
            let pairs = at.iter().enumerate().flat_map(|(i, a)| at[..i].iter().map(|b| a.distance(*b)));
            closest = pairs.fold(closest, f32::min);
            walkers.iter().all(|unit| game.has_arrived(*unit))
        });
        closest / RADIUS
    }
}

#[derive(Resource, Default)]
struct Halted(Vec<(Entity, Option<Entity>)>);

fn listen(game: &mut Game) {
    game.app.init_resource::<Halted>().add_observer(|stuck: On<Stuck>, mut halted: ResMut<Halted>| {
        halted.0.push((stuck.entity, stuck.blocker));
    });
}

#[test]
fn two_units_pass_each_other_on_the_right_and_arrive_exactly() {
    for (keep, sign) in [(KeepTo::Right, -1.0), (KeepTo::Left, 1.0)] {
        let mut game = field(20, 9).tuned(|settings| settings.keep = keep);
        let (a, b) = (game.unit(1, 4), game.unit(18, 4));
        game.order(a, PathRequest::to(Cell::new(18, 4)));
        game.order(b, PathRequest::to(Cell::new(1, 4)));
        let mut aside = 0.0_f32;
        let mut closest = f32::INFINITY;
        game.until("both arrive", |game| {
            let (at, other) = (game.flat(a), game.flat(b));
            closest = closest.min(at.distance(other));
            let off = at.y - 4.5;
            aside = if off.abs() > aside.abs() { off } else { aside };
            game.has_arrived(a) && game.has_arrived(b)
        });
        game.updates(2);
        assert!(closest > 1.9 * RADIUS, "{keep:?}: {closest}");
        assert!(aside * sign > 0.2, "{keep:?}: {aside} to the left");
        assert_eq!((game.flat(a), game.flat(b)), (Vec2::new(18.5, 4.5), Vec2::new(1.5, 4.5)));
    }
}

#[test]
fn on_the_ground_of_a_3d_game_right_is_right() {
    let map = NavMap::new(Map::new(20, 9).unwrap()).with_plane(Plane::Xz);
    let mut game =
        Game::on(map, PathfindingPlugin::default()).tuned(|settings| settings.drive = Drive::InFrame);
    let (a, b) = (game.unit(1, 4), game.unit(18, 4));
    game.order(a, PathRequest::to(Cell::new(18, 4)));
    game.order(b, PathRequest::to(Cell::new(1, 4)));
    let middle = game.position(a).z;
    let mut aside = 0.0_f32;
    game.until("both arrive", |game| {
        let off = game.position(a).z - middle;
        aside = if off.abs() > aside.abs() { off } else { aside };
        game.has_arrived(a) && game.has_arrived(b)
    });
    // Whoever walks along X has Z, which leads towards the viewer, on the right.
    assert!(aside > 0.2, "{aside}");
}

#[test]
fn many_units_to_one_point_settle_and_stay() {
    let mut game = field(40, 40);
    let units: Vec<Entity> = (0..60).map(|i| game.unit(2 + (i % 10) * 3, 2 + (i / 10) * 3)).collect();
    for unit in &units {
        game.order(*unit, PathRequest::to(Vec2::new(30.0, 30.0)));
    }
    let closest = game.until_all_arrive(&units, &units);
    assert!(closest > 1.6, "{closest}");
    game.updates(64);
    let before: Vec<Vec2> = units.iter().map(|unit| game.flat(*unit)).collect();
    game.updates(128);
    for (unit, before) in units.iter().zip(before) {
        assert!(game.flat(*unit).distance(before) < 0.05, "it jostles");
        assert!(game.flat(*unit).distance(Vec2::splat(30.0)) < 2.2 * RADIUS * (60.0_f32 / 0.9).sqrt());
    }
}

#[test]
fn idle_units_make_way_and_return_locked_ones_stay() {
    let mut game = field(24, 11);
    let idle: Vec<Entity> = (0..7).map(|i| game.unit(12, 2 + i)).collect();
    let locked = game.unit(16, 5);
    game.world().entity_mut(locked).insert(Avoidance::LOCKED);
    let homes: Vec<Vec2> = idle.iter().map(|unit| game.flat(*unit)).collect();
    let tower = game.flat(locked);
    let walkers: Vec<Entity> = (0..3).map(|i| game.unit(2, 4 + i)).collect();
    for (i, unit) in (0..).zip(&walkers) {
        game.order(*unit, PathRequest::to(Cell::new(21, 4 + i)));
    }
    let everybody: Vec<Entity> = idle.iter().chain(&walkers).chain([&locked]).copied().collect();
    let mut moved = 0.0_f32;
    let mut closest = f32::INFINITY;
    game.until("all arrive", |game| {
        moved = idle
            .iter()
            .zip(&homes)
            .fold(moved, |moved, (unit, home)| moved.max(game.flat(*unit).distance(*home)));
        assert_eq!(game.flat(locked), tower);
        let at: Vec<Vec2> = everybody.iter().map(|unit| game.flat(*unit)).collect();
        closest = at
            .iter()
            .enumerate()
            .flat_map(|(i, a)| at[..i].iter().map(|b| a.distance(*b)))
            .fold(closest, f32::min);
        walkers.iter().all(|unit| game.has_arrived(*unit))
    });
    assert!(moved > 0.1, "somebody made way");
    assert!(closest > 1.5 * RADIUS, "{closest}");
    game.updates(128);
    for (unit, home) in idle.iter().zip(&homes) {
        assert!(game.flat(*unit).distance(*home) < 0.05, "it is home again");
    }
}

#[test]
fn two_units_in_a_lane_let_each_other_pass_at_the_bay() {
    let mut game = drawn(
        "####.###############
         ....................",
    );
    let (a, b) = (game.unit(0, 1), game.unit(19, 1));
    game.order(a, PathRequest::to(Cell::new(19, 1)));
    game.order(b, PathRequest::to(Cell::new(0, 1)));
    let closest = game.until_all_arrive(&[a, b], &[a, b]);
    assert!(closest > 1.8, "{closest}");
    assert_eq!(game.heard().iter().filter(|heard| matches!(heard, Heard::Arrived(..))).count(), 2);
}

#[test]
fn an_idle_unit_in_a_lane_leaves_it_and_comes_back() {
    let mut game = drawn(
        "########.###########
         ....................",
    );
    let (idle, walker) = (game.unit(10, 1), game.unit(16, 1));
    let home = game.flat(idle);
    game.order(walker, PathRequest::to(Cell::new(1, 1)));
    game.until_all_arrive(&[walker], &[idle, walker]);
    game.until("it is back", |game| game.flat(idle).distance(home) < 0.05);
    assert!(game.heard().iter().all(|heard| heard.unit() == walker), "nobody hears of it");
    assert!(!game.has_request(idle) && game.path(idle).is_empty());
}

#[test]
fn a_wall_of_locked_units_is_walked_around() {
    let mut game = field(30, 30);
    for i in 0..7 {
        let tower = game.unit(15, 12 + i);
        game.world().entity_mut(tower).insert(Avoidance::LOCKED);
    }
    let unit = game.unit(5, 15);
    game.order(unit, PathRequest::to(Cell::new(25, 15)));
    let steps = game.until("it arrives", |game| game.has_arrived(unit));
    // Straight on it is 20 cells, at 3 a second and 64 steps.
    assert!(steps < 2 * 20 * 64 / 3, "{steps}");
}

#[test]
fn who_cannot_get_through_says_so_and_names_the_blocker() {
    let mut game = drawn("..........");
    listen(&mut game);
    let (unit, tower) = (game.unit(0, 0), game.unit(5, 0));
    game.world().entity_mut(tower).insert(Avoidance::LOCKED);
    game.order(unit, PathRequest::to(Cell::new(9, 0)));
    game.until("it is stuck", |game| !game.app.world().resource::<Halted>().0.is_empty());
    assert_eq!(game.app.world().resource::<Halted>().0, [(unit, Some(tower))]);
    assert!(game.has_request(unit), "it keeps its order");
    game.world().despawn(tower);
    game.until("it goes on", |game| game.has_arrived(unit));
}

#[test]
fn layers_and_switched_off_avoidance_let_units_through() {
    let meet = |game: &mut Game| {
        let (a, b) = (game.unit(0, 0), game.unit(9, 0));
        game.order(a, PathRequest::to(Cell::new(9, 0)));
        game.order(b, PathRequest::to(Cell::new(0, 0)));
        (a, b)
    };
    let mut game = Game::with("..........", PathfindingPlugin::default().without_avoidance());
    let (a, b) = meet(&mut game);
    let closest = game.until_all_arrive(&[a, b], &[a, b]);
    assert!(closest < 0.5, "{closest}");

    let mut game = drawn("..........");
    let (a, b) = meet(&mut game);
    game.world().entity_mut(a).insert(Avoidance::on_layer(1));
    let closest = game.until_all_arrive(&[a, b], &[a, b]);
    assert!(closest < 0.5, "{closest}");
}

#[test]
fn units_without_a_path_go_where_the_game_wants_and_no_farther_than_walls() {
    let mut game = drawn("....#");
    let (hero, other) = (game.unit(0, 0), game.unit(2, 0));
    game.world().entity_mut(other).insert(Avoidance::NONE);
    game.world().get_mut::<WantedVelocity>(hero).unwrap().0 = Vec3::X * 3.0;
    game.until("it is at the wall", |game| game.flat(hero).x > 3.55);
    game.updates(30);
    assert!(game.flat(hero).x <= 3.6 + 1e-3, "{}", game.flat(hero));
    game.world().get_mut::<WantedVelocity>(hero).unwrap().0 = Vec3::NAN;
    game.updates(10);
    assert!(game.flat(hero).is_finite());
    game.world().get_mut::<WantedVelocity>(hero).unwrap().0 = Vec3::ZERO;
    game.updates(10);
    let at = game.flat(hero);
    game.updates(30);
    assert_eq!(game.flat(hero), at);
}

#[test]
fn units_spawned_on_one_point_or_in_a_wall_get_out() {
    let mut game = drawn(
        ".........
         ...###...
         ...###...
         .........",
    );
    let units: Vec<Entity> = (0..6).map(|_| game.unit(1, 1)).collect();
    let caught = game.unit(4, 1);
    game.updates(300);
    for (i, unit) in units.iter().enumerate() {
        for other in &units[..i] {
            let gap = game.flat(*unit).distance(game.flat(*other));
            assert!(gap > 1.8 * RADIUS, "{gap}");
        }
        assert_ne!(game.terrain_under(*unit), Terrain::WALL);
    }
    assert_ne!(game.terrain_under(caught), Terrain::WALL);
}

#[test]
fn a_unit_despawned_or_disabled_in_the_middle_is_no_hindrance() {
    for disable in [false, true] {
        let mut game = drawn("....................");
        let (a, b) = (game.unit(0, 0), game.unit(19, 0));
        game.order(a, PathRequest::to(Cell::new(19, 0)));
        game.order(b, PathRequest::to(Cell::new(0, 0)));
        game.until("they meet", |game| game.flat(a).distance(game.flat(b)) < 1.0);
        game.updates(40);
        if disable {
            game.world().entity_mut(b).insert(Disabled);
        } else {
            game.world().despawn(b);
        }
        game.until("it arrives", |game| game.has_arrived(a));
        if disable {
            game.world().entity_mut(b).remove::<Disabled>();
            game.until("so does the other one", |game| game.has_arrived(b));
        }
    }
}

#[test]
fn the_same_ids_make_the_same_game_in_any_order_of_spawning() {
    let run = |order: &[i32]| {
        let mut game = field(20, 20).tuned(|settings| settings.delivery = Delivery::Lockstep { ticks: 2 });
        let mut units = [Entity::PLACEHOLDER; 12];
        for &i in order {
            let unit = game.unit(1 + (i % 4) * 2, 1 + (i / 4) * 2);
            let id = Some(u64::try_from(i).unwrap());
            game.world().entity_mut(unit).insert(Avoidance { id, ..default() });
            units[usize::try_from(i).unwrap()] = unit;
        }
        for unit in units {
            game.order(unit, PathRequest::to(Cell::new(15, 15)));
        }
        game.updates(400);
        units.map(|unit| game.flat(unit).to_array().map(f32::to_bits))
    };
    let forwards: Vec<i32> = (0..12).collect();
    let backwards: Vec<i32> = (0..12).rev().collect();
    assert_eq!(run(&forwards), run(&backwards));
}

#[test]
fn threads_change_nothing() {
    let run = |threads| {
        let mut game = field(64, 64).tuned(|settings| {
            settings.delivery = Delivery::Lockstep { ticks: 2 };
            settings.crowd_threads = threads;
        });
        let units: Vec<Entity> = (0..900).map(|i| game.unit(2 + (i % 30) * 2, 2 + (i / 30) * 2)).collect();
        for (unit, i) in units.iter().zip(0..) {
            game.order(*unit, PathRequest::to(Cell::new(61 - (i % 30) * 2, 61 - (i / 30) * 2)));
        }
        game.updates(120);
        units.iter().map(|unit| game.flat(*unit).to_array().map(f32::to_bits)).collect::<Vec<_>>()
    };
    assert_eq!(run(Some(1)), run(None));
}

#[test]
fn one_that_is_met_on_its_way_home_lets_that_one_pass_too_and_then_goes_home() {
    let mut game = Game::in_frame(
        "###############
         #.............#
         #####.#########
         ###############",
    );
    let (bay, home) = (Cell::new(5, 2), game.centre(8, 1));
    let idler = game.unit(8, 1);
    let walks = |game: &mut Game| {
        let walker = game.unit(13, 1);
        game.order(walker, PathRequest::to(Cell::new(1, 1)));
        walker
    };
    let first = walks(&mut game);
    game.until("it lets the first pass", |game| game.cell_of(idler) == bay);
    game.until("it is on its way home", |game| (5.9..6.5).contains(&game.position(idler).x));
    game.world().despawn(first);
    let second = walks(&mut game);
    game.world().get_mut::<Transform>(second).unwrap().translation.x = 9.5;
    game.until("it lets the second pass", |game| game.cell_of(idler) == bay);
    game.until("it is home", |game| game.position(idler).distance(home) < 0.1);
    assert!(game.position(second).x < 5.0);
}

#[test]
fn who_lets_a_column_pass_goes_home_after_the_last_of_it() {
    let mut game = Game::in_frame(
        "###########################
         #.........................#
         #####.#####################
         ###########################",
    );
    let (bay, home) = (Cell::new(5, 2), game.centre(8, 1));
    let idler = game.unit(8, 1);
    // So far apart that one is past the bay before the next is near home.
    let column: Vec<Entity> = (0..4).map(|i| game.unit(12 + 4 * i, 1)).collect();
    for (unit, x) in column.iter().zip(1..) {
        game.order(*unit, PathRequest::to(Cell::new(x, 1)));
    }
    game.until("it lets them pass", |game| game.cell_of(idler) == bay);
    let mut back = 0;
    game.until("it is home", |game| {
        let at = game.position(idler);
        let passes = column.iter().any(|unit| game.position(*unit).x > 5.5);
        back += usize::from(passes && game.cell_of(idler) != bay);
        at.distance(home) < 0.1
    });
    assert_eq!(back, 0, "it set out while they came");
    assert!(column.iter().all(|unit| game.has_arrived(*unit) || game.position(*unit).x < 5.5));
}

#[test]
fn one_that_was_pushed_around_a_corner_finds_its_way_home() {
    let mut game = Game::in_frame(
        "######
         #....#
         #.##.#
         #.##.#
         ######",
    );
    let home = game.centre(1, 3);
    let idler = game.unit_with(1, 3, Agent { speed: 0.1, ..default() });
    game.updates(4);
    // So little at a time that it counts as pushed, not as put elsewhere.
    let nudge = 0.1 * RADIUS;
    for corner in [game.centre(1, 1), game.centre(4, 1), game.centre(4, 3)] {
        game.until("it is carried on", |game| {
            // It looks, however little it was moved.
            game.world().get_mut::<Agent>(idler).unwrap().set_changed();
            let mut at = game.world().get_mut::<Transform>(idler).unwrap();
            let to = corner - at.translation;
            at.translation += to.clamp_length_max(nudge);
            to.length() < 0.2
        });
    }
    assert_eq!(game.cell_of(idler), Cell::new(4, 3));
    game.world().get_mut::<Agent>(idler).unwrap().speed = 6.0;
    game.until("it is home", |game| game.position(idler).distance(home) < 0.1);
    game.updates(64);
    assert!(game.position(idler).distance(home) < 0.1);
    assert!(game.path(idler).is_empty() && game.heard().is_empty());
}
