//! The results as a self-contained page with a plot.

use std::collections::HashMap;

use askama::Template;
use serde::Serialize;

use super::axis::Axis;
use super::metric::Metric;
use super::results::{Group, Results};
use super::spec::{Scale, Sweep};
use super::table::{headings, row};
use crate::runs::{Point, amounts, distinct};
use record::Dimension;
use report::page::Page;
use report::{Origin, Table, describe_hops};
use tables::statistics::Spread;

/// The part of the page between header and footer.
#[derive(Template)]
#[template(path = "sweep.html")]
struct Body {
    /// The number of runs, and of missing ones.
    runs: usize,
    missing: usize,
    table: Table,
}

/// The ratio of the largest to the smallest value from which an axis is logarithmic, and the lower one for a geometric
/// series: `0.5, 1, 2, 4`.
const MIN_LOG_RATIO: f64 = 50.0;
const MIN_LOG_RATIO_OF_SERIES: f64 = 4.0;

/// The data for the page's script.
#[derive(Serialize)]
struct Data {
    /// The initial metric.
    y: &'static str,
    /// The metrics that any run has.
    metrics: Vec<Metric>,
    /// The sweep's axes and the controllers.
    axes: Vec<AxisData>,
    /// The initial horizontal axis.
    x: usize,
    /// One entry for each row of the table.
    groups: Vec<GroupData>,
}

#[derive(Serialize)]
struct AxisData {
    /// The displayed name: a field, or several that vary together.
    field: String,
    /// The first column of the table with its values.
    column: usize,
    scale: Scale,
    /// The values as written in the sweep.
    labels: Vec<String>,
    /// The index of each value's colour in the palette.
    colors: Vec<usize>,
    /// The positions of the values on the horizontal axis.
    places: Vec<f64>,
    /// The value of each group, as an index into the labels.
    #[serde(skip)]
    values: Vec<Option<usize>>,
}

#[derive(Serialize)]
struct GroupData {
    /// The index of its value on each axis.
    values: Vec<Option<usize>>,
    /// The median, smallest and largest value of each metric.
    metrics: Vec<Option<[f64; 3]>>,
}

/// The results as one self-contained page: a plot of a metric against a field, and the table. `text` is the sweep's
/// source.
pub fn page(sweep: &Sweep, results: &Results<'_>, text: &str, origin: &Origin) -> String {
    let data = data(sweep, results);
    let groups = results.groups.iter();
    let rows = groups.map(|group| row(results, group));
    let first = results.plan.points.first();
    let path = first.map(|point| describe_hops(&point.scenario));
    let page = Page {
        title: &results.plan.name,
        about: &format!("At the first point: {}", path.unwrap_or_default()),
        body: Body {
            runs: results.plan.runs.len(),
            missing: missing(results),
            table: Table {
                id: "flows",
                text: (0..=results.fields().len()).collect(),
                ..Table::new(headings(results), rows)
            },
        },
        facts: &[
            format!("engine {}", results.engine),
            format!("repeats {}", sweep.repeats),
        ],
        source: Some(("Sweep", text)),
        style: include_str!("../../assets/sweep.css"),
        script: include_str!("../../assets/sweep.js"),
        data: &data,
        origin,
    };
    page.html()
}

/// The number of missing runs.
fn missing(results: &Results<'_>) -> usize {
    let mut runs = vec![0; results.plan.points.len()];
    for group in &results.groups {
        runs[group.point] = group.runs;
    }
    let there: usize = runs.iter().sum();
    results.plan.runs.len().saturating_sub(there)
}

