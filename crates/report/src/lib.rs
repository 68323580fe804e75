//! Records as a table for people, as JSON for programs, as a page with plots, as Parquet, as qlog, and as a directory
//! of all of these.
//!
//! ```no_run
//! use record::Record;
//! use report::{Also, Origin};
//!
//! fn show(record: Record) -> Result<(), Box<dyn std::error::Error>> {
//!     let origin = Origin {
//!         command: "my-experiment".to_owned(),
//!         generated: std::time::SystemTime::now(),
//!     };
//!     // Summary, scenario, samples as Parquet, the first flow as qlog, and a page with plots.
//!     let also = Also { qlog: vec![0], grid: None };
//!     report::write_dir("results".as_ref(), &record, &also, &origin)?;
//!     print!("{}", report::table(&[record], Some(80)));
//!     Ok(())
//! }
//! ```

mod describe;
mod directory;
mod html;
mod json;
mod lanes;
mod links;
pub mod markdown;
mod overview;
pub mod page;
pub mod place;
mod places;
mod plot;
pub mod points;
mod qlog;
mod section;
mod table;
mod text;
pub mod trace;
mod ways;

pub use describe::{describe, describe_hops};
pub use directory::{Also, FILES, check_dir, tidy, write_dir, write_dir_while};
pub use html::html;
pub use json::pretty;
pub use lanes::names;
pub use overview::table;
pub use page::Origin;
pub use place::DirectoryError;
pub use places::places;
pub use qlog::qlog;
pub use section::{Marks, NoMarks};
pub use table::Table;
pub use text::{below, explained, sentences, without_middle, wrapped};
