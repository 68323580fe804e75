//! The results of a study as charts.

use draw::{
    Axis, BLUE, Cell, Cells, Chart, Colour, Curve, Dash, GREY, Look, Mark, Picture, Rule, Unit,
    VERMILLION,
};
use experiment::Effect;
use experiment::comparison::Comparison;
use experiment::heat::SHARES;
use experiment::verdict::change;

use super::tables;

/// The maximum number of groups in a chart.
const MAX_GROUPS: usize = 25;

/// The distance between the lines of a chart, and the space around them, in pixels.
const LINE_PX: f64 = 26.0;
const MARGIN_PX: f64 = 110.0;

/// A change of this size has the full colour.
const FULL_COLOUR_CHANGE: f64 = 0.25;

/// The end of the axes, in percent. Intervals that go on end in a tip.
const MAX_PERCENT: f64 = 200.0;

/// An effect and its name.
struct Line {
    name: String,
    effect: Effect,
    /// True if the effect is significantly better, or significantly worse; nothing if it is neither.
    sure: Option<bool>,
}

/// The effects on all measures, with confidence intervals.
pub fn effects(comparison: &Comparison) -> Option<Picture> {
    let lines = comparison.measures.iter().filter_map(|row| {
        let effect = row.effect?;
        let is_more_better = row.measure.is_more_better();
        Some(Line {
            name: row.measure.title().to_owned(),
            sure: sure(&effect, row.p_corrected, is_more_better),
            effect,
        })
    });
    intervals(tables::title(comparison), lines.collect())
}

/// The effects in groups.
pub fn groups(comparison: &Comparison) -> Option<Picture> {
    let lines = comparison
        .rival
        .groups
        .iter()
        .take(MAX_GROUPS)
        .map(|row| Line {
            name: row.group.clone(),
            effect: row.effect,
            sure: sure(&row.effect, Some(row.p_corrected), Some(true)),
        });
    let title = format!(
        "throughput over 3 MB of {}, by group",
        tables::title(comparison)
    );
    intervals(title, lines.collect())
}

impl Line {
    fn is_beyond(&self) -> bool {
        self.effect.change * 100.0 > MAX_PERCENT
    }
}

fn sure(effect: &Effect, p_corrected: Option<f64>, is_more_better: Option<bool>) -> Option<bool> {
    let is_sure = p_corrected.is_some_and(|p| p < experiment::effect::DOUBT);
    is_sure.then(|| is_more_better.map(|more| more == (effect.change > 0.0)))?
}

/// Confidence intervals below each other: thick for a single look, thin for any time.
fn intervals(title: String, lines: Vec<Line>) -> Option<Picture> {
    let percent = |share: f64| share * 100.0;
    let ends = lines.iter().flat_map(|line| {
        let always = line.effect.always;
        [always.low, always.high]
    });
    let furthest = ends.map(percent).map(f64::abs).fold(5.0, f64::max);
    let furthest = furthest.min(MAX_PERCENT);
    let (low, high) = ((-furthest).max(-100.0), furthest);
    // The first line is at the top.
    let names = lines.iter().rev().map(|line| {
        if line.is_beyond() {
            // The number and its unit stay together.
            let change = change(line.effect.change).replace(' ', "\u{a0}");
            format!("{}, {change}", line.name)
        } else {
            line.name.clone()
        }
    });
    let x = Axis::linear("change", Unit::PERCENT, low * 1.05, high * 1.05);
    let mut chart = Chart::new(x, Axis::of_kinds("", names)).with(Rule::vertical(0.0, ""));
    if lines.is_empty() {
        return None;
    }
    for (at, line) in lines.iter().rev().enumerate() {
        let at = at as f64;
        let (name, colour): (&str, Colour) = match line.sure {
            Some(true) => ("significantly better", BLUE),
            Some(false) => ("significantly worse", VERMILLION),
            None => ("no significant difference", GREY),
        };
        let curve = |look: Look, points: &[f64]| {
            Curve::new(name, look, points.iter().map(|x| (percent(*x), at))).open()
        };
        let Effect { once, always, .. } = line.effect;
        let thin = Look::line(colour, Dash::Solid).wide(1.2);
        let thick = Look::line(colour, Dash::Solid).wide(5.0);
        let middle = Look::line(colour, Dash::None).marked(Mark::Diamond);
        chart = chart
            .with(curve(thin, &[always.low, always.high]))
            .with(curve(thick, &[once.low, once.high]))
            .with(curve(middle, &[line.effect.change]));
    }
    let height = LINE_PX * lines.len() as f64 + MARGIN_PX;
    let picture = Picture::of(title, 1, height, [chart]).explained(
        "Thick: the 95 % interval for one look at the end. Thin: the one that holds at any time. Significant: after Holm's \
         correction for all lines. A tip: it goes on beyond the chart; the value of a change beyond 200 % is beside the name.",
    );
    Some(picture)
}

