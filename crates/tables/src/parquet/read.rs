//! Reads the rows of Parquet files, which may be damaged.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// The maximum number of rows of a file. Fullpipe writes far fewer, but users may join files. A few bytes can claim any
/// number of rows.
const MAX_ROWS: i64 = 1 << 24;

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
    /// The file claims too many rows.
    #[error("has more than {MAX_ROWS} rows")]
    Rows,
    /// The rows are not of the expected form.
    #[error("has other columns or values than it should")]
    Columns,
}

/// The cells of a row by the names of their columns.
pub struct Row<'r>(HashMap<&'r str, &'r Field>);

impl Row<'_> {
    /// A whole number; `None` if the cell has none.
    pub fn whole(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Field::Long(value) => Some(value.cast_unsigned()),
            Field::ULong(value) => Some(*value),
            _ => None,
        }
    }

    /// A number; `None` if the cell has none.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.0.get(name)? {
            Field::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// A text; `None` if the cell has none.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Field::Str(value) => Some(value),
            _ => None,
        }
    }
}

/// Returns the rows of a file, all or none. `make` makes each row from its cells, or returns `None` if they are
/// invalid.
///
/// # Errors
///
/// The file cannot be read, is damaged, claims too many rows, or `make` refuses a row.
pub fn rows<T>(
    file: File,
    mut make: impl FnMut(&Row<'_>) -> Option<T>,
) -> Result<Vec<T>, ReadError> {
    let reader = SerializedFileReader::new(file)?;
    if reader.metadata().file_metadata().num_rows() > MAX_ROWS {
        return Err(ReadError::Rows);
    }
    let mut groups = reader.metadata().row_groups().iter();
    let is_somewhere = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset().unwrap_or(0);
        column
            .data_page_offset()
            .min(dictionary)
            .min(column.compressed_size())
            >= 0
    };
    if !groups.all(|group| group.columns().iter().all(is_somewhere)) {
        return Err(ReadError::Damaged);
    }
    let read = || {
        let all = reader.get_row_iter(None)?.map(|row| {
            let row = row?;
            let named = row.get_column_iter();
            let cells = named.map(|(name, field)| (name.as_str(), field)).collect();
            make(&Row(cells)).ok_or(ReadError::Columns)
        });
        all.collect()
    };
    // The library panics on some damaged files.
    quietly(read).ok_or(ReadError::Damaged)?
}

/// The number of rows that a file claims; `None` if it is not a Parquet file.
pub fn row_count(file: File) -> Option<u64> {
    let reader = SerializedFileReader::new(file).ok()?;
    u64::try_from(reader.metadata().file_metadata().num_rows()).ok()
}

thread_local! {
    /// True while a panic of this thread is expected, and caught.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result, or `None` after a panic. Such a panic is not printed; those of other threads are.
fn quietly<R>(act: impl FnOnce() -> R) -> Option<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !IS_CAUGHT.get() {
                print(about);
            }
        }));
    });
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(act));
    IS_CAUGHT.set(before);
    result.ok()
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;
    use crate::Column;
    use crate::parquet::write;

    #[test]
    fn all_row_groups_are_read_however_many_rows_there_are() {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::whole("number", |row: &u64| Some(*row))];
        write(&mut file, &columns, 0..200_000, &[]).expect("room");
        assert_eq!(row_count(file.try_clone().expect("a file")), Some(200_000));
        let numbers = rows(file, |row| row.whole("number")).expect("a file of rows");
        assert!(numbers.into_iter().eq(0..200_000));
    }

    #[test]
    fn rows_without_a_column_and_bytes_without_rows_are_refused() {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::real("number", |row: &f64| Some(*row))];
        write(&mut file, &columns, [1.5], &[]).expect("room");
        let again = file.try_clone().expect("a file");
        let refused = rows(again, |row| row.whole("number"));
        assert!(matches!(refused, Err(ReadError::Columns)), "{refused:?}");
        file.rewind().expect("a file");
        file.write_all(&[7; 64]).expect("room");
        file.set_len(64).expect("a file");
        assert!(rows(file, |_| Some(())).is_err());
    }
}