fn data(sweep: &Sweep, results: &Results<'_>) -> Data {
    let metrics: Vec<Metric> = Metric::ALL
        .into_iter()
        .filter(|metric| {
            let told = |group: &Group| group.metric(*metric).is_some();
            results.groups.iter().any(told)
        })
        .collect();
    let of_fields = sweep
        .axes
        .iter()
        .map(|axis| axis_data(sweep, axis, results));
    let (mut axes, mut has_numbers): (Vec<AxisData>, Vec<bool>) = of_fields.flatten().unzip();
    let controllers = distinct(results.groups.iter().map(|group| group.controller.as_str()));
    if controllers.len() > 1 {
        axes.push(controller_axis(&controllers, results));
        has_numbers.push(false);
    }
    let wanted = sweep.plot.x.as_deref();
    let is_wanted = |axis: &AxisData| {
        let mut fields = axis.field.split(SEPARATOR);
        wanted.is_some_and(|wanted| fields.any(|field| field == wanted))
    };
    let x = axes.iter().position(is_wanted);
    let x = x.or_else(|| has_numbers.iter().position(|has| *has));
    let metrics_of = |group: &Group| {
        let spreads = metrics.iter().map(|metric| group.metric(*metric));
        let three = |Spread { median, min, max }| [median, min, max];
        spreads.map(|spread| spread.map(three)).collect()
    };
    let groups = results.groups.iter().enumerate();
    Data {
        y: sweep.plot.y.name(),
        groups: groups
            .map(|(place, group)| GroupData {
                values: axes
                    .iter()
                    .map(|axis| axis.values.get(place).copied().flatten())
                    .collect(),
                metrics: metrics_of(group),
            })
            .collect(),
        axes,
        x: x.unwrap_or(0),
        metrics,
    }
}

/// The separator between fields that vary together, and between their values.
const SEPARATOR: &str = " & ";

/// An axis of the sweep, and whether its values are numbers. Nothing if it only names the controllers.
fn axis_data(sweep: &Sweep, axis: &Axis, results: &Results<'_>) -> Option<(AxisData, bool)> {
    let plan = results.plan;
    let columns = results.fields().into_iter().enumerate();
    let (columns, places): (Vec<usize>, Vec<usize>) = columns
        .filter(|(_, place)| {
            let field = plan.fields.get(*place);
            field.is_some_and(|field| axis.fields.contains(field))
        })
        .unzip();
    let column = columns.first().copied()?;
    let label_of = |point: &Point| {
        let values = places.iter().filter_map(|place| point.values.get(*place));
        values
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(SEPARATOR)
    };
    // The distinct values, with the first point of each.
    let mut labels: Vec<String> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut firsts: Vec<&Point> = Vec::new();
    for point in &plan.points {
        let label = label_of(point);
        if !known.contains_key(&label) {
            known.insert(label.clone(), labels.len());
            labels.push(label);
            firsts.push(point);
        }
    }
    let numbers_of = |place: usize| {
        let values = firsts.iter().filter_map(|point| point.values.get(place));
        amounts(values.map(String::as_str))
    };
    let is_wanted = |place: &usize| plan.fields.get(*place) == sweep.plot.x.as_ref();
    let wanted = places.iter().copied().find(is_wanted);
    let number = wanted.or_else(|| {
        places
            .iter()
            .copied()
            .find(|place| numbers_of(*place).is_some())
    });
    let numbers = number.and_then(numbers_of);
    let has_numbers = numbers.is_some();
    let scale = wanted.and(sweep.plot.scale);
    let scale = scale.or(axis.is_log.then_some(Scale::Log));
    let (scale, places_across) = scaled(numbers, scale, labels.len());
    let fields = places.iter().filter_map(|place| plan.fields.get(*place));
    let of_group = |group: &Group| known.get(&label_of(results.point(group))).copied();
    let data = AxisData {
        field: fields
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(SEPARATOR),
        column,
        scale,
        values: results.groups.iter().map(of_group).collect(),
        colors: (0..labels.len()).collect(),
        labels,
        places: places_across,
    };
    Some((data, has_numbers))
}

