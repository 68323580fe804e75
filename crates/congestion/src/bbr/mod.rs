//! What BBRv1 and BBRv3 share: parts of the model that differ by a parameter at most.

pub mod full_pipe;
pub mod pacing;
pub mod slow_stretch;
pub mod window;
