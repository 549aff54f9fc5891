//! core
pub mod cell;
pub mod cost;
pub mod rules;
pub mod map;
pub mod text;
pub mod movingai;
pub mod view;
mod ground;
pub mod island;
pub mod snapshot;
pub mod query;
pub mod search;
pub mod route;
mod smooth;
pub mod record;

pub use cell::{Area, Cell, Direction};
pub use cost::{Cost, CostError, Factor, StepCosts};
pub use island::Island;
pub use map::{ChunkId, Map, MapError, Terrain};
pub use query::{
    Fallback, Heuristic, Objective, PathQuery, RouteShape, StopWhen, StraightLine, Weight, WeightError,
};
pub use record::{Effort, Recorder, Visit};
pub use route::{Answer, QueryError, Route, Shortfall};
pub use rules::{Corners, Directions, Rules};
pub use search::{Progress, Scratch, Search, find_path, find_path_recorded};
pub use snapshot::Snapshot;
pub use text::TextError;
pub use view::{Class, View};

/// Everything a user of the crate names.
pub mod prelude {
    pub use crate::{
        Answer, Area, Cell, ChunkId, Class, Corners, Cost, CostError, Direction, Directions, Effort, Factor,
        Fallback, Heuristic, Island, Map, MapError, Objective, PathQuery, Progress, QueryError, Recorder,
        Route, RouteShape, Rules, Scratch, Search, Shortfall, Snapshot, StepCosts, StopWhen, StraightLine,
        Terrain, TextError, View, Visit, Weight, WeightError, find_path, find_path_recorded,
    };
}
