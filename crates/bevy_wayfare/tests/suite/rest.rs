//! Crowds at rest: nobody is looked at until something stirs, and whatever may move somebody does.

use bevy::diagnostic::DiagnosticsStore;
use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

const RADIUS: f32 = 0.4;

impl Game {
    /// Whether avoidance looked at anybody in the run before the last.
    fn avoids(&self) -> bool {
        let store = self.app.world().resource::<DiagnosticsStore>();
        store.get(&PathfindingDiagnostics::AVOIDING).and_then(|units| units.value()).unwrap() > 0.0
    }

    /// Whether avoidance looks at anybody now.
    fn stirs(&mut self) -> bool {
        self.updates(2);
        self.avoids()
    }

    fn rests(&mut self) {
        assert!(self.stirs(), "somebody is new");
        self.until("all rest", |game| !game.avoids());
        let at = self.places();
        for _ in 0..50 {
            self.update();
            assert!(!self.avoids(), "at rest is at rest");
        }
        assert_eq!(self.places(), at);
    }

    fn places(&mut self) -> Vec<Vec3> {
        let mut units = self.world().query_filtered::<&Transform, With<Agent>>();
        units.iter(self.app.world()).map(|transform| transform.translation).collect()
    }

    fn closest(&mut self) -> f32 {
        let at = self.places();
        let pairs = at.iter().enumerate().flat_map(|(i, a)| at[..i].iter().map(|b| a.distance(*b)));
        pairs.fold(f32::INFINITY, f32::min) / RADIUS
    }
}

/// A dozen units that were put on three cells of a yard and have come apart; one more stands alone.
fn yard() -> (Game, Vec<Entity>) {
    let mut game = Game::in_frame(
        "############
         #..........#
         #..........#
         #..........#
         #.........##
         ############",
    );
    let mut units: Vec<Entity> = (0..12).map(|i| game.unit(2 + i % 3, 2)).collect();
    game.rests();
    assert!(game.closest() > 1.9, "{}", game.closest());
    units.push(game.unit(9, 2));
    game.rests();
    (game, units)
}

/// Whether something that the game does makes avoidance look again, and after that everybody rests again.
fn wakes(act: impl FnOnce(&mut Game, &[Entity])) -> bool {
    let (mut game, units) = yard();
    act(&mut game, &units);
    let wakes = game.stirs();
    game.until("all rest again", |game| !game.avoids());
    wakes
}

#[test]
fn whoever_walks_is_new_or_gone_stirs_a_crowd_at_rest() {
    assert!(wakes(|game, units| game.order(units[12], PathRequest::to(Cell::new(9, 3)))), "an order");
    assert!(wakes(|game, _| _ = game.unit(8, 1)), "spawned");
    assert!(wakes(|game, units| assert!(game.world().despawn(units[3]))), "despawned");
    assert!(
        wakes(|game, units| _ = game.world().entity_mut(units[3]).remove::<Agent>()),
        "no agent any more"
    );
    assert!(wakes(|game, units| _ = game.world().entity_mut(units[3]).insert(Disabled)), "disabled");
    let disable_and_enable = |game: &mut Game, units: &[Entity]| {
        game.world().entity_mut(units[3]).insert(Disabled);
        game.updates(30);
        assert!(!game.avoids(), "those who are left rest");
        game.world().entity_mut(units[3]).remove::<Disabled>();
    };
    assert!(wakes(disable_and_enable), "enabled");
}

#[test]
fn whatever_the_game_does_to_a_unit_stirs_a_crowd_at_rest() {
    let teleport = |game: &mut Game, units: &[Entity]| {
        let there = game.position(units[0]);
        game.world().get_mut::<Transform>(units[12]).unwrap().translation = there;
    };
    assert!(wakes(teleport), "put elsewhere");
    assert!(wakes(|game, units| game.world().get_mut::<Agent>(units[0]).unwrap().radius = 0.45), "grown");
    let rank = |game: &mut Game, units: &[Entity]| {
        game.world().get_mut::<Avoidance>(units[0]).unwrap().priority = 3;
    };
    assert!(wakes(rank), "promoted");
    let ignore =
        |game: &mut Game, units: &[Entity]| _ = game.world().entity_mut(units[0]).remove::<Avoidance>();
    assert!(wakes(ignore), "it avoids nobody any more");
    let come_back = |game: &mut Game, units: &[Entity]| {
        let there = game.position(units[0]);
        game.world().get_mut::<Transform>(units[12]).unwrap().translation = Vec3::NAN;
        game.updates(30);
        game.world().get_mut::<Transform>(units[12]).unwrap().translation = there;
    };
    assert!(wakes(come_back), "back from nowhere");
    let drive = |game: &mut Game, units: &[Entity]| {
        game.world().get_mut::<WantedVelocity>(units[12]).unwrap().0 = Vec3::X;
        assert!(game.stirs());
        game.updates(100);
        assert!(game.avoids(), "as long as it wants to go somewhere");
        game.world().get_mut::<WantedVelocity>(units[12]).unwrap().0 = Vec3::ZERO;
    };
    assert!(wakes(drive), "driven");
}

