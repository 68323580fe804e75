//! Figure 1: what a path does as more is in flight.

use super::seen::{self, Seen, mega};
use super::{After, Figure, PAPER};
use crate::runs::Findings;
use draw::{
    Axis, BLUE, Band, Chart, Curve, Dash, GREEN, GREY, Look, Mark, ORANGE, Picture, Rule, Unit,
};

pub const FIGURE: Figure = Figure::new(
    "paper-1-operating-point",
    "The operating point: delivery rate and round-trip time over what is in flight",
    After::Figure(PAPER, 1),
    draw,
);

/// How many flows there are: each has the same number of packets in flight, whatever becomes of them.
const FLOWS: &str = "flow.count";
const PACKETS: f64 = 4.0;

/// A packet on the path, and the payload in it, in bytes.
const PACKET: f64 = 1500.0;
const PAYLOAD: f64 = 1448.0;

fn draw(findings: &[Findings]) -> Picture {
    let first = seen::all(findings).next();
    let rate = first.map_or(0.0, |seen| seen.rate());
    let rtprop_ms = first.map_or(0.0, |seen| seen.path().rtprop_ms);
    let buffer = first.and_then(|seen| seen.path().buffer_bytes);
    let buffer = buffer.unwrap_or_default() as f64;
    let bdp = rate * rtprop_ms / 8e3;
    let inflight = |seen: &Seen<'_>| seen.number(FLOWS) * PACKETS * PACKET / bdp;
    let full = 1.0 + buffer / bdp;
    let end = full + 1.0;
    let points = |y: fn(&Seen<'_>) -> f64| {
        seen::medians(seen::all(findings).map(|seen| (inflight(&seen), y(&seen))))
    };
    let rtt = points(|seen| seen.rtt_p50());
    let goodput = points(|seen| mega(seen.goodput()));
    let lost = points(|seen| {
        let sent: u64 = seen.flows().iter().filter_map(|flow| flow.sent_bytes).sum();
        let packets = (sent as f64 / PAYLOAD).max(1.0);
        seen.path().drops.unwrap_or_default() as f64 / packets * 100.0
    });
    let most_ms = rtprop_ms * full;
    let knee = [
        (0.0, rtprop_ms),
        (1.0, rtprop_ms),
        (full, most_ms),
        (end, most_ms),
    ];
    let limit = mega(rate) * PAYLOAD / PACKET;
    let plateau = [(0.0, 0.0), (1.0, limit), (end, limit)];
    let ideal = |points: &[(f64, f64)]| {
        let look = Look::line(GREY, Dash::Solid).wide(4.0);
        let name = "the path's limits: RTprop, BtlBw, buffer";
        Curve::new(name, look, points.iter().copied())
    };
    let measured = |name: &str, colour, points| {
        let look = Look::line(colour, Dash::Solid).marked(Mark::Circle);
        Curve::new(name, look, points)
    };
    let band = |from, to, name: &str, is_shaded| Band {
        from,
        to,
        name: name.into(),
        is_shaded,
    };
    let chart = |y| {
        Chart::new(Axis::linear("In flight", Unit::BDP, 0.0, end), y).with_all([
            band(0.0, 1.0, "app limited", false),
            band(1.0, full, "bandwidth limited", true),
            band(full, end, "buffer limited", false),
        ])
    };
    let most_lost = lost.iter().map(|(_, y)| *y).fold(1.0, f64::max);
    let charts = [
        chart(Axis::from_zero("RTT", Unit::MILLISECONDS, [most_ms * 1.1]))
            .with(ideal(&knee))
            .with(measured("measured RTT", BLUE, rtt)),
        chart(Axis::from_zero(
            "Delivery rate",
            Unit::MEGABITS_PER_SECOND,
            [limit * 1.2],
        ))
        .with(ideal(&plateau))
        .with(measured("measured delivery rate", GREEN, goodput)),
        chart(Axis::from_zero("Lost packets", Unit::PERCENT, [most_lost])).with(measured(
            "measured loss",
            ORANGE,
            lost,
        )),
    ];
    let corners = |chart: Chart| {
        chart
            .with(Rule::vertical(1.0, "BDP"))
            .with(Rule::vertical(full, "BDP + buffer"))
    };
    Picture::of("", 1, 215.0, charts.map(corners))
}
