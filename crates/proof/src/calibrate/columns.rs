//! The runs as rows of a table.

use std::io::Write;

use serde_json::Value;

use super::plan::{Calibration, Case, Kept, Side};
use super::quantity::Quantity;
use studies::runs::{Run, Store};
use tables::Column;
use tables::parquet::{self, WriteError};

/// A run of a case on one of the engines.
struct Row<'r> {
    case: &'r Case,
    side: &'r Side,
    run: &'r Run,
    kept: &'r Kept,
}

impl Row<'_> {
    /// The value, if the run was in real time. Runs in virtual time must give the same row on every clock and machine.
    fn real_time<T>(&self, value: T) -> Option<T> {
        self.side.contender.engine.is_real_time().then_some(value)
    }

    fn summary(&self) -> String {
        let summary = &self.kept.observation.summary;
        let mut object = serde_json::to_value(summary).expect("a summary is plain data");
        if let Value::Object(fields) = &mut object
            && !self.side.contender.engine.is_real_time()
        {
            fields.shift_remove("wall_s");
        }
        object.to_string()
    }
}

/// Writes the runs in the store as a Parquet file: one row for each run, with its version, all quantities, and the
/// summary as JSON. Rows of runs in virtual time contain neither the time of day nor the machine's load.
///
/// # Errors
///
/// Writing to `to` fails.
pub fn write_parquet<W: Write + Send>(
    to: W,
    calibration: &Calibration,
    store: &Store<Kept>,
) -> Result<(), WriteError> {
    let rows = calibration.sides.iter().flat_map(|side| {
        side.plan.runs.iter().filter_map(move |run| {
            Some(Row {
                case: &calibration.cases[run.point],
                side,
                run,
                kept: store.get(&run.key)?,
            })
        })
    });
    let mut columns = tables::columns!(Row<'_> {
        /// the case
        "case": |row| &*row.case.name,
        /// its set
        "set": |row| &*row.case.set,
        /// the engine
        "engine": |row| &*row.side.contender.name,
        /// the version of Fullpipe that ran it
        "version": |row| &*row.kept.made.version,
        /// its build
        "build": |row| &*row.kept.made.build,
        /// the time of day, of runs in real time
        "at": |row| row.real_time(&*row.kept.made.at),
        /// the machine's load, of runs in real time
        "load": |row| row.real_time(row.kept.made.load).flatten(),
        /// the number of the repeat
        "repeat": |row| row.run.repeat,
        /// the seed
        "seed": |row| row.run.scenario.seed,
    });
    columns.extend(Quantity::ALL.map(|quantity| {
        Column::as_named(quantity.name, "", move |row: &Row<'_>| {
            quantity.of(&row.kept.observation)
        })
    }));
    columns.push(Column::new(
        "summary",
        "the summary as JSON",
        |row: &Row<'_>| row.summary(),
    ));
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_string())];
    parquet::write(to, &columns, rows, &about)
}
