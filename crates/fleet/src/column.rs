//! The columns of a list of connections, which is also sorted by them.

use std::cmp::{Ordering, Reverse};

use units::{Duration, Rate};

use crate::connection::{Connection, Limit, Shares};

units::named! {
    /// A column.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Column, "column" {
        /// The remote address.
        Remote = "remote",
        /// The local address.
        Local = "local",
        /// The process.
        Process = "process",
        /// The control group.
        Cgroup = "cgroup",
        /// The network namespace.
        Namespace = "namespace",
        /// The other side's AS.
        As = "as",
        /// The congestion controller.
        Controller = "controller",
        /// The controller's state.
        State = "state",
        /// Payload acknowledged per second.
        Send = "send",
        /// Payload received per second.
        Receive = "receive",
        /// The kernel's delivery-rate sample.
        Delivery = "delivery",
        /// The smoothed RTT.
        Rtt = "rtt",
        /// The RTT divided by its minimum.
        Ratio = "ratio",
        /// Bytes in flight.
        Inflight = "inflight",
        /// The pacing rate.
        Pacing = "pacing",
        /// The share of retransmitted packets.
        Resent = "resent",
        /// The main limit of the sender.
        Limit = "limit",
        /// The time since it was first seen.
        Age = "age",
    }
}

/// All columns. The last ones are left out first where there is no room.
pub const BY_IMPORTANCE: &[Column] = &[
    Column::Remote,
    Column::Send,
    Column::Rtt,
    Column::Controller,
    Column::Process,
    Column::Namespace,
    Column::Limit,
    Column::Resent,
    Column::Delivery,
    Column::State,
    Column::Ratio,
    Column::Receive,
    Column::Inflight,
    Column::Pacing,
    Column::Local,
    Column::As,
    Column::Age,
    Column::Cgroup,
];

/// The columns that have values after one poll.
pub const OF_ONE_POLL: &[Column] = &[
    Column::Local,
    Column::Remote,
    Column::Process,
    Column::Namespace,
    Column::Controller,
    Column::State,
    Column::Send,
    Column::Receive,
    Column::Delivery,
    Column::Rtt,
    Column::Ratio,
    Column::Inflight,
    Column::Pacing,
    Column::Resent,
    Column::As,
    Column::Cgroup,
];

/// The columns of these that are left out first if the terminal is narrow.
pub const SPARE_OF_ONE_POLL: &[Column] = &[
    Column::Cgroup,
    Column::As,
    Column::Pacing,
    Column::Inflight,
    Column::Local,
    Column::Ratio,
    Column::State,
];

impl Column {
    /// The heading, the minimum and the maximum width in characters, and the meaning for the documentation.
    fn shown(self) -> (&'static str, usize, usize, &'static str) {
        match self {
            Column::Remote => (
                "remote",
                18,
                47,
                "the address and port of the other end. An IPv4 address in a socket of IPv6 (`::ffff:192.0.2.1`) is \
                 shown as IPv4",
            ),
            Column::Local => ("local", 18, 47, "the address and port of this end"),
            Column::Process => ("process", 8, 16, "the process that owns it"),
            Column::Cgroup => (
                "cgroup",
                16,
                32,
                "the last part of the process's control group: a container, a service",
            ),
            Column::Namespace => ("namespace", 9, 20, "the network namespace"),
            Column::As => ("AS", 16, 32, "the remote network, with `--as`"),
            Column::Controller => ("control", 7, 15, "the congestion controller"),
            Column::State => (
                "state",
                8,
                18,
                "the controller's state; BBR's is derived from its gains, that of other controllers from window and \
                 threshold",
            ),
            Column::Send => (
                "send/s",
                6,
                6,
                "payload acknowledged since the last poll, in bit/s",
            ),
            Column::Receive => (
                "recv/s",
                6,
                6,
                "payload received since the last poll, in bit/s",
            ),
            Column::Delivery => (
                "deliv/s",
                7,
                7,
                "the kernel's latest delivery-rate sample; one that the application limited does not replace a \
                 greater one",
            ),
            Column::Rtt => ("RTT ms", 6, 6, "the smoothed RTT"),
            Column::Ratio => (
                "×min",
                5,
                5,
                "the ratio of the smoothed RTT to the minimum RTT",
            ),
            Column::Inflight => (
                "inflight",
                8,
                8,
                "bytes in flight, with every packet counted as a full one",
            ),
            Column::Pacing => ("pacing/s", 8, 8, "the pacing rate"),
            Column::Resent => (
                "resent",
                6,
                6,
                "the share of retransmissions among the packets with data since the last poll; at the first poll, \
                 since the connection began",
            ),
            Column::Limit => (
                "limited by",
                10,
                10,
                "what limited the connection for most of the time since the last poll, and for what share",
            ),
            Column::Age => ("age", 5, 5, "how long the connection has been watched"),
        }
    }

