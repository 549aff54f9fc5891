//! Islands and a survey are kept in a file: what is loaded at the start is in use from the first search on, and nobody but
//! searches notices.

use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy_wayfare::LoadError;
use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard, Random, scattered};

const TOWN: &str = "
    ............
    .##.##.##.#.
    .#...#..#.#.
    .##.##.##.#.
    ............
    .#.###.#.##.
    ............";

const WALKERS: ClassId = ClassId(0);
const STROLLERS: ClassId = ClassId(1);

/// Two classes, of which one finds the ground uneven.
fn town() -> NavMap {
    let grass = Terrain(3);
    let mut map = NavMap::from_text(TOWN).unwrap();
    map.map_mut().set((0, 0), grass).unwrap();
    map.with_class(STROLLERS, Class::default().with(grass, Factor::whole(3)))
}

/// A game in which nothing is surveyed in the background.
fn game_on(map: NavMap) -> Game {
    let settings = PathfindingSettings { surveys: false, ..default() };
    Game::on(map, PathfindingPlugin::default().with_settings(settings))
}

fn is_known(game: &Game, class: ClassId) -> bool {
    let snapshot = game.nav().snapshot(class).unwrap();
    snapshot.is_surveyed() && !snapshot.wants_survey()
}

fn load(game: &mut Game, class: ClassId, bytes: &[u8]) -> Result<(), LoadError> {
    let map = game.map;
    game.world().get_mut::<NavMap>(map).unwrap().load(class, bytes)
}

#[test]
fn what_is_loaded_before_the_map_is_spawned_is_known_from_the_start() {
    let baked = town().bake(WALKERS).unwrap();
    let mut map = town();
    assert_eq!(map.load(WALKERS, &baked), Ok(()));
    assert!(map.snapshot(WALKERS).unwrap().is_surveyed());
    assert!(!map.snapshot(STROLLERS).unwrap().is_surveyed());
    // One who builds a wall before the first frame has less of it.
    let mut edited = map.clone();
    edited.map_mut().set((4, 4), Terrain::WALL).unwrap();
    let mut game = game_on(map);
    assert!(is_known(&game, WALKERS) && !is_known(&game, STROLLERS));
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(11, 6)));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    let snapshot = game_on(edited).nav().snapshot(WALKERS).unwrap();
    assert!(snapshot.is_surveyed() && snapshot.wants_survey());
}

#[test]
fn a_map_that_is_loaded_is_not_looked_at_again() {
    let baked = town().bake(WALKERS).unwrap();
    let mut map = town();
    map.load(WALKERS, &baked).unwrap();
    let (loaded, other) = (map.snapshot(WALKERS).unwrap(), map.snapshot(STROLLERS).unwrap());
    let game = game_on(map);
    assert!(std::sync::Arc::ptr_eq(&game.nav().snapshot(WALKERS).unwrap(), &loaded));
    assert!(!game.nav().snapshot(STROLLERS).unwrap().is_of_same_ground(&other));
}

/// The checksum of the format, for a short file.
fn seal(file: &mut [u8]) {
    let (body, sum) = file.split_last_chunk_mut::<8>().unwrap();
    let word = |part: &[u8]| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    };
    let add = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x0000_0100_0000_01B3);
    let start = 0xCBF2_9CE4_8422_2325_u64;
    let (fours, rest) = body.split_at(body.len() / 32 * 32);
    let lane = |lane: usize| fours.chunks(8).skip(lane).step_by(4).map(word).fold(start, add);
    *sum = (0..4).map(lane).chain(rest.chunks(8).map(word)).fold(start, add).to_le_bytes();
}

