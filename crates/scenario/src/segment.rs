//! The largest segments that flows send.

use path::Mtu;
use transport::segment::{HEADERS, MSS};
use units::Bytes;

use super::flow::FlowSpec;
use super::link_spec::LinkSpec;
use super::scenario::{Scenario, hop_name};

impl Scenario {
    /// The payload of a full segment of a flow: what its host says, or else an Ethernet's, and no more than fits the smallest
    /// MTU that its way has at the start of the run, as if the hosts had discovered it before (RFC 8899).
    pub fn mss(&self, flow: &FlowSpec) -> Bytes {
        let host = flow.host.over(&self.host);
        host.mss.map_or_else(|| self.usual_mss(flow), Bytes::new)
    }

    fn usual_mss(&self, flow: &FlowSpec) -> Bytes {
        let least = self.least_mtu(flow);
        least.map_or(MSS, |(mtu, _)| MSS.min(mtu.bytes() - HEADERS))
    }

    /// The smallest MTU that a flow's way has at the start, there or back, and the link that has it.
    pub(crate) fn least_mtu(&self, flow: &FlowSpec) -> Option<(Mtu, String)> {
        let links = self.crossed(flow).flat_map(|(place, hop)| {
            let mtu = |link: &LinkSpec| link.effects.mtu;
            [
                (mtu(&hop.data), place, ""),
                (mtu(&hop.uplink), place, ".uplink"),
            ]
        });
        let known = links.filter_map(|(mtu, place, link)| Some((mtu?, place, link)));
        let (mtu, place, link) = known.min_by_key(|(mtu, ..)| *mtu)?;
        Some((mtu, hop_name(place) + link))
    }
}