fn controller_axis(controllers: &[&str], results: &Results<'_>) -> AxisData {
    let place = |group: &Group| {
        controllers
            .iter()
            .position(|name| *name == group.controller)
    };
    AxisData {
        field: "controller".to_owned(),
        column: results.fields().len(),
        scale: Scale::Even,
        labels: controllers.iter().map(|name| (*name).to_owned()).collect(),
        colors: report::places(controllers),
        places: (0..controllers.len()).map(|place| place as f64).collect(),
        values: results.groups.iter().map(place).collect(),
    }
}

/// The scale of x and the positions of its values: as wanted if possible, otherwise as suits the values.
fn scaled(
    numbers: Option<(Dimension, Vec<f64>)>,
    wanted: Option<Scale>,
    count: usize,
) -> (Scale, Vec<f64>) {
    let even = || (0..count).map(|place| place as f64).collect();
    // Of fields that vary together, one may repeat a value.
    let are_apart = |numbers: &[f64]| {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.windows(2).all(|pair| pair.first() < pair.last())
    };
    let numbers = numbers.filter(|(_, numbers)| wanted != Some(Scale::Even) && are_apart(numbers));
    let Some((_, numbers)) = numbers else {
        return (Scale::Even, even());
    };
    let positive = || numbers.iter().copied().filter(|number| *number > 0.0);
    let has_zero = positive().count() < numbers.len();
    let smallest = positive().fold(f64::INFINITY, f64::min);
    let ratio = positive().fold(0.0, f64::max) / smallest;
    let is_wide = ratio >= MIN_LOG_RATIO
        || ratio >= MIN_LOG_RATIO_OF_SERIES && !has_zero && are_ratios_even(&numbers);
    match (wanted, has_zero) {
        (Some(Scale::Log), false) => (Scale::Log, numbers),
        (Some(Scale::Linear), _) => (Scale::Linear, numbers),
        // A logarithmic axis has no zero.
        (Some(_), _) => (Scale::Even, even()),
        (None, true) if is_wide => (Scale::Even, even()),
        (None, false) if is_wide => (Scale::Log, numbers),
        (None, _) => (Scale::Linear, numbers),
    }
}

/// Whether the ratios of successive values vary less than the differences do.
fn are_ratios_even(numbers: &[f64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let unevenness = |apart: fn(f64, f64) -> f64| {
        let steps = sorted.windows(2).map(|pair| apart(pair[0], pair[1]));
        let (least, most) = steps.fold((f64::INFINITY, 0.0_f64), |(least, most), step| {
            (least.min(step), most.max(step))
        });
        most / least
    };
    sorted.len() > 2
        && unevenness(|low, high| (high / low).ln()) < unevenness(|low, high| high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_suit_the_values() {
        let scale = |texts: &[&str], wanted| {
            let numbers = amounts(texts.iter().copied());
            scaled(numbers, wanted, texts.len()).0
        };
        assert_eq!(scale(&["1%", "2%", "3%"], None), Scale::Linear);
        assert_eq!(scale(&["0.1%", "1%", "10%"], None), Scale::Log);
        assert_eq!(scale(&["0%", "0.1%", "10%"], None), Scale::Even);
        assert_eq!(scale(&["0%", "1%", "10%"], None), Scale::Linear);
        let buffers = ["0.5bdp", "1bdp", "2bdp", "4bdp", "8bdp", "16bdp"];
        assert_eq!(scale(&buffers, None), Scale::Log);
        assert_eq!(scale(&["1", "2", "5", "10", "20"], None), Scale::Log);
        assert_eq!(scale(&["10ms", "50ms", "90ms"], None), Scale::Linear);
        assert_eq!(scale(&["1bdp", "16bdp"], None), Scale::Linear);
        assert_eq!(scale(&["codel", "droptail"], None), Scale::Even);
        assert_eq!(scale(&["1%", "2%"], Some(Scale::Log)), Scale::Log);
        assert_eq!(scale(&["0%", "2%"], Some(Scale::Log)), Scale::Even);
        assert_eq!(scale(&["0%", "9%"], Some(Scale::Even)), Scale::Even);
        assert_eq!(scale(&["codel", "red"], Some(Scale::Linear)), Scale::Even);
    }
}
