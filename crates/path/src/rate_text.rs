//! Published rate traces: tables of times and rates.
//!
//! The rules are few, so that docs/scenario.md can state them: the first line shows the separator; a heading names the
//! columns and their units; without a heading, the units are seconds and Mbit/s.

use text::date;
use units::{Duration, Rate};

use crate::rates::{Rates, Step};
use crate::trace_error::{TraceError, TraceReason};

/// The period of a trace with one row.
const ONE_ROW_PERIOD: Duration = Duration::from_secs(1);

/// The minimum period. A shorter trace has a wrong unit, and each of its steps would be an event.
const MIN_PERIOD: Duration = Duration::from_millis(1);

/// Numbers from here on are in the next smaller unit: so many seconds since 1970 are in the year 5138, and so many
/// milliseconds in the year 1973.
const MAX_NUMBER: u128 = 100_000_000_000;

/// Numbers are read as multiples of 10⁻⁹.
const ONE: u128 = 1_000_000_000;

/// True if the text is a table and not one stamp per line: its first line has several cells.
pub(crate) fn is_table(text: &str) -> bool {
    let first = rows(text).next();
    first.is_some_and(|(_, line)| Separator::of(line).is_some())
}

/// Reads the table. Its rates are in the column of this name, if there is one.
pub(crate) fn read(text: &str, column: Option<&str>) -> Result<Rates, TraceError> {
    let mut lines = rows(text).peekable();
    let Some((line, first)) = lines.peek().copied() else {
        return Err(TraceError::new(0, TraceReason::Empty));
    };
    let separator = Separator::of(first).unwrap_or(Separator::Blank);
    let columns = Columns::of(&separator.cells(first), column);
    let columns = columns.map_err(|why| TraceError::new(line, why))?;
    if columns.are_named {
        lines.next();
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut start = None;
    let mut last = line;
    for (line, text) in lines {
        last = line;
        let wrong = |reason| TraceError::new(line, reason);
        let cells = separator.cells(text);
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        let at = columns
            .time
            .read(cell(columns.time_at), separator)
            .ok_or(wrong(TraceReason::NotATime))?;
        // A missing measurement keeps the last rate.
        let Some(rate) = measured(cell(columns.rate_at)) else {
            continue;
        };
        let rate = columns
            .rate
            .read(rate, separator)
            .ok_or(wrong(TraceReason::NotARate))?;
        let since = at.checked_sub(*start.get_or_insert(at));
        let at = since.ok_or(wrong(TraceReason::Backwards))?;
        let at = Duration::from_nanos(u64::try_from(at).unwrap_or(u64::MAX));
        match steps.last_mut() {
            Some(step) if step.at > at => return Err(wrong(TraceReason::Backwards)),
            // Of several rows with the same time, the last one holds.
            Some(step) if step.at == at => step.rate = rate,
            _ => steps.push(Step { at, rate }),
        }
    }
    let wrong = |reason| TraceError::new(last, reason);
    let period = match steps.as_slice() {
        [] => return Err(wrong(TraceReason::Empty)),
        [_] => ONE_ROW_PERIOD,
        // The last rate holds for as long as the one before it.
        [.., before, end] => end.at + end.at.saturating_sub(before.at),
    };
    if period < MIN_PERIOD {
        return Err(wrong(TraceReason::TooShort));
    }
    Rates::new(steps, period).ok_or(wrong(TraceReason::NoRate))
}

/// The unit that a table's rates are assumed to have if their column's name has none.
pub(crate) fn assumed_unit(text: &str, column: Option<&str>) -> Option<&'static str> {
    let (_, first) = rows(text).next()?;
    let separator = Separator::of(first)?;
    let columns = Columns::of(&separator.cells(first), column).ok()?;
    columns.assumed
}

/// Returns the lines that are not blank, counted from one.
fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The separator of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// A semicolon. Decimals may have a comma.
    Semicolon,
    Tab,
    Comma,
    /// Any number of blanks.
    Blank,
}

impl Separator {
    fn of(line: &str) -> Option<Separator> {
        let has = |c: char| line.contains(c);
        if has(';') {
            Some(Separator::Semicolon)
        } else if has('\t') {
            Some(Separator::Tab)
        } else if has(',') {
            Some(Separator::Comma)
        } else {
            has(' ').then_some(Separator::Blank)
        }
    }

