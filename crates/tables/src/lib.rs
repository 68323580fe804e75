//! Tables: columns with a name, a unit, a type and a meaning; numbers as text; statistics; and Parquet files.
//!
//! A [`Column`] has the name of a row's value, its meaning, and the function that returns it. It is defined once: Parquet
//! files, JSON, Arrow and the tables of the documentation follow it. [`columns!`] makes a list of them.
//! [`numbers`] writes quantities for people. [`statistics`] has the only definitions of a median and of a quantile.
//! Parquet needs the feature `parquet`.
//!
//! ```
//! use tables::Value;
//! use units::Duration;
//!
//! let columns = tables::columns!(Duration {
//!     /// the round-trip time
//!     "rtt_ms": |row| *row,
//! });
//! assert_eq!(columns[0].value(&Duration::from_micros(41_500)), Some(Value::Real(41.5)));
//! assert_eq!(tables::statistics::median([3.0, 1.0, 2.0]), Some(2.0));
//! ```

mod cell;
mod column;
pub mod numbers;
pub mod page;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod statistics;
#[cfg(feature = "parquet")]
pub mod stored;

pub use cell::{Cell, Kind, Value, split_unit};
pub use column::{Cells, Column, Json, List};
