//! The fields of connections and of their groups. JSON, the recorded Parquet files and the documentation have them.

use linux::diag::TcpInfo;
use tables::Column;
use tables::statistics::nearest_rank;
use units::Bytes;

use crate::connection::{ConnectionState, Limit, Moment};
use crate::group::{Group, GroupBy};

/// The fields of a connection.
pub fn fields<'s>() -> Vec<Column<'s, &'s ConnectionState>> {
    tables::columns!(&'s ConnectionState {
        /// the kernel's number of the socket, which is unique
        "connection": |seen| seen.socket.cookie,
        /// the local address and port
        "local": |seen| seen.local().to_string(),
        /// the remote address and port
        "remote": |seen| seen.remote().to_string(),
        /// the state of TCP: `established` and others
        "tcp_state": |seen| seen.socket.state.to_string(),
        /// the owner's process ID
        "pid": |seen| Some(seen.process.as_ref()?.pid),
        /// the owner's name
        "process": |seen| Some(&*seen.process.as_ref()?.name),
        /// the owner's user ID
        "user": |seen| seen.socket.user,
        /// the path of the owner's control group
        "cgroup": |seen| seen.cgroup.as_deref(),
        /// the network namespace
        "namespace": |seen| &*seen.namespace,
        /// the number of the remote network's autonomous system, with `--as`
        "as_number": |seen| Some(seen.system.as_ref()?.number),
        /// the name of the remote network's autonomous system, with `--as`
        "as_name": |seen| Some(&*seen.system.as_ref()?.name).filter(|name| !name.is_empty()),
        /// the congestion controller
        "controller": |seen| seen.socket.controller.as_str(),
        /// the state of the congestion controller
        "state": |seen| seen.state(),
        /// the time of the poll, since 1970
        "unix_s" as_named: |seen| seen.when.unix_s,
        /// the time of the poll, since the first poll
        "at_s": |seen| seen.when.at,
        /// the smoothed round-trip time
        "srtt_ms": |seen| seen.rtt(),
        /// the kernel's minimum RTT of five minutes
        "min_rtt_ms": |seen| info(seen).min_rtt,
        /// the kernel's latest delivery-rate sample; one that the application limited does not replace a greater one
        "delivery_rate_bps": |seen| info(seen).known_delivery_rate(),
        /// 1 if the application limited the delivery-rate sample, else 0
        "app_limited": |seen| info(seen).delivery_rate_app_limited,
        /// bytes in flight, with every packet counted as a full one
        "inflight_bytes": |seen| seen.inflight(),
        /// the memory of data that wait below TCP in this host, in its packet scheduler and network card
        "below_tcp_bytes": |seen| seen.socket.memory.below_tcp,
        /// the congestion window
        "cwnd_bytes": |seen| packets(seen, info(seen).snd_cwnd),
        /// the slow-start threshold, if it is set
        "ssthresh_bytes": |seen| Some(packets(seen, info(seen).snd_ssthresh?)),
        /// the pacing rate
        "pacing_rate_bps": |seen| info(seen).pacing_rate,
        /// data written but not sent
        "unsent_bytes": |seen| info(seen).notsent_bytes,
        /// data received but not read
        "unread_bytes": |seen| seen.socket.unread,
        /// the other side's window
        "send_window_bytes": |seen| info(seen).snd_wnd,
        /// the payload of a full packet
        "mss_bytes": |seen| info(seen).snd_mss,
        /// BBR's estimate of the bottleneck bandwidth
        "btl_bw_bps": |seen| seen.model()?.bw,
        /// BBR's estimate of the propagation delay
        "rtprop_ms": |seen| seen.model()?.min_rtt,
        /// BBRv3's bound on the bandwidth, from the losses since it last probed the bandwidth
        "short_term_bw_bps": |seen| seen.model()?.short_term_bw,
        /// BBRv3's bound on the data in flight, from the losses since it last probed the bandwidth
        "short_term_inflight_bytes": |seen| seen.model()?.short_term_inflight,
        /// BBRv3's bound on the data in flight, from the losses of its probes
        "long_term_inflight_bytes": |seen| seen.model()?.long_term_inflight,
        /// payload acknowledged since the connection began
        "acknowledged_bytes": |seen| seen.acknowledged(),
        /// payload received since the connection began
        "received_bytes": |seen| info(seen).bytes_received,
        /// packets with data sent since the connection began
        "sent_packets": |seen| info(seen).data_segs_out,
        /// packets with data retransmitted since the connection began. 0 if only SYNs, SYN-ACKs or FINs were sent again;
        /// otherwise these count, too
        "retransmitted_packets": |seen| seen.retransmitted_packets(),
        /// delivered packets that were marked "congestion experienced" (ECN)
        "marked_packets": |seen| info(seen).delivered_ce,
        /// the time with data to send or unacknowledged
        "busy_s": |seen| info(seen).busy_time,
        /// the part of `busy_s` in which the other side's window was full
        "rwnd_limited_s": |seen| info(seen).rwnd_limited,
        /// the part of `busy_s` in which the send buffer was too small
        "sndbuf_limited_s": |seen| info(seen).sndbuf_limited,
        /// the time since the last poll
        "since_s": |seen| Some(seen.since.as_ref()?.span),
        /// the rate at which payload was acknowledged since the last poll
        "send_rate_bps": |seen| seen.send_rate(),
        /// the rate at which payload was received since the last poll
        "receive_rate_bps": |seen| seen.receive_rate(),
        /// the share of the time since the last poll in which there was nothing to send
        "limited_application": |seen| Some(seen.shares()?.application),
        /// the share of the time since the last poll in which the other side's window was full
        "limited_receiver": |seen| Some(seen.shares()?.receiver),
        /// the share of the time since the last poll in which the send buffer was too small
        "limited_send_buffer": |seen| Some(seen.shares()?.send_buffer),
        /// the share of the time since the last poll in which the connection was busy otherwise
        "limited_congestion": |seen| Some(seen.shares()?.congestion),
        /// what limited the connection most: `application`, `receiver`, `send_buffer` or `congestion`
        "limit": |seen| Some(Limit::name(seen.shares()?.most().0)),
    })
}

