//! Round-trip times, and the queue over the whole run.

use transport::segment::{HEADERS, MSS};
use units::Bytes;

use super::{Measure, Subject};
use crate::FlowSummary;
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
        of: rtt_p50_rtprops,
    },
    Measure {
        name: "power",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "goodput over median round-trip time (Kleinrock's power), as a share of what the path allows over RTprop",
        of: |subject| {
            let goodput = subject.together()?.limit_share?;
            Some(goodput * subject.path()?.rtprop_ms / rtt_p50(subject)?)
        },
    },
    Measure {
        name: "rtt_windows",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median round-trip time, as a multiple of the time that the bottleneck needs for one receive window",
        of: |subject| {
            let window = subject.receive_window()?.get() as f64;
            let payload = subject.path()?.limit_bps? as f64;
            Some(rtt_p50(subject)? / (window * 8e3 / payload))
        },
    },
    Measure {
        name: "rtt_buffers",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median round-trip time beyond RTprop, as a multiple of the time that the bottleneck needs for its full buffer",
        of: |subject| {
            let path = subject.path()?;
            let full_ms = path.buffer_bytes? as f64 * 8e3 / subject.rate_bps()?;
            Some((rtt_p50(subject)? - path.rtprop_ms) / full_ms)
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
        of: |subject| subject.path()?.queue_ms.mean,
    },
    Measure {
        name: "queue_p95",
        unit: Dimension::Time,
        is_windowed: false,
        about: "the bottleneck's queue, 95th percentile over time",
        of: |subject| subject.path()?.queue_ms.p95,
    },
];

/// The time in milliseconds that the bottleneck needs for four full packets of each flow. With only those in flight,
/// it is the round-trip time.
pub(super) fn four_packets_ms(subject: &Subject<'_>) -> Option<f64> {
    let packets = FOUR_PACKETS * subject.summary.flows.len() as u64;
    Some(packets.get() as f64 * 8e3 / subject.rate_bps()?)
}

/// The median round-trip time in milliseconds, of the median flow.
fn rtt_p50(subject: &Subject<'_>) -> Option<f64> {
    median(rtts(subject).map(|(_, rtt)| rtt))
}

/// The same in RTprops: those of the path, or in a network each flow's own.
fn rtt_p50_rtprops(subject: &Subject<'_>) -> Option<f64> {
    if let Some(path) = subject.path() {
        return Some(rtt_p50(subject)? / path.rtprop_ms);
    }
    let in_rtprops = |(flow, rtt): (&FlowSummary, f64)| Some(rtt / subject.rtprop_ms(flow)?);
    median(rtts(subject).filter_map(in_rtprops))
}

/// Each flow's median round-trip time in milliseconds: over all ACKs, or in a window over the samples.
fn rtts<'r>(subject: &Subject<'r>) -> impl Iterator<Item = (&'r FlowSummary, f64)> {
    subject.each().filter_map(|(summary, flow)| {
        let rtt = if subject.is_window {
            let rtts = subject
                .samples(flow?)
                .iter()
                .filter_map(|sample| sample.rtt);
            quantile(rtts.map(|rtt| rtt.as_millis_f64()), 0.5)
        } else {
            summary.rtt_ms.p50
        };
        Some((summary, rtt?))
    })
}
