//! Figure 10: round-trip times over the size of the bottleneck's buffer.

use super::runs::{self, StudyRun};
use super::{After, Figure, PAPER, curves};
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-10-buffer-sweep",
    "Median RTT of eight flows over the size of the buffer, 128 kbit/s",
    After::Figure(PAPER, 10),
    draw,
)
.on(lab::EngineKind::ALL);

const BUFFER: &str = "path.buffer";

fn draw(findings: &[Findings]) -> Picture {
    let buffer = |seen: &StudyRun<'_>| seen.number(BUFFER);
    let rtt = |seen: &StudyRun<'_>| seen.rtt_p50() / 1e3;
    let rate = runs::all(findings).find_map(|seen| seen.record().summary.path.rate_bps);
    let rate = rate.unwrap_or(1) as f64;
    let full = [1e5, 1e7].map(|bytes| (bytes, bytes * 8.0 / rate));
    let chart = Chart::new(
        Axis::log("Buffer", Unit::BYTES, 8e4, 12.5e6),
        Axis::log("Median RTT", Unit::SECONDS, 0.5, 1000.0),
    )
    // The time after which a SYN is sent again (RFC 6298), and after which Linux since 6.5 gives up.
    .with(Rule::horizontal(1.0, "a SYN is sent again"))
    .with(Rule::horizontal(131.0, "Linux gives a connection up"))
    .with(Curve::new(
        "a full buffer",
        Look::line(BLACK, Dash::Dotted),
        full,
    ))
    .with_all(curves::by_controller(findings, buffer, rtt));
    Picture::new("", chart)
}
