//! The segment sizes of flows.

use path::Mtu;
use transport::app::Config;
use transport::segment::{HEADERS, MSS};
use units::Bytes;

use super::flow::FlowSpec;
use super::scenario::{Scenario, hop_name};

impl Scenario {
    /// The payload of a full segment of a flow: its host's, or else an Ethernet's, and at most what fits the smallest
    /// MTU that its data, and its requests if it has any, cross at the start of the run, as if the hosts had discovered
    /// it before (RFC 8899). ACKs fit every MTU.
    pub fn mss(&self, flow: &FlowSpec) -> Bytes {
        let host = flow.host.over(&self.host);
        host.mss.map_or_else(|| self.usual_mss(flow), Bytes::new)
    }

    fn usual_mss(&self, flow: &FlowSpec) -> Bytes {
        let least = self.least_mtu(flow);
        least.map_or(MSS, |(mtu, _)| MSS.min(mtu.bytes() - HEADERS))
    }

    /// The smallest MTU that a flow's segments cross at the start, and its link.
    pub(crate) fn least_mtu(&self, flow: &FlowSpec) -> Option<(Mtu, String)> {
        let has_requests = matches!(flow.app, Config::Requests(_) | Config::Video(_));
        let links = self.crossed(flow).flat_map(|(place, hop)| {
            let there = (!flow.reverse || has_requests).then_some((&hop.data, place, ""));
            let back = (flow.reverse || has_requests).then_some((&hop.uplink, place, ".uplink"));
            there.into_iter().chain(back)
        });
        let known = links.filter_map(|(link, place, name)| Some((link.effects.mtu?, place, name)));
        let (mtu, place, name) = known.min_by_key(|(mtu, ..)| *mtu)?;
        Some((mtu, hop_name(place) + name))
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
            assert_eq!(scenario.mss(&scenario.flows[0]), Bytes::new(mss));
        }
    }
}
