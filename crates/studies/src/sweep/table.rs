//! The results as a table for terminals.

use super::metric::Metric;
use super::results::{Group, Results};
use report::Table;
use tables::numbers::{bits_per_sec, count, percent, span};
use tables::statistics::Spread;

/// The most rows on a terminal, about two screens. The page, the Parquet file and the JSON have all rows.
pub const ROWS: usize = 100;

/// The columns that a narrow terminal drops, in this order.
const SPARE: [&str; 5] = ["resent", "RTT p95", "Jain", "goodput", "RTT p50"];

/// One row for each point and controller: medians over the repeats, and the range of the share of the limit. Prints the
/// first [`ROWS`] of them and the number of others. Has all columns, or those that fit into `width` columns. Ends with
/// a newline.
pub fn table(results: &Results<'_>, width: Option<usize>) -> String {
    let shown = results.groups.iter().take(ROWS);
    let table = Table {
        text: (0..=results.fields().len()).collect(),
        elsewhere: "the page and --json have",
        ..Table::new(headings(results), shown.map(|group| row(results, group)))
    };
    let mut text = table.sparing(&SPARE).lines(width);
    let more = results.groups.len().saturating_sub(ROWS);
    if more > 0 {
        let more = count(more as u64, "more row");
        text += &format!("… and {more}; the page has all of them\n");
    }
    text
}

/// The headings of the table, on a terminal and on the page.
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

/// The cells of a group's row.
pub(super) fn row(results: &Results<'_>, group: &Group) -> Vec<String> {
    let text = |metric, write: fn(f64) -> String| {
        let spread = group.metric(metric);
        spread.map_or("–".to_string(), |spread| write(spread.median))
    };
    let values = &results.point(group).values;
    let fields = results.fields().into_iter();
    let mut row: Vec<String> = fields.map(|place| values[place].clone()).collect();
    row.push(group.controller.clone());
    row.push(text(Metric::GOODPUT, bits_per_sec));
    row.push(
        group
            .metric(Metric::GOODPUT_SHARE)
            .map_or("–".into(), share),
    );
    row.push(text(Metric::RTT_P50, span));
    row.push(text(Metric::RTT_P95, span));
    row.push(text(Metric::RESENT_SHARE, percent));
    if results.has_several_flows {
        row.push(text(Metric::JAIN, |index| format!("{index:.3}")));
    }
    row
}

/// `94.8 % (93.1–95.2)`, or only the median if both ends print alike.
fn share(spread: Spread) -> String {
    let Spread { median, min, max } = spread;
    let [min, max] = [min, max].map(|end| format!("{:.1}", end * 100.0));
    if min == max {
        percent(median)
    } else {
        format!("{} ({min}–{max})", percent(median))
    }
}
