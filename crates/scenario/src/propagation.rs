//! The propagation delays of paths and flows.
//!
//! A path's `rtt` is the RTprop of the flows without their own. All flows share the delay of the links. The rest is
//! each flow's own path to the first link, its access. If every flow's RTprop is at least that of the hops that it
//! crosses, links have the path's delays. If one's is shorter, all links are shorter in the same proportion, and the
//! other flows' access is longer instead: no flow's RTprop changes.

use units::Duration;

use super::buffer::BufferSpec;
use super::flow::FlowSpec;
use super::path_spec::PathSpec;
use super::scenario::Scenario;

impl Scenario {
    /// A flow's RTprop at the start: its own, or that of the hops that it crosses.
    pub fn rtprop(&self, flow: &FlowSpec) -> Duration {
        flow.rtt.unwrap_or_else(|| self.crossed_rtt(flow))
    }

    /// The delays of links, both directions together, one for each hop.
    pub fn link_delays(&self) -> Vec<Duration> {
        // The greatest reduction that any flow needs, as a fraction.
        let mut factor = (1, 1);
        for flow in &self.flows {
            let (own, crossed) = (self.rtprop(flow), self.crossed_rtt(flow));
            let (own, crossed) = (u128::from(own.as_nanos()), u128::from(crossed.as_nanos()));
            if own * factor.1 < factor.0 * crossed {
                factor = (own, crossed);
            }
        }
        let reduced = |rtt: Duration| {
            let nanos = u128::from(rtt.as_nanos()) * factor.0 / factor.1;
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        self.hops().map(|hop| reduced(hop.rtt)).collect()
    }

    /// The part of a flow's RTprop that is outside the links that it crosses.
    pub fn access_delay(&self, flow: &FlowSpec, link_delays: &[Duration]) -> Duration {
        let shared = self
            .crossed(flow)
            .filter_map(|(place, _)| link_delays.get(place))
            .fold(Duration::ZERO, |sum, delay| sum + *delay);
        self.rtprop(flow).saturating_sub(shared)
    }

    fn crossed_rtt(&self, flow: &FlowSpec) -> Duration {
        self.crossed(flow)
            .fold(Duration::ZERO, |sum, (_, hop)| sum + hop.rtt)
    }
}

impl PathSpec {
    /// Returns the path with links of this delay, both directions together. Its buffer and its changes keep their
    /// meanings.
    pub fn with_link_delay(&self, delay: Duration) -> PathSpec {
        let mut path = self.clone();
        let fixed = |buffer, bytes: Option<units::Bytes>| match (buffer, bytes) {
            (Some(BufferSpec::Bdp { .. }), Some(bytes)) => Some(BufferSpec::Bytes(bytes)),
            _ => buffer,
        };
        path.data.buffer = fixed(self.data.buffer, self.buffer_bytes());
        path.uplink.buffer = fixed(self.uplink.buffer, self.uplink.buffer_bytes(self.rtt));
        path.forward_delay = self.forward_delay.map(|_| self.forward(delay));
        path.rtt = delay;
        for change in &mut path.data.changes {
            change.rtt = change.rtt.map(|rtt| (delay + rtt).saturating_sub(self.rtt));
        }
        path
    }
}
