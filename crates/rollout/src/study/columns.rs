//! The columns of recorded rows. Each is defined once, by its name and its field of the row, for writing and reading.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use files::regular;
use tables::Column as Written;
use tables::parquet::{ReadError, Row as Cells, WriteError, each_row};
use units::Duration;

/// The longest text of a cell. A study records names, networks and addresses.
const MAX_TEXT_BYTES: usize = 1 << 16;

/// The rows of a kind that a study records.
pub(super) trait Recorded: Default + 'static {
    /// The beginning of the names of their files.
    const START: &'static str;
    /// Their columns.
    const COLUMNS: &'static [Column<Self>];
}

/// A column of the rows `R`.
pub(super) struct Column<R: 'static> {
    pub name: &'static str,
    /// True if a row cannot be read without it.
    pub is_needed: bool,
    pub cell: Cell<R>,
}

/// The functions that take a row's cell from its field, and put it there.
pub(super) enum Cell<R: 'static> {
    /// A whole number.
    Whole(fn(&R) -> Option<u64>, fn(&mut R, u64)),
    /// A number.
    Real(fn(&R) -> Option<f64>, fn(&mut R, f64)),
    /// A duration, in seconds.
    Seconds(fn(&R) -> Option<Duration>, fn(&mut R, Duration)),
    /// A duration, in milliseconds.
    Millis(fn(&R) -> Option<Duration>, fn(&mut R, Duration)),
    /// A draw, in hexadecimal: it uses all 64 bits, and Parquet's integers are signed.
    Word(fn(&R) -> Option<u64>, fn(&mut R, u64)),
    /// Text.
    Text(fn(&R) -> Option<&str>, fn(&mut R, Arc<str>)),
}

/// The columns of a type of rows, as `"name": Kind field`. A row cannot be read without its `needed` columns.
macro_rules! columns {
    ($row:ident { $($name:literal: $kind:ident $field:ident $($needed:ident)?,)* }) => {{
        use $crate::study::columns::{Cell, Column, Number as _, Text as _};
        &[$(Column {
            name: $name,
            is_needed: stringify!($($needed)?).len() > 0,
            cell: Cell::$kind(
                |row: &$row| row.$field.cell(),
                |row: &mut $row, cell| row.$field.set(cell),
            ),
        }),*]
    }};
}
pub(super) use columns;

/// A field with a number or a duration.
pub(super) trait Number<T> {
    fn cell(&self) -> Option<T>;
    fn set(&mut self, cell: T);
}

impl<T: Copy> Number<T> for T {
    fn cell(&self) -> Option<T> {
        Some(*self)
    }

    fn set(&mut self, cell: T) {
        *self = cell;
    }
}

impl<T: Copy> Number<T> for Option<T> {
    fn cell(&self) -> Option<T> {
        *self
    }

    fn set(&mut self, cell: T) {
        *self = Some(cell);
    }
}

impl Number<u64> for bool {
    fn cell(&self) -> Option<u64> {
        Some((*self).into())
    }

    fn set(&mut self, cell: u64) {
        *self = cell != 0;
    }
}

impl Number<u64> for u16 {
    fn cell(&self) -> Option<u64> {
        Some((*self).into())
    }

    fn set(&mut self, cell: u64) {
        *self = cell.try_into().unwrap_or(0);
    }
}

impl Number<u64> for usize {
    fn cell(&self) -> Option<u64> {
        Some(*self as u64)
    }

    fn set(&mut self, cell: u64) {
        *self = cell.try_into().unwrap_or(usize::MAX);
    }
}

impl Number<u64> for Option<u32> {
    fn cell(&self) -> Option<u64> {
        self.map(u64::from)
    }

    fn set(&mut self, cell: u64) {
        *self = cell.try_into().ok();
    }
}

/// A field with text.
pub(super) trait Text {
    fn cell(&self) -> Option<&str>;
    fn set(&mut self, cell: Arc<str>);
}

impl Text for Arc<str> {
    fn cell(&self) -> Option<&str> {
        Some(self)
    }

    fn set(&mut self, cell: Arc<str>) {
        *self = cell;
    }
}

impl Text for Option<Arc<str>> {
    fn cell(&self) -> Option<&str> {
        self.as_deref()
    }

    fn set(&mut self, cell: Arc<str>) {
        *self = Some(cell);
    }
}

impl<R> Column<R> {
    /// The column as it is written.
    fn written<'r>(&self) -> Written<'r, &'r R> {
        let name = self.name;
        match self.cell {
            Cell::Whole(cell, _) => Written::whole(name, move |row: &&R| cell(row)),
            Cell::Real(cell, _) => Written::real(name, move |row: &&R| cell(row)),
            Cell::Seconds(cell, _) => {
                Written::real(name, move |row: &&R| Some(cell(row)?.as_secs_f64()))
            }
            Cell::Millis(cell, _) => {
                Written::real(name, move |row: &&R| Some(cell(row)?.as_millis_f64()))
            }
            Cell::Word(cell, _) => Written::text(name, move |row: &&R| {
                Some(Cow::Owned(format!("{:016x}", cell(row)?)))
            }),
            Cell::Text(cell, _) => {
                Written::text(name, move |row: &&'r R| Some(Cow::Borrowed(cell(*row)?)))
            }
        }
    }

