//! A sending host's treatment of a flow between TCP and the wire.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use super::millionths::{millionths, optional_millionths};

/// A host's treatment of a flow between TCP and the wire, after the warmup. TSO autosizing makes bursts, pacing
/// spreads them, and TCP small queues bound the waiting bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostSummary {
    /// Bursts that have left. A burst is handed down by TCP in one piece.
    pub bursts: u64,
    /// The mean payload of a burst.
    #[serde(serialize_with = "millionths")]
    pub burst_bytes: f64,
    /// The mean time that a burst takes at the pacing rate at which it was made.
    #[serde(serialize_with = "millionths")]
    pub burst_ms: f64,
    /// The mean time by which a burst left before its turn at the pacing rate.
    #[serde(serialize_with = "millionths")]
    pub ahead_mean_ms: f64,
    /// The longest time by which a burst left before its turn.
    #[serde(serialize_with = "millionths")]
    pub ahead_max_ms: f64,
    /// The time that the departed bursts take at the pacing rate, as a share of the time in which they left; null
    /// with fewer than two bursts.
    #[serde(serialize_with = "optional_millionths")]
    pub pace: Option<f64>,
    /// The most payload that waited below TCP, in the packet scheduler and the network card.
    pub below_tcp_max_bytes: u64,
    /// The most payload that waited there, as a share of the limit of small queues.
    #[serde(serialize_with = "millionths")]
    pub below_tcp_max_share: f64,
}

/// A burst that TCP has handed to the packet scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandedDown {
    /// The time.
    pub at: Duration,
    /// The stream position of its first byte.
    pub seq: u64,
    /// Its payload.
    pub bytes: Bytes,
    /// The time that it takes at the pacing rate; zero without one.
    pub span: Duration,
    /// The bytes that wait below TCP now, including this burst.
    pub below_tcp: Bytes,
    /// The limit of small queues: the bytes that may wait there before a burst such as this one has to.
    pub limit: Bytes,
}

/// Builds a [`HostSummary`] from the bursts of a connection.
///
/// The virtual scheduling algorithm of ITU-T I.371 decides whether a burst leaves before its turn. Each burst delays
/// the turn of the next one by its own span, counted from its own turn or from its departure, whichever is later.
#[derive(Debug, Clone, Default)]
pub struct HostRecorder {
    warmup: Duration,
    /// The bursts that have not left, in order.
    waiting: VecDeque<Waiting>,
    /// The turn of the next burst.
    turn: Duration,
    /// The times at which the first and the last burst after the warmup left, and the last one's span.
    first: Duration,
    last: Duration,
    last_span: Duration,
    bursts: u64,
    bytes: Bytes,
    spans: Duration,
    ahead: Duration,
    ahead_max: Duration,
    below_tcp: Bytes,
    below_tcp_share: f64,
}

/// A burst that has not left.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    seq: u64,
    bytes: Bytes,
    span: Duration,
}

impl HostRecorder {
    /// Creates a recorder for a flow of a scenario with this warmup.
    pub fn new(warmup: Duration) -> HostRecorder {
        HostRecorder {
            warmup,
            ..HostRecorder::default()
        }
    }

    /// Records a burst that TCP has handed down.
    pub fn handed_down(&mut self, burst: HandedDown) {
        self.waiting.push_back(Waiting {
            seq: burst.seq,
            bytes: burst.bytes,
            span: burst.span,
        });
        if burst.at >= self.warmup {
            self.below_tcp = self.below_tcp.max(burst.below_tcp);
            let share = burst.below_tcp.get() as f64 / burst.limit.get().max(1) as f64;
            self.below_tcp_share = self.below_tcp_share.max(share);
        }
    }

