//! BBRv3, BBRv1, CUBIC and Reno compared: each alone, beside its own kind, and beside CUBIC.

use super::runs::{self, CONTROLLER, StudyRun};
use super::{After, DRAFT, Figure, curves, transfers};
use draw::{Axis, Chart, Curve, Picture, Rule, Unit};
use record::FlowSummary;
use studies::runs::Findings;
use tables::statistics::{mean, quantile};

pub const LOSS: Figure = Figure::new(
    "versions-loss",
    "Which BBR where: over random loss",
    After::Text(DRAFT, "the response to packet loss"),
    |findings| alone(findings, "path.loss", &loss()),
);

pub const BUFFER: Figure = Figure::new(
    "versions-buffer",
    "Which BBR where: over the depth of the buffer",
    After::Text(DRAFT, "the aim of short queues"),
    |findings| alone(findings, "path.buffer", &buffer()),
);

pub const RTT: Figure = Figure::new(
    "versions-rtt",
    "Which BBR where: over the length of the path",
    After::Text(DRAFT, "the time scale of probing for bandwidth"),
    |findings| {
        let axis = Axis::log("RTprop", Unit::MILLISECONDS, 0.8, 400.0);
        alone(findings, "path.rtt", &axis)
    },
);

pub const FLOWS: Figure = Figure::new(
    "versions-flows",
    "Which BBR where: several flows of the same controller",
    After::Text(DRAFT, "the convergence of flows"),
    flows,
);

pub const HARM: Figure = Figure::new(
    "versions-harm",
    "Which BBR where: one flow beside a CUBIC flow",
    After::Text(DRAFT, "coexistence with Reno and CUBIC"),
    |findings| beside_cubic(findings, "path.buffer", &buffer()),
);

pub const CROWD: Figure = Figure::new(
    "versions-crowd",
    "Which BBR where: one flow among CUBIC flows",
    After::Text(DRAFT, "coexistence with Reno and CUBIC"),
    |findings| beside_cubic(findings, "flow.1.count", &counts("CUBIC flows")),
);

pub const REQUESTS: Figure = Figure::new(
    "versions-requests",
    "Which BBR where: small requests beside a bulk flow",
    After::Text(DRAFT, "the aim of short queues"),
    requests,
);

/// The field with the compared controller.
const COMPARED: &str = "flow.0.controller";

/// The reference.
const CUBIC: &str = "cubic";

/// The RTT, in RTprops, above which the axis is logarithmic.
const MAX_LINEAR_RTT: f64 = 5.0;

fn loss() -> Axis {
    Axis::log("Random loss", Unit::PERCENT, 0.008, 25.0)
        .with_ticks([0.01, 0.1, 1.0, 2.0, 5.0, 20.0])
}

