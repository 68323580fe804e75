//! Round-trip times and queues.

use super::{Measure, Subject};
use crate::runs::Unit;
use crate::sweep::median;
use crate::sweep::quantile;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "rtt_p50",
        unit: Unit::Time,
        about: "median round-trip time, of the median flow",
        of: rtt_p50,
    },
    Measure {
        name: "rtt_p50_rtprops",
        unit: Unit::Plain,
        about: "median round-trip time, in RTprops",
        of: |subject| Some(rtt_p50(subject)? / subject.rtprop_ms()),
    },
    Measure {
        name: "rtt_windows",
        unit: Unit::Plain,
        about: "median round-trip time, as a multiple of the time that the bottleneck needs for one receive window",
        of: |subject| {
            let window = subject.record.scenario.host.receive_buffer?.get() as f64;
            let payload = subject.record.summary.path.limit_bps? as f64;
            Some(rtt_p50(subject)? / (window * 8e3 / payload))
        },
    },
    Measure {
        name: "rtt_buffers",
        unit: Unit::Plain,
        about: "median round-trip time beyond RTprop, as a multiple of the time that the bottleneck needs for its full buffer",
        of: |subject| {
            let buffer = subject.record.summary.path.buffer_bytes? as f64;
            let full_ms = buffer * 8e3 / subject.rate_bps()?;
            Some((rtt_p50(subject)? - subject.rtprop_ms()) / full_ms)
        },
    },
    Measure {
        name: "queue_p5",
        unit: Unit::Share,
        about: "queue length that is exceeded for 95 % of the time, as a share of the buffer",
        of: |subject| queue_share(subject, 0.05),
    },
    Measure {
        name: "queue_max",
        unit: Unit::Share,
        about: "longest queue, as a share of the buffer",
        of: |subject| queue_share(subject, 1.0),
    },
];

/// The median round-trip time in milliseconds, of the median flow: that of all ACKs, or in a window that of the samples.
fn rtt_p50(subject: &Subject<'_>) -> Option<f64> {
    let mut flows: Vec<f64> = match subject.is_window {
        false => subject
            .summaries()
            .filter_map(|flow| flow.rtt_ms.p50)
            .collect(),
        true => subject
            .flows()
            .filter_map(|flow| {
                let rtts = subject.samples(flow).iter().filter_map(|sample| sample.rtt);
                quantile(rtts.map(|rtt| rtt.as_millis_f64()).collect(), 0.5)
            })
            .collect(),
    };
    median(&mut flows)
}

fn queue_share(subject: &Subject<'_>, share: f64) -> Option<f64> {
    let buffer = subject.record.summary.path.buffer_bytes? as f64;
    let queues = subject
        .path()
        .iter()
        .map(|sample| sample.queue.get() as f64);
    Some(quantile(queues.collect(), share)? / buffer)
}
