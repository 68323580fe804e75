//! Figure 1: the behaviour of a path as more is in flight.

use super::runs::{self, StudyRun, mega};
use super::{After, Figure, PAPER};
use draw::{
    Area, Axis, BLUE, Band, Chart, Curve, Dash, GREEN, GREY, Look, Mark, ORANGE, PURPLE, Picture,
    Rule, Unit,
};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-1-operating-point",
    "The operating point: delivery rate, round-trip time and power over inflight",
    After::Figure(PAPER, 1),
    draw,
);

/// The field with the number of flows, and the constant number of packets that each has in flight.
const FLOWS: &str = "flow.count";
const PACKETS_PER_FLOW: f64 = 4.0;

/// The size of a packet on the path, and of its payload, in bytes.
const PACKET: f64 = 1500.0;
const PAYLOAD: f64 = 1448.0;

/// A path: its rate in Mbit/s, its RTprop in milliseconds, its buffer as a multiple of the BDP.
struct Path {
    rate: f64,
    rtprop: f64,
    buffer: f64,
}

impl Path {
    fn of(seen: &StudyRun<'_>) -> Path {
        let (rate, rtprop) = (mega(seen.rate()), seen.path().rtprop_ms);
        let buffer = seen.path().buffer_bytes.unwrap_or_default() as f64;
        Path {
            rate,
            rtprop,
            buffer: buffer / bdp(seen),
        }
    }

    /// The most that the path can hold, as a multiple of the BDP.
    fn full(&self) -> f64 {
        1.0 + self.buffer
    }

    /// A chart over the amount in flight: the measurements and the limits of the path. Beyond the limits, at this end of
    /// the axis of y, nothing is possible.
    fn chart(&self, y: Axis, (ideal, beyond): (&[(f64, f64)], f64), measured: Curve) -> Chart {
        let full = self.full();
        let band = |from, to, name: &str| Band {
            from,
            to,
            name: name.into(),
        };
        let bands = [
            band(0.0, 1.0, "app limited"),
            band(1.0, full, "bandwidth limited"),
            band(full, full + 1.0, "buffer limited"),
        ];
        let ends = [(full + 1.0, beyond), (0.0, beyond)];
        let impossible = (!ideal.is_empty()).then(|| Area::new(ideal.iter().copied().chain(ends)));
        let limits = (!ideal.is_empty()).then(|| {
            let look = Look::line(GREY, Dash::Solid).wide(4.0);
            let name = "the path's limits: RTprop, BtlBw, buffer";
            Curve::new(name, look, ideal.iter().copied())
        });
        Chart::new(Axis::linear("In flight", Unit::BDP, 0.0, full + 1.0), y)
            .with_all(impossible)
            .with_all(bands)
            .with_all(limits)
            .with(measured)
            .with(Rule::vertical(1.0, "BDP"))
            .with(Rule::vertical(full, "BDP + buffer"))
    }
}

/// The BDP in bytes.
fn bdp(seen: &StudyRun<'_>) -> f64 {
    seen.rate() * seen.path().rtprop_ms / 8e3
}

fn inflight(seen: &StudyRun<'_>) -> f64 {
    seen.number(FLOWS) * PACKETS_PER_FLOW * PACKET / bdp(seen)
}

/// The share of lost packets, in percent.
fn lost(seen: &StudyRun<'_>) -> f64 {
    let sent: u64 = seen.flows().iter().filter_map(|flow| flow.sent_bytes).sum();
    let packets = (sent as f64 / PAYLOAD).max(1.0);
    seen.path().drops.unwrap_or_default() as f64 / packets * 100.0
}

/// Kleinrock's power, rate over RTT, relative to the path's rate over RTprop.
fn power(seen: &StudyRun<'_>) -> f64 {
    let share = seen.goodput() * PACKET / (seen.rate() * PAYLOAD);
    share * seen.path().rtprop_ms / seen.rtt_p50()
}

fn draw(findings: &[Findings]) -> Picture {
    let Some(path) = runs::all(findings).next().map(|seen| Path::of(&seen)) else {
        return Picture::of("", 1, 215.0, []);
    };
    let measured = |name: &str, colour, y: fn(&StudyRun<'_>) -> f64| {
        let look = Look::line(colour, Dash::Solid).marked(Mark::Circle);
        let points = runs::all(findings).map(|seen| (inflight(&seen), y(&seen)));
        Curve::new(name, look, runs::medians(points))
    };
    let (full, least) = (path.full(), path.rtprop);
    let (end, most) = (full + 1.0, least * full);
    let limit = path.rate * PAYLOAD / PACKET;
    // Only one BDP in flight has the whole rate without a queue.
    let beyond = (0..=80).map(|step| 1.0 + path.buffer * f64::from(step) / 80.0);
    let mut ideal_power = vec![(0.0, 0.0)];
    ideal_power.extend(beyond.map(|bdps| (bdps, 1.0 / bdps)));
    ideal_power.push((end, 1.0 / full));
    let loss = measured("measured loss", ORANGE, lost);
    let most_lost = loss.points.iter().map(|(_, y)| *y).fold(1.0, f64::max);
    let charts = [
        path.chart(
            Axis::from_zero("RTT", Unit::MILLISECONDS, [most * 1.1]),
            (
                &[(0.0, least), (1.0, least), (full, most), (end, most)],
                0.0,
            ),
            measured("measured RTT", BLUE, |seen| seen.rtt_p50()),
        ),
        path.chart(
            Axis::from_zero("Delivery rate", Unit::MEGABITS_PER_SECOND, [limit * 1.2]),
            (&[(0.0, 0.0), (1.0, limit), (end, limit)], f64::MAX),
            measured("measured delivery rate", GREEN, |seen| mega(seen.goodput())),
        ),
        path.chart(
            Axis::from_zero("Rate / RTT (share of the greatest)", Unit::NONE, [1.2]),
            (&ideal_power, f64::MAX),
            measured("measured rate / RTT", PURPLE, power),
        ),
        path.chart(
            Axis::from_zero("Lost packets", Unit::PERCENT, [most_lost]),
            (&[], 0.0),
            loss,
        ),
    ];
    Picture::of("", 1, 215.0, charts)
}
