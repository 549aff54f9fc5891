//! What searches read: a [`Scene`] of all maps at one moment, each a [`Place`] in the world.
//!
//! Comes in: the `NavMap`s, when they change. Goes out: an `Arc` that workers keep as long as they need it, and that
//! no edit on the main thread touches or waits for.

use std::sync::Arc;

use bevy::prelude::*;
use wayfare::follow::Footing;
use wayfare::{Cell, Layout, Snapshot};

use crate::agent::ClassId;
use crate::event::FailureReason;
use crate::plane::Plane;

/// A map as it was at one moment: where it lies, and how each class of units sees it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) map: Entity,
    pub(crate) plane: Plane,
    pub(crate) height: f32,
    pub(crate) layout: Option<Layout>,
    pub(crate) views: Vec<Arc<Snapshot>>,
}

impl Place {
    pub(crate) fn view(&self, class: ClassId) -> Result<&Arc<Snapshot>, FailureReason> {
        self.views.get(usize::from(class.0)).ok_or(FailureReason::UnknownClass)
    }

    /// What a unit of this class walks on.
    pub(crate) fn footing(&self, class: ClassId) -> Option<Footing<'_>> {
        let snapshot = self.view(class).ok()?;
        Some(Footing { snapshot, layout: self.layout.as_ref()? })
    }

    /// The cell under a point of the world, or `None` if that is outside the map.
    pub(crate) fn cell_at(&self, position: Vec3) -> Option<Cell> {
        let cell = self.layout?.cell_at(self.plane.flat(position))?;
        self.views.first()?.map().contains(cell).then_some(cell)
    }

    pub(crate) fn version(&self) -> u64 {
        self.views.first().map_or(0, |view| view.map().version())
    }
}

/// All maps at one moment, the oldest first.
#[derive(Resource, Clone, Default, Debug)]
pub(crate) struct Scene {
    pub(crate) places: Arc<Vec<Arc<Place>>>,
}

impl Scene {
    pub(crate) fn place(&self, map: Entity) -> Option<&Arc<Place>> {
        self.places.iter().find(|place| place.map == map)
    }

    /// The map under a point of the world.
    pub(crate) fn place_under(&self, position: Vec3) -> Option<&Arc<Place>> {
        let above = |place: &Arc<Place>| match place.plane {
            // There the third coordinate is only the order of drawing.
            Plane::Xy => 0.0,
            Plane::Xz => (position.y - place.height).abs(),
        };
        let under = self.places.iter().filter(|place| place.cell_at(position).is_some());
        under.min_by(|a, b| above(a).total_cmp(&above(b)))
    }
}
