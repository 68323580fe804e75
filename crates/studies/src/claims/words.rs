//! What tables say of a judgement: on a terminal and in a document.

use super::expectation::{Band, Expectation};
use super::judge::{Judgement, Verdict};
use record::Dimension;
use record::statistics::Spread;
use report::{bits_per_sec, percent, span};

/// A value for people.
pub(super) fn text(unit: Dimension, value: f64) -> String {
    match unit {
        Dimension::Share => percent(value),
        Dimension::Rate => bits_per_sec(value),
        Dimension::Time => span(value),
        _ => plain(value),
    }
}

/// Three significant digits, and whole numbers as they are.
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

/// `≥ 95.0 %`, `≤ 2`, `2–25`.
pub(super) fn band(expectation: &Expectation) -> String {
    let text = |value| text(expectation.unit(), value);
    match expectation.band {
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

/// `95.2 %`, or from which to which value if there are several points.
pub(super) fn measured(judgement: &Judgement<'_>) -> String {
    let text = |value| text(judgement.expectation.unit(), value);
    match judgement.range() {
        None => "–".to_owned(),
        Some(Spread { min, max, .. }) => {
            let (least, most) = (text(min), text(max));
            if least == most {
                least
            } else {
                format!("{least}–{most}")
            }
        }
    }
}

pub(super) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Differs => "differs",
        Verdict::Fails => "FAILS",
    }
}

/// The points at which it fails or differs, with their values: `path.loss 1 %: 0.9`; nothing if it holds.
pub(super) fn outliers(judgement: &Judgement<'_>) -> String {
    let is_outside =
        |value: Option<f64>| value.is_none_or(|value| !judgement.expectation.band.holds(value));
    if judgement.values.is_empty() {
        return "no runs".to_owned();
    }
    let outside = judgement
        .values
        .iter()
        .filter(|value| is_outside(value.value));
    let parts = outside.map(|value| {
        let found = value.value.map_or("–".to_owned(), |found| {
            text(judgement.expectation.unit(), found)
        });
        if value.point.is_empty() {
            found
        } else {
            format!("{}: {found}", value.point.join(" "))
        }
    });
    parts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
