//! The words of a judgement's row: on a terminal and in a document.

use super::band::Band;
use super::expectation::Expectation;
use super::judge::{Judgement, Value, Verdict};
use record::Dimension;
use tables::numbers::{bits_per_sec, percent, span};
use tables::statistics::Spread;

/// The value as text with its unit.
pub(super) fn text(unit: Dimension, value: f64) -> String {
    match unit {
        Dimension::Share => percent(value),
        Dimension::Rate => bits_per_sec(value),
        Dimension::Time => span(value),
        _ => plain(value),
    }
}

/// Three significant digits; whole numbers in full.
fn plain(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// The published band: `≥ 95.0 %`, `≤ 2`, `2–25`.
pub(crate) fn band(expectation: &Expectation) -> String {
    range(expectation, expectation.band)
}

/// A band of an expectation's values.
fn range(expectation: &Expectation, band: Band) -> String {
    let text = |value| text(expectation.unit(), value);
    match band {
        Band {
            at_least: Some(least),
            at_most: Some(most),
        } if least == most => text(least),
        Band {
            at_least: Some(least),
            at_most: Some(most),
        } => format!("{}–{}", text(least), text(most)),
        Band {
            at_least: Some(least),
            ..
        } => format!("≥ {}", text(least)),
        Band {
            at_most: Some(most),
            ..
        } => format!("≤ {}", text(most)),
        Band { .. } => String::new(),
    }
}

/// `95.2 %`, or the range if there are several points.
pub(crate) fn measured(judgement: &Judgement<'_>) -> String {
    match judgement.range() {
        None => "–".to_owned(),
        Some(Spread { min, max, .. }) => {
            let [least, most] = [min, max].map(|value| found(judgement.expectation, value));
            if told_number(&least) == told_number(&most) {
                least
            } else {
                format!("{least}–{most}")
            }
        }
    }
}

/// The number in a text, with its unit: `1.00` equals `1`.
fn told_number(text: &str) -> Result<(f64, &str), &str> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    number
        .parse()
        .map(|number| (number, unit))
        .map_err(|_| text)
}

/// The text of a value. A value outside the band that rounds to its bound says on which side it lies.
fn found(expectation: &Expectation, value: f64) -> String {
    let unit = expectation.unit();
    let told = text(unit, value);
    let Band { at_least, at_most } = expectation.band;
    let is_told_as = |bound: Option<f64>| {
        bound.is_some_and(|bound| told_number(&text(unit, bound)) == told_number(&told))
    };
    let is_below = at_least.is_some_and(|least| value < least);
    let is_above = at_most.is_some_and(|most| value > most);
    match (
        is_below && is_told_as(at_least),
        is_above && is_told_as(at_most),
    ) {
        (true, _) => format!("just below {told}"),
        (_, true) => format!("just above {told}"),
        _ => told,
    }
}

pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Differs => "differs",
        Verdict::Fails => "FAILS",
        Verdict::Untrusted => "not judged",
    }
}

/// What is to be said of a judgement that does not hold: for each known difference, the points with their values, and why;
/// then the points that fail.
pub(super) fn remarks(judgement: &Judgement<'_>) -> Vec<(String, String)> {
    if judgement.verdict == Verdict::Untrusted {
        let why = "The machine was too late in each run of a part of it, and a late machine says nothing of the claim.";
        return vec![(String::new(), why.to_owned())];
    }
    let known = judgement.differs();
    let mut remarks: Vec<(String, String)> = known
        .map(|known| {
            (
                points(judgement, judgement.values_of(known)),
                known.why.clone(),
            )
        })
        .collect();
    let failing = judgement
        .values
        .iter()
        .filter(|value| value.verdict == Verdict::Fails);
    if judgement.verdict == Verdict::Fails {
        let told = if judgement.values.is_empty() {
            "no runs".to_owned()
        } else {
            points(judgement, failing)
        };
        remarks.push((told, "the cause is not found".to_owned()));
    }
    remarks
}

/// The points with their values: `path.loss 1%: 0.9`. A point is described by the fields that vary among the points; a
/// named point by those that vary under its name. A point that lies elsewhere than it is known to has its range.
fn points<'v>(judgement: &Judgement<'_>, values: impl Iterator<Item = &'v Value>) -> String {
    let parts = values.map(|value| {
        let expected = match judgement.known(value) {
            Some(known) if value.verdict == Verdict::Fails => {
                let range = range(judgement.expectation, known.range);
                let range = if range.is_empty() { "–" } else { &range };
                format!(" (known to differ: {range})")
            }
            _ => String::new(),
        };
        let found = value.value.map_or("–".to_owned(), |value| {
            found(judgement.expectation, value)
        });
        match named(judgement, &value.point) {
            point if point.is_empty() => format!("{found}{expected}"),
            point => format!("{point}: {found}{expected}"),
        }
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// The field that names a scenario.
const NAME: &str = "name";

/// `path.loss 1%, flow.controller bbr1`.
fn named(judgement: &Judgement<'_>, point: &[String]) -> String {
    let fields = judgement.fields.iter().zip(point).enumerate();
    let name = judgement.fields.iter().position(|field| field == NAME);
    let has_name_of = |other: &&Value| name.is_none_or(|at| other.point.get(at) == point.get(at));
    let differing = fields.filter(|(place, (_, value))| {
        let is_other = |other: &Value| other.point.get(*place) != Some(*value);
        let mut others = judgement.values.iter();
        if Some(*place) == name {
            others.any(is_other)
        } else {
            others.filter(has_name_of).any(is_other)
        }
    });
    let parts: Vec<String> = differing
        .map(|(_, (field, value))| match field.as_str() {
            NAME => value.clone(),
            field => format!("{field} {value}"),
        })
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_agrees_with_the_band() {
        for (measure, band, value, told) in [
            ("jain", "at_most = 1", 1.0, "1"),
            ("jain", "at_most = 1", 0.9996, "1.00"),
            ("jain", "at_most = 1", 1.0004, "just above 1.00"),
            ("jain", "at_least = 1", 0.9996, "just below 1.00"),
            ("jain", "at_least = 0.1", 0.099_999_9, "just below 0.1000"),
            (
                "goodput",
                "at_least = \"1mbit\"",
                999_999.9,
                "just below 1.00 Mbit/s",
            ),
            ("rtt_p50", "at_most = \"2s\"", 2000.1, "just above 2.00 s"),
            (
                "limit_share",
                "at_least = \"95%\"",
                0.949_99,
                "just below 95.0 %",
            ),
            ("limit_share", "at_least = \"95%\"", 0.949, "94.9 %"),
        ] {
            let written = format!(
                "[[claim]]\nid = \"a\"\nsource = \"s\"\nsetting = \"x\"\npublished = \"p\"\nengines = [\"sim\"]\n\
                 [[claim.expect]]\nwhat = \"w\"\nmeasure = \"{measure}\"\n{band}\n"
            );
            let table = super::super::spec::Table::parse(&written).expect("a table");
            let expectation = &table.claims[0].expectations[0];
            assert_eq!(found(expectation, value), told, "{measure}, {band}");
        }
    }

    #[test]
    fn plain_numbers() {
        for (value, text) in [
            (3.0, "3"),
            (1.254, "1.25"),
            (14.16, "14.2"),
            (0.0123, "0.0123"),
        ] {
            assert_eq!(plain(value), text);
        }
    }
}
