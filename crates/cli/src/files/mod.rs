//! Files that results go into, and what results depend on.

pub mod document;
pub mod machine;
pub mod program;
pub mod records;
pub mod report_file;
pub mod results_directory;
pub mod whole;
