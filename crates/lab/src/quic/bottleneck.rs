//! The emulated path under the flows.

use std::net::{Ipv4Addr, SocketAddr};

use emulator::{DirectionCounters, Relay, RelayConfig, RelayCounters, Sharing};
use record::PathTotals;
use scenario::Scenario;
use simulate::Hops;
use units::{Bytes, Duration};

use crate::error::EngineError;

/// The path to the receiver: a relay, or `None` if the path changes nothing.
pub(super) struct Bottleneck {
    relay: Option<Relay>,
    address: SocketAddr,
    hops: Hops,
    /// The latest end of the run.
    end: Option<Duration>,
}

impl Bottleneck {
    /// Starts a path to `server`.
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
            hops: Hops::of(&scenario.network()),
            end: scenario.duration,
        })
    }

    /// The address to which flows send.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Records queue and counters. Nothing is recorded after the end of the run, when flows may still wait for their
    /// receiver.
    pub fn sample(&mut self, at: Duration) {
        let Some(relay) = &self.relay else { return };
        if self.end.is_some_and(|end| at > end) {
            return;
        }
        let (queued, totals) = (relay.queued(), totals(&relay.counters()));
        self.hops.sample(at, |_| queued);
        self.hops.note(at, |_| totals);
    }

    /// Takes the path down and returns its observations.
    pub fn finish(mut self) -> Hops {
        if let Some(relay) = self.relay {
            // The kernel's drops are known only now.
            self.hops.overflows(relay.stop().overflows());
        }
        self.hops
    }
}

fn totals(counters: &RelayCounters) -> PathTotals {
    let forward = &counters.forward;
    let sum = |of: fn(&DirectionCounters) -> u64| of(forward) + of(&counters.reverse);
    PathTotals {
        packets: None,
        transmitted: Bytes::new(forward.transmitted_bytes),
        drops: Some(forward.buffer_drops + forward.policer_drops),
        marks: Some(forward.marked_packets),
        random_losses: Some(forward.random_losses),
        corrupted: Some(forward.corrupted_packets),
        too_big: Some(forward.too_big_packets),
        late_packets: Some(sum(|way| way.late_packets)),
        released_packets: Some(sum(|way| way.delivered_packets)),
        lateness: Some(Duration::from_nanos(sum(|way| way.lateness_total_ns))),
        overflows: Some(counters.overflows()),
    }
}

#[cfg(test)]
mod tests {
    use record::{PathRecorder, Validity};
    use scenario::PathSpec;

    use super::*;

    /// Lateness of a relay, in either direction, makes the record untrusted.
    #[test]
    fn a_late_relay_makes_a_record_that_is_not_to_be_trusted() {
        for (late, mean, is_trusted) in [(0, 50, true), (300, 50, false), (0, 250, false)] {
            let mut counters = RelayCounters::default();
            counters.forward.delivered_packets = 4_000;
            counters.forward.late_packets = late;
            counters.reverse.delivered_packets = 1_000;
            counters.reverse.lateness_total_ns = 5_000 * mean * 1_000;
            let mut spec = PathSpec::default();
            spec.set("rtt", "40ms").unwrap();
            let mut recorder = PathRecorder::new(spec, Duration::ZERO);
            let end = Duration::from_secs(1);
            recorder.totals(end, totals(&counters));
            let (summary, _) = recorder.finish(end, 1.0);
            let validity = Validity::of(std::iter::once(&summary));
            assert_eq!(validity.is_trusted, Some(is_trusted), "{validity:?}");
            assert_eq!(validity.warning().is_some(), !is_trusted);
        }
    }
}