fn buffer() -> Axis {
    Axis::log("Buffer", Unit::BDP, 0.08, 20.0).with_ticks([0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
}

fn counts(of: &str) -> Axis {
    Axis::log(of, Unit::NONE, 0.85, 19.0).with_ticks([1.0, 2.0, 4.0, 8.0, 16.0])
}

/// The value of x, with shares in percent.
fn at(seen: &StudyRun<'_>, field: &str) -> f64 {
    let scale = if field.ends_with("loss") { 100.0 } else { 1.0 };
    seen.number(field) * scale
}

/// A curve for each controller that the field names: medians of `y` over `x`.
fn each(findings: &[Findings], of: &str, x: &str, y: impl Fn(&StudyRun<'_>) -> f64) -> Vec<Curve> {
    let controllers = runs::values(findings, of).into_iter();
    let curve = |controller| {
        let seen = runs::with(findings, of, controller);
        let points = runs::medians(seen.map(|seen| (at(&seen, x), y(&seen))));
        let look = curves::look_of(controller).marked(curves::mark_of(controller));
        Curve::new(controller, look, points)
    };
    controllers.map(curve).collect()
}

fn chart(title: &str, x: &Axis, y: Axis, curves: Vec<Curve>) -> Chart {
    Chart::new(x.clone(), y).titled(title).with_all(curves)
}

/// The goodput of all flows together, as a share of the path's limit.
fn share(seen: &StudyRun<'_>) -> f64 {
    let together = seen.record().summary.together;
    together.limit_share.unwrap_or(f64::NAN)
}

fn goodput(findings: &[Findings], x: &str, axis: &Axis, of: &str) -> Chart {
    let y = Axis::linear("Share of what the path allows", Unit::NONE, 0.0, 1.05);
    chart("Goodput", axis, y, each(findings, of, x, share))
}

fn inflation(findings: &[Findings], x: &str, axis: &Axis, of: &str) -> Chart {
    let curves = each(findings, of, x, |seen| {
        let flows = seen.flows().iter();
        runs::median(flows.filter_map(|flow| flow.rtt_ms.p95)) / seen.path().rtprop_ms
    });
    let highest = curves::heights(&curves).fold(1.0, f64::max);
    let name = "95th percentile over RTprop";
    let y = if highest > MAX_LINEAR_RTT {
        Axis::log(name, Unit::NONE, 0.95, highest * 1.1).with_ticks([1.0, 2.0, 5.0, 10.0, 20.0])
    } else {
        Axis::from_zero(name, Unit::NONE, [highest])
    };
    chart("Round-trip time", axis, y, curves)
}

fn resent(findings: &[Findings], x: &str, axis: &Axis, of: &str) -> Chart {
    let curves = each(findings, of, x, |seen| seen.resent() * 100.0);
    let y = Axis::from_zero(
        "Share of what is sent",
        Unit::PERCENT,
        curves::heights(&curves),
    );
    chart("Sent again", axis, y, curves)
}

fn alone(findings: &[Findings], x: &str, axis: &Axis) -> Picture {
    let charts = [goodput, inflation, resent].map(|draw| draw(findings, x, axis, CONTROLLER));
    Picture::of("", 3, 300.0, charts)
}

fn flows(findings: &[Findings]) -> Picture {
    let (x, axis) = ("flow.count", counts("Flows"));
    let jain = each(findings, CONTROLLER, x, |seen| {
        seen.record().summary.fairness.jain.unwrap_or(f64::NAN)
    });
    let y = Axis::linear("Jain's index", Unit::NONE, 0.0, 1.05);
    let fairness = chart("Fairness", &axis, y, jain);
    let others = [goodput, inflation, resent].map(|draw| draw(findings, x, &axis, CONTROLLER));
    Picture::of("", 2, 300.0, std::iter::once(fairness).chain(others))
}

/// One flow's goodput beside CUBIC flows, and a CUBIC flow's goodput and RTT over those it has if all flows are CUBIC.
fn beside_cubic(findings: &[Findings], x: &str, axis: &Axis) -> Picture {
    let own = each(findings, COMPARED, x, |seen| {
        let all = seen.flows().len() as f64;
        let first = seen
            .flows()
            .first()
            .map_or(0.0, |flow| flow.goodput_bps as f64);
        first * all / seen.goodput()
    });
    let others = |of: &dyn Fn(&StudyRun<'_>) -> f64| {
        let all = each(findings, COMPARED, x, of);
        let usual = all.iter().find(|curve| curve.name == CUBIC);
        let usual = usual.map_or(Vec::new(), |curve| curve.points.clone());
        let over = |curve: &Curve| Curve {
            points: runs::ratios(&curve.points, &usual),
            ..curve.clone()
        };
        let rivals = all.iter().filter(|curve| curve.name != CUBIC);
        rivals.map(over).collect::<Vec<Curve>>()
    };
    let of_cubic = |seen: &StudyRun<'_>, of: fn(&FlowSummary) -> Option<f64>| {
        let flows = seen.flows().iter();
        let cubics = flows.filter(|flow| flow.controller == CUBIC);
        mean(&cubics.filter_map(of).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    };
    let kept = others(&|seen| of_cubic(seen, |flow| Some(flow.goodput_bps as f64)));
    let delay = others(&|seen| of_cubic(seen, |flow| flow.rtt_ms.p95));
    let from_zero = |name: &str, curves: &[Curve]| {
        Axis::from_zero(name, Unit::NONE, curves::heights(curves).chain([1.0]))
    };
    let usual = "no harm";
    let share = from_zero("Share of a fair share", &own);
    let (goodputs, delays) = (
        from_zero("Over that among CUBIC flows", &kept),
        from_zero("Over that among CUBIC flows", &delay),
    );
    let charts = [
        chart("What the flow has", axis, share, own).with(Rule::horizontal(1.0, "fair")),
        chart("Goodput of the CUBIC flows", axis, goodputs, kept)
            .with(Rule::horizontal(1.0, usual)),
        chart(
            "RTT of the CUBIC flows, 95th percentile",
            axis,
            delays,
            delay,
        )
        .with(Rule::horizontal(1.0, usual)),
        resent(findings, x, axis, COMPARED),
    ];
    Picture::of("", 2, 300.0, charts)
}

/// The width of a curve that must be visible under another.
const LOWER_CURVE_WIDTH: f64 = 7.0;

/// A row for each loss rate: the median, and the 99th percentile.
fn requests(findings: &[Findings]) -> Picture {
    const LOSS: &str = "path.loss";
    let mut charts = Vec::new();
    for loss in runs::values(findings, LOSS) {
        for (name, share) in [("median", 0.5), ("99th percentile", 0.99)] {
            let controllers = runs::values(findings, CONTROLLER).into_iter();
            let curves = controllers.map(|controller| {
                let runs = || {
                    let runs = runs::with(findings, CONTROLLER, controller);
                    runs.filter(|seen| seen.value(LOSS) == loss)
                };
                let points = runs::values(findings, "path.buffer")
                    .into_iter()
                    .map(|buffer| {
                        let runs: Vec<StudyRun<'_>> = runs()
                            .filter(|seen| seen.value("path.buffer") == buffer)
                            .collect();
                        let x = runs
                            .first()
                            .map_or(f64::NAN, |seen| seen.number("path.buffer"));
                        let times = runs.iter().flat_map(transfers::of).map(|of| of.took * 1e3);
                        (x, quantile(times, share).unwrap_or(f64::NAN))
                    });
                let look = curves::look_of(controller).marked(curves::mark_of(controller));
                Curve::new(controller, look, points)
            });
            let mut curves: Vec<Curve> = curves.collect();
            // From 2 BDP on, the second curve covers the first.
            if let Some(lowest) = curves.first_mut() {
                lowest.look = lowest.look.wide(LOWER_CURVE_WIDTH);
            }
            let y = Axis::log("Time of a request", Unit::MILLISECONDS, 40.0, 5000.0);
            charts.push(chart(&format!("{name}, {loss} loss"), &buffer(), y, curves));
        }
    }
    Picture::of("", 2, 300.0, charts)
}
