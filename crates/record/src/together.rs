//! The deliveries of flows that need not live equally long, over the same time.

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use super::flow::FlowRecord;
use super::millionths::optional_millionths;
use super::summary::FlowSummary;
use super::throughput::goodput;
use scenario::{FlowSpec, Limits};

/// The deliveries of flows together, over one time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Together {
    /// The payload delivered, each byte counted once, per second of that time.
    pub goodput_bps: u64,
    /// The goodput as a share of what the path allows in that time; null without a limit, and if the flows cross
    /// bottlenecks of which they share only some.
    #[serde(serialize_with = "optional_millionths")]
    pub limit_share: Option<f64>,
}

/// The deliveries of one controller's flows together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OfController {
    /// The controller's name.
    pub controller: String,
    /// The number of its flows.
    pub flows: u64,
    /// Their deliveries, over the time of all flows of the run.
    #[serde(flatten)]
    pub together: Together,
}

impl Together {
    /// The deliveries of these flows in a window that contains their lives.
    pub(super) fn of<'f>(
        flows: impl Iterator<Item = &'f FlowSummary> + Clone,
        limits: &Limits<'_>,
        window: Window,
        payload_share: f64,
    ) -> Together {
        let delivered = flows.clone().map(|flow| Bytes::new(flow.delivered_bytes));
        let goodput = goodput(delivered.sum(), window.to.saturating_sub(window.from));
        let mut groups: Vec<usize> = flows.filter_map(|flow| flow.group).collect();
        groups.dedup();
        let groups = groups.into_iter();
        let groups = groups.filter_map(|group| limits.scenario().flows.get(group));
        let limit = limit(limits, groups, window, payload_share);
        Together {
            goodput_bps: goodput.bits_per_sec(),
            limit_share: limit.map(|limit| goodput.bits_per_sec() as f64 / limit),
        }
    }
}

impl OfController {
    /// The flows by controller, in the order of the first flow of each.
    pub(super) fn each(
        flows: &[FlowSummary],
        limits: &Limits<'_>,
        window: Window,
        payload_share: f64,
    ) -> Vec<OfController> {
        let mut names: Vec<&str> = Vec::new();
        for flow in flows {
            if !names.contains(&flow.controller.as_str()) {
                names.push(&flow.controller);
            }
        }
        let of = |name: &str| {
            let own = flows.iter().filter(|flow| flow.controller == name);
            OfController {
                controller: name.to_string(),
                flows: own.clone().count() as u64,
                together: Together::of(own, limits, window, payload_share),
            }
        };
        names.into_iter().map(of).collect()
    }
}

/// A time within a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    from: Duration,
    to: Duration,
    /// Whether flows were active at its start.
    is_cut: bool,
}

impl Window {
    /// The window from the flows' first start to their last end, without the warmup, in a run that ended at `end`.
    pub(super) fn of(flows: &[FlowRecord], warmup: Duration, end: Duration) -> Window {
        let start = flows.iter().map(|flow| flow.start).min();
        let start = start.unwrap_or_default();
        let ends = flows.iter().map(|flow| flow.completed.unwrap_or(end));
        Window {
            from: start.max(warmup),
            to: ends.max().unwrap_or_default(),
            is_cut: start < warmup,
        }
    }

    /// The most that a flow can deliver in this time if it is alone, in bits per second: what its way allows, plus
    /// the packet whose transmission had begun before. `None` if nothing limits it.
    pub(super) fn limit(
        &self,
        limits: &Limits<'_>,
        flow: &FlowSpec,
        payload_share: f64,
    ) -> Option<f64> {
        let limit = limits.goodput(flow, self.from, self.to, payload_share)?;
        let span = self.to.saturating_sub(self.from).as_secs_f64();
        let begun = if self.is_cut {
            path::MTU.get() as f64 * 8.0 * payload_share / span
        } else {
            0.0
        };
        Some(limit + begun)
    }
}

/// The most that the path allows the flows of these groups together, in bits per second: the sum over their ways, if
/// no two of them share a bottleneck.
fn limit<'g>(
    limits: &Limits<'_>,
    groups: impl Iterator<Item = &'g FlowSpec>,
    window: Window,
    payload_share: f64,
) -> Option<f64> {
    // Each way once: its direction, its hops, and a group on it.
    let mut ways: Vec<(bool, Vec<usize>, &FlowSpec)> = Vec::new();
    for group in groups {
        let hops: Vec<usize> = limits
            .scenario()
            .crossed(group)
            .map(|(hop, _)| hop)
            .collect();
        let is_known =
            |way: &(bool, Vec<usize>, &FlowSpec)| way.0 == group.reverse && way.1 == hops;
        if !ways.iter().any(is_known) {
            ways.push((group.reverse, hops, group));
        }
    }
    let is_shared = ways.iter().enumerate().any(|(place, one)| {
        let before = ways.iter().take(place);
        before
            .filter(|other| other.0 == one.0)
            .any(|other| other.1.iter().any(|hop| one.1.contains(hop)))
    });
    let alone = ways
        .iter()
        .map(|(_, _, group)| window.limit(limits, group, payload_share));
    if is_shared {
        None
    } else {
        alone.reduce(|sum, next| Some(sum? + next?))?
    }
}
