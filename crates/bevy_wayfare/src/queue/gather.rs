//! Orders of one run of the schedule that lead to the same place, put together.
//!
//! Comes in: orders as they are read from the post. Goes out, when a run is complete: convoys of those who have a destination
//! in common, and the rest one by one. Only the run counts, not how soon a worker reads the post, so the same orders are put
//! together every time.

use bevy::ecs::entity::EntityHashMap;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;

use crate::queue::order::{Destination, Order};

/// So many must have a destination in common. For fewer with one goal a field never pays; with several it may, but then there is
/// little to be gained.
const LEAST: usize = 16;

/// Orders that wait until their run is complete.
#[derive(Default)]
pub(crate) struct Gathering {
    tick: u64,
    /// `None` where one was withdrawn or replaced.
    orders: Vec<Option<(Order, Destination)>>,
    places: EntityHashMap<usize>,
}

/// What orders of one run became.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) single: Vec<Order>,
    pub(crate) convoys: Vec<(Destination, Vec<Order>)>,
}

impl Gathering {
    /// Orders that wait.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether an order of this run belongs to another one than those that wait.
    pub(crate) fn is_of_another_run(&self, tick: u64) -> bool {
        !self.places.is_empty() && self.tick != tick
    }

    pub(crate) fn add(&mut self, order: Order, destination: Destination) {
        self.tick = order.tick;
        let place = self.orders.len();
        if let Some(old) = self.places.insert(order.entity, place) {
            self.orders[old] = None;
        }
        self.orders.push(Some((order, destination)));
    }

    pub(crate) fn forget(&mut self, entity: Entity) {
        if let Some(place) = self.places.remove(&entity) {
            self.orders[place] = None;
        }
    }

    /// The run is complete. Where there is a field already, even a single one may use it.
    pub(crate) fn close(&mut self, has_field: impl Fn(&Order, &Destination) -> bool) -> Gathered {
        self.places.clear();
        let mut numbers: HashMap<(Destination, i64), usize> = HashMap::default();
        let mut together: Vec<(Destination, Vec<Order>)> = Vec::new();
        for (order, destination) in self.orders.drain(..).flatten() {
            let number = *numbers.entry((destination.clone(), order.rank)).or_insert(together.len());
            match together.get_mut(number) {
                Some((_, orders)) => orders.push(order),
                None => together.push((destination, vec![order])),
            }
        }
        let mut gathered = Gathered::default();
        for (destination, orders) in together {
            if orders.len() >= LEAST || orders.iter().any(|order| has_field(order, &destination)) {
                gathered.convoys.push((destination, orders));
            } else {
                gathered.single.extend(orders);
            }
        }
        gathered
    }
}
