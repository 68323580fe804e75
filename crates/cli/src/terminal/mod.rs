//! What people see while they wait, and what they get.

pub mod bars;
pub mod human;
pub mod interrupt;
pub mod lanes;
pub mod output;
pub mod progress;
pub mod relay_status;
pub mod run_bar;
pub mod signals;
pub mod sweep_bar;
