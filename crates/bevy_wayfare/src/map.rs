//! The ground: a [`NavMap`] on an entity owns the core's [`Map`] and says where in the world it lies.
//!
//! Comes in: a map, edits, the entity's transform. Goes out: a `Place` for searches to read.

use std::sync::Arc;

use bevy::prelude::*;
use wayfare::{
    Area, Cell, CellShape, Class, Clearance, Layout, Map, MapTextError, Mosaic, Obstacles, Rules, Scratch,
    Snapshot, StepCosts, View,
};

use crate::agent::ClassId;
use crate::arrange::Arrangement;
use crate::bake::Loaded;
use crate::event::FailureReason;
use crate::lay::{Refusal, Tiling};
use crate::path::Path;
use crate::plan::{Aims, Plan, Wish};
use crate::plane::Plane;
use crate::request::PathOptions;
use crate::scene::{Kind, Place, Sizes};
use crate::spot::Spot;
use crate::tiles::{Identity, Merge, NavTile, TileLayer};

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
    pub(crate) classes: Vec<Class>,
    /// How the map is made, if it is made of tiles.
    pub(crate) tiling: Option<Tiling>,
    /// What stands on it, and whose obstacles these are: not those of a copy.
    #[reflect(ignore)]
    pub(crate) obstacles: Obstacles,
    #[reflect(ignore)]
    pub(crate) identity: Identity,
    /// Where it lay when it was last looked at.
    #[reflect(ignore)]
    at: GlobalTransform,
    /// Where it lies in the world, and what searches read; `None` until the plugin has seen it.
    #[reflect(ignore)]
    pub(crate) place: Option<Arc<Place>>,
    /// Surveys that were read from files and have not been handed over.
    #[reflect(ignore)]
    pub(crate) loaded: Vec<Loaded>,
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
            tiling: None,
            obstacles: Obstacles::default(),
            identity: Identity::default(),
            at: GlobalTransform::IDENTITY,
            place: None,
            loaded: Vec::new(),
        }
    }

    /// A map made of tiles: of the tilemap on the same entity, if it is one, and of every tilemap that is a
    /// [`LayerOf`](crate::LayerOf) it. Size, place and terrain are those of the tiles, and stay so by themselves.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_wayfare::prelude::*;
    ///
    /// fn make_walkable(tilemap: Entity, walls: Vec<Entity>, mut commands: Commands) {
    ///     commands.entity(tilemap).insert(NavMap::from_tiles());
    ///     for tile in walls {
    ///         commands.entity(tile).insert(NavTile::Blocked);
    ///     }
    /// }
    /// ```
    ///
    /// What tiles mean is said by [`NavTile`] and [`TileRules`](crate::TileRules). On a square or diamond tilemap cell (x, y) is
    /// tile (x, y); elsewhere, and with layers of another size, [`cells_of_tile`](Self::cells_of_tile) knows. Edits with
    /// [`map_mut`](Self::map_mut) last until a tile there changes. Until there are tiles, and where none can be made ground of, the
    /// map is empty.
    ///
    /// Rectangular tiles are measured truly, as [`StepCosts::rectangular`] does, unless
    /// [rules](Self::with_rules) are given. Tiles lie on the XY plane of their entity: on [`Plane::Xz`] it has to be turned by a
    /// quarter about X.
    pub fn from_tiles() -> Self {
        Self { tiling: Some(Tiling::default()), ..Self::new(Map::default()) }
    }

    /// Which of several layers of tiles decides. This and what follows has no effect on a map that is not made of tiles.
    #[must_use]
    pub fn with_merge(self, merge: Merge) -> Self {
        self.tiled(|tiling| tiling.merge = merge)
    }

    /// What ground without a tile is: blocked, if this is not said.
    #[must_use]
    pub fn with_missing(self, missing: NavTile) -> Self {
        self.tiled(|tiling| tiling.missing = missing)
    }

    /// Finer ground: so many cells along each side of a tile. 0 counts as 1. Hexagons are one cell each.
    #[must_use]
    pub fn with_cells_per_tile(self, cells: u32) -> Self {
        self.tiled(|tiling| tiling.fineness = f64::from(cells.max(1)))
    }

    /// Coarser ground: so many tiles along each side of a cell, which is what the worst of them is. 0 counts as 1, and more
    /// than 256 as 256.
    #[must_use]
    pub fn with_tiles_per_cell(self, tiles: u32) -> Self {
        self.tiled(|tiling| tiling.fineness = 1.0 / f64::from(tiles.clamp(1, Mosaic::FINEST)))
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
        if let Some(tiling) = &mut self.tiling {
            tiling.measured = false;
        }
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
        // What is dear or blocked among layers is what the first class finds so.
        if let Some(tiling) = &mut self.tiling {
            tiling.lift();
        }
    }

    /// The terrain, without the [obstacles](crate::Obstacle) on it.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The terrain, to be edited or replaced, by one of another size if need be. Searches under way keep what
    /// they read. Units follow with the next run of the schedule: those whose remaining path is blocked or dearer now
    /// plan again; a shorter way is taken when a unit is ordered again.
    pub fn map_mut(&mut self) -> &mut Map {
        &mut self.map
    }

    /// The cells that a tile of a layer has a say in, if the map is made of tiles and that is one of them.
    pub fn cells_of_tile(&self, layer: Entity, tile: UVec2) -> Option<Area> {
        self.tiling.as_ref()?.cells_of(layer, tile)
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
        let height = self.plane.height(self.at.translation());
        let centre = self.layout()?.centre(cell);
        self.map.contains(cell).then(|| self.plane.at_height(centre, height))
    }

    /// Where the cells lie on the plane, or `None` if their size makes no plane.
    pub fn layout(&self) -> Option<Layout> {
        self.layout_at(&self.at)
    }

    /// The map as a class of units sees it now.
    ///
    /// # Errors
    /// [`FailureReason::UnknownClass`] if there is no such class.
    pub fn snapshot(&self, class: ClassId) -> Result<Arc<Snapshot>, FailureReason> {
        let map = self.obstacles.on(&self.map);
        self.view_of(class.0.into(), &map).ok_or(FailureReason::UnknownClass)
    }

    /// As [`snapshot`](Self::snapshot), for units with a body of this radius: whoever does not fit into a cell keeps clear of
    /// what is blocked.
    ///
    /// # Errors
    /// [`FailureReason::UnknownClass`] if there is no such class.
    pub fn snapshot_for(&self, class: ClassId, radius: f32) -> Result<Arc<Snapshot>, FailureReason> {
        let plain = self.snapshot(class)?;
        let square = self.layout().filter(|layout| layout.shape() == CellShape::Parallelogram);
        let clearance = square.map_or(Clearance::NONE, |layout| Clearance::on(&layout, radius));
        if clearance.is_none() {
            return Ok(plain);
        }
        // Units that are about have been looked for already, and their map may be surveyed.
        let known = self.place.as_ref().and_then(|place| place.seen_by(Kind { class, clearance }));
        if let Some(known) = known {
            let mut now = Snapshot::clone(known);
            return Ok(if now.refresh(plain.map()) { Arc::new(now) } else { Arc::clone(known) });
        }
        Ok(Arc::new(Snapshot::new(plain.map(), &View { clearance, ..plain.view().clone() })))
    }

    /// A path at once, without queue and events, for tools and tests: from and to a `Vec3` of the world, a `Vec2` of the
    /// plane, or a [`Cell`]. It is that of a unit that fits into a cell.
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
            radius: 0.0,
            around: None,
        };
        let asked = wish.look_up(&snapshot, &layout, None)?;
        let version = snapshot.map().version();
        let plan = Plan::new(snapshot, layout, wish, asked, Scratch::new());
        let planned = plan.finish(Vec::new()).0?;
        Ok(Path {
            points: planned.points,
            cost: planned.cost,
            version,
            kind: class.into(),
            reach: planned.reach,
            ..Path::default()
        })
    }

    pub(crate) fn view(&self, class: &Class) -> View {
        let class = self.tiling.as_ref().map_or_else(|| class.clone(), |tiling| tiling.priced(class));
        View { rules: self.rules, class, ..View::default() }
    }

    fn tiled(mut self, change: impl FnOnce(&mut Tiling)) -> Self {
        if let Some(tiling) = &mut self.tiling {
            change(tiling);
            tiling.lift();
        }
        self
    }

    /// Takes in what layers of tiles say.
    pub(crate) fn lay<'a>(
        &mut self,
        at: GlobalTransform,
        arrangement: Option<Arrangement>,
        misfits: Vec<Refusal>,
        layer: impl Fn(Entity) -> Option<&'a TileLayer> + Copy,
    ) {
        let Some(tiling) = &mut self.tiling else { return };
        let prices = tiling.prices().to_vec();
        tiling.lay(arrangement, misfits, layer, &self.classes[0], &mut self.map);
        if tiling.prices() != prices {
            self.place = None;
        }
        self.at = at;
        self.measure();
    }

    /// Step costs in proportion to the sides of tiles, where those are rectangles in the world.
    fn measure(&mut self) {
        if !self.tiling.as_ref().is_some_and(|tiling| tiling.measured) {
            return;
        }
        let sides = self.layout().map(|layout| {
            let side = |along: Vec2| layout.to_plane(along) - layout.to_plane(Vec2::ZERO);
            (side(Vec2::X), side(Vec2::Y))
        });
        let costs = sides.and_then(|(x, y)| {
            let (width, height) = (x.length(), y.length());
            let is_rectangle = x.dot(y).abs() <= 1e-3 * width * height;
            // Sides that differ by rounding are alike.
            let is_square = (width - height).abs() <= 1e-3 * width;
            (is_rectangle && !is_square).then(|| StepCosts::rectangular(width, height).ok())?
        });
        let costs = costs.unwrap_or_default();
        if costs != self.rules.costs {
            self.rules.costs = costs;
            self.place = None;
        }
    }

    /// Where the cells lie on the plane if the entity has this transform.
    pub(crate) fn layout_at(&self, transform: &GlobalTransform) -> Option<Layout> {
        if let Some(tiling) = &self.tiling {
            return tiling.layout(&transform.affine(), |position| self.plane.flat(position));
        }
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
        self.at = *transform;
        self.measure();
        let layout = self.layout_at(transform);
        let map = self.obstacles.settle(&self.map);
        let height = self.plane.height(transform.translation());
        // A clone on another entity begins anew.
        let (views, sizes): (Vec<_>, _) = match self.place.as_ref().filter(|place| place.map == entity) {
            Some(place) => {
                let refreshed = |view: &Arc<Snapshot>| {
                    let mut view = Snapshot::clone(view);
                    view.refresh(&map).then(|| Arc::new(view))
                };
                let or_same = |view: &Arc<Snapshot>| refreshed(view).unwrap_or_else(|| Arc::clone(view));
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
                // How many cells a body covers depends on how large these are.
                let is_alike = place.layout == layout;
                (views, if is_alike { place.sizes.again(|_, view| or_same(view)) } else { Sizes::default() })
            }
            None => {
                self.place = None;
                let views = (0..self.classes.len()).filter_map(|class| self.view_of(class, &map)).collect();
                self.loaded.clear();
                (views, Sizes::default())
            }
        };
        let plane = self.plane;
        let place = Arc::new(Place { map: entity, plane, height, layout, views, sizes });
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

fn ground_units() -> Vec<Class> {
    vec![Class::default()]
}
