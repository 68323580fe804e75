//! Connections and their samples as tables.

use std::borrow::Cow;

use trace::{ConnectionSummary, Endpoint, FlowSummary, Limit, Sample, Summary, Timeline};
use units::{Duration, Rate, Time};

use tables::Column;

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

/// `connections.parquet`: one row for each direction of a connection with data.
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
        Table::text("protocol", |row| {
            Some(Cow::Borrowed(row.connection.protocol))
        }),
        Table::text("from", |row| Some(Cow::Borrowed(&*row.flow.from))),
        Table::text("to", |row| Some(Cow::Borrowed(&*row.flow.to))),
        Table::text("client", |row| Some(Cow::Borrowed(&*row.connection.client))),
        Table::text("server", |row| Some(Cow::Borrowed(&*row.connection.server))),
        Table::real("start_s", |row| Some(row.connection.start_s)),
        Table::real("duration_s", |row| Some(row.connection.duration_s)),
        Table::real("handshake_ms", |row| row.connection.handshake_ms),
        Table::text("tunnel", |row| row.connection.tunnel.map(Cow::Borrowed)),
        Table::whole("is_reset", |row| Some(row.connection.is_reset.into())),
        Table::text("place", |row| Some(Cow::Borrowed(row.flow.place))),
        Table::real("to_sender_ms", |row| row.flow.to_sender_ms),
        Table::real("to_receiver_ms", |row| row.flow.to_receiver_ms),
        Table::whole("sent_bytes", |row| Some(row.flow.sent_bytes)),
        Table::whole("delivered_bytes", |row| Some(row.flow.delivered_bytes)),
        Table::whole("missed_bytes", |row| Some(row.flow.missed_bytes)),
        Table::whole("packets", |row| Some(row.flow.packets)),
        Table::whole("copies", |row| Some(row.flow.copies)),
        Table::whole("acks", |row| Some(row.flow.acks)),
        Table::whole("mss_bytes", |row| Some(row.flow.mss_bytes)),
        Table::whole("goodput_bps", |row| row.flow.goodput_bps),
        Table::real("rtprop_ms", |row| row.flow.rtprop_ms),
        Table::real("rtt_min_ms", |row| Some(row.flow.rtt_ms?.min)),
        Table::real("rtt_mean_ms", |row| Some(row.flow.rtt_ms?.mean)),
        Table::real("rtt_p50_ms", |row| Some(row.flow.rtt_ms?.p50)),
        Table::real("rtt_p95_ms", |row| Some(row.flow.rtt_ms?.p95)),
        Table::real("rtt_max_ms", |row| Some(row.flow.rtt_ms?.max)),
        Table::real("jitter_ms", |row| row.flow.jitter_ms),
        Table::whole("btl_bw_bps", |row| row.flow.btl_bw_bps),
        Table::whole("btl_bw_ip_bps", |row| row.flow.btl_bw_ip_bps),
        Table::whole("is_pipe_filled", |row| {
            Some(u64::from(row.flow.is_pipe_filled))
        }),
        Table::real("inflight_p50_bytes", |row| {
            Some(row.flow.inflight_bytes?.p50)
        }),
        Table::real("inflight_p95_bytes", |row| {
            Some(row.flow.inflight_bytes?.p95)
        }),
        Table::real("inflight_max_bytes", |row| {
            Some(row.flow.inflight_bytes?.max)
        }),
        Table::real("queue_p50_ms", |row| Some(row.flow.queue_ms?.p50)),
        Table::real("queue_p95_ms", |row| Some(row.flow.queue_ms?.p95)),
        Table::real("queue_max_ms", |row| Some(row.flow.queue_ms?.max)),
        Table::whole("retransmitted", |row| Some(row.flow.retransmitted)),
        Table::whole("retransmitted_bytes", |row| {
            Some(row.flow.retransmitted_bytes)
        }),
        Table::whole("lost", |row| row.flow.lost),
        Table::whole("lost_before", |row| Some(row.flow.lost_before)),
        Table::whole("spurious", |row| Some(row.flow.spurious)),
        Table::whole("reordered", |row| Some(row.flow.reordered)),
        Table::whole("duplicated", |row| Some(row.flow.duplicated)),
        Table::whole("unfollowed", |row| Some(row.flow.unfollowed)),
        Table::whole("recoveries", |row| Some(row.flow.recoveries)),
        Table::whole("timeouts", |row| Some(row.flow.timeouts)),
        Table::whole("marked", |row| Some(row.flow.marked)),
        Table::real("limited_application", |row| {
            Some(row.flow.limited_by?.application)
        }),
        Table::real("limited_receiver", |row| {
            Some(row.flow.limited_by?.receiver)
        }),
        Table::real("limited_congestion", |row| {
            Some(row.flow.limited_by?.congestion)
        }),
        Table::real("limited_slow_start", |row| row.flow.limited_by?.slow_start),
        Table::real("limited_window", |row| row.flow.limited_by?.window),
        Table::real("limited_bottleneck", |row| row.flow.limited_by?.bottleneck),
        Table::real("limited_buffer", |row| row.flow.limited_by?.buffer),
        Table::whole("policer_bps", |row| row.flow.policer_bps),
        Table::whole("ack_aggregation_bytes", |row| {
            row.flow.ack_aggregation_bytes
        }),
        Table::text("controller", |row| {
            Some(Cow::Borrowed(row.flow.controller.as_ref()?.controller))
        }),
        Table::real("controller_probability", |row| {
            Some(row.flow.controller.as_ref()?.probability)
        }),
        Table::real("probability_bbr1", |row| probability(row, "bbr1")),
        Table::real("probability_bbr3", |row| probability(row, "bbr3")),
        Table::real("probability_cubic", |row| probability(row, "cubic")),
        Table::real("probability_reno", |row| probability(row, "reno")),
    ];
    (columns, rows)
}

