//! Numbers as text for people: three digits, and a suitable unit.

use std::fmt::Display;
use std::time::{Duration, UNIX_EPOCH};

use units::Bytes;

/// The end of the year 9999, in seconds since 1970. No later year has four digits.
const MAX_UNIX_S: u64 = 253_402_300_799;

/// A rate in bits per second: `18.6 Mbit/s`.
pub fn bits_per_sec(rate: f64) -> String {
    scaled(rate, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"])
}

/// A count of bytes, always with three digits from a kilobyte on: `4.00 MB`.
pub fn size(count: Bytes) -> String {
    scaled(count.get() as f64, &["B", "kB", "MB", "GB", "TB"])
}

/// A count of bytes without insignificant decimals: `4 MB`.
pub fn bytes(count: Bytes) -> String {
    bare(&size(count))
}

/// A time in milliseconds: `41.2 ms`, `3.62 s`.
pub fn span(millis: f64) -> String {
    if millis < 999.5 {
        format!("{} ms", three_digits(millis))
    } else {
        format!("{} s", three_digits(millis / 1000.0))
    }
}

/// A time since 1970 as the calendar's time: `2026-11-28 04:00`, with seconds if it has any.
pub fn utc(unix_s: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(unix_s.min(MAX_UNIX_S));
    let text = humantime::format_rfc3339_seconds(time).to_string();
    let text = text.replace('T', " ");
    let text = text.trim_end_matches('Z');
    text.strip_suffix(":00").unwrap_or(text).to_owned()
}

/// Milliseconds without insignificant decimals: `40 ms`.
pub fn millis(value: f64) -> String {
    bare(&format!("{} ms", three_digits(value)))
}

/// A quantity in scenarios' form, such as `5ms` or `1%`, with a space before the unit, as in texts: `5 ms`.
pub fn spaced(quantity: impl Display) -> String {
    let text = quantity.to_string();
    let unit = text.find(|c: char| c.is_alphabetic() || c == '%');
    let (number, unit) = text.split_at(unit.unwrap_or(text.len()));
    format!("{number} {unit}").trim_end().to_owned()
}

/// A share in percent: `95.2 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A number of countable things: `1 run`, `2 runs`.
pub fn count(number: u64, thing: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{end}")
}

/// A value, or a dash if it is unknown.
pub fn known<T>(value: Option<T>, text: fn(T) -> String) -> String {
    value.map_or("–".to_owned(), text)
}

/// Retransmissions in percent of the packets sent, or a dash if either is unknown or nothing was sent.
pub fn resent(sent: Option<u64>, again: Option<u64>) -> String {
    let sent = sent.filter(|sent| *sent > 0);
    let share = again
        .zip(sent)
        .map(|(again, sent)| again as f64 / sent as f64);
    known(share, percent)
}

/// Values below a thousand of the first unit are whole.
fn scaled(value: f64, units: &[&str]) -> String {
    let (mut value, mut units) = (value, units);
    if value < 999.5 {
        return format!("{value:.0} {}", units[0]);
    }
    // Values of 999.5 and more would be rounded to four digits.
    while value >= 999.5 && units.len() > 1 {
        value /= 1000.0;
        units = &units[1..];
    }
    format!("{} {}", three_digits(value), units[0])
}

/// Three significant digits, without an exponent.
fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A number with its unit, without trailing zeros of the decimals.
fn bare(text: &str) -> String {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    if !number.contains('.') {
        return text.to_owned();
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number} {unit}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Rate, Ratio};

    use super::*;

    proptest! {
        /// A printed number can be typed: it is read as the printed value, to its three digits.
        #[test]
        fn what_is_printed_can_be_typed(value in 1_u64..1 << 62, shift in 0_u32..62, share in 0.0..1.0_f64) {
            let value = (value >> shift).max(1);
            let is_near = |read: f64| (read / value as f64 - 1.0).abs() < 0.006;
            let rate: Rate = bits_per_sec(value as f64).parse().expect("a rate");
            // A rate is whole bytes per second.
            let bits = value as f64;
            prop_assert!((rate.bits_per_sec() as f64 - bits).abs() < 0.006 * bits + 8.0);
            for text in [size(Bytes::new(value)), bytes(Bytes::new(value))] {
                let read: Bytes = text.parse().expect("a size");
                prop_assert!(is_near(read.get() as f64), "{} {}", text, value);
            }
            let nanos = value as f64 / 1e6;
            for text in [span(nanos), millis(nanos)] {
                let read: units::Duration = text.parse().expect("a time");
                // A printed number has no less than a hundredth of a millisecond.
                let off = (read.as_nanos() as f64 - value as f64).abs();
                prop_assert!(off < 0.006 * value as f64 + 5_001.0, "{} {}", text, value);
            }
            let read: Ratio = percent(share).parse().expect("a share");
            prop_assert!((read.as_f64() - share).abs() <= 0.000_5 + 1e-9);
        }
    }

    #[test]
    fn a_time_has_seconds_if_it_needs_them() {
        let times = [0, 1_764_302_400, 1_764_302_401, u64::MAX].map(utc);
        assert_eq!(
            times,
            [
                "1970-01-01 00:00",
                "2025-11-28 04:00",
                "2025-11-28 04:00:01",
                "9999-12-31 23:59:59"
            ]
        );
    }

    #[test]
    fn three_digits_and_a_unit() {
        let rates = [18_640_000.0, 999_960.0, 0.3, 0.0, 3e15].map(bits_per_sec);
        assert_eq!(
            rates,
            [
                "18.6 Mbit/s",
                "1.00 Mbit/s",
                "0 bit/s",
                "0 bit/s",
                "3000 Tbit/s"
            ]
        );
        let sizes = [8 << 20, 999, 999_700, 4_000_000].map(Bytes::new);
        assert_eq!(sizes.map(size), ["8.39 MB", "999 B", "1.00 MB", "4.00 MB"]);
        assert_eq!(sizes.map(bytes), ["8.39 MB", "999 B", "1 MB", "4 MB"]);
        assert_eq!(
            [41.23, 999.7, 3_620.0].map(span),
            ["41.2 ms", "1.00 s", "3.62 s"]
        );
        assert_eq!(
            [40.0, 0.25, 1200.0].map(millis),
            ["40 ms", "0.25 ms", "1200 ms"]
        );
        assert_eq!(
            [1, 2].map(|number| count(number, "run")),
            ["1 run", "2 runs"]
        );
    }
}
