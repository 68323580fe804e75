//! Probes over QUIC.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use congestion::ControllerKind;
use lab::Limiting;
use quic::observer::{Observer, Sample};
use quic::probe::{ProbeError, Prober};
use record::LimitShares;
use units::{Bytes, Duration};

use super::measured::Measured;

/// An open connection, with an observer of its limits.
pub(super) struct QuicLine {
    pub prober: Prober,
    watch: Arc<Watch>,
}

/// An observer of a connection.
pub(super) struct Watch {
    begin: Instant,
    seen: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    limiting: Limiting,
    /// The bytes sent: delivered or in flight.
    gone: Bytes,
    /// The value of `gone` once the probe is sent, or a few packets earlier, since `gone` also counts headers.
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

    /// Sends this many bytes, and waits for the answer.
    pub async fn probe(&self, bytes: u64) -> Result<Measured, ProbeError> {
        {
            let seen = &mut *self.watch.seen();
            seen.target = seen.gone + Bytes::new(bytes);
            seen.limiting.begin(self.watch.begin.elapsed().into());
        }
        let took = self.prober.probe(bytes).await?;
        let limited_by = self.limited_by(took.into());
        Ok(Measured { took, limited_by })
    }

    /// The limits of the sender during a probe. The rest of the time, the application waited for the answer.
    fn limited_by(&self, took: Duration) -> Option<LimitShares> {
        let mut limits = self.watch.seen().limiting.limits();
        let others = limits.receiver + limits.send_buffer + limits.congestion;
        limits.application = took.saturating_sub(others);
        limits.shares_since(None, Duration::ZERO)
    }
}

/// The factory of a watched connection's controller.
pub(super) fn controllers(
    kind: ControllerKind,
    seed: u64,
    watch: &Arc<Watch>,
) -> Arc<dyn quic::controller::Controllers> {
    quic::controller::factory(kind, seed, Some(watch.clone()))
}
