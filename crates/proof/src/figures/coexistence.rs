//! The shares of a bottleneck that BBR and CUBIC share.

use super::runs::{self, StudyRun};
use super::{After, Figure, PAPER, curves};
use draw::{Axis, Chart, Curve, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "coexistence",
    "BBR's share of a bottleneck beside CUBIC, over the depth of the buffer",
    After::Text(PAPER, "the section on loss-based senders"),
    draw,
)
.on(lab::EngineKind::ALL);

const BUFFER: &str = "path.buffer";
const CUBICS: &str = "flow.1.count";

fn draw(findings: &[Findings]) -> Picture {
    let mut chart = Chart::new(
        Axis::log("Buffer", Unit::BDP, 0.22, 27.0),
        Axis::linear("BBR's share of the goodput", Unit::PERCENT, 0.0, 100.0),
    );
    for cubics in runs::values(findings, CUBICS) {
        let flows = 1.0 + cubics.parse::<f64>().unwrap_or(1.0);
        chart = chart.with(Rule::horizontal(
            100.0 / flows,
            format!("fair: 1 of {flows}"),
        ));
    }
    for (place, cubics) in runs::values(findings, CUBICS).into_iter().enumerate() {
        for of_engine in findings.chunks(1) {
            let points = runs::with(of_engine, CUBICS, cubics)
                .map(|seen| (seen.number(BUFFER), share(&seen) * 100.0));
            let flows = if cubics == "1" { "flow" } else { "flows" };
            let name = format!("1 bbr1 beside {cubics} cubic {flows}");
            let look = curves::variant_of("bbr1", place);
            let name = runs::titled(findings, of_engine, &name);
            chart = chart.with(Curve::new(name, look, runs::medians(points)));
        }
    }
    Picture::new("", chart)
}

/// BBR's share of all flows' goodput.
fn share(seen: &StudyRun<'_>) -> f64 {
    let (bbr, cubic) = (seen.goodput_of("bbr1"), seen.goodput_of("cubic"));
    bbr / (bbr + cubic)
}
