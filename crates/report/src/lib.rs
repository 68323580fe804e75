//! Records as a table for people, as JSON for programs, as a page with plots, as Parquet, as qlog; and all of it as a
//! directory.

mod describe;
mod directory;
mod html;
mod json;
mod lanes;
mod left;
mod overview;
pub mod page;
pub mod parquet;
pub mod place;
mod plot;
pub mod points;
mod qlog;
mod section;
mod table;
mod text;

pub use describe::{describe, describe_hops};
pub use directory::{Also, FILES, check_dir, qlog_file, tidy, write_dir};
pub use html::html;
pub use json::json;
pub use lanes::names;
pub use left::{Left, PART, beside, left_behind};
pub use overview::table;
pub use page::Origin;
pub use place::DirectoryError;
pub use qlog::qlog;
pub use section::{Marks, NoMarks};
pub use table::Table;
pub use text::{bits_per_sec, bytes, count, known, percent, size, span};
