//! Tables as Parquet files, for DuckDB, polars, pandas and everything else that reads them.

mod read;
mod write;

pub use read::{ReadError, Row, each_row, row_count, rows};
pub use write::{WriteError, write};