    /// Puts a file's cell into a row's field. Returns whether the row can be read: it needs some cells, and its texts are
    /// short.
    fn read(&self, row: &mut R, cells: &Cells<'_>) -> bool {
        let real = || cells.real(self.name);
        let read = match self.cell {
            Cell::Whole(_, set) => cells.whole(self.name).map(|value| set(row, value)),
            Cell::Real(_, set) => real().map(|value| set(row, value)),
            Cell::Seconds(_, set) => real().map(|value| set(row, Duration::from_secs_f64(value))),
            Cell::Millis(_, set) => {
                real().map(|value| set(row, Duration::from_secs_f64(value / 1000.0)))
            }
            Cell::Word(_, set) => cells
                .text(self.name)
                .and_then(|text| u64::from_str_radix(text, 16).ok())
                .map(|word| set(row, word)),
            Cell::Text(_, set) => match cells.text(self.name) {
                Some(text) if text.len() > MAX_TEXT_BYTES => return false,
                text => text.map(|text| set(row, text.into())),
            },
        };
        read.is_some() || !self.is_needed
    }
}

/// Gives `take` the rows of a file, all or none, one after the other.
pub(super) fn read_file<R: Recorded>(path: &Path, take: impl FnMut(R)) -> Result<(), ReadError> {
    let make = |cells: &Cells<'_>| {
        let mut row = R::default();
        let mut columns = R::COLUMNS.iter();
        let is_whole = columns.all(|column| column.read(&mut row, cells));
        is_whole.then_some(row)
    };
    each_row(regular::open(path)?, make, take)
}

/// Writes rows as a Parquet file.
pub(super) fn write<R: Recorded>(to: &mut BufWriter<&File>, rows: &[R]) -> Result<(), WriteError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned())];
    let columns: Vec<_> = R::COLUMNS.iter().map(Column::written).collect();
    tables::parquet::write(to, &columns, rows, &about)
}

#[cfg(test)]
mod tests {
    use std::io::BufWriter;
    use std::process::Command;

    use super::*;
    use crate::study::{ObjectRow, Row};

    fn write_to<R: Recorded>(path: &Path, rows: &[R]) {
        let file = File::create(path).expect("a file");
        write(&mut BufWriter::new(&file), rows).expect("room");
    }

    #[test]
    fn a_row_is_read_back_as_it_was_written() {
        let millis = |count| Some(Duration::from_millis(count));
        let written = [
            Row::default(),
            Row {
                sitting: 1,
                connection: 2,
                unit: u64::MAX,
                arm: 1,
                assigned: "bbr".into(),
                is_evaluated: true,
                has_ended: true,
                set_up_unix_s: 1.25,
                unix_s: 2.5,
                port: 443,
                client: Some("192.0.2.0/24".into()),
                end: Some(3),
                system: Some(64500),
                region: Some("north".into()),
                controller: Some("cubic".into()),
                acknowledged: 4,
                packets: 5,
                resent: 6,
                lost: Some(7),
                handshake_rtt: millis(8),
                rtt: millis(9),
                min_rtt: millis(10),
                median_rtt: millis(11),
                objects: Some(12),
                delivery_rate_bps: Some(13),
                busy: Duration::from_secs(14),
                rwnd_limited: Duration::from_secs(15),
                sndbuf_limited: Duration::from_secs(16),
            },
        ];
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("study-1.parquet");
        write_to(&path, &written);
        let mut read = Vec::new();
        read_file(&path, |row: Row| read.push(row)).expect("a file of rows");
        assert_eq!(read, written);
        // Objects need columns that a connection does not have.
        let error = read_file(&path, |_: ObjectRow| ()).expect_err("no objects");
        assert!(error.to_string().contains("other columns"), "{error}");
    }

    #[test]
    fn a_text_that_no_study_records_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("study-1.parquet");
        let read = |length| {
            let client: Arc<str> = "9".repeat(length).into();
            let long = Row {
                client: Some(client),
                ..Row::default()
            };
            write_to(&path, &[Row::default(), long]);
            let mut count = 0;
            let result = read_file(&path, |_: Row| count += 1);
            (count, result.map_err(|error| error.to_string()))
        };
        assert_eq!(read(MAX_TEXT_BYTES), (2, Ok(())));
        let (count, result) = read(MAX_TEXT_BYTES + 1);
        assert_eq!(count, 0);
        let error = result.expect_err("a long text");
        assert!(error.starts_with("row 2 has other columns"), "{error}");
    }

    #[test]
    fn a_pipe_in_a_files_place_is_not_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("study-1.parquet");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("runs");
        assert!(made.success());
        let error = read_file(&pipe, |_: Row| ()).expect_err("no file");
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
