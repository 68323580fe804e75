//! Tables as Parquet files, for DuckDB, polars, pandas and other readers.

mod claims;
mod page_header;
mod read;
mod write;

pub use read::{ReadError, RefusedCell, row_count};
pub(crate) use read::{Row, each_row, rows};
pub use write::{WriteError, write};
