//! The tables for people.

use std::ptr;

use units::{Bytes, Rate};

use super::lanes::{Group, Lane, groups, is_in_groups, lanes};
use super::links::{SPARE_OF_LINKS, links};
use super::table::Table;
use super::text::below;
use super::ways;
use record::{
    Completions, FlowRecord, FlowSummary, LimitShares, PathSummary, Record, Together, Validity,
};
use tables::numbers::{bits_per_sec, bytes, count, known, percent, resent, span};
use tables::statistics::quantile;

/// The column of flows' limits.
const LIMITED_BY: &str = "limited by";

/// The maximum number of groups with a line each. More are not readable, and each is compared with all flows.
const MAX_GROUP_LINES: usize = 100;

/// Returns one row per flow, or per group of flows if they are many.
pub(super) fn flows(lanes: &[Lane<'_>]) -> Table {
    if is_in_groups(lanes) {
        let headings = [
            "flows", "slow 5 %", "median", "of limit", "RTT p50", "RTT p95", "resent", LIMITED_BY,
        ];
        let groups = groups(lanes);
        let groups = groups.iter().take(MAX_GROUP_LINES);
        let ways = groups.clone().map(|group| ways::way(group.lanes.first()?));
        return with_ways(Table::new(headings, groups.clone().map(group)), ways);
    }
    let headings = [
        "controller",
        "time",
        "goodput",
        "of limit",
        "RTT min",
        "RTT p50",
        "RTT p95",
        "resent",
        LIMITED_BY,
    ];
    with_ways(
        Table::new(headings, lanes.iter().map(flow)),
        lanes.iter().map(ways::way),
    )
}

/// Adds the rows' ways behind their names, if any row has one.
fn with_ways(mut table: Table, ways: impl Iterator<Item = Option<String>>) -> Table {
    let ways: Vec<Option<String>> = ways.collect();
    if ways.iter().all(Option::is_none) {
        return table;
    }
    table.headings.insert(1, "from → to".to_owned());
    for (row, way) in table.rows.iter_mut().zip(ways) {
        row.insert(1, known(way, |way| way));
    }
    table.text.push(1);
    table
}

/// Returns the table's cells of a flow.
fn flow(lane: &Lane<'_>) -> Vec<String> {
    let flow = lane.summary;
    let end = flow.completed_s.unwrap_or(lane.record.summary.duration_s);
    let time = format!("{:.2} s", end - flow.start_s);
    vec![
        lane.name.clone(),
        if is_cut_off(lane) {
            format!("> {time}")
        } else {
            time
        },
        bits_per_sec(flow.goodput_bps as f64),
        known(flow.limit_share, percent),
        known(flow.rtt_ms.min, span),
        known(flow.rtt_ms.p50, span),
        known(flow.rtt_ms.p95, span),
        resent(flow.sent_bytes, flow.retransmitted_bytes),
        known(flow.limited_by, limit),
    ]
}

/// Returns the table's cells of a group of flows.
fn group(group: &Group<'_, '_>) -> Vec<String> {
    let flows = group.lanes.iter().map(|lane| lane.summary);
    let over = |value: fn(&FlowSummary) -> Option<f64>, share| {
        quantile(flows.clone().filter_map(value), share)
    };
    let sum = |count: fn(&FlowSummary) -> Option<u64>| {
        let mut counts = flows.clone().map(count);
        counts.try_fold(0, |sum: u64, next| Some(sum.saturating_add(next?)))
    };
    // All groups have the same time span, whatever the lives of the flows.
    let together = group.lanes.first().map(|first| {
        let (record, of) = (first.record, first.summary.group);
        record.together(|flow| flow.group == of)
    });
    let goodput = |share| over(|flow| Some(flow.goodput_bps as f64), share);
    vec![
        format!("{} ×{}", group.name, group.lanes.len()),
        known(goodput(0.05), bits_per_sec),
        known(goodput(0.5), bits_per_sec),
        known(together.and_then(|together| together.limit_share), percent),
        known(over(|flow| flow.rtt_ms.p50, 0.5), span),
        known(over(|flow| flow.rtt_ms.p95, 0.95), span),
        resent(
            sum(|flow| flow.sent_bytes),
            sum(|flow| flow.retransmitted_bytes),
        ),
        known(
            LimitShares::mean(flows.clone().filter_map(|flow| flow.limited_by)),
            limit,
        ),
    ]
}

/// Returns the limit that held a flow longest, and its share of the time.
fn limit(shares: LimitShares) -> String {
    let (what, share) = shares.largest();
    format!("{what} {:.0} %", share * 100.0)
}

/// True if the lane has a transfer that was incomplete at the end of the run.
fn is_cut_off(lane: &Lane<'_>) -> bool {
    let groups = &lane.record.scenario.flows;
    let group = lane.summary.group.and_then(|group| groups.get(group));
    group.is_some_and(|group| group.bytes.is_some()) && lane.summary.completed_s.is_none()
}

/// Returns completion times by controller and size; `None` if the flows' own times show the same.
pub(super) fn completions(records: &[Record]) -> Option<Table> {
    let is_news = |record: &&Record| {
        let counts = record.summary.completions.iter();
        let transfers: u64 = counts.map(|class| class.count + class.unfinished).sum();
        transfers > record.flows.len() as u64
    };
    let records = records.iter().filter(is_news);
    let rows: Vec<_> = records
        .flat_map(|record| record.summary.completions.iter().map(class))
        .collect();
    let headings = [
        "transfers",
        "complete",
        "not",
        "p50",
        "p95",
        "p99",
        "mean",
        "max",
    ];
    (!rows.is_empty()).then(|| Table::new(headings, rows))
}

fn class(class: &Completions) -> Vec<String> {
    let size = match (class.over_bytes, class.up_to_bytes) {
        (_, Some(largest)) => format!("≤ {}", bytes(Bytes::new(largest))),
        (Some(largest), None) => format!("> {}", bytes(Bytes::new(largest))),
        (None, None) => "of any size".to_string(),
    };
    vec![
        format!("{} {size}", class.controller),
        class.count.to_string(),
        class.unfinished.to_string(),
        known(class.p50_ms, span),
        known(class.p95_ms, span),
        known(class.p99_ms, span),
        known(class.mean_ms, span),
        known(class.max_ms, span),
    ]
}

/// Returns the notes below the tables: the meaning of `>` and of quantiles, the fairness of the flows on a path, and
/// the lateness of the machine.
pub(super) fn notes(records: &[Record], lanes: &[Lane<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    let cut_off = lanes.iter().filter(|lane| is_cut_off(lane)).count();
    match (cut_off, is_in_groups(lanes)) {
        (0, false) => {}
        (_, false) => notes.push("> cut off by then, and not complete".to_string()),
        (_, true) => {
            let more = groups(lanes).len().saturating_sub(MAX_GROUP_LINES);
            if more > 0 {
                let more = count(more as u64, "more row");
                notes.push(format!("… and {more}; --json has all flows"));
            }
            notes.push(
                "goodput: exceeded by all but 5 % of the flows, by half; of limit: all together"
                    .to_string(),
            );
            notes.push(
                "RTT p50: of the median flow; RTT p95: exceeded by that of 5 % of the flows"
                    .to_string(),
            );
            if cut_off > 0 {
                notes.push(format!(
                    "{} cut off, and not complete",
                    count(cut_off as u64, "transfer")
                ));
            }
        }
    }
    for record in records {
        notes.extend(super::links::note(record));
        notes.extend(sharing(record));
        let summary = &record.summary;
        let paths = record.bottlenecks().map(|(_, path)| path);
        let gone = paths.clone().flat_map(discarded);
        notes.extend(gone.map(|gone| named(gone, record, records, lanes)));
        if summary.validity.warning().is_none() {
            let late = paths.filter_map(lateness);
            notes.extend(late.map(|late| named(late, record, records, lanes)));
        }
    }
    notes
}

/// Returns warnings about runs that are not to be trusted.
pub(super) fn warnings(records: &[Record], lanes: &[Lane<'_>]) -> Vec<String> {
    let warning = |record: &Record| {
        let warning = record.summary.validity.warning()?;
        let remedy = Validity::REMEDY;
        let warning = format!("{warning}; {remedy}, or in virtual time with `run --engine sim`");
        Some(named(warning, record, records, lanes))
    };
    records.iter().filter_map(warning).collect()
}

/// Returns a note about one of the records, after the record's name if there are several.
fn named(text: String, record: &Record, records: &[Record], lanes: &[Lane<'_>]) -> String {
    match lanes.iter().find(|lane| ptr::eq(lane.record, record)) {
        Some(lane) if records.len() > 1 => format!("{}: {text}", lane.name),
        _ => text,
    }
}

/// Describes how evenly the flows of a record shared its path, if they did.
fn sharing(record: &Record) -> Vec<String> {
    if record.flows.len() < 2 || !record.scenario.network().do_all_compete() {
        return Vec::new();
    }
    let (all, fairness) = (&record.summary.together, &record.summary.fairness);
    let told = |one: &Together| {
        let rate = bits_per_sec(one.goodput_bps as f64);
        match one.limit_share {
            Some(share) => format!("{rate}, {} of limit", percent(share)),
            None => rate,
        }
    };
    let mut sums = vec![format!("all flows over the same time: {}", told(all))];
    if end_apart(record) {
        // Over the whole time, equal transfers have equal shares by definition, whatever happened between them.
        sums = while_all_live(record);
    } else if record.summary.controllers.len() > 1 {
        sums.extend(record.summary.controllers.iter().map(|one| {
            format!(
                "  {} ×{}: {}",
                one.controller,
                one.flows,
                told(&one.together)
            )
        }));
    }
    let jain = fairness
        .jain
        .map(|jain| format!("Jain index of the goodputs: {jain:.3}"));
    let seconds = &fairness.jain_per_s;
    let each = seconds.p50.zip(seconds.p5).map(|(median, low)| {
        format!("Jain index of each second: median {median:.3}, 5 % of them at most {low:.3}")
    });
    let converged = fairness
        .convergence_s
        .map(|after| format!("converged {after:.0} s after the last start"));
    let even = [jain, each, converged].into_iter().flatten();
    sums.into_iter().chain(even).collect()
}

/// True if some transfers of a record were complete before others ended.
fn end_apart(record: &Record) -> bool {
    let ends = || record.flows.iter().map(|flow| flow.completed);
    let first = ends().flatten().min();
    first.is_some_and(|first| ends().any(|end| end.is_none_or(|end| end > first)))
}

/// Describes the deliveries of each controller's flows while all flows lived. Empty if there is no such time.
fn while_all_live(record: &Record) -> Vec<String> {
    let Some(lived) = record.while_all_live() else {
        return Vec::new();
    };
    let goodputs = || record.flows.iter().zip(&lived.goodputs);
    let sum = |rates: &mut dyn Iterator<Item = &Rate>| {
        bits_per_sec(rates.map(|rate| rate.bits_per_sec() as f64).sum())
    };
    let all = sum(&mut goodputs().map(|(_, rate)| rate));
    let time = format!(
        "{:.0} to {:.0} s",
        lived.from.as_secs_f64(),
        lived.to.as_secs_f64()
    );
    let mut lines = vec![format!("while all flows lived, {time}: {all}")];
    if record.summary.controllers.len() > 1 {
        lines.extend(record.summary.controllers.iter().map(|one| {
            let own = |flow: &FlowRecord| flow.controller.to_string() == one.controller;
            let mut own = goodputs()
                .filter(|(flow, _)| own(flow))
                .map(|(_, rate)| rate);
            format!("  {} ×{}: {}", one.controller, one.flows, sum(&mut own))
        }));
    }
    lines
}

/// Describes the packets that a link discarded for other reasons than a full queue or random loss.
fn discarded(path: &PathSummary) -> impl Iterator<Item = String> {
    let told = |packets: Option<u64>, why: &str| {
        let packets = count(packets.filter(|packets| *packets > 0)?, "packet");
        Some(match &path.name {
            Some(link) => format!("link {link}: {packets} {why}"),
            None => format!("{packets} {why}"),
        })
    };
    let too_big = told(path.too_big, "larger than the MTU, and dropped");
    let corrupted = told(path.corrupted, "damaged on the way, and discarded");
    too_big.into_iter().chain(corrupted)
}

/// Describes the machine's lateness, if it was too slow to emulate the path.
fn lateness(path: &PathSummary) -> Option<String> {
    let mut said = Vec::new();
    if let Some(late) = path.late_packets.filter(|late| *late > 0) {
        said.push(format!(
            "the machine was late for {}, by more than 1 ms",
            count(late, "packet")
        ));
    }
    if let Some(lost) = path.overflows.filter(|lost| *lost > 0) {
        said.push(format!(
            "the machine was too slow for {}, which it lost",
            count(lost, "packet")
        ));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// The columns that a narrow terminal omits, the first one first.
const SPARE_OF_FLOWS: [&str; 6] = [
    "RTT min", "RTT p95", "resent", LIMITED_BY, "slow 5 %", "time",
];
const SPARE_OF_CLASSES: [&str; 4] = ["mean", "p99", "max", "p95"];

/// Returns one row per flow: time, goodput and its share of what the path allows, RTT, and retransmissions. If there
/// are more than twenty flows, one row per group of them, with quantiles over its flows. It has all columns, or those
/// that fit a terminal of `width` columns.
///
/// Below it, if they apply: completion times by way through a network, or else by size; the links of a network or the hops of
/// a chain; and lines on incomplete transfers, on flows over the same time, on their fairness, and on a machine that was
/// too slow. The text ends with a newline.
pub fn table(records: &[Record], width: Option<usize>) -> String {
    let lanes = lanes(records);
    let links = links(records).map(|links| links.sparing(&SPARE_OF_LINKS));
    // The same transfers stand in one table only.
    let transfers = ways::transfers(&lanes).or_else(|| completions(records));
    let transfers = transfers.map(|table| table.sparing(&SPARE_OF_CLASSES));
    let tables = [flows(&lanes).sparing(&SPARE_OF_FLOWS)].into_iter();
    let tables: Vec<String> = tables
        .chain(transfers)
        .chain(links)
        .map(|table| table.lines(width))
        .collect();
    let notes = [notes(records, &lanes), warnings(records, &lanes)].concat();
    below(&tables, notes, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_were_too_big_or_damaged_are_told() {
        let mut path = PathSummary::default();
        assert_eq!(discarded(&path).count(), 0);
        (path.too_big, path.corrupted) = (Some(1), Some(0));
        let told: Vec<String> = discarded(&path).collect();
        assert_eq!(told, ["1 packet larger than the MTU, and dropped"]);
        path.corrupted = Some(81);
        assert_eq!(
            discarded(&path).last().as_deref(),
            Some("81 packets damaged on the way, and discarded")
        );
        path.name = Some("dsl.uplink".to_string());
        assert_eq!(
            discarded(&path).next().as_deref(),
            Some("link dsl.uplink: 1 packet larger than the MTU, and dropped")
        );
    }
}
