//! Rows of Parquet files, read back.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use units::Duration;

/// A row's cells by the names of their columns.
pub(super) struct Cells<'r>(HashMap<&'r str, &'r Field>);

impl<'r> Cells<'r> {
    fn of(row: &'r Row) -> Cells<'r> {
        let named = row.get_column_iter();
        Cells(named.map(|(name, field)| (name.as_str(), field)).collect())
    }

    /// A whole number; nothing where there is none.
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

    /// A span of so many seconds.
    pub fn seconds(&self, name: &str) -> Option<Duration> {
        Some(span(self.real(name)?))
    }

    /// A span of so many milliseconds.
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

/// A span, of nonsense none.
pub(super) fn span(seconds: f64) -> Duration {
    std::time::Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .into()
}

/// A study's files have far fewer rows than this.
const MOST: i64 = 1 << 22;

/// Gives each row of a file to `take`, which answers nothing where it lacks a column. Of a file that cannot be read to its end, it gets
/// none.
pub(super) fn each_row(
    path: &Path,
    mut take: impl FnMut(&Cells<'_>) -> Option<()>,
) -> Result<(), ParquetError> {
    let reader = SerializedFileReader::new(File::open(path)?)?;
    if reader.metadata().file_metadata().num_rows() > MOST {
        let many = "has more rows than a study's".to_owned();
        return Err(ParquetError::General(many));
    }
    let rows: Vec<Row> = reader.get_row_iter(None)?.collect::<Result<_, _>>()?;
    for row in &rows {
        take(&Cells::of(row))
            .ok_or_else(|| ParquetError::General("has other columns than a study's".to_owned()))?;
    }
    Ok(())
}
