//! What publications say about BBR, measured again.
//!
//! A [`Table`] of claims is read from TOML. A claim says where it was published, in which setting, and what was seen. Its
//! expectations name a [`Measure`](record::Measure), the flows and the points of a [study](crate::study), and the published band.
//! [`Judgement::all`] takes the findings of a study and gives a [`Judgement`] for each expectation: it holds, it fails, or it
//! differs for a reason that is known and written down.
//!
//! A band is what was published. It is never widened. If a measurement lies outside, its cause is found, and either mended or
//! named.

mod document;
mod expectation;
mod json;
mod judge;
mod seen;
pub mod spec;
mod studies;
mod table;
mod words;

pub use document::{Origin, marks, section};
pub use expectation::{Band, Expectation};
pub use json::json;
pub use judge::{Judgement, Tally, Value, Verdict};
pub use spec::{Claim, ClaimsError, Table};
pub use studies::{Studied, StudiesError, sort, studies};
pub use table::table;
