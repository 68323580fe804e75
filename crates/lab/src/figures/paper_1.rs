//! Figure 1: what a path does as more is in flight.

use super::seen::{self, Seen, mega};
use super::{Figure, PAPER};
use crate::draw::{Axis, BLUE, Chart, Curve, Dash, GREEN, GREY, Look, Mark, ORANGE, Picture, Rule};
use crate::engine;
use crate::study::Findings;

pub const FIGURE: Figure = Figure {
    name: "paper-1-operating-point",
    title: "The operating point: delivery rate and round-trip time over what is in flight",
    part: "figure 1",
    publication: PAPER,
    engines: &[engine::Kind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

/// The receive window, which is all that limits what is in flight.
const WINDOW: &str = "host.receive_buffer";

/// A window counts payload; on the path, each segment of 1448 bytes has 52 more.
const ON_PATH: f64 = 1500.0 / 1448.0;

fn draw(findings: &[Findings]) -> Picture {
    let path = seen::all(findings)
        .next()
        .map(|seen| seen.record().summary.path.clone());
    let rate = path
        .as_ref()
        .and_then(|path| path.rate_bps)
        .unwrap_or_default() as f64;
    let rtprop_ms = path.as_ref().map_or(0.0, |path| path.rtprop_ms);
    let buffer = path
        .as_ref()
        .and_then(|path| path.buffer_bytes)
        .unwrap_or_default() as f64;
    let bdp = rate * rtprop_ms / 8e3;
    let inflight = |seen: &Seen<'_>| seen.number(WINDOW) * ON_PATH / bdp;
    let full = 1.0 + buffer / bdp;
    let x = || Axis::linear("In flight (BDP)", 0.0, full + 1.0);
    let ideal = Look::line(GREY, Dash::Solid).wide(4.0);
    let measured = |colour| Look::line(colour, Dash::Solid).marked(Mark::Circle);
    let corners = |chart: Chart| {
        chart
            .with(Rule::vertical(1.0, "BDP"))
            .with(Rule::vertical(full, "BDP + buffer"))
    };
    let points = |y: fn(&Seen<'_>) -> f64| {
        seen::medians(seen::all(findings).map(|seen| (inflight(&seen), y(&seen))))
    };
    let rtt = points(|seen| {
        seen.flows()
            .iter()
            .find_map(|flow| flow.rtt_ms.p50)
            .unwrap_or(f64::NAN)
    });
    let goodput = points(|seen| {
        mega(
            seen.flows()
                .iter()
                .map(|flow| flow.goodput_bps as f64)
                .sum(),
        )
    });
    let lost = points(|seen| {
        let path = &seen.record().summary.path;
        let sent: u64 = seen.flows().iter().filter_map(|flow| flow.sent_bytes).sum();
        path.drops.unwrap_or_default() as f64 * 1500.0 / (sent as f64).max(1.0) * 100.0
    });
    let most_ms = rtprop_ms * full;
    let knee = [
        (0.0, rtprop_ms),
        (1.0, rtprop_ms),
        (full, most_ms),
        (full + 1.0, most_ms),
    ];
    let limit = mega(rate) / ON_PATH;
    let plateau = [(0.0, 0.0), (1.0, limit), (full + 1.0, limit)];
    let charts = [
        Chart::new(x(), Axis::from_zero("RTT (ms)", knee.map(|(_, y)| y)))
            .with(Curve::new(
                "the path's limits: RTprop, BtlBw, buffer",
                ideal,
                knee,
            ))
            .with(Curve::new("measured RTT", measured(BLUE), rtt)),
        Chart::new(x(), Axis::from_zero("Delivery rate (Mbit/s)", [limit]))
            .with(Curve::new(
                "the path's limits: RTprop, BtlBw, buffer",
                ideal,
                plateau,
            ))
            .with(Curve::new(
                "measured delivery rate",
                measured(GREEN),
                goodput,
            )),
        Chart::new(
            x(),
            Axis::from_zero("Lost packets (%)", lost.iter().map(|(_, y)| *y)),
        )
        .with(Curve::new("measured loss", measured(ORANGE), lost)),
    ];
    Picture::of("", 1, 215.0, charts.map(corners))
}
