//! Measures of the flows' shares of the path.

use super::{Measure, Subject};
use crate::FlowSummary;
use crate::dimension::Dimension;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "limit_share",
        unit: Dimension::Share,
        is_windowed: false,
        about: "goodput of the flows together, over the same time, as a share of rate × (1 − loss) × payload of a packet",
        of: |subject| {
            let lossy = subject.record()?.paced_limit_bps()? / subject.path()?.limit_bps? as f64;
            Some(subject.together()?.limit_share? / lossy)
        },
    },
    Measure {
        name: "goodput_share",
        unit: Dimension::Share,
        is_windowed: false,
        about: "goodput of the flows together, over the same time, as a share of what the path allows",
        of: |subject| subject.together()?.limit_share,
    },
    Measure {
        name: "goodput",
        unit: Dimension::Rate,
        is_windowed: false,
        about: "payload delivered once per second, by the flows together, over the same time",
        of: |subject| Some(subject.together()?.goodput_bps as f64),
    },
    Measure {
        name: "least_goodput",
        unit: Dimension::Rate,
        is_windowed: false,
        about: "payload delivered once per second by the flow that delivered least, over the time of all flows",
        of: |subject| {
            let delivered = subject.summaries().map(|flow| flow.delivered_bytes);
            Some(delivered.min()? as f64 * 8.0 / subject.measured_s()?)
        },
    },
    Measure {
        name: "flow_share",
        unit: Dimension::Share,
        is_windowed: false,
        about: "what the flows delivered, as a share of what all flows delivered",
        of: |subject| {
            let all = subject.summary.together.goodput_bps as f64;
            Some(subject.together()?.goodput_bps as f64 / all)
        },
    },
    Measure {
        name: "first_group",
        unit: Dimension::Rate,
        is_windowed: false,
        about: "goodput of the first group of flows over the time of all, where there are others beside it",
        of: first_group,
    },
    Measure {
        name: "utilization",
        unit: Dimension::Share,
        is_windowed: false,
        about: "what the bottleneck transmitted, as a share of what it could have transmitted",
        of: |subject| subject.path()?.utilization,
    },
    Measure {
        name: "window_share",
        unit: Dimension::Share,
        is_windowed: false,
        about: "goodput, as a share of what the receive window allows in each RTprop, or of what the path allows if that is less",
        of: window_share,
    },
    Measure {
        name: "jain",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "Jain's index of the goodputs of all flows",
        of: |subject| subject.summary.fairness.jain,
    },
    Measure {
        name: "jain_converged",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "mean of Jain's index of each second after the convergence",
        of: |subject| subject.summary.fairness.jain_per_s_converged.mean,
    },
    Measure {
        name: "even",
        unit: Dimension::Time,
        is_windowed: false,
        about: "time from the last flow's start until the flows were even for ten seconds: Jain's index of what they delivered in any five seconds in a row of these is 0.95 or more. They may be uneven again later",
        of: |subject| Some(subject.summary.fairness.even_s? * 1e3),
    },
    Measure {
        name: "convergence",
        unit: Dimension::Time,
        is_windowed: false,
        about: "time from the last flow's start until Jain's index stays at 0.95 or more in any five seconds",
        of: |subject| Some(subject.summary.fairness.convergence_s? * 1e3),
    },
];

fn first_group(subject: &Subject<'_>) -> Option<f64> {
    let of_first = |flow: &&FlowSummary| flow.group == Some(0);
    let delivered = |flow: &FlowSummary| flow.delivered_bytes as f64;
    let first: f64 = subject.summaries().filter(of_first).map(delivered).sum();
    let all: f64 = subject.summaries().map(delivered).sum();
    let is_alone = subject.summaries().all(|flow| of_first(&flow));
    let share = Some(first / all).filter(|_| !is_alone)?;
    Some(share * subject.together()?.goodput_bps as f64)
}

fn window_share(subject: &Subject<'_>) -> Option<f64> {
    let window = subject.receive_window()?.get() as f64;
    let path = subject.path()?;
    let of_window = window * 8.0 / (path.rtprop_ms / 1e3);
    let limit = path.limit_bps? as f64;
    Some(subject.together()?.goodput_bps as f64 / of_window.min(limit))
}
