//! Which controller suits one path, of which not everything need be known.
//!
//! A [`RangedPath`] is what is known: any of its fields may be a range. A [`Question`] samples paths from it and runs every
//! candidate over each of them, alone, beside CUBIC and beside itself: [`Sampling::plan`]. [`Outcomes`] are what the runs
//! gave. An [`Advice`] is made of them: which candidate to choose for a [`Goal`], what that gains, whom it hurts, and how
//! sure all of that is.

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
pub use outcome::{Alone, Beside, Company, Gathering, Outcome, Outcomes, Together};
pub use page::page;
pub use plan::{Case, Sampled, Sampling};
pub use question::{MOST_PATHS, Question};
pub use ranges::{Range, RangedPath};
pub use table::text;
pub use words::{nothing, runs as describe_runs};
