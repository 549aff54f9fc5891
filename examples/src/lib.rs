//! What the examples share: where the assets are. Run them from the root with `cargo run --example NAME`.

/// The `assets` folder at the root, wherever an example is started from.
///
/// Bevy looks beside the manifest of the running package, or beside the binary if it is started directly; both are
/// elsewhere. Give this to `AssetPlugin { file_path: ASSETS.into(), ..default() }`.
pub const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");

/// The snippets of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[derive(Debug)]
pub struct Readme;

#[cfg(test)]
mod tests {
    #[test]
    fn the_assets_are_there() {
        for file in ["tile.png", "rts/tiles.png"] {
            assert!(std::path::Path::new(super::ASSETS).join(file).is_file(), "{file}");
        }
    }

    /// A game imports all of them; naming everything shows that no name means two things.
    mod all_preludes {
        use bevy::prelude::*;
        use bevy_ecs_tilemap::prelude::*;
        use bevy_wayfare::prelude::*;

        #[derive(Component, Debug)]
        #[expect(dead_code, reason = "only the names matter")]
        struct Everything(
            (
                Answer,
                Area,
                Cell,
                ChunkId,
                Class,
                Corners,
                Cost,
                CostError,
                Direction,
                Directions,
                Effort,
                Factor,
            ),
            (
                Fallback,
                Heuristic,
                Island,
                Map,
                MapError,
                MapTextError,
                Objective,
                PathQuery,
                Progress,
                QueryError,
            ),
            (
                Route,
                RouteShape,
                Rules,
                Scratch,
                Search,
                Shortfall,
                Snapshot,
                StepCosts,
                StopWhen,
                StraightLine,
            ),
            (Terrain, View, Visit, Weight, WeightError),
            (CellShape, Footing<'static>, Gait, GroundPlan, Headway, Layout, LayoutError, Obstacles, Stride),
            (
                Agent,
                Arrived,
                ClassId,
                Delivery,
                Drive,
                Facing,
                FailureReason,
                Goal,
                NavMap,
                OnMap,
                Path,
                PathFailed,
            ),
            (
                PathFound,
                PathInvalidated,
                PathRequest,
                PathfindingClock,
                PathfindingDiagnostics,
                PathfindingGizmos,
                PathfindingGizmosPlugin,
                PathfindingPlugin,
                PathfindingSettings,
                PathfindingSystems,
            ),
            (Plane, Priority, Reach, Rows, SafeVelocity, Spot, Units, WantedVelocity),
            (
                Footprint,
                LayerOf,
                Merge,
                NavLayers,
                NavTile,
                Obstacle,
                TileGrid,
                TileInfo,
                TileLayer,
                TileRules,
                TilesError,
                TilesRefused,
            ),
            (TilePos, TilemapId, TilemapSize, TilemapType, TileStorage),
        );

        fn watch(
            recorder: &mut dyn Recorder,
            snapshot: &Snapshot,
            query: &PathQuery,
        ) -> Result<Answer, QueryError> {
            find_path_recorded(snapshot, query, &mut Scratch::new(), recorder)?;
            find_path_to_nearest(snapshot, query, &[query.goal()], &mut Scratch::new())?;
            find_path(snapshot, query, &mut Scratch::new())
        }

        #[test]
        fn work_together() {
            let snapshot = Snapshot::new(&Map::new(3, 3).unwrap(), &View::default());
            let query = PathQuery::new(IVec2::ZERO, IVec2::new(2, 2));
            assert!(matches!(watch(&mut (), &snapshot, &query), Ok(Answer::Found(_))));
            let footing = Footing { snapshot: &snapshot, layout: &Layout::UNIT };
            assert_eq!(follow::slide(footing, Vec2::ONE, Vec2::X), Vec2::new(2.0, 1.0));
        }
    }
}
