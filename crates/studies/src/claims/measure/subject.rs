//! What of a record is looked at.

use std::str::FromStr;

use units::Duration;

use record::{FlowRecord, FlowSample, FlowSummary, PathSample, Record, Together};

/// What of records is looked at: all of it, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Select {
    /// Which flows.
    pub flows: Option<Flows>,
    /// From when on, instead of the end of the warmup.
    pub from: Option<Duration>,
    /// Until when, instead of the end.
    pub to: Option<Duration>,
}

/// Some of a scenario's flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flows {
    /// Those with this controller.
    Controller(String),
    /// Those of the group with this place in the scenario, from zero.
    Group(usize),
}

impl FromStr for Flows {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Flows, Self::Err> {
        Ok(match text.parse() {
            Ok(place) => Flows::Group(place),
            Err(_) => Flows::Controller(text.to_owned()),
        })
    }
}

/// The part of a record that a measure looks at.
#[derive(Debug)]
pub struct Subject<'r> {
    /// The record.
    pub record: &'r Record,
    /// Whether it is a part of the run other than what the summary is about.
    pub is_window: bool,
    /// From when on.
    pub from: Duration,
    /// Until when.
    pub to: Duration,
    flows: Vec<(&'r FlowSummary, &'r FlowRecord)>,
}

impl<'r> Subject<'r> {
    /// What `select` says of the record.
    pub fn new(record: &'r Record, select: &Select) -> Subject<'r> {
        let is_chosen = |flow: &FlowSummary| match &select.flows {
            None => true,
            Some(Flows::Controller(name)) => flow.controller == *name,
            Some(Flows::Group(place)) => flow.group == Some(*place),
        };
        let flows = record.summary.flows.iter().zip(&record.flows);
        let end = Duration::from_nanos((record.summary.duration_s * 1e9) as u64);
        Subject {
            record,
            is_window: select.from.is_some() || select.to.is_some(),
            from: select.from.unwrap_or(record.scenario.warmup),
            to: select.to.unwrap_or(end),
            flows: flows.filter(|(summary, _)| is_chosen(summary)).collect(),
        }
    }

    /// The flows, in the scenario's order.
    pub fn flows(&self) -> impl Iterator<Item = &'r FlowRecord> {
        self.flows.iter().map(|(_, flow)| *flow)
    }

    /// Their summaries.
    pub fn summaries(&self) -> impl Iterator<Item = &'r FlowSummary> {
        self.flows.iter().map(|(summary, _)| *summary)
    }

    /// What the flows delivered together, over the time of all flows of the run.
    pub fn together(&self) -> Together {
        let is_chosen = |flow: &FlowSummary| self.summaries().any(|chosen| chosen.id == flow.id);
        self.record.together(is_chosen)
    }

    /// The samples of a flow in the window.
    pub fn samples<'f>(&self, flow: &'f FlowRecord) -> &'f [FlowSample] {
        let from = flow.samples.partition_point(|sample| sample.at < self.from);
        let to = flow.samples.partition_point(|sample| sample.at <= self.to);
        flow.samples.get(from..to.max(from)).unwrap_or_default()
    }

    /// The first bottleneck in the window.
    pub fn path(&self) -> &'r [PathSample] {
        let samples = self
            .record
            .paths
            .first()
            .map_or(&[][..], |path| &path.samples);
        let from = samples.partition_point(|sample| sample.at < self.from);
        let to = samples.partition_point(|sample| sample.at <= self.to);
        samples.get(from..to.max(from)).unwrap_or_default()
    }

    /// The sum of something over the flows, if all of them tell.
    pub fn sum(&self, of: impl Fn(&FlowSummary) -> Option<f64>) -> Option<f64> {
        self.summaries()
            .map(of)
            .reduce(|sum, next| Some(sum? + next?))?
    }

    /// RTprop in milliseconds, at the start.
    pub fn rtprop_ms(&self) -> f64 {
        self.record.scenario.path.rtt.as_millis_f64()
    }

    /// The bottleneck's rate in bits per second, at the start.
    pub fn rate_bps(&self) -> Option<f64> {
        let rate = self.record.scenario.path.data.rate?;
        Some(rate.bits_per_sec() as f64)
    }

    /// The bottleneck's bandwidth-delay product in bytes, at the start.
    pub fn bdp_bytes(&self) -> Option<f64> {
        Some(self.rate_bps()? / 8.0 * self.rtprop_ms() / 1e3).filter(|bdp| *bdp > 0.0)
    }
}
