//! The classes of traffic of the CDN's testbed.

use super::runs::StudyRun;

/// The fields of its studies: the measured flow's controller, and the path's RTprop.
pub const FOREGROUND: &str = "flow.0.controller";
pub const RTT: &str = "path.rtt";

/// The class of a path by its RTprop, for titles of charts.
pub fn class(seen: &StudyRun<'_>) -> &'static str {
    match seen.number(RTT) {
        rtt if rtt >= 40.0 => "to clients",
        rtt if rtt >= 5.0 => "between sites",
        _ => "within a site",
    }
}

/// `50 Mbit/s`, `10 Gbit/s`.
pub fn rate(bits_per_second: f64) -> String {
    match bits_per_second {
        rate if rate >= 1e9 => format!("{} Gbit/s", rate / 1e9),
        rate => format!("{} Mbit/s", rate / 1e6),
    }
}
