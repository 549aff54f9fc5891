//! Pathfinding for Bevy.
//!
//! This crate is the Bevy side of [Wayfare](wayfare), whose searches, maps and answers it re-exports: they can be
//! used in any system as they are.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_wayfare::prelude::*;
//!
//! #[derive(Resource)]
//! struct Ground(Snapshot);
//!
//! fn plan(ground: Res<Ground>, mut scratch: Local<Scratch>) {
//!     let query = PathQuery::new(IVec2::new(0, 0), IVec2::new(5, 3));
//!     match find_path(&ground.0, &query, &mut scratch) {
//!         Ok(Answer::Found(route)) => assert_eq!(route.cells().len(), 6),
//!         other => panic!("{other:?}"),
//!     }
//! }
//!
//! let map = Map::new(16, 16).expect("a small map");
//! App::new()
//!     .insert_resource(Ground(Snapshot::new(&map, &View::default())))
//!     .add_systems(Update, plan)
//!     .update();
//! ```

pub use wayfare;

/// Everything a game names.
pub mod prelude {
    pub use wayfare::prelude::*;
}
