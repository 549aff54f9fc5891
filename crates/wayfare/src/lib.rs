//! Engine-free pathfinding on grids: exact searches over maps that change, with typed answers.
//!
//! This is the core of Wayfare. It knows nothing of any engine; the crate `bevy_wayfare` brings it to Bevy.
//! Three steps lead from a map to an answer, and a fourth along it.
//!
//! # 1. Map
//!
//! A [`Map`] holds one byte of [`Terrain`] per cell, up to 16,384 × 16,384 of them. Small ones can be drawn as text:
//! `.` is open ground, `#` a wall, a digit ground that costs that much.
//!
//! ```
//! use wayfare::prelude::*;
//!
//! let mut map = Map::from_text(
//!     "......
//!      .####.
//!      ......",
//! )?;
//! map.set((2, 1), Terrain::OPEN)?; // a door
//! map.fill(Area::new((0, 2), (5, 2)), Terrain(7))?; // a terrain of the game's own
//! assert_eq!(map.version(), 2); // edits are counted, and so are those of each chunk
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What terrain means to a unit, and how the unit moves, is said by a [`View`]: a [`Class`] gives each terrain a
//! price, [`Rules`] say which steps there are and what they cost. The default view moves in 8 directions, cuts no
//! corners, and measures true lengths.
//!
//! ```
//! use wayfare::prelude::*;
//!
//! const SWAMP: Terrain = Terrain(7);
//! let hikers = View {
//!     class: Class::default().with(SWAMP, Factor::new(2.5)?),
//!     rules: Rules { corners: Corners::OneFree, costs: StepCosts::CLASSIC, ..Rules::default() },
//!     ..View::default()
//! };
//! # Ok::<(), CostError>(())
//! ```
//!
//! A unit that does not fit into a cell keeps clear of walls: its view has a [`Clearance`], and searches lead it only where its
//! disc reaches into nothing blocked.
//!
//! A [`Snapshot`] is the map seen through a view at one moment. It knows the islands, so it can say at once who
//! can reach whom. Searches read it, on any thread; the map may be edited meanwhile. After edits,
//! [`refresh`](Snapshot::refresh) it.
//!
//! ```
//! use wayfare::prelude::*;
//!
//! let mut map = Map::new(300, 200)?;
//! let mut snapshot = Snapshot::new(&map, &View::default());
//! map.fill(Area::new((150, 0), (150, 199)), Terrain::WALL)?;
//! snapshot.refresh(&map);
//! assert!(!snapshot.reachable(Cell::new(0, 0), Cell::new(299, 0)));
//! # Ok::<(), MapError>(())
//! ```
//!
//! What makes searches faster is found out by a [`Survey`], on a thread of its own, and [learned](Snapshot::learn) by the
//! snapshot when it is there. Levels that do not change between two starts keep it in a file, together with the islands:
//! [`Snapshot::bake`] makes one when the level is made, and [`Snapshot::from_bytes`] a snapshot that knows all at every start.
//! Routes between places that are asked for all day can be found beforehand, too: see [`Places`] and [`Scout`].
//!
//! Games whose ground is made of tiles lay them over each other as [`Sheet`]s of a [`Mosaic`], which says what terrain
//! each cell gets and which cells a tile has a say in. What stands on the ground and may go away again is laid over it
//! with [`Obstacles`]; a [`GroundPlan`] knows the cells that a body covers.
//!
//! # 2. Query
//!
//! A [`PathQuery`] is a start, a goal, and what the articles teach as options: heuristics, their weight, when to stop,
//! turn costs, fewest bends, the shape of the route. The defaults find the cheapest path; [`query`] says
//! which options keep it so.
//!
//! [`find_path`] answers it in one call. The [`Scratch`] is working memory: keep it, and searches allocate
//! nothing once it is warm.
//!
//! ```
//! use wayfare::prelude::*;
//!
//! let map = Map::from_text(
//!     "....#...
//!      .##.#.#.
//!      ..#...#.",
//! )?;
//! let snapshot = Snapshot::new(&map, &View::default());
//! let mut scratch = Scratch::new();
//! let query = PathQuery::new((0, 2), (7, 2)).shape(RouteShape::Corners);
//! let answer = find_path(&snapshot, &query, &mut scratch)?;
//! # assert!(matches!(answer, Answer::Found(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With several goals, be they wells, shelters or the cells around a foe, [`find_path_to_nearest`] goes to the one that
//! is cheapest to reach, and takes one search for it.
//!
//! ```
//! use wayfare::prelude::*;
//!
//! let map = Map::from_text(
//!     ".....
//!      .####
//!      .....",
//! )?;
//! let snapshot = Snapshot::new(&map, &View::default());
//! let (behind_the_wall, around_the_corner) = (Cell::new(4, 2), Cell::new(0, 1));
//! let wells = [behind_the_wall, around_the_corner];
//! let query = PathQuery::new((4, 0), (4, 0)); // its own goal does not count
//! let answer = find_path_to_nearest(&snapshot, &query, &wells, &mut Scratch::new())?;
//! assert_eq!(answer.route().and_then(|route| route.cells().last()), Some(&around_the_corner));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Search`] answers the same query a few nodes at a time, so that a long one can be spread over frames, moved to
//! another thread, or dropped. A [`Recorder`] watches either of them cell by cell.
//!
//! Many who go to the same place at the same time, or to the nearest of the same places, are a [`Convoy`]: each gets a cheapest
//! path of its own, and one [`Field`] finds them all where that takes less than a search for each.
//!
//! # 3. Answer
//!
//! What can happen in a game is an [`Answer`]; what only a mistake can cause is a [`QueryError`]. Nothing panics.
//!
//! ```
//! use wayfare::prelude::*;
//!
//! let map = Map::from_text(
//!     "...#.
//!      ...#.",
//! )?;
//! let snapshot = Snapshot::new(&map, &View::default());
//! let mut scratch = Scratch::new();
//! let mut ask = |query: PathQuery| find_path(&snapshot, &query, &mut scratch);
//!
//! // A route: its cells, and what they cost.
//! let Ok(Answer::Found(route)) = ask(PathQuery::new((0, 0), (2, 1))) else { panic!() };
//! assert_eq!(route.cells().len(), 3);
//! assert_eq!(map.to_text(|cell| route.cells().contains(&cell).then_some('o')), "o..#.\n.oo#.");
//!
//! // No way there: the islands say so without a search, and name the nearest cell that can be reached.
//! let nearest = Cell::new(2, 0);
//! assert_eq!(ask(PathQuery::new((0, 0), (4, 0))), Ok(Answer::Unreachable { nearest }));
//!
//! // Go as far as possible instead.
//! let Ok(Answer::Partial { route, .. }) = ask(PathQuery::new((0, 0), (4, 0)).fallback(Fallback::Nearest)) else {
//!     panic!()
//! };
//! assert_eq!(route.cells().last(), Some(&nearest));
//!
//! // A question that cannot be asked of this map.
//! assert_eq!(ask(PathQuery::new((0, 0), (9, 9))), Err(QueryError::GoalOutside(Cell::new(9, 9))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 4. Walk
//!
//! A [`Layout`] says where the grid lies in the plane of the game. [`follow::lay`] turns the cells of a route into
//! points there, and [`follow::walk`] moves a unit along them for a span of time: smoothly around corners, never through
//! a wall, at any frame rate to the same place.
//!
//! ```
//! use glam::Vec2;
//! use wayfare::prelude::*;
//!
//! let mut map = Map::from_text(
//!     "...#.
//!      .....",
//! )?;
//! let mut snapshot = Snapshot::new(&map, &View::default());
//! let layout = Layout::square(32.0)?;
//! let footing = Footing { snapshot: &snapshot, layout: &layout };
//!
//! let (from, to) = (Vec2::new(10.0, 20.0), Vec2::new(150.0, 12.0));
//! let (Some(start), Some(goal)) = (layout.cell_at(from), layout.cell_at(to)) else { panic!() };
//! let query = PathQuery::new(start, goal).shape(RouteShape::Pulled);
//! let Answer::Found(route) = find_path(&snapshot, &query, &mut Scratch::new())? else { panic!() };
//! let mut points = Vec::new();
//! follow::lay(footing, route.cells(), Some(from), Some(to), &mut points);
//!
//! let gait = Gait { speed: 50.0, turn_rate: 6.0, ..Gait::default() };
//! let (mut position, mut heading, mut headway) = (from, 0.0, Headway::default());
//! let mut ticks = 0;
//! loop {
//!     let stride = follow::walk(footing, &points, &mut headway, position, heading, &gait, 1.0 / 64.0);
//!     (position, heading) = (stride.position, stride.heading);
//!     ticks += 1;
//!     if stride.arrived || stride.blocked {
//!         break;
//!     }
//! }
//! assert_eq!(position, to);
//! assert!(ticks < 4 * 64);
//!
//! // After edits, ask whether the rest of the way is still as good; if not, search again.
//! let before = snapshot.clone();
//! map.set((2, 1), Terrain::WALL)?;
//! snapshot.refresh(&map);
//! let footing = Footing { snapshot: &snapshot, layout: &layout };
//! assert!(follow::is_worse(footing, &before, &points, from));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where other units push, [`follow::slide`] moves a body by what they ask for, as far as walls allow.
//!
//! # 5. Crowds
//!
//! Searches know nothing of other units. A [`Crowd`](avoid::Crowd) takes what all of them want and says what is safe:
//! where each is after a step, clear of walls and of the others, and what to do about its way if it gets no farther.
//!
//! ```
//! use glam::Vec2;
//! use wayfare::avoid::{Body, Crowd, CrowdSettings, OneThread};
//!
//! let body = |id, x: f32, wanted| Body { id, position: Vec2::new(x, 0.0), wanted, ..Body::default() };
//! let mut bodies = [body(1, 0.0, Vec2::X * 3.0), body(2, 8.0, Vec2::X * -3.0)];
//! let mut crowd = Crowd::new();
//! let mut closest = f32::INFINITY;
//! for _ in 0..100 {
//!     crowd.clear();
//!     bodies.iter().for_each(|body| crowd.push(*body));
//!     crowd.step(&CrowdSettings::default(), 1.0 / 20.0, &[], &OneThread);
//!     for (body, outcome) in bodies.iter_mut().zip(crowd.outcomes()) {
//!         (body.position, body.velocity, body.memory) = (outcome.position, outcome.velocity, outcome.memory);
//!     }
//!     closest = bodies[0].position.distance(bodies[1].position).min(closest);
//! }
//! // They have passed each other, each on its right.
//! assert!(bodies[0].position.x > 8.0 && bodies[1].position.x < 0.0);
//! assert!(closest > 0.79);
//! ```
//!
//! To send many units to one place, [`group`] takes one search for all of them, gives each a place of its own, and keeps a
//! [`Formation`] on the way.
//!
//! # Promises
//!
//! - **Exact**: with the default options the path is a cheapest one. Costs are whole numbers and cannot overflow;
//!   [`cost`] says why.
//! - **Repeatable**: the same map and query give the same answer, on every machine and with any number of threads.
//!   Walking is made of floats, whose sines may differ in the last digit between machines.
//! - **Frugal**: a map takes a byte per cell, islands at most two more, the bits that jumps read three quarters of one, shared
//!   between snapshots where nothing changed; a survey takes 1 to 5 on maps of games ([`Survey::bytes`]). The scratch grows
//!   with the cells a search touches, 16 bytes each, not with the map (a field over even ground takes 10); only a search
//!   for the fewest bends keeps more, for every way it tries, and one along a survey a number for each block of the map.

