//! Files for results, and the origins of results.

pub mod document;
pub mod machine;
pub mod records;
