//! The parts of congestion control's share, from a capture at the sender and from the simulation.

use std::error::Error;
use std::ops::Range;

use capture::read::Frames;
use congestion::Phase;
use lab::{Cancel, Sim};
use record::Record;
use scenario::Scenario;
use trace::{LimitedBy, Summary, Trace};

pub const SECONDS: u32 = 20;
pub const MEGABITS: u32 = 20;
pub const RTT_MS: u32 = 40;

/// The bottleneck limited a round in which it was busy for at least this share of the time.
pub const BUSY: f64 = 0.9;

/// The source address of an IPv4 packet.
const SOURCE: Range<usize> = 12..16;

/// Flows: a name, the flow's parameters, and the path's.
pub const KINDS: [(&str, &str, &str); 12] = [
    ("bulk, 0.3 BDP", "", r#"buffer = "0.3bdp""#),
    (
        "bulk, 0.3 BDP, 1 %",
        "",
        r#"buffer = "0.3bdp", loss = "1%""#,
    ),
    (
        "bulk, 0.3 BDP, 5 %",
        "",
        r#"buffer = "0.3bdp", loss = "5%""#,
    ),
    ("bulk, 2 BDP", "", r#"buffer = "2bdp""#),
    ("bulk, 2 BDP, 1 %", "", r#"buffer = "2bdp", loss = "1%""#),
    ("bulk, 2 BDP, 5 %", "", r#"buffer = "2bdp", loss = "5%""#),
    ("bulk, 8 BDP", "", r#"buffer = "8bdp""#),
    ("bulk, 8 BDP, 1 %", "", r#"buffer = "8bdp", loss = "1%""#),
    ("bulk, 8 BDP, 5 %", "", r#"buffer = "8bdp", loss = "5%""#),
    (
        "objects of 300 kB",
        r#", app = { kind = "requests", response = "300kb", think = { mean = "300ms" } }"#,
        r#"buffer = "2bdp""#,
    ),
    (
        "objects of 1 MB",
        r#", app = { kind = "requests", response = "1mb", think = { mean = "600ms" } }"#,
        r#"buffer = "2bdp""#,
    ),
    (
        "one object of 400 kB",
        r#", bytes = "400kb""#,
        r#"buffer = "2bdp""#,
    ),
];

/// The output of the bottleneck: the time at which each packet had left it, and the time that it had been sending
/// until then, in seconds.
struct Sent(Vec<(f64, f64)>);

impl Sent {
    /// Reads the captures of both ends. The sender's first packet, a SYN, departs when the run begins, and finds the
    /// bottleneck idle.
    fn new(sender: &[u8], receiver: &[u8]) -> Result<Sent, Box<dyn Error>> {
        let mut departures = Frames::new(sender)?;
        let syn = departures.next_frame()?.ok_or("no packet")?;
        let mut frames = Frames::new(receiver)?;
        let (mut sent, mut all) = (0.0, Vec::new());
        let mut first = None;
        while let Some(frame) = frames.next_frame()? {
            if frame.data[SOURCE] != syn.data[SOURCE] {
                continue;
            }
            let took = f64::from(frame.wire_len) * 8.0 / f64::from(MEGABITS) / 1e6;
            let (arrived, delay) = first.get_or_insert((frame.at, took));
            sent += took;
            all.push((frame.at.since(*arrived).as_secs_f64() + *delay, sent));
        }
        Ok(Sent(all))
    }

    /// The time that the bottleneck has been sending until `at`.
    fn until(&self, at: f64) -> f64 {
        let next = self.0.partition_point(|(left, _)| *left <= at);
        let before = next.checked_sub(1).map_or(0.0, |last| self.0[last].1);
        let present = self.0.get(next);
        present.map_or(before, |(left, sent)| before.max(sent - (left - at)))
    }
}

/// A round trip in which congestion control limited the flow: its length, and the parts of it in which the bottleneck
/// sent, and in which the controller repaired losses.
#[derive(Default)]
struct Round {
    length: f64,
    busy: f64,
    recovery: f64,
}

impl Round {
    /// Adds its time to the window, or to the bottleneck and the buffer.
    fn end(&mut self, [_, window, beyond]: &mut [f64; 3], buffer: &mut f64) {
        if self.busy < self.length * BUSY {
            *window += self.length;
        } else {
            *beyond += self.length;
            *buffer += self.recovery;
        }
        *self = Round::default();
    }
}

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

    /// The parts from the simulation: the time in which congestion control limited the flow, by the controller's
    /// phase and the bottleneck's activity.
    fn known(record: &Record, sent: &Sent) -> Option<Parts> {
        let samples = &record.flows.first()?.samples;
        let (mut parts, mut buffer) = ([0.0; 3], 0.0);
        let mut has_recoveries = false;
        let mut round = Round::default();
        // Before the first sample, the controller is in its first phase.
        parts[0] += samples.first()?.limits?.congestion.as_secs_f64();
        for pair in samples.windows(2) {
            let [Some(before), Some(after)] = [pair[0].limits, pair[1].limits] else {
                return None;
            };
            let (from, to) = (pair[0].at, pair[1].at);
            let span = after.congestion.saturating_sub(before.congestion);
            let has_paused = span < to.saturating_sub(from);
            if has_paused || pair[0].is_searching() {
                round.end(&mut parts, &mut buffer);
            }
            let (span, to) = (span.as_secs_f64(), to.as_secs_f64());
            let phase = pair[0].phase();
            has_recoveries |= matches!(phase, Some(Phase::Avoidance | Phase::SlowStart));
            if pair[0].is_searching() {
                parts[0] += span;
                continue;
            }
            round.length += span;
            round.busy += sent.until(to) - sent.until(to - span);
            if phase == Some(Phase::Recovery) {
                round.recovery += span;
            }
            if round.length >= f64::from(RTT_MS) / 1e3 {
                round.end(&mut parts, &mut buffer);
            }
        }
        round.end(&mut parts, &mut buffer);
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
    let (record, [sender, receiver]) = run?;
    let mut trace = Trace::new();
    let read = trace.read(&sender[..], &|| true);
    read.map_err(|error| error.to_string())?;
    let summary = Summary::alone(trace);
    let flows = summary.connections.iter().flat_map(|one| &one.flows);
    let flow = flows.max_by_key(|flow| flow.sent_bytes);
    let found = flow.and_then(|flow| Parts::found(flow.limited_by.as_ref()?));
    let sent = Sent::new(&sender, &receiver)?;
    Ok([Parts::known(&record, &sent), found])
}
