//! What is worth knowing about the ground beyond the map itself: a [`Survey`], made once in the background, used by every
//! search after that, and right for as long as the map stays as it was.
//!
//! Comes in: a [`Snapshot`]. Goes out: a survey, which any snapshot of the same map and view [takes up](Snapshot::learn).
//! After edits the snapshot knows which parts of it still hold. Until a new one is made, searches look for themselves where
//! it does not, so that answers are exact at every moment.

pub(crate) mod pace;
pub(crate) mod changes;
pub(crate) mod corners;
pub(crate) mod graph;
pub(crate) mod rays;
pub(crate) mod deadend;
pub(crate) mod landmark;
pub(crate) mod known;
mod surveyor;
mod bake;

use core::fmt;
use std::sync::Arc;

use crate::bits::Bits;
use crate::landmark::Landmarks as TerrainLandmarks;
use crate::map::Map;
use crate::snapshot::Snapshot;
use crate::view::View;
use deadend::DeadEnds;
use graph::Graph;
use known::Known;
use landmark::Landmarks;
use rays::Rays;
pub use surveyor::Surveyor;

/// What was found out about a map in advance, for searches to be faster.
///
/// ```
/// use wayfare::prelude::*;
///
/// let map = Map::from_text(
///     "....#...
///      .##.#.#.
///      ..#...#.",
/// )?;
/// let mut snapshot = Snapshot::new(&map, &View::default());
/// let survey = snapshot.survey(); // on a thread of its own, if the map is large
/// assert!(snapshot.learn(&survey));
/// let answer = find_path(&snapshot, &PathQuery::new((0, 2), (7, 2)), &mut Scratch::new())?;
/// # assert!(matches!(answer, Answer::Found(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Survey {
    /// Of even ground.
    findings: Option<Arc<Findings>>,
    bearings: Option<Arc<Bearings>>,
    /// Of uneven ground.
    terrain: Option<Arc<TerrainLandmarks>>,
}

/// What a survey found.
pub(crate) struct Findings {
    /// The ground that was surveyed, and its bits, of which whatever has not changed is shared.
    map: Map,
    pub(crate) bits: Arc<Bits>,
    view: View,
    pub(crate) graph: Graph,
    pub(crate) dead_ends: DeadEnds,
}

/// What takes longer to find, and makes searches faster still. Rays hold only while nothing has changed; landmarks, which say
/// that a way is no shorter than it was, as long as walls are only added and a step costs what it did.
pub(crate) struct Bearings {
    /// In eight directions.
    pub(crate) rays: Option<Rays>,
    pub(crate) landmarks: Option<Landmarks>,
}

impl Survey {
    /// There was nothing to be found.
    pub(crate) const NOTHING: Self = Self { findings: None, bearings: None, terrain: None };

    fn of_even(findings: Arc<Findings>, bearings: Option<Arc<Bearings>>) -> Self {
        Self { findings: Some(findings), bearings, ..Self::NOTHING }
    }

    /// How much memory it takes, in bytes: of the graph of jumps, of dead ends, of rays and of landmarks. Where ground has
    /// several prices there are landmarks only.
    pub fn bytes(&self) -> SurveyBytes {
        let (findings, bearings) = (self.findings.as_ref(), self.bearings.as_ref());
        let of_even = bearings.and_then(|bearings| bearings.landmarks.as_ref()).map_or(0, Landmarks::bytes);
        let of_terrain = self.terrain.as_ref().map_or(0, |landmarks| landmarks.bytes());
        SurveyBytes {
            graph: findings.map_or(0, |findings| findings.graph.bytes()),
            dead_ends: findings.map_or(0, |findings| findings.dead_ends.bytes()),
            rays: bearings.and_then(|bearings| bearings.rays.as_ref()).map_or(0, Rays::bytes),
            landmarks: of_even + of_terrain,
        }
    }
}

/// What a [`Survey`] takes of memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SurveyBytes {
    /// Corners and the jumps between them.
    pub graph: usize,
    /// What says where no shortest way leads.
    pub dead_ends: usize,
    /// Where diagonals are worth a look.
    pub rays: usize,
    /// How far corners are from a few places.
    pub landmarks: usize,
}

impl fmt::Debug for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.findings {
            Some(findings) => {
                write!(f, "Survey({:?}, {} corners)", findings.map, findings.graph.corners.list.len())
            }
            None => write!(f, "Survey({:?})", self.bytes()),
        }
    }
}

impl Snapshot {
    /// Finds out what makes searches faster. That takes a while on a large map, so a game does it on a thread of its own
    /// and lets the snapshot [learn](Self::learn) of it when it is there; or little by little, with a [`Surveyor`].
    ///
    /// What this snapshot knows already and edits have not touched is taken over.
    pub fn survey(&self) -> Survey {
        Surveyor::new(self).finish()
    }

