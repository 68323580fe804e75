//! Scenarios that run in a browser: the text of a scenario in, its record out, step by step.
//!
//! Compiled for `wasm32-unknown-unknown`, this crate is a module that needs nothing of its host: no clock, no file, and no import but
//! controllers in JavaScript and the end of its memory. `web/play.js` calls the functions that it exports, and `web/worker.js` runs it beside a page. The same text and seed give the
//! same bytes as natively, which `tests/same_bytes.rs` checks.
//!
//! ```
//! let text = "name='x'\nduration='1s'\npath={rate='10mbit',rtt='40ms'}\nflow=[{controller='bbr1'}]";
//! let mut play = play::Play::begin(text, None)?;
//! while play.step(1)? {}
//! assert!(play.record()[4..].starts_with(br#"{"summary":{"scenario":"x","engine":"sim""#));
//! let refused = play::Play::begin("name='x'\npath={rate='1furlong'}", None);
//! assert!(refused.unwrap_err().starts_with("line 2: path.rate: "));
//! # Ok::<(), String>(())
//! ```

mod advising;
mod binary;
mod bounds;
mod exports;
mod inflight;
#[cfg(target_arch = "wasm32")]
mod javascript;
#[cfg(target_arch = "wasm32")]
mod memory;
mod objects;
#[cfg(not(target_arch = "wasm32"))]
pub mod page;
mod path;
mod play;

pub use advising::Advising;
pub use bounds::{BOUNDS, MAX_TEXT_BYTES};
pub use play::{Play, read};
