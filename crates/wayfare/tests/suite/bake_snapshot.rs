//! A snapshot that was read is the one that was written, whatever happens to the map after that; and it really is read.

use wayfare::prelude::*;

use crate::support::{FLORA, Flora, Random, random_map, seal, searched, sections, views};

/// Panics unless both say the same of every cell.
fn assert_same_islands(read: &Snapshot, found: &Snapshot, name: &str) {
    let count = |snapshot: &Snapshot| (snapshot.island_count(), snapshot.bytes().islands);
    assert_eq!(count(read), count(found), "{name}");
    for cell in found.map().area().into_iter().flat_map(Area::cells) {
        assert_eq!(read.island(cell), found.island(cell), "{cell} {name}");
        assert_eq!(read.is_open(cell), found.is_open(cell), "{cell} {name}");
    }
}

/// Panics unless both find the same path with the same effort.
fn assert_same_answers(random: &mut Random, read: &Snapshot, found: &Snapshot) {
    let Some(start) = found.nearest_open(random.cell(found.map())) else { return };
    let query = searched(start, random.cell(found.map())).fallback(Fallback::Nearest);
    for gear in [Gear::Jump, Gear::Full] {
        let (mut a, mut b) = (Scratch::new(), Scratch::new());
        let answers =
            [(read, &mut a), (found, &mut b)].map(|(it, scratch)| find_path(it, &query.gear(gear), scratch));
        assert_eq!(answers[0], answers[1]);
        assert_eq!(a.effort(), b.effort());
    }
}

fn read(bytes: &[u8], like: &Snapshot) -> Result<Snapshot, BakeError> {
    Snapshot::from_bytes(bytes, like.map(), like.view())
}

/// Every rule, with units of two sizes.
fn sized_views() -> impl Iterator<Item = View> {
    let clearances = [Clearance::NONE, Clearance::new(0.9)];
    views().into_iter().flat_map(move |view| clearances.map(|clearance| View { clearance, ..view.clone() }))
}

/// Maps of one chunk to more than one block of them, from a few walls to many.
fn map_of(random: &mut Random, round: usize) -> Map {
    let (width, height) = [(1, 1), (70, 40), (330, 20), (64, 64), (270, 261), (130, 300)][round % 6];
    let map = random_map(random, width, height, FLORA[round / 6 % 3]);
    if round % 5 == 4 { Map::new(width, height).unwrap() } else { map }
}

#[test]
fn what_is_read_is_what_was_found_and_follows_every_edit_as_that_does() {
    let (mut islands, mut surveyed) = (0, 0);
    for (round, view) in sized_views().enumerate() {
        let mut random = Random::new(round as u64);
        let mut map = map_of(&mut random, round);
        let mut found = Snapshot::new(&map, &view);
        if round % 2 == 1 {
            found.learn(&found.survey());
        }
        let bytes = found.to_bytes();
        let mut baked = read(&bytes, &found).unwrap();
        assert!(baked.to_bytes() == bytes);
        assert_eq!(baked.bytes(), found.bytes());
        assert_eq!(baked.is_surveyed(), found.is_surveyed());
        assert_eq!(baked.wants_survey(), found.wants_survey());
        surveyed += u32::from(baked.is_surveyed());
        islands += found.island_count();
        assert_same_islands(&baked, &found, &format!("{round}"));
        for edit in 0..6 {
            assert_same_answers(&mut random, &baked, &found);
            let (a, b) = (random.cell(&map), random.cell(&map));
            let area = if edit % 3 == 0 { Area::new(a, b) } else { Area::new(a, a) };
            let terrain = if random.below(2) == 0 { Terrain::WALL } else { Terrain::OPEN };
            map.fill(area, terrain).unwrap();
            assert_eq!(baked.refresh(&map), found.refresh(&map));
            assert_eq!(baked.is_surveyed(), found.is_surveyed());
            let anew = Snapshot::new(&map, &view);
            let name = format!("{round} edit {edit}");
            assert_same_islands(&baked, &anew, &name);
            // And of what was edited the same is kept as of what is new.
            if !baked.is_surveyed() {
                assert!(baked.to_bytes() == anew.to_bytes(), "{name}");
            }
        }
    }
    assert!(islands > 10_000 && surveyed > 25, "{islands} {surveyed}");
}

