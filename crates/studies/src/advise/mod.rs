//! Advice which controller suits a path that is known in part.
//!
//! A [`RangedPath`] describes the path; any of its fields may be a range. A [`Question`] samples paths from it and runs
//! every candidate over each of them: alone, beside CUBIC and beside itself ([`Sampling::plan`]). [`Outcomes`] hold the
//! results. An [`Advice`] chooses a candidate for each [`Goal`] and states the gain, the harm to others, and the
//! confidence.

mod advice;
mod gain;
mod goal;
mod horizon;
mod json;
mod outcome;
mod page;
mod plan;
mod question;
mod ranges;
mod summary;
pub(crate) mod table;
pub(crate) mod words;

pub use advice::{Advice, Choice, Rival};
pub use gain::{Decides, Gain};
pub use goal::Goal;
pub use json::Json;
pub use outcome::{Alone, Beside, Gathering, Outcome, Outcomes, Together};
pub use page::page;
pub use plan::{Case, Company, Sampled, Sampling};
pub use question::{MOST_PATHS, Question};
pub use ranges::{Range, RangedPath};
pub use table::text;
pub use words::{nothing, runs as describe_runs};
