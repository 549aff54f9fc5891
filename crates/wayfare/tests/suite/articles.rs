//! The worked examples of the classic A* articles, step by step through the recorder.

use wayfare::prelude::*;

use crate::oracle;
use crate::support::{drawn, found, searched};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    Opened,
    Reparented,
    Closed,
}

/// Everything a search did, in order.
#[derive(Default)]
struct Log(Vec<(Event, Visit)>);

impl Recorder for Log {
    fn opened(&mut self, visit: Visit) {
        self.0.push((Event::Opened, visit));
    }

    fn reparented(&mut self, visit: Visit) {
        self.0.push((Event::Reparented, visit));
    }

    fn closed(&mut self, visit: Visit) {
        self.0.push((Event::Closed, visit));
    }
}

impl Log {
    fn all(&self, event: Event) -> impl Iterator<Item = &Visit> {
        self.0.iter().filter(move |(kind, _)| *kind == event).map(|(_, visit)| visit)
    }

    fn first(&self, event: Event, cell: Cell) -> Option<&Visit> {
        self.all(event).find(|visit| visit.cell == cell)
    }
}

fn watch(map: &Map, rules: Rules, query: &PathQuery) -> (Answer, Log) {
    let snapshot = Snapshot::new(map, &rules.into());
    let mut log = Log::default();
    let answer = find_path_recorded(&snapshot, query, &mut Scratch::new(), &mut log).unwrap();
    (answer, log)
}

fn classic() -> Rules {
    Rules { costs: StepCosts::CLASSIC, ..Rules::default() }
}

#[test]
fn around_a_wall_of_three_as_the_beginners_article_draws_it() {
    let (map, start, goal) = drawn(
        ".......
         .......
         ...#...
         .S.#.G.
         ...#...
         .......
         .......",
    );
    let (answer, log) = watch(&map, classic(), &searched(start, goal).heuristic(Heuristic::Manhattan));

    let right = start.step(Direction::East);
    let visit = log.first(Event::Opened, right).unwrap();
    assert_eq!((visit.f, visit.g, visit.h, visit.parent), (40, 10, 30, Some(start)));
    let visit = log.first(Event::Opened, right.step(Direction::North)).unwrap();
    assert_eq!((visit.f, visit.g, visit.h), (54, 14, 40));
    // Above and below the right neighbour are equally good: the one added last is taken first.
    let below_right = start.step(Direction::SouthEast);
    let closed: Vec<Cell> = log.all(Event::Closed).map(|visit| visit.cell).take(3).collect();
    assert_eq!(closed, [start, right, below_right]);

    // From beside either end of the wall, the diagonal around it is refused; the way leads straight past it.
    for (beside, corner) in [((1, 1), (2, 2)), ((1, -1), (2, -2))] {
        let is_cut = |visit: &Visit| visit.cell == start + corner && visit.parent == Some(start + beside);
        assert!(log.first(Event::Closed, start + beside).is_some());
        assert!(!log.0.iter().any(|(_, visit)| is_cut(visit)));
    }
    let two_below = start + (0, 2);
    let first = log.first(Event::Opened, two_below).unwrap();
    assert_eq!((first.g, first.parent), (28, Some(below_right)));
    let better = log.first(Event::Reparented, two_below).unwrap();
    assert_eq!((better.g, better.parent), (20, Some(start + (0, 1))));

    let Answer::Found(route) = answer else { panic!("{answer:?}") };
    let (cost, _) = oracle::walk(&map, &classic().into(), route.cells());
    assert_eq!((route.cost(), cost), (68, 68));
    assert_eq!(Some(&68), oracle::distances(&map, &classic().into(), start).get(&(goal.x, goal.y)));
}

