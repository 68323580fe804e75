//! Files and directories that are there as a whole or not at all, and files that are safe to read.

mod left;
pub mod others;
pub mod regular;

pub use left::{Left, OLD, PART, beside, hold, left_behind, parent};
