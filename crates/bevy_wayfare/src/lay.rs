//! From layers of tiles to a map: [`lay_tiles`] merges what [`TileLayer`]s say into the map of a `NavMap`.
//!
//! Comes in: the layers of each ground, where they lie, and which of their tiles changed. Goes out: the cells of the map,
//! as many as changed and no more; where nothing can be made of a layer, [`TilesRefused`].

use core::mem::discriminant;
use std::collections::BTreeMap;

use bevy::math::Affine3A;
use bevy::prelude::*;
use wayfare::{Area, Cell, Class, Factor, Layout, Map, Mosaic, Sheet, Terrain};

use crate::arrange::{Arrangement, Lying, lies_like};
use crate::map::NavMap;
use crate::tiles::{LayerMark, Merge, NavLayers, NavTile, TileLayer, TilesError, TilesRefused};
use crate::whereabouts::Placement;

/// How a map is made of tiles.
#[derive(Reflect, Clone, Debug)]
#[reflect(Default, Clone, Debug)]
pub(crate) struct Tiling {
    pub(crate) merge: Merge,
    /// What ground without a tile is.
    pub(crate) missing: NavTile,
    /// Cells along one side of a tile; below 1 if a cell is larger.
    pub(crate) fineness: f64,
    /// Whether step costs follow from the shape of tiles.
    pub(crate) measured: bool,
    /// What costs other than whole ones from 1 to 9 stand for, from [`DEAREST`] down.
    #[reflect(ignore)]
    prices: Vec<Factor>,
    #[reflect(ignore)]
    laid: Option<Laid>,
    /// Layers that are left out.
    #[reflect(ignore)]
    misfits: Vec<Refusal>,
}

pub(crate) type Refusal = (Entity, TilesError);

/// The layers as they were when the map was last written.
#[derive(Clone, Debug)]
struct Laid {
    arrangement: Arrangement,
    mosaic: Mosaic,
    sheets: Vec<Tiles>,
}

/// The tiles of a layer as terrain, row by row.
#[derive(Clone, Default, Debug)]
struct Tiles {
    terrain: Vec<Option<Terrain>>,
    mark: Option<LayerMark>,
    /// Those that have no price, and why.
    unpriced: BTreeMap<usize, TilesError>,
}

/// Numbers of terrain that stand for costs: as many from here down as a map has.
const DEAREST: u8 = 243;
const CHEAPEST: u8 = 200;

impl Default for Tiling {
    fn default() -> Self {
        Self {
            merge: Merge::default(),
            missing: NavTile::Blocked,
            fineness: 1.0,
            measured: true,
            prices: Vec::new(),
            laid: None,
            misfits: Vec::new(),
        }
    }
}

/// Writes what tiles changed into the maps they are ground of.
pub(crate) fn lay_tiles(
    // Reads
    placement: Placement,
    layers: Query<&TileLayer>,
    // Writes
    mut grounds: Query<(Entity, &mut NavMap, Option<&NavLayers>)>,
    mut commands: Commands,
) {
    for (ground, mut map, others) in &mut grounds {
        let Some(tiling) = &map.tiling else { continue };
        let here = placement.affine(ground);
        let others = others.map_or(&[][..], NavLayers::entities);
        let lying = lying(ground, &here, others, &map, &placement, &layers);
        let mut misfits = Vec::new();
        let arrangement = Arrangement::new(&lying, ground, tiling.fineness, &mut misfits);
        let stands =
            |arrangement: &Arrangement| layout(arrangement, &here, |at| map.plane().flat(at)).is_none();
        if arrangement.as_ref().is_some_and(stands) {
            misfits.push((ground, TilesError::Flat));
        }
        let layer = |entity: Entity| layers.get(entity).ok();
        if tiling.is_up_to_date(arrangement.as_ref(), &misfits, layer, map.map()) {
            continue;
        }
        let before: Vec<Refusal> = tiling.refused().collect();
        map.lay(GlobalTransform::from(here), arrangement, misfits, layer);
        let is_new = |(entity, reason): &Refusal| {
            !before.iter().any(|(other, old)| other == entity && discriminant(old) == discriminant(reason))
        };
        for (entity, reason) in map.tiling.iter().flat_map(Tiling::refused).filter(is_new) {
            commands.trigger(TilesRefused { entity, reason });
        }
    }
}

