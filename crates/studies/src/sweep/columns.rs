//! The results as columns: one row a flow a run.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use serde_json::Value;

use crate::runs::{Plan, Run, Store, amounts};
use record::Summary;
use report::parquet::{self, WriteError};

/// A column with its name and a value, or none, for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, with the unit.
    pub name: String,
    /// Its values.
    pub cells: Cells,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Text.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<Option<u64>>),
    /// Numbers.
    Real(Vec<Option<f64>>),
    /// Lists of structs.
    Lists(Lists),
}

/// The values of a column with lists of structs: the items of all rows one after another, and those of each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Lists {
    /// The places of a row's items, if it has a list.
    pub rows: Vec<Option<Range<usize>>>,
    /// What the items have in each field.
    pub fields: Vec<Column>,
}

/// One row a flow a run, in the order of the plan and the flows:
///
/// - `axis_…` for each field that varies, dots as underscores: a number in the unit that the name ends with, if all
///   values are numbers of a kind, else the text;
/// - `point`, `repeat` and `seed` of the run;
/// - everything that the summary says of the run and its path: `path_queue_p95_ms` is `path.queue_ms.p95`, with the unit
///   at the end; lists of objects are lists of structs, and left out if no run has an item;
/// - everything that it says of the flow: `flow_goodput_bps`.
///
/// Without `wall_s`: the same sweep gives the same table. Without `partial`: runs that were ended are not kept.
pub fn columns(plan: &Plan, store: &Store<Summary>) -> Vec<Column> {
    let done = plan.runs.iter();
    let done = done.filter_map(|run| Some((run, objects(store.get(&run.key)?))));
    let done: Vec<(&Run, (Value, Vec<Value>))> = done.collect();
    let rows = done.iter().flat_map(|(run, (summary, flows))| {
        let flows = flows.iter();
        flows.map(move |flow| Row { run, summary, flow })
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let mut columns = axes(plan, &rows);
    let whole = |name: &str, value: fn(&Run) -> u64| Column {
        name: name.to_string(),
        cells: Cells::Whole(rows.iter().map(|row| Some(value(row.run))).collect()),
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

/// Writes the [`columns`] as a Parquet file, with what the sweep was read from as `fullpipe.sweep` in its metadata.
///
/// # Errors
///
/// `to` does not take it.
pub fn write_parquet<W: Write + Send>(
    to: W,
    plan: &Plan,
    store: &Store<Summary>,
    text: &str,
) -> Result<(), WriteError> {
    let columns = columns(plan, store);
    let rows = columns.first().map_or(0, Column::len);
    let columns: Vec<parquet::Column<'_, usize>> = columns.iter().map(Column::to_parquet).collect();
    let about = [
        ("fullpipe.version", env!("CARGO_PKG_VERSION").to_string()),
        ("fullpipe.sweep", text.to_string()),
    ];
    parquet::write(to, &columns, 0..rows, &about)
}

impl Column {
    /// How many rows it has.
    fn len(&self) -> usize {
        match &self.cells {
            Cells::Text(cells) => cells.len(),
            Cells::Whole(cells) => cells.len(),
            Cells::Real(cells) => cells.len(),
            Cells::Lists(lists) => lists.rows.len(),
        }
    }

    /// The column of a table whose rows are their places.
    fn to_parquet(&self) -> parquet::Column<'_, usize> {
        let name = self.name.as_str();
        match &self.cells {
            Cells::Text(cells) => parquet::Column::text(name, |row: &usize| {
                let cell = cells.get(*row)?;
                cell.as_deref().map(Cow::Borrowed)
            }),
            Cells::Whole(cells) => {
                parquet::Column::whole(name, |row| cells.get(*row).copied().flatten())
            }
            Cells::Real(cells) => {
                parquet::Column::real(name, |row| cells.get(*row).copied().flatten())
            }
            Cells::Lists(lists) => parquet::Column::list(
                name,
                |row: &usize| Some(lists.rows.get(*row)?.clone()?.collect()),
                lists.fields.iter().map(Column::to_parquet).collect(),
            ),
        }
    }
}

/// What a summary has beside its flows, and each of those.
fn objects(summary: &Summary) -> (Value, Vec<Value>) {
    let mut object = serde_json::to_value(summary).expect("a summary is plain data");
    let flows = object
        .as_object_mut()
        .and_then(|all| all.shift_remove("flows"));
    let Some(Value::Array(flows)) = flows else {
        unreachable!("a summary has a list of flows");
    };
    (object, flows)
}

/// A flow of a run.
struct Row<'r> {
    run: &'r Run,
    summary: &'r Value,
    flow: &'r Value,
}

fn axes(plan: &Plan, rows: &[Row<'_>]) -> Vec<Column> {
    let column = |(place, field): (usize, &String)| {
        let text = |row: &Row<'_>| Some(plan.point(row.run).values[place].clone());
        let name = format!("axis_{}", field.replace('.', "_"));
        match amounts(plan.values(place)) {
            None => Column {
                name,
                cells: Cells::Text(rows.iter().map(text).collect()),
            },
            Some((unit, numbers)) => Column {
                name: name + unit.suffix(),
                cells: Cells::Real(
                    rows.iter()
                        .map(|row| Some(numbers[row.run.point]))
                        .collect(),
                ),
            },
        }
    };
    plan.fields.iter().enumerate().map(column).collect()
}

/// A column for everything in the objects, in the order in which it is met first.
fn flattened(prefix: &str, without: &[&str], objects: &[&Value]) -> Vec<Column> {
    let mut names: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut values: Vec<Vec<Option<&Value>>> = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let mut leaves = Vec::new();
        for (key, value) in object.as_object().into_iter().flatten() {
            if !without.contains(&key.as_str()) {
                collect(prefix, key, "", value, &mut leaves);
            }
        }
        for (name, value) in leaves {
            let place = *places.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                values.push(vec![None; objects.len()]);
                values.len() - 1
            });
            if let Some(cell) = values.get_mut(place).and_then(|cells| cells.get_mut(index)) {
                *cell = Some(value);
            }
        }
    }
    names
        .into_iter()
        .zip(values)
        .filter_map(|(name, values)| {
            Some(Column {
                name,
                cells: typed(&values)?,
            })
        })
        .collect()
}

