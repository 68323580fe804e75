//! The counters of a [`Sender`](super::Sender).

use congestion::Bytes;

/// The counters of a [`Sender`](super::Sender), from the beginning of its connection. Those that change with every
/// packet come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Payload handed to the packet scheduler, including retransmissions.
    pub sent: Bytes,
    /// Payload known to have arrived, in order or not.
    pub delivered: Bytes,
    /// Packets with payload, including retransmissions.
    pub packets_sent: u64,
    /// Retransmitted payload.
    pub retransmitted: Bytes,
    /// Retransmitted packets.
    pub packets_retransmitted: u64,
    /// Packets declared lost; a packet whose retransmission is lost as well counts again.
    pub packets_lost: u64,
    /// Times that a loss started a recovery.
    pub recoveries: u64,
    /// Recoveries that turned out to be spurious, and were undone.
    pub spurious_recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Runs of timeouts that turned out to be spurious, and were undone.
    pub spurious_timeouts: u64,
    /// Tail loss probes sent (RFC 8985).
    pub tail_loss_probes: u64,
    /// Probes of a receive window of zero.
    pub window_probes: u64,
    /// Packets that arrived after one that was sent later.
    pub reordered: u64,
    /// Packets that the receiver reported as received twice (D-SACK).
    pub duplicates: u64,
    /// Times that an ECN mark reduced the window.
    pub ecn_reductions: u64,
}
