//! The selected part of a run.

use std::str::FromStr;

use units::{Bytes, Duration};

use crate::{
    FlowRecord, FlowSample, FlowSummary, PathSample, PathSummary, Point, Record, Summary, Together,
};
use scenario::Scenario;

/// A selection of a record; by default, all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Select {
    /// The flows; all by default.
    pub flows: Option<Flows>,
    /// The start, instead of the end of the warmup.
    pub from: Option<Duration>,
    /// The end, instead of the run's.
    pub to: Option<Duration>,
}

impl Select {
    /// Whether it selects a time other than that of the summary.
    pub fn is_window(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

/// Some of a scenario's flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flows {
    /// The flows with this controller.
    Controller(String),
    /// The flows of the group with this index in the scenario, from zero.
    Group(usize),
}

impl Flows {
    fn have(&self, flow: &FlowSummary) -> bool {
        match self {
            Flows::Controller(name) => flow.controller.eq_ignore_ascii_case(name),
            Flows::Group(place) => flow.group == Some(*place),
        }
    }
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

/// The part of a run that a measure looks at.
#[derive(Debug)]
pub struct Subject<'r> {
    /// The summary.
    pub summary: &'r Summary,
    record: Option<&'r Record>,
    /// Whether it is a part of the run other than that of the summary.
    pub is_window: bool,
    /// The start.
    pub from: Duration,
    /// The end.
    pub to: Duration,
    flows: Vec<(&'r FlowSummary, Option<&'r FlowRecord>)>,
    together: Option<Together>,
}

impl<'r> Subject<'r> {
    /// The part of the record that `select` describes.
    pub fn new(record: &'r Record, select: &Select) -> Subject<'r> {
        let is_chosen = |flow: &FlowSummary| match &select.flows {
            None => true,
            Some(flows) => flows.have(flow),
        };
        let summary = &record.summary;
        let flows = summary.flows.iter().zip(record.flows.iter().map(Some));
        Subject {
            summary,
            is_window: select.is_window(),
            from: select.from.unwrap_or(record.scenario.warmup),
            to: select.to.unwrap_or(summary.end()),
            together: Some(record.together(is_chosen)),
            flows: flows.filter(|(flow, _)| is_chosen(flow)).collect(),
            record: Some(record),
        }
    }

    /// All flows of a run of which only the summary is known. Measures that need samples are `None`.
    pub fn of_summary(summary: &'r Summary) -> Subject<'r> {
        Subject {
            summary,
            record: None,
            is_window: false,
            from: Duration::ZERO,
            to: summary.end(),
            flows: summary.flows.iter().map(|flow| (flow, None)).collect(),
            together: Some(summary.together),
        }
    }

    /// The flows of one controller, of a run of which only the summary is known.
    pub fn of_controller(summary: &'r Summary, controller: &str) -> Subject<'r> {
        let mut all = summary.controllers.iter();
        let of = all.find(|one| one.controller == controller);
        let mut subject = Subject::of_summary(summary);
        let flows = &mut subject.flows;
        flows.retain(|(flow, _)| flow.controller == controller);
        subject.together = of.map(|of| of.together);
        subject
    }

    /// The record, if known.
    pub fn record(&self) -> Option<&'r Record> {
        self.record
    }

    /// The scenario.
    pub fn scenario(&self) -> Option<&'r Scenario> {
        self.record.map(|record| &record.scenario)
    }

    /// The largest receive window, if the scenario has one that does not change.
    pub(super) fn receive_window(&self) -> Option<Bytes> {
        let host = &self.scenario()?.host;
        host.receive_buffer.filter(|_| host.change.is_none())
    }

    /// The flows over time, in the scenario's order.
    pub fn flows(&self) -> impl Iterator<Item = &'r FlowRecord> {
        self.flows.iter().filter_map(|(_, flow)| *flow)
    }

    /// Their summaries.
    pub fn summaries(&self) -> impl Iterator<Item = &'r FlowSummary> {
        self.flows.iter().map(|(summary, _)| *summary)
    }

    /// The flows' summaries, each with the flow over time if it is known.
    pub fn each(&self) -> impl Iterator<Item = (&'r FlowSummary, Option<&'r FlowRecord>)> {
        self.flows.iter().copied()
    }

    /// The deliveries of the flows together, over the time of all flows of the run.
    pub fn together(&self) -> Option<Together> {
        self.together
    }

    /// The samples of a flow in the window.
    pub fn samples<'f>(&self, flow: &'f FlowRecord) -> &'f [FlowSample] {
        self.within(&flow.samples)
    }

    /// The path; of a chain, the first hop. `None` in a network of links with names: no link there is the bottleneck of
    /// every flow.
    pub fn path(&self) -> Option<&'r PathSummary> {
        Some(&self.summary.path).filter(|path| path.name.is_none())
    }

    /// The samples of the [path](Subject::path) in the window.
    pub fn queue(&self) -> &'r [PathSample] {
        let record = self.record.filter(|_| self.path().is_some());
        let first = record.and_then(|record| record.paths.first());
        self.within(first.map_or(&[], |path| &path.samples))
    }

    fn within<'p, P: Point>(&self, points: &'p [P]) -> &'p [P] {
        let from = points.partition_point(|point| point.at() < self.from);
        let to = points.partition_point(|point| point.at() <= self.to);
        points.get(from..to.max(from)).unwrap_or_default()
    }

    /// The sum over the flows; `None` if there are none or one lacks the value.
    pub fn sum(&self, of: impl Fn(&FlowSummary) -> Option<u64>) -> Option<f64> {
        self.summaries()
            .map(|flow| Some(of(flow)? as f64))
            .reduce(|sum, next| Some(sum? + next?))?
    }

    /// The length of the window in seconds. A summary alone does not have its warmup.
    pub(super) fn measured_s(&self) -> Option<f64> {
        let length = self.to.saturating_sub(self.from);
        self.record.map(|_| length.as_secs_f64())
    }

    /// RTprop in milliseconds, at the start: that of the path, or in a network that of the flow's route.
    pub fn rtprop_ms(&self, flow: &FlowSummary) -> Option<f64> {
        self.path().map(|path| path.rtprop_ms).or(flow.rtprop_ms)
    }

    /// The path's rate in bits per second, at the start.
    pub fn rate_bps(&self) -> Option<f64> {
        Some(self.path()?.rate_bps? as f64)
    }

    /// The path's bandwidth-delay product in bytes, at the start.
    pub fn bdp_bytes(&self) -> Option<f64> {
        Some(self.rate_bps()? / 8.0 * self.path()?.rtprop_ms / 1e3).filter(|bdp| *bdp > 0.0)
    }
}
