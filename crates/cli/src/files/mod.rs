//! Files for results, and files that results depend on.

pub mod captures;
pub mod own_file;
pub mod stream;
