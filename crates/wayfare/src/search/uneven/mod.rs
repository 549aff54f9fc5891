//! The plain question on uneven ground: one goal, the cheapest path, nobody watching.
//!
//! Comes in: the ground, a start and a goal, and what is known of the map if anything is. Goes out: the same answer as
//! that of the general [A*](crate::search::astar), many times faster. [`Job`](crate::search::job) decides who searches.

pub(crate) mod buckets;
mod table;
mod sense;
mod engine;

pub(crate) use engine::{Uneven, trace_back};

/// The working memory of these searches.
#[derive(Default)]
pub(crate) struct Memory {
    table: table::Table,
    open: buckets::Buckets,
    lanes: Vec<sense::Lane>,
}
