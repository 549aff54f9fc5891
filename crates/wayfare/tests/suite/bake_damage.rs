//! Files of every kind, damaged in thousands of ways: each is refused with a reason, or gives what was written. Nothing
//! panics, and no memory is taken for what is not there.

use wayfare::prelude::*;

use crate::support::{FLORA, Flora, Random, find, random_map, seal, searched, sections, views};

/// Before the sections: a mark, a version, a fingerprint, a length. After them: a checksum.
const HEADER: usize = 28;
const CHECKSUM: usize = 8;

/// Reads a file and, if it is taken, writes it again.
type Read = fn(&[u8], &Snapshot) -> Result<Vec<u8>, BakeError>;

fn read_survey(bytes: &[u8], snapshot: &Snapshot) -> Result<Vec<u8>, BakeError> {
    Survey::from_bytes(bytes, snapshot).map(|survey| survey.to_bytes())
}

fn read_places(bytes: &[u8], snapshot: &Snapshot) -> Result<Vec<u8>, BakeError> {
    Places::from_bytes(bytes, snapshot).map(|places| places.to_bytes())
}

fn read_snapshot(bytes: &[u8], snapshot: &Snapshot) -> Result<Vec<u8>, BakeError> {
    Snapshot::from_bytes(bytes, snapshot.map(), snapshot.view()).map(|snapshot| snapshot.to_bytes())
}

/// A file, what it belongs to, and how it is read.
struct File {
    bytes: Vec<u8>,
    snapshot: Snapshot,
    read: Read,
}

/// Files of every kind: whole and half surveys of even ground, surveys of uneven ground, places on both, snapshots with a survey
/// and without one.
fn files(seed: u64) -> Vec<File> {
    let mut files = Vec::new();
    for (rule, view) in views().iter().enumerate().filter(|(rule, _)| rule % 7 == 0) {
        let mut random = Random::new(seed * 100 + rule as u64);
        let (width, height) = (20 + random.below(70), 20 + random.below(60));
        let map = random_map(&mut random, width, height, FLORA[rule % 3]);
        let snapshot = Snapshot::new(&map, view);
        let mut surveyor = Surveyor::new(&snapshot);
        while surveyor.so_far().is_none() && surveyor.run(64) == Progress::Running {}
        let half = surveyor.so_far();
        let islands = snapshot.to_bytes();
        files.push(File { bytes: islands, snapshot: snapshot.clone(), read: read_snapshot });
        let mut surveyed = snapshot.clone();
        if surveyed.learn(&snapshot.survey()) {
            let bytes = surveyed.to_bytes();
            files.push(File { bytes, snapshot: snapshot.clone(), read: read_snapshot });
        }
        let cells: Vec<Cell> = (0..5).filter_map(|_| snapshot.nearest_open(random.cell(&map))).collect();
        let places = Places::new(&snapshot, &cells, &mut Scratch::new()).unwrap();
        for survey in half.into_iter().chain([surveyor.finish()]) {
            let bytes = survey.to_bytes();
            if survey.bytes() != SurveyBytes::default() {
                files.push(File { bytes, snapshot: snapshot.clone(), read: read_survey });
            }
        }
        files.push(File { bytes: places.to_bytes(), snapshot, read: read_places });
    }
    assert!(files.len() > 12);
    files
}

/// Damages a file somehow.
fn damage(random: &mut Random, file: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(file.len() as u32) as usize;
    match random.below(7) {
        0 => file[at] ^= 1 << random.below(8),
        1 => file.truncate(at),
        2 => file[at..].iter_mut().take(9).for_each(|byte| *byte = 0xFF),
        3 => {
            file.remove(at);
        }
        4 => file.insert(at, random.below(256) as u8),
        5 => file.splice(at.., other.iter().copied().skip(at)).for_each(drop),
        _ => {
            let end = (at + random.below(40) as usize).min(file.len());
            file[at..end].fill(0);
        }
    }
}

#[test]
fn damage_is_refused_or_does_no_harm() {
    let (mut refused, mut tried) = (0, 0);
    for seed in 0..4 {
        let files = files(seed);
        let mut random = Random::new(seed);
        for (number, File { bytes, snapshot, read }) in files.iter().enumerate() {
            assert!(read(bytes, snapshot).as_ref() == Ok(bytes));
            for _ in 0..250 {
                let mut damaged = bytes.clone();
                let other = &files[(number + 1) % files.len()].bytes;
                for _ in 0..=random.below(2) {
                    if !damaged.is_empty() {
                        damage(&mut random, &mut damaged, other);
                    }
                }
                tried += 1;
                match read(&damaged, snapshot) {
                    // The other one may be of the same map.
                    Ok(same) => assert!(same == damaged && (damaged == *bytes || damaged == *other)),
                    Err(_) => refused += 1,
                }
            }
            // The other kind and other maps.
            for other in &files {
                if other.bytes != *bytes {
                    let read = read(&other.bytes, snapshot);
                    assert!(read.is_err() || other.snapshot.map() == snapshot.map(), "{read:?}");
                }
            }
        }
    }
    assert!(tried > 12_000 && refused * 10 > tried * 9, "{refused} of {tried}");
}

