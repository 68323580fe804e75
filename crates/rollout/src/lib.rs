//! Experiments on a machine's live TCP connections, and policies in force.
//!
//! [`study`] runs randomised experiments on the connections of a control group, or on the connections to client
//! networks, and reads what they have recorded. [`steer`] has a policy in force: each new connection of a control group
//! gets the controller that the policy's rules give it.
//!
//! Without the cargo feature `load`, no program is compiled for the kernel. Then experiments by route run, recorded
//! experiments are read, and everything else answers how to build it.

mod controllers;
mod interfaces;
pub mod steer;
pub mod study;
