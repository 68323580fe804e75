//! Reads the rows of Parquet files, which may be damaged.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use parquet::basic::Repetition;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::{Type, TypePtr};

use super::claims::{check_apart, check_footer, check_pages};
use super::error::{ReadError, RefusedCell};
use crate::cell::Kind;
use crate::cell::Value;

/// The maximum number of rows of a file. Fullpipe writes far fewer, but users may join files. A few bytes can claim any
/// number of rows.
const MAX_ROWS: u64 = 1 << 24;

/// The most bytes of the texts of all rows of a file, 64 for each of the most rows. A small file may have one long text in
/// every row.
pub(crate) const MAX_TEXTS_BYTES: u64 = 1 << 30;

/// The rows that are decoded at once. Their texts are held, and a small file may have texts of many megabytes.
const ROWS_AT_ONCE: usize = 4;

/// The largest whole number up to which a `f64` has all of them.
const MAX_EXACT: f64 = ((1_u64 << f64::MANTISSA_DIGITS) - 1) as f64;

/// The cells of a row by the names of their columns.
pub struct Row<'r>(HashMap<&'r str, &'r Field>);

impl Row<'_> {
    /// The value of this type; `None` if the cell is null or the column is absent. Other programs write whole numbers
    /// in any of Parquet's types of numbers.
    pub fn value(&self, name: &'static str, kind: Kind) -> Result<Option<Value<'_>>, RefusedCell> {
        let value = match (kind, self.0.get(name)) {
            (_, None | Some(Field::Null)) => return Ok(None),
            (Kind::Whole, Some(field)) => whole(field).map(Value::Whole),
            (Kind::Real, Some(field)) => real(field).map(Value::Real),
            (Kind::Text, Some(Field::Str(value))) => Some(Value::Text(value.into())),
            (Kind::Text | Kind::List, Some(_)) => None,
        };
        value.map(Some).ok_or(RefusedCell::Unfit(name))
    }
}

/// The whole number that is not negative; `None` if the field has none.
fn whole(field: &Field) -> Option<u64> {
    match *field {
        Field::Bool(value) => Some(value.into()),
        Field::Byte(value) => value.try_into().ok(),
        Field::Short(value) => value.try_into().ok(),
        Field::Int(value) => value.try_into().ok(),
        Field::Long(value) => value.try_into().ok(),
        Field::UByte(value) => Some(value.into()),
        Field::UShort(value) => Some(value.into()),
        Field::UInt(value) => Some(value.into()),
        Field::ULong(value) => Some(value),
        Field::Float(value) => exact(value.into()),
        Field::Double(value) => exact(value),
        _ => None,
    }
}

/// The whole number that has this value, and no other number's.
fn exact(value: f64) -> Option<u64> {
    let is_exact = value.fract() == 0.0 && (0.0..=MAX_EXACT).contains(&value);
    is_exact.then_some(value as u64)
}

/// The finite number; `None` if the field has none.
fn real(field: &Field) -> Option<f64> {
    let value = match *field {
        Field::Float(value) => value.into(),
        Field::Double(value) => value,
        Field::Int(value) => value.into(),
        Field::Long(value) => value as f64,
        _ => whole(field)? as f64,
    };
    value.is_finite().then_some(value)
}

/// The bytes of a text.
fn length(field: &Field) -> u64 {
    match field {
        Field::Str(text) => text.len() as u64,
        Field::Bytes(bytes) => bytes.len() as u64,
        _ => 0,
    }
}

