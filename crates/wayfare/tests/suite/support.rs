//! Drawn maps, random maps, and the rules to run them under.

use wayfare::prelude::*;

pub(crate) const ROAD: Terrain = Terrain(1);

/// A map with a start `S` and a goal `G` drawn into it, both open ground.
pub(crate) fn drawn(text: &str) -> (Map, Cell, Cell) {
    let rows: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let find = |mark: char| {
        let (y, row) =
            rows.iter().enumerate().find(|(_, row)| row.contains(mark)).expect("the map has both marks");
        Cell::new(row.find(mark).unwrap() as i32, y as i32)
    };
    let map = Map::from_text(&text.replace(['S', 'G'], ".")).unwrap();
    (map, find('S'), find('G'))
}

/// The default query without the straight line, which would answer before the engine under test.
pub(crate) fn searched(start: Cell, goal: Cell) -> PathQuery {
    PathQuery::new(start, goal).straight_line(StraightLine::Never)
}

pub(crate) fn find(snapshot: &Snapshot, query: &PathQuery) -> Answer {
    find_path(snapshot, query, &mut Scratch::new()).unwrap()
}

pub(crate) fn found(snapshot: &Snapshot, query: &PathQuery) -> Route {
    match find(snapshot, query) {
        Answer::Found(route) => route,
        other => panic!("expected a route, got {other:?}"),
    }
}

/// Small, seeded, and the same everywhere (Steele, Lea and Flood's `SplitMix64`).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    pub(crate) fn cell(&mut self, map: &Map) -> Cell {
        Cell::new(self.below(map.width()) as i32, self.below(map.height()) as i32)
    }
}

/// What grows on a random map.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flora {
    Uniform,
    Digits,
    Roads,
}

pub(crate) const FLORA: [Flora; 3] = [Flora::Uniform, Flora::Digits, Flora::Roads];

pub(crate) fn random_map(random: &mut Random, width: u32, height: u32, flora: Flora) -> Map {
    let mut map = Map::new(width, height).unwrap();
    let walls = random.below(50);
    let area = map.area().unwrap();
    map.edit(area, |_, _| {
        if random.below(100) < walls {
            return Terrain::WALL;
        }
        match flora {
            Flora::Uniform => Terrain::OPEN,
            Flora::Digits => Terrain::digit(1 + random.below(9) as u8).unwrap(),
            Flora::Roads => {
                [Terrain::OPEN, Terrain::OPEN, ROAD, Terrain::digit(3).unwrap()][random.below(4) as usize]
            }
        }
    })
    .unwrap();
    map
}

/// Every rule the tests run under, with roads at half the price.
pub(crate) fn views() -> Vec<View> {
    let costs = [
        StepCosts::FINE,
        StepCosts::CLASSIC,
        StepCosts::MOVES,
        StepCosts::new(1, 2).unwrap(),
        StepCosts::rectangular(2.0, 1.0).unwrap(),
        StepCosts::rectangular(1.0, 3.0).unwrap(),
    ];
    let mut views = Vec::new();
    for directions in [Directions::Four, Directions::Eight] {
        for corners in [Corners::BothFree, Corners::OneFree, Corners::Always] {
            for costs in costs {
                let class = Class::default().with(ROAD, Factor::new(0.5).unwrap());
                views.push(View { rules: Rules { directions, corners, costs }, class, ..View::default() });
            }
        }
    }
    views
}

/// Makes length and checksum of a file right, so that what is wrong with it gets past them.
pub(crate) fn seal(file: &mut [u8]) {
    let length = file.len() as u64;
    file[20..28].copy_from_slice(&length.to_le_bytes());
    let (body, sum) = file.split_at_mut(length as usize - 8);
    let word = |part: &[u8]| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    };
    let add = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x0000_0100_0000_01B3);
    let start = 0xCBF2_9CE4_8422_2325_u64;
    // Four words at a time, each into a number of its own.
    let (fours, rest) = body.split_at(body.len() / 32 * 32);
    let lane = |lane: usize| fours.chunks(8).skip(lane).step_by(4).map(word).fold(start, add);
    let hash = (0..4).map(lane).chain(rest.chunks(8).map(word)).fold(start, add);
    sum.copy_from_slice(&hash.to_le_bytes());
}

/// Where the sections of a file begin, and how long they are, their lengths included.
pub(crate) fn sections(file: &[u8]) -> Vec<core::ops::Range<usize>> {
    // A mark, a version, a fingerprint, a length; and a checksum at the end.
    let (mut at, mut sections) = (28, Vec::new());
    while at < file.len() - 8 {
        let length: [u8; 8] = file[at..at + 8].try_into().unwrap();
        let end = at + 8 + u64::from_le_bytes(length) as usize;
        sections.push(at..end);
        at = end;
    }
    sections
}
