//! The measures of groups, defined once for every format.

use tables::statistics::nearest_rank;

use crate::group::Group;

/// The quantiles and their names.
pub const QUANTILES: [(f64, &str); 3] = [(0.5, "0.5"), (0.95, "0.95"), (1.0, "1")];

/// The state of a group of connections, or of all.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// The start of its counts, in nanoseconds since 1970.
    pub since_ns: u64,
    /// The number of the last sample with one of its connections.
    pub seen: u64,
    connections: u64,
    acknowledged: u64,
    received: u64,
    packets: u64,
    resent: u64,
    busy_s: f64,
    receiver_s: f64,
    send_buffer_s: f64,
    rtts_s: [Option<f64>; QUANTILES.len()],
    min_rtt_s: Option<f64>,
    delivery_rates: [Option<f64>; QUANTILES.len()],
}

impl Row {
    /// An empty row whose counts start at this time.
    pub fn since(since_ns: u64) -> Row {
        Row {
            since_ns,
            ..Row::default()
        }
    }

    /// Adds the group's changes since the previous sample, and takes its current state.
    pub fn add(&mut self, group: &Group) {
        let since = &group.since;
        self.acknowledged += since.acknowledged.get();
        self.received += since.received.get();
        self.packets += since.packets;
        self.resent += since.retransmitted;
        self.busy_s += since.busy.as_secs_f64();
        self.receiver_s += since.receiver.as_secs_f64();
        self.send_buffer_s += since.send_buffer.as_secs_f64();
        self.connections = group.connections;
        self.rtts_s =
            QUANTILES.map(|(share, _)| Some(nearest_rank(&group.rtts, share)?.as_secs_f64()));
        self.delivery_rates = QUANTILES.map(|(share, _)| {
            Some(nearest_rank(&group.delivery_rates, share)?.bytes_per_sec() as f64)
        });
        self.min_rtt_s = group.min_rtt.map(|least| least.as_secs_f64());
    }

    /// Sets the row to no connections and no RTT.
    pub fn rest(&mut self) {
        self.connections = 0;
        self.rtts_s = [None; QUANTILES.len()];
        self.delivery_rates = [None; QUANTILES.len()];
        self.min_rtt_s = None;
    }
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A count of things of this name.
    Of(&'static str),
    Bytes,
    Seconds,
    BytesPerSecond,
}

/// The numbers of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers {
    /// A count that only grows.
    Count(u64),
    /// A sum that only grows.
    Sum(f64),
    /// A current number.
    Now(u64),
    /// A value, if there is one.
    Value(Option<f64>),
    /// The values at `QUANTILES`, as far as there are any.
    Quantiles([Option<f64>; QUANTILES.len()]),
}

/// A measure of `tcp` (groups) or `watch` (all).
#[derive(Debug)]
pub struct Measure<T> {
    /// The first part of the name.
    pub scope: &'static str,
    /// The rest of the name, in words with `_` between them.
    pub name: &'static str,
    /// The description.
    pub help: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its numbers.
    pub of: fn(&T) -> Numbers,
}

impl<T> Measure<T> {
    const fn of(
        scope: &'static str,
        name: &'static str,
        help: &'static str,
        unit: Unit,
        of: fn(&T) -> Numbers,
    ) -> Measure<T> {
        Measure {
            scope,
            name,
            help,
            unit,
            of,
        }
    }
}

/// The measures of each group.
pub const OF_GROUPS: [Measure<Row>; 11] = [
    Measure::of(
        "tcp",
        "connections",
        "TCP connections now",
        Unit::Of("connection"),
        |row| Numbers::Now(row.connections),
    ),
    Measure::of(
        "tcp",
        "acknowledged",
        "Payload that the other side acknowledged",
        Unit::Bytes,
        |row| Numbers::Count(row.acknowledged),
    ),
    Measure::of(
        "tcp",
        "received",
        "Payload that arrived in order",
        Unit::Bytes,
        |row| Numbers::Count(row.received),
    ),
    Measure::of(
        "tcp",
        "sent_packets",
        "Packets with data sent, also those sent again",
        Unit::Of("packet"),
        |row| Numbers::Count(row.packets),
    ),
    Measure::of(
        "tcp",
        "retransmitted_packets",
        "Packets sent again",
        Unit::Of("packet"),
        |row| Numbers::Count(row.resent),
    ),
    Measure::of(
        "tcp",
        "busy",
        "Time with something to send or unacknowledged",
        Unit::Seconds,
        |row| Numbers::Sum(row.busy_s),
    ),
    Measure::of(
        "tcp",
        "rwnd_limited",
        "Part of it with the other side's window full",
        Unit::Seconds,
        |row| Numbers::Sum(row.receiver_s),
    ),
    Measure::of(
        "tcp",
        "sndbuf_limited",
        "Part of it with the send buffer too small",
        Unit::Seconds,
        |row| Numbers::Sum(row.send_buffer_s),
    ),
    Measure::of(
        "tcp",
        "rtt",
        "Smoothed RTT over the connections",
        Unit::Seconds,
        |row| Numbers::Quantiles(row.rtts_s),
    ),
    Measure::of(
        "tcp",
        "min_rtt",
        "Least RTT of any of the connections",
        Unit::Seconds,
        |row| Numbers::Value(row.min_rtt_s),
    ),
    Measure::of(
        "tcp",
        "delivery_rate",
        "Delivery rate over the connections",
        Unit::BytesPerSecond,
        |row| Numbers::Quantiles(row.delivery_rates),
    ),
];

/// The state of the watching itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// The time of the first sample, in nanoseconds since 1970.
    pub since_ns: u64,
    /// The number of samples.
    pub looks: u64,
    /// The number of followed connections.
    pub followed: u64,
    /// The number of connections left out because there are too many.
    pub left_out: u64,
    /// The number of rows that could not be recorded.
    pub unrecorded: u64,
}

/// The measures of the watching itself.
pub const OF_ALL: [Measure<Totals>; 4] = [
    Measure::of(
        "watch",
        "polls",
        "Polls of all connections",
        Unit::Of("poll"),
        |all| Numbers::Count(all.looks),
    ),
    Measure::of(
        "watch",
        "followed",
        "Connections that are followed",
        Unit::Of("connection"),
        |all| Numbers::Now(all.followed),
    ),
    Measure::of(
        "watch",
        "left_out",
        "Connections that are too many to be followed",
        Unit::Of("connection"),
        |all| Numbers::Now(all.left_out),
    ),
    Measure::of(
        "watch",
        "unrecorded",
        "Rows that could not be recorded",
        Unit::Of("row"),
        |all| Numbers::Count(all.unrecorded),
    ),
];
