//! Quantities for people, while work goes on.

use tables::numbers;
use units::{Duration, Rate};

/// `18.6 Mbit/s`.
pub fn rate(rate: Rate) -> String {
    numbers::bits_per_sec(rate.bits_per_sec() as f64)
}

/// `41.2 ms`, `3.62 s`.
pub fn duration(span: Duration) -> String {
    numbers::span(span.as_millis_f64())
}

/// `9 s`, `2:05`, `1:02:05`: whole seconds, for an estimated time.
pub fn time_left(span: Duration) -> String {
    let seconds = span.as_nanos().div_ceil(1_000_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

/// The remaining time if this share of the whole has taken so long; `None` before an estimate is possible.
pub fn rest(taken: std::time::Duration, share: f64) -> Option<String> {
    let rest = taken.as_secs_f64() * (1.0 - share) / share;
    let rest = std::time::Duration::try_from_secs_f64(rest).ok()?;
    (share > 0.001).then(|| time_left(rest.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_in_whole_seconds() {
        assert_eq!(rate(Rate::from_bits_per_sec(18_640_000)), "18.6 Mbit/s");
        assert_eq!(duration(Duration::from_micros(41_230)), "41.2 ms");
        assert_eq!(time_left(Duration::from_millis(8_100)), "9 s");
        assert_eq!(time_left(Duration::from_secs(125)), "2:05");
        assert_eq!(time_left(Duration::from_secs(3_725)), "1:02:05");
        let minute = std::time::Duration::from_secs(60);
        assert_eq!(rest(minute, 0.5).as_deref(), Some("1:00"));
        assert_eq!(rest(minute, 1.0).as_deref(), Some("0 s"));
        assert_eq!(rest(minute, 0.0), None);
    }
}
