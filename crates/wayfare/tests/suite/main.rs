//! The suite that every engine passes: judged by an oracle, on drawn maps and on seeded random ones.

mod support;
mod oracle;
mod exact;
mod articles;
mod answers;
mod turns;
mod lines;
mod smooth;
mod islands;
mod slices;
mod movingai;