    /// Whether a new survey would make searches faster: none was made, or the map has changed since.
    pub fn wants_survey(&self) -> bool {
        match (self.jumps(), &self.landmarks) {
            (Some(_), _) => !self.known.as_ref().is_some_and(Known::is_whole),
            (None, Some(landmarks)) => !landmarks.are_of(&self.ground.map),
            // Where nothing is open there is nothing to find.
            (None, None) => !self.ground.is_even() && self.island_count() > 0,
        }
    }

    /// Whether searches use a survey, or what edits have left of it.
    pub fn is_surveyed(&self) -> bool {
        if self.jumps().is_some() { self.known.is_some() } else { self.landmarks.is_some() }
    }

    /// Takes up a survey. Returns whether it is of any use: it is if it was made of this map, as it is or as it was before
    /// some edits, seen through an equal view. Over uneven ground nothing may have become cheaper since; then, and when
    /// that happens later, it is forgotten. One of even ground outlasts times when the ground is not.
    ///
    /// Of a survey [in the making](Surveyor::so_far) that has no landmarks yet, those known before go on leading searches as
    /// long as they may.
    pub fn learn(&mut self, survey: &Survey) -> bool {
        let of_terrain = survey.terrain.as_ref().filter(|_| !self.ground.is_even());
        let holds = |landmarks: &&Arc<TerrainLandmarks>| landmarks.hold_for(&self.ground, |_| false);
        if let Some(landmarks) = of_terrain.filter(holds) {
            self.landmarks = Some(Arc::clone(landmarks));
            return true;
        }
        let findings = survey.findings.as_ref().filter(|findings| findings.view == *self.view());
        let Some((findings, bits)) = findings.zip(self.bits.as_ref()) else { return false };
        let bearings = match &survey.bearings {
            Some(bearings) => Some((findings, bearings)),
            None => self.known.as_ref().and_then(Known::bearings),
        };
        let known = Known::on(&self.ground, bits, findings, bearings);
        let learns = known.is_some();
        if learns {
            self.known = known;
        }
        learns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Area, Cell};
    use crate::cost::Cost;
    use crate::map::Terrain;
    use crate::query::{Gear, PathQuery, StraightLine};
    use crate::route::Answer;
    use crate::rules::{Corners, Directions, Rules};
    use crate::search::{Scratch, find_path};

