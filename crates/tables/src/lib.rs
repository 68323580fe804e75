//! Tables: columns with a name, a unit and a type; numbers as text; statistics; and Parquet files.
//!
//! A [`Column`] has the name of a row's value and the function that returns it. Parquet files, JSON and Arrow use it.
//! [`numbers`] writes quantities for people. [`statistics`] has the only definitions of a median and of a quantile.
//! Parquet needs the feature `parquet`.
//!
//! ```
//! use tables::{Column, Value};
//!
//! let columns = [Column::real("rtt_ms", |row: &f64| Some(*row))];
//! assert_eq!(columns[0].cells.value(&41.5), Some(Value::Real(41.5)));
//! assert_eq!(tables::statistics::median([3.0, 1.0, 2.0]), Some(2.0));
//! ```

mod column;
pub mod numbers;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod statistics;

pub use column::{Cells, Column, Kind, List, Value};
