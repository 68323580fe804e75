//! The results as columns: one row a flow a run.

use std::collections::HashMap;

use serde_json::Value;

use super::axis;
use super::plan::{Plan, Run};
use super::store::Store;

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
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Real(Vec<Option<f64>>),
}

/// One row a flow a run, in the order of the plan and the flows:
///
/// - `axis_…` for each field that varies, dots as underscores: a number in the unit that the name ends with, if all
///   values are numbers of a kind, else the text;
/// - `point`, `repeat` and `seed` of the run;
/// - everything that the summary says of the run and its path: `path_queue_ms_p95` is `path.queue_ms.p95`, lists are
///   their JSON;
/// - everything that it says of the flow: `flow_goodput_bps`.
///
/// Without `wall_s`: the same sweep gives the same table.
pub fn columns(plan: &Plan, store: &Store) -> Vec<Column> {
    let rows: Vec<Row<'_>> = plan
        .runs
        .iter()
        .filter_map(|run| Some((run, store.get(&run.key)?)))
        .flat_map(|(run, summary)| {
            let flows = summary.get("flows").and_then(Value::as_array);
            let flows = flows.into_iter().flatten();
            flows.map(move |flow| Row { run, summary, flow })
        })
        .collect();
    let mut columns = axes(plan, &rows);
    let whole = |name: &str, value: fn(&Run) -> u64| Column {
        name: name.to_string(),
        cells: Cells::Whole(
            rows.iter()
                .map(|row| i64::try_from(value(row.run)).ok())
                .collect(),
        ),
    };
    columns.push(whole("point", |run| run.point as u64));
    columns.push(whole("repeat", |run| run.repeat));
    columns.push(whole("seed", |run| run.scenario.seed));
    columns.extend(flattened("", &["flows", "wall_s", "seed"], &rows, |row| {
        row.summary
    }));
    columns.extend(flattened("flow_", &[], &rows, |row| row.flow));
    columns
}

/// A flow of a run.
struct Row<'r> {
    run: &'r Run,
    summary: &'r Value,
    flow: &'r Value,
}

fn axes(plan: &Plan, rows: &[Row<'_>]) -> Vec<Column> {
    let column = |(place, field): (usize, &String)| {
        let text = |row: &Row<'_>| plan.points.get(row.run.point)?.values.get(place).cloned();
        let name = format!("axis_{}", field.replace('.', "_"));
        let all = plan
            .points
            .iter()
            .filter_map(|point| point.values.get(place));
        match axis::numbers(all.map(String::as_str)) {
            None => Column {
                name,
                cells: Cells::Text(rows.iter().map(text).collect()),
            },
            Some((unit, numbers)) => Column {
                name: name + unit.suffix(),
                cells: Cells::Real(
                    rows.iter()
                        .map(|row| numbers.get(row.run.point).copied())
                        .collect(),
                ),
            },
        }
    };
    plan.fields.iter().enumerate().map(column).collect()
}

/// A column for everything in the objects that `object` finds, in the order in which it is met first.
fn flattened<'r>(
    prefix: &str,
    without: &[&str],
    rows: &[Row<'r>],
    object: fn(&Row<'r>) -> &'r Value,
) -> Vec<Column> {
    let mut names: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut values: Vec<Vec<Option<&Value>>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let mut leaves = Vec::new();
        for (key, value) in object(row).as_object().into_iter().flatten() {
            if !without.contains(&key.as_str()) {
                collect(format!("{prefix}{key}"), value, &mut leaves);
            }
        }
        for (name, value) in leaves {
            let place = *places.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                values.push(vec![None; rows.len()]);
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
        .map(|(name, values)| Column {
            name,
            cells: typed(&values),
        })
        .collect()
}

/// Everything in the value that is no object itself, with its name.
fn collect<'v>(name: String, value: &'v Value, leaves: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                collect(format!("{name}_{key}"), value, leaves);
            }
        }
        value => leaves.push((name, value)),
    }
}

/// The values in the narrowest type that has room for all of them.
fn typed(values: &[Option<&Value>]) -> Cells {
    let known = || values.iter().flatten().filter(|value| !value.is_null());
    if known().next().is_some() && known().all(|value| value.is_i64()) {
        return Cells::Whole(values.iter().map(|value| (*value)?.as_i64()).collect());
    }
    if known().all(|value| value.is_number()) {
        return Cells::Real(values.iter().map(|value| (*value)?.as_f64()).collect());
    }
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    Cells::Text(values.iter().map(|value| (*value).and_then(text)).collect())
}