    fn cells(self, line: &str) -> Vec<&str> {
        let mut is_quoted = false;
        let is_between = |c: char| {
            is_quoted ^= c == '"';
            let is_ours = match self {
                Separator::Semicolon => c == ';',
                Separator::Tab => c == '\t',
                Separator::Comma => c == ',',
                Separator::Blank => c == ' ',
            };
            is_ours && !is_quoted
        };
        let cells = line.split(is_between);
        let cells = cells.map(|cell| cell.trim().trim_matches('"').trim());
        cells
            .filter(|cell| self != Separator::Blank || !cell.is_empty())
            .collect()
    }
}

/// The columns of the times and the rates, and their units.
struct Columns {
    are_named: bool,
    time_at: usize,
    time: Time,
    rate_at: usize,
    rate: PerSecond,
    /// The assumed unit of the rates, if no name has it.
    assumed: Option<&'static str>,
}

impl Columns {
    fn of(first: &[&str], wanted: Option<&str>) -> Result<Columns, TraceReason> {
        if first.iter().all(|cell| is_value(cell)) {
            return if wanted.is_some() {
                Err(TraceReason::NoNames)
            } else if first.len() == 2 {
                Ok(Columns {
                    are_named: false,
                    time_at: 0,
                    time: Time::SECONDS,
                    rate_at: 1,
                    rate: PerSecond::MEGABITS,
                    assumed: Some(MEGABITS),
                })
            } else {
                Err(TraceReason::NoHeading)
            };
        }
        let wanted = wanted.map(|wanted| {
            let mut cells = first.iter();
            let place = cells.position(|cell| cell.eq_ignore_ascii_case(wanted.trim()));
            place.ok_or_else(|| TraceReason::NoSuchColumn(shown(first.iter().copied())))
        });
        let wanted = wanted.transpose()?;
        let names: Vec<Vec<String>> = first.iter().map(|cell| words(cell)).collect();
        let find = |is: &dyn Fn(&[String]) -> bool| names.iter().position(|words| is(words));
        let has = |words: &[String], any: &[&str]| {
            let is_any = |word: &String| any.iter().any(|one| word.eq_ignore_ascii_case(one));
            words.iter().any(is_any)
        };
        let time_at = find(&|words| has(words, &TIMES)).ok_or(TraceReason::NoTimeColumn)?;
        if wanted == Some(time_at) {
            return Err(TraceReason::ColumnOfTimes);
        }
        let is_rate = |words: &[String]| PerSecond::named(words).is_some() || has(words, &RATES);
        let is_up = |words: &[String]| has(words, &["ul", "up", "uplink", "upload", "tx"]);
        let is_down = |words: &[String]| has(words, &DOWN);
        // A rate may be that of samples or of losses, and a speed that of a vehicle.
        let is_plain = |words: &[String]| has(words, &RATES) && !has(words, &["rate", "speed"]);
        // Of both directions, the one to the user is chosen.
        let rank = |words: &[String]| {
            let has_unit = PerSecond::named(words).is_some();
            (!is_up(words), is_down(words), has_unit, is_plain(words))
        };
        let rates = names.iter().enumerate();
        let rates = rates.filter(|(at, words)| *at != time_at && is_rate(words));
        let ranks: Vec<_> = rates.map(|(at, words)| (rank(words), at)).collect();
        let clearest = || {
            let (best, rate_at) = *ranks.iter().max().ok_or(TraceReason::NoRateColumn)?;
            let alike = ranks.iter().filter(|(rank, _)| *rank == best);
            match alike.clone().count() {
                1 => Ok(rate_at),
                _ => {
                    let names = alike.filter_map(|(_, at)| first.get(*at).copied());
                    Err(TraceReason::ManyRateColumns(shown(names)))
                }
            }
        };
        let rate_at = wanted.map_or_else(clearest, Ok)?;
        let named = |at: usize| names.get(at).map_or(&[][..], Vec::as_slice);
        let told = PerSecond::named(named(rate_at));
        let (rate, unit) = PerSecond::assumed(named(rate_at));
        Ok(Columns {
            are_named: true,
            time_at,
            time: Time::named(named(time_at)),
            rate_at,
            rate: told.unwrap_or(rate),
            assumed: told.is_none().then_some(unit),
        })
    }
}

