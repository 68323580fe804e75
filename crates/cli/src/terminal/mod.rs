//! Output for people during and after work.

pub mod connections;
pub mod groups;
pub mod lanes;
pub mod live;
pub mod processor;
pub mod progress;
pub mod relay_report;
pub mod relay_status;
pub mod signals;