/// Whatever it was told, what is open is what it sees, islands are counted as they should be, and nothing panics.
fn ask_everything(random: &mut Random, mut snapshot: Snapshot) {
    let mut map = snapshot.map().clone();
    for round in 0..4 {
        for cell in map.area().unwrap().cells() {
            let island = snapshot.island(cell).map(Island::number);
            assert_eq!(island.is_some(), snapshot.is_open(cell), "{cell}");
            assert!(island.is_none_or(|island| island < snapshot.island_count()), "{cell}");
        }
        let (start, goal) = (random.cell(&map), random.cell(&map));
        if let Some(start) = snapshot.nearest_open(start) {
            assert!(snapshot.nearest_reachable(start, goal).is_some());
            let query = searched(start, goal).fallback(Fallback::Nearest);
            for gear in [Gear::Cells, Gear::Jump, Gear::Full] {
                let _answer = find(&snapshot, &query.gear(gear));
            }
        }
        // In the end all is found anew.
        let whole = map.area().unwrap();
        let area = if round == 2 { whole } else { Area::new(start, start) };
        map.fill(area, if round == 1 { Terrain::OPEN } else { Terrain::WALL }).unwrap();
        snapshot.refresh(&map);
    }
    assert_eq!(snapshot.island_count(), 0);
}

#[test]
fn what_gets_past_the_checksum_takes_no_memory_and_makes_nothing_panic() {
    let (mut taken, mut refused) = (0, 0);
    for seed in 10..13 {
        let files = files(seed);
        let mut random = Random::new(seed);
        for (number, File { bytes, snapshot, read }) in files.iter().enumerate() {
            for _ in 0..120 {
                let mut forged = bytes.clone();
                let inside = |random: &mut Random, file: &[u8]| {
                    HEADER + random.below((file.len() - HEADER - CHECKSUM) as u32) as usize
                };
                let sections = sections(&forged);
                let section = sections[random.below(sections.len() as u32) as usize].clone();
                match random.below(5) {
                    0 => {
                        let at = inside(&mut random, &forged);
                        forged[at] ^= 1 << random.below(8);
                    }
                    // A huge number, which may be a count.
                    1 => {
                        let begin = (section.start + 8).min(forged.len() - CHECKSUM);
                        let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
                        forged.splice(begin..(begin + 1).min(section.end), huge).for_each(drop);
                        let length = (section.len() - 8 + 4) as u64;
                        forged[section.start..section.start + 8].copy_from_slice(&length.to_le_bytes());
                    }
                    // A huge length.
                    2 => forged[section.start..section.start + 8].fill(0xFF >> random.below(8)),
                    3 => forged.drain(section).for_each(drop),
                    // A section of another file, of this kind or another one.
                    _ => {
                        let other = &files[(number + 1 + random.below(3) as usize) % files.len()].bytes;
                        let theirs = self::sections(other);
                        let theirs = theirs[random.below(theirs.len() as u32) as usize].clone();
                        forged.splice(section, other[theirs].iter().copied()).for_each(drop);
                    }
                }
                seal(&mut forged);
                let mut result = Err(BakeError::Empty);
                let memory = allocation_counter::measure(|| result = read(&forged, snapshot));
                // A map has much that is not in a file, but no more than so.
                let room = 4000 * (bytes.len() as u64 + 4096);
                assert!(memory.bytes_max < room, "{memory:?} for {} bytes", bytes.len());
                match result {
                    Ok(_) => taken += 1,
                    Err(_) => refused += 1,
                }
                let (map, view) = (snapshot.map(), snapshot.view());
                if let Ok(read) = Snapshot::from_bytes(&forged, map, view) {
                    ask_everything(&mut random, read);
                } else if let Ok(survey) = Survey::from_bytes(&forged, snapshot) {
                    let mut learned = snapshot.clone();
                    learned.learn(&survey);
                    let map = learned.map().clone();
                    for _ in 0..3 {
                        let Some(start) = learned.nearest_open(random.cell(&map)) else { continue };
                        let _answer = find(&learned, &searched(start, random.cell(&map)));
                    }
                } else if let Ok(places) = Places::from_bytes(&forged, snapshot) {
                    let count = places.cells().len();
                    (0..count * count).for_each(|pair| drop(places.route(pair / count, pair % count)));
                }
            }
        }
    }
    assert!(taken > 50 && refused > 1000, "{taken} taken, {refused} refused");
}

#[test]
fn other_versions_are_named() {
    for File { bytes, snapshot, read } in files(20) {
        let known: [u8; 4] = bytes[8..12].try_into().unwrap();
        let known = u32::from_le_bytes(known);
        for found in (0..known).chain([known + 1, u32::MAX]) {
            let mut other = bytes.clone();
            other[8..12].copy_from_slice(&found.to_le_bytes());
            seal(&mut other);
            assert_eq!(read(&other, &snapshot), Err(BakeError::Version { found, known }));
        }
    }
}

#[test]
fn distances_that_no_ground_has_are_refused() {
    let mut random = Random::new(3);
    let map = random_map(&mut random, 90, 40, Flora::Digits);
    let snapshot = Snapshot::new(&map, &View::default());
    let bytes = snapshot.survey().to_bytes();
    let traces = sections(&bytes)[2].clone();
    let mut refused = 0;
    for _ in 0..200 {
        let mut forged = bytes.clone();
        let at = traces.start + 8 + random.below(traces.len() as u32 - 8) as usize;
        forged[at] ^= 0x80;
        seal(&mut forged);
        refused += u32::from(Survey::from_bytes(&forged, &snapshot).err() == Some(BakeError::Damaged));
    }
    // But for cells that nobody comes to from anywhere.
    assert!(refused > 180, "{refused}");
}
