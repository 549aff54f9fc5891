//! A game without an engine: units that search their ways, hand themselves to the crowd step by step, and do what it
//! advises.

use std::time::Duration;

use cpu_time::ThreadTime;
use glam::Vec2;
use wayfare::avoid::{Advice, Body, Crowd, CrowdSettings, Spread, bay};
use wayfare::prelude::{
    Answer, Clearance, Factor, Footing, GroundPlan, Headway, Layout, Map, PathQuery, RouteShape, Scratch,
    Snapshot, View, find_path, follow,
};

use super::peer::Dodgy;
use super::unit::{DT, Errand, Unit};
use crate::measure::SplitMix;

/// How far around it a unit looks for those that stand in its way.
const LOOK_AROUND: f32 = 8.0;

/// What a cell under somebody that stands in the way costs, in ordinary ones.
const BURDEN: Factor = Factor::whole(20);

/// After so many steps a unit no longer waits for another to pass: that one has its own troubles.
const PATIENCE: u32 = 600;

/// How close to the end of its way a unit is out of the way, in radii.
const BAY: f32 = 0.25;

/// A unit that has lost its way searches again, but not in every step.
const BETWEEN_SEARCHES: u32 = 10;

/// How many cells away one that was pushed to where it has too little room looks for a beginning of its way.
const ESCAPE: u32 = 16;

/// A map, and where it lies.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    pub(crate) snapshot: Snapshot,
    pub(crate) layout: Layout,
    /// What is left of it for units of some sizes.
    sizes: Vec<(f32, Snapshot)>,
}

impl Ground {
    /// Cells have sides of 1.
    pub(crate) fn new(map: &Map) -> Self {
        let snapshot = Snapshot::new(map, &View::default());
        Self { snapshot, layout: Layout::default(), sizes: Vec::new() }
    }

    /// Also for units of these radii, which need more room than a cell.
    pub(crate) fn with_sizes(mut self, radii: &[f32]) -> Self {
        let view = |radius: f32| View { clearance: Clearance::new(radius), ..View::default() };
        let size = |radius: &f32| (*radius, Snapshot::new(self.snapshot.map(), &view(*radius)));
        self.sizes = radii.iter().map(size).collect();
        self
    }

    /// What everybody walks on.
    fn footing(&self) -> Footing<'_> {
        Footing { snapshot: &self.snapshot, layout: &self.layout }
    }

    /// Where a unit of this radius has room.
    pub(crate) fn footing_of(&self, radius: f32) -> Footing<'_> {
        let size = self.sizes.iter().find(|(size, _)| size.total_cmp(&radius).is_eq());
        Footing { snapshot: size.map_or(&self.snapshot, |(_, snapshot)| snapshot), layout: &self.layout }
    }
}

/// Who moves the units.
#[derive(Debug, Default)]
pub(crate) enum Mover {
    #[default]
    Ours,
    Peer(Dodgy),
}

/// How often the crowd advised what, and other things worth a note.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) settled: u32,
    pub(crate) gave_way: u32,
    pub(crate) cornered: u32,
    pub(crate) planned_around: u32,
    pub(crate) replanned: u32,
    pub(crate) stuck: u32,
}

/// Where a unit's trip ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finish {
    /// At its goal.
    Goal,
    /// At its goal, which all share: whoever settles has arrived.
    Shared,
    /// As soon as it is past this x; it walks on to its goal all the same.
    Past(f32),
}

/// The units and what they walk on.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) units: Vec<Unit>,
    pub(crate) ground: Option<Ground>,
    pub(crate) finish: Finish,
    pub(crate) mover: Mover,
    pub(crate) counts: Counts,
    /// How many steps there have been.
    pub(crate) step: u32,
    /// What the crowd's part of the last step took.
    pub(crate) spent: Duration,
    bodies: Vec<Body>,
    crowd: Crowd,
    scratch: Scratch,
}

