//! Rows that are written to Parquet files and read back: each column is a field of the row.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use units::{Bytes, Duration, Rate};

use crate::cell::Kind;
use crate::cell::{Cell, UNITS, Value, check_unit, split_unit};
use crate::column::{Cells, Column};
use crate::parquet::{self, ReadError, RefusedCell, Row, WriteError};

/// Rows that can be read back.
pub trait Stored: Default + 'static {
    /// The longest text of a cell. A file with a longer one is refused.
    const MAX_TEXT_BYTES: usize;

    /// Their columns, as [`stored!`](crate::stored!) makes them.
    const COLUMNS: &'static [StoredColumn<Self>];
}

/// A column that is a field of the rows `R`.
pub struct StoredColumn<R: 'static> {
    /// Its name, with the unit.
    pub name: &'static str,
    /// Its meaning, for the documentation.
    pub meaning: &'static str,
    /// True if a row cannot be read without it.
    pub is_needed: bool,
    /// Its type, and the units of which its name has one.
    pub of: (Kind, &'static [&'static str]),
    /// Returns the field's value in a unit.
    pub cell: for<'r> fn(&'r R, &str) -> Option<Value<'r>>,
    /// Sets the field to a value in a unit. Returns whether it can have this value.
    pub set: fn(&mut R, Value<'_>, &str) -> bool,
}

/// Defines rows that are read back. Each field is a column: the comment above it is the column's meaning, and the name of
/// the column follows the type. A row cannot be read without its `needed` columns. A field `as Word` uses all 64 bits. One
/// `as Named` is already in the unit of the name.
///
/// ```
/// use tables::stored::Stored;
/// use units::Duration;
///
/// const MAX_NAME_BYTES: usize = 100;
///
/// tables::stored! {
///     /// A round trip.
///     pub struct RoundTrip, texts up to MAX_NAME_BYTES {
///         /// the number of the packet
///         pub packet: u64 = "packet", needed;
///         /// the time until its acknowledgement arrived
///         pub took: Option<Duration> = "took_ms";
///     }
/// }
/// assert_eq!(RoundTrip::COLUMNS[1].name, "took_ms");
/// ```
#[macro_export]
macro_rules! stored {
    (
        $(#[$about:meta])*
        $visible:vis struct $row:ident, texts up to $max:ident {
            $(
                $(#[doc = $meaning:literal])+
                $seen:vis $field:ident: $type:ty = $name:literal $(as $form:ident)? $(, $needed:ident)?;
            )*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq)]
        $visible struct $row {
            $($(#[doc = $meaning])+ $seen $field: $type,)*
        }

        impl $crate::stored::Stored for $row {
            const MAX_TEXT_BYTES: usize = $max;

            const COLUMNS: &'static [$crate::stored::StoredColumn<$row>] = {
                use $crate::stored::*;
                &[$(StoredColumn {
                    name: $name,
                    meaning: concat!($($meaning),+),
                    is_needed: stringify!($($needed)?).len() > 0,
                    of: type_of::<$row, ($($form,)?), _>(|row| &row.$field),
                    cell: |row, unit| Field::<($($form,)?)>::cell(&row.$field, unit),
                    set: |row, value, unit| {
                        let field = Field::<($($form,)?)>::restore(value, unit);
                        field.map(|field| row.$field = field).is_some()
                    },
                }),*]
            };
        }
    };
}

/// A type of fields, and the form of its cells: `()`, `(Word,)` or `(Named,)`.
pub trait Field<Form = ()>: Sized {
    /// The type of the column.
    const KIND: Kind;

    /// The units of which the column's name must have one.
    const UNITS: &'static [&'static str] = &[];

    /// The value in this unit; `None` for null.
    fn cell(&self, unit: &str) -> Option<Value<'_>>;

    /// The field with this value; `None` if there is none.
    fn restore(value: Value<'_>, unit: &str) -> Option<Self>;
}

/// The form of a number that uses all 64 bits: text in hexadecimal, because Parquet's integers are signed.
#[derive(Debug)]
pub struct Word;

/// The form of a number that is already in the unit of the column's name.
#[derive(Debug)]
pub struct Named;

/// The type and the units of a field.
pub const fn type_of<R, Form, T: Field<Form>>(_: fn(&R) -> &T) -> (Kind, &'static [&'static str]) {
    (T::KIND, T::UNITS)
}

macro_rules! fields {
    ($($type:ty: |$value:ident, $unit:pat_param| $restored:expr;)*) => {$(
        impl Field for $type {
            const KIND: Kind = <$type as Cell<'_>>::KIND;
            const UNITS: &'static [&'static str] = <$type as Cell<'_>>::UNITS;

            fn cell(&self, unit: &str) -> Option<Value<'_>> {
                Cell::value(*self, unit)
            }

            fn restore($value: Value<'_>, $unit: &str) -> Option<$type> {
                $restored
            }
        }
    )*};
}

fields! {
    u64: |value, _| whole(value);
    u32: |value, _| whole(value)?.try_into().ok();
    u16: |value, _| whole(value)?.try_into().ok();
    usize: |value, _| whole(value)?.try_into().ok();
    bool: |value, _| match whole(value)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    Bytes: |value, _| whole(value).map(Bytes::new);
    Rate: |value, _| whole(value).map(Rate::from_bits_per_sec);
    f64: |value, _| real(value);
    Duration: |value, unit| {
        let seconds = match unit {
            "_ms" => real(value)? / 1000.0,
            _ => real(value)?,
        };
        let span = std::time::Duration::try_from_secs_f64(seconds).ok()?;
        Some(span.into())
    };
}

impl Field for Arc<str> {
    const KIND: Kind = Kind::Text;

