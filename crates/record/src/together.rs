//! The deliveries of flows that need not live equally long, over the same time.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use super::flow::FlowRecord;
use super::millionths::optional_millionths;
use super::summary::FlowSummary;
use super::throughput::goodput;
use scenario::{Crossing, Limits};

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
        let limit = limit(limits, &groups, window, payload_share);
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

    /// The most that a flow of a group can deliver in this time if it is alone, in bits per second: what its way allows, plus
    /// the packet whose transmission had begun before. `None` if nothing limits it.
    pub(super) fn limit(
        &self,
        limits: &Limits<'_>,
        group: usize,
        payload_share: f64,
    ) -> Option<f64> {
        let limit = limits.goodput(group, self.from, self.to, payload_share)?;
        let span = self.to.saturating_sub(self.from).as_secs_f64();
        let begun = if self.is_cut {
            path::MTU.get() as f64 * 8.0 * payload_share / span
        } else {
            0.0
        };
        Some(limit + begun)
    }
}

/// The most that the links allow the flows of these groups together, in bits per second: the sum over their routes, if
/// no two of them share a link.
fn limit(limits: &Limits<'_>, groups: &[usize], window: Window, payload_share: f64) -> Option<f64> {
    let routes = limits.network().routes();
    let mut known: HashSet<&[Crossing]> = HashSet::new();
    let distinct = groups.iter().filter(|group| {
        let route = routes.get(**group);
        route.is_some_and(|route| known.insert(&route.there))
    });
    let distinct: Vec<usize> = distinct.copied().collect();
    let mut crossed = HashSet::new();
    let mut crossings = distinct.iter().flat_map(|group| &routes[*group].there);
    if !crossings.all(|crossing| crossed.insert(crossing)) {
        return None;
    }
    let alone = distinct
        .iter()
        .map(|group| window.limit(limits, *group, payload_share));
    alone.reduce(|sum, next| Some(sum? + next?))?
}
