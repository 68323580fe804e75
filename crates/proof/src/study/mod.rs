//! The runs of figures and claims.
//!
//! A [`Study`] is a file with a sweep or a single scenario, and its changes for a first impression or an engine. A
//! [`Shelf`] holds such files: a directory, or the program itself, which contains Fullpipe's own `scenarios/`. A
//! [`Source`] is a study or a population, and makes a plan for an engine.
//!
//! Seeds are those of a [sweep](studies::sweep): the same file gives the same runs, regardless of the rest of the
//! [batch](studies::runs::Batch) and of the number of concurrent runs.
//!
//! ```no_run
//! use lab::{Cancel, EngineKind};
//! use studies::runs::Batch;
//! use proof::study::{Length, Shelf, Source};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let loss_sweep = Source::of_study("loss-sweep", &Shelf::built_in("sweeps"), Length::Whole)?;
//! let mut batch = Batch::new(EngineKind::Sim);
//! loss_sweep.add_to(&mut batch)?;
//! let cancel = Cancel::new();
//! batch.run(2, &|event| println!("{event:?}"), &cancel, |_, findings| {
//!     for run in &findings.runs {
//!         println!("{:?}: {}", run.values, run.record.summary.path.limit_bps.unwrap_or(0));
//!     }
//! });
//! # Ok(())
//! # }
//! ```

mod shelf;
mod source;
mod spec;

pub use shelf::{Shelf, ShelfError, Text};
pub use source::{Population, Source, SourceError};
pub use spec::{Length, Study};
