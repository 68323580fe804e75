//! Tables as Parquet, for DuckDB, polars, pandas and everything else that reads it.
//!
//! `docs/records.md` says what is in every column, and how to read it.

mod grid;
mod tables;
mod write;

pub use grid::{MAX_ROWS as MAX_GRID_ROWS, grid, rows as grid_rows};
pub use tables::{queue, samples, throughput, transfers};
pub use write::{Cells, Column, List, WriteError, write};
