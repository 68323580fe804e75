//! The table for people.

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

use super::lanes::{Lane, bits_per_sec, lanes, percent, span};
use crate::record::Record;

/// The columns of the table, in the terminal as on the page.
pub(super) const HEADINGS: [&str; 8] = [
    "controller",
    "time",
    "goodput",
    "of limit",
    "RTT min",
    "RTT p50",
    "RTT p95",
    "resent",
];

/// What the table says of a flow.
pub(super) fn row(lane: &Lane<'_>) -> [String; 8] {
    let flow = lane.summary;
    let end = flow.completed_s.unwrap_or(lane.record.summary.duration_s);
    let time = format!("{:.2} s", end - flow.start_s);
    let limit = lane
        .record
        .summary
        .path
        .limit_bps
        .filter(|limit| *limit > 0);
    let rtt = |value: Option<f64>| value.map_or("–".to_string(), span);
    [
        lane.name.clone(),
        match is_cut_off(lane) {
            true => format!("> {time}"),
            false => time,
        },
        bits_per_sec(flow.goodput_bps as f64),
        limit.map_or("–".to_string(), |limit| {
            percent(flow.goodput_bps as f64 / limit as f64)
        }),
        rtt(flow.rtt_ms.min),
        rtt(flow.rtt_ms.p50),
        rtt(flow.rtt_ms.p95),
        flow.retransmitted_share().map_or("–".to_string(), percent),
    ]
}

/// Whether the lane has a transfer that had not arrived when the run ended.
fn is_cut_off(lane: &Lane<'_>) -> bool {
    let (spec, _) = match lane.record.scenario.each_flow().nth(lane.summary.id) {
        Some(flow) => flow,
        None => return false,
    };
    spec.bytes.is_some() && lane.summary.completed_s.is_none()
}

/// What is to be said below the table: what its `>` means, and how evenly flows shared a path.
pub(super) fn notes(records: &[Record]) -> Vec<String> {
    let mut notes = Vec::new();
    if lanes(records).iter().any(is_cut_off) {
        notes.push("> cut off by then, and not complete".to_string());
    }
    for record in records.iter().filter(|record| record.flows.len() > 1) {
        if let Some(jain) = record.summary.fairness.jain {
            notes.push(format!("Jain index of the goodputs: {jain:.3}"));
        }
    }
    notes
}

/// One row a flow: time, goodput and share of what the path allows, RTT, and what had to be sent again. Fits a terminal
/// of 80 columns.
///
/// Ends with a newline; before it, if need be, with lines on transfers that were cut off and on how evenly flows shared
/// a path.
pub fn table(records: &[Record]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(HEADINGS);
    table.add_rows(lanes(records).iter().map(row));
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        if index == 0 {
            continue;
        }
        column.set_cell_alignment(CellAlignment::Right);
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    for note in notes(records) {
        text.push_str(&note);
        text.push('\n');
    }
    text
}
