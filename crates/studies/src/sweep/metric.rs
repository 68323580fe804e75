//! The metrics of a sweep: one number for all flows of a controller in one run.

use serde::Serialize;

use record::Measure;

/// A [measure](Measure) of the flows of one controller in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Metric {
    /// The column of the measure, as named in sweeps, options and JSON.
    name: &'static str,
    /// The title in plots.
    title: &'static str,
}

const fn metric(name: &'static str, title: &'static str) -> Metric {
    Metric { name, title }
}

impl Metric {
    /// The goodput of the flows together, over the time of all flows of the run, as a share of the path's limit.
    pub const GOODPUT_SHARE: Metric = metric("goodput_share", "Goodput, share of the limit");
    /// The goodput of the flows together, over the time of all flows of the run.
    pub const GOODPUT: Metric = metric("goodput_bps", "Goodput");
    /// The median of the flows' median RTTs.
    pub const RTT_P50: Metric = metric("rtt_p50_ms", "RTT, median");
    /// The median of the flows' 95th percentiles of the RTT.
    pub const RTT_P95: Metric = metric("rtt_p95_ms", "RTT, 95th percentile");
    /// Retransmitted bytes as a share of sent bytes.
    pub const RESENT_SHARE: Metric = metric("resent_share", "Sent again");
    /// Jain's index of the goodputs of all flows of the run.
    pub const JAIN: Metric = metric("jain", "Jain index of all flows");

    /// Every metric, the most used first.
    pub const ALL: [Metric; 11] = [
        Metric::GOODPUT_SHARE,
        Metric::GOODPUT,
        Metric::RTT_P50,
        Metric::RTT_P95,
        metric("time_s", "Completion time"),
        Metric::RESENT_SHARE,
        metric("timeouts", "Timeouts"),
        Metric::JAIN,
        metric("utilization", "Utilization of the bottleneck"),
        metric("queue_mean_ms", "Queue at the bottleneck, mean"),
        metric("queue_p95_ms", "Queue at the bottleneck, 95th percentile"),
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The measure.
    pub fn measure(self) -> &'static Measure {
        Measure::of_column(self.name).expect("every metric is a measure")
    }
}

impl Default for Metric {
    fn default() -> Metric {
        Metric::GOODPUT_SHARE
    }
}

units::by_name!(Metric, "metric");

#[cfg(test)]
mod tests {
    use super::*;
    use record::Summary;
    use record::measure::Subject;
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
        let summary: Summary = serde_json::from_value(summary).unwrap();
        for (metric, bbr1, cubic) in [
            ("goodput_bps", Some(500.0), Some(100.0)),
            ("goodput_share", Some(0.5), None),
            ("rtt_p50_ms", Some(15.0), Some(40.0)),
            ("rtt_p95_ms", None, None),
            ("time_s", Some(2.0), None),
            ("resent_share", Some(0.1), None),
            ("timeouts", Some(3.0), None),
            ("jain", Some(0.9), Some(0.9)),
            ("utilization", Some(0.5), Some(0.5)),
            ("queue_mean_ms", None, None),
            ("queue_p95_ms", Some(3.5), Some(3.5)),
        ] {
            let metric: Metric = metric.parse().unwrap();
            let of = |name: &str| metric.measure().of(&Subject::of_controller(&summary, name));
            assert_eq!(of("bbr1"), bbr1, "{metric}");
            assert_eq!(of("cubic"), cubic, "{metric}");
            assert_eq!(
                of("reno").is_some(),
                bbr1 == cubic && bbr1.is_some(),
                "{metric}"
            );
        }
    }

    #[test]
    fn names_are_read_back() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse(), Ok(metric));
            assert!(!metric.measure().about.is_empty());
        }
        assert!("speed".parse::<Metric>().is_err());
    }
}
