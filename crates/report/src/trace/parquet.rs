//! Connections and their samples as tables.

use std::borrow::Cow;

use capture::connection::{Limit, Sample};
use capture::packet::Endpoint;
use capture::{ConnectionSummary, FlowSummary, Summary, Timeline};
use units::{Duration, Rate, Time};

use crate::parquet::Column;

/// A flow of a connection.
pub struct FlowRow<'s> {
    connection: &'s ConnectionSummary,
    flow: &'s FlowSummary,
}

/// A sample of a flow.
pub struct SampleRow<'s> {
    connection: usize,
    from: Endpoint,
    origin: Time,
    sample: &'s Sample,
}

/// `connections.parquet`: one row a direction of a connection that had data.
pub fn connections(
    summary: &Summary,
) -> (
    Vec<Column<'_, FlowRow<'_>>>,
    impl Iterator<Item = FlowRow<'_>>,
) {
    type Table<'s> = Column<'s, FlowRow<'s>>;
    let rows = summary.connections.iter().flat_map(|connection| {
        let flows = connection.flows.iter();
        flows.map(move |flow| FlowRow { connection, flow })
    });
    let columns = vec![
        Table::whole("connection", |row| Some(row.connection.id as u64)),
        Table::text("from", |row| Some(Cow::Borrowed(&*row.flow.from))),
        Table::text("to", |row| Some(Cow::Borrowed(&*row.flow.to))),
        Table::text("client", |row| Some(Cow::Borrowed(&*row.connection.client))),
        Table::real("start_s", |row| Some(row.connection.start_s)),
        Table::real("duration_s", |row| Some(row.connection.duration_s)),
        Table::real("handshake_ms", |row| row.connection.handshake_ms),
        Table::text("tunnel", |row| row.connection.tunnel.map(Cow::Borrowed)),
        Table::text("place", |row| Some(Cow::Borrowed(row.flow.place))),
        Table::real("to_sender_ms", |row| row.flow.to_sender_ms),
        Table::real("to_receiver_ms", |row| row.flow.to_receiver_ms),
        Table::whole("sent_bytes", |row| Some(row.flow.sent_bytes)),
        Table::whole("delivered_bytes", |row| Some(row.flow.delivered_bytes)),
        Table::whole("packets", |row| Some(row.flow.packets)),
        Table::whole("goodput_bps", |row| row.flow.goodput_bps),
        Table::real("rt_prop_ms", |row| row.flow.rtprop_ms),
        Table::real("rtt_mean_ms", |row| Some(row.flow.rtt_ms?.mean)),
        Table::real("rtt_p50_ms", |row| Some(row.flow.rtt_ms?.p50)),
        Table::real("rtt_p95_ms", |row| Some(row.flow.rtt_ms?.p95)),
        Table::real("jitter_ms", |row| row.flow.jitter_ms),
        Table::whole("btl_bw_bps", |row| row.flow.btl_bw_bps),
        Table::whole("btl_bw_ip_bps", |row| row.flow.btl_bw_ip_bps),
        Table::whole("pipe_filled", |row| {
            Some(u64::from(row.flow.is_pipe_filled))
        }),
        Table::real("inflight_p50_bytes", |row| {
            Some(row.flow.inflight_bytes?.p50)
        }),
        Table::real("queue_p95_ms", |row| Some(row.flow.queue_ms?.p95)),
        Table::whole("retransmitted", |row| Some(row.flow.retransmitted)),
        Table::whole("lost", |row| row.flow.lost),
        Table::whole("spurious", |row| Some(row.flow.spurious)),
        Table::whole("reordered", |row| Some(row.flow.reordered)),
        Table::whole("timeouts", |row| Some(row.flow.timeouts)),
        Table::whole("marked", |row| Some(row.flow.marked)),
        Table::real("limited_application", |row| {
            Some(row.flow.limited_by?.application)
        }),
        Table::real("limited_receiver", |row| {
            Some(row.flow.limited_by?.receiver)
        }),
        Table::real("limited_slow_start", |row| row.flow.limited_by?.slow_start),
        Table::real("limited_window", |row| row.flow.limited_by?.window),
        Table::real("limited_bottleneck", |row| row.flow.limited_by?.bottleneck),
        Table::real("limited_buffer", |row| row.flow.limited_by?.buffer),
        Table::whole("policer_bps", |row| row.flow.policer_bps),
        Table::text("controller", |row| {
            Some(Cow::Borrowed(row.flow.controller.as_ref()?.controller))
        }),
        Table::real("controller_probability", |row| {
            Some(row.flow.controller.as_ref()?.probability)
        }),
    ];
    (columns, rows)
}

/// `samples.parquet`: one row a sample, flow by flow; `timelines` are those of the summary's connections, in its order.
pub fn samples<'s>(
    timelines: &'s [Timeline],
) -> (
    Vec<Column<'s, SampleRow<'s>>>,
    impl Iterator<Item = SampleRow<'s>>,
) {
    type Table<'s> = Column<'s, SampleRow<'s>>;
    let firsts = timelines.iter().map(|timeline| timeline.first);
    let origin = firsts.min().unwrap_or(Time::ZERO);
    let each = timelines.iter().enumerate();
    let rows = each.flat_map(move |(id, timeline)| {
        timeline.flows.iter().flat_map(move |flow| {
            flow.samples.iter().map(move |sample| SampleRow {
                connection: id,
                from: flow.from,
                origin,
                sample,
            })
        })
    });
    let millis = |span: Option<Duration>| span.map(Duration::as_millis_f64);
    let columns = vec![
        Table::whole("connection", |row| Some(row.connection as u64)),
        Table::text("from", |row| Some(Cow::Owned(row.from.to_string()))),
        Table::real("at_s", |row| {
            Some(row.sample.at.since(row.origin).as_secs_f64())
        }),
        Table::real("rtt_ms", move |row| millis(row.sample.rtt)),
        Table::whole("delivery_rate_bps", |row| {
            row.sample.delivery_rate.map(Rate::bits_per_sec)
        }),
        Table::whole("inflight_bytes", |row| Some(row.sample.inflight.get())),
        Table::whole("btl_bw_bps", |row| Some(row.sample.btl_bw.bits_per_sec())),
        Table::real("rt_prop_ms", move |row| millis(row.sample.rt_prop)),
        Table::whole("delivered_bytes", |row| Some(row.sample.delivered.get())),
        Table::whole("retransmitted", |row| Some(row.sample.retransmitted)),
        Table::text("limit", |row| {
            Some(Cow::Borrowed(Limit::name(row.sample.limit)))
        }),
    ];
    (columns, rows)
}