/// A forged file says that two halves of a map hang together, which nobody would find who looked.
#[test]
fn islands_are_those_of_the_file() {
    let halves = || NavMap::from_text("...\n###\n...").unwrap();
    let (above, below) = (Cell::new(0, 0), Cell::new(0, 2));
    let snapshot = halves().snapshot(WALKERS).unwrap();
    let mut file = snapshot.to_bytes();
    // Behind header and length: a run of the first area, and one of the second.
    assert_eq!(file[36..38], [0, 4]);
    seal(&mut file);
    assert!(file == snapshot.to_bytes(), "the seal is that of the format");
    file[37] = 0;
    seal(&mut file);
    let mut map = halves();
    assert_eq!(map.load(WALKERS, &file), Ok(()));
    let mut game = game_on(map);
    assert!(game.nav().snapshot(WALKERS).unwrap().reachable(above, below));
    // A map that is in use knows better.
    let mut late = game_on(halves());
    assert_eq!(load(&mut late, WALKERS, &file), Ok(()));
    late.updates(2);
    assert!(!late.nav().snapshot(WALKERS).unwrap().reachable(above, below));
    // Walking there is another matter.
    let unit = game.unit(above.x, above.y);
    game.order(unit, PathRequest::to(below));
    game.until("it gives up", |game| {
        game.heard().iter().any(|heard| matches!(heard, Heard::Failed(failed, _) if *failed == unit))
    });
}

#[test]
fn what_the_core_has_baked_is_loaded_as_well() {
    let view = View::default();
    for map in [town(), NavMap::new(scattered(90, 5))] {
        let ground = map.map().clone();
        let snapshot = map.snapshot(WALKERS).unwrap();
        for (file, is_surveyed) in [
            (Snapshot::bake(&ground, &view), true),
            (snapshot.survey().to_bytes(), true),
            (snapshot.to_bytes(), false),
        ] {
            let mut early = NavMap::new(ground.clone());
            assert_eq!(early.load(WALKERS, &file), Ok(()));
            let mut late = game_on(NavMap::new(ground.clone()));
            assert_eq!(load(&mut late, WALKERS, &file), Ok(()));
            late.updates(2);
            for game in [late, game_on(early)] {
                assert_eq!(is_known(&game, WALKERS), is_surveyed);
            }
        }
    }
}

#[test]
fn what_is_loaded_later_disturbs_nobody() {
    let baked = town().bake(WALKERS).unwrap();
    let mut game = game_on(town());
    let sleeper = game.unit(8, 4);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(11, 6)));
    game.until("it is under way", |game| game.has_heard(Heard::Found(unit, Reach::Goal)));
    assert!(!is_known(&game, WALKERS));
    let before = game.position(sleeper);
    assert_eq!(load(&mut game, WALKERS, &baked), Ok(()));
    game.update();
    assert!(is_known(&game, WALKERS));
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert!(!game.has_heard(Heard::Invalidated(unit)));
    game.until("who made way is home", |game| game.position(sleeper).distance(before) < 0.05);
    // What is known stays in use where the map is not edited, and a copy of the map knows it, too.
    game.edit(|map| assert!(map.set((3, 0), Terrain::WALL).unwrap()));
    game.update();
    let snapshot = game.nav().snapshot(WALKERS).unwrap();
    assert!(snapshot.is_surveyed() && snapshot.wants_survey());
}

#[test]
fn a_crowd_at_rest_is_not_stirred() {
    let baked = town().bake(WALKERS).unwrap();
    let mut game = game_on(town());
    game.unit(8, 4);
    game.unit(0, 2);
    let looked_at = |game: &Game| {
        let store = game.app.world().resource::<DiagnosticsStore>();
        store.get(&PathfindingDiagnostics::AVOIDING).and_then(|units| units.value()) != Some(0.0)
    };
    game.updates(3);
    game.until("all rest", |game| !looked_at(game));
    assert_eq!(load(&mut game, WALKERS, &baked), Ok(()));
    for _ in 0..5 {
        game.update();
        assert!(!looked_at(&game));
    }
    assert!(is_known(&game, WALKERS));
}

