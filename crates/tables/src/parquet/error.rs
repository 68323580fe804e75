//! Why a Parquet file is not read.

use std::io;

use parquet::errors::ParquetError;

/// How to make a file that can be read.
const REWRITE: &str = "write it again with Snappy and usual pages, such as DuckDB's COPY (FROM 'old.parquet') TO 'new.parquet' (COMPRESSION snappy)";

/// An error of reading a file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refuses.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The file violates the format.
    #[error(transparent)]
    Format(#[from] ParquetError),
    /// The file's bytes are not a table.
    #[error("is damaged")]
    Damaged,
    /// The file claims more than this many rows.
    #[error("has more than {0} rows")]
    Rows(u64),
    /// The file is compressed by this method.
    #[error("is compressed with {0}; {REWRITE}")]
    Compression(&'static str),
    /// A column has this encoding.
    #[error("has texts in the encoding {0}; {REWRITE}")]
    Encoding(&'static str),
    /// The footer is too large, its columns are too many or too deep within each other, or their names are too long.
    #[error(
        "has a footer of too many groups of rows, columns, or columns within each other, or of too long names; {REWRITE}"
    )]
    Footer,
    /// The pages take more than this many bytes of memory.
    #[error("has pages that take more than {} MiB of memory; {REWRITE}", .0 >> 20)]
    Memory(u64),
    /// The texts of all rows take more than this many bytes.
    #[error("has rows with more than {} MiB of texts; make several files of it", .0 >> 20)]
    Texts(u64),
    /// A cell of a row is refused.
    #[error("row {row} {cell}")]
    Cell {
        /// The row's number. The first one is 1.
        row: u64,
        /// The reason.
        cell: RefusedCell,
    },
}

/// The reason why a row's cell is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusedCell {
    /// A needed value is null, or its column is absent.
    #[error("has no value in the column {0}")]
    Missing(&'static str),
    /// The column cannot have this value.
    #[error("has a value of the wrong type or range in the column {0}")]
    Unfit(&'static str),
    /// The text is too long.
    #[error("has too long a text in the column {0}")]
    Long(&'static str),
}
