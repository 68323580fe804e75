//! What a person compares: the flows of all records side by side, each with a name of its own.

use std::collections::HashMap;

use units::Bytes;

use record::{FlowRecord, FlowSummary, Record};

/// A flow of one of the records.
pub(super) struct Lane<'r> {
    /// Its controller; numbered if another flow has the same.
    pub name: String,
    /// The record that it is in.
    pub record: &'r Record,
    /// The record's place among the records.
    pub record_index: usize,
    pub summary: &'r FlowSummary,
    pub flow: &'r FlowRecord,
}

/// The flows of all records.
pub(super) fn lanes(records: &[Record]) -> Vec<Lane<'_>> {
    let flows = records
        .iter()
        .enumerate()
        .flat_map(|(record_index, record)| {
            let flows = record.summary.flows.iter().zip(&record.flows);
            flows.map(move |(summary, flow)| (record_index, record, summary, flow))
        });
    let mut lanes: Vec<Lane<'_>> = flows
        .map(|(record_index, record, summary, flow)| Lane {
            name: summary.controller.clone(),
            record,
            record_index,
            summary,
            flow,
        })
        .collect();
    let controllers: Vec<&str> = lanes
        .iter()
        .map(|lane| lane.summary.controller.as_str())
        .collect();
    for (lane, name) in lanes.iter_mut().zip(names(&controllers)) {
        lane.name = name;
    }
    lanes
}

/// Flows that differ in nothing but their place and start: a `[[flow]]` of one of the records.
pub(super) struct Group<'l, 'r> {
    /// Its controller; numbered if another group has the same.
    pub name: String,
    /// Its flows; at least one.
    pub lanes: Vec<&'l Lane<'r>>,
}

/// The lanes by group, in the order of their first lanes.
pub(super) fn groups<'l, 'r>(lanes: &'l [Lane<'r>]) -> Vec<Group<'l, 'r>> {
    let mut groups: Vec<Group<'l, 'r>> = Vec::new();
    let mut places = HashMap::new();
    for lane in lanes {
        let controller = lane.summary.controller.as_str();
        let place = *places
            .entry((lane.record_index, lane.summary.group, controller))
            .or_insert_with(|| {
                groups.push(Group {
                    name: controller.to_string(),
                    lanes: Vec::new(),
                });
                groups.len() - 1
            });
        if let Some(group) = groups.get_mut(place) {
            group.lanes.push(lane);
        }
    }
    let controllers: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    let controllers: Vec<&str> = controllers.iter().map(String::as_str).collect();
    for (group, name) in groups.iter_mut().zip(names(&controllers)) {
        group.name = name;
    }
    groups
}

/// A name for each lane of these controllers: the controller's, numbered if another lane has the same.
pub fn names(controllers: &[&str]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in controllers {
        *counts.entry(name).or_default() += 1;
    }
    let mut before: HashMap<&str, usize> = HashMap::new();
    let names = controllers.iter().map(|name| {
        let number = before.entry(name).or_default();
        *number += 1;
        match counts.get(name) {
            Some(1) => name.to_string(),
            _ => format!("{name} #{number}"),
        }
    });
    names.collect()
}

/// A rate with the unit that suits it and three digits.
pub fn bits_per_sec(rate: f64) -> String {
    let (value, unit) = match rate {
        r if r >= 1e9 => (r / 1e9, "Gbit/s"),
        r if r >= 1e6 => (r / 1e6, "Mbit/s"),
        r if r >= 1e3 => (r / 1e3, "kbit/s"),
        // Less than a bit is nothing to tell digits of.
        r => return format!("{r:.0} bit/s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A count of bytes with the unit that suits it and three digits.
pub fn bytes(count: Bytes) -> String {
    let (value, unit) = match count.get() as f64 {
        n if n >= 1e9 => (n / 1e9, "GB"),
        n if n >= 1e6 => (n / 1e6, "MB"),
        n if n >= 1e3 => (n / 1e3, "kB"),
        n => (n, "B"),
    };
    format!("{} {unit}", digits(value))
}

/// A number of things that can be counted: `1 run`, `2 runs`.
pub fn count(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

/// Milliseconds.
pub(super) fn millis(value: f64) -> String {
    format!("{} ms", digits(value))
}

/// A time in milliseconds with three digits and the unit that suits it.
pub fn span(millis: f64) -> String {
    match millis {
        ms if ms < 999.5 => format!("{} ms", three_digits(ms)),
        ms => format!("{} s", three_digits(ms / 1000.0)),
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Three significant digits, without an exponent.
fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Three significant digits, without decimals that say nothing.
fn digits(value: f64) -> String {
    let text = three_digits(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}
