//! What a browser does not run. Whoever sends a link to a page must not be able to occupy the machine of whoever follows it.

use document::{DocumentError, Reason};
use scenario::Scenario;
use units::{Bytes, Duration};

/// The maximum size of a scenario's text.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// The maximum number of flows.
const MAX_FLOWS: u64 = 1_000;

/// The maximum number of links.
const MAX_LINKS: usize = 1_000;

/// The maximum length of a run.
const MAX_DURATION: Duration = Duration::from_secs(3_600);

/// The maximum of what flows send and links transmit: more than a minute of a processor.
const MAX_TRAFFIC: Bytes = Bytes::new(100_000_000_000);

/// Checks that the scenario reads no file, and is not too large.
pub fn check(scenario: &Scenario) -> Result<(), DocumentError> {
    let refused = |field: &str, what: &dyn std::fmt::Display, most: &str| {
        let reason = Reason::of(what).words(format!(": at most {most} here"));
        Err(DocumentError::new(field, reason))
    };
    for (place, link) in scenario.hops().enumerate() {
        for (direction, spec) in [("", &link.data), (".uplink", &link.uplink)] {
            if spec.trace.is_some() {
                let field = scenario.hop_name(place) + direction + ".trace";
                return Err(DocumentError::new(
                    field,
                    "no file is read here; give a rate",
                ));
            }
        }
    }
    let count = scenario.flows.iter().map(|flow| flow.count);
    let count = count.fold(0, u64::saturating_add);
    if count > MAX_FLOWS {
        return refused("flow.count", &count, &format!("{MAX_FLOWS} flows"));
    }
    let links = scenario.hops().count();
    if links > MAX_LINKS {
        return refused("link", &links, &format!("{MAX_LINKS} links"));
    }
    if let Some(duration) = scenario.duration.filter(|it| *it > MAX_DURATION) {
        return refused("duration", &duration, &MAX_DURATION.to_string());
    }
    let sent = scenario.flows.iter().filter_map(|flow| {
        let bytes = flow.bytes?.get();
        Some(Bytes::new(bytes.saturating_mul(flow.count)))
    });
    if sent.sum::<Bytes>() > MAX_TRAFFIC {
        return refused(
            "flow.bytes",
            &"all bytes together",
            &MAX_TRAFFIC.to_string(),
        );
    }
    let transmitted = scenario.hops().filter_map(|link| {
        let duration = scenario.duration?;
        link.data.admitted(Duration::ZERO, duration)
    });
    if transmitted.sum::<Bytes>() > MAX_TRAFFIC {
        let what = "what all links transmit in this time";
        return refused("duration", &what, &MAX_TRAFFIC.to_string());
    }
    Ok(())
}
