//! A survey as one snapshot may use it: [`Known`].
//!
//! Comes in: a survey, of this map as it is or as it was before some edits. Goes out: what of it still holds, which surveyed
//! searches read.

use std::sync::Arc;

use crate::bits::Bits;
use crate::ground::Ground;
use crate::survey::changes::Changes;
use crate::survey::{Bearings, Findings};

/// See the [module](self).
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) findings: Arc<Findings>,
    /// Rays and landmarks, if they were found by now or an older survey's are still of use.
    pub(crate) bearings: Option<Arc<Bearings>>,
    /// That older survey. Its landmarks lead until there are new ones.
    pub(crate) older: Option<Arc<Findings>>,
    /// Where the map has changed since the findings; `None` if it has not.
    pub(crate) changes: Option<Arc<Changes>>,
    /// Whether landmarks may lead: no way is shorter than when they were found.
    pub(crate) leads: bool,
}

impl Known {
    /// What of a survey still holds on newer ground with these bits, if anything may. The view is the same. Bearings are taken
    /// together with what they were found on; those of another survey only as long as they lead.
    pub(crate) fn on(
        ground: &Ground,
        bits: &Bits,
        findings: &Arc<Findings>,
        bearings: Option<(&Arc<Findings>, &Arc<Bearings>)>,
    ) -> Option<Self> {
        if !findings.have_shape_of(ground) {
            return None;
        }
        let is_own = |of: &Arc<Findings>| Arc::ptr_eq(of, findings);
        let leads = bearings.is_some_and(|(of, _)| of.are_no_farther_apart_on(ground, bits));
        let bearings = bearings.filter(|(of, _)| leads || is_own(of));
        Some(Self {
            findings: Arc::clone(findings),
            bearings: bearings.map(|(_, bearings)| Arc::clone(bearings)),
            older: bearings.filter(|(of, _)| !is_own(of)).map(|(of, _)| Arc::clone(of)),
            changes: Changes::between(&findings.map, &ground.map).map(Arc::new),
            leads,
        })
    }

    /// The same on ground that is newer still.
    pub(crate) fn again(&self, ground: &Ground, bits: &Bits) -> Option<Self> {
        Self::on(ground, bits, &self.findings, self.bearings())
    }

    /// Rays and landmarks with what they were found on.
    pub(crate) fn bearings(&self) -> Option<(&Arc<Findings>, &Arc<Bearings>)> {
        Some((self.older.as_ref().unwrap_or(&self.findings), self.bearings.as_ref()?))
    }

    /// Whether nothing is missing and nothing has changed.
    pub(crate) const fn is_whole(&self) -> bool {
        self.changes.is_none() && self.bearings.is_some() && self.older.is_none()
    }
}

impl Findings {
    fn have_shape_of(&self, ground: &Ground) -> bool {
        (self.map.width(), self.map.height()) == (ground.map.width(), ground.map.height())
    }

    /// Whether nothing is free by now that was not, and a step costs what it did, so that no way has become shorter.
    fn are_no_farther_apart_on(&self, ground: &Ground, bits: &Bits) -> bool {
        // Distances are in prices of their day. Bits do not tell: grass where there was snow is as free as that was.
        let same_prices = ground.even().is_some() && ground.even_on(&self.map) == ground.even();
        let mut changed = ground.map.chunks().changed_from(self.map.chunks());
        same_prices
            && self.have_shape_of(ground)
            && bits.are_within(&self.bits, ground.map.columns(), &mut changed)
    }
}