    fn cell(&self, _: &str) -> Option<Value<'_>> {
        Some(Value::Text(Cow::Borrowed(self)))
    }

    fn restore(value: Value<'_>, _: &str) -> Option<Arc<str>> {
        Some(text(value)?.into())
    }
}

impl Field for String {
    const KIND: Kind = Kind::Text;

    fn cell(&self, _: &str) -> Option<Value<'_>> {
        Some(Value::Text(Cow::Borrowed(self)))
    }

    fn restore(value: Value<'_>, _: &str) -> Option<String> {
        Some(text(value)?.into_owned())
    }
}

impl Field<(Word,)> for u64 {
    const KIND: Kind = Kind::Text;

    fn cell(&self, _: &str) -> Option<Value<'_>> {
        Some(Value::Text(format!("{self:016x}").into()))
    }

    fn restore(value: Value<'_>, _: &str) -> Option<u64> {
        u64::from_str_radix(&text(value)?, 16).ok()
    }
}

impl Field<(Named,)> for f64 {
    const KIND: Kind = Kind::Real;
    const UNITS: &'static [&'static str] = &UNITS;

    fn cell(&self, _: &str) -> Option<Value<'_>> {
        Some(Value::Real(*self))
    }

    fn restore(value: Value<'_>, _: &str) -> Option<f64> {
        real(value)
    }
}

impl<Form, T: Field<Form>> Field<Form> for Option<T> {
    const KIND: Kind = T::KIND;
    const UNITS: &'static [&'static str] = T::UNITS;

    fn cell(&self, unit: &str) -> Option<Value<'_>> {
        self.as_ref()?.cell(unit)
    }

    fn restore(value: Value<'_>, unit: &str) -> Option<Option<T>> {
        T::restore(value, unit).map(Some)
    }
}

fn whole(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Whole(whole) => Some(whole),
        _ => None,
    }
}

fn real(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Real(real) => Some(real),
        _ => None,
    }
}

fn text(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// The columns of these rows.
pub fn columns<'r, R: Stored>() -> Vec<Column<'r, &'r R>> {
    let column = |of: &'static StoredColumn<R>| {
        let unit = split_unit(of.name).1;
        check_unit(of.name, of.of.1);
        Column {
            name: Cow::Borrowed(of.name),
            meaning: of.meaning.trim(),
            cells: Cells::Values(of.of.0, Box::new(move |row: &&'r R| (of.cell)(row, unit))),
        }
    };
    R::COLUMNS.iter().map(column).collect()
}

/// Writes the rows as a Parquet file, with `about` in its metadata.
///
/// # Errors
///
/// `to` fails. Or a row has a whole number that is too large for a signed one of 64 bits, a number that is not finite, or
/// too long a text, or all rows together have too many; then nothing is written.
pub fn write<R: Stored>(
    to: impl Write + Send,
    rows: &[R],
    about: &[(&str, String)],
) -> Result<(), WriteError> {
    let columns = columns();
    let mut texts = 0;
    for (place, row) in rows.iter().enumerate() {
        let mut check = |of: &StoredColumn<R>| match (of.cell)(row, split_unit(of.name).1) {
            Some(Value::Whole(whole)) if i64::try_from(whole).is_err() => {
                Err(RefusedCell::Unfit(of.name))
            }
            Some(Value::Real(real)) if !real.is_finite() => Err(RefusedCell::Unfit(of.name)),
            Some(Value::Text(text)) if text.len() > R::MAX_TEXT_BYTES => {
                Err(RefusedCell::Long(of.name))
            }
            Some(Value::Text(text)) => {
                texts += text.len() as u64;
                Ok(())
            }
            _ => Ok(()),
        };
        let checked = R::COLUMNS.iter().try_for_each(&mut check);
        let row = place as u64 + 1;
        checked.map_err(|cell| WriteError::refused(&ReadError::Cell { row, cell }))?;
    }
    if texts > parquet::MAX_TEXTS_BYTES {
        let why = ReadError::Texts(parquet::MAX_TEXTS_BYTES);
        return Err(WriteError::refused(&why));
    }
    parquet::write(to, &columns, rows, about)
}

/// Gives `take` the rows of a Parquet file, all or none, one after the other.
///
/// # Errors
///
/// The file cannot be read, is damaged, claims too many rows, or has too many texts. Or a row lacks a needed value, has one that its column
/// cannot have, or has too long a text; the error names the column.
pub fn each_row<R: Stored>(file: File, take: impl FnMut(R)) -> Result<(), ReadError> {
    parquet::each_row(file, &names::<R>(), read, take)
}

/// The rows of a Parquet file, which are held in memory.
///
/// # Errors
///
/// As for [`each_row`].
pub fn rows<R: Stored>(file: File) -> Result<Vec<R>, ReadError> {
    parquet::rows(file, &names::<R>(), read)
}

fn names<R: Stored>() -> Vec<&'static str> {
    R::COLUMNS.iter().map(|column| column.name).collect()
}

fn read<R: Stored>(cells: &Row<'_>) -> Result<R, RefusedCell> {
    let mut row = R::default();
    for column in R::COLUMNS {
        let value = match cells.value(column.name, column.of.0)? {
            None if column.is_needed => return Err(RefusedCell::Missing(column.name)),
            None => continue,
            Some(Value::Text(text)) if text.len() > R::MAX_TEXT_BYTES => {
                return Err(RefusedCell::Long(column.name));
            }
            Some(value) => value,
        };
        if !(column.set)(&mut row, value, split_unit(column.name).1) {
            return Err(RefusedCell::Unfit(column.name));
        }
    }
    Ok(row)
}

#[cfg(test)]
mod tests;
