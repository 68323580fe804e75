//! Curves, bars and axes for several figures.

use super::runs::{self, CONTROLLER, StudyRun};
use draw::{Axis, Bars, Chart, Curve, Look, Mark, Unit, cdf};
use studies::runs::Findings;

/// A curve for each controller and engine: medians of `y` over `x`. Each engine has marks of its own.
pub fn by_controller(
    findings: &[Findings],
    x: impl Fn(&StudyRun<'_>) -> f64,
    y: impl Fn(&StudyRun<'_>) -> f64,
) -> Vec<Curve> {
    let mut curves = Vec::new();
    for (place, of_engine) in findings.chunks(1).enumerate() {
        let controllers = runs::values(of_engine, CONTROLLER);
        for (controller, look) in controllers.iter().zip(looks(&controllers)) {
            let seen = runs::with(of_engine, CONTROLLER, controller);
            let points = runs::medians(seen.map(|seen| (x(&seen), y(&seen))));
            let curve = Curve::new(*controller, of_engine_at(place, look), points);
            curves.push(curve.variant(runs::engine(findings, of_engine)));
        }
    }
    curves
}

/// The look of the curves of the engine at this index.
fn of_engine_at(place: usize, look: Look) -> Look {
    match place {
        0 => look.marked(Mark::Circle),
        1 => look.marked(Mark::Square).wide(1.0),
        _ => look.marked(Mark::Triangle).wide(1.0),
    }
}

/// The looks of these controllers' curves in one chart.
fn looks(controllers: &[&str]) -> impl Iterator<Item = Look> {
    report::places(controllers).into_iter().map(Look::of_place)
}

/// The look of a controller's curves.
pub fn look_of(controller: &str) -> Look {
    Look::of_place(place_of(controller))
}

/// The look of a controller's variant at this index: the controller's colour with its own strokes and marks.
pub fn variant_of(controller: &str, place: usize) -> Look {
    let Look { colour, .. } = look_of(controller);
    let look = Look {
        colour,
        ..Look::of_place(place)
    };
    look.marked(Mark::of_place(place))
}

/// The mark of a controller's curves where strokes distinguish something else.
pub fn mark_of(controller: &str) -> Mark {
    Mark::of_place(place_of(controller))
}

fn place_of(controller: &str) -> usize {
    report::places(&[controller])
        .first()
        .copied()
        .unwrap_or_default()
}

/// A controller's curve in the controller's look.
pub fn of_controller(controller: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
    Curve::new(controller, look_of(controller), points)
}

/// A chart over a span of a run, in seconds.
pub fn over_time((from, to): (f64, f64), y: Axis) -> Chart {
    Chart::new(Axis::linear("Time", Unit::SECONDS, from, to), y)
}

/// The distributions of the runs' values, one curve for each controller that the field names.
pub fn distributions<V: IntoIterator<Item = f64>>(
    findings: &[Findings],
    field: &str,
    of: impl Fn(StudyRun<'_>) -> V,
) -> Vec<Curve> {
    let controllers = runs::values(findings, field);
    let curve = |(controller, look): (&&str, Look)| {
        let values = runs::with(findings, field, controller).flat_map(&of);
        Curve::new(*controller, look, cdf(values))
    };
    let looks = looks(&controllers);
    controllers.iter().zip(looks).map(curve).collect()
}

/// The axis of a distribution: `Share of objects`.
pub fn share_of(things: &str) -> Axis {
    Axis::linear(&format!("Share of {things}"), Unit::NONE, 0.0, 1.0)
}

/// The x values of all curves.
pub fn across(curves: &[Curve]) -> impl Iterator<Item = f64> {
    curves
        .iter()
        .flat_map(|curve| &curve.points)
        .map(|(x, _)| *x)
}

/// The y values of all curves.
pub fn heights(curves: &[Curve]) -> impl Iterator<Item = f64> {
    curves
        .iter()
        .flat_map(|curve| &curve.points)
        .map(|(_, y)| *y)
}

/// An axis in percent with zero and all these values, and some room at both ends. It covers at least ±10 % times
/// `room`.
pub fn around_zero(name: &str, changes: &[f64], room: f64) -> Axis {
    let end = |sign: f64| {
        let ends = changes.iter().map(|change| change * sign);
        ends.fold(10.0, f64::max) * room * sign
    };
    Axis::linear(name, Unit::PERCENT, end(-1.0), end(1.0))
}

/// Bars of these heights, one for each category of an axis, at the distance `side` from its middle.
pub fn bars(
    name: &str,
    look: Look,
    (width, side): (f64, f64),
    heights: &[f64],
    label: fn(f64) -> String,
) -> Bars {
    let places = (0u32..).map(|place| f64::from(place) + side);
    let bars = places.zip(heights.iter().copied());
    Bars {
        name: name.into(),
        look,
        width,
        bars: bars.filter(|(_, height)| height.is_finite()).collect(),
        label: Some(label),
    }
}
