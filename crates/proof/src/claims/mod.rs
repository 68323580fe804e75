//! Claims of publications about BBR, measured again.
//!
//! A [`Table`] of claims is read from TOML. A claim states its publication, setting and result. Its expectations name a
//! [`Measure`](record::Measure), the flows and points of a [study](crate::study), and the published band.
//! [`Judgement::all`] judges the findings of a study: each expectation holds, fails, or differs for a known and
//! documented reason.
//!
//! [`faults`] shows that claims can fail: it runs them with controllers that have a deliberate fault.
//!
//! A band is never widened. If a measurement lies outside, its cause is found, and either fixed or documented.

mod band;
mod differs;
mod document;
mod expectation;
pub mod faults;
mod json;
mod judge;
mod kinds;
mod measurable;
mod points;
pub mod spec;
mod studies;
mod table;
pub(crate) mod words;

pub use band::Band;
pub use differs::Differs;
pub use document::{Origin, marks, section};
pub use expectation::Expectation;
pub use json::json;
pub use judge::{Judgement, Tally, Value, Verdict};
pub use spec::{Claim, ClaimsError, Table};
pub use studies::{Studied, StudiesError, sort, studies};
pub use table::table;
