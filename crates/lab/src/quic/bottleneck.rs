//! The emulated path under the flows, and what is seen of it.

use std::net::{Ipv4Addr, SocketAddr};

use emulator::{DirectionCounters, Relay, RelayConfig, RelayCounters, Sharing};
use record::PathTotals;
use scenario::Scenario;
use units::{Bytes, Duration};

use crate::error::EngineError;
use crate::hops::Hops;

/// The path to the receiver: a relay, or nothing if it would do nothing.
pub(super) struct Bottleneck {
    relay: Option<Relay>,
    address: SocketAddr,
    hops: Hops,
    /// When the run ends at the latest.
    end: Option<Duration>,
}

impl Bottleneck {
    /// A path to `server`.
    pub fn start(scenario: &Scenario, server: SocketAddr) -> Result<Bottleneck, EngineError> {
        let path = scenario.path.config()?;
        let config = RelayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            to: server,
            path,
            seed: scenario.seed,
            sharing: Sharing::OneBottleneck,
        };
        let needed = Some(config).filter(|_| !scenario.path.is_transparent());
        let relay = needed.map(Relay::start).transpose()?;
        Ok(Bottleneck {
            address: relay.as_ref().map_or(server, Relay::local_addr),
            relay,
            hops: Hops::of(scenario),
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
        let (queued, totals) = (relay.queued(), totals(&relay.counters()));
        self.hops.look(at, |_| queued);
        self.hops.note(at, |_| totals);
    }

    /// Takes the path down; what was seen of it.
    pub fn finish(mut self) -> Hops {
        if let Some(relay) = self.relay {
            // What the kernel threw away is known only now.
            self.hops.overflows(relay.stop().socket_overflows);
        }
        self.hops
    }
}

fn totals(counters: &RelayCounters) -> PathTotals {
    let forward = &counters.forward;
    let sum = |of: fn(&DirectionCounters) -> u64| of(forward) + of(&counters.reverse);
    PathTotals {
        transmitted: Bytes::new(forward.transmitted_bytes),
        drops: Some(forward.buffer_drops + forward.policer_drops),
        marks: Some(forward.marked_packets),
        random_losses: Some(forward.random_losses),
        late_packets: Some(sum(|way| way.late_packets)),
        released_packets: Some(sum(|way| way.delivered_packets)),
        lateness: Some(Duration::from_nanos(sum(|way| way.lateness_total_ns))),
        overflows: Some(counters.socket_overflows),
    }
}
