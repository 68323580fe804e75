//! Many scenarios, each with a seed of its own: plans, execution and storage.
//!
//! A [`Plan`] has points, each a scenario with a value for each varying field, and their [`Run`]s. Every study makes a
//! plan and reads results: a sweep of its grid, a calibration of its cases, a population of its members. [`execute`]
//! runs a plan on all processors and reports [`Event`]s, from which [`Work`] computes the progress. A [`Store`] keeps
//! results on disk, so that an interrupted plan can be [resumed](resume). A [`Batch`] runs several plans on one engine,
//! and returns all records of a plan at once.

mod attempt;
mod batch;
mod distinct;
mod execute;
mod plan;
mod store;
mod work;

pub use ::advise::{Amount, Ratio, amounts, derive_seed};
pub use attempt::{REPEATS, Reason};
pub use batch::{Batch, BatchError, Finding, Findings};
pub use distinct::distinct;
pub use execute::{Event, Execution, Failed, execute, jobs, missing, resume};
pub use plan::MAX_RUNS;
pub use plan::{Keys, Plan, Point, Run, UnreadableTrace};
pub use store::{FILE, MAX_RESULT_BYTES, Store, StoreError};
pub use work::Work;