/// The layers of a ground that have tiles, topmost first. At the same height its own lie below all others, and later layers
/// above earlier ones.
fn lying(
    ground: Entity,
    here: &Affine3A,
    others: &[Entity],
    map: &NavMap,
    placement: &Placement,
    layers: &Query<&TileLayer>,
) -> Vec<Lying> {
    let to_here = here.inverse();
    let lying = core::iter::once(&ground).chain(others).filter_map(|entity| {
        let grid = *layers.get(*entity).ok()?.grid();
        let affine = if *entity == ground { *here } else { placement.affine(*entity) };
        let to_ground = if *entity == ground { Affine3A::IDENTITY } else { to_here * affine };
        let height = map.plane().height(affine.translation.into());
        (grid.size.min_element() > 0).then_some(Lying { entity: *entity, grid, to_ground, height })
    });
    let mut lying: Vec<Lying> = lying.collect();
    lying.reverse();
    lying.sort_by(|a, b| b.height.total_cmp(&a.height));
    lying
}

/// Where the cells lie on the plane that `flat` looks at, if the ground has this transform.
fn layout(arrangement: &Arrangement, affine: &Affine3A, flat: impl Fn(Vec3) -> Vec2) -> Option<Layout> {
    let lattice = arrangement.lattice;
    // Tiles lie on the XY plane of their entity, whichever way that is turned.
    let vector = |v: Vec2| flat(affine.transform_vector3(v.extend(0.0)));
    let origin = flat(affine.transform_point3(lattice.origin.as_vec2().extend(0.0)));
    let layout = Layout::new(origin, vector(lattice.x.as_vec2()), vector(lattice.y.as_vec2()));
    Some(layout.ok()?.with_shape(lattice.shape))
}

impl Tiling {
    /// Where the cells lie on the plane that `flat` looks at, if the entity has this transform.
    pub(crate) fn layout(&self, affine: &Affine3A, flat: impl Fn(Vec3) -> Vec2) -> Option<Layout> {
        layout(&self.laid.as_ref()?.arrangement, affine, flat)
    }

    /// The cells a tile of a layer has a say in.
    pub(crate) fn cells_of(&self, layer: Entity, tile: UVec2) -> Option<Area> {
        let laid = self.laid.as_ref()?;
        let number = laid.arrangement.sheets.iter().position(|(entity, _)| *entity == layer)?;
        laid.mosaic.cells_of(number, tile)
    }

    /// Everything is to be looked at again.
    pub(crate) fn lift(&mut self) {
        self.laid = None;
    }

    /// The class, with the prices of costs. Whoever pays nothing for digits does not pay for these either.
    pub(crate) fn priced(&self, class: &Class) -> Class {
        let mut digits = (2..=9).filter_map(Terrain::digit);
        if digits.all(|digit| class.factor(digit) == Some(Factor::ONE)) {
            return class.clone();
        }
        let prices = (CHEAPEST..=DEAREST).rev().zip(&self.prices);
        prices.fold(class.clone(), |class, (terrain, price)| class.with(Terrain(terrain), *price))
    }

    /// What the numbers that stand for costs mean at present.
    pub(crate) fn prices(&self) -> &[Factor] {
        &self.prices
    }

    /// What cannot be made ground of, each with the first reason of its kind.
    fn refused(&self) -> impl Iterator<Item = Refusal> {
        let laid = self.laid.iter().flat_map(|laid| laid.arrangement.sheets.iter().zip(&laid.sheets));
        let unpriced = laid.flat_map(|((entity, _), tiles)| {
            let bad = tiles.unpriced.values().find(|error| matches!(error, TilesError::BadCost(_)));
            let many = tiles.unpriced.values().find(|error| matches!(error, TilesError::TooManyCosts));
            bad.into_iter().chain(many).map(|error| (*entity, *error))
        });
        self.misfits.iter().copied().chain(unpriced)
    }

