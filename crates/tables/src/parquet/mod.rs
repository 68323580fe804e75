//! Tables as Parquet files, for DuckDB, polars, pandas and everything else that reads them.

mod write;

pub use write::{WriteError, write};
