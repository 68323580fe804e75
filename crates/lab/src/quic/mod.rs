//! Real QUIC over real UDP packets through an emulated path, all on this machine.
//!
//! There is one receiver, one relay with the path, and a socket for each flow, on loopback. Receiver and relay have a
//! thread each; all flows share a third. Rates and times are those of real time, so load on the machine affects them.
//!
//! # The effect of late threads on BBR
//!
//! When the sender, the receiver or the relay gets its processor late, ACKs are late. The delivery-rate samples that
//! start with a late ACK are too high, by its lateness as a share of the RTT, and BtlBw is the highest sample of ten
//! rounds. BBR paces 1 % below BtlBw, which compensates a lateness of 1 % of the RTT: 0.4 ms of 40 ms. With more
//! lateness, the RTT rises towards the limit of the congestion window (twice RTprop and a little more); goodput
//! hardly changes.
//!
//! In virtual time, where nothing else is late, ACKs that come up to 0.5, 1 and 2 ms late (evenly spread) give `bbr1`
//! a median RTT of 42, 59 and 90 ms at 10 Mbit/s and 40 ms, and of 100.5, 101 and 108 ms at 100 Mbit/s and 100 ms. So
//! compare RTTs on an idle machine. Raising the priority of a run helps little where Linux groups processes by
//! session (`sched(7)`, "The autogroup feature"): a nice value counts only within the group.

mod bottleneck;
mod limiting;
mod limits;
mod sending;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use quic::bulk;
use record::{Departures, FlowTotals, Record};
use scenario::{FlowSpec, Scenario};
use simulate::{Flow, Flows, Outcome, Progress};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use units::Duration;

use crate::engine::{Cancel, Engine};
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use bottleneck::Bottleneck;
pub use limiting::Limiting;
pub(crate) use limits::LIMITS;
use sending::{IP_HEADERS, Observation, Sending};

/// The interval at which the queue is sampled: short enough for the shortest queue of interest.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(5);

/// The threads of the runtime, shared by senders and receiver.
const THREADS: usize = 2;

/// Progress is reported at every tenth poll: twenty times a second.
const POLLS_PER_PROGRESS: u64 = 10;

/// The engine `quic`.
///
/// Every flow of the scenario goes through one path, data one way and ACKs the other. A path that changes nothing is
/// left out, and nothing is then recorded of it.
#[derive(Debug, Clone, Default)]
pub struct Quic {
    payload: Option<Bytes>,
}

impl Quic {
    /// Creates the engine, with flows that carry pseudorandom data.
    pub fn new() -> Quic {
        Quic::default()
    }

    /// Creates the engine, with flows that carry this data, or as much of it as their `bytes` say.
    pub fn carrying(payload: Bytes) -> Quic {
        Quic {
            payload: Some(payload),
        }
    }
}

impl Engine for Quic {
    fn kind(&self) -> EngineKind {
        EngineKind::Quic
    }

    fn check(&self, scenario: &Scenario) -> Result<(), EngineError> {
        scenario.check()?;
        Ok(limits::check(scenario)?)
    }

    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        self.check(scenario)?;
        let runtime = crate::runtime(THREADS)?;
        let record = runtime.block_on(self.observe(scenario, watch, cancel));
        // Computations of cancelled flows may still run; nobody needs them.
        runtime.shutdown_background();
        record
    }
}

impl Quic {
    async fn observe(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let server = bulk::serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let mut bottleneck = Bottleneck::start(scenario, server.address())?;
        let begin = Instant::now();
        let sendings = self.sendings(scenario, begin)?;
        let thread = bulk::SendingThread::start()?;
        let mut running = JoinSet::new();
        for sending in sendings.iter().cloned() {
            let thread = thread.clone();
            running.spawn(sending.carry(thread, bottleneck.address(), server.fingerprint()));
        }
        let tell = || {
            sendings
                .iter()
                .for_each(|sending| watch(sending.progress()))
        };
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut count = 0u64;
        let is_partial = loop {
            tokio::select! {
                () = cancel.cancelled() => break true,
                ended = running.join_next() => match ended {
                    Some(ended) => ended.map_err(std::io::Error::other)??,
                    None => break false,
                },
                _ = polls.tick() => {
                    check(server.is_running())?;
                    bottleneck.sample(begin.elapsed().into());
                    count += 1;
                    if count.is_multiple_of(POLLS_PER_PROGRESS) {
                        tell();
                    }
                }
            }
        };
        running.abort_all();
        check(server.is_running())?;
        let now = Duration::from(begin.elapsed());
        bottleneck.sample(now);
        let seen: Vec<Observation> = sendings
            .iter()
            .map(|sending| sending.observation())
            .collect();
        let senders = departures(&seen);
        let datagram = seen
            .iter()
            .map(|seen| seen.datagram_size)
            .max()
            .unwrap_or(0);
        let flows = seen.into_iter().map(|seen| seen.flow).collect();
        let mut flows = Flows::of(scenario, flows);
        flows.note_whole_transfers();
        let network = scenario.network();
        let outcome = Outcome {
            network: &network,
            engine: self.kind().name(),
            wall: begin.elapsed(),
            at: scenario.duration.filter(|_| !is_partial).unwrap_or(now),
            is_partial,
            payload_share: bulk::payload_share(datagram, IP_HEADERS),
            hops: bottleneck.finish(),
            flows,
        };
        Ok(outcome.record(watch).with_senders(&senders))
    }

    /// Creates all flows.
    fn sendings(
        &self,
        scenario: &Scenario,
        begin: Instant,
    ) -> Result<Vec<Arc<Sending>>, EngineError> {
        let controllers = limits::controllers(scenario)?;
        let flows = Flow::all(scenario, FlowTotals::default())
            .into_iter()
            .zip(controllers);
        let sending = |((flow, controller), (spec, _)): ((Flow, _), (&FlowSpec, _))| {
            let payload = self.payload(scenario, flow.span().id, spec.bytes);
            Arc::new(Sending::new(flow, controller, payload, scenario, begin))
        };
        Ok(flows.zip(scenario.each_flow()).map(sending).collect())
    }

    fn payload(
        &self,
        scenario: &Scenario,
        id: usize,
        bytes: Option<units::Bytes>,
    ) -> bulk::Payload {
        let bytes = bytes.map(units::Bytes::get);
        let wanted = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        match (&self.payload, wanted) {
            (Some(data), Some(wanted)) if wanted <= data.len() => {
                bulk::Payload::Given(data.slice(..wanted))
            }
            _ => bulk::Payload::Synthetic {
                seed: scenario.seed.wrapping_add(id as u64),
                bytes,
            },
        }
    }
}

/// Fails if the receiver has stopped, whatever arrived before.
fn check(is_receiving: bool) -> Result<(), EngineError> {
    if is_receiving {
        Ok(())
    } else {
        Err(EngineError::NoReceiver)
    }
}

/// The lateness of all flows' departures together.
fn departures(seen: &[Observation]) -> Departures {
    let mut all = Departures::default();
    for Observation { lateness, .. } in seen {
        all.packets += lateness.datagrams;
        all.late += lateness.late;
        all.lateness = all.lateness + Duration::from(lateness.total);
    }
    all
}
