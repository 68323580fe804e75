//! The same scenarios on two engines, side by side.
//!
//! A [`Set`] is read from TOML: a sweep without an engine, names for its points, and explanations of understood
//! differences. A [`Calibration`] has the cases of several sets and their runs on both engines. An [`Observation`] is
//! kept of each run. A [`Comparison`] compares the observations of a case on both engines and decides whether they
//! agree.
//!
//! # Compared quantities
//!
//! - **Goodput** of all flows together, after the warmup: within 5 % of the first engine's, or what a [`Pair`] says.
//! - **RTT**: the median of the smoothed round-trip time, sampled every 10 ms: within 10 % of RTprop, or what a [`Pair`]
//!   says. The kernel reports only the smoothed one, and only when asked. The simulator's is sampled in the same way,
//!   although it knows the sample of every ACK.
//! - Everything else of [`Quantity`], for people to judge.
//!
//! All are medians over the repeats. Both engines have the same seeds, but their runs diverge as soon as their packets do.
//! [`Comparison`] therefore also says whether the ranges of the two engines' values overlap.

mod columns;
mod comparison;
mod contender;
mod document;
mod json;
mod observation;
mod open;
mod page;
mod plan;
mod quantity;
mod set;
mod table;
mod words;

pub use columns::write_parquet;
pub use comparison::{Comparison, Difference, Tally, Verdict, Within, compare, tally};
pub use contender::{Contender, Pair, Tolerance};
pub use document::{MARKS, section};
pub use json::json;
pub use observation::{Curves, Observation, TransferTimes};
pub use open::CalibrationError;
pub use page::page;
pub use plan::{Calibration, Case, Choice, Kept, Made, Side};
pub use quantity::{Quantity, Scale};
pub use set::{Explanation, Set};
pub use table::table;
pub use wildmatch::WildMatch;
