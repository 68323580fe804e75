//! Connections and their samples as tables.

use trace::{
    ConnectionSummary, Endpoint, FlowSummary, Limit, LimitedBy, Sample, Summary, Timeline,
};
use units::Time;

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
    let rows = summary.connections.iter().flat_map(|connection| {
        let flows = connection.flows.iter();
        flows.map(move |flow| FlowRow { connection, flow })
    });
    let mut columns = tables::columns!(FlowRow<'_> {
        /// the number of the connection, by payload from 0
        "connection": |row| row.connection.id,
        /// `tcp`, or `quic`
        "protocol": |row| row.connection.protocol,
        /// the sender
        "from": |row| &*row.flow.from,
        /// the receiver
        "to": |row| &*row.flow.to,
        /// the end that opened the connection, if known
        "client": |row| &*row.connection.client,
        /// the end that did not open the connection, if known
        "server": |row| &*row.connection.server,
        /// when the first packet of the connection passed, from the start of the capture
        "start_s" as_named: |row| row.connection.start_s,
        /// the time from the connection's first packet to its last
        "duration_s" as_named: |row| row.connection.duration_s,
        /// how long the handshake took
        "handshake_ms" as_named: |row| row.connection.handshake_ms,
        /// the encapsulation, if it was not plain IP
        "tunnel": |row| row.connection.tunnel,
        /// 1 if the connection was reset, else 0
        "is_reset": |row| row.connection.is_reset,
        /// where the capture was taken relative to these data: `sender`, `receiver`, `middle`, `unknown`
        "place": |row| row.flow.place,
        /// the minimum time from the capture to the sender and back
        "to_sender_ms" as_named: |row| row.flow.to_sender_ms,
        /// the minimum time from the capture to the receiver and back
        "to_receiver_ms" as_named: |row| row.flow.to_receiver_ms,
        /// payload sent, including retransmissions
        "sent_bytes" as_named: |row| row.flow.sent_bytes,
        /// payload acknowledged
        "delivered_bytes" as_named: |row| row.flow.delivered_bytes,
        /// payload that was acknowledged but not captured
        "missed_bytes" as_named: |row| row.flow.missed_bytes,
        /// packets with payload
        "packets": |row| row.flow.packets,
        /// copies of packets with payload; they count nowhere else
        "copies": |row| row.flow.copies,
        /// acknowledgements that were captured, without copies
        "acks": |row| row.flow.acks,
        /// payload of a full packet
        "mss_bytes" as_named: |row| row.flow.mss_bytes,
        /// payload acknowledged per second of the connection's life
        "goodput_bps" as_named: |row| row.flow.goodput_bps,
        /// RTprop
        "rtprop_ms" as_named: |row| row.flow.rtprop_ms,
        /// the minimum of all RTTs, including the handshake's
        "rtt_min_ms" as_named: |row| Some(row.flow.rtt_ms?.min),
        /// the mean RTT of the acknowledgements of data
        "rtt_mean_ms" as_named: |row| Some(row.flow.rtt_ms?.mean),
        /// the median RTT of the acknowledgements of data
        "rtt_p50_ms" as_named: |row| Some(row.flow.rtt_ms?.p50),
        /// the 95th percentile of the RTTs of the acknowledgements of data
        "rtt_p95_ms" as_named: |row| Some(row.flow.rtt_ms?.p95),
        /// the maximum of all RTTs, including the handshake's
        "rtt_max_ms" as_named: |row| Some(row.flow.rtt_ms?.max),
        /// the mean difference between an RTT and the next
        "jitter_ms" as_named: |row| row.flow.jitter_ms,
        /// BtlBw, of payload
        "btl_bw_bps" as_named: |row| row.flow.btl_bw_bps,
        /// BtlBw, of IP packets
        "btl_bw_ip_bps" as_named: |row| row.flow.btl_bw_ip_bps,
        /// 1 if the flow filled the pipe, else 0. If it did not, the bottleneck may be faster
        "is_pipe_filled": |row| row.flow.is_pipe_filled,
        /// the median of the data in flight, over the samples
        "inflight_p50_bytes" as_named: |row| Some(row.flow.inflight_bytes?.p50),
        /// the 95th percentile of the data in flight, over the samples
        "inflight_p95_bytes" as_named: |row| Some(row.flow.inflight_bytes?.p95),
        /// the maximum of the data in flight, over the samples
        "inflight_max_bytes" as_named: |row| Some(row.flow.inflight_bytes?.max),
        /// the median of RTT minus RTprop, over the samples
        "queue_p50_ms" as_named: |row| Some(row.flow.queue_ms?.p50),
        /// the 95th percentile of RTT minus RTprop, over the samples
        "queue_p95_ms" as_named: |row| Some(row.flow.queue_ms?.p95),
        /// the maximum of RTT minus RTprop, over the samples
        "queue_max_ms" as_named: |row| Some(row.flow.queue_ms?.max),
        /// retransmitted packets
        "retransmitted": |row| row.flow.retransmitted,
        /// retransmitted payload of packets that had passed the capture before
        "retransmitted_bytes" as_named: |row| row.flow.retransmitted_bytes,
        /// lost packets
        "lost": |row| row.flow.lost,
        /// packets that were lost before the capture
        "lost_before": |row| row.flow.lost_before,
        /// spurious retransmissions, in packets
        "spurious": |row| row.flow.spurious,
        /// packets that later ones overtook
        "reordered": |row| row.flow.reordered,
        /// packets that were sent once and arrived twice
        "duplicated": |row| row.flow.duplicated,
        /// packets that were forgotten before they were acknowledged, because too many were outstanding
        "unfollowed": |row| row.flow.unfollowed,
        /// recoveries
        "recoveries": |row| row.flow.recoveries,
        /// recoveries that a timeout began
        "timeouts": |row| row.flow.timeouts,
        /// packets that had the ECN mark "congestion experienced" when they passed
        "marked": |row| row.flow.marked,
    });
    columns.extend(LimitedBy::SHARES.iter().map(|share| {
        let name = format!("limited_{}", share.name);
        Column::new(name, share.meaning, move |row: &FlowRow<'_>| {
            (share.of)(row.flow.limited_by.as_ref()?)
        })
    }));
    columns.extend(tables::columns!(FlowRow<'_> {
        /// the rate of a policer, if one was found
        "policer_bps" as_named: |row| row.flow.policer_bps,
        /// data acknowledged at once beyond BtlBw: the mean over rounds of each round's maximum
        "ack_aggregation_bytes" as_named: |row| row.flow.ack_aggregation_bytes,
        /// the most likely controller
        "controller": |row| Some(row.flow.controller.as_ref()?.controller),
        /// the probability of the most likely controller
        "controller_probability": |row| Some(row.flow.controller.as_ref()?.probability),
        /// the probability of `bbr1`
        "probability_bbr1": |row| probability(row, "bbr1"),
        /// the probability of `bbr3`
        "probability_bbr3": |row| probability(row, "bbr3"),
        /// the probability of `cubic`
        "probability_cubic": |row| probability(row, "cubic"),
        /// the probability of `reno`
        "probability_reno": |row| probability(row, "reno"),
    }));
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
    let columns = tables::columns!(SampleRow<'_> {
        /// the number of the connection
        "connection": |row| row.connection,
        /// the sender
        "from": |row| row.from.to_string(),
        /// the time
        "at_s": |row| row.sample.at.since(row.origin),
        /// the RTT that the acknowledgement shows
        "rtt_ms": |row| row.sample.rtt,
        /// the delivery rate that the acknowledgement shows
        "delivery_rate_bps": |row| row.sample.delivery_rate,
        /// data in flight
        "inflight_bytes": |row| row.sample.inflight,
        /// BtlBw from the paper's filter
        "btl_bw_bps": |row| row.sample.btl_bw,
        /// RTprop from the paper's filter
        "rtprop_ms": |row| row.sample.rtprop,
        /// payload delivered so far
        "delivered_bytes": |row| row.sample.delivered,
        /// packets retransmitted so far
        "retransmitted": |row| row.sample.retransmitted,
        /// the limit of the flow at this time
        "limit": |row| Limit::name(row.sample.limit),
    });
    (columns, rows)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use super::*;

    fn page() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace.md")
    }

    /// A summary of these connections.
    fn summary(connections: Vec<ConnectionSummary>) -> Summary {
        Summary {
            start_s: None,
            read: trace::Counts::default(),
            evicted: 0,
            connections,
            quic: Vec::new(),
        }
    }

    #[test]
    fn the_documentation_has_the_columns() {
        let nothing = summary(Vec::new());
        let has = |name, table: String| tables::page::assert_has(&page(), name, &table);
        has("connections", tables::page::table(&connections(&nothing).0));
        has("samples", tables::page::table(&samples(&[]).0));
    }

    /// A connection with a flow whose parts are there.
    fn known() -> ConnectionSummary {
        let flow = FlowSummary {
            rtt_ms: Some(Default::default()),
            inflight_bytes: Some(Default::default()),
            queue_ms: Some(Default::default()),
            limited_by: Some(Default::default()),
            controller: Some(Default::default()),
            ..FlowSummary::default()
        };
        ConnectionSummary {
            flows: vec![flow],
            ..ConnectionSummary::default()
        }
    }

    /// The names of everything in an object, such as `rtt_ms.min`.
    fn names(object: &Value) -> BTreeSet<String> {
        let fields = object.as_object().into_iter().flatten();
        let each = fields.flat_map(|(name, value)| match value {
            Value::Object(_) => {
                let inner = names(value).into_iter();
                inner.map(|inner| format!("{name}.{inner}")).collect()
            }
            _ => vec![name.clone()],
        });
        each.collect()
    }

    #[test]
    fn the_documentation_has_the_names_in_json_that_columns_do_not_have() {
        let connection = known();
        let mut json = serde_json::to_value(&connection).expect("plain data");
        let flow = json["flows"][0].take();
        json.as_object_mut().expect("an object").remove("flows");
        let json: BTreeSet<String> = names(&json).into_iter().chain(names(&flow)).collect();
        let summary = summary(vec![connection]);
        let columns = connections(&summary).0;
        let columns: BTreeSet<String> = columns.iter().map(|of| of.name.to_string()).collect();

        let text = fs::read_to_string(page()).expect("a page");
        let table = text.split_once("| `--json` | `connections.parquet` |\n| --- | --- |\n");
        let rows = table.expect("a table").1.lines();
        let rows = rows.map_while(|row| row.strip_prefix("| ")?.split_once(" | "));
        let quoted = |cell: &str| -> Vec<String> {
            let parts = cell.split('`').skip(1).step_by(2);
            parts.map(str::to_owned).collect()
        };
        let (mut in_json, mut in_columns) = (BTreeSet::new(), BTreeSet::new());
        for (left, right) in rows {
            in_json.extend(quoted(left));
            if !right.starts_with("none") {
                in_columns.extend(quoted(right));
            }
        }
        assert_eq!(in_json, json.difference(&columns).cloned().collect());
        assert_eq!(in_columns, columns.difference(&json).cloned().collect());
    }
}
