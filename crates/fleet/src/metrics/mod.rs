//! Groups of connections in numbers, for OpenMetrics and OTLP, with a bounded number of series.

mod measure;
mod otlp;
mod text;

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::connection::{Connection, Moment};
use crate::group::{Group, GroupBy};
use measure::{Row, Totals};

/// The group of connections without a series of their own.
const OTHER: &str = "other";

/// The number of samples for which a group without connections keeps its series.
const MAX_IDLE_LOOKS: u64 = 600;

/// The maximum length of a label in characters. Any user can name processes and control groups.
const MAX_LABEL_CHARS: usize = 120;

/// The exported groups of connections.
///
/// The first groups get series of their own, up to a limit. The others are summed in `other`. A group without
/// connections for a while makes room.
#[derive(Debug)]
pub struct Metrics {
    most: usize,
    by: GroupBy,
    now: Arc<Snapshot>,
}

/// The state after a sample.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The property that groups share.
    by: &'static str,
    /// The time of the sample, in nanoseconds since 1970.
    at_ns: u64,
    totals: Totals,
    rows: BTreeMap<String, Row>,
}

impl Snapshot {
    /// The time of the sample, in nanoseconds since 1970.
    pub fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// The snapshot as OpenMetrics.
    pub fn text(self: Arc<Snapshot>) -> String {
        text::text(self)
    }

    /// The snapshot as the body of an OTLP request for a resource with these attributes.
    pub fn otlp(&self, resource: &[(String, String)]) -> String {
        otlp::body(self, resource)
    }
}

impl Metrics {
    /// Groups by `by`. At most this many groups have series of their own.
    pub fn new(by: GroupBy, most: usize) -> Metrics {
        let now = Snapshot {
            by: by.name(),
            ..Snapshot::default()
        };
        Metrics {
            most,
            by,
            now: Arc::new(now),
        }
    }

    /// Adds a sample: the connections that pass a filter, the numbers of followed and left-out connections, and the
    /// number of rows that were not recorded.
    pub fn look<'c>(
        &mut self,
        when: Moment,
        connections: impl IntoIterator<Item = &'c Connection>,
        [followed, left_out, unrecorded]: [u64; 3],
    ) {
        let now = Arc::make_mut(&mut self.now);
        let before_ns = now.at_ns;
        now.at_ns = nanoseconds(when.unix_s);
        let totals = &mut now.totals;
        if totals.looks == 0 {
            totals.since_ns = now.at_ns;
        }
        *totals = Totals {
            looks: totals.looks + 1,
            followed,
            left_out,
            unrecorded,
            ..*totals
        };
        let look = totals.looks;
        // The first counted changes are those since the previous sample.
        let since_ns = if look == 1 { now.at_ns } else { before_ns };
        let is_kept = |name: &str, row: &Row| {
            name == OTHER || look.saturating_sub(row.seen) <= MAX_IDLE_LOOKS
        };
        now.rows.retain(|name, row| is_kept(name, row));
        let mut groups: HashMap<String, Group> = HashMap::new();
        // Groups with the most traffic come first where room is short.
        for group in Group::all(self.by, connections) {
            let mut name = clipped(&group.name);
            let own = now.rows.len() - usize::from(now.rows.contains_key(OTHER));
            if !now.rows.contains_key(&name) && own >= self.most {
                name = OTHER.to_owned();
            }
            let row = now
                .rows
                .entry(name.clone())
                .or_insert_with(|| Row::since(since_ns));
            row.seen = look;
            groups.entry(name).or_default().merge(group);
        }
        for (name, row) in &mut now.rows {
            match groups.remove(name) {
                Some(group) => row.add(&group.finish(name.clone())),
                None => row.rest(),
            }
        }
    }

    /// The state after the last sample.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.now)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// A label without control characters, cut to the maximum length.
fn clipped(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control())
        .take(MAX_LABEL_CHARS)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::path::Path;

    use super::*;
    use crate::tests::connection;

    fn from(network: u8, cookie: u64) -> Connection {
        let mut one = connection(cookie);
        one.seen.socket.remote = SocketAddr::from(([10, 0, network, 1], 50_000));
        one
    }

    /// The value of the series that starts with this text.
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
        metrics.look(Moment::default(), &all, [5, 7, 0]);
        metrics.look(Moment::default(), &all, [5, 7, 9]);
        let text = metrics.snapshot().text();
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
        // It only grows.
        assert_eq!(value(&text, "fullpipe_watch_unrecorded_total"), Some(9.0));
        assert!(text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn the_documentation_has_the_series() {
        let mut metrics = Metrics::new(GroupBy::Prefix, 1);
        metrics.look(Moment::default(), &[from(1, 1)], [1, 0, 0]);
        let text = metrics.snapshot().text();
        let help = text.lines().filter_map(|line| line.strip_prefix("# HELP "));
        let rows = help.map(|line| {
            let (name, help) = line.split_once(' ').unwrap();
            let mut series = text
                .lines()
                .filter_map(|line| line.split([' ', '{']).next());
            let series = series.find(|series| series.starts_with(name)).unwrap();
            format!("| `{series}` | {help} |\n")
        });
        let rows: String = rows.collect();
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/watch.md");
        let table = format!("| series | meaning |\n| --- | --- |\n{rows}");
        tables::page::assert_has(&page, "series", &table);
    }

    #[test]
    fn series_stay_bounded_whoever_comes() {
        let mut metrics = Metrics::new(GroupBy::Prefix, 3);
        let mut longest = 0;
        for network in 0..=255 {
            metrics.look(Moment::default(), &[from(network, 1)], [1, 0, 0]);
            longest = longest.max(
                metrics
                    .snapshot()
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
        metrics.look(Moment::default(), &[from(1, 1)], [1, 0, 0]);
        metrics.look(Moment::default(), &[], [0, 0, 0]);
        let text = metrics.snapshot().text();
        assert_eq!(
            value(&text, "fullpipe_tcp_connections{prefix=\"10.0.1.0/24\"}"),
            Some(0.0)
        );
        assert_eq!(value(&text, "fullpipe_tcp_rtt_seconds{"), None);
        for _ in 0..=MAX_IDLE_LOOKS {
            metrics.look(Moment::default(), &[from(2, 2)], [1, 0, 0]);
        }
        let text = metrics.snapshot().text();
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
        metrics.look(Moment::default(), &[one], [1, 0, 0]);
        let text = metrics.snapshot().text();
        assert_eq!(text.lines().filter(|line| *line == "# EOF").count(), 1);
        assert!(text.lines().all(|line| line.len() < 400), "{text}");
        assert!(text.contains(r#"process="a\"} 1# EOF\\a\""#), "{text}");
    }
}