#[test]
fn the_eight_neighbours_on_a_board_of_twelve() {
    let map = Map::new(12, 12).unwrap();
    let start = Cell::new(4, 5);
    let query = searched(start, start + (4, 0)).heuristic(Heuristic::Manhattan);
    let (_, log) = watch(&map, classic(), &query);
    let neighbours: Vec<&Visit> =
        log.all(Event::Opened).filter(|visit| visit.parent == Some(start)).collect();
    let clockwise = Direction::ALL.map(|direction| start.step(direction));
    assert_eq!(neighbours.iter().map(|visit| visit.cell).collect::<Vec<_>>(), clockwise);
    let f: Vec<Cost> = neighbours.iter().map(|visit| visit.f).collect();
    // One article prints the fifth as 74, a misprint by its own formula: 14 + 10 × (3 + 1) = 54.
    assert_eq!(f, [74, 60, 54, 40, 54, 60, 74, 60]);
}

#[test]
fn dijkstra_opens_more_than_a_star() {
    let (map, start, goal) = drawn(
        "..............
         ......#.......
         ..S...#....G..
         ......#.......
         ..............",
    );
    let (by_a_star, a_star) = watch(&map, classic(), &searched(start, goal));
    let (by_dijkstra, dijkstra) = watch(&map, classic(), &searched(start, goal).heuristic(Heuristic::Zero));
    assert!(dijkstra.all(Event::Opened).count() > a_star.all(Event::Opened).count());
    assert_eq!(by_dijkstra.route().map(Route::cost), by_a_star.route().map(Route::cost));
    assert!(dijkstra.all(Event::Closed).all(|visit| visit.h == 0 && visit.f == visit.g));
}

#[test]
fn an_early_exit_may_be_dearer_than_dijkstra() {
    // The goal lies in a swamp. It is opened first by a diagonal step (14 × 9) from the cell above the wall;
    // a straight step (10 × 9) from beside it, one cell further on, is cheaper.
    let (mut map, start, goal) = drawn(
        "S...
         .#.G",
    );
    map.set(goal, Terrain::digit(9).unwrap()).unwrap();
    let snapshot = Snapshot::new(&map, &classic().into());
    let early = found(&snapshot, &searched(start, goal).stop_when(StopWhen::GoalOpened));
    let dijkstra = found(&snapshot, &searched(start, goal).heuristic(Heuristic::Zero));
    assert_eq!((early.cost(), dijkstra.cost()), (20 + 126, 30 + 90));
}

#[test]
fn manhattan_on_eight_directions_is_inexact_as_documented() {
    let mut worse = 0;
    for seed in 0..200 {
        let mut random = crate::support::Random::new(seed);
        let map = crate::support::random_map(&mut random, 14, 14, crate::support::Flora::Uniform);
        let snapshot = Snapshot::new(&map, &View::default());
        let (Some(start), goal) = (snapshot.nearest_open(Cell::default()), random.cell(&map)) else {
            continue;
        };
        if snapshot.reachable(start, goal) {
            let manhattan = found(&snapshot, &searched(start, goal).heuristic(Heuristic::Manhattan));
            let exact = found(&snapshot, &searched(start, goal));
            assert!(manhattan.cost() >= exact.cost());
            worse += u32::from(manhattan.cost() > exact.cost());
        }
    }
    assert!(worse > 0, "the warning in the docs would be idle");
}

#[test]
fn a_maze_is_solved() {
    let (map, start, goal) = drawn(
        "S#.....#...
         .#.###.#.#.
         ...#.#...#.
         ####.#####.
         .....#.....
         .#####.####
         .......#..G
         .#####.#.##
         .#...#.....
         .#.#.#####.
         ...#.......",
    );
    let rules = Rules { directions: Directions::Four, costs: StepCosts::MOVES, ..Rules::default() };
    let snapshot = Snapshot::new(&map, &rules.into());
    let route = found(&snapshot, &PathQuery::new(start, goal));
    assert_eq!(Some(&route.cost()), oracle::distances(&map, &rules.into(), start).get(&(goal.x, goal.y)));
    assert_eq!(route.cells().len() as u64, route.cost() + 1);
    let drawing = map.to_text(|cell| route.cells().contains(&cell).then_some('o'));
    assert_eq!(
        drawing,
        "o#ooooo#ooo
o#o###o#o#o
ooo#.#ooo#o
####.#####o
.....#ooooo
.#####o####
......o#ooo
.#####o#o##
.#...#ooo..
.#.#.#####.
...#......."
    );
}
