//! Things that are not tiles: an [`Obstacle`] blocks the cells it stands on, while it is there.
//!
//! Comes in: obstacles, where they stand, and whether they are enabled. Goes out: what stands on which cell of which map.

use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::query::Allow;
use bevy::ecs::world::DeferredWorld;
use bevy::math::Affine3A;
use bevy::prelude::*;
use wayfare::{Area, Cell, GroundPlan, Layout, Terrain};

use crate::agent::OnMap;
use crate::map::NavMap;
use crate::plane::Plane;
use crate::tiles::Mark;
use crate::whereabouts::Placement;

/// A building, a tree, a gate: blocks the cells it stands on while it exists and is enabled, wherever it is moved.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_wayfare::prelude::*;
///
/// fn build(mut commands: Commands) {
///     // The cell it stands in.
///     commands.spawn((Transform::from_xyz(8.0, 8.0, 0.0), Obstacle::default()));
///     // A house, turned as its transform is.
///     let house = Obstacle::new(Footprint::Rect { size: Vec2::new(96.0, 64.0) });
///     commands.spawn((Transform::from_xyz(200.0, 120.0, 0.0), house));
/// }
///
/// fn open(mut gates: Query<&mut Obstacle>) {
///     for mut gate in &mut gates {
///         gate.enabled = false;
///     }
/// }
/// ```
///
/// It stands on the map that it names with [`OnMap`], or else on every map under it; of maps at several heights (on
/// [`Plane::Xz`]) on those nearest to its own. What is underneath is not lost: when the last obstacle leaves a cell, it is again
/// what it was, or what it has become meanwhile. Bevy's `Disabled` disables it too.
#[derive(Component, Reflect, Clone, Copy, PartialEq, Debug)]
#[reflect(Component, Default, Clone, PartialEq, Debug)]
#[require(Transform)]
#[component(on_remove = note_removal)]
pub struct Obstacle {
    /// The ground it takes up.
    pub footprint: Footprint,
    /// What the ground is there: the number of a [`Terrain`], a wall by default. A door that some classes of units pass is a
    /// terrain of its own. Where obstacles differ, the highest number counts.
    pub terrain: u8,
    /// Whether it is in the way.
    pub enabled: bool,
}

impl Obstacle {
    /// A wall with this footprint.
    pub const fn new(footprint: Footprint) -> Self {
        Self { footprint, terrain: Terrain::WALL.0, enabled: true }
    }
}

impl Default for Obstacle {
    fn default() -> Self {
        Self::new(Footprint::Cell)
    }
}

/// The ground an [`Obstacle`] takes up, around its position and turned and scaled as its transform is. Cells that it touches
/// with a border only are not covered. Without an area it is [`Cell`](Self::Cell).
#[derive(Reflect, Clone, Copy, PartialEq, Default, Debug)]
#[reflect(Default, Clone, PartialEq, Debug)]
pub enum Footprint {
    /// The cell it stands in.
    #[default]
    Cell,
    /// A box, by its sides along X and the second axis of the plane.
    Rect {
        /// Its sides.
        size: Vec2,
    },
    /// A disc.
    Disc {
        /// How far it reaches. The larger scale counts, if they differ.
        radius: f32,
    },
}

impl Footprint {
    fn on(self, plane: Plane, affine: &Affine3A) -> GroundPlan {
        let centre = plane.flat(affine.translation.into());
        let side = |v: Vec2| plane.flat(affine.transform_vector3(plane.at_height(v, 0.0)));
        match self {
            Self::Cell => GroundPlan::Point(centre),
            Self::Rect { size } => {
                let half = size.abs() * 0.5;
                GroundPlan::Box { centre, half: [side(Vec2::new(half.x, 0.0)), side(Vec2::new(0.0, half.y))] }
            }
            Self::Disc { radius } => {
                let scale = side(Vec2::X).length().max(side(Vec2::Y).length());
                GroundPlan::Disc { centre, radius: radius * scale }
            }
        }
    }
}

