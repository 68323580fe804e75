//! The results of captures, in numbers.

mod capture_point;
mod causes;
mod flow;
mod known;
mod policer;
mod timeline;
mod together;

use connection::Connection;
use serde::Serialize;
use units::{Duration, Time};

use crate::quic::{QuicConnection, QuicSummary};
use crate::trace::{Counts, Trace};

pub use capture_point::CapturePoint;
pub use causes::Causes;
pub(crate) use flow::MAX_RATE_BPS;
pub use flow::{FlowSummary, LimitShare, LimitedBy, RttSummary, Spread};
pub use known::KnownPath;
pub(crate) use known::POLICER_BURST;
pub use timeline::{FlowTimeline, Timeline};

/// The results of captures.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// When the first packet of a connection passed, in seconds from the Unix epoch.
    pub start_s: Option<f64>,
    /// Counts of the packets that were read.
    pub read: Counts,
    /// Connections that were dropped because there were too many: those with the least payload.
    pub evicted: u64,
    /// The TCP connections, and the QUIC connections that were decrypted. Those with the most payload come first.
    pub connections: Vec<ConnectionSummary>,
    /// The QUIC connections as seen without keys, those with the most payload first.
    pub quic: Vec<QuicSummary>,
}

/// The results for a connection.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ConnectionSummary {
    /// Its number, from 0.
    pub id: usize,
    /// `tcp`, or `quic` for a connection whose packets were decrypted.
    pub protocol: &'static str,
    /// The client, as far as that is known.
    pub client: String,
    /// The server.
    pub server: String,
    /// When its first packet passed, in seconds from the start of the capture.
    pub start_s: f64,
    /// From its first packet to its last, in seconds.
    pub duration_s: f64,
    /// The round trip of its handshake.
    pub handshake_ms: Option<f64>,
    /// The innermost tunnel that carried it.
    pub tunnel: Option<&'static str>,
    /// True if it was reset.
    pub is_reset: bool,
    /// The directions with data, the one with the most first.
    pub flows: Vec<FlowSummary>,
}

impl Summary {
    /// Summarizes a trace. Also returns the connections over time, in the summary's order.
    pub fn of(trace: Trace) -> (Summary, Vec<Timeline>) {
        let mut kept = Vec::new();
        let summary = Summary::each(trace, |connection| kept.push(Timeline::of(connection)));
        (summary, kept)
    }

    /// Summarizes a trace without the connections over time, which takes less memory.
    pub fn alone(trace: Trace) -> Summary {
        Summary::each(trace, drop)
    }

    /// Summarizes a trace. Each connection is passed to `done` as soon as it is not needed any more.
    fn each(trace: Trace, mut done: impl FnMut(Connection)) -> Summary {
        let read = trace.counts().clone();
        let (mut connections, quic, evicted) = trace.into_connections();
        let mut all = Vec::new();
        for one in quic {
            let (one, opened) = one.into_opened();
            all.push((one, opened.is_some()));
            connections.extend(opened.map(Box::new));
        }
        connections.sort_by_key(|connection| (u64::MAX - connection.payload(), connection.first));
        all.sort_by_key(|(one, _)| (u64::MAX - one.payload(), one.first));
        let firsts = connections.iter().map(|connection| connection.first);
        let start = firsts.chain(all.iter().map(|(one, _)| one.first)).min();
        let origin = start.unwrap_or(Time::ZERO);
        let number = |one: &QuicConnection| {
            let is_it = |opened: &Connection| {
                opened.is_quic && opened.ends == one.ends && opened.first == one.first
            };
            connections.iter().position(|one| is_it(one))
        };
        let quic = all.iter().map(|(one, is_opened)| {
            let opened = is_opened.then(|| number(one)).flatten();
            QuicSummary::of(one, opened, origin)
        });
        let quic = quic.collect();
        let each = connections.into_iter().enumerate();
        let each = each.map(|(id, connection)| {
            let summary = ConnectionSummary::of(id, &connection, origin);
            done(*connection);
            summary
        });
        let mut connections: Vec<ConnectionSummary> = each.collect();
        together::bound(&mut connections);
        Summary {
            start_s: start.map(|start| start.since(Time::ZERO).as_secs_f64()),
            read,
            evicted,
            connections,
            quic,
        }
    }
}

impl ConnectionSummary {
    fn of(id: usize, connection: &Connection, origin: Time) -> ConnectionSummary {
        let [client, server] = connection.ends.map(|end| end.to_string());
        // There may be many flows, so the lists have no spare capacity.
        let mut flows = Vec::with_capacity(connection.flows().count());
        flows.extend((0..2).filter_map(|side| FlowSummary::of(connection, side)));
        flows.sort_by_key(|flow| u64::MAX - flow.sent_bytes);
        ConnectionSummary {
            id,
            protocol: if connection.is_quic { "quic" } else { "tcp" },
            client,
            server,
            start_s: connection.first.since(origin).as_secs_f64(),
            duration_s: connection.last.since(connection.first).as_secs_f64(),
            handshake_ms: connection.handshake.rtt().map(Duration::as_millis_f64),
            tunnel: connection.tunnel.map(capture::packet::Tunnel::name),
            is_reset: connection.is_reset,
            flows,
        }
    }
}
