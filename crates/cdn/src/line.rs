//! Client networks with a path of their own, and the objects that are fetched over it.

use std::net::{IpAddr, Ipv4Addr};

use document::DocumentError;
use rules::Prefix;
use scenario::{FlowSpec, HostSpec, PathSpec, Scenario};
use studies::runs::derive_seed;
use transport::app::{App, Config};
use units::{Bytes, Duration, Time};

use crate::keys::redraws;
use crate::room::Room;
use crate::shared;
use crate::spec::{Network, Spec};

/// The most objects that are fetched over a line. More are due to a mistake in an interval.
const MAX_OBJECTS: u64 = 10_000;

/// A draw of lines and objects. The draws are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineDraw {
    /// The draw for the study.
    Study,
    /// A later draw that the study has not seen, with its number. The policy is judged over it.
    Fresh(u64),
}

/// A client network and its path.
#[derive(Debug, Clone)]
pub struct Line {
    /// The index of its network.
    pub network: usize,
    /// Its index among the network's lines.
    pub place: u64,
    /// The address of its client.
    pub client: IpAddr,
    /// The objects to fetch, in order of time.
    pub visits: Vec<Visit>,
    /// The round trip of a handshake without a queue.
    rtt: Duration,
    /// The path, its background traffic, and the hosts.
    base: Scenario,
}

/// An object that is fetched over a connection of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// The start of the download.
    pub at: Duration,
    /// The size of the object.
    pub bytes: Bytes,
}

impl Spec {
    /// All lines over which objects are fetched, network by network. With each arm, a line has the same objects at the
    /// same times.
    ///
    /// # Errors
    ///
    /// The path of a line is invalid, or there are too many objects.
    pub fn lines(&self, when: LineDraw) -> Result<Vec<Line>, DocumentError> {
        self.lines_within(when, &mut Room::new())
    }

    /// The same lines, whose runs take this room.
    pub(crate) fn lines_within(
        &self,
        when: LineDraw,
        room: &mut Room,
    ) -> Result<Vec<Line>, DocumentError> {
        let mut lines = Vec::new();
        for (index, network) in self.networks.iter().enumerate() {
            for place in 0..network.lines {
                let line = self.line(network, index, place, when, room);
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
        when: LineDraw,
        room: &mut Room,
    ) -> Result<Line, DocumentError> {
        let runs = self.runs_of(network, when);
        let (drawn, when) = match when {
            LineDraw::Study => (self.seed, "study"),
            LineDraw::Fresh(draw) => (derive_seed(self.seed, &[("lines", "fresh")], draw), "fresh"),
        };
        let base = network.access.scenario(&network.base, drawn, place);
        let mut base = base.map_err(of_background)?;
        // Removes the flow that stood in for the connections.
        base.flows.pop();
        room.changes(base.path.data.changes.len() as u64, runs)?;
        for _ in &base.flows {
            room.flow(runs)?;
        }
        let mut rtt = base.path.rtt;
        if let Some(over) = network.over.and_then(|over| self.shared.get(over)) {
            shared::check_line(&base).map_err(of_background)?;
            rtt = rtt + over.path.rtt;
        }
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
                if visits.len() as u64 >= MAX_OBJECTS {
                    let reason = format!("more than {MAX_OBJECTS} objects; give longer intervals");
                    return Err(DocumentError::new("traffic", reason));
                }
                room.flow(runs)?;
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
            rtt,
            base,
        })
    }

    /// The number of runs of each of a network's lines: with each arm, and over a shared link also in the mixes of studies, or
    /// with the policy.
    fn runs_of(&self, network: &Network, when: LineDraw) -> u64 {
        let more = match (network.over, when) {
            (None, _) => 0,
            (Some(_), LineDraw::Study) => 1 + redraws(self).count(),
            (Some(_), LineDraw::Fresh(_)) => 1,
        };
        (self.arms.len() + more) as u64
    }

    /// The addresses of each autonomous system, in pyasn's format.
    pub fn systems(&self) -> String {
        let networks = self.networks.iter().enumerate();
        networks
            .map(|(index, network)| format!("{}\t{}\n", addresses(index), network.system))
            .collect()
    }
}

/// The addresses of a network. RFC 1918 has enough of them for lines of 24 bits.
pub(crate) fn addresses(network: usize) -> Prefix {
    Prefix::around(client(network, 0), 16)
}

/// The same error, with the field as a network has it. Its lines' scenarios have the background traffic as flows.
fn of_background(error: DocumentError) -> DocumentError {
    match error.field.strip_prefix("flow") {
        Some(rest) => DocumentError {
            field: format!("background{rest}"),
            ..error
        },
        None => error,
    }
}

fn client(network: usize, place: u64) -> IpAddr {
    let byte = |number: u64| u8::try_from(number).unwrap_or(u8::MAX);
    Ipv4Addr::new(10, byte(network as u64), byte(place), 1).into()
}

impl Line {
    /// The scenario with all downloads by this arm's controller. Their connections come first, in the order of the
    /// visits.
    pub fn scenario(&self, arm: &FlowSpec) -> Scenario {
        Scenario {
            flows: self.flows(arm).collect(),
            ..self.base.clone()
        }
    }

    /// The flows of [`Line::scenario`].
    pub(crate) fn flows(&self, arm: &FlowSpec) -> impl Iterator<Item = FlowSpec> {
        let connections = self.visits.iter().map(|visit| FlowSpec {
            start: visit.at,
            bytes: Some(visit.bytes),
            ..arm.clone()
        });
        connections.chain(self.base.flows.iter().cloned())
    }

    /// The number of its single flows.
    pub(crate) fn flow_count(&self) -> usize {
        let background: u64 = self.background().iter().map(|flow| flow.count).sum();
        self.visits.len() + usize::try_from(background).unwrap_or(usize::MAX)
    }

    /// The scenario without the downloads: the path, the background traffic and the hosts.
    pub(crate) fn base(&self) -> &Scenario {
        &self.base
    }

    /// The background traffic.
    pub(crate) fn background(&self) -> &[FlowSpec] {
        &self.base.flows
    }

    /// The hosts at both ends.
    pub(crate) fn host(&self) -> &HostSpec {
        &self.base.host
    }

    /// The path.
    pub fn path(&self) -> &PathSpec {
        &self.base.path
    }

    /// The round trip of a handshake without a queue.
    pub fn rtt(&self) -> Duration {
        self.rtt
    }
}
