//! What can only be seen from inside: a search that panics, how soon a worker gives its thread back, who is in the queue,
//! and that nothing piles up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy::tasks::AsyncComputeTaskPool;
use bevy::time::TimeUpdateStrategy;
use wayfare::{Cell, Layout, Map, Snapshot};

use crate::plan::{Aim, Aims, Asked, GoalCells, Wish};
use crate::prelude::*;
use crate::queue::pool::MOST_POSTED;
use crate::queue::{Desk, Inbox, Pool};

#[derive(Resource, Default)]
struct Ends {
    found: usize,
    failed: Vec<FailureReason>,
}

fn app(map: Map, pool: Pool, settings: PathfindingSettings) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, PathfindingPlugin::default().in_schedule(Update)))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(16)))
        .insert_resource(settings)
        .insert_resource(pool)
        .init_resource::<Ends>()
        .add_observer(|_: On<PathFound>, mut ends: ResMut<Ends>| ends.found += 1)
        .add_observer(|failed: On<PathFailed>, mut ends: ResMut<Ends>| ends.failed.push(failed.reason));
    app.world_mut().spawn(NavMap::new(map));
    app
}

/// Stands for a defect in a search: on the way to this cell it panics.
const CURSED: Cell = Cell::new(7, 7);

fn look_up_or_panic(
    wish: &Wish,
    snapshot: &Snapshot,
    layout: &Layout,
    known: Option<&GoalCells>,
) -> Result<Asked, FailureReason> {
    assert!(!matches!(wish.aims, Aims::One(Aim::Cell(CURSED))), "a defect, on purpose");
    wish.look_up(snapshot, layout, known)
}

#[test]
fn a_panic_is_the_failure_of_one_unit() {
    for drive in [Drive::Pool, Drive::InFrame] {
        let settings = PathfindingSettings { drive, ..default() };
        let mut app = app(Map::new(20, 20).expect("small"), Pool::new(64, look_up_or_panic), settings);
        for round in 0..3 {
            for x in 0..20 {
                let goal = if x == 5 { CURSED } else { Cell::new(x, 19) };
                app.world_mut().spawn(PathRequest::between(Cell::new(x, 0), goal));
            }
            let until = Instant::now() + Duration::from_secs(20);
            while Instant::now() < until {
                app.update();
                let ends = app.world().resource::<Ends>();
                if ends.found + ends.failed.len() == 20 * (round + 1) {
                    break;
                }
            }
            let ends = app.world().resource::<Ends>();
            assert_eq!(ends.found, 19 * (round + 1));
            assert_eq!(ends.failed, vec![FailureReason::SearchPanicked; round + 1]);
        }
    }
}

#[test]
fn a_panic_is_the_failure_of_one_convoy() {
    for drive in [Drive::Pool, Drive::InFrame] {
        let settings = PathfindingSettings { drive, ..default() };
        let mut app = app(Map::new(20, 20).expect("small"), Pool::new(64, look_up_or_panic), settings);
        for round in 1..=3 {
            for x in 0..60 {
                let goal = match x % 3 {
                    0 => CURSED,
                    1 => Cell::new(3, 19),
                    _ => Cell::new(x % 20, 5),
                };
                app.world_mut().spawn(PathRequest::between(Cell::new(x % 20, 0), goal));
            }
            let until = Instant::now() + Duration::from_secs(20);
            while Instant::now() < until {
                app.update();
                let ends = app.world().resource::<Ends>();
                if ends.found + ends.failed.len() == 60 * round {
                    break;
                }
            }
            let ends = app.world().resource::<Ends>();
            assert_eq!(ends.found, 40 * round);
            assert_eq!(ends.failed, vec![FailureReason::SearchPanicked; 20 * round]);
        }
    }
}

/// A winding way through walls, so that every search is long.
fn maze() -> Map {
    let mut map = Map::new(200, 200).expect("small");
    for i in 0..50 {
        let (x, gap) = (i * 4 + 2, if i % 2 == 0 { 0 } else { 199 });
        let wall = Area::new((x, 0), (x, 199));
        let build = |cell: Cell, old| if cell.y == gap { old } else { Terrain::WALL };
        map.edit(wall, build).expect("inside");
    }
    map
}

