//! One flow: carried, watched and recorded.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use congestion::{AnyController, ControllerKind, State};
use quic::bulk::{self, BulkError, Outcome, Payload};
use quic::endpoint::Fingerprint;
use quic::observer::{Observer, Sample};
use units::{Bytes, Duration, Rate, Time};

use super::{EngineError, Progress};
use record::{FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowSummary, FlowTotals, Transfer};
use scenario::Scenario;

/// IPv4 and UDP.
pub(super) const IP_HEADERS: u16 = 28;

/// The datagram size that path MTU discovery ends at on an Ethernet (1500 bytes) or any larger packet size, unless the
/// flow tells its own.
const USUAL_DATAGRAM: u16 = 1452;

/// The rate that progress tells is a mean over the last so many tellings: half a second.
const RECENT: usize = 10;

/// How long a flow that was cut off waits for the receiver to say what had arrived. The way there leads through
/// whatever still waits at the bottleneck, which may be a lot.
const LAST_WORD: Duration = Duration::from_secs(2);

/// One flow of a run.
pub(super) struct Flow {
    id: usize,
    controller: ControllerKind,
    payload: Payload,
    /// When it should start, from the start of the run.
    planned: Duration,
    duration: Option<Duration>,
    seed: u64,
    begin: Instant,
    /// When it started.
    started: OnceLock<Duration>,
    /// How it ended, once it has.
    ended: OnceLock<Option<Outcome>>,
    seen: Mutex<Seen>,
}

/// What has been seen of a flow so far.
struct Seen {
    recorder: FlowRecorder,
    rtt: Option<Duration>,
    state: Option<State>,
    totals: FlowTotals,
    /// Times and payloads of the last tellings of progress.
    recent: VecDeque<(Duration, Bytes)>,
}

impl Flow {
    pub fn new(
        id: usize,
        controller: ControllerKind,
        start: Duration,
        payload: Payload,
        scenario: &Scenario,
        flows: usize,
        begin: Instant,
    ) -> Flow {
        Flow {
            id,
            controller,
            payload,
            planned: start,
            duration: scenario.duration,
            seed: scenario.seed.wrapping_add(id as u64),
            begin,
            started: OnceLock::new(),
            ended: OnceLock::new(),
            seen: Mutex::new(Seen {
                recorder: FlowRecorder::new(scenario.warmup, flows),
                rtt: None,
                state: None,
                totals: FlowTotals::default(),
                recent: VecDeque::new(),
            }),
        }
    }

    /// Waits for the flow's start and carries it through.
    pub async fn carry(
        self: Arc<Flow>,
        to: SocketAddr,
        fingerprint: Fingerprint,
    ) -> Result<(), EngineError> {
        if let Some(start) = self.begin.checked_add(self.planned.into()) {
            tokio::time::sleep_until(start.into()).await;
        }
        let start = *self.started.get_or_init(|| self.begin.elapsed().into());
        let controller = self.controller;
        let flow = bulk::Flow {
            server: to,
            fingerprint,
            controllers: quic::controller::factory_with(
                move |connection| AnyController::new(controller, connection),
                self.seed,
                Some(self.clone()),
            ),
            payload: self.payload.clone(),
            deadline: self
                .duration
                .map(|duration| duration.saturating_sub(start).into()),
        };
        let outcome = match self.in_time(bulk::send(flow)).await {
            Some(Ok(outcome)) => Some(outcome),
            // The path let nothing through in time: a result like any other.
            None | Some(Err(BulkError::NoHandshake)) => None,
            Some(Err(source)) => {
                let (flow, has_heard) = (self.id, self.seen().rtt.is_some());
                return Err(match source {
                    BulkError::Connection(source) if !has_heard => EngineError::NoAnswer {
                        flow,
                        controller: controller.into(),
                        reason: source.to_string(),
                    },
                    source => EngineError::Flow {
                        flow,
                        controller: controller.into(),
                        source,
                    },
                });
            }
        };
        // A flow that was cut off keeps what its ACKs had told by then: what the receiver reports includes what was in
        // flight at that time, and came later.
        if let Some(outcome) = outcome.as_ref().filter(|outcome| outcome.is_complete) {
            let mut seen = self.seen();
            seen.totals = FlowTotals {
                payload: Bytes::new(outcome.bytes),
                sent: Some(Bytes::new(outcome.stats.bytes_sent)),
                retransmitted: Some(Bytes::new(outcome.stats.bytes_lost)),
                packets_lost: Some(outcome.stats.packets_lost),
                ..seen.totals
            };
            let (at, totals) = (start + outcome.elapsed.into(), seen.totals);
            seen.recorder.totals(at, totals);
        }
        let _ = self.ended.set(outcome);
        Ok(())
    }

