//! The parts of congestion control's share, from a capture at the sender and from the simulation.

use std::error::Error;

use capture::{LimitedBy, Summary, Trace};
use congestion::Phase;
use lab::{Cancel, Sim};
use record::Record;
use scenario::Scenario;

pub const SECONDS: u32 = 20;
pub const MEGABITS: u32 = 20;
pub const RTT_MS: u32 = 40;

/// Flows: a name, the flow's parameters, and the path's.
pub const KINDS: [(&str, &str, &str); 6] = [
    ("bulk, buffer of 0.3 BDP", "", r#"buffer = "0.3bdp""#),
    ("bulk, buffer of 2 BDP", "", r#"buffer = "2bdp""#),
    ("bulk, buffer of 8 BDP", "", r#"buffer = "8bdp""#),
    ("bulk, 1 % of losses", "", r#"buffer = "2bdp", loss = "1%""#),
    (
        "objects of 300 kB",
        r#", app = { kind = "requests", response = "300kb", think = { mean = "300ms" } }"#,
        r#"buffer = "2bdp""#,
    ),
    (
        "one object of 400 kB",
        r#", bytes = "400kb""#,
        r#"buffer = "2bdp""#,
    ),
];

/// Shares of the time: slow start, window, bottleneck and buffer together; and buffer alone, if the controller reports
/// recoveries.
#[derive(Debug, Clone, Copy)]
pub struct Parts(pub [f64; 3], pub Option<f64>);

impl Parts {
    fn found(by: &LimitedBy) -> Option<Parts> {
        let buffer = by.buffer?;
        let beyond = by.bottleneck? + buffer;
        Some(Parts([by.slow_start?, by.window?, beyond], Some(buffer)))
    }

    /// From the simulation: the time in which congestion control limited the flow, by the controller's phase and the
    /// data in flight.
    fn known(record: &Record) -> Option<Parts> {
        let bytes = f64::from(MEGABITS) * 1e6 / 8.0 * f64::from(RTT_MS) / 1e3;
        let bdp = bytes * record.payload_share;
        let samples = &record.flows.first()?.samples;
        let (mut parts, mut buffer) = ([0.0; 3], 0.0);
        let mut has_recoveries = false;
        // Before the first sample, the controller is in its first phase.
        parts[0] += samples.first()?.limits?.congestion.as_secs_f64();
        for pair in samples.windows(2) {
            let [Some(before), Some(after)] = [pair[0].limits, pair[1].limits] else {
                return None;
            };
            let span = after.congestion.saturating_sub(before.congestion);
            let beyond = pair[0].inflight.get() as f64 > bdp;
            let place = match (pair[0].is_searching(), beyond) {
                (true, _) => 0,
                (false, false) => 1,
                (false, true) => 2,
            };
            parts[place] += span.as_secs_f64();
            let phase = pair[0].phase();
            has_recoveries |= matches!(phase, Some(Phase::Avoidance | Phase::SlowStart));
            if beyond && phase == Some(Phase::Recovery) {
                buffer += span.as_secs_f64();
            }
        }
        let last = samples.last()?.limits?;
        let open = last.application + last.receiver + last.send_buffer + last.congestion;
        let share = |part: f64| part / open.as_secs_f64();
        Some(Parts(
            parts.map(share),
            has_recoveries.then(|| share(buffer)),
        ))
    }
}

/// Runs one of the [`KINDS`] of flows with this controller. Returns its parts from the simulation, and from the
/// capture.
pub fn of(
    controller: &str,
    (_, flow, path): (&str, &str, &str),
) -> Result<[Option<Parts>; 2], Box<dyn Error>> {
    let scenario: Scenario = format!(
        r#"
        name = "traced"
        duration = "{SECONDS}s"
        path = {{ rate = "{MEGABITS}mbit", rtt = "{RTT_MS}ms", {path} }}
        flow = [{{ controller = "{controller}"{flow} }}]
        "#
    )
    .parse()?;
    let to = [Vec::new(), Vec::new()];
    let run = Sim::new().run_captured(&scenario, &|_| (), &Cancel::new(), to);
    let (record, [sender, _]) = run?;
    let mut trace = Trace::new();
    let read = trace.read(&sender[..], &|| true);
    read.map_err(|error| error.to_string())?;
    let summary = Summary::alone(trace);
    let flows = summary.connections.iter().flat_map(|one| &one.flows);
    let flow = flows.max_by_key(|flow| flow.sent_bytes);
    let found = flow.and_then(|flow| Parts::found(flow.limited_by.as_ref()?));
    Ok([Parts::known(&record), found])
}
