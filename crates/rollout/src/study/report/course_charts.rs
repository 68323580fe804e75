//! The results of a study over time as charts.

use draw::{Axis, Chart, Curve, Dash, Look, Mark, Picture, Rule, Unit};
use experiment::Measure;
use experiment::carryover::{Since, ValueSince};
use experiment::timeline::{ArmInBin, Bins};
use tables::numbers::utc;

use super::course::{SHOWN, time};

/// The height of a chart in pixels.
const HEIGHT_PX: f64 = 270.0;

/// The end of the axes of changes, in percent.
const MAX_PERCENT: f64 = 100.0;

/// The distance between arms in a bin.
const ARM_DISTANCE: f64 = 0.12;

/// Throughput and RTT over calendar time.
pub fn timeline(bins: &Bins, names: &[&str]) -> Option<Picture> {
    let begin = bins.bins.first()?.from_unix_s;
    let end = bins.bins.last()?.from_unix_s + bins.width_s;
    let (unit, length) = match end - begin {
        ..7_200 => ("minutes", 60.0),
        7_200..259_200 => ("hours", 3600.0),
        259_200.. => ("days", 86_400.0),
    };
    let x = |unix_s: f64| (unix_s - begin as f64) / length;
    let axis = format!("{unit} since {} UTC", utc(begin));
    let chart = |name: &str, unit: Unit, kinds: &[Kind]| {
        let mut curves = Vec::new();
        for (arm, (name, look)) in names.iter().zip(looks(names)).enumerate() {
            for kind in kinds {
                curves.extend(runs(bins, arm, kind).into_iter().map(|run| {
                    let middle = run.into_iter().map(|(from, y)| {
                        let middle = from as f64 + bins.width_s as f64 / 2.0;
                        (x(middle), y)
                    });
                    let look = Look {
                        dash: kind.dash,
                        ..look
                    };
                    Curve::new(*name, look, middle).variant(kind.variant)
                }));
            }
        }
        let points = curves.iter().flat_map(|curve| &curve.points);
        let y = Axis::from_zero(name, unit, points.map(|(_, y)| *y));
        Chart::new(Axis::linear(&axis, Unit::NONE, 0.0, x(end as f64)), y).with_all(curves)
    };
    let charts = [
        chart("throughput over 3 MB", Unit::MEGABITS_PER_SECOND, &RATES),
        chart("RTT", Unit::MILLISECONDS, &RTTS),
    ];
    let caption = format!(
        "An object counts where it began, and a connection's RTT where the connection began, in bins of {}. They have no intervals.",
        time(bins.width_s as f64)
    );
    Some(Picture::of("over calendar time", 1, HEIGHT_PX, charts).explained(caption))
}

/// The values of an arm that a curve shows.
struct Kind {
    variant: &'static str,
    dash: Dash,
    value: fn(&ArmInBin) -> Option<f64>,
}

/// The looks of these arms: the colours of their controllers, as everywhere, and a mark for each arm.
fn looks(controllers: &[&str]) -> Vec<Look> {
    let places = report::places(controllers).into_iter().enumerate();
    let looks = places.map(|(arm, place)| {
        let Look { colour, .. } = Look::of_place(place);
        Look::line(colour, Dash::Solid).marked(Mark::of_place(arm))
    });
    looks.collect()
}

const RATES: [Kind; 2] = [
    Kind {
        variant: "geometric mean",
        dash: Dash::Solid,
        value: |arm| arm.throughput_bps.map(|rate| rate / 1e6),
    },
    Kind {
        variant: "5th percentile",
        dash: Dash::Dotted,
        value: |arm| arm.throughput_p5_bps.map(|rate| rate / 1e6),
    },
];

const RTTS: [Kind; 1] = [Kind {
    variant: "geometric mean",
    dash: Dash::Solid,
    value: |arm| arm.rtt_ms,
}];

/// The values of an arm, apart where bins are missing between them.
fn runs(bins: &Bins, arm: usize, kind: &Kind) -> Vec<Vec<(u64, f64)>> {
    let mut runs: Vec<Vec<(u64, f64)>> = Vec::new();
    for bin in &bins.bins {
        let Some(value) = bin.arms.get(arm).and_then(|arm| (kind.value)(arm)) else {
            continue;
        };
        let point = (bin.from_unix_s, value);
        match runs.last_mut() {
            Some(run)
                if run
                    .last()
                    .is_some_and(|last| last.0 + bins.width_s == point.0) =>
            {
                run.push(point);
            }
            _ => runs.push(vec![point]),
        }
    }
    runs
}

