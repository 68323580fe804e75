//! One flow: sent, observed and recorded.

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
use simulate::Progress;
use simulate::flow::{self, Flow};
use units::{Bytes, Duration, Time};

use super::limiting::Limiting;
use crate::error::EngineError;

/// The headers of IPv4 and UDP, in bytes.
pub(super) const IP_HEADERS: u16 = 28;

/// The datagram size at which path MTU discovery ends on Ethernet (1500 bytes) or any larger MTU, until the flow
/// reports its own.
const USUAL_DATAGRAM: u16 = 1452;

/// The time that a flow that was cut off waits for the receiver's final report. The report follows all data that wait
/// at the bottleneck, which may be a lot.
const REPORT_TIMEOUT: Duration = Duration::from_secs(2);

/// A flow that is being sent.
pub(super) struct Sending {
    controller: Settings,
    payload: Payload,
    duration: Option<Duration>,
    seed: u64,
    begin: Instant,
    observed: Mutex<Observed>,
}

/// The observed state of a flow.
struct Observed {
    flow: Flow,
    /// The size of its full datagrams, in bytes.
    datagram_size: u16,
    /// The lateness of its departures, once it has started.
    punctuality: Option<Punctuality>,
    limiting: Limiting,
}

/// A copy of the observed state of a flow.
pub(super) struct Observation {
    pub flow: Flow,
    /// The size of its full datagrams, in bytes.
    pub datagram_size: u16,
    /// The lateness of its departures so far, however the flow ended.
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
            observed: Mutex::new(Observed {
                flow,
                datagram_size: USUAL_DATAGRAM,
                punctuality: None,
                limiting: Limiting::default(),
            }),
        }
    }

    /// Waits for the flow's start, then sends it.
    pub async fn carry(
        self: Arc<Sending>,
        thread: bulk::SendingThread,
        to: SocketAddr,
        fingerprint: Fingerprint,
    ) -> Result<(), EngineError> {
        let planned = self.observed().flow.span().start;
        if let Some(start) = self.begin.checked_add(planned.into()) {
            tokio::time::sleep_until(start.into()).await;
        }
        let start = Duration::from(self.begin.elapsed());
        self.observed().flow.start(start);
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
        let watch = |punctuality| self.observed().punctuality = Some(punctuality);
        match self.in_time(thread.send_watched(flow, watch)).await {
            Some(Ok(outcome)) => self.end(&outcome),
            // A path that lets nothing through in time is a result like any other.
            None | Some(Err(BulkError::NoHandshake)) => {}
            Some(Err(source)) => return Err(self.broken(source)),
        }
        self.observed().flow.give_up();
        Ok(())
    }

    /// Records the end. A flow that was cut off keeps the counters of its ACKs: the receiver's report also includes
    /// data that were in flight at that time and arrived later.
    fn end(&self, outcome: &Outcome) {
        let Observed {
            flow,
            datagram_size,
            ..
        } = &mut *self.observed();
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
            let observed = self.observed();
            (observed.flow.span(), observed.flow.has_heard())
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

    /// The output of a sending future, or `None` if it is still pending some time after the end of the run.
    async fn in_time<F: Future>(&self, sending: F) -> Option<F::Output> {
        let limit = self.duration.map(|duration| duration + REPORT_TIMEOUT);
        match limit.and_then(|limit| self.begin.checked_add(limit.into())) {
            Some(limit) => tokio::time::timeout_at(limit.into(), sending).await.ok(),
            None => Some(sending.await),
        }
    }

    /// A copy of the observed state.
    pub fn observation(&self) -> Observation {
        let observed = self.observed();
        Observation {
            flow: observed.flow.clone(),
            datagram_size: observed.datagram_size,
            lateness: observed
                .punctuality
                .as_ref()
                .map_or(Lateness::default(), Punctuality::lateness),
        }
    }

    /// The progress now.
    pub fn progress(&self) -> Progress {
        let at = Duration::from(self.begin.elapsed());
        let at = self.duration.map_or(at, |duration| at.min(duration));
        self.observed().flow.progress(at)
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        // No holder of the lock can leave the state inconsistent.
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Sending {
    fn on_sample(&self, sample: &Sample) {
        let observed = &mut *self.observed();
        let at = observed.flow.span().start + sample.time.since(Time::ZERO);
        if self.duration.is_some_and(|duration| at > duration) {
            return;
        }
        // Until the receiver reports, the payload is estimated as that of full packets.
        let share = bulk::payload_share(USUAL_DATAGRAM, 0);
        let carried = |bytes: Bytes| (bytes.get() as f64 * share) as u64;
        let most = self.payload.len().unwrap_or(u64::MAX);
        let is_all_sent = carried(sample.rate.total_delivered + sample.inflight) >= most;
        observed
            .limiting
            .note(at, sample.limit, sample.inflight, is_all_sent);
        let limits = observed.limiting.limits();
        let flow = &mut observed.flow;
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
                // The QUIC stack reports neither marks nor tail loss probes.
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
