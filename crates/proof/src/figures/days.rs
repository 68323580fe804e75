//! Two days of two groups of clients, or of two sites: test and control. Both have CUBIC, and BBR is turned on for the test
//! as the second day begins.

use super::curves;
use super::runs::{self, StudyRun};
use draw::{Axis, Chart, Curve, Rule, Unit};
use studies::runs::Findings;

/// The field that names a run's group and day: `test, day 1`.
const DAY: &str = "name";

/// The groups, and the controllers of their curves' colours, which they have on the second day.
pub const GROUPS: [(&str, &str); 2] = [("test", "bbr1"), ("control", "cubic")];

/// The name of a group in a legend, where it is a `kind` such as `site`: `test site: CUBIC, then BBR`.
pub fn named(group: &str, controller: &str, kind: &str) -> String {
    let has = if controller == "cubic" {
        "CUBIC"
    } else {
        "CUBIC, then BBR"
    };
    format!("{group} {kind}: {has}")
}

/// The runs of a group on a day.
pub fn of<'f>(
    findings: &'f [Findings],
    group: &str,
    day: u8,
) -> impl Iterator<Item = StudyRun<'f>> {
    let name = format!("{group}, day {day}");
    runs::all(findings).filter(move |seen| seen.value(DAY) == name)
}

/// A measure of both groups over both days. The groups are of a `kind` such as `site`. The values of the field `load` are
/// the times of a day, in order.
pub fn over_time(
    findings: &[Findings],
    kind: &str,
    load: &str,
    (name, unit): (&str, Unit),
    measure: impl Fn(&StudyRun<'_>) -> f64,
) -> Chart {
    const HOURS: f64 = 24.0;
    let loads = runs::values(findings, load);
    let step = HOURS / loads.len().max(1) as f64;
    let curve = |(group, controller): (&str, &str)| {
        let mut points = Vec::new();
        for day in [1u8, 2] {
            for (place, value) in (0u32..).zip(&loads) {
                let seen = of(findings, group, day).filter(|seen| seen.value(load) == *value);
                let median = runs::median(seen.map(|seen| measure(&seen)));
                let time = f64::from(day - 1) * HOURS + (f64::from(place) + 0.5) * step;
                points.push((time, median));
            }
        }
        points.retain(|(_, median)| median.is_finite());
        let look = curves::look_of(controller).marked(curves::mark_of(controller));
        Curve::new(named(group, controller, kind), look, points)
    };
    let curves = GROUPS.map(curve);
    Chart::new(
        Axis::linear("Time", Unit::HOURS, 0.0, 2.0 * HOURS),
        Axis::from_zero(name, unit, curves::heights(&curves)),
    )
    .with(Rule::vertical(HOURS, format!("BBR for the test {kind}")))
    .with_all(curves)
}
