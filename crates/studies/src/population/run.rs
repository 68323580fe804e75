//! Every member once with each controller.

use std::convert::Infallible;

use serde::Serialize;

use super::draw::Member;
use crate::runs::{Execution, Failed, Plan, execute};
use record::Record;
use scenario::{Controller, Scenario};

/// The result of a member's flow with one of the controllers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowResult {
    /// The member's place in the population.
    pub member: usize,
    /// Where the member is.
    pub region: String,
    /// The kind of its access network.
    pub access: String,
    /// The controller.
    pub controller: String,
    /// The bottleneck's rate at the start, in bits per second.
    pub rate_bps: Option<u64>,
    /// RTprop.
    pub rtprop_ms: f64,
    /// The bottleneck's buffer.
    pub buffer_bytes: Option<u64>,
    /// The median over all ACKs of the flow; nothing if none measured a round-trip time.
    pub rtt_p50_ms: Option<f64>,
    /// The 95th percentile.
    pub rtt_p95_ms: Option<f64>,
    /// Payload delivered per second of the flow's life.
    pub goodput_bps: u64,
    /// What was sent again, as a share of what was sent.
    pub resent_share: Option<f64>,
    /// How long a video stood still, as a share of how long it played and stood still.
    pub stalled_share: Option<f64>,
}

/// The runs of every member with every one of the controllers: the same seed and path for all of them.
pub fn plan(members: &[Member], controllers: &[Controller]) -> Plan {
    let mut plan = Plan::new("population", ["region", "access", "flow.controller"]);
    for member in members {
        for controller in controllers {
            let mut scenario = member.scenario.clone();
            for flow in &mut scenario.flows {
                flow.controller = *controller;
            }
            let (region, access) = (member.region.clone(), member.access.clone());
            let values = vec![region, access, controller.to_string()];
            plan.add_point(values, scenario.clone());
            // Nothing is kept of it.
            plan.add_run(0, scenario, String::new());
        }
    }
    plan
}

/// Carries out a [`plan`] of these members. Returns the results of the flows, in the order of the plan, and the runs that
/// failed.
///
/// Once it is cancelled, runs are given up: what was done by then is returned.
pub fn run<'p>(
    plan: &'p Plan,
    members: &[Member],
    execution: &Execution<'_>,
) -> (Vec<FlowResult>, Vec<Failed<'p>>) {
    let runs = plan.all();
    let controllers = runs.len() / members.len().max(1);
    let mut found = vec![Vec::new(); runs.len()];
    let Ok(failed) = execute(&runs, execution, |place, outcome| {
        if let Ok(record) = outcome {
            let member = place / controllers;
            found[place] = of_record(member, &members[member], &runs[place].scenario, &record);
        }
        Ok::<(), Infallible>(())
    });
    (found.into_iter().flatten().collect(), failed)
}

fn of_record(
    place: usize,
    member: &Member,
    scenario: &Scenario,
    record: &Record,
) -> Vec<FlowResult> {
    let flows = record.summary.flows.iter();
    let result = |flow: &record::FlowSummary| {
        let playback = flow.app.as_ref().and_then(|app| app.playback);
        let stalled = playback.map(|playback| {
            let all = playback.stalled_s + playback.played_s;
            (playback.stalled_s / all, all)
        });
        FlowResult {
            member: place,
            region: member.region.clone(),
            access: member.access.clone(),
            controller: flow.controller.clone(),
            rate_bps: record.summary.path.rate_bps,
            rtprop_ms: record.summary.path.rtprop_ms,
            buffer_bytes: scenario.path.buffer_bytes().map(units::Bytes::get),
            rtt_p50_ms: flow.rtt_ms.p50,
            rtt_p95_ms: flow.rtt_ms.p95,
            goodput_bps: flow.goodput_bps,
            resent_share: flow.retransmitted_share(),
            stalled_share: stalled.and_then(|(share, all)| (all > 0.0).then_some(share)),
        }
    };
    flows.map(result).collect()
}
