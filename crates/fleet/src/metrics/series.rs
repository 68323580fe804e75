//! The series of groups.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::group::{Group, quantile};

/// What a series is of.
pub type Labels = Vec<(&'static str, String)>;

type Counts = Family<Labels, Counter>;
type Seconds = Family<Labels, Counter<f64, AtomicU64>>;
type Numbers = Family<Labels, Gauge>;
type Values = Family<Labels, Gauge<f64, AtomicU64>>;

const QUANTILES: [(f64, &str); 3] = [(0.5, "0.5"), (0.95, "0.95"), (1.0, "1")];

/// All of them.
#[derive(Debug, Default)]
pub struct Series {
    connections: Numbers,
    acknowledged: Counts,
    received: Counts,
    packets: Counts,
    resent: Counts,
    busy: Seconds,
    receiver: Seconds,
    send_buffer: Seconds,
    rtt: Values,
    min_rtt: Values,
    delivery_rate: Values,
}

impl Series {
    /// Registers them.
    pub fn new(registry: &mut Registry) -> Series {
        let all = Series::default();
        let connections = all.connections.clone();
        registry.register("tcp_connections", "TCP connections now", connections);
        for (name, help, counts) in [
            (
                "tcp_acknowledged",
                "Payload that the other side acknowledged",
                &all.acknowledged,
            ),
            (
                "tcp_received",
                "Payload that arrived in order",
                &all.received,
            ),
        ] {
            registry.register_with_unit(name, help, Unit::Bytes, counts.clone());
        }
        for (name, help, counts) in [
            (
                "tcp_sent_packets",
                "Packets with data sent, also those sent again",
                &all.packets,
            ),
            (
                "tcp_retransmitted_packets",
                "Packets sent again",
                &all.resent,
            ),
        ] {
            registry.register(name, help, counts.clone());
        }
        for (name, help, seconds) in [
            (
                "tcp_busy",
                "Time with something to send or unacknowledged",
                &all.busy,
            ),
            (
                "tcp_rwnd_limited",
                "Part of it with the other side's window full",
                &all.receiver,
            ),
            (
                "tcp_sndbuf_limited",
                "Part of it with the send buffer too small",
                &all.send_buffer,
            ),
        ] {
            registry.register_with_unit(name, help, Unit::Seconds, seconds.clone());
        }
        let rate = Unit::Other("bytes_per_second".to_owned());
        for (name, help, unit, values) in [
            (
                "tcp_rtt",
                "Smoothed RTT over the connections",
                Unit::Seconds,
                &all.rtt,
            ),
            (
                "tcp_min_rtt",
                "Least RTT of any of the connections",
                Unit::Seconds,
                &all.min_rtt,
            ),
            (
                "tcp_delivery_rate",
                "Delivery rate over the connections",
                rate,
                &all.delivery_rate,
            ),
        ] {
            registry.register_with_unit(name, help, unit, values.clone());
        }
        all
    }

    fn counts(&self) -> [&Counts; 4] {
        [
            &self.acknowledged,
            &self.received,
            &self.packets,
            &self.resent,
        ]
    }

    fn seconds(&self) -> [&Seconds; 3] {
        [&self.busy, &self.receiver, &self.send_buffer]
    }

    /// Adds what happened to a group since the look before, and shows what it is now.
    pub fn add(&self, labels: &Labels, group: &Group) {
        let since = &group.since;
        let (acknowledged, received) = (since.acknowledged.get(), since.received.get());
        let counts = [acknowledged, received, since.packets, since.retransmitted];
        for (series, count) in self.counts().into_iter().zip(counts) {
            series.get_or_create(labels).inc_by(count);
        }
        let spans = [since.busy, since.receiver, since.send_buffer];
        for (series, span) in self.seconds().into_iter().zip(spans) {
            series.get_or_create(labels).inc_by(span.as_secs_f64());
        }
        let count = i64::try_from(group.connections).unwrap_or(i64::MAX);
        self.connections.get_or_create(labels).set(count);
        for (share, labels) in with_quantiles(labels) {
            if let Some(rtt) = quantile(&group.rtts, share) {
                self.rtt.get_or_create(&labels).set(rtt.as_secs_f64());
            }
            if let Some(rate) = quantile(&group.delivery_rates, share) {
                let rate = rate.bytes_per_sec() as f64;
                self.delivery_rate.get_or_create(&labels).set(rate);
            }
        }
        if let Some(min) = group.min_rtt {
            self.min_rtt.get_or_create(labels).set(min.as_secs_f64());
        }
    }

    /// A group without connections has none, and no RTT.
    pub fn rest(&self, labels: &Labels) {
        if self.connections.get(labels).is_some() {
            self.connections.get_or_create(labels).set(0);
        }
        self.min_rtt.remove(labels);
        for (_, labels) in with_quantiles(labels) {
            self.rtt.remove(&labels);
            self.delivery_rate.remove(&labels);
        }
    }

    /// Removes a group.
    pub fn remove(&self, labels: &Labels) {
        self.rest(labels);
        self.connections.remove(labels);
        for series in self.counts() {
            series.remove(labels);
        }
        for series in self.seconds() {
            series.remove(labels);
        }
    }
}

fn with_quantiles(labels: &Labels) -> impl Iterator<Item = (f64, Labels)> {
    QUANTILES.iter().map(|(share, text)| {
        let mut labels = labels.clone();
        labels.push(("quantile", (*text).to_owned()));
        (*share, labels)
    })
}