#[test]
fn changed_ground_stirs_a_crowd_at_rest() {
    assert!(wakes(|game, _| game.edit(|map| assert!(map.set((10, 4), Terrain::OPEN).unwrap()))), "edited");
    let name_and_forget = |game: &mut Game, units: &[Entity]| {
        let map = game.map;
        game.world().entity_mut(units[12]).insert(OnMap(map));
        assert!(game.stirs(), "its map was named");
        game.until("all rest", |game| !game.avoids());
        game.world().entity_mut(units[12]).remove::<OnMap>();
    };
    assert!(wakes(name_and_forget), "its map is not named any more");
    let allow = |game: &mut Game, _: &[Entity]| {
        game.world().resource_mut::<PathfindingSettings>().escape_cells = 3;
    };
    assert!(wakes(allow), "those in a wall may get out of it now");
}

#[test]
fn what_moves_nobody_stirs_nobody() {
    let turn_and_scale = |game: &mut Game, units: &[Entity]| {
        let mut transform = game.world().get_mut::<Transform>(units[0]).unwrap();
        transform.rotate_z(1.0);
        transform.scale = Vec3::splat(2.0);
    };
    assert!(!wakes(turn_and_scale));
    let nudge = |game: &mut Game, units: &[Entity]| {
        game.world().get_mut::<Transform>(units[12]).unwrap().translation.x += 0.2 * RADIUS;
    };
    assert!(!wakes(nudge));
    assert!(!wakes(|game, _| _ = game.flag(5, 2)), "it is no agent");
    assert!(!wakes(|game, units| game.world().get_mut::<WantedVelocity>(units[0]).unwrap().0 = Vec3::ZERO));
}

#[test]
fn whoever_is_put_upon_another_one_gets_off_it() {
    let (mut game, units) = yard();
    let there = game.position(units[12]);
    game.world().get_mut::<Transform>(units[0]).unwrap().translation = there;
    game.rests();
    assert!(game.closest() > 1.9, "{}", game.closest());
}

#[test]
fn the_last_one_to_arrive_is_looked_at_once_more() {
    let (mut game, units) = yard();
    game.order(units[12], PathRequest::to(Cell::new(9, 3)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(units[12], Reach::Goal)));
    assert!(game.stirs(), "it may stand where somebody else does");
    assert!(!game.stirs(), "it does not");
}

#[test]
fn units_on_one_point_come_apart_when_time_begins() {
    let mut game =
        Game::on(NavMap::new(Map::new(9, 9).unwrap()), PathfindingPlugin::default().in_schedule(Update));
    game.app.world_mut().resource_mut::<Time<Virtual>>().pause();
    game.unit(4, 4);
    game.unit(4, 4);
    game.updates(5);
    assert!(game.closest() < 1e-3);
    game.app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    game.rests();
    assert!(game.closest() > 1.9, "{}", game.closest());
}

#[test]
fn those_who_were_pressed_use_the_room_that_others_leave() {
    for leave in [false, true] {
        // Far more than fit in.
        let mut game =
            Game::on(NavMap::new(Map::filled(20, 20, Terrain::WALL).unwrap()), PathfindingPlugin::default());
        game.edit(|map| assert_ne!(map.fill(Area::new((9, 9), (10, 10)), Terrain::OPEN).unwrap(), 0));
        let units: Vec<Entity> = (0..90).map(|i| game.unit(9 + i % 2, 9 + i / 2 % 2)).collect();
        game.updates(64 * 8);
        game.until("all rest", |game| !game.avoids());
        assert!(game.closest() < 1.0, "they stand in each other: {}", game.closest());
        if leave {
            for unit in &units[4..] {
                game.world().despawn(*unit);
            }
        } else {
            game.edit(|map| assert_ne!(map.fill(Area::new((2, 2), (17, 17)), Terrain::OPEN).unwrap(), 0));
        }
        game.rests();
        assert!(game.closest() > 1.8, "{}", game.closest());
    }
}

#[test]
fn bodies_that_the_game_moves_come_apart_and_no_farther() {
    let map = NavMap::new(Map::new(9, 9).unwrap());
    let mut game = Game::on(map, PathfindingPlugin::default().without_moving()).following_blindly();
    let (_, other) = (game.unit(4, 4), game.unit(4, 4));
    game.world().get_mut::<Transform>(other).unwrap().translation.x += 1.8 * RADIUS;
    game.rests();
    assert!((1.95..2.05).contains(&game.closest()), "{}", game.closest());
}

/// An army of so many ranks, and a lane along two of its sides.
fn army(ranks: i32) -> (Game, Vec<Entity>) {
    let side = usize::try_from(ranks * 6 / 5 + 8).unwrap();
    let mut game = Game::in_frame(&vec![".".repeat(side); side].join("\n"));
    let place = |rank: i32| 5.0 + 1.2 * rank as f32;
    let units = (0..ranks * ranks)
        .map(|i| {
            game.world()
                .spawn((
                    Agent { radius: RADIUS, ..default() },
                    Transform::from_xyz(place(i % ranks), -place(i / ranks), 0.0),
                ))
                .id()
        })
        .collect();
    game.rests();
    (game, units)
}

