//! The columns of a table as Arrow arrays.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::ArrowError;
use tables::{Cells, Column};

/// The rows as a record batch. Text is dictionary-encoded, since it repeats.
///
/// # Errors
///
/// There are too many texts for a dictionary.
pub fn batch<R>(
    (columns, rows): (Vec<Column<'_, R>>, impl Iterator<Item = R>),
) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<R> = rows.collect();
    let mut named = Vec::new();
    for column in &columns {
        named.push((column.name.as_ref(), array(&column.cells, &rows)?, true));
    }
    RecordBatch::try_from_iter_with_nullable(named)
}

fn array<R>(cells: &Cells<'_, R>, rows: &[R]) -> Result<ArrayRef, ArrowError> {
    Ok(match cells {
        Cells::Whole(cell) => {
            let whole = |row| Some(i64::try_from(cell(row)?).unwrap_or(i64::MAX));
            Arc::new(Int64Array::from_iter(rows.iter().map(whole)))
        }
        Cells::Real(cell) => Arc::new(Float64Array::from_iter(rows.iter().map(cell))),
        Cells::Text(cell) => {
            let mut texts = StringDictionaryBuilder::<Int32Type>::new();
            for row in rows {
                match cell(row) {
                    Some(text) => drop(texts.append(text)?),
                    None => texts.append_null(),
                }
            }
            Arc::new(texts.finish())
        }
        Cells::List(_) => {
            return Err(ArrowError::NotYetImplemented(
                "a list of structs".to_owned(),
            ));
        }
    })
}
