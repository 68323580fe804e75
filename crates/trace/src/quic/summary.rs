//! The results for a QUIC connection, in numbers.

use serde::Serialize;
use tables::statistics::nearest_rank;
use units::{Duration, Time};

use super::connection::{QuicConnection, Way};
use super::spin::Shown;
use crate::summary::{MAX_RATE_BPS, RttSummary};

/// A QUIC connection as a capture shows it without keys.
#[derive(Debug, Clone, Serialize)]
pub struct QuicSummary {
    /// The client's first address.
    pub client: String,
    /// The server.
    pub server: String,
    /// The connection's number in `connections`, if its packets were decrypted.
    pub connection: Option<usize>,
    /// When its first packet passed, in seconds from the start of the capture.
    pub start_s: f64,
    /// From its first packet to its last, in seconds.
    pub duration_s: f64,
    /// Its version, if the handshake was captured.
    pub version: Option<String>,
    /// The server name in the ClientHello.
    pub server_name: Option<String>,
    /// The protocols that the client offered.
    pub protocols: Vec<String>,
    /// The first connection ID that the client chose for itself, in hexadecimal digits.
    pub client_id: Option<String>,
    /// The same for the server.
    pub server_id: Option<String>,
    /// How often the client's address has changed.
    pub migrations: u64,
    /// True if the server sent a Retry.
    pub is_retried: bool,
    /// Packets with 0-RTT data.
    pub zero_rtt_packets: u64,
    /// The round trip of the handshake, the ends' computing time included.
    pub handshake_ms: Option<f64>,
    /// The round trips from the spin bit, if it is used.
    pub spin: Option<SpinSummary>,
    /// The directions with datagrams, the client's first.
    pub flows: Vec<QuicFlow>,
}

/// Round trips from the spin bit. They include the time until an end has something to send.
#[derive(Debug, Clone, Serialize)]
pub struct SpinSummary {
    /// The number of round trips.
    pub samples: u64,
    /// Their distribution.
    pub rtt_ms: RttSummary,
    /// The least round-trip time from the capture to the client.
    pub to_client_ms: Option<f64>,
    /// The least round-trip time from the capture to the server.
    pub to_server_ms: Option<f64>,
}

/// One direction.
#[derive(Debug, Clone, Serialize)]
pub struct QuicFlow {
    /// The sender.
    pub from: String,
    /// Datagrams.
    pub datagrams: u64,
    /// Datagrams that were captured a second time, at another interface or at the other end. No other counter includes
    /// them.
    pub copies: u64,
    /// Datagrams that were captured joined, as offloads of the sender or the receiver leave them (GSO, GRO). Their lengths are
    /// inferred.
    pub offloaded: u64,
    /// Captured packets that may be several datagrams, whose lengths are unknown. Each counts as one.
    pub undivided: u64,
    /// UDP payload.
    pub bytes: u64,
    /// The payload of the longest datagram, other than the undivided ones.
    pub largest_bytes: u32,
    /// Payload per second of the connection's life.
    pub rate_bps: Option<u64>,
    /// The peak rate over a tenth of a second.
    pub peak_bps: u64,
    /// Datagrams with a congestion mark.
    pub marked: u64,
    /// The losses from the loss bits, if they are used.
    pub losses: Option<LossShares>,
}

/// Shares of lost packets.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LossShares {
    /// Lost before the capture.
    pub before: f64,
    /// Declared lost by their sender.
    pub reported: f64,
}

fn millis(span: Duration) -> f64 {
    span.as_millis_f64()
}

impl QuicSummary {
    /// The summary of a connection. `opened` is its number among the decrypted connections.
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
            offloaded: way.offloaded,
            undivided: way.undivided,
            bytes: way.bytes,
            largest_bytes: way.largest,
            rate_bps: (!life.is_zero())
                .then(|| rate.bits_per_sec())
                .filter(|rate| *rate <= MAX_RATE_BPS),
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
        let quantile = |share: f64| nearest_rank(sorted, share).map(millis);
        let sum: f64 = sorted.iter().copied().map(millis).sum();
        let [to_server, to_client] = shown.halves;
        Some(SpinSummary {
            samples: shown.count,
            rtt_ms: RttSummary {
                min: millis(*first),
                mean: sum / sorted.len() as f64,
                p50: quantile(0.5)?,
                p95: quantile(0.95)?,
                max: millis(*last),
            },
            to_client_ms: to_client.map(millis),
            to_server_ms: to_server.map(millis),
        })
    }
}
