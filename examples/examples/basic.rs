//! Click to move: a map drawn as text, and one unit. Left click sends it, right click builds and removes walls.

use bevy::prelude::*;
use bevy::window::WindowResolution;
use bevy_wayfare::prelude::*;

const MAP: &str = "
    ........................
    .######.................
    .#....#....#............
    .#....#....#............
    ......#....#............
    .#....#....#............
    .######....########.....
    ...........#......#.....
    ......................##
    ...........#......#.....
    ...........########.....
    ........................";

fn main() {
    let resolution = WindowResolution::new(960, 480).with_scale_factor_override(1.0);
    let window = Window { title: "Wayfare: basic".into(), resolution, ..default() };
    App::new()
        .add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }))
        .add_plugins((PathfindingPlugin::default(), PathfindingGizmosPlugin))
        .add_systems(Startup, setup)
        .add_systems(Update, (give_orders, build_walls))
        .add_observer(|found: On<PathFound>| info!("on its way, which costs {}", found.cost))
        .add_observer(|_: On<PathInvalidated>| info!("something is in the way"))
        .add_observer(|failed: On<PathFailed>| info!("cannot get there: {}", failed.reason))
        .add_observer(|_: On<Arrived>| info!("arrived"))
        .run();
}

fn setup(mut commands: Commands) -> Result {
    commands.spawn(Camera2d);
    commands.spawn(NavMap::from_text(MAP)?.with_cell_size(40.0).centred());
    commands.spawn((
        Sprite::from_color(Color::srgb(1.0, 0.7, 0.2), Vec2::new(24.0, 16.0)),
        Transform::from_xyz(-460.0, 220.0, 1.0),
        Agent { radius: 12.0, speed: 200.0, turn_rate: 8.0, ..default() },
    ));
    Ok(())
}

/// Where the mouse is in the world.
fn mouse(window: &Window, (camera, transform): (&Camera, &GlobalTransform)) -> Option<Vec2> {
    camera.viewport_to_world_2d(transform, window.cursor_position()?).ok()
}

fn give_orders(
    buttons: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    unit: Single<Entity, With<Agent>>,
    mut commands: Commands,
) {
    if buttons.just_pressed(MouseButton::Left)
        && let Some(goal) = mouse(&window, *camera)
    {
        commands.entity(*unit).insert(PathRequest::to(goal));
    }
}

fn build_walls(
    buttons: Res<ButtonInput<MouseButton>>,
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    mut map: Single<&mut NavMap>,
) -> Result {
    if buttons.just_pressed(MouseButton::Right)
        && let Some(cell) = mouse(&window, *camera).and_then(|goal| map.cell_at(goal.extend(0.0)))
    {
        let is_wall = map.map().terrain(cell) == Terrain::WALL;
        map.map_mut().set(cell, if is_wall { Terrain::OPEN } else { Terrain::WALL })?;
    }
    Ok(())
}
