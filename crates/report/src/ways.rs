//! The ways of flows through a network of links with names, and the transfers of each.

use record::{Record, Transfer};
use tables::numbers::{known, span};
use tables::statistics::{Spread, quantile};

use super::lanes::{Group, Lane, groups, is_in_groups};
use super::table::Table;

/// Returns the way of the flow: the sites at its ends, or else the links of its route. `None` outside a network of links
/// with names.
pub(super) fn way(lane: &Lane<'_>) -> Option<String> {
    let groups = &lane.record.scenario.flows;
    let flow = groups.get(lane.summary.group?)?;
    match (&flow.from, &flow.to) {
        (Some(from), Some(to)) => Some(format!("{from} → {to}")),
        _ if flow.route.is_empty() => None,
        _ => {
            let links: Vec<String> = flow.route.iter().map(ToString::to_string).collect();
            Some(links.join(", "))
        }
    }
}

/// Returns the completion times of each group of flows in a network of links with names; `None` if no two groups have
/// transfers.
pub(super) fn transfers(lanes: &[Lane<'_>]) -> Option<Table> {
    let is_in_groups = is_in_groups(lanes);
    let groups = groups(lanes).into_iter();
    let rows: Vec<_> = groups
        .filter_map(|group| row(&group, is_in_groups))
        .collect();
    let headings = [
        "transfers of",
        "complete",
        "not",
        "p50",
        "p95",
        "mean",
        "max",
    ];
    (rows.len() > 1).then(|| Table::new(headings, rows))
}

/// The transfers of a group that started after the warmup. There are none in its record if it kept only some.
fn row(group: &Group<'_, '_>, is_in_groups: bool) -> Option<Vec<String>> {
    let first = group.lanes.first()?;
    let record = first.record;
    let way = way(first).filter(|_| record.transfers.every == 1)?;
    let name = name(group, is_in_groups);
    let own: Vec<&Transfer> = transfers_of(record, first.summary.group).collect();
    let took = |transfer: &&Transfer| {
        let took = transfer.completed?.saturating_sub(transfer.start);
        Some(took.as_millis_f64())
    };
    let times: Vec<f64> = own.iter().filter_map(took).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let largest = Spread::of(times.iter().copied()).map(|spread| spread.max);
    let over = |share| known(quantile(times.iter().copied(), share), span);
    (!own.is_empty()).then(|| {
        vec![
            format!("{name}, {way}"),
            times.len().to_string(),
            (own.len() - times.len()).to_string(),
            over(0.5),
            over(0.95),
            known((!times.is_empty()).then_some(mean), span),
            known(largest, span),
        ]
    })
}

/// The names of a group's flows in the table of flows.
fn name(group: &Group<'_, '_>, is_in_groups: bool) -> String {
    match &group.lanes[..] {
        _ if is_in_groups => group.name.clone(),
        [only] => only.name.clone(),
        [first, .., last] => format!("{} to {}", first.name, last.name),
        [] => String::new(),
    }
}

fn transfers_of(record: &Record, group: Option<usize>) -> impl Iterator<Item = &Transfer> {
    let warmup = record.scenario.warmup;
    let flows = &record.summary.flows;
    let is_own = move |transfer: &&Transfer| {
        let flow = flows.get(transfer.flow);
        transfer.start >= warmup && flow.is_some_and(|flow| flow.group == group)
    };
    record.transfers.rows.iter().filter(is_own)
}
