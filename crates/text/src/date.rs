//! Dates with a time of day, as programs write them into logs and tables.

use std::time::Duration;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// The time since 1970, in UTC. A date without a zone is in UTC.
    pub since_1970: Duration,
    /// Whether it has a fraction of a second.
    pub has_fraction: bool,
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The length of `2024-05-01`, and of `01/May/2024`.
const DAY: usize = 10;
const DAY_OF_LOG: usize = 11;

/// Reads a date and a time of day, from 1970 to the year 9999: `2024-05-01T12:30:05.25Z` (RFC 3339),
/// `2024-05-01T12:30:05+0200` (ISO 8601), `2024/05/01 12:30:05`, `2020.02.13_13.03.24`, or `01/May/2024:12:30:05 +0200` (the common
/// log format).
///
/// ```
/// let date = text::date("2024-05-01T12:30:05.25+02:00").expect("a date");
/// assert_eq!(date.since_1970.as_millis(), 1_714_559_405_250);
/// ```
pub fn date(text: &str) -> Option<Date> {
    let is_of_log = text.get(2..3) == Some("/");
    let ((year, month, day), time) = if is_of_log {
        let (day, time) = text.split_at_checked(DAY_OF_LOG)?;
        (day_of_log(day)?, time.strip_prefix(':')?)
    } else {
        let (day, time) = text.split_at_checked(DAY)?;
        let mut parts = day.splitn(3, ['-', '/', '.']).map(digits);
        let day = (parts.next()??, parts.next()??, parts.next()??);
        (day, time.strip_prefix(['T', 't', ' ', '_'])?)
    };
    let (time, east) = zone(time)?;
    let mut parts = time.trim_end().splitn(3, [':', '.']);
    let (hours, minutes) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let (seconds, nanos, has_fraction) = seconds(parts.next()?)?;
    let is_sound = (1..=12).contains(&month)
        && (1970..=9999).contains(&year)
        && (1..=days_of(year, month)).contains(&day)
        && hours < 24
        && minutes < 60
        // A leap second is the start of the next minute, so nothing is within it.
        && (seconds < 60 || seconds == 60 && nanos == 0);
    if !is_sound {
        return None;
    }
    let minutes = days(year, month, day) * 1440 + hours * 60 + minutes - east;
    let seconds = u64::try_from(minutes * 60 + seconds).ok()?;
    Some(Date {
        since_1970: Duration::new(seconds, nanos),
        has_fraction,
    })
}

/// `01/May/2024`
fn day_of_log(text: &str) -> Option<(i64, i64, i64)> {
    let mut parts = text.splitn(3, '/');
    let day = digits(parts.next()?)?;
    let name = parts.next()?;
    let month = (1..).zip(MONTHS).find(|(_, month)| *month == name)?.0;
    Some((digits(parts.next()?)?, month, day))
}

/// Seconds and nanoseconds, and whether there is a fraction. Digits behind the ninth change nothing.
fn seconds(text: &str) -> Option<(i64, u32, bool)> {
    let Some((whole, part)) = text.split_once(['.', ',']) else {
        return Some((digits(text)?, 0, false));
    };
    if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos = format!("{part:0<9}").get(..9)?.parse().ok()?;
    Some((digits(whole)?, nanos, true))
}

/// A time of day without its zone, and how many minutes that is east of Greenwich.
fn zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (time, zone) = time.split_at(at);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_at_checked(2)?;
    let minutes = match minutes.strip_prefix(':').unwrap_or(minutes) {
        "" if minutes.is_empty() => 0,
        two if two.len() == 2 => digits(two)?,
        _ => return None,
    };
    let hours = digits(hours)?;
    (hours < 24 && minutes < 60).then_some((time, sign * (hours * 60 + minutes)))
}

fn digits(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Days since 1970 of a day of the Gregorian calendar, counted in years from March on, so that the leap day is the last
/// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn days_of(year: i64, month: i64) -> i64 {
    days(year + month / 12, month % 12 + 1, 1) - days(year, month, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_time_is_the_same_time() {
        for (text, has_fraction) in [
            ("2022-03-09T21:30:01Z", false),
            ("2022-03-09 21:30:01", false),
            ("2022-03-09t23:00:01+01:30", false),
            ("2022-03-09T14:00:01-0730", false),
            ("2022-03-09T22:30:01+01", false),
            ("2022/03/09 21:30:01.000", true),
            ("2022.03.09_21.30.01", false),
            ("09/Mar/2022:22:30:01 +0100", false),
            ("2022-03-09T21:30:01,000000000999Z", true),
        ] {
            let found = date(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                found.since_1970,
                Duration::from_secs(1_646_861_401),
                "{text}"
            );
            assert_eq!(found.has_fraction, has_fraction, "{text}");
        }
        let exact = date("2022-03-09T21:30:01.5240004Z").expect("a date");
        assert_eq!(exact.since_1970.subsec_nanos(), 524_000_400);
    }

    #[test]
    fn days_and_seconds_that_are_not_are_refused() {
        for day in ["2024-02-29", "2000-02-29", "2023-04-30", "2023-12-31"] {
            assert!(date(&format!("{day}T00:00:00Z")).is_some(), "{day}");
        }
        for day in [
            "2024-02-30",
            "2023-02-29",
            "2100-02-29",
            "2023-02-31",
            "2023-04-31",
            "2023-12-32",
            "2023-13-01",
            "1969-12-31",
        ] {
            assert_eq!(date(&format!("{day}T00:00:00Z")), None, "{day}");
        }
        let leap = date("2016-12-31T23:59:60Z");
        assert!(leap.is_some() && leap == date("2017-01-01T00:00:00Z"));
        for text in [
            "",
            "2016-12-31T23:59:60.9Z",
            "2016-12-31T23:59:1.Z",
            "2016-12-31T24:00:00Z",
            "1970-01-01T00:00:00+01:00",
            "2022-03-09T21:30:01+99:99",
            "2022-03-09T21:30:01+24:00",
            "2022-03-09T21:30:01+02:60",
            "2022-03-09T21:30:01+02:00:00",
            "2022-03-09T21:30:01+02:",
            "2022-03-09T21:30:01+020",
            "2022-03-09T21:30:01+0:20",
            "2022-03-09T21:30:01+2",
            "09/M\u{e4}r/2022:1:1:1",
            "9:-",
            "21:30",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn days_since_1970() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 2, 29), 11_016);
        assert_eq!(days(2024, 3, 1), 19_783);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_an_answer(text in "[-0-9:./,TZ+ _a-z\u{b5}]{0,30}|.{0,20}") {
            let _ = date(&text);
        }
    }
}
