//! Walking: never through a wall, always to the end, at the same time however time is cut.

use core::f32::consts::PI;

use glam::Vec2;
use wayfare::prelude::*;

use crate::support::{FLORA, Flora, Random, found, random_map, searched, views};

impl Random {
    /// Between 0 and 1.
    fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }

    /// A point in the inside of a cell.
    fn point_in(&mut self, layout: &Layout, cell: Cell) -> Vec2 {
        let inside = Vec2::new(self.unit(), self.unit()) * 0.98 + 0.01;
        layout.to_plane(Vec2::new(cell.x as f32, cell.y as f32) + inside)
    }
}

fn layouts() -> [Layout; 6] {
    let new = |origin: (f32, f32), x: (f32, f32), y: (f32, f32)| {
        Layout::new(origin.into(), x.into(), y.into()).unwrap()
    };
    [
        Layout::default(),
        Layout::square(32.0).unwrap(),
        new((-70.0, 33.0), (3.3, 0.0), (0.0, -3.3)),
        new((5.0, 5.0), (64.0, 0.0), (0.0, 32.0)),
        new((100.0, -7.0), (0.6, 0.8), (-0.8, 0.6)),
        new((0.0, 0.0), (32.0, 16.0), (-32.0, 16.0)),
    ]
}

/// A random map with a route laid on it.
struct Scene {
    name: String,
    snapshot: Snapshot,
    layout: Layout,
    points: Vec<Vec2>,
    random: Random,
}

impl Scene {
    fn footing(&self) -> Footing<'_> {
        Footing { snapshot: &self.snapshot, layout: &self.layout }
    }

    fn start(&self) -> Vec2 {
        self.points[0]
    }

    fn end(&self) -> Vec2 {
        *self.points.last().unwrap()
    }

    fn length(&self) -> f32 {
        follow::remaining(&self.points, Headway::default(), self.start())
    }

    /// Walks to the end in steps of `dt`, calling `check` with each position and what led to it.
    fn walk(&self, gait: &Gait, dt: f32, mut check: impl FnMut(Vec2, &Stride)) -> f32 {
        let (mut position, mut heading, mut headway) = (self.start(), 0.3, Headway::default());
        let slowest = 9.0;
        let turning = self.points.len() as f32 * 2.0 * PI / gait.turn_rate;
        let patience = (self.length() / gait.speed * slowest + turning) / dt * 1.5 + 10.0;
        for tick in 1..=patience as u32 {
            let stride =
                follow::walk(self.footing(), &self.points, &mut headway, position, heading, gait, dt);
            check(position, &stride);
            assert!(!stride.blocked, "{} blocked at {}", self.name, stride.position);
            (position, heading) = (stride.position, stride.heading);
            if stride.arrived {
                return tick as f32 * dt;
            }
        }
        panic!("{} does not arrive, {position} {headway:?} {gait:?} {dt}", self.name);
    }
}

fn for_scenes(seeds: u64, flora: Option<Flora>, mut test: impl FnMut(Scene)) {
    for seed in 0..seeds {
        // The costs of steps do not matter to a unit on its way.
        for (rule, view) in views().iter().enumerate().filter(|(rule, _)| rule % 6 == seed as usize % 6) {
            let mut random = Random::new(seed * 31 + rule as u64);
            let (width, height) = (2 + random.below(60), 2 + random.below(30));
            let flora = flora.unwrap_or(FLORA[(seed % 3) as usize]);
            let map = random_map(&mut random, width, height, flora);
            let snapshot = Snapshot::new(&map, view);
            let Some(start) = snapshot.nearest_open(random.cell(&map)) else {
                continue;
            };
            let goal = snapshot.nearest_reachable(start, random.cell(&map)).unwrap();
            let shape =
                [RouteShape::Cells, RouteShape::Corners, RouteShape::Pulled][random.below(3) as usize];
            let route = found(&snapshot, &searched(start, goal).shape(shape));
            let layout = layouts()[random.below(6) as usize];
            let from = random.point_in(&layout, start);
            let to = random.point_in(&layout, goal);
            let name = format!("seed {seed}, {:?}, {shape:?}, {start} to {goal}", view.rules);
            let name = format!("{name}, {layout:?}\n{}", map.to_text(|_| None));
            let mut points = Vec::new();
            let footing = Footing { snapshot: &snapshot, layout: &layout };
            follow::lay(footing, route.cells(), Some(from), Some(to), &mut points);
            assert_eq!((points.first(), points.last()), (Some(&from), Some(&to)), "{name}");
            for leg in points.windows(2) {
                assert!(footing.is_clear(leg[0], leg[1]), "{} to {} {name}", leg[0], leg[1]);
                assert_ne!(leg[0], leg[1], "{name}");
            }
            assert!(points.len() <= route.cells().len() + 2);
            test(Scene { name, snapshot, layout, points, random });
        }
    }
}

