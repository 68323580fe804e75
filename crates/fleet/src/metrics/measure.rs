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

/// The measures of a scope: the description, the name, the unit and the numbers of each.
macro_rules! measures {
    ($scope:literal, $row:ty { $($(#[doc = $help:literal])+ $name:ident, $unit:expr, $of:expr;)+ }) => {
        &[$(Measure {
            scope: $scope,
            name: stringify!($name),
            help: concat!($($help),+).trim_ascii(),
            unit: $unit,
            of: $of,
        }),+]
    };
}

/// The measures of each group.
pub const OF_GROUPS: &[Measure<Row>] = measures!("tcp", Row {
    /// TCP connections now
    connections, Unit::Of("connection"), |row| Numbers::Now(row.connections);
    /// Payload that the other side acknowledged
    acknowledged, Unit::Bytes, |row| Numbers::Count(row.acknowledged);
    /// Payload that arrived in order
    received, Unit::Bytes, |row| Numbers::Count(row.received);
    /// Packets with data sent, also those sent again
    sent_packets, Unit::Of("packet"), |row| Numbers::Count(row.packets);
    /// Packets sent again
    retransmitted_packets, Unit::Of("packet"), |row| Numbers::Count(row.resent);
    /// Time with something to send or unacknowledged
    busy, Unit::Seconds, |row| Numbers::Sum(row.busy_s);
    /// Part of it with the other side's window full
    rwnd_limited, Unit::Seconds, |row| Numbers::Sum(row.receiver_s);
    /// Part of it with the send buffer too small
    sndbuf_limited, Unit::Seconds, |row| Numbers::Sum(row.send_buffer_s);
    /// Smoothed RTT over the connections
    rtt, Unit::Seconds, |row| Numbers::Quantiles(row.rtts_s);
    /// Least RTT of any of the connections
    min_rtt, Unit::Seconds, |row| Numbers::Value(row.min_rtt_s);
    /// Delivery rate over the connections
    delivery_rate, Unit::BytesPerSecond, |row| Numbers::Quantiles(row.delivery_rates);
});

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
pub const OF_ALL: &[Measure<Totals>] = measures!("watch", Totals {
    /// Polls of all connections
    polls, Unit::Of("poll"), |all| Numbers::Count(all.looks);
    /// Connections that are followed
    followed, Unit::Of("connection"), |all| Numbers::Now(all.followed);
    /// Connections that are too many to be followed
    left_out, Unit::Of("connection"), |all| Numbers::Now(all.left_out);
    /// Rows that could not be recorded
    unrecorded, Unit::Of("row"), |all| Numbers::Count(all.unrecorded);
});
