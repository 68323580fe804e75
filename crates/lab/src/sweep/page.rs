//! The results as a page with a plot that holds everything it needs.

use std::collections::HashMap;

use serde::Serialize;

use super::axis;
use super::metric::Metric;
use super::quantity::Unit;
use super::results::{Group, Results, distinct};
use super::spec::{Scale, Sweep};
use super::spread::Spread;
use super::table::{headings, row};
use crate::report::page::{Page, cells, fill};
use crate::report::{Origin, describe};

const BODY: &str = include_str!("../../assets/sweep.html");
const STYLE: &str = include_str!("../../assets/sweep.css");
const SCRIPT: &str = include_str!("../../assets/sweep.js");

/// From this ratio of the largest to the smallest value on, an axis is drawn with even ratios.
const WIDE: f64 = 50.0;

/// Everything that the page's script gets.
#[derive(Serialize)]
struct Data {
    x: XAxis,
    /// The metric to begin with.
    y: &'static str,
    /// Those that any run tells.
    metrics: Vec<MetricData>,
    lines: Vec<Line>,
    /// The line that each row of the table is a point of.
    rows: Vec<Option<usize>>,
}

#[derive(Serialize)]
struct XAxis {
    field: String,
    scale: &'static str,
    /// The values as the sweep writes them.
    labels: Vec<String>,
    /// Where they are on the axis.
    places: Vec<f64>,
}

#[derive(Serialize)]
struct MetricData {
    name: &'static str,
    title: &'static str,
}

/// A controller, at all values of x, where what else varies stays the same.
#[derive(Serialize)]
struct Line {
    name: String,
    /// For each metric, for each value of x, median, smallest and largest.
    values: Vec<Vec<Option<[f64; 3]>>>,
}

/// The results as one self-contained page: a plot of a metric against a field, and the table. `text` is what the sweep
/// was read from.
pub fn page(sweep: &Sweep, results: &Results<'_>, text: &str, origin: &Origin) -> String {
    let data = data(sweep, results);
    let rows: Vec<String> = results
        .groups
        .iter()
        .map(|group| cells("td", &row(results, group)))
        .collect();
    let first = results.plan.points.first();
    let body = fill(BODY, &|placeholder| match placeholder {
        "failed" => failed(results),
        "headings" => cells("th", &headings(results)),
        "rows" => rows.concat(),
        _ => String::new(),
    });
    let path = first.map(|point| describe(&point.scenario.path));
    let page = Page {
        title: &results.plan.name,
        about: &format!("At the first point: {}", path.unwrap_or_default()),
        body,
        facts: &[
            format!("engine {}", results.engine),
            format!("repeats {}", sweep.repeats),
        ],
        source: Some(("Sweep", text)),
        style: STYLE,
        script: SCRIPT,
        data: &data,
    };
    page.html(origin)
}

/// What is to be said of runs that are not there.
fn failed(results: &Results<'_>) -> String {
    let mut runs = vec![0; results.plan.points.len()];
    for group in &results.groups {
        if let Some(count) = runs.get_mut(group.point) {
            *count = group.runs;
        }
    }
    let all = results.plan.runs.len();
    match all - runs.iter().sum::<usize>().min(all) {
        0 => String::new(),
        missing => {
            format!("<p class=\"partial\">{missing} of {all} runs failed and are missing here.</p>")
        }
    }
}

fn data(sweep: &Sweep, results: &Results<'_>) -> Data {
    let plot = &sweep.plot;
    let fields: Vec<&str> = sweep.fields().collect();
    let texts = |field: usize| {
        let values = results.plan.points.iter();
        distinct(values.filter_map(move |point| Some(point.values.get(field)?.as_str())))
    };
    let numbers = |field: usize| axis::numbers(texts(field).into_iter());
    let wanted = plot.x.as_deref();
    let field = (0..fields.len())
        .find(|place| fields.get(*place).copied() == wanted)
        .or_else(|| (0..fields.len()).find(|place| numbers(*place).is_some()))
        .unwrap_or(0);
    let name = fields.get(field).copied().unwrap_or_default();
    let axis = sweep
        .axes
        .iter()
        .find(|axis| axis.fields.iter().any(|of| of == name));
    let labels = texts(field);
    let is_log = axis.is_some_and(|axis| axis.is_log);
    let wanted = plot.scale.or(is_log.then_some(Scale::Log));
    let (scale, places) = scaled(numbers(field), wanted, labels.len());
    // What varies together with x is told by x.
    let others: Vec<usize> = results
        .fields()
        .into_iter()
        .filter(|place| {
            let other = fields.get(*place).copied().unwrap_or_default();
            !axis.is_some_and(|axis| axis.fields.iter().any(|of| of == other))
        })
        .collect();
    let metrics: Vec<Metric> = Metric::ALL
        .into_iter()
        .filter(|metric| {
            let told = |group: &Group| group.metric(*metric).is_some();
            results.groups.iter().any(told)
        })
        .collect();
    let (lines, rows) = lines(results, field, &others, &labels, &metrics);
    Data {
        lines,
        rows,
        x: XAxis {
            field: name.to_string(),
            scale: scale.name(),
            labels: labels.iter().map(|label| label.to_string()).collect(),
            places,
        },
        y: plot.y.name(),
        metrics: metrics
            .iter()
            .map(|metric| MetricData {
                name: metric.name(),
                title: metric.title(),
            })
            .collect(),
    }
}