/// Whether a short line is clear, or passes within a hair of a corner that may be passed: a step that bends exactly
/// there ends where it cannot be seen from where it began.
fn is_nearly_clear(footing: Footing<'_>, from: Vec2, to: Vec2) -> bool {
    let centre = |point: Vec2| footing.layout.centre(footing.layout.cell_at(point).unwrap());
    let (a, b) = (footing.layout.to_grid(from), footing.layout.to_grid(to));
    let corner = a.midpoint(b).round();
    let off = (b - a).normalize_or_zero().perp_dot(corner - a).abs();
    footing.is_clear(from, to) || (off < 1e-2 && footing.is_clear(centre(from), centre(to)))
}

#[test]
fn a_unit_arrives_and_never_enters_a_wall() {
    let (mut walks, mut steps, mut cuts) = (0, 0, 0);
    for_scenes(240, None, |mut scene| {
        let cell = 2.0 * scene.layout.reach();
        let turn_rate = [f32::INFINITY, 20.0, 3.0, 0.5][scene.random.below(4) as usize];
        let speed = cell * [0.1, 1.0, 3.7, 20.0, 200.0][scene.random.below(5) as usize];
        let dt = [1.0 / 240.0, 1.0 / 60.0, 0.1, 1.0, 30.0][scene.random.below(5) as usize];
        let gait = Gait { speed, turn_rate, arrival: 0.0, slowed: scene.random.below(2) == 0 };
        let fine = speed * dt < 0.05 * cell;
        if scene.length() / speed / dt > 50_000.0 {
            return;
        }
        let footing = scene.footing();
        scene.walk(&gait, dt, |before, stride| {
            assert!(footing.is_open(stride.position), "{} at {}", scene.name, stride.position);
            if fine {
                steps += 1;
                cuts += u32::from(!footing.is_clear(before, stride.position));
                let passed = is_nearly_clear(footing, before, stride.position);
                assert!(passed, "{} from {before} to {}", scene.name, stride.position);
            }
            let limit = speed * dt * 2.0 + cell * 1e-3;
            assert!(before.distance(stride.position) <= limit, "{} from {before} {stride:?}", scene.name);
            assert!(stride.heading > -PI && stride.heading <= PI);
            if stride.arrived {
                assert_eq!(stride.position, scene.end(), "{}", scene.name);
            }
        });
        walks += 1;
    });
    assert!(walks > 500 && steps > 100_000 && cuts * 10_000 < steps, "{walks}, {steps}, {cuts}");
}

#[test]
fn over_even_ground_it_takes_the_time_the_length_takes() {
    for_scenes(200, Some(Flora::Uniform), |mut scene| {
        let cell = 2.0 * scene.layout.reach();
        let speed = cell * (0.5 + 20.0 * scene.random.unit());
        let dt = 1.0 / 64.0;
        let gait = Gait { speed, ..Gait::default() };
        let mut walked = 0.0;
        let time = scene.walk(&gait, dt, |before, stride| walked += before.distance(stride.position));
        // About from a reach before a corner to a reach after it; how much that saves depends on the angle.
        let cut = |three: &[Vec2]| {
            let angle = (three[0] - three[1]).angle_to(three[2] - three[1]).abs();
            cell * 1.25 * (1.0 - (angle / 2.0).sin())
        };
        let corners: f32 = scene.points.windows(3).map(cut).sum();
        let (length, slack) = (scene.length(), dt + 0.01 * scene.length() / speed);
        assert!(time <= length / speed + slack, "{time} for {length} at {speed} {}", scene.name);
        assert!(time >= (length - corners) / speed - slack, "{time} for {length} at {speed} {}", scene.name);
        assert!(walked <= time * speed * 1.001 + cell * 0.01, "{walked} in {time} {}", scene.name);
    });
}

#[test]
fn a_unit_turns_no_more_than_its_path() {
    for_scenes(120, None, |mut scene| {
        let cell = 2.0 * scene.layout.reach();
        let gait = Gait { speed: cell * (1.0 + 2.0 * scene.random.unit()), slowed: false, ..Gait::default() };
        let (mut heading, mut turned) = (None, 0.0);
        scene.walk(&gait, 1.0 / 120.0, |_, stride| {
            turned += heading.map_or(0.0, |before: f32| (stride.heading - before).sin().abs());
            heading = Some(stride.heading);
        });
        let bend = |three: &[Vec2]| (three[1] - three[0]).angle_to(three[2] - three[1]).abs();
        let bends: f32 = scene.points.windows(3).map(bend).sum();
        assert!(turned <= bends * 1.1 + 0.1, "{turned} instead of {bends} {}", scene.name);
    });
}

