//! The ground: a [`NavMap`] on an entity owns the core's [`Map`] and says where in the world it lies.
//!
//! Comes in: a map, edits, the entity's transform. Goes out: a `Place` for searches to read.

use std::sync::Arc;

use bevy::prelude::*;
use wayfare::{Cell, Class, Layout, Map, MapTextError, Rules, Scratch, Snapshot, View};

use crate::agent::ClassId;
use crate::event::FailureReason;
use crate::path::Path;
use crate::plan::{Aim, Aims, Plan, Wish};
use crate::plane::Plane;
use crate::request::PathOptions;
use crate::scene::Place;

/// A map units walk on. Several may exist; each unit uses the one under it, or the one it names with
/// [`OnMap`](crate::OnMap).
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn setup(mut commands: Commands) -> Result {
///     let map = NavMap::from_text(
///         "........
///          .####.3.
///          ....#.3.",
///     )?;
///     commands.spawn(map.with_cell_size(32.0).centred());
///     Ok(())
/// }
///
/// fn build_wall(mut map: Single<&mut NavMap>) -> Result {
///     map.map_mut().set((3, 0), Terrain::WALL)?; // units whose path is blocked now plan again
///     Ok(())
/// }
/// ```
///
/// # Where it lies
///
/// Cell (0, 0) begins at the entity's position, columns go along X, rows along the second axis of the
/// [plane](Plane) or, with [`Rows::Down`], against it. The entity's `Transform` moves, turns and scales the map; that of a
/// child entity counts only with Bevy's `TransformPlugin`. Where two maps overlap, the one that was there first
/// counts (of those spawned in one frame, the one with the lower entity index); on [`Plane::Xz`] the one nearest in
/// height.
#[derive(Component, Reflect, Clone, Debug)]
#[reflect(Component, Clone, Debug)]
#[require(Transform)]
pub struct NavMap {
    plane: Plane,
    cell_size: Vec2,
    rows: Rows,
    anchor: Anchor,
    #[reflect(ignore)]
    map: Map,
    #[reflect(ignore)]
    rules: Rules,
    #[reflect(ignore, default = "ground_units")]
    classes: Vec<Class>,
    /// Where it lies in the world, and what searches read; `None` until the plugin has seen it.
    #[reflect(ignore)]
    place: Option<Arc<Place>>,
}

impl NavMap {
    /// A map of unit cells on the XY plane, with cell (0, 0) at the entity's position and rows going up.
    pub fn new(map: Map) -> Self {
        Self {
            plane: Plane::default(),
            cell_size: Vec2::ONE,
            rows: Rows::default(),
            anchor: Anchor::default(),
            map,
            rules: Rules::default(),
            classes: ground_units(),
            place: None,
        }
    }

    /// A map drawn as text, first line on top. See [`Map::from_text`] for what the letters mean.
    ///
    /// # Errors
    /// [`MapTextError`] if the text is no map.
    pub fn from_text(text: &str) -> Result<Self, MapTextError> {
        Ok(Self::new(Map::from_text(text)?).with_rows(Rows::Down))
    }

    /// The side of a cell.
    #[must_use]
    pub fn with_cell_size(self, side: f32) -> Self {
        self.with_rectangular_cells(Vec2::splat(side))
    }

    /// Cells that are wider than high, or the other way round. Rules with
    /// [`StepCosts::rectangular`](wayfare::StepCosts::rectangular) measure their lengths truly.
    #[must_use]
    pub fn with_rectangular_cells(mut self, size: Vec2) -> Self {
        self.cell_size = size;
        self
    }

    /// The plane the map lies on.
    #[must_use]
    pub fn with_plane(mut self, plane: Plane) -> Self {
        self.plane = plane;
        self
    }

    /// Which way rows are counted.
    #[must_use]
    pub fn with_rows(mut self, rows: Rows) -> Self {
        self.rows = rows;
        self
    }

    /// The middle of the map at the entity's position, instead of its first cell's corner.
    #[must_use]
    pub fn centred(mut self) -> Self {
        self.anchor = Anchor::Centre;
        self
    }

    /// How units move on it.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.set_rules(rules);
        self
    }

    /// What a class of units makes of the terrain. Class 0 is there from the start and is [`Class::default`];
    /// numbers left out are too.
    #[must_use]
    pub fn with_class(mut self, id: ClassId, class: Class) -> Self {
        self.set_class(id, class);
        self
    }

    /// Changes how units move on it. The map is looked at anew for every class, which takes as long as at first.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
        self.place = None;
    }

    /// Changes what a class of units makes of the terrain, as [`with_class`](Self::with_class) does. The map is looked at
    /// anew for every class, which takes as long as at first.
    pub fn set_class(&mut self, id: ClassId, class: Class) {
        let slot = usize::from(id.0);
        if self.classes.len() <= slot {
            self.classes.resize(slot + 1, Class::default());
        }
        self.classes[slot] = class;
        self.place = None;
    }

    /// The terrain.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The terrain, to be edited or replaced, by one of another size if need be. Searches under way keep what
    /// they read. Units follow with the next run of the schedule: those whose remaining path is blocked or dearer now
    /// plan again; a shorter way is taken when a unit is ordered again.
    pub fn map_mut(&mut self) -> &mut Map {
        &mut self.map
    }

    /// The plane it lies on.
    pub fn plane(&self) -> Plane {
        self.plane
    }

    /// The cell under a point of the world, or `None` if that is outside the map.
    ///
    /// Where the map lies is known once the plugin has seen it; until then it counts as lying at the origin.
    pub fn cell_at(&self, position: Vec3) -> Option<Cell> {
        let cell = self.layout()?.cell_at(self.plane.flat(position))?;
        self.map.contains(cell).then_some(cell)
    }

    /// The centre of a cell in the world, or `None` if it is outside the map.
    pub fn centre(&self, cell: impl Into<Cell>) -> Option<Vec3> {
        let cell = cell.into();
        let height = self.place.as_ref().map_or(0.0, |place| place.height);
        let centre = self.layout()?.centre(cell);
        self.map.contains(cell).then(|| self.plane.at_height(centre, height))
    }

    /// Where the cells lie on the plane, or `None` if their size makes no plane.
    pub fn layout(&self) -> Option<Layout> {
        match &self.place {
            Some(place) => place.layout,
            None => self.layout_at(&GlobalTransform::IDENTITY),
        }
    }

    /// The map as a class of units sees it now.
    ///
    /// # Errors
    /// [`FailureReason::UnknownClass`] if there is no such class.
    pub fn snapshot(&self, class: ClassId) -> Result<Arc<Snapshot>, FailureReason> {
        let entry = self.classes.get(usize::from(class.0)).ok_or(FailureReason::UnknownClass)?;
        match self.place.as_ref().and_then(|place| place.views.get(usize::from(class.0))) {
            Some(view) => {
                let mut now = Snapshot::clone(view);
                Ok(if now.refresh(&self.map) { Arc::new(now) } else { Arc::clone(view) })
            }
            None => Ok(Arc::new(Snapshot::new(&self.map, &self.view(entry)))),
        }
    }

    /// A path at once, without queue and events, for tools and tests: from and to a `Vec3` of the world, a `Vec2` of the
    /// plane, or a [`Cell`].
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_wayfare::prelude::*;
    ///
    /// let map = NavMap::from_text(".#.\n.#.\n...")?;
    /// let path = map.find_path(Cell::new(0, 0), Cell::new(2, 0))?;
    /// assert_eq!(path.points().len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FailureReason`] if there is none.
    pub fn find_path(&self, from: impl Into<Spot>, to: impl Into<Spot>) -> Result<Path, FailureReason> {
        self.find_path_as(ClassId::default(), from, to)
    }

    /// As [`find_path`](Self::find_path), for another class of units.
    ///
    /// # Errors
    /// [`FailureReason`] if there is none.
    pub fn find_path_as(
        &self,
        class: ClassId,
        from: impl Into<Spot>,
        to: impl Into<Spot>,
    ) -> Result<Path, FailureReason> {
        let snapshot = self.snapshot(class)?;
        let layout = self.layout().ok_or(FailureReason::NoMap)?;
        let wish = Wish {
            start: from.into().aim(self.plane),
            aims: Aims::One(to.into().aim(self.plane)),
            options: PathOptions::default(),
            escape_cells: 0,
        };
        let asked = wish.look_up(&snapshot, &layout)?;
        let plan = Plan::new(snapshot, layout, wish, asked, Scratch::new());
        let planned = plan.finish(Vec::new()).0?;
        Ok(Path {
            points: planned.points,
            cost: planned.cost,
            version: self.map.version(),
            class,
            reach: planned.reach,
            ..Path::default()
        })
    }

    fn view(&self, class: &Class) -> View {
        View { rules: self.rules, class: class.clone() }
    }

    /// Where the cells lie on the plane if the entity has this transform.
    fn layout_at(&self, transform: &GlobalTransform) -> Option<Layout> {
        let up = match self.rows {
            Rows::Up => self.cell_size.y,
            Rows::Down => -self.cell_size.y,
        };
        #[expect(clippy::cast_precision_loss, reason = "sides are below 2^14")]
        let size = Vec2::new(self.map.width() as f32 * self.cell_size.x, self.map.height() as f32 * up);
        let origin = match self.anchor {
            Anchor::Corner => Vec2::ZERO,
            Anchor::Centre => size * -0.5,
        };
        let affine = transform.affine();
        let point = affine.transform_point3(self.plane.at_height(origin, 0.0));
        let axis = |x: f32, y: f32| {
            self.plane.flat(affine.transform_vector3(self.plane.at_height(Vec2::new(x, y), 0.0)))
        };
        Layout::new(self.plane.flat(point), axis(self.cell_size.x, 0.0), axis(0.0, up)).ok()
    }

    /// Looks at map and transform again. Returns what searches are to read if that is something new.
    pub(crate) fn refresh(
        &mut self,
        entity: Entity,
        transform: &GlobalTransform,
        known: Option<&Arc<Place>>,
    ) -> Option<Arc<Place>> {
        let layout = self.layout_at(transform);
        let height = self.plane.height(transform.translation());
        // A clone on another entity begins anew.
        let views: Vec<_> = match self.place.as_ref().filter(|place| place.map == entity) {
            Some(place) => {
                let refreshed = |view: &Arc<Snapshot>| {
                    let mut view = Snapshot::clone(view);
                    view.refresh(&self.map).then(|| Arc::new(view))
                };
                // A copy that was put back knows an older state than searches do.
                let mut changed = known.is_none_or(|known| !Arc::ptr_eq(known, place));
                changed |= place.layout != layout || place.plane != self.plane;
                changed |= place.height.total_cmp(&height).is_ne();
                let views = place.views.iter().map(|view| {
                    let new = refreshed(view);
                    changed |= new.is_some();
                    new.unwrap_or_else(|| Arc::clone(view))
                });
                let views = views.collect();
                if !changed {
                    return None;
                }
                views
            }
            None => {
                let new = |class: &Class| Arc::new(Snapshot::new(&self.map, &self.view(class)));
                self.classes.iter().map(new).collect()
            }
        };
        let plane = self.plane;
        let place = Arc::new(Place { map: entity, plane, height, layout, views });
        self.place = Some(Arc::clone(&place));
        Some(place)
    }
}

