//! Groups of connections as OpenMetrics, with a bounded number of series.

mod series;

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::connection::Connection;
use crate::group::{Group, GroupBy};
use series::{Labels, Series};

/// The group of connections that have none of their own.
const OTHER: &str = "other";

/// A group without connections keeps its series for so many looks.
const PATIENCE: u64 = 600;

/// No label is longer: names of processes and of groups are anybody's.
const LABEL: usize = 120;

/// What is exported of groups of connections.
///
/// The first groups that come get series of their own, as many as are allowed; what else there is counts as `other`. A group
/// that has had no connection for a while makes room.
#[derive(Debug)]
pub struct Metrics {
    by: GroupBy,
    most: usize,
    /// When each group with series of its own was seen last.
    own: BTreeMap<String, u64>,
    look: u64,
    registry: Registry,
    series: Series,
    looks: Counter,
    followed: Gauge,
    left_out: Gauge,
    unrecorded: Gauge,
}

impl Metrics {
    /// Groups by `by`, at most so many of them with series of their own.
    pub fn new(by: GroupBy, most: usize) -> Metrics {
        let mut registry = Registry::with_prefix("fullpipe");
        let looks = Counter::default();
        registry.register("watch_looks", "Looks at all connections", looks.clone());
        let mut gauge = |name: &str, help: &str| {
            let gauge: Gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        Metrics {
            by,
            most,
            own: BTreeMap::new(),
            look: 0,
            looks,
            followed: gauge("watch_followed", "Connections that are followed"),
            left_out: gauge(
                "watch_left_out",
                "Connections that are too many to be followed",
            ),
            unrecorded: gauge("watch_unrecorded", "Rows that could not be recorded"),
            series: Series::new(&mut registry),
            registry,
        }
    }

    /// Takes in a look: the connections that pass a filter, how many are followed and left out altogether, and how many rows
    /// were not recorded.
    pub fn look<'c>(
        &mut self,
        connections: impl IntoIterator<Item = &'c Connection>,
        [followed, left_out, unrecorded]: [u64; 3],
    ) {
        self.look += 1;
        self.looks.inc();
        let gauge = |gauge: &Gauge, value: u64| gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        gauge(&self.followed, followed);
        gauge(&self.left_out, left_out);
        gauge(&self.unrecorded, unrecorded);
        self.forget();
        let mut groups: HashMap<String, Group> = HashMap::new();
        // Where there is room for some, those with the most traffic come first.
        for group in Group::all(self.by, connections) {
            let name = self.own_name(clipped(&group.name));
            groups.entry(name).or_default().merge(group);
        }
        let mut shown = HashSet::new();
        for (name, group) in groups {
            let group = group.finish(name);
            self.series.add(&self.labels(&group.name), &group);
            shown.insert(group.name);
        }
        for name in self.own.keys().map(String::as_str).chain([OTHER]) {
            if !shown.contains(name) {
                self.series.rest(&self.labels(name));
            }
        }
    }

    /// The group's name, or `other`.
    fn own_name(&mut self, name: String) -> String {
        if let Some(seen) = self.own.get_mut(&name) {
            *seen = self.look;
            return name;
        }
        if self.own.len() >= self.most {
            return OTHER.to_owned();
        }
        self.own.insert(name.clone(), self.look);
        name
    }

    fn labels(&self, name: &str) -> Labels {
        vec![(self.by.name(), name.to_owned())]
    }

    /// Groups that have had no connection for long make room for others.
    fn forget(&mut self) {
        let look = self.look;
        let is_here = |seen: u64| look.saturating_sub(seen) <= PATIENCE;
        let gone: Vec<String> = self
            .own
            .iter()
            .filter(|(_, seen)| !is_here(**seen))
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            self.own.remove(&name);
            self.series.remove(&self.labels(&name));
        }
    }

    /// The text of all metrics.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// A label without what a page would obey, and no longer than labels are.