/// How x is drawn, and where its values are: as it is wished if that is possible, else as it suits the values.
fn scaled(
    numbers: Option<(Unit, Vec<f64>)>,
    wanted: Option<Scale>,
    count: usize,
) -> (Scale, Vec<f64>) {
    let even = || (0..count).map(|place| place as f64).collect();
    let Some((_, numbers)) = numbers.filter(|_| wanted != Some(Scale::Even)) else {
        return (Scale::Even, even());
    };
    let positive = || numbers.iter().copied().filter(|number| *number > 0.0);
    let has_zero = positive().count() < numbers.len();
    let smallest = positive().fold(f64::INFINITY, f64::min);
    let is_wide = positive().fold(0.0, f64::max) / smallest >= WIDE;
    match (wanted, has_zero) {
        (Some(Scale::Log), false) => (Scale::Log, numbers),
        (Some(Scale::Linear), _) => (Scale::Linear, numbers),
        // Zero has no place among even ratios.
        (Some(_), _) => (Scale::Even, even()),
        (None, true) if is_wide => (Scale::Even, even()),
        (None, false) if is_wide => (Scale::Log, numbers),
        (None, _) => (Scale::Linear, numbers),
    }
}

/// The lines of the plot, and the line of each group.
fn lines(
    results: &Results<'_>,
    x: usize,
    others: &[usize],
    labels: &[&str],
    metrics: &[Metric],
) -> (Vec<Line>, Vec<Option<usize>>) {
    let mut lines: Vec<Line> = Vec::new();
    let mut rows = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let columns: HashMap<&str, usize> = labels.iter().copied().zip(0..).collect();
    for group in &results.groups {
        let Some(point) = results.point(group) else {
            rows.push(None);
            continue;
        };
        let parts = others.iter().filter_map(|place| {
            let field = results.plan.fields.get(*place)?;
            Some(format!(" {field}={}", point.values.get(*place)?))
        });
        let name = group.controller.clone() + &parts.collect::<String>();
        let index = *places.entry(name.clone()).or_insert_with(|| {
            lines.push(Line {
                name,
                values: vec![vec![None; labels.len()]; metrics.len()],
            });
            lines.len() - 1
        });
        rows.push(Some(index));
        let value = point.values.get(x);
        let place = value.and_then(|value| columns.get(value.as_str()).copied());
        let (Some(line), Some(place)) = (lines.get_mut(index), place) else {
            continue;
        };
        for (metric, values) in metrics.iter().zip(&mut line.values) {
            let spread = group.metric(*metric);
            let numbers = spread.map(|Spread { median, min, max }| [median, min, max]);
            if let Some(value) = values.get_mut(place) {
                *value = numbers;
            }
        }
    }
    (lines, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_suit_the_values() {
        let scale = |texts: &[&str], wanted| {
            let numbers = axis::numbers(texts.iter().copied());
            scaled(numbers, wanted, texts.len()).0
        };
        assert_eq!(scale(&["1%", "2%", "3%"], None), Scale::Linear);
        assert_eq!(scale(&["0.1%", "1%", "10%"], None), Scale::Log);
        assert_eq!(scale(&["0%", "0.1%", "10%"], None), Scale::Even);
        assert_eq!(scale(&["0%", "1%", "10%"], None), Scale::Linear);
        assert_eq!(scale(&["codel", "droptail"], None), Scale::Even);
        assert_eq!(scale(&["1%", "2%"], Some(Scale::Log)), Scale::Log);
        assert_eq!(scale(&["0%", "2%"], Some(Scale::Log)), Scale::Even);
        assert_eq!(scale(&["0%", "9%"], Some(Scale::Even)), Scale::Even);
        assert_eq!(scale(&["codel", "red"], Some(Scale::Linear)), Scale::Even);
    }
}
