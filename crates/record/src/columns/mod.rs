//! The tables of a record: their rows and columns.
//!
//! `docs/records.md` describes every column, and how to read it.

mod grid;
mod rows;

pub use grid::{MAX_ROWS as MAX_GRID_ROWS, grid, rows as grid_rows};
pub use rows::{queue, samples, throughput, transfers};
