//! TOML documents read into types, with errors that name the line, the field and the fix.
//!
//! A document's values come from a file or from a command-line option, as a tree of texts ([`tree`]). [`de`] reads
//! serde's types from it, and [`ser`] writes what `de` reads. Every error is a [`DocumentError`].
//!
//! ```
//! use serde::Deserialize;
//!
//! #[derive(Debug, Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Limits {
//!     clients: u16,
//! }
//!
//! let (limits, _) = document::de::read_toml::<Limits>("clients = 9")?;
//! assert_eq!(limits.clients, 9);
//! let error = document::de::read_toml::<Limits>("\nclient = 9").unwrap_err();
//! assert_eq!(error.to_string(), "line 2: client: unknown key; did you mean `clients`?");
//! # Ok::<(), document::DocumentError>(())
//! ```

pub mod de;
mod error;
pub mod ser;
pub mod tree;

pub use error::{DocumentError, Part, Reason, key_meant, unknown_for};