/// Which way the rows of a map are counted.
#[derive(Reflect, Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Hash, Debug)]
pub enum Rows {
    /// Row 1 lies beyond row 0 along Y, or along Z.
    #[default]
    Up,
    /// Against it: row 0 is on top, as in a text.
    Down,
}

#[derive(Reflect, Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Anchor {
    #[default]
    Corner,
    Centre,
}

/// A place on a map, however it is given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Spot {
    /// A point of the world; its height does not matter.
    Position(Vec3),
    /// A point of the map's plane.
    Point(Vec2),
    /// The centre of a cell.
    Cell(Cell),
}

impl Spot {
    fn aim(self, plane: Plane) -> Aim {
        match self {
            Self::Position(position) => Aim::Point(plane.flat(position)),
            Self::Point(point) => Aim::Point(point),
            Self::Cell(cell) => Aim::Cell(cell),
        }
    }
}

impl From<Vec3> for Spot {
    fn from(position: Vec3) -> Self {
        Self::Position(position)
    }
}

impl From<Vec2> for Spot {
    fn from(point: Vec2) -> Self {
        Self::Point(point)
    }
}

impl From<Cell> for Spot {
    fn from(cell: Cell) -> Self {
        Self::Cell(cell)
    }
}

impl From<IVec2> for Spot {
    fn from(cell: IVec2) -> Self {
        Self::Cell(cell.into())
    }
}

fn ground_units() -> Vec<Class> {
    vec![Class::default()]
}
