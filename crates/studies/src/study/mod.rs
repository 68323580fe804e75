//! What is run for a figure or a claim.
//!
//! A [`Study`] is a file: a sweep, or a scenario alone, and what a first impression or an engine does otherwise. A [`Shelf`] is where
//! such files are: a directory, or the program itself, which has those of Fullpipe's own `scenarios/` built in. A [`Source`]
//! is a study or a population; it makes a plan for an engine.
//!
//! Seeds are those of a [sweep](crate::sweep): the same file gives the same runs, whatever else is in the
//! [batch](crate::runs::Batch) and however many run at a time.
//!
//! ```no_run
//! use lab::{Cancel, EngineKind};
//! use studies::runs::Batch;
//! use studies::study::{Length, Shelf, Source};
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

pub use shelf::{Shelf, ShelfError, Text, read};
pub use source::{Population, Source, SourceError};
pub use spec::{Length, Study};
