//! What is known of a QUIC connection, in numbers.

use serde::Serialize;
use units::{Duration, Time};

use super::connection::{QuicConnection, Way};
use super::spin::Shown;
use crate::summary::{FASTEST, RttSummary};

/// A QUIC connection without its keys.
#[derive(Debug, Clone, Serialize)]
pub struct QuicSummary {
    /// The client, when it was first seen.
    pub client: String,
    /// The server.
    pub server: String,
    /// The number of the connection in `connections`, if its packets could be opened.
    pub connection: Option<usize>,
    /// When its first packet passed, in seconds from the start of the capture.
    pub start_s: f64,
    /// From its first packet to its last.
    pub duration_s: f64,
    /// Its version, if the handshake was seen.
    pub version: Option<String>,
    /// The name that the client has asked for.
    pub server_name: Option<String>,
    /// The protocols that the client offers.
    pub protocols: Vec<String>,
    /// The connection ID that the client has chosen for itself at first, in hexadecimal digits.
    pub client_id: Option<String>,
    /// The same of the server.
    pub server_id: Option<String>,
    /// How often the client's address has changed.
    pub migrations: u64,
    /// Whether the server wanted the client's address proved.
    pub is_retried: bool,
    /// Packets with data before the handshake was over.
    pub zero_rtt_packets: u64,
    /// The round trip of the handshake, what the ends compute included.
    pub handshake_ms: Option<f64>,
    /// What the spin bit shows, if it is used.
    pub spin: Option<SpinSummary>,
    /// The directions that had datagrams, the client's first.
    pub flows: Vec<QuicFlow>,
}

/// The round trip as the spin bit shows it. It includes how long the ends wait until they send.
#[derive(Debug, Clone, Serialize)]
pub struct SpinSummary {
    /// So many round trips.
    pub samples: u64,
    /// How long they took.
    pub rtt_ms: RttSummary,
    /// The least time from here to the client and back.
    pub to_client_ms: Option<f64>,
    /// The least time from here to the server and back.
    pub to_server_ms: Option<f64>,
}

/// One direction.
#[derive(Debug, Clone, Serialize)]
pub struct QuicFlow {
    /// Who sends.
    pub from: String,
    /// Datagrams.
    pub datagrams: u64,
    /// Datagrams that were captured once more, at another interface or at the other end. They count nowhere else.
    pub copies: u64,
    /// Their payload: of UDP.
    pub bytes: u64,
    /// The longest.
    pub largest_bytes: u32,
    /// Payload per second of the connection's life.
    pub rate_bps: Option<u64>,
    /// The greatest rate of a tenth of a second.
    pub peak_bps: u64,
    /// Datagrams that were marked when they passed.
    pub marked: u64,
    /// What the loss bits show, if they are used.
    pub losses: Option<LossShares>,
}

/// Shares of packets.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LossShares {
    /// Lost before they passed the capture.
    pub before: f64,
    /// Taken for lost by their sender.
    pub reported: f64,
}

fn millis(span: Duration) -> f64 {
    span.as_millis_f64()
}

impl QuicSummary {
    /// Of a connection; `opened` is its number among those whose packets were opened.
    pub(crate) fn of(one: &QuicConnection, opened: Option<usize>, origin: Time) -> QuicSummary {
        let [client, server] = one.ends.map(|end| end.to_string());
        let life = one.last.since(one.first);
        let [client_id, server_id] = one.ids.map(|id| id.map(|id| id.to_string()));
        let names = [client.clone(), server.clone()];
        let ways = names.into_iter().zip(&one.ways);
        QuicSummary {
            client,
            server,
            connection: opened,
            start_s: one.first.since(origin).as_secs_f64(),
            duration_s: life.as_secs_f64(),
            version: one.version.map(|version| version.to_string()),
            server_name: one
                .hello
                .as_ref()
                .and_then(|hello| hello.server_name.clone()),
            protocols: one
                .hello
                .as_ref()
                .map_or(Vec::new(), |hello| hello.protocols.clone()),
            client_id,
            server_id,
            migrations: one.migrations,
            is_retried: one.is_retried,
            zero_rtt_packets: one.zero_rtt,
            handshake_ms: one.handshake.rtt().map(millis),
            spin: one.spin.shown().and_then(|shown| SpinSummary::of(&shown)),
            flows: ways
                .filter(|(_, way)| way.datagrams > 0)
                .map(|(from, way)| QuicFlow::of(from, way, life))
                .collect(),
        }
    }
}

impl QuicFlow {
    fn of(from: String, way: &Way, life: Duration) -> QuicFlow {
        let rate = units::Rate::from_transfer(units::Bytes::new(way.bytes), life);
        QuicFlow {
            from,
            datagrams: way.datagrams,
            copies: way.copies,
            bytes: way.bytes,
            largest_bytes: way.largest,
            rate_bps: (!life.is_zero())
                .then(|| rate.bits_per_sec())
                .filter(|rate| *rate <= FASTEST),
            peak_bps: way.peak_bps(),
            marked: way.marked,
            losses: way
                .losses
                .losses()
                .map(|(before, reported)| LossShares { before, reported }),
        }
    }
}

impl SpinSummary {
    fn of(shown: &Shown) -> Option<SpinSummary> {
        let sorted = &shown.sorted;
        let (first, last) = (sorted.first()?, sorted.last()?);
        let at = |percent: usize| millis(sorted[(sorted.len() - 1) * percent / 100]);
        let sum: f64 = sorted.iter().copied().map(millis).sum();
        let [to_server, to_client] = shown.halves;
        Some(SpinSummary {
            samples: shown.count,
            rtt_ms: RttSummary {
                min: millis(*first),
                mean: sum / sorted.len() as f64,
                p50: at(50),
                p95: at(95),
                max: millis(*last),
            },
            to_client_ms: to_client.map(millis),
            to_server_ms: to_server.map(millis),
        })
    }
}
