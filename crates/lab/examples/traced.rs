//! Compares the parts of congestion control's share that a capture shows with the simulation's. `bench/trace/run` prints the result. The
//! kernel has no statistics of these parts.
//! `cargo run --release -p fullpipe-lab --example traced`

use std::error::Error;

use capture::{LimitedBy, Summary, Trace};
use congestion::Phase;
use lab::{Cancel, Sim};
use record::Record;
use scenario::Scenario;

const SECONDS: u32 = 20;
const MEGABITS: u32 = 20;
const RTT_MS: u32 = 40;

/// What is sent, over which path.
const KINDS: [(&str, &str, &str); 6] = [
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

/// Shares of the time: slow start, window, bottleneck and buffer together, and buffer alone where the controller tells of recoveries.
struct Parts([f64; 3], Option<f64>);

impl Parts {
    fn found(by: &LimitedBy) -> Option<Parts> {
        let buffer = by.buffer?;
        let beyond = by.bottleneck? + buffer;
        Some(Parts([by.slow_start?, by.window?, beyond], Some(buffer)))
    }

    /// What the simulation knows: the time that was congestion control's, by what the controller did in it, and by what was in flight.
    fn known(record: &Record) -> Option<Parts> {
        let bytes = f64::from(MEGABITS) * 1e6 / 8.0 * f64::from(RTT_MS) / 1e3;
        let bdp = bytes * record.payload_share;
        let samples = &record.flows.first()?.samples;
        let (mut parts, mut buffer) = ([0.0; 3], 0.0);
        let mut has_recoveries = false;
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

    fn shown(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let [slow_start, window, beyond] = self.0.map(percent);
        let buffer = self.1.map_or("–".to_owned(), percent);
        format!("{slow_start} | {window} | {beyond} | {buffer}")
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "Only the simulation knows these parts; the kernel has no statistics of them. A flow sends over {MEGABITS} Mbit/s and {RTT_MS} ms \
         for {SECONDS} s. The truth divides the time in which congestion control limited the flow: in Startup or slow start; then with at \
         most the BDP in flight (window), or with more (bottleneck and buffer). The part of the latter in a recovery is `buffer`; BBR has \
         no such part. Captured at the sender.\n"
    );
    println!(
        "| controller | sent | | slow start | window | bottleneck and buffer | buffer |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    let mut worst = [0.0_f64; 3];
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for (kind, flow, path) in KINDS {
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
            trace
                .read(&sender[..], &|| true)
                .map_err(|error| error.to_string())?;
            let summary = Summary::alone(trace);
            let flows = summary.connections.iter().flat_map(|one| &one.flows);
            let flow = flows.max_by_key(|flow| flow.sent_bytes);
            let found = flow
                .and_then(|flow| flow.limited_by.as_ref())
                .and_then(Parts::found);
            let (Some(found), Some(known)) = (found, Parts::known(&record)) else {
                continue;
            };
            for (worst, (found, known)) in worst.iter_mut().zip(found.0.into_iter().zip(known.0)) {
                *worst = worst.max((found - known).abs());
            }
            println!("| {controller} | {kind} | truth | {} |", known.shown());
            println!("| | | trace | {} |", found.shown());
        }
    }
    let [slow_start, window, beyond] = worst.map(|off| format!("{:.0}", off * 100.0));
    println!(
        "\nThe largest errors are {slow_start} points (slow start), {window} (window) and {beyond} (bottleneck and buffer)."
    );
    Ok(())
}
