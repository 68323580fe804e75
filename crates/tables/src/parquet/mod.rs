//! Tables as Parquet files, for DuckDB, polars, pandas and other readers.

mod claims;
mod compact;
mod error;
mod footer;
mod page_header;
mod read;
mod write;

pub use error::{ReadError, RefusedCell};
pub use read::row_count;
pub(crate) use read::{MAX_TEXTS_BYTES, Row, each_row, rows};
pub use write::{WriteError, write};