#[test]
fn the_rate_of_frames_hardly_matters() {
    for_scenes(36, None, |mut scene| {
        let cell = 2.0 * scene.layout.reach();
        let speed = cell * (0.5 + 6.0 * scene.random.unit());
        let turn_rate = [f32::INFINITY, 12.0, 4.0, 1.0][scene.random.below(4) as usize];
        let gait = Gait { speed, turn_rate, arrival: 0.0, slowed: scene.random.below(2) == 0 };
        let track = |rate: f32| {
            let mut track = vec![scene.start()];
            let time = scene.walk(&gait, 1.0 / rate, |_, stride| track.push(stride.position));
            (time, track)
        };
        let (exact, finest) = track(240.0);
        // Sheared cells have corners so sharp that units turn on the spot in them, sooner or later by a step.
        let part = if scene.layout == layouts()[5] { 0.03 } else { 0.01 };
        for rate in [10.0, 20.0, 64.0, 144.0] {
            let (time, track) = track(rate);
            let slack = 1.0 / rate + 1.0 / 240.0 + part * exact;
            assert!(
                (time - exact).abs() <= slack,
                "{gait:?} {time} at {rate} Hz, {exact} at 240 Hz, {}",
                scene.name
            );
            for position in track.into_iter().step_by(rate as usize / 10) {
                let off = finest.windows(2).map(|leg| distance_to(leg[0], leg[1], position));
                let off = off.fold(scene.start().distance(position), f32::min);
                assert!(off < 0.1 * cell, "{off} of {cell} off at {rate} Hz, {}", scene.name);
            }
        }
    });
}

fn distance_to(a: Vec2, b: Vec2, point: Vec2) -> f32 {
    let along = (point - a).dot(b - a) / (b - a).length_squared().max(f32::MIN_POSITIVE);
    (a + (b - a) * along.clamp(0.0, 1.0)).distance(point)
}

#[test]
fn an_endless_span_of_time_ends_at_the_end() {
    for_scenes(60, None, |scene| {
        for turn_rate in [f32::INFINITY, 1.0, 1e-6, 1e30] {
            for (speed, dt) in [(1.0, 1e9), (1e30, 1.0), (1e-6, 1e30), (f32::MAX, f32::MAX)] {
                let gait = Gait { speed, turn_rate, ..Gait::default() };
                let mut headway = Headway::default();
                let start = scene.start();
                let stride =
                    follow::walk(scene.footing(), &scene.points, &mut headway, start, 3.0, &gait, dt);
                let enough = turn_rate > 1.0 || dt >= 1e9;
                assert!(stride.arrived || !enough, "{stride:?} {gait:?} {dt} {}", scene.name);
                assert!(stride.velocity.is_finite() && !stride.blocked);
                if stride.arrived {
                    assert_eq!(stride.position, scene.end());
                }
            }
        }
    });
}

#[test]
fn once_there_a_unit_stays() {
    for_scenes(60, None, |mut scene| {
        let arrival = scene.layout.reach() * 4.0 * scene.random.unit();
        let speed = 5.0 * scene.layout.reach();
        let gait = Gait { arrival, speed, ..Gait::default() };
        let (mut position, mut heading, mut headway) = (scene.start(), 0.0, Headway::default());
        let mut arrived_at = None;
        for _ in 0..20_000 {
            let footing = scene.footing();
            let stride = follow::walk(footing, &scene.points, &mut headway, position, heading, &gait, 0.1);
            (position, heading) = (stride.position, stride.heading);
            match arrived_at {
                None if stride.arrived => arrived_at = Some((position, 50)),
                None => {}
                Some((_, 0)) => return,
                Some((at, left)) => {
                    assert!(stride.arrived && stride.velocity == Vec2::ZERO && position == at);
                    let gap = at.distance(scene.end());
                    assert!(gap <= arrival * 1.0001 && footing.is_clear(at, scene.end()), "{}", scene.name);
                    arrived_at = Some((at, left - 1));
                }
            }
        }
        panic!("{}", scene.name);
    });
}