/// What each obstacle covers now, and whom to look at again.
#[derive(Resource, Default, Debug)]
pub(crate) struct Standing {
    covers: EntityHashMap<Cover>,
    news: Vec<Entity>,
    /// The maps, as obstacles were last laid on them.
    maps: EntityHashMap<Spread>,
}

#[derive(PartialEq, Eq, Debug)]
struct Cover {
    terrain: Terrain,
    /// The cells of each map, by the map's index.
    cells: Vec<(Entity, Vec<Cell>)>,
}

/// What obstacles need to know of a map.
#[derive(Clone, Debug)]
struct Spread {
    layout: Option<Layout>,
    plane: Plane,
    height: f32,
    area: Option<Area>,
    /// Whose obstacles these are.
    map: Mark,
}

/// A component that is gone is no longer seen to change.
fn note_removal(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut standing) = world.get_resource_mut::<Standing>() {
        standing.news.push(context.entity);
    }
}

/// Notes who is disabled, enabled, nowhere, or no longer sent to a map.
pub(crate) fn watch_obstacles(app: &mut App) {
    type Known<'w, 's> = Query<'w, 's, (), (With<Obstacle>, Allow<Disabled>)>;
    fn note(standing: &mut Standing, obstacles: &Known, entity: Entity) {
        standing.news.extend(obstacles.contains(entity).then_some(entity));
    }
    app.add_observer(|on: On<Add, Disabled>, mut standing: ResMut<Standing>, some: Known| {
        note(&mut standing, &some, on.entity);
    });
    app.add_observer(|on: On<Remove, Disabled>, mut standing: ResMut<Standing>, some: Known| {
        note(&mut standing, &some, on.entity);
    });
    app.add_observer(|on: On<Remove, Transform>, mut standing: ResMut<Standing>, some: Known| {
        note(&mut standing, &some, on.entity);
    });
    app.add_observer(|on: On<Remove, OnMap>, mut standing: ResMut<Standing>, some: Known| {
        note(&mut standing, &some, on.entity);
    });
}

/// Lets obstacles that came, went, moved or changed stand where they do.
pub(crate) fn place_obstacles(
    // Reads
    placement: Placement,
    obstacles: Query<(Entity, &Obstacle, Option<&OnMap>), With<Transform>>,
    changed: Query<
        Entity,
        (
            With<Obstacle>,
            Or<(Changed<Obstacle>, Changed<Transform>, Changed<GlobalTransform>, Changed<OnMap>)>,
        ),
    >,
    // Writes
    mut maps: Query<(Entity, &mut NavMap)>,
    mut standing: ResMut<Standing>,
) {
    let standing = &mut *standing;
    let fresh = standing.look_at_maps(&mut maps, &placement);
    let mut news = core::mem::take(&mut standing.news);
    news.extend(&changed);
    if !fresh.is_empty() {
        // Of the others, those whom such a map concerns: they stood on it, or stand on it now.
        let concerned = obstacles.iter().filter(|(entity, obstacle, on_map)| {
            let stood = standing
                .covers
                .get(entity)
                .is_some_and(|cover| cover.cells.iter().any(|(map, _)| fresh.contains(map)));
            let stands = || {
                let affine = placement.affine(*entity);
                fresh.iter().any(|map| !standing.cells(*map, obstacle, *on_map, &affine).is_empty())
            };
            stood || (obstacle.enabled && stands())
        });
        news.extend(concerned.map(|(entity, ..)| entity));
    }
    for entity in news.drain(..) {
        let there = obstacles.get(entity).ok().filter(|(_, obstacle, _)| obstacle.enabled);
        let cover =
            there.map(|(_, obstacle, on_map)| standing.cover(obstacle, on_map, &placement.affine(entity)));
        standing.replace(entity, cover, &mut maps);
    }
    standing.news = news;
}

