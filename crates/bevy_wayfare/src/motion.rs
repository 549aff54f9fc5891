//! Where units are and how they move: velocities that others may read or change, and the `Transform` that is drawn.
//!
//! Comes in: [`SafeVelocity`]. Goes out: the `Transform`. On a fixed schedule the unit's true position is kept apart from the
//! drawn one, which lies between the last two steps, so that movement is smooth at any frame rate. Before the next
//! step, and for everything else that runs in it, the `Transform` is the true one again.

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use wayfare::avoid::{Disc, push};

use crate::agent::{Agent, Facing};
use crate::life::{arrive, leads_on};
use crate::path::Path;
use crate::plane::Plane;
use crate::queue::Desk;
use crate::request::PathRequest;
use crate::scene::Scene;

/// Where a unit wants to go, in units of the world per second: along its path. Zero when there is none.
#[derive(Component, Reflect, Clone, Copy, PartialEq, Default, Debug)]
#[reflect(Component, Default, Clone, PartialEq, Debug)]
pub struct WantedVelocity(pub Vec3);

/// Where it goes: what it wants, after everybody who has a say has changed it. A game that moves bodies itself, with
/// a physics engine for example, reads this and builds the plugin
/// [`without_moving`](crate::PathfindingPlugin::without_moving).
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// #[derive(Component)]
/// struct Body {
///     velocity: Vec3,
/// }
///
/// fn drive(mut bodies: Query<(&SafeVelocity, &mut Body)>) {
///     for (safe, mut body) in &mut bodies {
///         body.velocity = safe.0;
///     }
/// }
///
/// App::new()
///     .add_plugins((MinimalPlugins, PathfindingPlugin::default().without_moving()))
///     .add_systems(FixedUpdate, drive.after(PathfindingSystems::Move))
///     .update();
/// ```
#[derive(Component, Reflect, Clone, Copy, PartialEq, Default, Debug)]
#[reflect(Component, Default, Clone, PartialEq, Debug)]
pub struct SafeVelocity(pub Vec3);

/// The true position of a unit on its way.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) stage: Stage,
    /// The plane it moves on.
    pub(crate) plane: Plane,
    pub(crate) position: Vec2,
    pub(crate) heading: f32,
    /// Before the last step.
    before: Vec2,
    heading_before: f32,
    /// After the next step, if nobody changes the velocity.
    pub(crate) planned: Vec2,
    pub(crate) planned_heading: f32,
    /// Whether that is the end of the path.
    pub(crate) arrives: bool,
    /// The velocity of the step that is planned. If it is another one by then, somebody else has a say.
    pub(crate) safe: Vec3,
    /// For the next step its formation says where it goes, not its path.
    pub(crate) marching: bool,
    /// How far it still has to go, if its formation says so.
    pub(crate) to_go: Option<f32>,
    /// The speed it must not exceed, so as not to leave its group behind.
    pub(crate) pace: f32,
    /// What the transform was last set to. If it is something else now, somebody else moved the unit.
    written: Vec3,
}

