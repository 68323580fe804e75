//! Files for results, and what results say of their origin.

pub mod document;
pub mod machine;
pub mod records;
