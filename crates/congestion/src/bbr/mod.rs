//! What BBRv1 and BBRv3 share: parts of the model and of the control that differ by a parameter at most.

pub mod aggregation;
pub mod control;
pub mod full_pipe;
pub mod least_rtt;
pub mod max_rate;
pub mod pacing;
pub mod probe_rtt;
pub mod slow_stretch;
mod window;
