//! Many scenarios on an engine, and their records.
//!
//! A [`Study`] is a file: a sweep, or a scenario alone, and what a first impression or an engine does otherwise. A [`Shelf`] is where
//! such files are: a directory, or the program itself, which has those of Fullpipe's own `scenarios/` built in. A
//! [`Batch`] has the runs of several studies on one engine; [`Batch::run`] gives the records of each study, samples
//! included, as soon as its last run has ended.
//!
//! Seeds are those of a [sweep](crate::sweep): the same file gives the same runs, whatever else is in the batch and
//! however many run at a time.
//!
//! ```no_run
//! use studies::study::{Batch, Length, Shelf, Study};
//! use lab::Cancel;
//! use lab;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shelf = Shelf::built_in("sweeps");
//! let studies = [Study::read(&shelf.get("loss-sweep")?, Length::Whole)?];
//! let batch = Batch::new(&studies, lab::EngineKind::Sim)?;
//! let cancel = Cancel::new();
//! batch.run(2, &|event| println!("{event:?}"), &cancel, |study, findings| {
//!     for run in &findings.runs {
//!         println!("{study}: {:?}: {}", run.values, run.record.summary.path.limit_bps.unwrap_or(0));
//!     }
//! });
//! # Ok(())
//! # }
//! ```

mod batch;
mod runs;
mod shelf;
mod spec;

pub use batch::{Batch, BatchError, Finding, Findings};
pub use runs::{Population, Runs, RunsError};
pub use shelf::{Shelf, ShelfError, Text};
pub use spec::{Length, Study};