impl Standing {
    /// Learns where maps lie. Returns those that are new, lie elsewhere, or are gone; nothing stands on them any more.
    fn look_at_maps(
        &mut self,
        maps: &mut Query<(Entity, &mut NavMap)>,
        placement: &Placement,
    ) -> Vec<Entity> {
        let mut fresh: Vec<Entity> = self.maps.keys().copied().filter(|map| !maps.contains(*map)).collect();
        self.maps.retain(|map, _| maps.contains(*map));
        for (entity, mut map) in maps.iter_mut() {
            let affine = placement.affine(entity);
            let spread = Spread {
                layout: map.layout_at(&GlobalTransform::from(affine)),
                plane: map.plane(),
                height: map.plane().height(affine.translation.into()),
                area: map.map().area(),
                map: map.identity.mark(),
            };
            if self.maps.get(&entity).is_some_and(|old| old.is_like(&spread) && map.identity.is(&old.map)) {
                continue;
            }
            if !map.obstacles.is_empty() {
                map.obstacles.clear();
            }
            self.maps.insert(entity, spread);
            fresh.push(entity);
        }
        for map in &fresh {
            for cover in self.covers.values_mut() {
                // Emptied, not removed: who stood there is to be looked at again.
                cover.cells.iter_mut().filter(|(on, _)| on == map).for_each(|(_, cells)| cells.clear());
            }
        }
        fresh
    }

    /// The cells of one map that an obstacle covers.
    fn cells(
        &self,
        map: Entity,
        obstacle: &Obstacle,
        on_map: Option<&OnMap>,
        affine: &Affine3A,
    ) -> Vec<Cell> {
        let spread = self.maps.get(&map).filter(|_| on_map.is_none_or(|OnMap(named)| *named == map));
        let ground = spread.and_then(|spread| Some((spread.plane, spread.layout?, spread.area?)));
        ground.map_or_else(Vec::new, |(plane, layout, area)| {
            obstacle.footprint.on(plane, affine).cells(&layout, area)
        })
    }

    /// The cells of each map that an obstacle covers.
    fn cover(&self, obstacle: &Obstacle, on_map: Option<&OnMap>, affine: &Affine3A) -> Cover {
        let maps = self.maps.keys().map(|map| (*map, self.cells(*map, obstacle, on_map, affine)));
        let mut cells: Vec<_> = maps.filter(|(_, cells)| !cells.is_empty()).collect();
        let above = |map: &Entity| match self.maps.get(map) {
            Some(Spread { plane: Plane::Xz, height, .. }) => (affine.translation.y - height).abs(),
            // There the third coordinate is only the order of drawing.
            _ => 0.0,
        };
        let nearest = cells.iter().map(|(map, _)| above(map)).fold(f32::INFINITY, f32::min);
        cells.retain(|(map, _)| above(map) <= nearest + 1e-3);
        cells.sort_by_key(|(map, _)| map.index_u32());
        Cover { terrain: Terrain(obstacle.terrain), cells }
    }

    fn replace(&mut self, entity: Entity, cover: Option<Cover>, maps: &mut Query<(Entity, &mut NavMap)>) {
        if self.covers.get(&entity) == cover.as_ref() {
            return;
        }
        if let Some(Cover { terrain, cells }) = self.covers.remove(&entity) {
            for (map, cells) in cells.into_iter().filter(|(_, cells)| !cells.is_empty()) {
                let Ok((_, mut map)) = maps.get_mut(map) else { continue };
                for cell in cells {
                    map.obstacles.remove(cell, terrain);
                }
            }
        }
        let Some(cover) = cover else { return };
        for (map, cells) in &cover.cells {
            let Ok((_, mut map)) = maps.get_mut(*map) else { continue };
            for cell in cells {
                map.obstacles.add(*cell, cover.terrain);
            }
        }
        self.covers.insert(entity, cover);
    }
}

impl Spread {
    /// Whether it lies where the other one does.
    fn is_like(&self, other: &Self) -> bool {
        (self.layout, self.plane, self.area) == (other.layout, other.plane, other.area)
            && self.height.total_cmp(&other.height).is_eq()
    }
}