fn clipped(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control())
        .take(LABEL)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::tests::connection;

    fn from(network: u8, cookie: u64) -> Connection {
        let mut one = connection(cookie);
        one.seen.socket.remote = SocketAddr::from(([10, 0, network, 1], 50_000));
        one
    }

    /// The value of the series that starts with this.
    fn value(text: &str, series: &str) -> Option<f64> {
        let line = text.lines().find(|line| line.starts_with(series))?;
        line.rsplit(' ').next()?.parse().ok()
    }

    #[test]
    fn groups_are_counted_and_the_rest_is_other() {
        let mut metrics = Metrics::new(GroupBy::Prefix, 2);
        let all: Vec<_> = (1..=5)
            .map(|network| from(network, network.into()))
            .collect();
        metrics.look(&all, [5, 7, 0]);
        metrics.look(&all, [5, 7, 0]);
        let text = metrics.text();
        let connections = |group: &str| {
            value(
                &text,
                &format!("fullpipe_tcp_connections{{prefix=\"{group}\"}}"),
            )
        };
        assert_eq!(connections("10.0.1.0/24"), Some(1.0), "{text}");
        assert_eq!(connections("other"), Some(3.0));
        assert_eq!(connections("10.0.3.0/24"), None);
        let one = all[0].seen.since.unwrap().acknowledged.get() as f64;
        let sent = value(
            &text,
            "fullpipe_tcp_acknowledged_bytes_total{prefix=\"10.0.1.0/24\"}",
        );
        assert_eq!(sent, Some(2.0 * one));
        let rtt = value(
            &text,
            "fullpipe_tcp_rtt_seconds{prefix=\"other\",quantile=\"0.5\"}",
        );
        assert_eq!(rtt, Some(0.04));
        assert_eq!(value(&text, "fullpipe_watch_left_out"), Some(7.0));
        assert!(text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn series_stay_bounded_whoever_comes() {
        let mut metrics = Metrics::new(GroupBy::Prefix, 3);
        let mut longest = 0;
        for network in 0..=255 {
            metrics.look(&[from(network, 1)], [1, 0, 0]);
            longest = longest.max(
                metrics
                    .text()
                    .lines()
                    .filter(|line| !line.starts_with('#'))
                    .count(),
            );
        }
        let series_of_a_group = 1 + 4 + 3 + 1 + 2 * 3;
        assert!(longest <= 4 * series_of_a_group + 4, "{longest}");
    }

    #[test]
    fn a_group_that_is_gone_makes_room() {
        let mut metrics = Metrics::new(GroupBy::Prefix, 1);
        metrics.look(&[from(1, 1)], [1, 0, 0]);
        metrics.look(&[], [0, 0, 0]);
        let text = metrics.text();
        assert_eq!(
            value(&text, "fullpipe_tcp_connections{prefix=\"10.0.1.0/24\"}"),
            Some(0.0)
        );
        assert_eq!(value(&text, "fullpipe_tcp_rtt_seconds{"), None);
        for _ in 0..=PATIENCE {
            metrics.look(&[from(2, 2)], [1, 0, 0]);
        }
        let text = metrics.text();
        assert!(
            !text.contains("10.0.1.0/24") && text.contains("prefix=\"10.0.2.0/24\""),
            "{text}"
        );
    }

    #[test]
    fn odd_names_stay_within_their_label() {
        let mut metrics = Metrics::new(GroupBy::Process, 9);
        let mut one = connection(1);
        let name = "a\"} 1\n# EOF\\".repeat(20);
        one.seen.process = Some(crate::who::Process { pid: 1, name }.into());
        metrics.look(&[one], [1, 0, 0]);
        let text = metrics.text();
        assert_eq!(text.lines().filter(|line| *line == "# EOF").count(), 1);
        assert!(text.lines().all(|line| line.len() < 400), "{text}");
        assert!(text.contains(r#"process="a\"} 1# EOF\\a\""#), "{text}");
    }
}
