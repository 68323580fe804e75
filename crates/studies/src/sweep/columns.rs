//! The results as columns: one row for each flow of each run.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use serde_json::Value;

use crate::runs::{Plan, Run, Store, amounts};
use record::Summary;
use tables::parquet::{self, WriteError};
use tables::{Column, split_unit};

/// The stored flows of a plan, as a table whose rows are indices.
#[derive(Debug)]
pub struct Flows<'p> {
    plan: &'p Plan,
    /// Each run with the summary without its flows, and the flows.
    runs: Vec<(&'p Run, Value, Vec<Value>)>,
}

/// A flow of a run.
struct Row<'r> {
    run: &'r Run,
    summary: &'r Value,
    flow: &'r Value,
}

impl<'p> Flows<'p> {
    /// The flows of the completed runs.
    pub fn new(plan: &'p Plan, store: &Store<Summary>) -> Flows<'p> {
        let done = plan.runs.iter();
        let done = done.filter_map(|run| Some((run, store.get(&run.key)?)));
        let split = done.map(|(run, summary)| {
            let mut object = serde_json::to_value(summary).expect("a summary is plain data");
            let fields = object.as_object_mut();
            let Some(Value::Array(flows)) = fields.and_then(|all| all.shift_remove("flows")) else {
                unreachable!("a summary has a list of flows");
            };
            (run, object, flows)
        });
        Flows {
            plan,
            runs: split.collect(),
        }
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.runs.iter().map(|(.., flows)| flows.len()).sum()
    }

    /// The columns. Rows are the flows of each run, in the order of the plan:
    ///
    /// - `axis_…` for each varying field, with underscores for dots: a number in the unit at the end of the name if all
    ///   values are numbers of one unit, otherwise text;
    /// - `point`, `repeat` and `seed` of the run;
    /// - everything in the summary about the run and its path: `path_queue_p95_ms` is `path.queue_ms.p95`, with the
    ///   unit at the end; lists of objects are lists of structs, absent if no run has an item;
    /// - everything about the flow: `flow_goodput_bps`.
    ///
    /// `wall_s` is left out, so that the same sweep gives the same table; `partial` too, since partial runs are not
    /// stored.
    pub fn columns(&self) -> Vec<Column<'_, usize>> {
        let rows = self.runs.iter().flat_map(|(run, summary, flows)| {
            let flows = flows.iter();
            flows.map(move |flow| Row { run, summary, flow })
        });
        let rows: Vec<Row<'_>> = rows.collect();
        let runs: Vec<&Run> = rows.iter().map(|row| row.run).collect();
        let fields = 0..self.plan.fields.len();
        let mut columns: Vec<_> = fields.map(|field| axis(self.plan, field, &runs)).collect();
        let whole = |name: &'static str, value: fn(&Run) -> u64| {
            let runs = runs.clone();
            Column::new(name, "", move |row: &usize| value(runs[*row]))
        };
        columns.push(whole("point", |run| run.point as u64));
        columns.push(whole("repeat", |run| run.repeat));
        columns.push(whole("seed", |run| run.scenario.seed));
        let of_run = ["wall_s", "partial", "seed"];
        let summaries: Vec<&Value> = rows.iter().map(|row| row.summary).collect();
        columns.extend(flattened("", &of_run, &summaries));
        let flows: Vec<&Value> = rows.iter().map(|row| row.flow).collect();
        columns.extend(flattened("flow_", &[], &flows));
        columns
    }
}

/// Writes the [`Flows`] as a Parquet file, with the sweep's text as `fullpipe.sweep` in its metadata.
///
/// # Errors
///
/// Writing to `to` fails.
pub fn write_parquet<W: Write + Send>(
    to: W,
    plan: &Plan,
    store: &Store<Summary>,
    text: &str,
) -> Result<(), WriteError> {
    let flows = Flows::new(plan, store);
    let about = [
        ("fullpipe.version", env!("CARGO_PKG_VERSION").to_string()),
        ("fullpipe.sweep", text.to_string()),
    ];
    parquet::write(to, &flows.columns(), 0..flows.count(), &about)
}

