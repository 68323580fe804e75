//! The common parts of BBRv1 and BBRv3, which differ in parameters at most.

pub mod aggregation;
pub mod control;
pub mod full_pipe;
pub mod least_rtt;
pub mod max_rate;
pub mod pacing;
pub mod probe_rtt;
pub mod slow_stretch;
mod window;
