//! Where a BBRv3 flow and a CUBIC flow share a path, and what decides.

use super::seen::{self, Seen};
use super::{After, DRAFT, Figure, curves};
use crate::runs::Findings;
use draw::{Axis, Cell, Cells, Chart, Curve, Dash, Look, Mark, Picture, Rule, Unit};

pub const FIGURE: Figure = Figure::new(
    "versions-boundary",
    "Which BBR where: what bbr3 takes beside a CUBIC flow",
    After::Text(DRAFT, "coexistence with Reno and CUBIC"),
    draw,
);

const BUFFER: &str = "path.buffer";
const RATE: &str = "path.rate";
const RTT: &str = "path.rtt";

/// About fair is what leaves each side at least this of its fair share. As both shares come to two, the other has 1.3 then.
const ABOUT_FAIR: f64 = 0.7;
const ABOUT_FAIR_TO_CUBIC: f64 = 2.0 - ABOUT_FAIR;

/// Half of the factor from one rate or RTT of the study to the next.
const HALF_STEP: f64 = 1.334;

/// CUBIC as in RFC 9438: what a loss leaves of the window, C in packets/s³, and the packets that its Reno-friendly part
/// grows by in a round.
const BETA: f64 = 0.7;
const C: f64 = 0.4;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// BBRv3's probes: 2 to 3 s apart, and at most 63 rounds or as many as there are packets in the BDP (the draft, "Time Scale
/// for Bandwidth Probing").
const PROBE_S: f64 = 2.5;
const PROBE_ROUNDS: f64 = 63.0;

/// The bits of a full packet.
const PACKET: f64 = 1500.0 * 8.0;

fn draw(findings: &[Findings]) -> Picture {
    let buffers = seen::values(findings, BUFFER);
    let maps = buffers.iter().map(|buffer| map(findings, buffer));
    let causes = buffers.iter().map(|buffer| cause(findings, buffer));
    Picture::of("", 2, 330.0, maps.chain(causes))
}

/// What bbr3 has of half of what both have.
fn share(seen: &Seen<'_>) -> f64 {
    2.0 * seen.goodput_of("bbr3") / seen.goodput()
}

/// Each path with this buffer: one of its runs, and the median of the shares.
fn paths<'f>(findings: &'f [Findings], buffer: &'f str) -> Vec<(Seen<'f>, f64)> {
    let mut paths = Vec::new();
    for rate in seen::values(findings, RATE) {
        for rtt in seen::values(findings, RTT) {
            let of_path = || {
                let of_buffer = seen::with(findings, BUFFER, buffer);
                of_buffer.filter(move |seen| seen.value(RATE) == rate && seen.value(RTT) == rtt)
            };
            let share = seen::median(of_path().map(|seen| share(&seen)));
            paths.extend(of_path().next().map(|first| (first, share)));
        }
    }
    paths
}

/// A cell for each path.
fn map(findings: &[Findings], buffer: &str) -> Chart {
    let around = |middle: f64| (middle / HALF_STEP, middle * HALF_STEP);
    let cell = |(path, share): (Seen<'_>, f64)| Cell {
        x: around(path.number(RTT)),
        y: around(seen::mega(path.rate())),
        amount: share,
        // All colour from where it is not about fair any more.
        shade: share.ln() / ABOUT_FAIR_TO_CUBIC.ln() * -0.6,
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

/// The same over how many probes there are between two losses of CUBIC.
fn cause(findings: &[Findings], buffer: &str) -> Chart {
    let paths = paths(findings, buffer).into_iter();
    let points = paths.map(|(path, share)| (losses_s(&path) / probes_s(&path), share));
    let look = Look::line(curves::look_of("bbr3").colour, Dash::None).marked(Mark::Circle);
    Chart::new(
        Axis::log("Probes between two losses of CUBIC", Unit::NONE, 0.45, 5.0),
        Axis::linear("Share of the fair share", Unit::NONE, 0.0, 2.0),
    )
    .titled(format!("Buffer of {buffer}"))
    .with(Rule::horizontal(ABOUT_FAIR, "bbr3 has 0.7"))
    .with(Rule::horizontal(1.0, "fair"))
    .with(Rule::horizontal(ABOUT_FAIR_TO_CUBIC, "CUBIC has 0.7"))
    .with(Curve::new("a path", look, points))
}

/// The packets of the path's BDP.
fn bdp(seen: &Seen<'_>) -> f64 {
    seen.rate() * seen.number(RTT) / 1e3 / PACKET
}

/// How long CUBIC needs from one loss to the next beside an equal flow, in seconds: until the cubic function, or its
/// Reno-friendly part if that is sooner, is back at half of the BDP and the buffer. Rounds are RTprops.
fn losses_s(seen: &Seen<'_>) -> f64 {
    let window = bdp(seen) * (1.0 + seen.number(BUFFER)) / 2.0;
    let lost = window * (1.0 - BETA);
    (lost / C).cbrt().min(lost / ALPHA * seen.number(RTT) / 1e3)
}

/// How long it is from one probe of bbr3 to the next, in seconds.
fn probes_s(seen: &Seen<'_>) -> f64 {
    PROBE_S.min(PROBE_ROUNDS.min(bdp(seen)) * seen.number(RTT) / 1e3)
}
