//! Filters of connections: `port=443 !controller=cubic prefix=192.0.2.0/24`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use linux::diag::{ControllerName, Filter as KernelFilter};

use crate::connection::{ConnectionState, Limit};
use crate::group::UNKNOWN;
use rules::Prefix;

units::named! {
    /// The property that a condition tests.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Key, "filter" {
        /// The port of either end.
        Port = "port",
        /// The port on this side.
        LocalPort = "local-port",
        /// The port on the other side.
        RemotePort = "remote-port",
        /// The address on the other side.
        Prefix = "prefix",
        /// The address on this side.
        Local = "local",
        /// The process, by a part of its name or by its number.
        Process = "process",
        /// The congestion controller.
        Controller = "controller",
        /// The controller's state.
        State = "state",
        /// The control group, by a part of its path.
        Cgroup = "cgroup",
        /// The network namespace.
        Namespace = "namespace",
        /// The AS number of the other side's network.
        As = "as",
        /// The main limit of the sender.
        Limit = "limit",
    }
}

/// Conditions that all must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
    conditions: Vec<Condition>,
}

/// A condition: one of its alternatives must hold or, after `!`, none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    is_not: bool,
    any: Vec<Test>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Port(Side, RangeInclusive<u16>),
    Address(Side, Prefix),
    Process(String),
    Controller(String),
    State(String),
    Cgroup(String),
    Namespace(String),
    /// `None` stands for a network without a name in the file.
    System(Option<u32>),
    Limit(Limit),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Local,
    Remote,
    Either,
}

