//! Client networks, each with a path to itself, and what is fetched over it.

use std::net::{IpAddr, Ipv4Addr};

use experiment::Prefix;
use scenario::{FlowSpec, HostSpec, PathSpec, Scenario, ScenarioError};
use studies::runs::derive_seed;
use transport::app::{App, Config};
use units::{Bytes, Duration, Time};

use crate::spec::{Network, Spec};

/// So many objects are fetched over a line at most: more are a mistake in an interval.
const MOST_VISITS: u64 = 10_000;

/// Which lines of the networks, and what is fetched over them: independent of all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// While the study runs.
    Study,
    /// When its policy is in force: lines that the study has not seen, by the number of their draw.
    Fresh(u64),
}

/// A client network and its path.
#[derive(Debug, Clone)]
pub struct Line {
    /// The place of its network.
    pub network: usize,
    /// Its place among the network's lines.
    pub place: u64,
    /// Its client's address.
    pub client: IpAddr,
    /// What is fetched, in the order of time.
    pub visits: Vec<Visit>,
    /// The path, its background, and the hosts.
    base: Scenario,
}

/// An object that is fetched over a connection of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// When.
    pub at: Duration,
    /// How large it is.
    pub bytes: Bytes,
}

impl Spec {
    /// All lines over which something is fetched, network by network. Whatever the arm, the same objects are fetched over a line
    /// at the same times.
    ///
    /// # Errors
    ///
    /// A line's path makes no sense.
    pub fn lines(&self, when: When) -> Result<Vec<Line>, ScenarioError> {
        let mut lines = Vec::new();
        for (index, network) in self.networks.iter().enumerate() {
            for place in 0..network.lines {
                let line = self.line(network, index, place, when);
                let line = line.map_err(|error| error.item(index).within("network"))?;
                if !line.visits.is_empty() {
                    lines.push(line);
                }
            }
        }
        Ok(lines)
    }

    fn line(
        &self,
        network: &Network,
        index: usize,
        place: u64,
        when: When,
    ) -> Result<Line, ScenarioError> {
        let (drawn, when) = match when {
            When::Study => (self.seed, "study"),
            When::Fresh(draw) => (derive_seed(self.seed, &[("lines", "fresh")], draw), "fresh"),
        };
        let mut base = network.access.scenario(&network.base, drawn, place)?;
        // In place of the connections there was somebody who is not one of them.
        base.flows.pop();
        let seed = |part: &str| {
            let values = [("network", &*network.name), ("part", part), ("when", when)];
            derive_seed(drawn, &values, place)
        };
        base.seed = seed("path");
        let mut visits = Vec::new();
        for (class, traffic) in network.traffic.iter().enumerate() {
            let config = Config::Poisson(traffic.clone());
            let mut app = App::new(&config, seed(&format!("traffic {class}")), Time::ZERO)?;
            while let Some(arrival) = app.poll_connection(Time::ZERO + self.duration) {
                if visits.len() as u64 >= MOST_VISITS {
                    let reason = format!("more than {MOST_VISITS} objects; give longer intervals");
                    return Err(ScenarioError::new("traffic", reason));
                }
                visits.push(Visit {
                    at: arrival.start.since(Time::ZERO),
                    bytes: arrival.size,
                });
            }
        }
        visits.sort_by_key(|visit| visit.at);
        Ok(Line {
            network: index,
            place,
            client: client(index, place),
            visits,
            base,
        })
    }

    /// Which of its lines' addresses are whose, as pyasn has it.
    pub fn systems(&self) -> String {
        let networks = self.networks.iter().enumerate();
        networks
            .map(|(index, network)| format!("{}\t{}\n", addresses(index), network.system))
            .collect()
    }
}

/// The addresses of a network: those of RFC 1918 that are enough for networks of lines of 24 bits.
pub(crate) fn addresses(network: usize) -> Prefix {
    Prefix::around(client(network, 0), 16)
}

fn client(network: usize, place: u64) -> IpAddr {
    let byte = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
    Ipv4Addr::new(10, byte(network as u64), byte(place), 1).into()
}

impl Line {
    /// Everything that is fetched, with this arm's controller; the connections come first, in the order of the visits.
    pub fn scenario(&self, arm: &FlowSpec) -> Scenario {
        let connections = self.visits.iter().map(|visit| FlowSpec {
            start: visit.at,
            bytes: Some(visit.bytes),
            ..arm.clone()
        });
        Scenario {
            flows: connections.chain(self.base.flows.iter().cloned()).collect(),
            ..self.base.clone()
        }
    }

    /// What else crosses it.
    pub(crate) fn background(&self) -> &[FlowSpec] {
        &self.base.flows
    }

    /// What the hosts at both ends are like.
    pub(crate) fn host(&self) -> &HostSpec {
        &self.base.host
    }

    /// The path.
    pub fn path(&self) -> &PathSpec {
        &self.base.path
    }

    /// The round trip of a handshake without a queue.
    pub fn rtt(&self) -> Duration {
        self.base.path.rtt
    }
}