/// A group of connections in a sample.
#[derive(Debug, Clone, Copy)]
pub struct GroupRow<'g> {
    /// The group.
    pub group: &'g Group,
    /// The time of the sample.
    pub when: Moment,
}

/// The fields of a group.
pub fn group_fields<'g>(by: GroupBy) -> Vec<Column<'g, GroupRow<'g>>> {
    let name = "what the connections of the group have in common, or `unknown`";
    let mut fields = vec![Column::as_named(by.name(), name, |row: &GroupRow<'g>| {
        &*row.group.name
    })];
    fields.extend(tables::columns!(GroupRow<'g> {
        /// the time of the poll, since 1970
        "unix_s" as_named: |row| row.when.unix_s,
        /// the time of the poll, since the first poll
        "at_s": |row| row.when.at,
        /// the number of connections
        "connections": |row| row.group.connections,
        /// the sum of the rates at which payload was acknowledged since the last poll
        "send_rate_bps": |row| row.group.send_rate,
        /// the sum of the rates at which payload was received since the last poll
        "receive_rate_bps": |row| row.group.receive_rate,
        /// the median of the smoothed RTTs
        "srtt_p50_ms": |row| nearest_rank(&row.group.rtts, 0.5),
        /// the 95th percentile of the smoothed RTTs
        "srtt_p95_ms": |row| nearest_rank(&row.group.rtts, 0.95),
        /// the least minimum RTT of the connections
        "min_rtt_ms": |row| row.group.min_rtt,
        /// the median of the delivery rates
        "delivery_rate_p50_bps": |row| nearest_rank(&row.group.delivery_rates, 0.5),
        /// the share of retransmissions among the packets with data since the last poll
        "resent": |row| row.group.since.resent(),
        /// the share of the time of all connections since the last poll in which there was nothing to send
        "limited_application": |row| Some(row.group.since.shares()?.application),
        /// the share of the time of all connections since the last poll in which the other side's window was full
        "limited_receiver": |row| Some(row.group.since.shares()?.receiver),
        /// the share of the time of all connections since the last poll in which the send buffer was too small
        "limited_send_buffer": |row| Some(row.group.since.shares()?.send_buffer),
        /// the share of the time of all connections since the last poll in which the connections were busy otherwise
        "limited_congestion": |row| Some(row.group.since.shares()?.congestion),
        /// what limited the connections most: `application`, `receiver`, `send_buffer` or `congestion`
        "limit": |row| Some(Limit::name(row.group.since.shares()?.most().0)),
    }));
    fields
}

fn info(seen: &ConnectionState) -> &TcpInfo {
    &seen.socket.info
}

fn packets(seen: &ConnectionState, count: u32) -> Bytes {
    info(seen).snd_mss * u64::from(count)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::tests::{json, seen};

    #[test]
    fn the_documentation_has_the_columns_and_fields() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/watch.md");
        tables::page::assert_has(&page, "view", &crate::column::tests::table());
        tables::page::assert_has(&page, "connections", &tables::page::table(&fields()));
        tables::page::assert_has(
            &page,
            "groups",
            &tables::page::table(&group_fields(GroupBy::Prefix)),
        );
    }

    #[test]
    fn every_field_has_a_name_of_its_own_and_what_the_socket_has() {
        let seen = seen();
        let fields = fields();
        let names: HashSet<_> = fields.iter().map(|field| field.name.to_string()).collect();
        assert_eq!(names.len(), fields.len());
        let json = json(&seen);
        for (name, value) in [
            ("remote", Value::from("198.51.100.7:50000")),
            ("process", "nginx".into()),
            ("controller", "bbr".into()),
            ("srtt_ms", 40.0.into()),
            ("min_rtt_ms", 20.0.into()),
            ("send_rate_bps", 8_000_000.into()),
            ("limit", "congestion".into()),
            ("state", "ProbeBW".into()),
        ] {
            assert_eq!(json.get(name), Some(&value), "{name}");
        }
    }
}