    /// The heading.
    pub fn heading(self) -> &'static str {
        self.shown().0
    }

    /// The minimum width in characters.
    pub fn width(self) -> usize {
        self.shown().1
    }

    /// The maximum width in characters.
    pub fn most(self) -> usize {
        self.shown().2
    }

    /// True if it is text, which is left-aligned.
    pub fn is_text(self) -> bool {
        self.number_of().is_none()
    }

    /// True if the connections differ in this column. A column that is unknown, or the same for all, takes no room.
    pub fn tells<'c>(self, mut of: impl Iterator<Item = &'c Connection>) -> bool {
        match self {
            Column::Process => of.any(|one| one.seen.process.is_some()),
            Column::Cgroup => of.any(|one| one.seen.cgroup.is_some()),
            Column::As => of.any(|one| one.seen.system.is_some()),
            Column::Namespace => {
                let first = of.next().map(|one| &one.seen.namespace);
                of.any(|one| Some(&one.seen.namespace) != first)
            }
            _ => true,
        }
    }

    /// The cell of a connection, in bits per second, milliseconds or bytes. A dash is an unknown value.
    pub fn cell(self, connection: &Connection) -> String {
        let seen = &connection.seen;
        let dash = || "–".to_owned();
        match self {
            Column::Remote => seen.remote().to_string(),
            Column::Local => seen.local().to_string(),
            Column::Process => seen
                .process
                .as_ref()
                .map_or_else(dash, |process| process.name.clone()),
            Column::Cgroup => seen.cgroup.as_deref().map_or_else(dash, short_cgroup),
            Column::Namespace => seen.namespace.to_string(),
            Column::As => seen.system.as_ref().map_or_else(dash, ToString::to_string),
            Column::Controller => match seen.socket.controller.as_str() {
                "" => dash(),
                name => name.to_owned(),
            },
            Column::State => seen.state().to_owned(),
            Column::Limit => seen.shares().map_or_else(dash, limit),
            _ => match self.number(connection) {
                None => dash(),
                Some(value) => match self {
                    Column::Rtt => millis(value),
                    Column::Ratio if value < 99.95 => format!("{value:.1}"),
                    Column::Resent => format!("{:.1}%", value * 100.0),
                    Column::Age => age(value),
                    _ => scaled(value),
                },
            },
        }
    }

    /// The number to sort by. `None` for text.
    fn number(self, connection: &Connection) -> Option<f64> {
        self.number_of()?(connection)
    }

    fn number_of(self) -> Option<fn(&Connection) -> Option<f64>> {
        let of: fn(&Connection) -> Option<f64> = match self {
            Column::Send => |of| bps(of.seen.send_rate()),
            Column::Receive => |of| bps(of.seen.receive_rate()),
            Column::Delivery => {
                |of| bps(Some(of.seen.socket.info.delivery_rate).filter(|rate| !rate.is_zero()))
            }
            Column::Rtt => |of| of.seen.rtt().map(Duration::as_millis_f64),
            Column::Ratio => |of| of.seen.rtt_ratio(),
            Column::Inflight => |of| Some(of.seen.inflight().get() as f64),
            Column::Pacing => |of| bps(of.seen.socket.info.pacing_rate),
            Column::Resent => |of| of.seen.retransmitted(),
            Column::Age => |of| Some(of.seen.when.at.saturating_sub(of.first).as_secs_f64()),
            _ => return None,
        };
        Some(of)
    }

    /// Sorts connections by this column: the largest number first, text from A, unknown values last.
    pub fn sort(self, connections: &mut [&Connection], is_reversed: bool) {
        let cookie = |one: &&Connection| one.seen.socket.cookie;
        if self.is_text() {
            connections.sort_by_cached_key(|one| (self.cell(one).to_lowercase(), cookie(one)));
        } else {
            let number =
                |one: &&Connection| Reverse(Number(self.number(one).unwrap_or(f64::NEG_INFINITY)));
            connections.sort_by_cached_key(|one| (number(one), cookie(one)));
        }
        if is_reversed {
            connections.reverse();
        }
    }
}

/// A number with a total order.
#[derive(Debug, PartialEq)]
struct Number(f64);

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

fn bps(rate: Option<Rate>) -> Option<f64> {
    rate.map(|rate| rate.bits_per_sec() as f64)
}

/// The largest share of the time, abbreviated: `cong 93%`.
pub fn limit(shares: Shares) -> String {
    let (limit, share) = shares.most();
    let name = match limit {
        Limit::Application => "app",
        Limit::Receiver => "rwnd",
        Limit::SendBuffer => "sndbuf",
        Limit::Congestion => "cong",
    };
    format!("{name} {:.0}%", share * 100.0)
}

