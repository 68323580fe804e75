//! Tables as Parquet files, for DuckDB, polars, pandas and other readers.

mod claims;
mod error;
mod page_header;
mod read;
mod write;

pub use error::{ReadError, RefusedCell};
pub use read::row_count;
pub(crate) use read::{Row, each_row, rows};
pub use write::{WriteError, write};
