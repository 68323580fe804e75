//! The limits of a flow over QUIC.

use quic::observer::Limit;
use record::Limits;
use units::{Bytes, Duration};

/// Adds up the time in each limit, from ACK to ACK.
#[derive(Debug, Default)]
pub struct Limiting {
    limits: Limits,
    /// The time of the last ACK, and whether anything was in flight after it.
    last_ack: Option<(Duration, bool)>,
}

impl Limiting {
    /// Starts anew at this time, with data to send; earlier time is attributed to nothing.
    pub fn begin(&mut self, at: Duration) {
        self.limits = Limits {
            pacing: Some(Duration::ZERO),
            ..Limits::default()
        };
        self.last_ack = Some((at, true));
    }

    /// The time in each limit, until the last ACK.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Adds the time since the last ACK; `inflight` bytes remain after this one. noq reports one limit for an
    /// application without data, a full send window and closed flow control. It is the application's once everything
    /// is sent. It is never the send window's, because the [send window](quic::endpoint) is twice the receiver's.
    pub fn note(&mut self, at: Duration, limit: Limit, inflight: Bytes, is_all_sent: bool) {
        if self.last_ack.is_none() {
            self.begin(at);
        }
        let last = self.last_ack.replace((at, !inflight.is_zero()));
        let (since, was_busy) = last.unwrap_or((at, true));
        let span = at.saturating_sub(since);
        let limits = &mut self.limits;
        if was_busy {
            limits.busy = limits.busy + span;
        }
        let time = match limit {
            Limit::Data if is_all_sent => &mut limits.application,
            Limit::Data => &mut limits.receiver,
            Limit::CongestionWindow => &mut limits.congestion,
            Limit::Pacing => {
                limits.pacing = limits.pacing.map(|pacing| pacing + span);
                &mut limits.congestion
            }
        };
        *time = *time + span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_span_between_acks_is_what_limited_it() {
        let mut limiting = Limiting::default();
        let mut at = Duration::ZERO;
        limiting.begin(at);
        for (span_ms, limit, is_all_sent) in [
            (1, Limit::Data, true),
            (20, Limit::Data, false),
            (300, Limit::CongestionWindow, false),
            (4_000, Limit::Pacing, true),
        ] {
            at = at + Duration::from_millis(span_ms);
            limiting.note(at, limit, Bytes::new(1_200), is_all_sent);
        }
        // Nothing is in flight after this ACK, so the flow is not busy until the next one.
        at = at + Duration::from_millis(50_000);
        limiting.note(at, Limit::Pacing, Bytes::ZERO, false);
        at = at + Duration::from_millis(600_000);
        limiting.note(at, Limit::Data, Bytes::ZERO, true);
        let expected = Limits {
            busy: Duration::from_millis(54_321),
            application: Duration::from_millis(600_001),
            receiver: Duration::from_millis(20),
            send_buffer: Duration::ZERO,
            congestion: Duration::from_millis(54_300),
            pacing: Some(Duration::from_millis(54_000)),
        };
        assert_eq!(limiting.limits(), expected);
    }
}
