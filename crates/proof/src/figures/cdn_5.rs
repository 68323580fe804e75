//! CDN, figure 5: throughput in two networks at long RTTs.

use super::runs::{self, CONTROLLER, StudyRun};
use super::{After, CDN, Figure, curves, transfers};
use draw::{Axis, Chart, Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-5-two-networks",
    "Throughput at long RTTs: a network with many retransmissions, and one with few",
    After::Figure(CDN, 5),
    draw,
);

const LOSS: &str = "path.loss";

fn draw(findings: &[Findings]) -> Picture {
    let controllers = runs::values(findings, CONTROLLER);
    let losses = runs::values(findings, LOSS);
    let spaced = |loss: &str| format!("{} loss", loss.replace('%', " %"));
    let resent = losses.iter().map(|loss| {
        let shares = controllers.iter().map(|controller| {
            let of_it = runs::with(findings, CONTROLLER, controller);
            let of_it = of_it.filter(|seen| seen.value(LOSS) == *loss);
            let share = runs::median(of_it.map(|seen| seen.resent())) * 100.0;
            format!("{controller} {}", small(share))
        });
        let shares: Vec<String> = shares.collect();
        format!("with {}, {}", spaced(loss), shares.join(" and "))
    });
    let resent: Vec<String> = resent.collect();
    let charts = losses.iter().map(|loss| {
        let is_of_it = |seen: &StudyRun<'_>| seen.value(LOSS) == *loss;
        let curves = curves::distributions(findings, CONTROLLER, |seen| {
            let of_it = Some(seen).filter(is_of_it);
            of_it.map_or(Vec::new(), |seen| {
                transfers::throughputs(&seen, transfers::LARGE_ABOVE_BYTES)
            })
        });
        let all = curves::across(&curves);
        Chart::new(
            Axis::from_zero("Throughput", Unit::MEGABITS_PER_SECOND, all),
            curves::share_of("objects"),
        )
        .titled(spaced(loss))
        .with_all(curves)
    });
    Picture::of("", 2, 360.0, charts).explained(format!(
        "Sent again, of all that was sent: {}.",
        resent.join("; ")
    ))
}

/// A share in percent: `0.95 %`, or `0.0061 %` where two decimals would be none.
fn small(share: f64) -> String {
    if share >= 0.1 || share == 0.0 {
        format!("{share:.2} %")
    } else {
        let decimals = (1.0 - share.log10().floor()).clamp(2.0, 9.0) as usize;
        format!("{share:.decimals$} %")
    }
}
