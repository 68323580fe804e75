//! The columns of a table as Arrow arrays.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::ArrowError;
use tables::{Column, Kind, Value};

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
        named.push((column.name.as_ref(), array(column, &rows)?, true));
    }
    RecordBatch::try_from_iter_with_nullable(named)
}

fn array<R>(column: &Column<'_, R>, rows: &[R]) -> Result<ArrayRef, ArrowError> {
    let values = rows.iter().map(|row| column.value(row));
    Ok(match column.kind() {
        Kind::Whole => Arc::new(Int64Array::from_iter(values.map(|value| match value {
            Some(Value::Whole(whole)) => Some(i64::try_from(whole).unwrap_or(i64::MAX)),
            _ => None,
        }))),
        Kind::Real => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            Some(Value::Real(real)) => Some(real),
            _ => None,
        }))),
        Kind::Text => {
            let mut texts = StringDictionaryBuilder::<Int32Type>::new();
            for value in values {
                match value {
                    Some(Value::Text(text)) => drop(texts.append(text)?),
                    _ => texts.append_null(),
                }
            }
            Arc::new(texts.finish())
        }
        Kind::List => {
            return Err(ArrowError::NotYetImplemented(
                "a list of structs".to_owned(),
            ));
        }
    })
}
