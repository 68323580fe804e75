//! OpenMetrics of a policy in force.

use kernel::SteeringCounts;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The labels of a group of connections.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    rule: String,
    controller: String,
    exploring: String,
}

impl Labels {
    fn of(rule: &str, controller: &str, is_exploring: bool) -> Labels {
        Labels {
            rule: rule.to_owned(),
            controller: controller.to_owned(),
            exploring: if is_exploring { "yes" } else { "no" }.to_owned(),
        }
    }
}

/// The metrics of a policy in force.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    ended: Family<Labels, Counter>,
    bytes: Family<Labels, Counter>,
    rules: Gauge,
    taken_back: Counter,
    assigned: Gauge,
    refused: Gauge,
    untold: Gauge,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::with_prefix("fullpipe_steer");
        let mut gauge = |name: &str, help: &str| {
            let gauge: Gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let rules = gauge("rules", "Rules in force");
        let assigned = gauge(
            "assigned",
            "Connections to which the policy gave a controller since the command began",
        );
        let refused = gauge(
            "refused",
            "Those of them for which the kernel refused the controller",
        );
        let untold = gauge("untold", "Ends of connections that could not be read");
        let (ended, bytes): (Family<Labels, Counter>, Family<Labels, Counter>) = Default::default();
        registry.register("ended", "Connections that have ended", ended.clone());
        registry.register(
            "acknowledged_bytes",
            "Payload that they carried",
            bytes.clone(),
        );
        let taken_back = Counter::default();
        registry.register(
            "taken_back",
            "Rules that were taken back as they were stale",
            taken_back.clone(),
        );
        Metrics {
            registry,
            ended,
            bytes,
            rules,
            taken_back,
            assigned,
            refused,
            untold,
        }
    }
}

impl Metrics {
    /// Counts a connection of a rule that has ended.
    pub fn ended(&self, rule: &str, controller: &str, is_exploring: bool, bytes: u64) {
        let labels = Labels::of(rule, controller, is_exploring);
        self.ended.get_or_create(&labels).inc();
        self.bytes.get_or_create(&labels).inc_by(bytes);
    }

    /// Drops the counts of a rule and controller that are no longer in force.
    pub fn forget(&self, rule: &str, controller: &str, is_exploring: bool) {
        let labels = Labels::of(rule, controller, is_exploring);
        self.ended.remove(&labels);
        self.bytes.remove(&labels);
    }

    /// Counts a rule that was taken back.
    pub fn taken_back(&self) {
        self.taken_back.inc();
    }

    /// The metrics as text, with the present values.
    pub fn text(&self, rules: usize, counts: SteeringCounts) -> String {
        let set = |gauge: &Gauge, value: u64| {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        };
        set(&self.rules, rules as u64);
        set(&self.assigned, counts.assigned);
        set(&self.refused, counts.refused);
        set(&self.untold, counts.untold);
        let mut text = String::new();
        // Writing to memory cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_controllers_and_explorers_are_told_apart() {
        let metrics = Metrics::default();
        metrics.ended("a \"b\"", "bbr", false, 7);
        metrics.ended("a \"b\"", "bbr", false, 3);
        metrics.ended("a \"b\"", "cubic", true, 1);
        metrics.taken_back();
        let counts = SteeringCounts {
            assigned: 9,
            refused: 4,
            untold: 5,
            ..SteeringCounts::default()
        };
        let text = metrics.text(2, counts);
        for line in [
            "fullpipe_steer_ended_total{rule=\"a \\\"b\\\"\",controller=\"bbr\",exploring=\"no\"} 2",
            "fullpipe_steer_acknowledged_bytes_total{rule=\"a \\\"b\\\"\",controller=\"bbr\",exploring=\"no\"} 10",
            "fullpipe_steer_ended_total{rule=\"a \\\"b\\\"\",controller=\"cubic\",exploring=\"yes\"} 1",
            "fullpipe_steer_taken_back_total 1",
            "fullpipe_steer_rules 2",
            "fullpipe_steer_assigned 9",
            "fullpipe_steer_refused 4",
            "fullpipe_steer_untold 5",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(text.ends_with("# EOF\n"));
        metrics.forget("a \"b\"", "cubic", true);
        let text = metrics.text(1, counts);
        assert!(
            text.contains("\"bbr\"") && !text.contains("\"cubic\""),
            "{text}"
        );
    }
}
