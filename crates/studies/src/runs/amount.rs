//! Numbers with units as axes have them: for columns, plots, and the values between two others.

use record::Unit;

/// A spelling of a unit, and how much it is in the unit that numbers are kept in.
#[derive(Debug)]
struct Spelling {
    text: &'static str,
    unit: Unit,
    factor: f64,
}

const fn spelling(text: &'static str, unit: Unit, factor: f64) -> Spelling {
    Spelling { text, unit, factor }
}

/// Those that [`units`] reads, and a scenario's buffers; of each unit, small ones first.
const SPELLINGS: [Spelling; 24] = [
    spelling("", Unit::Plain, 1.0),
    spelling("%", Unit::Share, 0.01),
    spelling("bit", Unit::Rate, 1.0),
    spelling("kbit", Unit::Rate, 1e3),
    spelling("mbit", Unit::Rate, 1e6),
    spelling("gbit", Unit::Rate, 1e9),
    spelling("tbit", Unit::Rate, 1e12),
    spelling("ns", Unit::Time, 1e-6),
    spelling("us", Unit::Time, 1e-3),
    spelling("ms", Unit::Time, 1.0),
    spelling("s", Unit::Time, 1e3),
    spelling("min", Unit::Time, 60e3),
    spelling("h", Unit::Time, 3600e3),
    spelling("b", Unit::Size, 1.0),
    spelling("kb", Unit::Size, 1e3),
    spelling("mb", Unit::Size, 1e6),
    spelling("gb", Unit::Size, 1e9),
    spelling("tb", Unit::Size, 1e12),
    spelling("kib", Unit::Size, 1024.0),
    spelling("mib", Unit::Size, 1024.0 * 1024.0),
    spelling("gib", Unit::Size, 1024.0 * 1024.0 * 1024.0),
    spelling("tib", Unit::Size, 1024.0 * 1024.0 * 1024.0 * 1024.0),
    spelling("bdp", Unit::Bdp, 1.0),
    spelling("p", Unit::Packets, 1.0),
];

/// A number and its unit, as a scenario spells them.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    number: f64,
    spelling: &'static Spelling,
    /// The number has no decimals, and its unit no parts that could give it some.
    is_whole: bool,
}

impl Amount {
    /// Reads a number with a unit that scenarios know.
    pub fn parse(text: &str) -> Option<Amount> {
        let text = text.trim();
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
        let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.trim_start();
        let spelling = SPELLINGS
            .iter()
            .find(|spelling| spelling.text.eq_ignore_ascii_case(unit))?;
        Some(Amount {
            number: number.parse().ok()?,
            spelling,
            is_whole: matches!(spelling.unit, Unit::Plain | Unit::Packets) && !number.contains('.'),
        })
    }

    /// What it counts.
    pub fn unit(&self) -> Unit {
        self.spelling.unit
    }

    /// Its value in the unit that such numbers are kept in.
    pub fn value(&self) -> f64 {
        self.number * self.spelling.factor
    }

    /// The numbers from `from` to `to`, as many as `steps`, evenly spaced or with even ratios. What lies between the two
    /// is rounded to `digits` significant digits, to whole numbers between whole ones, and spelled like the two or, if
    /// they are spelled differently, in the largest unit of theirs that leaves no zero before the point.
    ///
    /// Nothing if the two do not count the same, or a ratio has no sense.
    pub fn between(from: &str, to: &str, steps: u32, is_log: bool) -> Option<Vec<String>> {
        let (first, last) = (Amount::parse(from)?, Amount::parse(to)?);
        let (low, high) = (first.value(), last.value());
        if first.unit() != last.unit() || (is_log && (low <= 0.0 || high <= 0.0)) {
            return None;
        }
        let between = (1..steps.saturating_sub(1)).map(|step| {
            let share = f64::from(step) / f64::from(steps - 1);
            let value = if is_log {
                low * (high / low).powf(share)
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

    /// `value` in this amount's spelling if it is the other's too.
    fn spelled_like(&self, other: &Amount, value: f64, digits: i32) -> String {
        let spelling = match self.spelling.text == other.spelling.text {
            true => self.spelling,
            // Powers of a thousand and of 1024 are not mixed: the first spellings of a unit are the former.
            false => SPELLINGS
                .iter()
                .filter(|spelling| spelling.unit == self.unit() && spelling.factor <= value)
                .filter(|spelling| !spelling.text.contains("ib"))
                .max_by(|one, other| one.factor.total_cmp(&other.factor))
                .unwrap_or(self.spelling),
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

/// The value with so many significant digits. Decimal text in between, so that no digit is a machine's own.
fn rounded(value: f64, digits: i32) -> f64 {
    let decimals = if value > 0.0 {
        digits - 1 - value.log10().floor() as i32
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

/// The values of one field as numbers, if all of them are, and of a kind: zero is of any.
pub fn amounts<'t>(texts: impl Iterator<Item = &'t str>) -> Option<(Unit, Vec<f64>)> {
    let all: Vec<Amount> = texts.map(Amount::parse).collect::<Option<_>>()?;
    let is_bare_zero = |amount: &&Amount| amount.unit() == Unit::Plain && amount.value() == 0.0;
    let unit = all
        .iter()
        .find(|amount| !is_bare_zero(amount))
        .map_or(Unit::Plain, Amount::unit);
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
            ("1%", 0.01, Unit::Share),
            ("0.001 %", 0.00001, Unit::Share),
            ("20mbit", 20e6, Unit::Rate),
            ("1.5Gbit", 1.5e9, Unit::Rate),
            ("40ms", 40.0, Unit::Time),
            ("2min", 120e3, Unit::Time),
            ("0.5h", 1800e3, Unit::Time),
            ("2.5tbit", 2.5e12, Unit::Rate),
            ("1tb", 1e12, Unit::Size),
            ("1tib", 1_099_511_627_776.0, Unit::Size),
            ("250kb", 250e3, Unit::Size),
            ("8mib", 8_388_608.0, Unit::Size),
            ("0.25bdp", 0.25, Unit::Bdp),
            ("100p", 100.0, Unit::Packets),
            ("4", 4.0, Unit::Plain),
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
            "1.2.3",
            "inf",
            "nan",
        ] {
            assert!(Amount::parse(text).is_none(), "{text}");
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
