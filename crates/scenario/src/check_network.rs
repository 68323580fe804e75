//! Checks of links with names, and of the routes over them.

use std::collections::HashMap;

use document::{DocumentError, Reason};
use units::Duration;

use super::network::Network;
use super::path_spec::PathSpec;
use super::routing::{MAX_HOPS, Routing};
use super::scenario::Scenario;

/// The maximum number of links with names. With more, a run measures memory.
const MAX_LINKS: usize = 10_000;

impl Scenario {
    /// Checks the links and that every flow has a route, and returns both.
    pub(crate) fn check_network(&self) -> Result<Network<'_>, DocumentError> {
        self.check_links()?;
        let groups = 0..self.flows.len();
        let routing = Routing::of(self, groups.clone());
        let routes = groups.map(|group| routing.route(group));
        let network = self.network_of(routes.collect::<Result<_, _>>()?);
        self.check_use(&network)?;
        self.check_sums(&network)?;
        self.check_own_rtts(&network)?;
        Ok(network)
    }

    /// Checks the number of links, and the names of links and sites.
    fn check_links(&self) -> Result<(), DocumentError> {
        if self.next.len() >= MAX_HOPS {
            let reason = format!("more than {MAX_HOPS} hops in all");
            return Err(DocumentError::new("path.next", reason));
        }
        if self.links.is_empty() {
            return Ok(());
        }
        if self.path != PathSpec::default() || !self.next.is_empty() {
            let reason = "is the short form of a network, and there is a [[link]] already; give one of the two";
            return Err(DocumentError::new("path", reason));
        }
        if self.links.len() > MAX_LINKS {
            let reason = format!("{} links are more than {MAX_LINKS}", self.links.len());
            return Err(DocumentError::new("link", reason));
        }
        let mut places = HashMap::new();
        for (place, link) in self.links.iter().enumerate() {
            let wrong = |field: &str, reason: Reason| {
                Err(DocumentError::new(field, reason).within(&self.hop_name(place)))
            };
            if link.from == link.to {
                let reason = " is where the link begins: a loop; name another site";
                return wrong("to", Reason::of(&link.to).words(reason));
            }
            if let Some(before) = places.insert(&link.name, place) {
                let reason = Reason::of(&link.name).words(" is the name of ");
                let reason = reason.field(self.hop_name(before));
                return wrong("name", reason.words(" already; give another one"));
            }
        }
        Ok(())
    }

    /// Checks that packets cross every link with a name.
    fn check_use(&self, network: &Network<'_>) -> Result<(), DocumentError> {
        let mut is_crossed = vec![self.links.is_empty(); network.links().len()];
        for crossing in network.routes().iter().flat_map(|route| route.both()) {
            is_crossed[crossing.link] = true;
        }
        match is_crossed.iter().position(|is_crossed| !is_crossed) {
            Some(place) => {
                let name = &self.links[place].name;
                let reason = format!(
                    "no flow crosses link {name}; leave it out, or give a flow a route over it"
                );
                Err(DocumentError::new(self.hop_name(place), reason))
            }
            None => Ok(()),
        }
    }

    /// Checks that what a route adds up to has a number, even if each of its links has its longest delay.
    fn check_sums(&self, network: &Network<'_>) -> Result<(), DocumentError> {
        let longest = |link: &PathSpec| {
            let changed = link.data.changes.iter().filter_map(|change| change.rtt);
            changed.fold(link.rtt, Duration::max)
        };
        let longest: Vec<Duration> = network.links().iter().map(|link| longest(link)).collect();
        for (group, route) in network.routes().iter().enumerate() {
            let each = route.both().map(|of| network.delay(of, longest[of.link]));
            let sum: u128 = each.map(|delay| u128::from(delay.as_nanos())).sum();
            let most = Duration::MAX;
            if sum > u128::from(most.as_nanos()) {
                let reason = format!(
                    "the links of its route add up to more than {most}; give them less rtt"
                );
                return Err(self.flow_error(group, "", reason));
            }
        }
        Ok(())
    }

    /// Checks that no RTprop of a flow is shorter than its route over links with names.
    fn check_own_rtts(&self, network: &Network<'_>) -> Result<(), DocumentError> {
        for (group, flow) in self.flows.iter().enumerate() {
            let along = network.route_rtt(group);
            if let Some(rtt) = flow.rtt.filter(|rtt| *rtt < along)
                && !self.links.is_empty()
            {
                let reason = format!(" is shorter than the flow's route, which takes {along}");
                let reason = Reason::of(rtt).words(reason + "; leave it out, or give more");
                return Err(self.flow_error(group, "rtt", reason));
            }
        }
        Ok(())
    }
}