#[test]
fn what_is_loaded_is_not_surveyed_again() {
    let baked = town().bake(WALKERS).unwrap();
    let mut map = town().with_class(STROLLERS, Class::default().without(Terrain::OPEN));
    map.load(WALKERS, &baked).unwrap();
    let mut game = Game::on(map, PathfindingPlugin::default());
    let known = game.nav().snapshot(WALKERS).unwrap();
    game.updates(60);
    // A survey would have made a new view of it.
    assert!(std::sync::Arc::ptr_eq(&known, &game.nav().snapshot(WALKERS).unwrap()));
}

#[test]
fn a_file_that_is_refused_leaves_everything_as_it_is() {
    let baked = town().bake(WALKERS).unwrap();
    let mut other = town();
    other.map_mut().set((5, 0), Terrain::WALL).unwrap();
    let stale = other.bake(WALKERS).unwrap();
    let mut damaged = baked.clone();
    damaged[40] ^= 1;
    let refused = |error| Err(LoadError::Refused(error));
    let mut map = town();
    assert_eq!(map.load(WALKERS, &stale), refused(BakeError::Stale));
    assert_eq!(map.load(WALKERS, &damaged), refused(BakeError::Damaged));
    assert_eq!(map.load(WALKERS, &baked[..baked.len() - 1]), refused(BakeError::Truncated));
    assert_eq!(map.load(WALKERS, b"a picture"), refused(BakeError::Foreign));
    assert_eq!(map.load(WALKERS, &[]), refused(BakeError::Truncated));
    assert_eq!(map.load(STROLLERS, &baked), refused(BakeError::Stale));
    assert_eq!(map.load(ClassId(2), &baked), Err(LoadError::UnknownClass));
    assert_eq!(map.bake(ClassId(2)), Err(FailureReason::UnknownClass));
    let said = map.load(WALKERS, &stale).unwrap_err().to_string();
    assert_eq!(said, "the file was made of another map or for another view");
    let mut game = Game::on(map, PathfindingPlugin::default());
    assert_eq!(load(&mut game, WALKERS, &stale), refused(BakeError::Stale));
    assert!(!is_known(&game, WALKERS));
    if bevy::tasks::cfg::multi_threaded! { if { true } else { false } } {
        game.until("it is surveyed as usual", |game| is_known(game, WALKERS));
    }
    // What the background found out can be kept as well.
    assert_eq!(game.nav().bake(WALKERS).unwrap(), baked);
}

#[test]
fn rules_that_change_after_loading_are_not_those_of_the_file() {
    let mut map = town();
    let baked = map.bake(WALKERS).unwrap();
    map.load(WALKERS, &baked).unwrap();
    map.set_rules(Rules { corners: Corners::Always, ..default() });
    assert!(!map.snapshot(WALKERS).unwrap().is_surveyed());
    let game = game_on(map);
    assert!(!game.nav().snapshot(WALKERS).unwrap().is_surveyed());
}

#[test]
fn obstacles_make_no_file_stale() {
    let baked = town().bake(WALKERS).unwrap();
    let mut map = NavMap::new(scattered(200, 3));
    let large = map.bake(WALKERS).unwrap();
    map.load(WALKERS, &large).unwrap();
    // Before and after the plugin has seen the map.
    let mut early = game_on(map);
    early.world().spawn((Transform::from_xyz(20.5, 20.5, 0.0), Obstacle::default()));
    let mut late = game_on(town());
    let at = late.centre(4, 4);
    late.world().spawn((Transform::from_translation(at), Obstacle::default()));
    for game in [&mut early, &mut late] {
        game.updates(2);
        assert!(game.seen().contains('#'));
    }
    assert_eq!(late.nav().bake(WALKERS).unwrap(), baked);
    assert_eq!(early.nav().bake(WALKERS).unwrap(), large);
    assert_eq!(load(&mut late, WALKERS, &baked), Ok(()));
    late.update();
    for game in [early, late] {
        // Where the obstacle stands the map has changed.
        let snapshot = game.nav().snapshot(WALKERS).unwrap();
        assert!(snapshot.is_surveyed() && snapshot.wants_survey());
    }
}