#[test]
fn a_game_s_own_task_starts_within_a_slice() {
    let threads = AsyncComputeTaskPool::get_or_init(default).thread_num();
    let settings = PathfindingSettings { workers: Some(threads), slice_nodes: 2000, ..default() };
    if settings.driver() == Drive::InFrame {
        return; // Without threads, a task runs inside the call that spawns it.
    }
    let pool = Pool::new(64, Wish::look_up);
    let mut app = app(maze(), pool.clone(), settings);
    for i in 0..10_000 {
        let (from, to) = (Cell::new(0, i % 200), Cell::new(199, i / 200));
        app.world_mut().spawn(PathRequest::between(from, to));
    }
    let mut waits = Vec::new();
    for _ in 0..21 {
        app.update();
        std::thread::sleep(Duration::from_millis(2));
        let inside = pool.clone();
        let before = pool.slices();
        let task = AsyncComputeTaskPool::get().spawn(async move { inside.slices() });
        waits.push(bevy::tasks::block_on(task) - before);
    }
    waits.sort_unstable();
    // Each thread may finish the slice it is at. More go by when the machine takes this thread away between counting
    // and spawning, which is no fault of the workers'; so the middle one counts.
    let most = u64::try_from(threads).expect("few");
    assert!(waits[10] <= most, "so many slices went by: {waits:?}");
    assert!(pool.queued() > 5000 && pool.slices() > 20, "the workers were busy all along");
}

static BEGUN: AtomicUsize = AtomicUsize::new(0);

fn look_up_and_count(
    wish: &Wish,
    snapshot: &Snapshot,
    layout: &Layout,
    known: Option<&GoalCells>,
) -> Result<Asked, FailureReason> {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    wish.look_up(snapshot, layout, known)
}

#[test]
fn workers_leave_when_the_app_is_gone() {
    let pool = Pool::new(100_000, look_up_and_count);
    let held = pool.watch();
    let mut app = app(maze(), pool, default());
    for i in 0..2000 {
        app.world_mut().spawn(PathRequest::between(Cell::new(0, i % 200), Cell::new(199, i / 200)));
    }
    app.update();
    drop(app);
    while held.strong_count() > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let begun = BEGUN.load(Ordering::Relaxed);
    assert!(begun < 1500, "{begun} searches were begun, for nobody");
}

/// An app that looks at one slice per update.
fn slow_app(map: Map, pool: &Pool) -> App {
    let settings = PathfindingSettings {
        drive: Drive::InFrame,
        frame_budget: Duration::ZERO,
        slice_nodes: 256,
        ..default()
    };
    app(map, pool.clone(), settings)
}

fn ask(app: &mut App, count: i32) -> Vec<Entity> {
    let request = |i: i32| {
        // Cell by cell, so that it takes a while.
        PathRequest::between(Cell::new(0, i % 200), Cell::new(199, 199 - i % 200)).gear(Gear::Cells)
    };
    (0..count).map(|i| app.world_mut().spawn(request(i)).id()).collect()
}

#[test]
fn a_request_removed_leaves_the_queue_without_a_search() {
    let pool = Pool::new(64, Wish::look_up);
    let mut app = slow_app(maze(), &pool);
    let units = ask(&mut app, 20);
    for _ in 0..10 {
        app.update();
    }
    // Some have been looked at, two are put aside.
    assert_eq!((pool.queued(), pool.in_flight()), (20, 2));
    for (unit, i) in units.iter().zip(0..) {
        if i % 2 == 0 {
            app.world_mut().entity_mut(*unit).remove::<PathRequest>();
        } else {
            app.world_mut().despawn(*unit);
        }
    }
    let before = pool.slices();
    app.update();
    assert_eq!((pool.queued(), pool.in_flight(), pool.slices()), (0, 0, before));
}