/// How many units avoidance looked at in the run before the last.
fn looked_at(game: &Game) -> f64 {
    let store = game.app.world().resource::<DiagnosticsStore>();
    store.get(&PathfindingDiagnostics::AVOIDING).and_then(|units| units.value()).unwrap()
}

#[test]
fn one_who_walks_wakes_those_nearby_and_nobody_else() {
    let (mut game, units) = army(30);
    let homes = game.places();
    let scout = game.unit(1, 1);
    game.order(scout, PathRequest::to(Cell::new(40, 1)));
    let (mut most, mut runs) = (0.0_f64, 0);
    game.until("the scout is there", |game| {
        // The first run looks at whoever is new.
        runs += 1;
        most = if runs > 3 { most.max(looked_at(game)) } else { most };
        game.position(scout).distance(game.centre(40, 1)) < 0.1
    });
    assert!((2.0..150.0).contains(&most), "{most} of {}", units.len());
    assert_eq!(game.places()[..homes.len()], homes, "nobody was in the way");
}

#[test]
fn whoever_is_walked_through_makes_way_and_returns_though_it_was_at_rest() {
    let through = |game: &mut Game, looks_at_all: bool| {
        let homes = game.places();
        let scout = game.unit(1, 20);
        // Beyond them, where nobody is at home.
        game.order(scout, PathRequest::to(Cell::new(42, 20)));
        let (mut runs, mut stirred) = (0, 0.0_f32);
        game.until("the scout is there", |game| {
            runs += 1;
            if looks_at_all {
                game.world().resource_mut::<PathfindingSettings>().set_changed();
            }
            let places = game.places();
            let away = places.iter().zip(&homes).map(|(at, home)| at.distance(*home));
            stirred = away.fold(stirred, f32::max);
            game.position(scout).distance(game.centre(42, 20)) < 0.1
        });
        game.until("all rest", |game| !game.avoids());
        let (places, clear) = (game.places(), game.closest());
        let from_home = places.iter().zip(&homes).map(|(at, home)| at.distance(*home)).fold(0.0, f32::max);
        assert!(stirred > 0.3, "somebody was in the way, and moved {stirred}");
        assert!(from_home < 0.05 && clear > 1.9, "{from_home} {clear}");
        runs
    };
    let [few, all] = [false, true].map(|looks_at_all| through(&mut army(30).0, looks_at_all));
    // It is no other game than if everybody were looked at all the time.
    assert!((f64::from(few) / f64::from(all) - 1.0).abs() < 0.1, "{few} {all}");
}

#[test]
fn crowds_of_other_maps_rest_on() {
    let (mut game, units) = army(8);
    let far = Transform::from_xyz(1000.0, 0.0, 0.0);
    game.world().spawn((NavMap::new(Map::new(20, 20).unwrap()), far));
    let [a, b] = [0.0, 1.0]
        .map(|row| game.world().spawn((Agent::default(), Transform::from_xyz(1001.5, 1.5 + row, 0.0))).id());
    game.until("all rest", |game| !game.avoids());
    game.order(a, PathRequest::to(Vec3::new(1015.5, 1.5, 0.0)));
    game.updates(20);
    for _ in 0..20 {
        game.update();
        assert!((1.0..3.0).contains(&looked_at(&game)), "{} and not {}", looked_at(&game), units.len());
    }
    assert!(game.position(b).x < 1002.0);
}

#[test]
fn one_who_vanishes_wakes_those_nearby_and_nobody_else() {
    let (mut game, units) = army(30);
    let vanish: [fn(&mut Game, Entity); 3] = [
        |game, unit| assert!(game.world().despawn(unit)),
        |game, unit| _ = game.world().entity_mut(unit).insert(Disabled),
        |game, unit| _ = game.world().entity_mut(unit).remove::<Agent>(),
    ];
    for (gone, vanish) in [units[65], units[435], units[881]].into_iter().zip(vanish) {
        vanish(&mut game, gone);
        game.updates(2);
        assert!((1.0..150.0).contains(&looked_at(&game)), "{} of {}", looked_at(&game), units.len());
        game.until("all rest", |game| !game.avoids());
    }
}

#[test]
fn where_somebody_vanishes_from_a_pile_the_others_take_the_room() {
    let mut game = Game::in_frame("#####\n#...#\n#####");
    let units: Vec<Entity> = (0..5).map(|i| game.unit(1 + i % 3, 1)).collect();
    game.until("all rest", |game| !game.avoids());
    let crowded = game.closest();
    for gone in &units[..2] {
        game.world().despawn(*gone);
        assert!(game.stirs());
        game.until("all rest", |game| !game.avoids());
    }
    assert!(crowded < 1.5 && game.closest() > 1.9, "{crowded} {}", game.closest());
}