/// Throughput and RTT over the time since a switch: the values above, and below what another arm before changes.
pub fn since_switch(since: &Since, is_over: bool) -> Option<Picture> {
    let mut all = SHOWN.iter().flat_map(|measure| points(since, *measure));
    all.find(|point| point.value.value.is_some())?;
    let charts = SHOWN.map(|measure| values(since, measure));
    let changes = SHOWN.map(|measure| changes(since, measure, is_over));
    let charts = charts.into_iter().chain(changes);
    let by_chance = if is_over {
        "Without carryover, one in twenty of them does not contain 0."
    } else {
        "It holds at any time: without carryover, nearly all of them contain 0."
    };
    let caption = format!(
        "A connection and its objects count where the connection began. Below: the change if the slot before had another arm and not \
         the same, with the 95 % interval of each bin alone; a tip: it goes on. {by_chance}"
    );
    let picture = Picture::of("since the switch of slots", 2, HEIGHT_PX, charts);
    Some(picture.explained(caption))
}

/// The value of an arm in a bin.
struct Point<'s> {
    x: f64,
    arm: usize,
    look: Look,
    controller: &'s str,
    value: &'s ValueSince,
}

fn points(since: &Since, measure: Measure) -> Vec<Point<'_>> {
    let mut points = Vec::new();
    for (place, bin) in since.bins.iter().enumerate() {
        let controllers: Vec<&str> = bin.arms.iter().map(|of| &*of.controller).collect();
        let looks = looks(&controllers);
        for (arm, (of, look)) in bin.arms.iter().zip(looks).enumerate() {
            let values = of.measures.iter();
            points.extend(
                values
                    .filter(|value| value.measure == measure)
                    .map(|value| {
                        let controller = of.controller.as_str();
                        let x = place as f64 + (arm as f64 - 0.5) * ARM_DISTANCE;
                        Point {
                            x,
                            arm,
                            look,
                            controller,
                            value,
                        }
                    }),
            );
        }
    }
    points
}

/// A chart without curves.
fn chart(since: &Since, y: Axis) -> Chart {
    let ends = since.bins.iter().map(|bin| time(bin.to_s));
    let chart = Chart::new(Axis::of_kinds("until this time since the switch", ends), y);
    match since.bins.iter().filter(|bin| !bin.is_evaluated).count() {
        0 => chart,
        some => chart.with(Rule::vertical(some as f64 - 0.5, "end of the washout")),
    }
}

fn values(since: &Since, measure: Measure) -> Chart {
    let (unit, scale) = match measure {
        Measure::Throughput => (Unit::MEGABITS_PER_SECOND, 1e-6),
        _ => (Unit::MILLISECONDS, 1e3),
    };
    let points = points(since, measure);
    let known = points.iter().filter_map(|point| point.value.value);
    let y = Axis::from_zero(measure.title(), unit, known.map(|value| value * scale));
    let arms = since.bins.first().map_or(&[][..], |bin| &bin.arms);
    let curves = arms.iter().enumerate().map(|(arm, of)| {
        let own = || points.iter().filter(|point| point.arm == arm);
        let known = own().filter_map(|point| Some((point.x, point.value.value? * scale)));
        let look = own().map(|point| point.look).next();
        let look = look.unwrap_or(Look::of_place(arm));
        Curve::new(of.controller.as_str(), look, known)
    });
    chart(since, y).with_all(curves)
}

fn changes(since: &Since, measure: Measure, is_over: bool) -> Chart {
    let percent = |share: f64| share * 100.0;
    let mut curves = Vec::new();
    for point in points(since, measure) {
        let Some(effect) = point.value.carryover else {
            continue;
        };
        let interval = effect.interval(is_over);
        let middle = Look {
            dash: Dash::None,
            ..point.look
        };
        let line = Look::line(middle.colour, Dash::Solid).wide(1.2);
        let ends = [interval.low, interval.high].map(|end| (point.x, percent(end)));
        let change = [(point.x, percent(effect.change))];
        curves.push(Curve::new(point.controller, line, ends).open());
        curves.push(Curve::new(point.controller, middle, change).open());
    }
    let ends = curves.iter().flat_map(|curve| &curve.points);
    let furthest = ends.map(|(_, y)| y.abs()).fold(5.0, f64::max);
    let furthest = furthest.min(MAX_PERCENT) * 1.05;
    let name = "change after another arm";
    let y = Axis::linear(name, Unit::PERCENT, -furthest, furthest);
    chart(since, y)
        .with(Rule::horizontal(0.0, ""))
        .with_all(curves)
}
