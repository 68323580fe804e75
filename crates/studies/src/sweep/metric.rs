//! What is compared between the points of a sweep: one number for all flows of a controller in one run.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::spread::median;

/// A number that sums up the flows of one controller in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Metric {
    /// Their goodput together, over the time of all flows of the run, as a share of what the path allows.
    #[default]
    GoodputShare,
    /// Their goodput together, over the time of all flows of the run.
    Goodput,
    /// The median of their median RTTs.
    RttP50,
    /// The median of their 95th percentiles of the RTT.
    RttP95,
    /// The median of the time that their transfers took.
    Time,
    /// What they sent again, as a share of what they sent.
    ResentShare,
    /// Their timeouts.
    Timeouts,
    /// Jain's index of the goodputs of all flows of the run.
    Jain,
    /// What the bottleneck transmitted, as a share of what it could have.
    Utilization,
    /// The bottleneck's queue, mean over time.
    QueueMean,
    /// The bottleneck's queue, 95th percentile over time.
    QueueP95,
}

impl Metric {
    /// Every metric, the most asked for first.
    pub const ALL: [Metric; 11] = [
        Metric::GoodputShare,
        Metric::Goodput,
        Metric::RttP50,
        Metric::RttP95,
        Metric::Time,
        Metric::ResentShare,
        Metric::Timeouts,
        Metric::Jain,
        Metric::Utilization,
        Metric::QueueMean,
        Metric::QueueP95,
    ];

    /// Its name: in a sweep, on the command line, in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::GoodputShare => "goodput_share",
            Metric::Goodput => "goodput_bps",
            Metric::RttP50 => "rtt_p50_ms",
            Metric::RttP95 => "rtt_p95_ms",
            Metric::Time => "time_s",
            Metric::ResentShare => "resent_share",
            Metric::Timeouts => "timeouts",
            Metric::Jain => "jain",
            Metric::Utilization => "utilization",
            Metric::QueueMean => "queue_mean_ms",
            Metric::QueueP95 => "queue_p95_ms",
        }
    }

    /// What it is, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Metric::GoodputShare => "Goodput, share of the limit",
            Metric::Goodput => "Goodput",
            Metric::RttP50 => "RTT, median",
            Metric::RttP95 => "RTT, 95th percentile",
            Metric::Time => "Completion time",
            Metric::ResentShare => "Sent again",
            Metric::Timeouts => "Timeouts",
            Metric::Jain => "Jain index of all flows",
            Metric::Utilization => "Utilization of the bottleneck",
            Metric::QueueMean => "Queue at the bottleneck, mean",
            Metric::QueueP95 => "Queue at the bottleneck, 95th percentile",
        }
    }

    /// The metric of the flows of `controller` in a run with this summary; nothing if the run does not tell.
    pub fn of(self, summary: &Value, controller: &str) -> Option<f64> {
        let flows = || {
            let all = summary.get("flows").and_then(Value::as_array);
            all.into_iter()
                .flatten()
                .filter(|flow| flow.get("controller").and_then(Value::as_str) == Some(controller))
        };
        let sum = |key: &str| {
            flows()
                .map(|flow| number(flow, key))
                .reduce(|sum, next| Some(sum? + next?))
                .flatten()
        };
        // Over the same time, whatever the lives of the flows.
        let together = |key: &str| {
            let all = summary.get("controllers").and_then(Value::as_array)?;
            let own = all
                .iter()
                .find(|one| one.get("controller").and_then(Value::as_str) == Some(controller))?;
            number(own, key)
        };
        let middle = |key: &str| {
            median(
                &mut flows()
                    .filter_map(|flow| number(flow, key))
                    .collect::<Vec<_>>(),
            )
        };
        match self {
            Metric::Goodput => together("/goodput_bps"),
            Metric::GoodputShare => together("/limit_share"),
            Metric::RttP50 => middle("/rtt_ms/p50"),
            Metric::RttP95 => middle("/rtt_ms/p95"),
            Metric::Time => {
                let taken = |flow| Some(number(flow, "/completed_s")? - number(flow, "/start_s")?);
                median(&mut flows().filter_map(taken).collect::<Vec<_>>())
            }
            Metric::ResentShare => ratio(sum("/retransmitted_bytes")?, sum("/sent_bytes")?),
            Metric::Timeouts => sum("/timeouts"),
            Metric::Jain => number(summary, "/fairness/jain"),
            Metric::Utilization => number(summary, "/path/utilization"),
            Metric::QueueMean => number(summary, "/path/queue_ms/mean"),
            Metric::QueueP95 => number(summary, "/path/queue_ms/p95"),
        }
    }
}

fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no such metric. Displays the names that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownMetric;

impl fmt::Display for UnknownMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Metric::ALL.map(Metric::name);
        write!(f, "unknown metric; known: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownMetric {}

impl FromStr for Metric {
    type Err = UnknownMetric;
    fn from_str(name: &str) -> Result<Metric, UnknownMetric> {
        let found = Metric::ALL.into_iter().find(|metric| metric.name() == name);
        found.ok_or(UnknownMetric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metrics_are_of_the_flows_of_one_controller() {
        let summary = json!({
            "path": { "utilization": 0.5, "queue_ms": { "mean": null, "p95": 3.5 } },
            "flows": [
                { "controller": "bbr1", "goodput_bps": 300, "rtt_ms": { "p50": 10.0 }, "timeouts": 1,
                  "sent_bytes": 90, "retransmitted_bytes": 10, "start_s": 1.0, "completed_s": 3.0 },
                { "controller": "cubic", "goodput_bps": 100, "rtt_ms": { "p50": 40.0 }, "timeouts": null },
                { "controller": "bbr1", "goodput_bps": 500, "rtt_ms": { "p50": 20.0 }, "timeouts": 2,
                  "sent_bytes": 110, "retransmitted_bytes": 10, "start_s": 0.0, "completed_s": null },
            ],
            "controllers": [
                { "controller": "bbr1", "flows": 2, "goodput_bps": 500, "limit_share": 0.5 },
                { "controller": "cubic", "flows": 1, "goodput_bps": 100, "limit_share": null },
            ],
            "fairness": { "jain": 0.9 },
        });
        for (metric, bbr1, cubic) in [
            (Metric::Goodput, Some(500.0), Some(100.0)),
            (Metric::GoodputShare, Some(0.5), None),
            (Metric::RttP50, Some(15.0), Some(40.0)),
            (Metric::RttP95, None, None),
            (Metric::Time, Some(2.0), None),
            (Metric::ResentShare, Some(0.1), None),
            (Metric::Timeouts, Some(3.0), None),
            (Metric::Jain, Some(0.9), Some(0.9)),
            (Metric::Utilization, Some(0.5), Some(0.5)),
            (Metric::QueueMean, None, None),
            (Metric::QueueP95, Some(3.5), Some(3.5)),
        ] {
            assert_eq!(metric.of(&summary, "bbr1"), bbr1, "{metric}");
            assert_eq!(metric.of(&summary, "cubic"), cubic, "{metric}");
        }
        assert_eq!(Metric::Goodput.of(&summary, "reno"), None);
    }

    #[test]
    fn names_are_read_back() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        assert_eq!("speed".parse::<Metric>(), Err(UnknownMetric));
    }
}
