//! The plugin in an app, as a game uses it. One file per subject; `support` builds the app and drives it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;
mod requests;
mod walking;
mod disturbed;
mod edits;
mod survey;
mod baked;
mod walled;
mod obstacles;
mod layers;
mod fairness;
mod pool;
mod convoy;
mod lockstep;
mod group;
mod formation;
mod large;
mod avoidance;
mod reordered;
mod far_out;
mod vanish;
mod jam;
mod rest;
mod schedules;
mod bad_input;
mod diagnostics;
mod odd_ground;
