//! The sender in virtual time, against the real receiver over a wire that does what a script says.

mod detection;
mod ecn;
mod fast_open;
mod limits;
mod properties;
mod reduction;
mod silence;
mod tail;
mod undo;
mod usage;
mod wire;
