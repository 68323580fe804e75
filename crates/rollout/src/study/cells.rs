//! Reads rows of Parquet files.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use files::regular;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use units::Duration;

/// The most rows of a file. A study writes far fewer into one, but files may be put together. A few bytes can claim any number of
/// rows.
const MOST_ROWS: i64 = 1 << 24;

/// A row's cells by the names of their columns.
pub(super) struct Cells<'r>(HashMap<&'r str, &'r Field>);

impl<'r> Cells<'r> {
    fn of(row: &'r Row) -> Cells<'r> {
        let named = row.get_column_iter();
        Cells(named.map(|(name, field)| (name.as_str(), field)).collect())
    }

    /// A whole number; nothing if the cell has none.
    pub fn whole(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Field::Long(value) => Some(value.cast_unsigned()),
            Field::ULong(value) => Some(*value),
            _ => None,
        }
    }

    /// A number.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.0.get(name)? {
            Field::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// A duration in seconds.
    pub fn seconds(&self, name: &str) -> Option<Duration> {
        Some(span(self.real(name)?))
    }

    /// A duration in milliseconds.
    pub fn millis(&self, name: &str) -> Option<Duration> {
        Some(span(self.real(name)? / 1000.0))
    }

    /// Text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Field::Str(value) => Some(value),
            _ => None,
        }
    }

    /// A word in hexadecimal.
    pub fn word(&self, name: &str) -> Option<u64> {
        u64::from_str_radix(self.text(name)?, 16).ok()
    }
}

/// A duration; zero if the number is not a valid duration.
pub(super) fn span(seconds: f64) -> Duration {
    std::time::Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .into()
}

/// Gives each row of a file to `take`, which returns nothing if the row lacks a column. If the file cannot be read to
/// its end, `take` gets no rows.
pub(super) fn each_row(
    path: &Path,
    mut take: impl FnMut(&Cells<'_>) -> Option<()>,
) -> Result<(), ParquetError> {
    let reader = SerializedFileReader::new(regular::open(path)?)?;
    if reader.metadata().file_metadata().num_rows() > MOST_ROWS {
        let many = format!("has more than {MOST_ROWS} rows");
        return Err(ParquetError::General(many));
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
        return Err(ParquetError::General("is damaged".to_owned()));
    }
    // The file is read twice, and not kept in memory: the rows of a small file may be large.
    let end_to_end = || {
        for row in reader.get_row_iter(None)? {
            row?;
        }
        Ok(())
    };
    // The library panics on some damaged files.
    let read = quietly(end_to_end);
    read.unwrap_or_else(|| Err(ParquetError::General("is damaged".to_owned())))?;
    for row in reader.get_row_iter(None)? {
        take(&Cells::of(&row?))
            .ok_or_else(|| ParquetError::General("has other columns than a study's".to_owned()))?;
    }
    Ok(())
}

thread_local! {
    /// Whether a panic of this thread is expected, and caught.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// The result, or nothing if it panics. Only such a panic is not printed: those of other threads are.
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
    use std::process::Command;

    use super::*;

    #[test]
    fn all_row_groups_are_read_however_many_rows_there_are() {
        use tables::Column;
        use tables::parquet::write;

        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("study-1.parquet");
        let rows: Vec<u64> = (0..100_000).collect();
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
        let columns = vec![Column::whole("number", |row: &&u64| Some(**row))];
        write(&mut file, &columns, &rows, &[]).expect("room");
        drop(file);
        let mut sum = 0;
        let read = each_row(&path, |cells| {
            sum += cells.whole("number")?;
            Some(())
        });
        read.expect("a file of rows");
        assert_eq!(sum, 99_999 * 100_000 / 2);
    }

    #[test]
    fn a_pipe_in_a_files_place_is_not_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("study-1.parquet");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("runs");
        assert!(made.success());
        let error = each_row(&pipe, |_| Some(())).expect_err("no file");
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
