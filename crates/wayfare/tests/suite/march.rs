//! Formations on the way: kept in the open, a column in a passage, and everybody at their place in the end.

use std::sync::Arc;

use glam::Vec2;
use wayfare::group::{Formation, GroupQuery, GroupWay, March, Marcher, Member};
use wayfare::prelude::*;

use crate::group::{FORMATIONS, snapshot_of, solve, ways};
use crate::support::found;

const DT: f32 = 1.0 / 20.0;

/// A group on its march, moved exactly as ordered; who has no order follows its own way.
struct Column {
    snapshot: Arc<Snapshot>,
    march: March,
    marchers: Vec<Marcher>,
    /// Ways of those who have no orders.
    own: Vec<(Vec<Vec2>, Headway)>,
    /// How often somebody had to follow a way of its own.
    strayed: usize,
}

impl Column {
    fn new(snapshot: &Arc<Snapshot>, formation: Formation, members: &[Member], goal: Vec2) -> Self {
        let query = GroupQuery { formation, ..GroupQuery::to(goal) };
        let answer = solve(snapshot, &query, members);
        let marcher = |(member, way): (&Member, &&GroupWay)| Marcher {
            position: member.position,
            radius: member.radius,
            speed: member.speed,
            offset: way.offset,
            slot: way.slot.place,
        };
        let marchers = members.iter().zip(&ways(&answer)).map(marcher).collect();
        let own = members.iter().map(|_| (Vec::new(), Headway::default())).collect();
        let march = March::new(answer.way, formation.turns());
        Self { snapshot: Arc::clone(snapshot), march, marchers, own, strayed: 0 }
    }

    fn step(&mut self) {
        let layout = Layout::default();
        let footing = Footing { snapshot: &self.snapshot, layout: &layout };
        self.march.advance(footing, self.marchers.iter().copied(), true, DT);
        for (marcher, (points, headway)) in self.marchers.iter_mut().zip(&mut self.own) {
            let from = marcher.position;
            match self.march.order(footing, marcher, true, DT) {
                Some(order) => {
                    assert!(order.velocity.length() <= marcher.speed * 1.0001, "{order:?}");
                    assert!(order.to_go.is_finite() && order.to_go >= 0.0);
                    points.clear();
                    marcher.position = follow::slide(footing, from, order.velocity * DT);
                }
                None => {
                    self.strayed += 1;
                    if points.is_empty() {
                        let cell = |at: Vec2| layout.cell_at(at).unwrap();
                        let query = PathQuery::new(cell(from), cell(marcher.slot)).shape(RouteShape::Pulled);
                        let route = found(&self.snapshot, &query);
                        follow::lay(footing, route.cells(), Some(from), Some(marcher.slot), points);
                        *headway = Headway::default();
                    }
                    let gait = Gait { speed: marcher.speed, ..Gait::default() };
                    marcher.position = follow::walk(footing, points, headway, from, 0.0, &gait, DT).position;
                }
            }
            assert!(footing.is_open(marcher.position));
        }
    }

    /// Steps until everybody is at their place; returns how long that took.
    fn run(&mut self, most: f32, mut watch: impl FnMut(&Self)) -> f32 {
        let mut time = 0.0;
        while !self.is_there() {
            self.step();
            watch(self);
            time += DT;
            assert!(time < most, "{:?} {:?}", self.march, self.marchers);
        }
        time
    }

    fn is_there(&self) -> bool {
        self.marchers.iter().all(|marcher| marcher.position.distance(marcher.slot) < 1e-3)
    }

    /// How far anybody is from where the formation wants it, turned as the march says.
    fn disorder(&self) -> f32 {
        let turn = Vec2::from_angle(self.march.heading());
        let place = |marcher: &Marcher| self.march.middle() + turn.rotate(marcher.offset);
        self.marchers.iter().map(|marcher| marcher.position.distance(place(marcher))).fold(0.0, f32::max)
    }

    /// How far the outermost is from the line of the way.
    fn width(&self) -> f32 {
        let across = Vec2::from_angle(self.march.heading()).perp();
        let aside = |marcher: &Marcher| (marcher.position - self.march.middle()).dot(across).abs();
        self.marchers.iter().map(aside).fold(0.0, f32::max)
    }
}

fn block(count: u64, at: Vec2) -> Vec<Member> {
    (0..count)
        .map(|id| Member::new(id, at + Vec2::new((id % 5) as f32, (id / 5) as f32) * 0.95, 0.4, 3.0))
        .collect()
}

#[test]
fn a_formation_keeps_its_shape_in_the_open_and_ends_at_its_places() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(90, 60).unwrap(), &View::default()));
    for formation in [Formation::Line, Formation::Wedge, Formation::Box] {
        let mut column =
            Column::new(&snapshot, formation, &block(20, Vec2::new(12.0, 20.0)), Vec2::new(70.0, 40.0));
        let (mut steps, mut worst) = (0, 0.0_f32);
        let time = column.run(40.0, |column| {
            steps += 1;
            if steps > 100 && !column.march.has_arrived() {
                worst = worst.max(column.disorder());
            }
        });
        assert!(worst < 0.3, "{formation:?} is out of order by {worst}");
        assert!(time < 25.0, "{formation:?} took {time}");
        assert_eq!(column.strayed, 0);
    }
}

#[test]
fn those_who_stand_somehow_arrive_standing_so() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(90, 60).unwrap(), &View::default()));
    let members = block(13, Vec2::new(10.0, 10.0));
    let mut column = Column::new(&snapshot, Formation::AsTheyStand, &members, Vec2::new(70.0, 30.0));
    column.run(40.0, |_| {});
    let moved: Vec<Vec2> = column
        .marchers
        .iter()
        .zip(&members)
        .map(|(after, before)| after.position - before.position)
        .collect();
    assert!(moved.iter().all(|by| by.distance(moved[0]) < 0.01), "{moved:?}");
}

