//! CDN, figure 5: throughput in two networks at long RTTs.

use super::seen::{self, CONTROLLER, Seen};
use super::{After, CDN, Figure, transfers};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Look, Picture, Unit, cdf};

pub const FIGURE: Figure = Figure {
    name: "cdn-5-two-networks",
    title: "Throughput at long RTTs: a network with many retransmissions, and one with few",
    after: After::Figure(5),
    publication: CDN,
    engines: &[lab::EngineKind::Sim],
    shows_samples: false,
    population: None,
    draw,
};

const LOSS: &str = "path.loss";

/// Smaller objects are over before their controller matters.
const LARGE: f64 = 1e6;

fn draw(findings: &[Findings]) -> Picture {
    let throughputs = |loss: &str, controller: &str| -> Vec<f64> {
        let seen = seen::with(findings, CONTROLLER, controller);
        let of_network = seen.filter(|seen| seen.value(LOSS) == loss);
        of_network
            .flat_map(|seen| transfers::throughputs(&seen, LARGE))
            .collect()
    };
    let controllers = seen::values(findings, CONTROLLER);
    let networks = seen::values(findings, LOSS);
    let charts = networks.iter().map(|loss| {
        let of_each: Vec<Vec<f64>> = controllers
            .iter()
            .map(|controller| throughputs(loss, controller))
            .collect();
        let all = of_each.iter().flatten().copied();
        let curves = controllers
            .iter()
            .zip(&of_each)
            .map(|(controller, values)| {
                let look = Look::of_controller(controller);
                Curve::new(*controller, look, cdf(values.iter().copied()))
            });
        let resent = controllers.iter().map(|controller| {
            let seen = seen::with(findings, CONTROLLER, controller);
            let of_network = seen.filter(|seen| seen.value(LOSS) == *loss);
            let share = seen::median(of_network.map(|seen| resent(&seen))) * 100.0;
            format!("{controller} {share:.2} %")
        });
        let resent: Vec<String> = resent.collect();
        Chart::new(
            Axis::from_zero("Throughput", Unit::MEGABITS_PER_SECOND, all),
            Axis::linear("Share of objects", Unit::NONE, 0.0, 1.0),
        )
        .titled(format!("retransmitted: {}", resent.join(", ")))
        .with_all(curves)
    });
    Picture::of("", 2, 360.0, charts)
}

/// What was sent again, as a share of what was sent.
fn resent(seen: &Seen<'_>) -> f64 {
    let sum = |count: fn(&record::FlowSummary) -> Option<u64>| {
        seen.flows().iter().filter_map(count).sum::<u64>() as f64
    };
    sum(|flow| flow.retransmitted_bytes) / sum(|flow| flow.sent_bytes)
}
