//! The scenes: in comes a seed, out comes a [`Setup`]. What a scene must hold stands beside it, its measures at the top of
//! its file.

mod open;
mod walled;
mod locked;
mod london;
mod medley;
mod disc;

use glam::Vec2;

use super::bars::Bars;
use super::play::Setup;
use super::unit::{DT, SPEED};
use crate::measure::SplitMix;

pub(crate) use disc::disc;
pub(crate) use medley::medley;

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    /// Sets it up; `None` if its data is not there.
    pub(crate) make: fn(u64) -> Option<Setup>,
    pub(crate) bars: Bars,
}

/// All scenes in which units are watched from start to end.
pub(crate) const SCENES: &[Scene] = &[
    Scene { name: "circle_250", make: open::circle_250, bars: CIRCLE },
    Scene { name: "circle_1000", make: open::circle_1000, bars: CIRCLE },
    Scene { name: "columns", make: walled::columns, bars: STREAMS },
    Scene { name: "crossing", make: open::crossing, bars: STREAMS },
    Scene { name: "door_two", make: walled::door_two, bars: Bars { arrive: true, ..STREAMS } },
    Scene {
        name: "door_one",
        make: walled::door_one,
        bars: Bars { worst: Some(3.0), arrive: true, ..STREAMS },
    },
    Scene { name: "head_on_bay", make: walled::head_on_bay, bars: HEAD_ON },
    Scene { name: "head_on_bay_elsewhere", make: walled::head_on_bay_elsewhere, bars: HEAD_ON },
    Scene {
        name: "rally_500",
        make: open::rally,
        bars: Bars { residual: Some(0.02), p95_radius: Some(1.4), ..Bars::NONE },
    },
    Scene { name: "mixed_radii", make: open::mixed, bars: Bars { overlap: Some(0.25), ..CIRCLE } },
    Scene {
        name: "locked_one",
        make: locked::one,
        bars: Bars { worst: Some(1.2), arrive: true, ..Bars::NONE },
    },
    Scene {
        name: "locked_wall",
        make: locked::wall,
        bars: Bars { worst: Some(1.5), arrive: true, turned: Some(20), ..Bars::NONE },
    },
    Scene {
        name: "idle_friends",
        make: open::friends,
        bars: Bars { worst: Some(2.0), from_home: Some(3.0), ..Bars::NONE },
    },
    Scene { name: "london_walls", make: london::london, bars: Bars { arrive: true, ..Bars::NONE } },
    Scene { name: "london_mixed", make: london::london_mixed, bars: Bars { arrive: true, ..Bars::NONE } },
];

const CIRCLE: Bars = Bars { median: Some(1.5), overlap: Some(0.15), arrive: true, ..Bars::NONE };
const STREAMS: Bars = Bars { worst: Some(2.0), overlap: Some(0.2), ..Bars::NONE };
/// All must arrive, so the slower one's time counts.
const HEAD_ON: Bars = Bars { worst: Some(3.0), arrive: true, ..Bars::NONE };

/// How many steps a way of this length takes at full speed.
fn steps(length: f32) -> f64 {
    f64::from(length) / f64::from(SPEED * DT)
}

/// When to give up on a scene: far beyond the bar.
fn give_up(ideal: f64, bar: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
    let steps = (4.0 * bar * ideal).ceil() as u32;
    steps
}

/// A place beside a point, at most `by` away along either axis.
fn beside(point: Vec2, by: f32, random: &mut SplitMix) -> Vec2 {
    point + Vec2::new(random.fraction() * 2.0 - 1.0, random.fraction() * 2.0 - 1.0) * by
}

/// The places of a block of so many columns and rows around a middle.
fn block(middle: Vec2, columns: u16, rows: u16, spacing: Vec2) -> impl Iterator<Item = Vec2> {
    let first = middle - spacing * (Vec2::new(f32::from(columns), f32::from(rows)) - 1.0) / 2.0;
    let place = move |x: u16, y: u16| first + spacing * Vec2::new(f32::from(x), f32::from(y));
    (0..columns).flat_map(move |x| (0..rows).map(move |y| place(x, y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::judge;

    #[test]
    fn nobody_overlaps_anybody_or_a_wall_in_the_beginning() {
        for scene in SCENES {
            for seed in 1..=3 {
                let Some(setup) = (scene.make)(seed) else { continue };
                let units = &setup.world.units;
                assert!(judge::worst_overlap(units) <= 0.0, "{} {seed}", scene.name);
                if let Some(ground) = &setup.world.ground {
                    for unit in units {
                        let at = |place| judge::in_wall(&ground.snapshot, place, unit.radius);
                        assert!(!at(unit.position).is_violation, "{} {seed}: {unit:?}", scene.name);
                        assert!(!at(unit.goal).is_violation, "{} {seed}: {unit:?}", scene.name);
                        assert!(!unit.is_sent || !unit.points.is_empty(), "{} {seed}: no way", scene.name);
                    }
                }
                let ids: std::collections::BTreeSet<u64> = units.iter().map(|unit| unit.id).collect();
                assert_eq!(ids.len(), units.len(), "{}", scene.name);
                assert!(setup.ideal > 0.0 && f64::from(setup.cap) > setup.ideal, "{}", scene.name);
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_scene_and_another_one_does_not() {
        let hash = |seed| (SCENES[0].make)(seed).map(|setup| judge::hash(&setup.world.units));
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }
}
