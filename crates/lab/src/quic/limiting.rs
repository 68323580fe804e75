//! What limits a flow over QUIC.

use quic::observer::{Limit, Sample};
use record::Limits;
use units::Duration;

/// Adds up what has limited a flow, from ACK to ACK.
#[derive(Debug, Default)]
pub struct Limiting {
    limits: Limits,
    /// When the last ACK came, and whether anything was in flight then.
    heard: Option<(Duration, bool)>,
}

impl Limiting {
    /// Begins anew at this time, with something to send: what was before is nobody's.
    pub fn begin(&mut self, at: Duration) {
        self.limits = Limits {
            pacing: Some(Duration::ZERO),
            ..Limits::default()
        };
        self.heard = Some((at, true));
    }

    /// What has limited the flow, until the last ACK.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Notes what has limited it since the last ACK. noq has one word for an application that has no more, a full send window and
    /// flow control that takes no more. The first is the case once all is sent. The second is not, as the [send
    /// window](quic::endpoint) is twice the receiver's.
    pub fn note(&mut self, at: Duration, sample: &Sample, is_all_sent: bool) {
        if self.heard.is_none() {
            self.begin(at);
        }
        let last = self.heard.replace((at, !sample.inflight.is_zero()));
        let (since, was_busy) = last.unwrap_or((at, true));
        let span = at.saturating_sub(since);
        let limits = &mut self.limits;
        if was_busy {
            limits.busy = limits.busy + span;
        }
        let time = match sample.limit {
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
