//! The tables of a record: their rows and columns.

use std::borrow::Cow;

use record::{FlowRecord, FlowSample, Limits, PathSample, Record, Transfer};
use tables::Column;
use units::{Bytes, Duration, Rate};

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
    type Table<'r> = Column<'r, SampleRow<'r>>;
    vec![
        Table::whole("flow", |row| Some(row.flow.id as u64)),
        Table::text("controller", |row| Some(row.flow.controller.name().into())),
        Table::real("at_s", |row| Some(row.at.as_secs_f64())),
        Table::real("rtt_ms", |row| millis(row.sample?.rtt)),
        Table::real("srtt_ms", |row| millis(row.sample?.srtt)),
        Table::whole("delivery_rate_bps", |row| bps(row.sample?.delivery_rate)),
        Table::whole("inflight_bytes", |row| bytes(row.sample?.inflight)),
        Table::whole("below_tcp_bytes", |row| {
            row.sample?.below_tcp.and_then(bytes)
        }),
        Table::whole("cwnd_bytes", |row| bytes(row.sample?.cwnd)),
        Table::whole("ssthresh_bytes", |row| row.sample?.ssthresh.and_then(bytes)),
        Table::whole("pacing_rate_bps", |row| bps(Some(row.sample?.pacing_rate))),
        Table::whole("btl_bw_bps", |row| bps(row.sample?.btl_bw)),
        Table::real("rtprop_ms", |row| millis(row.sample?.rt_prop)),
        Table::whole("short_term_bw_bps", |row| bps(row.sample?.short_term_bw)),
        Table::whole("short_term_inflight_bytes", |row| {
            row.sample?.short_term_inflight.and_then(bytes)
        }),
        Table::whole("long_term_inflight_bytes", |row| {
            row.sample?.long_term_inflight.and_then(bytes)
        }),
        Table::text("state", |row| Some(Cow::Borrowed(row.sample?.state?.name))),
        Table::whole("delivered_bytes", |row| bytes(row.sample?.delivered)),
        Table::whole("lost_bytes", |row| bytes(row.sample?.lost)),
        Table::whole("app_limited", |row| {
            row.sample?.is_app_limited.map(u64::from)
        }),
        Table::real("busy_s", |row| limits(row, |limits| limits.busy)),
        Table::real("app_limited_s", |row| {
            limits(row, |limits| limits.application)
        }),
        Table::real("rwnd_limited_s", |row| {
            limits(row, |limits| limits.receiver)
        }),
        Table::real("sndbuf_limited_s", |row| {
            limits(row, |limits| limits.send_buffer)
        }),
        Table::real("cwnd_limited_s", |row| {
            limits(row, |limits| limits.congestion)
        }),
    ]
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
    type Table<'r> = Column<'r, ThroughputRow<'r>>;
    let columns = vec![
        Table::whole("flow", |row| Some(row.flow.id as u64)),
        Table::text("controller", |row| Some(row.flow.controller.name().into())),
        Table::real("from_s", |row| {
            let from = row.flow.throughput.interval() * row.interval;
            Some(from.as_secs_f64())
        }),
        Table::real("interval_s", |row| {
            Some(row.flow.throughput.interval().as_secs_f64())
        }),
        Table::whole("delivered_bytes", |row| Some(row.delivered)),
    ];
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
    sample: &'r PathSample,
}

/// `queue.parquet`: one row for each sample of a bottleneck, bottleneck by bottleneck.
pub fn queue(
    record: &Record,
) -> (
    Vec<Column<'_, QueueRow<'_>>>,
    impl Iterator<Item = QueueRow<'_>>,
) {
    type Table<'r> = Column<'r, QueueRow<'r>>;
    let columns = vec![
        Table::whole("hop", |row| Some(row.hop)),
        Table::real("at_s", |row| Some(row.sample.at.as_secs_f64())),
        Table::whole("queue_bytes", |row| bytes(row.sample.queue)),
        Table::real("delay_ms", |row| millis(Some(row.sample.delay))),
    ];
    let rows = (0..).zip(&record.paths).flat_map(|(hop, path)| {
        let samples = path.samples.iter();
        samples.map(move |sample| QueueRow { hop, sample })
    });
    (columns, rows)
}

/// `transfers.parquet`: one row for each transfer, in the order of [`Transfers`](record::Transfers).
pub fn transfers(record: &Record) -> (Vec<Column<'_, &Transfer>>, impl Iterator<Item = &Transfer>) {
    type Table<'r> = Column<'r, &'r Transfer>;
    let took = |row: &&Transfer| Some(row.completed?.saturating_sub(row.start));
    let columns = vec![
        Table::whole("flow", |row| Some(row.flow as u64)),
        Table::text("controller", |row| Some(row.controller.name().into())),
        Table::real("start_s", |row| Some(row.start.as_secs_f64())),
        Table::whole("size_bytes", |row| bytes(row.bytes)),
        Table::real("completed_s", |row| {
            row.completed.map(Duration::as_secs_f64)
        }),
        Table::real("took_ms", move |row| millis(took(row))),
    ];
    (columns, record.transfers.rows.iter())
}

fn limits(row: &SampleRow<'_>, part: fn(&Limits) -> Duration) -> Option<f64> {
    let limits = row.sample?.limits.as_ref().map(part);
    limits.map(Duration::as_secs_f64)
}

fn millis(span: Option<Duration>) -> Option<f64> {
    span.map(Duration::as_millis_f64)
}

fn bps(rate: Option<Rate>) -> Option<u64> {
    rate.map(Rate::bits_per_sec)
}

fn bytes(bytes: Bytes) -> Option<u64> {
    Some(bytes.get())
}
