//! Options that several commands have.

pub mod engines;
pub mod study_options;
