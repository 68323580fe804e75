//! Every member once with each controller.

use std::convert::Infallible;

use serde::Serialize;

use super::draw::Member;
use crate::sweep::{self, Event, Failed, Plan, Point, Run};
use lab::Cancel;
use lab::Engine;
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
    let mut points = Vec::new();
    let mut runs = Vec::new();
    for (place, member) in members.iter().enumerate() {
        for controller in controllers {
            let mut scenario = member.scenario.clone();
            for flow in &mut scenario.flows {
                flow.controller = *controller;
            }
            runs.push(Run {
                point: points.len(),
                repeat: 0,
                key: format!("{place} {controller}"),
                scenario: scenario.clone(),
            });
            points.push(Point {
                values: vec![member.scenario.name.clone(), controller.to_string()],
                scenario,
            });
        }
    }
    Plan {
        name: "population".to_string(),
        fields: vec!["member".to_string(), "flow.controller".to_string()],
        points,
        runs,
    }
}

/// Carries out a [`plan`] of these members, `jobs` runs at a time. `watch` is told of the progress, from several threads.
/// Returns the results of the flows, in the order of the plan, and the runs that failed.
///
/// Once `cancel` is cancelled, runs are given up: what was done by then is returned.
pub fn run(
    plan: &Plan,
    members: &[Member],
    engine: &(dyn Engine + Sync),
    jobs: usize,
    watch: &(dyn Fn(Event) + Sync),
    cancel: &Cancel,
) -> (Vec<FlowResult>, Vec<Failed>) {
    let places: Vec<usize> = (0..plan.runs.len()).collect();
    let controllers = plan.runs.len() / members.len().max(1);
    let mut found: Vec<(usize, Vec<FlowResult>)> = Vec::new();
    let keep = |run: &Run, record: Record| {
        let place = run.point / controllers.max(1);
        if let Some(member) = members.get(place) {
            found.push((run.point, of_record(place, member, &run.scenario, &record)));
        }
        Ok::<(), Infallible>(())
    };
    let failed = sweep::execute_each(plan, &places, engine, jobs, watch, cancel, keep);
    let failed = failed.unwrap_or_else(|never| match never {});
    found.sort_by_key(|(point, _)| *point);
    let flows = found.into_iter().flat_map(|(_, flows)| flows);
    (flows.collect(), failed)
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
