//! Measures of the sending host, between TCP and the wire.

use super::{Measure, Subject};
use crate::HostSummary;
use crate::dimension::Dimension;
use tables::statistics::median;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "burst_packets",
        unit: Dimension::Packets,
        is_windowed: false,
        about: "mean size of the bursts that TCP hands down, in full packets, of the median flow",
        of: |subject| {
            let scenario = subject.scenario()?;
            let first = (!scenario.flows.is_empty()).then_some(0)?;
            let mss = scenario.mss(first).get() as f64;
            median(of_each(subject, |host| Some(host.burst_bytes / mss))?)
        },
    },
    Measure {
        name: "burst_time",
        unit: Dimension::Time,
        is_windowed: false,
        about: "mean time that such a burst takes at the pacing rate, of the median flow",
        of: |subject| median(of_each(subject, |host| Some(host.burst_ms))?),
    },
    Measure {
        name: "clump",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "a burst together with its mean lead over the pacing rate when it leaves the host, as a multiple of a mean burst, of the flow with the most",
        of: |subject| {
            let clump = |host: &HostSummary| {
                (host.burst_ms > 0.0).then(|| 1.0 + host.ahead_mean_ms / host.burst_ms)
            };
            most(subject, clump)
        },
    },
    Measure {
        name: "pace_max",
        unit: Dimension::Share,
        is_windowed: false,
        about: "rate at which bursts leave the host, as a share of the flow's own pacing rate, of the fastest flow",
        of: |subject| most(subject, |host| host.pace),
    },
    Measure {
        name: "below_tcp",
        unit: Dimension::Size,
        is_windowed: false,
        about: "most bytes of a flow that waited below TCP in its own host",
        of: |subject| most(subject, |host| Some(host.below_tcp_max_bytes as f64)),
    },
    Measure {
        name: "below_tcp_limits",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "the same, as a multiple of the limit of TCP small queues: two bursts, or a millisecond at the pacing rate",
        of: |subject| most(subject, |host| Some(host.below_tcp_max_share)),
    },
];

/// The largest value of all flows.
fn most(subject: &Subject<'_>, of: impl Fn(&HostSummary) -> Option<f64>) -> Option<f64> {
    of_each(subject, of)?.into_iter().reduce(f64::max)
}

/// The value of each flow, if all of them have it.
fn of_each(subject: &Subject<'_>, of: impl Fn(&HostSummary) -> Option<f64>) -> Option<Vec<f64>> {
    let hosts = subject.summaries().map(|flow| of(flow.host.as_ref()?));
    hosts.collect()
}