    fn is_up_to_date<'a>(
        &self,
        arrangement: Option<&Arrangement>,
        misfits: &[Refusal],
        layer: impl Fn(Entity) -> Option<&'a TileLayer>,
        map: &Map,
    ) -> bool {
        let (Some(laid), Some(arrangement)) = (&self.laid, arrangement) else {
            let is_empty = self.laid.is_none() && arrangement.is_none() && map.area().is_none();
            return is_empty && self.misfits == misfits;
        };
        let unchanged = |((entity, _), tiles): (&(Entity, _), &Tiles)| {
            let changed = layer(*entity).zip(tiles.mark.as_ref());
            changed.and_then(|(layer, mark)| layer.changed_since(mark)).is_some_and(<[UVec2]>::is_empty)
        };
        self.misfits == misfits
            && (map.width(), map.height()) == (arrangement.width, arrangement.height)
            && laid.arrangement.is_like(arrangement)
            && laid.arrangement.sheets.iter().zip(&laid.sheets).all(unchanged)
    }

    /// Takes in what the layers say, and writes it into the map.
    pub(crate) fn lay<'a>(
        &mut self,
        arrangement: Option<Arrangement>,
        misfits: Vec<Refusal>,
        layer: impl Fn(Entity) -> Option<&'a TileLayer> + Copy,
        class: &Class,
        map: &mut Map,
    ) {
        self.misfits = misfits;
        let old = self.laid.take();
        let size = arrangement.as_ref().map_or((0, 0), |new| (new.width, new.height));
        let resized = (map.width(), map.height()) != size;
        if resized {
            // An arrangement is never larger than a map may be.
            let done = map.reset(size.0, size.1, Terrain::OUTSIDE);
            debug_assert!(done.is_ok(), "{done:?}");
        }
        let Some(arrangement) = arrangement else { return };
        let old = old.filter(|old| !resized && old.arrangement.has_cells_like(&arrangement));
        let mut laid = Laid::new(arrangement, self.merge);
        // Only what changed; but if there are more costs than ever, those that nobody has any more must go.
        let areas = old
            .and_then(|old| laid.take_over(old))
            .and_then(|mut areas| self.read_changes(&mut laid, layer, &mut areas).then_some(areas));
        if areas.is_none() {
            self.read_everything(&mut laid, layer);
        }
        let missing = self.terrain(self.missing).unwrap_or(Some(Terrain::WALL)).unwrap_or(Terrain::WALL);
        let areas = areas.unwrap_or_else(|| map.area().into_iter().collect());
        laid.write(missing, &self.priced(class), &areas, map);
        self.laid = Some(laid);
    }

    /// Reads the tiles that changed, and notes the cells they have a say in. Returns whether all have a number.
    fn read_changes<'a>(
        &mut self,
        laid: &mut Laid,
        layer: impl Fn(Entity) -> Option<&'a TileLayer>,
        areas: &mut Vec<Area>,
    ) -> bool {
        for (number, (entity, sheet)) in laid.arrangement.sheets.iter().enumerate() {
            let (Some(layer), tiles) = (layer(*entity), &mut laid.sheets[number]) else { continue };
            let changed = tiles.mark.as_ref().and_then(|mark| layer.changed_since(mark));
            tiles.mark = Some(layer.mark());
            let Some(changed) = changed else {
                if !self.read_layer(tiles, layer) {
                    return false;
                }
                areas.extend(laid.mosaic.area_of(number));
                continue;
            };
            for tile in changed {
                let Some(index) = sheet.index(*tile) else { continue };
                if !self.read_tile(tiles, index, layer.get(*tile)) {
                    return false;
                }
                areas.extend(laid.mosaic.cells_of(number, *tile));
            }
        }
        true
    }

    /// Reads all tiles, with prices for the costs that there are now.
    fn read_everything<'a>(&mut self, laid: &mut Laid, layer: impl Fn(Entity) -> Option<&'a TileLayer>) {
        self.prices.clear();
        for ((entity, _), tiles) in laid.arrangement.sheets.iter().zip(&mut laid.sheets) {
            if let Some(layer) = layer(*entity) {
                tiles.mark = Some(layer.mark());
                self.read_layer(tiles, layer);
            }
        }
    }

    fn read_layer(&mut self, tiles: &mut Tiles, layer: &TileLayer) -> bool {
        tiles.terrain = vec![None; layer.tiles().len()];
        tiles.unpriced.clear();
        let mut all = true;
        for (index, tile) in layer.tiles().iter().enumerate().filter(|(_, tile)| tile.is_some()) {
            all &= self.read_tile(tiles, index, *tile);
        }
        all
    }

    /// Returns whether there is a number for it.
    fn read_tile(&mut self, tiles: &mut Tiles, index: usize, tile: Option<NavTile>) -> bool {
        let terrain = tile.map_or(Ok(None), |tile| self.terrain(tile));
        tiles.terrain[index] = terrain.unwrap_or(Some(Terrain::WALL));
        match terrain {
            Ok(_) => _ = tiles.unpriced.remove(&index),
            Err(error) => _ = tiles.unpriced.insert(index, error),
        }
        terrain != Err(TilesError::TooManyCosts)
    }

    /// What a tile is on this map: nothing, if it is decoration.
    fn terrain(&mut self, tile: NavTile) -> Result<Option<Terrain>, TilesError> {
        match tile {
            NavTile::Open => Ok(Some(Terrain::OPEN)),
            NavTile::Blocked => Ok(Some(Terrain::WALL)),
            NavTile::Terrain(terrain) => Ok(Some(Terrain(terrain))),
            NavTile::Cost(cost) => self.price(cost).map(Some),
            NavTile::Ignored => Ok(None),
        }
    }

    fn price(&mut self, cost: f32) -> Result<Terrain, TilesError> {
        let factor = Factor::new(cost).map_err(|_| TilesError::BadCost(cost))?;
        let digit = (1..=9).find(|digit| Factor::whole(*digit) == factor).and_then(Terrain::digit);
        if let Some(digit) = digit {
            return Ok(digit);
        }
        let known = self.prices.iter().position(|price| *price == factor);
        let number = known.unwrap_or(self.prices.len());
        let terrain = u8::try_from(number).ok().and_then(|number| DEAREST.checked_sub(number));
        let terrain = terrain.filter(|terrain| *terrain >= CHEAPEST).ok_or(TilesError::TooManyCosts)?;
        if known.is_none() {
            self.prices.push(factor);
        }
        Ok(Terrain(terrain))
    }
}

