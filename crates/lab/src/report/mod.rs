//! Records as a table for people, as JSON for programs, and as a page with plots.

mod html;
mod json;
mod lanes;
pub(crate) mod page;
mod plot;
mod table;

pub use html::{Origin, html};
pub use json::json;
pub(crate) use lanes::{bits_per_sec, percent, span};
pub use lanes::{describe, names};
pub use table::table;