pub mod cell;
pub mod cost;
pub mod rules;
mod pages;
pub mod map;
mod open;
pub mod text;
pub mod movingai;
pub mod view;
pub mod clearance;
mod onward;
mod sieve;
mod ground;
mod turns;
mod bits;
pub mod island;
pub mod snapshot;
pub mod bake;
pub mod survey;
mod landmark;
pub mod outline;
pub mod query;
pub mod search;
pub mod route;
mod smooth;
pub mod places;
pub mod scout;
pub mod record;
pub mod layout;
pub mod mosaic;
pub mod plan;
pub mod obstacle;
mod sight;
pub mod follow;
pub mod avoid;
pub mod group;

pub use bake::BakeError;
pub use cell::{Area, Cell, Direction};
pub use clearance::Clearance;
pub use cost::{Cost, CostError, Factor, StepCosts};
pub use follow::{Footing, Gait, Headway, Stride};
pub use group::Formation;
pub use island::Island;
pub use layout::{CellShape, Layout, LayoutError};
pub use map::{ChunkId, Map, MapError, Terrain};
pub use mosaic::{Merge, Mosaic, Sheet, Skew};
pub use obstacle::Obstacles;
pub use outline::Edge;
pub use places::Places;
pub use plan::GroundPlan;
pub use query::{
    Fallback, Gear, Heuristic, Objective, PathQuery, RouteShape, StopWhen, StraightLine, Weight, WeightError,
};
pub use record::{Effort, Recorder, Visit};
pub use route::{Answer, QueryError, Route, Shortfall, Steps};
pub use rules::{Corners, Directions, Rules};
pub use scout::Scout;
pub use search::{
    Convoy, Field, Progress, Scratch, Search, find_path, find_path_recorded, find_path_to_nearest,
};
pub use snapshot::{Snapshot, SnapshotBytes};
pub use survey::{Survey, SurveyBytes, Surveyor};
pub use text::MapTextError;
pub use view::{Class, View};

/// Everything a user of the crate names.
pub mod prelude {
    pub use crate::{
        Answer, Area, BakeError, Cell, CellShape, ChunkId, Class, Clearance, Convoy, Corners, Cost,
        CostError, Direction, Directions, Effort, Factor, Fallback, Field, Footing, Formation, Gait, Gear,
        GroundPlan, Headway, Heuristic, Island, Layout, LayoutError, Map, MapError, MapTextError, Objective,
        Obstacles, PathQuery, Places, Progress, QueryError, Recorder, Route, RouteShape, Rules, Scout,
        Scratch, Search, Shortfall, Snapshot, SnapshotBytes, StepCosts, Steps, StopWhen, StraightLine,
        Stride, Survey, SurveyBytes, Surveyor, Terrain, View, Visit, Weight, WeightError, find_path,
        find_path_recorded, find_path_to_nearest, follow, group,
    };
}
