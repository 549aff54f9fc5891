//! Maps are surveyed in the background, and nobody but searches notices.

use bevy_wayfare::prelude::*;

use crate::support::{Game, Heard};

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