/// The probability of this controller, among the known ones.
fn probability(row: &FlowRow<'_>, controller: &str) -> Option<f64> {
    let all = &row.flow.controller.as_ref()?.probabilities;
    let found = all.iter().find(|(name, _)| *name == controller);
    found.map(|(_, probability)| *probability)
}

/// `samples.parquet`: one row for each sample, flow by flow. `timelines` are those of the summary's connections, in its
/// order.
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
        Table::real("rtprop_ms", move |row| millis(row.sample.rt_prop)),
        Table::whole("delivered_bytes", |row| Some(row.sample.delivered.get())),
        Table::whole("retransmitted", |row| Some(row.sample.retransmitted)),
        Table::text("limit", |row| {
            Some(Cow::Borrowed(Limit::name(row.sample.limit)))
        }),
    ];
    (columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first two columns of the table of `docs/trace.md` under this heading.
    fn documented(heading: &str) -> Vec<[String; 2]> {
        let page = include_str!("../../../../docs/trace.md");
        let (_, section) = page.split_once(heading).expect("a section");
        let section = section.split("\n#").next().unwrap_or_default();
        let is_head = |line: &&str| line.starts_with("| `--json`") || line.contains("parquet`");
        let rows = section
            .lines()
            .filter(|line| line.starts_with("| `") && !is_head(line));
        rows.map(|row| {
            let mut cells = row.split('|').skip(1);
            std::array::from_fn(|_| cells.next().expect("a cell").trim().to_owned())
        })
        .collect()
    }

    fn names(cell: &str) -> impl Iterator<Item = &str> {
        cell.split(", ")
            .map(|name| name.trim_matches('`'))
            .filter(|name| !name.is_empty())
    }

    #[test]
    fn every_column_is_in_the_documentation_and_nothing_else() {
        let nothing = Summary {
            start_s: None,
            read: trace::Counts::default(),
            evicted: 0,
            connections: Vec::new(),
            quic: Vec::new(),
        };
        let flows = documented("### A connection, and each of its directions");
        let flows = flows.iter().flat_map(|[_, column]| names(column));
        let mut wanted: Vec<String> = connections(&nothing)
            .0
            .iter()
            .map(|one| one.name.to_string())
            .collect();
        let mut found: Vec<String> = flows.map(str::to_owned).collect();
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted);
        let samples_found = documented("### A sample");
        let samples_found: Vec<&str> = samples_found
            .iter()
            .flat_map(|[column, _]| names(column))
            .collect();
        let wanted: Vec<String> = samples(&[])
            .0
            .iter()
            .map(|one| one.name.to_string())
            .collect();
        assert_eq!(samples_found, wanted);
    }
}