/// Everything in the value that is no object itself, with its name: the keys that lead to it, and the unit that the last
/// of them ends with. `p95` in `queue_ms` is `queue_p95_ms`.
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

/// A key without its unit, and the unit: `rtt_ms` has one, `jain_per_s` counts nothing in seconds.
fn split_unit(key: &str) -> (&str, &str) {
    let units = ["_ms", "_s", "_bps", "_bytes"];
    let of = |unit: &&str| key.ends_with(*unit) && !key.ends_with("_per_s");
    let unit = units.into_iter().find(of).unwrap_or_default();
    key.split_at(key.len() - unit.len())
}

/// The values in the narrowest type that has room for all of them; nothing if they are lists without an item.
fn typed(values: &[Option<&Value>]) -> Option<Cells> {
    let known = || values.iter().flatten().filter(|value| !value.is_null());
    let is_empty = |value: &&Value| value.as_array().is_some_and(Vec::is_empty);
    if known().next().is_some() && known().all(is_empty) {
        return None;
    }
    let is_list = |value: &&Value| {
        let items = value.as_array();
        items.is_some_and(|items| items.iter().all(Value::is_object))
    };
    if known().next().is_some() && known().all(is_list) {
        return Some(Cells::Lists(lists(values)));
    }
    if known().next().is_some() && known().all(|value| value.is_u64()) {
        let cells = values.iter().map(|value| (*value)?.as_u64());
        return Some(Cells::Whole(cells.collect()));
    }
    if known().all(|value| value.is_number()) {
        let cells = values.iter().map(|value| (*value)?.as_f64());
        return Some(Cells::Real(cells.collect()));
    }
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let cells = values.iter().map(|value| (*value).and_then(text));
    Some(Cells::Text(cells.collect()))
}

fn lists(values: &[Option<&Value>]) -> Lists {
    let mut items: Vec<&Value> = Vec::new();
    let rows = values.iter().map(|value| {
        let list = (*value)?.as_array()?;
        let before = items.len();
        items.extend(list);
        Some(before..items.len())
    });
    Lists {
        rows: rows.collect(),
        fields: flattened("", &[], &items),
    }
}
