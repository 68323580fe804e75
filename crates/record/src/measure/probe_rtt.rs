//! Measures of ProbeRTT: how often, how long, how few packets, and at which cost.

use congestion::Phase;
use units::Duration;

use super::{Measure, Subject};
use crate::dimension::Dimension;
use crate::{FlowRecord, FlowSample};
use tables::statistics::median;
use transport::segment::MSS;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "probe_rtt_count",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "number of times that a flow enters ProbeRTT, the mean of the flows",
        of: |subject| {
            let counts: Vec<f64> = subject
                .flows()
                .map(|flow| episodes(subject, flow).len() as f64)
                .collect();
            Some(counts.iter().sum::<f64>() / counts.len() as f64)
        },
    },
    Measure {
        name: "probe_rtt_gap",
        unit: Dimension::Time,
        is_windowed: true,
        about: "shortest time from the start of one ProbeRTT of a flow to the start of the next",
        of: |subject| {
            let gaps = subject.flows().flat_map(|flow| {
                let starts: Vec<f64> = episodes(subject, flow)
                    .iter()
                    .map(Episode::start_ms)
                    .collect();
                let pairs = starts.iter().zip(starts.iter().skip(1));
                pairs.map(|(one, next)| next - one).collect::<Vec<_>>()
            });
            gaps.reduce(f64::min)
        },
    },
    Measure {
        name: "probe_rtt_length",
        unit: Dimension::Time,
        is_windowed: true,
        about: "length of the shortest ProbeRTT",
        of: |subject| {
            let lengths = all(subject).map(|one| one.end.saturating_sub(one.start).as_millis_f64());
            lengths.reduce(f64::min)
        },
    },
    Measure {
        name: "probe_rtt_packets",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "fewest full packets in flight during a ProbeRTT, of the ProbeRTT with the most",
        of: |subject| {
            let fewest = all(subject).map(|one| one.least_inflight as f64 / MSS.get() as f64);
            fewest.reduce(f64::max)
        },
    },
    Measure {
        name: "probe_rtt_cost",
        unit: Dimension::Share,
        is_windowed: true,
        about: "share of its data that a flow loses to ProbeRTT, compared with the median second without ProbeRTT",
        of: cost,
    },
    Measure {
        name: "probe_rtt_together",
        unit: Dimension::Share,
        is_windowed: true,
        about: "share of ProbeRTTs during which every other flow past its start is in ProbeRTT too",
        of: together,
    },
];

/// One visit to ProbeRTT.
#[derive(Debug, Clone, Copy)]
struct Episode {
    start: Duration,
    end: Duration,
    least_inflight: u64,
}

impl Episode {
    fn start_ms(&self) -> f64 {
        self.start.as_millis_f64()
    }
}

/// The visits of a flow that begin and end in the window.
fn episodes(subject: &Subject<'_>, flow: &FlowRecord) -> Vec<Episode> {
    let mut episodes: Vec<Episode> = Vec::new();
    let mut open: Option<Episode> = None;
    for sample in subject.samples(flow) {
        open = match (is_inside(sample), open) {
            (true, None) => Some(Episode {
                start: sample.at,
                end: sample.at,
                least_inflight: sample.inflight.get(),
            }),
            (true, Some(episode)) => Some(Episode {
                least_inflight: episode.least_inflight.min(sample.inflight.get()),
                ..episode
            }),
            (false, Some(episode)) => {
                episodes.push(Episode {
                    end: sample.at,
                    ..episode
                });
                None
            }
            (false, None) => None,
        };
    }
    episodes
}

fn is_inside(sample: &FlowSample) -> bool {
    sample.phase() == Some(Phase::ProbeRtt)
}

fn all<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = Episode> + 's {
    subject.flows().flat_map(|flow| episodes(subject, flow))
}

fn cost(subject: &Subject<'_>) -> Option<f64> {
    let flow = subject.flows().next()?;
    let inside = episodes(subject, flow);
    let interval = flow.throughput.interval();
    let whole = |at: Duration| at.as_nanos() / interval.as_nanos();
    let seconds: Vec<(u64, f64)> = (whole(subject.from)..whole(subject.to))
        .filter_map(|second| {
            Some((
                second,
                flow.throughput.at(usize::try_from(second).ok()?) as f64,
            ))
        })
        .collect();
    let is_touched = |second: u64| {
        let (from, to) = (interval * second, interval * (second + 1));
        inside.iter().any(|one| one.start < to && from < one.end)
    };
    let untouched = seconds.iter().filter(|(second, _)| !is_touched(*second));
    let usual = median(untouched.map(|(_, bytes)| *bytes))?;
    let delivered: f64 = seconds.iter().map(|(_, bytes)| bytes).sum();
    Some(1.0 - delivered / (usual * seconds.len() as f64))
}

fn together(subject: &Subject<'_>) -> Option<f64> {
    let flows: Vec<(Option<Duration>, Vec<Episode>)> = subject
        .flows()
        .map(|flow| {
            let is_steady = |sample: &&FlowSample| sample.phase() == Some(Phase::ProbeBw);
            let steady = flow.samples.iter().find(is_steady);
            (steady.map(|sample| sample.at), episodes(subject, flow))
        })
        .collect();
    let is_joined = |place: usize, one: &Episode| {
        let mut others = flows
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place);
        others.all(|(_, (steady, episodes))| {
            let is_past_start = steady.is_some_and(|steady| steady < one.start);
            !is_past_start
                || episodes
                    .iter()
                    .any(|of| of.start < one.end && one.start < of.end)
        })
    };
    let joined: Vec<bool> = flows
        .iter()
        .enumerate()
        .flat_map(|(place, (_, episodes))| episodes.iter().map(move |one| (place, one)))
        .map(|(place, one)| is_joined(place, one))
        .collect();
    let count = joined.iter().filter(|joined| **joined).count() as f64;
    (!joined.is_empty()).then(|| count / joined.len() as f64)
}
