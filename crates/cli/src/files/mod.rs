//! Files for results, and files that results depend on.

pub mod captures;
pub mod document;
pub mod machine;
pub mod own_file;
pub mod program;
pub mod records;
pub mod results_directory;
pub mod stream;
pub mod whole;
