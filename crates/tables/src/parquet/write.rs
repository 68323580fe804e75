//! Writes rows of any type as a Parquet file.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::error::ReadError;
use crate::cell::Kind;
use crate::cell::Value;
use crate::column::{Cells, Column};

/// The rows of a row group, which are kept and written at once: some tens of megabytes.
const ROWS_PER_GROUP: usize = 1 << 17;

/// A table could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}", bare(.0))]
pub struct WriteError(#[from] ParquetError);

impl WriteError {
    /// The rows have a value that would be read back as another one, or refused.
    pub(crate) fn refused(why: &ReadError) -> WriteError {
        WriteError(ParquetError::External(why.to_string().into()))
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError(error.into())
    }
}

/// The message of an error. For a file's error it is the system's, without Parquet's prefix "External: ".
fn bare(error: &ParquetError) -> String {
    match error {
        ParquetError::External(inner) => inner.to_string(),
        other => other.to_string(),
    }
}

/// Writes the rows as one Parquet file, compressed with Snappy, with `about` as its key-value metadata. Equal rows give
/// equal bytes.
///
/// # Errors
///
/// `to` fails.
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
        let group: Vec<R> = rows.by_ref().take(ROWS_PER_GROUP).collect();
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
    let fields = columns.iter().map(|column| match &column.cells {
        Cells::List(list) => {
            let fields = list.fields.iter().map(|(name, kind)| field(name, *kind));
            list_field(&column.name, fields.collect::<Result<_, _>>()?)
        }
        Cells::Values(kind, _) => field(&column.name, *kind),
    });
    Type::group_type_builder("row")
        .with_fields(fields.collect::<Result<_, ParquetError>>()?)
        .build()
}

fn field(name: &str, kind: Kind) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Whole => (Physical::INT64, None),
        Kind::Real => (Physical::DOUBLE, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::List => {
            let why = format!("{name} is a list in a list");
            return Err(ParquetError::General(why));
        }
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(match logical {
            Some(_) => ConvertedType::UTF8,
            None => ConvertedType::NONE,
        })
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

/// Returns the three levels of a list in Parquet's format: `optional group (LIST) { repeated group list { element } }`.
fn list_field(name: &str, fields: Vec<Arc<Type>>) -> Result<Arc<Type>, ParquetError> {
    let element = Type::group_type_builder("element")
        .with_repetition(Repetition::REQUIRED)
        .with_fields(fields)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    let field = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(ConvertedType::LIST)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()?;
    Ok(Arc::new(field))
}

/// The values of a leaf column, with their levels of definition and repetition.
struct Leaf {
    values: Values,
    definition: Vec<i16>,
    /// Empty without lists.
    repetition: Vec<i16>,
}

enum Values {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Leaf {
    fn new(kind: Kind) -> Leaf {
        Leaf {
            values: match kind {
                Kind::Whole => Values::Whole(Vec::new()),
                Kind::Real => Values::Real(Vec::new()),
                Kind::Text | Kind::List => Values::Text(Vec::new()),
            },
            definition: Vec::new(),
            repetition: Vec::new(),
        }
    }

    /// Adds a value. Its level of definition is `level` if it is null, and the next one if not.
    fn add(&mut self, value: Option<Value<'_>>, level: i16) {
        self.definition.push(level + i16::from(value.is_some()));
        match (value, &mut self.values) {
            (Some(Value::Whole(value)), Values::Whole(values)) => {
                values.push(i64::try_from(value).unwrap_or(i64::MAX));
            }
            (Some(Value::Real(value)), Values::Real(values)) => values.push(value),
            (Some(Value::Text(value)), Values::Text(values)) => {
                values.push(ByteArray::from(value.into_owned().into_bytes()));
            }
            _ => {}
        }
    }
}

/// Returns the leaf columns of this column.
fn leaves<R>(column: &Column<'_, R>, rows: &[R]) -> Vec<Leaf> {
    let Cells::List(list) = &column.cells else {
        let mut leaf = Leaf::new(column.kind());
        for row in rows {
            leaf.add(column.value(row), 0);
        }
        return vec![leaf];
    };
    let fields = list.fields.iter();
    let mut leaves: Vec<Leaf> = fields.map(|(_, kind)| Leaf::new(*kind)).collect();
    for row in rows {
        match list.items(row) {
            // 2: an item without a value here; 3: an item with one.
            Some(items) if !items.is_empty() => {
                for (place, item) in items.into_iter().enumerate() {
                    for (leaf, value) in leaves.iter_mut().zip(item) {
                        leaf.add(value, 2);
                        leaf.repetition.push(i16::from(place > 0));
                    }
                }
            }
            // 0: no list; 1: an empty list.
            items => {
                for leaf in &mut leaves {
                    leaf.add(None, i16::from(items.is_some()));
                    leaf.repetition.push(0);
                }
            }
        }
    }
    leaves
}

fn write_column<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column<'_, R>,
    rows: &[R],
) -> Result<(), ParquetError> {
    for leaf in leaves(column, rows) {
        match &leaf.values {
            Values::Whole(values) => write_leaf::<Int64Type, _>(group, values, &leaf)?,
            Values::Real(values) => write_leaf::<DoubleType, _>(group, values, &leaf)?,
            Values::Text(values) => write_leaf::<ByteArrayType, _>(group, values, &leaf)?,
        }
    }
    Ok(())
}

fn write_leaf<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    leaf: &Leaf,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General(
            "more columns than the schema has".to_string(),
        ));
    };
    let repetition = Some(&leaf.repetition[..]).filter(|levels| !levels.is_empty());
    column
        .typed::<T>()
        .write_batch(values, Some(&leaf.definition), repetition)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    /// A file on a full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_has_the_message_of_the_system() {
        let columns = [Column::new("number", "", |row: &u64| *row)];
        let error = write(Full, &columns, [1_u64], &[]).expect_err("a full disk");
        let said = io::Error::from(ErrorKind::StorageFull).to_string();
        assert_eq!(error.to_string(), said);
    }
}
