//! The columns of a list of connections, which is also sorted by them.

use std::cmp::{Ordering, Reverse};

use units::{Duration, Rate};

use crate::connection::{Connection, Limit, Shares};

/// The text of an unknown value.
pub const UNKNOWN: &str = "–";

/// The value of a connection in a column.
enum Cell {
    /// A text, if it is known.
    Text(fn(&Connection) -> Option<String>),
    /// A number by which connections are sorted, if it is known, and its text.
    Number(fn(&Connection) -> Option<f64>, fn(f64) -> String),
}

/// Defines the columns: the meaning for the documentation, the name, the heading, the minimum and the maximum width in
/// characters, and the cell.
macro_rules! columns {
    ($(
        $(#[doc = $meaning:literal])+
        $column:ident = $name:literal, $heading:literal, $min:literal..=$max:literal, $cell:expr;
    )+) => {
        units::named! {
            /// A column.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub enum Column, "column" {
                $($(#[doc = $meaning])+ $column = $name,)+
            }
        }

        impl Column {
            /// The heading.
            pub const fn heading(self) -> &'static str {
                match self {
                    $(Column::$column => $heading,)+
                }
            }

            /// The minimum width in characters.
            pub const fn min_width(self) -> usize {
                match self {
                    $(Column::$column => $min,)+
                }
            }

            /// The maximum width in characters.
            pub const fn max_width(self) -> usize {
                match self {
                    $(Column::$column => $max,)+
                }
            }

            #[cfg(test)]
            fn meaning(self) -> &'static str {
                match self {
                    $(Column::$column => concat!($($meaning),+).trim(),)+
                }
            }

            fn kind(self) -> Cell {
                use Cell::{Number, Text};
                match self {
                    $(Column::$column => $cell,)+
                }
            }
        }
    };
}

columns! {
    /// the address and port of the other end. An IPv4 address in a socket of IPv6 (`::ffff:192.0.2.1`) is shown as IPv4
    Remote = "remote", "remote", 18..=47, Text(|of| Some(of.seen.remote().to_string()));
    /// the address and port of this end
    Local = "local", "local", 18..=47, Text(|of| Some(of.seen.local().to_string()));
    /// the process that owns it
    Process = "process", "process", 8..=16, Text(|of| Some(of.seen.process.as_ref()?.name.clone()));
    /// the last part of the process's control group: a container, a service
    Cgroup = "cgroup", "cgroup", 16..=32, Text(|of| of.seen.cgroup.as_deref().map(short_cgroup));
    /// the network namespace
    Namespace = "namespace", "namespace", 9..=20, Text(|of| Some(of.seen.namespace.to_string()));
    /// the remote network, with `--as`
    As = "as", "AS", 16..=32, Text(|of| of.seen.system.as_ref().map(ToString::to_string));
    /// the congestion controller
    Controller = "controller", "control", 7..=15, Text(|of| {
        Some(of.seen.socket.controller.as_str()).filter(|name| !name.is_empty()).map(str::to_owned)
    });
    /// the controller's state; BBR's is derived from its gains, that of other controllers from window and threshold
    State = "state", "state", 8..=18, Text(|of| Some(of.seen.state().to_owned()));
    /// payload acknowledged since the last poll, in bit/s
    Send = "send", "send/s", 6..=6, Number(|of| of.seen.send_rate().map(bps), scaled);
    /// payload received since the last poll, in bit/s
    Receive = "receive", "recv/s", 6..=6, Number(|of| of.seen.receive_rate().map(bps), scaled);
    /// the kernel's latest delivery-rate sample; one that the application limited does not replace a greater one
    Delivery = "delivery", "deliv/s", 7..=7, Number(
        |of| of.seen.socket.info.known_delivery_rate().map(bps),
        scaled
    );
    /// the smoothed RTT
    Rtt = "rtt", "RTT ms", 6..=6, Number(|of| of.seen.rtt().map(Duration::as_millis_f64), millis);
    /// the ratio of the smoothed RTT to the minimum RTT
    Ratio = "ratio", "×min", 5..=5, Number(|of| of.seen.rtt_ratio(), ratio);
    /// bytes in flight, with every packet counted as a full one
    Inflight = "inflight", "inflight", 8..=8, Number(|of| Some(of.seen.inflight().get() as f64), scaled);
    /// the pacing rate
    Pacing = "pacing", "pacing/s", 8..=8, Number(|of| of.seen.socket.info.pacing_rate.map(bps), scaled);
    /// the share of retransmissions among the packets with data since the last poll; at the first poll, since the
    /// connection began
    Resent = "resent", "resent", 6..=6, Number(|of| of.seen.retransmitted(), percent);
    /// what limited the connection for most of the time since the last poll, and for what share
    Limit = "limit", "limited by", 10..=10, Text(|of| of.seen.shares().map(limit));
    /// how long the connection has been watched
    Age = "age", "age", 5..=5, Number(
        |of| Some(of.seen.when.at.saturating_sub(of.first).as_secs_f64()),
        age
    );
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
    /// True if it is text, which is left-aligned.
    pub fn is_text(self) -> bool {
        matches!(self.kind(), Cell::Text(_))
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
        let text = match self.kind() {
            Cell::Text(text) => text(connection),
            Cell::Number(number, text) => number(connection).map(text),
        };
        text.unwrap_or_else(|| UNKNOWN.to_owned())
    }

    /// The text of a number in this column. A dash is an unknown value.
    pub fn text(self, number: Option<f64>) -> String {
        match (self.kind(), number) {
            (Cell::Number(_, text), Some(number)) => text(number),
            _ => UNKNOWN.to_owned(),
        }
    }

    /// Sorts connections by this column: the largest number first, text from A, unknown values last.
    pub fn sort(self, connections: &mut [&Connection], is_reversed: bool) {
        let cookie = |one: &&Connection| one.seen.socket.cookie;
        match self.kind() {
            Cell::Text(_) => {
                connections.sort_by_cached_key(|one| (self.cell(one).to_lowercase(), cookie(one)));
            }
            Cell::Number(number, _) => {
                let number =
                    |one: &&Connection| Reverse(Number(number(one).unwrap_or(f64::NEG_INFINITY)));
                connections.sort_by_cached_key(|one| (number(one), cookie(one)));
            }
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

pub(crate) fn bps(rate: Rate) -> f64 {
    rate.bits_per_sec() as f64
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

fn ratio(value: f64) -> String {
    if value < 99.95 {
        format!("{value:.1}")
    } else {
        scaled(value)
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
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
        let row = |column: &Column| format!("| {} | {} |\n", column.heading(), column.meaning());
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
        let too_long = |column: &&Column| column.heading().chars().count() > column.min_width();
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
