//! Probes over QUIC.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use congestion::ControllerKind;
use lab::Limiting;
use quic::observer::{Observer, Sample};
use quic::probe::{ProbeError, Prober};
use record::LimitShares;
use units::{Bytes, Duration};

use super::hosts::Seen;

/// A connection that is kept open, and what limits it.
pub(super) struct QuicLine {
    pub prober: Prober,
    watch: Arc<Watch>,
}

/// Watches a connection.
pub(super) struct Watch {
    begin: Instant,
    seen: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    limiting: Limiting,
    /// What has left for the first time, or has left again and is not lost.
    gone: Bytes,
    /// What will have left once the probe is sent, or a few packets earlier: headers count in `gone`, and not here.
    target: Bytes,
}

impl Watch {
    pub fn new() -> Arc<Watch> {
        Arc::new(Watch {
            begin: Instant::now(),
            seen: Mutex::default(),
        })
    }

    fn seen(&self) -> MutexGuard<'_, Watched> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watch {
    fn on_sample(&self, sample: &Sample) {
        let at = self.begin.elapsed().into();
        let seen = &mut *self.seen();
        seen.gone = sample.rate.total_delivered + sample.inflight;
        let is_all_sent = seen.gone >= seen.target;
        seen.limiting
            .note(at, sample.limit, sample.inflight, is_all_sent);
    }
}

impl QuicLine {
    pub fn new(prober: Prober, watch: Arc<Watch>) -> QuicLine {
        QuicLine { prober, watch }
    }

    /// Sends so many bytes, and waits for the answer.
    pub async fn probe(&self, bytes: u64) -> Result<Seen, ProbeError> {
        {
            let seen = &mut *self.watch.seen();
            seen.target = seen.gone + Bytes::new(bytes);
            seen.limiting.begin(self.watch.begin.elapsed().into());
        }
        let took = self.prober.probe(bytes).await?;
        let limited_by = self.limited_by(took.into());
        Ok(Seen { took, limited_by })
    }

    /// Whoever did not limit the sender, in the time that a probe took: the application was waiting for the answer.
    fn limited_by(&self, took: Duration) -> Option<LimitShares> {
        let mut limits = self.watch.seen().limiting.limits();
        let others = limits.receiver + limits.send_buffer + limits.congestion;
        limits.application = took.saturating_sub(others);
        limits.shares_since(None, Duration::ZERO)
    }
}

/// What makes the controller of a connection that is watched.
pub(super) fn controllers(
    kind: ControllerKind,
    seed: u64,
    watch: &Arc<Watch>,
) -> Arc<dyn quic::controller::Controllers> {
    quic::controller::factory(kind, seed, Some(watch.clone()))
}