    fn next(seed: &mut u64, below: i32) -> i32 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i32::try_from((*seed >> 33) % u64::from(below.cast_unsigned())).unwrap()
    }

    fn build(map: &mut Map, seed: &mut u64) {
        let a = Cell::new(next(seed, 140), next(seed, 90));
        let b = Cell::new((a.x + next(seed, 20)).min(139), (a.y + next(seed, 3)).min(89));
        let terrain = if next(seed, 3) == 0 { Terrain::OPEN } else { Terrain::WALL };
        map.fill(Area::new(a, b), terrain).unwrap();
    }

    fn rules() -> impl Iterator<Item = Rules> {
        let corners = [Corners::BothFree, Corners::OneFree, Corners::Always];
        [Directions::Four, Directions::Eight].into_iter().flat_map(move |directions| {
            corners.map(|corners| Rules { directions, corners, ..Rules::default() })
        })
    }

    fn cost(snapshot: &Snapshot, from: Cell, to: Cell) -> Option<Cost> {
        let query = PathQuery::new(from, to).gear(Gear::Cells);
        match find_path(snapshot, &query, &mut Scratch::new()).unwrap() {
            Answer::Found(route) => Some(route.cost()),
            _ => None,
        }
    }

    #[test]
    fn what_is_taken_over_equals_what_is_found_anew() {
        let mut seed = 5;
        for rules in rules() {
            let mut map = Map::new(140, 90).unwrap();
            (0..60).for_each(|_| build(&mut map, &mut seed));
            let mut snapshot = Snapshot::new(&map, &View::from(rules));
            for _ in 0..12 {
                let survey = snapshot.survey();
                let anew = Snapshot::new(&map, &View::from(rules)).survey();
                let (ours, anew) = (survey.findings.as_ref().unwrap(), anew.findings.as_ref().unwrap());
                assert!(ours.graph.is_like(&anew.graph));
                assert!(snapshot.learn(&survey));
                assert!(!snapshot.wants_survey());
                (0..=next(&mut seed, 3)).for_each(|_| build(&mut map, &mut seed));
                if snapshot.refresh(&map) {
                    assert!(snapshot.wants_survey());
                }
            }
        }
    }

    /// Whatever was edited, small or large, and whatever was uneven in between: what is kept and brought up to date equals what
    /// is made of the map as it is.
    #[test]
    fn after_any_edits_all_that_is_known_equals_what_a_new_survey_finds() {
        let (mut seed, mut taken_over) = (11, 0);
        for rules in rules() {
            let mut map = Map::new(200, 150).unwrap();
            (0..90).for_each(|_| build(&mut map, &mut seed));
            let mut snapshot = Snapshot::new(&map, &View::from(rules));
            for round in 0..10 {
                for _ in 0..=next(&mut seed, 3) {
                    let a = Cell::new(next(&mut seed, 200), next(&mut seed, 150));
                    let large = if next(&mut seed, 6) == 0 { 140 } else { 5 };
                    let [dx, dy] = [0; 2].map(|_| next(&mut seed, large));
                    let b = Cell::new((a.x + dx).min(199), (a.y + dy).min(149));
                    let terrain = if next(&mut seed, 2) == 0 { Terrain::OPEN } else { Terrain::WALL };
                    map.fill(Area::new(a, b), terrain).unwrap();
                }
                if round % 4 == 2 {
                    let before = map.clone();
                    map.fill(Area::new((90, 60), (95, 70)), Terrain::digit(4).unwrap()).unwrap();
                    snapshot.refresh(&map);
                    assert!(!snapshot.is_surveyed() && snapshot.wants_survey());
                    map = before;
                }
                snapshot.refresh(&map);
                let anew = Snapshot::new(&map, &View::from(rules));
                let bits = |snapshot: &Snapshot| Arc::clone(snapshot.jumps().unwrap().0);
                assert!(bits(&snapshot).are_like(&bits(&anew)), "round {round} {rules:?}");
                taken_over += u32::from(snapshot.is_surveyed());
                // In two rounds of three half of it is learnt before the other half is looked for.
                let mut surveyor = Surveyor::new(&snapshot);
                while surveyor.so_far().is_none() && surveyor.run(1000) == crate::search::Progress::Running {}
                // Some edits change nothing.
                if round % 3 != 0 && snapshot.wants_survey() {
                    assert!(snapshot.learn(&surveyor.so_far().unwrap()) && snapshot.wants_survey());
                    surveyor = Surveyor::new(&snapshot);
                }
                let (ours, anew) = (surveyor.finish(), anew.survey());
                assert!(snapshot.learn(&ours) && !snapshot.wants_survey());
                let ([ours, anew], survey) =
                    ([&ours, &anew].map(|it| it.findings.as_ref().unwrap()), [&ours, &anew]);
                assert!(ours.graph.is_like(&anew.graph), "round {round} {rules:?}");
                assert!(ours.dead_ends == anew.dead_ends, "round {round} {rules:?}");
                let [ours, anew] = survey.map(|it| it.bearings.as_ref().unwrap());
                assert!(ours.rays == anew.rays, "round {round} {rules:?}");
                assert!(ours.landmarks == anew.landmarks, "round {round} {rules:?}");
                assert_eq!(ours.landmarks.is_some(), rules.directions == Directions::Eight);
            }
        }
        assert_eq!(taken_over, 9 * 6);
    }

    #[test]
    fn landmarks_know_exact_distances() {
        let mut seed = 7;
        for rules in rules().filter(|rules| rules.directions == Directions::Eight) {
            let mut map = Map::new(140, 90).unwrap();
            (0..70).for_each(|_| build(&mut map, &mut seed));
            let snapshot = Snapshot::new(&map, &View::from(rules));
            let survey = snapshot.survey();
            let findings = survey.findings.as_ref().unwrap();
            let landmarks = survey.bearings.as_ref().unwrap().landmarks.as_ref().unwrap();
            let scan = search_scan(&snapshot);
            for round in 0..60 {
                let corners = &findings.graph.corners;
                let corner = usize::try_from(next(&mut seed, 10_000)).unwrap() % corners.list.len();
                let at = corners.list[corner].at().cell();
                let any = Cell::new(next(&mut seed, 140), next(&mut seed, 90));
                for (place, distance) in landmarks.of(corner) {
                    assert_eq!(distance, cost(&snapshot, at, place), "{round}: {at} to {place} {rules:?}");
                }
                if snapshot.is_open(any) {
                    let distances = landmarks.distances_of(&scan, corners, crate::bits::At::new(any));
                    for ((place, _), distance) in landmarks.of(corner).into_iter().zip(distances) {
                        let expected =
                            cost(&snapshot, any, place).map_or(u32::MAX, |cost| u32::try_from(cost).unwrap());
                        assert_eq!(distance, expected, "{any} to {place} {rules:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_map_of_many_corners_has_more_landmarks() {
        let (mut map, mut seed) = (Map::new(560, 560).unwrap(), 11);
        map.edit(
            map.area().unwrap(),
            |_, _| {
                if next(&mut seed, 8) == 0 { Terrain::WALL } else { Terrain::OPEN }
            },
        )
        .unwrap();
        let mut snapshot = Snapshot::new(&map, &View::default());
        let survey = snapshot.survey();
        let findings = survey.findings.as_ref().unwrap();
        let landmarks = survey.bearings.as_ref().unwrap().landmarks.as_ref().unwrap();
        for _ in 0..5 {
            let corner = usize::try_from(next(&mut seed, 75_000)).unwrap();
            let at = findings.graph.corners.list[corner].at().cell();
            let known = landmarks.of(corner);
            assert_eq!(known.len(), 16);
            for (place, distance) in known {
                assert_eq!(distance, cost(&snapshot, at, place), "{at} to {place}");
            }
        }
        let baked = Survey::from_bytes(&survey.to_bytes(), &snapshot).unwrap();
        assert_eq!(baked.bytes(), survey.bytes());
        assert!(snapshot.learn(&baked));
        for _ in 0..20 {
            let [from, to] = [0, 1].map(|_| Cell::new(next(&mut seed, 560), next(&mut seed, 560)));
            if snapshot.is_open(from) && snapshot.is_open(to) {
                let found = find_path(&snapshot, &PathQuery::new(from, to), &mut Scratch::new()).unwrap();
                assert_eq!(
                    found.route().map(crate::route::Route::cost),
                    cost(&snapshot, from, to),
                    "{from} {to}"
                );
            }
        }
    }

    fn search_scan(snapshot: &Snapshot) -> crate::search::jump::scan::Scan<'_> {
        let costs = snapshot.ground.jump_costs().unwrap().map(Cost::from);
        crate::search::jump::scan::Scan::of_all(snapshot.bits.as_ref().unwrap(), costs)
    }

    #[test]
    fn dead_ends_are_not_looked_at() {
        // Two streets that meet far away, and winding lanes from one towards the other that do not lead there.
        let mut map = Map::filled(200, 61, Terrain::WALL).unwrap();
        for street in
            [Area::new((0, 0), (199, 2)), Area::new((0, 58), (199, 60)), Area::new((197, 0), (199, 60))]
        {
            map.fill(street, Terrain::OPEN).unwrap();
        }
        for x in (2..190).step_by(4) {
            for y in (3..51).step_by(6) {
                map.fill(Area::new((x, y), (x, y + 3)), Terrain::OPEN).unwrap();
                map.fill(Area::new((x, y + 3), (x + 2, y + 3)), Terrain::OPEN).unwrap();
                map.fill(Area::new((x + 2, y + 3), (x + 2, y + 6)), Terrain::OPEN).unwrap();
                map.fill(Area::new((x, y + 6), (x + 2, y + 6)), Terrain::OPEN).unwrap();
            }
        }
        for rules in rules() {
            let mut snapshot = Snapshot::new(&map, &View::from(rules));
            let survey = snapshot.survey();
            assert!(snapshot.learn(&survey));
            let (start, goal) = (Cell::new(0, 1), Cell::new(0, 59));
            let mut scratch = Scratch::new();
            let mut closed = |gear| {
                let query = PathQuery::new(start, goal).straight_line(StraightLine::Never).gear(gear);
                let answer = find_path(&snapshot, &query, &mut scratch).unwrap();
                (scratch.effort().closed, answer.route().map(|route| route.cost()))
            };
            let (graph, full) = (closed(Gear::Graph), closed(Gear::Full));
            assert_eq!(graph.1, full.1);
            assert_eq!(full.1, cost(&snapshot, start, goal));
            assert!(2 * full.0 < graph.0, "{full:?} {graph:?} {rules:?}");
        }
    }

    #[test]
    fn a_survey_of_another_map_or_view_is_of_no_use() {
        let map = Map::from_text("....\n.##.\n....").unwrap();
        let snapshot = Snapshot::new(&map, &View::default());
        let survey = snapshot.survey();
        let other_rules = Rules { corners: Corners::Always, ..Rules::default() };
        assert!(!Snapshot::new(&map, &View::from(other_rules)).learn(&survey));
        assert!(!Snapshot::new(&Map::new(4, 4).unwrap(), &View::default()).learn(&survey));
        let mut uneven = Snapshot::new(&Map::from_text("....\n.##.\n..3.").unwrap(), &View::default());
        assert!(!uneven.learn(&survey) && uneven.wants_survey());
        let of_uneven = uneven.survey();
        assert!(!snapshot.clone().learn(&of_uneven));
        assert!(uneven.learn(&of_uneven) && !uneven.wants_survey());
        assert!(!Snapshot::new(&Map::default(), &View::default()).wants_survey());
        assert!(snapshot.clone().learn(&survey));
    }
}