/// Who arrived when, on a machine in lockstep that loads at the start or, if it has no file, finds out the same there.
fn arrivals(file: Option<&[u8]>, drive: Drive) -> Vec<(usize, Vec<Heard>)> {
    let mut map = NavMap::new(scattered(60, 9));
    let bytes = file.map_or_else(|| map.bake(WALKERS).unwrap(), <[u8]>::to_vec);
    map.load(WALKERS, &bytes).unwrap();
    let settings = PathfindingSettings { delivery: Delivery::Lockstep { ticks: 2 }, drive, ..default() };
    let mut game = Game::on(map, PathfindingPlugin::default().with_settings(settings));
    assert!(is_known(&game, WALKERS));
    let mut random = Random(4);
    let ground = game.nav().map().clone();
    for _ in 0..20 {
        let (from, to) = (random.cell(&ground), random.cell(&ground));
        let unit = game.unit(from.x, from.y);
        game.order(unit, PathRequest::to(to).or_nearest());
    }
    let mut diary = Vec::new();
    for tick in 0..300 {
        if tick == 30 {
            game.edit(|map| map.fill(Area::new((30, 5), (30, 50)), Terrain::WALL).map(drop).unwrap());
        }
        game.update();
        let heard = game.take_heard();
        if !heard.is_empty() {
            diary.push((tick, heard));
        }
    }
    diary
}

#[test]
fn in_lockstep_machines_with_a_file_and_without_one_run_alike() {
    let baked = NavMap::new(scattered(60, 9)).bake(WALKERS).unwrap();
    let alone = arrivals(Some(&baked), Drive::InFrame);
    assert!(alone.len() > 10, "{alone:?}");
    assert_eq!(arrivals(Some(&baked), Drive::Pool), alone);
    assert_eq!(arrivals(None, Drive::Pool), alone);
}

#[test]
fn places_are_those_of_the_terrain_until_something_is_built_there() {
    let mut game = game_on(town());
    let cells = [Cell::new(0, 6), Cell::new(11, 0), Cell::new(5, 4), Cell::new(6, 2)];
    let places = game.nav().places(WALKERS, &cells).unwrap();
    for (from, start) in cells.iter().enumerate() {
        for (to, goal) in cells.iter().enumerate() {
            let found = game.nav().find_path(*start, *goal);
            assert_eq!(places.cost(from, to).is_some(), found.is_ok());
        }
    }
    let kept = places.to_bytes();
    let hold = |game: &Game| places.hold_for(&game.nav().snapshot(WALKERS).unwrap());
    assert!(hold(&game));
    // What stands there is no part of the terrain, but it is in the way.
    let at = game.centre(4, 4);
    let gate = game.world().spawn((Transform::from_translation(at), Obstacle::default())).id();
    game.updates(2);
    assert!(!hold(&game));
    assert!(game.nav().load_places(WALKERS, &kept).is_ok());
    game.world().despawn(gate);
    game.updates(2);
    let again = game.nav().load_places(WALKERS, &kept).unwrap();
    assert_eq!(again.cost(0, 1), places.cost(0, 1));
    game.edit(|map| assert!(map.set((4, 4), Terrain::WALL).unwrap()));
    let refused = game.nav().load_places(WALKERS, &kept).map(drop);
    assert_eq!(refused, Err(LoadError::Refused(BakeError::Stale)));
    assert_eq!(game.nav().places(ClassId(7), &cells).map(drop), Err(FailureReason::UnknownClass));
    let outside = [Cell::new(0, 0), Cell::new(-1, 0)];
    assert_eq!(game.nav().places(WALKERS, &outside).map(drop), Err(FailureReason::OutOfMap));
    let wall = [Cell::new(1, 1)];
    assert_eq!(game.nav().places(WALKERS, &wall).map(drop), Err(FailureReason::StartBlocked));
}
