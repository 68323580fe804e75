//! Tables as Parquet files, for DuckDB, polars, pandas and other readers.

mod read;
mod write;

pub use read::{ReadError, Row, row_count, rows};
pub use write::{WriteError, write};
