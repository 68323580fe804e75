//! Tables as Parquet files, for DuckDB, polars, pandas and other readers.

mod read;
mod write;

pub use read::{ReadError, Row, each_row, row_count, rows};
pub use write::{WriteError, write};