/// Gives `take` the rows of a file, all or none, as `make` makes them of the cells of these columns. The file is read twice,
/// and not held in memory, as the rows of a small file may be large: `make` gets each row twice, and is to give the same both
/// times.
///
/// # Errors
///
/// The file cannot be read, is damaged, claims too many rows or too much memory, has too many texts, or `make` refuses a row.
pub fn each_row<T>(
    file: File,
    columns: &[&'static str],
    mut make: impl FnMut(&Row<'_>) -> Result<T, RefusedCell>,
    take: impl FnMut(T),
) -> Result<(), ReadError> {
    let table = Table::open(file, columns)?;
    table.each(&mut make, drop)?;
    table.each(&mut make, take)
}

/// The rows of a file as `make` makes them. The file is read once, and its rows are held in memory.
///
/// # Errors
///
/// As for [`each_row`].
pub fn rows<T>(
    file: File,
    columns: &[&'static str],
    mut make: impl FnMut(&Row<'_>) -> Result<T, RefusedCell>,
) -> Result<Vec<T>, ReadError> {
    let mut rows = Vec::new();
    Table::open(file, columns)?.each(&mut make, |row| rows.push(row))?;
    Ok(rows)
}

/// The number of rows that a file claims; `None` if it is not a Parquet file, or its claims do not fit together.
pub fn row_count(file: File) -> Option<u64> {
    Some(Table::open(file, &[]).ok()?.row_count)
}

/// A file whose claims about itself fit together, and can be read in bounded memory.
struct Table {
    reader: SerializedFileReader<File>,
    /// The columns that are read.
    wanted: Type,
    row_count: u64,
}

impl Table {
    fn open(file: File, columns: &[&'static str]) -> Result<Table, ReadError> {
        check_footer(&file)?;
        let again = file.try_clone()?;
        let reader = quietly(|| SerializedFileReader::new(file)).ok_or(ReadError::Damaged)??;
        let groups = reader.metadata().row_groups();
        let mut row_count = 0_u64;
        for group in groups {
            // Rows are read by the claims of the groups, not by that of the file.
            let rows = u64::try_from(group.num_rows()).map_err(|_| ReadError::Damaged)?;
            row_count = row_count.saturating_add(rows);
        }
        if row_count > MAX_ROWS {
            return Err(ReadError::Rows(MAX_ROWS));
        }
        let claimed = u64::try_from(reader.metadata().file_metadata().num_rows());
        let is_somewhere = |column: &ColumnChunkMetaData| {
            let dictionary = column.dictionary_page_offset().unwrap_or(0);
            column
                .data_page_offset()
                .min(dictionary)
                .min(column.compressed_size())
                >= 0
        };
        let mut chunks = groups.iter().flat_map(|group| group.columns());
        if claimed != Ok(row_count) || !chunks.all(is_somewhere) {
            return Err(ReadError::Damaged);
        }
        let is_wanted = |chunk: &ColumnChunkMetaData| match chunk.column_path().parts() {
            [name] => columns.contains(&name.as_str()),
            _ => false,
        };
        let chunks = groups.iter().flat_map(|group| group.columns());
        check_apart(chunks.filter(|chunk| is_wanted(chunk)))?;
        for group in groups {
            check_pages(&again, group, is_wanted)?;
        }
        let wanted = wanted(reader.metadata().file_metadata().schema(), columns)?;
        Ok(Table {
            reader,
            wanted,
            row_count,
        })
    }

    /// Gives `take` one row after the other, until the first that cannot be read or made.
    fn each<T>(
        &self,
        make: &mut impl FnMut(&Row<'_>) -> Result<T, RefusedCell>,
        mut take: impl FnMut(T),
    ) -> Result<(), ReadError> {
        let wanted = Some(self.wanted.clone());
        let rows = quietly(|| self.reader.get_row_iter(wanted)).ok_or(ReadError::Damaged)??;
        let mut read = rows.with_batch_size(ROWS_AT_ONCE);
        let mut texts = 0_u64;
        let mut next = || quietly(|| read.next()).ok_or(ReadError::Damaged);
        for number in 1..=self.row_count {
            let row = next()?.ok_or(ReadError::Damaged)??;
            texts += row
                .get_column_iter()
                .map(|(_, field)| length(field))
                .sum::<u64>();
            if texts > MAX_TEXTS_BYTES {
                return Err(ReadError::Texts(MAX_TEXTS_BYTES));
            }
            let named = row.get_column_iter();
            let cells = named.map(|(name, field)| (name.as_str(), field)).collect();
            take(make(&Row(cells)).map_err(|cell| ReadError::Cell { row: number, cell })?);
        }
        match next()? {
            None => Ok(()),
            Some(_) => Err(ReadError::Damaged),
        }
    }
}

/// The part of a schema with these columns, each once. Other columns are not read: one row of a list may take any memory.
fn wanted(schema: &Type, columns: &[&'static str]) -> Result<Type, ReadError> {
    let mut fields: Vec<TypePtr> = Vec::new();
    for field in schema.get_fields() {
        let name = field.name();
        let Some(name) = columns.iter().find(|column| **column == name) else {
            continue;
        };
        let info = field.get_basic_info();
        if !field.is_primitive() || info.repetition() == Repetition::REPEATED {
            let cell = RefusedCell::Unfit(name);
            return Err(ReadError::Cell { row: 1, cell });
        }
        if fields.iter().all(|other| other.name() != *name) {
            fields.push(Arc::clone(field));
        }
    }
    let part = Type::group_type_builder(schema.name()).with_fields(fields);
    Ok(part.build()?)
}

thread_local! {
    /// True while a panic of this thread is expected, and caught.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result, or `None` after a panic, as the library has on some damaged files. Such a panic is not printed; those of other threads are.
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
    use std::io::{Seek, SeekFrom, Write};
    use std::rc::Rc;

    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataWriter};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::Column;
    use crate::parquet::write;

    fn number(row: &Row<'_>) -> Result<u64, RefusedCell> {
        match row.value("number", Kind::Whole)? {
            Some(Value::Whole(number)) => Ok(number),
            _ => Err(RefusedCell::Missing("number")),
        }
    }

    /// The numbers of a file.
    fn numbers(file: File) -> Result<Vec<u64>, ReadError> {
        let mut numbers = Vec::new();
        each_row(file, &["number"], number, |number| numbers.push(number))?;
        Ok(numbers)
    }

    #[test]
    fn all_row_groups_are_read_however_many_rows_there_are() {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::new("number", "", |row: &u64| *row)];
        write(&mut file, &columns, 0..200_000, &[]).expect("room");
        assert_eq!(row_count(file.try_clone().expect("a file")), Some(200_000));
        let numbers = numbers(file).expect("a file of rows");
        assert!(numbers.into_iter().eq(0..200_000));
    }

    #[test]
    fn rows_without_a_column_and_bytes_without_rows_are_refused() {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::new("number", "", |row: &f64| *row)];
        write(&mut file, &columns, [1.5], &[]).expect("room");
        let again = file.try_clone().expect("a file");
        let refused = numbers(again);
        assert!(
            matches!(
                refused,
                Err(ReadError::Cell {
                    row: 1,
                    cell: RefusedCell::Unfit("number")
                })
            ),
            "{refused:?}"
        );
        file.rewind().expect("a file");
        file.write_all(&[7; 64]).expect("room");
        file.set_len(64).expect("a file");
        assert!(each_row(file, &[], |_| Ok(()), drop).is_err());
    }

    #[test]
    fn one_row_is_held_at_a_time() {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::new("number", "", |row: &u64| *row)];
        write(&mut file, &columns, 0..200_000, &[]).expect("room");
        let held = Rc::new(());
        let mut sum = 0;
        let make = |row: &Row<'_>| Ok((number(row)?, Rc::clone(&held)));
        let read = each_row(file, &["number"], make, |(number, _)| {
            assert_eq!(Rc::strong_count(&held), 2);
            sum += number;
        });
        read.expect("a file of rows");
        assert_eq!(sum, 199_999 * 200_000 / 2);
    }

    #[test]
    fn nothing_is_taken_of_a_file_that_cannot_be_read_to_its_end() {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::new("number", "", |row: &u64| *row)];
        write(&mut file, &columns, 0..200_000, &[]).expect("room");
        let again = file.try_clone().expect("a file");
        let make = |row: &Row<'_>| match number(row)? {
            199_999 => Err(RefusedCell::Unfit("number")),
            number => Ok(number),
        };
        let error = each_row(again, &["number"], make, |row| panic!("{row} is taken"))
            .expect_err("refused");
        assert!(error.to_string().contains("row 200000"), "{error}");
        // The last page's bytes, which are before the footer.
        let reader = SerializedFileReader::new(file.try_clone().expect("a file"));
        let reader = reader.expect("a file of rows");
        let last = reader.metadata().row_groups().last().expect("a group");
        let (start, length) = last.column(0).byte_range();
        file.seek(SeekFrom::Start(start + length - 100))
            .expect("a file");
        file.write_all(&[0xff; 100]).expect("room");
        let make = |row: &Row<'_>| number(row);
        let read = each_row(file, &["number"], make, |row| panic!("{row} is taken"));
        assert!(read.is_err());
    }

    /// A number of rows as a footer has it: the third field, after the second one, as a variable integer with its sign last.
    fn claim(rows: i64) -> Vec<u8> {
        let mut left = ((rows << 1) ^ (rows >> 63)).cast_unsigned();
        let mut bytes = vec![0x16];
        while left > 0x7f {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    }

    /// A file of ten rows whose footer claims `all` rows, and its groups these.
    fn claiming(all: i64, groups: &[i64]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        let columns = [Column::new("number", "", |row: &u64| *row)];
        write(&mut file, &columns, 0..10, &[]).expect("room");
        let again = file.try_clone().expect("a file");
        let reader = SerializedFileReader::new(again).expect("a file of rows");
        let of_group = |rows: &i64| {
            let group = reader.metadata().row_group(0).clone();
            let group = group.into_builder().set_num_rows(*rows).build();
            group.expect("a group")
        };
        let about = reader.metadata().file_metadata().clone();
        let claims = ParquetMetaData::new(about, groups.iter().map(of_group).collect());
        let mut footer = Vec::new();
        let writer = ParquetMetaDataWriter::new(&mut footer, &claims);
        writer.finish().expect("room");
        // The writer claims the sum. The footer's length and a magic number come after it.
        footer.truncate(footer.len() - 8);
        let sum = claim(groups.iter().sum());
        let at = footer.windows(sum.len()).position(|bytes| bytes == sum);
        let at = at.expect("a number of rows");
        footer.splice(at..at + sum.len(), claim(all));
        let length = u32::try_from(footer.len()).expect("a short footer");
        footer.extend(length.to_le_bytes());
        footer.extend(b"PAR1");
        file.seek(SeekFrom::End(0)).expect("a file");
        file.write_all(&footer).expect("room");
        file
    }

    #[test]
    fn claims_of_rows_that_do_not_fit_together_are_refused() {
        let read = |all, groups: &[i64]| {
            let count = row_count(claiming(all, groups));
            let read = numbers(claiming(all, groups));
            assert_eq!(count.is_none(), read.is_err(), "{all} {groups:?}");
            read
        };
        assert!(read(10, &[10]).expect("ten rows").into_iter().eq(0..10));
        let damaged = [
            (0, &[10][..]),
            (10, &[10, 10]),
            (-10, &[-10]),
            (0, &[10, -10]),
            (-1, &[]),
        ];
        for (all, groups) in damaged {
            let refused = read(all, groups);
            assert!(matches!(refused, Err(ReadError::Damaged)), "{refused:?}");
        }
        for groups in [&[(1 << 24) + 1][..], &[1 << 24, 1], &[i64::MAX]] {
            let refused = read(10, groups);
            assert!(matches!(refused, Err(ReadError::Rows(_))), "{refused:?}");
        }
    }

    #[test]
    fn groups_of_rows_that_are_the_same_bytes_are_refused() {
        let refused = numbers(claiming(20, &[10, 10]));
        assert!(matches!(refused, Err(ReadError::Damaged)), "{refused:?}");
    }

    #[test]
    fn a_text_of_many_rows_counts_for_each() {
        let text = ByteArray::from(vec![b'a'; 1 << 19]);
        let most = (MAX_TEXTS_BYTES >> 19) as usize;
        let schema = "message row { optional binary text (utf8); }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let read = |count: usize| {
            let mut file = tempfile::tempfile().expect("a file");
            let to = file.try_clone().expect("a file");
            let writer = SerializedFileWriter::new(to, Arc::clone(&schema), Default::default());
            let mut writer = writer.expect("a file");
            let mut group = writer.next_row_group().expect("a group");
            let mut column = group.next_column().expect("room").expect("a column");
            let typed = column.typed::<ByteArrayType>();
            let texts = vec![text.clone(); count];
            let written = typed.write_batch(&texts, Some(&vec![1; count]), None);
            written.expect("room");
            column.close().expect("room");
            group.close().expect("room");
            writer.close().expect("room");
            let length = file.seek(SeekFrom::End(0)).expect("a file");
            assert!(length < 1 << 22, "{length}");
            let mut taken = 0;
            let result = rows(file, &["text"], |_| Ok(())).map(|rows| taken = rows.len());
            (taken, result.map_err(|error| error.to_string()))
        };
        assert_eq!(read(most), (most, Ok(())));
        let refused = read(most + 1).1.expect_err("refused");
        assert!(
            refused.starts_with("has rows with more than 1024 MiB of texts"),
            "{refused}"
        );
    }

    #[test]
    fn rows_are_not_more_than_there_are() {
        let refused = numbers(claiming(11, &[11]));
        assert!(refused.is_err(), "{refused:?}");
    }
}
