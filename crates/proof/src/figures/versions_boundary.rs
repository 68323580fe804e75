//! The paths that a BBRv3 flow and a CUBIC flow share, and the quantity that decides how.

use super::runs::{self, StudyRun};
use super::{After, DRAFT, Figure, curves};
use draw::{Axis, Cell, Cells, Chart, Curve, Dash, Look, Mark, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "versions-boundary",
    "Which BBR where: what bbr3 takes beside a CUBIC flow",
    After::Text(DRAFT, "coexistence with Reno and CUBIC"),
    draw,
);

const BUFFER: &str = "path.buffer";
const RATE: &str = "path.rate";
const RTT: &str = "path.rtt";

/// The share of its fair share that each side has at least in an about fair division. Both shares add up to two, so the
/// other then has 1.3.
const MIN_FAIR_SHARE: f64 = 0.7;
const MAX_FAIR_SHARE: f64 = 2.0 - MIN_FAIR_SHARE;

/// Half of the factor between successive rates or RTTs of the study.
const HALF_STEP: f64 = 1.334;

/// CUBIC in RFC 9438: the factor of the window after a loss, C in packets/s³, and the growth of the Reno-friendly
/// window in packets per round.
const BETA: f64 = 0.7;
const C: f64 = 0.4;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The interval of BBRv3's probes: 2 to 3 s, and at most 63 rounds or as many as the BDP has packets (the draft, "Time
/// Scale for Bandwidth Probing").
const PROBE_INTERVAL_S: f64 = 2.5;
const MAX_PROBE_ROUNDS: f64 = 63.0;

/// The size of a full packet in bits.
const PACKET_BITS: f64 = 1500.0 * 8.0;

fn draw(findings: &[Findings]) -> Picture {
    let buffers = runs::values(findings, BUFFER);
    let maps = buffers.iter().map(|buffer| map(findings, buffer));
    let causes = buffers.iter().map(|buffer| cause(findings, buffer));
    Picture::of("", 2, 330.0, maps.chain(causes))
}

/// The goodput of bbr3 as a share of half of both flows' goodput.
fn share(seen: &StudyRun<'_>) -> f64 {
    2.0 * seen.goodput_of("bbr3") / seen.goodput()
}

/// Each path with this buffer: one of its runs, and the median of the shares.
fn paths<'f>(findings: &'f [Findings], buffer: &'f str) -> Vec<(StudyRun<'f>, f64)> {
    let mut paths = Vec::new();
    for rate in runs::values(findings, RATE) {
        for rtt in runs::values(findings, RTT) {
            let of_path = || {
                let of_buffer = runs::with(findings, BUFFER, buffer);
                of_buffer.filter(move |seen| seen.value(RATE) == rate && seen.value(RTT) == rtt)
            };
            let share = runs::median(of_path().map(|seen| share(&seen)));
            paths.extend(of_path().next().map(|first| (first, share)));
        }
    }
    paths
}

/// A cell for each path.
fn map(findings: &[Findings], buffer: &str) -> Chart {
    let around = |middle: f64| (middle / HALF_STEP, middle * HALF_STEP);
    let cell = |(path, share): (StudyRun<'_>, f64)| Cell {
        x: around(path.number(RTT)),
        y: around(runs::mega(path.rate())),
        amount: share,
        // Full colour where the division is no longer about fair.
        shade: share.ln() / MAX_FAIR_SHARE.ln() * -0.6,
        label: format!("{share:.2}"),
    };
    let ticks = [10.0, 18.0, 32.0, 56.0, 100.0];
    Chart::new(
        Axis::log("RTprop", Unit::MILLISECONDS, 7.5, 133.4).with_ticks(ticks),
        Axis::log("Rate", Unit::MEGABITS_PER_SECOND, 7.5, 133.4).with_ticks(ticks),
    )
    .titled(format!("Share of the fair share, buffer of {buffer}"))
    .with(Cells {
        name: "Share of the fair share".into(),
        unit: Unit::NONE,
        cells: paths(findings, buffer).into_iter().map(cell).collect(),
    })
}

/// The shares over the number of probes between two losses of CUBIC.
fn cause(findings: &[Findings], buffer: &str) -> Chart {
    let paths = paths(findings, buffer).into_iter();
    let points = paths.map(|(path, share)| (losses_s(&path) / probes_s(&path), share));
    let look = Look::line(curves::look_of("bbr3").colour, Dash::None).marked(Mark::Circle);
    Chart::new(
        Axis::log("Probes between two losses of CUBIC", Unit::NONE, 0.45, 5.0),
        Axis::linear("Share of the fair share", Unit::NONE, 0.0, 2.0),
    )
    .titled(format!("Buffer of {buffer}"))
    .with(Rule::horizontal(MIN_FAIR_SHARE, "bbr3 has 0.7"))
    .with(Rule::horizontal(1.0, "fair"))
    .with(Rule::horizontal(MAX_FAIR_SHARE, "CUBIC has 0.7"))
    .with(Curve::new("a path", look, points))
}

/// The BDP of the path in packets.
fn bdp(seen: &StudyRun<'_>) -> f64 {
    seen.rate() * seen.number(RTT) / 1e3 / PACKET_BITS
}

/// The time from one loss of CUBIC to the next beside an equal flow, in seconds. The window returns to half of the BDP
/// and the buffer by the cubic function, or by the Reno-friendly part if that is faster. A round takes RTprop.
fn losses_s(seen: &StudyRun<'_>) -> f64 {
    let window = bdp(seen) * (1.0 + seen.number(BUFFER)) / 2.0;
    let lost = window * (1.0 - BETA);
    (lost / C).cbrt().min(lost / ALPHA * seen.number(RTT) / 1e3)
}

/// The time from one probe of bbr3 to the next, in seconds.
fn probes_s(seen: &StudyRun<'_>) -> f64 {
    PROBE_INTERVAL_S.min(MAX_PROBE_ROUNDS.min(bdp(seen)) * seen.number(RTT) / 1e3)
}
