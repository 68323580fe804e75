//! The summary as tables for terminals.

use super::summary::{CommandSummary, ConnectionSummary, WaySummary};
use record::Validity;
use report::Table;
use tables::numbers::{bits_per_sec, bytes, known, percent, resent, span};
use units::Bytes;

/// The most connections in the table.
const MAX_FLOWS: usize = 10;

/// The columns of connections that a narrow terminal drops, in this order.
const SPARE_OF_FLOWS: [&str; 4] = ["RTT min", "resent", "p95", "time"];

/// Both directions side by side, and the largest TCP connections. Has all columns, or those that fit into `width`
/// columns. Ends with a newline.
pub fn table(summary: &CommandSummary, width: Option<usize>) -> String {
    let mut tables = vec![ways(summary).lines(None)];
    if !summary.flows.is_empty() {
        let flows = flows(&summary.flows).sparing(&SPARE_OF_FLOWS);
        tables.push(flows.lines(width));
    }
    report::below(&tables, notes(summary), width)
}

/// The counters of both directions. Zero counts are left out.
pub(super) fn ways(summary: &CommandSummary) -> Table {
    let [down, up] = [&summary.down, &summary.up].map(rows);
    let pairs = down.into_iter().zip(up);
    let rows = pairs.filter_map(|((name, down), (_, up))| {
        (down.is_some() || up.is_some()).then(|| {
            let cell = |value: Option<String>| value.unwrap_or("–".to_string());
            vec![name.to_string(), cell(down), cell(up)]
        })
    });
    Table::new(["", "down", "up"], rows)
}

fn rows(way: &WaySummary) -> [(&'static str, Option<String>); 19] {
    let WaySummary { path, link, tun } = way;
    let always = |count: u64| Some(count.to_string());
    let seen = |count: u64| (count > 0).then(|| count.to_string());
    let micros = |nanos: u64| (nanos > 0).then(|| span(nanos as f64 / 1e6));
    // Without a bottleneck there is no queue.
    let queue = |millis: Option<f64>| millis.filter(|_| path.utilization.is_some()).map(span);
    [
        ("entered packets", always(tun.read_packets)),
        ("entered bytes", always(tun.read_bytes)),
        ("delivered packets", always(tun.written_packets)),
        ("delivered bytes", always(tun.written_bytes)),
        ("utilization", path.utilization.map(percent)),
        ("queue, mean", queue(path.queue_ms.mean)),
        ("queue, p95", queue(path.queue_ms.p95)),
        ("queue, max", queue(path.queue_ms.max)),
        ("buffer drops", seen(link.buffer_drops)),
        ("marked packets", seen(link.marked_packets)),
        ("random losses", seen(link.random_losses)),
        ("policer drops", seen(link.policer_drops)),
        ("too big packets", seen(link.too_big_packets)),
        ("corrupted packets", seen(link.corrupted_packets)),
        ("duplicated packets", seen(link.duplicated_packets)),
        ("in transit packets", seen(link.in_transit_packets)),
        ("refused packets", seen(tun.write_errors)),
        ("late packets", seen(tun.late_packets)),
        ("max lateness", micros(tun.lateness_max_ns)),
    ]
}

/// The connections with the most data.
pub(super) fn flows(flows: &[ConnectionSummary]) -> Table {
    let rows = flows.iter().take(MAX_FLOWS).map(|flow| {
        vec![
            format!(
                "{} {} → {}",
                flow.direction,
                flow.from.port(),
                flow.to.port()
            ),
            flow.controller.clone(),
            bytes(Bytes::new(flow.acked_bytes)),
            format!("{:.2} s", flow.end_s - flow.start_s),
            known(flow.goodput_bps.map(|rate| rate as f64), bits_per_sec),
            known(flow.rtt_ms.min, span),
            known(flow.rtt_ms.p50, span),
            known(flow.rtt_ms.p95, span),
            resent(flow.sent_bytes, flow.retransmitted_bytes),
        ]
    });
    let headings = [
        "TCP", "control", "acked", "time", "goodput", "RTT min", "p50", "p95", "resent",
    ];
    Table::new(headings, rows)
}

/// The notes below the tables.
pub(super) fn notes(summary: &CommandSummary) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(more) = summary.flows.len().checked_sub(MAX_FLOWS + 1) {
        notes.push(format!("and {} more TCP connections", more + 1));
    }
    let warning = summary.validity.warning();
    notes.extend(warning.map(|warning| format!("{warning}; {}", Validity::REMEDY)));
    notes
}
