//! Times and durations in logs.

use text::date;

/// Larger numbers are in the next smaller unit: this many seconds since 1970 are in the year 5138, and this many
/// milliseconds in the year 1973.
const MAX_IN_UNIT: f64 = 1e11;

/// The maximum duration of a request, in seconds.
const MAX_DURATION_S: f64 = 1e7;

/// The unit of a duration that is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Milli,
    /// Microseconds.
    Micro,
    /// Nanoseconds.
    Nano,
}

impl Unit {
    /// The unit with this name.
    pub fn named(name: &str) -> Option<Unit> {
        match name {
            "ms" => Some(Unit::Milli),
            "us" => Some(Unit::Micro),
            "ns" => Some(Unit::Nano),
            _ => None,
        }
    }

    fn per_second(self) -> f64 {
        match self {
            Unit::Milli => 1e3,
            Unit::Micro => 1e6,
            Unit::Nano => 1e9,
        }
    }
}

/// A point in time in seconds since 1970, and its resolution in seconds. A number is in seconds, milliseconds,
/// microseconds or nanoseconds, as its size tells. A text is a [`date`].
pub fn instant(text: &str) -> Option<(f64, f64)> {
    if let Ok(number) = text.parse::<f64>() {
        let units = [1.0, 1e3, 1e6, 1e9];
        let unit = units.into_iter().find(|unit| number < MAX_IN_UNIT * unit)?;
        return (0.0..).contains(&number).then_some((number / unit, 0.0));
    }
    let date = date(text)?;
    let seconds = date.since_1970.as_secs_f64();
    let resolution = if date.has_fraction { 0.0 } else { 1.0 };
    (seconds < MAX_IN_UNIT).then_some((seconds, resolution))
}

/// A duration in seconds: a number in the unit, or else in seconds, or a text such as `1m2.5s`, as Go writes it.
pub fn span(text: &str, unit: Option<Unit>) -> Option<f64> {
    let seconds = match text.parse::<f64>() {
        Ok(number) => number / unit.map_or(1.0, Unit::per_second),
        Err(_) => go(text)?,
    };
    (0.0..MAX_DURATION_S).contains(&seconds).then_some(seconds)
}

/// Go's `time.Duration.String`.
fn go(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(end);
        let next = behind.find(|c: char| c.is_ascii_digit());
        let (unit, behind) = behind.split_at(next.unwrap_or(behind.len()));
        let unit = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            // The micro sign, and the Greek letter.
            "\u{b5}s" | "\u{3bc}s" | "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        rest = behind;
    }
    (!text.is_empty()).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_time_is_the_same_time() {
        for (text, resolution) in [
            ("1646861401.524", 0.0),
            ("1646861401524.0", 0.0),
            ("1646861401524000", 0.0),
            ("1646861401524000000", 0.0),
            ("2022-03-09T21:30:01.524Z", 0.0),
            ("2022-03-09T22:30:01.524+0100", 0.0),
            ("2022-03-09T14:00:01.524-07:30", 0.0),
            ("2022-03-09T21:30:01.524000000Z", 0.0),
            ("2022/03/09 21:30:01.524", 0.0),
            ("2022/03/09 21:30:01", 1.0),
            ("2022-03-09T21:30:01Z", 1.0),
            ("09/Mar/2022:22:30:01 +0100", 1.0),
        ] {
            let found = instant(text).map(|(at, resolution)| (at.floor(), resolution));
            assert_eq!(found, Some((1_646_861_401.0, resolution)), "{text}");
            let (at, _) = instant(text).unwrap();
            assert!(
                resolution > 0.0 || (at - 1_646_861_401.524).abs() < 1e-5,
                "{text}: {at}"
            );
        }
        for text in [
            "",
            "-1",
            "nan",
            "inf",
            "1e40",
            "21:30",
            "2022-13-09T21:30:01Z",
            "09/Mär/2022:1:1:1",
            "9:-",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }

    #[test]
    fn a_duration_is_a_number_or_has_units() {
        for (text, unit, seconds) in [
            ("0.929", None, 0.929),
            ("9.29e-1", None, 0.929),
            ("929", Some(Unit::Milli), 0.929),
            ("929000", Some(Unit::Micro), 0.929),
            ("929000000", Some(Unit::Nano), 0.929),
            ("929ms", None, 0.929),
            ("929.0ms", Some(Unit::Nano), 0.929),
            ("929000\u{b5}s", None, 0.929),
            ("1m2.5s", None, 62.5),
            ("1h0m0s", None, 3600.0),
            ("0s", None, 0.0),
        ] {
            let found = span(text, unit).unwrap();
            assert!((found - seconds).abs() < 1e-9, "{text}: {found}");
        }
        for text in ["", "s", "1", "1x", "-1s", "1e9s"]
            .into_iter()
            .filter(|text| *text != "1")
        {
            assert_eq!(span(text, None), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_an_answer(text in "[-0-9:./TZ+ a-zµ]{0,30}|.{0,20}") {
            let (_, _) = (instant(&text), span(&text, None));
        }
    }
}
