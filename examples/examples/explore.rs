//! Watch a search at work: cells opened, cells closed, and the path.
//!
//! Left click sets the goal, right click builds or removes a wall, H takes the next heuristic, P pulls the path taut.
//! `--frames N` exits after so many frames, `--screenshot FILE` saves what is shown ten frames before.

use std::collections::HashMap;
use std::sync::Arc;

use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy_wayfare::prelude::*;

const MAP: &str = "
    ................................
    ..............##................
    ....#######...##....#########...
    ..........#...##....#.......#...
    ..........#...##....#..333..#...
    ....#.....#.........#..333..#...
    ....#.....#...##.......333..#...
    ....#.....#...##....#.......#...
    ....#######...##....#########...
    ..............##................
    ......3333....##................
    ....33333333..##...######.######
    ......33333.........#...........
    ..............##....#...........
    ..............##....#...........
    ................................";
const START: Cell = Cell::new(2, 7);
const TILE: f32 = 30.0;
const NODES_PER_FRAME: u32 = 4;
const HEURISTICS: [Heuristic; 4] =
    [Heuristic::Octile, Heuristic::Euclidean, Heuristic::Zero, Heuristic::Manhattan];

/// The ground, and the search that is running on it.
#[derive(Resource)]
struct Board {
    map: Map,
    goal: Cell,
    heuristic: usize,
    shape: RouteShape,
    search: Option<Search>,
    seen: Seen,
    route: Vec<Cell>,
    verdict: String,
}

/// What the search told us, by cell.
#[derive(Default)]
struct Seen(HashMap<Cell, Stage>);

enum Stage {
    Opened,
    Closed,
}

impl Recorder for Seen {
    fn opened(&mut self, visit: Visit) {
        self.0.insert(visit.cell, Stage::Opened);
    }

    fn closed(&mut self, visit: Visit) {
        self.0.insert(visit.cell, Stage::Closed);
    }
}

#[derive(Component)]
struct Tile(Cell);

#[derive(Component)]
struct Status;

#[derive(Resource)]
struct TileImage(Handle<Image>);

fn main() -> AppExit {
    let map = Map::from_text(MAP).expect("the map above is well formed");
    let mut board = Board {
        map,
        goal: Cell::new(29, 13),
        heuristic: 0,
        shape: RouteShape::Cells,
        search: None,
        seen: Seen::default(),
        route: Vec::new(),
        verdict: String::new(),
    };
    board.restart();
    let size = Vec2::new(board.map.width() as f32, board.map.height() as f32 + 2.0) * TILE;
    let window = Window { title: "Wayfare: explore".into(), resolution: size.as_uvec2().into(), ..default() };
    App::new()
        .add_plugins(
            DefaultPlugins
                .set(WindowPlugin { primary_window: Some(window), ..default() })
                .set(AssetPlugin { file_path: wayfare_examples::ASSETS.into(), ..default() })
                .set(ImagePlugin::default_nearest()),
        )
        .insert_resource(ClearColor(Color::srgb_u8(38, 43, 51)))
        .insert_resource(board)
        .add_systems(Startup, draw_board)
        .add_systems(Update, (take_orders, run_search, paint, follow_arguments).chain())
        .run()
}

impl Board {
    fn restart(&mut self) {
        let query = PathQuery::new(START, self.goal)
            .heuristic(HEURISTICS[self.heuristic])
            .straight_line(StraightLine::Never)
            .shape(self.shape)
            .fallback(Fallback::Nearest);
        let snapshot = Arc::new(Snapshot::new(&self.map, &View::default()));
        self.search = Some(Search::new(snapshot, query, Scratch::new()));
        self.seen.0.clear();
        self.route.clear();
        self.verdict = "searching".into();
    }
}

fn draw_board(
    // Reads
    board: Res<Board>,
    assets: Res<AssetServer>,
    // Writes
    mut commands: Commands,
    mut gizmos: ResMut<GizmoConfigStore>,
) {
    gizmos.config_mut::<DefaultGizmoConfigGroup>().0.line.width = 4.0;
    let (width, height) = (board.map.width() as f32 * TILE, board.map.height() as f32 * TILE);
    // Rows of the map run downwards; the camera looks at their middle, with room for a line of text below.
    commands.spawn((Camera2d, Transform::from_xyz((width - TILE) / 2.0, -(height + TILE) / 2.0, 0.0)));
    let image = assets.load("tile.png");
    for cell in board.map.area().into_iter().flat_map(Area::cells) {
        commands.spawn((
            Tile(cell),
            Sprite { image: image.clone(), custom_size: Some(Vec2::splat(TILE)), ..default() },
            Transform::from_xyz(cell.x as f32 * TILE, -(cell.y as f32) * TILE, 0.0),
        ));
    }
    commands.insert_resource(TileImage(image));
    commands.spawn((
        Status,
        Text::default(),
        TextFont { font_size: FontSize::Px(17.0), ..default() },
        Node {
            position_type: PositionType::Absolute,
            bottom: Val::Px(20.0),
            left: Val::Px(14.0),
            ..default()
        },
    ));
}

