//! One flow: carried, watched and recorded.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use congestion::{AnyController, Settings};
use quic::Lateness;
use quic::bulk::{self, BulkError, Outcome, Payload, Punctuality};
use quic::endpoint::Fingerprint;
use quic::observer::{Observer, Sample};
use record::{FlowSample, FlowTotals};
use scenario::Scenario;
use units::{Bytes, Duration, Time};

use super::limiting::Limiting;
use crate::engine::Progress;
use crate::error::EngineError;
use crate::flow::{self, Flow};

/// IPv4 and UDP.
pub(super) const IP_HEADERS: u16 = 28;

/// The datagram size that path MTU discovery ends at on an Ethernet (1500 bytes) or any larger packet size, unless the
/// flow tells its own.
const USUAL_DATAGRAM: u16 = 1452;

/// How long a flow that was cut off waits for the receiver to say what had arrived. The way there leads through
/// whatever still waits at the bottleneck, which may be a lot.
const LAST_WORD: Duration = Duration::from_secs(2);

/// A flow that is being sent.
pub(super) struct Sending {
    controller: Settings,
    payload: Payload,
    duration: Option<Duration>,
    seed: u64,
    begin: Instant,
    seen: Mutex<Seen>,
}

/// What has been seen of a flow so far.
struct Seen {
    flow: Flow,
    /// The size of its full datagrams.
    datagram_size: u16,
    /// How late they leave, once it has begun.
    punctuality: Option<Punctuality>,
    limiting: Limiting,
}

/// What was seen of a flow so far.
pub(super) struct SoFar {
    pub flow: Flow,
    /// The size of its full datagrams.
    pub datagram_size: u16,
    /// How late they have left so far, however the flow ended.
    pub lateness: Lateness,
}

impl Sending {
    pub fn new(
        flow: Flow,
        controller: Settings,
        payload: Payload,
        scenario: &Scenario,
        begin: Instant,
    ) -> Sending {
        Sending {
            controller,
            payload,
            duration: scenario.duration,
            seed: scenario.seed.wrapping_add(flow.span().id as u64),
            begin,
            seen: Mutex::new(Seen {
                flow,
                datagram_size: USUAL_DATAGRAM,
                punctuality: None,
                limiting: Limiting::default(),
            }),
        }
    }

    /// Waits for the flow's start and carries it through.
    pub async fn carry(
        self: Arc<Sending>,
        thread: bulk::SendingThread,
        to: SocketAddr,
        fingerprint: Fingerprint,
    ) -> Result<(), EngineError> {
        let planned = self.seen().flow.span().start;
        if let Some(start) = self.begin.checked_add(planned.into()) {
            tokio::time::sleep_until(start.into()).await;
        }
        let start = Duration::from(self.begin.elapsed());
        self.seen().flow.start(start);
        let controller = self.controller;
        let left = |duration: Duration| duration.saturating_sub(start).into();
        let flow = bulk::Flow {
            server: to,
            fingerprint,
            controllers: quic::controller::factory_with(
                move |connection| AnyController::new(controller, connection),
                self.seed,
                Some(self.clone()),
            ),
            payload: self.payload.clone(),
            deadline: self.duration.map(left),
        };
        let watch = |punctuality| self.seen().punctuality = Some(punctuality);
        match self.in_time(thread.send_watched(flow, watch)).await {
            Some(Ok(outcome)) => self.end(&outcome),
            // The path let nothing through in time: a result like any other.
            None | Some(Err(BulkError::NoHandshake)) => {}
            Some(Err(source)) => return Err(self.broken(source)),
        }
        self.seen().flow.give_up();
        Ok(())
    }