    /// Records the departure of the burst with this stream position. Earlier bursts that have not left were refused
    /// by the scheduler: bursts of a connection do not overtake each other.
    pub fn departed(&mut self, at: Duration, seq: u64) {
        let mut passed = std::iter::from_fn(|| self.waiting.pop_front());
        let Some(Waiting { bytes, span, .. }) = passed.find(|waiting| waiting.seq == seq) else {
            return;
        };
        let ahead = self.turn.saturating_sub(at);
        self.turn = self.turn.max(at) + span;
        if at < self.warmup {
            return;
        }
        if self.bursts == 0 {
            self.first = at;
        }
        self.bursts += 1;
        self.bytes += bytes;
        self.last = at;
        self.last_span = span;
        self.spans = self.spans + span;
        self.ahead = self.ahead + ahead;
        self.ahead_max = self.ahead_max.max(ahead);
    }

    /// Returns the summary, if a burst has left since the warmup.
    pub fn finish(self) -> Option<HostSummary> {
        let mean = |sum: Duration| sum.as_millis_f64() / self.bursts as f64;
        let took = self.last.saturating_sub(self.first);
        // The last burst's span lies after its departure.
        let paced = self.spans.saturating_sub(self.last_span);
        (self.bursts > 0).then(|| HostSummary {
            bursts: self.bursts,
            burst_bytes: self.bytes.get() as f64 / self.bursts as f64,
            burst_ms: mean(self.spans),
            ahead_mean_ms: mean(self.ahead),
            ahead_max_ms: self.ahead_max.as_millis_f64(),
            pace: (!took.is_zero()).then(|| paced.as_nanos() as f64 / took.as_nanos() as f64),
            below_tcp_max_bytes: self.below_tcp.get(),
            below_tcp_max_share: self.below_tcp_share,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Duration = Duration::from_millis(10);

    /// Bursts of ten milliseconds that leave at these milliseconds, one at a time.
    fn leaving(warmup: u64, at: &[u64]) -> Option<HostSummary> {
        let mut host = HostRecorder::new(Duration::from_millis(warmup));
        for (seq, at) in (0..).zip(at) {
            let at = Duration::from_millis(*at);
            host.handed_down(HandedDown {
                at,
                seq,
                bytes: Bytes::new(1_448),
                span: SPAN,
                below_tcp: Bytes::new(3_000),
                limit: Bytes::new(2_000),
            });
            host.departed(at, seq);
        }
        host.finish()
    }

    #[test]
    fn who_keeps_to_the_pacing_rate_is_never_ahead() {
        let host = leaving(0, &[5, 15, 25, 35]).unwrap();
        assert_eq!((host.bursts, host.burst_ms), (4, 10.0));
        assert_eq!((host.ahead_mean_ms, host.ahead_max_ms), (0.0, 0.0));
        assert_eq!(host.pace, Some(1.0));
        assert_eq!(
            (host.below_tcp_max_bytes, host.below_tcp_max_share),
            (3_000, 1.5)
        );
    }

    #[test]
    fn a_clump_is_ahead_and_a_late_burst_earns_nothing() {
        let host = leaving(0, &[0, 50, 50, 50, 100]).unwrap();
        assert_eq!((host.ahead_mean_ms, host.ahead_max_ms), (6.0, 20.0));
        assert_eq!(host.pace, Some(0.4));
    }

    #[test]
    fn the_warmup_is_left_out_but_not_forgotten() {
        assert_eq!(leaving(100, &[0, 10]), None);
        let host = leaving(5, &[0, 5]).unwrap();
        assert_eq!((host.bursts, host.ahead_max_ms), (1, 5.0));
        assert_eq!(host.pace, None);
    }

    #[test]
    fn a_burst_that_was_refused_never_leaves() {
        let mut host = HostRecorder::new(Duration::ZERO);
        for seq in [7, 8] {
            host.handed_down(HandedDown {
                at: Duration::ZERO,
                seq,
                bytes: Bytes::new(seq),
                span: SPAN * seq,
                below_tcp: Bytes::ZERO,
                limit: Bytes::ZERO,
            });
        }
        host.departed(SPAN, 8);
        host.departed(SPAN, 8);
        let host = host.finish().unwrap();
        assert_eq!(
            (host.bursts, host.burst_bytes, host.burst_ms),
            (1, 8.0, 80.0)
        );
    }
}