/// The maximum number of names, and of their characters, in a message.
const MAX_SHOWN_NAMES: usize = 8;
const MAX_NAME_CHARS: usize = 40;

/// Returns names of columns for a message, in their order.
fn shown<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let is_shown = |c: &char| !c.is_control();
    let name = |name: &str| name.chars().filter(is_shown).take(MAX_NAME_CHARS).collect();
    names.take(MAX_SHOWN_NAMES).map(name).collect()
}

const MEGABITS: &str = "Mbit/s";
const KILOBITS: &str = "kbit/s";

/// The words in the names of time columns.
const TIMES: [&str; 11] = [
    "time",
    "times",
    "timestamp",
    "t",
    "elapsed",
    "seconds",
    "sec",
    "date",
    "datetime",
    "dtime",
    "ts",
];

/// The words for the direction to the user.
const DOWN: [&str; 4] = ["dl", "downlink", "download", "down"];

/// The words in the names of rate columns, with or without a unit.
const RATES: [&str; 13] = [
    "rate",
    "bitrate",
    "throughput",
    "bandwidth",
    "bw",
    "speed",
    "capacity",
    "goodput",
    "dl",
    "downlink",
    "download",
    "down",
    "tput",
];

/// Returns the words of a name: `DL_bitrate (kbit/s)` has `DL`, `bitrate` and `kbit/s`.
fn words(name: &str) -> Vec<String> {
    const BYTES: &str = "bytes";
    let mut name = name.to_owned();
    if let Some(at) = name.to_ascii_lowercase().find("bytes_sec") {
        let at = at + BYTES.len();
        name.replace_range(at..=at, "/");
    }
    let is_between = |c: char| !(c.is_ascii_alphanumeric() || "/\u{b5}\u{3bc}".contains(c));
    let words = name.split(is_between).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The format of times.
#[derive(Debug, Clone, Copy)]
struct Time {
    /// The nanoseconds of a number's unit.
    unit: u128,
    /// True if the heading has the unit.
    is_told: bool,
}

impl Time {
    const SECONDS: Time = Time {
        unit: ONE,
        is_told: false,
    };

    fn named(words: &[String]) -> Time {
        let mut units = words
            .iter()
            .filter_map(|word| match word.to_ascii_lowercase().as_str() {
                "ns" | "nanoseconds" => Some(1),
                // This matches the micro sign, and the Greek letter.
                "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "microseconds" => Some(1_000),
                "ms" | "msec" | "milliseconds" | "millis" => Some(1_000_000),
                "s" | "sec" | "secs" | "seconds" => Some(ONE),
                _ => None,
            });
        units.next_back().map_or(Time::SECONDS, |unit| Time {
            unit,
            is_told: true,
        })
    }

    /// Reads a time in nanoseconds.
    fn read(self, cell: &str, separator: Separator) -> Option<u128> {
        if let Some(number) = number(cell, separator) {
            let unit = if self.is_told {
                self.unit
            } else {
                let mut units = [ONE, 1_000_000, 1_000, 1].into_iter();
                units.find(|unit| number / ONE < MAX_NUMBER * (ONE / unit))?
            };
            return Some(number.checked_mul(unit)? / ONE);
        }
        date(cell).map(|date| date.since_1970.as_nanos())
    }
}

/// The format of rates: bits per second of a number's unit.
#[derive(Debug, Clone, Copy)]
struct PerSecond(u128);

impl PerSecond {
    const MEGABITS: PerSecond = PerSecond(1_000_000);
    const KILOBITS: PerSecond = PerSecond(1_000);

    /// The unit of a column whose name has none. The data sets of Raca and others ("Beyond Throughput", MMSys 2018, 2020)
    /// have `DL_bitrate` and `UL_bitrate` in kbit/s, without the unit in the file.
    fn assumed(words: &[String]) -> (PerSecond, &'static str) {
        let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
        match words {
            [way, bitrate] if (is(way, "DL") || is(way, "UL")) && is(bitrate, "bitrate") => {
                (PerSecond::KILOBITS, KILOBITS)
            }
            _ => (PerSecond::MEGABITS, MEGABITS),
        }
    }

    fn named(words: &[String]) -> Option<PerSecond> {
        words.iter().find_map(|word| PerSecond::unit(word))
    }

    /// Parses a unit: `kbit/s`, `Mbps`, `MB/s`, `KiB/s`, `bytes/sec`.
    fn unit(word: &str) -> Option<PerSecond> {
        let small = word.to_ascii_lowercase();
        let mut ends = ["/sec", "/s", "ps"].into_iter();
        let amount = ends.find_map(|end| small.strip_suffix(end));
        // In tc, these alone are rates.
        let is_tc = ["kbit", "mbit", "gbit"].contains(&&*small);
        let amount = amount.or(is_tc.then_some(&*small))?;
        // `MBPS` is all capital, so its B means nothing.
        let is_bytes = word.get(..amount.len())?.ends_with('B') && !word.ends_with('S');
        let names = [
            ("bits", 1),
            ("bit", 1),
            ("bytes", 8),
            ("byte", 8),
            ("b", if is_bytes { 8 } else { 1 }),
        ];
        let (prefix, bits) = names
            .into_iter()
            .find_map(|(name, bits)| Some((amount.strip_suffix(name)?, bits)))?;
        let scale = match prefix {
            "" => 1,
            "k" => 1_000,
            "m" => 1_000_000,
            "g" => 1_000_000_000,
            "ki" => 1 << 10,
            "mi" => 1 << 20,
            "gi" => 1 << 30,
            _ => return None,
        };
        Some(PerSecond(bits * scale))
    }

    fn read(self, cell: &str, separator: Separator) -> Option<Rate> {
        let bits = number(cell, separator)?.checked_mul(self.0)? / ONE;
        u64::try_from(bits).ok().map(Rate::from_bits_per_sec)
    }
}

/// Returns the cell if it has a measurement.
fn measured(cell: &str) -> Option<&str> {
    let is_nothing = ["", "-", "nan", "na", "n/a", "null", "none"]
        .iter()
        .any(|none| cell.eq_ignore_ascii_case(none));
    (!is_nothing).then_some(cell)
}

/// True if it is a number or a time, and so no column's name.
fn is_value(cell: &str) -> bool {
    number(cell, Separator::Semicolon).is_some() || date(cell).is_some() || measured(cell).is_none()
}

/// Reads a nonnegative number in multiples of 10⁻⁹: `12`, `0.5`, `1e-05`.
fn number(cell: &str, separator: Separator) -> Option<u128> {
    let comma = cell.replace(',', ".");
    let cell = if separator == Separator::Semicolon {
        &comma
    } else {
        cell
    };
    let (digits, exponent) = match cell.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (cell, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    // Further digits do not change a time or a rate.
    let part = part.get(..18).unwrap_or(part);
    let all: u128 = format!("{whole}{part}").parse().ok()?;
    let exponent = exponent.checked_sub(i32::try_from(part.len()).ok()?)?;
    let shift = 10u128.checked_pow(exponent.checked_add(9)?.unsigned_abs());
    match exponent.checked_add(9)? {
        0.. => all.checked_mul(shift?),
        _ => Some(all.checked_div(shift.unwrap_or(u128::MAX))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    /// Returns times in milliseconds, rates in kbit/s, and the period.
    fn table(text: &str) -> (Vec<(u64, u64)>, u64) {
        let rates = read(text, None).expect(text);
        let millis = |span: Duration| span.as_nanos() / 1_000_000;
        let steps = rates.steps().iter();
        let steps = steps.map(|step| (millis(step.at), step.rate.bits_per_sec() / 1_000));
        (steps.collect(), millis(rates.period()))
    }

    fn refused(text: &str) -> (usize, TraceReason) {
        let error = read(text, None).expect_err(text);
        (error.line, error.reason)
    }

    #[test]
    fn tables_of_all_kinds_say_the_same() {
        let expected = (vec![(0, 1_200), (500, 0), (1_000, 20_500)], 1_500);
        for text in [
            "0.0,1.2\n0.5,0\n1.0,20.5\n",
            "0.0 1.2\n0.5   0\n1.0 20.5\n",
            "0,0;1,2\n0,5;0\n1,0;20,5\n",
            "time,bw\n0,1.2\n5e-1,0\n1,2.05e1\n",
            "# by somebody\n\nTime (s)\tThroughput (Mbps)\r\n0\t1.2\r\n0.5\t0\r\n1\t20.5\r\n",
            "ms;kbit/s\n7;1200\n507;0\n1007;20500\n"
                .replace("ms;", "time_ms;")
                .as_str(),
            "id,ul_mbps,dl_bitrate (kbps),timestamp\n1,9,1200,1600000000000\n2,9,0,1600000000500\n3,9,20500,1600000001000\n",
            "timestamp,downlink_throughput_bps\n2024-02-29T23:59:59.5Z,1200000\n2024-03-01T00:00:00Z,0\n\
             2024-03-01 01:00:00.5+01:00,20500000\n",
            "\"dtime\",\"bytes_sec\"\n\"2020.02.13_13.03.24\",150000\n\"2020.02.13_13.03.24.5\",0\n\
             \"2020.02.13_13.03.25\",2562500\n",
            "t,rate\n0,1.2\n0.2,\n0.3,-\n0.5,9\n0.5,0\n1,20.5\n",
        ] {
            assert!(is_table(text), "{text}");
            assert_eq!(table(text), expected, "{text}");
        }
        assert_eq!(table("3 5"), (vec![(0, 5_000)], 1_000));
    }

    #[test]
    fn of_several_rates_the_one_of_the_network_to_the_user_is_taken() {
        for text in [
            "Timestamp,Speed,CQI,DL_bitrate,UL_bitrate\n0,37,11,5000,1200\n",
            "time,loss rate,throughput mbps\n0,0.01,5\n",
            "time,sample rate,mbps\n0,94,5\n",
            "time,speed,throughput\n0,94,5\n",
        ] {
            assert_eq!(table(text).0, [(0, 5_000)], "{text}");
        }
        for text in ["time,mbps,kbps\n0,1,2\n", "time,speed,rate\n0,1,2\n"] {
            let (line, reason) = refused(text);
            assert_eq!(line, 1);
            assert!(matches!(reason, TraceReason::ManyRateColumns(_)), "{text}");
        }
    }

    #[test]
    fn what_is_no_table_of_rates_is_refused_with_its_line() {
        assert_eq!(refused("a,b\n1,2\n"), (1, TraceReason::NoTimeColumn));
        assert_eq!(refused("time,b\n1,2\n"), (1, TraceReason::NoRateColumn));
        assert_eq!(refused("1,2,3\n"), (1, TraceReason::NoHeading));
        assert_eq!(refused("time,mbps\n"), (1, TraceReason::Empty));
        assert_eq!(refused("0,1\n\nx,2\n"), (3, TraceReason::NotATime));
        assert_eq!(refused("0,1\n1,x\n"), (2, TraceReason::NotARate));
        assert_eq!(refused("0,1\n1,-2\n"), (2, TraceReason::NotARate));
        assert_eq!(refused("1,1\n0,2\n"), (2, TraceReason::Backwards));
        assert_eq!(refused("0,1\n2,1\n1,2\n"), (3, TraceReason::Backwards));
        assert_eq!(refused("0,1\n0.0000001,1\n"), (2, TraceReason::TooShort));
        assert_eq!(refused("0,0\n1,0\n"), (2, TraceReason::NoRate));
        assert_eq!(refused("0,1\n1,1e30\n"), (2, TraceReason::NotARate));
        assert_eq!(refused("0,1\n1,1e999999999\n"), (2, TraceReason::NotARate));
        assert_eq!(
            refused("time,mbps\n2024-13-01T00:00:00Z,1\n"),
            (2, TraceReason::NotATime)
        );
    }

    #[test]
    fn a_capital_b_is_bytes() {
        for (name, kbits) in [
            ("throughput (MB/s)", 8_000),
            ("KB/s", 8),
            ("kB/s", 8),
            ("MBps", 8_000),
            ("MByte/s", 8_000),
            ("Speed MBytes/sec", 8_000),
            ("Mb/s", 1_000),
            ("Mbps", 1_000),
            ("MBit/s", 1_000),
            ("DL_MBPS", 1_000),
            ("mb/s", 1_000),
            ("Kbps", 1),
            ("kbit", 1),
            ("Gb/s", 1_000_000),
        ] {
            assert_eq!(
                table(&format!("Time,{name}\n0,1\n")).0,
                [(0, kbits)],
                "{name}"
            );
        }
        for (name, kbits) in [
            ("rate_Bps", 8),
            ("B/s", 8),
            ("BYTES_SEC", 8),
            ("rate_bps", 1),
        ] {
            assert_eq!(
                table(&format!("Time,{name}\n0,1000\n")).0,
                [(0, kbits)],
                "{name}"
            );
        }
        for name in ["byte", "bits", "MB", "ps", "/s", "maps"] {
            let refusal = (1, TraceReason::NoRateColumn);
            assert_eq!(refused(&format!("t,{name}\n0,1\n")), refusal, "{name}");
        }
        assert_eq!(table("t,KiB/s\n0,1000\n").0, [(0, 8_192)]);
    }

    #[test]
    fn the_size_of_a_clock_time_tells_its_unit() {
        for zeros in ["", "000", "000000", "000000000"] {
            let text = format!("time,mbps\n1700000000{zeros},1\n1700000002{zeros},2\n");
            assert_eq!(
                table(&text),
                (vec![(0, 1_000), (2_000, 2_000)], 4_000),
                "{text}"
            );
        }
        let text = "time,mbps\n1e20,1\n";
        assert_eq!(refused(text), (2, TraceReason::NotATime));
        let told = "time (\u{b5}s),mbps\n0,1\n2000000,2\n";
        assert_eq!(table(told), (vec![(0, 1_000), (2_000, 2_000)], 4_000));
    }

    #[test]
    fn rows_that_change_nothing_are_no_steps_but_last() {
        let text = "0,1\n1,1\n2,0\n3,0\n4,3\n4,0\n5,0\n5,7\n6,7\n8,7\n";
        let expected = vec![(0, 1_000), (2_000, 0), (5_000, 7_000)];
        assert_eq!(table(text), (expected, 10_000));
        assert_eq!(refused("0,1\n2,1\n1,1\n"), (3, TraceReason::Backwards));
    }

    #[test]
    fn one_stamp_a_line_is_no_table() {
        for text in ["", "1\n2\n", "x", "1.5", "-1"] {
            assert!(!is_table(text), "{text}");
        }
    }

    #[test]
    fn a_column_can_be_named_where_several_are_rates() {
        let text = "time,a (Mbps),b (kbps)\n0,1,2\n1,3,4\n";
        let alike = ["a (Mbps)", "b (kbps)"].map(str::to_owned).to_vec();
        assert_eq!(refused(text), (1, TraceReason::ManyRateColumns(alike)));
        let rates = |name| read(text, Some(name)).map(|rates| rates.mean_rate());
        assert_eq!(rates("A (mbps)"), Ok(Rate::from_bits_per_sec(2_000_000)));
        assert_eq!(rates(" b (kbps)"), Ok(Rate::from_bits_per_sec(3_000)));
        let error = rates("c").expect_err("there is none");
        assert_eq!(
            error.to_string(),
            "line 1: no column has this name; there are time, a (Mbps) and b (kbps)"
        );
        let error = rates("TIME").expect_err("these are times");
        assert_eq!(error.reason, TraceReason::ColumnOfTimes);
        let error = read("0,1\n1,2\n", Some("0")).expect_err("there are no names");
        assert_eq!(error.reason, TraceReason::NoNames);
        let many = format!("t,{}", "\u{1b}mbps,".repeat(1_000));
        assert!(read(&many, None).expect_err("alike").to_string().len() < 500);
    }

    #[test]
    fn a_unit_that_no_name_tells_is_assumed_and_told() {
        for (name, column, kbits, unit) in [
            ("DL_bitrate", None, 1, Some("kbit/s")),
            ("dl_bitrate", None, 1, Some("kbit/s")),
            ("UL_bitrate", Some("UL_bitrate"), 1, Some("kbit/s")),
            ("UL_Bitrate", Some("ul_bitrate"), 1, Some("kbit/s")),
            ("throughput", None, 1_000, Some("Mbit/s")),
            ("ul_bitrate (Mbps)", Some("ul_bitrate (Mbps)"), 1_000, None),
            ("kbps", None, 1, None),
        ] {
            let text = format!("time,{name}\n0,1\n");
            let rates = read(&text, column).expect(name);
            assert_eq!(
                rates.mean_rate(),
                Rate::from_bits_per_sec(kbits * 1_000),
                "{name}"
            );
            assert_eq!(assumed_unit(&text, column), unit, "{name}");
        }
        assert_eq!(assumed_unit("0,1\n1,2\n", None), Some("Mbit/s"));
        assert_eq!(assumed_unit("1\n2\n", None), None);
        assert!(Trace::of_column("\u{feff}1\n2\n", "rate").is_err());
    }
}
