//! A scenario's links, and the way of each group of flows over them.

use path::PathConfig;
use transport::segment::HEADERS;
use units::Duration;

use document::DocumentError;
use scenario::{Network, Route};

/// The links, and the ways over them.
#[derive(Debug)]
pub struct Ways {
    /// Both directions of each link.
    pub links: Vec<PathConfig>,
    /// The way of each group of flows.
    pub groups: Vec<Way>,
}

/// A group's way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Way {
    /// The links that it crosses.
    pub route: Route,
    /// The propagation delay that is not in those links, both directions together.
    pub access: Duration,
}

impl Way {
    /// The same way with data and ACKs exchanged.
    pub fn turned(&self) -> Way {
        Way {
            route: self.route.turned(),
            access: self.access,
        }
    }
}

impl Ways {
    /// The links of a network, and the ways of its groups.
    ///
    /// # Errors
    ///
    /// A trace cannot be read, or the scenario asks for something impossible.
    pub fn of(network: &Network<'_>) -> Result<Ways, DocumentError> {
        let scenario = network.scenario();
        let delays = network.link_delays();
        let links = network.links().iter().zip(&delays).enumerate();
        let links = links.map(|(place, (link, delay))| {
            let link = link.with_link_delay(*delay);
            link.config_at(&scenario.hop_name(place))
        });
        let way = |(group, route): (usize, &Route)| Way {
            route: route.clone(),
            access: network.access_delay(group, &delays),
        };
        Ok(Ways {
            links: links.collect::<Result<_, _>>()?,
            groups: network.routes().iter().enumerate().map(way).collect(),
        })
    }
}

/// The share of payload in the packets of the group with the largest ones.
pub fn payload_share(network: &Network<'_>) -> f64 {
    let sizes = (0..network.routes().len()).map(|group| network.mss(group));
    let mss = sizes.max().unwrap_or_default();
    mss.get() as f64 / (mss + HEADERS).get() as f64
}
