//! A scenario's links, and the way of each group of flows over them.

use std::ops::RangeInclusive;

use path::PathConfig;
use transport::segment::HEADERS;
use units::Duration;

use document::DocumentError;
use scenario::{FlowSpec, Scenario};

/// The links of all hops, and the ways over them.
#[derive(Debug)]
pub(super) struct Ways {
    /// The links of each hop: one for data, one for ACKs.
    pub hops: Vec<PathConfig>,
    /// The way of each group of flows.
    pub groups: Vec<Way>,
}

/// A group's way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Way {
    /// The hops that it crosses, in both directions.
    pub hops: RangeInclusive<usize>,
    /// The propagation delay that is not in those links, both directions together.
    pub access: Duration,
}

impl Ways {
    /// # Errors
    ///
    /// A trace cannot be read, or the scenario asks for something impossible.
    pub fn of(scenario: &Scenario) -> Result<Ways, DocumentError> {
        let delays = scenario.link_delays();
        let hops = scenario.hops().zip(&delays).enumerate();
        let hops = hops.map(|(place, (hop, delay))| hop.with_link_delay(*delay).config_at(place));
        let way = |group: &FlowSpec| {
            let crossed = scenario.crossed(group).map(|(hop, _)| hop);
            let first = crossed.clone().min().unwrap_or(0);
            Way {
                hops: first..=crossed.max().unwrap_or(0),
                access: scenario.access_delay(group, &delays),
            }
        };
        Ok(Ways {
            hops: hops.collect::<Result<_, _>>()?,
            groups: scenario.flows.iter().map(way).collect(),
        })
    }
}

/// The share of payload in the packets of the group with the largest ones.
pub(super) fn payload_share(scenario: &Scenario) -> f64 {
    let sizes = scenario.flows.iter().map(|group| scenario.mss(group));
    let mss = sizes.max().unwrap_or_default();
    mss.get() as f64 / (mss + HEADERS).get() as f64
}
