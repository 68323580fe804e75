//! Files that results go into, and what results depend on or come from.

pub mod captures;
pub mod document;
pub mod machine;
pub mod own_file;
pub mod program;
pub mod records;
pub mod results_directory;
pub mod stream;
pub mod whole;
