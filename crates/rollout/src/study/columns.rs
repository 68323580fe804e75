//! The columns of recorded rows. Each is defined once, by its name and its field of the row: files are written and read by
//! this definition.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use parquet::record::Field;
use tables::Column as Written;
use tables::parquet::WriteError;
use units::Duration;

/// The rows of a kind that a study records.
pub(super) trait Recorded: Default + 'static {
    /// The beginning of the names of their files.
    const START: &'static str;
    /// Their columns, at most 64.
    const COLUMNS: &'static [Column<Self>];
}

/// A column of the rows `R`.
pub(super) struct Column<R: 'static> {
    pub name: &'static str,
    /// Whether a row cannot be read without it.
    pub is_needed: bool,
    pub cell: Cell<R>,
}

/// How a row's cell is taken from its field, and put into it.
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

/// The columns of a type of rows, as `"name": Kind field`. Without a column that is marked `needed`, no row can be read.
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

    /// Puts what a file has into a row's field. Returns whether it is of the column's kind. `texts` are the texts of the
    /// file, each once.
    pub fn read(&self, row: &mut R, field: &Field, texts: &mut HashSet<Arc<str>>) -> bool {
        match (&self.cell, field) {
            (Cell::Whole(_, set), Field::Long(value)) => set(row, value.cast_unsigned()),
            (Cell::Whole(_, set), Field::ULong(value)) => set(row, *value),
            (Cell::Real(_, set), Field::Double(value)) => set(row, *value),
            (Cell::Seconds(_, set), Field::Double(value)) => set(row, span(*value)),
            (Cell::Millis(_, set), Field::Double(value)) => set(row, span(*value / 1000.0)),
            (Cell::Word(_, set), Field::Str(text)) => match u64::from_str_radix(text, 16) {
                Ok(word) => set(row, word),
                Err(_) => return false,
            },
            (Cell::Text(_, set), Field::Str(text)) => {
                let known = texts.get(text.as_str()).cloned();
                set(
                    row,
                    known.unwrap_or_else(|| {
                        let text = Arc::from(text.as_str());
                        texts.insert(Arc::clone(&text));
                        text
                    }),
                );
            }
            _ => return false,
        }
        true
    }
}

/// A duration; zero if the number is not a valid duration.
pub(super) fn span(seconds: f64) -> Duration {
    std::time::Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .into()
}

/// Writes rows as a Parquet file.
pub(super) fn write<R: Recorded>(to: &mut BufWriter<&File>, rows: &[R]) -> Result<(), WriteError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned())];
    let columns: Vec<_> = R::COLUMNS.iter().map(Column::written).collect();
    tables::parquet::write(to, &columns, rows, &about)
}