    /// The output of a sending future, or `None` if it is still not there some time after the end of the run.
    async fn in_time<F: Future>(&self, sending: F) -> Option<F::Output> {
        let limit = self.duration.map(|duration| duration + LAST_WORD);
        match limit.and_then(|limit| self.begin.checked_add(limit.into())) {
            Some(limit) => tokio::time::timeout_at(limit.into(), sending).await.ok(),
            None => Some(sending.await),
        }
    }

    fn started(&self) -> Duration {
        self.started.get().copied().unwrap_or(self.planned)
    }

    fn outcome(&self) -> Option<&Outcome> {
        self.ended.get()?.as_ref()
    }

    /// When the last byte had arrived, if the flow has an end and reached it.
    pub fn completed(&self) -> Option<Duration> {
        let outcome = self.outcome().filter(|outcome| outcome.is_complete)?;
        Some(self.started() + outcome.elapsed.into())
    }

    /// The size of its full datagrams.
    pub fn datagram_size(&self) -> u16 {
        self.outcome()
            .map_or(USUAL_DATAGRAM, |outcome| outcome.stats.datagram_size)
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        let at = Duration::from(self.begin.elapsed());
        let is_done = self.ended.get().is_some();
        let mut seen = self.seen();
        let payload = seen.totals.payload;
        let (since, before) = match is_done {
            true => (self.started(), Bytes::ZERO),
            false => seen
                .recent
                .front()
                .copied()
                .unwrap_or((self.started(), Bytes::ZERO)),
        };
        let until = match self.outcome() {
            Some(outcome) => self.started() + outcome.elapsed.into(),
            None => self.duration.map_or(at, |duration| at.min(duration)),
        };
        seen.recent.push_back((at, payload));
        if seen.recent.len() > RECENT {
            seen.recent.pop_front();
        }
        Progress {
            flow: self.id,
            controller: self.controller.into(),
            at: until,
            delivered: payload,
            total: self.payload.len().map(Bytes::new),
            rate: Rate::from_transfer(payload - before, until.saturating_sub(since)),
            rtt: seen.rtt,
            state: seen.state,
            is_done,
        }
    }

    /// What it had to transfer, if it has an end.
    pub fn transfer(&self) -> Option<Transfer> {
        Some(Transfer {
            flow: self.id,
            controller: self.controller.into(),
            start: self.started(),
            bytes: Bytes::new(self.payload.len()?),
            completed: self.completed(),
        })
    }

    /// Its summary and samples, after a run that ended at `end`.
    pub fn finish(&self, end: Duration) -> (FlowSummary, FlowRecord) {
        let span = FlowSpan {
            id: self.id,
            controller: self.controller.into(),
            start: self.started(),
            completed: self.completed(),
        };
        self.seen().recorder.clone().finish(span, end)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // Nothing that holds the lock can leave it half-done.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Flow {
    fn on_sample(&self, sample: &Sample) {
        let at = self.started() + sample.time.since(Time::ZERO);
        if self.duration.is_some_and(|duration| at > duration) {
            return;
        }
        let snapshot = &sample.snapshot;
        // Until the receiver tells, the payload is what the acknowledged packets carry when they are full ones.
        let share = bulk::payload_share(USUAL_DATAGRAM, 0);
        let payload = Bytes::new((sample.rate.total_delivered.get() as f64 * share) as u64);
        let mut seen = self.seen();
        seen.rtt = sample.rtt.or(seen.rtt);
        seen.state = Some(snapshot.state);
        if self.ended.get().is_none() {
            seen.totals = FlowTotals {
                payload: self
                    .payload
                    .len()
                    .map_or(payload, |len| payload.min(Bytes::new(len))),
                sent: Some(sample.sent),
                retransmitted: Some(sample.rate.total_lost),
                packets_lost: Some(sample.packets_lost),
                timeouts: Some(sample.timeouts),
                spurious_recoveries: Some(sample.undone),
                // The QUIC stack tells of neither.
                ecn_marks: None,
                tail_loss_probes: None,
                busy: None,
            };
            let totals = seen.totals;
            seen.recorder.totals(at, totals);
        }
        seen.recorder.sample(FlowSample {
            at,
            rtt: sample.rtt,
            srtt: sample.srtt,
            delivery_rate: sample.rate.delivery_rate,
            inflight: sample.inflight,
            below_tcp: None,
            cwnd: snapshot.cwnd,
            ssthresh: snapshot.ssthresh,
            pacing_rate: snapshot.pacing_rate,
            btl_bw: snapshot.btl_bw,
            rt_prop: snapshot.rt_prop,
            state: Some(snapshot.state),
            delivered: sample.rate.total_delivered,
            lost: sample.rate.total_lost,
            is_app_limited: Some(sample.rate.is_app_limited),
            busy: None,
        });
    }
}
