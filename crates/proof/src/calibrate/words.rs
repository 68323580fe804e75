//! The words of a case's row: on a terminal, on the page, in a document.

use super::comparison::{Comparison, Difference};
use super::quantity::{Quantity, Scale};
use tables::statistics::Spread;

/// The amount of detail in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Medians of the judged quantities.
    Medians,
    /// More quantities, with their ranges.
    Ranges,
}

/// The quantities without a tolerance that also have columns.
const UNJUDGED: [Quantity; 4] = [
    Quantity::QUEUE_MEAN,
    Quantity::RESENT,
    Quantity::TIMEOUTS,
    Quantity::STARTUP_TIME,
];

/// The headings of the columns, for engines with these names.
pub(super) fn headings(engines: [&str; 2], detail: Detail) -> Vec<String> {
    let [first, second] = engines;
    let mut headings = vec!["case".to_string()];
    for quantity in Quantity::JUDGED {
        let title = quantity.title;
        headings.extend([
            format!("{title}, {first}"),
            second.to_string(),
            differs(quantity).to_string(),
        ]);
    }
    headings.push("verdict".to_string());
    if detail == Detail::Ranges {
        for quantity in UNJUDGED {
            let title = quantity.title;
            headings.extend([format!("{title}, {first}"), second.to_string()]);
        }
    }
    headings
}

/// The heading of a difference, with its reference.
pub(super) fn differs(quantity: Quantity) -> &'static str {
    match quantity.scale {
        Scale::Delay => "differs, of RTprop",
        _ => "differs",
    }
}

/// The cells of a case's row.
pub(super) fn row(comparison: &Comparison<'_>, detail: Detail) -> Vec<String> {
    let mut row = vec![comparison.case.name.clone()];
    for quantity in Quantity::JUDGED {
        let found = comparison.get(quantity);
        row.extend(sides(found, detail));
        row.push(difference(found));
    }
    row.push(comparison.remark());
    if detail == Detail::Ranges {
        for quantity in UNJUDGED {
            row.extend(sides(comparison.get(quantity), detail));
        }
    }
    row
}

/// The cell of a quantity that a case does not have.
pub(super) const UNKNOWN: &str = "–";

/// The quantity on both engines.
pub(super) fn sides(found: Option<&Difference<'_>>, detail: Detail) -> [String; 2] {
    let text = |one: &Difference<'_>, side: Option<Spread>| match (side, detail) {
        (None, _) => UNKNOWN.to_string(),
        (Some(spread), Detail::Medians) => one.quantity.text(spread.median),
        (Some(spread), Detail::Ranges) => range(one.quantity, spread),
    };
    match found {
        None => [UNKNOWN, UNKNOWN].map(str::to_string),
        Some(one) => one.sides.map(|side| text(one, side)),
    }
}

/// The difference of the second engine from the first.
pub(super) fn difference(found: Option<&Difference<'_>>) -> String {
    let known = found.and_then(|one| Some((one, one.difference?)));
    known.map_or(UNKNOWN.to_string(), |(one, difference)| {
        one.quantity.difference_text(difference)
    })
}

/// `9.47 Mbit/s (9.46–9.48)`, or only the median if both ends print alike.
fn range(quantity: Quantity, spread: Spread) -> String {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(|v| quantity.text(v));
    if min == max {
        return median;
    }
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_string());
    let is_same = unit(&min) == unit(&max) && unit(&min) == unit(&median);
    let bare = |text: &str| text.split(' ').next().unwrap_or_default().to_string();
    if is_same {
        format!("{median} ({}–{})", bare(&min), bare(&max))
    } else {
        format!("{median} ({min}–{max})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let spread = |median, min, max| Spread { median, min, max };
        for (quantity, values, text) in [
            (
                Quantity::GOODPUT,
                spread(9.47e6, 9.46e6, 9.48e6),
                "9.47 Mbit/s (9.46–9.48)",
            ),
            (
                Quantity::GOODPUT,
                spread(9.47e6, 9.471e6, 9.472e6),
                "9.47 Mbit/s",
            ),
            (
                Quantity::RTT,
                spread(45.0, 44.0, 1200.0),
                "45.0 ms (44.0 ms–1.20 s)",
            ),
            (Quantity::TIMEOUTS, spread(1.0, 0.0, 2.0), "1 (0–2)"),
        ] {
            assert_eq!(range(quantity, values), text);
        }
    }
}
