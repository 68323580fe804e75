//! Quantities as people read them: three digits and the unit that fits.

use units::{Bytes, Duration, Rate};

/// `18.6 Mbit/s`.
pub fn rate(rate: Rate) -> String {
    report::bits_per_sec(rate.bits_per_sec() as f64)
}

/// `8.39 MB`.
pub fn bytes(bytes: Bytes) -> String {
    report::size(bytes)
}

/// `41.2 ms`, `3.62 s`.
pub fn duration(span: Duration) -> String {
    report::span(span.as_millis_f64())
}

/// `9 s`, `2:05`, `1:02:05`: whole seconds, for a time that is only estimated.
pub fn time_left(span: Duration) -> String {
    let seconds = span.as_nanos().div_ceil(1_000_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

/// How long the rest takes, if so much of the whole has taken so long; nothing before there is something to tell by.
pub fn rest(taken: std::time::Duration, share: f64) -> Option<String> {
    let rest = taken.as_secs_f64() * (1.0 - share) / share;
    let rest = std::time::Duration::try_from_secs_f64(rest).ok()?;
    (share > 0.001).then(|| time_left(rest.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(rate(Rate::from_bits_per_sec(18_640_000)), "18.6 Mbit/s");
        assert_eq!(rate(Rate::from_bits_per_sec(999_960)), "1.00 Mbit/s");
        assert_eq!(rate(Rate::ZERO), "0 bit/s");
        assert_eq!(rate(Rate::MAX), "18446744 Tbit/s");
        assert_eq!(bytes(Bytes::new(8 << 20)), "8.39 MB");
        assert_eq!(bytes(Bytes::new(999)), "999 B");
        assert_eq!(bytes(Bytes::new(999_700)), "1.00 MB");
        assert_eq!(duration(Duration::from_micros(41_230)), "41.2 ms");
        assert_eq!(duration(Duration::from_millis(3_620)), "3.62 s");
        assert_eq!(time_left(Duration::from_millis(8_100)), "9 s");
        assert_eq!(time_left(Duration::from_secs(125)), "2:05");
        assert_eq!(time_left(Duration::from_secs(3_725)), "1:02:05");
        let minute = std::time::Duration::from_secs(60);
        assert_eq!(rest(minute, 0.5).as_deref(), Some("1:00"));
        assert_eq!(rest(minute, 1.0).as_deref(), Some("0 s"));
        assert_eq!(rest(minute, 0.0), None);
    }
}
