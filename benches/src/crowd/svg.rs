//! Pictures: in come the traces of a run, out goes an SVG file that shows a person what figures do not.
//!
//! Walls are grey, traces run from a dot to where the unit ended, a ring is where it was at half of the ideal time. The
//! colour is the direction from start to goal. Locked units are black, those that stand around grey. A cross marks the
//! deepest overlap.

use core::fmt::Write;

use glam::Vec2;
use wayfare::prelude::Area;

use super::drive::World;
use super::play::Traces;
use super::unit::{Errand, Unit};

/// The longer side of the picture.
const SIDE: f32 = 1200.0;

/// Of many units only so many leave a trace.
const LINES: usize = 250;

/// Draws a run.
pub(crate) fn draw(world: &World, traces: &Traces) -> String {
    let frame = Frame::around(world, traces);
    let size = (frame.high - frame.low) * frame.scale;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"{1:.0}\" viewBox=\"0 0 {0:.0} {1:.0}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        size.x, size.y
    );
    walls(&mut text, &frame, world);
    let stride = world.units.len().div_ceil(LINES).max(1);
    for (index, (unit, line)) in world.units.iter().zip(&traces.lines).enumerate() {
        if index % stride == 0 || !unit.is_sent {
            trace(&mut text, &frame, unit, line);
        }
    }
    for (unit, at) in world.units.iter().zip(&traces.half) {
        disc(&mut text, &frame, *at, unit, &format!("fill=\"none\" stroke=\"{}\"", colour(unit)));
    }
    for unit in &world.units {
        let fill = format!("fill=\"{}\" fill-opacity=\"0.5\"", colour(unit));
        disc(&mut text, &frame, unit.position, unit, &fill);
    }
    if let Some((at, depth)) = traces.worst.filter(|(_, depth)| *depth > 0.0) {
        let Vec2 { x, y } = frame.place(at);
        put(
            &mut text,
            format_args!(
                "<path d=\"M{:.1} {:.1}l12 12m0 -12l-12 12\" stroke=\"red\"><title>{depth:.3}</title></path>\n",
                x - 6.0,
                y - 6.0
            ),
        );
    }
    text + "</svg>\n"
}

/// What of the plane is seen, and how large.
struct Frame {
    low: Vec2,
    high: Vec2,
    scale: f32,
}

impl Frame {
    fn around(world: &World, traces: &Traces) -> Self {
        let area = world.ground.as_ref().and_then(|ground| ground.snapshot.map().area());
        let corners = area.map(|area| {
            let [min, max] = [area.min(), area.max()].map(|cell| glam::IVec2::from(cell).as_vec2());
            [min, max + 1.0]
        });
        let places = traces.lines.iter().flatten().copied();
        let places = places.chain(world.units.iter().map(|unit| unit.position));
        let (low, high) = places
            .chain(corners.into_iter().flatten())
            .filter(|place| place.is_finite())
            .fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(low, high), place| {
                (low.min(place), high.max(place))
            });
        let (low, high) = (low - 1.0, high + 1.0);
        Self { low, high, scale: SIDE / (high - low).max_element() }
    }

    /// Up is up.
    fn place(&self, point: Vec2) -> Vec2 {
        Vec2::new(point.x - self.low.x, self.high.y - point.y) * self.scale
    }
}

/// A rectangle for each run of blocked cells in a row.
fn walls(text: &mut String, frame: &Frame, world: &World) {
    let Some(ground) = &world.ground else { return };
    let mut run: Option<(Vec2, f32)> = None;
    let mut finish = |run: &mut Option<(Vec2, f32)>| {
        if let Some((start, length)) = run.take() {
            let Vec2 { x, y } = frame.place(start + Vec2::Y);
            let (width, height) = (length * frame.scale, frame.scale);
            put(
                text,
                format_args!(
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#999\"/>\n"
                ),
            );
        }
    };
    for cell in ground.snapshot.map().area().into_iter().flat_map(Area::cells) {
        let place = glam::IVec2::from(cell).as_vec2();
        if ground.snapshot.is_open(cell) {
            finish(&mut run);
        } else if let Some((_, length)) =
            run.as_mut().filter(|(start, length)| *start + Vec2::X * *length == place)
        {
            *length += 1.0;
        } else {
            finish(&mut run);
            run = Some((place, 1.0));
        }
    }
    finish(&mut run);
}

fn trace(text: &mut String, frame: &Frame, unit: &Unit, line: &[Vec2]) {
    let Some(start) = line.first() else { return };
    let Vec2 { x, y } = frame.place(*start);
    let colour = colour(unit);
    put(text, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.5\" fill=\"{colour}\"/>\n"));
    put(text, format_args!("<polyline fill=\"none\" stroke-width=\"0.7\" stroke=\"{colour}\" points=\""));
    for place in line.iter().chain([&unit.position]) {
        let Vec2 { x, y } = frame.place(*place);
        put(text, format_args!("{x:.1},{y:.1} "));
    }
    put(text, format_args!("\"/>\n"));
}

fn disc(text: &mut String, frame: &Frame, at: Vec2, unit: &Unit, look: &str) {
    let Vec2 { x, y } = frame.place(at);
    let radius = unit.radius * frame.scale;
    put(text, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" {look}/>\n"));
}

/// By direction, so that streams and lanes are seen.
fn colour(unit: &Unit) -> String {
    match unit.errand {
        Errand::Locked => "black".into(),
        _ if !unit.is_sent => "#777".into(),
        _ => {
            let hue = (unit.goal - unit.home).to_angle().to_degrees().rem_euclid(360.0);
            format!("hsl({hue:.0},75%,42%)")
        }
    }
}

fn put(text: &mut String, what: core::fmt::Arguments<'_>) {
    // A string takes everything.
    let written = text.write_fmt(what);
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::super::scenes::medley;
    use super::*;

    #[test]
    fn a_picture_shows_walls_and_everybody() {
        let mut world = medley(1);
        let mut traces = Traces::default();
        for _ in 0..3 {
            traces.lines.resize(world.units.len(), Vec::new());
            for (line, unit) in traces.lines.iter_mut().zip(&world.units) {
                line.push(unit.position);
            }
            world.step(&wayfare::avoid::OneThread);
        }
        let text = draw(&world, &traces);
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
        assert!(text.contains("fill=\"#999\"") && text.contains("black"));
        assert_eq!(text.matches("<polyline").count(), world.units.len());
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }
}