impl World {
    /// Everybody at the start, ways searched.
    pub(crate) fn new(units: Vec<Unit>, ground: Option<Ground>, finish: Finish) -> Self {
        let mut world = Self {
            units,
            ground,
            finish,
            mover: Mover::default(),
            counts: Counts::default(),
            step: 0,
            spent: Duration::ZERO,
            bodies: Vec::new(),
            crowd: Crowd::new(),
            scratch: Scratch::new(),
        };
        for index in 0..world.units.len() {
            if world.units[index].is_sent {
                world.search(index, None);
            }
        }
        world
    }

    /// Lets 1/20 s pass.
    pub(crate) fn step(&mut self, spread: &impl Spread) {
        let footing = self.ground.as_ref().map(Ground::footing);
        self.bodies.clear();
        let ground = self.ground.as_ref();
        self.bodies.extend(self.units.iter_mut().map(|unit| {
            let room = ground.map(|ground| ground.footing_of(unit.radius));
            unit.body(room)
        }));
        self.crowd.clear();
        self.bodies.iter().for_each(|body| self.crowd.push(*body));
        let mut advice = Vec::new();
        match &mut self.mover {
            Mover::Ours => {
                let clock = ThreadTime::now();
                self.crowd.step(&CrowdSettings::default(), DT, footing.as_slice(), spread);
                self.spent = clock.elapsed();
                for (index, (unit, outcome)) in self.units.iter_mut().zip(self.crowd.outcomes()).enumerate() {
                    (unit.position, unit.velocity) = (outcome.position, outcome.velocity);
                    unit.memory = outcome.memory;
                    if outcome.advice != Advice::GoOn {
                        advice.push((unit.id, index, outcome.advice));
                    }
                }
            }
            Mover::Peer(peer) => {
                peer.load(self.bodies.iter());
                let clock = ThreadTime::now();
                peer.solve(&mut self.crowd);
                self.spent = clock.elapsed();
                peer.apply(&mut self.units);
            }
        }
        self.step += 1;
        // What one unit does about its way depends on the ways of others, so the order must not be that of memory.
        advice.sort_unstable_by_key(|(id, ..)| *id);
        for (_, index, advice) in advice {
            self.heed(index, advice);
        }
        let over: Vec<usize> = (0..self.units.len()).filter(|index| self.is_over(*index)).collect();
        for index in over {
            self.resume(index);
        }
        for index in 0..self.units.len() {
            self.attend(index);
        }
    }

    /// Puts the units into another order in memory.
    pub(crate) fn shuffle(&mut self, random: &mut SplitMix) {
        for last in (1..self.units.len()).rev() {
            self.units.swap(last, random.below(last + 1));
        }
    }

    /// What a unit has to decide in every step by itself.
    fn attend(&mut self, index: usize) {
        let (step, finish) = (self.step, self.finish);
        let unit = &mut self.units[index];
        if let Finish::Past(x) = finish
            && unit.arrived.is_none()
            && unit.position.x > x
        {
            unit.arrived = Some(step);
        }
        match unit.errand {
            Errand::Goes if unit.is_there() => {
                unit.begin(Errand::Done, step);
                unit.arrived.get_or_insert(step);
            }
            Errand::Goes if unit.is_lost && step.is_multiple_of(BETWEEN_SEARCHES) => self.search(index, None),
            Errand::GivesWay { to } => {
                let end = unit.points.last().copied().unwrap_or(unit.position);
                if unit.position.distance(end) <= BAY * unit.radius {
                    unit.begin(Errand::Waits { to }, step);
                }
            }
            _ => {}
        }
    }

    /// Whether a unit that gives way need not do so any more.
    fn is_over(&self, index: usize) -> bool {
        let unit = &self.units[index];
        let (Errand::GivesWay { to } | Errand::Waits { to }) = unit.errand else { return false };
        let has_passed = |other: &Unit| bay::has_passed(unit.disc(), other.disc(), other.way());
        self.step - unit.since > PATIENCE || unit.is_lost || self.find(to).is_none_or(has_passed)
    }

