//! Numbers and lists as a verdict writes them.

use crate::effect::Interval;

/// The minimum change that counts. Changes are shown in tenths of a per cent, so a smaller one rounds to 0.
pub(super) const MIN_SHOWN_CHANGE: f64 = 0.000_5;

/// The minimum factor that the report shows as a factor instead of a percentage.
const MIN_FACTOR: f64 = 10.0;

/// `+7.9 %`, or `12-fold`.
pub fn change(share: f64) -> String {
    let factor = 1.0 + share;
    if factor >= MIN_FACTOR {
        return format!("{factor:.0}-fold");
    }
    let percent = share * 100.0;
    // A sign before zero would mislead.
    let percent = if share.abs() < MIN_SHOWN_CHANGE {
        0.0
    } else {
        percent
    };
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{percent:.1} %").replace('-', "−")
}

/// `+5.1 % to +10.8 %`
pub fn range(interval: Interval) -> String {
    format!("{} to {}", change(interval.low), change(interval.high))
}

/// `0.043`, or `below 0.001`.
pub fn probability(p: f64) -> String {
    if p < 0.001 {
        "below 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// `a, b and c`
pub(crate) fn joined(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    }
}
