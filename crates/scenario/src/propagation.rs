//! The propagation delays of links and flows.
//!
//! A flow's RTprop is its own `rtt`, or the sum of the delays of the links on its route, in both directions. All flows
//! share the delays of the links. The rest of a flow's RTprop is the delay of its access to the first link.
//!
//! A path's `rtt` is the RTprop of the flows without an `rtt` of their own. If every flow's RTprop is at least the delay
//! of the links that it crosses, the links have the path's delays. If one flow's RTprop is shorter, the delays of all
//! links are reduced in proportion, and the access of the other flows is longer instead: no flow's RTprop changes. The
//! delays of named links are never reduced.

use units::Duration;

use super::buffer::BufferSpec;
use super::network::Network;
use super::path_spec::PathSpec;
use super::route::Route;

impl Network<'_> {
    /// The RTprop of a group's flows at the start: their own `rtt`, or the delay of their route in both directions.
    pub fn rtprop(&self, group: usize) -> Duration {
        let own = self.scenario.flows[group].rtt;
        own.unwrap_or_else(|| self.route_rtt(group))
    }

    /// The sum of the delays of the links on a group's route, in both directions.
    pub(crate) fn route_rtt(&self, group: usize) -> Duration {
        self.along(self.route(group), |link| self.links()[link].rtt)
    }

    /// The delays of the links, both directions together.
    pub fn link_delays(&self) -> Vec<Duration> {
        // The greatest reduction that any flow needs, as a fraction.
        let mut factor = (1, 1);
        for group in 0..self.routes().len() {
            let (own, crossed) = (self.rtprop(group), self.route_rtt(group));
            let (own, crossed) = (u128::from(own.as_nanos()), u128::from(crossed.as_nanos()));
            if own * factor.1 < factor.0 * crossed {
                factor = (own, crossed);
            }
        }
        let reduced = |rtt: Duration| {
            let nanos = u128::from(rtt.as_nanos()) * factor.0 / factor.1;
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        self.links().iter().map(|link| reduced(link.rtt)).collect()
    }

    /// The part of a group's RTprop that is outside the links that it crosses.
    pub fn access_delay(&self, group: usize, link_delays: &[Duration]) -> Duration {
        let shared = self.along(self.route(group), |link| link_delays[link]);
        self.rtprop(group).saturating_sub(shared)
    }

    /// A lower bound on every flow's RTprop at any time. It may be below all of them, because different links need not
    /// change at the same time.
    pub fn least_rtprop(&self) -> Duration {
        let delays = self.link_delays();
        let links = self.links().iter().zip(&delays);
        let least: Vec<Duration> = links
            .map(|(link, delay)| {
                let changed = link.data.changes.iter().filter_map(|change| change.rtt);
                changed
                    .map(|rtt| (*delay + rtt).saturating_sub(link.rtt))
                    .fold(*delay, Duration::min)
            })
            .collect();
        let flows = self.routes().iter().enumerate().map(|(group, route)| {
            self.access_delay(group, &delays) + self.along(route, |link| least[link])
        });
        flows.min().unwrap_or_default()
    }

    /// The sum of the delays along a route, there and back, of links with these delays in both directions together.
    fn along(&self, route: &Route, both: impl Fn(usize) -> Duration) -> Duration {
        let delays = route
            .both()
            .map(|crossing| self.delay(crossing, both(crossing.link)));
        delays.fold(Duration::ZERO, |sum, delay| sum + delay)
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

    /// Returns the opposite direction of the path as one of data: its ACKs are then without settings.
    pub fn turned(&self) -> PathSpec {
        PathSpec {
            data: self.acks(),
            rtt: self.rtt,
            ..PathSpec::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use units::Duration;

    #[test]
    fn the_least_rtprop_is_of_any_flow_at_any_time() {
        let least = |text: &str| {
            let text = format!("name = \"n\"\nduration = \"9s\"\n{text}");
            let scenario: Scenario = text.parse().unwrap();
            scenario.network().least_rtprop()
        };
        let path = "path = { rate = \"9mbit\", rtt = \"40ms\" }\n";
        let flow = "[[flow]]\ncontroller = \"bbr1\"\n";
        let own = |rtt: &str| format!("{flow}rtt = \"{rtt}\"\n");
        let ms = Duration::from_millis;
        assert_eq!(least(&format!("{path}{flow}")), ms(40));
        assert_eq!(least(&format!("{path}{flow}{}", own("200ms"))), ms(40));
        assert_eq!(least(&format!("{path}{flow}{}", own("10ms"))), ms(10));
        let change = |rtt: &str| {
            format!(
                "[path]\nrate = \"9mbit\"\nrtt = \"40ms\"\n[[path.change]]\nat = \"3s\"\nrtt = \"{rtt}\"\n"
            )
        };
        assert_eq!(least(&format!("{}{flow}", change("15ms"))), ms(15));
        assert_eq!(least(&format!("{}{flow}", change("90ms"))), ms(40));
        assert_eq!(least(&format!("{}{}", change("15ms"), own("60ms"))), ms(35));
    }
}
