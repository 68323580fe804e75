//! The flows of all records side by side, each with its own name.

use std::collections::HashMap;

use record::{FlowRecord, FlowSummary, Record};

/// The maximum number of flows with a line each.
const MAX_FLOW_LINES: usize = 20;

/// A flow of one of the records.
pub(super) struct Lane<'r> {
    /// Its controller, with a number if another flow has the same.
    pub name: String,
    /// Its record.
    pub record: &'r Record,
    /// The index of the record.
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
    let names = names(&controllers(&lanes));
    for (lane, name) in lanes.iter_mut().zip(names) {
        lane.name = name;
    }
    lanes
}

/// The controller of each lane.
pub(super) fn controllers<'l>(lanes: &'l [Lane<'_>]) -> Vec<&'l str> {
    let names = lanes.iter().map(|lane| lane.summary.controller.as_str());
    names.collect()
}

/// Flows that differ only in their index and start: a `[[flow]]` of one of the records.
pub(super) struct Group<'l, 'r> {
    /// Its controller, with a number if another group has the same.
    pub name: String,
    /// Its flows; at least one.
    pub lanes: Vec<&'l Lane<'r>>,
}

/// True if the table has a row per group instead of a row per flow.
pub(super) fn is_in_groups(lanes: &[Lane<'_>]) -> bool {
    lanes.len() > MAX_FLOW_LINES
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
    let controllers: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    let names = names(&controllers);
    for (group, name) in groups.iter_mut().zip(names) {
        group.name = name;
    }
    groups
}

/// Returns a name for each lane of these controllers: the controller's, with a number if another lane has the same.
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
