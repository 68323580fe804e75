//! Round-trip times, and the queue over the whole run.

use transport::segment::{HEADERS, MSS};
use units::Bytes;

use super::{Measure, Subject};
use crate::dimension::Dimension;
use tables::statistics::{median, quantile};

/// BBR's minimum window, on the wire.
const FOUR_PACKETS: Bytes = Bytes::new((MSS.get() + HEADERS.get()) * 4);

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "rtt_p50",
        unit: Dimension::Time,
        is_windowed: true,
        about: "median round-trip time, of the median flow",
        of: rtt_p50,
    },
    Measure {
        name: "rtt_p95",
        unit: Dimension::Time,
        is_windowed: false,
        about: "95th percentile of the round-trip time, of the median flow",
        of: |subject| median(subject.summaries().filter_map(|flow| flow.rtt_ms.p95)),
    },
    Measure {
        name: "rtt_p50_rtprops",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median round-trip time, in RTprops",
        of: |subject| Some(rtt_p50(subject)? / subject.rtprop_ms()),
    },
    Measure {
        name: "power",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "goodput over median round-trip time (Kleinrock's power), as a share of what the path allows over RTprop",
        of: |subject| {
            let goodput = subject.together()?.limit_share?;
            Some(goodput * subject.rtprop_ms() / rtt_p50(subject)?)
        },
    },
    Measure {
        name: "rtt_windows",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median round-trip time, as a multiple of the time that the bottleneck needs for one receive window",
        of: |subject| {
            let window = subject.scenario()?.host.receive_buffer?.get() as f64;
            let payload = subject.summary.path.limit_bps? as f64;
            Some(rtt_p50(subject)? / (window * 8e3 / payload))
        },
    },
    Measure {
        name: "rtt_buffers",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median round-trip time beyond RTprop, as a multiple of the time that the bottleneck needs for its full buffer",
        of: |subject| {
            let buffer = subject.summary.path.buffer_bytes? as f64;
            let full_ms = buffer * 8e3 / subject.rate_bps()?;
            Some((rtt_p50(subject)? - subject.rtprop_ms()) / full_ms)
        },
    },
    Measure {
        name: "rtt_four_packets",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median round-trip time, as a multiple of the time that the bottleneck needs for four full packets of each flow",
        of: |subject| Some(rtt_p50(subject)? / four_packets_ms(subject)?),
    },
    Measure {
        name: "queue_mean",
        unit: Dimension::Time,
        is_windowed: false,
        about: "the bottleneck's queue, mean over time",
        of: |subject| subject.summary.path.queue_ms.mean,
    },
    Measure {
        name: "queue_p95",
        unit: Dimension::Time,
        is_windowed: false,
        about: "the bottleneck's queue, 95th percentile over time",
        of: |subject| subject.summary.path.queue_ms.p95,
    },
];

/// The time in milliseconds that the bottleneck needs for four full packets of each flow. With only those in flight,
/// it is the round-trip time.
pub(super) fn four_packets_ms(subject: &Subject<'_>) -> Option<f64> {
    let packets = FOUR_PACKETS * subject.summary.flows.len() as u64;
    Some(packets.get() as f64 * 8e3 / subject.rate_bps()?)
}

/// The median round-trip time in milliseconds, of the median flow: over all ACKs, or in a window over the samples.
fn rtt_p50(subject: &Subject<'_>) -> Option<f64> {
    let flows: Vec<f64> = if subject.is_window {
        subject
            .flows()
            .filter_map(|flow| {
                let rtts = subject.samples(flow).iter().filter_map(|sample| sample.rtt);
                quantile(rtts.map(|rtt| rtt.as_millis_f64()), 0.5)
            })
            .collect()
    } else {
        subject
            .summaries()
            .filter_map(|flow| flow.rtt_ms.p50)
            .collect()
    };
    median(flows)
}
