//! Numbers with units: for axes, columns, plots, and the values between two others.

use record::Dimension;
use units::{Bytes, Duration, Rate, is_unit};

/// A spelling of a unit, with its factor to the unit in which values are kept.
#[derive(Debug, Clone, Copy)]
struct Spelling {
    text: &'static str,
    unit: Dimension,
    factor: f64,
}

/// A unit, some spellings of it, and the number of the smallest spelled unit in one of the unit in which values are
/// kept.
type Spellings = (Dimension, &'static [units::Suffix], f64);

/// The units of scenarios, as [`units`] writes them.
const WRITTEN: [Spellings; 7] = [
    (Dimension::Plain, &[("", 1)], 1.0),
    (Dimension::Share, &[("%", 1)], 100.0),
    (Dimension::Rate, Rate::UNITS, 1.0),
    (Dimension::Time, Duration::UNITS, 1e6),
    (Dimension::Size, Bytes::UNITS, 1.0),
    (Dimension::Bdp, &[("bdp", 1)], 1.0),
    (Dimension::Packets, &[("p", 1)], 1.0),
];

/// Further spellings that [`units`] reads.
const READ: [Spellings; 3] = [
    (Dimension::Rate, Rate::OTHER_UNITS, 1.0),
    (Dimension::Time, Duration::OTHER_UNITS, 1e6),
    (Dimension::Packets, &[("packets", 1)], 1.0),
];

/// All spellings, in ascending order within each unit.
fn spellings(of: &'static [Spellings]) -> impl Iterator<Item = Spelling> {
    of.iter().flat_map(|&(unit, texts, one)| {
        texts.iter().map(move |(text, size)| Spelling {
            text,
            unit,
            factor: *size as f64 / one,
        })
    })
}

/// A number with its unit, as a scenario spells them.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    number: f64,
    spelling: Spelling,
    /// Whether the number has no decimals, and its unit cannot have any.
    is_whole: bool,
}

impl Amount {
    /// Reads a number with a unit of scenarios. Returns nothing for another text, or if the value overflows.
    pub fn parse(text: &str) -> Option<Amount> {
        let text = text.trim();
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
        let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.trim_start();
        let mut known = spellings(&WRITTEN).chain(spellings(&READ));
        let spelling = known.find(|spelling| is_unit(spelling.text, unit))?;
        let parsed = number.parse::<f64>().ok();
        Some(Amount {
            number: parsed.filter(|number| (number * spelling.factor).is_finite())?,
            spelling,
            is_whole: matches!(spelling.unit, Dimension::Plain | Dimension::Packets)
                && !number.contains('.'),
        })
    }

    /// The unit.
    pub fn unit(&self) -> Dimension {
        self.spelling.unit
    }

    /// The value in the unit in which values are kept.
    pub fn value(&self) -> f64 {
        self.number * self.spelling.factor
    }

    /// Returns `steps` values from `from` to `to`, evenly spaced or in a geometric series. Values in between are
    /// rounded to 6 significant digits (4 in a geometric series), and to whole numbers between whole ones. They are
    /// spelled like both ends or, if these differ, in the largest unit without a leading zero.
    ///
    /// Returns nothing if the ends have different units, or a geometric series does not exist.
    pub fn between(from: &str, to: &str, steps: u32, is_log: bool) -> Option<Vec<String>> {
        let (first, last) = (Amount::parse(from)?, Amount::parse(to)?);
        let (low, high) = (first.value(), last.value());
        if first.unit() != last.unit() || (is_log && (low <= 0.0 || high <= 0.0)) {
            return None;
        }
        let between = (1..steps.saturating_sub(1)).map(|step| {
            let share = f64::from(step) / f64::from(steps - 1);
            let value = if is_log {
                low * libm::pow(high / low, share)
            } else {
                low + (high - low) * share
            };
            first.spelled_like(&last, value, if is_log { 4 } else { 6 })
        });
        let ends = (from.trim().to_string(), to.trim().to_string());
        Some(
            [ends.0]
                .into_iter()
                .chain(between)
                .chain([ends.1])
                .collect(),
        )
    }

    /// Spells `value` like both amounts, or in another unit if these differ.
    fn spelled_like(&self, other: &Amount, value: f64, digits: i32) -> String {
        let spelling = if self.spelling.text == other.spelling.text {
            self.spelling
        } else {
            // Powers of 1000 and of 1024 are not mixed.
            spellings(&WRITTEN)
                .filter(|spelling| spelling.unit == self.unit() && spelling.factor <= value)
                .filter(|spelling| !spelling.text.contains("ib"))
                .last()
                .unwrap_or(self.spelling)
        };
        let number = value / spelling.factor;
        let number = if self.is_whole && other.is_whole {
            number.round()
        } else {
            rounded(number, digits)
        };
        format!("{number}{}", spelling.text)
    }
}

/// Rounds to this many significant digits, by way of decimal text, so that the result is the same on every machine.
fn rounded(value: f64, digits: i32) -> f64 {
    let decimals = if value > 0.0 {
        digits - 1 - libm::log10(value).floor() as i32
    } else {
        0
    };
    match usize::try_from(decimals) {
        Ok(decimals) => format!("{value:.decimals$}").parse().unwrap_or(value),
        Err(_) => {
            let unit = 10f64.powi(-decimals);
            (value / unit).round() * unit
        }
    }
}