    /// Notes how it ended. A flow that was cut off keeps what its ACKs had told by then: what the receiver reports includes
    /// what was in flight at that time, and came later.
    fn end(&self, outcome: &Outcome) {
        let Seen {
            flow,
            datagram_size,
            ..
        } = &mut *self.seen();
        *datagram_size = outcome.stats.datagram_size;
        if outcome.is_complete {
            let at = flow.span().start + outcome.elapsed.into();
            let totals = FlowTotals {
                payload: Bytes::new(outcome.bytes),
                sent: Some(Bytes::new(outcome.stats.bytes_sent)),
                retransmitted: Some(Bytes::new(outcome.stats.bytes_lost)),
                packets_lost: Some(outcome.stats.packets_lost),
                ..flow.totals
            };
            flow.note(at, totals);
            flow.complete(at);
        }
    }

    fn broken(&self, source: BulkError) -> EngineError {
        let (span, has_heard) = {
            let seen = self.seen();
            (seen.flow.span(), seen.flow.has_heard())
        };
        let (flow, controller) = (span.id, span.controller);
        match source {
            BulkError::Connection(source) if !has_heard => EngineError::NoAnswer {
                flow,
                controller,
                reason: source.to_string(),
            },
            source => EngineError::Flow {
                flow,
                controller,
                source,
            },
        }
    }

    /// The output of a sending future, or `None` if it is still not there some time after the end of the run.
    async fn in_time<F: Future>(&self, sending: F) -> Option<F::Output> {
        let limit = self.duration.map(|duration| duration + LAST_WORD);
        match limit.and_then(|limit| self.begin.checked_add(limit.into())) {
            Some(limit) => tokio::time::timeout_at(limit.into(), sending).await.ok(),
            None => Some(sending.await),
        }
    }

    /// What was seen of it so far.
    pub fn so_far(&self) -> SoFar {
        let seen = self.seen();
        SoFar {
            flow: seen.flow.clone(),
            datagram_size: seen.datagram_size,
            lateness: seen
                .punctuality
                .as_ref()
                .map_or(Lateness::default(), Punctuality::lateness),
        }
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        let at = Duration::from(self.begin.elapsed());
        let at = self.duration.map_or(at, |duration| at.min(duration));
        self.seen().flow.progress(at)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // Nothing that holds the lock can leave it half-done.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Sending {
    fn on_sample(&self, sample: &Sample) {
        let seen = &mut *self.seen();
        let at = seen.flow.span().start + sample.time.since(Time::ZERO);
        if self.duration.is_some_and(|duration| at > duration) {
            return;
        }
        // Until the receiver tells, the payload is what the acknowledged packets carry when they are full ones.
        let share = bulk::payload_share(USUAL_DATAGRAM, 0);
        let carried = |bytes: Bytes| (bytes.get() as f64 * share) as u64;
        let most = self.payload.len().unwrap_or(u64::MAX);
        let is_all_sent = carried(sample.rate.total_delivered + sample.inflight) >= most;
        seen.limiting
            .note(at, sample.limit, sample.inflight, is_all_sent);
        let limits = seen.limiting.limits();
        let flow = &mut seen.flow;
        if !flow.is_over() {
            let payload = carried(sample.rate.total_delivered);
            let totals = FlowTotals {
                payload: Bytes::new(payload.min(most)),
                sent: Some(sample.sent),
                retransmitted: Some(sample.rate.total_lost),
                packets_lost: Some(sample.packets_lost),
                timeouts: Some(sample.timeouts),
                spurious_recoveries: Some(sample.undone),
                limits: Some(limits),
                // The QUIC stack tells neither of marks nor of tail loss probes.
                ..FlowTotals::default()
            };
            flow.note(at, totals);
        }
        flow.sample(FlowSample {
            rtt: sample.rtt,
            srtt: sample.srtt,
            delivery_rate: sample.rate.delivery_rate,
            inflight: sample.inflight,
            delivered: sample.rate.total_delivered,
            lost: sample.rate.total_lost,
            is_app_limited: Some(sample.rate.is_app_limited),
            limits: Some(limits),
            ..flow::sample(at, &sample.snapshot)
        });
    }
}
