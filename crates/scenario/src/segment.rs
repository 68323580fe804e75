//! The segment sizes of flows.

use path::Mtu;
use transport::app::Config;
use transport::segment::{HEADERS, MSS};
use units::Bytes;

use super::network::Network;
use super::route::{Crossing, Route};
use super::routing::Routing;
use super::scenario::Scenario;

impl Scenario {
    /// The payload of a full segment of a group's flows, as [`Network::mss`], without the routes of other groups.
    pub fn mss(&self, group: usize) -> Bytes {
        let found = Routing::of(self, group..group + 1).route(group);
        let mut routes = vec![Route::default(); group];
        routes.push(found.unwrap_or_default());
        self.network_of(routes).mss(group)
    }
}

impl Network<'_> {
    /// The payload of a full segment of a group's flows: its host's, or else an Ethernet's, and at most what fits the
    /// smallest MTU that their data, and their requests if they have any, cross at the start of the run, as if the hosts
    /// had discovered it before (RFC 8899). ACKs fit every MTU.
    pub fn mss(&self, group: usize) -> Bytes {
        let own = &self.scenario.flows[group].host;
        let host = own.over(&self.scenario.host);
        host.mss.map_or_else(|| self.usual_mss(group), Bytes::new)
    }

    fn usual_mss(&self, group: usize) -> Bytes {
        let least = self.least_mtu(group);
        least.map_or(MSS, |(mtu, _)| MSS.min(mtu.bytes() - HEADERS))
    }

    /// The smallest MTU that a group's segments cross at the start, and its link.
    pub(crate) fn least_mtu(&self, group: usize) -> Option<(Mtu, String)> {
        let app = &self.scenario.flows[group].app;
        let has_requests = matches!(app, Config::Requests(_) | Config::Video(_));
        let route = self.route(group);
        let requests = route.back.iter().filter(|_| has_requests);
        let mut crossings: Vec<_> = route.there.iter().chain(requests).copied().collect();
        crossings.sort_unstable();
        let known = crossings.into_iter().filter_map(|crossing| {
            let mtu = self.direction(crossing).effects.mtu?;
            Some((mtu, crossing))
        });
        let (mtu, crossing) = known.min_by_key(|(mtu, _)| *mtu)?;
        Some((mtu, self.field(crossing)))
    }

    /// The first link on a group's route that has no room for such a packet, in either direction.
    pub(crate) fn too_small(&self, group: usize, packet: Bytes) -> Option<String> {
        let mut crossings: Vec<_> = self.route(group).both().collect();
        crossings.sort_unstable();
        let is_small = |crossing: &Crossing| {
            let link = self.direction(*crossing);
            let rtt = self.links()[crossing.link].rtt;
            let bucket = link.effects.policer.map(|policer| policer.burst);
            let least = [link.buffer_bytes(rtt), bucket].into_iter().flatten();
            least.min().is_some_and(|least| least < packet)
        };
        let crossing = crossings.into_iter().find(is_small)?;
        Some(self.field(crossing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_fit_the_links_that_data_cross() {
        for (more, mss) in [
            ("", 1448),
            ("reverse = true", 576 - 52),
            ("app = { kind = 'requests', response = '9kb' }", 576 - 52),
        ] {
            let text = format!(
                "name = 'x'\nduration = '9s'\npath = {{ mtu = '1500b', uplink = {{ mtu = 576 }} }}\n\
                 [[flow]]\ncontroller = 'bbr1'\n{more}\n"
            );
            let scenario: Scenario = text.parse().expect("a scenario");
            assert_eq!(scenario.network().mss(0), Bytes::new(mss));
            assert_eq!(scenario.mss(0), Bytes::new(mss));
        }
    }
}
