//! A small real-time strategy game: select units, send them over a land of tiles, build walls in their way.
//!
//! `cargo run --release --example rts`, and press H for the keys. This page is the whole machine; each file beside it is
//! one idea. Where the library is used: `ground` makes tilemaps walkable, `units` spawns agents, `orders` asks for
//! paths, `build` changes the ground under them.

#![expect(clippy::print_stdout, reason = "--help prints")]

mod options;
mod screen;
mod terrain;
mod roads;
mod art;
mod ground;
mod units;
mod run;
mod script;
mod camera;
mod pointer;
mod minimap;
mod select;
mod formation;
mod orders;
mod build;
mod marks;
mod overlays;
mod hud;
mod report;
mod headless;
mod bridge;
mod idlers;

use std::time::Duration;

use bevy::input::InputSystems;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy::time::common_conditions::on_timer;
use bevy_ecs_tilemap::TilemapPlugin;
use bevy_wayfare::prelude::*;

use options::Options;
use script::Script;

fn main() -> AppExit {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(sentence) => return refuse(&format!("{sentence}; --help tells more")),
    };
    if options.help {
        println!("{}", options::HELP);
        return AppExit::Success;
    }
    match options.headless {
        true if options.bridge => return bridge::run(&options),
        true => return headless::run(&options),
        false => {}
    }
    match options.script.as_deref().map(Script::load).transpose() {
        Ok(script) => play(options, script),
        Err(sentence) => refuse(&sentence),
    }
}

fn refuse(sentence: &str) -> AppExit {
    eprintln!("rts: {sentence}");
    AppExit::from_code(2)
}

fn play(options: Options, script: Option<Script>) -> AppExit {
    screen::explain_if_missing();
    let window = Window { title: "Wayfare: rts".into(), resolution: (1280, 720).into(), ..default() };
    let mut app = App::new();
    app.add_plugins((
        DefaultPlugins
            .set(WindowPlugin { primary_window: Some(window), ..default() })
            // Where there are no drivers, `screen` says so; once is enough.
            .set(LogPlugin { filter: "wgpu=error,naga=warn,wgpu_hal=off,winit=error".into(), ..default() })
            .set(AssetPlugin { file_path: wayfare_examples::ASSETS.into(), ..default() })
            .set(ImagePlugin::default_nearest()),
        TilemapPlugin,
        PathfindingPlugin::default(),
        PathfindingGizmosPlugin,
    ));
    app.insert_resource(ClearColor(Color::srgb_u8(22, 26, 30)))
        .insert_resource(terrain::Land::new(options.seed))
        .insert_resource(units::Reinforcements::new(options.units.unwrap_or(24)))
        .insert_resource(run::Asked(options))
        .init_resource::<art::Art>()
        .init_resource::<run::Frames>()
        .init_resource::<pointer::Pointer>()
        .init_resource::<formation::Drill>()
        .init_resource::<select::Drag>()
        .init_resource::<select::Groups>()
        .init_resource::<overlays::ShowCosts>()
        .init_resource::<report::PlansLost>();
    if let Some(script) = script {
        let frame = TimeUpdateStrategy::ManualDuration(Duration::from_secs(1) / 60);
        app.insert_resource(script).insert_resource(frame);
    }
    add_systems(&mut app);
    app.run()
}

/// Everything that happens, in order.
fn add_systems(app: &mut App) {
    app.add_systems(
        Startup,
        (
            (art::load, ground::lay_ground, camera::spawn_camera).chain(),
            (minimap::spawn_minimap, select::spawn_selection_box, hud::spawn_hud),
            overlays::begin_without_overlays,
        ),
    );
    let script = script::play_script.run_if(resource_exists::<Script>);
    app.add_systems(PreUpdate, (run::count_frames, script).chain().before(InputSystems));
    app.add_systems(
        Update,
        (
            pointer::follow_cursor,
            (camera::pan, camera::drag, camera::zoom, minimap::steer_by_minimap, camera::place_camera)
                .chain(),
            (units::call_reinforcements, units::spawn_units).chain(),
            (select::select_by_mouse, select::select_by_keys).chain(),
            formation::change_formation,
            (orders::give_orders, orders::stop, orders::go_on, orders::close_orders).chain(),
            (build::build, build::remove, build::join_walls).chain(),
            (units::animate, units::cast_shadows, marks::pulse_markers, marks::draw_paths),
            (select::draw_selection_box, minimap::frame_view),
            minimap::paint_minimap.run_if(on_timer(Duration::from_millis(80))),
            (overlays::toggle_overlays, overlays::paint_costs).chain(),
            (hud::toggle_help, hud::update_status.run_if(on_timer(Duration::from_millis(250)))),
            (report::report_lost_plans, report::report_whereabouts, run::end),
        )
            .chain(),
    );
    app.add_observer(orders::note_arrival)
        .add_observer(orders::give_up)
        .add_observer(orders::correct_marker)
        .add_observer(marks::add_ring)
        .add_observer(marks::remove_ring)
        .add_observer(marks::mark_order)
        .add_observer(report::count_lost_plans);
}