#[test]
fn everything_is_baked_at_once() {
    let mut kinds = [0; 2];
    for (rule, view) in views().iter().enumerate().filter(|(rule, _)| rule % 4 == 0) {
        let mut random = Random::new(rule as u64);
        let map = random_map(&mut random, 90, 70, FLORA[rule % 3]);
        let baked = Snapshot::from_bytes(&Snapshot::bake(&map, view), &map, view).unwrap();
        let mut found = Snapshot::new(&map, view);
        assert_eq!(found.learn(&found.survey()), baked.is_surveyed());
        assert!(!baked.wants_survey());
        for _ in 0..10 {
            assert_same_answers(&mut random, &baked, &found);
        }
        // The survey alone can be had as well, by a snapshot that is there.
        let alone = Survey::from_bytes(&found.to_bytes(), &Snapshot::new(&map, view)).unwrap();
        assert!(alone.to_bytes() == found.survey().to_bytes());
        kinds[usize::from(alone.bytes().graph > 0)] += 1;
    }
    assert!(kinds.iter().all(|kind| *kind > 1), "{kinds:?}");
}

#[test]
fn of_an_edited_map_all_is_kept_as_it_is_now() {
    let mut random = Random::new(4);
    let mut map = random_map(&mut random, 140, 90, Flora::Uniform);
    let mut snapshot = Snapshot::new(&map, &View::default());
    snapshot.learn(&snapshot.survey());
    map.fill(Area::new((30, 30), (50, 32)), Terrain::WALL).unwrap();
    snapshot.refresh(&map);
    assert!(snapshot.is_surveyed() && snapshot.wants_survey());
    assert!(snapshot.to_bytes() == Snapshot::bake(&map, &View::default()));
    // Half a survey is completed.
    let mut half = Snapshot::new(&map, &View::default());
    let mut surveyor = Surveyor::new(&half);
    while surveyor.so_far().is_none() && surveyor.run(10) == Progress::Running {}
    assert!(half.learn(&surveyor.so_far().unwrap()) && half.wants_survey());
    assert!(half.to_bytes() == Snapshot::bake(&map, &View::default()));
}

#[test]
fn what_there_is_nothing_to_know_of_is_kept_as_well() {
    for map in [Map::new(0, 0), Map::new(0, 70), Map::filled(70, 70, Terrain::WALL), Map::new(1, 1)] {
        let map = map.unwrap();
        let snapshot = Snapshot::new(&map, &View::default());
        for bytes in [snapshot.to_bytes(), Snapshot::bake(&map, &View::default())] {
            let baked = read(&bytes, &snapshot).unwrap();
            assert_same_islands(&baked, &snapshot, &format!("{map:?}"));
            assert_eq!(baked.wants_survey(), snapshot.wants_survey() && !baked.is_surveyed());
        }
        assert_eq!(Survey::from_bytes(&snapshot.to_bytes(), &snapshot).err(), Some(BakeError::Empty));
    }
}

#[test]
fn what_belongs_elsewhere_is_refused() {
    let mut random = Random::new(9);
    let map = random_map(&mut random, 80, 70, Flora::Uniform);
    let snapshot = Snapshot::new(&map, &View::default());
    let bytes = Snapshot::bake(&map, &View::default());
    let refusal = |map: &Map, view: &View| Snapshot::from_bytes(&bytes, map, view).err();
    assert_eq!(refusal(&map, &View::default()), None);
    let mut edited = map.clone();
    let open = snapshot.nearest_open(Cell::new(9, 9)).unwrap();
    for terrain in [Terrain::WALL, Terrain::digit(3).unwrap(), Terrain(7)] {
        edited.set(open, terrain).unwrap();
        assert_eq!(refusal(&edited, &View::default()), Some(BakeError::Stale), "{terrain:?}");
        assert_eq!(
            Survey::from_bytes(&bytes, &Snapshot::new(&edited, &View::default())).err(),
            Some(BakeError::Stale)
        );
    }
    edited.set(open, Terrain::OPEN).unwrap();
    assert_eq!(refusal(&edited, &View::default()), None);
    for (width, height) in [(0, 0), (80, 70), (70, 80), (300, 300)] {
        assert_eq!(refusal(&Map::new(width, height).unwrap(), &View::default()), Some(BakeError::Stale));
    }
    let strangers = sized_views().map(|view| View { class: Class::default(), ..view });
    let strangers = strangers.filter(|view| *view != View::default());
    assert!(strangers.map(|view| assert_eq!(refusal(&map, &view), Some(BakeError::Stale))).count() == 71);
    let class = Class::default().with(Terrain(7), Factor::whole(2));
    assert_eq!(refusal(&map, &View { class, ..View::default() }), Some(BakeError::Stale));
    // Files of other kinds.
    let survey = snapshot.survey().to_bytes();
    let places = Places::new(&snapshot, &[open], &mut Scratch::new()).unwrap().to_bytes();
    for other in [&survey[..], &places, b"a picture", b"wayfrSNQ"] {
        assert_eq!(read(other, &snapshot).err(), Some(BakeError::Foreign));
    }
    assert_eq!(Places::from_bytes(&bytes, &snapshot).err(), Some(BakeError::Foreign));
    assert_eq!(Survey::from_bytes(&places, &snapshot).err(), Some(BakeError::Foreign));
    // One of a kind that an older version had is said to be older, not to be something else.
    let mut older = survey.clone();
    older[8] = 2;
    let version = BakeError::Version { found: 2, known: 3 };
    assert_eq!(read(&older, &snapshot).err(), Some(version));
    assert_eq!(version.to_string(), "the file has version 2 of the format, and version 3 is understood");
}

