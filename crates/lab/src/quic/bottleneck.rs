//! The emulated path under the flows, and what is seen of it.

use std::net::{Ipv4Addr, SocketAddr};

use emulator::{Relay, RelayConfig, RelayCounters, Sharing};
use units::{Bytes, Duration};

use super::EngineError;
use record::{PathRecord, PathRecorder, PathSample, PathSummary, PathTotals};
use scenario::Scenario;

/// The path to the receiver: a relay, or nothing if it would do nothing.
pub(super) struct Bottleneck {
    relay: Option<Relay>,
    address: SocketAddr,
    recorder: PathRecorder,
    /// When the run ends at the latest.
    end: Option<Duration>,
}

impl Bottleneck {
    /// A path to `server`.
    pub fn start(scenario: &Scenario, server: SocketAddr) -> Result<Bottleneck, EngineError> {
        let path = scenario.path.config()?;
        let relay = match scenario.path.is_transparent() {
            true => None,
            false => Some(Relay::start(RelayConfig {
                listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                to: server,
                path,
                seed: scenario.seed,
                sharing: Sharing::OneBottleneck,
            })?),
        };
        Ok(Bottleneck {
            address: relay.as_ref().map_or(server, Relay::local_addr),
            relay,
            recorder: PathRecorder::new(scenario.path.clone(), scenario.warmup),
            end: scenario.duration,
        })
    }

    /// Where flows send to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Notes what is there to see; nothing after the end of the run, when flows may still wait for their receiver.
    pub fn look(&mut self, at: Duration) {
        let Some(relay) = &self.relay else { return };
        if self.end.is_some_and(|end| at > end) {
            return;
        }
        let (queued, counters) = (relay.queued(), relay.counters());
        let sample = PathSample {
            at,
            queue: queued.bytes,
            delay: queued.delay,
        };
        self.recorder.sample(sample, totals(&counters));
    }

    /// Takes the path down; its summary and samples after a run that ended at `end`.
    pub fn finish(mut self, end: Duration, payload_share: f64) -> (PathSummary, PathRecord) {
        if let Some(relay) = self.relay {
            // What the kernel threw away is known only now.
            let overflows = relay.stop().socket_overflows;
            self.recorder.overflows(overflows);
        }
        self.recorder.finish(end, payload_share)
    }
}

fn totals(counters: &RelayCounters) -> PathTotals {
    let forward = &counters.forward;
    PathTotals {
        transmitted: Bytes::new(forward.transmitted_bytes),
        drops: Some(forward.buffer_drops + forward.policer_drops),
        marks: Some(forward.marked_packets),
        random_losses: Some(forward.random_losses),
        late_packets: Some(forward.late_packets + counters.reverse.late_packets),
        overflows: Some(counters.socket_overflows),
    }
}
