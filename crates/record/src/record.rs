//! The observations of one run.

use scenario::{FlowSpec, Limits, Network, Scenario};
use units::Duration;

use super::fairness::{Fairness, WhileAllLive};
use super::flow::FlowRecord;
use super::path::PathRecord;
use super::summary::{Departures, FlowSummary, PathSummary, Summary, Validity};
use super::together::{OfController, Together, Window};
use super::transfer::{Completions, Transfers};

/// The observations of one run of a scenario.
#[derive(Debug, Clone)]
pub struct Record {
    /// The scenario.
    pub scenario: Scenario,
    /// The run in numbers.
    pub summary: Summary,
    /// Each flow over time, in the order of the summary's flows.
    pub flows: Vec<FlowRecord>,
    /// Samples of the bottlenecks, in the order of the path; the first is the summary's `path`.
    pub paths: Vec<PathRecord>,
    /// The transfers.
    pub transfers: Transfers,
    /// The share of payload in a full packet, as used in the limits.
    pub payload_share: f64,
}

/// The facts of a run that recorders do not know.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'r> {
    /// The scenario, with the routes of its flows.
    pub network: &'r Network<'r>,
    /// The engine's name.
    pub engine: &'static str,
    /// The end, in the scenario's time.
    pub end: Duration,
    /// The elapsed real time.
    pub wall: std::time::Duration,
    /// Whether the run was ended early.
    pub is_partial: bool,
    /// The share of payload in a full packet, the largest of all flows.
    pub payload_share: f64,
}

/// The results of a run's recorders.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The first bottleneck.
    pub path: (PathSummary, PathRecord),
    /// The bottlenecks behind it.
    pub next: Vec<(PathSummary, PathRecord)>,
    /// The flows, in the scenario's order.
    pub flows: Vec<(FlowSummary, FlowRecord)>,
    /// Transfers and completion times.
    pub transfers: (Transfers, Vec<Completions>),
}

impl Record {
    /// Builds a record, and adds what concerns several of its parts: shares of the limit, fairness.
    pub fn new(run: RunFacts<'_>, recorded: Recorded) -> Record {
        let RunFacts {
            network,
            end,
            payload_share,
            ..
        } = run;
        let scenario = network.scenario();
        let (path, first) = recorded.path;
        let (next, further): (Vec<_>, Vec<_>) = recorded.next.into_iter().unzip();
        let (mut summaries, flows): (Vec<FlowSummary>, Vec<FlowRecord>) =
            recorded.flows.into_iter().unzip();
        let (transfers, completions) = recorded.transfers;
        let limits = Limits::of(network);
        let groups = groups(scenario);
        for (flow, life) in summaries.iter_mut().zip(&flows) {
            flow.group = groups.get(flow.id).copied();
            let window = Window::of(std::slice::from_ref(life), scenario.warmup, end);
            let limit = flow
                .group
                .and_then(|group| window.limit(&limits, group, payload_share));
            flow.limit_share = limit.map(|limit| flow.goodput_bps as f64 / limit);
            let routed = flow.group.filter(|_| path.name.is_some());
            flow.rtprop_ms = routed.map(|group| network.rtprop(group).as_millis_f64());
        }
        let window = Window::of(&flows, scenario.warmup, end);
        let together = Together::of(summaries.iter(), &limits, window, payload_share);
        let controllers = OfController::each(&summaries, &limits, window, payload_share);
        let goodputs = summaries.iter().map(|flow| flow.goodput_bps as f64);
        // Flows without a common link, such as those of opposite directions, have no shares of anything.
        let fairness = if network.do_all_compete() {
            Fairness::of(goodputs, &flows, scenario.warmup, end)
        } else {
            Fairness::default()
        };
        let rtprop_ms = network.least_rtprop().as_millis_f64();
        let validity = Validity::at(rtprop_ms, std::iter::once(&path).chain(&next));
        Record {
            summary: Summary {
                scenario: scenario.name.clone(),
                engine: run.engine.to_string(),
                seed: scenario.seed,
                duration_s: end.as_secs_f64(),
                wall_s: run.wall.as_secs_f64(),
                is_partial: run.is_partial,
                validity,
                path,
                next,
                flows: summaries,
                together,
                controllers,
                completions,
                fairness,
            },
            scenario: scenario.clone(),
            flows,
            paths: std::iter::once(first).chain(further).collect(),
            transfers,
            payload_share,
        }
    }

    /// Adds the lateness of the senders, for an engine that sees it.
    pub fn with_senders(mut self, senders: &Departures) -> Record {
        let rtprop_ms = self.scenario.network().least_rtprop().as_millis_f64();
        let validity = std::mem::take(&mut self.summary.validity);
        self.summary.validity = validity.with_senders(rtprop_ms, senders);
        self
    }

    /// The rate that the first bottleneck lets through of a sender that never sends faster than its rate, in bits per
    /// second: `limit_bps`, less the losses before the bottleneck. The BBR paper's figure 8 calls it ideal.
    pub fn paced_limit_bps(&self) -> Option<f64> {
        let limit = self.summary.path.limit_bps? as f64;
        let first = self.scenario.hops().next()?;
        Some(limit * first.data.passed_before())
    }

    /// All bottlenecks, with their indices, in the order of [`Record::paths`].
    pub fn bottlenecks(&self) -> impl Iterator<Item = (usize, &PathSummary)> + Clone {
        let summary = &self.summary;
        std::iter::once(&summary.path)
            .chain(&summary.next)
            .enumerate()
    }

    /// Drops the samples over time of flows and bottlenecks, which take nearly all of a record's memory.
    pub fn drop_samples(&mut self) {
        for flow in &mut self.flows {
            flow.samples = Vec::new();
        }
        for path in &mut self.paths {
            path.samples = Vec::new();
        }
    }

    /// The deliveries of the chosen flows together, from the first start to the last end of all flows of the run,
    /// without the warmup. The time is the same for every choice, so the goodputs of several choices add up.
    pub fn together(&self, is_chosen: impl Fn(&FlowSummary) -> bool) -> Together {
        let window = Window::of(&self.flows, self.scenario.warmup, self.summary.end());
        let chosen = self.summary.flows.iter().filter(|flow| is_chosen(flow));
        let groups = || chosen.clone().filter_map(|flow| flow.group);
        let first = groups().min().unwrap_or(0);
        let end = groups().max().map_or(0, |last| last + 1);
        Together::of(
            chosen.clone(),
            &Limits::of(&self.scenario.network_within(first..end)),
            window,
            self.payload_share,
        )
    }

    /// The deliveries of each flow while all of them lived; `None` if they never all lived for a whole second.
    pub fn while_all_live(&self) -> Option<WhileAllLive> {
        WhileAllLive::of(&self.flows, self.scenario.warmup, self.summary.end())
    }
}

/// The group of each flow, in the order of the flows.
fn groups(scenario: &Scenario) -> Vec<usize> {
    let groups = scenario.flows.iter().enumerate();
    let of = |(place, group): (usize, &FlowSpec)| group.starts().map(move |_| place);
    groups.flat_map(of).collect()
}
