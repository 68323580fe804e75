//! The links of a scenario, and the routes of its flows over them.
//!
//! `[path]`, a chain of `[[path.next]]`, and `[[link]]` are the same from here on: links with two directions, and routes
//! over them.

use std::collections::BTreeSet;
use std::ops::Range;

use units::{Duration, hint, told};

use super::link_spec::LinkSpec;
use super::name::Name;
use super::path_spec::PathSpec;
use super::route::{Crossing, Route};
use super::routing::Routing;
use super::scenario::Scenario;

/// The links of a scenario, and the route of each of its groups of flows.
#[derive(Debug, Clone)]
pub struct Network<'s> {
    pub(crate) scenario: &'s Scenario,
    links: Vec<&'s PathSpec>,
    routes: Vec<Route>,
}

impl Scenario {
    /// Finds the routes of the flows. In a scenario that was not [checked](Scenario::check), a route may be empty.
    pub fn network(&self) -> Network<'_> {
        self.network_within(0..self.flows.len())
    }

    /// Finds the routes of these groups of flows alone, which takes much less time in a large scenario. Those of other groups
    /// are empty.
    pub fn network_within(&self, groups: Range<usize>) -> Network<'_> {
        let count = self.flows.len();
        let routing = Routing::of(self, groups.start.min(count)..groups.end.min(count));
        let of_these = |group: &usize| groups.contains(group);
        let route = |group| {
            Some(group)
                .filter(of_these)
                .and_then(|group| routing.route(group).ok())
        };
        self.network_of(
            (0..count)
                .map(|group| route(group).unwrap_or_default())
                .collect(),
        )
    }

    /// The network with these routes, one for each group of flows.
    pub(crate) fn network_of(&self, routes: Vec<Route>) -> Network<'_> {
        Network {
            scenario: self,
            links: self.hops().collect(),
            routes,
        }
    }
}

impl<'s> Network<'s> {
    /// The scenario.
    pub fn scenario(&self) -> &'s Scenario {
        self.scenario
    }

    /// The links, in the order of the scenario.
    pub fn links(&self) -> &[&'s PathSpec] {
        &self.links
    }

    /// The route of a group of flows.
    pub fn route(&self, group: usize) -> &Route {
        &self.routes[group]
    }

    /// The routes, one for each group of flows.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// True if the data of all groups compete: each group's meets that of every other on a link, directly or through other
    /// groups between them.
    pub fn do_all_compete(&self) -> bool {
        let mut routes: Vec<&Route> = self.routes.iter().collect();
        let Some(first) = routes.pop() else {
            return true;
        };
        let mut met: BTreeSet<Crossing> = first.there.iter().copied().collect();
        loop {
            let before = routes.len();
            routes.retain(|route| {
                let meets = route.there.iter().any(|crossing| met.contains(crossing));
                if meets {
                    met.extend(&route.there);
                }
                !meets
            });
            if routes.is_empty() || routes.len() == before {
                return routes.is_empty();
            }
        }
    }

    /// The site that sends a group's data, in a network of links with names.
    pub fn sender(&self, group: usize) -> Option<&'s Name> {
        let first = self.route(group).there.first()?;
        let link = self.scenario.links.get(first.link)?;
        Some(if first.is_back { &link.to } else { &link.from })
    }

    /// The directions whose queues and counters are in a record: the data direction of each link, and the ACK direction
    /// of each named link that has a bottleneck in it.
    pub fn observed(&self) -> Vec<Crossing> {
        let links = self.links.iter().enumerate();
        let directions = links.flat_map(|(link, spec)| {
            let is_back_observed = !self.scenario.links.is_empty() && spec.uplink.has_bottleneck();
            let data = Crossing {
                link,
                is_back: false,
            };
            let acks = is_back_observed.then_some(data.opposite());
            std::iter::once(data).chain(acks)
        });
        directions.collect()
    }

    /// The name of a direction of a link with a name: that of the link, or `core.uplink` for the opposite direction.
    pub fn name(&self, crossing: Crossing) -> Option<String> {
        let name = &self.scenario.links.get(crossing.link)?.name;
        Some(if crossing.is_back {
            format!("{name}.uplink")
        } else {
            name.to_string()
        })
    }

    /// The direction of a link with this name, such as `core` or `core.uplink`.
    ///
    /// # Errors
    ///
    /// There is none; the message says which there are.
    pub fn crossing(&self, name: &str) -> Result<Crossing, String> {
        let links = &self.scenario.links;
        if links.is_empty() {
            return Err("the scenario has no [[link]], and so no names of links".to_string());
        }
        let (of, is_back) = match name.strip_suffix(".uplink") {
            Some(of) => (of, true),
            None => (name, false),
        };
        let link = links.iter().position(|link| link.name.as_str() == of);
        let unknown = || {
            let known: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            format!("there is no link {of}{}", told(&hint(of, &known), &known))
        };
        let link = link.ok_or_else(unknown)?;
        Ok(Crossing { link, is_back })
    }

    /// The settings of a link in the direction of a crossing, without `ack_loss` and `aggregation`.
    pub fn direction(&self, crossing: Crossing) -> &'s LinkSpec {
        let link = self.links[crossing.link];
        if crossing.is_back {
            &link.uplink
        } else {
            &link.data
        }
    }

    /// The name of a direction of a link in errors, such as `path.uplink`.
    pub(crate) fn field(&self, crossing: Crossing) -> String {
        let direction = if crossing.is_back { ".uplink" } else { "" };
        self.scenario.hop_name(crossing.link) + direction
    }

    /// The propagation delay in the direction of a crossing, if both directions of the link together have this one.
    pub fn delay(&self, crossing: Crossing, both: Duration) -> Duration {
        let forward = self.links[crossing.link].forward(both);
        if crossing.is_back {
            both.saturating_sub(forward)
        } else {
            forward
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: &str = r#"
        name = "home"
        duration = "1s"
        [[link]]
        name = "line"
        from = "server"
        to = "home"
        rate = "100mbit"
        rtt = "14ms"
        uplink = { rate = "20mbit" }
        [[link]]
        name = "wifi"
        from = "home"
        to = "laptop"
        rate = "250mbit"
        rtt = "2ms"
        uplink = { rate = "250mbit" }
        [[link]]
        name = "cable"
        from = "home"
        to = "television"
        rate = "1gbit"
        rtt = "1ms"
    "#;

    /// Whether all flows with these ends compete.
    fn compete(ends: &[(&str, &str)]) -> bool {
        let flows = ends.iter().map(|(from, to)| {
            format!("[[flow]]\ncontroller = \"bbr1\"\nfrom = \"{from}\"\nto = \"{to}\"\n")
        });
        let text = format!("{LINKS}{}", flows.collect::<String>());
        let scenario = text.parse::<Scenario>().expect("a scenario");
        scenario.network().do_all_compete()
    }

    #[test]
    fn flows_compete_over_common_links_in_one_direction() {
        let (download, upload) = (("server", "laptop"), ("laptop", "server"));
        let (to_screen, inside) = (("server", "television"), ("home", "laptop"));
        assert!(compete(&[download, to_screen]));
        assert!(
            !compete(&[download, to_screen, upload]),
            "opposite directions"
        );
        assert!(!compete(&[to_screen, inside]), "no common link");
        assert!(compete(&[to_screen, inside, download]), "through the third");
    }
}