#[test]
fn a_formation_passes_a_door_and_forms_again_behind_it() {
    let mut map = Map::new(100, 31).unwrap();
    map.fill(Area::new((40, 0), (44, 30)), Terrain::WALL).unwrap();
    map.fill(Area::new((40, 15), (44, 15)), Terrain::OPEN).unwrap();
    let snapshot = Arc::new(Snapshot::new(&map, &View::default()));
    for formation in [Formation::Line, Formation::Wedge, Formation::Box] {
        let members = block(8, Vec2::new(10.0, 14.0));
        let mut column = Column::new(&snapshot, formation, &members, Vec2::new(90.5, 15.5));
        let (mut narrow, mut formed) = (f32::INFINITY, f32::INFINITY);
        column.run(90.0, |column| {
            let x = column.march.middle().x;
            if (42.0..43.0).contains(&x) {
                narrow = narrow.min(column.width());
            }
            if (65.0..80.0).contains(&x) {
                formed = formed.min(column.disorder());
            }
        });
        assert!(formed < 0.3, "{formation:?} did not form again: {formed}");
        assert!(narrow < 1.0 || formation == Formation::Wedge, "{formation:?} passed {narrow} wide");
    }
}

#[test]
fn formations_get_through_a_maze() {
    let snapshot = snapshot_of(
        "....................
         ....................
         .....##########.....
         .....#........#.....
         .....#........#.....
         .....#...##...#.....
         .....#...##...#.....
         .........##.........
         .........##.........
         .....#...##...#.....
         .....#........#.....
         .....##########.....
         ....................
         ....................",
    );
    for formation in FORMATIONS.into_iter().filter(|formation| formation.is_kept()) {
        let members = block(9, Vec2::new(1.5, 1.5));
        let mut column = Column::new(&snapshot, formation, &members, Vec2::new(12.5, 7.5));
        let time = column.run(60.0, |_| {});
        assert!(time < 40.0, "{formation:?} {time}");
    }
}

#[test]
fn the_slowest_sets_the_pace_and_one_who_cannot_follow_is_left_behind() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(90, 30).unwrap(), &View::default()));
    let mut members = block(6, Vec2::new(5.0, 10.0));
    members[3].speed = 1.0;
    let mut column = Column::new(&snapshot, Formation::Line, &members, Vec2::new(45.0, 15.0));
    let time = column.run(70.0, |column| assert!(column.march.has_arrived() || column.disorder() < 9.0));
    assert!(time > 38.0, "{time}");

    // Its speed says it could, but something holds it.
    let mut column =
        Column::new(&snapshot, Formation::Line, &block(6, Vec2::new(5.0, 10.0)), Vec2::new(45.0, 15.0));
    let held = column.marchers[2].position;
    for _ in 0..40 * 20 {
        column.step();
        column.marchers[2].position = held;
    }
    assert!(column.march.has_arrived());
    let there = column.marchers.iter().filter(|marcher| marcher.position.distance(marcher.slot) < 1e-3);
    assert_eq!(there.count(), 5);
}

#[test]
fn a_heading_turns_without_jumps() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(60, 60).unwrap(), &View::default()));
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let way = vec![Vec2::new(5.0, 5.0), Vec2::new(45.0, 5.0), Vec2::new(45.0, 50.0)];
    let mut march = March::new(way, true);
    let marcher = |march: &March| Marcher {
        position: march.middle(),
        radius: 0.4,
        speed: 3.0,
        offset: Vec2::new(0.0, 4.0),
        slot: Vec2::ZERO,
    };
    let mut before = march.heading();
    for _ in 0..40 * 20 {
        let one = Marcher {
            position: march.middle() + Vec2::from_angle(march.heading()).perp() * 4.0,
            ..marcher(&march)
        };
        march.advance(footing, [one].into_iter(), false, DT);
        assert!((march.heading() - before).abs() <= 3.0 / 4.0 * DT + 1e-4);
        before = march.heading();
    }
    assert!(march.has_arrived() && (before - core::f32::consts::FRAC_PI_2).abs() < 0.05, "{before}");
}

#[test]
fn a_march_survives_senseless_numbers_and_allocates_nothing() {
    let snapshot = Arc::new(Snapshot::new(&Map::new(20, 20).unwrap(), &View::default()));
    let footing = Footing { snapshot: &snapshot, layout: &Layout::default() };
    let nowhere = Marcher {
        position: Vec2::NAN,
        radius: f32::NAN,
        speed: f32::INFINITY,
        offset: Vec2::ZERO,
        slot: Vec2::NAN,
    };
    for way in [vec![], vec![Vec2::ONE], vec![Vec2::ONE, Vec2::NAN], vec![Vec2::ONE, Vec2::ONE]] {
        let mut march = March::new(way, true);
        march.advance(footing, [nowhere].into_iter(), true, f32::NAN);
        march.advance(footing, core::iter::empty(), true, 1.0);
        assert_eq!(march.order(footing, &nowhere, true, DT), None);
    }
    let mut column =
        Column::new(&snapshot, Formation::Box, &block(9, Vec2::new(2.0, 2.0)), Vec2::new(15.0, 15.0));
    let info = allocation_counter::measure(|| {
        for _ in 0..50 {
            column.step();
        }
    });
    assert_eq!(info.count_total, 0);
}