impl Laid {
    fn new(arrangement: Arrangement, merge: Merge) -> Self {
        let Arrangement { width, height, ref sheets, .. } = arrangement;
        let mosaic = Mosaic::new(width, height, sheets.iter().map(|(_, sheet)| *sheet), merge.into());
        let sheets = sheets.iter().map(|_| Tiles::default()).collect();
        Self { arrangement, mosaic, sheets }
    }

    /// Takes over what was read of layers that lie where they did. Returns the cells of those that came, went or moved; or
    /// `None` if layers lie over each other in another order, so that it may be any.
    fn take_over(&mut self, mut old: Self) -> Option<Vec<Area>> {
        let mut areas = Vec::new();
        let mut kept = Vec::new();
        for (number, (entity, sheet)) in self.arrangement.sheets.iter().enumerate() {
            let is_it = |(other, _): &(Entity, Sheet)| other == entity;
            let before = old.arrangement.sheets.iter().position(is_it);
            match before.filter(|before| lies_like(&old.arrangement.sheets[*before].1, sheet)) {
                Some(before) => {
                    self.sheets[number] = core::mem::take(&mut old.sheets[before]);
                    kept.push(before);
                }
                None => areas.extend(self.mosaic.area_of(number)),
            }
        }
        let gone = (0..old.arrangement.sheets.len()).filter(|number| !kept.contains(number));
        areas.extend(gone.filter_map(|number| old.mosaic.area_of(number)));
        kept.is_sorted().then_some(areas)
    }

    /// Writes the cells of the areas. Those that stay as they are do not count as changed.
    fn write(&self, missing: Terrain, class: &Class, areas: &[Area], map: &mut Map) {
        let tile = |sheet: usize, tile: UVec2| {
            let index = self.arrangement.sheets[sheet].1.index(tile)?;
            self.sheets[sheet].terrain.get(index).copied().flatten()
        };
        let terrain = |cell: Cell, _| self.mosaic.terrain(cell, missing, class, tile);
        for area in areas {
            // The mosaic is as large as the map, so no area of it lies outside.
            let written = map.edit(*area, terrain);
            debug_assert!(written.is_ok(), "{written:?}");
        }
    }
}