/// The values of a varying field, for flows of these runs.
fn axis<'p>(plan: &'p Plan, field: usize, runs: &[&'p Run]) -> Column<'p, usize> {
    let name = format!("axis_{}", plan.fields[field].replace('.', "_"));
    let runs = runs.to_vec();
    match amounts(plan.values(field)) {
        None => Column::as_named(name, "", move |row: &usize| {
            plan.point(runs[*row]).values[field].as_str()
        }),
        Some((unit, numbers)) => Column::as_named(name + unit.suffix(), "", move |row: &usize| {
            numbers[runs[*row].point]
        }),
    }
}

/// The columns for everything in the objects, in the order of first occurrence.
fn flattened<'v>(prefix: &str, without: &[&str], objects: &[&'v Value]) -> Vec<Column<'v, usize>> {
    let mut columns: Vec<(String, Vec<Option<&Value>>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (row, object) in objects.iter().enumerate() {
        let mut leaves = Vec::new();
        for (key, value) in object.as_object().into_iter().flatten() {
            if !without.contains(&key.as_str()) {
                collect(prefix, key, "", value, &mut leaves);
            }
        }
        for (name, value) in leaves {
            let place = *places.entry(name.clone()).or_insert_with(|| {
                columns.push((name, vec![None; objects.len()]));
                columns.len() - 1
            });
            columns[place].1[row] = Some(value);
        }
    }
    let columns = columns.into_iter();
    columns
        .filter_map(|(name, values)| typed(name, values))
        .collect()
}

/// Collects everything in the value that is not an object. A name has the keys that lead to it, with the unit of the
/// last one at the end: `p95` in `queue_ms` is `queue_p95_ms`.
fn collect<'v>(
    prefix: &str,
    key: &str,
    unit: &str,
    value: &'v Value,
    leaves: &mut Vec<(String, &'v Value)>,
) {
    let Value::Object(inner) = value else {
        leaves.push((format!("{prefix}{key}{unit}"), value));
        return;
    };
    let (stem, unit) = split_unit(key);
    let prefix = format!("{prefix}{stem}_");
    for (key, value) in inner {
        collect(&prefix, key, unit, value, leaves);
    }
}

/// The values in the narrowest type that holds all of them. Nothing if all are empty lists.
fn typed<'v>(name: String, values: Vec<Option<&'v Value>>) -> Option<Column<'v, usize>> {
    let known: Vec<&Value> = values
        .iter()
        .flatten()
        .copied()
        .filter(|value| !value.is_null())
        .collect();
    let all = |is: fn(&Value) -> bool| !known.is_empty() && known.iter().all(|value| is(value));
    if all(|value| value.as_array().is_some_and(Vec::is_empty)) {
        return None;
    }
    if all(|value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_object))
    }) {
        return Some(lists(name, &values));
    }
    let (is_whole, is_number) = (
        all(Value::is_u64),
        known.iter().all(|value| value.is_number()),
    );
    let cell = move |row: &usize| values[*row].filter(|value| !value.is_null());
    Some(if is_whole {
        Column::as_named(name, "", move |row| cell(row)?.as_u64())
    } else if is_number {
        Column::as_named(name, "", move |row| cell(row)?.as_f64())
    } else {
        Column::as_named(name, "", move |row| {
            Some(match cell(row)? {
                Value::String(text) => Cow::Borrowed(text.as_str()),
                other => Cow::Owned(other.to_string()),
            })
        })
    })
}

fn lists<'v>(name: String, values: &[Option<&'v Value>]) -> Column<'v, usize> {
    let mut items: Vec<&Value> = Vec::new();
    let rows = values.iter().map(|value| {
        let before = items.len();
        items.extend((*value)?.as_array()?);
        Some(before..items.len())
    });
    let rows: Vec<Option<Range<usize>>> = rows.collect();
    let fields = flattened("", &[], &items);
    Column::list(
        name,
        move |row: &usize| Some(rows[*row].clone()?.collect()),
        fields,
    )
}
