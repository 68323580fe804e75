//! The tables of a record: their rows and columns.

use tables::Column;
use units::{Bytes, Duration};

use crate::flow::{FlowRecord, FlowSample};
use crate::path::PathSample;
use crate::record::Record;
use crate::transfer::Transfer;

/// A flow at a given time.
pub struct SampleRow<'r> {
    pub(super) flow: &'r FlowRecord,
    pub(super) at: Duration,
    /// Its latest sample, if it has one.
    pub(super) sample: Option<&'r FlowSample>,
}

/// `samples.parquet`: one row for each sample of a flow, flow by flow.
pub fn samples(
    record: &Record,
) -> (
    Vec<Column<'_, SampleRow<'_>>>,
    impl Iterator<Item = SampleRow<'_>>,
) {
    let rows = record.flows.iter().flat_map(|flow| {
        let samples = flow.samples.iter();
        samples.map(move |sample| SampleRow {
            flow,
            at: sample.at,
            sample: Some(sample),
        })
    });
    (sample_columns(), rows)
}

/// The columns of a table of [`SampleRow`]s.
pub(super) fn sample_columns<'r>() -> Vec<Column<'r, SampleRow<'r>>> {
    tables::columns!(SampleRow<'r> {
        /// the flow's `id`
        "flow": |row| row.flow.id,
        /// the flow's congestion control
        "controller": |row| row.flow.controller.name(),
        /// the time
        "at_s": |row| row.at,
        /// the round-trip time that this ACK measured, if any
        "rtt_ms": |row| row.sample?.rtt,
        /// the smoothed round-trip time, if the engine sees it
        "srtt_ms": |row| row.sample?.srtt,
        /// the delivery-rate sample, if it is valid
        "delivery_rate_bps": |row| row.sample?.delivery_rate,
        /// bytes in flight
        "inflight_bytes": |row| Some(row.sample?.inflight),
        /// the part of `inflight_bytes` that waits below TCP in the sender's own host, in its packet scheduler and
        /// network card; null with `quic`
        "below_tcp_bytes": |row| row.sample?.below_tcp,
        /// the congestion window
        "cwnd_bytes": |row| Some(row.sample?.cwnd),
        /// the slow-start threshold, if the controller has one and has set it
        "ssthresh_bytes": |row| row.sample?.ssthresh,
        /// the pacing rate
        "pacing_rate_bps": |row| Some(row.sample?.pacing_rate),
        /// BBR's estimate of the bottleneck bandwidth
        "btl_bw_bps": |row| row.sample?.btl_bw,
        /// BBR's estimate of the propagation delay
        "rtprop_ms": |row| row.sample?.rtprop,
        /// BBRv3's bound on the bandwidth, from the losses since it last probed the bandwidth; null while there is none,
        /// and with engine `linux`
        "short_term_bw_bps": |row| row.sample?.short_term_bw,
        /// BBRv3's bound on the data in flight, from the losses since it last probed the bandwidth
        "short_term_inflight_bytes": |row| row.sample?.short_term_inflight,
        /// BBRv3's bound on the data in flight, from the losses of its probes
        "long_term_inflight_bytes": |row| row.sample?.long_term_inflight,
        /// the controller's state: `Startup`, `Drain`, `ProbeBW`, `ProbeRTT`; `SlowStart`, `ConservativeSlowStart`,
        /// `CongestionAvoidance`, `Recovery`; null for flows that open a connection for each object
        "state": |row| Some(row.sample?.state?.name),
        /// bytes delivered so far, as congestion control counts them
        "delivered_bytes": |row| Some(row.sample?.delivered),
        /// bytes declared lost so far
        "lost_bytes": |row| Some(row.sample?.lost),
        /// 1 if the application had too little to send when the last acknowledged packet left, so that the path may be
        /// faster than the delivery rate; else 0
        "app_limited": |row| row.sample?.is_app_limited,
        /// how long the flow has been busy so far
        "busy_s": |row| Some(row.sample?.limits?.busy),
        /// how long the application has limited the flow so far, as in `limited_by`
        "app_limited_s": |row| Some(row.sample?.limits?.application),
        /// how long the receive window has limited the flow so far
        "rwnd_limited_s": |row| Some(row.sample?.limits?.receiver),
        /// how long the send buffer has limited the flow so far
        "sndbuf_limited_s": |row| Some(row.sample?.limits?.send_buffer),
        /// how long congestion control has limited the flow so far
        "cwnd_limited_s": |row| Some(row.sample?.limits?.congestion),
    })
}

