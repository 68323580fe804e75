//! The results for people, on a terminal.

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

use super::metric::Metric;
use super::results::{Group, Results};
use super::spread::Spread;
use crate::report::{bits_per_sec, percent, span};

/// The most rows of the table on a terminal: about two screens. The page, the Parquet file and the JSON have all.
pub const ROWS: usize = 100;

/// One row a point and controller: medians over the repeats, and between which values the share of the limit lies.
/// The first [`ROWS`] of them, and how many more there are. Ends with a newline.
pub fn table(results: &Results<'_>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(headings(results));
    let shown = results.groups.iter().take(ROWS);
    table.add_rows(shown.map(|group| row(results, group)));
    let left = results.fields().len() + 1;
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        column.set_constraint(ColumnConstraint::ContentWidth);
        if index >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table.trim_fmt() + "\n";
    let more = results.groups.len().saturating_sub(ROWS);
    if more > 0 {
        text += &format!("… and {more} rows more; the page has all of them\n");
    }
    text
}

/// The headings of the table's columns, on a terminal as on the page.
pub(super) fn headings(results: &Results<'_>) -> Vec<String> {
    let fields = results.fields().into_iter();
    let mut headings: Vec<String> = fields
        .filter_map(|place| results.plan.fields.get(place).cloned())
        .collect();
    let measured = [
        "controller",
        "goodput",
        "of limit",
        "RTT p50",
        "RTT p95",
        "resent",
    ];
    headings.extend(measured.map(String::from));
    if results.has_several_flows {
        headings.push("Jain".into());
    }
    headings
}

/// What the table says of a group.
pub(super) fn row(results: &Results<'_>, group: &Group) -> Vec<String> {
    let text = |metric, write: fn(f64) -> String| {
        let spread = group.metric(metric);
        spread.map_or("–".to_string(), |spread| write(spread.median))
    };
    let point = results.point(group);
    let values = results.fields().into_iter();
    let mut row: Vec<String> = values
        .filter_map(|place| point?.values.get(place).cloned())
        .collect();
    row.push(group.controller.clone());
    row.push(text(Metric::Goodput, bits_per_sec));
    row.push(group.metric(Metric::GoodputShare).map_or("–".into(), share));
    row.push(text(Metric::RttP50, span));
    row.push(text(Metric::RttP95, span));
    row.push(text(Metric::ResentShare, percent));
    if results.has_several_flows {
        row.push(text(Metric::Jain, |index| format!("{index:.3}")));
    }
    row
}

/// `94.8 % (93.1–95.2)`; without the ends where they look the same.
fn share(spread: Spread) -> String {
    let Spread { median, min, max } = spread;
    let [min, max] = [min, max].map(|end| format!("{:.1}", end * 100.0));
    match min == max {
        true => percent(median),
        false => format!("{} ({min}–{max})", percent(median)),
    }
}
