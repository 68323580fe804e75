//! Groups of clients, by their names: `192.0.2.0/24`, `AS64500`, `region north`, `RTT from 30ms to 100ms`.

use rules::Prefix;
use units::Duration;

/// The prefix of the name of a region's group.
const REGION: &str = "region ";

/// The prefix of the name of an AS's group.
const SYSTEM: &str = "AS";

/// The bounds of the classes of RTTs, in milliseconds: within a site, in the same city, country, continent, and beyond.
const BOUNDS_MS: [u64; 5] = [1, 10, 30, 100, 300];

/// A group of clients. The kinds that users have named come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// A region that the user has named.
    Region(String),
    /// An autonomous system.
    System(u32),
    /// A network.
    Network(Prefix),
    /// A class of RTTs of the handshake.
    Rtt(RttClass),
}

/// A class of RTTs: from the first, and below the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RttClass {
    /// The least RTT of the class. `None`: zero.
    pub from: Option<Duration>,
    /// The end of the class. `None`: there is none.
    pub below: Option<Duration>,
}

impl RttClass {
    /// The class of an RTT.
    pub fn of(rtt: Duration) -> RttClass {
        let bounds = BOUNDS_MS.map(Duration::from_millis);
        let above = bounds.partition_point(|bound| *bound <= rtt);
        let bound = |place: Option<usize>| bounds.get(place?).copied();
        RttClass {
            from: bound(above.checked_sub(1)),
            below: bound(Some(above)),
        }
    }
}

impl Group {
    /// The group of this name.
    pub fn parse(name: &str) -> Option<Group> {
        if let Some(region) = name.strip_prefix(REGION) {
            return Some(Group::Region(region.to_owned()));
        }
        if let Some(number) = name.strip_prefix(SYSTEM) {
            return number.parse().ok().map(Group::System);
        }
        if let Ok(prefix) = name.parse() {
            return Some(Group::Network(prefix));
        }
        let bounds = BOUNDS_MS
            .iter()
            .map(|millis| Duration::from_millis(*millis));
        let mut classes = bounds
            .chain([Duration::ZERO])
            .map(|rtt| Group::Rtt(RttClass::of(rtt)));
        classes.find(|class| class.to_string() == name)
    }

    /// The kind of the group: groups of one kind do not overlap, except networks of different lengths.
    pub fn kind(&self) -> std::mem::Discriminant<Group> {
        std::mem::discriminant(self)
    }

    /// The name of this kind of groups.
    pub fn noun(&self) -> &'static str {
        match self {
            Group::Region(_) => "region",
            Group::System(_) => "AS",
            Group::Network(_) => "network",
            Group::Rtt(_) => "RTT",
        }
    }

    /// The name where the kind is known from the words around it.
    pub fn short(&self) -> String {
        match self {
            Group::Region(name) => name.clone(),
            other => other.to_string(),
        }
    }
}

impl std::fmt::Display for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Group::Region(name) => write!(f, "{REGION}{name}"),
            Group::System(number) => write!(f, "{SYSTEM}{number}"),
            Group::Network(prefix) => write!(f, "{prefix}"),
            Group::Rtt(RttClass { from, below }) => match (from, below) {
                (None, Some(below)) => write!(f, "RTT below {below}"),
                (Some(from), Some(below)) => write!(f, "RTT from {from} to {below}"),
                (from, None) => write!(f, "RTT from {}", from.unwrap_or(Duration::ZERO)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back() {
        for name in [
            "region south west",
            "AS64500",
            "192.0.2.0/24",
            "2001:db8::/32",
            "RTT below 1ms",
            "RTT from 30ms to 100ms",
            "RTT from 300ms",
        ] {
            let group = Group::parse(name).expect(name);
            assert_eq!(group.to_string(), name);
        }
        for name in ["", "AS", "ASx", "north", "RTT from 31ms"] {
            assert_eq!(Group::parse(name), None, "{name}");
        }
        assert_eq!(
            Group::parse("region north").map(|of| of.short()).as_deref(),
            Some("north")
        );
    }

    #[test]
    fn each_rtt_has_a_class_that_has_it() {
        for micros in [0, 999, 1000, 29_999, 30_000, 299_999, 300_000, 9_000_000] {
            let rtt = Duration::from_micros(micros);
            let RttClass { from, below } = RttClass::of(rtt);
            assert!(from.is_none_or(|from| from <= rtt), "{micros}");
            assert!(below.is_none_or(|below| rtt < below), "{micros}");
            assert!(from.is_some() || below.is_some());
        }
    }
}