/// Three digits and a letter: `18.6M`.
pub fn scaled(value: f64) -> String {
    let mut value = value;
    let mut letters = ["", "k", "M", "G", "T"].into_iter();
    let mut letter = letters.next().unwrap_or_default();
    while value >= 999.5
        && let Some(next) = letters.next()
    {
        value /= 1000.0;
        letter = next;
    }
    let decimals = match value {
        _ if letter.is_empty() || value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}{letter}")
}

/// Milliseconds: `41.2`, `0.25`, `0.006`.
pub fn millis(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value if value >= 0.0995 || value == 0.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

fn age(seconds: f64) -> String {
    match seconds {
        s if s < 99.5 => format!("{s:.0}s"),
        s if s < 5970.0 => format!("{:.0}m", s / 60.0),
        s if s < 356_400.0 => format!("{:.0}h", s / 3600.0),
        s => format!("{:.0}d", s / 86_400.0),
    }
}

/// The last part of a group's path. A long identifier is cut as containers' tools do.
fn short_cgroup(path: &str) -> String {
    let name = path
        .rsplit('/')
        .find(|part| !part.is_empty())
        .unwrap_or("/");
    let name = name.trim_end_matches(".scope").trim_end_matches(".service");
    let is_hex = |part: &str| part.len() >= 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let shown = name.split('-').map(|part| {
        if is_hex(part) {
            part.get(..12).unwrap_or(part)
        } else {
            part
        }
    });
    shown.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tests::connection;

    /// The columns as a table of the documentation.
    pub fn table() -> String {
        let row = |column: &Column| {
            let (heading, _, _, meaning) = column.shown();
            format!("| {heading} | {meaning} |\n")
        };
        let rows: String = Column::ALL.iter().map(row).collect();
        format!("| column | meaning |\n| --- | --- |\n{rows}")
    }

    #[test]
    fn cells_are_short() {
        let one = connection(1);
        let cells: Vec<_> = BY_IMPORTANCE
            .iter()
            .map(|column| column.cell(&one))
            .collect();
        let expected = [
            "198.51.100.7:50000",
            "8.00M",
            "40.0",
            "bbr",
            "nginx",
            "host",
            "cong 90%",
            "10.0%",
            "9.60M",
            "ProbeBW",
            "2.0",
            "0",
            "14.5k",
            "10.0M",
            "192.0.2.1:443",
            "AS64500 Example",
            "1s",
            "web",
        ];
        assert_eq!(cells, expected);
        assert_eq!(BY_IMPORTANCE.len(), Column::ALL.len());
        let mut all = BY_IMPORTANCE.to_vec();
        all.sort_by_key(|column| column.name());
        all.dedup();
        assert_eq!(all.len(), Column::ALL.len());
        let too_long = |column: &&Column| column.heading().chars().count() > column.width();
        assert_eq!(BY_IMPORTANCE.iter().find(too_long), None);
    }

    #[test]
    fn a_large_ratio_has_room_in_its_column() {
        let ratio = |rtt: u64| {
            let mut one = connection(1);
            one.seen.socket.info.rtt = Duration::from_micros(rtt);
            one.seen.socket.info.min_rtt = Some(Duration::from_micros(10));
            Column::Ratio.cell(&one)
        };
        assert_eq!(
            [20, 999, 2_800, 28_023].map(ratio),
            ["2.0", "99.9", "280", "2.80k"]
        );
    }

    #[test]
    fn three_digits_and_a_letter() {
        for (value, text) in [
            (0.0, "0"),
            (999.0, "999"),
            (999.7, "1.00k"),
            (18_640_000.0, "18.6M"),
            (3e15, "3000T"),
        ] {
            assert_eq!(scaled(value), text);
        }
        assert_eq!(
            [5.0, 600.0, 7200.0, 864_000.0].map(age),
            ["5s", "10m", "2h", "10d"]
        );
    }

    #[test]
    fn containers_are_cut() {
        let id = "0123456789abcdef".repeat(4);
        let path = format!("/system.slice/docker-{id}.scope");
        assert_eq!(short_cgroup(&path), "docker-0123456789ab");
        assert_eq!(short_cgroup("/"), "/");
        assert_eq!(short_cgroup("/a.slice/ssh.service"), "ssh");
    }

    #[test]
    fn numbers_from_the_largest_and_what_is_unknown_last() {
        let (mut slow, fast, mut unknown) = (connection(1), connection(2), connection(3));
        if let Some(since) = &mut slow.seen.since {
            since.acknowledged = units::Bytes::new(1);
        }
        unknown.seen.since = None;
        let mut all = [&unknown, &slow, &fast];
        Column::Send.sort(&mut all, false);
        let cookies = all.map(|one| one.seen.socket.cookie);
        assert_eq!(cookies, [2, 1, 3]);
        Column::Remote.sort(&mut all, true);
        assert_eq!(all.map(|one| one.seen.socket.cookie), [3, 2, 1]);
    }
}