/// Changes of completion times by size, from the fast ones to the slow ones.
pub fn heat(comparison: &Comparison) -> Option<Picture> {
    let mut cells = Vec::new();
    let rows = comparison.heat.iter().rev();
    for (y, row) in rows.enumerate() {
        for (x, cell) in row.changes.iter().enumerate() {
            let Some(time) = cell else { continue };
            let around = |at: usize| (at as f64 - 0.5, at as f64 + 0.5);
            cells.push(Cell {
                x: around(x),
                y: around(y),
                amount: time * 100.0,
                shade: -time / FULL_COLOUR_CHANGE,
                label: change(*time),
            });
        }
    }
    if cells.is_empty() {
        return None;
    }
    let shares = SHARES.iter().map(|share| format!("{:.0} %", share * 100.0));
    let sizes = comparison.heat.iter().rev().map(tables::size);
    let x = Axis::of_kinds("of the times, from the fastest", shares);
    let layer = Cells {
        name: "time".to_owned(),
        unit: Unit::PERCENT,
        cells,
    };
    let chart = Chart::new(x, Axis::of_kinds("", sizes)).with(layer);
    let title = format!("time of {}, by size", tables::title(comparison));
    let picture = Picture::of(title, 1, 300.0, [chart]).explained(
        "Blue is faster, vermillion slower. Cells have no interval: a row's effect and its interval are above.",
    );
    Some(picture)
}

#[cfg(test)]
mod tests {
    use draw::Layer;
    use experiment::effect::Interval;

    use super::*;

    #[test]
    fn a_change_beyond_the_chart_has_a_tip_and_its_number() {
        let line = |name: &str, change: f64| {
            let interval = Interval {
                low: change - 0.1,
                high: change + 0.1,
            };
            let effect = Effect {
                change,
                once: interval,
                always: interval,
                p: 0.001,
                p_always: 0.001,
                units: [100; 2],
                connections: [100; 2],
            };
            Line {
                name: name.to_owned(),
                effect,
                sure: None,
            }
        };
        let lines = vec![line("resent", 2.667), line("RTT", 0.5)];
        let picture = intervals(String::new(), lines).expect("two lines");
        let svg = picture.svg();
        assert!(
            svg.contains(">resent, +266.7\u{a0}%<") && svg.contains(">RTT<"),
            "{svg}"
        );
        let layers = picture.charts.iter().flat_map(|chart| &chart.layers);
        let marks = layers.filter_map(|layer| match layer {
            Layer::Curve(curve) => Some((curve.look.mark?, curve.points[0].0)),
            _ => None,
        });
        let marks: Vec<_> = marks.collect();
        assert_eq!(marks, [(Mark::Diamond, 50.0), (Mark::Diamond, 266.7)]);
        // The chart ends before them: they have tips.
        assert!(picture.charts[0].x == Axis::linear("change", Unit::PERCENT, -105.0, 210.0));
        assert!(picture.cut_off().is_empty());
    }
}
