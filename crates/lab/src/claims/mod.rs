//! What publications say about BBR, measured again.
//!
//! A [`Table`] of claims is read from TOML: where each was published, in what setting, what was seen, and as what
//! [`Measure`]s, of which flows and points of a [study](crate::study), within which band that should be seen again.
//! [`Judgement::all`] takes what was found in a study and gives a [`Judgement`] for each expectation: holds, does not, or
//! differs for a reason that is known and written down.
//!
//! Bands are the published ones. One that is not met is not widened: the cause is found, and either mended or named.

mod document;
mod expectation;
mod json;
mod judge;
pub mod measure;
mod spec;
mod table;
mod words;

pub use document::{Load, Origin, marks, section};
pub use expectation::{Band, Expectation};
pub use json::json;
pub use judge::{Judgement, Tally, Value, Verdict};
pub use measure::Measure;
pub use spec::{Claim, ClaimsError, Table};
pub use table::table;
