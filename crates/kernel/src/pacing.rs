//! The part of the host that keeps a controller's pacing rate.

use std::fs;

const QUEUE: &str = "/proc/sys/net/core/default_qdisc";

/// The present way to pace packets on new devices, with advice if another one costs less.
///
/// Without the queue discipline FQ, TCP uses a timer of its own for each connection (Linux `SK_PACING_NEEDED`). FQ
/// keeps all connections in one queue.
pub fn pacing() -> Option<String> {
    let queue = fs::read_to_string(QUEUE).ok()?;
    Some(match queue.trim() {
        "fq" => "by FQ on new devices; `tc qdisc show` tells of the others".to_owned(),
        other => format!(
            "by TCP itself, as new devices get {other}; many connections take less processor time with FQ: `sysctl \
             net.core.default_qdisc=fq`, and `tc qdisc replace dev DEVICE root fq` for a device that is up"
        ),
    })
}
