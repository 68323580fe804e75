//! Records as a table for people, as JSON for programs, as a page with plots, as Parquet, as qlog; and all of it as a
//! directory.

mod directory;
mod html;
mod json;
mod lanes;
pub(crate) mod page;
pub mod parquet;
mod plot;
mod qlog;
mod table;

pub use directory::{DirectoryError, FILES, check_dir, qlog_file, write_dir};
pub use html::{Origin, html};
pub use json::json;
pub(crate) use lanes::{bits_per_sec, percent, span};
pub use lanes::{describe, names};
pub use qlog::qlog;
pub use table::table;