#[test]
fn no_more_searches_are_put_aside_than_there_is_room_for() {
    let pool = Pool::new(64, Wish::look_up);
    let mut app = slow_app(maze(), &pool);
    ask(&mut app, 50);
    let mut most = 0;
    for _ in 0..300 {
        app.update();
        most = most.max(pool.in_flight());
    }
    // Twice the workers; in the frame there is one.
    assert_eq!(most, 2);
}

#[test]
fn while_nobody_looks_each_entity_is_noted_once_and_only_if_there_is_something_to_stop() {
    let pool = Pool::new(64, Wish::look_up);
    let mut app = slow_app(maze(), &pool);
    let waiting = ask(&mut app, 30);
    app.update();
    let idle: Vec<Entity> = (0..30).map(|_| app.world_mut().spawn_empty().id()).collect();
    for _ in 0..20 {
        for entity in waiting.iter().chain(&idle) {
            app.world_mut().entity_mut(*entity).insert(PathRequest::to(Cell::new(1, 1)));
            app.world_mut().entity_mut(*entity).remove::<PathRequest>();
        }
    }
    let inbox = app.world().resource::<Inbox>();
    assert_eq!((inbox.removed.len(), inbox.inserted.len()), (waiting.len(), 0));
    assert!(waiting.iter().all(|entity| inbox.removed.contains(entity)));
}

#[test]
fn answers_for_entities_that_are_gone_do_not_pile_up() {
    let pool = Pool::new(64, Wish::look_up);
    let mut app = slow_app(maze(), &pool);
    app.world_mut().resource_mut::<PathfindingSettings>().deliveries = 5;
    for _ in 0..50 {
        // Nobody knows where they are, so they are answered without a search, and five of them at once.
        let lost: Vec<Entity> =
            (0..100).map(|_| app.world_mut().spawn(PathRequest::to(Cell::new(1, 1))).id()).collect();
        app.update();
        for entity in lost {
            app.world_mut().despawn(entity);
        }
    }
    let kept = app.world().resource::<Desk>().ready.len();
    assert!(kept <= 100, "{kept} answers");
}

#[test]
fn the_post_does_not_pile_up_while_nobody_reads_it() {
    let pool = Pool::new(64, Wish::look_up);
    let mut app = slow_app(maze(), &pool);
    app.configure_sets(Update, PathfindingSystems::Search.run_if(|| false));
    let count = 1000;
    let units: Vec<Entity> = (0..count).map(|_| app.world_mut().spawn_empty().id()).collect();
    for round in 0..151 {
        for unit in &units {
            let mut unit = app.world_mut().entity_mut(*unit);
            if round % 2 == 0 {
                unit.insert(PathRequest::between(Cell::new(1, 1), Cell::new(3, 3)));
            } else {
                unit.remove::<PathRequest>();
            }
        }
        app.update();
        let kept = pool.queued();
        assert!(kept <= MOST_POSTED + count, "{kept} items about {count} units");
    }
    assert_eq!(pool.slices(), 0, "somebody read it");
}

/// Rocks all over the place, so that a field pays.
fn rocky(side: u32) -> Map {
    let mut map = Map::new(side, side).expect("small");
    let all = map.area().expect("not empty");
    let is_rock = |cell: Cell| (cell.x * 7 + cell.y * cell.y * 3 + cell.x * cell.y) % 5 == 0;
    map.edit(all, |cell, old| if is_rock(cell) { Terrain::WALL } else { old }).expect("inside");
    map
}

/// Sends so many units to one goal, from all over the map, and waits until all are answered.
fn send_crowd(app: &mut App, side: i32, count: i32, goal: Cell) {
    let from = |i: i32| Cell::new(i * 37 % side, i * 61 % side);
    let units = (0..count).map(|i| app.world_mut().spawn(PathRequest::between(from(i), goal)).id()).collect();
    until_answered(app, units);
}

/// Waits until all these are answered, and sends them away.
fn until_answered(app: &mut App, units: Vec<Entity>) {
    app.insert_resource(Ends::default());
    let until = Instant::now() + Duration::from_secs(60);
    let answered =
        |app: &App| app.world().resource::<Ends>().found + app.world().resource::<Ends>().failed.len();
    while answered(app) < units.len() {
        assert!(Instant::now() < until, "{} of {} are answered", answered(app), units.len());
        app.update();
    }
    for unit in units {
        app.world_mut().despawn(unit);
    }
}

