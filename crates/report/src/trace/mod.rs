//! The results of captures: a table, a page, and Parquet.

mod charts;
mod directory;
mod page;
mod parquet;
mod table;

pub use charts::picture;
pub use directory::{FILES, MAX_SUMMARIZED, check_dir, write_dir};
pub use page::html;
pub use parquet::{connections, samples};
pub use table::{limits, table};