impl Default for Motion {
    fn default() -> Self {
        Self {
            stage: Stage::Still,
            plane: Plane::default(),
            position: Vec2::ZERO,
            heading: 0.0,
            before: Vec2::ZERO,
            heading_before: 0.0,
            planned: Vec2::ZERO,
            planned_heading: 0.0,
            arrives: false,
            safe: Vec3::ZERO,
            marching: false,
            to_go: None,
            pace: f32::INFINITY,
            // Nothing has been written yet, and this equals nothing.
            written: Vec3::NAN,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Stage {
    #[default]
    Still,
    Walking,
    /// Moved by others, or by the game, though it has no path.
    Drifting,
    /// Drawn on its last step.
    Settling,
    /// Has not moved, and is to look whether it can stand where it does.
    Looking,
}

impl Stage {
    /// Whether the transform is the plugin's to write.
    pub(crate) fn is_moving(self) -> bool {
        matches!(self, Self::Walking | Self::Drifting | Self::Settling)
    }
}

impl Motion {
    /// Sets out from where the unit stands, or goes on if it is walking.
    pub(crate) fn set_out(&mut self, plane: Plane, at: &WhereaboutsItem<'_, '_>, facing: Facing) {
        if !self.stage.is_moving() || self.plane != plane {
            // If the transform is what was last written, the true position is known better than any transform says.
            if self.plane != plane || at.transform.translation != self.written {
                self.jump(plane.flat(at.position()));
            }
            self.plane = plane;
            if facing == Facing::Turns {
                self.heading = plane.angle(at.rotation());
            }
            self.heading_before = self.heading;
            self.written = at.transform.translation;
        }
        self.stage = Stage::Walking;
    }

    /// Gives in to others.
    pub(crate) fn drift(&mut self, plane: Plane, at: &WhereaboutsItem<'_, '_>, facing: Facing) {
        self.set_out(plane, at, facing);
        self.stage = Stage::Drifting;
    }

    /// Walks its own path, at its own pace.
    pub(crate) fn leave_group(&mut self) {
        (self.marching, self.to_go, self.pace) = (false, None, f32::INFINITY);
    }

    pub(crate) fn halt(&mut self) {
        if self.stage == Stage::Walking {
            self.stage = Stage::Settling;
        }
    }

    /// Comes to rest, though perhaps it has not moved.
    pub(crate) fn settle(&mut self) {
        self.stage = if self.stage.is_moving() { Stage::Settling } else { Stage::Looking };
    }

    /// Stands where it is, and is drawn there.
    pub(crate) fn rest(&mut self) {
        self.jump(self.position);
        self.heading_before = self.heading;
        self.stage = Stage::Still;
    }

    fn jump(&mut self, position: Vec2) {
        (self.position, self.before) = (position, position);
    }

    /// Takes over what somebody else has done to the transform since it was written. Returns whether that is anything.
    pub(crate) fn adopt(&mut self, translation: Vec3, parent: Option<&GlobalTransform>) -> bool {
        let plane = self.plane;
        if plane.flat(translation) == plane.flat(self.written) {
            return false;
        }
        let world = |local: Vec3| plane.flat(parent.map_or(local, |parent| parent.transform_point(local)));
        let (now, was) = (world(translation), world(self.written));
        if !now.is_finite() {
            return false;
        }
        let moved = now - was;
        let step = self.position - self.before;
        // A nudge moves the unit from where it truly is; the transform may show it a step behind. Being put somewhere
        // else is meant as it is.
        if moved.length_squared() <= 4.0 * step.length_squared() {
            self.position += moved;
            self.before += moved;
        } else {
            self.jump(now);
        }
        self.written = translation;
        true
    }

    fn write(&mut self, body: &mut Body<'_>, position: Vec2, heading: f32, facing: Facing) {
        let world = self.plane.at_height(position, self.plane.height(body.world()));
        let rotation = (facing == Facing::Turns).then(|| self.plane.rotation(heading));
        if let Some(written) = body.place(world, rotation) {
            self.written = written;
        }
    }
}

/// How many units are on their way. When none is, nothing is looked at.
#[derive(Resource, Default, Debug)]
pub(crate) struct Walkers(pub(crate) usize);

pub(crate) fn anybody_walks(walkers: Res<Walkers>) -> bool {
    walkers.0 > 0
}

/// Where an entity is in the world, be it a child or not.
#[derive(QueryData)]
pub(crate) struct Whereabouts {
    transform: &'static Transform,
    global: Option<&'static GlobalTransform>,
    child: Has<ChildOf>,
}

impl WhereaboutsItem<'_, '_> {
    pub(crate) fn position(&self) -> Vec3 {
        match self.global {
            Some(global) if self.child => global.translation(),
            _ => self.transform.translation,
        }
    }

    fn rotation(&self) -> Quat {
        match self.global {
            Some(global) if self.child => global.rotation(),
            _ => self.transform.rotation,
        }
    }
}

/// A transform to be written, in the space of its parent.
struct Body<'a> {
    transform: Mut<'a, Transform>,
    parent: Option<&'a GlobalTransform>,
}

impl Body<'_> {
    fn world(&self) -> Vec3 {
        match self.parent {
            Some(parent) => parent.transform_point(self.transform.translation),
            None => self.transform.translation,
        }
    }

    /// Returns what it wrote: nothing if the parent is so that no place in it is that one.
    fn place(&mut self, world: Vec3, rotation: Option<Quat>) -> Option<Vec3> {
        let (translation, rotation) = match self.parent {
            Some(parent) => (
                parent.affine().inverse().transform_point3(world),
                rotation.map(|rotation| parent.rotation().inverse() * rotation),
            ),
            None => (world, rotation),
        };
        let rotation = rotation.unwrap_or(self.transform.rotation);
        if !translation.is_finite() || !rotation.is_finite() {
            return None;
        }
        let new = Transform { translation, rotation, scale: self.transform.scale };
        self.transform.set_if_neq(new);
        Some(translation)
    }
}

/// Makes the transform the true one again; where somebody else has moved the unit, that is true.
pub(crate) fn recall_positions(
    // Reads
    parents: Query<&GlobalTransform>,
    // Writes
    mut units: Query<(&Agent, &mut Motion, &mut Transform, Option<&ChildOf>)>,
) {
    for (agent, mut motion, transform, child) in &mut units {
        if !motion.stage.is_moving() {
            continue;
        }
        let parent = child.and_then(|child| parents.get(child.parent()).ok());
        motion.adopt(transform.translation, parent);
        // If nobody takes the next step, it is not drawn on the last one again.
        (motion.before, motion.heading_before) = (motion.position, motion.heading);
        let (position, heading) = (motion.position, motion.heading);
        motion.write(&mut Body { transform, parent }, position, heading, agent.facing);
    }
}

/// Takes the transform for true: the game moves bodies itself.
pub(crate) fn take_positions(mut units: Query<(&mut Motion, Whereabouts)>) {
    for (mut motion, at) in &mut units {
        let position = motion.plane.flat(at.position());
        if motion.stage != Stage::Still && position.is_finite() {
            motion.jump(position);
            motion.heading = motion.planned_heading;
        }
    }
}

/// Takes each unit a step along its safe velocity. What was planned is walked exactly; another velocity stops at walls
/// and slides along them.
pub(crate) fn move_units(
    // Reads
    time: Res<Time>,
    scene: Res<Scene>,
    parents: Query<&GlobalTransform>,
    // Writes
    mut units: Query<(
        Entity,
        &Agent,
        Option<&PathRequest>,
        &mut Path,
        &mut Motion,
        &SafeVelocity,
        &mut Transform,
        Option<&ChildOf>,
    )>,
    mut desk: ResMut<Desk>,
    mut commands: Commands,
) {
    let dt = time.delta_secs();
    for (entity, agent, request, mut path, mut motion, safe, transform, child) in &mut units {
        if !matches!(motion.stage, Stage::Walking | Stage::Drifting) {
            continue;
        }
        let parent = child.and_then(|child| parents.get(child.parent()).ok());
        let pushed = motion.adopt(transform.translation, parent);
        let as_planned = safe.0 == motion.safe && !pushed;
        (motion.before, motion.heading_before) = (motion.position, motion.heading);
        motion.heading = motion.planned_heading;
        motion.position = if as_planned {
            motion.planned
        } else {
            let place = path.map.and_then(|map| scene.place(map));
            let disc = Disc { centre: motion.position, radius: agent.radius };
            match place.and_then(|place| place.footing(path.kind)) {
                Some(footing) => push(footing, disc, motion.plane.flat(safe.0) * dt),
                None => motion.position,
            }
        };
        let (position, heading) = (motion.position, motion.heading);
        motion.write(&mut Body { transform, parent }, position, heading, agent.facing);
        if motion.stage != Stage::Walking {
            continue;
        }
        // One that was steered is there when it is near enough.
        let is_near = |end: Vec2| end.distance(position) <= agent.arrival_radius;
        let steered_there = !as_planned && path.end().is_some_and(is_near) && path.points().len() <= 1;
        if (as_planned && motion.arrives) || steered_there {
            let goes_on = leads_on(request, &scene, &path, &motion, agent);
            arrive(entity, &mut path, &mut motion, goes_on, &mut desk, &mut commands);
        }
    }
}

/// Draws each unit between its last two steps.
pub(crate) fn draw_between_steps(
    // Reads
    time: Res<Time<Fixed>>,
    parents: Query<&GlobalTransform>,
    // Writes
    mut units: Query<(&Agent, &mut Motion, &mut Transform, Option<&ChildOf>)>,
) {
    let part = time.overstep_fraction();
    for (agent, mut motion, transform, child) in &mut units {
        if !motion.stage.is_moving() {
            continue;
        }
        let parent = child.and_then(|child| parents.get(child.parent()).ok());
        let mut body = Body { transform, parent };
        // Moved by somebody else since the step: that is where it is drawn.
        if motion.adopt(body.transform.translation, parent) {
            continue;
        }
        let position = motion.before.lerp(motion.position, part);
        let turn = Rot2::radians(motion.heading_before).slerp(Rot2::radians(motion.heading), part);
        motion.write(&mut body, position, turn.as_radians(), agent.facing);
    }
}
