//! Maps are surveyed in the background, and nobody but searches notices.

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

/// Without threads there is no background.
fn has_threads() -> bool {
    bevy::tasks::cfg::multi_threaded! { if { true } else { false } }
}

impl Game {
    fn is_surveyed(&self) -> bool {
        let map = self.app.world().get::<NavMap>(self.map).unwrap();
        let snapshot = map.snapshot(ClassId::default()).unwrap();
        snapshot.is_surveyed() && !snapshot.wants_survey()
    }

    fn survey(&mut self) {
        self.until("it is surveyed", |game| game.is_surveyed());
    }
}

#[test]
fn a_map_that_is_left_alone_is_surveyed_and_again_after_an_edit() {
    let mut game = Game::new(TOWN);
    assert!(!game.is_surveyed());
    if !has_threads() {
        game.updates(60);
        assert!(!game.is_surveyed());
        return;
    }
    game.survey();
    game.edit(|map| assert!(map.set((3, 0), Terrain::WALL).unwrap()));
    game.update();
    assert!(!game.is_surveyed(), "the map has changed");
    game.survey();
    // Uneven ground, too.
    game.edit(|map| assert!(map.set((3, 0), Terrain::digit(4).unwrap()).unwrap()));
    game.update();
    assert!(!game.is_surveyed());
    game.survey();
}

#[test]
fn a_map_that_is_never_left_alone_is_surveyed_now_and_then() {
    let mut game = Game::new(TOWN);
    let mut known = 0;
    for round in 0..600 {
        game.edit(|map| {
            let terrain = if round % 2 == 0 { Terrain::WALL } else { Terrain::OPEN };
            assert!(map.set((11, 6), terrain).unwrap());
        });
        game.update();
        let map = game.app.world().get::<NavMap>(game.map).unwrap();
        known += u32::from(map.snapshot(ClassId::default()).unwrap().is_surveyed());
    }
    assert_eq!(known > 100, has_threads(), "{known}");
    if !has_threads() {
        return;
    }
    // Surveys are completed of the map as it was: landmarks, which are found last, are there and lead.
    let mut game = Game::on(NavMap::new(scattered(100, 9)), PathfindingPlugin::default());
    let mut round = 0;
    game.until("landmarks lead", |game| {
        round += 1;
        game.edit(|map| {
            let terrain = if round % 2 == 0 { Terrain::WALL } else { Terrain::OPEN };
            map.set((50, 50), terrain).unwrap();
        });
        round % 16 == 0 && landmarks_lead(&game.nav().snapshot(ClassId::default()).unwrap())
    });
    assert!(round > 200, "it was never left alone");
}

/// Whether searches that know all close far fewer nodes than those that know the graph only. Dead ends are not known while the
/// map is not as it was surveyed.
fn landmarks_lead(snapshot: &Snapshot) -> bool {
    let (mut random, mut scratch, mut closed) = (Random(3), Scratch::new(), [0; 2]);
    for _ in 0..30 {
        let query = PathQuery::new(random.cell(snapshot.map()), random.cell(snapshot.map()));
        for (gear, closed) in [Gear::Graph, Gear::Full].into_iter().zip(&mut closed) {
            find_path(snapshot, &query.gear(gear).straight_line(StraightLine::Never), &mut scratch).unwrap();
            *closed += scratch.effort().closed;
        }
    }
    3 * closed[1] < 2 * closed[0]
}

#[test]
fn maps_are_surveyed_for_those_who_need_more_room_too() {
    let mut map = Map::new(40, 40).unwrap();
    map.fill(Area::new((10, 0), (12, 30)), Terrain::WALL).unwrap();
    map.fill(Area::new((25, 10), (27, 39)), Terrain::WALL).unwrap();
    let mut game = Game::on(NavMap::new(map), PathfindingPlugin::default());
    let tank = game.unit_with(2, 2, Agent { radius: 0.9, speed: 6.0, ..Agent::default() });
    game.order(tank, PathRequest::to(Cell::new(37, 37)));
    let is_surveyed = |game: &mut Game| {
        let snapshot = game.nav().snapshot_for(ClassId::default(), 0.9).unwrap();
        snapshot.is_surveyed() && !snapshot.wants_survey()
    };
    if !has_threads() {
        return;
    }
    game.until("it is surveyed for tanks", is_surveyed);
    assert!(game.is_surveyed(), "and for others");
    game.edit(|map| assert!(map.set((18, 20), Terrain::WALL).unwrap()));
    game.update();
    assert!(!is_surveyed(&mut game));
    game.until("it is surveyed again", is_surveyed);
}

#[test]
fn a_survey_disturbs_nobody() {
    let mut game = Game::new(TOWN);
    let unit = game.unit(0, 0);
    game.order(unit, PathRequest::to(Cell::new(11, 6)));
    game.until("it is under way", |game| game.has_heard(Heard::Found(unit, Reach::Goal)));
    if has_threads() {
        game.survey();
    }
    game.until("it arrives", |game| game.has_heard(Heard::Arrived(unit, Reach::Goal)));
    assert!(!game.has_heard(Heard::Invalidated(unit)));
    // And afterwards, paths on the surveyed map.
    game.order(unit, PathRequest::to(Cell::new(4, 2)));
    let there = game.centre(4, 2);
    game.until("it is there", |game| game.position(unit).distance(there) < 0.01);
}

#[test]
fn in_lockstep_and_where_it_is_not_wanted_nothing_is_surveyed() {
    let tunes: [fn(&mut PathfindingSettings); 3] = [
        |settings| settings.delivery = Delivery::Lockstep { ticks: 3 },
        |settings| settings.surveys = false,
        |settings| settings.drive = Drive::InFrame,
    ];
    for tune in tunes {
        let mut game = Game::new(TOWN).tuned(tune);
        game.updates(80);
        assert!(!game.is_surveyed());
    }
}
