//! Options that several commands have.

pub mod document_options;
pub mod engines;
pub mod study_options;
pub mod work_options;
