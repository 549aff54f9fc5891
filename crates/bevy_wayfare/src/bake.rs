//! What is worth knowing about a map, kept in a file beside it: baked once, loaded at every start.
//!
//! Comes in: the bytes of a file. Goes out: a view of the map with its islands, so that nobody has to look for them, and a survey
//! that searches use from the first one on, so that none has to be made in the background; or a [`LoadError`], and all
//! that is. Until the plugin has seen the map, what was loaded waits on its [`NavMap`].

use core::fmt;
use std::sync::Arc;

use bevy::prelude::*;
use wayfare::{BakeError, Cell, Map, Places, QueryError, Scratch, Snapshot, Survey, Surveyor};

use crate::agent::ClassId;
use crate::event::FailureReason;
use crate::map::NavMap;
use crate::scene::{Kind, Place};

/// Why a file was not taken up. The map is what it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The map has no such class of units.
    UnknownClass,
    /// The file is none, or not of this map and class. What it would have held is found out as without a file: islands when
    /// the map is first looked at, a survey in the background.
    Refused(BakeError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownClass => FailureReason::UnknownClass.fmt(f),
            Self::Refused(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for LoadError {}

/// What was loaded and searches do not know of yet.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) class: ClassId,
    /// `None` if there was nothing to be found.
    pub(crate) survey: Option<Survey>,
    /// The terrain as that class sees it, the survey learnt.
    view: Arc<Snapshot>,
}

impl NavMap {
    /// What is worth knowing about the terrain as a class of units sees it, its islands and a survey, to be kept in a file and
    /// [loaded](Self::load) at the next start. [Obstacles](crate::Obstacle) do not count: they come and go.
    ///
    /// It takes as long as a survey, or next to nothing if one was made in the background already. Levels that are made
    /// with a tool are best baked there.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_wayfare::prelude::*;
    ///
    /// const LEVEL: &str = "
    ///     ....#...
    ///     .##.#.#.
    ///     ..#...#.";
    ///
    /// /// When the level is made.
    /// fn bake() -> Result<Vec<u8>> {
    ///     let map = NavMap::from_text(LEVEL)?;
    ///     Ok(map.bake(ClassId::default())?)
    /// }
    ///
    /// /// When it is played.
    /// fn setup(baked: &[u8], commands: &mut Commands) -> Result {
    ///     let mut map = NavMap::from_text(LEVEL)?;
    ///     if let Err(why) = map.load(ClassId::default(), baked) {
    ///         eprintln!("{why}; the start takes longer, and searches are slower for a moment");
    ///     }
    ///     commands.spawn(map);
    ///     Ok(())
    /// }
    /// # let baked = bake()?;
    /// # let mut world = World::new();
    /// # setup(&baked, &mut world.commands())?;
    /// # let mut map = NavMap::from_text(LEVEL)?;
    /// # map.load(ClassId::default(), &baked)?;
    /// # assert!(map.snapshot(ClassId::default())?.is_surveyed());
    /// # Ok::<(), BevyError>(())
    /// ```
    ///
    /// # Errors
    /// [`FailureReason::UnknownClass`] if there is no such class.
    pub fn bake(&self, class: ClassId) -> Result<Vec<u8>, FailureReason> {
        let mut view = self.terrain_as(class)?;
        view.learn(&view.survey());
        Ok(view.to_bytes())
    }

    /// Takes up what [`bake`](Self::bake) found out about the same terrain for an equal class under equal rules. Then islands need
    /// not be looked for, no survey has to be made in the background, and even the first searches are fast. What
    /// [`Snapshot::bake`] and [`Survey::to_bytes`] make will do as well.
    ///
    /// Do this before the map is spawned or asked for anything, when terrain, rules and classes are set; a map that is
    /// [made of tiles](Self::from_tiles) has its terrain once the plugin has seen these. On a map that is in use, islands are
    /// known, and searches begun from the next run of the schedule on make use of the survey. Nobody plans again, and no
    /// crowd stirs. A large map is read in some tenths of a second: where that is too long for a frame, a task can call
    /// this on a map that it spawns when it is done.
    ///
    /// What becomes of paths is the same as with a survey from the background: they cost the same, but of several that are
    /// equally cheap another one may be found. In lockstep, where nothing is found out in the background, a file may
    /// be loaded all the same if all machines load it in the same run. On one where it is refused the same can be
    /// found out on the spot:
    ///
    /// ```
    /// use bevy_wayfare::prelude::*;
    ///
    /// # let mut map = NavMap::from_text("..#.\n....")?;
    /// # let file = b"something else";
    /// if map.load(ClassId::default(), file).is_err() {
    ///     let same = map.bake(ClassId::default())?;
    ///     map.load(ClassId::default(), &same)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LoadError`] if there is no such class, or the bytes are anything else. They can have come from anywhere.
    pub fn load(&mut self, class: ClassId, bytes: &[u8]) -> Result<(), LoadError> {
        let units = self.classes.get(usize::from(class.0)).ok_or(LoadError::UnknownClass)?;
        let view = self.view(units);
        let (view, survey) = match self.known_view_of(class.0.into(), self.map()) {
            None => match Snapshot::from_bytes(bytes, self.map(), &view) {
                // It may be a survey alone.
                Err(BakeError::Foreign) => learnt(Snapshot::new(self.map(), &view), bytes),
                read => read.map(|view| {
                    let survey = Surveyor::new(&view).so_far();
                    (view, survey)
                }),
            },
            Some(known) => learnt(Arc::unwrap_or_clone(known), bytes),
        }
        .map_err(LoadError::Refused)?;
        self.loaded.retain(|loaded| loaded.class != class);
        self.loaded.push(Loaded { class, survey, view: Arc::new(view) });
        Ok(())
    }

    /// The cheapest ways between places that units are sent to all day, without a search when they are asked for. They are of
    /// the terrain without [obstacles](crate::Obstacle), and [hold](Places::hold_for) for as long as nothing stands or is
    /// built on it; the game asks before it relies on them.
    ///
    /// It takes a search for each pair, so many places are looked for in the background, with a
    /// [`Scout`](wayfare::Scout), or kept in a file with [`Places::to_bytes`] and [loaded](Self::load_places).
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_wayfare::prelude::*;
    ///
    /// #[derive(Resource)]
    /// struct Towns(Places);
    ///
    /// /// The town that is cheapest to reach from another one.
    /// fn nearest_town(from: usize, towns: &Towns, map: &NavMap) -> Result<Option<usize>> {
    ///     let Towns(places) = towns;
    ///     let now = map.snapshot(ClassId::default())?;
    ///     if !places.hold_for(&now) {
    ///         return Ok(None); // something was built: make them anew
    ///     }
    ///     let others = (0..places.cells().len()).filter(|to| *to != from);
    ///     Ok(others.filter_map(|to| Some((places.cost(from, to)?, to))).min().map(|(_, to)| to))
    /// }
    ///
    /// let mut map = NavMap::from_text("..........\n.####.####\n..........")?;
    /// let cells = [Cell::new(0, 0), Cell::new(9, 2), Cell::new(4, 2)];
    /// let towns = Towns(map.places(ClassId::default(), &cells)?);
    /// assert_eq!(nearest_town(0, &towns, &map)?, Some(2));
    /// let road = towns.0.route(0, 2).ok_or("no way")?;
    /// let points: Vec<Vec3> = road.cells().iter().filter_map(|cell| map.centre(*cell)).collect();
    /// assert_eq!(points.last().copied(), map.centre(cells[2]));
    /// // The same again, from bytes.
    /// let kept = towns.0.to_bytes();
    /// assert_eq!(map.load_places(ClassId::default(), &kept)?.cost(0, 2), towns.0.cost(0, 2));
    /// map.map_mut().set((5, 1), Terrain::WALL)?;
    /// assert_eq!(nearest_town(0, &towns, &map)?, None);
    /// assert!(map.load_places(ClassId::default(), &kept).is_err());
    /// # Ok::<(), BevyError>(())
    /// ```
    ///
    /// # Errors
    /// [`FailureReason::UnknownClass`] if there is no such class, [`FailureReason::OutOfMap`] if a cell is outside the map,
    /// [`FailureReason::StartBlocked`] if one is blocked.
    pub fn places(&self, class: ClassId, cells: &[Cell]) -> Result<Places, FailureReason> {
        let terrain = self.terrain_as(class)?;
        Places::new(&terrain, cells, &mut Scratch::new()).map_err(|wrong| match wrong {
            QueryError::StartBlocked(_) => FailureReason::StartBlocked,
            _ => FailureReason::OutOfMap,
        })
    }

    /// Reads [places](Self::places) that were kept with [`Places::to_bytes`].
    ///
    /// # Errors
    /// [`LoadError`] if there is no such class, or the bytes are anything else. They can have come from anywhere.
    pub fn load_places(&self, class: ClassId, bytes: &[u8]) -> Result<Places, LoadError> {
        let terrain = self.terrain_as(class).map_err(|_| LoadError::UnknownClass)?;
        Places::from_bytes(bytes, &terrain).map_err(LoadError::Refused)
    }

    /// The terrain as a class of units sees it, without obstacles.
    fn terrain_as(&self, class: ClassId) -> Result<Snapshot, FailureReason> {
        self.view_of(class.0.into(), self.map()).map(Arc::unwrap_or_clone).ok_or(FailureReason::UnknownClass)
    }

    /// How a class of units sees this map, with what is known of it already. `None` if there is no such class.
    pub(crate) fn view_of(&self, class: usize, map: &Map) -> Option<Arc<Snapshot>> {
        let view = self.view(self.classes.get(class)?);
        let known = self.known_view_of(class, map);
        Some(known.unwrap_or_else(|| Arc::new(Snapshot::new(map, &view))))
    }

    /// The same if somebody has looked at it: the plugin, or whoever baked what was loaded.
    fn known_view_of(&self, class: usize, map: &Map) -> Option<Arc<Snapshot>> {
        let view = self.view(self.classes.get(class)?);
        let is_loaded =
            |loaded: &&Loaded| usize::from(loaded.class.0) == class && *loaded.view.view() == view;
        let loaded = self.loaded.iter().find(is_loaded).map(|loaded| &loaded.view);
        let seen = || self.place.as_ref().and_then(|place| place.views.get(class));
        let known = loaded.or_else(seen)?;
        let mut now = Snapshot::clone(known);
        Some(if now.refresh(map) { Arc::new(now) } else { Arc::clone(known) })
    }

    /// Lets units of a kind know what a survey found. Returns what searches read from now on; `None` if it is of no use.
    pub(crate) fn learn(&mut self, kind: Kind, survey: &Survey) -> Option<Arc<Place>> {
        let place = self.place.as_ref()?;
        let mut view = Snapshot::clone(place.seen_by(kind)?);
        if !view.learn(survey) {
            return None;
        }
        let view = Arc::new(view);
        let or_learnt =
            |other: Kind, old: &Arc<Snapshot>| Arc::clone(if other == kind { &view } else { old });
        let views = place.seen().take(place.views.len()).map(|(kind, old)| or_learnt(kind, old)).collect();
        let Place { map, plane, height, layout, .. } = **place;
        let sizes = place.sizes.again(or_learnt);
        let place = Arc::new(Place { map, plane, height, layout, views, sizes });
        self.place = Some(Arc::clone(&place));
        Some(place)
    }
}

/// A view with the survey in a file, if there is one.
fn learnt(mut view: Snapshot, bytes: &[u8]) -> Result<(Snapshot, Option<Survey>), BakeError> {
    let survey = match Survey::from_bytes(bytes, &view) {
        Err(BakeError::Empty) => None,
        read => Some(read?),
    };
    if let Some(survey) = &survey {
        view.learn(survey);
    }
    Ok((view, survey))
}