/// The values of a field as numbers, if all have the same unit. A bare zero fits any unit.
pub fn amounts<'t>(texts: impl Iterator<Item = &'t str>) -> Option<(Dimension, Vec<f64>)> {
    let all: Vec<Amount> = texts.map(Amount::parse).collect::<Option<_>>()?;
    let is_bare_zero =
        |amount: &&Amount| amount.unit() == Dimension::Plain && amount.value() == 0.0;
    let unit = all
        .iter()
        .find(|amount| !is_bare_zero(amount))
        .map_or(Dimension::Plain, Amount::unit);
    let is_alike = |amount: &Amount| amount.unit() == unit || is_bare_zero(&amount);
    all.iter()
        .all(is_alike)
        .then(|| (unit, all.iter().map(Amount::value).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(from: &str, to: &str, steps: u32, is_log: bool) -> Vec<String> {
        Amount::between(from, to, steps, is_log).unwrap_or_default()
    }

    #[test]
    fn values_and_units() {
        for (text, value, unit) in [
            ("1%", 0.01, Dimension::Share),
            ("0.001 %", 0.00001, Dimension::Share),
            ("20mbit", 20e6, Dimension::Rate),
            ("1.5Gbit", 1.5e9, Dimension::Rate),
            ("40ms", 40.0, Dimension::Time),
            ("2min", 120e3, Dimension::Time),
            ("0.5h", 1800e3, Dimension::Time),
            ("2.5tbit", 2.5e12, Dimension::Rate),
            ("20.0 Mbit/s", 20e6, Dimension::Rate),
            ("2.5MB/s", 20e6, Dimension::Rate),
            ("7d", 604.8e6, Dimension::Time),
            ("0.25BDP", 0.25, Dimension::Bdp),
            ("100 packets", 100.0, Dimension::Packets),
            ("1tb", 1e12, Dimension::Size),
            ("1tib", 1_099_511_627_776.0, Dimension::Size),
            ("250kb", 250e3, Dimension::Size),
            ("8mib", 8_388_608.0, Dimension::Size),
            ("0.25bdp", 0.25, Dimension::Bdp),
            ("100p", 100.0, Dimension::Packets),
            ("4", 4.0, Dimension::Plain),
        ] {
            let amount = Amount::parse(text).expect(text);
            assert!((amount.value() / value - 1.0).abs() < 1e-12, "{text}");
            assert_eq!(amount.unit(), unit, "{text}");
        }
        for text in [
            "",
            "bbr1",
            "mbit",
            "-1",
            "1e9",
            "4 bananas",
            "20mb/s",
            "1.2.3",
            "inf",
            "nan",
        ] {
            assert!(Amount::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_counted_is_no_amount() {
        for text in [
            "9".repeat(400),
            format!("{}gbit", "9".repeat(305)),
            "ms".to_owned(),
        ] {
            assert!(Amount::parse(&text).is_none(), "{text}");
        }
    }

    #[test]
    fn ranges_keep_their_ends_and_read_well() {
        assert_eq!(
            between("1mbit", "1gbit", 7, true),
            [
                "1mbit",
                "3.162mbit",
                "10mbit",
                "31.62mbit",
                "100mbit",
                "316.2mbit",
                "1gbit"
            ]
        );
        assert_eq!(
            between("0%", "10%", 5, false),
            ["0%", "2.5%", "5%", "7.5%", "10%"]
        );
        assert_eq!(
            between("0.001%", "10%", 5, true),
            ["0.001%", "0.01%", "0.1%", "1%", "10%"]
        );
        assert_eq!(
            between("0.25bdp", "16bdp", 4, true),
            ["0.25bdp", "1bdp", "4bdp", "16bdp"]
        );
        assert_eq!(between("1", "10", 4, false), ["1", "4", "7", "10"]);
        assert_eq!(between("1", "10", 3, true), ["1", "3", "10"]);
        assert_eq!(between("0.0", "1", 3, false), ["0.0", "0.5", "1"]);
        assert_eq!(between("10p", "1000p", 3, true), ["10p", "100p", "1000p"]);
        assert_eq!(between("500us", "2s", 3, true), ["500us", "31.62ms", "2s"]);
        assert_eq!(between("8kib", "2mb", 3, true), ["8kib", "128kb", "2mb"]);
        assert_eq!(between("10ms", "1ms", 3, false), ["10ms", "5.5ms", "1ms"]);
    }

    #[test]
    fn ranges_that_make_no_sense() {
        assert_eq!(Amount::between("1mbit", "1s", 3, false), None);
        assert_eq!(Amount::between("bbr1", "cubic", 3, false), None);
        assert_eq!(Amount::between("0%", "1%", 3, true), None);
    }

    #[test]
    fn rounding() {
        assert_eq!(rounded(3.162_277, 4), 3.162);
        assert_eq!(rounded(316_227.7, 4), 316_200.0);
        assert_eq!(rounded(0.000_316_227, 4), 0.000_316_2);
        assert_eq!(rounded(0.0, 4), 0.0);
    }
}
