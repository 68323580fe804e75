//! Who got how much of the path.

use super::{Measure, Subject};
use crate::runs::Unit;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "limit_share",
        unit: Unit::Share,
        about: "goodput of the flows together, over the same time, as a share of rate × (1 − loss) × payload of a packet",
        of: |subject| {
            let lossy =
                subject.record.paced_limit_bps()? / subject.record.summary.path.limit_bps? as f64;
            Some(subject.together().limit_share? / lossy)
        },
    },
    Measure {
        name: "goodput",
        unit: Unit::Rate,
        about: "payload delivered once per second, by the flows together, over the same time",
        of: |subject| Some(subject.together().goodput_bps as f64),
    },
    Measure {
        name: "flow_share",
        unit: Unit::Share,
        about: "what the flows delivered, as a share of what all flows delivered",
        of: |subject| {
            let all = subject.record.summary.together.goodput_bps as f64;
            Some(subject.together().goodput_bps as f64 / all).filter(|share| share.is_finite())
        },
    },
    Measure {
        name: "utilization",
        unit: Unit::Share,
        about: "what the bottleneck transmitted, as a share of what it could have transmitted",
        of: |subject| subject.record.summary.path.utilization,
    },
    Measure {
        name: "window_share",
        unit: Unit::Share,
        about: "goodput, as a share of what the receive window allows in each RTprop, or of what the path allows if that is less",
        of: window_share,
    },
    Measure {
        name: "jain_converged",
        unit: Unit::Plain,
        about: "mean of Jain's index of each second after the convergence",
        of: |subject| subject.record.summary.fairness.jain_per_s_converged.mean,
    },
    Measure {
        name: "convergence",
        unit: Unit::Time,
        about: "time from the last flow's start until Jain's index stays at 0.95 or more in any five seconds",
        of: |subject| Some(subject.record.summary.fairness.convergence_s? * 1e3),
    },
];

fn window_share(subject: &Subject<'_>) -> Option<f64> {
    let window = subject.record.scenario.host.receive_buffer?.get() as f64;
    let of_window = window * 8.0 / (subject.rtprop_ms() / 1e3);
    let limit = subject.record.summary.path.limit_bps? as f64;
    Some(subject.together().goodput_bps as f64 / of_window.min(limit))
}
