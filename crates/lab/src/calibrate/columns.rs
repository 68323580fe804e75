//! Every run as a row of a table.

use std::borrow::Cow;
use std::io::Write;

use super::plan::{Calibration, Case, Kept, Side, kept};
use super::quantity::Quantity;
use crate::report::parquet::{self, Column, WriteError};
use crate::sweep::{Run, Store};

/// A run of a case on one of the engines.
struct Row<'r> {
    case: &'r Case,
    side: &'r Side,
    run: &'r Run,
    kept: Kept,
}

/// Writes what the store has of the calibration as a Parquet file: one row a run, with who made it, all quantities, and
/// the whole summary as JSON.
///
/// # Errors
///
/// `to` does not take it.
pub fn write_parquet<W: Write + Send>(
    to: W,
    calibration: &Calibration,
    store: &Store,
) -> Result<(), WriteError> {
    let rows = calibration.sides.iter().flat_map(|side| {
        side.plan.runs.iter().filter_map(move |run| {
            let case = calibration.cases.get(run.point)?;
            let kept = kept(store, run)?;
            Some(Row {
                case,
                side,
                run,
                kept,
            })
        })
    });
    let mut columns: Vec<Column<'_, Row<'_>>> = vec![
        Column::text("case", |row: &Row<'_>| Some(owned(&row.case.name))),
        Column::text("set", |row: &Row<'_>| Some(owned(&row.case.set))),
        Column::text("engine", |row: &Row<'_>| {
            Some(owned(row.side.engine.name()))
        }),
        Column::text("version", |row: &Row<'_>| {
            Some(owned(&row.kept.made.version))
        }),
        Column::text("build", |row: &Row<'_>| Some(owned(&row.kept.made.build))),
        Column::text("at", |row: &Row<'_>| Some(owned(&row.kept.made.at))),
        Column::real("load", |row: &Row<'_>| row.kept.made.load),
        Column::whole("repeat", |row: &Row<'_>| Some(row.run.repeat)),
        Column::whole("seed", |row: &Row<'_>| Some(row.run.scenario.seed)),
    ];
    columns.extend(Quantity::ALL.map(|quantity| {
        Column::real(quantity.name(), move |row: &Row<'_>| {
            quantity.of(&row.kept.observation)
        })
    }));
    columns.push(Column::text("summary", |row: &Row<'_>| {
        Some(Cow::Owned(row.kept.observation.summary.to_string()))
    }));
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_string())];
    parquet::write(to, &columns, rows, &about)
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_string())
}
