//! No window, no renderer, as on a server: units cross a map, a wall is built in their way, each event is printed.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::fmt::Display;
use std::time::Duration;

use bevy::app::ScheduleRunnerPlugin;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_wayfare::prelude::*;

const MAP: &str = "
    ....................
    .........#..........
    .........#......###.
    .........#......#.#.
    .........#......###.
    ....................";

fn main() -> AppExit {
    // As fast as it goes, with a pause between frames for the machine's sake.
    let runner = ScheduleRunnerPlugin::run_loop(Duration::from_millis(1));
    App::new()
        .add_plugins((MinimalPlugins.set(runner), PathfindingPlugin::default()))
        .add_systems(Startup, setup)
        .add_systems(Update, (build_wall, leave_when_done))
        .add_observer(|found: On<PathFound>, diary: Diary| {
            diary.note(found.entity, format_args!("found a path of cost {}", found.cost));
        })
        .add_observer(|lost: On<PathInvalidated>, diary: Diary| diary.note(lost.entity, "must plan again"))
        .add_observer(|failed: On<PathFailed>, diary: Diary| {
            diary.note(failed.entity, format_args!("gives up: {}", failed.reason));
        })
        .add_observer(|arrived: On<Arrived>, diary: Diary| {
            diary.note(arrived.entity, format_args!("arrived: {:?}", arrived.reach));
        })
        .run()
}

/// Prints who did what, and when.
#[derive(SystemParam)]
struct Diary<'w, 's> {
    names: Query<'w, 's, &'static Name>,
    clock: Res<'w, PathfindingClock>,
}

impl Diary<'_, '_> {
    fn note(&self, who: Entity, what: impl Display) {
        let name = self.names.get(who).map_or("somebody", Name::as_str);
        println!("{:4} {name} {what}", self.clock.tick());
    }
}

fn setup(mut commands: Commands) -> Result {
    let map = NavMap::from_text(MAP)?;
    let at = |x: i32, y: i32| map.centre((x, y)).map(Transform::from_translation).unwrap_or_default();
    let agent = Agent { speed: 12.0, ..default() };
    let scout = commands.spawn((Name::new("scout"), at(0, 0), agent, PathRequest::to(Cell::new(19, 0)))).id();
    // After somebody who moves.
    commands.spawn((Name::new("guard"), at(0, 5), agent, PathRequest::to(scout)));
    // Into a house without a door: as near as possible, and not at all.
    let house = Cell::new(17, 3);
    commands.spawn((Name::new("trader"), at(0, 2), agent, PathRequest::to(house).or_nearest()));
    commands.spawn((Name::new("thief"), at(0, 3), agent, PathRequest::to(house)));
    commands.spawn(map);
    Ok(())
}

/// Half a second into the game the upper way is closed.
fn build_wall(mut map: Single<&mut NavMap>, clock: Res<PathfindingClock>) -> Result {
    if clock.tick() >= 32 && map.map().terrain(Cell::new(9, 0)) == Terrain::OPEN {
        map.map_mut().set((9, 0), Terrain::WALL)?;
    }
    Ok(())
}

fn leave_when_done(
    orders: Query<&PathRequest>,
    clock: Res<PathfindingClock>,
    mut exit: MessageWriter<AppExit>,
) {
    if orders.is_empty() && clock.tick() > 0 {
        println!("{:4} everybody is done", clock.tick());
        exit.write(AppExit::Success);
    }
}
