//! A record as JSON, in columns.

use record::{Record, Summary, Transfer, columns};
use serde::{Serialize, Serializer};
use tables::Column;

/// A record, with the tables of its Parquet files.
#[derive(Serialize)]
struct Tables<'r, S: Serialize, P: Serialize, Q: Serialize> {
    summary: &'r Summary,
    samples: S,
    throughput: P,
    queue: Q,
    transfers: Table<'r, &'r Transfer>,
}

/// Returns the record as JSON.
pub fn of(record: &Record) -> String {
    let tables = Tables {
        summary: &record.summary,
        samples: table(columns::samples(record)),
        throughput: table(columns::throughput(record)),
        queue: table(columns::queue(record)),
        transfers: table(columns::transfers(record)),
    };
    serde_json::to_string(&tables).expect("a record is plain data")
}

/// A table: an object with a list of cells for each column.
struct Table<'c, R> {
    columns: Vec<Column<'c, R>>,
    rows: Vec<R>,
}

fn table<'c, R>((columns, rows): (Vec<Column<'c, R>>, impl Iterator<Item = R>)) -> Table<'c, R> {
    let rows = rows.collect();
    Table { columns, rows }
}

impl<R> Serialize for Table<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.columns.iter();
        serializer.collect_map(columns.map(|column| {
            let rows = &self.rows;
            (&column.name, Cells { column, rows })
        }))
    }
}

struct Cells<'t, 'c, R> {
    column: &'t Column<'c, R>,
    rows: &'t [R],
}

impl<R> Serialize for Cells<'_, '_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.rows.iter();
        serializer.collect_seq(rows.map(|row| self.column.value(row)))
    }
}