/// An invalid condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word}: {why}")]
pub struct FilterError {
    word: String,
    why: String,
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Filter, FilterError> {
        let words = text.split_whitespace();
        let conditions = words.map(|word| {
            Condition::read(word).map_err(|why| FilterError {
                word: word.to_owned(),
                why,
            })
        });
        Ok(Filter {
            conditions: conditions.collect::<Result<_, _>>()?,
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Filter {
    /// True if every connection passes.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// True if it tests networks, which requires a file that names them.
    pub fn asks_for_systems(&self) -> bool {
        self.asks(|test| matches!(test, Test::System(_)))
    }

    /// True if it tests changes between two samples.
    pub fn asks_for_limits(&self) -> bool {
        self.asks(|test| matches!(test, Test::Limit(_)))
    }

    fn asks(&self, for_this: fn(&Test) -> bool) -> bool {
        self.conditions
            .iter()
            .flat_map(|one| &one.any)
            .any(for_this)
    }

    /// True if the connection passes.
    pub fn passes(&self, seen: &ConnectionState) -> bool {
        let holds = |condition: &Condition| {
            condition.any.iter().any(|test| test.holds(seen)) != condition.is_not
        };
        self.conditions.iter().all(holds)
    }

    /// The part that the kernel can test, so that it returns fewer connections.
    pub fn of_kernel(&self) -> KernelFilter {
        let mut filter = KernelFilter::default();
        for condition in self.conditions.iter().filter(|condition| !condition.is_not) {
            match condition.any.as_slice() {
                [Test::Port(Side::Local, ports)] => filter.local_ports = Some(ports.clone()),
                [Test::Port(Side::Remote, ports)] => filter.remote_ports = Some(ports.clone()),
                _ => {}
            }
        }
        filter
    }
}

impl Condition {
    fn read(word: &str) -> Result<Condition, String> {
        let (is_not, word) = match word.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, word),
        };
        if word.is_empty() {
            return Err("expected KEY=VALUE or a text".to_owned());
        }
        let any = match word.split_once('=') {
            None => vec![Test::Text(word.to_lowercase())],
            Some((key, values)) => {
                let key: Key = key
                    .parse()
                    .map_err(|error: units::UnknownName| error.to_string())?;
                let tests = values.split(',').map(|value| Test::read(key, value));
                tests.collect::<Result<_, _>>()?
            }
        };
        Ok(Condition { is_not, any })
    }
}

impl Test {
    fn read(key: Key, value: &str) -> Result<Test, String> {
        if value.is_empty() {
            return Err(format!("expected a value after {key}="));
        }
        let text = || value.to_lowercase();
        Ok(match key {
            Key::Port => Test::Port(Side::Either, ports(value)?),
            Key::LocalPort => Test::Port(Side::Local, ports(value)?),
            Key::RemotePort => Test::Port(Side::Remote, ports(value)?),
            Key::Prefix => Test::Address(Side::Remote, value.parse()?),
            Key::Local => Test::Address(Side::Local, value.parse()?),
            Key::Process => Test::Process(text()),
            Key::Controller if value.len() > ControllerName::MAX => {
                return Err(format!(
                    "no controller's name has more than {} letters",
                    ControllerName::MAX
                ));
            }
            Key::Controller => Test::Controller(text()),
            Key::State => Test::State(text()),
            Key::Cgroup => Test::Cgroup(text()),
            Key::Namespace => Test::Namespace(value.to_owned()),
            Key::As if value == UNKNOWN => Test::System(None),
            Key::As => {
                let number = value.trim_start_matches(['A', 'S', 'a', 's']).parse();
                let number =
                    number.map_err(|_| "expected an AS number such as 64500".to_owned())?;
                Test::System(Some(number))
            }
            Key::Limit => {
                let limit: Result<Limit, units::UnknownName> = value.parse();
                Test::Limit(limit.map_err(|error| error.to_string())?)
            }
        })
    }

    fn holds(&self, seen: &ConnectionState) -> bool {
        let (local, remote) = (seen.socket.local, seen.socket.remote);
        let either = |side: Side, holds: &dyn Fn(bool) -> bool| match side {
            Side::Local => holds(true),
            Side::Remote => holds(false),
            Side::Either => holds(true) || holds(false),
        };
        let of = |is_local: bool| if is_local { local } else { remote };
        match self {
            Test::Port(side, ports) => either(*side, &|end| ports.contains(&of(end).port())),
            Test::Address(side, prefix) => either(*side, &|end| {
                prefix.has(of(end).ip().to_canonical()) || prefix.has(of(end).ip())
            }),
            Test::Process(text) => seen.process.as_ref().map_or(text == UNKNOWN, |process| {
                process.pid.to_string() == *text || has(&process.name, text)
            }),
            Test::Controller(name) => match seen.socket.controller.as_str() {
                "" => name == UNKNOWN,
                controller => controller == name,
            },
            Test::State(name) => seen.state().eq_ignore_ascii_case(name),
            Test::Cgroup(text) => {
                let cgroup = seen.cgroup.as_ref();
                cgroup.map_or(text == UNKNOWN, |cgroup| has(cgroup, text))
            }
            Test::Namespace(name) => *seen.namespace == **name,
            Test::System(number) => seen.system.as_ref().map(|system| system.number) == *number,
            Test::Limit(limit) => seen
                .shares()
                .is_some_and(|shares| shares.most().0 == *limit),
            Test::Text(text) => {
                has(&seen.remote().to_string(), text)
                    || has(&seen.local().to_string(), text)
                    || has(seen.socket.controller.as_str(), text)
                    || Test::Process(text.clone()).holds(seen)
                    || Test::Cgroup(text.clone()).holds(seen)
                    || seen
                        .system
                        .as_ref()
                        .is_some_and(|system| has(&system.name, text))
            }
        }
    }
}

/// True if the name contains the lower-case text.
fn has(name: &str, text: &str) -> bool {
    name.contains(text) || name.to_lowercase().contains(text)
}

/// `443` or `5000-5010`.
fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        (Ok(first), Ok::<u16, _>(last)) => Err(format!(
            "{first} is above {last}; give the lower port first: {last}-{first}"
        )),
        _ => Err("expected a port such as 443, or ports such as 5000-5010".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::seen;

    fn passes(filter: &str) -> bool {
        // 192.0.2.1:443 to 198.51.100.7:50000, nginx, bbr
        filter.parse::<Filter>().unwrap().passes(&seen())
    }

    #[test]
    fn all_words_must_hold_and_one_value_of_each() {
        for yes in [
            "",
            "port=443",
            "port=50000 local-port=443 remote-port=40000-60000",
            "port=1,443",
            "prefix=198.51.0.0/16",
            "local=192.0.2.1 !local=192.0.2.2",
            "process=gin",
            "process=17",
            "controller=bbr",
            "controller=cubic,bbr",
            "cgroup=web",
            "as=AS64500",
            "NGINX",
            "198.51",
            "!cubic",
            "limit=congestion",
            "namespace=host",
        ] {
            assert!(passes(yes), "{yes}");
        }
        for no in [
            "port=80",
            "port=443 controller=cubic",
            "!port=443",
            "remote-port=443",
            "prefix=192.0.2.0/24",
            "prefix=::/0",
            "process=18",
            "controller=bb",
            "as=1",
            "apache",
            "limit=receiver",
            "namespace=other",
        ] {
            assert!(!passes(no), "{no}");
        }
    }

    #[test]
    fn what_is_unknown_passes_by_that_name() {
        let mut unknown = seen();
        (unknown.process, unknown.cgroup, unknown.system) = (None, None, None);
        for key in ["process", "cgroup", "as"] {
            let filter: Filter = format!("{key}=unknown").parse().unwrap();
            assert!(filter.passes(&unknown) && !filter.passes(&seen()), "{key}");
        }
        assert!(!passes("controller=unknown"));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, part) in [
            ("prot=443", "did you mean `port`?"),
            ("port=", "expected a value after port="),
            ("port=http", "expected a port such as 443"),
            ("port=9-1", "give the lower port first: 1-9"),
            ("prefix=10.0.0/8", "expected an address"),
            ("as=x", "expected an AS number"),
            ("limit=x", "known: application"),
            ("!", "expected KEY=VALUE"),
        ] {
            let error = text.parse::<Filter>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
            assert_eq!(error.lines().count(), 1);
        }
    }

    #[test]
    fn the_kernel_decides_what_it_can() {
        let filter: Filter = "local-port=443 remote-port=1-9 port=7 !local-port=5"
            .parse()
            .unwrap();
        let expected = KernelFilter {
            local_ports: Some(443..=443),
            remote_ports: Some(1..=9),
        };
        assert_eq!(filter.of_kernel(), expected);
        let two: Filter = "local-port=443,444".parse().unwrap();
        assert_eq!(two.of_kernel(), KernelFilter::default());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_filter_or_one_line(text in ".{0,40}|(!?[a-z-]{1,8}=[^ ]{0,9} ?){1,3}") {
            match text.parse::<Filter>() {
                Ok(filter) => {
                    filter.passes(&seen());
                    proptest::prop_assert_eq!(filter.to_string().parse(), Ok(filter));
                }
                Err(error) => proptest::prop_assert_eq!(error.to_string().lines().count(), 1),
            }
        }
    }
}