#[test]
fn a_way_that_was_blocked_is_not_walked() {
    let mut stopped = 0;
    for_scenes(150, Some(Flora::Uniform), |mut scene| {
        let mut map = scene.snapshot.map().clone();
        let before = scene.snapshot.clone();
        let gait = Gait { speed: scene.layout.reach() * 6.0, ..Gait::default() };
        let (mut position, mut heading, mut headway) = (scene.start(), 0.0, Headway::default());
        for tick in 0..2000 {
            if tick == 5 {
                // Walls rain down, but not on the unit.
                let under = scene.layout.cell_at(position);
                for _ in 0..scene.random.below(map.width() * map.height()) {
                    let cell = scene.random.cell(&map);
                    if Some(cell) != under {
                        map.set(cell, Terrain::WALL).unwrap();
                    }
                }
                scene.snapshot.refresh(&map);
            }
            let footing = scene.footing();
            let stride =
                follow::walk(footing, &scene.points, &mut headway, position, heading, &gait, 1.0 / 60.0);
            assert!(is_nearly_clear(footing, position, stride.position), "{} {stride:?}", scene.name);
            (position, heading) = (stride.position, stride.heading);
            if stride.blocked {
                assert!(follow::is_worse(footing, &before, &scene.points, scene.start()), "{}", scene.name);
                stopped += 1;
            }
            if stride.blocked || stride.arrived {
                return;
            }
        }
        panic!("neither stopped nor there: {}", scene.name);
    });
    assert!(stopped > 200, "{stopped}");
}

#[test]
fn a_unit_that_is_pushed_around_still_arrives() {
    let (mut arrived, mut all) = (0, 0);
    for_scenes(150, None, |mut scene| {
        let reach = scene.layout.reach();
        let gait = Gait { speed: reach * 8.0, turn_rate: 10.0, slowed: false, ..Gait::default() };
        let (mut position, mut heading, mut headway) = (scene.start(), 0.0, Headway::default());
        all += 1;
        for tick in 0..10_000 {
            let by = Vec2::new(scene.random.unit() - 0.5, scene.random.unit() - 0.5) * reach * 4.0;
            let footing = scene.footing();
            if tick % 20 == 10 {
                let pushed = follow::slide(footing, position, by);
                assert!(footing.is_open(pushed), "{} {position} by {by}", scene.name);
                position = pushed;
            }
            let stride =
                follow::walk(footing, &scene.points, &mut headway, position, heading, &gait, 1.0 / 30.0);
            assert!(footing.is_open(stride.position), "{}", scene.name);
            (position, heading) = (stride.position, stride.heading);
            if stride.arrived {
                assert_eq!(position, scene.end());
                arrived += 1;
                return;
            }
        }
    });
    // Now and then somebody is pushed around a corner from where the path cannot be seen, and says so.
    assert!(all > 350 && arrived * 100 >= all * 99, "{arrived} of {all}");
}

#[test]
fn a_slide_never_crosses_a_wall() {
    let mut slides = 0;
    for_scenes(150, None, |mut scene| {
        let reach = scene.layout.reach();
        let mut position = scene.start();
        for _ in 0..300 {
            let by = Vec2::new(scene.random.unit() - 0.5, scene.random.unit() - 0.5) * reach;
            let footing = scene.footing();
            let slid = follow::slide(footing, position, by);
            assert!(footing.is_open(slid), "{} {position} by {by}", scene.name);
            // Turned and straight axes, but not sheared ones, keep a body from gaining by sliding.
            assert!(slid.distance(position) <= by.length() * 1.001 + 1e-4 * reach);
            if footing.is_clear(position, position + by) {
                assert!(slid.distance(position + by) < 1e-3 * reach, "{} {position} by {by}", scene.name);
            }
            position = slid;
            slides += 1;
        }
        // On the island it started on, where nothing slips between walls.
        let cell = |point: Vec2| scene.layout.cell_at(point).unwrap();
        if scene.snapshot.rules().corners == Corners::BothFree {
            assert!(scene.snapshot.reachable(cell(scene.start()), cell(position)), "{}", scene.name);
        }
        let far = follow::slide(scene.footing(), position, Vec2::splat(1e30));
        assert!(scene.footing().is_open(far) && far.distance(position) <= 33.0 * reach);
    });
    assert!(slides > 100_000, "{slides}");
}

#[test]
fn nothing_on_the_way_allocates() {
    for_scenes(10, None, |scene| {
        let footing = scene.footing();
        let gait = Gait { speed: scene.layout.reach(), turn_rate: 5.0, ..Gait::default() };
        let counted = allocation_counter::measure(|| {
            let (mut position, mut heading) = (scene.start(), 0.0);
            let mut headway = follow::join(footing, &scene.points, position).unwrap();
            for _ in 0..500 {
                let stride =
                    follow::walk(footing, &scene.points, &mut headway, position, heading, &gait, 0.1);
                position = follow::slide(footing, stride.position, Vec2::splat(0.01));
                heading = stride.heading;
                follow::is_worse(footing, &scene.snapshot, &scene.points, position);
                follow::remaining(&scene.points, headway, position);
            }
        });
        assert_eq!(counted.count_total, 0);
    });
}
