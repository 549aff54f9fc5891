//! One run of a scene: in comes its [`Setup`], out goes a [`Run`] with everything the judges saw.

use std::time::Duration;

use glam::Vec2;
use wayfare::avoid::OneThread;

use super::drive::{Counts, World};
use super::judge;
use super::unit::{DT, Errand, SPEED, Unit};

/// How long a rally is watched after it should have come to rest, in steps.
pub(crate) const REST: u32 = 200;

/// When a rally has to be at rest, in travel times.
pub(crate) const AT_REST: f64 = 1.5;

/// Two units closer than this touch.
const CONTACT: f32 = 0.1;

/// A trace has a point every so many steps.
pub(crate) const TRACE: u32 = 5;

/// A scene ready to run.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) world: World,
    /// The time to which others are compared, in steps.
    pub(crate) ideal: f64,
    /// The run ends after so many steps at most.
    pub(crate) cap: u32,
    /// And so many after all have arrived.
    pub(crate) linger: u32,
    pub(crate) watch: Watch,
}

/// What else to look at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Watch {
    Nothing,
    /// How a crowd comes to rest around a point.
    Rally(Vec2),
    /// How far those that stand around are from home in the end.
    Homes,
    /// When the unit whose way leads through this row of locked ones turns away.
    Row([Vec2; 2]),
}

/// What was seen. Lengths are in radii, times in steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) ideal: f64,
    pub(crate) steps: u32,
    pub(crate) t95: Option<u32>,
    pub(crate) t_all: Option<u32>,
    pub(crate) sent: usize,
    pub(crate) arrived: usize,
    pub(crate) overlap: f32,
    /// Part of full speed, mean over units, the worst while it should have been at rest.
    pub(crate) residual: Option<f32>,
    /// In radii of the ideal disc.
    pub(crate) p95_radius: Option<f32>,
    pub(crate) wall_violations: Option<usize>,
    pub(crate) wall_depth: f32,
    /// How far the farthest of those who stood around is from home.
    pub(crate) from_home: Option<f32>,
    /// From contact with the row of locked ones to turning away; `Some(None)` if it never turned.
    pub(crate) turned: Option<Option<u32>>,
    pub(crate) ns_per_unit_step: f64,
    pub(crate) counts: Counts,
}

impl Run {
    /// A time in ideal ones.
    pub(crate) fn ratio(&self, steps: Option<u32>) -> Option<f64> {
        steps.map(|steps| f64::from(steps) / self.ideal)
    }
}

/// What units did, for a picture.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// Of each unit.
    pub(crate) lines: Vec<Vec<Vec2>>,
    /// Where everybody was at half of the ideal time.
    pub(crate) half: Vec<Vec2>,
    /// The deepest overlap: where, and how deep.
    pub(crate) worst: Option<(Vec2, f32)>,
}

impl Setup {
    /// Plays the scene to its end. `traces` is filled if given.
    pub(crate) fn play(&mut self, mut traces: Option<&mut Traces>) -> Run {
        let sent = self.world.units.iter().filter(|unit| unit.is_sent).count();
        let walls = self.world.ground.is_some().then_some(0);
        let mut run = Run { ideal: self.ideal, sent, wall_violations: walls, ..Run::default() };
        let mut contact = Contact::default();
        let mut spent = Duration::ZERO;
        let mut before: Vec<Vec2> = Vec::new();
        let mut done_at = None;
        while self.world.step < self.cap && done_at.is_none_or(|step| self.world.step < step + self.linger) {
            if let Some(traces) = traces.as_deref_mut() {
                self.trace(traces);
            }
            before.clear();
            before.extend(self.world.units.iter().map(|unit| unit.position));
            self.world.step(&OneThread);
            spent += self.world.spent;
            self.look(&mut run, &before, &mut contact);
            // A rally is watched to the end.
            if done_at.is_none() && !matches!(self.watch, Watch::Rally(_)) && self.is_done() {
                done_at = Some(self.world.step);
            }
        }
        let units = &self.world.units;
        run.steps = self.world.step;
        (run.t95, run.t_all) = (judge::arrival(units, 95), judge::arrival(units, 100));
        run.arrived = units.iter().filter(|unit| unit.is_sent && unit.arrived.is_some()).count();
        run.counts = self.world.counts;
        let unit_steps = (units.len() as f64 * f64::from(run.steps)).max(1.0);
        run.ns_per_unit_step = spent.as_secs_f64() * 1e9 / unit_steps;
        self.sum_up(&mut run, contact);
        run
    }

    fn is_done(&self) -> bool {
        self.world.units.iter().all(|unit| !unit.is_sent || unit.arrived.is_some())
    }

