//! What was observed in one run, in one schema whatever the engine: samples over time, and a summary.
//!
//! An engine feeds a [`FlowRecorder`] for each flow, a [`PathRecorder`] for each bottleneck and a [`TransferRecorder`],
//! and puts what they return into a [`Record`] with [`Record::new`]. Memory is bounded however long the run: see
//! [`Series`], [`Throughput`], [`Transfers`] and [`Distribution`]. The summary leaves out the scenario's warmup; samples
//! and transfers keep it.
//!
//! A [`Measure`] is a number of a run by its name. All sides of Fullpipe that compare runs have them from one list; see
//! also [`statistics`].
//!
//! What recorders are told determines what they return: from an engine in virtual time, the same scenario and seed give
//! the same record, but for [`Summary::wall_s`].
//!
//! ```
//! use record::{Record, jain_index};
//!
//! /// How evenly the flows shared what they delivered.
//! fn fairness(record: &Record) -> Option<f64> {
//!     let flows = record.summary.flows.iter();
//!     jain_index(flows.map(|flow| flow.delivered_bytes as f64))
//! }
//!
//! assert_eq!(jain_index([2.0, 2.0]), Some(1.0));
//! assert_eq!(jain_index([4.0, 0.0]), Some(0.5));
//! ```

mod distribution;
mod fairness;
mod flow;
mod host;
pub mod measure;
mod path;
mod series;
pub mod statistics;
mod summary;
mod throughput;
mod together;
mod transfer;
mod unit;

pub use distribution::Distribution;
pub use fairness::{
    CONVERGED, Fairness, HELD_S, JainPerSecond, WINDOW_S, WhileAllLive, jain_index,
};
pub use flow::{Busy, FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowTotals};
pub use host::{HandedDown, HostRecorder, HostSummary};
pub use measure::Measure;
pub use path::{PathRecord, PathRecorder, PathSample, PathTotals};
pub use series::{Point, Series};
pub use summary::{
    AppSummary, FlowSummary, PathSummary, PlaybackSummary, QueueMillis, RttMillis, Summary,
};
pub use throughput::Throughput;
pub use together::{OfController, Together, Window};
pub use transfer::{Completions, SIZE_CLASSES, Transfer, TransferRecorder, Transfers};
pub use unit::Unit;

use units::Duration;

use scenario::Scenario;

/// What was observed in one run of a scenario.
#[derive(Debug, Clone)]
pub struct Record {
    /// What was run.
    pub scenario: Scenario,
    /// The run in numbers.
    pub summary: Summary,
    /// Each flow over time, in the order of the summary's flows.
    pub flows: Vec<FlowRecord>,
    /// Samples of the bottlenecks, in the order of the path; the first is the summary's `path`.
    pub paths: Vec<PathRecord>,
    /// The transfers.
    pub transfers: Transfers,
    /// The share of payload in a full packet: the one that the limits count with.
    pub payload_share: f64,
}

/// The run of a record.
#[derive(Debug, Clone, Copy)]
pub struct Run<'r> {
    /// What was run.
    pub scenario: &'r Scenario,
    /// The engine's name.
    pub engine: &'static str,
    /// When it ended, in the scenario's time.
    pub end: Duration,
    /// How long it took, in the time of the person who waited for it.
    pub wall: std::time::Duration,
    /// Whether it was ended before its time.
    pub is_partial: bool,
    /// The share of payload in a full packet, the largest of all flows.
    pub payload_share: f64,
}

/// What the recorders of a run returned.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The first bottleneck.
    pub path: (PathSummary, PathRecord),
    /// Those behind it.
    pub next: Vec<(PathSummary, PathRecord)>,
    /// The flows, in the scenario's order.
    pub flows: Vec<(FlowSummary, FlowRecord)>,
    /// Transfers and completion times.
    pub transfers: (Transfers, Vec<Completions>),
}

impl Record {
    /// Puts a record together, and adds what concerns several of its parts: shares of the limit, fairness.
    pub fn new(run: Run<'_>, recorded: Recorded) -> Record {
        let Run {
            scenario,
            end,
            payload_share,
            ..
        } = run;
        let (path, first) = recorded.path;
        let (next, further): (Vec<_>, Vec<_>) = recorded.next.into_iter().unzip();
        let (mut summaries, flows): (Vec<FlowSummary>, Vec<FlowRecord>) =
            recorded.flows.into_iter().unzip();
        let (transfers, completions) = recorded.transfers;
        for (flow, life) in summaries.iter_mut().zip(&flows) {
            flow.group = group_of(scenario, flow.id);
            let group = flow.group.and_then(|group| scenario.flows.get(group));
            let window = Window::of(std::iter::once(life), scenario.warmup, end);
            let limit = group.and_then(|group| window.limit(scenario, group, payload_share));
            flow.limit_share = limit.map(|limit| flow.goodput_bps as f64 / limit);
        }
        let window = Window::of(flows.iter(), scenario.warmup, end);
        let all = together::together(scenario, summaries.iter(), window, payload_share);
        let controllers = together::by_controller(scenario, &summaries, window, payload_share);
        let goodputs = summaries.iter().map(|flow| flow.goodput_bps as f64);
        let fairness = Fairness::of(goodputs, &flows, scenario.warmup, end);
        Record {
            summary: Summary {
                scenario: scenario.name.clone(),
                engine: run.engine.to_string(),
                seed: scenario.seed,
                duration_s: end.as_secs_f64(),
                wall_s: run.wall.as_secs_f64(),
                is_partial: run.is_partial,
                path,
                next,
                flows: summaries,
                together: all,
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
}

impl Record {
    /// What the first bottleneck lets through of a sender that never sends more than its rate, in bits per second:
    /// `limit_bps`, less what is lost before the bottleneck. The BBR paper's figure 8 calls it ideal.
    pub fn paced_limit_bps(&self) -> Option<f64> {
        let limit = self.summary.path.limit_bps? as f64;
        Some(limit * self.scenario.path.data.passed_before())
    }

    /// Leaves out the samples over time of flows and bottlenecks, which are nearly all that a record is.
    pub fn drop_samples(&mut self) {
        self.flows
            .iter_mut()
            .for_each(|flow| flow.samples = Vec::new());
        self.paths
            .iter_mut()
            .for_each(|path| path.samples = Vec::new());
    }
}

/// The group of flows that the flow `id` belongs to.
fn group_of(scenario: &Scenario, id: usize) -> Option<usize> {
    let mut after = 0u64;
    scenario.flows.iter().position(|group| {
        after = after.saturating_add(group.count);
        (id as u64) < after
    })
}
