//! CDN, figure 2: the throughput of a wireless provider's clients before and after BBR is turned on.

use super::seen::{self, CONTROLLER};
use super::{After, CDN, Figure, curves, transfers};
use crate::runs::Findings;
use draw::{Axis, Chart, Curve, Look, Mark, Picture, Rule, Unit, cdf};
use record::statistics::{median, quantile};

pub const FIGURE: Figure = Figure::new(
    "cdn-2-bbr-turned-on",
    "Throughput of wireless clients over two days, the second one with BBR",
    After::Figure(CDN, 2),
    draw,
);

/// A day's hours, in the order of this field's values.
const LOAD: &str = "flow.app.load";

/// Smaller objects are over before their controller matters.
const LARGE: f64 = 300e3;

/// What the clients had in an hour, in Mbit/s.
struct Hour {
    mean: f64,
    fifth_percentile: f64,
}

fn draw(findings: &[Findings]) -> Picture {
    let hours = seen::values(findings, LOAD);
    // The first day with the one, the second day with the other.
    let days: Vec<(&str, Vec<Vec<Hour>>)> = ["cubic", "bbr1"]
        .into_iter()
        .map(|controller| {
            let of_hour = |load: &&str| {
                let seen = seen::with(findings, CONTROLLER, controller)
                    .filter(|seen| seen.value(LOAD) == *load);
                seen.filter_map(|seen| hour(transfers::throughputs(&seen, LARGE)))
                    .collect()
            };
            (controller, hours.iter().map(of_hour).collect())
        })
        .collect();
    let on_at = hours.len() as f64;
    let mut over_time = Vec::new();
    for (day, (controller, of_day)) in days.iter().enumerate() {
        let curve = |variant: &str, mark, part: fn(&Hour) -> f64| {
            let points = of_day.iter().enumerate().filter_map(|(hour, runs)| {
                let median = median(runs.iter().map(part))?;
                Some(((day * hours.len() + hour) as f64 + 0.5, median))
            });
            let look = Look::of_controller(controller).marked(mark);
            Curve::new(*controller, look, points).variant(variant)
        };
        over_time.push(curve("mean", Mark::Circle, |hour| hour.mean));
        over_time.push(curve("5th percentile", Mark::Triangle, |hour| {
            hour.fifth_percentile
        }));
    }
    let throughput = Axis::from_zero(
        "Throughput",
        Unit::MEGABITS_PER_SECOND,
        curves::heights(&over_time),
    );
    let lows = |of_day: &[Vec<Hour>]| -> Vec<f64> {
        let hours = of_day.iter().flatten();
        hours.map(|hour| hour.fifth_percentile).collect()
    };
    let distributions = days.iter().map(|(controller, of_day)| {
        Curve::new(
            *controller,
            Look::of_controller(controller),
            cdf(lows(of_day)),
        )
    });
    let all = days.iter().flat_map(|(_, of_day)| lows(of_day));
    let charts = [
        Chart::new(
            Axis::linear("Time", Unit::HOURS, 0.0, 2.0 * on_at),
            throughput,
        )
        .with(Rule::vertical(on_at, "BBR is turned on"))
        .with_all(over_time),
        Chart::new(
            Axis::from_zero(
                "5th percentile of the throughput",
                Unit::MEGABITS_PER_SECOND,
                all,
            ),
            curves::share_of("hours"),
        )
        .with_all(distributions),
    ];
    Picture::of("", 1, 290.0, charts)
}

fn hour(throughputs: Vec<f64>) -> Option<Hour> {
    Some(Hour {
        mean: throughputs.iter().sum::<f64>() / throughputs.len() as f64,
        fifth_percentile: quantile(throughputs, 0.05)?,
    })
}