    /// After each step.
    fn look(&self, run: &mut Run, before: &[Vec2], contact: &mut Contact) {
        let units = &self.world.units;
        run.overlap = run.overlap.max(judge::worst_overlap(units));
        if let (Some(ground), Some(violations)) = (&self.world.ground, &mut run.wall_violations) {
            for unit in units {
                let wall = judge::in_wall(&ground.snapshot, unit.position, unit.radius);
                *violations += usize::from(wall.is_violation);
                run.wall_depth = run.wall_depth.max(wall.depth);
            }
        }
        match self.watch {
            Watch::Rally(_) if f64::from(self.world.step) > AT_REST * self.ideal => {
                let moved: f32 = units.iter().zip(before).map(|(unit, at)| unit.position.distance(*at)).sum();
                let speed = moved / DT / SPEED / units.len() as f32;
                run.residual = Some(run.residual.unwrap_or(0.0).max(speed));
            }
            Watch::Row(row) => contact.look(units, row, self.world.step),
            _ => {}
        }
    }

    /// In the end.
    fn sum_up(&self, run: &mut Run, contact: Contact) {
        let units = &self.world.units;
        match self.watch {
            Watch::Nothing => {}
            Watch::Rally(centre) => {
                let away = units.iter().map(|unit| unit.position.distance(centre)).collect();
                let radius = units.first().map_or(0.0, |unit| unit.radius);
                let ideal = radius * (units.len() as f32 / 0.9).sqrt();
                run.p95_radius = judge::percentile(away, 95).map(|away| away / ideal);
            }
            Watch::Homes => {
                let standing = units.iter().filter(|unit| !unit.is_sent);
                let away = standing.map(|unit| unit.position.distance(unit.home) / unit.radius);
                run.from_home = Some(away.fold(0.0, f32::max));
            }
            Watch::Row(_) => {
                run.turned = Some(match contact.at {
                    Some(at) => contact.turned.map(|turned| turned - at),
                    // It kept clear of them all the time.
                    None => Some(0),
                });
            }
        }
    }

    fn trace(&self, traces: &mut Traces) {
        let units = &self.world.units;
        let places = || units.iter().map(|unit| unit.position);
        if self.world.step.is_multiple_of(TRACE) {
            traces.lines.resize(units.len(), Vec::new());
            traces.lines.iter_mut().zip(places()).for_each(|(line, at)| line.push(at));
        }
        if traces.half.is_empty() && f64::from(self.world.step) >= self.ideal / 2.0 {
            traces.half = places().collect();
        }
        if let Some((at, depth)) = judge::overlap_at(units)
            && traces.worst.is_none_or(|(_, worst)| depth > worst)
        {
            traces.worst = Some((at, depth));
        }
    }
}

/// A unit and a row of locked ones across its way.
#[derive(Clone, Copy, Debug, Default)]
struct Contact {
    /// When they first touched.
    at: Option<u32>,
    /// From when on its way led around them for good.
    turned: Option<u32>,
}

impl Contact {
    fn look(&mut self, units: &[Unit], row: [Vec2; 2], step: u32) {
        let Some(unit) = units.iter().find(|unit| unit.is_sent) else { return };
        let touches = |other: &Unit| {
            let gap = unit.position.distance(other.position) - unit.radius - other.radius;
            other.errand == Errand::Locked && gap < CONTACT
        };
        if self.at.is_none() && units.iter().any(touches) {
            self.at = Some(step);
        }
        let starts = core::iter::once(&unit.position).chain(unit.way());
        let leads_through = starts.zip(unit.way()).any(|(a, b)| cross([*a, *b], row));
        if leads_through {
            self.turned = None;
        } else if self.at.is_some() && self.turned.is_none() {
            self.turned = Some(step);
        }
    }
}

/// Whether two lines from point to point cross.
fn cross(a: [Vec2; 2], b: [Vec2; 2]) -> bool {
    let sides = |line: [Vec2; 2], points: [Vec2; 2]| {
        points.map(|point| (line[1] - line[0]).perp_dot(point - line[0]))
    };
    let [c, d] = sides(a, b);
    let [e, f] = sides(b, a);
    c * d < 0.0 && e * f < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cross_or_do_not() {
        let row = [Vec2::new(0.0, -1.0), Vec2::new(0.0, 1.0)];
        assert!(cross([Vec2::new(-1.0, 0.0), Vec2::new(1.0, 0.5)], row));
        assert!(!cross([Vec2::new(-1.0, 0.0), Vec2::new(1.0, 2.5)], row));
        assert!(!cross([Vec2::new(-1.0, 0.0), Vec2::new(-0.1, 0.0)], row));
    }

    #[test]
    fn a_unit_turns_away_when_its_way_does() {
        let row = [Vec2::new(1.0, -1.0), Vec2::new(1.0, 1.0)];
        let locked = Unit::locked(1, Vec2::new(1.0, 0.0));
        let mut units = [Unit::new(0, Vec2::ZERO, Vec2::new(2.0, 0.0)), locked];
        let mut contact = Contact::default();
        contact.look(&units, row, 1);
        assert!(contact.at.is_none() && contact.turned.is_none());
        units[0].position = Vec2::new(0.2, 0.0);
        contact.look(&units, row, 2);
        assert!(contact.at == Some(2) && contact.turned.is_none());
        units[0].points = vec![Vec2::new(0.0, 3.0), Vec2::new(2.0, 3.0), Vec2::new(2.0, 0.0)];
        contact.look(&units, row, 5);
        assert!(contact.at == Some(2) && contact.turned == Some(5));
    }
}