/// The bytes that a flow delivered in an interval.
pub struct ThroughputRow<'r> {
    flow: &'r FlowRecord,
    interval: u64,
    delivered: u64,
}

/// `throughput.parquet`: one row for each flow and second, flow by flow.
pub fn throughput(
    record: &Record,
) -> (
    Vec<Column<'_, ThroughputRow<'_>>>,
    impl Iterator<Item = ThroughputRow<'_>>,
) {
    let columns = tables::columns!(ThroughputRow<'_> {
        /// the flow's `id`
        "flow": |row| row.flow.id,
        /// the flow's congestion control
        "controller": |row| row.flow.controller.name(),
        /// the start of the interval
        "from_s": |row| row.flow.throughput.interval() * row.interval,
        /// the length of the interval: 1 s, or 2, 4, 8 … s in runs of more than 4096 s
        "interval_s": |row| row.flow.throughput.interval(),
        /// payload bytes that arrived in the interval, each counted once
        "delivered_bytes": |row| Bytes::new(row.delivered),
    });
    let rows = record.flows.iter().flat_map(|flow| {
        let intervals = (0..).zip(flow.throughput.bytes());
        intervals.map(move |(interval, delivered)| ThroughputRow {
            flow,
            interval,
            delivered: *delivered,
        })
    });
    (columns, rows)
}

/// A bottleneck at a given time.
pub struct QueueRow<'r> {
    hop: u64,
    link: Option<&'r str>,
    sample: &'r PathSample,
}

/// `queue.parquet`: one row for each sample of a bottleneck, bottleneck by bottleneck.
pub fn queue(
    record: &Record,
) -> (
    Vec<Column<'_, QueueRow<'_>>>,
    impl Iterator<Item = QueueRow<'_>>,
) {
    let columns = tables::columns!(QueueRow<'_> {
        /// the bottleneck: 0 is `path`, 1 the first of `next`
        "hop": |row| row.hop,
        /// the link's name with `[[link]]`, such as `core`, or `core.uplink` for its opposite direction; else null
        "link": |row| row.link,
        /// the time
        "at_s": |row| row.sample.at,
        /// the bytes that wait in the bottleneck's buffer
        "queue_bytes": |row| row.sample.queue,
        /// how long a packet that arrived now would wait
        "delay_ms": |row| row.sample.delay,
    });
    let links = record.bottlenecks().zip(&record.paths);
    let rows = links.flat_map(|((hop, link), path)| {
        let samples = path.samples.iter();
        samples.map(move |sample| QueueRow {
            hop: hop as u64,
            link: link.name.as_deref(),
            sample,
        })
    });
    (columns, rows)
}

/// `transfers.parquet`: one row for each transfer, in the order of [`Transfers`](crate::Transfers).
pub fn transfers(record: &Record) -> (Vec<Column<'_, &Transfer>>, impl Iterator<Item = &Transfer>) {
    let columns = tables::columns!(&Transfer {
        /// the `id` of the flow that carried it
        "flow": |row| row.flow,
        /// the flow's congestion control
        "controller": |row| row.controller.name(),
        /// when the transfer was requested, or its connection opened
        "start_s": |row| row.start,
        /// the size of the transfer
        "size_bytes": |row| row.bytes,
        /// when the last byte of the transfer had arrived; null if the run ended before that
        "completed_s": |row| row.completed,
        /// the time from `start_s` to `completed_s`
        "took_ms": |row| Some(row.completed?.saturating_sub(row.start)),
    });
    (columns, record.transfers.rows.iter())
}
