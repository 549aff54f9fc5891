//! What searches read: a [`Scene`] of all maps at one moment, each a [`Place`] in the world.
//!
//! Comes in: the `NavMap`s, when they change. Goes out: an `Arc` that workers keep as long as they need it, and that
//! no edit on the main thread touches or waits for.

use std::sync::{Arc, OnceLock};

use bevy::prelude::*;
use wayfare::follow::Footing;
use wayfare::{Cell, CellShape, Clearance, Layout, Snapshot, View};

use crate::agent::ClassId;
use crate::event::FailureReason;
use crate::plane::Plane;

/// What a search has to know of a unit: of what class it is, and how much room it needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(crate) struct Kind {
    pub(crate) class: ClassId,
    pub(crate) clearance: Clearance,
}

/// One that fits into a cell.
impl From<ClassId> for Kind {
    fn from(class: ClassId) -> Self {
        Self { class, clearance: Clearance::NONE }
    }
}

/// A map as it was at one moment: where it lies, and how each class of units sees it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) map: Entity,
    pub(crate) plane: Plane,
    pub(crate) height: f32,
    pub(crate) layout: Option<Layout>,
    pub(crate) views: Vec<Arc<Snapshot>>,
    pub(crate) sizes: Sizes,
}

/// How those see a map who need more room than a cell, made when somebody first asks, which is mostly a worker. It
/// only ever grows, so that nobody has to wait for anybody who asks for another kind.
#[derive(Default, Debug)]
pub(crate) struct Sizes(OnceLock<Box<Size>>);

#[derive(Debug)]
struct Size {
    kind: Kind,
    view: OnceLock<Arc<Snapshot>>,
    others: Sizes,
}

impl Sizes {
    fn view(&self, kind: Kind, make: impl FnOnce() -> Arc<Snapshot>) -> &Arc<Snapshot> {
        let mut sizes = self;
        loop {
            let new = || Box::new(Size { kind, view: OnceLock::new(), others: Self::default() });
            let size = sizes.0.get_or_init(new);
            if size.kind == kind {
                return size.view.get_or_init(make);
            }
            sizes = &size.others;
        }
    }

    /// The view of this kind, if somebody has asked for it.
    fn known(&self, kind: Kind) -> Option<&Arc<Snapshot>> {
        let mut size = self.0.get()?;
        while size.kind != kind {
            size = size.others.0.get()?;
        }
        size.view.get()
    }

    /// The same kinds, with what a function makes of how they see the map. Whoever is just being made is left out.
    pub(crate) fn again(&self, mut change: impl FnMut(Kind, &Arc<Snapshot>) -> Arc<Snapshot>) -> Self {
        let new = Self::default();
        for (kind, view) in self.iter() {
            new.view(kind, || change(kind, view));
        }
        new
    }

    fn iter(&self) -> impl Iterator<Item = (Kind, &Arc<Snapshot>)> {
        let sizes = core::iter::successors(self.0.get(), |size| size.others.0.get());
        sizes.filter_map(|size| Some((size.kind, size.view.get()?)))
    }
}

impl Place {
    /// What kind of unit one of this class and size is here.
    pub(crate) fn kind(&self, class: ClassId, radius: f32) -> Kind {
        let square = self.layout.filter(|layout| layout.shape() == CellShape::Parallelogram);
        Kind { class, clearance: square.map_or(Clearance::NONE, |layout| Clearance::on(&layout, radius)) }
    }

    pub(crate) fn view(&self, kind: impl Into<Kind>) -> Result<&Arc<Snapshot>, FailureReason> {
        let Kind { class, clearance } = kind.into();
        let plain = self.views.get(usize::from(class.0)).ok_or(FailureReason::UnknownClass)?;
        if clearance.is_none() {
            return Ok(plain);
        }
        let make = || Arc::new(Snapshot::new(plain.map(), &View { clearance, ..plain.view().clone() }));
        Ok(self.sizes.view(Kind { class, clearance }, make))
    }

    /// Whether such a unit walks on this ground.
    pub(crate) fn shows(&self, kind: Kind, view: &Arc<Snapshot>) -> bool {
        let known = match kind.clearance.is_none() {
            true => self.views.get(usize::from(kind.class.0)),
            false => self.sizes.known(kind),
        };
        known.is_some_and(|known| known.is_of_same_ground(view))
    }

    /// How the map is seen by units of each class that fit into a cell, and by those of other sizes that have asked.
    pub(crate) fn seen(&self) -> impl Iterator<Item = (Kind, &Arc<Snapshot>)> {
        let classes = (0..=u8::MAX).map(|class| Kind::from(ClassId(class)));
        classes.zip(&self.views).chain(self.sizes.iter())
    }

    /// The same of one kind, if it has asked.
    pub(crate) fn seen_by(&self, kind: Kind) -> Option<&Arc<Snapshot>> {
        self.seen().find(|(known, _)| *known == kind).map(|(_, view)| view)
    }

    /// What a unit of this kind walks on.
    pub(crate) fn footing(&self, kind: impl Into<Kind>) -> Option<Footing<'_>> {
        let snapshot = self.view(kind).ok()?;
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