    /// Does what the crowd advises.
    fn heed(&mut self, index: usize, advice: Advice) {
        let goes = self.units[index].errand == Errand::Goes;
        match advice {
            // Those who have arrived may be asked too; they come back afterwards.
            Advice::GiveWay { to } => self.give_way(index, to),
            _ if !goes => {}
            Advice::Settle => {
                self.counts.settled += 1;
                let (step, shared) = (self.step, matches!(self.finish, Finish::Shared));
                let unit = &mut self.units[index];
                unit.begin(Errand::Done, step);
                if shared || unit.is_near() {
                    unit.arrived.get_or_insert(step);
                }
            }
            Advice::PlanAround => {
                self.counts.planned_around += 1;
                self.plan_around(index);
            }
            Advice::Replan => {
                self.counts.replanned += 1;
                self.search(index, None);
            }
            Advice::Stuck => self.counts.stuck += 1,
            _ => {}
        }
    }

    /// Leaves the way to another unit, unless that one is about to do the same.
    fn give_way(&mut self, index: usize, to: u64) {
        let Some(other) = self.find(to) else { return };
        let id = self.units[index].id;
        if matches!(other.errand, Errand::GivesWay { to } | Errand::Waits { to } if to == id) {
            return;
        }
        let (disc, way) = (other.disc(), other.way().to_vec());
        let step = self.step;
        let unit = &mut self.units[index];
        let mut points = Vec::new();
        let footing = self.ground.as_ref().map(|ground| ground.footing_of(unit.radius));
        let found =
            footing.is_some_and(|footing| bay::find_bay(footing, unit.disc(), disc, &way, &mut points));
        if found {
            self.counts.gave_way += 1;
            (unit.points, unit.headway) = (points, Headway::default());
            unit.begin(Errand::GivesWay { to }, step);
        } else {
            self.counts.cornered += 1;
            unit.memory.be_cornered();
        }
    }

    /// Takes up its way again.
    fn resume(&mut self, index: usize) {
        self.units[index].is_lost = false;
        self.units[index].begin(Errand::Goes, self.step);
        self.search(index, None);
    }

    /// Searches with those around as a cost.
    fn plan_around(&mut self, index: usize) {
        let Some(ground) = &self.ground else { return };
        let Some(area) = ground.snapshot.map().area() else { return };
        let mut discs = Vec::new();
        self.crowd.standing_around(index, LOOK_AROUND, &mut discs);
        let own = self.units[index].radius;
        let mut cells = Vec::new();
        for disc in discs {
            let plan = GroundPlan::Disc { centre: disc.centre, radius: disc.radius + own };
            cells.extend(plan.cells(&ground.layout, area));
        }
        let burdened = ground.footing_of(own).snapshot.burdened(&cells, BURDEN);
        self.search(index, Some(&burdened));
    }

    /// Searches a unit's way to its goal, on the ground or on what is given instead. If there is none, it keeps the old
    /// one.
    fn search(&mut self, index: usize, instead: Option<&Snapshot>) {
        let Some(ground) = &self.ground else { return };
        let unit = &mut self.units[index];
        let room = ground.footing_of(unit.radius);
        let cells = room.entry(unit.position, ESCAPE).zip(ground.layout.cell_at(unit.goal));
        let Some((start, goal)) = cells else { return };
        let query = PathQuery::new(start, goal).shape(RouteShape::Pulled);
        let answer = find_path(instead.unwrap_or(room.snapshot), &query, &mut self.scratch);
        if let Ok(Answer::Found(route)) = answer {
            let (from, to) = (Some(unit.position), Some(unit.goal));
            follow::lay(room, route.cells(), from, to, &mut unit.points);
            unit.headway = Headway::default();
        }
    }

    fn find(&self, id: u64) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.id == id)
    }

    /// How long the way of a unit is, from where it stands.
    pub(crate) fn to_go(&self, index: usize) -> f32 {
        let unit = &self.units[index];
        let starts = core::iter::once(&unit.position).chain(unit.way());
        starts.zip(unit.way()).map(|(a, b): (&Vec2, &Vec2)| a.distance(*b)).sum()
    }
}
