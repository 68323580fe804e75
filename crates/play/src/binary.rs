//! A record as bytes that a page reads without a copy: a head in JSON, and columns of numbers.
//!
//! The bytes are the length of the head in 32 bits, the head, zeros up to a multiple of 8, and the cells of all columns, one column after
//! the other, each from such a multiple on. All numbers are little-endian. The head has the summary, what pictures need of the path and,
//! for each column, where its cells begin. Numbers are floating-point numbers of 64 bits, with NaN for null. A text is the index of the
//! column's `texts`, in 16 bits, plus one, with 0 for null.

use std::borrow::Cow;
use std::collections::HashMap;

use record::{Record, Summary, columns};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use tables::{Column, Kind, Value};

use crate::path::Path;

#[derive(Serialize)]
struct Head<'r> {
    summary: &'r Summary,
    path: &'r Path,
    /// The share of payload in what a link transmits.
    payload_share: f64,
    tables: Tables<'r>,
}

/// The tables of a record's Parquet files.
#[derive(Serialize)]
struct Tables<'r> {
    samples: Table<'r>,
    throughput: Table<'r>,
    queue: Table<'r>,
    transfers: Table<'r>,
}

#[derive(Serialize)]
struct Table<'r> {
    rows: usize,
    columns: Placed<'r>,
}

/// Columns, each with its name.
struct Placed<'r>(Vec<(Cow<'r, str>, Place<'r>)>);

#[derive(Serialize)]
struct Place<'r> {
    /// The first byte of its cells, from the first byte of all cells.
    at: usize,
    /// The texts; without them, the cells are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<Vec<Cow<'r, str>>>,
}

impl Serialize for Placed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, place) in &self.0 {
            map.serialize_entry(name, place)?;
        }
        map.end()
    }
}

/// Returns the record as bytes.
pub fn of(record: &Record, path: &Path) -> Vec<u8> {
    let mut cells = Vec::new();
    let tables = Tables {
        samples: table(columns::samples(record), &mut cells),
        throughput: table(columns::throughput(record), &mut cells),
        queue: table(columns::queue(record), &mut cells),
        transfers: table(columns::transfers(record), &mut cells),
    };
    let summary = &record.summary;
    let head = Head {
        summary,
        path,
        payload_share: record.payload_share,
        tables,
    };
    let head = serde_json::to_vec(&head).expect("a record is plain data");
    let length = u32::try_from(head.len()).expect("the head of a bounded scenario is small");
    let mut bytes =
        Vec::with_capacity(size_of::<u32>() + head.len() + size_of::<u64>() + cells.len());
    bytes.extend(length.to_le_bytes());
    bytes.extend(head);
    align(&mut bytes);
    bytes.extend(cells);
    bytes
}

fn align(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(size_of::<u64>()), 0);
}

/// Appends the cells of a table.
fn table<'c, R>(
    (columns, rows): (Vec<Column<'c, R>>, impl Iterator<Item = R>),
    cells: &mut Vec<u8>,
) -> Table<'c> {
    let rows: Vec<R> = rows.collect();
    let columns = columns.into_iter().map(|column| {
        let at = cells.len();
        let texts = match column.kind() {
            Kind::Text => Some(texts(&column, &rows, cells)),
            Kind::Whole | Kind::Real | Kind::List => {
                numbers(&column, &rows, cells);
                None
            }
        };
        align(cells);
        (column.name, Place { at, texts })
    });
    Table {
        columns: Placed(columns.collect()),
        rows: rows.len(),
    }
}

fn numbers<R>(column: &Column<'_, R>, rows: &[R], cells: &mut Vec<u8>) {
    cells.reserve(size_of_val(rows));
    for row in rows {
        let number = match column.value(row) {
            Some(Value::Whole(whole)) => whole as f64,
            Some(Value::Real(real)) => real,
            Some(Value::Text(_)) | None => f64::NAN,
        };
        cells.extend(number.to_le_bytes());
    }
}

/// Returns the column's texts, in the order in which they first appear. Columns have few: names of links, controllers and states.
fn texts<'c, R>(column: &Column<'c, R>, rows: &[R], cells: &mut Vec<u8>) -> Vec<Cow<'c, str>> {
    let mut texts: Vec<Cow<'c, str>> = Vec::new();
    let mut known: HashMap<Cow<'c, str>, u16> = HashMap::new();
    for row in rows {
        let index = match column.value(row) {
            Some(Value::Text(text)) => match known.get(&text) {
                Some(index) => *index,
                None => {
                    texts.push(text.clone());
                    let index = u16::try_from(texts.len()).expect("few different texts");
                    known.insert(text, index);
                    index
                }
            },
            _ => 0,
        };
        cells.extend(index.to_le_bytes());
    }
    texts
}
