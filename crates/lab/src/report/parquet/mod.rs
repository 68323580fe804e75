//! Tables as Parquet, for DuckDB, polars, pandas and everything else that reads it.
//!
//! `docs/records.md` says what is in every column, and how to read it.

mod tables;
mod write;

pub use tables::{queue, samples, throughput, transfers};
pub use write::{Cells, Column, WriteError, write};
