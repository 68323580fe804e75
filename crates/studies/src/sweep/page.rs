//! The results as a page with a plot that holds everything it needs.

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
use record::statistics::Spread;
use report::page::Page;
use report::{Origin, Table, describe};

/// What is between the page's header and footer.
#[derive(Template)]
#[template(path = "sweep.html")]
struct Body {
    /// Of so many runs, so many are not there.
    runs: usize,
    missing: usize,
    table: Table,
}

/// From this ratio of the largest to the smallest value on, an axis is drawn with even ratios; and from the smaller one on, if
/// it is its ratios that are even: `0.5, 1, 2, 4`.
const WIDE: f64 = 50.0;
const WIDE_IF_EVEN: f64 = 4.0;

/// Everything that the page's script gets.
#[derive(Serialize)]
struct Data {
    /// The metric to begin with.
    y: &'static str,
    /// Those that any run tells.
    metrics: Vec<Metric>,
    /// What varies: the sweep's axes, and the controllers.
    axes: Vec<AxisData>,
    /// The axis across to begin with.
    x: usize,
    /// A row of the table each.
    groups: Vec<GroupData>,
}

#[derive(Serialize)]
struct AxisData {
    /// What people call it: a field, or several that vary together.
    field: String,
    /// The table's column with its values, the first one if it has several.
    column: usize,
    scale: Scale,
    /// The values as the sweep writes them.
    labels: Vec<String>,
    /// The place of each value's colour in the palette.
    colors: Vec<usize>,
    /// Where they are when the axis is across.
    places: Vec<f64>,
    /// The value of each group, as its place among the labels.
    #[serde(skip)]
    values: Vec<Option<usize>>,
}

#[derive(Serialize)]
struct GroupData {
    /// The place of its value on each axis.
    values: Vec<Option<usize>>,
    /// For each metric, median, smallest and largest.
    metrics: Vec<Option<[f64; 3]>>,
}

/// The results as one self-contained page: a plot of a metric against a field, and the table. `text` is what the sweep
/// was read from.
pub fn page(sweep: &Sweep, results: &Results<'_>, text: &str, origin: &Origin) -> String {
    let data = data(sweep, results);
    let groups = results.groups.iter();
    let rows = groups.map(|group| row(results, group));
    let first = results.plan.points.first();
    let path = first.map(|point| describe(&point.scenario.path));
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

/// How many runs are not there.
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
        let mut fields = axis.field.split(JOINED);
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

/// Between the fields that vary together, and between their values.
const JOINED: &str = " & ";

/// An axis of the sweep, and whether it has numbers; nothing if it only names the controllers.
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
        values.map(String::as_str).collect::<Vec<_>>().join(JOINED)
    };
    // Each value once, with the first point that has it.
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
        field: fields.map(String::as_str).collect::<Vec<_>>().join(JOINED),
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

/// How x is drawn, and where its values are: as it is wished if that is possible, else as it suits the values.
fn scaled(
    numbers: Option<(Dimension, Vec<f64>)>,
    wanted: Option<Scale>,
    count: usize,
) -> (Scale, Vec<f64>) {
    let even = || (0..count).map(|place| place as f64).collect();
    // Of fields that vary together, one may stay where it is while another goes on.
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
    let is_wide = ratio >= WIDE || ratio >= WIDE_IF_EVEN && !has_zero && are_ratios_even(&numbers);
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

/// Whether the ratios from value to value differ less than the differences do.
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
