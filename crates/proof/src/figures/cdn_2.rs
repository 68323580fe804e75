//! CDN, figure 2: the throughput of a wireless provider's clients before and after BBR is turned on.

use super::runs::{self, CONTROLLER};
use super::{After, CDN, Figure, curves, transfers};
use draw::{Axis, Chart, Curve, Mark, Picture, Rule, Unit, cdf};
use studies::runs::Findings;
use tables::statistics::{mean, quantile};

pub const FIGURE: Figure = Figure::new(
    "cdn-2-bbr-turned-on",
    "Throughput of wireless clients over two days, the second one with BBR",
    After::Figure(CDN, 2),
    draw,
);

/// The field whose values are the hours of a day, in order.
const LOAD: &str = "flow.app.load";

/// The least size of an object in bytes whose time depends on the controller.
const MIN_LARGE_BYTES: f64 = 300e3;

/// The clients' throughput in an hour, in Mbit/s.
struct Hour {
    mean: f64,
    fifth_percentile: f64,
}

/// A controller with the hours of its day, and the runs of each hour.
type Day<'f> = (&'f str, Vec<Vec<Hour>>);

fn draw(findings: &[Findings]) -> Picture {
    let loads = runs::values(findings, LOAD);
    let days: [Day<'_>; 2] = ["cubic", "bbr1"].map(|controller| {
        let of_hour = |load: &&str| {
            let seen = runs::with(findings, CONTROLLER, controller);
            let seen = seen.filter(|seen| seen.value(LOAD) == *load);
            seen.filter_map(|seen| hour(transfers::throughputs(&seen, MIN_LARGE_BYTES)))
                .collect()
        };
        (controller, loads.iter().map(of_hour).collect())
    });
    let on_at = loads.len() as f64;
    let over_time = days.iter().zip([0.0, on_at]);
    let over_time: Vec<Curve> = over_time
        .flat_map(|(day, from)| over_time_of(day, from))
        .collect();
    let lows = |(_, hours): &Day<'_>| -> Vec<f64> {
        let runs = hours.iter().flatten();
        runs.map(|hour| hour.fifth_percentile).collect()
    };
    let distribution = |day: &Day<'_>| curves::of_controller(day.0, cdf(lows(day)));
    let (throughput, low) = ("Throughput", "5th percentile of the throughput");
    let unit = Unit::MEGABITS_PER_SECOND;
    let charts = [
        Chart::new(
            Axis::linear("Time", Unit::HOURS, 0.0, 2.0 * on_at),
            Axis::from_zero(throughput, unit, curves::heights(&over_time)),
        )
        .with(Rule::vertical(on_at, "BBR is turned on"))
        .with_all(over_time),
        Chart::new(
            Axis::from_zero(low, unit, days.iter().flat_map(lows)),
            curves::share_of("hours"),
        )
        .with_all(days.iter().map(distribution)),
    ];
    Picture::of("", 1, 290.0, charts)
}

/// The medians of a day over its hours, from this hour on.
fn over_time_of((controller, hours): &Day<'_>, from: f64) -> [Curve; 2] {
    let curve = |variant: &str, mark, part: fn(&Hour) -> f64| {
        let points = hours.iter().enumerate().map(|(hour, runs)| {
            let median = runs::median(runs.iter().map(part));
            (from + hour as f64 + 0.5, median)
        });
        let look = curves::look_of(controller).marked(mark);
        Curve::new(*controller, look, points).variant(variant)
    };
    [
        curve("mean", Mark::Circle, |hour| hour.mean),
        curve("5th percentile", Mark::Triangle, |hour| {
            hour.fifth_percentile
        }),
    ]
}

fn hour(throughputs: Vec<f64>) -> Option<Hour> {
    Some(Hour {
        mean: mean(&throughputs)?,
        fifth_percentile: quantile(throughputs, 0.05)?,
    })
}
