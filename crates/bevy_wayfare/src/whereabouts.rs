//! Where an entity is in the world now: worked out along its parents, not a frame old as a `GlobalTransform` may be.

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::Allow;
use bevy::ecs::system::SystemParam;
use bevy::math::Affine3A;
use bevy::prelude::*;

/// Asks transforms and parents. Ground, layers and obstacles are placed against each other by this alone, so that they fit
/// together in every run of a schedule, be transforms propagated or not.
#[derive(SystemParam)]
pub(crate) struct Placement<'w, 's> {
    entities: Query<'w, 's, (&'static Transform, Option<&'static ChildOf>), Allow<Disabled>>,
}

impl Placement<'_, '_> {
    /// From the entity's space to the world.
    pub(crate) fn affine(&self, entity: Entity) -> Affine3A {
        let mut affine = Affine3A::IDENTITY;
        let mut next = Some(entity);
        while let Some((transform, parent)) = next.and_then(|entity| self.entities.get(entity).ok()) {
            affine = transform.compute_affine() * affine;
            next = parent.map(ChildOf::parent);
        }
        affine
    }
}
