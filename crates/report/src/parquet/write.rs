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
#[error("{}", bare(.0))]
pub struct WriteError(#[from] ParquetError);

/// The message of an error. The error of a file has the system's message, without Parquet's prefix "External: ".
fn bare(error: &ParquetError) -> String {
    match error {
        ParquetError::External(inner) => inner.to_string(),
        other => other.to_string(),
    }
}

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
    /// A list of structs.
    List(Box<dyn List<R> + 'c>),
}

/// What a row has in a column with a list of structs, whatever the items are.
pub trait List<R> {
    /// The fields of the structs.
    ///
    /// # Errors
    ///
    /// One of them is a list itself.
    fn fields(&self) -> Result<Vec<Arc<Type>>, ParquetError>;

    /// What the rows have in each field, and where.
    fn leaves(&self, rows: &[R]) -> Vec<Leaf>;
}

/// What rows have in a column that has values and no parts, and where: as Parquet's levels of definition and repetition say
/// it.
#[derive(Debug)]
pub struct Leaf {
    values: Values,
    definition: Vec<i16>,
    /// Without lists there is none.
    repetition: Option<Vec<i16>>,
}

#[derive(Debug)]
enum Values {
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

/// The items of a row's list.
type Items<'c, R, I> = Box<dyn Fn(&R) -> Option<Vec<I>> + 'c>;

/// A list of structs, made from items and what each of them has in the fields.
struct Structs<'c, R, I> {
    items: Items<'c, R, I>,
    fields: Vec<Column<'c, I>>,
}

impl<'c, R> Column<'c, R> {
    fn new(name: impl Into<Cow<'c, str>>, cells: Cells<'c, R>) -> Column<'c, R> {
        let name = name.into();
        Column { name, cells }
    }

    /// A column of whole numbers.
    pub fn whole(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<u64> + 'c,
    ) -> Column<'c, R> {
        Column::new(name, Cells::Whole(Box::new(cell)))
    }

    /// A column of numbers.
    pub fn real(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<f64> + 'c,
    ) -> Column<'c, R> {
        Column::new(name, Cells::Real(Box::new(cell)))
    }

    /// A column of lists of structs: the items of a row, and what each of them has in the fields, which are no lists.
    pub fn list<I: 'c>(
        name: impl Into<Cow<'c, str>>,
        items: impl Fn(&R) -> Option<Vec<I>> + 'c,
        fields: Vec<Column<'c, I>>,
    ) -> Column<'c, R>
    where
        R: 'c,
    {
        let items = Box::new(items);
        Column::new(name, Cells::List(Box::new(Structs { items, fields })))
    }

    /// Whether what a row has in it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.cells, Cells::List(_))
    }

    /// A column of texts.
    pub fn text(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<Cow<'c, str>> + 'c,
    ) -> Column<'c, R> {
        Column::new(name, Cells::Text(Box::new(cell)))
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
    let fields = columns.iter().map(Column::field);
    Type::group_type_builder("row")
        .with_fields(fields.collect::<Result<_, ParquetError>>()?)
        .build()
}

impl<R> Column<'_, R> {
    fn field(&self) -> Result<Arc<Type>, ParquetError> {
        let (physical, logical) = match &self.cells {
            Cells::Whole(_) => (Physical::INT64, None),
            Cells::Real(_) => (Physical::DOUBLE, None),
            Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Cells::List(list) => return list_field(&self.name, list.fields()?),
        };
        let field = Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(match logical {
                Some(_) => ConvertedType::UTF8,
                None => ConvertedType::NONE,
            })
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    }

    /// What the rows have in the columns without parts that this one is made of.
    fn leaves(&self, rows: &[R]) -> Vec<Leaf> {
        if let Cells::List(list) = &self.cells {
            return list.leaves(rows);
        }
        let mut leaf = self.cells.no_values();
        for row in rows {
            let is_there = leaf.values.take(&self.cells, row);
            // A definition level of 1 says that there is a value.
            leaf.definition.push(i16::from(is_there));
        }
        vec![leaf]
    }
}

/// The three levels that Parquet's format wants of a list: `optional group (LIST) { repeated group list { element } }`.
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

impl<R, I> List<R> for Structs<'_, R, I> {
    fn fields(&self) -> Result<Vec<Arc<Type>>, ParquetError> {
        let field = |column: &Column<'_, I>| match column.cells {
            Cells::List(_) => Err(ParquetError::General(format!(
                "{} is a list in a list",
                column.name
            ))),
            _ => column.field(),
        };
        self.fields.iter().map(field).collect()
    }

    fn leaves(&self, rows: &[R]) -> Vec<Leaf> {
        let lists: Vec<Option<Vec<I>>> = rows.iter().map(|row| (self.items)(row)).collect();
        let of_field = |column: &Column<'_, I>| {
            let mut leaf = column.cells.no_values();
            let mut repetition = Vec::new();
            for list in &lists {
                let items = list.as_deref().unwrap_or_default();
                if items.is_empty() {
                    // 0: there is no list; 1: there is one without items.
                    leaf.definition.push(i16::from(list.is_some()));
                    repetition.push(0);
                }
                for (place, item) in items.iter().enumerate() {
                    // 2: there is an item that has no value here; 3: one that has.
                    let is_there = leaf.values.take(&column.cells, item);
                    leaf.definition.push(2 + i16::from(is_there));
                    repetition.push(i16::from(place > 0));
                }
            }
            leaf.repetition = Some(repetition);
            leaf
        };
        self.fields.iter().map(of_field).collect()
    }
}

impl<R> Cells<'_, R> {
    fn no_values(&self) -> Leaf {
        Leaf {
            values: match self {
                Cells::Whole(_) => Values::Whole(Vec::new()),
                Cells::Real(_) => Values::Real(Vec::new()),
                Cells::Text(_) | Cells::List(_) => Values::Text(Vec::new()),
            },
            definition: Vec::new(),
            repetition: None,
        }
    }
}

impl Values {
    /// Takes in what the row has in the cell; whether that is anything.
    fn take<R>(&mut self, cells: &Cells<'_, R>, row: &R) -> bool {
        match (cells, self) {
            (Cells::Whole(cell), Values::Whole(values)) => {
                let value = cell(row).map(|value| i64::try_from(value).unwrap_or(i64::MAX));
                add(values, value)
            }
            (Cells::Real(cell), Values::Real(values)) => add(values, cell(row)),
            (Cells::Text(cell), Values::Text(values)) => {
                add(values, cell(row).map(|text| ByteArray::from(text.as_ref())))
            }
            _ => false,
        }
    }
}

fn add<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
    let before = values.len();
    values.extend(value);
    values.len() > before
}

fn write_column<R, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column<'_, R>,
    rows: &[R],
) -> Result<(), ParquetError> {
    for leaf in column.leaves(rows) {
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
    column
        .typed::<T>()
        .write_batch(values, Some(&leaf.definition), leaf.repetition.as_deref())?;
    column.close()
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};

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
        let columns = [Column::whole("number", |row: &u64| Some(*row))];
        let error = write(Full, &columns, [1_u64], &[]).expect_err("a full disk");
        let said = io::Error::from(ErrorKind::StorageFull).to_string();
        assert_eq!(error.to_string(), said);
    }
}
