//! Many scenarios, each with a seed of its own: what is run, how, and what is kept of it.
//!
//! A [`Plan`] has points, each a scenario with a value for each field that varies, and their [`Run`]s. Whoever studies
//! something makes a plan and reads results: a sweep of its grid, a calibration of its cases, a population of its
//! members. [`execute`] runs them on all processors and tells how it goes by [`Event`]s, of which [`Work`] makes a share.
//! A [`Store`] keeps what is done on disk, so that a plan that was ended [goes on](resume) where it was. A [`Batch`] has
//! several plans on one engine and gives all records of a plan at once.

mod amount;
mod attempt;
mod batch;
mod distinct;
mod execute;
mod plan;
mod seed;
mod store;
mod work;

pub use amount::{Amount, amounts};
pub use attempt::{REPEATS, Reason};
pub use batch::{Batch, BatchError, Finding, Findings};
pub(crate) use distinct::distinct;
pub use execute::{Event, Execution, Failed, execute, jobs, missing, resume};
pub(crate) use plan::MAX_RUNS;
pub use plan::{Keys, Plan, Point, Run, UnreadableTrace};
pub use seed::derive as derive_seed;
pub use store::{FILE, Store, StoreError};
pub use work::Work;