#[test]
fn every_truncation_and_every_flip_is_refused() {
    let mut random = Random::new(5);
    let map = random_map(&mut random, 80, 30, Flora::Uniform);
    let snapshot = Snapshot::new(&map, &View::default());
    let bytes = snapshot.to_bytes();
    for end in 0..bytes.len() {
        assert_eq!(read(&bytes[..end], &snapshot).err(), Some(BakeError::Truncated), "{end}");
    }
    assert_eq!(read(&[&bytes[..], &[0]].concat(), &snapshot).err(), Some(BakeError::Damaged));
    for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        let error = read(&flipped, &snapshot).err().unwrap();
        match at {
            0..8 => assert_eq!(error, BakeError::Foreign),
            8..12 => assert!(matches!(error, BakeError::Version { known: 3, .. })),
            20..28 => assert!(matches!(error, BakeError::Truncated | BakeError::Damaged)),
            _ => assert_eq!(error, BakeError::Damaged),
        }
    }
}

#[test]
fn a_fingerprint_of_another_map_is_stale_whoever_sealed_it() {
    let snapshot = Snapshot::new(&Map::from_text("..#.\n.#..").unwrap(), &View::default());
    let mut bytes = snapshot.to_bytes();
    for at in 12..20 {
        bytes[at] ^= 1;
        seal(&mut bytes);
        assert_eq!(read(&bytes, &snapshot).err(), Some(BakeError::Stale));
        bytes[at] ^= 1;
    }
    seal(&mut bytes);
    assert!(bytes == snapshot.to_bytes());
}

/// Nothing but the file can say that two halves of a map, which no way connects, are one island: it is read, not found out.
#[test]
fn islands_are_those_of_the_file() {
    // Both halves reach the west side of the only chunk, one after the other.
    let map = Map::from_text("...\n###\n...").unwrap();
    let snapshot = Snapshot::new(&map, &View::default());
    let (above, below) = (Cell::new(0, 0), Cell::new(0, 2));
    assert!(!snapshot.reachable(above, below));
    let mut bytes = snapshot.to_bytes();
    let islands = sections(&bytes)[0].start + 8;
    // A run of the first area, and one of the second.
    assert_eq!(bytes[islands..islands + 2], [0, 4]);
    bytes[islands + 1] = 0;
    seal(&mut bytes);
    let forged = read(&bytes, &snapshot).unwrap();
    assert!(forged.reachable(above, below) && forged.island_count() == 1);
    // What the file says of walls counts for nothing, and after an edit there it is found out.
    assert!(!forged.is_open(Cell::new(0, 1)));
    let mut edited = map.clone();
    edited.set((2, 2), Terrain::WALL).unwrap();
    let mut forged = forged;
    forged.refresh(&edited);
    assert!(!forged.reachable(above, below));
    // Areas that are left out or not in their order are refused.
    for wrong in [[4, 0], [0, 8], [4, 4], [2, 2], [0, 2], [0, 6]] {
        bytes[islands..islands + 2].copy_from_slice(&wrong);
        seal(&mut bytes);
        assert_eq!(read(&bytes, &snapshot).err(), Some(BakeError::Damaged), "{wrong:?}");
    }
}
