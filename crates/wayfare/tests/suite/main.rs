//! The suite that every engine passes: judged by an oracle, on drawn maps and on seeded random ones.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test may panic, and its maps are small"
)]

mod support;
mod oracle;
mod exact;
mod gears;
mod surveys;
mod bake;
mod bake_damage;
mod bake_snapshot;
mod uneven;
mod articles;
mod answers;
mod turns;
mod lines;
mod smooth;
mod islands;
mod goals;
mod goals_by_jumps;
mod goals_in_slices;
mod field;
mod field_edits;
mod convoy;
mod convoy_nearest;
mod sight;
mod layout;
mod hexagons;
mod mosaic;
mod obstacles;
mod follow;
mod walks;
mod lanes;
mod group;
mod march;
mod avoid;
mod avoid_odd;
mod avoid_rest;
mod avoid_near;
mod avoid_sizes;
mod avoid_sides;
mod avoid_walls;
mod clearance;
mod avoid_ladder;
mod slices;
mod movingai;
