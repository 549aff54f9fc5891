//! Files of every kind, damaged in thousands of ways: each is refused with a reason, or gives what was written. Nothing
//! panics, and no memory is taken for what is not there.

use wayfare::prelude::*;

use crate::support::{FLORA, Flora, Random, find, random_map, searched, views};

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

/// A file, what it belongs to, and how it is read.
struct File {
    bytes: Vec<u8>,
    snapshot: Snapshot,
    read: Read,
}

/// Files of every kind: whole and half surveys of even ground, surveys of uneven ground, places on both.
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

/// The checksum of the format, so that what is wrong gets past it.
fn seal(file: &mut [u8]) {
    let end = file.len() - CHECKSUM;
    let length = file.len() as u64;
    file[HEADER - 8..HEADER].copy_from_slice(&length.to_le_bytes());
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for part in file[..end].chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01B3);
    }
    file[end..].copy_from_slice(&hash.to_le_bytes());
}

/// Where the sections of a file begin, and how long they are, their lengths included.
fn sections(file: &[u8]) -> Vec<core::ops::Range<usize>> {
    let (mut at, mut sections) = (HEADER, Vec::new());
    while at < file.len() - CHECKSUM {
        let length: [u8; 8] = file[at..at + 8].try_into().unwrap();
        let end = at + 8 + u64::from_le_bytes(length) as usize;
        sections.push(at..end);
        at = end;
    }
    sections
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
                if let Ok(survey) = Survey::from_bytes(&forged, snapshot) {
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
