//! CDN, figure 4: throughput within a site and between sites, before and after BBR is turned on.

use super::runs;
use super::{After, CDN, Figure, days, transfers};
use draw::{Picture, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-4-site-to-site",
    "Throughput within a site and between sites over two days, the second one with BBR at the test site",
    After::Figure(CDN, 4),
    draw,
);

/// The field whose values are the times of a day, in order.
const LOAD: &str = "flow.1.app.load";

/// The indices of the groups of flows in the scenario, with their names.
const PATTERNS: [(usize, &str); 2] = [(3, "within a site"), (2, "between sites")];

fn draw(findings: &[Findings]) -> Picture {
    let charts = PATTERNS.map(|(pattern, name)| {
        let unit = Unit::MEGABITS_PER_SECOND;
        let throughput = ("Throughput", unit);
        let chart = days::over_time(findings, "site", LOAD, throughput, |seen| {
            let objects = transfers::of_groups(seen, |group| group == pattern);
            runs::median(objects.iter().map(transfers::Arrived::throughput))
        });
        chart.titled(name)
    });
    Picture::of("", 1, 290.0, charts)
}
