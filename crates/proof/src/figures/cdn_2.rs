//! CDN, figure 2: the throughput of a wireless provider's clients, in a test and a control group, before and after BBR is
//! turned on for the test group.

use super::runs::StudyRun;
use super::{After, CDN, Figure, curves, days, transfers};
use draw::{Axis, Chart, Curve, Picture, Unit, cdf};
use studies::runs::Findings;
use tables::statistics::quantile;

pub const FIGURE: Figure = Figure::new(
    "cdn-2-bbr-turned-on",
    "Throughput of wireless clients over two days, the second one with BBR for the test group",
    After::Figure(CDN, 2),
    draw,
);

/// The field whose values are the hours of a day, in order.
const LOAD: &str = "flow.app.load";

/// The two groups are of clients.
const KIND: &str = "group";

/// The least size of an object in bytes whose time depends on the controller.
const MIN_LARGE_BYTES: f64 = 300e3;

fn draw(findings: &[Findings]) -> Picture {
    let unit = Unit::MEGABITS_PER_SECOND;
    let low = "5th percentile";
    let distributions = days::GROUPS.map(|(group, controller)| {
        let lows = days::of(findings, group, 2).map(|seen| fifth_percentile(&seen));
        let lows = lows.filter(|low| low.is_finite());
        let look = curves::look_of(controller);
        Curve::new(days::named(group, controller, KIND), look, cdf(lows))
    });
    let lows = curves::across(&distributions);
    let charts = [
        days::over_time(findings, KIND, LOAD, ("Mean", unit), |seen| {
            transfers::mean_throughput(seen, MIN_LARGE_BYTES)
        })
        .titled("mean throughput"),
        days::over_time(findings, KIND, LOAD, (low, unit), fifth_percentile)
            .titled("5th percentile of the throughput"),
        Chart::new(Axis::from_zero(low, unit, lows), curves::share_of("hours"))
            .titled("5th percentile, second day")
            .with_all(distributions),
    ];
    Picture::of("", 1, 290.0, charts)
}

/// The 5th percentile of the clients' throughput in an hour, in Mbit/s.
fn fifth_percentile(seen: &StudyRun<'_>) -> f64 {
    quantile(transfers::throughputs(seen, MIN_LARGE_BYTES), 0.05).unwrap_or(f64::NAN)
}