#[test]
fn memory_of_hundreds_of_crowds_does_not_pile_up() {
    for drive in [Drive::Pool, Drive::InFrame] {
        let settings = PathfindingSettings { drive, workers: Some(2), surveys: false, ..default() };
        let (workers, side) = (if settings.driver() == Drive::Pool { 2 } else { 1 }, 60);
        let pool = Pool::new(4096, Wish::look_up);
        let mut app = app(rocky(60), pool.clone(), settings);
        let mut least = 0;
        for round in 0..300 {
            send_crowd(&mut app, side, 300, Cell::new(round % side, round / side * 11 % side));
            let ([scratches, fields], bytes) = pool.kept();
            assert!(scratches <= 3 * workers && fields <= 4, "{scratches} scratches, {fields} fields");
            if round == 60 {
                assert_eq!(fields, 4, "a crowd makes one");
                least = bytes;
            }
            assert!(round <= 60 || bytes <= 2 * least, "{bytes} bytes, {least} before");
        }
    }
}

#[test]
fn goals_named_in_another_order_or_twice_are_the_same_goals() {
    let settings = PathfindingSettings { surveys: false, ..default() };
    let pool = Pool::new(4096, Wish::look_up);
    let mut app = app(rocky(150), pool.clone(), settings);
    let goals = [Cell::new(100, 121), Cell::new(11, 30), Cell::new(70, 5), Cell::new(140, 20)];
    let mut send = |count: usize, goals: &[Cell]| {
        let request = |i: usize| {
            let first = i % goals.len();
            let named = [&goals[first..], &goals[..=first]].concat();
            let number = u16::try_from(i).expect("few");
            let at = Transform::from_xyz(f32::from(number * 37 % 150), f32::from(number % 149), 0.0);
            (at, PathRequest::to_nearest(named))
        };
        let units = (0..count).map(|i| app.world_mut().spawn(request(i)).id()).collect();
        until_answered(&mut app, units);
        let ([_, fields], _) = pool.kept();
        fields
    };
    assert_eq!(send(1500, &goals), 1, "a crowd makes one");
    // Few would be searched for alone, and make none; nor do they take away the one that leads elsewhere.
    assert_eq!((send(3, &goals), send(3, &goals[1..])), (1, 1));
    assert_eq!(send(1500, &goals[1..]), 2, "another set is another field");
}

#[test]
fn a_field_is_kept_when_a_survey_is_done_and_dropped_when_the_map_changes() {
    let settings = PathfindingSettings::default();
    if settings.driver() == Drive::InFrame {
        return; // Nobody surveys maps there.
    }
    let pool = Pool::new(4096, Wish::look_up);
    let mut app = app(rocky(150), pool.clone(), settings);
    let goal = Cell::new(100, 121);
    send_crowd(&mut app, 150, 2000, goal);
    assert_eq!(pool.kept().0[1], 1, "a crowd makes one");
    let until = Instant::now() + Duration::from_secs(60);
    let mut maps = app.world_mut().query::<&NavMap>();
    let is_surveyed = |snapshot: &Snapshot| snapshot.is_surveyed() && !snapshot.wants_survey();
    while !maps
        .single(app.world())
        .is_ok_and(|map| map.snapshot(ClassId::default()).is_ok_and(|snapshot| is_surveyed(&snapshot)))
    {
        assert!(Instant::now() < until, "it is surveyed");
        app.update();
    }
    // Few would be answered one by one, if there were no field.
    let before = pool.kept();
    send_crowd(&mut app, 150, 3, goal);
    assert_eq!(pool.kept().0[1], 1, "{before:?}");
    // An edit is another matter.
    let mut edited = app.world_mut().query::<&mut NavMap>();
    let mut map = edited.single_mut(app.world_mut()).expect("one map");
    map.map_mut().set(Cell::new(3, 3), Terrain::WALL).expect("inside");
    app.update();
    send_crowd(&mut app, 150, 3, goal);
    assert_eq!(pool.kept().0[1], 0);
}
