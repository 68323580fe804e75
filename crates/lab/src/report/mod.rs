//! Records as a table for people, as JSON for programs, and as a page with plots.

mod html;
mod json;
mod lanes;
pub(crate) mod page;
mod plot;
mod table;

pub use html::{Origin, html};
pub use json::json;
pub use lanes::{describe, names};
pub use table::table;
