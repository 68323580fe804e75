//! The conditions under which a claim holds: a measured ratio along the quantity that decides it.

use super::runs::{self, StudyRun};
use super::{After, CDN, Figure, PAPER, curves, transfers};
use draw::{Axis, Chart, Curve, Picture, Rule, Unit};
use studies::runs::Findings;

/// The savings of BBR's model of policers.
pub const POLICER: Figure = Figure::new(
    "policer",
    "Retransmissions that BBR's policer model saves",
    After::Text(PAPER, "the section on token-bucket policers"),
    policer,
);

/// The objects that take longer with BBR on an idle path.
pub const OBJECT_SIZE: Figure = Figure::new(
    "object-size",
    "Completion time of an object on an idle path, by size",
    After::Text(CDN, "the section on small objects"),
    object_size,
);

/// The paths on which BBR alone is slower than CUBIC alone.
pub const SHORT_PATHS: Figure = Figure::new(
    "short-paths",
    "Throughput on short, fast and idle paths",
    After::Text(CDN, "the throughput within a site (figure 4)"),
    short_paths,
);

/// The cells on which a flow with small queues stays at low rates.
pub const CELL: Figure = Figure::new(
    "cell",
    "Goodput on a cell that grants the rate that the queue requests",
    After::Text(PAPER, "the section on mobile cellular"),
    cell,
);

const BBR: &str = "flow.bbr1";
const CONTROLLER: &str = runs::CONTROLLER;

/// BBR's curves, one for each value of `each`. Along `x`, the median of `measure` where `of` has the value `one`, over
/// the median where it has another.
fn ratios(
    findings: &[Findings],
    each: &str,
    x: &str,
    (of, one): (&str, &str),
    name: impl Fn(&str) -> String,
    measure: impl Fn(&StudyRun<'_>) -> f64,
) -> Vec<Curve> {
    let curve = |(place, value): (usize, &str)| {
        let points = |is_one: bool| {
            let seen = runs::all(findings).filter(|seen| seen.value(each) == value);
            let seen = seen.filter(|seen| (seen.value(of) == one) == is_one);
            runs::medians(seen.map(|seen| (seen.number(x), measure(&seen))))
        };
        Curve::new(
            name(value),
            curves::variant_of("bbr1", place),
            runs::ratios(&points(true), &points(false)),
        )
    };
    let values = runs::values(findings, each).into_iter();
    values.enumerate().map(curve).collect()
}

fn policer(findings: &[Findings]) -> Picture {
    let curves = ratios(
        findings,
        "path.rtt",
        "path.policer.burst",
        (BBR, "linux"),
        |rtt| format!("RTprop {rtt}"),
        |seen| seen.resent(),
    );
    let chart = Chart::new(
        Axis::log("Depth of the bucket", Unit::BYTES, 8e3, 2.5e6),
        Axis::linear(
            "Retransmissions over those without the model",
            Unit::NONE,
            0.0,
            1.2,
        ),
    )
    .with(Rule::horizontal(0.5, "half"))
    .with_all(curves);
    Picture::new("", chart)
}

fn object_size(findings: &[Findings]) -> Picture {
    let curves = ratios(
        findings,
        "host.scheduler",
        "flow.app.sizes",
        (CONTROLLER, "bbr1"),
        |scheduler| match scheduler {
            "fq" => "CUBIC paced by FQ".into(),
            _ => "CUBIC not paced".into(),
        },
        |seen| transfers::median_time(transfers::of(seen)),
    );
    let chart = Chart::new(
        Axis::log("Size of the object", Unit::BYTES, 8e3, 12e6),
        Axis::linear("BBR's time over CUBIC's", Unit::NONE, 0.8, 1.4),
    )
    .with(Rule::horizontal(1.1, "a tenth longer"))
    .with(Rule::horizontal(1.0, "the same"))
    .with(Rule::vertical(14_480.0, "the initial window"))
    .with_all(curves);
    Picture::new("", chart)
}

fn short_paths(findings: &[Findings]) -> Picture {
    let curves = ratios(
        findings,
        "name",
        "path.rtt",
        (CONTROLLER, "bbr1"),
        str::to_owned,
        |seen| transfers::mean_throughput(seen, 0.0),
    );
    let chart = Chart::new(
        Axis::log("RTprop", Unit::MILLISECONDS, 0.08, 20.0),
        Axis::linear("BBR's throughput over CUBIC's", Unit::NONE, 0.0, 1.2),
    )
    .with(Rule::horizontal(1.0, "the same"))
    .with(Rule::horizontal(0.5, "half"))
    .with_all(curves);
    Picture::new("", chart)
}

fn cell(findings: &[Findings]) -> Picture {
    let curves = ratios(
        findings,
        BBR,
        "path.demand.within",
        (CONTROLLER, "bbr1"),
        |bbr| match bbr.strip_prefix("cwnd_gain=") {
            Some(gain) => format!("BBR with a window of {gain} BDP"),
            None => "BBR as it is, 2 BDP".into(),
        },
        |seen| seen.goodput(),
    );
    let chart = Chart::new(
        Axis::linear(
            "Time within which the cell carries what waits",
            Unit::MILLISECONDS,
            0.0,
            120.0,
        ),
        Axis::linear("BBR's goodput over CUBIC's", Unit::NONE, 0.0, 1.2),
    )
    .with(Rule::horizontal(1.0, "the same"))
    .with(Rule::vertical(60.0, "RTprop"))
    .with_all(curves);
    Picture::new("", chart)
}
