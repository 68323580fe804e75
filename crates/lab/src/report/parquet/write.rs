//! Rows of any type as a Parquet file.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// Rows that are held and written at once: a row group, of some tens of megabytes.
const GROUP: usize = 1 << 17;

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct WriteError(#[from] ParquetError);

/// A column of a table with rows of type `R`.
pub struct Column<'c, R> {
    /// Its name, with the unit.
    pub name: Cow<'c, str>,
    /// What a row has in it.
    pub cells: Cells<'c, R>,
}

/// Looks a cell up in its row.
type Cell<'c, R, T> = Box<dyn Fn(&R) -> Option<T> + 'c>;

/// What a row has in a column; nothing is null.
pub enum Cells<'c, R> {
    /// A whole number; one that is too large for a signed number of 64 bits becomes the largest.
    Whole(Cell<'c, R, u64>),
    /// A number.
    Real(Cell<'c, R, f64>),
    /// Text.
    Text(Cell<'c, R, Cow<'c, str>>),
}

impl<'c, R> Column<'c, R> {
    /// A column of whole numbers.
    pub fn whole(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<u64> + 'c,
    ) -> Column<'c, R> {
        Column {
            name: name.into(),
            cells: Cells::Whole(Box::new(cell)),
        }
    }

    /// A column of numbers.
    pub fn real(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<f64> + 'c,
    ) -> Column<'c, R> {
        Column {
            name: name.into(),
            cells: Cells::Real(Box::new(cell)),
        }
    }

    /// A column of texts.
    pub fn text(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<Cow<'c, str>> + 'c,
    ) -> Column<'c, R> {
        Column {
            name: name.into(),
            cells: Cells::Text(Box::new(cell)),
        }
    }
}

/// Writes the rows as one Parquet file, compressed with Snappy, with `about` as its key-value metadata. The same rows
/// give the same bytes.
///
/// # Errors
///
/// `to` does not take it.
pub fn write<R, W: Write + Send>(
    to: W,
    columns: &[Column<'_, R>],
    rows: impl IntoIterator<Item = R>,
    about: &[(&str, String)],
) -> Result<(), WriteError> {
    let about = about
        .iter()
        .map(|(key, value)| KeyValue::new(key.to_string(), value.clone()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("fullpipe {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(about.collect()))
        .build();
    let schema = Arc::new(schema(columns)?);
    let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    let mut rows = rows.into_iter();
    loop {
        let group: Vec<R> = rows.by_ref().take(GROUP).collect();
        if group.is_empty() {
            break;
        }
        let mut writer = file.next_row_group()?;
        for column in columns {
            write_column(&mut writer, column, &group)?;
        }
        writer.close()?;
    }
    file.close()?;
    Ok(())
}

fn schema<R>(columns: &[Column<'_, R>]) -> Result<Type, ParquetError> {
    let fields = columns.iter().map(|column| {
        let (physical, logical) = match column.cells {
            Cells::Whole(_) => (Physical::INT64, None),
            Cells::Real(_) => (Physical::DOUBLE, None),
            Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(match logical {
                Some(_) => ConvertedType::UTF8,
                None => ConvertedType::NONE,
            })
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    });
    Type::group_type_builder("row")
        .with_fields(fields.collect::<Result<_, ParquetError>>()?)
        .build()
}

fn write_column<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column<'_, R>,
    rows: &[R],
) -> Result<(), ParquetError> {
    match &column.cells {
        Cells::Whole(cell) => {
            let cell = |row| cell(row).map(|value| i64::try_from(value).unwrap_or(i64::MAX));
            write_cells::<Int64Type, _>(group, rows.iter().map(cell))
        }
        Cells::Real(cell) => write_cells::<DoubleType, _>(group, rows.iter().map(cell)),
        Cells::Text(cell) => {
            let cell = |row| cell(row).map(|text| ByteArray::from(text.as_ref()));
            write_cells::<ByteArrayType, _>(group, rows.iter().map(cell))
        }
    }
}

fn write_cells<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    // A definition level of 1 says that there is a value.
    let levels: Vec<i16> = cells
        .map(|cell| match cell {
            Some(value) => {
                values.push(value);
                1
            }
            None => 0,
        })
        .collect();
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General(
            "more columns than the schema has".to_string(),
        ));
    };
    column
        .typed::<T>()
        .write_batch(&values, Some(&levels), None)?;
    column.close()
}
