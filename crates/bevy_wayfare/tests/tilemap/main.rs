//! Tilemaps of `bevy_ecs_tilemap`, and Bevy's own chunks, as ground: in an app without a window or a renderer.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a test may panic, and its maps are small"
)]

mod support;
mod meaning;
mod in_step;
mod scripts;
mod geometry;
mod layers;
mod refused;
mod walking;
#[cfg(feature = "tilemap_chunk")]
mod chunks;
mod odd_lives;
mod odd_measures;