fn take_orders(
    // Reads
    window: Single<&Window>,
    camera: Single<(&Camera, &GlobalTransform)>,
    mouse: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    // Writes
    mut board: ResMut<Board>,
) {
    let pointed =
        window.cursor_position().and_then(|cursor| camera.0.viewport_to_world_2d(camera.1, cursor).ok());
    let pointed = pointed.map(|world| Cell::from((world * Vec2::new(1.0, -1.0) / TILE).round().as_ivec2()));
    let pointed = pointed.filter(|cell| board.map.contains(*cell));
    if let Some(goal) = pointed.filter(|_| mouse.just_pressed(MouseButton::Left)) {
        board.goal = goal;
        board.restart();
    }
    if let Some(cell) = pointed.filter(|cell| mouse.just_pressed(MouseButton::Right) && *cell != START) {
        let is_wall = board.map.terrain(cell) == Terrain::WALL;
        let terrain = if is_wall { Terrain::OPEN } else { Terrain::WALL };
        board.map.set(cell, terrain).expect("the cell lies on the map");
        board.restart();
    }
    if keys.just_pressed(KeyCode::KeyH) {
        board.heuristic = (board.heuristic + 1) % HEURISTICS.len();
        board.restart();
    }
    if keys.just_pressed(KeyCode::KeyP) {
        let pulled = board.shape == RouteShape::Pulled;
        board.shape = if pulled { RouteShape::Cells } else { RouteShape::Pulled };
        board.restart();
    }
}

fn run_search(board: ResMut<Board>) {
    let board = board.into_inner();
    let Some(mut search) = board.search.take() else {
        return;
    };
    if search.run_recorded(NODES_PER_FRAME, &mut board.seen) == Progress::Running {
        board.search = Some(search);
        return;
    }
    let effort = search.effort();
    let found = match search.finish().0 {
        Ok(Answer::Found(route)) => Some((route, "found")),
        Ok(Answer::Partial { route, .. }) => Some((route, "unreachable, nearest point taken")),
        Ok(_) | Err(_) => None,
    };
    board.verdict = match &found {
        Some((route, how)) => {
            format!("{how}: length {:.1}, {} opened, {} closed", route.length(), effort.opened, effort.closed)
        }
        None => "no answer".into(),
    };
    board.route = found.map(|(route, _)| route.into_cells()).unwrap_or_default();
    info!("{:?} to {}: {}", HEURISTICS[board.heuristic], board.goal, board.verdict);
}

fn paint(
    board: Res<Board>,
    mut tiles: Query<(&Tile, &mut Sprite)>,
    mut status: Single<&mut Text, With<Status>>,
    mut gizmos: Gizmos,
) {
    let (ground, swamp) = (Color::srgb_u8(226, 228, 222), Color::srgb_u8(160, 176, 112));
    let (opened, closed) = (Color::srgb_u8(140, 196, 246), Color::srgb_u8(64, 128, 208));
    for (Tile(cell), mut sprite) in &mut tiles {
        let base = if board.map.terrain(*cell) == Terrain::OPEN { ground } else { swamp };
        sprite.color = match board.seen.0.get(cell) {
            _ if *cell == START => Color::srgb_u8(88, 196, 122),
            _ if *cell == board.goal => Color::srgb_u8(232, 96, 84),
            _ if board.map.terrain(*cell) == Terrain::WALL => Color::srgb_u8(74, 82, 96),
            Some(Stage::Opened) => base.mix(&opened, 0.5),
            Some(Stage::Closed) => base.mix(&closed, 0.6),
            None => base,
        };
    }
    let centre = |cell: &Cell| Vec2::new(cell.x as f32, -cell.y as f32) * TILE;
    gizmos.linestrip_2d(board.route.iter().map(centre), Color::srgb_u8(214, 122, 18));
    let heuristic = HEURISTICS[board.heuristic];
    status.0 = format!(
        "{heuristic:?}  |  {}\nleft click: goal   right click: wall   H: heuristic   P: pull the path taut",
        board.verdict
    );
}

/// `--frames` and `--screenshot`, and an early end if the tile cannot be loaded.
fn follow_arguments(
    // Reads
    image: Res<TileImage>,
    assets: Res<AssetServer>,
    // Local
    mut frame: Local<u32>,
    // Writes
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    let argument = |name: &str| std::env::args().skip_while(|arg| arg != name).nth(1);
    *frame += 1;
    if let LoadState::Failed(error) = assets.load_state(&image.0) {
        error!("{error}");
        exit.write(AppExit::error());
    }
    let Some(frames) = argument("--frames").and_then(|count| count.parse::<u32>().ok()) else {
        return;
    };
    if let Some(file) = argument("--screenshot").filter(|_| *frame + 10 == frames) {
        commands.spawn(Screenshot::primary_window()).observe(save_to_disk(file));
    }
    if *frame >= frames {
        exit.write(AppExit::Success);
    }
}
