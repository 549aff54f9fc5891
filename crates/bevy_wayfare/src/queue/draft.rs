//! Requests of one group, put together into one order.
//!
//! Every unit of a group has a request of its own. Those that are to be answered at the same time become one search, whose
//! answer is one for each of them.

use std::sync::Arc;

use bevy::ecs::entity::EntityHashSet;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::query::Allow;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use wayfare::Fallback;
use wayfare::group::Member;

use crate::agent::{Agent, ClassId};
use crate::group::{Billet, GroupOrder, Members};
use crate::muster::{Muster, Recruit};
use crate::plan::{Aim, Aims, Wish};
use crate::queue::{Asker, AskerReadOnlyItem, Clerk, Desk, Item, Order, Post, Task};
use crate::scene::{Kind, Place};

/// A group whose order is being put together.
#[derive(Debug)]
pub(crate) struct Draft {
    group: Entity,
    map: Entity,
    aim: Aim,
    rank: i64,
    served: u64,
    recruits: Vec<Recruit>,
}

impl Draft {
    fn entities(&self) -> EntityHashSet {
        self.recruits.iter().map(|recruit| recruit.entity).collect()
    }
}

impl Billet {
    /// What a unit brings to the search of its group.
    pub(super) fn recruit(
        &self,
        (entity, ticket): (Entity, u64),
        agent: Option<&Agent>,
        place: &Place,
        wish: &Wish,
    ) -> Option<Recruit> {
        let (Aims::One(aim), Aim::Point(position)) = (&wish.aims, wish.start) else { return None };
        let goal = match aim {
            Aim::Point(point) => Some(*point),
            Aim::Cell(cell) => place.layout.map(|layout| layout.centre(*cell)),
        };
        let (radius, speed) = agent.map_or((0.0, 0.0), |agent| (agent.radius, agent.speed));
        let kind = place.kind(agent.map_or(ClassId::default(), |agent| agent.class), radius);
        // A place around another goal is none.
        let kept = self.place.filter(|(_, around)| goal == Some(*around)).map(|(place, _)| place);
        let member = Member { place: kept, ..Member::new(self.number.into(), position, radius, speed) };
        Some(Recruit { entity, ticket, kind, member })
    }
}

impl Desk {
    /// Puts the request of a unit together with those of its group. False if it is on another map than these; then it has
    /// to go alone.
    pub(super) fn draft(
        &mut self,
        group: Entity,
        map: Entity,
        recruit: Recruit,
        wish: &Wish,
        (rank, served): (i64, u64),
    ) -> bool {
        match (self.drafts.iter_mut().find(|draft| draft.group == group), &wish.aims) {
            (Some(draft), _) => {
                if draft.map != map {
                    return false;
                }
                draft.recruits.push(recruit);
                (draft.rank, draft.served) = (draft.rank.min(rank), draft.served.min(served));
            }
            (None, Aims::One(aim)) => {
                self.drafts.push(Draft { group, map, aim: *aim, rank, served, recruits: vec![recruit] });
            }
            (None, Aims::Nearest(_)) => return false,
        }
        true
    }
}

/// Who belongs together.
#[derive(SystemParam)]
pub(crate) struct Companies<'w, 's> {
    groups: Query<'w, 's, (&'static GroupOrder, &'static Members), Allow<Disabled>>,
    billets: Query<'w, 's, (&'static Billet, Option<&'static Agent>), Allow<Disabled>>,
}

impl Companies<'_, '_> {
    /// Where one of a formation needs a new path, the whole formation does.
    pub(super) fn call_up(&self, requests: &mut Query<Asker, Allow<Disabled>>, desk: &mut Desk) {
        let replans = desk.replans.iter();
        let mut groups: Vec<Entity> =
            replans.filter_map(|unit| group_of(&requests.get(*unit).ok()?)).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let Ok((order, members)) = self.groups.get(group) else { continue };
            for unit in members.iter().filter(|_| order.formation.is_kept()) {
                if let Ok(mut asker) = requests.get_mut(unit)
                    && asker.request.group == Some(group)
                    && asker.billet.is_some_and(|billet| !billet.alone)
                {
                    desk.replan(unit, &mut asker.path);
                }
            }
        }
    }
}

/// The group that a unit is answered with.
fn group_of(asker: &AskerReadOnlyItem<'_, '_>) -> Option<Entity> {
    asker.request.group.filter(|_| asker.billet.is_some_and(|billet| !billet.alone))
}

impl Clerk<'_, '_, '_> {
    /// Sends the order of a group off. Whoever still waits for an older one of the same group is answered with this one.
    pub(super) fn send(
        &self,
        draft: Draft,
        companies: &Companies,
        requests: &mut Query<Asker, Allow<Disabled>>,
        desk: &mut Desk,
        post: &mut Post,
    ) {
        let group = draft.group;
        let members = companies.groups.get(group).map(|(_, members)| members);
        let drafted = draft.entities();
        desk.drafts.push(draft);
        for unit in members.into_iter().flat_map(|members| members.iter()) {
            if !drafted.contains(&unit)
                && let Ok(mut asker) = requests.get_mut(unit)
                && asker.request.group == Some(group)
                && asker.path.order.ticket.is_some()
            {
                // However often it was: the older search will not be.
                asker.path.bypass_change_detection().order.replaced = 0;
                self.take(asker, desk, post);
            }
        }
        let Some(draft) = desk.drafts.pop() else { return };
        desk.last_ticket += 1;
        let job = (group, desk.last_ticket);
        for recruit in &draft.recruits {
            self.owe(desk, recruit.entity, recruit.ticket, job);
        }
        let muster = self.muster(&draft, companies);
        post.push(Item::Order(Order {
            entity: group,
            ticket: job.1,
            rank: draft.rank,
            tick: self.tick,
            served: draft.served,
            map: draft.map,
            kind: Kind::default(),
            task: Task::Group(Arc::new(muster)),
            made: self.now,
            scene: self.scene_now(),
        }));
    }

    fn muster(&self, draft: &Draft, companies: &Companies) -> Muster {
        let order = companies.groups.get(draft.group).ok();
        let drafted = draft.entities();
        let others = order.into_iter().flat_map(|(_, members)| members.iter());
        let others = others.filter(|unit| !drafted.contains(unit));
        let place = |unit| {
            let (billet, agent) = companies.billets.get(unit).ok()?;
            Some((billet.place?.0, agent.map_or(0.0, |agent| agent.radius)))
        };
        Muster {
            group: draft.group,
            aim: draft.aim,
            formation: order.map_or_else(default, |(order, _)| order.formation),
            fallback: match order {
                Some((order, _)) if order.or_nearest => Fallback::Nearest,
                _ => Fallback::Fail,
            },
            escape_cells: self.settings.escape_cells,
            taken: others.filter_map(place).collect(),
            recruits: draft.recruits.clone(),
        }
    }
}
