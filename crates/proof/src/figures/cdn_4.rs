//! CDN, figure 4: throughput within a site and between sites.

use super::runs::{self, StudyRun};
use super::testbed::{FOREGROUND, RTT};
use super::{After, CDN, Figure, curves, transfers};
use draw::{Axis, BLUE, Chart, Dash, Look, Picture, Unit};
use studies::runs::{Findings, distinct};

pub const FIGURE: Figure = Figure::new(
    "cdn-4-site-to-site",
    "Throughput within a site and between sites",
    After::Figure(CDN, 4),
    draw,
);

/// The width of a bar, and its distance from the next, in units of the axis.
const BAR_WIDTH: f64 = 0.27;
const BAR_DISTANCE: f64 = 0.285;

/// The field of BBR's variant, and its value for Linux since 4.20.
const BBR: &str = "flow.0.bbr1";
const TODAY: &str = "linux";

fn draw(findings: &[Findings]) -> Picture {
    let paths: Vec<String> = distinct(runs::all(findings).map(|seen| path(&seen)));
    let throughput = |controller: &str, is_today: Option<bool>, of: &str| {
        let seen = runs::with(findings, FOREGROUND, controller).filter(|seen| path(seen) == of);
        let seen = seen.filter(|seen| is_today.is_none_or(|is| (seen.value(BBR) == TODAY) == is));
        runs::median(
            seen.map(|seen| transfers::mean_throughput(&seen, transfers::LARGE_ABOVE_BYTES)),
        )
    };
    let shares = |is_today: bool| -> Vec<f64> {
        let share = |path: &String| {
            throughput("bbr1", Some(is_today), path) / throughput("cubic", None, path) * 100.0
        };
        paths.iter().map(share).collect()
    };
    let bars = |name, look, side, heights: &[f64]| {
        curves::bars(name, look, (BAR_WIDTH, side), heights, |share| {
            format!("{share:.0} %")
        })
    };
    let old = Look::line(BLUE, Dash::Dotted);
    let (today, before) = (shares(true), shares(false));
    let highest = today.iter().chain(&before).copied();
    let chart = Chart::new(
        Axis::of_kinds("Path", paths.clone()),
        Axis::from_zero(
            "Throughput of large objects, of CUBIC's",
            Unit::PERCENT,
            highest.filter(|share| share.is_finite()).chain([105.0]),
        ),
    )
    .with_all([
        bars("bbr1", curves::look_of("bbr1"), -BAR_DISTANCE, &today),
        bars("bbr1 before Linux 4.20", old, 0.0, &before),
        bars(
            "cubic",
            curves::look_of("cubic"),
            BAR_DISTANCE,
            &vec![100.0; paths.len()],
        ),
    ]);
    Picture::new("", chart)
}

/// `between sites, 0.001 % loss`.
fn path(seen: &StudyRun<'_>) -> String {
    if seen.number(RTT) < 5.0 {
        return "within a site".into();
    }
    let loss = seen.value("path.loss").trim_end_matches('%');
    format!("between sites, {loss} % loss")
}
